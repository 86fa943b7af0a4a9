//! `validate linux`: the sweep `validation/linux/sweep.toml`, whose claims say when the simulator's
//! Linux and the running kernel agree.
//!
//! Its result stands beside it. Machines without root simulate the cells again and take the
//! kernel's from there.

use std::fs;

use anyhow::{Context as _, Result, bail};
use losscause_laboratory::stack::SIMULATOR;
use losscause_laboratory::sweep::{CellOutcome, STACK, Sweep, SweepResult};
use losscause_study::{Context, Jobs};

use crate::checks::OPTIONAL_PARTS_BUILD;
use crate::results;
use crate::shell::{cargo, root, run};
use crate::tools::Tool;

const SWEEP: &str = "validation/linux/sweep.toml";
/// The recorded result.
pub(crate) const RESULT: &str = "validation/linux/sweep.json";
/// Where the cells of a run are, until the next one takes them up.
const UNFINISHED: &str = "target/validate-linux";

/// The arguments of `validate linux`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Make no transfers: simulate again, and compare with the recorded ones
    #[arg(long)]
    recorded: bool,
    /// Drop the cells of an interrupted run
    #[arg(long, conflicts_with = "recorded")]
    restart: bool,
}

/// Makes the transfers, or simulates them alone, and writes the result and its page.
///
/// # Errors
/// A transfer fails, or simulator and kernel do not agree.
pub(crate) fn validate(options: &Options) -> Result<()> {
    let result = if options.recorded { simulated_again()? } else { transferred(options.restart)? };
    fs::write(root().join(RESULT), result.json())?;
    results::write(&results::linux()?)?;
    for claim in &result.claims {
        println!("{}", claim.in_words());
    }
    if result.claims.iter().any(|claim| claim.holds != Some(true)) {
        bail!("simulator and kernel do not agree");
    }
    Ok(())
}

/// The recorded result.
///
/// # Errors
/// It cannot be read.
pub(crate) fn recorded() -> Result<SweepResult> {
    let text = fs::read_to_string(root().join(RESULT)).context(RESULT)?;
    serde_json::from_str(&text).context(RESULT)
}

/// Runs the sweep by the command that has all stacks.
fn transferred(restart: bool) -> Result<SweepResult> {
    OPTIONAL_PARTS_BUILD.into_iter().try_for_each(Tool::ensure)?;
    let earlier = if restart { "--restart" } else { "--resume" };
    let command = ["run", "--quiet", "--release", "-p", "losscause-cli", "--features", "linux"];
    let sweep = ["--", "sweep", SWEEP, "--out", UNFINISHED, earlier];
    run(cargo().args(command).args(sweep))?;
    let text = fs::read_to_string(root().join(UNFINISHED).join("sweep.json"))?;
    Ok(serde_json::from_str(&text)?)
}

/// The recorded result with the simulator's cells of today.
fn simulated_again() -> Result<SweepResult> {
    let mut result = recorded()?;
    let stacks = losscause_experiments::stacks();
    let sweep = Sweep::load_on(&root().join(SWEEP), &Context::default(), &stacks)?;
    if !sweep.cells().iter().eq(result.cells.iter().map(|outcome| &outcome.cell)) {
        bail!(
            "{RESULT} is of other cells than {SWEEP} has; `cargo xtask validate linux` makes them"
        );
    }
    let again = |outcome: &CellOutcome| {
        let mut places = outcome.cell.values.iter();
        if !places.any(|place| place.axis == STACK && place.value == SIMULATOR) {
            return Ok(outcome.clone());
        }
        let mut new = sweep.measure(&outcome.cell, Jobs::new(1)?)?;
        for (row, old) in new.rows.iter_mut().zip(&outcome.rows) {
            row.scenario.clone_from(&old.scenario);
        }
        Ok(new)
    };
    let cells = Jobs::default().map(&result.cells, again, |_| {});
    result.cells = cells.into_iter().collect::<Result<_>>()?;
    result.claims = sweep.settle(&result.cells.iter().collect::<Vec<_>>());
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If this fails although only the kernel has changed, `cargo xtask validate linux`, as root,
    /// records it again.
    #[test]
    fn the_simulator_agrees_with_the_recorded_kernel() {
        let result = simulated_again().unwrap();
        for claim in &result.claims {
            assert_eq!(claim.holds, Some(true), "{}", claim.in_words());
        }
        let found = result.beside(&recorded().unwrap());
        assert_eq!(
            (found.differing, found.within, result.claims),
            (vec![], 0, recorded().unwrap().claims),
            "`cargo xtask validate linux --recorded` writes the result and the page"
        );
    }
}
