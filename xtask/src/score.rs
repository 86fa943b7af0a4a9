//! `score`: compares the program's scorecard with that of an independent script that applies the
//! same rule.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use losscause_laboratory::papers::record;
use losscause_laboratory::papers::reproduce::{Reproduction, conclude};
use losscause_laboratory::papers::score::{judge, lookup_number};

use crate::shell::{command, output};

/// The arguments of `score`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Output of `losscause reproduce --format json`.
    result: PathBuf,
    /// A Python script that prints the score of such a file, next to the published values.
    #[arg(long)]
    against: Option<PathBuf>,
}

/// Prints the scorecard of a result. With a script, fails unless the script has the same result for
/// every number and claim.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { result, against } = arguments;
    let text = fs::read_to_string(result)
        .with_context(|| format!("{} cannot be read", result.display()))?;
    let written: Reproduction = serde_json::from_str(&text)
        .with_context(|| format!("{} is no result of reproduce", result.display()))?;
    let ours = answer(&written);
    ours.iter().filter(|line| line.contains(": numbers ")).for_each(|line| println!("{line}"));
    let Some(script) = against.as_deref().filter(|script| script.exists()) else {
        println!(
            "skipped: comparison with the independent script (1 check; --against names no script that exists)"
        );
        return Ok(());
    };
    let theirs = answer_of(script, result)?;
    let (only_ours, only_theirs): (Vec<_>, Vec<_>) =
        (ours.difference(&theirs).collect(), theirs.difference(&ours).collect());
    only_ours.iter().for_each(|line| println!("only here:       {line}"));
    only_theirs.iter().for_each(|line| println!("only the script: {line}"));
    if !only_ours.is_empty() || !only_theirs.is_empty() {
        bail!("{} answers differ", only_ours.len().max(only_theirs.len()));
    }
    println!("{} answers agree with {}", ours.len(), script.display());
    Ok(())
}

/// One line per missed number, failed claim, unmeasured value, and paper, computed from the
/// measured values.
fn answer(written: &Reproduction) -> BTreeSet<String> {
    let reproduction = conclude(&written.items, written.seed);
    let mut lines: BTreeSet<String> =
        reproduction.scorecards().iter().map(ToString::to_string).collect();
    for card in reproduction.scorecards() {
        let paper = record::find(&card.paper).expect("a scorecard is of a known paper");
        let items: Vec<_> =
            reproduction.items.iter().filter(|i| i.paper == card.paper).cloned().collect();
        for number in paper.published().number.iter().filter(|n| n.counts()) {
            let name = format!("{} {}", card.paper, number.id);
            match lookup_number(&items, number) {
                None => _ = lines.insert(format!("unmeasured {name}")),
                Some(item) if judge(number, item, card.repetitions) => {}
                Some(_) => _ = lines.insert(format!("missed {name}")),
            }
        }
        let checkable =
            |id: &str| paper.published().claim.iter().any(|c| c.id == id && c.checkable);
        for claim in
            reproduction.claims.iter().filter(|c| c.paper == card.paper && checkable(&c.id))
        {
            let name = format!("{} {}", card.paper, claim.id);
            match claim.holds {
                Some(true) => {}
                Some(false) => _ = lines.insert(format!("fails {name}")),
                None => _ = lines.insert(format!("unmeasured {name}")),
            }
        }
    }
    lines
}

/// The same lines by the script, which appends figures after a colon.
fn answer_of(script: &Path, result: &Path) -> Result<BTreeSet<String>> {
    let absolute = |path: &Path| {
        fs::canonicalize(path).with_context(|| format!("{} cannot be read", path.display()))
    };
    let script = absolute(script)?;
    let result = absolute(result)?;
    let printed =
        output(command("python3").arg(script).arg(result).args(["--misses", "--unmeasured"]))?;
    let lines = String::from_utf8(printed).context("the script did not print text")?;
    let line = |line: &str| match line.split_once(' ') {
        Some((outcome @ ("missed" | "fails" | "unmeasured"), rest)) => {
            Some(format!("{outcome} {}", rest.split(':').next().unwrap_or(rest)))
        }
        _ => line.contains(": numbers ").then(|| line.to_owned()),
    };
    Ok(lines.lines().filter_map(line).collect())
}
