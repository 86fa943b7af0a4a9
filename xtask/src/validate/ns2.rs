//! One run of `validation/ns2/dumbbell.tcl`.

use std::io::Write;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use super::Outcome;
use super::draws;
use super::grid::{Cell, Errors, Grid};
use crate::shell;

/// Runs `cell` in ns-2.
pub(super) fn run(grid: &Grid, cell: &Cell, seed: u64) -> Result<Outcome> {
    let starts: Vec<String> = draws::starts(cell, &grid.run, seed)
        .iter()
        .map(|at| format!("{:.6}", at.as_secs_f64()))
        .collect();
    let mut command = shell::command("ns");
    command.arg("validation/ns2/dumbbell.tcl");
    for (option, value) in [
        ("-protocol", cell.protocol.name().to_owned()),
        ("-rate", format!("{}k", cell.rate_kbps)),
        ("-rtt", cell.rtt_ms.to_string()),
        ("-queue", cell.queue_limit.to_string()),
        ("-flows", cell.flows.to_string()),
        ("-starts", starts.join(" ")),
        ("-duration", grid.run.duration_s.to_string()),
        ("-size", cell.payload_bytes.to_string()),
        ("-access-rate", format!("{}k", cell.access_kbps)),
        ("-access-ms", grid.run.access_ms.to_string()),
        ("-window", grid.tcp.window_pkts.to_string()),
        ("-tick", seconds(grid.tcp.tick_ms)),
        ("-minrto", seconds(grid.tcp.min_rto_ms)),
        ("-seed", seed.to_string()),
        ("-cross-rate", cell.cross_bps().to_string()),
        ("-cross-bytes", grid.run.cross_bytes.to_string()),
    ] {
        command.args([option, &value]);
    }
    if cell.red {
        let red = &grid.red;
        let gentle = u8::from(red.gentle);
        let values = format!("{} {} {} {} {gentle}", red.min_th, red.max_th, red.max_p, red.w_q);
        command.args(["-red", &values]);
    }
    let mut slots = String::new();
    if cell.loss > 0.0 {
        match cell.errors {
            Errors::Paired => {
                command.args(["-loss-file", "-"]);
                let lost = draws::errors(cell, &grid.run, seed);
                slots = lost
                    .iter()
                    .enumerate()
                    .filter(|&(_, &l)| l)
                    .map(|(slot, _)| format!("{slot} "))
                    .collect();
            }
            Errors::Independent => {
                command.args([
                    "-loss-rate",
                    &cell.loss.to_string(),
                    "-loss-seed",
                    &seed.to_string(),
                ]);
            }
        }
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .context("`ns` cannot be started")?;
    if let Some(mut stdin) = child.stdin.take() {
        // Without a loss file, ns-2 may end before it reads its input. That is not an error.
        let _ = stdin.write_all(slots.as_bytes());
    }
    let output = child.wait_with_output().context("waiting for `ns`")?;
    if !output.status.success() {
        bail!("`ns` ended with {} in the cell {cell}, seed {seed}", output.status);
    }
    parse(&String::from_utf8_lossy(&output.stdout), cell)
        .with_context(|| format!("the output of dumbbell.tcl in the cell {cell}, seed {seed}"))
}

fn seconds(ms: i64) -> String {
    (ms as f64 / 1e3).to_string()
}

fn parse(text: &str, cell: &Cell) -> Result<Outcome> {
    let line = |name: &str| -> Result<Vec<u64>> {
        let values = text
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .with_context(|| format!("no line `{name}`"))?;
        values
            .split_whitespace()
            .map(|v| {
                v.parse().with_context(|| format!("`{name}` has {v}, expected a whole number"))
            })
            .collect()
    };
    let total = |name: &str| -> Result<u64> { Ok(line(name)?.iter().sum()) };
    Ok(Outcome {
        delivered: total("delivered ")?,
        queue_drops: total("queue_drops ")?,
        timeouts: match cell.protocol.tcp() {
            Some(_) => Some(total("timeouts ")?),
            None => None,
        },
    })
}
