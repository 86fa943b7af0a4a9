//! The runs that a selection of items needs, each made once, and the items that read them.

use std::collections::BTreeMap;

use losscause::Time;

use super::beside::{self, LeftOut, Ran, Substitute};
use super::blank::blank_item;
use super::calibrate::{self, Search};
use super::configuration::Configuration;
use super::cost::UNRECORDED;
use super::counted::{count_operations, of_pattern};
use super::recording;
use super::settings::{Place, bad_item, filled_in, place};
use super::{Repetitions, Selection, Sheet, Variation};
use crate::papers::model;
use crate::papers::record::{
    self, Calibration, ItemKind, ItemSpec, Over, Paper, Parameters, PlotSpec, QuotientOf, Shown,
    Value,
};
use crate::papers::record::{Item, Summary};
use losscause_study::error::unknown;
use losscause_study::{Context, InputError, Scenario, Setting};

/// The runs that a selection of items needs, and the items that read them.
#[derive(Debug)]
pub struct Plan {
    pub(super) sheets: Vec<Sheet>,
    /// What the papers measured.
    pub(super) values: Values,
    /// What runs beside that.
    pub(super) beside: Values,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) configurations: Vec<Configuration>,
    /// Calibrations, which come before the runs.
    pub(super) searches: Vec<Search>,
    /// Runs drawn over time, and whether they are recorded.
    pub(super) plots: Vec<Plot>,
    pub(super) draws: bool,
    pub(super) seed: u64,
    /// What was planned.
    pub(super) selection: Selection,
    pub(super) repetitions: Repetitions,
    pub(super) variation: Variation,
}

/// Values to measure, each with where it comes from.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) items: Vec<Item>,
    pub(super) readings: Vec<Reading>,
    /// The items by paper, metric, system, scenario and parameters.
    places: BTreeMap<String, usize>,
}

impl Values {
    /// What the items with these indices are read from.
    pub(super) fn samples(&self, items: &[usize]) -> impl Iterator<Item = &Sample> {
        items.iter().flat_map(|&item| self.readings[item].samples())
    }

    /// The index of an item if it was added before, and what is unique about it.
    fn find(&self, item: &Item) -> (Option<usize>, String) {
        let place = (&item.paper, &item.metric, &item.system, &item.scenario, &item.parameters);
        let place = format!("{place:?}");
        (self.places.get(&place).copied(), place)
    }

    fn add(&mut self, item: Item, place: String, reading: Reading) -> usize {
        self.places.insert(place, self.items.len());
        self.items.push(item);
        self.readings.push(reading);
        self.items.len() - 1
    }
}

/// One run over time.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    pub(super) paper: &'static Paper,
    pub(super) spec: &'static ItemSpec,
    /// What it draws, with `{NAME}` replaced.
    pub(super) plot: PlotSpec,
    pub(super) system: String,
    pub(super) parameters: Parameters,
    pub(super) configuration: usize,
}

/// Where an item's value comes from.
#[derive(Clone, Debug)]
pub(super) enum Reading {
    /// From runs, possibly as a quotient.
    Runs {
        value: Sample,
        over: Option<Divisor>,
        /// From the run's unit to the paper's.
        times: f64,
        /// What stands for the runs.
        summary: Summary,
    },
    /// Counted, not run.
    Counted(Option<f64>),
}

/// A metric of the runs of one configuration; of several configurations, their mean for each seed.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) configurations: Vec<usize>,
    pub(super) metric: String,
}

/// What a value is divided by.
#[derive(Clone, Debug)]
pub(super) struct Divisor {
    pub(super) sample: Sample,
    pub(super) shown: Shown,
    pub(super) of: QuotientOf,
}

impl Reading {
    pub(super) fn samples(&self) -> impl Iterator<Item = &Sample> {
        let (value, over) = match self {
            Reading::Counted(_) => (None, None),
            Reading::Runs { value, over, .. } => {
                (Some(value), over.as_ref().map(|over| &over.sample))
            }
        };
        value.into_iter().chain(over)
    }
}

