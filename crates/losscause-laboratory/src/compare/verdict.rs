//! The answer of a comparison in words.

use super::{Difference, VariantResult};

/// A metric that a verdict tells of.
#[derive(Clone, Copy)]
struct Told {
    metric: &'static str,
    words: &'static str,
    /// Whether its change is told in percent of the first variant's value. A delay may be next to
    /// nothing there.
    in_percent: bool,
}

const TOLD: [Told; 4] = [
    Told { metric: "goodput", words: "goodput", in_percent: true },
    Told { metric: "completion_time", words: "completion time", in_percent: true },
    Told { metric: "queueing_p95", words: "queueing delay (p95)", in_percent: false },
    Told { metric: "congestion_loss", words: "queue loss", in_percent: true },
];

/// One line: every variant against the first.
pub(super) fn verdict(variants: &[VariantResult], runs: u32) -> String {
    let [first, others @ ..] = variants else { return String::new() };
    if runs < 2 {
        return "one run tells no difference from chance; --runs 10 gives intervals".to_owned();
    }
    let told = |variant: &VariantResult| -> Vec<(Told, Difference)> {
        TOLD.into_iter()
            .filter_map(|told| Some((told, variant.differences.get(told.metric)?.clone())))
            .collect()
    };
    let is_clear = |(_, difference): &(Told, Difference)| difference.clear == Some(true);
    if !others.iter().any(|variant| told(variant).iter().any(is_clear)) {
        return format!("no difference can be told from {runs} runs");
    }
    let mut sentences = Vec::new();
    for variant in others {
        let told = told(variant);
        let words = |of: &dyn Fn(&(Told, Difference)) -> bool| -> Vec<&str> {
            told.iter().filter(|one| of(one)).map(|(told, _)| told.words).collect()
        };
        let changes = told.iter().filter(|one| is_clear(one) && !is_equal(one));
        let mut parts: Vec<String> = changes.map(changed).collect();
        let equal = words(&is_equal);
        if !equal.is_empty() {
            parts.push(format!("{} unchanged", equal.join(" and ")));
        }
        let unclear = words(&|one| !is_clear(one) && !is_equal(one) && one.1.value.is_some());
        if !unclear.is_empty() {
            parts.push(format!("no clear difference in {}", unclear.join(" and ")));
        }
        sentences.push(format!("{} against {}: {}", variant.name, first.name, parts.join(", ")));
    }
    sentences.join("; ")
}

/// The change as it is told: its value, its interval, their unit. A change that is clear is told so
/// that its interval leaves zero out: a quotient of a value next to nothing is less certain than
/// the change itself.
fn told_as((Told { in_percent, .. }, difference): &(Told, Difference)) -> (f64, f64, &str) {
    let is_told = |percent: f64, ci95: f64| {
        *in_percent && (difference.clear != Some(true) || percent.abs() > ci95)
    };
    let value = difference.value.unwrap_or(0.0);
    let ci95 = difference.ci95.unwrap_or(0.0);
    match (difference.percent, difference.percent_ci95) {
        (Some(percent), percent_ci95) if is_told(percent, percent_ci95.unwrap_or(0.0)) => {
            (percent, percent_ci95.unwrap_or(0.0), "%")
        }
        _ if difference.unit == "fraction" => (value * 100.0, ci95 * 100.0, "points"),
        _ => (value, ci95, &difference.unit),
    }
}

/// Whether there is a value, and it and its interval would be shown as zero.
fn is_equal(one: &(Told, Difference)) -> bool {
    let (value, ci95, _) = told_as(one);
    let least = 0.5 * 10f64.powi(-(decimals(ci95) as i32));
    one.1.value.is_some() && value.abs() < least && ci95 < least
}

/// "goodput +38 % ± 4", "queueing delay (p95) +7.0 ms ± 1.6".
fn changed(one: &(Told, Difference)) -> String {
    let (value, ci95, unit) = told_as(one);
    let change = format!("{} {} {unit}", one.0.words, signed(value, ci95));
    if one.1.ci95.is_none() { change } else { format!("{change} ± {}", short(ci95)) }
}

