//! `record`: compares the program's results for the five papers line by line with two committed
//! tables.
//!
//! `validation/record/values.csv` has one line per measured value, `claims.csv` one per claim. A
//! change of the program that changes a number changes a line of a table, and its commit says why.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use losscause_laboratory::papers::record::Parameters;
use losscause_laboratory::papers::record::{ClaimOutcome, Item};
use losscause_laboratory::papers::reproduce::Reproduction;

use crate::shell::{command, losscause, root, run, target};

/// The papers whose results are recorded.
pub(crate) const PAPERS: [&str; 5] = ["barman2002", "biaz1999", "cen2003", "koo2007", "dalwadi"];
/// The table of measured values, in `validation/record`.
pub(crate) const VALUES_FILE: &str = "values.csv";
/// The table of claims.
pub(crate) const CLAIMS_FILE: &str = "claims.csv";
/// Runs behind every recorded value.
pub(crate) const RUNS: u32 = 2;

const VALUES: [&str; 7] =
    ["paper", "item", "system", "scenario", "parameters", "metric", "measured"];
const CLAIMS: [&str; 3] = ["paper", "claim", "holds"];

/// The maximum number of lines that are printed per table.
const MOST_LINES: usize = 40;

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

/// A table: its columns, and its lines in the order of the program's output. The last column is the
/// result; the columns before it are the name of the line.
#[derive(Debug, PartialEq)]
struct Table {
    columns: Vec<String>,
    lines: Vec<Vec<String>>,
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
    let runs = RUNS.to_string();
    let reproduce = ["--quiet", "reproduce", "--runs", runs.as_str(), "--seed", "1", "--out"];
    run(command(&losscause()?).args(reproduce).arg(&folder).args(PAPERS))?;
    Ok(MADE.get_or_init(|| folder))
}

/// Runs the papers and compares the results with the committed tables.
pub(crate) fn compare() -> Result<()> {
    record(&Options { update: false, from: None })
}

/// Compares with the committed tables, or writes them.
pub(crate) fn record(options: &Options) -> Result<()> {
    let written = match &options.from {
        Some(path) => {
            fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?
        }
        None => {
            let file = report()?.join("result.json");
            fs::read(&file).with_context(|| format!("{} cannot be read", file.display()))?
        }
    };
    let reproduction: Reproduction =
        serde_json::from_slice(&written).context("reproduce printed something else")?;
    let all_claims = [reproduction.claims.clone(), reproduction.claims_beside.clone()].concat();
    let tables = [(VALUES_FILE, values(&reproduction.items)), (CLAIMS_FILE, claims(&all_claims))];
    let mut differing = 0;
    for (name, now) in &tables {
        let path = root().join("validation/record").join(name);
        if options.update {
            write(&path, now)?;
            println!("{}: {} lines", path.display(), now.lines.len());
            continue;
        }
        let differences = differences(&read(&path)?, now);
        differences.iter().take(MOST_LINES).for_each(|line| println!("{name}: {line}"));
        if differences.len() > MOST_LINES {
            println!("{name}: and {} more", differences.len() - MOST_LINES);
        }
        println!("{name}: {} of {} lines differ", differences.len(), now.lines.len());
        differing += differences.len();
    }
    if differing > 0 {
        bail!(
            "the record differs; if that is intended, run `cargo xtask record --update` and say why in the commit"
        );
    }
    Ok(())
}

fn values(items: &[Item]) -> Table {
    let line = |i: &Item| {
        let measured = i.measured.map_or_else(String::new, |value| value.to_string());
        vec![
            i.paper.clone(),
            i.id.clone(),
            i.system.clone(),
            i.scenario.clone(),
            parameters(&i.parameters),
            i.metric.clone(),
            measured,
        ]
    };
    Table { columns: VALUES.map(str::to_owned).to_vec(), lines: items.iter().map(line).collect() }
}

fn parameters(parameters: &Parameters) -> String {
    parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn claims(claims: &[ClaimOutcome]) -> Table {
    let holds = |holds: Option<bool>| match holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not settled",
    };
    let line = |c: &ClaimOutcome| vec![c.paper.clone(), c.id.clone(), holds(c.holds).to_owned()];
    Table { columns: CLAIMS.map(str::to_owned).to_vec(), lines: claims.iter().map(line).collect() }
}

