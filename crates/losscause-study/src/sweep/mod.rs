//! Sweeps: the same measurements under different settings, cell by cell.

use std::collections::BTreeMap;
use std::path::Path;

use losscause::registry::Registry;
use serde::{Deserialize, Serialize};

use crate::papers::record;
use crate::papers::record::Item;
use crate::papers::record::Parameters;
use crate::papers::reproduce::{MOST_RUNS, Plan, Repetitions, Selection, Variation, known_metric};
use crate::parallel::{self, Jobs};
use crate::statistics::Estimate;
use crate::{Experiment, InputError, RunError, Scenario, Setting, files, run};

mod execute;
mod file;
mod store;
mod summary;

pub use execute::{SweepOutcome, SweepProgress};
use file::{Choice, SweepFile};
pub use store::Store;
pub use summary::{CellSummary, summary};

/// A valid sweep file.
#[derive(Clone, Debug)]
pub struct Sweep {
    file: String,
    document: SweepFile,
    subject: Subject,
    /// The algorithms that settings may name.
    registry: Registry,
}

/// The measurements of every cell.
#[derive(Clone, Debug)]
enum Subject {
    /// Items of papers, and their score.
    Items(Selection),
    /// Metrics of one scenario.
    Scenario(Box<Scenario>),
}

/// One combination of values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Its number, counted from 0.
    pub number: usize,
    /// The value of every axis, by name, in the order of the axes.
    pub values: Vec<AxisValue>,
    /// The settings of the values: KEY=VALUE.
    pub settings: Vec<String>,
    /// Settings for single scenarios, by their names.
    pub only: BTreeMap<String, Vec<String>>,
    /// Metrics read from others: `thput` from `thput_intact`.
    pub metrics: BTreeMap<String, String>,
}

/// An axis and its value in a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisValue {
    /// Name of the axis.
    pub axis: String,
    /// Name of the value.
    pub value: String,
}

/// The outcome of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellOutcome {
    /// The cell.
    pub cell: Cell,
    /// Everything that determines its values: outcomes of equal origin are equal.
    pub origin: String,
    /// The number of published numbers that it reproduces, for scored sweeps.
    pub score: Option<CellScore>,
    /// Whether the claims that its values settle hold.
    #[serde(default)]
    pub claims: BTreeMap<String, bool>,
    /// Its measured values.
    pub rows: Vec<Row>,
}

/// How many published numbers and claims a cell reproduces, among those that it measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellScore {
    /// Numbers within their tolerance, regardless of the number of runs.
    pub within_tolerance: usize,
    /// Measured numbers that are scored.
    pub numbers: usize,
    /// Claims that hold.
    pub holding: usize,
    /// Claims that were settled.
    pub settled: usize,
}

/// One measured value of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The scenario.
    pub scenario: String,
    /// The parameters of the run, for items of papers.
    #[serde(default)]
    pub parameters: Parameters,
    /// The system.
    pub system: String,
    /// The metric.
    pub metric: String,
    /// Mean over the runs in which it exists.
    pub measured: Option<f64>,
    /// Half-width of Student's 95 % interval.
    pub ci95: Option<f64>,
    /// Runs made.
    pub runs: u32,
    /// The published value, if any.
    pub published: Option<f64>,
    /// Whether the published number is met within its tolerance; none if no number is published.
    pub within_tolerance: Option<bool>,
}

impl Row {
    /// The parameters in one text: `N=4 loss=high`.
    pub fn at(&self) -> String {
        self.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }
}

impl Sweep {
    /// Reads a sweep file.
    ///
    /// # Errors
    /// The file cannot be read, or as [`Sweep::parse`].
    pub fn load(path: &Path) -> Result<Self, InputError> {
        Self::load_with(path, &crate::registry())
    }

    /// [`Sweep::load`] for settings that may name the algorithms of `registry`.
    ///
    /// # Errors
    /// As [`Sweep::load`].
    pub fn load_with(path: &Path, registry: &Registry) -> Result<Self, InputError> {
        Self::parse_with(
            &files::text(&files::Disk, path, files::LARGEST_DOCUMENT, "a sweep file in TOML")?,
            path,
            registry,
        )
    }

