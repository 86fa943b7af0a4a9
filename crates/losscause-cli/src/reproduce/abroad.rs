//! `losscause reproduce abroad` and its parts: kinds of networks that the drawn paths do not have.

use losscause_experiments::abroad::{Drawn, Stack, drawn, in_loop, verdicts};
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
    let stack = selected(arguments)?;
    if let Some(network) = &arguments.print {
        return Ok(output::line(network.parse::<Drawn>()?.scenario().trim_end())?);
    }
    let networks = at_least_one("--networks", arguments.networks.unwrap_or(COUNT))?;
    let kinds = drawn::chosen(&arguments.kind)?;
    let seed = arguments.seed;
    match stack {
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
        Some(stack) => {
            let kinds = verdicts::kinds(stack, registry, &kinds)?;
            let shown = verdicts::columns(stack, registry, &arguments.algorithms)?;
            let workers = workers(arguments)?;
            let results = Results::of(arguments, "flows.csv")?;
            let mut progress = Progress::new("runs", kinds.len() * networks as usize);
            let found =
                verdicts::measure(stack, registry, &kinds, seed, networks, &workers, |done| {
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
fn selected(arguments: &Arguments) -> Result<Option<Stack>, InputError> {
    let part = ABROAD.selected(arguments)?;
    let stack = Stack::ALL.into_iter().find(|stack| stack.item() == part);
    if let Some(runs) = arguments.runs {
        let problem = "not valid with abroad, which runs each network once; --networks draws more";
        refused(&format!("--runs {runs}"), problem)?;
    }
    if arguments.verbose && stack.is_none() {
        refused("--verbose", "only valid with abroad; --algorithms names what abroad/loop runs")?;
    }
    if let (true, Some(name), Some(_)) = (arguments.verbose, arguments.algorithms.first(), stack) {
        refused(&format!("--algorithms {name}"), "not valid with --verbose, which shows all")?;
    }
    if stack == Some(Stack::Kernel) {
        let problem = "not valid with abroad/kernel, whose runs are recorded";
        if let Some(networks) = arguments.networks {
            refused(&format!("--networks {networks}"), problem)?;
        }
        if arguments.seed != 1 {
            refused(&format!("--seed {}", arguments.seed), problem)?;
        }
    }
    Ok(stack)
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
