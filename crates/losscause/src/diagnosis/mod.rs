//! Why a flow loses packets: what its losses tell together.
//!
//! An algorithm judges one loss; a user asks about a flow. What an end of the flow saw at each loss is collected in
//! constant memory ([`Rounds`], [`PolicerTest`]), and at any time they tell a cause, how sure it is, and what it rests on:
//!
//! | cause | what shows it |
//! |---|---|
//! | a full queue | it stood for 100 ms before nearly all losses, and losses come when it is longest |
//! | a managed queue (CoDel, PIE) | it stood before nearly all losses, at any length |
//! | a policer | no queue, and what passes between losses fits one rate; or much of a flight is lost at once |
//! | the air | the queue was just empty before nearly all losses, few packets are lost at once, and no rate fits |
//!
//! Otherwise nothing is named: a rule, such as that a timeout means congestion, is no evidence, and a majority of the
//! algorithms is none, for they share their input.

mod marks;
mod policer;
mod queue;
mod rounds;

use core::fmt;

use crate::Span;

use marks::Marks;
pub use policer::{OneRate, PolicerTest};
pub use queue::{QueueMeter, QueueSeen};
pub use rounds::{LostPacket, Readings, Rounds};

/// What lost a flow's packets.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// A queue that was full.
    FullQueue,
    /// A queue that drops before it is full: CoDel, PIE, RED.
    ManagedQueue,
    /// A token bucket that drops what exceeds its rate.
    Policer {
        /// The rate, bits per second, if what passed between losses fits one.
        rate_bps: Option<u64>,
        /// What the bucket held before the first loss, bytes.
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
    /// What was observed is not whole, or where it was observed is not known.
    NotObserved,
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
    /// Of ten such flows, one or two may have another cause.
    Likely,
    /// Of a hundred such flows, at most five have another cause.
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
    /// Packets that were lost of those in flight, percent.
    ShareOfFlight(f64),
    /// Median queueing delay at losses.
    Queueing(Span),
    /// Rounds of losses before which a queue stood, all rounds, and its median delay.
    Queued(u32, u32, Span),
    /// Rounds of losses within a round trip of an empty queue, and all rounds.
    Empty(u32, u32),
    /// Losses that only a timer showed, and all of them.
    ByTimer(u64, u64),
}

/// Rounds of losses that are needed to name a cause.
const FEWEST_ROUNDS: u32 = 6;
/// And losses: below, nearly every cause is possible.
const FEWEST_LOSSES: u64 = 8;
/// So many rounds of a hundred are nearly all.
const NEARLY_ALL: f64 = 0.8;
/// A policer's losses take this share of a flight; independent losses take less, and a queue's are few.
const MUCH_OF_FLIGHT: f64 = 0.15;
/// And so many times as many as independent losses would.
const MORE_THAN_CHANCE: f64 = 2.0;
/// One rate holds if this share of the time fits it.
const FITS: f64 = 0.45;
/// And if more passed in no more than this share of the time.
const MOST_ABOVE: f64 = 0.2;
/// No queue: less delay than this at losses,
const NO_QUEUE: Span = Span::from_millis(10);
/// and than 5 % of the round trip, or the hosts' variation.
const NO_QUEUE_SHARE: i64 = 20;

impl Readings {
    /// The cause that they show together with the rate of the path, if what passed between losses fits one. `packets` is
    /// how many packets the flow sent.
    pub fn diagnose(&self, one_rate: Option<&OneRate>, packets: u64) -> Diagnosis {
        let unknown = |unknown, findings| Diagnosis {
            cause: Cause::NotShown(unknown),
            certainty: Certainty::CannotTell,
            findings,
        };
        if self.lost == 0 {
            return Diagnosis { cause: Cause::NotLost, certainty: Certainty::Clear, findings: [None; 3] };
        }
        if self.by_timer * 2 > self.lost {
            return unknown(Unknown::OnlyTimers, [Some(Finding::ByTimer(self.by_timer, self.lost)), None, None]);
        }
        if self.with_delay == 0 {
            return unknown(Unknown::NoDelays, [None; 3]);
        }
        if self.with_delay < FEWEST_ROUNDS || self.lost - self.by_timer < FEWEST_LOSSES {
            return unknown(Unknown::TooFew, [None; 3]);
        }
        let fits = one_rate.filter(|one| one.share >= FITS && one.above <= MOST_ABOVE);
        let many = self.is_much_of_flight(packets);
        if self.has_no_queue() && (many || fits.is_some()) {
            return self.policer(fits, many);
        }
        let of_rounds = |count: u32| f64::from(count) / f64::from(self.with_delay);
        let queued = Some(Finding::Queued(self.queued, self.with_delay, self.standing));
        let empty = Some(Finding::Empty(self.empty, self.with_delay));
        if of_rounds(self.queued) >= NEARLY_ALL {
            let certainty = if of_rounds(self.queued) >= 0.9 { Certainty::Clear } else { Certainty::Likely };
            let cause = if self.contrast >= 1.0 { Cause::FullQueue } else { Cause::ManagedQueue };
            return Diagnosis { cause, certainty, findings: [queued, empty, None] };
        }
        if of_rounds(self.empty) >= NEARLY_ALL {
            return Diagnosis { cause: Cause::Air, certainty: Certainty::Likely, findings: [empty, queued, None] };
        }
        unknown(Unknown::QueueOrAir, [queued, empty, None])
    }

