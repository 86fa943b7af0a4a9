//! Measures the items of papers: which runs they need, each made once, and what comes out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use losscause::registry::Algorithm;
use serde::{Deserialize, Serialize};

use crate::item::{ClaimOutcome, Item, Status};
use crate::paper::{self, ItemKind, ItemSpec, Paper, Parameters, Value};
use crate::parallel::{self, Jobs};
use crate::score::{self, Score};
use crate::statistics::Estimate;
use crate::{Experiment, InputError, Measurements, RunError, Scenario, Setting, claims, run};

/// The outcome of a reproduction, in the shape of its JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reproduction {
    /// Every value, published and measured.
    pub items: Vec<Item>,
    /// Every claim of the papers that were asked for.
    pub claims: Vec<ClaimOutcome>,
    /// Repetition k, counted from 0, ran with this seed plus k.
    pub seed: u64,
    /// Version of the program.
    pub version: String,
    /// Wall-clock time, seconds; none unless asked for, so that equal reproductions are equal to the byte.
    pub wall_s: Option<f64>,
}

/// Tables and figures to measure.
#[derive(Clone, Debug)]
pub struct Selection(Vec<(&'static Paper, &'static ItemSpec)>);

impl Selection {
    /// The scenarios of the tables and figures, by their names in the papers.
    pub fn scenarios(&self) -> BTreeSet<&'static str> {
        self.0.iter().map(|(_, spec)| spec.scenario.as_str()).collect()
    }

    /// Reads names, each PAPER or PAPER/ITEM; no name at all stands for everything.
    ///
    /// # Errors
    /// A paper or item is unknown; the error names the nearest.
    pub fn parse<S: AsRef<str>>(names: &[S]) -> Result<Self, InputError> {
        let mut chosen: Vec<(&'static Paper, &'static ItemSpec)> = Vec::new();
        let mut add = |paper: &'static Paper, item: &'static ItemSpec| {
            if !chosen.iter().any(|(_, known)| std::ptr::eq(*known, item)) {
                chosen.push((paper, item));
            }
        };
        for name in names {
            let (paper, item) = name.as_ref().split_once('/').map_or((name.as_ref(), None), |(p, i)| (p, Some(i)));
            let paper = paper::find(paper)?;
            match item {
                Some(item) => add(paper, paper.item(item)?),
                None => paper.items().item.iter().for_each(|item| add(paper, item)),
            }
        }
        if names.is_empty() {
            paper::all().iter().for_each(|paper| paper.items().item.iter().for_each(|item| add(paper, item)));
        }
        Ok(Self(chosen))
    }
}

/// How often each system is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetitions {
    /// As often as the paper did.
    AsPublished,
    /// Less often, as the paper's items say: for a first look.
    Quick,
    /// So often.
    Exactly(u32),
}

/// Most runs of a system: each is kept in memory until all are made.
pub const MOST_RUNS: u32 = 10_000;

impl Repetitions {
    /// `runs` runs.
    ///
    /// # Errors
    /// Without a run nothing is measured; and there is a largest number ([`MOST_RUNS`]).
    pub fn exactly(runs: u32) -> Result<Self, InputError> {
        let problem = match runs {
            0 => "nothing would be measured, expected 1 or more".to_owned(),
            1..=MOST_RUNS => return Ok(Self::Exactly(runs)),
            _ => format!("expected at most {MOST_RUNS}"),
        };
        Err(InputError::Option { option: format!("--runs {runs}"), problem })
    }

    fn of(self, paper: &Paper) -> u32 {
        match self {
            Self::AsPublished => paper.published().repetitions,
            Self::Quick => paper.items().quick_runs,
            Self::Exactly(runs) => runs,
        }
    }
}

/// Another reading of what a paper leaves open.
#[derive(Clone, Debug, Default)]
pub struct Variation {
    /// Applied to every scenario, after its own settings.
    pub settings: Vec<Setting>,
    /// Applied after those to one scenario, by its name in the paper.
    pub only: BTreeMap<String, Vec<Setting>>,
    /// Metrics to be read from others of the same run: `thput` from `thput_intact`.
    pub metrics: BTreeMap<String, String>,
}

impl Variation {
    fn read(&self, metric: &str) -> String {
        self.metrics.get(metric).map_or(metric, String::as_str).to_owned()
    }
}

/// What a plan tells while it is carried out.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// So many runs are done.
    Runs(usize),
    /// A table or figure is complete; its items, with their status.
    Sheet(&'a Sheet, &'a [Item]),
}

