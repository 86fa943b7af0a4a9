//! The outcome of a sweep, in the shape of its JSON. docs/json.md describes it for readers.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::SweepClaim;
use crate::papers::record::Parameters;
use crate::store::Outcome;
use losscause_study::Origin;

/// The results of a sweep: the content of `sweep.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepResult {
    /// Version of this format, 2. It grows when a field is removed or changes its meaning.
    pub format_version: u32,
    /// The question of the sweep.
    pub title: String,
    /// The sweep file, as the user named it.
    pub sweep: String,
    /// Version of the program.
    pub version: String,
    /// Where the result comes from.
    #[serde(default)]
    pub origin: Origin,
    /// Settings of every cell from the command line, each KEY=VALUE.
    pub settings: Vec<String>,
    /// Seed of the first run of every cell.
    pub seed: u64,
    /// Runs of every system in every cell; the most, if cells have numbers of their own.
    pub runs: u32,
    /// Names of the axes.
    pub axes: Vec<String>,
    /// Names of those whose range is logarithmic (`scale = "log"`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logarithmic_axes: Vec<String>,
    /// Whether the cells are all combinations of the axes' values; otherwise they differ from the
    /// first in one or two.
    pub is_grid: bool,
    /// How the cells were drawn: "random", "latin-hypercube" or "sobol"; "listed" if the sweep file
    /// has a row for each; none if they are the axes' values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<String>,
    /// Whether every cell has seeds of its own, which follow from `seed` and its number.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seeds_by_cell: bool,
    /// Unit of every metric by name, in the order of the sweep file; empty for scored sweeps.
    pub metrics: IndexMap<String, String>,
    /// What the results of every stack depend on, by its name; empty if the sweep names no stack.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stacks: BTreeMap<String, String>,
    /// What the sweep file claims, and whether it is so; none before the last cell is finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<SweepClaim>,
    /// The finished cells, the base first.
    pub cells: Vec<CellOutcome>,
}

impl SweepResult {
    /// The same without its cells.
    pub(super) fn without_cells(&self) -> Self {
        Self {
            format_version: self.format_version,
            title: self.title.clone(),
            sweep: self.sweep.clone(),
            version: self.version.clone(),
            origin: self.origin.clone(),
            settings: self.settings.clone(),
            seed: self.seed,
            runs: self.runs,
            axes: self.axes.clone(),
            logarithmic_axes: self.logarithmic_axes.clone(),
            is_grid: self.is_grid,
            sampler: self.sampler.clone(),
            seeds_by_cell: self.seeds_by_cell,
            metrics: self.metrics.clone(),
            stacks: self.stacks.clone(),
            claims: self.claims.clone(),
            cells: vec![],
        }
    }

    /// "one run", "5 runs" or "up to 5 runs": of every system in every cell.
    pub fn runs_in_words(&self) -> String {
        match self.runs {
            1 => "one run".to_owned(),
            runs if self.cells.iter().any(|outcome| outcome.cell.runs.is_some()) => {
                format!("up to {runs} runs")
            }
            runs => format!("{runs} runs"),
        }
    }

    /// Name and unit of the metric at `place`, counted from 0 in the order of the sweep file.
    pub fn metric(&self, place: usize) -> (&str, &str) {
        let (name, unit) = self.metrics.get_index(place).expect("a metric of the sweep");
        (name, unit)
    }
}

/// One combination of values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The cell's number, counted from 0.
    pub number: usize,
    /// The value of every axis, by name, in the order of the axes.
    pub values: Vec<AxisValue>,
    /// The settings of the values: KEY=VALUE.
    pub settings: Vec<String>,
    /// Settings for single scenarios, by their names.
    pub only: BTreeMap<String, Vec<String>>,
    /// Metrics read from others: `thput` from `thput_intact`.
    pub metrics: BTreeMap<String, String>,
    /// Runs of every system, if the cell has a number of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
}

impl Cell {
    /// The metric of the run that stands for `metric` in this cell.
    pub fn read<'a>(&'a self, metric: &'a str) -> &'a str {
        self.metrics.get(metric).map_or(metric, String::as_str)
    }
}

/// An axis and its value in a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisValue {
    /// Name of the axis.
    pub axis: String,
    /// Name of the value; a number where that is what the sweep file has.
    #[serde(with = "as_number")]
    pub value: String,
}

impl AxisValue {
    /// The value as people read it: [`value_in_words`].
    pub fn in_words(&self) -> String {
        value_in_words(&self.axis, &self.value)
    }
}

