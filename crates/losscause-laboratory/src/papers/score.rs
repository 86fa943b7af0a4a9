//! The rule of scoring: when a published number counts as reproduced, and the score of the best
//! constant guess.
//!
//! A published number of kind `result` that does not hold by definition is reproduced when at least
//! as many runs were made as the paper made, and the mean lies within
//!
//! - 15 % of the published value, or, if wider,
//! - for percentages: 3 points where the published value is 10 or more, else 0.3 points;
//! - for fractions and probabilities: 0.03;
//! - for Jain's fairness index J, alone: the larger of 0.005 and (1 - J) / 2;
//! - for a paper that prints single runs: the 95 % prediction interval of one run, if that is no
//!   wider than 35 % of the mean.
//!
//! A published zero is reproduced by a metric that exists in no run: no loss, no loss misjudged.

use std::collections::BTreeSet;

use crate::papers::record::{Item, Status};
use crate::papers::record::{Kind, Number, Parameters, Published, Value};

/// How many of a set of published numbers were reproduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// By the rule above.
    pub reproduced: usize,
    /// Within the tolerance, regardless of the number of runs.
    pub within_tolerance: usize,
    /// Measured at all.
    pub measured: usize,
    /// The numbers that count.
    pub numbers: usize,
    /// The number that the best constant guess per metric would get; a score is meaningful only
    /// above it.
    pub floor: usize,
}

impl Score {
    /// Scores every number of `published` that counts and that `wanted` selects. A number that was
    /// not measured is missed.
    pub fn of(published: &Published, items: &[Item], wanted: impl Fn(&Number) -> bool) -> Self {
        let numbers: Vec<&Number> =
            published.number.iter().filter(|n| n.counts() && wanted(n)).collect();
        let mut score = Self { numbers: numbers.len(), floor: floor(&numbers), ..Self::default() };
        for number in numbers {
            let Some(item) = lookup_number(items, number) else { continue };
            score.measured += 1;
            score.reproduced += usize::from(judge(number, item, published.repetitions));
            score.within_tolerance += usize::from(within(number, item, published.repetitions));
        }
        score
    }
}

/// The item with this metric, system and scenario whose parameters include those in `want`. Of
/// several, the one with the fewest further parameters; the parameter `loss = "high"`, which a
/// paper may leave unsaid, counts half.
pub fn lookup<'a>(
    items: &'a [Item],
    metric: &str,
    system: &str,
    scenario: &str,
    want: &Parameters,
) -> Option<&'a Item> {
    items
        .iter()
        .filter(|i| i.metric == metric && i.system == system && i.scenario == scenario)
        .filter(|i| {
            want.iter()
                .all(|(key, value)| i.parameters.get(key).is_some_and(|have| have.same(value)))
        })
        .min_by_key(|i| {
            let extra = i.parameters.iter().filter(|(key, _)| !want.contains_key(*key));
            let halves =
                extra.map(
                    |(key, value)| {
                        if key == "loss" && *value == Value::from("high") { 1 } else { 2 }
                    },
                );
            halves.sum::<usize>()
        })
}

/// The item that measures a published number.
pub fn lookup_number<'a>(items: &'a [Item], number: &Number) -> Option<&'a Item> {
    lookup(items, &number.metric, &number.system, &number.scenario, &number.parameters)
}

/// The distance from the published value that still counts as reproduced, in the number's unit.
pub fn tolerance(number: &Number) -> f64 {
    let value = number.value.abs();
    if number.metric == "fairness" {
        return f64::max(0.005, 0.5 * (1.0 - number.value));
    }
    let relative = 0.15 * value;
    match number.unit.as_str() {
        "percent" if value >= 10.0 => relative.max(3.0),
        "percent" => relative.max(0.3),
        "fraction" | "1" => relative.max(0.03),
        _ => relative,
    }
}

/// Whether `item` reproduces `number`, printed by a paper that made `repetitions` runs.
pub fn judge(number: &Number, item: &Item, repetitions: u32) -> bool {
    let Some(measured) = item.measured else { return number.value == 0.0 };
    if item.runs < repetitions {
        return false;
    }
    let distance = (measured - number.value).abs();
    if distance <= tolerance(number) {
        return true;
    }
    match item.ci95 {
        Some(ci95) if repetitions == 1 && item.runs > 1 => {
            // The prediction interval of one more run is sqrt(n + 1) times the interval of the mean
            // of n runs.
            let of_one_run = ci95 * f64::from(item.runs + 1).sqrt();
            distance <= of_one_run && of_one_run <= 0.35 * measured.abs()
        }
        _ => false,
    }
}

