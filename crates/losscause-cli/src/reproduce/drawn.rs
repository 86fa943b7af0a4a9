//! `losscause reproduce paths`, `abroad` and their parts: experiments over drawn networks.

use std::time::Instant;

use clap::{Args, FromArgMatches};
use losscause_experiments::abroad::{self, ObservedAt, network};
use losscause_experiments::drawn::{End, Found, Part, RunList};
use losscause_experiments::paths::{self, Path};
use losscause_report::map_html;
use losscause_study::error::unknown;
use losscause_study::{InputError, Origin, Registry, RunError, Workers};
use serde::Serialize;

use super::{Arguments, Place, REPORT, RESULT, VERB, measured};
use crate::failure::Failure;
use crate::notice;
use crate::output::{self, Format};

/// Paths that are drawn if nothing says how many.
const PATHS: u32 = 80;

/// Networks that are drawn of each kind if nothing says how many.
const NETWORKS: u32 = 20;

/// The experiments, by the names of their parts. The first one's is the experiment's own.
const PARTS: [&[&str]; 2] = [
    &["paths", "paths/loop"],
    &["abroad", "abroad/receivers", "abroad/captures", "abroad/kernel", abroad::in_loop::ITEM],
];

/// The parts of the experiment that the items name; none if they name none.
pub(crate) fn named(items: &[String]) -> Option<&'static [&'static str]> {
    let is_named =
        |parts: &&&[&str]| items.iter().any(|item| item.split('/').next() == Some(parts[0]));
    PARTS.iter().find(is_named).copied()
}

/// Makes the runs of one of these parts, then prints the answer and the tables; or prints the
/// scenario of a network.
pub(super) fn run(
    arguments: &Arguments,
    parts: &[&'static str],
    registry: &Registry,
) -> Result<(), Failure> {
    if let Some(network) = &arguments.print {
        selected(arguments, parts)?;
        let scenario = match parts[0] {
            "paths" => scenario_of_path(network)?,
            _ => network.parse::<network::Drawn>()?.scenario(),
        };
        return Ok(output::line(scenario.trim_end())?);
    }
    planned(arguments, parts, registry, Print(arguments))
}

/// What these drawn networks show.
pub struct Drawn {
    /// The document that `--format json` prints.
    pub json: String,
    /// The answer in words.
    pub answer: String,
}

/// What is done with the runs of a part.
trait Use<T, E> {
    fn of<L: RunList<Found: Found>>(self, experiment: &L) -> Result<T, E>;
}

/// Prints what is found, or writes it into files.
struct Print<'a>(&'a Arguments);

impl Use<(), Failure> for Print<'_> {
    fn of<L: RunList<Found: Found>>(self, experiment: &L) -> Result<(), Failure> {
        measure(experiment, self.0)
    }
}

/// Returns what is found; the function is told how many runs are finished.
struct Return<'a, F>(&'a Workers, F, u64);

impl<F: FnMut(usize, usize)> Use<Drawn, RunError> for Return<'_, F> {
    fn of<L: RunList<Found: Found>>(self, experiment: &L) -> Result<Drawn, RunError> {
        let Self(workers, done, seed) = self;
        let found = experiment.measure(workers, None, done)?;
        let command = experiment.command();
        let texts = found.shown(&command).text.into_iter();
        let answer = texts.take(1).map(text).collect();
        let json = serde_json::to_string_pretty(&Stated::of(&found, &command, seed));
        Ok(Drawn { json: json.expect("results have text keys") + "\n", answer })
    }
}

/// [`Drawn`] of the experiment and the options that these words are.
pub(crate) fn found(
    words: &[String],
    registry: &Registry,
    workers: &Workers,
    done: impl FnMut(usize, usize),
) -> Result<Drawn, RunError> {
    let refused = |error: clap::Error| InputError::Option {
        option: words.join(" "),
        problem: error.kind().to_string(),
    };
    let parser = Arguments::augment_args(clap::Command::new(VERB).no_binary_name(true));
    let matches = parser.try_get_matches_from(words).map_err(refused)?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(refused)?;
    let parts = named(&arguments.items).unwrap_or(PARTS[0]);
    let seed = arguments.seed;
    planned(&arguments, parts, registry, Return(workers, done, seed))
}

