//! `losscause reproduce paths` and `paths/loop`: the benchmark of drawn paths.

use losscause_experiments::paths::{Path, Vantage, benchmark, in_loop};
use losscause_study::{InputError, Registry};

use super::Arguments;
use super::drawn::{PATHS, Results, at_least_one, refused, workers};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use crate::tables::paths as tables;

/// Paths that are drawn if nothing says how many.
const COUNT: u32 = 80;

/// Makes the runs, then prints the answer and the tables; or prints one path's scenario.
pub(super) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let in_loop = selected(arguments)?;
    if let Some(path) = &arguments.print {
        return Ok(output::line(scenario(path)?.trim_end())?);
    }
    let paths = at_least_one("--paths", arguments.paths.unwrap_or(COUNT))?;
    let runs = at_least_one("--runs", arguments.runs.unwrap_or(1))?;
    let workers = workers(arguments)?;
    let results = Results::of(arguments, if in_loop { "loop.csv" } else { "paths.csv" })?;
    let seed = arguments.seed;
    if in_loop {
        let contenders = in_loop::chosen(registry, &arguments.algorithms)?;
        let mut progress = Progress::new("runs", in_loop::runs(paths, runs, &contenders));
        let found =
            in_loop::measure(&contenders, seed, paths, runs, &workers, |done| progress.set(done))?;
        drop(progress);
        let csv = found.csv();
        results.give(&found, || tables::in_loop(&found), || found.html(), &csv)
    } else {
        let mut progress = Progress::new("runs", benchmark::runs(paths));
        let found = benchmark::measure(registry, seed, paths, &workers, |done| progress.set(done))?;
        drop(progress);
        let csv = found.csv();
        results.give(&found, || tables::benchmark(&found), || found.html(), &csv)
    }
}

/// Whether the part in the loop is asked for. Refuses what does not belong to the benchmark.
fn selected(arguments: &Arguments) -> Result<bool, InputError> {
    let Arguments { runs, verbose, algorithms, .. } = arguments;
    let in_loop = PATHS.selected(arguments)? == "paths/loop";
    if *verbose {
        PATHS.refuse("--verbose")?;
    }
    if let (false, Some(name)) = (in_loop, algorithms.first()) {
        refused(
            &format!("--algorithms {name}"),
            "only valid with paths/loop; paths has every algorithm in its table",
        )?;
    }
    if let (false, Some(runs)) = (in_loop, runs) {
        let problem = "only valid with paths/loop; paths runs each path once";
        refused(&format!("--runs {runs}"), problem)?;
    }
    Ok(in_loop)
}

/// The scenario of the path `SEED/NUMBER`, or `SEED/NUMBER/sender`.
fn scenario(path: &str) -> Result<String, InputError> {
    let ends = Vantage::ALL.iter().map(|&vantage| (vantage, format!("/{vantage}")));
    let named = ends
        .into_iter()
        .find_map(|(vantage, end)| Some((vantage, path.strip_suffix(&end)?.to_owned())));
    let (vantage, path) = named.unwrap_or((Vantage::Receiver, path.to_owned()));
    Ok(path.parse::<Path>()?.scenario(vantage))
}
