//! Scenarios with settings of the command line.
#![allow(dead_code)] // Each test file uses a part.

use losscause_study::{Context, Experiment, InputError, Scenario, Setting};

/// Two groups of TCP flows that share a line with a short queue, over access links of their own.
pub(crate) const TWO_GROUPS: &str = r#"
title = "two groups"
duration_s = 20
packet_bytes = 1000
[measure]
cwnd = true
[tcp]
max_window_pkts = 20
[[link]]
name = "access"
per_flow = true
rate_bps = 10e6
delay_ms = 1
queue_packets = 100
[[link]]
name = "line"
rate_bps = 2e6
delay_ms = 20
queue_packets = 8
channel = { kind = "bernoulli", loss = 0.01 }
[[flow]]
name = "old"
count = 2
protocol = "tcp"
path = ["access", "line"]
[[flow]]
name = "new"
count = 2
protocol = "tfrc"
lda = "Spike"
path = ["access", "line"]
[[flow]]
name = "noise"
protocol = "cbr"
path = ["line"]
rate_bps = 400e3
packet_bytes = 1000
"#;

/// The scenario `text` with settings. Errors call it `name`.
pub(crate) fn build(
    text: &str,
    name: &str,
    settings: &[&str],
    context: &Context,
) -> Result<Experiment, InputError> {
    let settings: Vec<Setting> =
        settings.iter().map(|setting| Setting::parse(setting).unwrap()).collect();
    Scenario::parse(text, name, context)?.with(&settings)?.experiment()
}

/// The same of what is valid.
pub(crate) fn experiment(text: &str, settings: &[&str]) -> Experiment {
    build(text, "test.toml", settings, &Context::default()).unwrap()
}