    /// Reads a sweep from a text. Errors call it `path`; scenario files are relative to `path`.
    ///
    /// # Errors
    /// The text is not a sweep; a paper, item or scenario that it names does not exist; it has no runs,
    /// no axes, or an axis without values; or a setting is not KEY=VALUE.
    pub fn parse(text: &str, path: &Path) -> Result<Self, InputError> {
        Self::parse_with(text, path, &crate::registry())
    }

    /// [`Sweep::parse`] for settings that may name the algorithms of `registry`.
    ///
    /// # Errors
    /// As [`Sweep::parse`].
    pub fn parse_with(text: &str, path: &Path, registry: &Registry) -> Result<Self, InputError> {
        let file = path.display().to_string();
        let document = parse(text, &file)?;
        let key = |key: &str, problem: &str| InputError::Key {
            file: file.clone(),
            key: key.to_owned(),
            problem: problem.to_owned(),
        };
        if !(1..=MOST_RUNS).contains(&document.runs) {
            let problem = format!("is {}, expected a whole number from 1 to {MOST_RUNS}", document.runs);
            return Err(key("runs", &problem));
        }
        if document.axis.is_empty() {
            return Err(key("axis", "is missing, expected one or more [[axis]]"));
        }
        for axis in &document.axis {
            if axis.values.is_empty() {
                return Err(key(&format!("axis.{}.values", axis.name), "is empty, expected the base and other values"));
            }
        }
        let sizes: Vec<usize> = document.axis.iter().map(|axis| axis.values.len()).collect();
        if document.mode.count(&sizes).is_none_or(|cells| cells > MOST_CELLS) {
            return Err(key("axis", &format!("the axes make more than {MOST_CELLS} cells, which is the maximum")));
        }
        let subject = match (&document.scenario, document.score.is_empty()) {
            (None, false) if document.metrics.is_empty() && document.system.is_empty() => {
                Subject::Items(Selection::parse(&document.score)?)
            }
            (None, false) => return Err(key("score", "cannot be combined with metrics and system; remove them")),
            (Some(name), true) if !document.metrics.is_empty() => {
                let beside = path.parent().unwrap_or(Path::new(""));
                Subject::Scenario(Box::new(record::open_scenario_with(Path::new(name), beside, registry)?))
            }
            (Some(_), true) => return Err(key("metrics", "is empty, expected the metrics to measure")),
            (Some(_), false) => return Err(key("scenario", "cannot be combined with score; give one of them")),
            (None, true) => return Err(key("scenario", "is missing; give scenario or score")),
        };
        check_scenarios(&document, &subject, &key)?;
        Ok(Self { file, document, subject, registry: registry.clone() })
    }

    /// The question of the sweep.
    pub fn title(&self) -> &str {
        &self.document.title
    }

    /// The cells, the base first.
    pub fn cells(&self) -> Vec<Cell> {
        let sizes: Vec<usize> = self.document.axis.iter().map(|a| a.values.len()).collect();
        self.document.mode.cells(&sizes).iter().enumerate().map(|(number, at)| self.cell(number, at)).collect()
    }

    fn cell(&self, number: usize, at: &[usize]) -> Cell {
        let chosen: Vec<(&str, &Choice)> =
            self.document.axis.iter().zip(at).map(|(axis, &i)| (axis.name.as_str(), &axis.values[i])).collect();
        let choices = || chosen.iter().map(|(_, choice)| *choice);
        let mut only: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (scenario, settings) in choices().flat_map(|choice| &choice.only) {
            only.entry(scenario.clone()).or_default().extend_from_slice(settings);
        }
        Cell {
            number,
            values: chosen
                .iter()
                .map(|(axis, choice)| AxisValue { axis: (*axis).to_owned(), value: choice.name.clone() })
                .collect(),
            settings: choices().flat_map(|choice| choice.set.iter().cloned()).collect(),
            only,
            metrics: choices().flat_map(|choice| choice.metrics.clone()).collect(),
        }
    }

