//! Sweeps: the same measurements under different settings, cell by cell.
//!
//! | module | what it does |
//! |---|---|
//! | `file`, `axis`, `range`, `mode` | the sweep file key by key; what each value changes; which combinations are cells |
//! | `sampler`, `sobol` | cells drawn between the ends of ranges instead |
//! | `cells` | the cells, each made when it is needed |
//! | `check` | refuses unknown settings and metrics before the first run |
//! | `measure`, `execute` | measures one cell; measures all cells in parallel |
//! | `claim`, `ratio`, `beside` | whether the file's claims hold; one stack over another; results held against earlier ones |
//! | `elsewhere` | for another engine: cells measured in other processes, with the same results |
//! | `origin` | what the results depend on, for the [`store`](crate::store) of finished cells |
//! | `outcome`, `tables`, `result_files`, `pivot`, `summary` | the results; as CSV; on the disk; as tables for people; compared with the base |

use std::collections::BTreeSet;
use std::ops;
use std::path::Path;

use losscause_sim::rng::Stream;

use crate::papers::record;
use crate::papers::reproduce::{Repetitions, Selection};
use crate::stack::{Named, SIMULATOR, Stacks, Turns, metrics};
use crate::store::fnv1a;
use losscause_study::files::watched::Watched;
use losscause_study::scenario::Kind;
use losscause_study::tools::toml_file;
use losscause_study::{Context, InputError, Limits, RunError, Scenario, Setting, files};

mod axis;
mod beside;
mod cells;
mod check;
mod claim;
mod elsewhere;
mod execute;
mod file;
mod measure;
mod mode;
mod origin;
mod outcome;
mod pivot;
mod range;
mod ratio;
mod result_files;
mod sampler;
mod sobol;
mod summary;
mod tables;

use axis::{Axis, Choice, RUNS};
pub use beside::Beside;
pub(crate) use beside::Values;
use cells::Cells;
use claim::Claim;
pub use claim::{Place, SweepClaim};
pub use elsewhere::Elsewhere;
pub use execute::{MOST_IN_MEMORY, SweepOutcome, SweepProgress};
use file::{Seeds, SweepFile, System};
use mode::Mode;
pub use outcome::{
    AxisValue, Cell, CellOutcome, CellScore, Row, RunRow, SweepResult, value_in_words,
};
pub use pivot::MOST_ROWS;
pub use ratio::ByTwo;
pub use result_files::{REPORT, SWEEP_CSV, SWEEP_JSON};
use sampler::Sampler;
pub use summary::{CellSummary, summary};

/// A valid sweep file.
#[derive(Clone, Debug)]
pub struct Sweep {
    file: String,
    title: String,
    mode: Mode,
    sampler: Sampler,
    seeds: Seeds,
    runs: u32,
    seed: u64,
    /// Settings of every cell, before those of systems and axes.
    set: Vec<Setting>,
    /// What is measured for a score, and the metrics of a scenario.
    score: Vec<String>,
    metrics: Vec<String>,
    systems: Vec<System>,
    axes: Vec<Axis>,
    /// What runs every cell; none if that is the simulator and the file does not say so.
    stacks: Vec<Named>,
    turns: Turns,
    claims: Vec<Claim>,
    subject: Subject,
    /// Hash of what the sweep file says.
    content: u64,
    /// What it was read with.
    context: Context,
}

/// The measurements of every cell.
#[derive(Clone, Debug)]
enum Subject {
    /// Items of papers, and their score.
    Items(Selection),
    /// Metrics of one scenario.
    Scenario(Box<ScenarioSubject>),
}

/// A scenario, and the files that it has read.
#[derive(Clone, Debug)]
struct ScenarioSubject {
    scenario: Scenario,
    /// Hash of the scenario's file.
    content: u64,
    read: Watched,
}

/// What the command line may say differently from the sweep file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Runs of every system in every cell.
    pub runs: Option<u32>,
    /// Seed of the first run of every cell.
    pub seed: Option<u64>,
    /// Settings of every cell, applied before those of systems and axes.
    pub set: Vec<Setting>,
}

impl Sweep {
    /// Reads a sweep file that runs in the simulator.
    ///
    /// # Errors
    /// The file cannot be read, or as [`Sweep::parse`].
    pub fn load(path: &Path, context: &Context) -> Result<Self, InputError> {
        Self::load_on(path, context, &Stacks::default())
    }

