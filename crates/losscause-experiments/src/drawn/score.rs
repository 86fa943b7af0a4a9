//! Balanced errors, their means over paths, and intervals.
//!
//! ```text
//! M_c = congestion losses called wireless / congestion losses
//! M_w = wireless losses not called wireless / wireless losses
//! e   = (M_c + M_w) / 2,  or one of them if the path has fewer than ten losses of the other cause
//! ```
//!
//! The best algorithm of a path, chosen with hindsight, is in part the luckiest. So it is also
//! chosen by one half of the path's losses and scored on the other ([`best_by_halves`]).
//!
//! An undecided loss counts as called congestion, because that is what a transport does with it.
//! (`simulate` counts it as no error in M_w, and apart.) Intervals are percentile bootstrap over
//! paths, from 2.5 to 97.5 %.

use losscause_sim::rng::Stream;
use losscause_sim::truth::Cause;
use losscause_study::statistics::mean;
use serde::{Deserialize, Serialize};

/// A class counts from so many losses on.
pub const LEAST_LOSSES: u64 = 10;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 2000;

/// Judged losses of one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// All of them.
    pub losses: u64,
    /// Those with the wrong verdict.
    pub wrong: u64,
}

/// An algorithm's verdicts on a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Losses to congestion.
    pub congestion: Judged,
    /// Wireless losses.
    pub wireless: Judged,
}

impl Judged {
    /// The share of wrong verdicts; none of fewer than [`LEAST_LOSSES`].
    pub fn error(self) -> Option<f64> {
        (self.losses >= LEAST_LOSSES).then(|| self.share())
    }

    fn share(self) -> f64 {
        self.wrong as f64 / self.losses as f64
    }

    /// Wrong verdicts, percent of the losses; none without one.
    pub fn percent(self) -> Option<f64> {
        (self.losses > 0).then(|| 100.0 * self.wrong as f64 / self.losses as f64)
    }

    fn with(self, other: Self) -> Self {
        Self { losses: self.losses + other.losses, wrong: self.wrong + other.wrong }
    }
}

impl Tally {
    /// Counts a loss with this cause that was called wireless, or not.
    pub fn count(&mut self, cause: Cause, called_wireless: bool) {
        let (judged, wrong) = match cause {
            Cause::Congestion => (&mut self.congestion, called_wireless),
            Cause::Wireless => (&mut self.wireless, !called_wireless),
        };
        judged.losses += 1;
        judged.wrong += u64::from(wrong);
    }

    /// The balanced error, 0 to 1; none if neither cause has enough losses.
    pub fn balanced_error(self) -> Option<f64> {
        balanced(self.congestion.error(), self.wireless.error())
    }
}

/// The mean of both errors, or the one that there is.
fn balanced(m_c: Option<f64>, m_w: Option<f64>) -> Option<f64> {
    m_c.zip(m_w).map(|(m_c, m_w)| (m_c + m_w) / 2.0).or(m_c).or(m_w)
}

/// An algorithm's verdicts on a path, in two halves: of each cause, every other loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halves([Tally; 2]);

impl Halves {
    /// Counts a loss with this cause that was called wireless, or not.
    pub fn count(&mut self, cause: Cause, called_wireless: bool) {
        let [first, second] = self.0.map(|tally| match cause {
            Cause::Congestion => tally.congestion.losses,
            Cause::Wireless => tally.wireless.losses,
        });
        self.0[usize::from(second < first)].count(cause, called_wireless);
    }

    /// All losses.
    pub fn whole(self) -> Tally {
        let [first, second] = self.0;
        Tally {
            congestion: first.congestion.with(second.congestion),
            wireless: first.wireless.with(second.wireless),
        }
    }

    /// The balanced error of each half, 0 to 1, over the causes that count in the whole.
    pub fn balanced_errors(self) -> Option<[f64; 2]> {
        let Tally { congestion, wireless } = self.whole();
        let of = |counts: Judged, half: Judged| counts.error().map(|_| half.share());
        let errors = self
            .0
            .map(|half| balanced(of(congestion, half.congestion), of(wireless, half.wireless)));
        Some([errors[0]?, errors[1]?])
    }
}

/// The error of the best of several algorithms on a path if it is chosen by one half of the losses
/// and scored on the other: the mean of both ways. Of several that are equally good, it is any.
pub fn best_by_halves(errors: &[[f64; 2]]) -> Option<f64> {
    let scored_on = |other: usize| {
        let least = errors.iter().map(|error| error[1 - other]).min_by(f64::total_cmp)?;
        let best = errors.iter().filter(|error| error[1 - other] == least);
        mean(&best.map(|error| error[other]).collect::<Vec<f64>>())
    };
    Some((scored_on(0)? + scored_on(1)?) / 2.0)
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The ends of the interval; null if too few networks say something about it.
    pub ci95: Option<[f64; 2]>,
}

