//! `capture-accuracy` and `linux-captures`: how much of the truth `losscause analyze` finds in
//! captures whose causes of loss are known.
//!
//! The captures are those of the sweep files in validation/captures. Those of simulated runs are made
//! in this program, because [`table`], from which `losscause-capture` recommends an algorithm, has
//! means over flows, and [`tshark`] reads the same captures. Those of the kernel are made by the
//! command. [`page`] arranges the results of both. [`agreement`] and [`tshark`] are independent
//! checks.

mod agreement;
mod page;
mod table;
mod tshark;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow};
use losscause::registry::Registry;
use losscause_capture::judge::Chosen;
use losscause_capture::judge::trust::Table;
use losscause_experiments::captures::{CaptureStack, JudgedFlow, Scored};
use losscause_laboratory::stack::Stacks;
use losscause_laboratory::sweep::{Overrides, Sweep, SweepResult};
use losscause_study::{Context as Reading, Experiment, Jobs};

use crate::checks::{OPTIONAL_PARTS, everything};
use crate::results::{self, Origin, Page};
use crate::shell::{cargo, root, run, target, write};
use crate::tools::{self, Tool};
use crate::validate;

/// The folder of the sweep files.
const FOLDER: &str = "validation/captures";
/// Those of simulated captures, in the order of the tables.
const SIMULATED: [&str; 9] =
    ["wlh", "wb", "biaz", "long-queue", "short-queue", "koo", "dalwadi", "home", "server"];
/// Those of captures of the kernel.
const LINUX: [&str; 4] = ["linux", "linux-bbr", "linux-ways", "linux-ways-bbr"];
/// A few transfers, for `ci`.
const LINUX_SHORT: &str = "linux-short";

/// The arguments of `capture-accuracy`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// So many runs of each case; prints the page instead of writing it.
    #[arg(long, value_name = "N")]
    runs: Option<u32>,
    /// Only the sweep file of this name in validation/captures; prints the page instead of writing
    /// it.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Print every loss that shows and was not found, and every one that was found and is none.
    #[arg(long)]
    explain: bool,
    /// With --runs, --only or --also: compare with simulated receivers and with tshark all the same.
    #[arg(long)]
    checks: bool,
    /// Algorithms that judge beside those that `analyze` asks by itself, by name; prints the page
    /// instead of writing it.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    also: Vec<String>,
}

impl Options {
    /// Whether the page and the table are written.
    fn is_whole(&self) -> bool {
        self.runs.is_none() && self.only.is_none() && self.also.is_empty()
    }

    /// Whether simulated receivers and tshark are asked.
    fn checks(&self) -> bool {
        self.is_whole() || self.checks
    }
}

/// What runs tell beside their metrics.
#[derive(Default)]
struct Told {
    /// The judged flows of every network, by seed.
    networks: BTreeMap<String, BTreeMap<u64, Vec<JudgedFlow>>>,
    classes: tshark::Classes,
    problem: Option<anyhow::Error>,
}

impl Told {
    fn take(&mut self, experiment: &Experiment, seed: u64, scored: &Scored) {
        let flows = [&scored.sender, &scored.receiver].map(|found| found.flows.clone()).concat();
        self.networks.entry(format!("{experiment:?}")).or_default().insert(seed, flows);
    }
}

/// Simulates, analyses, compares and writes.
pub(crate) fn capture_accuracy(options: &Options) -> Result<()> {
    if options.checks() {
        Tool::TSHARK.ensure()?;
    }
    let told = Arc::new(Mutex::new(Told::default()));
    let results = simulated(options, &told)?;
    let told = std::mem::take(&mut *told.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(problem) = told.problem {
        return Err(problem);
    }
    let agreements = if options.checks() { agreement::agreements()? } else { Vec::new() };
    let runs = results.first().map_or(0, |result| result.runs);
    let text = table::table(&told.networks, runs);
    let table = Table::parse(&text).map_err(|error| anyhow!(error)).context(table::FILE)?;
    let mut body = page::simulated(&results, &told.networks, &table);
    agreement::section(&mut body, &agreements);
    tshark::section(&mut body, &told.classes);
    if options.is_whole() {
        write(table::FILE, text)?;
        let title = "What `losscause analyze` finds in a capture";
        let head = ["capture-accuracy", title, "`cargo xtask capture-accuracy`"];
        results::write(&Page::new(head, Origin::Run, body))?;
    } else {
        print!("{body}");
    }
    agreement::require(&agreements)
}

/// The sweeps of simulated captures.
fn simulated(options: &Options, told: &Arc<Mutex<Told>>) -> Result<Vec<SweepResult>> {
    let registry = Registry::built_in();
    let chosen = Chosen::all_of(&registry).and(Chosen::named(&options.also, &registry)?);
    let told = Arc::clone(told);
    let (checks, explain) = (options.checks(), options.explain);
    let stacks = Stacks::default().with("captures", move || {
        let told = Arc::clone(&told);
        let stack = CaptureStack::simulated().judged_by(chosen.clone());
        Ok(Box::new(stack.telling(move |experiment, seed, captures, scored| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.take(experiment, seed, scored);
            if checks && seed == 1 {
                let counted = tshark::count(&mut told.classes, captures);
                told.problem = counted.err().or(told.problem.take());
            }
            for (at, found) in [("sender", &scored.sender), ("receiver", &scored.receiver)] {
                let mistakes = found.mistakes.iter().filter(|_| explain);
                mistakes.for_each(|mistake| println!("seed {seed}, {at}: {mistake}"));
            }
        })))
    });
    let is_asked = |name: &&str| options.only.as_ref().is_none_or(|only| only == name);
    let mut results = Vec::new();
    for name in SIMULATED.iter().copied().filter(is_asked) {
        eprintln!("{name}");
        let file = root().join(FOLDER).join(format!("{name}.toml"));
        let overrides = Overrides { runs: options.runs, ..Overrides::default() };
        let sweep = Sweep::load_on(&file, &Reading::default(), &stacks)?.with(&overrides)?;
        let outcome = sweep.execute(Jobs::default(), None, |_| ControlFlow::Continue(()))?;
        results.push(outcome.result.context("the results were not kept")?);
    }
    Ok(results)
}

