//! `losscause reproduce`: the papers' tables and figures, measured again; and experiments on real
//! stacks.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use losscause_laboratory::papers::record::Item;
use losscause_laboratory::papers::reproduce::{
    Column, Event, Plan, Repetitions, Reproduction, Selection, Sheet, Variation,
};
use losscause_laboratory::store::{RunList, Store};
use losscause_report as report;
use losscause_study::files::Inputs;
use losscause_study::tools::atomic;
use losscause_study::tools::atomic::folder::Folder;
use losscause_study::{Context, InputError, Jobs, Registry, RunError, Workers};

use crate::check::Check;
use crate::earlier::{Earlier, NOTHING_KEPT};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::progress::Progress;
use crate::summary::{self, LeftOut};
use crate::{interrupt, notice, tables, values};

pub(crate) mod drawn;
mod experiment;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Papers, or their tables and figures: cen2003, cen2003/table2 (`losscause list papers` names
    /// them). Default: a fixed choice of every paper, about half a minute on two cores, and a
    /// report in ./out. Or an experiment on real stacks (`losscause list experiments`): live,
    /// live/sharing, and sockets, which take root; quic; media. Or a benchmark of drawn networks: paths,
    /// paths/loop (`losscause docs paths`); abroad, abroad/receivers, abroad/captures,
    /// abroad/kernel, abroad/loop (`losscause docs abroad`).
    #[arg(value_name = "PAPER[/ITEM]")]
    items: Vec<String>,
    /// Measure everything that the papers publish, and write a report into ./out.
    #[arg(long, conflicts_with = "items")]
    all: bool,
    /// Of an experiment on real stacks, measure only these systems or values of a parameter; can be
    /// repeated.
    #[arg(long, value_name = "KEY=VALUE,…")]
    only: Vec<String>,
    /// Also run these algorithms in the papers' tables and figures, in the place of the papers'
    /// own; of their values, which stand beside the papers' as "also ALGORITHM", none is scored
    /// (`losscause list algorithms` names them).
    #[arg(long, value_name = "ALGORITHM,…", value_delimiter = ',')]
    also: Vec<String>,
    /// Print every table, as if its item were named; of an experiment, the values of every run; of
    /// abroad, every algorithm.
    #[arg(long, short)]
    verbose: bool,
    /// With paths: how many are drawn [default: 80].
    #[arg(long, value_name = "COUNT")]
    paths: Option<u32>,
    /// With abroad: how many are drawn of each kind [default: 20].
    #[arg(long, value_name = "COUNT")]
    networks: Option<u32>,
    /// With abroad: only this kind of networks; can be repeated.
    #[arg(long, value_name = "NAME")]
    kind: Vec<String>,
    /// With paths/loop and abroad/loop: the algorithms that run, and TCPs that the program has
    /// registered, by name, separated by commas. With abroad: the algorithms that are shown.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    algorithms: Vec<String>,
    /// With paths: print the scenario of a path, such as 1/7, or 1/7/sender for TCP in place of
    /// TFRC. With abroad: that of a network, such as LTE/1/3.
    #[arg(long, value_name = "[KIND/]SEED/NUMBER")]
    print: Option<String>,
    /// Runs of each system, with seeds SEED, SEED + 1, … [default: as many as the paper made; ten
    /// for a paper that made one; two for live, ten for sockets, 30 for quic and media; one for paths/loop, there of
    /// each path]
    #[arg(long, value_parser = values::runs)]
    runs: Option<u32>,
    /// Compare with the result.json of an earlier reproduction; exit with 1 if a number or claim
    /// got worse.
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Threads [default: one per core]; the results do not depend on it. Of an experiment: runs
    /// side by side [default: two per core, at most 4].
    #[arg(long, value_parser = values::jobs)]
    jobs: Option<Jobs>,
    /// Seed of the first run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Directory for report.html and result.json, and until they are written for the finished runs.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    earlier: Earlier,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write the wall-clock time into the JSON (wall_s), which then differs between runs.
    #[arg(long)]
    timing: bool,
}