impl Plan {
    /// Plans `selection`, read as `variation` says. Systems may run the algorithms of `context`.
    /// Repetition k uses `seed` + k.
    ///
    /// # Errors
    /// A setting does not fit a scenario.
    pub fn new(
        context: &Context,
        selection: &Selection,
        repetitions: Repetitions,
        seed: u64,
        variation: &Variation,
    ) -> Result<Self, InputError> {
        let plan = Self {
            sheets: vec![],
            values: Values::default(),
            beside: Values::default(),
            left_out: vec![],
            configurations: vec![],
            searches: vec![],
            plots: vec![],
            draws: false,
            seed,
            selection: selection.clone(),
            repetitions,
            variation: variation.clone(),
        };
        let algorithms = beside::known(selection.algorithms_beside(), context.registry())?;
        let scenarios = Scenarios::default();
        let mut planner = Planner { plan, context, selection, variation, scenarios };
        for (paper, spec) in selection.iter() {
            let mut sheet = planner.add(paper, spec, repetitions.of(paper))?;
            for algorithm in &algorithms {
                planner.add_beside(&mut sheet, algorithm, repetitions.of(paper));
            }
            // What filters leave out altogether is no table.
            if !selection.is_filtered() || !sheet.items.is_empty() {
                planner.plan.sheets.push(sheet);
            }
        }
        let is_anywhere = |algorithm: &&&str| {
            planner.plan.sheets.iter().any(|sheet| sheet.runs_beside(algorithm))
        };
        if let Some(algorithm) = algorithms.iter().find(|algorithm| !is_anywhere(algorithm)) {
            return Err(beside::nowhere(algorithm, &planner.plan.left_out));
        }
        planner.plan.price();
        Ok(planner.plan)
    }

    /// The same plan, which also records the runs that items draw over time.
    #[must_use]
    pub fn drawing(mut self) -> Self {
        for plot in &self.plots {
            let runs = &mut self.configurations[plot.configuration].runs;
            *runs = (*runs).max(1);
        }
        Self { draws: true, ..self }
    }

    /// The tables and figures, in the order in which they are measured.
    pub fn sheets(&self) -> &[Sheet] {
        &self.sheets
    }

    /// The items, not measured yet.
    pub fn items(&self) -> &[Item] {
        &self.values.items
    }

    /// The values of the algorithms that run beside the papers', not measured yet.
    pub fn beside(&self) -> &[Item] {
        &self.beside.items
    }

    /// What is run, in the order of the items. A parameter to be calibrated is at one end of its
    /// interval.
    pub fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }

    /// Number of runs, without those of calibrations.
    pub fn runs(&self) -> usize {
        self.configurations.iter().map(|c| c.runs as usize).sum()
    }
}

/// A plan in the making.
struct Planner<'a> {
    plan: Plan,
    context: &'a Context,
    selection: &'a Selection,
    variation: &'a Variation,
    scenarios: Scenarios,
}

/// Scenarios as they were read, and those that the configurations were made of.
#[derive(Default)]
struct Scenarios {
    files: BTreeMap<String, Scenario>,
    /// The configuration for each file with its settings as text.
    written: BTreeMap<String, usize>,
}