/// What was found, with its origin.
#[derive(Serialize)]
struct Stated<'a, F> {
    origin: Origin,
    #[serde(flatten)]
    found: &'a F,
}

impl<'a, F> Stated<'a, F> {
    fn of(found: &'a F, command: &str, seed: u64) -> Self {
        let origin = Origin::of_command(format!("losscause {VERB} {command}"), Some(seed));
        Self { origin, found }
    }
}

/// Plans one of these parts and hands it on.
fn planned<T, E: From<InputError>>(
    arguments: &Arguments,
    parts: &[&'static str],
    registry: &Registry,
    then: impl Use<T, E>,
) -> Result<T, E> {
    let part = selected(arguments, parts)?;
    let Arguments { seed, algorithms, .. } = arguments;
    if parts[0] == "paths" {
        let paths = at_least_one("--paths", arguments.paths.unwrap_or(PATHS))?;
        let runs = at_least_one("--runs", arguments.runs.unwrap_or(1))?;
        return match part {
            "paths" => then.of(&paths::benchmark::Plan::new(registry, *seed, paths)),
            _ => then.of(&paths::in_loop::Plan::new(registry, algorithms, *seed, paths, runs)?),
        };
    }
    let networks = at_least_one("--networks", arguments.networks.unwrap_or(NETWORKS))?;
    let kinds = network::chosen(&arguments.kind)?;
    let drawn = (*seed, networks);
    match ObservedAt::ALL.into_iter().find(|at| at.item() == part) {
        None => then.of(&abroad::in_loop::Plan::new(registry, algorithms, &kinds, drawn)?),
        Some(at) => {
            let shown = (!arguments.verbose).then_some(&algorithms[..]);
            then.of(&abroad::verdicts::Plan::new(at, registry, &kinds, drawn, shown)?)
        }
    }
}

/// Makes the runs, writes the report, the JSON and the CSV, prints what was found, and says how long
/// it took.
fn measure<E: RunList<Found: Found>>(experiment: &E, arguments: &Arguments) -> Result<(), Failure> {
    let begun = Instant::now();
    let csv = <E::Found as Found>::CSV;
    let open = |out| Place::open(out, VERB, &[RESULT, REPORT, csv], arguments.earlier);
    let place = arguments.out.as_deref().map(open).transpose()?;
    let found = measured(experiment, arguments.jobs, place.as_ref())?;
    let command = experiment.command();
    let shown = found.shown(&command);
    let stated = Stated::of(&found, &command, arguments.seed);
    let mut report = String::new();
    if let Some(place) = place {
        report = format!(", report in {}", place.folder.file(REPORT).display());
        let texts = [
            (RESULT, output::json_text(&stated)?),
            (REPORT, map_html(&shown.page)),
            (csv, shown.csv),
        ];
        place.finish(&texts)?;
    }
    match arguments.format {
        Format::Json => output::json(&stated)?,
        Format::Table => {
            let texts: Vec<String> = shown.text.into_iter().map(text).collect();
            output::line(&texts.join("\n\n"))?;
        }
    }
    notice::print(&format!("{:.1} s{report}", begun.elapsed().as_secs_f64()));
    Ok(())
}

fn text(part: Part) -> String {
    match part {
        Part::Text(text) => text,
        Part::Table(table) => {
            let drawn = output::table_text(&table);
            if table.title.is_empty() { drawn } else { format!("{}\n{drawn}", table.title) }
        }
    }
}

/// The part that is asked for, of these. Refuses what does not belong to it.
fn selected(arguments: &Arguments, parts: &[&'static str]) -> Result<&'static str, InputError> {
    let Arguments { only, also, check, timing, items, verbose, algorithms, runs, .. } = arguments;
    let name = parts[0];
    let not_valid = &*format!("not valid with {name}; remove it");
    let refuse = |option: String| refused(&option, not_valid);
    only.first().map_or(Ok(()), |only| refuse(format!("--only {only}")))?;
    also.first().map_or(Ok(()), |also| refuse(format!("--also {also}")))?;
    check.as_ref().map_or(Ok(()), |file| refuse(format!("--check {}", file.display())))?;
    refuse_options(arguments, name)?;
    let part = match items.as_slice() {
        [item] => parts.iter().find(|part| *part == item).ok_or_else(|| unknown(item, parts)),
        _ => Err(format!("expected {} alone", parts.join(" or "))),
    };
    let part = match part {
        Ok(part) => *part,
        Err(problem) => return refused(&items.join(" "), &problem).map(|()| name),
    };
    let algorithms = algorithms.first().map(|name| format!("--algorithms {name}"));
    let runs = runs.map(|runs| format!("--runs {runs}"));
    let verbose = verbose.then(|| "--verbose".to_owned());
    let timing = timing.then(|| "--timing".to_owned());
    let recorded = "not valid with abroad/kernel, whose runs are recorded";
    let networks = arguments.networks.map(|networks| format!("--networks {networks}"));
    let seed = (arguments.seed != 1).then(|| format!("--seed {}", arguments.seed));
    let is_all = verbose.is_some();
    let in_loop = part.ends_with("/loop");
    let rules = [
        (timing, true, not_valid),
        (verbose.clone().filter(|_| name == "paths"), true, not_valid),
        (
            algorithms.clone(),
            part == "paths",
            "only valid with paths/loop; paths has every algorithm in its table",
        ),
        (runs.clone(), part == "paths", "only valid with paths/loop; paths runs each path once"),
        (
            runs,
            name == "abroad",
            "not valid with abroad, which runs each network once; --networks draws more",
        ),
        (verbose, in_loop, "only valid with abroad; --algorithms names what abroad/loop runs"),
        (algorithms, is_all, "not valid with --verbose, which shows all"),
        (networks, part == "abroad/kernel", recorded),
        (seed, part == "abroad/kernel", recorded),
    ];
    for (option, is_refused, problem) in rules {
        if let (Some(option), true) = (option, is_refused) {
            refused(&option, problem)?;
        }
    }
    Ok(part)
}

/// Refuses the options of these experiments for anything but `name`, such as "paths".
pub(super) fn refuse_options(arguments: &Arguments, name: &str) -> Result<(), InputError> {
    let Arguments { paths, networks, kind, algorithms, print, .. } = arguments;
    let given: [(Option<String>, &[&str]); 5] = [
        (paths.map(|count| format!("--paths {count}")), &["paths"]),
        (networks.map(|count| format!("--networks {count}")), &["abroad"]),
        (kind.first().map(|name| format!("--kind {name}")), &["abroad"]),
        (algorithms.first().map(|name| format!("--algorithms {name}")), &["paths", "abroad"]),
        (print.as_ref().map(|path| format!("--print {path}")), &["paths", "abroad"]),
    ];
    for (option, takers) in given {
        if let Some(option) = option.filter(|_| !takers.contains(&name)) {
            refused(&option, &format!("only valid with {}; remove it", takers.join(" or ")))?;
        }
    }
    Ok(())
}

fn refused(option: &str, problem: &str) -> Result<(), InputError> {
    Err(InputError::option(option, problem))
}

/// Refuses a count of zero.
fn at_least_one(option: &str, count: u32) -> Result<u32, InputError> {
    match count {
        0 => refused(&format!("{option} 0"), "expected 1 or more").map(|()| 0),
        count => Ok(count),
    }
}

/// The scenario of the path `SEED/NUMBER`, or `SEED/NUMBER/sender`.
fn scenario_of_path(path: &str) -> Result<String, InputError> {
    let at = |end: End| Some((end, path.strip_suffix(&format!("/{end}"))?));
    let (end, path) = End::ALL.into_iter().find_map(at).unwrap_or((End::Receiver, path));
    Ok(path.parse::<Path>()?.scenario(end))
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
