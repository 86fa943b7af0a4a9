//! The time and the memory of a process. Each has its own parent process, the hidden command `cargo
//! xtask measured`, because the system reports only the maximum over all children of a process.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use crate::shell::{command, output};

/// A program that is measured.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) words: Vec<String>,
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
            measured[place].push(of(&programs[place].words)?);
        }
    }
    let shown = |name: &str, figures: &Run, last: &str| {
        let figures: String = figures.iter().map(|figure| format!(" {figure:12.4}")).collect();
        println!("  {name:<10}{figures} {last}");
    };
    println!(
        "{title}, median of {runs} in turn\n{:12}{}",
        "",
        COLUMNS.map(|c| format!(" {c:>12}")).concat()
    );
    let mut medians = Vec::new();
    for (program, runs) in programs.iter().zip(&measured) {
        let of_all: Run =
            std::array::from_fn(|at| median(runs.iter().map(|run| run[at]).collect()));
        shown(
            program.name,
            &of_all,
            &format!("{:.0} {unit} per processor s", program.work / of_all[1]),
        );
        medians.push(of_all);
    }
    if let (Some(first), Some(last), true) = (measured.first(), measured.last(), programs.len() > 1)
    {
        let ratios = |at: usize| first.iter().zip(last).map(move |(a, b)| a[at] / b[at]);
        let of_all: Run = std::array::from_fn(|at| median(ratios(at).collect()));
        let least = ratios(2).fold(f64::INFINITY, f64::min);
        let most = ratios(2).fold(0.0, f64::max);
        shown("ratio", &of_all, &format!("(wall: {least:.2} to {most:.2})"));
    }
    Ok(())
}

/// Runs `words` below a parent that measures it.
fn of(words: &[String]) -> Result<Run> {
    let own = std::env::current_exe().context("finding this program")?;
    let mut parent = command(&own.to_string_lossy());
    let printed = output(parent.arg("measured").arg("--").args(words))?;
    serde_json::from_slice(&printed).context("reading what a run took")
}

/// The median of these values; there is at least one.
fn median(mut values: Vec<f64>) -> f64 {
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

/// Runs a command, and prints its figures as JSON.
pub(crate) fn measured(measured: &Measured) -> Result<()> {
    let begun = Instant::now();
    output(&mut of_words(&measured.words))?;
    let wall_s = begun.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("reading what the child took")?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let user_s = seconds(usage.user_time());
    let run: Run = [
        user_s,
        user_s + seconds(usage.system_time()),
        wall_s,
        usage.max_rss() as f64 * 1024.0 / 1e6,
    ];
    println!("{}", serde_json::to_string(&run)?);
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
    fn the_median_of_an_even_number_lies_between_two() {
        assert_eq!(median(vec![0.3, 0.1, 0.2]), 0.2);
        assert!((median(vec![0.1, 0.2]) - 0.15).abs() < 1e-12);
    }
}
