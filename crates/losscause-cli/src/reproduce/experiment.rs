//! `losscause reproduce live`, `quic`, `sockets` and `media`: experiments on real stacks.

use std::num::NonZero;
use std::thread;
use std::time::Instant;

use losscause_experiments::live::Experiment;
use losscause_laboratory::papers::reproduce::{Event, Only, Plan, Reproduction};
use losscause_laboratory::store::Store;
use losscause_study::{InputError, Jobs, RunError, Stop, Workers};

use super::{Arguments, Place, REPORT, RESULT, VERB, say_what_is_kept};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::progress::Progress;
use crate::tables::experiment as tables;
use crate::{interrupt, notice};

/// Makes the runs, then prints the answer, the tables and the claims. After Ctrl-C or SIGTERM
/// nothing is left behind.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let begun = Instant::now();
    if let Some(check) = &arguments.check {
        let problem = "only valid with papers; remove it";
        return Err(InputError::option(format!("--check {}", check.display()), problem).into());
    }
    if let Some(also) = arguments.also.first() {
        let problem = "only valid with papers; remove it";
        return Err(InputError::option(format!("--also {also}"), problem).into());
    }
    let only = arguments
        .only
        .iter()
        .map(|text| Only::parse(text))
        .collect::<Result<Vec<_>, InputError>>()?;
    let (experiment, selection) = Experiment::select(&arguments.items, only)?;
    let plan = Experiment::plan(&selection, arguments.runs, arguments.seed, &[])?;
    let sheets = plan.sheets().to_vec();
    let jobs = arguments.jobs.map_or_else(|| Jobs::new(side_by_side()), Ok)?;
    let verb = format!("{VERB} {}", experiment.record().key());
    let open = |out| Place::open(out, &verb, &[RESULT, REPORT], arguments.earlier);
    let place = arguments.out.as_deref().map(open).transpose()?;
    let store = place.as_ref().map(|place| &place.store);
    let mut reproduction = execute(experiment, plan, jobs, store, arguments)?;
    let wall_s = begun.elapsed().as_secs_f64();
    reproduction.wall_s = arguments.timing.then_some(wall_s);
    if let Some(place) = place {
        place.conclude(&reproduction, &sheets)?;
    }
    match arguments.format {
        Format::Json => output::json(&reproduction)?,
        Format::Table => output::line(&tables::text(&reproduction, &sheets))?,
    }
    let place =
        arguments.out.as_ref().map(|out| format!(", report in {}", out.join(REPORT).display()));
    notice::print(&format!("{wall_s:.0} s{}", place.unwrap_or_default()));
    Ok(())
}

/// So many runs of each cell by default deserve a word about a preview.
const MANY: usize = 10;

/// Runs side by side where nothing says how many: emulated links mostly sleep.
fn side_by_side() -> usize {
    (2 * thread::available_parallelism().map_or(1, NonZero::get)).min(4)
}

/// Executes the plan with a progress bar; with --verbose, the values of every run are printed. A
/// signal stops it, puts the machine back, and then ends the program.
fn execute(
    experiment: &Experiment,
    plan: Plan,
    jobs: Jobs,
    store: Option<&Store>,
    arguments: &Arguments,
) -> Result<Reproduction, RunError> {
    let stop = Stop::new();
    let runs = plan.runs();
    let cost = plan.cost() as f64;
    let runs_each = runs / plan.configurations().len().max(1);
    let mut progress = Progress::new("runs", runs);
    let mut preview = (arguments.runs.is_none() && runs_each >= MANY).then(|| {
        format!("{runs} runs, {runs_each} of each system and setting; --runs 3 makes a preview")
    });
    let observe = |event: Event<'_>| match event {
        Event::Progress(done) => {
            // The first comes once the machine was found to have what it takes.
            if let Some(preview) = preview.take() {
                progress.aside(|| notice::print(&preview));
            }
            progress.set_weighed(done.runs, done.cost as f64 / cost);
            say_what_is_kept(done.runs, runs, arguments.out.as_deref());
        }
        Event::Ran(cell, []) => {
            progress.aside(|| notice::print(&format!("{cell}: a run is left out")));
        }
        Event::Ran(cell, values) if arguments.verbose => {
            let values = cell.metrics.iter().zip(values);
            let values =
                values.filter_map(|(metric, value)| Some(format!("{metric} {:.3}", (*value)?)));
            let values = values.collect::<Vec<_>>().join(", ");
            progress.aside(|| notice::print(&format!("{cell}: {values}")));
        }
        Event::Disturbed(cell, why) => {
            progress.aside(|| notice::print(&format!("{cell}: a run was disturbed, {why}")));
        }
        Event::Ran(..) | Event::Sheet(..) | Event::Calibrated(_) => {}
    };
    let workers = Workers::from(jobs).stopping_at(&stop);
    let measured = interrupt::stopping(&stop, || experiment.execute(plan, workers, store, observe));
    drop(progress);
    interrupt::end_if_interrupted();
    interrupt::say(None);
    measured
}