    /// Checks without a run that a cell can be measured.
    ///
    /// # Errors
    /// A setting does not fit the scenario.
    pub fn check(&self, cell: &Cell) -> Result<(), InputError> {
        let settings = self.parse_settings(&cell.settings)?;
        let outcome = match &self.subject {
            Subject::Items(selection) => {
                let variation = self.variation(cell, settings)?;
                Repetitions::exactly(self.document.runs)
                    .and_then(|runs| Plan::new_with(&self.registry, selection, runs, self.document.seed, &variation))
                    .map(|_| ())
            }
            Subject::Scenario(scenario) => scenario.with(&settings).and_then(|scenario| {
                scenario.experiment()?;
                for system in &self.document.system {
                    scenario.with(&self.parse_settings(&system.set)?)?.experiment()?;
                }
                Ok(())
            }),
        };
        outcome.map_err(|error| self.in_this_file(&error))
    }

    /// An error of a setting, reported for the file that contains the setting.
    fn in_this_file(&self, error: &InputError) -> InputError {
        let text = error.to_string();
        let problem = text.strip_prefix("--set ").unwrap_or(&text).to_owned();
        InputError::Key { file: self.file.clone(), key: "set".to_owned(), problem }
    }

    /// Measures one cell. The outcome depends only on the cell and on the sweep's runs and seed, not on `jobs`.
    ///
    /// # Errors
    /// A setting does not fit the scenario, or a run fails.
    pub fn measure(&self, cell: &Cell, jobs: Jobs) -> Result<CellOutcome, RunError> {
        let settings = self.parse_settings(&cell.settings)?;
        let mut outcome = CellOutcome {
            cell: cell.clone(),
            origin: self.origin(cell),
            score: None,
            claims: BTreeMap::new(),
            rows: vec![],
        };
        match &self.subject {
            Subject::Items(selection) => {
                let variation = self.variation(cell, settings)?;
                self.measure_items(selection, &variation, jobs, &mut outcome)?;
            }
            Subject::Scenario(scenario) => {
                outcome.rows = self.measure_scenario(&scenario.with(&settings)?, cell, jobs)?;
            }
        }
        Ok(outcome)
    }

    fn variation(&self, cell: &Cell, settings: Vec<Setting>) -> Result<Variation, InputError> {
        let mut only = BTreeMap::new();
        for (scenario, texts) in &cell.only {
            only.insert(scenario.clone(), self.parse_settings(texts)?);
        }
        Ok(Variation { settings, only, metrics: cell.metrics.clone() })
    }

    /// Everything that determines the values of a cell.
    pub fn origin(&self, cell: &Cell) -> String {
        let subject = match &self.subject {
            Subject::Items(_) => self.document.score.join(" "),
            Subject::Scenario(scenario) => {
                let systems = self.document.system.iter().map(|s| format!("{}:{}", s.name, s.set.join(",")));
                format!(
                    "{:016x} {} of {}",
                    fnv1a(format!("{scenario:?}").as_bytes()),
                    self.document.metrics.join(","),
                    systems.collect::<Vec<_>>().join(" ")
                )
            }
        };
        format!(
            "losscause {}, {subject}, {} runs from seed {}, set {:?}, {:?}, read {:?}",
            env!("CARGO_PKG_VERSION"),
            self.document.runs,
            self.document.seed,
            cell.settings,
            cell.only,
            cell.metrics
        )
    }

