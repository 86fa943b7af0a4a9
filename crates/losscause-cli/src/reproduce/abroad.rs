//! `losscause reproduce abroad` and `abroad/loop`: kinds of networks that the drawn paths do not
//! have.

use losscause_experiments::abroad::{Drawn, drawn, in_loop, verdicts};
use losscause_study::{InputError, Registry};

use super::Arguments;
use super::drawn::{ABROAD, Results, at_least_one, refused, workers};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::tables::abroad as tables;

/// Networks that are drawn of each kind if nothing says how many.
const COUNT: u32 = 20;

/// Makes the runs, then prints the answer and the tables; or prints one network's scenario.
pub(super) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let in_loop = selected(arguments)?;
    if let Some(network) = &arguments.print {
        return Ok(output::line(network.parse::<Drawn>()?.scenario().trim_end())?);
    }
    let networks = at_least_one("--networks", arguments.networks.unwrap_or(COUNT))?;
    let kinds = drawn::chosen(&arguments.kind)?;
    let seed = arguments.seed;
    if in_loop {
        let kinds = in_loop::kinds(&kinds)?;
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
    } else {
        let shown = verdicts::columns(registry, &arguments.algorithms)?;
        let workers = workers(arguments)?;
        let results = Results::of(arguments, "flows.csv")?;
        let mut progress = Progress::new("runs", kinds.len() * networks as usize);
        let found = verdicts::measure(registry, &kinds, seed, networks, &workers, |done| {
            progress.set(done);
        })?;
        drop(progress);
        let shown = if arguments.verbose { found.names() } else { shown };
        let csv = found.csv();
        results.give(&found, || tables::verdicts(&found, &shown), || found.html(&shown), &csv)
    }
}

/// Whether the part in the loop is asked for. Refuses what does not belong to the benchmark.
fn selected(arguments: &Arguments) -> Result<bool, InputError> {
    let in_loop = ABROAD.selected(arguments)?;
    if let Some(runs) = arguments.runs {
        let problem = "not valid with abroad, which runs each network once; --networks draws more";
        refused(&format!("--runs {runs}"), problem)?;
    }
    if arguments.verbose && in_loop {
        refused("--verbose", "only valid with abroad; --algorithms names what abroad/loop runs")?;
    }
    if let (true, Some(name), false) = (arguments.verbose, arguments.algorithms.first(), in_loop) {
        refused(&format!("--algorithms {name}"), "not valid with --verbose, which shows all")?;
    }
    Ok(in_loop)
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
