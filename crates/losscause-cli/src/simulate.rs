//! `losscause simulate`: one scenario, one or more seeds.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use losscause::{Span, Time};
use losscause_study::run::{RunRecord, RunRecorder, Series, SimulationResult, repeat};
use losscause_study::tools::atomic::folder::Folder;
use losscause_study::tools::csv_file;
use losscause_study::{
    Experiment, Jobs, Limits, Registry, Run, Scenario, Setting, Workers, scenario,
};

use crate::failure::Failure;
use crate::input;
use crate::output::{self, Format};
use crate::progress::Progress;
use crate::values;

mod check;
mod filter;
mod folder;
mod observers;
mod pcap;
mod tables;

use observers::Observers;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A scenario file, - for standard input, or a paper's scenario such as cen2003/WLH. `losscause
    /// docs scenario` explains the format, `losscause init` writes a scenario to start from.
    #[arg(required_unless_present = "schema", value_name = "SCENARIO.toml")]
    scenario: Option<PathBuf>,
    /// Change a parameter (N=4) or a key by its dotted path (link.shared.rate_bps=1e6,
    /// flow.video.lda=Sift).
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Random seed of the first run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Make this many runs with the seeds SEED, SEED+1, … and print means with 95 % intervals.
    #[arg(long, default_value_t = 1, value_parser = values::runs)]
    runs: u32,
    /// Number of threads [default: one per core]
    #[arg(long, value_parser = values::jobs)]
    jobs: Option<Jobs>,
    /// Write every packet event of the run to this .csv, .csv.gz or .parquet file; with -, to
    /// standard output in place of the results.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    filter: filter::TracedEvents,
    #[command(flatten)]
    captures: pcap::Captures,
    /// Print what happened in every interval of this many seconds.
    #[arg(long, value_name = "SECONDS")]
    interval: Option<f64>,
    /// Write the intervals to this .csv file instead.
    #[arg(long, value_name = "FILE", requires = "interval")]
    series: Option<PathBuf>,
    /// Print every metric, and every flow and link.
    #[arg(long, short)]
    verbose: bool,
    /// Write report.html, result.json and losses.csv to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Print the JSON schema of scenario files, or of the result, and stop.
    #[arg(long, value_name = "WHAT", value_enum, num_args = 0..=1, default_missing_value = "scenario", exclusive = true)]
    schema: Option<Schema>,
}

/// The JSON schemas that `--schema` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Schema {
    /// Of scenario files.
    Scenario,
    /// Of the output of `--format json`.
    Result,
}

impl Arguments {
    /// Whether the trace goes to standard output.
    fn prints_trace(&self) -> bool {
        self.trace.as_deref().is_some_and(input::is_standard)
    }
}

/// Runs the scenario and prints the measurements.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let Some(file) = &arguments.scenario else {
        return Ok(output::text(schema(arguments.schema))?);
    };
    let mut plan = Plan::read(file, arguments, registry)?;
    let folder = plan.folder.take();
    let (result, record) = match arguments.runs {
        _ if plan.experiment.quic => (plan.quic_runs()?, None),
        1 => plan.one_run()?,
        _ => plan.several_runs()?,
    };
    write(arguments, folder, &result, record)?;
    Ok(print(arguments, &result)?)
}

fn schema(of: Option<Schema>) -> &'static str {
    match of {
        Some(Schema::Result) => SimulationResult::SCHEMA,
        Some(Schema::Scenario) | None => scenario::SCHEMA,
    }
}

/// The arguments, read and checked.
struct Plan<'a> {
    arguments: &'a Arguments,
    settings: Vec<Setting>,
    scenario: Scenario,
    experiment: Experiment,
    /// The length of an interval of the time series.
    interval: Option<Span>,
    /// The folder of results, locked before the first run.
    folder: Option<Folder>,
}

impl<'a> Plan<'a> {
    fn read(file: &Path, arguments: &'a Arguments, registry: &Registry) -> Result<Self, Failure> {
        let settings: Vec<Setting> =
            arguments.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
        let (scenario, sources) = input::scenario(file, &settings, registry)?;
        let experiment = scenario.experiment_with_delays()?;
        let interval = check::interval(arguments)?;
        Limits::check_runs(arguments.runs)?;
        if arguments.runs > 1 {
            check::may_repeat(arguments)?;
        }
        if experiment.quic {
            check::is_quic(arguments)?;
        }
        check::outputs(arguments, &sources.inputs())?;
        let folder = arguments.out.as_deref().map(folder::open).transpose()?;
        Ok(Self { arguments, settings, scenario, experiment, interval, folder })
    }