    /// Reads a sweep file that may name any of these stacks.
    ///
    /// # Errors
    /// The file cannot be read, or as [`Sweep::parse_on`].
    pub fn load_on(path: &Path, context: &Context, stacks: &Stacks) -> Result<Self, InputError> {
        let text = files::text(context.files(), path, files::LARGEST_DOCUMENT, EXPECTED)?;
        Self::parse_on(&text, path, context, stacks)
    }

    /// Reads a sweep from a text. Errors call it `path`; scenario files are relative to `path`.
    ///
    /// # Errors
    /// The text is not a sweep; a paper, item or scenario that it names does not exist; it has no
    /// runs; neither axes, systems nor stacks; or an axis without values; or a setting is not KEY=VALUE.
    pub fn parse(text: &str, path: &Path, context: &Context) -> Result<Self, InputError> {
        Self::parse_on(text, path, context, &Stacks::default())
    }

    /// Reads a sweep that may name any of these stacks from a text.
    ///
    /// # Errors
    /// As [`Sweep::parse`], a stack is unknown or named twice, or a claim is over a metric, system
    /// or axis that the sweep does not have.
    pub fn parse_on(
        text: &str,
        path: &Path,
        context: &Context,
        stacks: &Stacks,
    ) -> Result<Self, InputError> {
        let file = path.display().to_string();
        let table = toml_file::table(text, &file, EXPECTED)?;
        if Kind::of(&table) == Some(Kind::Scenario) && !table.contains_key("axis") {
            return Err(InputError::file(file, Kind::Scenario.to_string(), EXPECTED));
        }
        let mut document: SweepFile = toml_file::from_table(&table, &file)?;
        let key = |key: &str, problem: &str| InputError::key(file.clone(), key, problem);
        document.list_cells().map_err(|(name, problem)| key(&name, &problem))?;
        if !(1..=Limits::RUNS).contains(&document.runs) {
            let most = Limits::RUNS;
            let problem = format!("is {}, expected a whole number from 1 to {most}", document.runs);
            return Err(key("runs", &problem));
        }
        let stacks = named(&document, stacks).map_err(|problem| key("stacks", &problem))?;
        // Systems, or a cell on each stack, are enough to compare.
        let compares = !stacks.is_empty() || !document.system.is_empty();
        let axes = if document.axis.is_empty() && compares {
            vec![]
        } else {
            axis::axes(&document.axis, document.sampler)
                .map_err(|(name, problem)| key(&name, &problem))?
        };
        let sizes: Vec<usize> = axes.iter().map(|axis| axis.values.len()).collect();
        let most = MOST_CELLS / stacks.len().max(1);
        match document.sampler.cells() {
            None if document.mode.count(&sizes).is_none_or(|cells| cells > most) => {
                return Err(key(
                    "axis",
                    &format!("the axes make more than {most} cells, which is the maximum"),
                ));
            }
            Some(cells) if !(1..=most).contains(&cells) => {
                let problem = format!("is {cells}, expected a whole number from 1 to {most}");
                return Err(key("sampler.cells", &problem));
            }
            Some(_) if document.mode != Mode::Grid => {
                let problem = format!(
                    "combines values, and sampler \"{}\" draws; remove it",
                    document.sampler.name()
                );
                return Err(key("mode", &problem));
            }
            _ => {}
        }
        // In a grid, neighbouring cells differ in one setting, and a difference between them should
        // be its effect.
        let by_default =
            if document.sampler == Sampler::Grid { Seeds::Shared } else { Seeds::ByCell };
        let mut names = BTreeSet::new();
        if let Some(twice) = document.system.iter().find(|system| !names.insert(&system.name)) {
            return Err(key(
                "system",
                &format!("there are two of the name \"{}\", expected one", twice.name),
            ));
        }
        let subject = subject(&document, path, context, &key)?;
        let mut sweep = Self {
            file: file.clone(),
            title: document.title,
            mode: document.mode,
            sampler: document.sampler,
            seeds: document.seeds.unwrap_or(by_default),
            runs: document.runs,
            seed: document.seed,
            set: vec![],
            score: document.score,
            metrics: document.metrics,
            systems: document.system,
            axes,
            stacks,
            turns: Turns::default(),
            claims: vec![],
            subject,
            content: content(table, document.sampler),
            context: context.clone(),
        };
        if sweep.metrics.is_empty() && !sweep.is_scored() {
            sweep.metrics = sweep.all_metrics()?;
        }
        sweep.check_names()?;
        let claims = document.claim.iter().enumerate().map(|(place, table)| {
            Claim::of(table, &sweep).map_err(|(rest, problem)| {
                sweep.error(&format!("claim.{}.{rest}", place + 1), problem)
            })
        });
        let claims = claims.collect::<Result<_, _>>()?;
        Ok(Self { claims, ..sweep })
    }