/// How many of `numbers` the best constant guess per metric would get.
pub fn floor(numbers: &[&Number]) -> usize {
    let metrics: BTreeSet<&str> = numbers.iter().map(|n| n.metric.as_str()).collect();
    let best = |metric: &str| {
        let mine: Vec<&&Number> = numbers.iter().filter(|n| n.metric == metric).collect();
        let hits = |c: f64| mine.iter().filter(|n| (c - n.value).abs() <= tolerance(n)).count();
        mine.iter().map(|c| hits(c.value)).max().unwrap_or(0)
    };
    metrics.into_iter().map(best).sum()
}

/// Whether `item` is within the tolerance of `number`, after any number of runs.
pub fn within(number: &Number, item: &Item, repetitions: u32) -> bool {
    judge(number, item, item.runs.min(repetitions))
}

/// The status of `item`, which measures `number` of a paper that made `repetitions` runs. It is
/// [`Status::Reproduced`] exactly if the number counts and [`judge`] accepts it.
pub fn status(number: &Number, item: &Item, repetitions: u32) -> Status {
    if !number.counts() {
        Status::NotScored
    } else if judge(number, item, repetitions) {
        Status::Reproduced
    } else if item.runs < repetitions {
        Status::Preview
    } else {
        Status::Missed
    }
}

