//! Measures the items of papers.
//!
//! A [`Selection`] names tables and figures. A [`Plan`] finds the runs that they need; runs that
//! several items share are made once. [`Plan::execute`] makes the runs, reports every complete
//! table, and returns a [`Reproduction`]: measured and published values side by side.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{claims, score};
use crate::papers::record::{self, ItemSpec, Paper};
use crate::papers::record::{ClaimOutcome, Item};
use losscause_study::{InputError, Measurements, Origin, Setting};

mod beside;
mod blank;
mod calibrate;
mod comparison;
mod configuration;
mod cost;
mod counted;
mod execute;
mod first_look;
mod kept;
#[cfg(test)]
mod kept_tests;
mod only;
mod plan;
mod recording;
mod scorecard;
mod selection;
mod settings;
#[cfg(test)]
mod stack_tests;
#[cfg(test)]
mod tests;

pub use beside::LeftOut;
pub use blank::blank_item;
pub use calibrate::Calibrated;
pub use comparison::{Comparison, Worse};
pub use configuration::Configuration;
pub use only::Only;
pub use plan::Plan;
pub use recording::{RecordedCurve, RecordedEvents, Recording};
pub use scorecard::{
    Scorecard, answer_in_words, possible_in_words, preview_in_words, score_in_words, score_of,
};
pub use selection::{Repetitions, Selection};
pub use settings::{Place, place};

/// The outcome of a reproduction, in the shape of its JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reproduction {
    /// Version of this format, 1; it grows when a field is removed or changes its meaning.
    #[serde(default = "format_version")]
    pub format_version: u32,
    /// What an experiment of our own found, in one sentence; none for papers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Every value, published and measured.
    pub items: Vec<Item>,
    /// The values of algorithms that ran in the place of the papers' ([`Selection::beside`]); never
    /// scored, and read by no claim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Item>,
    /// Tables in which such an algorithm cannot run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Every claim of the papers that were asked for.
    pub claims: Vec<ClaimOutcome>,
    /// What the papers say besides, which the fixed list of claims lacks: settled, never counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims_beside: Vec<ClaimOutcome>,
    /// Every parameter that was calibrated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibrated: Vec<Calibrated>,
    /// Runs over time, of the items that draw them; empty unless asked for ([`Plan::drawing`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<Recording>,
    /// Repetition k, counted from 0, ran with this seed plus k.
    pub seed: u64,
    /// Version of the program.
    pub version: String,
    /// Where the result comes from.
    #[serde(default)]
    pub origin: Origin,
    /// Wall-clock time, seconds; none unless asked for, so that equal reproductions are equal to
    /// the byte.
    pub wall_s: Option<f64>,
}

/// Another reading of what a paper leaves open.
#[derive(Clone, Debug, Default)]
pub struct Variation {
    /// Applied to every scenario, after its own settings.
    pub settings: Vec<Setting>,
    /// Applied after those to one scenario, by its name in the paper.
    pub only: BTreeMap<String, Vec<Setting>>,
    /// Metrics that are replaced by others of the same run: `thput` by `thput_intact`.
    pub metrics: BTreeMap<String, String>,
}

impl Variation {
    fn read(&self, metric: &str) -> String {
        self.metrics.get(metric).map_or(metric, String::as_str).to_owned()
    }
}

/// The progress of a plan.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A parameter was calibrated. All calibrations come before the first run.
    Calibrated(&'a Calibrated),
    /// A run, or a run of a calibration, is done.
    Progress(Progress),
    /// A run gave these values of the configuration's metrics, or none if it was disturbed each
    /// time and is left out.
    Ran(&'a Configuration, &'a [Option<f64>]),
    /// A run was disturbed; how. It is made again, or left out.
    Disturbed(&'a Configuration, &'a str),
    /// A table or figure is complete; its items, with their status, and the values beside them.
    Sheet(&'a Sheet, &'a [Item], &'a [Column]),
}

/// What is done of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of runs, of [`Plan::runs`].
    pub runs: usize,
    /// What calibrations and runs cost so far, of [`Plan::cost`].
    pub cost: u64,
}