    /// The same sweep with other runs, seed or settings.
    ///
    /// # Errors
    /// The number of runs is 0 or too large, or a setting does not fit the scenario or is one of an
    /// axis or system.
    pub fn with(mut self, overrides: &Overrides) -> Result<Self, InputError> {
        if let Some(runs) = overrides.runs {
            Repetitions::exactly(runs)?;
            if self.has_own_runs() {
                let problem =
                    format!("the axis {RUNS} of {} has them, expected none here", self.file);
                return Err(InputError::option(format!("--runs {runs}"), problem));
            }
            self.runs = runs;
        }
        self.seed = overrides.seed.unwrap_or(self.seed);
        for setting in &overrides.set {
            if let Some(owner) = self.owner_of(setting.key()) {
                let problem =
                    format!("{owner} of {} sets this key too, expected another key", self.file);
                return Err(InputError::option(format!("--set {setting}"), problem));
            }
        }
        if let Subject::Scenario(subject) = &mut self.subject {
            subject.scenario = subject.scenario.with(&overrides.set)?;
        }
        self.set.extend_from_slice(&overrides.set);
        Ok(self)
    }

    /// All metrics of the first cell.
    fn all_metrics(&self) -> Result<Vec<String>, InputError> {
        let cell = Cells::of(self).cell(0);
        let experiments = self.experiments(&cell)?;
        let metrics = self.stack_of(&cell).and_then(|stack| metrics(stack, &experiments[0]));
        let metrics = metrics.map_err(|error| match error {
            RunError::Input(error) => error,
            other => self.error("stacks", other.to_string()),
        })?;
        Ok(metrics.into_iter().map(|metric| metric.metric).collect())
    }

    /// The axis or system that sets `key`.
    fn owner_of(&self, key: &str) -> Option<String> {
        let sets = |text: &String| Setting::parse(text).is_ok_and(|setting| setting.key() == key);
        let changes =
            |choice: &Choice| choice.set.iter().chain(choice.only.values().flatten()).any(sets);
        let axis = self.axes.iter().find(|axis| axis.values.iter().any(changes));
        let system = || self.systems.iter().find(|system| system.set.iter().any(sets));
        let axis = axis.map(|axis| format!("the axis {}", axis.name));
        axis.or_else(|| system().map(|system| format!("the system {}", system.name)))
    }

    /// The question of the sweep.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The cells; of a grid, the base first.
    pub fn cells(&self) -> Vec<Cell> {
        self.cells_in(0..self.count())
    }

