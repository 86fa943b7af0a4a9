//! Why a flow loses packets: what its losses tell together.
//!
//! An algorithm judges one loss; a user asks about a flow. What an end of the flow saw at each loss
//! is collected in constant memory ([`Rounds`], [`PolicerTest`]), and at any time they tell a
//! cause, how sure it is, and what it rests on:
//!
//! | cause | what shows it |
//! |---|---|
//! | a queue | it stood for 100 ms before nearly all losses, and they chose it: the delays or the flights at losses are alike, as a queue drops at its level; or many more are lost at once than by chance |
//! | a policer | no queue, and one token bucket drops what was lost and passes the rest; or what passes between losses fits one rate, or much of a flight is lost at once |
//! | the air | the queue was just empty before nearly all losses, they come alone, at flights of any size, and no rate fits |
//!
//! Where every packet was seen as it left, what was sent before the losses ([`Moments`]) tells a
//! limit to the rate, bucket or queue, from the air without a delay. Where the delays of other
//! packets are known, those at losses ([`DelayRank`]) tell a queue from the air, however the delay
//! varies.
//!
//! Otherwise nothing is named: a rule, such as that a timeout means congestion, is no evidence, and
//! a majority of the algorithms is none, for they share their input.
//!
//! ```
//! use losscause::diagnosis::{
//!     Cause, Certainty, Diagnosis, Finding, LargeRounds, LostPacket, PathRate, QueueMeter, QueueSeen,
//!     Readings, Rounds, Unknown,
//! };
//! use losscause::{Span, Time};
//!
//! // A packet per ms. The queue grows to 50 ms, overflows and drains, once a second.
//! let mut meter = QueueMeter::default();
//! let mut rounds = Rounds::default();
//! for ms in 0..60_000 {
//!     let at = Time::ZERO + Span::from_millis(ms);
//!     meter.on_trip(at, Span::from_millis(20 + ms % 1_000 / 20));
//!     if ms % 1_000 == 999 {
//!         let queue: Option<QueueSeen> = meter.seen(at);
//!         let rtt = Some(Span::from_millis(20));
//!         rounds.on_loss(&LostPacket {
//!             at,
//!             is_by_timer: false,
//!             flight_pkts: Some(70),
//!             rtt,
//!             queue,
//!         });
//!     }
//! }
//! let readings: Readings = rounds.readings();
//! assert_eq!((readings.rounds, readings.queued), (60, 60));
//! // Each of them lost one packet.
//! assert_eq!(readings.large_rounds, LargeRounds::default());
//! let Diagnosis { cause, certainty, findings } = readings.diagnose(None, 60_000);
//! assert_eq!((cause, certainty), (Cause::FullQueue, Certainty::Clear));
//! assert!(
//!     matches!(findings[0], Some(Finding::Queued(60, 60, standing)) if standing > Span::from_millis(40))
//! );
//! let path =
//!     PathRate { rate_bps: 12_000_000, least_bps: 11_000_000, round_trip: Span::from_millis(20) };
//! assert_eq!(cause.shaped_bps(Some(path)), Some(10_800_000));
//!
//! // One loss of unknown delay tells nothing.
//! let mut few = Rounds::default();
//! few.on_loss(&LostPacket {
//!     at: Time::ZERO,
//!     is_by_timer: false,
//!     flight_pkts: None,
//!     rtt: None,
//!     queue: None,
//! });
//! assert_eq!(few.readings().diagnose(None, 100).cause, Cause::NotShown(Unknown::NoDelays));
//! ```

mod advice;
mod bucket;
mod delays;
mod marks;
mod moments;
mod policer;
mod queue;
mod rounds;
mod rules;
#[cfg(test)]
mod testing;
mod words;

use core::fmt;

use crate::Span;

use advice::Advice;
pub use advice::PathRate;
pub use bucket::{BucketTest, Buckets, Passed};
pub use delays::DelayRank;
use marks::Marks;
pub use moments::Moments;
pub use policer::{OneRate, PolicerTest};
pub use queue::{QueueMeter, QueueMissed, QueueSeen, RecentDelay};
pub use rounds::{LargeRounds, LostPacket, Readings, Rounds};
use words::InShort;

/// What lost a flow's packets.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// A queue that was full.
    FullQueue,
    /// A short queue: one that drops before it is full (CoDel, PIE, RED), or one that is small.
    /// Delays do not tell which.
    ManagedQueue,
    /// A token bucket that drops what exceeds its rate.
    Policer {
        /// The rate, bits per second, if what passed between losses fits one.
        rate_bps: Option<u64>,
        /// What the bucket holds, bytes: the middle of what is possible, or at least this if only
        /// the amounts between losses show it.
        burst_bytes: Option<u64>,
    },
    /// The air, or another channel that corrupts packets.
    Air,
    /// The path was gone for a time.
    Outage,
    /// No packet was lost: they were reordered, or copied.
    NotLost,
    /// The flow does not show it.
    NotShown(Unknown),
}

