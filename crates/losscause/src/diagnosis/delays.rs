//! Whether losses choose their moments by the delay.
//!
//! A queue drops a packet when it is long, full or managed; the air takes any packet, however long
//! the queue, and however the delay wanders. Each loss has a rank: the share of other packets that
//! were delayed less.
//!
//! - If any packet is as likely to be lost, the mean rank is one half, within
//!   √(1/12 · (1/losses + 1/others)) (the deviation of a mean of even draws, and of the others').
//! - A queue drops at its longer delays: the mean rank is near one.
//!
//! What is compared matters more than the test (of ranks, Mann and Whitney 1947). A sender sends
//! until it learns of a loss, and then less: packets that left between a loss and its discovery are
//! neither losses nor others. Then a rank shows how much likelier a loss is at a longer delay,
//! whatever window and time the losses themselves leave the sender. A delay is of the time before
//! the loss ([`QueueSeen::recent`](super::QueueSeen::recent)): one packet's own depends on how its
//! acknowledgement was delayed, and a managed queue drops by what lasts: CoDel by the least of 100
//! ms, RED by a mean of hundreds of packets, PIE by a probability that grows while the delay is
//! above a target. So the least of a short time and the mean of a long one are ranked: a queue
//! chooses one of them, and the air neither.
//!
//! A rank of one half does not tell the air from a policer, which drops without a queue; nor from a
//! short queue beneath a delay that varies more. What was sent before the losses
//! ([`Moments`](super::Moments)) tells these.
//!
//! ```
//! use losscause::Span;
//! use losscause::diagnosis::{DelayRank, RecentDelay};
//!
//! // A queue that grows from 0 to 39 ms, again and again.
//! let delay = |ms: i64| RecentDelay {
//!     least: Span::from_millis(ms),
//!     mean: Span::from_millis(ms / 2),
//! };
//! let others: Vec<RecentDelay> = (0..120).map(|k| delay(k % 40)).collect();
//! let of = |ms: fn(i64) -> i64| {
//!     let lost: Vec<RecentDelay> = (0..30).map(|k| delay(ms(k))).collect();
//!     DelayRank::of(&lost, &others).expect("many")
//! };
//! let queue = of(|k| 34 + k % 6);
//! assert!(queue.is_chosen() && queue.largest() > 0.9, "{queue:?}");
//! let air = of(|k| k * 7 % 40);
//! assert!(air.is_any() && air.mean() < 0.55, "{air:?}");
//! ```

use super::RecentDelay;
use crate::Span;

/// How the delays at losses rank among those of other packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayRank {
    /// The mean ranks of the losses, from 0 to 1: one half by chance, one of them near one at a
    /// queue.
    pub ranks: RecentDelay<f64>,
    /// The losses that count: the first of each round.
    pub losses: u32,
    /// The packets that they are compared with.
    pub others: u32,
}

/// Fewer others show no distribution.
const FEWEST_OTHERS: u32 = 32;
/// One over the variance of a rank that is drawn evenly from 0 to 1.
const EVENLY: f64 = 12.0;
/// A rank is a queue's if it is at least this, and so many deviations above one half.
const LEAST_OF_CHOSEN: f64 = 0.65;
const CHOSEN: f64 = 3.0;
/// The same of a rank that leaves no doubt.
const LEAST_OF_CLEAR: f64 = 0.75;
const CLEAR: f64 = 4.0;
/// One in fifteen ranks of the air is so far above one half, which tells something beside another
/// reading.
const ABOVE_CHANCE: f64 = 1.5;
/// A rank is no queue's if it is below this by so many deviations.
const MOST_OF_ANY: f64 = 0.6;
const BELOW: f64 = 1.5;

impl DelayRank {
    /// Of the delays at losses, and at other packets of the flow. All are differences to the same
    /// delay, whatever that is. None without losses, or with fewer than 32 others.
    pub fn of(at_losses: &[RecentDelay], others: &[RecentDelay]) -> Option<Self> {
        let losses = u32::try_from(at_losses.len()).ok().filter(|&losses| losses > 0)?;
        let count = u32::try_from(others.len()).ok().filter(|&count| count >= FEWEST_OTHERS)?;
        let ranks = RecentDelay {
            least: mean_rank(at_losses, others, |one| one.least),
            mean: mean_rank(at_losses, others, |one| one.mean),
        };
        Some(Self { ranks, losses, others: count })
    }

