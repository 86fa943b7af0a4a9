//! Which tables and figures are measured, and how: `papers/<paper>/items.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::parameters::{Parameters, Value};
use super::plot::{PhaseSpec, PlotSpec, ScatterSpec};
use losscause_study::scenario::expression::{Formula, Names};

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Items {
    /// The group of flows that runs the system under test, by its name in every scenario of the
    /// paper.
    pub flow: String,
    /// Runs of each system if the paper made single runs (default: 1).
    pub single_runs: Option<u32>,
    /// The settings that a value of a parameter stands for.
    #[serde(default)]
    pub setting: Vec<ParameterSetting>,
    /// Scenarios of the paper without a file of their own: another scenario's file with settings.
    #[serde(default)]
    pub network: Vec<NetworkOf>,
    /// Parameters of scenario files that are calibrated before anything is measured.
    #[serde(default)]
    pub calibration: Vec<Calibration>,
    /// The tables and figures.
    pub item: Vec<ItemSpec>,
}

/// The settings that one value of one parameter stands for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterSetting {
    /// The parameter: "loss".
    pub parameter: String,
    /// The parameter's value: "high".
    pub value: Value,
    /// The scenario file that they apply to (default: all). Settings for all files and for one file
    /// add up.
    pub file: Option<String>,
    /// Settings, each KEY=VALUE.
    pub set: Vec<String>,
}

/// Which scenario file another scenario of the paper uses. In `file` and `set`, `{NAME}` stands for
/// the value of a parameter. A parameter that is used in this way anywhere (here, in a system's
/// settings, in the item, in the target of a calibration) is no setting of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkOf {
    /// The scenario, by its name in the paper: "fair-same".
    pub scenario: String,
    /// The scenario whose file it uses: "{topology}"; of another paper with both names,
    /// "cen2003/WLH".
    pub file: String,
    /// Settings, each KEY=VALUE.
    #[serde(default)]
    pub set: Vec<String>,
}

/// A parameter of a scenario file that the paper gives by its effect: at the value sought, a metric
/// of a reference system equals a target. The program finds it by bisection on the mean of a few
/// runs, once per combination of all other settings, and uses it for all systems. The metric must
/// rise or fall monotonically over the interval.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The scenarios that it holds for, by their names in the paper.
    pub scenarios: Vec<String>,
    /// The setting that is found: a parameter of the scenario's file.
    pub parameter: String,
    /// The reference system.
    pub system: String,
    /// The scenario that it runs in (default: the one that the value is for).
    pub within: Option<String>,
    /// The parameters of its runs (default: those of the item that the value is for).
    pub parameters: Option<Parameters>,
    /// The metric, by its name in a run.
    pub metric: String,
    /// The target of the metric's mean, in the run's unit: a number, or `{NAME}` for the value of a
    /// parameter.
    pub target: Value,
    /// Largest distance of the mean from the target.
    pub tolerance: f64,
    /// The smallest and the largest value of the parameter. If the target lies outside, the nearer
    /// end is taken.
    pub between: (f64, f64),
    /// Number of runs per mean.
    pub runs: u32,
}

/// A table or figure: every metric for every system at every combination of the parameters' values.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemSpec {
    /// The item's name on the command line: "table2".
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What the paper calls it: "Table II".
    pub source: String,
    /// The scenario, by its name in the paper.
    pub scenario: String,
    /// Where the values come from.
    #[serde(default)]
    pub kind: ItemKind,
    /// Parameters with one value or a list of values.
    pub parameters: BTreeMap<String, OneOrMany>,
    /// Further parameters that do not multiply out: each of these sets of values in turn.
    #[serde(default)]
    pub points: Vec<Parameters>,
    /// For a parameter with a value like "all": the values whose runs are averaged.
    #[serde(default)]
    pub mean_over: BTreeMap<String, Vec<Value>>,
    /// The parameter along the horizontal axis, for a figure.
    pub x: Option<String>,
    /// For a figure: the paper's axes, by the names of the parameter and of the metrics. What is
    /// not given follows from the values.
    #[serde(default)]
    pub axes: BTreeMap<String, AxisSpec>,
    /// For a figure whose curves differ in a parameter: a formula of the parameters with a value
    /// per curve.
    pub curves: Option<Formula>,
    /// For a figure: two metrics against each other instead of each over the axis.
    pub phase: Option<PhaseSpec>,
    /// Two metrics of every system against each other, at each combination of the parameters.
    pub scatter: Option<ScatterSpec>,
    /// One run over time, drawn beside the values.
    pub plot: Option<PlotSpec>,
    /// Rows, in the paper's order.
    pub metrics: Vec<String>,
    /// For a metric, the one that a drawing shows beside it: what the simulator gives beside what
    /// the kernel does.
    #[serde(default)]
    pub beside: BTreeMap<String, String>,
    /// Metrics with another name or unit in a run. In the names, `{NAME}` stands for the value of a
    /// parameter, and `{system}` for the item's system.
    #[serde(default)]
    pub read: BTreeMap<String, Read>,
    /// The system whose runs are read (default: the item's own); `{NAME}` stands for the value of a
    /// parameter.
    pub runs_of: Option<String>,
    /// What the values are divided by, if they are quotients.
    pub over: Option<Over>,
    /// Columns, in the paper's order.
    pub systems: Vec<String>,
    /// Whether it is measured only on demand, not with the whole paper; no number or claim reads
    /// it.
    #[serde(default)]
    pub on_demand: bool,
}

