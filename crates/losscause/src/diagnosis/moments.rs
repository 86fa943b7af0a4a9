//! Whether losses choose their moments by what was sent before them.
//!
//! A bucket and a queue drop a packet when more has been sent than they let pass. For a rate, the
//! *excess* is what was sent beyond it since there was none. Each loss has a rank: the share of all
//! packets that passed with less excess.
//!
//! - A loss of the air takes any packet alike, whatever the sender does: the mean rank is one half,
//!   at every rate, within 0.289 / √losses (the deviation of a mean of even draws).
//! - A limit to the rate drops at its largest excess: at its own rate the mean rank is near one.
//!
//! So the largest mean rank of all rates tells the two apart, without a delay. It is a test of
//! ranks (Mann and Whitney 1947), and needs neither equal sizes nor regular times. Packets of
//! others at the same limit that were not seen lower the rank; those of the air among others do,
//! too.
//!
//! ```
//! use losscause::diagnosis::{Moments, Passed};
//! use losscause::{Span, Time};
//!
//! // Every 100 ms a burst of 10 to 29 packets. `drops` gets a packet's place in its burst.
//! let of = |drops: fn(u64, u64) -> bool| {
//!     let mut course = Vec::new();
//!     for burst in 0..300_u64 {
//!         for place in 0..10 + burst * 7 % 20 {
//!             let at = Time::ZERO + Span::from_micros((100_000 * burst + 100 * place) as i64);
//!             course.push(Passed { at, bytes: 1_500, is_lost: drops(burst, place) });
//!         }
//!     }
//!     Moments::of(&course, Span::from_millis(50)).expect("many losses")
//! };
//! let limit = of(|_, place| place >= 25);
//! assert!(limit.are_chosen() && limit.rank > 0.9, "{limit:?}");
//! let air = of(|burst, place| (burst * 31 + place) % 47 == 0);
//! assert!(air.are_any() && air.rank < 0.6, "{air:?}");
//! ```

use super::bucket::{Passed, mean_rate};
use crate::{Span, Time};

/// How the moments of losses rank among all, by what was sent before them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// The largest mean rank of the losses, from 0 to 1: one half by chance, near one at a limit.
    pub rank: f64,
    /// The losses that count: the first of each round trip.
    pub losses: u32,
    /// The rate with that rank, bits per second.
    pub rate_bps: u64,
    /// The excess at this rate behind half of the losses, bytes.
    pub excess_bytes: u64,
}

/// Fewer losses tell nothing.
const FEWEST: u32 = 8;
/// One over the variance of a rank that is drawn evenly from 0 to 1.
const EVENLY: f64 = 12.0;
/// The largest of the ranks at all rates stays below so many deviations if losses choose no moment.
const BY_CHANCE: f64 = 2.5;
/// And moments that are chosen have more of them.
const CHOSEN: f64 = 4.0;
/// A larger rank may be a limit's, however few the losses, and a smaller one shows none.
const MOST_OF_ANY: f64 = 0.65;
const LEAST_OF_CHOSEN: f64 = 0.7;
/// Rates are tried from the mean on, in steps of this ratio, up to so many times the mean: a sender
/// that losses hold down uses a small part of its path.
const STEP: f64 = 1.15;
const HIGHEST: f64 = 20.0;
/// So many in one walk over the packets: the excess at one rate waits for that before it, and not
/// for those at others.
const TOGETHER: usize = 4;

impl Moments {
    /// Of the packets of a path in their order. A loss within `round_trip` of another one that
    /// counts does not count. None from fewer than eight losses.
    pub fn of(course: &[Passed], round_trip: Span) -> Option<Self> {
        let mean = mean_rate(course)?;
        let mut rate = mean;
        let mut best: Option<Self> = None;
        while rate < HIGHEST * mean {
            let mut rates = [rate; TOGETHER];
            for place in 1..TOGETHER {
                rates[place] = rates[place - 1] * STEP;
            }
            rate = rates[TOGETHER - 1] * STEP;
            let mut ranks = [const { Ranks::NONE }; TOGETHER];
            Ranks::count(&mut ranks, course, rates, round_trip);
            for (ranks, rate) in ranks.iter().zip(rates).filter(|(_, rate)| *rate < HIGHEST * mean)
            {
                if ranks.losses() < FEWEST {
                    return None;
                }
                let rank = ranks.mean();
                if best.is_none_or(|best| rank > best.rank) {
                    best = Some(Self {
                        rank,
                        losses: ranks.losses(),
                        rate_bps: (8.0 * rate) as u64,
                        excess_bytes: ranks.usual_excess(),
                    });
                }
            }
        }
        best
    }

