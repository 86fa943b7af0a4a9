//! `capture-accuracy`: how much of the truth `losscause-capture` finds in captures whose truth is
//! known.
//!
//! Each case is a network ([`cases`]). It is simulated with several seeds; [`truth`] knows what
//! became of every packet, and which losses can show in a capture. The captures at the senders and
//! at the receivers are analysed, [`matching`] compares what was found with what was lost, [`page`]
//! makes results/capture-accuracy.md, and [`table`] the table from which `losscause-capture`
//! recommends an algorithm. [`agreement`] and [`tshark`] are independent checks.

mod agreement;
mod cases;
pub(crate) mod matching;
mod page;
mod sections;
mod table;
pub(crate) mod truth;
mod tshark;

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use losscause::registry::Registry;
use losscause::{Span, Time};
use losscause_capture::judge::Chosen;
use losscause_capture::judge::trust::Table;
use losscause_capture::{Options as Analysed, analyze};
use losscause_sim::Recorder;
use losscause_study::capture_files::{CaptureFiles, CaptureSettings};
use losscause_study::trace_file::Filter;
use losscause_study::{Experiment, Run};

use crate::results::{self, Origin, Page};
use crate::shell::root;
use crate::tools::Tool;

use agreement::Agreement;
use cases::Case;
use matching::Tally;
use truth::Fates;
use tshark::Classes;

/// The arguments of `capture-accuracy`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Make two short runs of each case, and print the page instead of writing it.
    #[arg(long)]
    short: bool,
    /// Only cases whose name contains this; prints the page instead of writing it.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Print every loss that shows and was not found, and every one that was found and is none.
    #[arg(long)]
    explain: bool,
    /// With --short, --only or --also: compare with simulated receivers and with tshark all the
    /// same.
    #[arg(long)]
    checks: bool,
    /// Algorithms that judge beside those that `analyze` asks by itself, by name; prints the page
    /// instead of writing it.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    also: Vec<String>,
}

/// All algorithms that `losscause analyze` asks by itself, and those of these names.
pub(crate) fn asked(also: &[String]) -> Result<Chosen> {
    let registry = Registry::built_in();
    Ok(Chosen::all_of(&registry).and(Chosen::named(also, &registry)?))
}

/// Runs of each case.
const RUNS: u64 = 5;
/// Longest run with `--short`.
const SHORT: Span = Span::from_secs(60);

/// Where a capture was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Vantage {
    Sender,
    Receiver,
}

pub(crate) const VANTAGES: [Vantage; 2] = [Vantage::Sender, Vantage::Receiver];

impl Vantage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Sender => "sender.pcap",
            Self::Receiver => "receiver.pcap",
        }
    }
}

/// What the runs of a case gave, by vantage point.
struct Outcome {
    case: Case,
    tallies: BTreeMap<Vantage, Vec<Tally>>,
}

/// All that the page shows.
struct Results {
    runs: u64,
    outcomes: Vec<Outcome>,
    /// Empty if not asked for.
    agreements: Vec<Agreement>,
    classes: Classes,
}

/// An algorithm that says something else about more losses than this share is read wrongly from
/// captures.
const LEAST_AGREEMENT: f64 = 0.99;

/// Simulates, analyses, compares and writes.
pub(crate) fn capture_accuracy(options: &Options) -> Result<()> {
    if options.checks() {
        Tool::Tshark.ensure()?;
    }
    let results = measure(options)?;
    let text = table::table(&results.outcomes, results.runs);
    if options.is_whole() {
        let table = Table::parse(&text).map_err(|error| anyhow!(error)).context(table::FILE)?;
        fs::write(root().join(table::FILE), text).context(table::FILE)?;
        results::write(&Page {
            name: "capture-accuracy".to_owned(),
            title: "What `losscause analyze` finds in a capture".to_owned(),
            command: "`cargo xtask capture-accuracy`".to_owned(),
            origin: Origin::Run,
            body: page::page(&results, &table),
        })?;
    } else {
        print!("{}", page::page(&results, Table::built_in()));
    }
    let disagrees = |one: &&Agreement| (one.equal as f64) < LEAST_AGREEMENT * one.judged as f64;
    if let Some(Agreement { algorithm, network, equal, judged }) =
        results.agreements.iter().find(disagrees)
    {
        bail!(
            "{algorithm} on {network}: only {equal} of {judged} verdicts are those of the simulated receiver"
        );
    }
    Ok(())
}

