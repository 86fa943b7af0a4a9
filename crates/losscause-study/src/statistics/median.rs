//! Medians over runs with their confidence intervals.

use super::Interval;

/// What several runs say about the median of one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// Median over the runs in which the metric exists; none if it exists in no run.
    pub median: Option<f64>,
    /// The median's 95 % interval; none below six values.
    pub ci95: Option<Interval>,
    /// Runs made, whether or not the metric exists in them.
    pub runs: u32,
}

impl Median {
    /// Estimates from one value per run, in any unit; the estimate is in the same unit.
    ///
    /// The interval lies between the k-th smallest and the k-th largest of n values. The median of
    /// the distribution is outside with the probability that fewer than k of n fair coins show
    /// heads, or fewer than k tails; k is the largest number for which this is at most 5 %. Nothing
    /// is assumed about the distribution.
    pub fn from_runs(values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let mut runs = 0;
        let mut present = Vec::new();
        for value in values {
            runs += 1;
            present.extend(value);
        }
        present.sort_by(f64::total_cmp);
        let ci95 = place_of_ends(present.len()).map(|place| Interval {
            low: present[place],
            high: present[present.len() - 1 - place],
        });
        Self { median: median(&present), ci95, runs }
    }
}

/// The middle of sorted values, or the mean of the two in the middle; none of nothing.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        0 => Some((sorted[sorted.len() / 2 - 1] + upper) / 2.0),
        _ => Some(upper),
    }
}

/// How many of `n` sorted values lie outside of the interval's ends on each side; none if even the
/// smallest and the largest value are too close.
fn place_of_ends(n: usize) -> Option<usize> {
    let mut probability = 0.5f64.powi(i32::try_from(n).ok()?);
    let mut below = 0.0;
    let mut places = None;
    for place in 0..n.div_ceil(2) {
        below += probability;
        if 2.0 * below > 0.05 {
            break;
        }
        places = Some(place);
        probability *= (n - place) as f64 / (place + 1) as f64;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_those_of_the_printed_table() {
        // Conover, Practical Nonparametric Statistics, and every table of the sign test: the k-th
        // value from each end.
        let ends = [5, 6, 8, 9, 10, 20, 30].map(|n| place_of_ends(n).map(|place| place + 1));
        assert_eq!(ends, [None, Some(1), Some(1), Some(2), Some(2), Some(6), Some(10)]);
        assert_eq!(place_of_ends(0), None);
    }

    #[test]
    fn a_median_of_six_lies_between_the_smallest_and_the_largest() {
        // Outside with probability 2 / 64 = 3.1 %.
        let estimate = Median::from_runs([4.0, 9.0, 1.0, 5.0, 7.0, 30.0].map(Some));
        let expected =
            Median { median: Some(6.0), ci95: Some(Interval { low: 1.0, high: 30.0 }), runs: 6 };
        assert_eq!(estimate, expected);
    }

    #[test]
    fn runs_without_a_value_only_count_and_five_give_no_interval() {
        let estimate =
            Median::from_runs([None, Some(3.0), Some(1.0), Some(2.0), Some(5.0), Some(4.0)]);
        assert_eq!(estimate, Median { median: Some(3.0), ci95: None, runs: 6 });
        assert_eq!(Median::from_runs([None]).median, None);
    }

    #[test]
    fn one_far_value_moves_neither_the_median_nor_its_interval() {
        let values = |last: f64| (1..30).map(f64::from).chain([last]).map(Some);
        let near = Median::from_runs(values(30.0));
        let far = Median::from_runs(values(1e9));
        assert_eq!(near, far);
        assert_eq!(near.ci95, Some(Interval { low: 10.0, high: 21.0 }));
    }
}
