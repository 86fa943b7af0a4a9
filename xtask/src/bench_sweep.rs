//! `cargo xtask bench-sweep`: a local sweep with two threads beside one, for short and long cells,
//! and its peak memory. Run it on an idle machine with two cores; it is not a test.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;

use crate::measured::{Usage, median};
use crate::shell::{losscause, target};

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
    let program = losscause()?;
    let directory = tempfile::tempdir_in(target())?;
    println!("    cells  each, ms   1 thread  2 threads   ratio (least to most)   memory with 2");
    for Bench { duration_s, cells, once } in BENCHES {
        if once && options.short {
            continue;
        }
        std::fs::write(
            directory.path().join("s.toml"),
            SCENARIO.replace("DURATION", &duration_s.to_string()),
        )?;
        std::fs::write(
            directory.path().join("sweep.toml"),
            SWEEP.replace("CELLS", &cells.to_string()),
        )?;
        let mut one = Vec::new();
        let mut two = Vec::new();
        let mut peak_kb = 0;
        for pair in 0..if once { 1 } else { options.pairs } {
            for jobs in if pair % 2 == 0 { [1, 2] } else { [2, 1] } {
                let (seconds, usage) = timed(&program, directory.path(), jobs)?;
                if jobs == 1 {
                    one.push(seconds);
                } else {
                    two.push(seconds);
                    peak_kb = usage.peak_kb.max(peak_kb);
                }
            }
        }
        let ratios: Vec<f64> = one.iter().zip(&two).map(|(one, two)| one / two).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let one = median(one);
        let two = median(two);
        let ratio = median(ratios);
        println!(
            "{cells:9} {:9.2} {one:8.2} s {two:8.2} s   {ratio:5.2} ({least:.2} to {most:.2}) {:12.0} MB",
            1e3 * one / f64::from(cells),
            peak_kb as f64 * 1024.0 / 1e6,
        );
    }
    Ok(())
}

/// A whole sweep on so many threads: its time in seconds, and what it used.
fn timed(program: &str, place: &Path, jobs: u32) -> Result<(f64, Usage)> {
    let out = place.join("out");
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    let file = place.join("sweep.toml");
    let out = out.display().to_string();
    let jobs = jobs.to_string();
    let file = file.display().to_string();
    let words = [program, "-q", "sweep", &file, "--out", &out, "--jobs", &jobs].map(str::to_owned);
    let begun = Instant::now();
    let usage = Usage::of(&words)?;
    Ok((begun.elapsed().as_secs_f64(), usage))
}
