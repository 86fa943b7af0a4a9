//! `losscause simulate`: one scenario, one or more seeds.

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::ValueEnum;
use losscause::{Span, Time};
use losscause_study::Registry;
use losscause_study::files::Inputs;
use losscause_study::parallel::Jobs;
use losscause_study::run::{RunRecord, RunRecorder, Series, SimulationResult, repeat};
use losscause_study::trace_file::TraceFile;
use losscause_study::{Experiment, InputError, Measurements, Run, Scenario, Setting, csv_file, scenario};

use crate::Failure;
use crate::input;
use crate::output::{self, Format};
use crate::progress::Progress;

mod filter;
mod folder;
mod observers;
mod pcap;
mod tables;

use observers::Observers;

/// The arguments of `simulate`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A scenario file, - for standard input, or a paper's scenario such as cen2003/WLH. `losscause docs scenario`
    /// explains the format, `losscause init` writes a scenario to start from.
    #[arg(required_unless_present = "schema", value_name = "SCENARIO.toml")]
    scenario: Option<PathBuf>,
    /// Change a parameter (N=4) or a key by its dotted path (link.shared.rate_bps=1e6, flow.video.lda=Spike).
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Random seed of the first run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Make this many runs with the seeds SEED, SEED+1, … and print means with 95 % intervals.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Number of threads [default: one per core]
    #[arg(long)]
    jobs: Option<usize>,
    /// Write every packet event of the run to this .csv, .csv.gz or .parquet file; with -, to standard output in place
    /// of the results.
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

/// Runs the scenario and prints the measurements.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let Some(file) = &arguments.scenario else {
        return Ok(output::text(match arguments.schema {
            Some(Schema::Result) => SimulationResult::SCHEMA,
            Some(Schema::Scenario) | None => scenario::SCHEMA,
        })?);
    };
    let settings: Vec<Setting> = arguments.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
    let (scenario, sources) = input::scenario(file, &settings, registry)?;
    let experiment = scenario.experiment_with_delays()?;
    let interval = arguments.interval.map(|seconds| interval(seconds, arguments)).transpose()?;
    keep_apart(arguments, &sources.inputs())?;
    if let Some(directory) = &arguments.out {
        output::make_folder(directory)?;
    }
    if arguments.runs > 1 {
        return several(&scenario, &settings, &experiment, arguments);
    }

    let record = || RunRecorder::new(&scenario, &experiment, arguments.seed);
    let mut record = arguments.out.as_ref().map(|_| record()).transpose()?;
    let mut run = Run::new(&experiment, arguments.seed)?;
    let filter = arguments.filter.parse(&experiment.network)?;
    let trace = arguments.trace.as_ref().map(|file| TraceFile::create(file, &experiment.network)).transpose()?;
    let mut trace = trace.map(|trace| trace.filtered(filter));
    let mut captures = arguments.captures.create(&experiment, arguments.seed)?;
    let observers = &mut Observers { trace: trace.as_mut(), record: record.as_mut(), captures: captures.as_mut() };
    let series = advance(&mut run, observers, interval);
    if let Some(trace) = trace {
        trace.finish()?;
    }
    if let Some(captures) = captures {
        captures.finish()?;
    }
    let mut result = SimulationResult::of(&scenario, &settings, &run);
    result.series = series.into_rows();
    if let Some(file) = &arguments.series {
        csv_file::write(file, &result.series)?;
    }
    if let (Some(directory), Some(record)) = (&arguments.out, record) {
        folder::write(directory, &result, &record.finish())?;
    }
    match arguments.format {
        _ if arguments.trace.as_deref().is_some_and(input::is_standard) => {}
        Format::Json => output::json(&result)?,
        Format::Table => {
            tables::one_run(&result, arguments.verbose)?;
            if arguments.series.is_none() {
                tables::series(&result.series)?;
            }
            tables::warnings(&result.warnings)?;
        }
    }
    Ok(())
}