/// A table or figure of a plan, with the indices of its values among the plan's items.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The paper.
    pub paper: &'static Paper,
    /// The table or figure.
    pub spec: &'static ItemSpec,
    /// Indices of its items, combination by combination, metric by metric, system by system.
    pub items: Vec<usize>,
    /// The systems beside the paper's, each with the indices of its values among those beside,
    /// combination by combination, metric by metric.
    pub beside: Vec<(String, Vec<usize>)>,
}

/// The values of one system beside those of a table or figure, in the order of the table's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The system: "also ZBS".
    pub system: String,
    /// A value per row.
    pub items: Vec<Item>,
}

impl Sheet {
    /// The values of the systems beside the paper's; `beside` are those of the plan or of its
    /// reproduction.
    pub fn columns_beside(&self, beside: &[Item]) -> Vec<Column> {
        let column = |(system, items): &(String, Vec<usize>)| Column {
            system: system.clone(),
            items: items.iter().map(|&item| beside[item].clone()).collect(),
        };
        self.beside.iter().map(column).collect()
    }
}

/// The version of a [`Reproduction`]'s format; before it was written, the format was the same.
pub const fn format_version() -> u32 {
    1
}

/// Compares measured items with what their papers publish.
pub fn conclude(items: &[Item], seed: u64) -> Reproduction {
    conclude_of(record::all().iter(), items, seed)
}

/// Compares measured items with what these records have of them.
fn conclude_of<'a>(
    papers: impl Iterator<Item = &'a Paper>,
    items: &[Item],
    seed: u64,
) -> Reproduction {
    let mut reproduction = Reproduction {
        format_version: format_version(),
        answer: None,
        items: vec![],
        beside: vec![],
        left_out: vec![],
        claims: vec![],
        claims_beside: vec![],
        calibrated: vec![],
        recordings: vec![],
        seed,
        version: env!("CARGO_PKG_VERSION").into(),
        origin: Origin::default(),
        wall_s: None,
    };
    for paper in papers {
        let mut mine: Vec<Item> =
            items.iter().filter(|i| i.paper == paper.key()).cloned().collect();
        if mine.is_empty() {
            continue;
        }
        score::settle(paper.published(), &mut mine);
        let predicates: Vec<_> = paper.predicates().collect();
        let mut claims = claims::settle_with(paper.published(), &predicates, &mine);
        let mut beside = claims::settle_beside(paper.published(), &mine);
        mark_impossible(paper, &mut mine, claims.iter_mut().chain(&mut beside));
        reproduction.claims.append(&mut claims);
        reproduction.claims_beside.append(&mut beside);
        reproduction.items.append(&mut mine);
    }
    reproduction
}

/// Marks the values and claims that the paper itself contradicts.
fn mark_impossible<'a>(
    paper: &Paper,
    items: &mut [Item],
    claims: impl Iterator<Item = &'a mut ClaimOutcome>,
) {
    for number in paper.published().number.iter().filter(|n| paper.is_impossible(&n.id)) {
        let Some(found) = score::lookup_number(items, number) else { continue };
        let id = found.id.clone();
        if let Some(item) = items.iter_mut().find(|item| item.id == id) {
            item.impossible = true;
        }
    }
    for claim in claims {
        claim.impossible = paper.is_impossible(&claim.id);
    }
}

/// Refuses a metric that the run does not have.
pub(crate) fn known_metric(run: &Measurements, name: &str) -> Result<(), InputError> {
    let known: Vec<&str> = run.metrics.iter().map(|m| m.metric.as_str()).collect();
    if known.contains(&name) {
        return Ok(());
    }
    Err(InputError::option("metrics", losscause_study::error::unknown(name, &known)))
}