/// Makes the runs, prints the tables that were asked for as they are complete, then the conclusion.
pub(crate) fn run(arguments: Arguments, registry: &Registry) -> Result<(), Failure> {
    if let (None, false) = (&arguments.out, arguments.items.is_empty()) {
        arguments.earlier.refuse(NOTHING_KEPT)?;
    }
    if arguments.items.iter().any(|name| losscause_experiments::live::find(name).is_some()) {
        drawn::refuse_options(&arguments, "live")?;
        return experiment::run(&arguments);
    }
    if let Some(parts) = drawn::named(&arguments.items) {
        return drawn::run(&arguments, parts, registry);
    }
    drawn::refuse_options(&arguments, "a paper")?;
    if let Some(only) = arguments.only.first() {
        let problem = "only valid with an experiment on real stacks, such as live; remove it";
        return Err(InputError::option(format!("--only {only}"), problem).into());
    }
    let begun = Instant::now();
    let is_named = !arguments.items.is_empty();
    let selection = match (is_named, arguments.all) {
        (false, false) => Selection::first_look()?,
        _ => Selection::parse(&arguments.items)?,
    }
    .beside(&arguments.also);
    let repetitions = arguments.runs.map_or(Ok(Repetitions::AsPublished), Repetitions::exactly)?;
    let jobs = arguments.jobs.unwrap_or_default();
    let check = arguments.check.as_deref().map(Check::read).transpose()?;
    let out = arguments.out.or_else(|| (!is_named).then(|| PathBuf::from("out")));
    if let Some(out) = &out {
        let inputs = Inputs::of(&arguments.check);
        [REPORT, RESULT].iter().try_for_each(|name| inputs.keep_from(&out.join(name)))?;
    }
    let open = |out| Place::open(out, VERB, &[RESULT, REPORT], arguments.earlier);
    let place = out.as_deref().map(open).transpose()?;
    let context = Context::new(registry.clone());
    let plan_of = |selection: &Selection| {
        Plan::new(&context, selection, repetitions, arguments.seed, &Variation::default())
    };
    let plan = plan_of(&selection)?;
    check.as_ref().map_or(Ok(()), |check| check.can_compare(&plan))?;
    let left_out = match is_named || arguments.all {
        true => None,
        false => Some(left_out(&plan, &plan_of(&everything()?)?)),
    };
    // Tables of numbers contain no drawings.
    let draws = out.is_some() || arguments.format == Format::Json;
    let plan = if draws { plan.drawing() } else { plan };
    let sheets = plan.sheets().to_vec();
    let runs = plan.runs();
    let cost = plan.cost();
    let mut progress = Progress::new("runs", runs);
    let shows_tables = is_named || arguments.verbose;
    let mut printed: io::Result<()> = Ok(());
    let store = place.as_ref().map(|place| &place.store);
    let mut reproduction = plan.execute_on(&[], jobs, store, |event| match event {
        Event::Calibrated(_) | Event::Ran(..) | Event::Disturbed(..) => {}
        Event::Progress(done) => {
            progress.set_weighed(done.runs, done.cost as f64 / cost as f64);
            say_what_is_kept(done.runs, runs, out.as_deref());
        }
        Event::Sheet(sheet, items, beside) if shows_tables => {
            let shown = progress.aside(|| show(sheet, items, beside, arguments.format));
            // The first failure is reported; the runs continue, because --out may need them.
            if printed.is_ok() {
                printed = shown;
            }
        }
        // The first result shows long before the last run.
        Event::Sheet(sheet, items, _) => {
            tables::sheet_in_short(sheet, items).into_iter().for_each(|text| progress.found(text));
        }
    })?;
    drop(progress);
    interrupt::say(None);
    printed?;
    let wall_s = begun.elapsed().as_secs_f64();
    reproduction.wall_s = arguments.timing.then_some(wall_s);
    if let Some(place) = place {
        place.conclude(&reproduction, &sheets)?;
    }
    match arguments.format {
        Format::Json => output::json(&reproduction)?,
        Format::Table if shows_tables => {
            tables::conclusion(&reproduction).map_or(Ok(()), |text| output::line(&text))?;
        }
        Format::Table => output::line(&summary::text(&reproduction, left_out.as_ref()))?,
    }
    tables::left_out(&reproduction).iter().for_each(|line| notice::print(line));
    let place =
        out.map_or_else(String::new, |out| format!(", report in {}", out.join(REPORT).display()));
    notice::print(&format!("{wall_s:.1} s{place}"));
    check.map_or(Ok(()), |check| check.compare(&reproduction))
}

