//! The answer of a comparison in words.

use super::{Difference, VariantResult};

/// The metrics that a verdict tells of, in words.
const TOLD: [(&str, &str); 4] = [
    ("goodput", "goodput"),
    ("completion_time", "completion time"),
    ("queueing_p95", "queueing delay (p95)"),
    ("congestion_loss", "queue loss"),
];

/// One line: every variant against the first.
pub(super) fn verdict(variants: &[VariantResult], runs: u32) -> String {
    let [first, others @ ..] = variants else { return String::new() };
    if runs < 2 {
        return "one run tells no difference from chance; --runs 10 gives intervals".to_owned();
    }
    let told = |variant: &VariantResult| -> Vec<(&'static str, Difference)> {
        TOLD.iter().filter_map(|(metric, words)| Some((*words, variant.differences.get(*metric)?.clone()))).collect()
    };
    let is_clear = |(_, difference): &(&str, Difference)| difference.clear == Some(true);
    if !others.iter().any(|variant| told(variant).iter().any(is_clear)) {
        return format!("no difference can be told from {runs} runs");
    }
    let mut sentences = Vec::new();
    for variant in others {
        let told = told(variant);
        let mut parts: Vec<String> =
            told.iter().filter(|one| is_clear(one)).map(|(words, difference)| changed(words, difference)).collect();
        let same = |of: fn(&Difference) -> bool| -> Vec<&str> {
            told.iter().filter(|one| !is_clear(one) && of(&one.1)).map(|(words, _)| *words).collect()
        };
        let is_equal = |difference: &Difference| difference.value == Some(0.0) && difference.ci95 == Some(0.0);
        let equal = same(is_equal);
        if !equal.is_empty() {
            parts.push(format!("{} unchanged", equal.join(" and ")));
        }
        let unclear =
            same(|difference| difference.value.is_some_and(|value| value != 0.0) || difference.ci95 > Some(0.0));
        if !unclear.is_empty() {
            parts.push(format!("no clear difference in {}", unclear.join(" and ")));
        }
        sentences.push(format!("{} against {}: {}", variant.name, first.name, parts.join(", ")));
    }
    sentences.join("; ")
}

/// "goodput +38 % ± 4".
fn changed(words: &str, difference: &Difference) -> String {
    match (difference.percent, difference.percent_ci95) {
        (Some(percent), Some(ci95)) => format!("{words} {} % ± {}", signed(percent, ci95), short(ci95)),
        _ => {
            let (value, ci95) = (difference.value.unwrap_or(0.0), difference.ci95.unwrap_or(0.0));
            format!("{words} {} {} ± {}", signed(value, ci95), difference.unit, short(ci95))
        }
    }
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
                unit: "1".to_owned(),
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
    fn a_verdict_tells_what_changed_what_did_not_and_what_is_unclear() {
        let zbs = variant("ZBS", &[("goodput", 38.2, 4.1), ("queueing_p95", -3.0, 5.0), ("congestion_loss", 0.0, 0.0)]);
        assert_eq!(
            verdict(&[variant("none", &[]), zbs], 10),
            "ZBS against none: goodput +38 % ± 4, queue loss unchanged, no clear difference in queueing delay (p95)"
        );
        let small = variant("ZBS", &[("goodput", 0.512, 0.123)]);
        assert_eq!(verdict(&[variant("none", &[]), small], 10), "ZBS against none: goodput +0.51 % ± 0.12");
    }

    #[test]
    fn chance_is_called_chance() {
        let zbs = variant("ZBS", &[("goodput", 3.0, 4.1)]);
        let both = [variant("none", &[]), zbs];
        assert_eq!(verdict(&both, 10), "no difference can be told from 10 runs");
        assert_eq!(verdict(&both, 1), "one run tells no difference from chance; --runs 10 gives intervals");
    }
}