/// The arguments of `linux-captures`.
#[derive(clap::Args)]
pub(crate) struct LinuxOptions {
    /// Only these sweep files, by their names in validation/captures, without a page: cause-policer,
    /// watched.
    names: Vec<String>,
    /// Seed of the first run of each transfer.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Transfers at a time.
    #[arg(long, default_value_t = 4, value_name = "N")]
    jobs: usize,
    /// Folder of the results, from which an interrupted measurement goes on; default:
    /// target/captures.
    #[arg(long, value_name = "DIR")]
    out: Option<std::path::PathBuf>,
    /// Write results/linux-captures.md.
    #[arg(long, conflicts_with = "names")]
    write: bool,
}

/// Makes captures of the kernel's transfers, analyses them and prints the page.
pub(crate) fn linux_captures(options: &LinuxOptions) -> Result<()> {
    let folder = options.out.clone().unwrap_or_else(|| target().join("captures"));
    let all = LINUX.map(str::to_owned);
    let names = if options.names.is_empty() { &all[..] } else { &options.names };
    let results = names.iter().map(|name| swept(name, &folder, options.jobs, options.seed));
    let results = results.collect::<Result<Vec<_>>>()?;
    if !options.names.is_empty() {
        return require(&results);
    }
    let body = page::linux(&results);
    print!("{body}");
    if options.write {
        let command = "`cargo xtask linux-captures --write`, as root";
        let head = ["linux-captures", "Accuracy on captures of Linux TCP", command];
        results::write(&Page::new(head, Origin::Run, body))?;
    }
    require(&results)
}

/// A step of `ci`: a few transfers, and whether their losses were found.
pub(crate) fn short() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let result = swept(LINUX_SHORT, folder.path(), 6, None)?;
    print!("{}", page::linux(std::slice::from_ref(&result)));
    require(&[result])
}

/// The results of a sweep file that the command runs, with the parts that need the kernel.
fn swept(name: &str, folder: &Path, jobs: usize, seed: Option<u64>) -> Result<SweepResult> {
    tools::ensure(OPTIONAL_PARTS)?;
    run(everything("build --quiet --bin losscause"))?;
    let seed = seed.map_or_else(String::new, |seed| format!(" --seed {seed}"));
    let options = format!("--resume --jobs {jobs}{seed}");
    let file = format!("{FOLDER}/{name}.toml");
    validate::swept(&target().join("debug/losscause"), &file, &folder.join(name), &options)
}

/// # Errors
/// A claim of a sweep file does not hold, or it cannot be told.
fn require(results: &[SweepResult]) -> Result<()> {
    validate::require(results.iter().flat_map(|result| &result.claims))
}

/// Makes the transfers of `losscause reproduce abroad/kernel` and records their verdicts.
pub(crate) fn abroad_linux() -> Result<()> {
    tools::ensure(OPTIONAL_PARTS)?;
    run(cargo(
        "run --release --locked -p losscause-experiments --example record-abroad --features linux",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::{files, read};

    #[test]
    fn every_cell_of_every_sweep_file_is_a_valid_network() {
        let mut stacks = Stacks::default();
        for name in ["captures", "kernel-captures", "watched-captures"] {
            stacks = stacks.with(name, || Ok(Box::new(CaptureStack::simulated())));
        }
        let mut cells = BTreeMap::new();
        for path in files(&[&format!("{FOLDER}/*.toml")]).unwrap() {
            if !read(&path).unwrap().contains("\nstacks =") {
                continue;
            }
            let path = root().join(path);
            let sweep = Sweep::load_on(&path, &Reading::default(), &stacks).unwrap();
            for cell in sweep.cells() {
                sweep.check(&cell).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
            cells.insert(path.file_stem().unwrap().to_string_lossy().into_owned(), sweep.count());
        }
        assert_eq!(SIMULATED.map(|name| cells[name]).iter().sum::<usize>(), 24);
        assert_eq!(LINUX.map(|name| cells[name]), [12, 12, 2, 2]);
        assert_eq!((cells["cause-policer"], cells[LINUX_SHORT]), (10, 4));
    }

    #[test]
    fn the_bars_of_ci_are_99_percent_found_and_half_a_percent_false() {
        let text = read(format!("{FOLDER}/{LINUX_SHORT}.toml")).unwrap();
        let times = |bar: &str| text.matches(bar).count();
        let found =
            "found_share\"\nof = { hosts = \"SACK, timestamps\" }\nis = \"at-least\"\nvalue = 99\n";
        let none =
            "false_share\"\nof = { hosts = \"SACK, timestamps\" }\nis = \"at-most\"\nvalue = 0.5\n";
        assert_eq!([found, none].map(times), [2, 2], "at senders and at receivers");
        assert_eq!(["value = 99\n", "value = 0.5\n", "share ="].map(times), [4, 4, 0]);
    }
}