impl Planner<'_> {
    /// A table or figure, as the paper has it.
    fn add(
        &mut self,
        paper: &'static Paper,
        spec: &'static ItemSpec,
        runs: u32,
    ) -> Result<Sheet, InputError> {
        let mut sheet = Sheet { paper, spec, items: vec![], beside: vec![] };
        self.check_figure(paper, spec)?;
        for parameters in spec.combinations() {
            let systems: Vec<&String> = self.selection.systems(spec, &parameters).collect();
            if let Some(plot) = &spec.plot {
                for system in &systems {
                    self.plot(paper, spec, plot, system, &parameters)?;
                }
            }
            for metric in &spec.metrics {
                for system in &systems {
                    let item = blank_item(paper, spec, metric, system, &parameters, runs);
                    let ran = Ran::published(system);
                    sheet.items.push(self.place(
                        |plan| &mut plan.values,
                        paper,
                        spec,
                        item,
                        ran,
                    )?);
                }
            }
        }
        Ok(sheet)
    }

    /// The index of an item among those of `values`, read from the runs of `ran` if it is new.
    fn place(
        &mut self,
        values: fn(&mut Plan) -> &mut Values,
        paper: &'static Paper,
        spec: &'static ItemSpec,
        item: Item,
        ran: Ran<'_>,
    ) -> Result<usize, InputError> {
        let (known, place) = values(&mut self.plan).find(&item);
        if let Some(known) = known {
            return Ok(known);
        }
        let reading = self.reading(paper, spec, &item, ran)?;
        Ok(values(&mut self.plan).add(item, place, reading))
    }

    /// Adds to a table or figure the values of `algorithm` in the place of the published ones, or
    /// why there are none.
    fn add_beside(&mut self, sheet: &mut Sheet, algorithm: &str, runs: u32) {
        for substitute in beside::substitutes(sheet.paper, sheet.spec, algorithm) {
            match self.values_beside(sheet.paper, sheet.spec, algorithm, &substitute, runs) {
                Ok(items) => sheet.beside.push((substitute.name, items)),
                // An algorithm for senders does not run at a receiver.
                Err(error) => {
                    let item = format!("{}/{}", sheet.paper.key(), sheet.spec.id);
                    self.plan.left_out.push(LeftOut {
                        item,
                        system: substitute.name,
                        why: error.to_string(),
                    });
                }
            }
        }
    }

    /// The values of one system beside those of an item, in the item's order.
    fn values_beside(
        &mut self,
        paper: &'static Paper,
        spec: &'static ItemSpec,
        algorithm: &str,
        substitute: &Substitute,
        runs: u32,
    ) -> Result<Vec<usize>, InputError> {
        let ran = Ran { system: substitute.system, lda: Some(algorithm) };
        let mut places = Vec::new();
        for parameters in spec.combinations() {
            for metric in &spec.metrics {
                let item = blank_item(paper, spec, metric, &substitute.name, &parameters, runs);
                places.push(self.place(|plan| &mut plan.beside, paper, spec, item, ran)?);
            }
        }
        Ok(places)
    }

    /// Checks the item's keys about its figure against its metrics and parameters.
    fn check_figure(&self, paper: &Paper, spec: &ItemSpec) -> Result<(), InputError> {
        let refuse = |key: &str, problem: String| Err(bad_item(paper, spec, key, problem));
        let phase =
            spec.phase.iter().flat_map(|of| [("phase.right", &of.right), ("phase.up", &of.up)]);
        let scatter = spec
            .scatter
            .iter()
            .flat_map(|of| [("scatter.right", &of.right), ("scatter.up", &of.up)]);
        for (key, metric) in phase.chain(scatter) {
            if !spec.metrics.contains(metric) {
                let metrics: Vec<&str> = spec.metrics.iter().map(String::as_str).collect();
                return refuse(key, format!("the metric {}", unknown(metric, &metrics)));
            }
        }
        if let Some(phase) = &spec.phase {
            let is_number = |sum: &String| {
                spec.combinations()
                    .iter()
                    .all(|at| at.get(sum).is_some_and(|v| v.as_number().is_some()))
            };
            if let Some(sum) = phase.sum.as_ref().filter(|sum| !is_number(sum)) {
                return refuse(
                    "phase.sum",
                    format!("is \"{sum}\", expected a parameter of the item that is a number"),
                );
            }
        }
        if spec.x.is_none() && (spec.phase.is_some() || spec.curves.is_some()) {
            return refuse(
                "x",
                "is missing, expected the parameter along the horizontal axis".to_owned(),
            );
        }
        if spec.plot.is_some() && !spec.is_of_runs() {
            return refuse(
                "plot",
                "there are no runs to draw, expected an item of runs".to_owned(),
            );
        }
        for parameters in spec.combinations() {
            spec.curve_at(&parameters)
                .map_err(|problem| bad_item(paper, spec, "curves", problem))?;
        }
        Ok(())
    }

    /// Plans the run of `system` at `parameters` that the item draws over time.
    fn plot(
        &mut self,
        paper: &'static Paper,
        spec: &'static ItemSpec,
        plot: &PlotSpec,
        system: &str,
        parameters: &Parameters,
    ) -> Result<(), InputError> {
        let ran = Ran::published(system);
        let configuration = self.configuration(paper, spec, 0, &spec.scenario, ran, parameters)?;
        let experiment = &self.plan.configurations[configuration].experiment;
        recording::check(plot, experiment)
            .map_err(|(key, problem)| bad_item(paper, spec, &key, problem))?;
        let mut names = parameters.clone();
        names.insert("system".to_owned(), Value::Text(system.to_owned()));
        let mut plot = plot.clone();
        let texts = plot.curves.iter_mut().map(|curve| &mut curve.name);
        for name in texts.chain(plot.events.iter_mut().map(|events| &mut events.name)) {
            *name = filled_in(name, &names)
                .map_err(|problem| bad_item(paper, spec, "plot", problem))?;
        }
        let system = system.to_owned();
        let parameters = parameters.clone();
        self.plan.plots.push(Plot { paper, spec, plot, system, parameters, configuration });
        Ok(())
    }

    /// Where the value of an item comes from, which `ran` runs.
    fn reading(
        &mut self,
        paper: &'static Paper,
        spec: &ItemSpec,
        item: &Item,
        ran: Ran<'_>,
    ) -> Result<Reading, InputError> {
        match &spec.kind {
            ItemKind::Operations => {
                return Ok(Reading::Counted(count_operations(
                    self.context.registry(),
                    paper,
                    &item.system,
                    &item.parameters,
                )));
            }
            ItemKind::Pattern => {
                return Ok(Reading::Counted(of_pattern(paper, &item.metric, &item.parameters)?));
            }
            ItemKind::Model => {
                let value = model::value(&item.system, &item.metric, &item.parameters);
                let value =
                    value.map_err(|problem| bad_item(paper, spec, "parameters", problem))?;
                return Ok(Reading::Counted(Some(value)));
            }
            ItemKind::Runs => {}
        }
        // `{system}` stands for the item's system.
        let mut names = item.parameters.clone();
        names.insert("system".to_owned(), Value::Text(item.system.clone()));
        let fill = |key: &str, text: &str| {
            filled_in(text, &names).map_err(|problem| bad_item(paper, spec, key, problem))
        };
        let own = paper.metric(&item.metric).and_then(|metric| metric.summary);
        let summary = own.unwrap_or(paper.published().summary);
        let (metric, times) = spec.read_from(&item.metric);
        let metric = self.variation.read(&fill("read", metric)?);
        let of = spec.runs_of.as_ref().map(|text| fill("runs_of", text)).transpose()?;
        let ran = of.as_deref().map_or(ran, Ran::published);
        let scenario = item.scenario.as_str();
        let value =
            self.sample(paper, spec, item.runs, scenario, ran, &item.parameters, &metric)?;
        let Some(Over {
            system: other,
            scenario: elsewhere,
            metric: another,
            parameters,
            shown,
            of,
        }) = &spec.over
        else {
            return Ok(Reading::Runs { value, over: None, times, summary });
        };
        let over = |text: &Option<String>| text.as_ref().map(|text| fill("over", text)).transpose();
        let metric = match another {
            Some(text) => self.variation.read(&fill("over", text)?),
            None => metric,
        };
        let mut at = item.parameters.clone();
        at.extend(parameters.clone());
        let elsewhere = over(elsewhere)?;
        let other = over(other)?;
        let scenario = elsewhere.as_deref().unwrap_or(scenario);
        let ran = other.as_deref().map_or(ran, Ran::published);
        let sample = self.sample(paper, spec, item.runs, scenario, ran, &at, &metric)?;
        let over = Some(Divisor { sample, shown: *shown, of: *of });
        Ok(Reading::Runs { value, over, times, summary })
    }

    /// The metric of `ran` in `scenario` at `parameters`, a mean where the item takes one.
    #[allow(clippy::too_many_arguments)] // Together they name one sample.
    fn sample(
        &mut self,
        paper: &'static Paper,
        spec: &ItemSpec,
        runs: u32,
        scenario: &str,
        ran: Ran<'_>,
        parameters: &Parameters,
        metric: &str,
    ) -> Result<Sample, InputError> {
        let mut configurations = Vec::new();
        for parameters in spec.runs_at(parameters) {
            let place = self.configuration(paper, spec, runs, scenario, ran, &parameters)?;
            let metrics = &mut self.plan.configurations[place].metrics;
            if !metrics.iter().any(|known| known == metric) {
                metrics.push(metric.to_owned());
            }
            configurations.push(place);
        }
        Ok(Sample { configurations, metric: metric.to_owned() })
    }

    /// The configuration that runs `ran` in the paper's `scenario` at `parameters`; an existing one
    /// if possible.
    fn configuration(
        &mut self,
        paper: &'static Paper,
        spec: &ItemSpec,
        runs: u32,
        scenario: &str,
        ran: Ran<'_>,
        parameters: &Parameters,
    ) -> Result<usize, InputError> {
        let mut waits_for = Vec::new();
        for calibration in
            paper.items().calibration.iter().filter(|c| c.scenarios.iter().any(|s| s == scenario))
        {
            waits_for.push(self.search(paper, spec, calibration, scenario, parameters)?);
        }
        let (file, settings) = self.settings(paper, spec, scenario, ran, parameters)?;
        let texts: Vec<String> = settings.iter().map(ToString::to_string).collect();
        let mut written = format!("{file} {} {waits_for:?}", texts.join(" "));
        if self.selection.is_on_stacks() {
            written += &format!(" {} {scenario} {parameters:?}", ran.system);
        }
        if let Some(&known) = self.scenarios.written.get(&written) {
            let known = self.reuse(known, runs);
            return Ok(known);
        }
        let place = scenario.to_owned();
        let scenario = self.scenarios.of(paper, &file, self.context)?.with(&settings)?;
        // Different settings can make the same scenario: a delay of 20 ms that the file has anyway.
        let same = |old: &Configuration| {
            !self.selection.is_on_stacks()
                && old.waits_for == waits_for
                && old.scenario.is_same(&scenario)
        };
        let known = self.plan.configurations.iter().position(same);
        let index = match known {
            Some(known) => self.reuse(known, runs),
            None => {
                let ends: Vec<_> = waits_for
                    .iter()
                    .map(|&search| self.plan.searches[search].at_an_end())
                    .collect();
                let experiment = scenario.with(&ends)?.experiment()?;
                // Real time, or what is like it.
                let ms = (experiment.duration - Time::ZERO).as_nanos().unsigned_abs() / 1_000_000;
                self.plan.configurations.push(Configuration {
                    system: ran.system.to_owned(),
                    place,
                    parameters: parameters.clone(),
                    experiment,
                    metrics: vec![],
                    scenario,
                    waits_for,
                    runs,
                    cost: if self.selection.is_on_stacks() { ms } else { UNRECORDED },
                });
                self.plan.configurations.len() - 1
            }
        };
        self.scenarios.written.insert(written, index);
        Ok(index)
    }

    /// An existing configuration, with the largest number of runs that any of its items needs.
    fn reuse(&mut self, known: usize, runs: u32) -> usize {
        let most = &mut self.plan.configurations[known].runs;
        *most = runs.max(*most);
        known
    }

    /// The search for a calibrated parameter of `scenario` at `parameters`; an existing one if
    /// possible.
    fn search(
        &mut self,
        paper: &'static Paper,
        spec: &ItemSpec,
        calibration: &'static Calibration,
        scenario: &str,
        parameters: &Parameters,
    ) -> Result<usize, InputError> {
        let target = calibrate::target(paper, spec, calibration, parameters)?;
        let scenario = calibration.within.as_deref().unwrap_or(scenario);
        let at = calibration.parameters.as_ref().unwrap_or(parameters);
        let (file, settings) =
            self.settings(paper, spec, scenario, Ran::published(&calibration.system), at)?;
        let reference = self.scenarios.of(paper, &file, self.context)?.with(&settings)?;
        // A new one lays both ends of its interval out.
        let is_known = |old: &Search| old.is_of(calibration, &reference, target);
        if let Some(known) = self.plan.searches.iter().position(is_known) {
            return Ok(known);
        }
        let search = Search::new(paper, calibration, scenario, (reference, &settings), target)?;
        self.plan.searches.push(search);
        Ok(self.plan.searches.len() - 1)
    }

    /// The file, by the names of paper and scenario, and all settings, those of the variation
    /// included.
    fn settings(
        &self,
        paper: &Paper,
        spec: &ItemSpec,
        scenario: &str,
        ran: Ran<'_>,
        parameters: &Parameters,
    ) -> Result<(String, Vec<Setting>), InputError> {
        let Place { file, mut settings } = place(paper, spec, scenario, ran.system, parameters)?;
        let flow = &paper.items().flow;
        settings.extend(ran.lda.map(|lda| Setting::new(format!("flow.{flow}.lda"), lda)));
        settings.extend_from_slice(&self.variation.settings);
        // A variation of a scenario file also applies to scenarios that use the file.
        settings.extend(self.variation.only.get(&file).into_iter().flatten().cloned());
        let file = if file.contains('/') { file } else { format!("{}/{file}", paper.key()) };
        Ok((file, settings))
    }
}

impl Scenarios {
    /// The scenario of that name, read once: one of `paper`, or of another paper.
    fn of(
        &mut self,
        paper: &Paper,
        file: &str,
        context: &Context,
    ) -> Result<&Scenario, InputError> {
        if !self.files.contains_key(file) {
            let scenario = match file.split_once('/') {
                Some((key, _)) if key == paper.key() => paper.load_scenario(file, context)?,
                _ => record::load_scenario(file, context)?,
            };
            self.files.insert(file.to_owned(), scenario);
        }
        Ok(&self.files[file])
    }
}
