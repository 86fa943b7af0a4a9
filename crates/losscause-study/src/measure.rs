//! What a run is summed up in.

use serde::Serialize;

/// One number of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// Its name: `thput`, `M_c`, `usage.Spike`.
    pub metric: String,
    /// Its unit: `percent`, `kb/s`, `packets`.
    pub unit: &'static str,
    /// Its value; none where it is not defined (`M_c` of a run without congestion loss).
    pub value: Option<f64>,
}

/// Everything that was measured in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measurements {
    /// The run as a whole.
    pub metrics: Vec<Metric>,
}

impl Measurements {
    /// The value of the metric of that name, if the run has it and it is defined.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|metric| metric.metric == name)?.value
    }
}
