//! `losscause reproduce live`, `quic`, `sockets` and `media`: experiments on real stacks.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use losscause_experiments::live::{Event, LiveError, Measured, Only, Plan, Selection};
use losscause_study::{InputError, Jobs, Stop};

use super::{Arguments, REPORT, RESULT, VERB, open, write_report};
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
        let problem = "only valid with papers; remove it".to_owned();
        return Err(
            InputError::Option { option: format!("--check {}", check.display()), problem }.into()
        );
    }
    if let Some(also) = arguments.also.first() {
        let problem = "only valid with papers; remove it".to_owned();
        return Err(InputError::Option { option: format!("--also {also}"), problem }.into());
    }
    let only = arguments
        .only
        .iter()
        .map(|text| Only::parse(text))
        .collect::<Result<Vec<_>, InputError>>()?;
    let selection = Selection::parse(&arguments.items, only)?;
    let plan = Plan::new(&selection, arguments.runs, arguments.seed, &[])?;
    let jobs = arguments.jobs.map_or_else(|| Jobs::new(side_by_side()), Ok)?;
    let verb = format!("{VERB} {}", selection.experiment().record().key());
    let folder =
        arguments.out.as_deref().map(|out| open(out, &verb, &[RESULT, REPORT])).transpose()?;
    let Measured { mut reproduction, sheets, left_out } = execute(plan, jobs, arguments)?;
    let wall_s = begun.elapsed().as_secs_f64();
    reproduction.wall_s = arguments.timing.then_some(wall_s);
    if let Some(folder) = folder {
        write_report(folder, &reproduction, &sheets)?;
    }
    match arguments.format {
        Format::Json => output::json(&reproduction)?,
        Format::Table => output::line(&tables::text(&reproduction, &sheets))?,
    }
    left_out.iter().for_each(|why| notice::print(why));
    let place =
        arguments.out.as_ref().map(|out| format!(", report in {}", out.join(REPORT).display()));
    notice::print(&format!("{wall_s:.0} s{}", place.unwrap_or_default()));
    Ok(())
}

/// So many runs of each cell by default deserve a word about a preview.
const MANY: u32 = 10;

/// Runs side by side where nothing says how many: emulated links mostly sleep.
fn side_by_side() -> usize {
    (2 * thread::available_parallelism().map_or(1, NonZero::get)).min(4)
}

/// Executes the plan with a progress bar; with --verbose, the values of every run are printed. A
/// signal stops it, puts the machine back, and then ends the program.
fn execute(plan: Plan, jobs: Jobs, arguments: &Arguments) -> Result<Measured, LiveError> {
    let stop = Stop::new();
    let over = AtomicBool::new(false);
    let interrupted = interrupt::postpone();
    let mut progress = Progress::new("runs", plan.runs());
    let observe = |event: Event<'_>| match event {
        Event::Ran { cell, values, done, share } => {
            progress.set_weighed(done, share);
            if arguments.verbose {
                let values = values
                    .into_iter()
                    .flatten()
                    .map(|(metric, value)| format!("{metric} {value:.3}"));
                let values = values.collect::<Vec<_>>().join(", ");
                progress.aside(|| notice::print(&format!("{cell}: {values}")));
            }
        }
        Event::Begins { runs_each, runs } if arguments.runs.is_none() && runs_each >= MANY => {
            let what = format!(
                "{runs} runs, {runs_each} of each system and setting; --runs 3 makes a preview"
            );
            progress.aside(|| notice::print(&what));
        }
        Event::Begins { .. } => {}
        Event::Spoiled { cell, why } => {
            progress.aside(|| notice::print(&format!("{cell}: again, {why}")));
        }
    };
    let measured = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if interrupted.load(Ordering::Relaxed) {
                    stop.request();
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        let measured = plan.execute(jobs, &stop, observe);
        over.store(true, Ordering::Relaxed);
        measured
    });
    drop(progress);
    interrupt::end_if_interrupted();
    measured
}
