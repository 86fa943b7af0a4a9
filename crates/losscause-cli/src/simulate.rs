//! `losscause simulate`: one scenario, one seed.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use losscause::registry::Registry;
use losscause_study::papers::record;
use losscause_study::run::SimulationResult;
use losscause_study::trace_file::TraceFile;
use losscause_study::{Measurements, Run, Scenario, Setting, scenario};

use crate::Failure;
use crate::output::{self, Format, number};
use crate::progress::Progress;

/// The arguments of `simulate`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A scenario file, or a paper's scenario such as cen2003/WLH. docs/scenario.md explains the format; `losscause
    /// list scenarios cen2003/WLH` prints a scenario to start from.
    #[arg(required_unless_present = "schema", value_name = "SCENARIO.toml")]
    scenario: Option<PathBuf>,
    /// Change a parameter (N=4) or a key by its dotted path (link.shared.rate_bps=1e6, flow.video.lda=Spike).
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write every packet event to this .csv or .parquet file.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
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
pub(crate) fn run(arguments: Arguments, registry: &Registry) -> Result<(), Failure> {
    let Some(file) = arguments.scenario else {
        return Ok(output::json(&match arguments.schema {
            Some(Schema::Result) => SimulationResult::schema(),
            Some(Schema::Scenario) | None => scenario::schema(),
        })?);
    };
    let settings: Vec<Setting> = arguments.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
    let scenario = record::open_scenario_with(&file, Path::new(""), registry)?.with(&settings)?;
    let experiment = scenario.experiment()?;
    let mut trace = arguments.trace.map(|file| TraceFile::create(&file, &experiment.network)).transpose()?;

    let mut progress = Progress::new("simulated seconds", experiment.duration.as_secs_f64().ceil() as usize);
    let mut run = Run::new(&experiment, arguments.seed)?;
    let mut watch = |run: &Run| progress.set(run.now().as_secs_f64() as usize);
    let _ = match &mut trace {
        Some(trace) => run.advance(experiment.duration, trace, |run, trace| {
            trace.write_until(run.now());
            watch(run);
            ControlFlow::Continue(())
        }),
        None => run.advance(experiment.duration, &mut (), |run, ()| {
            watch(run);
            ControlFlow::Continue(())
        }),
    };
    drop(progress);
    if let Some(trace) = trace {
        trace.finish()?;
    }

    match arguments.format {
        Format::Json => output::json(&SimulationResult::of(&scenario, &settings, &run))?,
        Format::Table => tables(&scenario, arguments.seed, &run.measurements())?,
    }
    Ok(())
}

fn tables(scenario: &Scenario, seed: u64, measurements: &Measurements) -> Result<(), Failure> {
    output::line(&format!("{} (seed {seed})", scenario.document().title))?;
    let mut table = output::table(&["metric", "value", "unit"], &["value"]);
    for metric in &measurements.metrics {
        table.add_row([metric.metric.clone(), number(metric.value), metric.unit.to_owned()]);
    }
    output::line(&table.to_string())?;

    let header = ["flow", "start s", "goodput kb/s", "sent", "received", "queue drops", "wireless", "M_c %", "M_w %"];
    let mut table = output::table(&header, &header[1..]);
    for flow in &measurements.flows {
        table.add_row([
            flow.flow.clone(),
            number(flow.start_s),
            number(flow.goodput_kbps),
            flow.sent_packets.to_string(),
            flow.received_packets.to_string(),
            flow.queue_drops.to_string(),
            flow.wireless_drops.to_string(),
            number(flow.m_c),
            number(flow.m_w),
        ]);
    }
    output::line(&table.to_string())?;

    let header = ["link", "rate kb/s", "entered", "queue drops", "marks", "wireless", "delivered", "use %"];
    let mut table = output::table(&header, &header[1..]);
    for link in &measurements.links {
        table.add_row([
            link.link.clone(),
            number(Some(link.rate_bps as f64 / 1e3)),
            link.entered_packets.to_string(),
            link.queue_drops.to_string(),
            link.queue_marks.to_string(),
            link.wireless_drops.to_string(),
            link.delivered_packets.to_string(),
            number(link.utilisation_percent),
        ]);
    }
    output::line(&table.to_string())?;
    for note in &measurements.notes {
        output::line(&format!("note: {note}"))?;
    }
    Ok(())
}
