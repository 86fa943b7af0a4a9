//! A comparison as files: result.json, comparison.csv and runs.csv.

use std::io::{self, Write};

use serde::Serialize;

use super::Comparison;
use losscause_study::RunError;
use losscause_study::tools::atomic::AtomicFile;
use losscause_study::tools::atomic::folder::Folder;
use losscause_study::tools::csv_file;

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

const RESULT: &str = "result.json";
const COMPARISON: &str = "comparison.csv";
const RUNS: &str = "runs.csv";
/// The files that [`write()`] writes.
pub const FILES: [&str; 3] = [RESULT, COMPARISON, RUNS];

/// Writes the files of the set `folder`, without their names yet.
///
/// # Errors
/// A file cannot be written.
pub fn write(comparison: &Comparison, folder: &Folder) -> Result<Vec<AtomicFile>, RunError> {
    let mut result = AtomicFile::create(&folder.file(RESULT))?;
    serde_json::to_writer_pretty(&mut result, comparison)
        .map_err(io::Error::from)
        .and_then(|()| writeln!(result))
        .map_err(|reason| result.failed(reason))?;
    let means = csv_file::whole(&folder.file(COMPARISON), rows(comparison))?;
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
    Ok(vec![result, means, csv_file::whole(&folder.file(RUNS), rows)?])
}

/// The rows of comparison.csv.
fn rows(comparison: &Comparison) -> impl Iterator<Item = Row<'_>> {
    comparison.variants.iter().flat_map(|variant| {
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
    })
}

/// The text of comparison.csv.
pub fn csv(comparison: &Comparison) -> String {
    csv_file::text(rows(comparison))
}
