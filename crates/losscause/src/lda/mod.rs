//! The loss differentiation algorithms, one file each.

mod any;
pub mod as_told;
pub mod at_sender;
pub mod biaz;
#[cfg(feature = "alloc")]
mod boxed;
pub mod cdg;
pub mod constant;
#[cfg(test)]
mod cost;
pub mod drop_rate;
pub mod flip_flop;
pub mod fq_rtt;
pub mod nth_loss;
pub mod roll_back;
pub mod sift;
pub mod spike;
pub mod vegas_buffer;
pub mod veno;
pub mod zbs;
pub mod zigzag;

pub use any::{AnyLda, AnySenderLda};
pub use as_told::AsTold;
pub use at_sender::{AtSender, WithoutRtt};
pub use biaz::{Biaz, BiazConfig, MinimumOver};
#[cfg(feature = "alloc")]
pub use boxed::{BoxedLda, BoxedParameters, BoxedSenderLda};
pub use cdg::{CdgTolerance, CdgToleranceConfig};
pub use constant::Constant;
pub use drop_rate::{DropRate, DropRateConfig};
pub use flip_flop::{FlipFlopConfig, FlipFlopHistory, Samples};
pub use fq_rtt::{FqRtt, FqRttConfig};
pub use nth_loss::{NthLoss, NthLossConfig, Within};
pub use roll_back::{RollBack, RollBackConfig};
pub use sift::{Sift, SiftConfig};
pub use spike::{CurrentPacket, Spike, SpikeConfig, SpikeThresholds};
pub use vegas_buffer::{Between, VegasBuffer, VegasBufferConfig, WindowOf};
pub use veno::{Veno, VenoConfig};
pub use zbs::{FirstAverage, Zbs, ZbsConfig};
pub use zigzag::{AboveThree, ZigZag, ZigZagConfig};

use crate::registry::{Setting, choice};
use crate::verdict::Input;
use crate::{Arrival, Judgement, Loss, Reason, Verdict};

/// A loss differentiation algorithm at the receiver.
/// It observes **every** in-order arrival. It is asked about each lost packet at the first arrival after the gap, after
/// it has observed that arrival.
pub trait Lda {
    /// The published name: "ZigZag", "mBiaz".
    fn name(&self) -> &'static str;

    /// The inputs that the algorithm needs. A caller that cannot provide one must refuse the algorithm, not guess.
    fn needs(&self) -> Needs;

    /// Observes an arrival.
    fn on_arrival(&mut self, arrival: &Arrival);

    /// Judges one lost packet. Repeated calls give the same answer.
    fn judge(&self, loss: &Loss) -> Judgement;

    /// The published name of the base scheme in use: the algorithm's own name, except for hybrids.
    fn scheme(&self) -> &'static str {
        self.name()
    }

    /// The base schemes of a hybrid, by their published names; empty for all others.
    fn schemes(&self) -> &'static [&'static str] {
        &[]
    }
}

/// The required inputs of an algorithm at a receiver. For senders see [`crate::ack::SenderInputs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Needs {
    /// The sender's timestamp in every packet ([`Arrival::rott`]).
    pub sender_timestamp: bool,
    /// Packets of equal size, each with its own arrival time, so that inter-arrival times mean transmission times.
    pub inter_arrival: bool,
    /// The true cause ([`Loss::truth`]): simulators only.
    pub truth: bool,
}

impl Needs {
    /// No inputs.
    pub const NONE: Self = Self { sender_timestamp: false, inter_arrival: false, truth: false };

    /// These inputs, and the sender's timestamp in every packet.
    #[must_use]
    pub const fn with_sender_timestamp(self) -> Self {
        Self { sender_timestamp: true, ..self }
    }

    /// These inputs, and inter-arrival times that mean transmission times.
    #[must_use]
    pub const fn with_inter_arrival(self) -> Self {
        Self { inter_arrival: true, ..self }
    }

    /// These inputs, and the true cause.
    #[must_use]
    pub const fn with_truth(self) -> Self {
        Self { truth: true, ..self }
    }
}

choice! {
    /// When a state that decides about losses may change. Cen 2003 says "on receipt of a packet" (III-B) and "at every
    /// packet arrival" (VII-A), but in its Table IV the values behind such changes are computed only after a loss.
    pub enum Update {
        /// With every packet that arrives: the text.
        #[default]
        EveryArrival = "every-arrival",
        /// Only with a packet that reveals a loss: Table IV.
        AtLosses = "at-losses",
    }
}

impl Update {
    /// Whether this arrival may change the state.
    #[inline]
    fn is_due(self, arrival: &Arrival) -> bool {
        self == Update::EveryArrival || arrival.reveals_gap()
    }
}

choice! {
    /// Which packet's trip time decides about a gap. Cen 2003 writes rott_i "using the same notation as in the Biaz
    /// scheme" (III-C), where P_i is the last packet before the gap; its Spike looks at the "current state" (III-B).
    pub enum JudgedBy {
        /// The packet that reveals the gap.
        #[default]
        AfterGap = "after-gap",
        /// The last packet before it.
        BeforeGap = "before-gap",
    }
}

impl JudgedBy {
    /// Its setting.
    const SETTING: Setting =
        Setting::new("judged_by", "whose trip time decides about a gap: that of the packet after-gap or before-gap");
}

/// Where the algorithms were published.
const BARMAN: &str = "Barman & Matta, \"Effectiveness of loss labeling\", 2002";
const BIAZ_1998: &str = "Biaz & Vaidya, \"A negative result\", IC3N 1998";
const CEN: &str = "Cen, Cosman & Voelker, IEEE/ACM Trans. Networking 11(5), 2003";

/// The judgement of a yardstick when an input is missing: their sources then reduce the window.
fn congestion_without(input: &'static str) -> Judgement {
    Judgement::new(Verdict::Congestion, Reason::Missing { input: Input::Other(input) })
}
