//! `losscause compare`: variants of a scenario over the same seeds.

use std::io;
use std::path::PathBuf;

use losscause_laboratory::compare::{self, Comparison, Plan, Variant, VariantResult};
use losscause_report as report;
use losscause_study::files::{Disk, Inputs};
use losscause_study::tools::figures::seeds;
use losscause_study::{InputError, Jobs, Registry, Scenario, Setting};

use crate::earlier::{Earlier, NOTHING_KEPT};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::reproduce::{Place, REPORT, RESULT, measured};
use crate::{check, input, values};

/// The files of a comparison.
const FILES: [&str; 4] = [RESULT, "comparison.csv", "runs.csv", REPORT];

/// Below the options in the help.
const ROWS: &str = "Rows of the table are metrics; `losscause docs scenario` explains all:
  thput             packets that crossed the bottleneck, of its capacity
  beside            the goodput of a plain flow beside the one that is compared
  p50, p95          the median, and what 95 % stay below
  delay, queueing   the one-way trip, and what of it was spent in queues
  M_c               queue drops that the algorithm called wireless
  M_w               losses of the air that it did not call wireless";

#[derive(Debug, clap::Args)]
#[command(after_help = ROWS)]
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
    /// Write report.html, result.json, comparison.csv and runs.csv to this folder, and keep the
    /// finished runs there until then.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    earlier: Earlier,
    /// Hold the results against the result.json of an earlier comparison, and fail if a value differs
    /// by more than the intervals of both.
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Print every metric.
    #[arg(long, short)]
    verbose: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the variants and prints the verdict and the table.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    if arguments.out.is_none() {
        arguments.earlier.refuse(NOTHING_KEPT)?;
    }
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
    const EXPECTED: &str = "the result.json of an earlier comparison";
    let read = |file: &PathBuf| check::earlier(file, &Disk, "comparison", EXPECTED);
    let earlier: Option<Comparison> = arguments.check.as_ref().map(read).transpose()?;
    let open = |out: &PathBuf| {
        for inputs in [sources.inputs(), Inputs::of(&arguments.check)] {
            FILES.iter().try_for_each(|name| inputs.keep_from(&out.join(name)))?;
        }
        Place::open(out, "compare", &FILES, arguments.earlier)
    };
    let place = arguments.out.as_ref().map(open).transpose()?;
    let plan = if place.is_some() { plan.recording() } else { plan };
    let comparison = measured(&plan, arguments.jobs, place.as_ref())?;
    if let Some(place) = place {
        let texts = [
            output::json_text(&comparison)?,
            compare::csv(&comparison),
            compare::runs_csv(&comparison),
            report::comparison_html(&comparison, &plan.records()?),
        ];
        place.finish(&FILES.into_iter().zip(texts).collect::<Vec<_>>())?;
    }
    match arguments.format {
        Format::Json => output::json(&comparison)?,
        Format::Table => tables(&comparison, arguments.verbose)?,
    }
    earlier.map_or(Ok(()), |earlier| check::agree(&comparison.beside(&earlier)))
}

/// The scenario in mode linux, with CUBIC if Linux does not have its TCP.
fn in_linux(scenario: &Scenario) -> Result<Scenario, InputError> {
    let linux = scenario.with(&[Setting::new("tcp.mode", "linux")])?;
    match linux.experiment() {
        Ok(_) => Ok(linux),
        Err(_) => linux.with(&[Setting::new("tcp.variant", "cubic")]),
    }
}

/// More variants are a row each.
const SIDE_BY_SIDE: usize = 4;

/// The verdict; then metrics down and variants across, in as many blocks as the terminal's width
/// needs, or a ranking of many variants; then warnings.
fn tables(comparison: &Comparison, verbose: bool) -> io::Result<()> {
    for sentence in comparison.verdict.split("; ") {
        output::sentence(sentence)?;
    }
    let Comparison { title, seed, runs, .. } = comparison;
    let each = output::plural(u64::from(*runs), "run");
    output::sentence(&format!("\n{title} ({each} each, {})", seeds(*seed, *runs)))?;
    let is_ranking = comparison.variants.len() > SIDE_BY_SIDE && !verbose;
    let rows = match verbose {
        true => comparison.all_metrics(),
        false if is_ranking => comparison.ranked_with(),
        false => comparison.judged_by(),
    };
    if is_ranking {
        let table = output::drawn(&comparison.ranking(&rows), Some(output::width()));
        output::line(table.trim_end_matches('\n'))?;
        output::line("--verbose shows every metric with its interval.")?;
    } else {
        side_by_side(comparison, &rows)?;
    }
    comparison
        .warnings(&rows)
        .iter()
        .try_for_each(|warning| output::sentence(&format!("warning: {warning}")))
}

/// These metrics down and the variants across, the first beside the metrics.
fn side_by_side(comparison: &Comparison, rows: &[&str]) -> io::Result<()> {
    let Some(first) = comparison.variants.first() else { return Ok(()) };
    let mut others = comparison.ranked();
    others.retain(|variant| !std::ptr::eq(*variant, first));
    let variants: Vec<&VariantResult> = [first].into_iter().chain(others).collect();
    // Every block has the first variant beside the metrics.
    let table = comparison.table(rows, &variants).labels(2);
    output::line(output::in_blocks(&table, output::width()).trim_end_matches('\n'))?;
    if comparison.runs > 1 {
        output::sentence(&format!(
            "Below each mean: its difference from {}, run by run, with the 95 % interval; ~ if chance explains it.",
            first.name
        ))?;
    }
    Ok(())
}
