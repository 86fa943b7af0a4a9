//! The page of a comparison: the verdict, a drawing per metric, and the table.

use serde::Serialize;

use super::strips::{self, Strip};
use crate::compare::{Comparison, Difference, JUDGED_BY, VariantResult, unit_symbol};
use crate::figures::{number, plus_minus, to_the_digits_of};

#[derive(Serialize)]
pub(super) struct PageView {
    title: String,
    scenario: String,
    /// The verdict, one sentence per variant.
    answers: Vec<String>,
    runs: String,
    warnings: Vec<String>,
    variants: Vec<VariantView>,
    metrics: Vec<MetricView>,
    version: String,
    csv: String,
}

#[derive(Serialize)]
struct VariantView {
    name: String,
    settings: Vec<String>,
}

#[derive(Serialize)]
struct MetricView {
    anchor: String,
    name: String,
    unit: String,
    /// Whether users judge a link by it; all others are folded.
    told: bool,
    drawing: String,
    cells: Vec<CellView>,
}

#[derive(Serialize)]
struct CellView {
    mean: String,
    /// The interval of the first variant, the difference from it for the others.
    below: String,
    tip: String,
}

/// The view of the whole page.
pub(super) fn page(comparison: &Comparison) -> PageView {
    let mut metrics: Vec<&str> = JUDGED_BY.into_iter().filter(|metric| comparison.has(metric)).collect();
    let told = metrics.len();
    let others = comparison.variants[0].metrics.keys().map(String::as_str);
    metrics.extend(others.filter(|metric| !JUDGED_BY.contains(metric) && comparison.has(metric)));
    let last = comparison.seed.wrapping_add(u64::from(comparison.runs) - 1);
    PageView {
        title: comparison.title.clone(),
        scenario: comparison.scenario.clone(),
        answers: comparison.verdict.split("; ").map(capitalized).collect(),
        runs: match comparison.runs {
            1 => format!("one run per variant, seed {}", comparison.seed),
            runs => format!("{runs} runs per variant, seeds {} to {last}", comparison.seed),
        },
        warnings: comparison.warnings(),
        variants: comparison
            .variants
            .iter()
            .map(|variant| VariantView { name: variant.name.clone(), settings: variant.settings.clone() })
            .collect(),
        metrics: metrics.into_iter().enumerate().map(|(n, name)| metric(comparison, name, n < told)).collect(),
        version: comparison.version.clone(),
        csv: csv(comparison),
    }
}

fn metric(comparison: &Comparison, name: &str, told: bool) -> MetricView {
    let unit =
        comparison.variants.iter().find_map(|variant| variant.metrics.get(name)).map(|found| found.unit.as_str());
    let unit = unit_symbol(unit.unwrap_or_default()).to_owned();
    let strips: Vec<Strip<'_>> = comparison
        .variants
        .iter()
        .map(|variant| Strip {
            name: &variant.name,
            values: variant.each_run.iter().filter_map(|run| run.metrics.get(name).copied().flatten()).collect(),
            mean: variant.metrics.get(name).and_then(|found| found.value),
            ci95: variant.metrics.get(name).and_then(|found| found.ci95),
        })
        .collect();
    MetricView {
        anchor: format!("metric-{name}"),
        drawing: if told { strips::svg(name, &strips) } else { String::new() },
        cells: comparison.variants.iter().map(|variant| cell(variant, name, &comparison.variants[0].name)).collect(),
        name: name.to_owned(),
        unit,
        told,
    }
}

/// The mean, and below it the difference from the first variant.
fn cell(variant: &VariantResult, metric: &str, first: &str) -> CellView {
    let nothing = || CellView { mean: number(None), below: String::new(), tip: "no run has a value".to_owned() };
    let Some(found) = variant.metrics.get(metric) else { return nothing() };
    let Some(value) = found.value else { return nothing() };
    let mean = to_the_digits_of(value, found.ci95);
    let unit = unit_symbol(&found.unit);
    let tip = format!("{metric}, {}\n{mean} {} {unit}, {} runs", variant.name, plus_minus(found.ci95), found.runs);
    match variant.differences.get(metric) {
        None => CellView { mean, below: plus_minus(found.ci95), tip },
        Some(difference) => {
            let tip = format!("{tip}\n{}", against(difference, first));
            CellView { mean, below: change(difference), tip }
        }
    }
}

/// "+2107 ± 150"; "~" before it if chance explains it.
fn change(difference: &Difference) -> String {
    let Some(value) = difference.value else { return String::new() };
    let unclear = if difference.clear == Some(false) && value != 0.0 { "~ " } else { "" };
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{unclear}{sign}{} {}", to_the_digits_of(value, difference.ci95), plus_minus(difference.ci95))
}

/// The difference in words.
fn against(difference: &Difference, first: &str) -> String {
    let percent = match (difference.percent, difference.percent_ci95) {
        (Some(percent), Some(ci95)) => {
            let sign = if percent > 0.0 { "+" } else { "" };
            format!(" ({sign}{} {} %)", to_the_digits_of(percent, Some(ci95)), plus_minus(Some(ci95)))
        }
        _ => String::new(),
    };
    let clear = match difference.clear {
        Some(true) => "; the 95 % interval excludes zero",
        Some(false) => "; chance explains it",
        None => "",
    };
    format!("against {first}, run by run: {}{percent}{clear}", change(difference))
}

/// The sentence with a capital first letter.
fn capitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let rest: String = first.chain(letters).collect();
    if rest.ends_with('.') { rest } else { format!("{rest}.") }
}

/// One line per metric and variant.
fn csv(comparison: &Comparison) -> String {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut lines = vec!["variant,metric,unit,mean,ci95,runs,difference,difference_ci95".to_owned()];
    for variant in &comparison.variants {
        let name = variant.name.replace('"', "\"\"");
        for (metric, found) in &variant.metrics {
            let difference = variant.differences.get(metric);
            let of_difference = [difference.and_then(|d| d.value), difference.and_then(|d| d.ci95)].map(number);
            lines.push(format!(
                "\"{name}\",{metric},{},{},{},{},{}",
                found.unit,
                number(found.value),
                number(found.ci95),
                found.runs,
                of_difference.join(",")
            ));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}