/// The lines of a committed table.
///
/// # Errors
/// It cannot be read.
pub(crate) fn recorded(name: &str) -> Result<Vec<Vec<String>>> {
    Ok(read(&root().join("validation/record").join(name))?.lines)
}

fn read(path: &PathBuf) -> Result<Table> {
    let mut reader = csv::Reader::from_path(path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    let columns = reader.headers()?.iter().map(str::to_owned).collect();
    let lines = reader
        .records()
        .map(|r| Ok(r?.iter().map(str::to_owned).collect()))
        .collect::<Result<_>>()?;
    Ok(Table { columns, lines })
}

fn write(path: &PathBuf, table: &Table) -> Result<()> {
    let mut writer = csv::Writer::from_path(path)
        .with_context(|| format!("{} cannot be written", path.display()))?;
    writer.write_record(&table.columns)?;
    table.lines.iter().try_for_each(|line| writer.write_record(line))?;
    Ok(writer.flush()?)
}

/// One sentence per line that differs, in the order of the lines' names.
fn differences(recorded: &Table, now: &Table) -> Vec<String> {
    let before = answers(recorded);
    let after = answers(now);
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let sentence = |name: &Vec<&str>| {
        let shown = name.join(" ");
        match (before.get(name), after.get(name)) {
            (Some(before), Some(after)) if before == after => None,
            (Some(before), Some(after)) => {
                Some(format!("{shown}: recorded {before:?}, now {after:?}"))
            }
            (Some(before), None) => Some(format!("{shown}: recorded {before:?}, now not measured")),
            (None, after) => Some(format!("{shown}: not recorded, now {:?}", after.unwrap_or(&""))),
        }
    };
    names.into_iter().filter_map(sentence).collect()
}

fn answers(table: &Table) -> BTreeMap<Vec<&str>, &str> {
    table
        .lines
        .iter()
        .filter_map(|line| line.split_last())
        .map(|(answer, name)| (name.iter().map(String::as_str).collect(), answer.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(lines: &[[&str; 3]]) -> Table {
        let line = |line: &[&str; 3]| line.map(str::to_owned).to_vec();
        Table {
            columns: CLAIMS.map(str::to_owned).to_vec(),
            lines: lines.iter().map(line).collect(),
        }
    }

    #[test]
    fn a_line_that_changed_came_or_went_is_named_with_both_answers() {
        let recorded =
            table(&[["koo2007", "a", "yes"], ["koo2007", "b", "no"], ["koo2007", "c", "yes"]]);
        let now =
            table(&[["koo2007", "c", "yes"], ["koo2007", "a", "no"], ["koo2007", "d", "yes"]]);
        let expected = [
            "koo2007 a: recorded \"yes\", now \"no\"",
            "koo2007 b: recorded \"no\", now not measured",
            "koo2007 d: not recorded, now \"yes\"",
        ];
        assert_eq!(differences(&recorded, &now), expected);
        assert!(differences(&now, &now).is_empty());
    }

    #[test]
    fn a_measured_value_keeps_its_digits_from_json_to_the_table() {
        let json = r#"{ "id": "x", "paper": "dalwadi", "source": "", "system": "NewReno", "scenario": "none", "metric": "M_c",
            "parameters": { "p": 0.1, "N": 2 }, "unit": "1", "published": null, "measured": 228.74401415095042, "ci95": null,
            "runs": 2, "status": "missed" }"#;
        let item: Item = serde_json::from_str(json).expect("an item");
        let none = Item { measured: None, ..item.clone() };
        let expected = [
            "dalwadi,x,NewReno,none,N=2 p=0.1,M_c,228.74401415095042",
            "dalwadi,x,NewReno,none,N=2 p=0.1,M_c,",
        ];
        let lines: Vec<String> =
            values(&[item, none]).lines.iter().map(|line| line.join(",")).collect();
        assert_eq!(lines, expected);
    }
}