/// An axis of a paper's figure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisSpec {
    /// What stands beside it, with its unit.
    pub label: Option<String>,
    /// Where it begins.
    pub from: Option<f64>,
    /// Where it ends.
    pub to: Option<f64>,
    /// Whether it is logarithmic; both ends are then positive.
    pub log: Option<bool>,
}

/// Where the values of an item come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemKind {
    /// Runs of each system.
    #[default]
    Runs,
    /// The algorithms' own operation counts; no run.
    Operations,
    /// The paper's pattern of packet errors that the parameter `loss` names; no run.
    Pattern,
    /// A formula ([`crate::papers::model`]) of the item's parameters; no run.
    Model,
}

/// The name of a metric in a run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Read {
    /// The name; the unit is the same.
    Name(String),
    /// The name, and the factor from the run's unit to the paper's: 125 converts kb/s to bytes per
    /// second.
    Scaled {
        /// The name.
        metric: String,
        /// The factor.
        times: f64,
    },
}

/// The divisor of a quotient, and how the quotient is taken. In the names, `{NAME}` stands for the
/// value of a parameter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// The system of the divisor (default: the numerator's).
    pub system: Option<String>,
    /// The scenario of the divisor (default: the item's).
    pub scenario: Option<String>,
    /// The metric of the divisor, by the name in a run (default: the numerator's).
    pub metric: Option<String>,
    /// Parameters that differ from the item's.
    #[serde(default)]
    pub parameters: Parameters,
    /// What the quotient is shown as.
    #[serde(default, rename = "as")]
    pub shown: Shown,
    /// What it is a quotient of.
    #[serde(default)]
    pub of: QuotientOf,
}

/// How a quotient x / y is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// x / y.
    #[default]
    Ratio,
    /// 100 (x / y - 1), percent.
    Gain,
}

/// What a quotient is taken of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuotientOf {
    /// Two runs of the same seed; then the mean over seeds.
    #[default]
    Runs,
    /// The means over all runs.
    Means,
}

/// One value or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// The same value throughout.
    One(Value),
    /// Each of these in turn.
    Many(Vec<Value>),
}

impl OneOrMany {
    fn values(&self) -> &[Value] {
        match self {
            OneOrMany::One(value) => std::slice::from_ref(value),
            OneOrMany::Many(values) => values,
        }
    }
}

impl ItemSpec {
    /// Every combination of the parameters' values; the last parameter in alphabetical order varies
    /// fastest, and the points faster than all.
    pub fn combinations(&self) -> Vec<Parameters> {
        let mut combinations = vec![Parameters::new()];
        for (name, values) in &self.parameters {
            combinations = multiply(&combinations, &alone(name, values.values()));
        }
        match self.points.as_slice() {
            [] => combinations,
            points => multiply(&combinations, points),
        }
    }

