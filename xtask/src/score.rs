//! `score`: compares the program's scorecard with that of an independent script that applies the
//! same rule.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, bail};
use losscause_laboratory::papers::record::{self, Claim, Item};
use losscause_laboratory::papers::reproduce::{Reproduction, conclude};
use losscause_laboratory::papers::score::{judge, lookup_number};

use crate::shell::{command, read, text};

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
    let result = &absolute(result)?;
    let written: Reproduction = serde_json::from_str(&read(result)?)
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
    ours.difference(&theirs).for_each(|line| println!("only here:       {line}"));
    theirs.difference(&ours).for_each(|line| println!("only the script: {line}"));
    if ours != theirs {
        let differing = ours.difference(&theirs).count().max(theirs.difference(&ours).count());
        bail!("{differing} answers differ");
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
        let published = paper.published();
        let of_paper = |item: &&Item| item.paper == card.paper;
        let items: Vec<_> = reproduction.items.iter().filter(of_paper).cloned().collect();
        let numbers = published.number.iter().filter(|number| number.counts());
        let numbers = numbers.map(|number| {
            let met = lookup_number(&items, number);
            (met.map(|item| judge(number, item, card.repetitions)), "missed", &number.id)
        });
        let claims = reproduction.claims.iter().filter(|claim| {
            let is_it = |c: &Claim| c.id == claim.id && c.checkable;
            claim.paper == card.paper && published.claim.iter().any(is_it)
        });
        let claims = claims.map(|claim| (claim.holds, "fails", &claim.id));
        let wrong = numbers.chain(claims).filter(|(met, ..)| *met != Some(true));
        lines.extend(wrong.map(|(met, failed, id)| {
            let outcome = if met.is_none() { "unmeasured" } else { failed };
            format!("{outcome} {} {id}", card.paper)
        }));
    }
    lines
}

/// The same lines by the script, which appends figures after a colon.
fn answer_of(script: &Path, result: &Path) -> Result<BTreeSet<String>> {
    let mut python = command("python3");
    python.arg(absolute(script)?).arg(result).args(["--misses", "--unmeasured"]);
    let lines = text(python).context("the script")?;
    let line = |line: &str| match line.split_once(' ') {
        Some((outcome @ ("missed" | "fails" | "unmeasured"), rest)) => {
            Some(format!("{outcome} {}", rest.split(':').next().unwrap_or(rest)))
        }
        _ => line.contains(": numbers ").then(|| line.to_owned()),
    };
    Ok(lines.lines().filter_map(line).collect())
}