impl Estimate {
    /// The same with this of its value and of both ends.
    pub fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Self { value: of(self.value), ci95: self.ci95.map(|ends| ends.map(of)) }
    }

    /// How much it is on the other side of zero.
    pub fn negative(self) -> Self {
        Self { value: -self.value, ci95: self.ci95.map(|[low, high]| [-high, -low]) }
    }

    /// The same in percent.
    pub fn percent(self) -> Self {
        self.map(|share| 100.0 * share)
    }

    /// `[31.0, 40.2]`, with so many decimals; nothing without an interval.
    pub fn ends(self, digits: usize) -> String {
        let text = |[low, high]: [f64; 2]| format!("[{low:.digits$}, {high:.digits$}]");
        self.ci95.map_or_else(String::new, text)
    }

    /// `12.3 [8, 17]`: the value and the ends, each with so many decimals.
    pub fn text(self, [value, ends]: [usize; 2]) -> String {
        format!("{:.value$} {}", self.value, self.ends(ends)).trim_end().to_owned()
    }
}

/// Fewer networks say nothing about how much networks differ.
pub const LEAST_NETWORKS: usize = 3;

/// Resamples of `paths` paths, the same for every row that is compared.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    samples: Vec<Vec<usize>>,
}

impl Bootstrap {
    /// Draws the resamples.
    pub fn new(paths: usize, seed: u64) -> Self {
        let mut stream = Stream::new(seed, "bootstrap");
        let mut sample = || (0..paths).map(|_| stream.below(paths as u64) as usize).collect();
        Self { samples: (0..RESAMPLES).map(|_| sample()).collect() }
    }

    /// The mean of one value per path.
    pub fn mean(&self, values: &[f64]) -> Option<Estimate> {
        self.resampled(|sample| mean_of(values, sample)).interval()
    }

    /// By what share the mean of `values` is below that of `reference`, path by path in pairs: 1 -
    /// mean / mean.
    pub fn reduction(&self, values: &[f64], reference: &[f64]) -> Option<Estimate> {
        let reduction = self.resampled(|sample| {
            let below = mean_of(reference, sample).filter(|&reference| reference > 0.0)?;
            Some(1.0 - mean_of(values, sample)? / below)
        });
        reduction.interval()
    }

    /// The mean of all values of several groups, one group per path. A resample takes a group with
    /// all its values.
    pub fn mean_of_groups(&self, groups: &[Vec<f64>]) -> Resampled {
        let resampled = self.resampled(|sample| {
            let chosen: Vec<f64> = match sample {
                Some(sample) => sample.iter().flat_map(|&group| &groups[group]).copied().collect(),
                None => groups.concat(),
            };
            mean(&chosen)
        });
        let with_value = groups.iter().filter(|group| !group.is_empty()).count();
        Resampled { with_value, ..resampled }
    }

    /// A statistic of all paths (none) and of each resample.
    fn resampled(&self, statistic: impl Fn(Option<&[usize]>) -> Option<f64>) -> Resampled {
        Resampled {
            value: statistic(None),
            resamples: self.samples.iter().map(|sample| statistic(Some(sample))).collect(),
            with_value: self.samples.first().map_or(0, Vec::len),
        }
    }
}

/// A statistic of all paths, and of each resample.
#[derive(Clone, Debug)]
pub struct Resampled {
    value: Option<f64>,
    resamples: Vec<Option<f64>>,
    /// The paths that say something about it; of a mean, those of its largest part.
    with_value: usize,
}

impl Resampled {
    /// The mean of several statistics that have a value, resample by resample. A part that has no
    /// value in a resample keeps its own.
    pub fn mean_of(parts: &[&Self]) -> Self {
        let over = |value: &dyn Fn(&Self) -> Option<f64>| {
            mean(&parts.iter().filter_map(|part| value(part)).collect::<Vec<f64>>())
        };
        let resample = |at: usize| over(&|part| part.resamples[at].or(part.value));
        Self {
            value: over(&|part| part.value),
            resamples: (0..RESAMPLES).map(resample).collect(),
            with_value: parts.iter().map(|part| part.with_value).max().unwrap_or(0),
        }
    }

    /// Whether enough paths say something about it, of so many that could.
    pub fn counts(&self, paths: usize) -> bool {
        self.with_value >= LEAST_NETWORKS.min(paths)
    }

    /// The value, with its interval if enough paths say something about it; none without a value.
    pub fn estimate(&self) -> Option<Estimate> {
        let Estimate { value, ci95 } = self.interval()?;
        Some(Estimate { value, ci95: ci95.filter(|_| self.with_value >= LEAST_NETWORKS) })
    }

    /// The value with its interval; none without a value.
    fn interval(&self) -> Option<Estimate> {
        let value = self.value?;
        let mut resampled: Vec<f64> = self.resamples.iter().flatten().copied().collect();
        resampled.sort_by(f64::total_cmp);
        let at = |share: f64| {
            resampled.get((share * (resampled.len() - 1) as f64).round() as usize).copied()
        };
        (!resampled.is_empty())
            .then(|| Some(Estimate { value, ci95: Some([at(0.025)?, at(0.975)?]) }))?
    }
}