    /// Those of the parameters that differ between the rows of the table, with their values.
    pub fn varying<'a>(&self, parameters: &'a Parameters) -> Vec<(&'a str, &'a Value)> {
        let all = self.combinations();
        let differs = |name: &String| all.iter().any(|one| one.get(name) != all[0].get(name));
        let varying = parameters.iter().filter(|(name, _)| differs(name));
        varying.map(|(name, value)| (name.as_str(), value)).collect()
    }

    /// The parameters of the runs behind the values at `parameters`: more than one where a mean is
    /// taken.
    pub fn runs_at(&self, parameters: &Parameters) -> Vec<Parameters> {
        self.mean_over.iter().fold(vec![parameters.clone()], |so_far, (name, values)| {
            multiply(&so_far, &alone(name, values))
        })
    }

    /// The name of `metric` in a run, and the factor to the paper's unit.
    pub fn read_from<'a>(&'a self, metric: &'a str) -> (&'a str, f64) {
        match self.read.get(metric) {
            None => (metric, 1.0),
            Some(Read::Name(name)) => (name, 1.0),
            Some(Read::Scaled { metric, times }) => (metric, *times),
        }
    }

    /// The value of [`ItemSpec::curves`] at `parameters`, if there are such curves.
    ///
    /// # Errors
    /// The formula uses an unknown parameter or one that is no number, or has no value.
    pub fn curve_at(&self, parameters: &Parameters) -> Result<Option<f64>, String> {
        let Some(formula) = &self.curves else { return Ok(None) };
        let numbers =
            parameters.iter().filter_map(|(name, value)| Some((name, value.as_number()?)));
        let names = numbers.fold(Names::default(), |names, (name, value)| names.with(name, value));
        formula.evaluate(&names).map(Some)
    }

    /// Whether its values come from runs.
    pub fn is_of_runs(&self) -> bool {
        self.kind == ItemKind::Runs
    }

    /// Every text in which `{NAME}` may stand for a parameter.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &str> {
        let read = self.read.values().map(|read| match read {
            Read::Name(metric) | Read::Scaled { metric, .. } => metric.as_str(),
        });
        let curves =
            self.plot.iter().flat_map(|plot| plot.curves.iter().map(|curve| curve.name.as_str()));
        let events =
            self.plot.iter().flat_map(|plot| plot.events.iter().map(|events| events.name.as_str()));
        let over = self.over.iter().flat_map(|over| [&over.system, &over.scenario, &over.metric]);
        read.chain(over.chain([&self.runs_of]).flatten().map(String::as_str))
            .chain(curves)
            .chain(events)
    }
}

/// Every element of `so_far` combined with every element of `more`, which varies faster.
fn multiply(so_far: &[Parameters], more: &[Parameters]) -> Vec<Parameters> {
    let with = |base: &Parameters, more: &Parameters| {
        base.iter().chain(more).map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    so_far.iter().flat_map(|base| more.iter().map(move |more| with(base, more))).collect()
}

/// Each of the values alone, as the parameter `name`.
fn alone(name: &str, values: &[Value]) -> Vec<Parameters> {
    values.iter().map(|value| [(name.to_owned(), value.clone())].into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use losscause_study::tools::toml_file;

    #[test]
    fn lists_of_values_multiply_out() {
        let text = r#"
            id = "figure8"
            title = "t"
            source = "figure 8"
            scenario = "WLH"
            parameters = { N = [1, 2], loss = ["low", "high"], delay_ms = 20 }
            metrics = ["thput"]
            systems = ["TCP"]
        "#;
        let item: ItemSpec = toml_file::from_text(text, "").unwrap();
        let shown: Vec<String> = item
            .combinations()
            .iter()
            .map(|p| format!("{} {} {}", p["N"], p["delay_ms"], p["loss"]))
            .collect();
        assert_eq!(shown, ["1 20 low", "1 20 high", "2 20 low", "2 20 high"]);
        assert_eq!(item.kind, ItemKind::Runs);
    }

    #[test]
    fn points_stay_together_and_a_mean_has_the_runs_of_its_values() {
        let text = r#"
            id = "figure13"
            title = "t"
            source = "figure 13"
            scenario = "WLH"
            parameters = { N = "all", loss = ["low", "high"] }
            points = [{ alpha = 0.3, beta = 0.1 }, { alpha = 0.7, beta = 0.5 }]
            mean_over = { N = [4, 6] }
            metrics = ["usage"]
            systems = ["Spike"]
        "#;
        let item: ItemSpec = toml_file::from_text(text, "").unwrap();
        let show =
            |p: &Parameters| format!("{} {} {} {}", p["N"], p["loss"], p["alpha"], p["beta"]);
        let shown: Vec<String> = item.combinations().iter().map(show).collect();
        assert_eq!(
            shown,
            ["all low 0.3 0.1", "all low 0.7 0.5", "all high 0.3 0.1", "all high 0.7 0.5"]
        );
        let runs: Vec<String> = item.runs_at(&item.combinations()[1]).iter().map(show).collect();
        assert_eq!(runs, ["4 low 0.7 0.5", "6 low 0.7 0.5"]);
    }
}
