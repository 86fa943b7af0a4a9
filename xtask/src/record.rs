//! `record`: compares the program's results for the five papers line by line with two committed
//! tables.
//!
//! `validation/record/items.jsonl` has one line per measured value, `claims.jsonl` one per claim. A
//! change of the program that changes a number changes a line of a table, and its commit says why.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use losscause_laboratory::papers::record::{ClaimOutcome, Item};
use losscause_laboratory::papers::reproduce::Reproduction;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::shell::{all_kept, losscause, program, read, run, target};

/// The papers whose results are recorded.
pub(crate) const PAPERS: [&str; 5] = ["barman2002", "biaz1999", "cen2003", "koo2007", "dalwadi"];
/// Every measured value, a JSON object a line.
const ITEMS: &str = "validation/record/items.jsonl";
/// Every claim, likewise.
const CLAIMS: &str = "validation/record/claims.jsonl";
/// Runs behind every recorded value.
pub(crate) const RUNS: u32 = 2;

/// The arguments of `record`.
#[derive(Default, clap::Args)]
pub(crate) struct Options {
    /// Rewrite the tables instead of comparing with them.
    #[arg(long)]
    update: bool,
    /// Read this output of `losscause reproduce --runs 2 --seed 1 --format json` instead of running
    /// the papers.
    #[arg(long, value_name = "JSON")]
    from: Option<PathBuf>,
}

/// The folder with the report of the five papers, measured with two runs. Several steps of CI take
/// it; the first one makes it.
///
/// # Errors
/// It cannot be made.
pub(crate) fn report() -> Result<&'static Path> {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    if let Some(folder) = MADE.get() {
        return Ok(folder);
    }
    let folder = target().join("look/record");
    let mut reproduce = program(losscause()?);
    reproduce.args(["--quiet", "reproduce", "--restart", "--seed", "1"]);
    run(reproduce.args(["--runs", &RUNS.to_string(), "--out"]).arg(&folder).args(PAPERS))?;
    Ok(MADE.get_or_init(|| folder))
}

/// Compares with the committed tables, or writes them.
pub(crate) fn record(options: &Options) -> Result<()> {
    let file = match &options.from {
        Some(path) => std::path::absolute(path)?,
        None => report()?.join("result.json"),
    };
    let result: Reproduction =
        serde_json::from_str(&read(&file)?).context("reproduce printed something else")?;
    let claims = result.claims.iter().chain(&result.claims_beside);
    let files = [(ITEMS, lines(&result.items)?), (CLAIMS, lines(claims)?)];
    all_kept(files.map(|(file, now)| (file.to_owned(), now)), "record", options.update)
}

fn lines(all: impl IntoIterator<Item = impl Serialize>) -> Result<String> {
    all.into_iter().map(|one| Ok(serde_json::to_string(&one)? + "\n")).collect()
}

/// The recorded values and claims.
///
/// # Errors
/// A table cannot be read.
pub(crate) fn recorded() -> Result<(Vec<Item>, Vec<ClaimOutcome>)> {
    Ok((parsed(ITEMS)?, parsed(CLAIMS)?))
}

fn parsed<T: DeserializeOwned>(file: &str) -> Result<Vec<T>> {
    let text = read(file)?;
    text.lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(|| file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_value_is_read_with_all_its_digits() {
        let (items, claims) = recorded().unwrap();
        assert_eq!(lines(items).unwrap(), read(ITEMS).unwrap());
        assert_eq!(lines(claims).unwrap(), read(CLAIMS).unwrap());
    }
}