    fn measure_items(
        &self,
        selection: &Selection,
        variation: &Variation,
        jobs: Jobs,
        outcome: &mut CellOutcome,
    ) -> Result<(), RunError> {
        let runs = Repetitions::exactly(self.document.runs)?;
        let plan = Plan::new_with(&self.registry, selection, runs, self.document.seed, variation)?;
        let reproduction = plan.execute(jobs, |_| ())?;
        let verdict = |item: &Item| {
            let published = record::find(&item.paper).ok()?.published();
            let number = published.number.iter().find(|n| n.counts() && n.id == item.id)?;
            Some(crate::papers::score::judge(number, item, item.runs.min(published.repetitions)))
        };
        outcome.rows = reproduction
            .items
            .iter()
            .map(|item| Row {
                scenario: format!("{}/{}", item.paper, item.scenario),
                parameters: item.parameters.clone(),
                system: item.system.clone(),
                metric: item.metric.clone(),
                measured: item.measured,
                ci95: item.ci95,
                runs: item.runs,
                published: item.published,
                within_tolerance: verdict(item),
            })
            .collect();
        outcome.claims = reproduction.claims.iter().filter_map(|c| Some((c.id.clone(), c.holds?))).collect();
        let verdicts = || outcome.rows.iter().filter_map(|row| row.within_tolerance);
        outcome.score = Some(CellScore {
            within_tolerance: verdicts().filter(|met| *met).count(),
            numbers: verdicts().count(),
            holding: outcome.claims.values().filter(|holds| **holds).count(),
            settled: outcome.claims.len(),
        });
        Ok(())
    }

    fn measure_scenario(&self, scenario: &Scenario, cell: &Cell, jobs: Jobs) -> Result<Vec<Row>, RunError> {
        let as_it_is = [Choice { name: "as it is".to_owned(), ..Choice::default() }];
        let systems: &[Choice] = if self.document.system.is_empty() { &as_it_is } else { &self.document.system };
        let mut experiments: Vec<Experiment> = Vec::new();
        for system in systems {
            experiments.push(scenario.with(&self.parse_settings(&system.set)?)?.experiment()?);
        }
        let tasks: Vec<(usize, u64)> =
            (0..experiments.len()).flat_map(|s| (0..self.document.runs).map(move |k| (s, u64::from(k)))).collect();
        let seed = self.document.seed;
        let results = parallel::map(&tasks, jobs, |&(s, k)| run(&experiments[s], seed.wrapping_add(k)), |_| ());
        let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut rows = Vec::new();
        for (system, runs) in systems.iter().zip(results.chunks(self.document.runs as usize)) {
            for metric in &self.document.metrics {
                let name = cell.metrics.get(metric).unwrap_or(metric);
                runs.iter().try_for_each(|run| known_metric(run, name))?;
                let estimate = Estimate::from_runs(runs.iter().map(|m| m.metric(name)));
                rows.push(Row {
                    scenario: self.document.scenario.clone().unwrap_or_default(),
                    parameters: Parameters::new(),
                    system: system.name.clone(),
                    metric: metric.clone(),
                    measured: estimate.mean,
                    ci95: estimate.ci95,
                    runs: estimate.runs,
                    published: None,
                    within_tolerance: None,
                });
            }
        }
        Ok(rows)
    }

    fn parse_settings(&self, texts: &[String]) -> Result<Vec<Setting>, InputError> {
        let parse = |text: &String| Setting::parse(text).map_err(|error| self.in_this_file(&error));
        texts.iter().map(parse).collect()
    }
}

/// Largest number of cells: a short sweep file can define more cells than fit into memory.
const MOST_CELLS: usize = 100_000;
/// Settings for one scenario only must name a scenario that is measured.
fn check_scenarios(
    document: &SweepFile,
    subject: &Subject,
    error: &impl Fn(&str, &str) -> InputError,
) -> Result<(), InputError> {
    let known: Vec<&str> = match subject {
        Subject::Items(selection) => selection.scenarios().into_iter().collect(),
        Subject::Scenario(_) => vec![],
    };
    for axis in &document.axis {
        for name in axis.values.iter().flat_map(|choice| choice.only.keys()) {
            if !known.contains(&name.as_str()) {
                let problem = format!("the scenario {}", crate::error::unknown(name, &known));
                return Err(error(&format!("axis.{}.only", axis.name), &problem));
            }
        }
    }
    Ok(())
}

fn parse(text: &str, file: &str) -> Result<SweepFile, InputError> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().map_or(&[][..], |span| &text.as_bytes()[..span.start.min(text.len())]);
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        InputError::Syntax { file: file.to_owned(), line, problem: error.message().replace('\n', " ") }
    })
}

/// A hash that does not depend on the version of the compiler.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