/// A value of an axis as people read it: a share of lost packets (`loss`, `link.radio.channel.loss`)
/// in percent to three significant digits, anything else as it is.
///
/// ```
/// use losscause_laboratory::sweep::value_in_words;
///
/// assert_eq!(value_in_words("loss", "0.00174868"), "0.175 %");
/// assert_eq!(value_in_words("loss", "0.02"), "2 %");
/// assert_eq!(value_in_words("rtt", "0.02"), "0.02");
/// ```
pub fn value_in_words(axis: &str, value: &str) -> String {
    let share = value.parse::<f64>().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    match share.filter(|_| axis.ends_with("loss")) {
        Some(share) => {
            let percent = 100.0 * share;
            let decimals = (2.0 - percent.log10().floor()).clamp(0.0, 6.0) as usize;
            let text = format!("{percent:.decimals$}");
            let text = if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.')
            } else {
                &text
            };
            format!("{text} %")
        }
        None => value.to_owned(),
    }
}

/// The outcome of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellOutcome {
    /// The cell.
    pub cell: Cell,
    /// The number of published numbers that it reproduces, for scored sweeps.
    pub score: Option<CellScore>,
    /// Whether the claims that its values settle hold.
    pub claims: BTreeMap<String, bool>,
    /// The cell's measured values.
    pub rows: Vec<Row>,
    /// The cell's runs, by system; empty for scored sweeps, whose values may combine several runs.
    pub runs: Vec<RunRow>,
    /// Runs that were disturbed at every attempt and have no values, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Outcome for CellOutcome {
    fn number(&self) -> usize {
        self.cell.number
    }
}

impl CellOutcome {
    /// Names the unit of every metric that no run of a system has: a unit does not depend on the
    /// system.
    pub(super) fn name_units(&mut self, units: &IndexMap<String, String>) {
        for row in self.rows.iter_mut().filter(|row| row.unit.is_empty()) {
            if let Some(unit) = units.get(&row.metric) {
                row.unit.clone_from(unit);
            }
        }
    }
}

/// How many published numbers and claims a cell reproduces, among those that it measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The scenario.
    pub scenario: String,
    /// The parameters of the run, for items of papers.
    pub parameters: Parameters,
    /// The system.
    pub system: String,
    /// The metric.
    pub metric: String,
    /// The metric's unit, as `losscause simulate` prints it or as the paper does.
    pub unit: String,
    /// Mean over the runs in which it exists.
    pub measured: Option<f64>,
    /// Half-width of Student's 95 % interval.
    pub ci95: Option<f64>,
    /// Runs made.
    pub runs: u32,
    /// Runs in which the metric has a value; none for items of papers, whose values may combine
    /// several runs.
    pub runs_with_value: Option<u32>,
    /// The published value, if any.
    pub published: Option<f64>,
    /// Whether the published number is met within its tolerance; none if no number is published.
    pub within_tolerance: Option<bool>,
}

impl Row {
    /// The parameters in one text: `N=4 loss=high`.
    pub fn at(&self) -> String {
        self.parameters
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// One run of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRow {
    /// The system.
    pub system: String,
    /// Random seed.
    pub seed: u64,
    /// The value of every metric of the sweep, by its name; null where the run has none (M_c
    /// without a congestion loss).
    pub metrics: IndexMap<String, Option<f64>>,
}

/// A text that is a number, as a number in JSON.
mod as_number {
    use std::fmt;

    use serde::de::{Deserializer, Visitor};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(whole), _) if whole.to_string() == text => serializer.serialize_i64(whole),
            // Another spelling of the number could not be read back.
            (_, Ok(number)) if number.is_finite() && format!("{number:?}") == text => {
                serializer.serialize_f64(number)
            }
            _ => serializer.serialize_str(text),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<String, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = String;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a text")
            }
            fn visit_i64<E>(self, number: i64) -> Result<String, E> {
                Ok(number.to_string())
            }
            fn visit_u64<E>(self, number: u64) -> Result<String, E> {
                Ok(number.to_string())
            }
            fn visit_f64<E>(self, number: f64) -> Result<String, E> {
                Ok(format!("{number:?}"))
            }
            fn visit_str<E>(self, text: &str) -> Result<String, E> {
                Ok(text.to_owned())
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::AxisValue;

    #[test]
    fn a_value_is_a_number_in_json_and_read_back_as_it_was() {
        let cases = [
            ("5", "5"),
            ("-3", "-3"),
            ("0.01", "0.01"),
            ("1000000.0", "1000000.0"),
            ("1e-7", "1e-7"),
            ("0.10", "\"0.10\""),
            ("007", "\"007\""),
            ("2 Mb/s", "\"2 Mb/s\""),
            ("inf", "\"inf\""),
        ];
        for (text, json) in cases {
            let value = AxisValue { axis: "a".to_owned(), value: text.to_owned() };
            let written = serde_json::to_string(&value).unwrap();
            assert_eq!(written, format!("{{\"axis\":\"a\",\"value\":{json}}}"));
            assert_eq!(serde_json::from_str::<AxisValue>(&written).unwrap(), value);
        }
    }
}
