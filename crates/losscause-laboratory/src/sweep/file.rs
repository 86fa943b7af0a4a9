//! The sweep file, key by key.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use toml::Value;

use losscause_study::error::unknown;
use losscause_study::tools::toml_file;

use super::axis::{Problem, in_words};
use super::mode::Mode;
use super::range::Range;
use super::sampler::Sampler;

/// A sweep: what is measured, and the axes along which the settings change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SweepFile {
    /// The question of the sweep, in a few words.
    pub(super) title: String,
    /// How the axes are combined into cells (default: every combination).
    #[serde(default)]
    pub(super) mode: Mode,
    /// How the cells are chosen (default: the grid of the axes' values).
    #[serde(default)]
    pub(super) sampler: Sampler,
    /// Runs of every system in every cell, 1 or more (default 10).
    #[serde(default = "ten")]
    pub(super) runs: u32,
    /// Seed of the first run of every cell (default 1).
    #[serde(default = "one")]
    pub(super) seed: u64,
    /// Whether all cells have the same seeds (default: those of a grid have, those of another
    /// sampler have not).
    pub(super) seeds: Option<Seeds>,
    /// Measure papers or their items, each PAPER or PAPER/ITEM, and score every cell on them.
    #[serde(default)]
    pub(super) score: Vec<String>,
    /// Instead of `score`: a scenario file, relative to the sweep file, or a paper's scenario,
    /// PAPER/SCENARIO.
    pub(super) scenario: Option<String>,
    /// With `scenario`: the metrics to measure (default with `stacks`: all of the first).
    #[serde(default)]
    pub(super) metrics: Vec<String>,
    /// With `scenario`: the systems to compare in every cell (default: the unchanged scenario).
    #[serde(default)]
    pub(super) system: Vec<System>,
    /// The axes.
    #[serde(default)]
    pub(super) axis: Vec<AxisTable>,
    /// A row for each cell, with a value of every axis; if the axis has `values`, the name of one.
    #[serde(default)]
    pub(super) cells: Vec<Vec<Point>>,
    /// With `scenario`: what runs every cell (default: the simulator).
    #[serde(default)]
    pub(super) stacks: Vec<String>,
    /// With `scenario`: what the values are expected to show.
    #[serde(default)]
    pub(super) claim: Vec<ClaimTable>,
}

impl SweepFile {
    /// Gives every axis its column of `cells`, if there are any.
    ///
    /// # Errors
    /// A row has not a value for every axis or occurs twice, it names none of an axis's values, or
    /// the cells are said elsewhere too.
    pub(super) fn list_cells(&mut self) -> Result<(), Problem> {
        if self.cells.is_empty() {
            return Ok(());
        }
        if self.sampler != Sampler::Grid || self.axis.iter().any(|axis| axis.range.is_some()) {
            let problem = "cannot be combined with a sampler or a range; remove them";
            return Err(("cells".to_owned(), problem.to_owned()));
        }
        for (place, row) in self.cells.iter().enumerate() {
            let key = format!("cells.{}", place + 1);
            if row.len() != self.axis.len() {
                let axes = self.axis.len();
                let problem =
                    format!("has {} values, expected one for each of {axes} axes", row.len());
                return Err((key, problem));
            }
            if self.cells[..place].contains(row) {
                return Err((key, "occurs twice, expected it once".to_owned()));
            }
        }
        for (place, axis) in self.axis.iter_mut().enumerate() {
            let known = axis.values.take();
            let column = self.cells.iter().map(|row| match &known {
                Some(known) => row[place].named_in(known),
                None => Ok(row[place].clone()),
            });
            let problem = |(row, problem)| (format!("cells.{}.{}", row + 1, place + 1), problem);
            let column = (0..).zip(column).map(|(row, point)| point.map_err(|text| (row, text)));
            axis.values = Some(column.collect::<Result<_, _>>().map_err(problem)?);
        }
        self.sampler = Sampler::Listed { cells: self.cells.len() };
        Ok(())
    }
}