    /// Names of the axes; the last is [`STACK`] if the sweep names its stacks.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        let own = self.axes.iter().map(|axis| axis.name.as_str());
        own.chain((!self.stacks.is_empty()).then_some(STACK))
    }

    /// Whether papers are measured and scored in its cells.
    pub fn is_scored(&self) -> bool {
        matches!(self.subject, Subject::Items(_))
    }

    /// Whether the simulator runs all cells.
    pub fn is_simulated(&self) -> bool {
        self.stacks.iter().all(|stack| stack.name == SIMULATOR)
    }

    /// Number of cells.
    pub fn count(&self) -> usize {
        let places = self.sampler.cells();
        let places = places.or_else(|| self.mode.count(&self.sizes())).unwrap_or(usize::MAX);
        places.saturating_mul(self.stacks.len().max(1))
    }

    /// The cells of these numbers, below [`Sweep::count`].
    pub fn cells_in(&self, numbers: ops::Range<usize>) -> Vec<Cell> {
        let cells = Cells::of(self);
        numbers.map(|number| cells.cell(number)).collect()
    }

    /// Whether cells have numbers of runs of their own.
    fn has_own_runs(&self) -> bool {
        self.most_runs().is_some()
    }

    /// The greatest number of runs that a cell has of its own.
    fn most_runs(&self) -> Option<u32> {
        self.axes.iter().flat_map(|axis| &axis.values).filter_map(|choice| choice.runs).max()
    }

    /// Runs of every system in a cell.
    fn runs_in(&self, cell: &Cell) -> u32 {
        cell.runs.unwrap_or(self.runs)
    }

    /// Number of values of every axis.
    fn sizes(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.values.len()).collect()
    }

    /// Seed of the first run of a cell. It depends on the sweep's seed and the cell's number alone.
    fn seed_of(&self, cell: &Cell) -> u64 {
        match self.seeds {
            Seeds::Shared => self.seed,
            // Whole numbers up to 2^53 survive every reader of JSON.
            Seeds::ByCell => {
                // The same on every stack.
                let place = cell.number / self.stacks.len().max(1);
                Stream::new(self.seed, &format!("sweep/seed/{place}")).below(1 << 53)
            }
        }
    }

    fn parse_settings(&self, texts: &[String]) -> Result<Vec<Setting>, InputError> {
        let parse = |text: &String| Setting::parse(text).map_err(|error| self.in_this_file(&error));
        texts.iter().map(parse).collect()
    }

    /// An error that a setting may have caused, reported for the file that contains the setting.
    fn in_this_file(&self, error: &InputError) -> InputError {
        if let InputError::File { .. } | InputError::Syntax { .. } = error {
            return error.clone();
        }
        let text = error.to_string();
        let problem = text.strip_prefix("--set ").unwrap_or(&text).to_owned();
        self.error("set", problem)
    }

    fn error(&self, key: &str, problem: String) -> InputError {
        InputError::key(self.file.clone(), key, problem)
    }
}

/// The name of the axis whose values are the stacks.
pub const STACK: &str = "stack";

/// The stacks that the sweep file names.
fn named(document: &SweepFile, known: &Stacks) -> Result<Vec<Named>, String> {
    if !document.stacks.is_empty() && !document.score.is_empty() {
        return Err("cannot be combined with score; remove one of them".to_owned());
    }
    if document.axis.iter().any(|axis| axis.name.as_deref().or(axis.key.as_deref()) == Some(STACK))
    {
        return Err("are an axis by themselves; name them in stacks = [\"simulator\"]".to_owned());
    }
    let mut stacks: Vec<Named> = Vec::new();
    for name in &document.stacks {
        if stacks.iter().any(|stack| stack.name == name) {
            return Err(format!("\"{name}\" occurs twice, expected it once"));
        }
        stacks.push(known.named(name)?.clone());
    }
    Ok(stacks)
}

/// What an error says was expected in place of a file that is no sweep.
const EXPECTED: &str = "a sweep file in TOML (losscause docs sweep)";

/// Largest number of cells: a short sweep file can define more cells than anyone could measure.
const MOST_CELLS: usize = 1_000_000;

/// The hash of what a sweep file says. The number of cells is no part of it where a sweep of more
/// cells begins with those of one of fewer: [`origin`] compares the numbers.
fn content(mut table: toml::Table, sampler: Sampler) -> u64 {
    if let (true, Some(toml::Value::Table(sampler))) = (sampler.grows(), table.get_mut("sampler")) {
        sampler.remove("cells");
    }
    fnv1a(table.to_string().as_bytes())
}

/// What the sweep file measures.
fn subject(
    document: &SweepFile,
    path: &Path,
    context: &Context,
    error: &impl Fn(&str, &str) -> InputError,
) -> Result<Subject, InputError> {
    match (&document.scenario, document.score.is_empty()) {
        (None, false) if document.metrics.is_empty() && document.system.is_empty() => {
            Ok(Subject::Items(Selection::parse(&document.score)?))
        }
        (None, false) => {
            Err(error("score", "cannot be combined with metrics and system; remove them"))
        }
        (Some(name), true) if !document.metrics.is_empty() || !document.stacks.is_empty() => {
            let beside = path.parent().unwrap_or(Path::new(""));
            let scenario = record::open_scenario(Path::new(name), beside, context)?;
            let content = fnv1a(scenario.text().as_bytes());
            let (scenario, read) = scenario.watched();
            Ok(Subject::Scenario(Box::new(ScenarioSubject { scenario, content, read })))
        }
        (Some(_), true) => Err(error("metrics", "is empty, expected the metrics to measure")),
        (Some(_), false) => {
            Err(error("scenario", "cannot be combined with score; give one of them"))
        }
        (None, true) => Err(error("scenario", "is missing; give scenario or score")),
    }
}
