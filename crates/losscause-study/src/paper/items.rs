//! Which tables and figures are measured, and how: `papers/<paper>/items.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::parameters::{Parameters, Value};

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Items {
    /// The group of flows that runs the system under test, by its name in every scenario of the paper.
    pub flow: String,
    /// Runs where nobody asks for the paper's own number of repetitions.
    pub quick_runs: u32,
    /// What values of parameters mean as settings of a scenario.
    #[serde(default)]
    pub setting: Vec<ParameterSetting>,
    /// The tables and figures.
    pub item: Vec<ItemSpec>,
}

/// What one value of one parameter means as settings of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterSetting {
    /// The parameter: "loss".
    pub parameter: String,
    /// Its value: "high".
    pub value: Value,
    /// Settings, each KEY=VALUE.
    pub set: Vec<String>,
}

/// A table or figure: every metric for every system at every combination of the parameters' values.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemSpec {
    /// Its name on the command line: "table2".
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
    /// Rows, in the paper's order.
    pub metrics: Vec<String>,
    /// Columns, in the paper's order.
    pub systems: Vec<String>,
}

/// Where the values of an item come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemKind {
    /// Runs of each system.
    #[default]
    Runs,
    /// Runs of the named system, of which the item's systems are parts; the run calls the metric `METRIC.PART`.
    PartsOf(String),
    /// The algorithms' own operation counts; no run.
    Operations,
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
    /// Every combination of the parameters' values; the last parameter in alphabetical order varies fastest.
    pub fn combinations(&self) -> Vec<Parameters> {
        let mut combinations = vec![Parameters::new()];
        for (name, values) in &self.parameters {
            combinations = combinations
                .iter()
                .flat_map(|so_far| {
                    values.values().iter().map(|value| {
                        let mut more = so_far.clone();
                        more.insert(name.clone(), value.clone());
                        more
                    })
                })
                .collect();
        }
        combinations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let item: ItemSpec = toml::from_str(text).unwrap();
        let shown: Vec<String> =
            item.combinations().iter().map(|p| format!("{} {} {}", p["N"], p["delay_ms"], p["loss"])).collect();
        assert_eq!(shown, ["1 20 low", "1 20 high", "2 20 low", "2 20 high"]);
        assert_eq!(item.kind, ItemKind::Runs);
    }
}