    /// Whether the losses choose no moment: neither a bucket nor a queue of one rate, whose other
    /// packets were seen as well, lost most of these packets.
    pub fn are_any(&self) -> bool {
        self.rank <= MOST_OF_ANY && !self.is_above_chance()
    }

    /// Whether the losses choose their moments: a limit to the rate lost most of these packets.
    pub fn are_chosen(&self) -> bool {
        self.rank >= LEAST_OF_CHOSEN && self.is_beyond(CHOSEN)
    }

    /// Whether the rank is more than chance makes of it: the losses may be a limit's.
    pub fn is_above_chance(&self) -> bool {
        self.is_beyond(BY_CHANCE)
    }

    /// How long a queue of the limit's rate takes to send the excess at half of the losses.
    pub fn as_queue(&self) -> Span {
        Span::from_secs_f64_rounded(8.0 * self.excess_bytes as f64 / self.rate_bps as f64)
    }

    /// Whether the rank is further above one half than so many of its deviations.
    fn is_beyond(&self, deviations: f64) -> bool {
        let above = (self.rank - 0.5).max(0.0);
        above * above * EVENLY * f64::from(self.losses) > deviations * deviations
    }
}

/// Excesses are counted by size, 16 to a doubling, so that memory is constant: what counts as equal
/// differs by at most a sixteenth.
const PER_DOUBLING: u32 = 16;
const SIZES: usize = (PER_DOUBLING as usize) * 40;

/// How many packets passed, and how many losses came, with which excess.
struct Ranks {
    passed: [u32; SIZES],
    lost: [u32; SIZES],
}

impl Ranks {
    const NONE: Self = Self { passed: [0; SIZES], lost: [0; SIZES] };

    /// Counts the packets at each rate.
    fn count(
        all: &mut [Self; TOGETHER],
        course: &[Passed],
        rates: [f64; TOGETHER],
        round_trip: Span,
    ) {
        let mut excess = [0.0_f64; TOGETHER];
        let mut at = course.first().map_or(Time::ZERO, |packet| packet.at);
        let mut counted: Option<Time> = None;
        for packet in course {
            let elapsed = (packet.at - at).as_nanos_f64();
            at = packet.at;
            for (excess, rate) in excess.iter_mut().zip(rates) {
                *excess = (*excess - rate * elapsed * 1e-9).max(0.0);
            }
            let ranks = all.iter_mut().zip(&mut excess);
            if !packet.is_lost {
                let bytes = packet.bytes as i64 as f64;
                for (ranks, excess) in ranks {
                    ranks.passed[size(*excess)] += 1;
                    *excess += bytes;
                }
            } else if counted.is_none_or(|counted| packet.at - counted > round_trip) {
                ranks.for_each(|(ranks, excess)| ranks.lost[size(*excess)] += 1);
                counted = Some(packet.at);
            }
        }
    }

    fn losses(&self) -> u32 {
        self.lost.iter().sum()
    }

    /// The mean rank of the losses. Equal excesses count half.
    fn mean(&self) -> f64 {
        let mut below = 0.0;
        let mut sum = 0.0;
        for (&passed, &lost) in self.passed.iter().zip(&self.lost) {
            sum += f64::from(lost) * (below + 0.5 * f64::from(passed));
            below += f64::from(passed);
        }
        sum / (below.max(1.0) * f64::from(self.losses()))
    }

    /// The excess behind half of the losses, bytes.
    fn usual_excess(&self) -> u64 {
        let half = self.losses().div_ceil(2);
        let mut so_far = 0;
        let usual = self.lost.iter().position(|&lost| {
            so_far += lost;
            so_far >= half
        });
        least_of(usual.unwrap_or_default())
    }
}

/// The number of an excess's size: 0 below 16 bytes, then 16 to a doubling. A float has it as its
/// exponent and the first four bits behind.
fn size(excess: f64) -> usize {
    let number = |bytes: f64| (bytes.to_bits() >> 48) as usize;
    let least = f64::from(PER_DOUBLING);
    (number(excess.max(least)) - number(least)).min(SIZES - 1)
}