/// A number with its sign, to the digits that its interval leaves.
fn signed(value: f64, ci95: f64) -> String {
    format!("{value:+.*}", decimals(ci95))
}

fn short(ci95: f64) -> String {
    format!("{ci95:.*}", decimals(ci95))
}

/// Decimals for one or two significant digits of an interval.
fn decimals(ci95: f64) -> usize {
    if ci95 >= 2.0 || ci95 == 0.0 { 0 } else { ((1.0 - ci95.log10()).ceil() as usize).min(2) }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use super::*;

    fn variant(name: &str, differences: &[(&str, f64, f64)]) -> VariantResult {
        let difference = |&(metric, percent, ci95): &(&str, f64, f64)| {
            let difference = Difference {
                unit: "ms".to_owned(),
                value: Some(percent),
                ci95: Some(ci95),
                percent: Some(percent),
                percent_ci95: Some(ci95),
                runs: 10,
                clear: Some(percent.abs() > ci95),
            };
            (metric.to_owned(), difference)
        };
        VariantResult {
            name: name.to_owned(),
            settings: vec![],
            metrics: IndexMap::new(),
            differences: differences.iter().map(difference).collect(),
            warnings: vec![],
            each_run: vec![],
        }
    }

    #[test]
    fn a_verdict_tells_what_changed_what_did_not_and_what_is_open() {
        let zbs = variant(
            "ZBS",
            &[("goodput", 38.2, 4.1), ("queueing_p95", -3.0, 5.0), ("congestion_loss", 0.0, 0.0)],
        );
        assert_eq!(
            verdict(&[variant("none", &[]), zbs], 10),
            "ZBS against none: goodput +38 % ± 4, queue loss unchanged, no clear difference in queueing delay (p95)"
        );
        let small = variant("ZBS", &[("goodput", 0.512, 0.123)]);
        assert_eq!(
            verdict(&[variant("none", &[]), small], 10),
            "ZBS against none: goodput +0.51 % ± 0.12"
        );
    }

    #[test]
    fn a_delay_is_told_in_its_unit_as_it_may_grow_from_almost_none() {
        let spike = variant("Spike", &[("goodput", 194.0, 14.0), ("queueing_p95", 7.03, 1.6)]);
        assert_eq!(
            verdict(&[variant("none", &[]), spike], 10),
            "Spike against none: goodput +194 % ± 14, queueing delay (p95) +7.0 ms ± 1.6"
        );
        let zbs = variant("ZBS", &[("goodput", 74.0, 5.0), ("queueing_p95", 0.0003, 0.00003)]);
        assert_eq!(
            verdict(&[variant("none", &[]), zbs], 10),
            "ZBS against none: goodput +74 % ± 5, queueing delay (p95) unchanged"
        );
    }

    #[test]
    fn a_clear_change_is_told_with_an_interval_that_leaves_zero_out() {
        let mut zbs = variant("ZBS", &[("congestion_loss", 184.0, 365.0)]);
        let difference = &mut zbs.differences["congestion_loss"];
        (difference.unit, difference.value, difference.ci95) =
            ("fraction".to_owned(), Some(0.0065), Some(0.0041));
        difference.clear = Some(true);
        let told = verdict(&[variant("none", &[]), zbs], 10);
        assert_eq!(told, "ZBS against none: queue loss +0.65 points ± 0.41");
    }

    #[test]
    fn chance_is_called_chance() {
        let zbs = variant("ZBS", &[("goodput", 3.0, 4.1)]);
        let both = [variant("none", &[]), zbs];
        assert_eq!(verdict(&both, 10), "no difference can be told from 10 runs");
        assert_eq!(
            verdict(&both, 1),
            "one run tells no difference from chance; --runs 10 gives intervals"
        );
    }
}