    /// The larger rank: a queue chooses its delay.
    pub fn largest(&self) -> f64 {
        self.ranks.least.max(self.ranks.mean)
    }

    /// The mean of both ranks. By chance it is as near to one half as each of them, or nearer.
    pub fn mean(&self) -> f64 {
        (self.ranks.least + self.ranks.mean) / 2.0
    }

    /// Whether the losses choose a long delay: a queue lost most of these packets.
    pub fn is_chosen(&self) -> bool {
        self.largest() >= LEAST_OF_CHOSEN && self.is_beyond(self.largest() - 0.5, CHOSEN)
    }

    /// The same beyond doubt.
    pub fn is_clearly_chosen(&self) -> bool {
        self.largest() >= LEAST_OF_CLEAR && self.is_beyond(self.largest() - 0.5, CLEAR)
    }

    /// Whether the ranks are above what chance mostly makes of them: the losses may be a queue's.
    pub fn is_above_chance(&self) -> bool {
        self.is_beyond(self.mean() - 0.5, ABOVE_CHANCE)
    }

    /// Whether the losses choose no delay: no queue lost most of these packets, unless it is short
    /// beside what else delays them.
    pub fn is_any(&self) -> bool {
        self.is_beyond(MOST_OF_ANY - self.mean(), BELOW)
    }

    /// Whether a distance of the rank is more than so many of its deviations.
    fn is_beyond(&self, distance: f64, deviations: f64) -> bool {
        let inverse = 1.0 / f64::from(self.losses) + 1.0 / f64::from(self.others);
        distance > 0.0 && distance * distance * EVENLY > deviations * deviations * inverse
    }
}

