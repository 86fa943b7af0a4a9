//! `cargo xtask bench-sweep`: a local sweep with two threads beside one, for short and long cells,
//! and its peak memory. Run it on an idle machine with two cores; it is not a test.

use anyhow::Result;

use crate::measured::{Program, in_turn};
use crate::shell::{losscause, target, write};

/// How much to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Pairs of runs, one with each number of threads, in alternating order
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Without the sweep of 100,000 cells
    #[arg(long)]
    short: bool,
}

/// A sweep over one TCP flow on one link.
struct Bench {
    /// Simulated length of a cell, seconds: an hour takes some 30 ms.
    duration_s: u32,
    cells: u32,
    /// Whether one pair of runs is enough: it is measured for its memory.
    once: bool,
}

const BENCHES: [Bench; 5] = [
    Bench { duration_s: 10, cells: 10_000, once: false },
    Bench { duration_s: 180, cells: 2_000, once: false },
    Bench { duration_s: 9_000, cells: 40, once: false },
    Bench { duration_s: 90_000, cells: 4, once: false },
    Bench { duration_s: 10, cells: 100_000, once: true },
];

const SCENARIO: &str = r#"
title = "one flow"
duration_s = DURATION
[measure]
bottleneck = "a"
[[link]]
name = "a"
rate_bps = 2e6
delay_ms = 10
queue_packets = 10
channel = { kind = "bernoulli", loss = 0.01 }
[[flow]]
name = "f"
protocol = "tcp"
path = ["a"]
"#;

const SWEEP: &str = r#"
title = "threads"
scenario = "s.toml"
metrics = ["goodput", "M_w", "queue_drops"]
sampler = { kind = "sobol", cells = CELLS }
runs = 1
[[axis]]
key = "link.a.rate_bps"
range = { from = 2e6, to = 2.1e6 }
"#;

/// Measures the sweeps, and prints times, ratios and memory.
pub(crate) fn bench_sweep(options: &Options) -> Result<()> {
    let losscause = losscause()?.display().to_string();
    let directory = tempfile::tempdir_in(target())?;
    for Bench { duration_s, cells, once } in BENCHES {
        if once && options.short {
            continue;
        }
        let scenario = SCENARIO.replace("DURATION", &duration_s.to_string());
        write(directory.path().join("s.toml"), scenario)?;
        let sweep = SWEEP.replace("CELLS", &cells.to_string());
        write(directory.path().join("sweep.toml"), sweep)?;
        let place = directory.path().display();
        let sweep = format!("{losscause} -q sweep {place}/sweep.toml --out {place}/out --restart");
        let on_threads = |name, jobs: &str| {
            let line = format!("{sweep} --jobs {jobs}");
            Program { name, line, work: f64::from(cells) }
        };
        let programs = [on_threads("1 thread", "1"), on_threads("2 threads", "2")];
        let title = format!("{cells} cells of {duration_s} s simulated");
        in_turn(&title, "cells", if once { 1 } else { options.pairs }, &programs)?;
    }
    Ok(())
}
