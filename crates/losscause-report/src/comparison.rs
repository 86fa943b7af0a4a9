//! The page of a comparison: the verdict, a drawing per metric, and the table.

use minijinja::{Value, context};

use super::algorithms;
use super::chart::Figure;
use super::lines::Style;
use super::strips::{Strip, Strips};
use losscause_laboratory::compare::{Comparison, Difference, VariantResult};
use losscause_study::run::RunRecord;
use losscause_study::statistics::Interval;
use losscause_study::tools::figures::{
    in_parentheses, plus_minus, seeds, sentence, to_the_digits_of, unit_symbol,
};
use losscause_study::tools::table;

/// What the template shows. `records` are those of the first run of every variant.
pub(super) fn page(comparison: &Comparison, records: &[RunRecord]) -> Value {
    let metrics = comparison.all_metrics();
    let told = comparison.judged_by().len();
    let all: Vec<&VariantResult> = comparison.variants.iter().collect();
    let seeds = seeds(comparison.seed, comparison.runs);
    let runs = match comparison.runs {
        1 => "one run".to_owned(),
        runs => format!("{runs} runs"),
    };
    let drawn = |metric: &&str| ((*metric).to_owned(), drawing(metric, &all, comparison));
    context! {
        title => comparison.title,
        scenario => comparison.scenario,
        settings => comparison.settings,
        version => comparison.version,
        answers => answers(comparison),
        picture => drawing("goodput", &comparison.ranked(), comparison),
        runs => format!("{runs} per variant, {seeds}"),
        warnings => comparison.warnings(&metrics),
        variants => comparison.variants.iter().map(|one| (&one.name, &one.settings)).collect::<Vec<_>>(),
        drawings => metrics[..told].iter().map(drawn).collect::<Vec<_>>(),
        metrics => [&metrics[..told], &metrics[told..]].map(|metrics| table(comparison, metrics)),
        algorithms => algorithms(comparison, records),
        csv => losscause_laboratory::compare::csv(comparison),
    }
}

/// The verdict, variant by variant, each by its name as it was given. A number stays on the line of
/// its interval and its percent sign.
fn answers(comparison: &Comparison) -> Vec<String> {
    let is_name = |name: &str| comparison.variants.iter().any(|one| one.name == name);
    let told = |answer: &str| match answer.split_once(": ") {
        Some((name, _)) if is_name(name) => format!("{answer}."),
        _ => sentence(answer),
    };
    let whole =
        |answer: &str| told(answer).replace(" ± ", "\u{a0}±\u{a0}").replace(" %", "\u{a0}%");
    comparison.verdict.split("; ").map(whole).collect()
}

/// The algorithms of every variant, over its first run. What one does is told once.
fn algorithms(comparison: &Comparison, records: &[RunRecord]) -> Vec<Value> {
    let mut told = Vec::new();
    let mut all = Vec::new();
    for (place, (variant, record)) in comparison.variants.iter().zip(records).enumerate() {
        let anchor = format!("variant-{}-", place + 1);
        all.extend(algorithms::views(record, &variant.name, &anchor, &mut told));
    }
    all
}

/// A metric of those of the variants that have it; empty if nothing differs from zero. A share of
/// few losses is unknown.
fn drawing(name: &str, variants: &[&VariantResult], comparison: &Comparison) -> Figure {
    let (unit, scale) = comparison.unit(name);
    let strip = |variant: &&VariantResult| {
        let found = variant.metrics.get(name);
        let mean = found.and_then(|found| Some(found.value? * scale));
        let ci95 = found.and_then(|found| Some(found.ci95? * scale));
        let runs = variant.each_run.iter();
        let runs = runs.filter_map(|run| Some(run.metrics.get(name).copied().flatten()? * scale));
        let number = comparison.variants.iter().position(|one| std::ptr::eq(one, *variant));
        Strip {
            runs: runs.collect(),
            interval: mean.zip(ci95).map(|(mean, ci95)| Interval::around(mean, ci95)),
            ..Strip::new(&variant.name, &Style::nth(number.unwrap_or(0)).colour(), mean)
        }
    };
    let known = variants.iter().filter(|one| one.few_losses(name).is_none()).map(strip);
    let strips: Vec<Strip> = known.filter(|strip| !strip.runs.is_empty()).collect();
    let is_empty = strips.iter().flat_map(|strip| &strip.runs).all(|value| *value == 0.0);
    let svg = match is_empty {
        true => String::new(),
        false => Strips::new(&format!("{name}, per variant"), unit, strips).svg(),
    };
    Figure::new(format!("{name}{}", in_parentheses(unit)), svg)
}

/// Metrics as a table, with what stands behind each value.
fn table(comparison: &Comparison, metrics: &[&str]) -> String {
    let variants: Vec<&VariantResult> = comparison.variants.iter().collect();
    let mut table = comparison.table(metrics, &variants);
    for (row, metric) in table.rows.iter_mut().zip(metrics) {
        let table::Row::Cells(cells) = row else { continue };
        cells[0].anchor = format!("metric-{metric}");
        for (cell, variant) in cells[1..].iter_mut().zip(&variants) {
            cell.tip = tip(variant, metric, &cell.text, comparison);
        }
    }
    table.html()
}

/// What stands behind a mean.
fn tip(variant: &VariantResult, metric: &str, mean: &str, comparison: &Comparison) -> String {
    let Some(found) = variant.metrics.get(metric).filter(|found| found.value.is_some()) else {
        return "no run has a value".to_owned();
    };
    let (unit, scale) = comparison.unit(metric);
    let interval = plus_minus(found.ci95.map(|ci95| ci95 * scale));
    let unit = unit_symbol(unit);
    let tip = format!("{metric}, {}\n{mean} {interval} {unit}, {} runs", variant.name, found.runs);
    match variant.differences.get(metric) {
        Some(difference) => {
            format!("{tip}\n{}", against(difference, scale, &comparison.variants[0].name))
        }
        None => tip,
    }
}

/// The difference in words.
fn against(difference: &Difference, scale: f64, first: &str) -> String {
    let percent = match (difference.percent, difference.percent_ci95) {
        (Some(percent), Some(ci95)) => {
            let sign = if percent > 0.0 { "+" } else { "" };
            format!(
                " ({sign}{} {} %)",
                to_the_digits_of(percent, Some(ci95)),
                plus_minus(Some(ci95))
            )
        }
        _ => String::new(),
    };
    let clear = match difference.clear {
        Some(true) => "; the 95 % interval excludes zero",
        Some(false) => "; chance explains it",
        None => "",
    };
    let change = difference.in_words(scale);
    format!("against {first}, run by run: {change}{percent}{clear}")
}