fn measure(options: &Options) -> Result<Results> {
    let runs = if options.short { 2 } else { RUNS };
    let mut outcomes = Vec::new();
    let mut classes = Classes::new();
    for case in cases::all() {
        if options.only.as_ref().is_some_and(|text| !case.name.contains(text.as_str())) {
            continue;
        }
        eprintln!("{}", case.name);
        let mut tallies: BTreeMap<Vantage, Vec<Tally>> = BTreeMap::new();
        for seed in 1..=runs {
            for (vantage, tally) in
                run(&case, seed, options, &mut classes).with_context(|| case.name.to_owned())?
            {
                tallies.entry(vantage).or_default().push(tally);
            }
        }
        outcomes.push(Outcome { case, tallies });
    }
    let agreements = if options.checks() { agreement::agreements()? } else { Vec::new() };
    Ok(Results { runs, outcomes, agreements, classes })
}

impl Options {
    /// Whether the page and the table are written.
    fn is_whole(&self) -> bool {
        !self.short && self.only.is_none() && self.also.is_empty()
    }

    /// Whether simulated receivers and tshark are asked.
    fn checks(&self) -> bool {
        self.is_whole() || self.checks
    }
}

/// One run of a case: what the analysis of each capture found of what was lost.
fn run(
    case: &Case,
    seed: u64,
    options: &Options,
    classes: &mut Classes,
) -> Result<Vec<(Vantage, Tally)>> {
    let directory = tempfile::tempdir()?;
    let experiment = case.experiment()?;
    let end = if options.short {
        experiment.duration.min(case.starts_at + SHORT)
    } else {
        experiment.duration
    };
    let mut fates = Fates::of(&experiment.network);
    let tick = Span::from_millis(case.tick_ms);
    simulate(case, &experiment, seed, (directory.path(), tick), end, &mut fates)?;
    let losses = fates.losses(&directory.path().join("drops.csv"), end)?;
    let analysed = Analysed { chosen: asked(&options.also)?, ..Analysed::all() };
    let mut tallies = Vec::new();
    for vantage in VANTAGES {
        let file = directory.path().join(vantage.file());
        let begins = first_time(&file)?;
        let analysis = analyze(File::open(&file)?, vantage.file(), &analysed)?;
        let tally = matching::compare(&analysis, begins, vantage, &losses, end);
        if options.explain {
            tally
                .mistakes
                .iter()
                .for_each(|mistake| println!("seed {seed}, {}: {mistake}", vantage.name()));
        }
        if options.checks() && seed == 1 {
            tshark::count(classes, &file, vantage, (&analysis, begins), &losses)?;
        }
        tallies.push((vantage, tally));
    }
    Ok(tallies)
}

/// Simulates a case until `end` and writes its captures into a folder, with TCP's timestamps in
/// these ticks.
fn simulate(
    case: &Case,
    experiment: &Experiment,
    seed: u64,
    (folder, tick): (&Path, Span),
    end: Time,
    recorder: &mut impl Recorder,
) -> Result<()> {
    let flows: Vec<String> = case.flows.iter().map(|name| (*name).to_owned()).collect();
    let filter = Filter::default().flows(&flows, &experiment.network, "the case's flows")?;
    let settings = CaptureSettings { tick, ..CaptureSettings::default() };
    let mut captures = CaptureFiles::create(folder, experiment, seed, settings)?.filtered(filter);
    let mut run = Run::new(experiment, seed)?;
    let _ = run.advance(end, &mut (&mut captures, recorder), |run, (captures, _)| {
        captures.write_until(run.now());
        ControlFlow::Continue(())
    });
    captures.finish()?;
    Ok(())
}

/// When the first packet of a capture was seen, in seconds of the run.
fn first_time(file: &Path) -> Result<f64> {
    const FILE_HEADER: usize = 24;
    let bytes = fs::read(file)?;
    let field = |at: usize| -> Result<u32> {
        let field = bytes.get(at..at + 4).and_then(|field| field.try_into().ok());
        Ok(u32::from_le_bytes(field.context("the capture is empty")?))
    };
    let seconds =
        f64::from(field(FILE_HEADER)?) - losscause_study::capture_files::EPOCH.as_secs_f64();
    Ok(seconds + f64::from(field(FILE_HEADER + 4)?) / 1e9)
}
