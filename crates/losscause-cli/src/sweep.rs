//! `losscause sweep`: the same measurements under other settings.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use losscause_laboratory::store::Store;
use losscause_laboratory::sweep::{
    MOST_IN_MEMORY, Overrides, SWEEP_CSV, SWEEP_JSON, Sweep, SweepOutcome, SweepProgress,
    SweepResult,
};
use losscause_report as report;
use losscause_study::files::{self, Disk};
use losscause_study::{Context, InputError, Jobs, Registry, RunError, Setting, Stop, Workers};

use crate::earlier::Earlier;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{check, interrupt, notice, output, pivot, templates, values};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The sweep file; `losscause docs sweep` explains the format.
    #[arg(value_name = "SWEEP.toml")]
    sweep: PathBuf,
    /// Runs of each system in each cell, with seeds SEED, SEED + 1, … [default: as the sweep file
    /// says]
    #[arg(long, value_parser = values::runs)]
    runs: Option<u32>,
    /// Seed of the first run of each cell [default: as the sweep file says]
    #[arg(long)]
    seed: Option<u64>,
    /// Change a parameter (N=4) or a key (link.shared.rate_bps=1e6) in every cell; not one that an
    /// axis sets.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Threads [default: one per core]; the results do not depend on it.
    #[arg(long, value_parser = values::jobs)]
    jobs: Option<Jobs>,
    /// What runs the cells.
    #[arg(long, value_enum, default_value_t)]
    engine: Engine,
    /// Directory for report.html, sweep.csv, runs.csv, sweep.json and the finished cells.
    #[arg(long, value_name = "DIR", default_value = "out/sweep")]
    out: PathBuf,
    #[command(flatten)]
    earlier: Earlier,
    /// Hold the results against those of an earlier sweep, and fail if a value differs by more than
    /// the intervals of both.
    #[arg(long, value_name = "SWEEP.json")]
    check: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What runs the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// The threads of this program.
    #[default]
    Local,
    /// A Ray cluster, with the Python package.
    Ray,
}

/// What standard output gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables for people.
    #[default]
    Table,
    /// The content of sweep.csv.
    Csv,
    /// The content of sweep.json.
    Json,
}

/// Measures every cell and prints the results.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    if arguments.engine == Engine::Ray {
        let problem = "is part of the Python package: pip install './python[ray]' in a checkout, and then the same command";
        return Err(InputError::option("--engine ray", problem).into());
    }
    let begun = Instant::now();
    let set = arguments.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
    let overrides = Overrides { runs: arguments.runs, seed: arguments.seed, set };
    let context = Context::new(registry.clone());
    let sweep = Sweep::load_on(&arguments.sweep, &context, &losscause_experiments::stacks())
        .map_err(|error| templates::named_in(error, true))?
        .with(&overrides)?;
    const EXPECTED: &str = "the sweep.json of an earlier sweep";
    let read = |file: &PathBuf| check::earlier(file, context.files(), "sweep", EXPECTED);
    let earlier: Option<SweepResult> = arguments.check.as_ref().map(read).transpose()?;
    let jobs = arguments.jobs.unwrap_or_default();
    let store = arguments.earlier.of(Store::new(&arguments.out));
    let outcome = execute(&sweep, jobs, &store, arguments)?;
    let result = outcome.result.as_ref();
    if !outcome.is_stopped {
        report::keep_sweep_html(&arguments.out, result)?;
    }
    match (arguments.format, result) {
        (Format::Table, Some(result)) => {
            output::line(pivot::tables(result, output::width()).trim_end())?;
        }
        (Format::Table, None) => output::line(sweep.title())?,
        (Format::Csv, _) => copy(&arguments.out.join(SWEEP_CSV))?,
        (Format::Json, _) => copy(&arguments.out.join(SWEEP_JSON))?,
    }
    io::stdout().lock().flush()?;
    notice::print(&format!(
        "{}, {:.1} s",
        done(&sweep, &outcome, arguments),
        begun.elapsed().as_secs_f64()
    ));
    for why in result.iter().flat_map(|result| &result.cells).flat_map(|cell| &cell.left_out) {
        notice::print(&format!("left out: {why}"));
    }
    match (earlier, result) {
        (Some(earlier), Some(result)) => check::agree(&result.beside(&earlier)),
        _ => Ok(()),
    }
}

/// Measures the cells, with a progress bar. A signal ends a sweep of the simulator at once; one that
/// has changed the machine for its stacks puts it back first.
fn execute(
    sweep: &Sweep,
    jobs: Jobs,
    store: &Store,
    arguments: &Arguments,
) -> Result<SweepOutcome, RunError> {
    let mut progress: Option<Progress> = None;
    let observe = |so_far: SweepProgress<'_>| {
        progress.get_or_insert_with(|| Progress::new("runs", so_far.all_runs)).set(so_far.runs);
        if so_far.cell.is_some() {
            interrupt::say(Some(kept(so_far.finished, so_far.cells, arguments)));
        }
        ControlFlow::Continue(())
    };
    let stop = Stop::new();
    let workers = Workers::from(jobs).stopping_at(&stop);
    let work = || sweep.execute(workers, Some(store), observe);
    let outcome = if sweep.is_simulated() { work() } else { interrupt::stopping(&stop, work) };
    drop(progress);
    interrupt::say(None);
    outcome
}

/// What an interrupted sweep has left.
fn kept(finished: usize, cells: usize, arguments: &Arguments) -> String {
    let place = arguments.out.display();
    format!(
        "{finished} of {cells} cells are finished and kept in {place}, and the same command with --resume continues"
    )
}

/// Copies a file of the results to standard output.
fn copy(file: &Path) -> Result<(), Failure> {
    let unreadable = |reason| files::unreadable(&Disk, file, &reason, "the results of this sweep");
    let mut file = BufReader::new(File::open(file).map_err(unreadable)?);
    io::copy(&mut file, &mut io::stdout().lock())?;
    Ok(())
}

/// What was done, and where the files are.
fn done(sweep: &Sweep, outcome: &SweepOutcome, arguments: &Arguments) -> String {
    let SweepOutcome { finished, resumed, .. } = outcome;
    let resumed = if *resumed > 0 { format!(" ({resumed} resumed)") } else { String::new() };
    let report = if outcome.result.is_some() { "report.html, " } else { "" };
    let runs = if sweep.is_scored() { "" } else { "runs.csv, " };
    let files = format!("{report}{runs}sweep.csv and sweep.json");
    let s = if *finished == 1 { "" } else { "s" };
    let mut text = format!("{finished} cell{s}{resumed}; {files} in {}", arguments.out.display());
    if outcome.result.is_none() {
        text += &format!("; a report and tables are made of at most {MOST_IN_MEMORY} cells");
    }
    text
}
