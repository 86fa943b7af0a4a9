//! `validate linux`: the simulator's Linux against the running kernel.
//!
//! [`cell`] draws what is compared: one scenario, with other rates, round trips, queues, losses,
//! numbers of flows and congestion controls. [`kernel`] makes the transfers over the emulator,
//! [`simulated`] the same ones in the simulator. Both draw the channel's losses from the same
//! stream. [`agreement`] judges, [`golden`] keeps the kernel's transfers, so that machines without
//! root compare too and a run can be taken up again, [`page`] shows them, and [`lateness`] says
//! whether the emulator was on time.

mod agreement;
mod cell;
mod golden;
mod kernel;
mod lateness;
mod page;
mod simulated;
mod sockets;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use losscause_study::Jobs;

use agreement::{Compared, Pair, Verdict};
use cell::{CELLS, Cell, Variant};
use golden::{Recording, Transfer};

use crate::results::{self, Origin, Page};
use crate::shell::root;
use crate::tools::Tool;

/// The arguments of `validate linux`.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// What CI runs: three cells, two transfers of 5 s each; writes nothing
    #[arg(long)]
    short: bool,
    /// Make no transfers: compare the simulator with the recorded ones, and write the page
    #[arg(long, conflicts_with = "short")]
    recorded: bool,
    /// Only the first K cells; the page is not written
    #[arg(long, value_name = "K", conflicts_with_all = ["short", "recorded"])]
    cells: Option<u32>,
    /// Only this cell, made again; may be given several times; the page is not written
    #[arg(long, value_name = "N", conflicts_with_all = ["short", "recorded", "cells"])]
    cell: Vec<u32>,
    /// Forget what an interrupted run has made
    #[arg(long, conflicts_with_all = ["short", "recorded"])]
    fresh: bool,
    /// Make no cell again: only add seeds to what is there
    #[arg(long, conflicts_with = "fresh")]
    further: bool,
}

/// What the transfers of a cell gave, together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Outcome {
    /// What the applications received.
    goodput_mbps: f64,
    /// Segments sent again.
    retransmissions: u64,
    /// Packets that the queue dropped.
    drops: u64,
}

const SECONDS: i64 = 15;
const SHORT_SECONDS: i64 = 5;
/// Every cell is made with each of these seeds.
const SEEDS: [u64; 2] = [1, 2];
/// A cell whose ratio of goodput they do not tell to within the bound is made with more, up to this
/// one.
const LAST_SEED: u64 = 8;
/// Attempts at a transfer that hosts and emulator make in time.
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
    let cells = simulated_cells(options.selected()?)?;
    let kernel = nix::sys::utsname::uname()?.release().to_string_lossy().into_owned();
    if options.short {
        let mut recording = Recording { kernel, seconds: SHORT_SECONDS, transfers: Vec::new() };
        make_all(&cells, &mut recording, |_| Ok(()))?;
        return conclude(&recording, false);
    }
    let file = unfinished();
    if options.fresh && file.exists() {
        fs::remove_file(&file)?;
    }
    let mut recording = Recording::resume(&file, &kernel, SECONDS);
    let wanted = |transfer: &Transfer| cells.contains(&transfer.cell);
    if !options.cell.is_empty() {
        recording.transfers.retain(|transfer| !wanted(transfer));
    }
    let keep = |recording: &Recording| recording.write(&file);
    if !options.further {
        make_all(&cells, &mut recording, keep)?;
    }
    make_precise(&mut recording, wanted, keep)?;
    recording.transfers.retain(wanted);
    let whole = options.cells.is_none() && options.cell.is_empty();
    if whole {
        recording.write(&root().join(golden::FILE))?;
    }
    conclude(&recording, whole)
}

/// The short form, as one of CI's steps.
pub(crate) fn short() -> Result<()> {
    validate(&Options { short: true, ..Options::default() })
}

impl Options {
    /// The cells that are asked for.
    fn selected(&self) -> Result<Vec<Cell>> {
        if self.short {
            return Ok(Cell::few());
        }
        let mut cells = Cell::all();
        if let Some(unknown) = self.cell.iter().find(|number| !(1..=CELLS).contains(number)) {
            bail!("--cell {unknown}: expected 1 to {CELLS}");
        }
        if !self.cell.is_empty() {
            cells.retain(|cell| self.cell.contains(&cell.number));
        }
        cells.truncate(self.cells.map_or(usize::MAX, |count| count as usize));
        Ok(cells)
    }
}

/// Where a run keeps what it has made, until the next one takes it up.
fn unfinished() -> PathBuf {
    root().join("target/validate-linux.csv")
}

/// The cells whose congestion control the simulator has. Tells which others are left out.
fn simulated_cells(mut cells: Vec<Cell>) -> Result<Vec<Cell>> {
    for variant in Variant::ALL {
        if !variant.is_simulated()? {
            let before = cells.len();
            cells.retain(|cell| cell.variant != variant);
            println!(
                "skipped: the simulator has no {}, which {} of the cells use",
                variant.name(),
                before - cells.len()
            );
        }
    }
    Ok(cells)
}

/// Makes every transfer that `recording` does not have, or has unsoundly, one after another, so
/// that the machine is quiet. Calls `keep` after each.
fn make_all(
    cells: &[Cell],
    recording: &mut Recording,
    keep: impl Fn(&Recording) -> Result<()>,
) -> Result<()> {
    let is_made = |cell: &Cell, seed: u64| {
        let of = |one: &&Transfer| one.cell == *cell && one.seed == seed;
        recording.transfers.iter().find(of).is_some_and(Transfer::is_sound)
    };
    let all = cells.iter().flat_map(|cell| SEEDS.map(|seed| (*cell, seed)));
    let missing: Vec<(Cell, u64)> = all.filter(|(cell, seed)| !is_made(cell, *seed)).collect();
    let begun = Instant::now();
    for (done, (cell, seed)) in missing.iter().enumerate() {
        let transfer =
            make(cell, *seed, recording.seconds).with_context(|| format!("{cell}, seed {seed}"))?;
        recording.add(transfer);
        keep(recording)?;
        let done = done + 1;
        let left = begun.elapsed().as_secs_f64() / done as f64 * (missing.len() - done) as f64;
        eprintln!("{done} of {} transfers, about {:.0} min left", missing.len(), left / 60.0);
    }
    Ok(())
}

