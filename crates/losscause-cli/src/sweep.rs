//! `losscause sweep`: the same measurements under other settings.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use losscause::registry::Registry;
use losscause_study::parallel::Jobs;
use losscause_study::sweep::{CellOutcome, Row, Store, Sweep};

use crate::Failure;
use crate::output;
use crate::progress::Progress;

/// What `sweep` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The sweep file; papers/cen2003/sweeps/readings.toml is one, and docs/sweep.md explains the format.
    sweep: PathBuf,
    /// Threads [default: one per core]; the results do not depend on it.
    #[arg(long)]
    jobs: Option<usize>,
    /// Directory for sweep.csv, sweep.json and the finished cells.
    #[arg(long, value_name = "DIR", default_value = "out/sweep")]
    out: PathBuf,
    /// Keep the cells that an earlier, interrupted sweep has finished.
    #[arg(long)]
    resume: bool,
}

/// Measures every cell, keeps it, and prints what changed.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let sweep = Sweep::load_with(&arguments.sweep, registry)?;
    let jobs = arguments.jobs.map_or_else(|| Ok(Jobs::default()), Jobs::new)?;
    let cells = sweep.cells();
    // A setting that does not fit must not be found out after an hour.
    for cell in &cells {
        sweep.check(cell)?;
    }
    let store = Store::open(&arguments.out)?;
    let mut progress = Progress::new("cells", cells.len());
    let mut outcomes: Vec<CellOutcome> = Vec::with_capacity(cells.len());
    let mut kept = 0;
    for cell in &cells {
        let finished = if arguments.resume { store.finished(cell, &sweep.origin(cell)) } else { None };
        kept += usize::from(finished.is_some());
        let outcome = match finished {
            Some(outcome) => outcome,
            None => {
                let outcome = sweep.measure(cell, jobs)?;
                store.keep(&outcome)?;
                outcome
            }
        };
        outcomes.push(outcome);
        progress.set(outcomes.len());
    }
    drop(progress);
    store.summarise(&outcomes)?;
    output::line(&format!("{}\n{}", sweep.title(), summary(&outcomes)))?;
    let again = if kept > 0 { format!(", {kept} of them from before") } else { String::new() };
    let _ = writeln!(io::stderr(), "{} cells{again}, values in {}", outcomes.len(), arguments.out.display());
    Ok(())
}

/// One line per cell: what differs from the base, and how it scores or what it measures.
fn summary(outcomes: &[CellOutcome]) -> String {
    let Some(base) = outcomes.first() else { return String::new() };
    let scored = base.score.is_some();
    let header: Vec<&str> = if scored {
        vec!["cell", "differs from the base by", "numbers", "claims", "gained", "lost"]
    } else {
        vec!["cell", "differs from the base by", "system", "metric", "mean", "± 95 %"]
    };
    let mut table = output::table(&header, &["cell", "numbers", "claims", "mean", "± 95 %"]);
    for outcome in outcomes {
        let number = outcome.cell.number.to_string();
        let changes = changes(base, outcome);
        match outcome.score {
            Some(score) => {
                let (gained, lost) = moved(base, outcome);
                let numbers = format!("{}/{}", score.within_tolerance, score.numbers);
                let claims = format!("{}/{}", score.holding, score.settled);
                table.add_row([number, changes, numbers, claims, gained, lost]);
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

fn changes(base: &CellOutcome, outcome: &CellOutcome) -> String {
    let pairs = base.cell.values.iter().zip(&outcome.cell.values);
    let changed: Vec<String> =
        pairs.filter(|(b, o)| b.value != o.value).map(|(_, o)| format!("{}: {}", o.axis, o.value)).collect();
    if changed.is_empty() { "(the base)".to_owned() } else { changed.join("; ") }
}

/// The numbers and claims that are met here and not in the base, and the other way round.
fn moved(base: &CellOutcome, outcome: &CellOutcome) -> (String, String) {
    let met = |outcome: &CellOutcome| -> BTreeMap<String, bool> {
        let scored = outcome.rows.iter().filter_map(|row| row.within_tolerance.map(|met| (row, met)));
        let scenario = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        let name = |row: &Row| {
            // High loss is what the paper means where it says nothing.
            let at = row.at().replace(" loss=high", "").replace('=', "");
            [scenario(&row.scenario), at, row.system.clone(), row.metric.clone()].join(" ").replace("  ", " ")
        };
        let claims = outcome.claims.iter().map(|(id, holds)| (id.clone(), *holds));
        scored.map(|(row, met)| (name(row), met)).chain(claims).collect()
    };
    let (before, now) = (met(base), met(outcome));
    let differing = |better: bool| {
        let names = now.iter().filter(|(name, met)| **met == better && before.get(*name) == Some(&!better));
        names.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join("\n")
    };
    (differing(true), differing(false))
}
