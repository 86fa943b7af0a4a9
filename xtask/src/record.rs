//! `record`: compares the program's results for the five papers line by line with two committed
//! tables.
//!
//! `validation/record/values.csv` has one line per measured value, `claims.csv` one per claim. A
//! change of the program that changes a number changes a line of a table, and its commit says why.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use losscause_laboratory::papers::record::{ClaimOutcome, Item};
use losscause_laboratory::papers::reproduce::Reproduction;
use losscause_study::tools::csv_file;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::shell::{is_kept, losscause, program, read, root, run, target};

/// The papers whose results are recorded.
pub(crate) const PAPERS: [&str; 5] = ["barman2002", "biaz1999", "cen2003", "koo2007", "dalwadi"];
/// The table of measured values, in `validation/record`.
pub(crate) const VALUES_FILE: &str = "values.csv";
/// The table of claims.
pub(crate) const CLAIMS_FILE: &str = "claims.csv";
/// Runs behind every recorded value.
pub(crate) const RUNS: u32 = 2;

/// A line of the table of values.
#[derive(Serialize, Deserialize)]
pub(crate) struct ValueLine {
    pub(crate) paper: String,
    pub(crate) item: String,
    pub(crate) system: String,
    pub(crate) scenario: String,
    /// "N=2 p=0.1".
    pub(crate) parameters: String,
    pub(crate) metric: String,
    /// In all digits; empty for none.
    pub(crate) measured: String,
}

/// A line of the table of claims.
#[derive(Serialize, Deserialize)]
pub(crate) struct ClaimLine {
    pub(crate) paper: String,
    pub(crate) claim: String,
    /// "yes", "no" or "not settled".
    pub(crate) holds: String,
}

/// The arguments of `record`.
#[derive(clap::Args)]
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

/// Runs the papers and compares the results with the committed tables.
pub(crate) fn compare() -> Result<()> {
    record(&Options { update: false, from: None })
}

/// Compares with the committed tables, or writes them.
pub(crate) fn record(options: &Options) -> Result<()> {
    let file = match &options.from {
        Some(path) => std::path::absolute(path)?,
        None => report()?.join("result.json"),
    };
    let result: Reproduction =
        serde_json::from_str(&read(&file)?).context("reproduce printed something else")?;
    let values = csv_file::text(result.items.iter().map(value));
    let claims = csv_file::text(result.claims.iter().chain(&result.claims_beside).map(claim));
    let is_kept = |name: &str, now: &str| is_kept(&recorded_file(name), now, options.update);
    // Both are compared, whatever the first says.
    if [is_kept(VALUES_FILE, &values)?, is_kept(CLAIMS_FILE, &claims)?].contains(&false) {
        bail!(
            "the record differs; if that is intended, run `cargo xtask record --update` and say why in the commit"
        );
    }
    Ok(())
}

fn value(item: &Item) -> ValueLine {
    let parameters = item.parameters.iter().map(|(name, value)| format!("{name}={value}"));
    ValueLine {
        paper: item.paper.clone(),
        item: item.id.clone(),
        system: item.system.clone(),
        scenario: item.scenario.clone(),
        parameters: parameters.collect::<Vec<_>>().join(" "),
        metric: item.metric.clone(),
        measured: item.measured.map_or_else(String::new, |value| value.to_string()),
    }
}

fn claim(claim: &ClaimOutcome) -> ClaimLine {
    let holds = claim.holds.map_or("not settled", |holds| if holds { "yes" } else { "no" });
    ClaimLine { paper: claim.paper.clone(), claim: claim.id.clone(), holds: holds.to_owned() }
}

fn recorded_file(name: &str) -> PathBuf {
    root().join("validation/record").join(name)
}

/// The lines of a committed table.
///
/// # Errors
/// It cannot be read.
pub(crate) fn recorded<T: DeserializeOwned>(name: &str) -> Result<Vec<T>> {
    let mut table = csv::Reader::from_path(recorded_file(name)).context(name.to_owned())?;
    table.deserialize().collect::<Result<_, _>>().context(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_value_keeps_its_digits_from_json_to_the_table() {
        let json = r#"{ "id": "x", "paper": "dalwadi", "source": "", "system": "NewReno", "scenario": "none", "metric": "M_c",
            "parameters": { "p": 0.1, "N": 2 }, "unit": "1", "published": null, "measured": 228.74401415095042, "ci95": null,
            "runs": 2, "status": "missed" }"#;
        let item: Item = serde_json::from_str(json).expect("an item");
        let none = Item { measured: None, ..item.clone() };
        let expected = "paper,item,system,scenario,parameters,metric,measured\n\
                        dalwadi,x,NewReno,none,N=2 p=0.1,M_c,228.74401415095042\n\
                        dalwadi,x,NewReno,none,N=2 p=0.1,M_c,\n";
        assert_eq!(csv_file::text([item, none].iter().map(value)), expected);
    }
}
