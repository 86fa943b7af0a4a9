//! Everything that has to be run, each run once, and where the results go.

use std::collections::BTreeMap;

use losscause::registry::Algorithm;

use super::settings::{Place, place};
use super::{Repetitions, Selection, Sheet, Variation};
use crate::item::{Item, Status};
use crate::paper::{self, ItemKind, ItemSpec, Paper, Parameters, Value};
use crate::{Experiment, InputError, Scenario};

/// Everything that has to be run, and where the results go.
#[derive(Debug)]
pub struct Plan {
    pub(super) sheets: Vec<Sheet>,
    pub(super) items: Vec<Item>,
    pub(super) readings: Vec<Reading>,
    pub(super) configurations: Vec<Configuration>,
    /// Names that metrics are read from by a variation; checked once there are measurements.
    pub(super) read_from: Vec<String>,
    pub(super) seed: u64,
}

/// Where an item's value comes from.
#[derive(Clone, Debug)]
pub(super) enum Reading {
    /// A metric of the runs of one configuration; of several the mean, seed by seed.
    Runs { configurations: Vec<usize>, metric: String },
    /// Counted, not run.
    Counted(Option<f64>),
}

/// One scenario with its settings: what several items may share.
#[derive(Debug)]
pub(super) struct Configuration {
    pub(super) experiment: Experiment,
    pub(super) runs: u32,
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
        let plan = Self { sheets: vec![], items: vec![], readings: vec![], configurations: vec![], read_from, seed };
        let mut planner = Planner { plan, variation, items: BTreeMap::new(), scenarios: Scenarios::default() };
        for (paper, spec) in selection.iter() {
            planner.add(paper, spec, repetitions.of(paper))?;
        }
        Ok(planner.plan)
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
}

/// A plan in the making.
struct Planner<'a> {
    plan: Plan,
    variation: &'a Variation,
    /// Items that are already planned, by what makes them unique.
    items: BTreeMap<String, usize>,
    scenarios: Scenarios,
}

/// Scenarios as they were read, and those that the configurations were made of.
#[derive(Default)]
struct Scenarios {
    files: BTreeMap<String, Scenario>,
    /// The configuration of every file with settings, as written.
    written: BTreeMap<String, usize>,
    /// One per configuration.
    of_configurations: Vec<Scenario>,
}

impl Planner<'_> {
    fn add(&mut self, paper: &'static Paper, spec: &'static ItemSpec, runs: u32) -> Result<(), InputError> {
        let mut sheet = Sheet { paper, spec, items: vec![] };
        for parameters in spec.combinations() {
            for metric in &spec.metrics {
                for system in &spec.systems {
                    let item = blank_item(paper, spec, metric, system, &parameters, runs);
                    let place = (&item.paper, &item.metric, &item.system, &item.scenario, &item.parameters);
                    let place = format!("{place:?}");
                    let index = match self.items.get(&place) {
                        Some(&known) => known,
                        None => {
                            let reading = self.reading(paper, spec, &item)?;
                            self.items.insert(place, self.plan.items.len());
                            self.plan.items.push(item);
                            self.plan.readings.push(reading);
                            self.plan.items.len() - 1
                        }
                    };
                    sheet.items.push(index);
                }
            }
        }
        self.plan.sheets.push(sheet);
        Ok(())
    }

    fn reading(&mut self, paper: &Paper, spec: &ItemSpec, item: &Item) -> Result<Reading, InputError> {
        let metric = self.variation.read(spec.metric_of_run(&item.metric));
        let (system, metric) = match &spec.kind {
            ItemKind::Operations => {
                return Ok(Reading::Counted(count_operations(paper, &item.system, &item.parameters)));
            }
            ItemKind::Pattern => {
                return Ok(Reading::Counted(of_pattern(paper, &item.metric, &item.parameters)?));
            }
            ItemKind::Runs => (&item.system, metric),
            ItemKind::PartsOf(whole) => (whole, format!("{metric}.{}", item.system)),
        };
        let mut configurations = Vec::new();
        for parameters in spec.runs_at(&item.parameters) {
            configurations.push(self.configuration(item, paper, system, &parameters)?);
        }
        Ok(Reading::Runs { configurations, metric })
    }

    /// The configuration that runs `system` in the item's scenario at `parameters`: an old one if there is one.
    fn configuration(
        &mut self,
        item: &Item,
        paper: &Paper,
        system: &str,
        parameters: &Parameters,
    ) -> Result<usize, InputError> {
        let Place { file, mut settings } = place(paper, &item.scenario, system, parameters)?;
        settings.extend_from_slice(&self.variation.settings);
        // A scenario without a file of its own is varied with the one whose file it uses.
        settings.extend(self.variation.only.get(&file).into_iter().flatten().cloned());
        let file = if file.contains('/') { file } else { format!("{}/{file}", paper.key()) };
        let texts: Vec<String> = settings.iter().map(ToString::to_string).collect();
        let written = format!("{file} {}", texts.join(" "));
        if let Some(&known) = self.scenarios.written.get(&written) {
            return Ok(known);
        }
        if !self.scenarios.files.contains_key(&file) {
            self.scenarios.files.insert(file.clone(), paper::load_scenario(&file)?);
        }
        let scenario = self.scenarios.files[&file].with(&settings)?;
        // The same settings in other words: a delay of 20 ms, which the file has anyway.
        let known = self.scenarios.of_configurations.iter().position(|old| old.is_same(&scenario));
        let index = known.unwrap_or(self.plan.configurations.len());
        if known.is_none() {
            let experiment = scenario.experiment()?;
            self.plan.configurations.push(Configuration { experiment, runs: item.runs });
            self.scenarios.of_configurations.push(scenario);
        }
        self.scenarios.written.insert(written, index);
        Ok(index)
    }
}

/// A metric of the pattern of packet errors that the parameter `loss` names, in the metric's unit.
fn of_pattern(paper: &Paper, metric: &str, parameters: &Parameters) -> Result<Option<f64>, InputError> {
    let Some(name) = parameters.get("loss") else { return Ok(None) };
    let found = &paper::pattern(&format!("{}/{name}", paper.key()))?.statistics;
    Ok(match metric {
        "wireless_loss" => Some(100.0 * found.loss),
        "ber" => Some(found.bit_error_rate),
        "share_of_loss_events_with_two_packets" => found.two_packet_events.map(|share| 100.0 * share),
        _ => None,
    })
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

fn blank_item(paper: &Paper, spec: &ItemSpec, metric: &str, system: &str, parameters: &Parameters, runs: u32) -> Item {
    let unit = paper.metric(metric).map(|m| m.unit.clone()).unwrap_or_default();
    let runs = if matches!(spec.kind, ItemKind::Operations | ItemKind::Pattern) { 0 } else { runs };
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