/// Why a cause is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// The delays are not known.
    NoDelays,
    /// Losses that show more than a timer are too few.
    TooFew,
    /// Only timers showed most losses.
    OnlyTimers,
    /// What was observed is not whole.
    NotObserved,
    /// The capture cut options of TCP, which show losses and delays.
    CutOptions,
    /// The times are not those of one connection.
    Mixed,
    /// Where it was observed is not known.
    NoPlace,
    /// A queue stood at most losses, but did not choose them: losses of the air may hide behind it.
    BehindQueue,
    /// A queue and the air fit alike.
    QueueOrAir,
    /// A policer and the air fit alike.
    PolicerOrAir,
}

/// How sure a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// No cause is named.
    CannotTell,
    /// Meant for flows of which one or two in ten have another cause.
    Likely,
    /// Meant for flows of which at most five in a hundred have another cause.
    Clear,
}

/// A cause, and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diagnosis {
    /// What lost the packets.
    pub cause: Cause,
    /// How sure that is.
    pub certainty: Certainty,
    /// The numbers that show it.
    pub findings: [Option<Finding>; 3],
}

/// A number that an engineer can check.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// Intervals between losses that fit one rate, and all of them.
    OneRate(u32, u32),
    /// What fits the packets that were lost and those that passed.
    Bucket(Buckets),
    /// Buckets of a few packets fit at this rate, bits per second, and at any higher one.
    FewPackets(u64),
    /// Packets that were lost of those in flight, percent.
    ShareOfFlight(f64),
    /// Median queueing delay at losses.
    Queueing(Span),
    /// Rounds of losses before which a queue stood, all rounds, and its median delay.
    Queued(u32, u32, Span),
    /// Rounds of losses, and the median delay and the mean flight at which they come, which are
    /// alike.
    OneLevel(u32, Span, f64),
    /// Overflows of a queue, the packets that were lost in them, and the least delay at one.
    Overflows(u32, u64, Span),
    /// Rounds of losses within a round trip of an empty queue, and all rounds.
    Empty(u32, u32),
    /// How unlike the flights at losses are: three quarters of them less one quarter, percent of
    /// the middle one.
    FlightSpread(f64),
    /// Losses that only a timer showed, and all of them.
    ByTimer(u64, u64),
    /// Losses while no answer came, all of them, and the longest such time.
    Unanswered(u64, u64, Span),
    /// How the moments of losses rank by what was sent before them.
    Moments(Moments),
    /// How the delays at losses rank among those of other packets.
    DelayRank(DelayRank),
}

impl Cause {
    /// The cause's name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::FullQueue => "full-queue",
            Self::ManagedQueue => "managed-queue",
            Self::Policer { .. } => "policer",
            Self::Air => "air",
            Self::Outage => "outage",
            Self::NotLost => "not-lost",
            Self::NotShown(_) => "not-shown",
        }
    }
}

impl Certainty {
    /// The certainty's name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Likely => "likely",
            Self::CannotTell => "cannot-tell",
        }
    }
}

impl Diagnosis {
    /// The diagnosis that a cause is not shown, and by what.
    pub fn not_shown(unknown: Unknown, [first, second]: [Option<Finding>; 2]) -> Self {
        let cause = Cause::NotShown(unknown);
        let certainty = Certainty::CannotTell;
        Self { cause, certainty, findings: [first, second, None] }
    }

    /// The cause and how sure it is: "Clear: a full queue".
    pub fn in_short(&self) -> impl fmt::Display {
        InShort(self.certainty, self.cause)
    }

    /// The numbers that show it.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().flatten()
    }

    /// Whether the moments of the losses ([`Readings::moments`]) may show another cause.
    fn may_depend_on_moments(&self) -> bool {
        match self.cause {
            Cause::Air => true,
            Cause::Policer { .. } => !matches!(self.findings[0], Some(Finding::Bucket(_))),
            Cause::NotShown(unknown) => matches!(
                unknown,
                Unknown::BehindQueue | Unknown::QueueOrAir | Unknown::PolicerOrAir
            ),
            Cause::FullQueue | Cause::ManagedQueue | Cause::Outage | Cause::NotLost => false,
        }
    }

    /// Whether its cause is not shown, although an end saw enough of it: then the capture of the
    /// other end may tell more.
    pub fn may_be_told_by_both_ends(&self) -> bool {
        let Cause::NotShown(unknown) = self.cause else { return false };
        !matches!(unknown, Unknown::TooFew | Unknown::CutOptions | Unknown::Mixed)
    }

    /// What to do, as a sentence without its end.
    pub fn advice(&self) -> impl fmt::Display + '_ {
        self.advice_on(None)
    }

    /// What to do about it on a path that was seen to be so fast, as a sentence without its end.
    pub fn advice_on(&self, path: Option<PathRate>) -> impl fmt::Display + '_ {
        Advice { diagnosis: self, path }
    }
}