pub(crate) const REPORT: &str = "report.html";
pub(crate) const RESULT: &str = "result.json";

/// Everything that the papers publish.
fn everything() -> Result<Selection, Failure> {
    Ok(Selection::parse::<&str>(&[])?)
}

/// What `all` has and `part` has not.
fn left_out(part: &Plan, all: &Plan) -> LeftOut {
    let of = all.sheets().len();
    LeftOut { items: of - part.sheets().len(), of, times: all.cost() as f64 / part.cost() as f64 }
}

/// Prints a complete table to standard output. If standard output is JSON, prints its score to
/// standard error.
fn show(sheet: &Sheet, items: &[Item], beside: &[Column], format: Format) -> io::Result<()> {
    match format {
        Format::Table => output::line(&tables::sheet(sheet, items, beside)),
        Format::Json => {
            notice::print(&tables::sheet_score(sheet, items));
            Ok(())
        }
    }
}

/// The papers' verb in a folder of results. An experiment's has its name behind it, so that none
/// replaces the results of another.
const VERB: &str = "reproduce";

/// The place of a reproduction's results, and of its finished runs until then.
pub(crate) struct Place {
    folder: Folder,
    store: Store,
}

impl Place {
    /// Locks the folder of the results, which are files of these names, before the runs.
    pub(crate) fn open(
        out: &Path,
        verb: &str,
        names: &[&str],
        earlier: Earlier,
    ) -> Result<Self, Failure> {
        let folder = Folder::open(out, verb, names)?;
        let store = earlier.of(Store::within(&folder));
        if earlier.resumes() && folder.is_whole() && !store.has_cells() {
            let problem = format!(
                "{} has the whole {RESULT}, expected an interrupted one; without this option it is measured anew",
                out.display()
            );
            earlier.refuse(&problem)?;
        }
        Ok(Self { folder, store })
    }

    /// Writes the results of a reproduction.
    fn conclude(self, reproduction: &Reproduction, sheets: &[Sheet]) -> Result<(), Failure> {
        let report = report::html(reproduction, sheets);
        self.finish(&[(RESULT, output::json_text(reproduction)?), (REPORT, report)])
    }

    /// Writes the results by their names; they then stand for the finished runs.
    pub(crate) fn finish(self, texts: &[(&str, String)]) -> Result<(), Failure> {
        let Self { folder, store } = self;
        let whole =
            |(name, text): &(&str, String)| atomic::whole(&folder.file(name), text.as_bytes());
        folder.put(texts.iter().map(whole).collect::<Result<_, RunError>>()?)?;
        Ok(store.clear()?)
    }
}

/// What a list of runs finds, with a progress bar. Those that are finished are kept in the place.
pub(crate) fn measured<E: RunList>(
    experiment: &E,
    jobs: Option<Jobs>,
    place: Option<&Place>,
) -> Result<E::Found, RunError> {
    let mut progress = None;
    let workers = Workers::from(jobs.unwrap_or_default());
    let store = place.map(|place| &place.store);
    let found = experiment.measure(&workers, store, |done, runs| {
        progress.get_or_insert_with(|| Progress::new("runs", runs)).set(done);
        say_what_is_kept(done, runs, place.map(|place| place.folder.directory()));
    });
    drop(progress);
    interrupt::say(None);
    found
}

/// Sets what is said if a signal ends the program now.
fn say_what_is_kept(finished: usize, runs: usize, out: Option<&Path>) {
    let Some(out) = out else { return };
    interrupt::say(Some(format!(
        "{finished} of {runs} runs are finished and kept in {}, and the same command with --resume continues",
        out.display()
    )));
}
