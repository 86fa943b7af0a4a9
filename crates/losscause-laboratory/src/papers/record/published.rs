//! What a paper publishes: `papers/<paper>/published.toml`.

use serde::Deserialize;

use super::parameters::Parameters;

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Short name: "cen2003".
    pub key: String,
    /// Title of the paper.
    pub title: String,
    /// The paper's authors.
    pub authors: Vec<String>,
    /// Year of publication; none where it is not known.
    pub year: Option<u16>,
    /// Where it appeared.
    pub venue: String,
    /// Digital object identifier, if there is one.
    pub doi: Option<String>,
    /// What the authors simulated with.
    pub simulator: String,
    /// Runs behind every published number; a number counts as reproduced only with as many.
    pub repetitions: u32,
    /// What stands for the runs of a system; papers give means.
    #[serde(default)]
    pub summary: Summary,
    /// The systems compared.
    pub system: Vec<System>,
    /// The metrics used.
    pub metric: Vec<Metric>,
    /// Every number printed.
    pub number: Vec<Number>,
    /// What the paper says its numbers show.
    pub claim: Vec<Claim>,
    /// What the paper says besides, which the fixed list of claims lacks: settled and shown, never
    /// counted.
    #[serde(default)]
    pub beside: Vec<Claim>,
}

/// What stands for the values of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Summary {
    /// The mean of the runs, with Student's 95 % interval.
    #[default]
    Mean,
    /// The median of the runs, with the 95 % interval between two of the values.
    Median,
    /// The largest value of all runs.
    Largest,
    /// The smallest value of all runs.
    Smallest,
}

/// A system of the paper: a transport, with or without loss differentiation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The paper's name: "mBiaz", "Omni".
    pub name: String,
    /// The transport, by its name in a scenario; none for a formula, which is not simulated.
    pub protocol: Option<String>,
    /// Which TCP, by its name in a scenario; none for the scenario's own.
    pub variant: Option<String>,
    /// The loss differentiation algorithm, by its name in a scenario; none where every loss is
    /// congestion.
    pub lda: Option<String>,
    /// Whether no channel corrupts its packets.
    #[serde(default)]
    pub wireless_immune: bool,
    /// Further settings, each KEY=VALUE, in which `{NAME}` stands for the value of a parameter.
    #[serde(default)]
    pub set: Vec<String>,
    /// The system's part in the paper.
    pub role: Role,
    /// Section that defines it.
    pub source: String,
}

/// A system's part in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The paper's own proposal.
    Proposed,
    /// What it is compared with.
    Baseline,
    /// Told the truth.
    Oracle,
    /// A formula, not simulated.
    Model,
}

/// A metric of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// The metric's name: "thput", "M_c".
    pub name: String,
    /// The unit of published and measured values.
    pub unit: String,
    /// Which direction is good.
    pub better: String,
    /// What is measured.
    pub definition: String,
    /// What stands for the runs, if not what the paper's other metrics have.
    pub summary: Option<Summary>,
}

/// A number printed in the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// Unique in the paper.
    pub id: String,
    /// Metric, by name.
    pub metric: String,
    /// System, by name ("all" for set-up values).
    pub system: String,
    /// Scenario, by name.
    pub scenario: String,
    /// What else it was measured at.
    pub parameters: Parameters,
    /// The printed value, in `unit`.
    pub value: f64,
    /// The printed unit.
    pub unit: String,
    /// What sort of number it is.
    pub kind: Kind,
    /// False where it holds by definition.
    #[serde(default = "yes")]
    pub scored: bool,
    /// Table or section.
    pub source: String,
}

/// Sorts of published numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Measured in a simulation.
    Result,
    /// Set-up or design constant.
    Parameter,
    /// Worked example or argument.
    Illustration,
    /// The end of a range given in prose.
    Bound,
}

impl Number {
    /// Whether a reproduction is scored on it.
    pub fn counts(&self) -> bool {
        self.kind == Kind::Result && self.scored
    }
}

/// A claim of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Unique in the paper.
    pub id: String,
    /// Whether runs can settle it.
    pub checkable: bool,
    /// Section or table.
    pub source: String,
    /// What is claimed, in our words.
    pub statement: String,
}

fn yes() -> bool {
    true
}