    /// The result of one run, and its record if a report is to draw it.
    fn one_run(&self) -> Result<(SimulationResult, Option<RunRecord>), Failure> {
        let mut run = Run::new(&self.experiment, self.arguments.seed)?;
        let mut observers = Observers::create(self)?;
        let series = advance(&mut run, &mut observers, self.interval);
        run.check()?;
        let record = observers.finish()?;
        let mut result = SimulationResult::of(&self.scenario, &self.settings, &run);
        result.series = series.into_rows();
        Ok((result, record))
    }

    /// The means of several runs, and the record of the first if a report is to draw it.
    fn several_runs(&self) -> Result<(SimulationResult, Option<RunRecord>), Failure> {
        let Self { arguments, settings, scenario, experiment, .. } = self;
        let Arguments { seed, runs, jobs, .. } = **arguments;
        let jobs = jobs.unwrap_or_default();
        let mut progress = Progress::new("runs", runs as usize);
        let measured = repeat(experiment, seed, runs, jobs, |done| progress.set(done))?;
        drop(progress);
        let result =
            SimulationResult::of_measurements(scenario, settings, experiment, seed, &measured);
        let record = arguments.out.is_some().then(|| self.first_run()).transpose()?;
        Ok((result, record))
    }

    /// The means of runs over quinn.
    fn quic_runs(&self) -> Result<SimulationResult, Failure> {
        let Self { arguments, settings, scenario, experiment, .. } = self;
        let Arguments { seed, runs, jobs, .. } = **arguments;
        let workers = Workers::from(jobs.unwrap_or_default());
        let mut progress = Progress::new("runs", runs as usize);
        let done = |made| progress.set(made);
        let stacks = losscause_experiments::stacks();
        let measured = stacks.repeat("quinn", experiment, seed, runs, &workers, done)?;
        Ok(SimulationResult::of_measurements(scenario, settings, experiment, seed, &measured))
    }

    /// The first of several runs, made again for the report.
    fn first_run(&self) -> Result<RunRecord, Failure> {
        let seed = self.arguments.seed;
        let mut record = RunRecorder::new(&self.scenario, &self.experiment, seed)?;
        losscause_study::run_recorded(&self.experiment, seed, &mut record)?;
        Ok(record.finish())
    }
}

/// Makes the run, with progress, observers and time series.
fn advance(run: &mut Run, observers: &mut Observers<'_>, interval: Option<Span>) -> Series {
    let end = run.experiment().duration;
    let mut progress = Progress::new("simulated seconds", end.as_secs_f64().ceil() as usize);
    let mut series = Series::default();
    let mut watch = |run: &Run| progress.set(run.now().as_secs_f64() as usize);
    while !run.is_finished() {
        let next = interval.map_or(Time::MAX, |interval| run.now() + interval).min(end);
        let _ = if observers.is_any() {
            run.advance(next, observers, |run, observers| {
                observers.write_until(run.now());
                watch(run);
                ControlFlow::Continue(())
            })
        } else {
            run.advance(next, &mut (), |run, ()| {
                watch(run);
                ControlFlow::Continue(())
            })
        };
        if interval.is_some() {
            series.take(run);
        }
    }
    series
}

/// Writes the time series and the folder of results, if they were asked for.
fn write(
    arguments: &Arguments,
    folder: Option<Folder>,
    result: &SimulationResult,
    record: Option<RunRecord>,
) -> Result<(), Failure> {
    if let Some(file) = &arguments.series {
        csv_file::write(file, &result.series)?;
    }
    if let (Some(folder), Some(record)) = (folder, record) {
        folder::write(folder, result, &record)?;
    }
    Ok(())
}

/// Prints the result, unless the trace has standard output.
fn print(arguments: &Arguments, result: &SimulationResult) -> io::Result<()> {
    if arguments.prints_trace() {
        return Ok(());
    }
    if arguments.format == Format::Json {
        return output::document(&result.json());
    }
    tables::print(result, arguments.verbose)?;
    if arguments.series.is_none() {
        tables::series(&result.series)?;
    }
    tables::warnings(result, arguments.verbose)
}