/// The mean share of the others that are below a loss; equal delays count half.
fn mean_rank(
    at_losses: &[RecentDelay],
    others: &[RecentDelay],
    of: impl Fn(&RecentDelay) -> Span,
) -> f64 {
    let halves_below = |lost: &RecentDelay| -> u64 {
        let halves = |other: &RecentDelay| 1 + of(other).cmp(&of(lost)).reverse() as i64;
        others.iter().map(halves).sum::<i64>() as u64
    };
    let halves: u64 = at_losses.iter().map(halves_below).sum();
    halves as f64 / (2.0 * at_losses.len() as f64 * others.len() as f64)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;
    use crate::diagnosis::testing::air;

    fn of_ms([least, mean]: [i64; 2]) -> RecentDelay {
        RecentDelay { least: Span::from_millis(least), mean: Span::from_millis(mean) }
    }

    fn ms(values: impl IntoIterator<Item = i64>) -> Vec<RecentDelay> {
        values.into_iter().map(|ms| of_ms([ms; 2])).collect()
    }

    /// The delays of a sender whose queue grows by 1 ms a round trip, of ten packets, until one is
    /// dropped, and falls to 0.6 of it: of lost packets, and of those before a loss is known.
    fn sawtooth(mut drops: impl FnMut(i64) -> bool) -> (Vec<RecentDelay>, Vec<RecentDelay>) {
        let (mut lost, mut others) = (Vec::new(), Vec::new());
        let mut queue = 10;
        for _ in 0..4_000 {
            let first = (0..10).find(|_| drops(queue));
            others.extend((0..first.unwrap_or(10)).map(|_| of_ms([queue; 2])));
            lost.extend(first.map(|_| of_ms([queue; 2])));
            queue = if first.is_some() { queue * 6 / 10 } else { queue + 1 };
        }
        (lost, others)
    }

    fn rank((lost, others): (Vec<RecentDelay>, Vec<RecentDelay>)) -> DelayRank {
        DelayRank::of(&lost, &others).expect("many losses")
    }

    #[test]
    fn ranks_worked_by_hand() {
        let others = ms(0..40);
        // 10 of 40 are below 10 ms, and one is equal; all are below 99 ms, none below -1 ms.
        let of = |lost: &[i64]| DelayRank::of(&ms(lost.to_vec()), &others).map(|one| one.mean());
        assert_eq!(of(&[10]), Some(10.5 / 40.0));
        assert_eq!(of(&[99, -1]), Some(0.5));
        assert_eq!(of(&[99, 10]), Some((1.0 + 10.5 / 40.0) / 2.0));
        assert_eq!((of(&[]), DelayRank::of(&ms([1]), &ms(0..31))), (None, None));
    }

    #[test]
    fn the_air_ranks_at_one_half_whatever_its_losses_leave_of_the_queue() {
        for one_in in [30, 100, 400] {
            let of = |seed| {
                let mut strikes = air(one_in, seed);
                rank(sawtooth(|_| strikes(0)))
            };
            let ranks: Vec<DelayRank> = (1..=20).map(of).collect();
            let mean = ranks.iter().map(DelayRank::mean).sum::<f64>() / 20.0;
            assert!((mean - 0.5).abs() < 0.02, "1 in {one_in}: {mean}");
            assert!(!ranks.iter().any(DelayRank::is_chosen), "1 in {one_in}");
            let any = ranks.iter().filter(|one| one.is_any()).count();
            assert!(any >= 18, "1 in {one_in}: {any} of 20");
        }
    }

    #[test]
    fn a_queue_chooses_its_delay_full_or_managed() {
        let full = rank(sawtooth(|queue| queue >= 40));
        assert!(full.is_clearly_chosen() && full.largest() > 0.95, "{full:?}");
        // It drops one packet in 50 from 25 ms on.
        let mut at_random = air(50, 3);
        let managed = rank(sawtooth(|queue| queue >= 25 && at_random(0)));
        assert!(managed.is_chosen() && !managed.is_any(), "{managed:?}");
    }

    #[test]
    fn a_queue_chooses_one_of_both_delays_and_the_air_neither() {
        let others: Vec<_> = (0..100).map(|k| of_ms([k, k * 37 % 100])).collect();
        let of = |lost: fn(i64) -> [i64; 2]| {
            let lost: Vec<_> = (0..20).map(|k| of_ms(lost(k))).collect();
            DelayRank::of(&lost, &others).expect("many losses")
        };
        let by_mean = of(|k| [5 * k, 90 + k % 10]);
        assert!(by_mean.is_chosen() && !by_mean.is_any(), "{by_mean:?}");
        let by_least = of(|k| [90 + k % 10, 5 * k]);
        assert_eq!((by_least.largest(), by_least.mean()), (by_mean.largest(), by_mean.mean()));
        let air = of(|k| [5 * k, 5 * k]);
        assert!(air.is_any() && !air.is_above_chance(), "{air:?}");
    }

    #[test]
    fn units_and_offsets_do_not_matter() {
        let mut at_random = air(50, 3);
        let (lost, others) = sawtooth(|queue| queue >= 25 && at_random(0));
        let one = DelayRank::of(&lost, &others);
        let changed = |delays: &[RecentDelay], times: i64, by_ms: i64| -> Vec<RecentDelay> {
            let of_one = |span: Span| span * times + Span::from_millis(by_ms);
            let of_both = |delay: &RecentDelay| RecentDelay {
                least: of_one(delay.least),
                mean: of_one(delay.mean),
            };
            delays.iter().map(of_both).collect()
        };
        for (times, by_ms) in [(1, -3_600_000), (7, 0), (1_000, 5)] {
            let of = |delays: &[RecentDelay]| changed(delays, times, by_ms);
            assert_eq!(DelayRank::of(&of(&lost), &of(&others)), one, "{times}, {by_ms} ms");
        }
    }

    #[test]
    fn few_losses_are_neither() {
        let others = ms(0..100);
        let few = DelayRank::of(&ms([40, 60, 50]), &others).expect("known");
        assert!(!few.is_any() && !few.is_chosen(), "{few:?}");
        let long = DelayRank::of(&ms([90, 95]), &others).expect("known");
        assert!(!long.is_chosen(), "two losses: {long:?}");
    }
}