    fn policer(&self, fits: Option<&OneRate>, many: bool) -> Diagnosis {
        let findings = [
            fits.map(|one| Finding::OneRate(one.fit, one.intervals)),
            self.share_of_flight.filter(|_| many).map(|share| Finding::ShareOfFlight(100.0 * share)),
            Some(Finding::Queueing(self.queueing)),
        ];
        let certainty = if fits.is_some() && many { Certainty::Clear } else { Certainty::Likely };
        let (rate_bps, burst_bytes) = (fits.map(|one| one.rate_bps), fits.map(|one| one.burst_bytes));
        Diagnosis { cause: Cause::Policer { rate_bps, burst_bytes }, certainty, findings }
    }

    /// Whether more of a flight is lost at once than independent losses would take.
    fn is_much_of_flight(&self, packets: u64) -> bool {
        let (Some(share), Some(flight)) = (self.share_of_flight, self.flight_pkts) else { return false };
        // At least one of a flight is lost: so many are, if each is lost alone.
        let by_chance = 1.0 + flight * self.lost as f64 / packets.max(1) as f64;
        share >= MUCH_OF_FLIGHT && self.per_round >= MORE_THAN_CHANCE * by_chance
    }

    /// Whether losses come without a queue.
    fn has_no_queue(&self) -> bool {
        let own = self.rtt.map_or(Span::ZERO, |rtt| rtt / NO_QUEUE_SHARE);
        let variation = Span::from_millis(3).max(own).max(self.jitter * 3);
        self.standing < NO_QUEUE.min(variation)
    }
}

impl Cause {
    /// Its name in files.
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
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Likely => "likely",
            Self::CannotTell => "cannot-tell",
        }
    }
}

impl Diagnosis {
    /// The numbers that show it.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().flatten()
    }

    /// What to do, as a sentence without its end.
    pub fn advice(&self) -> impl fmt::Display + '_ {
        Advice(self)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FullQueue => "a full queue",
            Self::ManagedQueue => "a managed queue, such as CoDel",
            Self::Policer { rate_bps: Some(rate_bps), .. } => {
                return write!(f, "a policer of about {}", Rate(*rate_bps));
            }
            Self::Policer { rate_bps: None, .. } => "a policer",
            Self::Air => "the air, not a queue",
            Self::Outage => "an outage, not a queue",
            Self::NotLost => "nothing was lost",
            Self::NotShown(unknown) => return unknown.fmt(f),
        })
    }
}

/// "Clear: a policer of about 1.5 Mb/s (62 of 66 intervals between losses fit one rate; queueing 2.0 ms at losses)".
impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.certainty, self.cause)?;
        for (place, finding) in self.findings().enumerate() {
            write!(f, "{}{finding}", if place == 0 { " (" } else { "; " })?;
        }
        if self.findings().next().is_some() { f.write_str(")") } else { Ok(()) }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoDelays => "delays are not known",
            Self::TooFew => "the losses are too few",
            Self::OnlyTimers => "only timers showed most losses",
            Self::NotObserved => "the capture does not hold enough of the flow",
            Self::QueueOrAir => "a queue and the air fit alike",
            Self::PolicerOrAir => "a policer and the air fit alike",
        })
    }
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clear => "Clear",
            Self::Likely => "Likely",
            Self::CannotTell => "Cannot tell why",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OneRate(fit, all) => write!(f, "{fit} of {all} intervals between losses fit one rate"),
            Self::ShareOfFlight(percent) => write!(f, "{percent:.0} % of the packets in flight are lost at once"),
            Self::Queueing(delay) => write!(f, "queueing {} at losses", Delay(delay)),
            Self::Queued(queued, all, delay) => {
                write!(f, "a queue stood before {queued} of {all} rounds of losses, {} in the middle", Delay(delay))
            }
            Self::Empty(empty, all) => write!(f, "the queue was just empty before {empty} of {all} rounds of losses"),
            Self::ByTimer(by_timer, all) => write!(f, "only a timer showed {by_timer} of {all} losses"),
        }
    }
}

/// A rate with two digits.
struct Rate(u64);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mbps = self.0 as f64 / 1e6;
        match self.0 {
            ..1_000_000 => write!(f, "{:.0} kb/s", mbps * 1e3),
            ..10_000_000 => write!(f, "{mbps:.1} Mb/s"),
            _ => write!(f, "{mbps:.0} Mb/s"),
        }
    }
}

/// Milliseconds, one digit behind the point below ten.
struct Delay(Span);

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.as_millis_f64();
        if ms >= 10.0 { write!(f, "{ms:.0} ms") } else { write!(f, "{ms:.1} ms") }
    }
}

/// What to do about a cause.
struct Advice<'a>(&'a Diagnosis);

/// A sender that stays this share below a rate leaves the policer's bucket and the queue alone.
const BELOW_RATE: f64 = 0.95;

impl fmt::Display for Advice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.cause {
            Cause::Policer { rate_bps: Some(rate_bps), .. } => {
                return write!(f, "Shape to {}", Rate((rate_bps as f64 * BELOW_RATE) as u64));
            }
            Cause::Policer { rate_bps: None, .. } => "Shape below the rate that the contract allows",
            Cause::FullQueue => "Put fq_codel in front of the slow link, at 90 % of its rate",
            Cause::ManagedQueue => "Nothing to mend: the queue is kept short, and its drops are how it tells senders",
            Cause::Air => "Look at the radio or the cable; a congestion control that tells such losses apart keeps the rate",
            Cause::Outage => "Look for handovers, roaming and a link that went down at these times",
            Cause::NotLost => "Look for the other reasons of a slow transfer",
            Cause::NotShown(unknown) => match unknown {
                Unknown::NoDelays => "The other end's capture, or TCP timestamps on, would tell",
                Unknown::TooFew => "A longer capture would tell",
                Unknown::OnlyTimers => "The other end's capture would tell",
                Unknown::NotObserved => "A whole capture at the sender would tell",
                Unknown::QueueOrAir | Unknown::PolicerOrAir => "A longer capture, or one of both ends, may tell",
            },
        })
    }
}
