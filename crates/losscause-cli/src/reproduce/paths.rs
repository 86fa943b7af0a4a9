//! `losscause reproduce paths` and `paths/loop`: the benchmark of drawn paths.

use std::path::Path as File;
use std::time::Instant;

use losscause_experiments::paths::{Path, Vantage, benchmark, in_loop};
use losscause_study::InputError;
use losscause_study::error::unknown;
use losscause_study::tools::atomic;
use losscause_study::{Jobs, Registry, Workers};
use serde::Serialize;

use super::{Arguments, REPORT, RESULT, make_writable};
use crate::failure::Failure;
use crate::notice;
use crate::output::{self, Format};
use crate::progress::Progress;
use crate::tables::paths as tables;

/// The benchmark, and its part in the loop.
const PATHS: &str = "paths";
const LOOP: &str = "paths/loop";

/// Paths that are drawn if nothing says how many.
const COUNT: u32 = 80;

/// Whether the items name the benchmark.
pub(super) fn is_named(items: &[String]) -> bool {
    items.iter().any(|name| name == PATHS || name.starts_with("paths/"))
}

/// Refuses the benchmark's options for anything else.
pub(super) fn refuse_options(arguments: &Arguments) -> Result<(), InputError> {
    let Arguments { paths, algorithms, print, .. } = arguments;
    let given = [
        paths.map(|count| format!("--paths {count}")),
        algorithms.first().map(|name| format!("--algorithms {name}")),
        print.as_ref().map(|path| format!("--print {path}")),
    ];
    given
        .into_iter()
        .flatten()
        .next()
        .map_or(Ok(()), |option| refused(&option, "only valid with paths; remove it"))
}

fn refused(option: &str, problem: &str) -> Result<(), InputError> {
    Err(InputError::Option { option: option.to_owned(), problem: problem.to_owned() })
}

/// Makes the runs, then prints the answer and the tables; or prints one path's scenario.
pub(super) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    let begun = Instant::now();
    let in_loop = selected(arguments)?;
    if let Some(path) = &arguments.print {
        return Ok(output::line(scenario(path)?.trim_end())?);
    }
    let paths = arguments.paths.unwrap_or(COUNT);
    if paths == 0 {
        refused("--paths 0", "expected 1 or more")?;
    }
    let runs = arguments.runs.unwrap_or(1);
    if runs == 0 {
        refused("--runs 0", "expected 1 or more")?;
    }
    let jobs = arguments.jobs.map_or_else(|| Ok(Jobs::default()), Jobs::new)?;
    let workers = Workers::from(jobs);
    arguments.out.as_deref().map_or(Ok(()), make_writable)?;
    let seed = arguments.seed;
    let out = arguments.out.as_deref();
    if in_loop {
        let contenders = in_loop::chosen(registry, &arguments.algorithms)?;
        let mut progress = Progress::new("runs", in_loop::runs(paths, runs, &contenders));
        let found =
            in_loop::measure(&contenders, seed, paths, runs, &workers, |done| progress.set(done))?;
        drop(progress);
        show(arguments.format, &found, || tables::in_loop(&found))?;
        write(out, &found, &found.html(), ("loop.csv", &found.csv()))?;
    } else {
        let mut progress = Progress::new("runs", benchmark::runs(paths));
        let found = benchmark::measure(registry, seed, paths, &workers, |done| progress.set(done))?;
        drop(progress);
        show(arguments.format, &found, || tables::benchmark(&found))?;
        write(out, &found, &found.html(), ("paths.csv", &found.csv()))?;
    }
    let place = out.map(|out| format!(", report in {}", out.join(REPORT).display()));
    notice::print(&format!("{:.1} s{}", begun.elapsed().as_secs_f64(), place.unwrap_or_default()));
    Ok(())
}

/// Whether the part in the loop is asked for. Refuses what does not belong to the benchmark.
fn selected(arguments: &Arguments) -> Result<bool, InputError> {
    let Arguments { only, check, runs, timing, verbose, algorithms, items, .. } = arguments;
    let given = [
        only.first().map(|only| format!("--only {only}")),
        check.as_ref().map(|file| format!("--check {}", file.display())),
        timing.then(|| "--timing".to_owned()),
        verbose.then(|| "--verbose".to_owned()),
    ];
    if let Some(option) = given.into_iter().flatten().next() {
        refused(&option, "not valid with paths; remove it")?;
    }
    match items.as_slice() {
        [name] if name == LOOP => Ok(true),
        [name] if name == PATHS => match (algorithms.first(), runs) {
            (None, None) => Ok(false),
            (Some(name), _) => refused(
                &format!("--algorithms {name}"),
                "only valid with paths/loop; paths has every algorithm in its table",
            )
            .map(|()| false),
            (None, Some(runs)) => refused(
                &format!("--runs {runs}"),
                "only valid with paths/loop; paths runs each path once",
            )
            .map(|()| false),
        },
        [name] => refused(name, &unknown(name, &[PATHS, LOOP])).map(|()| false),
        several => {
            refused(&several.join(" "), "expected paths or paths/loop alone").map(|()| false)
        }
    }
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

fn show(format: Format, found: &impl Serialize, table: impl Fn() -> String) -> Result<(), Failure> {
    match format {
        Format::Json => output::json(found)?,
        Format::Table => output::line(&table())?,
    }
    Ok(())
}

/// Writes the report, the JSON and the CSV of every path.
fn write(
    out: Option<&File>,
    found: &impl Serialize,
    page: &str,
    (name, csv): (&str, &str),
) -> Result<(), Failure> {
    let Some(out) = out else { return Ok(()) };
    atomic::write(&out.join(RESULT), output::json_text(found)?.as_bytes())?;
    atomic::write(&out.join(REPORT), page.as_bytes())?;
    atomic::write(&out.join(name), csv.as_bytes())?;
    Ok(())
}