/// The smallest excess of a size, bytes.
fn least_of(size: usize) -> u64 {
    let doublings = size / PER_DOUBLING as usize;
    let within = (size % PER_DOUBLING as usize) as u64;
    if size == 0 { 0 } else { (u64::from(PER_DOUBLING) + within) << doublings }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;
    use crate::diagnosis::testing::{PACKET, air, bucket, course};

    /// At 1,000 bytes per second.
    fn ranked(course: &[Passed]) -> Ranks {
        let mut all = [const { Ranks::NONE }; TOGETHER];
        Ranks::count(&mut all, course, [1_000.0; TOGETHER], Span::ZERO);
        let [ranks, ..] = all;
        ranks
    }

    /// The moments of the losses in a minute of flights.
    fn sawtooth(drops: impl FnMut(u64) -> bool) -> Option<Moments> {
        Moments::of(&course(drops), Span::from_millis(50))
    }

    #[test]
    fn ranks_worked_by_hand() {
        // 1,000 bytes/s. Excess: 0, 1,000, 2,000, then the loss at 3,000, and a second later 2,000
        // at one more packet. Less than the loss's had all four.
        let packet =
            |ms, is_lost| Passed { at: Time::ZERO + Span::from_millis(ms), bytes: 1_000, is_lost };
        let course = [
            packet(0, false),
            packet(0, false),
            packet(0, false),
            packet(0, true),
            packet(1_000, false),
        ];
        let ranks = ranked(&course);
        assert_eq!((ranks.losses(), ranks.mean()), (1, 1.0));
        assert_eq!(ranks.usual_excess(), 2_944, "the size that 3,000 is in: 23/16 of 2,048");
        // A loss at the excess of two of the four others, none of which had less: 0 + 2/2 of 4.
        let first = [packet(0, true), packet(0, false), packet(5_000, false)];
        assert_eq!(ranked(&first).mean(), 0.5);
    }

    #[test]
    fn sizes_are_in_order_and_a_sixteenth_apart() {
        for bytes in (0..200_000_u64).chain((20..39).map(|power| 1 << power)) {
            let number = size(bytes as f64);
            let least = least_of(number);
            assert!(least <= bytes && bytes < least_of(number + 1), "{bytes}: {least}");
            assert!(16 * least_of(number + 1) <= 17 * least.max(16), "{bytes}");
        }
        assert_eq!(size(f64::INFINITY), SIZES - 1);
    }

    #[test]
    fn a_bucket_chooses_its_moments_and_the_air_does_not() {
        for (rate, holds) in [(250_000, 8_000), (250_000, 60_000), (500_000, 30_000)] {
            let moments = sawtooth(bucket(rate, holds)).expect("many losses");
            assert!(moments.are_chosen(), "{rate} B/s, {holds} B: {moments:?}");
            assert!(!moments.are_any());
        }
        for one_in in [12, 50, 200] {
            let of = |seed| sawtooth(air(one_in, seed)).expect("many losses");
            let any = (1..=20).filter(|&seed| of(seed).are_any()).count();
            assert!(any >= 17, "1 in {one_in}: {any} of 20");
            assert!(!(1..=20).any(|seed| of(seed).are_chosen()), "1 in {one_in}");
        }
    }

    #[test]
    fn losses_of_both_are_neither() {
        let mut of_bucket = bucket(250_000, 30_000);
        let mut of_air = air(40, 7);
        let both = sawtooth(|us| of_air(us) || of_bucket(us)).expect("many losses");
        assert!(!both.are_any(), "{both:?}");
    }

    #[test]
    fn units_and_offsets_do_not_matter() {
        let mut drops = bucket(250_000, 30_000);
        let packets = (0..3_000_u64).map(|number| {
            let us = 5_000 * (number / 8) + 100 * (number % 8);
            (us as i64, drops(us))
        });
        let packets: Vec<(i64, bool)> = packets.collect();
        let of = |offset_s: i64, slower: i64, bytes: u64| {
            let course: Vec<Passed> = packets
                .iter()
                .map(|&(us, is_lost)| {
                    let at =
                        Time::ZERO + Span::from_secs(offset_s) + Span::from_micros(us * slower);
                    Passed { at, bytes, is_lost }
                })
                .collect();
            Moments::of(&course, Span::from_millis(4 * slower)).expect("many losses")
        };
        let one = of(0, 1, PACKET);
        assert_eq!(of(86_400, 1, PACKET), one, "another day");
        let Moments { rank, losses, rate_bps, excess_bytes } = of(0, 2, 2 * PACKET);
        assert_eq!((rank, losses), (one.rank, one.losses), "twice the time and the bytes");
        assert_eq!((rate_bps, excess_bytes), (one.rate_bps, 2 * one.excess_bytes));
    }

    #[test]
    fn few_losses_tell_nothing() {
        assert_eq!(sawtooth(|us| us % 10_000_000 == 0), None, "six losses");
        assert_eq!(sawtooth(|_| false), None);
        assert_eq!(Moments::of(&[], Span::ZERO), None);
    }
}