/// `[[claim]]`: a sentence, and the values that settle it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimTable {
    /// The sentence.
    pub(super) text: String,
    /// The metric that it is about.
    pub(super) metric: String,
    /// The values that it is about: a system, and values of axes, by name, or lists of them
    /// (default: all).
    #[serde(default)]
    pub(super) of: BTreeMap<String, Value>,
    /// How they compare.
    pub(super) is: Relation,
    /// What they are compared with: the values that differ from `of` in these.
    #[serde(default)]
    pub(super) than: BTreeMap<String, Value>,
    /// Instead of `than`: a number, in the metric's unit.
    pub(super) value: Option<f64>,
    /// So many times what they are compared with (default 1).
    pub(super) times: Option<f64>,
    /// With `within` and `within-or-overlapping`: the largest difference, in percent of what they
    /// are compared with.
    pub(super) percent: Option<f64>,
    /// With `than`: pairs whose other side's runs have a smaller sum are left out (default: none).
    pub(super) least_total: Option<f64>,
    /// With `than`: pairs whose ratio has a 95 % interval of more than this to either side, in
    /// percent of the other value, do not count (default: all count).
    pub(super) known_within: Option<f64>,
    /// Values of other axes: where it is not so, it counts as so if it is so in the place that
    /// differs in one of these alone.
    #[serde(default)]
    pub(super) or_at: BTreeMap<String, Value>,
    /// The share of the places in which it has to be so (default 1: all).
    pub(super) share: Option<f64>,
    /// Whether cells with a run that was left out do not count (default: their values are missing).
    #[serde(default)]
    pub(super) apart: bool,
}

/// How the values of a claim compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Relation {
    /// No smaller.
    AtLeast,
    /// No larger.
    AtMost,
    /// No further away than `percent`.
    Within,
    /// The same, or the 95 % intervals of both have a value in common.
    WithinOrOverlapping,
}

/// A system that is compared in every cell.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct System {
    /// The system's name.
    pub(super) name: String,
    /// The system's settings, each KEY=VALUE; none may also be `{}`.
    #[serde(default, deserialize_with = "settings")]
    pub(super) set: Vec<String>,
}

/// `[[axis]]`: a key and its values, or a name and values that say themselves what they set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AxisTable {
    /// The key that its values set, as `--set` takes it.
    pub(super) key: Option<String>,
    /// The axis's name (default: the key).
    pub(super) name: Option<String>,
    /// The axis's values; the first is the base.
    pub(super) values: Option<Vec<Point>>,
    /// Instead of `values`: numbers between two ends.
    pub(super) range: Option<Range>,
}

/// Which cells have the same seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Seeds {
    /// All: the differences between cells are then those of their settings alone.
    Shared,
    /// None: each cell's seeds follow from the sweep's seed and the cell's number.
    ByCell,
}

/// A value of an axis, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Point {
    /// `0.1`: the value of the axis's key.
    Plain(Value),
    /// `{ name = "high", set = ["loss=0.1"] }`
    Named(NamedPoint),
}

impl Point {
    /// The value that this one names.
    ///
    /// # Errors
    /// There is none of that name.
    fn named_in(&self, known: &[Self]) -> Result<Self, String> {
        let name = |point: &Self| match point {
            Self::Plain(value) => in_words(value),
            Self::Named(named) => named.name.clone(),
        };
        let own = name(self);
        let names: Vec<String> = known.iter().map(name).collect();
        let place = names.iter().position(|name| *name == own);
        place
            .map(|place| known[place].clone())
            .ok_or_else(|| unknown(&own, &names.iter().map(String::as_str).collect::<Vec<_>>()))
    }
}

/// A value of an axis that has a name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedPoint {
    /// The name of the axis's value.
    pub(super) name: String,
    /// The value of the axis's key (default: the scenario's own).
    pub(super) value: Option<Value>,
    /// Settings of every scenario, each KEY=VALUE; none may also be `{}`.
    #[serde(default, deserialize_with = "settings")]
    pub(super) set: Vec<String>,
    /// With `score`: settings of one scenario only, by its name in the paper.
    #[serde(default)]
    pub(super) only: BTreeMap<String, Vec<String>>,
    /// Metrics that are read from others of the same run.
    #[serde(default)]
    pub(super) metrics: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            table @ Value::Table(_) => {
                toml_file::from_value(&table).map(Self::Named).map_err(D::Error::custom)
            }
            plain => Ok(Self::Plain(plain)),
        }
    }
}

/// A list of settings; `{}` is an empty one.
fn settings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    if value.as_table().is_some_and(toml::Table::is_empty) {
        return Ok(Vec::new());
    }
    Vec::deserialize(value).map_err(D::Error::custom)
}

fn one() -> u64 {
    1
}

fn ten() -> u32 {
    10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_a_change_has_a_name_and_no_settings() {
        let system =
            |set: &str| toml::from_str::<System>(&format!("name = \"today\"\nset = {set}"));
        for nothing in ["{}", "[]"] {
            assert_eq!(system(nothing).unwrap().set, Vec::<String>::new());
        }
        assert_eq!(system("[\"N=1\"]").unwrap().set, ["N=1"]);
        assert!(system("{ N = 1 }").unwrap_err().to_string().contains("expected a sequence"));
    }
}
