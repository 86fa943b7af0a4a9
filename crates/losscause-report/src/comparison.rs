//! The page of a comparison: the verdict, a drawing per metric, and the table.

use serde::Serialize;

use super::algorithms::{self, AlgorithmView};
use super::strips::{self, Strip};
use losscause_laboratory::compare::{Comparison, Difference, JUDGED_BY, VariantResult};
use losscause_study::run::RunRecord;
use losscause_study::tools::figures::{plus_minus, sentence, to_the_digits_of, unit_symbol};
use losscause_study::tools::table::Row;

#[derive(Serialize)]
pub(super) struct PageView {
    title: String,
    scenario: String,
    /// The verdict, one sentence per variant.
    answers: Vec<String>,
    /// Goodput of the variants, the largest first.
    picture: String,
    picture_unit: String,
    /// Settings of all variants.
    settings: Vec<String>,
    runs: String,
    warnings: Vec<String>,
    variants: Vec<VariantView>,
    drawings: Vec<DrawingView>,
    /// The metrics that a run is judged by, and the others.
    metrics: [String; 2],
    algorithms: Vec<AlgorithmView>,
    version: String,
    csv: String,
}

#[derive(Serialize)]
struct VariantView {
    name: String,
    settings: Vec<String>,
}

/// A drawing of a metric.
#[derive(Serialize)]
struct DrawingView {
    metric: String,
    unit: String,
    svg: String,
}

/// The view of the whole page. `records` are those of the first run of every variant.
pub(super) fn page(comparison: &Comparison, records: &[RunRecord]) -> PageView {
    let mut metrics: Vec<&str> =
        JUDGED_BY.into_iter().filter(|metric| comparison.has(metric)).collect();
    let told = metrics.len();
    let others = comparison.variants[0].metrics.keys().map(String::as_str);
    metrics.extend(others.filter(|metric| !JUDGED_BY.contains(metric) && comparison.has(metric)));
    let (picture_unit, picture) = drawing("goodput", &comparison.ranked(), &comparison.variants);
    let last = comparison.seed.wrapping_add(u64::from(comparison.runs) - 1);
    PageView {
        title: comparison.title.clone(),
        scenario: comparison.scenario.clone(),
        answers: comparison.verdict.split("; ").map(sentence).collect(),
        picture,
        picture_unit: picture_unit.to_owned(),
        settings: comparison.settings.clone(),
        runs: match comparison.runs {
            1 => format!("one run per variant, seed {}", comparison.seed),
            runs => format!("{runs} runs per variant, seeds {} to {last}", comparison.seed),
        },
        warnings: comparison.warnings(),
        variants: comparison
            .variants
            .iter()
            .map(|variant| VariantView {
                name: variant.name.clone(),
                settings: variant.settings.clone(),
            })
            .collect(),
        drawings: metrics[..told].iter().map(|metric| drawing_of(comparison, metric)).collect(),
        metrics: [&metrics[..told], &metrics[told..]].map(|metrics| table(comparison, metrics)),
        algorithms: algorithms(comparison, records),
        version: comparison.version.clone(),
        csv: losscause_laboratory::compare::csv(comparison),
    }
}

/// The algorithms of every variant, over its first run. What one does is told once.
fn algorithms(comparison: &Comparison, records: &[RunRecord]) -> Vec<AlgorithmView> {
    let mut all: Vec<AlgorithmView> = Vec::new();
    for (place, (variant, record)) in comparison.variants.iter().zip(records).enumerate() {
        for view in algorithms::views(record, &variant.name, &format!("variant-{}-", place + 1)) {
            let is_told = all.iter().any(|earlier| earlier.is_of(&view));
            all.push(if is_told { view.without_idea() } else { view });
        }
    }
    all
}

/// The unit of a drawing of the metric in these variants of `all`, and the drawing; empty if nothing
/// differs from zero.
fn drawing<'a>(
    name: &str,
    variants: &[&'a VariantResult],
    all: &'a [VariantResult],
) -> (&'a str, String) {
    let found = || variants.iter().filter_map(|variant| variant.metrics.get(name));
    let unit = found().next().map(|found| found.unit.as_str()).unwrap_or_default();
    let largest = found().filter_map(|found| found.value).fold(0.0, f64::max);
    let (unit, scale) = if unit == "kb/s" && largest >= 1e3 { ("Mb/s", 1e-3) } else { (unit, 1.0) };
    let strip = |variant: &&'a VariantResult| {
        let found = variant.metrics.get(name);
        let runs = variant.each_run.iter();
        Strip {
            name: &variant.name,
            number: all.iter().position(|one| std::ptr::eq(one, *variant)).unwrap_or(0),
            values: runs
                .filter_map(|run| Some(run.metrics.get(name).copied().flatten()? * scale))
                .collect(),
            mean: found.and_then(|found| Some(found.value? * scale)),
            ci95: found.and_then(|found| Some(found.ci95? * scale)),
        }
    };
    let strips: Vec<Strip<'_>> = variants.iter().map(strip).collect();
    let is_empty = strips.iter().flat_map(|strip| &strip.values).all(|value| *value == 0.0);
    (unit, if is_empty { String::new() } else { strips::svg(name, unit, &strips) })
}

/// A drawing of all variants.
fn drawing_of(comparison: &Comparison, metric: &str) -> DrawingView {
    let all: Vec<&VariantResult> = comparison.variants.iter().collect();
    let (unit, svg) = drawing(metric, &all, &comparison.variants);
    DrawingView { metric: metric.to_owned(), unit: unit_symbol(unit).to_owned(), svg }
}

/// Metrics as a table, with what stands behind each value.
fn table(comparison: &Comparison, metrics: &[&str]) -> String {
    let variants: Vec<&VariantResult> = comparison.variants.iter().collect();
    let mut table = comparison.table(metrics, &variants);
    for (row, metric) in table.rows.iter_mut().zip(metrics) {
        let Row::Cells(cells) = row else { continue };
        cells[0].anchor = format!("metric-{metric}");
        for (cell, variant) in cells[1..].iter_mut().zip(&variants) {
            cell.tip = tip(variant, metric, &cell.text, &variants[0].name);
        }
    }
    table.html()
}

/// What stands behind a mean.
fn tip(variant: &VariantResult, metric: &str, mean: &str, first: &str) -> String {
    let Some(found) = variant.metrics.get(metric).filter(|found| found.value.is_some()) else {
        return "no run has a value".to_owned();
    };
    let unit = unit_symbol(&found.unit);
    let interval = plus_minus(found.ci95);
    let tip = format!("{metric}, {}\n{mean} {interval} {unit}, {} runs", variant.name, found.runs);
    match variant.differences.get(metric) {
        Some(difference) => format!("{tip}\n{}", against(difference, first)),
        None => tip,
    }
}

/// The difference in words.
fn against(difference: &Difference, first: &str) -> String {
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
    format!("against {first}, run by run: {difference}{percent}{clear}")
}
