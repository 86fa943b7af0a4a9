//! The largest value of a window, by three samples (Nichols; lib/win_minmax.c).
//!
//! ```text
//! best      the largest of the window
//! second    the largest after it, in the last three quarters;  third: the largest after that, in the last half
//! ```
//!
//! If the best leaves the window, the second takes its place. So the value may be less than the
//! largest of a window; it is never from outside.
//!
//! Deviations: none.

use super::bandwidth::Bandwidth;

#[derive(Clone, Copy, Debug)]
struct Sample {
    round: u64,
    value: Bandwidth,
}

#[derive(Clone, Debug)]
pub(super) struct MaxFilter {
    /// Rounds in the window.
    window: u64,
    /// Best, second, third.
    samples: [Sample; 3],
}

impl MaxFilter {
    pub(super) fn new(window: u64) -> Self {
        Self { window, samples: [Sample { round: 0, value: Bandwidth::default() }; 3] }
    }

    /// The largest value.
    pub(super) fn max(&self) -> Bandwidth {
        self.samples[0].value
    }

    /// Takes in `value` of `round`, which is no earlier than that of the last.
    pub(super) fn update(&mut self, round: u64, value: Bandwidth) {
        let new = Sample { round, value };
        let [best, second, third] = &mut self.samples;
        if value >= best.value || round - third.round > self.window {
            self.samples = [new; 3];
            return;
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        self.age(new);
    }

    fn age(&mut self, new: Sample) {
        let [best, second, third] = &mut self.samples;
        let age = new.round - best.round;
        if age > self.window {
            (*best, *second, *third) = (*second, *third, new);
            if new.round - best.round > self.window {
                (*best, *second, *third) = (*second, *third, new);
            }
        } else if second.round == best.round && age > self.window / 4 {
            (*second, *third) = (new, new);
        } else if third.round == second.round && age > self.window / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;

    /// The largest value, packets per second, after each of (round, packets per second).
    fn maxima(samples: &[(u64, u64)]) -> Vec<u64> {
        let mut filter = MaxFilter::new(10);
        let of = |pkts| Bandwidth::of(pkts, Span::from_secs(1));
        let known: Vec<u64> = samples.iter().map(|&(_, pkts)| pkts).collect();
        let update = |&(round, pkts): &(u64, u64)| {
            filter.update(round, of(pkts));
            known.iter().copied().find(|&pkts| of(pkts) == filter.max()).unwrap()
        };
        samples.iter().map(update).collect()
    }

    #[test]
    fn the_largest_value_is_kept_for_ten_rounds() {
        assert_eq!(
            maxima(&[(1, 900), (2, 500), (4, 700), (8, 600), (11, 300), (12, 300)]),
            [900, 900, 900, 900, 900, 700]
        );
    }

    #[test]
    fn a_larger_value_replaces_all() {
        assert_eq!(
            maxima(&[(1, 500), (4, 400), (5, 600), (15, 100), (16, 100)])[2..],
            [600, 600, 100]
        );
    }

    #[test]
    fn the_second_is_taken_from_after_the_first_quarter() {
        // 800 lies in the first quarter, 2 rounds, and is not kept.
        assert_eq!(maxima(&[(1, 900), (3, 800), (4, 200), (12, 100)]), [900, 900, 900, 200]);
        assert_eq!(maxima(&[(1, 900), (30, 100)]), [900, 100], "nothing is left of the window");
    }
}
