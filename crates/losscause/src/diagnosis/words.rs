//! A diagnosis in words.

use core::fmt;

use super::{Buckets, Cause, Certainty, DelayRank, Diagnosis, Finding, Moments, Unknown};
use crate::Span;

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FullQueue => "a full queue",
            Self::ManagedQueue => "a short queue, managed (CoDel, PIE) or small",
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

/// "Clear: a policer of about 1.5 Mb/s (62 of 66 intervals between losses fit one rate; queueing
/// 2.0 ms at losses)".
impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.in_short())?;
        for (place, finding) in self.findings().enumerate() {
            write!(f, "{}{finding}", if place == 0 { " (" } else { "; " })?;
        }
        if self.findings().next().is_some() { f.write_str(")") } else { Ok(()) }
    }
}

/// A diagnosis without what it rests on.
pub(super) struct InShort(pub(super) Certainty, pub(super) Cause);

impl fmt::Display for InShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0, self.1)
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoDelays => "delays are not known, as without timestamps",
            Self::TooFew => "the losses are too few",
            Self::OnlyTimers => "only timers showed most losses",
            Self::NotObserved => "the capture does not hold enough of the flow",
            Self::CutOptions => "the snap length cut options of TCP",
            Self::Mixed => "several connections or clocks are mixed",
            Self::NoPlace => "at which end the capture was taken is not known",
            Self::BehindQueue => {
                "a queue stood at most losses, and losses of the air may hide behind it"
            }
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
            Self::OneRate(fit, all) => {
                write!(f, "{fit} of {all} intervals between losses fit one rate")
            }
            Self::Bucket(buckets) => {
                let Buckets { fit, stretches, least_bps, most_bps, most_bytes, .. } = buckets;
                let least = Rate(least_bps);
                match (buckets.rate_bps(), most_bps.map(Rate)) {
                    (Some(_), _) if most_bytes.is_none() => {
                        write!(f, "a bucket of at least {}", Size(buckets.bytes()))?;
                    }
                    (Some(_), _) => write!(f, "a bucket of about {}", Size(buckets.bytes()))?,
                    (None, Some(most)) => write!(f, "a bucket of {least} to {most}")?,
                    (None, None) => write!(f, "a bucket of {least} or more")?,
                }
                write!(
                    f,
                    " drops what was lost, and nothing else, in {fit} of {stretches} intervals"
                )
            }
            Self::FewPackets(least_bps) => {
                write!(f, "a bucket of a few packets fits any rate from {} on", Rate(least_bps))
            }
            Self::ShareOfFlight(percent) => {
                write!(f, "{percent:.0} % of the packets in flight are lost at once")
            }
            Self::Queueing(delay) => write!(f, "queueing {} at losses", Delay(delay)),
            Self::Queued(queued, all, delay) => {
                write!(
                    f,
                    "a queue stood before {queued} of {all} rounds of losses, median {}",
                    Delay(delay)
                )
            }
            Self::OneLevel(rounds, delay, flight) => {
                write!(
                    f,
                    "{rounds} rounds of losses came at a queue of about {} and {flight:.0} packets in \
                     flight",
                    Delay(delay)
                )
            }
            Self::Overflows(rounds, lost, delay) => {
                write!(
                    f,
                    "{rounds} overflows of a queue of {} or more lost {lost} packets",
                    Delay(delay)
                )
            }
            Self::Empty(empty, all) => {
                write!(f, "the queue was just empty before {empty} of {all} rounds of losses")
            }
            Self::FlightSpread(percent) => {
                write!(
                    f,
                    "losses came at few and at many packets in flight (half of them differ by {percent:.0} %)"
                )
            }
            Self::ByTimer(by_timer, all) => {
                write!(f, "only a timer showed {by_timer} of {all} losses")
            }
            Self::Moments(moments @ Moments { rank, losses, .. }) => {
                let usual = if moments.are_chosen() { "higher than usual" } else { "as usual" };
                write!(
                    f,
                    "at {losses} rounds of losses the sending rate was {usual}: higher than at {}",
                    Rank(rank)
                )
            }
            Self::DelayRank(delays @ DelayRank { losses, .. }) => {
                let (usual, rank) = match delays.is_any() {
                    true => ("as usual", delays.mean()),
                    false => ("longer than usual", delays.largest()),
                };
                write!(
                    f,
                    "at {losses} rounds of losses the delay was {usual}: longer than at {}",
                    Rank(rank)
                )
            }
            Self::Unanswered(lost, all, longest) => {
                write!(
                    f,
                    "{lost} of {all} losses while no answer came, for up to {:.1} s",
                    longest.as_secs_f64()
                )
            }
        }
    }
}

/// A mean rank among packets, with that of losses that choose none.
struct Rank(f64);

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} % of packets, where chance gives 50 %", 100.0 * self.0)
    }
}

/// A rate with two digits.
pub(super) struct Rate(pub(super) u64);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mbps = self.0 as f64 / 1e6;
        match self.0 {
            ..1_000_000 => write!(f, "{:.0} kb/s", mbps * 1e3),
            1_000_000..10_000_000 => write!(f, "{mbps:.1} Mb/s"),
            _ => write!(f, "{mbps:.0} Mb/s"),
        }
    }
}

/// A rate of three digits.
pub(super) struct ThreeDigits(pub(super) u64);

impl fmt::Display for ThreeDigits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ..1_000_000 => write!(f, "{} kb/s", self.0 as f64 / 1e3),
            _ => write!(f, "{} Mb/s", self.0 as f64 / 1e6),
        }
    }
}

/// Bytes with two digits or the whole kilobytes.
#[derive(Clone, Copy)]
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ..1_000_000 => write!(f, "{:.0} kB", self.0 as f64 / 1e3),
            _ => write!(f, "{:.1} MB", self.0 as f64 / 1e6),
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

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use super::*;
    use crate::diagnosis::RecentDelay;

    #[test]
    fn a_rank_stands_beside_that_of_chance() {
        let moments = |rank| {
            let moments = Moments { rank, losses: 146, rate_bps: 1_000_000, excess_bytes: 9000 };
            Finding::Moments(moments).to_string()
        };
        let delays = |least, mean| {
            let ranks = RecentDelay { least, mean };
            Finding::DelayRank(DelayRank { ranks, losses: 57, others: 400 }).to_string()
        };
        let sent = "at 146 rounds of losses";
        let delayed = "at 57 rounds of losses the delay was";
        let chance = "of packets, where chance gives 50 %";
        for (told, expected) in [
            (
                moments(0.53),
                std::format!("{sent} the sending rate was as usual: higher than at 53 % {chance}"),
            ),
            (
                moments(0.96),
                std::format!(
                    "{sent} the sending rate was higher than usual: higher than at 96 % {chance}"
                ),
            ),
            // The mean of both ranks, and the larger one.
            (delays(0.44, 0.56), std::format!("{delayed} as usual: longer than at 50 % {chance}")),
            (
                delays(0.7, 0.9),
                std::format!("{delayed} longer than usual: longer than at 90 % {chance}"),
            ),
        ] {
            assert_eq!(told, expected);
        }
    }
}
