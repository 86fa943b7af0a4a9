//! `losscause sweep`: the same measurements under other settings.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use losscause::registry::Registry;
use losscause_study::parallel::Jobs;
use losscause_study::sweep::{CellOutcome, CellSummary, Store, Sweep, summary};

use crate::Failure;
use crate::output;
use crate::progress::Progress;

/// The arguments of `sweep`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The sweep file, such as papers/cen2003/sweeps/readings.toml; docs/sweep.md explains the format.
    sweep: PathBuf,
    /// Threads [default: one per core]; the results do not depend on it.
    #[arg(long)]
    jobs: Option<usize>,
    /// Directory for sweep.csv, sweep.json and the finished cells.
    #[arg(long, value_name = "DIR", default_value = "out/sweep")]
    out: PathBuf,
    /// Keep the finished cells of an earlier, interrupted sweep.
    #[arg(long)]
    resume: bool,
}

/// Measures every cell and prints the differences.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let sweep = Sweep::load_with(&arguments.sweep, registry)?;
    let jobs = arguments.jobs.map_or_else(|| Ok(Jobs::default()), Jobs::new)?;
    let store = Store::new(&arguments.out);
    let store = if arguments.resume { store.resuming() } else { store };
    let mut progress = Progress::new("cells", sweep.cells().len());
    let outcome = sweep.execute(jobs, Some(&store), |so_far| {
        progress.set(so_far.finished);
        ControlFlow::Continue(())
    })?;
    drop(progress);
    output::line(&format!("{}\n{}", sweep.title(), table(&outcome.cells)))?;
    let resumed = if outcome.resumed > 0 { format!(" ({} resumed)", outcome.resumed) } else { String::new() };
    // A closed standard error must not turn a success into a failure.
    let _ = writeln!(io::stderr(), "{} cells{resumed}, values in {}", outcome.cells.len(), arguments.out.display());
    Ok(())
}

/// The differences from the base, and each cell's score or measurements.
fn table(cells: &[CellOutcome]) -> String {
    let scored = cells.first().is_some_and(|base| base.score.is_some());
    let header: Vec<&str> = if scored {
        vec!["cell", "differs from the base by", "numbers", "claims", "gained", "lost"]
    } else {
        vec!["cell", "differs from the base by", "system", "metric", "mean", "± 95 %"]
    };
    let mut table = output::table(&header, &["cell", "numbers", "claims", "mean", "± 95 %"]);
    for (outcome, summary) in cells.iter().zip(summary(cells)) {
        let (number, changes) = (summary.cell.to_string(), changes(&summary));
        match summary.score {
            Some(score) => {
                let numbers = format!("{}/{}", score.within_tolerance, score.numbers);
                let claims = format!("{}/{}", score.holding, score.settled);
                table.add_row([number, changes, numbers, claims, summary.gained.join("\n"), summary.lost.join("\n")]);
            }
            None => {
                for row in &outcome.rows {
                    let (mean, ci95) = (output::number(row.measured), output::number(row.ci95));
                    let (system, metric) = (row.system.clone(), row.metric.clone());
                    table.add_row([number.clone(), changes.clone(), system, metric, mean, ci95]);
                }
            }
        }
    }
    table.to_string()
}

fn changes(summary: &CellSummary) -> String {
    let changes: Vec<String> =
        summary.changes.iter().map(|change| format!("{}: {}", change.axis, change.value)).collect();
    if changes.is_empty() { "(the base)".to_owned() } else { changes.join("; ") }
}
