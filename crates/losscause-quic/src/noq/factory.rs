//! The factory for noq.

use std::sync::Arc;
use std::time::Instant;

use losscause::Needs;
use noq_proto::congestion::{Controller, ControllerFactory};

use super::{Base, LossTolerantController};
use crate::factory::FrontOf;
use crate::{Choice, Transport};

/// Builds congestion controllers that do not reduce the window for losses which a loss
/// differentiation algorithm takes for wireless.
///
/// ```
/// use std::sync::Arc;
///
/// use losscause::registry::Registry;
/// use losscause_quic::noq::{Base, LossTolerant};
///
/// let factory = LossTolerant::named(Base::cubic(), "Spike", &Registry::built_in())?;
/// let monitor = factory.monitor();
/// let mut transport = noq_proto::TransportConfig::default();
/// transport.congestion_controller_factory(Arc::new(factory));
/// // While connections run:
/// println!("{} lost packets were ignored", monitor.totals().wireless);
/// # Ok::<(), losscause_quic::Error>(())
/// ```
pub type LossTolerant = crate::factory::LossTolerant<Base>;

/// What noq gives to a congestion controller, with the numbers that this crate passes on.
pub const PROVIDED: Needs = Needs::NONE.with_delay().with_spacing().with_gap_size().with_cwnd();

impl FrontOf for Base {
    const TRANSPORT: Transport = Transport { name: "noq", provided: PROVIDED };
    type Controller = LossTolerantController;

    fn name(&self) -> &'static str {
        self.name()
    }

    fn controller(
        &self,
        choice: &Choice,
        zero: Instant,
        now: Instant,
        mtu: u16,
    ) -> LossTolerantController {
        LossTolerantController::new(self.build(now, mtu), choice, zero, mtu)
    }
}

impl ControllerFactory for LossTolerant {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(self.controller(now, current_mtu))
    }
}

#[cfg(test)]
mod tests {
    use losscause::AnyAlgorithm;

    use super::*;

    #[test]
    fn an_algorithm_that_needs_a_label_or_the_truth_is_refused() {
        let error = LossTolerant::new(Base::cubic(), AnyAlgorithm::AsTold(losscause::lda::AsTold))
            .unwrap_err();
        let expected = "as told needs the receiver's label, which noq does not give to a congestion controller";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_recommendation_builds_on_both_bases() {
        for base in [Base::new_reno(), Base::cubic()] {
            assert_eq!(LossTolerant::recommended(base).algorithm(), "Sift");
        }
    }
}
