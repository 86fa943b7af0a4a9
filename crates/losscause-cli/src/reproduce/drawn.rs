//! What the benchmarks of drawn networks share: their parts, which options they take, and what they
//! print and write.

use std::time::Instant;

use losscause_study::InputError;
use losscause_study::Workers;
use losscause_study::error::unknown;
use losscause_study::tools::atomic;
use losscause_study::tools::atomic::folder::Folder;
use serde::Serialize;

use super::{Arguments, REPORT, RESULT, VERB, open};
use crate::failure::Failure;
use crate::notice;
use crate::output::{self, Format};

/// A benchmark, by the names of its parts. The first one's is the benchmark's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Benchmark {
    parts: &'static [&'static str],
}

/// Drawn paths.
pub(super) const PATHS: Benchmark = Benchmark { parts: &["paths", "paths/loop"] };

/// Kinds of networks that the drawn paths do not have.
pub(super) const ABROAD: Benchmark = Benchmark {
    parts: &["abroad", "abroad/receivers", "abroad/captures", "abroad/kernel", "abroad/loop"],
};

impl Benchmark {
    fn name(self) -> &'static str {
        self.parts[0]
    }

    /// Whether the items name it.
    pub(super) fn is_named(self, items: &[String]) -> bool {
        let begin = format!("{}/", self.name());
        items.iter().any(|name| name == self.name() || name.starts_with(&begin))
    }

    /// The part that is asked for. Refuses what does not belong to it.
    pub(super) fn selected(self, arguments: &Arguments) -> Result<&'static str, InputError> {
        let Arguments { only, also, check, timing, items, .. } = arguments;
        let given = [
            only.first().map(|only| format!("--only {only}")),
            also.first().map(|also| format!("--also {also}")),
            check.as_ref().map(|file| format!("--check {}", file.display())),
            timing.then(|| "--timing".to_owned()),
        ];
        if let Some(option) = given.into_iter().flatten().next() {
            self.refuse(&option)?;
        }
        let problem = format!("not valid with {}; remove it", self.name());
        arguments.earlier.refuse(&problem)?;
        refuse_options(arguments, Some(self))?;
        let problem = match items.as_slice() {
            [name] => match self.parts.iter().find(|part| *part == name) {
                Some(part) => return Ok(part),
                None => unknown(name, self.parts),
            },
            _ => format!("expected {} alone", self.parts.join(" or ")),
        };
        refused(&items.join(" "), &problem).map(|()| self.name())
    }

    /// Refuses an option that it does not take.
    pub(super) fn refuse(self, option: &str) -> Result<(), InputError> {
        refused(option, &format!("not valid with {}; remove it", self.name()))
    }
}

/// Refuses the options of benchmarks for anything else.
pub(super) fn refuse_options(
    arguments: &Arguments,
    named: Option<Benchmark>,
) -> Result<(), InputError> {
    let Arguments { paths, networks, kind, algorithms, print, .. } = arguments;
    let given: [(Option<String>, &[Benchmark]); 5] = [
        (paths.map(|count| format!("--paths {count}")), &[PATHS]),
        (networks.map(|count| format!("--networks {count}")), &[ABROAD]),
        (kind.first().map(|name| format!("--kind {name}")), &[ABROAD]),
        (algorithms.first().map(|name| format!("--algorithms {name}")), &[PATHS, ABROAD]),
        (print.as_ref().map(|path| format!("--print {path}")), &[PATHS, ABROAD]),
    ];
    for (option, takers) in given {
        if let Some(option) = option
            && named.is_none_or(|named| !takers.contains(&named))
        {
            let takers: Vec<&str> = takers.iter().map(|taker| taker.name()).collect();
            refused(&option, &format!("only valid with {}; remove it", takers.join(" or ")))?;
        }
    }
    Ok(())
}

pub(super) fn refused(option: &str, problem: &str) -> Result<(), InputError> {
    Err(InputError::Option { option: option.to_owned(), problem: problem.to_owned() })
}

/// Refuses a count of zero.
pub(super) fn at_least_one(option: &str, count: u32) -> Result<u32, InputError> {
    match count {
        0 => refused(&format!("{option} 0"), "expected 1 or more").map(|()| 0),
        count => Ok(count),
    }
}

/// The threads.
pub(super) fn workers(arguments: &Arguments) -> Result<Workers, Failure> {
    Ok(Workers::from(arguments.jobs.unwrap_or_default()))
}

/// Where the results go.
pub(super) struct Results {
    begun: Instant,
    format: Format,
    /// The name of the table of numbers.
    csv: &'static str,
    folder: Option<Folder>,
}

impl Results {
    /// Locks the folder of the results, before the runs. `csv` is the name of the table of numbers.
    pub(super) fn of(arguments: &Arguments, csv: &'static str) -> Result<Self, Failure> {
        let folder = arguments
            .out
            .as_deref()
            .map(|out| open(out, VERB, &[RESULT, REPORT, csv]))
            .transpose()?;
        Ok(Self { begun: Instant::now(), format: arguments.format, csv, folder })
    }

    /// Prints what was found, writes the report, the JSON and the CSV, and says how long it took.
    pub(super) fn give(
        self,
        found: &impl Serialize,
        table: impl Fn() -> String,
        page: impl Fn() -> String,
        csv: &str,
    ) -> Result<(), Failure> {
        match self.format {
            Format::Json => output::json(found)?,
            Format::Table => output::line(&table())?,
        }
        let mut place = String::new();
        if let Some(folder) = self.folder {
            place = format!(", report in {}", folder.file(REPORT).display());
            let files = vec![
                atomic::whole(&folder.file(RESULT), output::json_text(found)?.as_bytes())?,
                atomic::whole(&folder.file(REPORT), page().as_bytes())?,
                atomic::whole(&folder.file(self.csv), csv.as_bytes())?,
            ];
            folder.finish(files)?;
        }
        notice::print(&format!("{:.1} s{place}", self.begun.elapsed().as_secs_f64()));
        Ok(())
    }
}