/// Refuses to overwrite an input, or one output with the other, or to mix two on standard output.
fn keep_apart(arguments: &Arguments, inputs: &Inputs) -> Result<(), InputError> {
    let outputs = [&arguments.trace, &arguments.series].into_iter().flatten();
    outputs.clone().try_for_each(|file| inputs.keep_from(file))?;
    if let Some(directory) = &arguments.out {
        folder::FILES.iter().try_for_each(|name| inputs.keep_from(&directory.join(name)))?;
    }
    for capture in arguments.captures.files() {
        inputs.keep_from(&capture)?;
        if outputs.clone().any(|file| *file == capture) {
            let option = format!("--pcap {}", capture.parent().unwrap_or(&capture).display());
            let problem = format!("writes {}, too, expected another directory", capture.display());
            return Err(InputError::Option { option, problem });
        }
    }
    let is_standard = arguments.trace.as_deref().is_some_and(input::is_standard);
    if is_standard && arguments.format == Format::Json {
        let problem = "standard output gets the trace, expected no --format json beside it, or a file".to_owned();
        return Err(InputError::Option { option: "--trace -".to_owned(), problem });
    }
    match (&arguments.trace, &arguments.series) {
        (Some(trace), Some(series)) if trace == series => Err(InputError::Option {
            option: format!("--series {}", series.display()),
            problem: "is also the file of --trace, expected another".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// The length of an interval.
fn interval(seconds: f64, arguments: &Arguments) -> Result<Span, InputError> {
    let problem = |option: &str, problem: &str| InputError::Option {
        option: format!("{option} {seconds}"),
        problem: problem.to_owned(),
    };
    if !(1e-3..=1e6).contains(&seconds) {
        return Err(problem("--interval", "expected seconds from 0.001 to 1000000"));
    }
    if arguments.runs > 1 {
        return Err(problem("--interval", "shows one run, expected no --runs beside it"));
    }
    match &arguments.series {
        Some(file) if file.extension().is_none_or(|end| end != "csv") => Err(InputError::Option {
            option: format!("--series {}", file.display()),
            problem: "expected a name that ends in .csv".to_owned(),
        }),
        _ => Ok(Span::from_secs_f64_rounded(seconds)),
    }
}

/// Makes the run, with progress, observers and time series.
fn advance(run: &mut Run, observers: &mut Observers<'_, '_>, interval: Option<Span>) -> Series {
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

/// Several runs: means with intervals.
fn several(
    scenario: &Scenario,
    settings: &[Setting],
    experiment: &Experiment,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let jobs = arguments.jobs.map_or_else(|| Ok(Jobs::default()), Jobs::new)?;
    if let Some(file) = &arguments.trace {
        let problem = "a trace is of one run, expected no --runs beside it".to_owned();
        return Err(InputError::Option { option: format!("--trace {}", file.display()), problem }.into());
    }
    if let Some(directory) = arguments.captures.directory() {
        let problem = "captures are of one run, expected no --runs beside it".to_owned();
        return Err(InputError::Option { option: format!("--pcap {}", directory.display()), problem }.into());
    }
    let mut progress = Progress::new("runs", arguments.runs as usize);
    let runs: Vec<Measurements> = repeat(experiment, arguments.seed, arguments.runs, jobs, |done| progress.set(done))?;
    drop(progress);
    let result = SimulationResult::of_measurements(scenario, settings, experiment, arguments.seed, &runs);
    if let Some(directory) = &arguments.out {
        folder::write(directory, &result, &first_run(scenario, experiment, arguments.seed)?)?;
    }
    match arguments.format {
        Format::Json => output::json(&result)?,
        Format::Table => {
            tables::several_runs(&result, arguments.verbose)?;
            tables::warnings(&result.warnings)?;
        }
    }
    Ok(())
}

/// The first of several runs, made again for the report.
fn first_run(scenario: &Scenario, experiment: &Experiment, seed: u64) -> Result<RunRecord, Failure> {
    let mut record = RunRecorder::new(scenario, experiment, seed)?;
    losscause_study::run_recorded(experiment, seed, &mut record)?;
    Ok(record.finish())
}