/// A table or figure of a plan: where its values stand among the plan's items.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The paper.
    pub paper: &'static Paper,
    /// The table or figure.
    pub spec: &'static ItemSpec,
    /// Indices of its items, combination by combination, metric by metric, system by system.
    pub items: Vec<usize>,
}

/// Everything that has to be run, and where the results go.
#[derive(Debug)]
pub struct Plan {
    sheets: Vec<Sheet>,
    items: Vec<Item>,
    readings: Vec<Reading>,
    configurations: Vec<Configuration>,
    /// Names that metrics are read from by a variation; checked once there are measurements.
    read_from: Vec<String>,
    seed: u64,
}

/// Where an item's value comes from.
#[derive(Clone, Debug)]
enum Reading {
    /// A metric of a configuration's runs.
    Run { configuration: usize, metric: String },
    /// Counted, not run.
    Counted(Option<f64>),
}

/// One scenario with its settings: what several items may share.
#[derive(Debug)]
struct Configuration {
    name: String,
    experiment: Experiment,
    runs: u32,
}

impl Plan {
    /// Plans `selection`, read as `variation` says. Repetition k uses `seed` + k.
    ///
    /// # Errors
    /// A setting does not fit a scenario.
    pub fn new(
        selection: &Selection,
        repetitions: Repetitions,
        seed: u64,
        variation: &Variation,
    ) -> Result<Self, InputError> {
        let read_from = variation.metrics.values().cloned().collect();
        let mut plan =
            Self { sheets: vec![], items: vec![], readings: vec![], configurations: vec![], read_from, seed };
        let mut scenarios: BTreeMap<String, Scenario> = BTreeMap::new();
        for &(paper, spec) in &selection.0 {
            plan.add(paper, spec, repetitions.of(paper), variation, &mut scenarios)?;
        }
        Ok(plan)
    }

    /// The tables and figures, in the order in which they are measured.
    pub fn sheets(&self) -> &[Sheet] {
        &self.sheets
    }

    /// What will be measured; nothing is yet.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// How many simulations will run.
    pub fn runs(&self) -> usize {
        self.configurations.iter().map(|c| c.runs as usize).sum()
    }

    fn add(
        &mut self,
        paper: &'static Paper,
        spec: &'static ItemSpec,
        runs: u32,
        variation: &Variation,
        scenarios: &mut BTreeMap<String, Scenario>,
    ) -> Result<(), InputError> {
        let mut sheet = Sheet { paper, spec, items: vec![] };
        for parameters in spec.combinations() {
            for metric in &spec.metrics {
                for system in &spec.systems {
                    let item = blank_item(paper, spec, metric, system, &parameters, runs);
                    let known = self.items.iter().position(|i| same_place(i, &item));
                    let index = known.unwrap_or(self.items.len());
                    sheet.items.push(index);
                    if known.is_some() {
                        continue;
                    }
                    let reading = match &spec.kind {
                        ItemKind::Operations => Reading::Counted(count_operations(paper, system, &parameters)),
                        ItemKind::Runs => {
                            let configuration = self.configuration(&item, paper, system, variation, scenarios)?;
                            Reading::Run { configuration, metric: variation.read(metric) }
                        }
                        ItemKind::PartsOf(whole) => {
                            let configuration = self.configuration(&item, paper, whole, variation, scenarios)?;
                            Reading::Run { configuration, metric: format!("{metric}.{system}") }
                        }
                    };
                    self.items.push(item);
                    self.readings.push(reading);
                }
            }
        }
        self.sheets.push(sheet);
        Ok(())
    }

    /// The configuration that runs `system` at the item's scenario and parameters: an old one if there is one.
    fn configuration(
        &mut self,
        item: &Item,
        paper: &Paper,
        system: &str,
        variation: &Variation,
        scenarios: &mut BTreeMap<String, Scenario>,
    ) -> Result<usize, InputError> {
        let mut settings = settings(paper, system, &item.parameters)?;
        settings.extend_from_slice(&variation.settings);
        settings.extend(variation.only.get(&item.scenario).into_iter().flatten().cloned());
        let scenario = format!("{}/{}", item.paper, item.scenario);
        let written: Vec<String> = settings.iter().map(ToString::to_string).collect();
        let name = format!("{scenario} {}", written.join(" "));
        if let Some(known) = self.configurations.iter().position(|c| c.name == name) {
            return Ok(known);
        }
        if !scenarios.contains_key(&scenario) {
            scenarios.insert(scenario.clone(), paper::load_scenario(&scenario)?);
        }
        let experiment = scenarios[&scenario].with(&settings)?.experiment()?;
        self.configurations.push(Configuration { name, experiment, runs: item.runs });
        Ok(self.configurations.len() - 1)
    }

