//! The factory for quinn.

use std::sync::Arc;
use std::time::Instant;

use losscause::Needs;
use quinn_proto::congestion::{Controller, ControllerFactory};

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
/// use losscause_quic::quinn::{Base, LossTolerant};
///
/// let factory = LossTolerant::named(Base::cubic(), "Spike", &Registry::built_in())?;
/// let monitor = factory.monitor();
/// let mut transport = quinn_proto::TransportConfig::default();
/// transport.congestion_controller_factory(Arc::new(factory));
/// // While connections run:
/// println!("{} lost packets were ignored", monitor.totals().wireless);
/// # Ok::<(), losscause_quic::Error>(())
/// ```
pub type LossTolerant = crate::factory::LossTolerant<Base>;

/// What quinn gives to a congestion controller, with the numbers that this crate reconstructs.
pub const PROVIDED: Needs = Needs::NONE.with_delay().with_spacing().with_gap_size().with_cwnd();

impl FrontOf for Base {
    const TRANSPORT: Transport = Transport { name: "quinn", provided: PROVIDED };
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
    use losscause::registry::Registry;

    use super::*;
    use crate::Caps;

    #[test]
    fn an_unknown_algorithm_lists_those_that_there_are() {
        let error = LossTolerant::named(Base::cubic(), "spyke", &Registry::built_in())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("there is no algorithm \"spyke\"; there are Biaz, mBiaz, Spike, "),
            "{error}"
        );
    }

    #[test]
    fn an_algorithm_that_needs_a_label_or_the_truth_is_refused() {
        let error = LossTolerant::new(Base::cubic(), AnyAlgorithm::AsTold(losscause::lda::AsTold))
            .unwrap_err();
        let expected = "as told needs the receiver's label, which quinn does not give to a congestion controller";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_recommendation_builds_on_both_bases() {
        for base in [Base::new_reno(), Base::cubic()] {
            assert_eq!(LossTolerant::recommended(base).algorithm(), "Sift");
        }
    }

    #[test]
    fn a_cap_out_of_range_is_refused() {
        let factory = LossTolerant::named(Base::cubic(), "Spike", &Registry::built_in()).unwrap();
        let error = factory.with_caps(Caps { max_loss_rate: -1.0, ..Caps::default() }).unwrap_err();
        assert_eq!(error.to_string(), "max_loss_rate is -1 but must be a number from 0 to 1");
    }
}
