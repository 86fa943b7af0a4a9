//! A comparison as files: comparison.csv and runs.csv.

use losscause_study::tools::csv_file;
use serde::Serialize;

use super::Comparison;

/// A metric of a variant, as a row of comparison.csv.
#[derive(Serialize)]
struct Row<'a> {
    variant: &'a str,
    metric: &'a str,
    unit: &'a str,
    mean: Option<f64>,
    ci95: Option<f64>,
    runs: u32,
    difference: Option<f64>,
    difference_ci95: Option<f64>,
    difference_percent: Option<f64>,
    difference_percent_ci95: Option<f64>,
    clear: Option<bool>,
}

/// A metric of a run, as a row of runs.csv.
#[derive(Serialize)]
struct RunRow<'a> {
    variant: &'a str,
    seed: u64,
    metric: &'a str,
    unit: &'a str,
    value: Option<f64>,
}

/// The text of comparison.csv.
pub fn csv(comparison: &Comparison) -> String {
    let rows = comparison.variants.iter().flat_map(|variant| {
        variant.metrics.iter().map(move |(metric, estimate)| {
            let difference = variant.differences.get(metric);
            Row {
                variant: &variant.name,
                metric,
                unit: &estimate.unit,
                mean: estimate.value,
                ci95: estimate.ci95,
                runs: estimate.runs,
                difference: difference.and_then(|difference| difference.value),
                difference_ci95: difference.and_then(|difference| difference.ci95),
                difference_percent: difference.and_then(|difference| difference.percent),
                difference_percent_ci95: difference.and_then(|difference| difference.percent_ci95),
                clear: difference.and_then(|difference| difference.clear),
            }
        })
    });
    csv_file::text(rows)
}

/// The text of runs.csv.
pub fn runs_csv(comparison: &Comparison) -> String {
    let rows = comparison.variants.iter().flat_map(|variant| {
        variant.each_run.iter().flat_map(|run| {
            run.metrics.iter().map(|(metric, value)| RunRow {
                variant: &variant.name,
                seed: run.seed,
                metric,
                unit: &variant.metrics[metric].unit,
                value: *value,
            })
        })
    });
    csv_file::text(rows)
}
