//! The loss differentiation algorithms, one file each.

mod any;
pub mod as_told;
pub mod biaz;
#[cfg(feature = "alloc")]
mod boxed;
pub mod cdg;
pub mod constant;
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

pub use any::{AnyAlgorithm, BuiltIn, LdaConfig};
pub use as_told::AsTold;
pub use biaz::{Biaz, BiazConfig, MinimumOver};
#[cfg(feature = "alloc")]
pub use boxed::{BoxedAlgorithm, BoxedParameters};
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
use crate::{Judgement, Observation, Reason, Verdict};

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
    fn is_due(self, observation: &Observation) -> bool {
        // The first observation of a stream is behind no gap.
        self == Update::EveryArrival || observation.since_last.is_some() && observation.reveals_gap()
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