/// The mean of the values that a sample chooses; of all without one.
fn mean_of(values: &[f64], sample: Option<&[usize]>) -> Option<f64> {
    match sample {
        Some(sample) => mean(&sample.iter().map(|&index| values[index]).collect::<Vec<f64>>()),
        None => mean(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(congestion: (u64, u64), wireless: (u64, u64)) -> Tally {
        let judged = |(wrong, losses)| Judged { losses, wrong };
        Tally { congestion: judged(congestion), wireless: judged(wireless) }
    }

    #[test]
    fn a_class_counts_from_ten_losses_on() {
        assert_eq!(tally((2, 10), (12, 20)).balanced_error(), Some(0.4));
        assert_eq!(tally((2, 10), (9, 9)).balanced_error(), Some(0.2));
        assert_eq!(tally((9, 9), (5, 10)).balanced_error(), Some(0.5));
        assert_eq!(tally((9, 9), (9, 9)).balanced_error(), None);
    }

    #[test]
    fn an_undecided_loss_is_an_error_only_if_it_was_wireless() {
        let mut tally = Tally::default();
        [Cause::Congestion, Cause::Wireless]
            .into_iter()
            .for_each(|cause| tally.count(cause, false));
        assert_eq!((tally.congestion.wrong, tally.wireless.wrong), (0, 1));
    }

    #[test]
    fn the_halves_are_every_other_loss_of_each_cause() {
        let mut halves = Halves::default();
        // Ten congestion losses, every other one called wireless; three wireless ones do not count.
        (0..10).for_each(|i| halves.count(Cause::Congestion, i % 2 == 0));
        (0..3).for_each(|_| halves.count(Cause::Wireless, false));
        assert_eq!(halves.whole(), tally((5, 10), (3, 3)));
        assert_eq!(halves.balanced_errors(), Some([1.0, 0.0]));
        assert_eq!(Halves::default().balanced_errors(), None);
    }

    #[test]
    fn the_luckiest_of_equals_gains_nothing_on_the_other_half() {
        // Coins: the best of each half is 0.4, and 0.6 on the other.
        assert_eq!(best_by_halves(&[[0.4, 0.6], [0.6, 0.4]]), Some(0.6));
        // One that is better in both halves is the best of both.
        assert_eq!(best_by_halves(&[[0.25, 0.5], [0.5, 0.75]]), Some(0.375));
        // Of two that are equally good in the first half, either.
        assert_eq!(best_by_halves(&[[0.0, 0.25], [0.0, 0.75]]), Some((0.5 + 0.0) / 2.0));
        assert_eq!(best_by_halves(&[]), None);
    }

    #[test]
    fn an_interval_of_equal_values_is_a_point() {
        let interval = Bootstrap::new(5, 1).mean(&[0.25; 5]);
        assert_eq!(interval, Some(Estimate { value: 0.25, ci95: Some([0.25, 0.25]) }));
        assert_eq!(Bootstrap::new(0, 1).mean(&[]), None);
    }

    #[test]
    fn an_interval_is_near_that_of_the_normal_distribution() {
        // 0 and 1, fifty times each: a standard error of 0.05, so 0.402 to 0.598.
        let values: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        let Estimate { value, ci95 } = Bootstrap::new(100, 1).mean(&values).expect("values");
        let [low, high] = ci95.expect("values");
        assert!(
            value == 0.5 && (low - 0.402).abs() < 0.02 && (high - 0.598).abs() < 0.02,
            "{low} {high}"
        );
    }

    #[test]
    fn a_group_is_resampled_with_all_its_values() {
        // A resample has both groups, or one of them twice: means of 0.5, 0 and 1.
        let groups = [vec![0.0, 0.0], vec![1.0, 1.0]];
        let found = Bootstrap::new(2, 1).mean_of_groups(&groups);
        assert_eq!(found.interval(), Some(Estimate { value: 0.5, ci95: Some([0.0, 1.0]) }));
        // Its mean with one that is always 1 is half as wide. One without a value is left out.
        let one = Bootstrap::new(1, 1).mean_of_groups(&[vec![1.0]]);
        let none = Bootstrap::new(1, 1).mean_of_groups(&[Vec::new()]);
        assert_eq!(none.interval(), None);
        let mean = Resampled::mean_of(&[&found, &one, &none]).interval();
        assert_eq!(mean, Some(Estimate { value: 0.75, ci95: Some([0.5, 1.0]) }));
        assert_eq!(found.estimate(), Some(Estimate { value: 0.5, ci95: None }), "two networks");
    }

    #[test]
    fn a_reduction_compares_path_by_path() {
        // Always half of the reference: no resample differs, however much the reference varies.
        let reference = [0.1, 0.9, 0.4, 0.6];
        let half = reference.map(|value| value / 2.0);
        let found = Bootstrap::new(4, 1).reduction(&half, &reference).expect("values");
        let [low, high] = found.ci95.expect("values");
        assert!([found.value, low, high].iter().all(|share| (share - 0.5).abs() < 1e-12));
        assert_eq!(Bootstrap::new(1, 1).reduction(&[0.0], &[0.0]), None);
    }
}