/// Sets published value, status and `within` of every item of one paper.
pub fn settle(published: &Published, items: &mut [Item]) {
    for item in items.iter_mut() {
        (item.published, item.within, item.status) = (None, None, Status::NoPublishedValue);
    }
    // The end of a range is no value of an item.
    for number in published.number.iter().filter(|number| number.kind != Kind::Bound) {
        let Some(found) = lookup_number(items, number) else { continue };
        let is_result = number.kind != Kind::Parameter;
        let within = is_result.then(|| within(number, found, published.repetitions));
        let status = status(number, found, published.repetitions);
        let id = found.id.clone();
        if let Some(item) = items.iter_mut().find(|i| i.id == id) {
            (item.published, item.within, item.status) = (Some(number.value), within, status);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(metric: &str, value: f64, unit: &str) -> Number {
        Number {
            id: format!("{metric}={value}"),
            metric: metric.into(),
            system: "Spike".into(),
            scenario: "WLH".into(),
            parameters: [("N".to_owned(), Value::from(1))].into(),
            value,
            unit: unit.into(),
            kind: Kind::Result,
            scored: true,
            source: "Table II".into(),
        }
    }

    fn item(metric: &str, parameters: &[(&str, Value)], measured: Option<f64>, runs: u32) -> Item {
        Item {
            id: format!("{metric}{parameters:?}"),
            paper: "cen2003".into(),
            source: "Table II".into(),
            system: "Spike".into(),
            scenario: "WLH".into(),
            parameters: parameters.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect(),
            metric: metric.into(),
            unit: "percent".into(),
            measured,
            runs,
            ..Item::default()
        }
    }

    #[test]
    fn percentages_have_three_points_slack_from_ten_and_0_3_below() {
        assert!((tolerance(&number("thput", 10.0, "percent")) - 3.0).abs() < 1e-12);
        assert!((tolerance(&number("thput", 99.0, "percent")) - 14.85).abs() < 1e-12);
        assert!((tolerance(&number("cong", 0.4, "percent")) - 0.3).abs() < 1e-12);
        assert!((tolerance(&number("cong", 9.9, "percent")) - 1.485).abs() < 1e-12);
    }

    #[test]
    fn fractions_and_fairness_have_their_own_tolerances() {
        assert!((tolerance(&number("P_CC", 0.1, "fraction")) - 0.03).abs() < 1e-12);
        assert!((tolerance(&number("fairness", 0.9958, "1")) - 0.005).abs() < 1e-12);
        assert!((tolerance(&number("fairness", 0.9, "1")) - 0.05).abs() < 1e-12);
        assert!((tolerance(&number("goodput", 200.0, "kb/s")) - 30.0).abs() < 1e-12);
    }

    #[test]
    fn nine_runs_of_ten_reproduce_nothing() {
        let published = number("thput", 99.0, "percent");
        let n1 = [("N", Value::from(1))];
        assert!(judge(&published, &item("thput", &n1, Some(99.0), 10), 10));
        assert!(!judge(&published, &item("thput", &n1, Some(99.0), 9), 10));
        assert!(!judge(&published, &item("thput", &n1, Some(80.0), 10), 10));
    }

    #[test]
    fn a_metric_of_no_run_reproduces_a_printed_zero_only() {
        let nothing = item("M_c", &[("N", Value::from(1))], None, 10);
        assert!(judge(&number("M_c", 0.0, "percent"), &nothing, 10));
        assert!(!judge(&number("M_c", 4.4, "percent"), &nothing, 10));
    }

    #[test]
    fn a_paper_of_single_runs_is_held_against_the_spread_of_one_run() {
        let published = number("goodput", 100.0, "kb/s");
        let mut measured = item("goodput", &[], Some(130.0), 10);
        measured.ci95 = Some(10.0);
        // 10 * sqrt(11) = 33.2: wide enough for 30, and below 0.35 * 130 = 45.5.
        assert!(judge(&published, &measured, 1));
        assert!(!judge(&published, &measured, 10));
        // Between 10 * sqrt(10) = 31.6 and 33.2: the run that the paper made is one more.
        measured.measured = Some(132.0);
        assert!(judge(&published, &measured, 1));
        measured.measured = Some(134.0);
        assert!(!judge(&published, &measured, 1));
        measured.measured = Some(130.0);
        measured.ci95 = Some(15.0);
        assert!(
            !judge(&published, &measured, 1),
            "an interval of 49.7 is too wide to say anything"
        );
    }

    #[test]
    fn lookup_prefers_fewest_extra_parameters_then_high_loss() {
        let items = [
            item("cong", &[("N", Value::from(1)), ("delay_ms", Value::from(40))], Some(1.0), 10),
            item("cong", &[("N", Value::from(1)), ("loss", Value::from("high"))], Some(2.0), 10),
            item("cong", &[("N", Value::from(2)), ("loss", Value::from("high"))], Some(3.0), 10),
        ];
        let want = [("N".to_owned(), Value::from(1.0))].into();
        assert_eq!(lookup(&items, "cong", "Spike", "WLH", &want).unwrap().measured, Some(2.0));
        let want =
            [("N".to_owned(), Value::from(1)), ("delay_ms".to_owned(), Value::from(40))].into();
        assert_eq!(lookup(&items, "cong", "Spike", "WLH", &want).unwrap().measured, Some(1.0));
        assert!(lookup(&items, "cong", "ZBS", "WLH", &want).is_none());
    }

    #[test]
    fn a_value_of_the_set_up_is_shown_and_not_judged() {
        let parameter = Number { kind: Kind::Parameter, ..number("ber", 8.7e-5, "1") };
        let published = Published {
            number: vec![parameter],
            ..crate::papers::record::all()[0].published().clone()
        };
        let mut items = [item("ber", &[("N", Value::from(1))], Some(8.7e-5), 0)];
        settle(&published, &mut items);
        assert_eq!(
            (items[0].published, items[0].status, items[0].within),
            (Some(8.7e-5), Status::NotScored, None)
        );
        assert_eq!(Score::of(&published, &items, |_| true).numbers, 0);
    }

    #[test]
    fn a_status_tells_missed_from_too_few_runs_and_from_unscored() {
        let n1 = [("N", Value::from(1))];
        let of = |measured, runs, number: Number| {
            let published = Published {
                number: vec![number],
                ..crate::papers::record::all()[1].published().clone()
            };
            assert_eq!(published.repetitions, 10);
            let mut items = [item("thput", &n1, Some(measured), runs)];
            settle(&published, &mut items);
            (items[0].status, items[0].within)
        };
        let scored = || number("thput", 99.0, "percent");
        assert_eq!(of(99.0, 10, scored()), (Status::Reproduced, Some(true)));
        assert_eq!(of(80.0, 10, scored()), (Status::Missed, Some(false)));
        assert_eq!(of(99.0, 9, scored()), (Status::Preview, Some(true)));
        assert_eq!(of(80.0, 9, scored()), (Status::Preview, Some(false)));
        for unscored in
            [Number { scored: false, ..scored() }, Number { kind: Kind::Illustration, ..scored() }]
        {
            assert_eq!(of(99.0, 9, unscored.clone()), (Status::NotScored, Some(true)));
            assert_eq!(of(80.0, 10, unscored), (Status::NotScored, Some(false)));
        }
        assert_eq!(
            of(99.0, 10, Number { kind: Kind::Bound, ..scored() }),
            (Status::NoPublishedValue, None)
        );
    }

    #[test]
    fn the_floor_is_the_best_constant_of_every_metric() {
        // 99 also covers 98 and 84.2 (within 15 %); no constant covers 1 and 5.
        let numbers = [99.0, 98.0, 84.2, 23.0].map(|v| number("thput", v, "percent"));
        let others = [1.0, 5.0].map(|v| number("cong", v, "percent"));
        let all: Vec<&Number> = numbers.iter().chain(&others).collect();
        assert_eq!(floor(&all), 4);
    }
}