    /// Makes every run and sums up; `observe` is told of every run and of every complete table or figure.
    ///
    /// # Errors
    /// A run fails.
    pub fn execute(mut self, jobs: Jobs, mut observe: impl FnMut(Event<'_>)) -> Result<Reproduction, RunError> {
        let mut measured: Vec<Option<Vec<Measurements>>> = self.configurations.iter().map(|_| None).collect();
        let mut before = 0;
        for sheet in &self.sheets {
            let missing: Vec<usize> = self.configurations_of(sheet, &measured);
            let tasks: Vec<(usize, u64)> = missing
                .iter()
                .flat_map(|&c| (0..self.configurations[c].runs).map(move |k| (c, u64::from(k))))
                .collect();
            let work = |&(c, k): &(usize, u64)| run(&self.configurations[c].experiment, self.seed.wrapping_add(k));
            let results = parallel::map(&tasks, jobs, work, |n| observe(Event::Runs(before + n)));
            before += tasks.len();
            for (&(c, _), result) in tasks.iter().zip(results) {
                let result = result?;
                self.read_from.iter().try_for_each(|name| known_metric(&result, name))?;
                measured[c].get_or_insert_default().push(result);
            }
            for &index in &sheet.items {
                let item = &mut self.items[index];
                match &self.readings[index] {
                    Reading::Counted(value) => item.measured = *value,
                    Reading::Run { configuration, metric } => {
                        let runs = measured[*configuration].iter().flatten();
                        let estimate = Estimate::from_runs(runs.map(|m| m.metric(metric)));
                        (item.measured, item.ci95, item.runs) = (estimate.mean, estimate.ci95, estimate.runs);
                    }
                }
            }
            let mut shown: Vec<Item> = sheet.items.iter().map(|&i| self.items[i].clone()).collect();
            score::settle(sheet.paper.published(), &mut shown);
            observe(Event::Sheet(sheet, &shown));
        }
        Ok(conclude(&self.items, self.seed))
    }

    /// The configurations of a sheet that have not run yet, in the order of its items.
    fn configurations_of(&self, sheet: &Sheet, measured: &[Option<Vec<Measurements>>]) -> Vec<usize> {
        let mut missing = Vec::new();
        for &index in &sheet.items {
            if let Reading::Run { configuration, .. } = self.readings[index]
                && measured[configuration].is_none()
                && !missing.contains(&configuration)
            {
                missing.push(configuration);
            }
        }
        missing
    }
}

/// Holds measured items against what their papers publish.
pub fn conclude(items: &[Item], seed: u64) -> Reproduction {
    let mut reproduction =
        Reproduction { items: vec![], claims: vec![], seed, version: env!("CARGO_PKG_VERSION").into(), wall_s: None };
    for paper in paper::all() {
        let mut mine: Vec<Item> = items.iter().filter(|i| i.paper == paper.key()).cloned().collect();
        if mine.is_empty() {
            continue;
        }
        score::settle(paper.published(), &mut mine);
        reproduction.claims.extend(claims::settle(paper.published(), paper.predicates(), &mine));
        reproduction.items.append(&mut mine);
    }
    reproduction
}

/// How well one paper was reproduced.
#[derive(Clone, Debug, PartialEq)]
pub struct Scorecard {
    /// Short name of the paper.
    pub paper: String,
    /// Runs that the rule of scoring asks for.
    pub repetitions: u32,
    /// Fewest runs behind a measured item.
    pub runs: u32,
    /// Its numbers.
    pub numbers: Score,
    /// Claims that hold.
    pub holding: usize,
    /// Claims that were settled either way.
    pub settled: usize,
    /// Claims that runs can settle.
    pub checkable: usize,
}

impl fmt::Display for Scorecard {
    /// One line: `cen2003: numbers 36/46 = 78.3 % (floor 43.5 %), claims 15/17 = 88.2 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let Score { reproduced, numbers, floor, .. } = self.numbers;
        write!(
            f,
            "{}: numbers {reproduced}/{numbers} = {:.1} % (floor {:.1} %), claims {}/{} = {:.1} %",
            self.paper,
            percent(reproduced, numbers),
            percent(floor, numbers),
            self.holding,
            self.checkable,
            percent(self.holding, self.checkable)
        )
    }
}

