//! As told: the sender uses the receiver's label of a loss.
//!
//! The receiver judges each missing packet. Each ACK that asks for a missing packet carries a
//! label: whether the receiver judged that loss wireless. A loss without a wireless label is
//! congestion.
//!
//! Source: Biaz & Vaidya 1999, section 4: TCP-Aware is TCP-Reno with their rule at the receiver.
//! Our reading: how the label travels, and that the sender reads it when duplicate ACKs declare a
//! loss; a timeout is always congestion. Parameters: none. Deviations: none.
//!
//! ```
//! use losscause::lda::AsTold;
//! use losscause::{Algorithm, Loss, Signal, Time, Verdict};
//!
//! let mut loss = Loss::new(Time::ZERO, Signal::Gap);
//! assert_eq!(AsTold.judge(&loss).verdict, Verdict::Congestion);
//! loss.label = Some(Verdict::Wireless);
//! assert_eq!(AsTold.judge(&loss).verdict, Verdict::Wireless);
//! ```

use super::AnyAlgorithm;
use crate::registry::{ConfigError, End, Info, Parameters};
use crate::{Algorithm, Judgement, Loss, Needs, Observation, Verdict};

/// A sender that uses its receiver's labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsTold;

static AS_TOLD: Info =
    Info::new("as told", "the receiver's algorithm decides, and its label tells the sender");

/// The algorithm has no parameters.
impl Parameters for AsTold {
    fn info(&self) -> &'static Info {
        &AS_TOLD
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        end.must_be_sender(self.info())?;
        Ok(AnyAlgorithm::AsTold(*self))
    }
}

impl Algorithm for AsTold {
    fn name(&self) -> &'static str {
        AS_TOLD.name
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_label()
    }

    #[inline]
    fn observe(&mut self, _: &Observation) {}

    fn judge(&self, loss: &Loss) -> Judgement {
        let is_wireless = loss.label.is_some_and(Verdict::is_wireless);
        Judgement::stated(
            Verdict::wireless_if(is_wireless),
            self.name(),
            "the receiver's label says so",
        )
    }
}
