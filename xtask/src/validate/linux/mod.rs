//! `validate linux`: the simulator's Linux against the running kernel.
//!
//! [`cell`] lists what is compared: one scenario, with other rates, round trips, losses and
//! congestion controls. [`kernel`] makes a transfer over the emulator, [`simulated`] the same one
//! in the simulator. Both draw the channel's losses from the same stream. [`agreement`] judges,
//! [`golden`] keeps the kernel's transfers, so that machines without root compare too, [`page`]
//! shows them, and [`lateness`] says whether the emulator was on time.

mod agreement;
mod cell;
mod golden;
mod kernel;
mod lateness;
mod page;
mod simulated;

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};
use losscause_study::Jobs;

use agreement::{Compared, Pair, Verdict};
use cell::Cell;
use golden::{Recording, Transfer};

use crate::shell::root;
use crate::tools::Tool;

/// The arguments of `validate linux`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// What CI runs: four cells, two transfers of 5 s each; writes nothing
    #[arg(long)]
    short: bool,
    /// Make no transfers: compare the simulator with the recorded ones, and write the page
    #[arg(long, conflicts_with = "short")]
    recorded: bool,
    /// Transfers at a time; those that fill 50 Mb/s are made alone
    #[arg(long, default_value_t = 4, value_name = "N")]
    jobs: usize,
}

/// What a transfer gave.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    /// What the application received.
    goodput_mbps: f64,
    /// Segments sent again.
    retransmissions: u64,
}

const SECONDS: i64 = 15;
const SEEDS: u64 = 5;
const SHORT_SECONDS: i64 = 5;
const SHORT_SEEDS: u64 = 2;
/// Attempts at a transfer that the emulator delivers in time.
const ATTEMPTS: u32 = 3;

/// Makes the transfers, compares, prints and writes.
///
/// # Errors
/// A transfer fails, or simulator and kernel do not agree.
pub(crate) fn validate(options: &Options) -> Result<()> {
    if options.recorded {
        return conclude(&Recording::read()?, true);
    }
    if !Tool::OwnNetworks.present() {
        if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
            bail!("{} is missing, and CI skips nothing", Tool::OwnNetworks.name());
        }
        println!(
            "skipped: {} is missing; `cargo xtask validate linux --recorded` compares with the recorded transfers",
            Tool::OwnNetworks.name()
        );
        return Ok(());
    }
    let (cells, seeds, seconds) = if options.short {
        (Cell::few(), SHORT_SEEDS, SHORT_SECONDS)
    } else {
        (Cell::all(), SEEDS, SECONDS)
    };
    let (alone, beside): (Vec<Cell>, Vec<Cell>) = cells.into_iter().partition(Cell::is_demanding);
    let mut transfers = make_all(&alone, seeds, seconds, 1)?;
    transfers.extend(make_all(&beside, seeds, seconds, options.jobs)?);
    transfers.sort_by_key(|transfer| (transfer.cell, transfer.seed));
    let kernel = nix::sys::utsname::uname()?.release().to_string_lossy().into_owned();
    let recording = Recording { kernel, seconds, transfers };
    if !options.short {
        recording.write()?;
    }
    conclude(&recording, !options.short)
}

/// The short form, as one of CI's steps.
pub(crate) fn short() -> Result<()> {
    validate(&Options { short: true, recorded: false, jobs: 4 })
}

/// Compares with the simulator, prints the page, writes it if asked to, and fails unless they
/// agree.
fn conclude(recording: &Recording, write: bool) -> Result<()> {
    let compared = compare(recording)?;
    let page = page::page(recording, &compared);
    print!("{page}");
    if write {
        fs::write(root().join(page::FILE), page).context(page::FILE)?;
    }
    let verdict = Verdict::of(&compared);
    if !verdict.agrees() {
        bail!("simulator and kernel do not agree: {verdict}");
    }
    Ok(())
}

/// Makes every transfer, some at a time; ends with the first that fails.
fn make_all(cells: &[Cell], seeds: u64, seconds: i64, jobs: usize) -> Result<Vec<Transfer>> {
    let all: VecDeque<(Cell, u64)> =
        (1..=seeds).flat_map(|seed| cells.iter().map(move |cell| (*cell, seed))).collect();
    let waiting = Mutex::new(all);
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || -> Result<Vec<Transfer>> {
        let mut made = Vec::new();
        while let Some((cell, seed)) = next() {
            let transfer =
                make(&cell, seed, seconds).with_context(|| format!("{cell}, seed {seed}"));
            if transfer.is_err() {
                // The others need not begin.
                while next().is_some() {}
            }
            made.push(transfer?);
        }
        Ok(made)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let made = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| bail!("a thread panicked")));
        Ok(made.collect::<Result<Vec<_>>>()?.concat())
    })
}

/// Makes a transfer, again if the emulator was late.
fn make(cell: &Cell, seed: u64, seconds: i64) -> Result<Transfer> {
    for _ in 0..ATTEMPTS {
        let (outcome, lateness) = kernel::run(cell, seed, seconds)?;
        let Outcome { goodput_mbps, retransmissions } = outcome;
        eprintln!(
            "{cell}, seed {seed}: {goodput_mbps:.3} Mb/s, {retransmissions} retransmissions; late by {:.3} ms (median), \
             {:.3} ms (99 %), the machine's own {:.3} ms, {:.3} ms",
            lateness.emulator.p50_ms,
            lateness.emulator.p99_ms,
            lateness.machine.p50_ms,
            lateness.machine.p99_ms
        );
        if lateness.is_bounded() {
            return Ok(Transfer { cell: *cell, seed, outcome, lateness });
        }
    }
    bail!(
        "the emulator was late in {ATTEMPTS} transfers in turn, expected a less busy machine or fewer --jobs"
    )
}

/// Simulates every recorded transfer.
fn compare(recording: &Recording) -> Result<Vec<Compared>> {
    let simulate =
        |transfer: &Transfer| simulated::run(&transfer.cell, transfer.seed, recording.seconds);
    let simulated = Jobs::default().map(&recording.transfers, simulate, |_| {});
    let mut cells: BTreeMap<Cell, Vec<Pair>> = BTreeMap::new();
    for (transfer, simulated) in recording.transfers.iter().zip(simulated) {
        cells
            .entry(transfer.cell)
            .or_default()
            .push(Pair { kernel: transfer.outcome, simulated: simulated? });
    }
    Ok(cells.into_iter().map(|(cell, pairs)| Compared { cell, pairs }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If this fails although only the kernel has changed, `cargo xtask validate linux`, as root,
    /// records it again.
    #[test]
    fn the_simulator_agrees_with_the_recorded_kernel() {
        let recording = Recording::read().unwrap();
        let compared = compare(&recording).unwrap();
        assert_eq!(
            compared.iter().map(|one| one.cell).collect::<Vec<_>>().len(),
            Cell::all().len()
        );
        let verdict = Verdict::of(&compared);
        assert!(verdict.agrees(), "{verdict}");
        assert_eq!(
            fs::read_to_string(root().join(page::FILE)).unwrap(),
            page::page(&recording, &compared),
            "`cargo xtask validate linux --recorded` writes the page"
        );
    }
}
