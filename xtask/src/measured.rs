//! The time and the memory of a process. Each has its own parent process, the hidden command `cargo
//! xtask measured`, because the system reports only the maximum over all children of a process.

use std::process::Command;

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

use crate::shell::{command, output};

/// The cost of a process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// User time, seconds.
    pub(crate) user_s: f64,
    /// Time in the kernel, such as for reading files, seconds.
    pub(crate) system_s: f64,
    /// The process's peak memory (`ru_maxrss`), kB of 1024 bytes.
    pub(crate) peak_kb: i64,
}

impl Usage {
    /// Runs `words` below a parent that measures it.
    pub(crate) fn of(words: &[String]) -> Result<Self> {
        let own = std::env::current_exe().context("finding this program")?;
        let mut parent = command(&own.to_string_lossy());
        let printed = output(parent.arg("measured").arg("--").args(words))?;
        serde_json::from_slice(&printed).context("reading what a run took")
    }

    /// The median times and the largest memory; there is at least one.
    pub(crate) fn sum_up(runs: &[Self]) -> Self {
        Self {
            user_s: median(runs.iter().map(|run| run.user_s).collect()),
            system_s: median(runs.iter().map(|run| run.system_s).collect()),
            peak_kb: runs.iter().map(|run| run.peak_kb).max().unwrap_or(0),
        }
    }

    /// User time and time in the kernel, seconds.
    pub(crate) fn processor_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// The median of these values; there is at least one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}

/// A command to run and to measure.
#[derive(clap::Args)]
pub(crate) struct Measured {
    /// Program and arguments
    #[arg(required = true, last = true)]
    words: Vec<String>,
}

/// Runs a command, and prints its cost as JSON.
pub(crate) fn measured(measured: &Measured) -> Result<()> {
    output(&mut of_words(&measured.words))?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("reading what the child took")?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let user_s = seconds(usage.user_time());
    let system_s = seconds(usage.system_time());
    println!("{}", serde_json::to_string(&Usage { user_s, system_s, peak_kb: usage.max_rss() })?);
    Ok(())
}

/// A command from its words.
pub(crate) fn of_words(words: &[String]) -> Command {
    let mut command = command(&words[0]);
    command.args(&words[1..]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_summed_by_median_times_and_the_largest_memory() {
        let usage = |user_s: f64, peak_kb| Usage { user_s, system_s: user_s / 2.0, peak_kb };
        let runs = [usage(0.3, 7_000), usage(0.1, 9_000), usage(0.2, 8_000)];
        assert_eq!(Usage::sum_up(&runs), usage(0.2, 9_000));
        assert!((Usage::sum_up(&runs[1..]).user_s - 0.15).abs() < 1e-12);
    }
}
