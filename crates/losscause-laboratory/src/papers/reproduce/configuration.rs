//! What is run: a scenario with its settings.

use std::fmt;

use crate::papers::record::Parameters;
use losscause_study::{Experiment, Scenario};

/// One scenario with its settings; several items may share it. `Display`: the system and the
/// parameters.
///
/// ```
/// use losscause_laboratory::papers::reproduce::{Plan, Repetitions, Selection, Variation};
/// use losscause_study::Context;
///
/// let selection = Selection::parse(&["cen2003/table2"])?;
/// let plan = Plan::new(&Context::default(), &selection, Repetitions::AsPublished, 1, &Variation::default())?;
/// assert_eq!(plan.configurations()[0].to_string(), "TCP, N 1, loss high");
/// # Ok::<(), losscause_study::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The system, by its name in the record; if several share the configuration, the first.
    pub system: String,
    /// The scenario, by its name in the record.
    pub place: String,
    /// The parameters.
    pub parameters: Parameters,
    /// What is run. A parameter to be calibrated is at one end of its interval until the value is
    /// found.
    pub experiment: Experiment,
    /// The metrics that are read from its runs, by their names in a run.
    pub metrics: Vec<String>,
    pub(super) scenario: Scenario,
    /// The searches whose values it waits for.
    pub(super) waits_for: Vec<usize>,
    pub(super) runs: u32,
    /// What one run costs: thousands of packet-hops; by stacks, milliseconds.
    pub(super) cost: u64,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.system.fmt(f)?;
        self.parameters.iter().try_for_each(|(name, value)| write!(f, ", {name} {value}"))
    }
}
