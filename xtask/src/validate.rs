//! `cargo xtask validate`: the simulator against other implementations of the same rules, by sweeps
//! over two stacks. The claims of the sweep files say when both agree.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use losscause_laboratory::stack::SIMULATOR;
use losscause_laboratory::sweep::{CellOutcome, STACK, SWEEP_JSON, Sweep, SweepClaim, SweepResult};
use losscause_study::{Context, Jobs};

use crate::checks::OPTIONAL_PARTS_BUILD;
use crate::results;
use crate::shell::{cargo, losscause, program, read, root, run, target, write};
use crate::tools::{self, Tool};

/// With what the simulator is compared.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    peer: Peer,
}

#[derive(clap::Subcommand)]
enum Peer {
    /// ns-2, over the cells of validation/ns2; writes results/ns2.md
    Ns2 {
        /// Drop the cells of an interrupted run
        #[arg(long)]
        restart: bool,
    },
    /// The TCP of the running kernel, over the emulator; needs root, writes
    /// validation/linux/sweep.json and results/linux.md
    Linux {
        /// Make no transfers: simulate again, and compare with the recorded ones
        #[arg(long)]
        recorded: bool,
        /// Drop the cells of an interrupted run
        #[arg(long, conflicts_with = "recorded")]
        restart: bool,
    },
}

/// Makes the runs, writes what they show, and fails unless simulator and peer agree.
///
/// # Errors
/// A run fails, or they do not agree.
pub(crate) fn validate(options: &Options) -> Result<()> {
    match options.peer {
        Peer::Ns2 { restart } => ns2(restart),
        Peer::Linux { recorded: true, .. } => judged_by_kernel(&simulated_again()?),
        Peer::Linux { restart, .. } => judged_by_kernel(&transferred(restart)?),
    }
}

/// The sweeps over ns-2, by the names of their files in validation/ns2. Beside each are its results
/// ([`results::ns2()`]).
pub(crate) const NS2: [&str; 3] = ["sweep", "own-errors", "red"];

fn ns2(restart: bool) -> Result<()> {
    Tool::NS2.ensure()?;
    let program = losscause()?;
    let swept = |name: &&str| {
        let out = target().join("validate-ns2").join(name);
        swept(&program, &format!("validation/ns2/{name}.toml"), &out, earlier(restart))
    };
    let all = NS2.iter().map(swept).collect::<Result<Vec<_>>>()?;
    for (name, result) in NS2.iter().zip(&all) {
        write(format!("validation/ns2/{name}.csv"), results::cells(result).csv())?;
    }
    results::write(&results::ns2()?)?;
    agree(all.iter().flat_map(|result| &result.claims))
}

/// A step of CI: some of the cells, with few runs.
pub(crate) fn short() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("ns2");
    let result = swept(&losscause()?, "validation/ns2/short.toml", &out, "")?;
    agree(&result.claims)
}

/// The result of a sweep file that the command runs.
///
/// # Errors
/// The command fails.
pub(crate) fn swept(by: &Path, file: &str, out: &Path, options: &str) -> Result<SweepResult> {
    let options = options.split_whitespace();
    run(program(by).args(["sweep", file, "--out"]).arg(out).args(options))?;
    result(&out.join(SWEEP_JSON))
}

fn result(file: &Path) -> Result<SweepResult> {
    serde_json::from_str(&read(file)?).with_context(|| file.display().to_string())
}

fn earlier(restart: bool) -> &'static str {
    if restart { "--restart" } else { "--resume" }
}

/// Prints the claims.
///
/// # Errors
/// One does not hold, or it cannot be told.
fn agree<'a>(claims: impl IntoIterator<Item = &'a SweepClaim>) -> Result<()> {
    let claims: Vec<&SweepClaim> = claims.into_iter().collect();
    claims.iter().for_each(|claim| println!("{}", claim.in_words()));
    require(claims)
}

/// # Errors
/// A claim does not hold, or it cannot be told.
pub(crate) fn require<'a>(claims: impl IntoIterator<Item = &'a SweepClaim>) -> Result<()> {
    let missed = claims.into_iter().filter(|claim| claim.holds != Some(true));
    let missed: Vec<String> = missed.map(SweepClaim::in_words).collect();
    if missed.is_empty() { Ok(()) } else { bail!("{}", missed.join("\n")) }
}

