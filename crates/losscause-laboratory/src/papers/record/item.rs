//! One value of a reproduction: a metric of a system in a scenario, published and measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::parameters::Parameters;
use super::published::Summary;
use losscause_study::statistics::{Estimate, Interval, Median};

/// A published or merely required value, and what was measured. `(paper, metric, system, scenario,
/// parameters)` is unique in a reproduction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Unique name, the published number's where one has the same parameters: "WLH.N1.Spike.M_w". A
    /// number that leaves parameters unsaid has a name of its own.
    pub id: String,
    /// Short name of the paper: "cen2003".
    pub paper: String,
    /// Table, figure or section of the paper: "Table II".
    pub source: String,
    /// System by the paper's name.
    pub system: String,
    /// Scenario by the paper's name.
    pub scenario: String,
    /// The parameters that the scenario was run with.
    pub parameters: Parameters,
    /// Metric by the paper's name.
    pub metric: String,
    /// Unit of `published`, `measured` and `ci95`.
    pub unit: String,
    /// The printed value, of a result or of the set-up; none where the paper gives none (or only a
    /// curve).
    pub published: Option<f64>,
    /// Mean over the runs in which the metric exists, or their median if the record says so
    /// ([`Summary`]); none if it exists in no run.
    pub measured: Option<f64>,
    /// Half-width of Student's 95 % interval for the mean; none below two values, and for medians.
    pub ci95: Option<f64>,
    /// The 95 % interval of a median; none below six values, and for means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_ci95: Option<Interval>,
    /// Runs made.
    pub runs: u32,
    /// Parameters of the scenario's file that were found by their effect before the runs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calibrated: BTreeMap<String, f64>,
    /// How the two compare by the rule of scoring.
    pub status: Status,
    /// Whether `measured` is within the tolerance of `published`, after any number of runs; none if
    /// the paper prints no result to compare with.
    #[serde(default)]
    pub within: Option<bool>,
    /// Whether the paper itself contradicts `published`, so that no run can meet it; the record's
    /// explanation has the proof.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub impossible: bool,
}

impl Item {
    /// Takes in the values of its runs, one per run.
    pub fn measure(&mut self, summary: Summary, values: impl IntoIterator<Item = Option<f64>>) {
        match summary {
            Summary::Largest | Summary::Smallest => {
                let values: Vec<Option<f64>> = values.into_iter().collect();
                self.runs = values.len() as u32;
                let extreme = if summary == Summary::Largest { f64::max } else { f64::min };
                self.measured = values.into_iter().flatten().reduce(extreme);
            }
            Summary::Mean => {
                let estimate = Estimate::from_runs(values);
                (self.measured, self.ci95, self.runs) =
                    (estimate.mean, estimate.ci95, estimate.runs);
            }
            Summary::Median => {
                let estimate = Median::from_runs(values);
                (self.measured, self.median_ci95, self.runs) =
                    (estimate.median, estimate.ci95, estimate.runs);
            }
        }
    }

    /// Multiplies what was measured, to change its unit.
    pub(crate) fn scale(&mut self, factor: f64) {
        if let Some(measured) = &mut self.measured {
            *measured *= factor;
        }
        if let Some(half_width) = &mut self.ci95 {
            *half_width *= factor.abs();
        }
        if let Some(interval) = &mut self.median_ci95 {
            *interval = Interval { low: interval.low * factor, high: interval.high * factor };
        }
    }

    /// The 95 % interval of `measured`.
    pub fn interval(&self) -> Option<Interval> {
        self.median_ci95.or_else(|| Some(Interval::around(self.measured?, self.ci95?)))
    }

    /// The measured value with its interval: `17.6 ± 0.12` for a mean, `17.6 (17.5 to 17.7)` for a
    /// median.
    pub fn interval_text(&self) -> String {
        let measured = self.measured_text();
        match (self.median_ci95, self.ci95) {
            (Some(_), _) => format!("{measured} ({})", self.ends_text()),
            (None, Some(_)) => format!("{measured} ± {}", self.ci95_text()),
            (None, None) => measured,
        }
    }

    /// The ends of its interval: `17.5 to 17.7`; a dash for none.
    pub fn ends_text(&self) -> String {
        let of = |Interval { low, high }: Interval| {
            format!("{} to {}", figure(Some(low)), figure(Some(high)))
        };
        self.interval().map_or_else(|| NONE.to_owned(), of)
    }

    /// The published value as the paper prints it; a dash for none.
    pub fn published_text(&self) -> String {
        match self.published {
            None => NONE.to_owned(),
            Some(value) if is_tiny(value) => format!("{value:e}"),
            Some(value) => value.to_string(),
        }
    }

    /// The measured value in three digits, very small ones in two, counts in full, means of counts
    /// with one decimal; a dash for none.
    pub fn measured_text(&self) -> String {
        match self.measured {
            Some(value) if self.unit == "count" => count(value),
            value => figure_beside(value, self.published),
        }
    }

    /// How it compares with the published value, as a mark: ✓ within tolerance, ✗ missed, in
    /// parentheses after fewer runs than the paper's, · not scored, nothing without a published
    /// value.
    pub fn mark(&self) -> &'static str {
        match self.status {
            Status::Reproduced => "✓",
            Status::Missed => "✗",
            Status::Preview if self.within == Some(true) => "(✓)",
            Status::Preview => "(✗)",
            Status::NotScored => "·",
            Status::NoPublishedValue => "",
        }
    }

    /// The half-width of its interval, likewise.
    pub fn ci95_text(&self) -> String {
        figure(self.ci95)
    }
}

const NONE: &str = "–";

/// Whether a value is too close to zero for decimals.
pub fn is_tiny(value: f64) -> bool {
    value != 0.0 && value.abs() < 0.001
}

