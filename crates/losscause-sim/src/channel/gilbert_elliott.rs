//! Errors in bursts: a Markov chain of two states (Gilbert 1960; Elliott 1963) in which every slot
//! of the bad state is bad.
//!
//! With p the probability to go from good to bad and q from bad to good, bursts last 1/q slots on
//! average, and p/(p+q) of all slots are bad. For a mean loss L and a mean burst B the solution is
//! q = 1/B and p = q L/(1-L). The first slot is drawn from the stationary distribution. One draw
//! per slot determines its state from the previous state. With B = 1/(1-L), where p = 1-q = L, the
//! pattern equals that of [Bernoulli](super::bernoulli) draw by draw.
//!
//! Parameters: `loss` L, 0 to below 1; `mean_burst_packets` B, at least 1 and at least L/(1-L)
//! (else p would exceed 1). No defaults. Deviations: Elliott's model has error rates inside both
//! states; here they are 0 and 1.

use crate::rng::Stream;

#[derive(Clone, Debug)]
pub(super) struct GilbertElliott {
    bad_after_good: f64,
    bad_after_bad: f64,
    /// The probability that the next slot is bad.
    bad_next: f64,
    stream: Stream,
}

impl GilbertElliott {
    pub(super) fn new(loss: f64, mean_burst_packets: f64, stream: Stream) -> Self {
        let good_after_bad = 1.0 / mean_burst_packets;
        Self {
            bad_after_good: good_after_bad * loss / (1.0 - loss),
            bad_after_bad: 1.0 - good_after_bad,
            bad_next: loss,
            stream,
        }
    }

    /// The state stays: a burst goes on with the new chance to end.
    pub(super) fn adopt(&mut self, loss: f64, mean_burst_packets: f64) {
        let new = Self::new(loss, mean_burst_packets, self.stream.clone());
        self.bad_next = match self.bad_next {
            next if next == self.bad_after_bad => new.bad_after_bad,
            next if next == self.bad_after_good => new.bad_after_good,
            _ => new.bad_next,
        };
        (self.bad_after_good, self.bad_after_bad) = (new.bad_after_good, new.bad_after_bad);
    }

    #[inline]
    pub(super) fn next_slot(&mut self) -> bool {
        let bad = self.stream.uniform() < self.bad_next;
        self.bad_next = if bad { self.bad_after_bad } else { self.bad_after_good };
        bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::bernoulli::Bernoulli;

    /// Share of bad slots and mean length of bursts.
    fn measure(channel: &mut GilbertElliott, slots: u32) -> (f64, f64) {
        let mut bad = 0_u32;
        let mut bursts = 0_u32;
        let mut before = false;
        for _ in 0..slots {
            let now = channel.next_slot();
            bad += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        (f64::from(bad) / f64::from(slots), f64::from(bad) / f64::from(bursts))
    }

    #[test]
    fn mean_loss_and_mean_burst_converge() {
        for (loss, burst) in [(0.078, 1.33), (0.01, 4.0), (0.3, 1.0), (0.5, 20.0)] {
            let slots = 2_000_000;
            let (bad, length) =
                measure(&mut GilbertElliott::new(loss, burst, Stream::new(5, "air")), slots);
            // Bursts are geometric with variance B(B-1); correlation inflates the share's variance
            // by about 2B - 1.
            let bursts = f64::from(slots) * loss / burst;
            let burst_error = (burst * (burst - 1.0) / bursts).sqrt() + 1e-3;
            let share_error = (loss * (1.0 - loss) * (2.0 * burst - 1.0) / f64::from(slots)).sqrt();
            assert!((bad - loss).abs() < 5.0 * share_error, "loss {loss}: {bad}");
            assert!((length - burst).abs() < 5.0 * burst_error, "burst {burst}: {length}");
        }
    }

    #[test]
    fn the_first_slot_is_bad_as_often_as_any_other() {
        let seeds = 20_000;
        let bad = (0..seeds)
            .filter(|&seed| GilbertElliott::new(0.2, 8.0, Stream::new(seed, "air")).next_slot())
            .count() as f64;
        assert!((bad / seeds as f64 - 0.2).abs() < 5.0 * (0.16 / seeds as f64).sqrt(), "{bad}");
    }

    #[test]
    fn bursts_of_one_over_the_good_share_are_bernoulli_slot_by_slot() {
        for loss in [0.0, 0.078, 0.25, 0.9] {
            let mut bursts = GilbertElliott::new(loss, 1.0 / (1.0 - loss), Stream::new(11, "air"));
            let mut independent = Bernoulli::new(loss, Stream::new(11, "air"));
            assert!((0..100_000).all(|_| bursts.next_slot() == independent.next_slot()), "{loss}");
        }
    }

    #[test]
    fn a_change_of_loss_and_burst_keeps_the_state() {
        let mut channel = GilbertElliott::new(0.2, 8.0, Stream::new(1, "air"));
        while !channel.next_slot() {}
        channel.adopt(0.5, 4.0);
        // Bad after bad: 1 - 1/4; bad after good: 1/4 0.5/0.5.
        assert_eq!(channel.bad_next, 0.75);
        while channel.next_slot() {}
        assert_eq!(channel.bad_next, 0.25);
        channel.adopt(0.5, 2.0);
        assert_eq!(channel.bad_next, 0.5);
    }

    #[test]
    fn the_longest_possible_gap_is_one_slot() {
        // L/(1-L) = 3 = B: p = 1, so that never two good slots follow each other.
        let mut channel = GilbertElliott::new(0.75, 3.0, Stream::new(1, "air"));
        let slots: Vec<bool> = (0..1000).map(|_| channel.next_slot()).collect();
        assert!(slots.windows(2).all(|pair| pair[0] || pair[1]));
    }
}