/// The recorded result of the sweep over the kernel.
pub(crate) const LINUX: &str = "validation/linux/sweep.json";
const LINUX_SWEEP: &str = "validation/linux/sweep.toml";

/// The recorded result.
///
/// # Errors
/// It cannot be read.
pub(crate) fn recorded() -> Result<SweepResult> {
    result(Path::new(LINUX))
}

/// Writes the result of the sweep over the kernel and its page.
fn judged_by_kernel(result: &SweepResult) -> Result<()> {
    write(LINUX, result.json())?;
    results::write(&results::linux()?)?;
    agree(&result.claims)
}

/// Runs the sweep by the command that has all stacks.
fn transferred(restart: bool) -> Result<SweepResult> {
    tools::ensure(OPTIONAL_PARTS_BUILD)?;
    run(cargo("build --quiet --release -p losscause-cli --features linux"))?;
    let program = target().join("release/losscause");
    swept(&program, LINUX_SWEEP, &target().join("validate-linux"), earlier(restart))
}

/// The recorded result with the simulator's cells of today.
fn simulated_again() -> Result<SweepResult> {
    let mut result = recorded()?;
    let stacks = losscause_experiments::stacks();
    let sweep = Sweep::load_on(&root().join(LINUX_SWEEP), &Context::default(), &stacks)?;
    if !sweep.cells().iter().eq(result.cells.iter().map(|outcome| &outcome.cell)) {
        bail!(
            "{LINUX} is of other cells than {LINUX_SWEEP} has; `cargo xtask validate linux` makes them"
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
    use std::collections::BTreeMap;

    use losscause_laboratory::sweep::Cell;

    use super::*;

    #[test]
    fn a_claim_without_a_value_is_missed_too() {
        let claim = |holds| SweepClaim { holds, places: 1, holding: 1, ..SweepClaim::default() };
        let agrees = |holds| require(&[claim(holds)]).is_ok();
        assert_eq!([Some(true), Some(false), None].map(agrees), [true, false, false]);
    }

    /// The values of every cell of a sweep over ns-2, but for its runs and stacks.
    fn places(name: &str) -> Vec<BTreeMap<String, String>> {
        let path = root().join(format!("validation/ns2/{name}.toml"));
        let stacks = losscause_experiments::stacks();
        let sweep = Sweep::load_on(&path, &Context::default(), &stacks).unwrap();
        let place = |cell: Cell| {
            sweep.check(&cell).unwrap_or_else(|error| panic!("{error}"));
            let values = cell.values.into_iter().map(|value| (value.axis, value.value));
            values.filter(|(axis, _)| ![STACK, "runs"].contains(&axis.as_str())).collect()
        };
        sweep.cells().into_iter().step_by(2).map(place).collect()
    }

    #[test]
    fn ns2_has_84_cells_per_protocol_15_without_equal_times_and_13_with_red() {
        let [grid, own_errors] = ["sweep", "own-errors"].map(places);
        let usual = |cell: &&BTreeMap<String, String>| {
            (cell["cross_load"].as_str(), cell["payload_bytes"].as_str()) == ("0", "1000")
        };
        for (protocol, parted) in
            [("reno", 0), ("newreno", 0), ("sack", 0), ("vegas", 10), ("tfrc", 5)]
        {
            let is_it = |cell: &&BTreeMap<String, String>| cell["protocol"] == protocol;
            let own = own_errors.iter().filter(is_it).count();
            let all = grid.iter().filter(is_it).count();
            let paired = grid.iter().filter(is_it).filter(usual).count();
            assert_eq!((paired, all - paired, own), (80, parted, 4), "{protocol}");
        }
        assert_eq!((grid.len(), own_errors.len(), places("red").len()), (415, 20, 13));
    }

    #[test]
    fn the_short_form_is_a_part_of_the_cells() {
        let all = places("sweep");
        let short = places("short");
        assert_eq!(short.len(), 121);
        for mut cell in short {
            cell.insert("cross_load".to_owned(), "0".to_owned());
            assert!(all.contains(&cell), "{cell:?}");
        }
    }

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