/// Two decimals at most, three digits where there are as many; but never fewer than two digits of a
/// value that two decimals would show as zero.
fn figure(value: Option<f64>) -> String {
    match value {
        None => NONE.to_owned(),
        Some(value) if value == 0.0 || value.abs() >= 99.95 => format!("{value:.0}"),
        Some(value) if value.abs() >= 9.995 => format!("{value:.1}"),
        Some(value) if is_tiny(value) => format!("{value:.1e}"),
        Some(value) if value.abs() < 0.005 => format!("{value:.4}"),
        Some(value) => format!("{value:.2}"),
    }
}

/// A count in full; a mean of counts with one decimal.
fn count(value: f64) -> String {
    if value.fract() == 0.0 { value.to_string() } else { format!("{value:.1}") }
}

/// As [`figure`], with as many decimals as the value beside it has: fairness 0.9948 is not 0.9888.
fn figure_beside(value: Option<f64>, other: Option<f64>) -> String {
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let own = figure(value);
    match (value, other.map(|other| decimals(&other.to_string()))) {
        (Some(value), Some(more)) if (decimals(&own)..=6).contains(&more) && !own.contains('e') => {
            format!("{value:.more$}")
        }
        _ => own,
    }
}

/// How a measured value compares with the published one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Within the tolerance, from at least as many runs as the paper made.
    Reproduced,
    /// Outside it, from at least as many runs as the paper made.
    Missed,
    /// From fewer runs than the paper made; [`Item::within`] compares it.
    Preview,
    /// The paper prints a value that is not scored: it holds by definition, illustrates, or belongs
    /// to the set-up.
    NotScored,
    /// The paper prints no value.
    #[default]
    NoPublishedValue,
}

/// A claim of a paper, settled by the measured means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimOutcome {
    /// The claim's name in the paper's record.
    pub id: String,
    /// Short name of the paper.
    pub paper: String,
    /// What is claimed.
    pub statement: String,
    /// Whether it holds; none where a value it reads was not measured, and for claims that no run
    /// can settle.
    pub holds: Option<bool>,
    /// The figures that were looked at, or why none were.
    pub evidence: String,
    /// Whether the paper itself contradicts the claim, so that no run can meet it; the record's
    /// explanation has the proof.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub impossible: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::record::find;
    use crate::papers::reproduce::blank_item;

    fn blank() -> Item {
        let paper = find("extra").unwrap();
        blank_item(paper, &paper.items().item[0], "goodput", "reno", &Parameters::new(), 1)
    }

    #[test]
    fn an_extreme_of_the_runs_leaves_out_those_without_a_value() {
        let mut item = blank();
        item.measure(Summary::Largest, [Some(-3.0), None, Some(-7.0)]);
        assert_eq!((item.measured, item.runs, item.interval()), (Some(-3.0), 3, None));
        item.measure(Summary::Smallest, [Some(-3.0), None, Some(-7.0)]);
        assert_eq!((item.measured, item.runs), (Some(-7.0), 3));
    }

    #[test]
    fn a_mean_has_a_symmetric_interval_a_median_one_between_values() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 27.0].map(Some);
        let mut mean = blank();
        let mut median = blank();
        mean.measure(Summary::Mean, values);
        median.measure(Summary::Median, values);
        // Mean 7, s = sqrt(490 / 5) = 9.90, 2.5706 s / sqrt(6) = 10.39.
        assert_eq!(mean.interval_text(), "7.00 ± 10.4");
        assert!((mean.interval().unwrap().low + 3.39).abs() < 0.01);
        assert_eq!(median.interval_text(), "3.50 (1.00 to 27.0)");
        assert_eq!(
            (median.interval(), median.ci95),
            (Some(Interval { low: 1.0, high: 27.0 }), None)
        );
        assert_eq!(blank().interval_text(), "–");
        let json = serde_json::to_string(&mean).unwrap();
        assert!(!json.contains("median_ci95"), "the shape of papers' results is the same: {json}");
    }

    #[test]
    fn figures_have_three_digits() {
        let texts = [0.0, 0.006, 0.5, 9.99, 9.999, 54.96, 99.94, 99.96].map(|v| figure(Some(v)));
        assert_eq!(texts, ["0", "0.01", "0.50", "9.99", "10.0", "55.0", "99.9", "100"]);
        assert_eq!(figure(None), "–");
    }

    #[test]
    fn a_measured_value_has_the_decimals_of_the_published_one() {
        let texts = [
            (0.994_81, 0.9888),
            (0.99481, 1.0),
            (181.694, 166.7),
            (36.09, 0.02),
            (0.12, 0.3),
            (9.4e-5, 0.02),
        ]
        .map(|(value, other)| figure_beside(Some(value), Some(other)));
        assert_eq!(texts, ["0.9948", "0.99", "181.7", "36.09", "0.12", "9.4e-5"]);
        assert_eq!(
            (figure_beside(None, Some(0.5)), figure_beside(Some(0.5), None)),
            ("–".into(), "0.50".into())
        );
    }

    #[test]
    fn counts_are_in_full_and_their_means_have_one_decimal() {
        assert_eq!([1234.0, 0.0, 400.0 / 3.0, 83.5].map(count), ["1234", "0", "133.3", "83.5"]);
    }

    #[test]
    fn what_is_not_zero_is_not_shown_as_zero() {
        let texts = [0.004_96, 0.001, -0.004, 0.000_94, 9.36e-5, -1e-9].map(|v| figure(Some(v)));
        assert_eq!(texts, ["0.0050", "0.0010", "-0.0040", "9.4e-4", "9.4e-5", "-1.0e-9"]);
    }
}
