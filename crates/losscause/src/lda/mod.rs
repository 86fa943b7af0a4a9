//! The loss differentiation algorithms, one file each.
//!
//! What a paper leaves open is a setting of the algorithm:
//!
//! ```
//! use losscause::filter::{DeviationFrom, FirstDeviation, Lookback};
//! use losscause::lda::{
//!     AboveThree, BiazConfig, CurrentPacket, FirstAverage, JudgedBy, MinimumOver, SpikeConfig,
//!     SpikeThresholds, Update, Zbs, ZbsConfig, ZigZagConfig,
//! };
//! use losscause::{Algorithm, ConfigError, Span};
//!
//! // ZBS as Table IV of Cen 2003 computes it, over the last 30 s because routes change.
//! let update = Update::AtLosses;
//! let window = Lookback { time: Span::from_secs(30), ..Lookback::ALL };
//! let thresholds = SpikeThresholds::Proportional { alpha: 0.5, beta: 0.4 };
//! let current_packet = CurrentPacket::Excluded;
//! let spike =
//!     SpikeConfig { thresholds, current_packet, update, window, judged_by: JudgedBy::BeforeGap };
//! let mbiaz = BiazConfig {
//!     t_min_over: MinimumOver::ConsecutivePackets,
//!     window,
//!     ..BiazConfig::modified()
//! };
//! let zigzag = ZigZagConfig {
//!     above_three: AboveThree::Mean,
//!     deviation_from: DeviationFrom::OldMean,
//!     first_deviation: FirstDeviation::FirstDistance,
//!     ..ZigZagConfig::default()
//! };
//! let first_t_avg = FirstAverage::Zero;
//! let config = ZbsConfig { first_t_avg, update, mbiaz, spike, zigzag, ..ZbsConfig::default() };
//! assert_eq!(Zbs::new(&config)?.schemes(), ["mBiaz", "Spike", "ZigZag"]);
//!
//! let refused = Zbs::new(&ZbsConfig { t_avg_gain: 2.0, ..config }).unwrap_err();
//! assert!(matches!(refused, ConfigError::OutOfRange { key: "t_avg_gain", .. }));
//! # Ok::<(), ConfigError>(())
//! ```
//!
//! Two algorithms may judge the same loss differently. Here the queue grows by 1 ms per packet, and
//! the air loses one:
//!
//! ```
//! use losscause::lda::{Biaz, BiazConfig, Spike, SpikeConfig};
//! use losscause::{ConfigError, Differentiator, Packet, Span, Time, Verdict, on_judged};
//!
//! let mut mbiaz = Differentiator::new(Biaz::new(&BiazConfig::modified())?);
//! let mut spike = Differentiator::new(Spike::new(&SpikeConfig::tobe())?);
//! let mut verdicts = Vec::new();
//! let mut keep = on_judged(|_, judgement| verdicts.push(judgement.verdict));
//! for seq in (0..40).filter(|&seq| seq != 30) {
//!     let sent = Time::ZERO + Span::from_millis(9 * seq);
//!     let packet = Packet {
//!         seq: seq as u64,
//!         at: Time::ZERO + Span::from_millis(10 * seq),
//!         sent: Some(sent),
//!     };
//!     mbiaz.on_packet(packet, &mut keep);
//!     spike.on_packet(packet, &mut keep);
//! }
//! // mBiaz: the lost packet took its 10 ms on the link. Spike: the delay is 31 ms above its minimum.
//! assert_eq!(verdicts, [Verdict::Wireless, Verdict::Congestion]);
//! # Ok::<(), ConfigError>(())
//! ```
//!
//! Two rules for senders take round-trip times directly:
//!
//! ```
//! use losscause::filter::{FlipFlopReadings, LowerLimit, Neighbour};
//! use losscause::lda::{
//!     Between, FlipFlopConfig, FlipFlopHistory, Samples, VegasBuffer, VegasBufferConfig, WindowOf,
//! };
//! use losscause::{ConfigError, Span, Verdict};
//!
//! let between = Between::Undecided;
//! let window_of = WindowOf::InFlight;
//! let mut buffer = VegasBuffer::new(&VegasBufferConfig {
//!     between,
//!     window_of,
//!     ..VegasBufferConfig::default()
//! })?;
//! let readings =
//!     FlipFlopReadings { lower_limit: LowerLimit::OldMean, neighbour: Neighbour::PreviousWithin };
//! let samples = Samples::EveryAck;
//! let mut history =
//!     FlipFlopHistory::new(&FlipFlopConfig { samples, readings, ..FlipFlopConfig::default() })?;
//! for ms in [40, 40, 40, 41, 40, 44] {
//!     let rtt = Span::from_millis(ms);
//!     buffer.on_rtt(rtt, None, 22);
//!     history.on_rtt(rtt, true);
//! }
//! // 22 (1 - 40/44) = 2 packets are queued: more than alpha = 1, fewer than beta = 3.
//! assert_eq!(buffer.verdict().verdict, Verdict::Undecided);
//! // Few of the round-trip times are outliers.
//! assert_eq!(history.verdict().verdict, Verdict::Wireless);
//! # Ok::<(), ConfigError>(())
//! ```
//!
//! The yardsticks are what other stacks would do. All of them are asked about one packet lost of 20
//! in flight, behind an empty queue:
//!
//! ```
//! use losscause::lda::{
//!     AnyAlgorithm, CdgTolerance, CdgToleranceConfig, DropRate, DropRateConfig, FqRtt,
//!     FqRttConfig, NthLoss, NthLossConfig, RollBack, RollBackConfig, Veno, VenoConfig, Within,
//! };
//! use losscause::{
//!     Acked, Algorithm, ConfigError, Loss, Numbers, Observation, Signal, Span, Time, ask, tell,
//! };
//!
//! let mut yardsticks = [
//!     AnyAlgorithm::Veno(Veno::new(&VenoConfig { beta: 3.0 })?),
//!     AnyAlgorithm::CdgTolerance(CdgTolerance::new(&CdgToleranceConfig {
//!         rounding: Span::from_micros(64),
//!     })?),
//!     AnyAlgorithm::FqRtt(FqRtt::new(&FqRttConfig {
//!         above_min: Span::from_millis(5),
//!         ..FqRttConfig::default()
//!     })?),
//!     AnyAlgorithm::NthLoss(NthLoss::new(&NthLossConfig { n: 2, within: Within::Ack })?),
//!     AnyAlgorithm::DropRate(DropRate::new(&DropRateConfig {
//!         threshold: 0.1,
//!         ..DropRateConfig::default()
//!     })?),
//!     AnyAlgorithm::RollBack(RollBack::new(&RollBackConfig { share: 0.2, least_pkts: 2 })?),
//! ];
//! let at = |ms| Time::ZERO + Span::from_millis(ms);
//! let mut acked = Acked::new(1);
//! acked.in_flight_pkts = 20;
//! acked.cwnd_pkts = Some(20.0);
//! let mut loss = Loss::new(at(300), Signal::Gap);
//! loss.numbers = Some(Numbers::one(140));
//! loss.cwnd_pkts = Some(20.0);
//! let verdicts = yardsticks.each_mut().map(|rule| {
//!     for seq in 0..150 {
//!         let ack =
//!             Observation::first(seq, at(2 * seq as i64)).with_delay(Some(Span::from_millis(40)));
//!         rule.observe(&ack.with_acked(acked));
//!     }
//!     let loss = tell(rule, &loss, &mut ());
//!     (rule.name(), ask(rule, &loss, &mut ()).verdict.is_wireless())
//! });
//! assert_eq!(
//!     verdicts.map(|(_, is_wireless)| is_wireless),
//!     [true, false, false, true, true, false],
//!     "{verdicts:?}"
//! );
//! # Ok::<(), ConfigError>(())
//! ```

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
pub use boxed::BoxedAlgorithm;
#[cfg(feature = "alloc")]
pub(crate) use boxed::BoxedParameters;
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
    /// When a state that decides about losses may change. Cen 2003 says "on receipt of a packet"
    /// (III-B) and "at every packet arrival" (VII-A), but in its Table IV the values behind such
    /// changes are computed only after a loss.
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
        self == Update::EveryArrival
            || observation.since_last.is_some() && observation.reveals_gap()
    }
}

choice! {
    /// Which packet's trip time decides about a gap. Cen 2003 writes rott_i "using the same
    /// notation as in the Biaz scheme" (III-C), where P_i is the last packet before the gap; its
    /// Spike looks at the "current state" (III-B).
    pub enum JudgedBy {
        /// The packet that reveals the gap.
        #[default]
        AfterGap = "after-gap",
        /// The last packet before it.
        BeforeGap = "before-gap",
    }
}

impl JudgedBy {
    /// The setting that chooses the packet.
    const SETTING: Setting = Setting::new(
        "judged_by",
        "whose trip time decides about a gap: that of the packet after-gap or before-gap",
    );
}

/// Where the algorithms were published.
const BARMAN: &str = "Barman & Matta, \"Effectiveness of loss labeling\", 2002";
const BIAZ_1998: &str = "Biaz & Vaidya, \"A negative result\", IC3N 1998";
const CEN: &str = "Cen, Cosman & Voelker, IEEE/ACM Trans. Networking 11(5), 2003";

/// The judgement of a yardstick when an input is missing: their sources then reduce the window.
fn congestion_without(input: &'static str) -> Judgement {
    Judgement::new(Verdict::Congestion, Reason::Missing { input: Input::Other(input) })
}