/// Makes transfers with further seeds of the cells that count, while their ratios are not precise.
/// How large a ratio is decides nothing.
fn make_precise(
    recording: &mut Recording,
    wanted: impl Fn(&Transfer) -> bool,
    keep: impl Fn(&Recording) -> Result<()>,
) -> Result<()> {
    loop {
        let mut cells = compare(recording)?;
        cells.retain(|one| one.is_sound && !one.is_precise());
        let next = |cell: &Cell| {
            let of_cell = recording.transfers.iter().filter(|one| one.cell == *cell && wanted(one));
            of_cell.map(|transfer| transfer.seed + 1).max().filter(|seed| *seed <= LAST_SEED)
        };
        let missing: Vec<(Cell, u64)> =
            cells.iter().filter_map(|one| Some((one.cell, next(&one.cell)?))).collect();
        if missing.is_empty() {
            return Ok(());
        }
        eprintln!("{} cells want a further seed", missing.len());
        for (cell, seed) in missing {
            recording.add(make(&cell, seed, recording.seconds)?);
            keep(recording)?;
        }
    }
}

/// Makes a transfer, again if the emulator was late or a host stood still. If none is sound, the
/// one with the shortest stall is returned.
fn make(cell: &Cell, seed: u64, seconds: i64) -> Result<Transfer> {
    let mut best: Option<Transfer> = None;
    for _ in 0..ATTEMPTS {
        let transfer = kernel::run(cell, seed, seconds)?;
        let Transfer { outcome, lateness, host_stall_ms, .. } = transfer;
        eprintln!(
            "{cell}, seed {seed}: {:.3} Mb/s, {} retransmissions, {} drops; late by {:.3} ms (median), {:.3} ms (99 %), the \
             machine's own {:.3} ms, {:.3} ms; hosts stood still for {host_stall_ms:.1} ms, the queue drains in {:.0} ms",
            outcome.goodput_mbps,
            outcome.retransmissions,
            outcome.drops,
            lateness.emulator.p50_ms,
            lateness.emulator.p99_ms,
            lateness.machine.p50_ms,
            lateness.machine.p99_ms,
            cell.drain().as_secs_f64() * 1e3,
        );
        if transfer.is_sound() {
            return Ok(transfer);
        }
        if best.is_none_or(|best| host_stall_ms < best.host_stall_ms) {
            best = Some(transfer);
        }
    }
    best.context("no attempt was made")
}

/// Compares with the simulator, prints the page, writes it if asked to, and fails unless they
/// agree.
fn conclude(recording: &Recording, write: bool) -> Result<()> {
    let compared = compare(recording)?;
    let page = page::page(recording, &compared);
    print!("{page}");
    if write {
        results::write(&Page {
            name: "linux".to_owned(),
            title: "Against Linux".to_owned(),
            command: "`cargo xtask validate linux`, as root".to_owned(),
            origin: Origin::Run,
            body: page,
        })?;
    }
    let verdict = Verdict::of(&compared);
    if !verdict.agrees() {
        bail!("simulator and kernel do not agree: {verdict}");
    }
    Ok(())
}

/// Simulates every recorded transfer.
fn compare(recording: &Recording) -> Result<Vec<Compared>> {
    let simulate =
        |transfer: &Transfer| simulated::run(&transfer.cell, transfer.seed, recording.seconds);
    let simulated = Jobs::default().map(&recording.transfers, simulate, |_| {});
    let mut cells: Vec<Compared> = Vec::new();
    for (transfer, simulated) in recording.transfers.iter().zip(simulated) {
        let pair = Pair { kernel: transfer.outcome, simulated: simulated? };
        let cell = transfer.cell;
        let (is_sound, host_stall_ms) = (transfer.is_sound(), transfer.host_stall_ms);
        // A further transfer that does not count leaves the others as they are.
        if !is_sound && !SEEDS.contains(&transfer.seed) {
            continue;
        }
        match cells.last_mut().filter(|last| last.cell == cell) {
            Some(last) => {
                last.pairs.push(pair);
                last.is_sound &= is_sound;
                last.host_stall_ms = last.host_stall_ms.max(host_stall_ms);
            }
            None => cells.push(Compared { cell, pairs: vec![pair], is_sound, host_stall_ms }),
        }
    }
    Ok(cells)
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
        let recorded: Vec<Variant> = Variant::ALL
            .into_iter()
            .filter(|variant| compared.iter().any(|one| one.cell.variant == *variant))
            .collect();
        assert!(recorded.starts_with(&[Variant::Reno, Variant::Cubic]), "{recorded:?}");
        let mut expected = Cell::all();
        expected.retain(|cell| recorded.contains(&cell.variant));
        assert_eq!(compared.iter().map(|one| one.cell).collect::<Vec<_>>(), expected);
        assert!(compared.iter().all(|one| one.pairs.len() >= SEEDS.len()));
        let verdict = Verdict::of(&compared);
        assert!(verdict.agrees(), "{verdict}");
        assert_eq!(
            results::present("linux").unwrap(),
            page::page(&recording, &compared),
            "`cargo xtask validate linux --recorded` writes the page"
        );
    }
}