impl Reproduction {
    /// One scorecard per paper that was asked for.
    pub fn scorecards(&self) -> Vec<Scorecard> {
        let mut cards = Vec::new();
        for paper in paper::all() {
            let mine: Vec<Item> = self.items.iter().filter(|i| i.paper == paper.key()).cloned().collect();
            if mine.is_empty() {
                continue;
            }
            let claims: Vec<&ClaimOutcome> = self.claims.iter().filter(|c| c.paper == paper.key()).collect();
            cards.push(Scorecard {
                paper: paper.key().to_owned(),
                repetitions: paper.published().repetitions,
                runs: mine.iter().map(|i| i.runs).filter(|&runs| runs > 0).min().unwrap_or(0),
                numbers: Score::of(paper.published(), &mine, |_| true),
                holding: claims.iter().filter(|c| c.holds == Some(true)).count(),
                settled: claims.iter().filter(|c| c.holds.is_some()).count(),
                checkable: paper.published().claim.iter().filter(|c| c.checkable).count(),
            });
        }
        cards
    }
}

/// Scores the numbers that `items`, all of one table or figure, answer for.
pub fn score_of(paper: &Paper, items: &[Item]) -> Score {
    Score::of(paper.published(), items, |number| score::lookup_number(items, number).is_some())
}

/// The settings that turn a paper's scenario into `system` at `parameters`.
fn settings(paper: &Paper, system: &str, parameters: &Parameters) -> Result<Vec<Setting>, InputError> {
    let flow = &paper.items().flow;
    let system = paper.system(system).expect("a test finds every system that an item names");
    let mut settings = Vec::new();
    for (name, value) in parameters {
        let special = paper.items().setting.iter().find(|s| s.parameter == *name && s.value.same(value));
        match special {
            Some(special) => {
                for text in &special.set {
                    settings.push(Setting::parse(text)?);
                }
            }
            None => settings.push(Setting::parse(&format!("{name}={value}"))?),
        }
    }
    settings.push(Setting::new(format!("flow.{flow}.protocol"), system.protocol.as_str()));
    if let Some(lda) = &system.lda {
        settings.push(Setting::new(format!("flow.{flow}.lda"), lda.as_str()));
    }
    Ok(settings)
}

/// Whether a run measures a metric of that name.
pub(crate) fn known_metric(run: &Measurements, name: &str) -> Result<(), InputError> {
    let known: Vec<&str> = run.metrics.iter().map(|m| m.metric.as_str()).collect();
    if known.contains(&name) {
        return Ok(());
    }
    Err(InputError::Option { option: "metrics".to_owned(), problem: crate::error::unknown(name, &known) })
}

/// What the system's algorithm costs, by its own count; none for what is not counted.
fn count_operations(paper: &Paper, system: &str, parameters: &Parameters) -> Option<f64> {
    let algorithm = Algorithm::from_name(paper.system(system)?.lda.as_deref()?)?;
    let cost = algorithm.operations();
    let text = |name: &str| match parameters.get(name) {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    let count = match (text("op"), text("moment")) {
        ("addition", "arrival") => cost.additions_per_arrival,
        ("addition", "loss") => cost.additions_after_loss,
        ("multiplication", "arrival") => cost.multiplications_per_arrival,
        ("multiplication", "loss") => cost.multiplications_after_loss,
        _ => return None,
    };
    Some(f64::from(count))
}

fn same_place(a: &Item, b: &Item) -> bool {
    a.paper == b.paper
        && a.metric == b.metric
        && a.system == b.system
        && a.scenario == b.scenario
        && a.parameters == b.parameters
}

fn blank_item(paper: &Paper, spec: &ItemSpec, metric: &str, system: &str, parameters: &Parameters, runs: u32) -> Item {
    let unit = paper.metric(metric).map(|m| m.unit.clone()).unwrap_or_default();
    let runs = if spec.kind == ItemKind::Operations { 0 } else { runs };
    Item {
        id: item_id(paper, spec, metric, system, parameters),
        paper: paper.key().to_owned(),
        source: spec.source.clone(),
        system: system.to_owned(),
        scenario: spec.scenario.clone(),
        parameters: parameters.clone(),
        metric: metric.to_owned(),
        unit,
        published: None,
        measured: None,
        ci95: None,
        runs,
        status: Status::NoPublishedValue,
    }
}

/// The published number's name, or one made in the same manner: `WLH.N1.ZBS.thput`.
fn item_id(paper: &Paper, spec: &ItemSpec, metric: &str, system: &str, parameters: &Parameters) -> String {
    let published = paper.published().number.iter().find(|n| {
        n.metric == metric && n.system == system && n.scenario == spec.scenario && n.parameters == *parameters
    });
    if let Some(number) = published {
        return number.id.clone();
    }
    let mut id = spec.scenario.clone();
    for (name, value) in parameters {
        match name.as_str() {
            "loss" if *value == "high".into() => {}
            "N" => id += &format!(".N{value}"),
            _ => id += &format!(".{name}={value}"),
        }
    }
    format!("{id}.{system}.{metric}")
}
