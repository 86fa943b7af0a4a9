//! `losscause simulate`: one scenario, one seed.

use std::path::PathBuf;

use losscause_study::{Scenario, Setting, run as run_experiment};

use crate::Failure;
use crate::output::{self, Format};

/// What `simulate` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The scenario file; `docs/scenario.md` explains the format.
    #[arg(required_unless_present = "schema")]
    scenario: Option<PathBuf>,
    /// Change a parameter (N=4) or a key by its dotted path (link.shared.rate_bps=1e6).
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Every random draw of the run follows from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What the results look like.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Print the JSON schema of the scenario file and stop.
    #[arg(long)]
    schema: bool,
}

/// Runs the scenario and prints what was measured.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    if arguments.schema {
        return Ok(output::json(&losscause_study::scenario::schema())?);
    }
    let file = arguments.scenario.expect("clap asks for it");
    let settings: Vec<Setting> = arguments.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
    let experiment = Scenario::load(&file)?.with(&settings)?.experiment()?;
    let measurements = run_experiment(&experiment, arguments.seed)?;
    match arguments.format {
        Format::Json => output::json(&measurements)?,
        Format::Table => {
            let mut table = output::table(&["metric", "unit", "value"], &["value"]);
            for metric in &measurements.metrics {
                table.add_row([metric.metric.clone(), metric.unit.to_owned(), output::number(metric.value)]);
            }
            output::line(&table.to_string())?;
        }
    }
    Ok(())
}
