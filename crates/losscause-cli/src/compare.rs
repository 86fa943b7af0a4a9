//! `losscause compare`: variants of a scenario over the same seeds.

use std::io;
use std::path::PathBuf;

use losscause_laboratory::compare::{self, Comparison, Plan, Variant, VariantResult};
use losscause_report as report;
use losscause_study::tools::atomic;
use losscause_study::tools::atomic::folder::Folder;
use losscause_study::tools::figures::seeds;
use losscause_study::{InputError, Jobs, Registry, Scenario, Setting};

use crate::failure::Failure;
use crate::input;
use crate::output::{self, Format};
use crate::progress::Progress;
use crate::values;

const REPORT: &str = "report.html";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A scenario file, - for standard input, or a paper's scenario such as cen2003/WLH. `losscause
    /// init` writes a scenario to start from.
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// Algorithms to compare, such as none,Sift. All measured flows run the algorithm; with
    /// none, every loss counts as congestion. `losscause list algorithms` names them.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    lda: Vec<String>,
    /// Settings to compare: "NAME: KEY=VALUE; KEY=VALUE". Without --lda they are compared with the
    /// unchanged scenario, which "NAME: {}" gives a name.
    #[arg(long, value_name = "VARIANT")]
    variant: Vec<String>,
    /// Compare what a Linux or QUIC sender can be switched to, in mode linux: cubic, reno, bbr, and
    /// cubic and reno with an algorithm.
    #[arg(long, conflicts_with = "lda")]
    all: bool,
    /// Change the scenario for all variants; as in `losscause simulate`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Random seed of the first run of each variant.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs of each variant, with the seeds SEED, SEED+1, …
    #[arg(long, default_value_t = 10, value_parser = values::runs)]
    runs: u32,
    /// Number of threads [default: one per core]
    #[arg(long, value_parser = values::jobs)]
    jobs: Option<Jobs>,
    /// Write report.html, result.json, comparison.csv and runs.csv to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print every metric.
    #[arg(long, short)]
    verbose: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the variants and prints the verdict and the table.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let settings: Vec<Setting> =
        arguments.set.iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
    let (mut scenario, sources) = input::scenario(&arguments.scenario, &settings, registry)?;
    let ldas = arguments.lda.iter().map(|lda| Variant::of_lda(&scenario, lda.trim()));
    let mut variants: Vec<Variant> = ldas.collect::<Result<_, _>>()?;
    if arguments.all {
        scenario = in_linux(&scenario)?;
        variants = Variant::all(&scenario)?;
    }
    let own = arguments.variant.iter().map(|text| Variant::parse(text));
    let own: Vec<Variant> = own.collect::<Result<_, _>>()?;
    if variants.is_empty() && !own.is_empty() {
        variants = Variant::beside_unchanged(own);
    } else {
        variants.extend(own);
    }
    let plan = Plan::new(&scenario, variants, arguments.seed, arguments.runs)?;
    let plan = plan.with_settings(&settings);
    let folder = match &arguments.out {
        Some(directory) => {
            let inputs = sources.inputs();
            let names: Vec<&str> = compare::FILES.into_iter().chain([REPORT]).collect();
            names.iter().try_for_each(|name| inputs.keep_from(&directory.join(name)))?;
            Some(Folder::open(directory, "compare", &names)?)
        }
        None => None,
    };
    let jobs = arguments.jobs.unwrap_or_default();
    let mut progress = Progress::new("runs", plan.runs());
    let (comparison, records) = match &folder {
        Some(_) => plan.execute_and_record(jobs, |done| progress.set(done))?,
        None => (plan.execute(jobs, |done| progress.set(done))?, vec![]),
    };
    drop(progress);
    if let Some(folder) = folder {
        let mut files = compare::write(&comparison, &folder)?;
        let report = report::comparison_html(&comparison, &records);
        files.push(atomic::whole(&folder.file(REPORT), report.as_bytes())?);
        folder.finish(files)?;
    }
    match arguments.format {
        Format::Json => output::json(&comparison)?,
        Format::Table => tables(&comparison, arguments.verbose)?,
    }
    Ok(())
}

/// The scenario in mode linux, with CUBIC if Linux does not have its TCP.
fn in_linux(scenario: &Scenario) -> Result<Scenario, InputError> {
    let linux = scenario.with(&[Setting::new("tcp.mode", "linux")])?;
    match linux.experiment() {
        Ok(_) => Ok(linux),
        Err(_) => linux.with(&[Setting::new("tcp.variant", "cubic")]),
    }
}

/// The verdict, then metrics down and variants across, in as many blocks as the terminal's width
/// needs, then warnings.
fn tables(comparison: &Comparison, verbose: bool) -> io::Result<()> {
    for sentence in comparison.verdict.split("; ") {
        output::sentence(sentence)?;
    }
    let Comparison { title, seed, runs, .. } = comparison;
    let each = output::plural(u64::from(*runs), "run");
    output::sentence(&format!("\n{title} ({each} each, {})", seeds(*seed, *runs)))?;
    let Some(first) = comparison.variants.first() else { return Ok(()) };
    let mut others = comparison.ranked();
    others.retain(|variant| !std::ptr::eq(*variant, first));
    let rows = if verbose { comparison.all_metrics() } else { comparison.judged_by() };
    let variants: Vec<&VariantResult> = [first].into_iter().chain(others).collect();
    // Every block has the first variant beside the metrics.
    let table = comparison.table(&rows, &variants).labels(2);
    output::line(output::in_blocks(&table, output::width()).trim_end_matches('\n'))?;
    if comparison.runs > 1 {
        output::sentence(&format!(
            "Below each mean: its difference from {}, run by run, with the 95 % interval; ~ if chance explains it.",
            first.name
        ))?;
    }
    comparison
        .warnings(&rows)
        .iter()
        .try_for_each(|warning| output::sentence(&format!("warning: {warning}")))
}
