//! Results as self-contained HTML files that begin with the answer: of a run, a reproduction, a
//! comparison, a sweep, a capture.
//!
//! | module | what it draws |
//! |---|---|
//! | `simulation`, `reproduction`, `comparison`, `sweep`, `capture` | the pages; the templates are in `page/` |
//! | `map` | tables whose cells have a colour, for callers that know what stands in them |
//! | `timeline`, `losses` | a run over time; lost packets as marks |
//! | `capture_timeline` | a flow of a capture over time, with its losses |
//! | `algorithms`, `pages`, `boundary` | a section per algorithm, its idea, its decision boundary |
//! | `tables`, `sheets`, `misses`, `curves`, `recordings` | a paper's tables and figures, what was missed, its runs over time |
//! | `lines`, `phase`, `scatter`, `strips`, `time` | one kind of chart each |
//! | `chart`, `axis`, `marks`, `state` | what all charts share |

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::path::Path;

use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use losscause_laboratory::papers::reproduce::{Reproduction, Sheet};
use losscause_study::RunError;
use losscause_study::run::{RunRecord, SimulationResult};
use losscause_study::tools::atomic;
use losscause_study::tools::plain::plain;

mod algorithms;
mod axis;
mod boundary;
mod capture;
mod capture_timeline;
mod chart;
mod comparison;
mod curves;
mod figure;
mod lines;
mod losses;
pub mod map;
mod marks;
mod misses;
mod pages;
mod phase;
mod recordings;
mod reproduction;
mod scatter;
mod sheets;
mod simulation;
mod state;
mod strips;
mod sweep;
mod tables;
mod time;
mod timeline;

pub use sheets::sheet_table;
pub use strips::Bar;

/// Writes the report of a reproduction. `sheets` are those of the plan that was executed.
pub fn html(reproduction: &Reproduction, sheets: &[Sheet]) -> String {
    render("reproduction.html", &reproduction::page(reproduction, sheets))
}

/// Writes the report of the runs of a scenario. `record` is that of the first run.
pub fn simulation_html(result: &SimulationResult, record: &RunRecord) -> String {
    render("simulation.html", &simulation::page(result, record))
}

/// Writes the report of a comparison. `records` are those of the first run of every variant, in
/// their order ([`losscause_laboratory::compare::Plan::records`]).
pub fn comparison_html(
    comparison: &losscause_laboratory::compare::Comparison,
    records: &[RunRecord],
) -> String {
    render("comparison.html", &comparison::page(comparison, records))
}

/// Writes the report of a sweep. It depends on the results only, so a resumed sweep has the same.
pub fn sweep_html(result: &losscause_laboratory::sweep::SweepResult) -> String {
    render("sweep.html", &sweep::page(result))
}

/// Writes the report of a sweep into its directory. Where the results are in files only (`None`),
/// an earlier report is removed: it would be one of other results.
///
/// # Errors
/// The file cannot be written or removed.
pub fn keep_sweep_html(
    directory: &Path,
    result: Option<&losscause_laboratory::sweep::SweepResult>,
) -> Result<(), RunError> {
    let file = directory.join(losscause_laboratory::sweep::REPORT);
    let Some(result) = result else {
        return match std::fs::remove_file(&file) {
            Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => {
                Err(RunError::unwritable(file, reason))
            }
            _ => Ok(()),
        };
    };
    atomic::write(&file, sweep_html(result).as_bytes())
}

/// Writes the report of captures. Flows are drawn if they were followed over time
/// ([`losscause_capture::Options::over_time`]).
pub fn capture_html(analyses: &[losscause_capture::Analysis]) -> String {
    render("capture.html", &capture::page(analyses))
}

/// Writes a page of maps.
pub fn map_html(page: &map::MapPage) -> String {
    render("map.html", &map::context(page))
}

/// Horizontal bars as HTML that brings its own style, for a notebook; empty without a value.
///
/// ```
/// let bars = [("video".to_owned(), Some(900.5), Some(1.2))];
/// let html = losscause_report::bars_html("goodput, kb/s", &bars);
/// assert!(html.contains("<svg") && html.contains("900.5 ± 1.2"));
/// ```
pub fn bars_html(title: &str, values: &[Bar]) -> String {
    let svg = strips::bars(title, values);
    if svg.is_empty() {
        return svg;
    }
    let style = include_str!("page/chart.css");
    let colours = "--ink: currentColor; --soft: currentColor; --line: #8888; --paper: transparent;";
    let html = format!(
        "<div class=\"losscause\"><style>.losscause {{ {colours}\n{style} }}</style>\n{svg}</div>"
    );
    plain(&html).into_owned()
}

/// The parts of all pages, and the pages.
const TEMPLATES: [(&str, &str); 11] = [
    ("base.html", include_str!("page/base.html")),
    ("style.css", include_str!("page/style.css")),
    ("chart.css", include_str!("page/chart.css")),
    ("script.js", include_str!("page/script.js")),
    ("reproduction.html", include_str!("page/reproduction.html")),
    ("comparison.html", include_str!("page/comparison.html")),
    ("map.html", include_str!("page/map.html")),
    ("parts.html", include_str!("page/parts.html")),
    ("capture.html", include_str!("page/capture.html")),
    ("sweep.html", include_str!("page/sweep.html")),
    ("simulation.html", include_str!("page/simulation.html")),
];

fn render(page: &str, context: &impl Serialize) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("a test renders every template");
    }
    let template = environment.get_template(page).expect("the page is one of the templates");
    plain(&template.render(context).expect("a test renders every template")).into_owned()
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
