//! `losscause reproduce abroad` and its parts: kinds of networks that the drawn paths do not have.

use losscause_experiments::abroad::{Drawn, ObservedAt, drawn, in_loop, verdicts};
use losscause_study::{InputError, Registry};

use super::Arguments;
use super::drawn::{ABROAD, Results, at_least_one, refused, workers};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::tables::abroad as tables;

/// Networks that are drawn of each kind if nothing says how many.
const COUNT: u32 = 20;

/// The part in which algorithms steer the flows.
const LOOP: &str = "abroad/loop";

/// Makes the runs, then prints the answer and the tables; or prints one network's scenario.
pub(super) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let at = selected(arguments)?;
    if let Some(network) = &arguments.print {
        return Ok(output::line(network.parse::<Drawn>()?.scenario().trim_end())?);
    }
    let networks = at_least_one("--networks", arguments.networks.unwrap_or(COUNT))?;
    let kinds = drawn::chosen(&arguments.kind)?;
    let seed = arguments.seed;
    match at {
        None => {
            let kinds = drawn::with_replaced_flows(&kinds, LOOP)?;
            let contenders = in_loop::chosen(registry, &arguments.algorithms)?;
            let workers = workers(arguments)?;
            let results = Results::of(arguments, "loop.csv")?;
            let mut progress = Progress::new("runs", in_loop::runs(&kinds, networks, &contenders));
            let found = in_loop::measure(&contenders, &kinds, seed, networks, &workers, |done| {
                progress.set(done);
            })?;
            drop(progress);
            let csv = found.csv();
            results.give(&found, || tables::in_loop(&found), || found.html(), &csv)
        }
        Some(at) => {
            let kinds = verdicts::kinds(at, registry, &kinds)?;
            let shown = verdicts::columns(at, registry, &arguments.algorithms)?;
            let workers = workers(arguments)?;
            let results = Results::of(arguments, "flows.csv")?;
            let mut progress = Progress::new("runs", kinds.len() * networks as usize);
            let found =
                verdicts::measure(at, registry, &kinds, seed, networks, &workers, |done| {
                    progress.set(done);
                })?;
            drop(progress);
            let shown = if arguments.verbose { found.names() } else { shown };
            let csv = found.csv();
            results.give(&found, || tables::verdicts(&found, &shown), || found.html(&shown), &csv)
        }
    }
}

/// Where algorithms judge; none of the part in which they steer. Refuses what does not belong to
/// it.
fn selected(arguments: &Arguments) -> Result<Option<ObservedAt>, InputError> {
    let part = ABROAD.selected(arguments)?;
    let at = ObservedAt::ALL.into_iter().find(|at| at.item() == part);
    if let Some(runs) = arguments.runs {
        let problem = "not valid with abroad, which runs each network once; --networks draws more";
        refused(&format!("--runs {runs}"), problem)?;
    }
    if arguments.verbose && at.is_none() {
        refused("--verbose", "only valid with abroad; --algorithms names what abroad/loop runs")?;
    }
    if let (true, Some(name), Some(_)) = (arguments.verbose, arguments.algorithms.first(), at) {
        refused(&format!("--algorithms {name}"), "not valid with --verbose, which shows all")?;
    }
    if at == Some(ObservedAt::Kernel) {
        let problem = "not valid with abroad/kernel, whose runs are recorded";
        if let Some(networks) = arguments.networks {
            refused(&format!("--networks {networks}"), problem)?;
        }
        if arguments.seed != 1 {
            refused(&format!("--seed {}", arguments.seed), problem)?;
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use losscause_experiments::abroad::KINDS;

    #[test]
    fn the_page_has_a_row_for_every_kind_and_says_how_many_there_are() {
        let page = include_str!("../../docs/abroad.md");
        for kind in &KINDS {
            assert!(page.contains(&format!("\n| {} |", kind.name)), "{}", kind.name);
        }
        assert!(page.contains(&format!("{} kinds of networks", KINDS.len())));
    }
}
