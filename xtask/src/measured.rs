//! The time and the memory of a process. Each has its own parent process, the hidden command `cargo
//! xtask measured`, because the system reports only the maximum over all children of a process.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use losscause_cli::table_text;
use losscause_study::statistics::Median;
use losscause_study::tools::table::Table;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use crate::shell::{command, output, program};

/// A program that is measured.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// For a shell.
    pub(crate) line: String,
    /// What a run of it does, in the bench's own unit.
    pub(crate) work: f64,
}

/// What is measured of a run, and how it is called.
const COLUMNS: [&str; 4] = ["user s", "processor s", "wall s", "memory MB"];

/// A run: its figures in the order of [`COLUMNS`]. Memory is the process's peak.
type Run = [f64; COLUMNS.len()];

/// Runs `programs` in turn, `runs` times each, and prints a table with the medians, the work per
/// processor second in `unit`, and the ratios of the first program to the last.
///
/// # Errors
/// A run fails.
pub(crate) fn in_turn(title: &str, unit: &str, runs: u32, programs: &[Program]) -> Result<()> {
    let mut measured: Vec<Vec<Run>> = vec![Vec::new(); programs.len()];
    for run in 0..runs {
        for place in 0..programs.len() {
            // Each is the first one in every other round.
            let place = if run % 2 == 0 { place } else { programs.len() - 1 - place };
            measured[place].push(of(&programs[place].line)?);
        }
    }
    let columns = [""].into_iter().chain(COLUMNS).chain([unit]);
    let mut table = Table::new(columns).numbers(1..);
    let mut row = |name: &str, figures: &Run, last: String| {
        let figures = figures.map(|figure| format!("{figure:.4}"));
        table.row([name.to_owned()].into_iter().chain(figures).chain([last]));
    };
    for (Program { name, work, .. }, runs) in programs.iter().zip(&measured) {
        let of_all = medians(runs);
        row(name, &of_all, format!("{:.0} per processor s", work / of_all[1]));
    }
    if let [first, .., last] = &measured[..] {
        let ratio = |(a, b): (&Run, &Run)| std::array::from_fn(|at| a[at] / b[at]);
        let ratios: Vec<Run> = first.iter().zip(last).map(ratio).collect();
        let least = ratios.iter().map(|ratio| ratio[2]).fold(f64::INFINITY, f64::min);
        let most = ratios.iter().map(|ratio| ratio[2]).fold(0.0, f64::max);
        row("ratio", &medians(&ratios), format!("wall: {least:.2} to {most:.2}"));
    }
    println!("{title}, median of {runs} in turn\n{}", table_text(&table, 100));
    Ok(())
}

/// Runs a program below a parent that measures it.
fn of(line: &str) -> Result<Run> {
    let own = std::env::current_exe().context("finding this program")?;
    let printed = output(program(own).args(["measured", line]))?;
    serde_json::from_slice(&printed).context("reading what a run took")
}

/// The program that a line for a shell ends with: it takes the shell's place.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = command("sh -c");
    shell.arg(format!("exec {line}"));
    shell
}

fn medians(runs: &[Run]) -> Run {
    let of = |at| Median::from_runs(runs.iter().map(|run| Some(run[at]))).median;
    std::array::from_fn(|at| of(at).unwrap_or(f64::NAN))
}

/// Runs a program, and prints its figures as JSON.
pub(crate) fn measured(line: &str) -> Result<()> {
    let begun = Instant::now();
    output(shell(line))?;
    let wall_s = begun.elapsed().as_secs_f64();
    let [user_s, system_s, memory_mb] = children()?;
    let run: Run = [user_s, user_s + system_s, wall_s, memory_mb];
    println!("{}", serde_json::to_string(&run)?);
    Ok(())
}

/// Of the processes that this one has waited for: seconds as user and in the system, and the peak
/// of the largest one's memory, MB.
///
/// # Errors
/// The system does not say it.
pub(crate) fn children() -> Result<[f64; 3]> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("reading what the children took")?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let memory_mb = usage.max_rss() as f64 * 1024.0 / 1e6;
    Ok([seconds(usage.user_time()), seconds(usage.system_time()), memory_mb])
}
