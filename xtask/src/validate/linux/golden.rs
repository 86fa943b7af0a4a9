//! The kernel's transfers as they are recorded, for machines without root and for a run that is
//! taken up again.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::Outcome;
use super::cell::{self, Cell, Queue, Variant};
use super::lateness::{Late, Lateness};
use crate::shell::root;

/// Where they are.
pub(super) const FILE: &str = "docs/validation/linux-kernel.csv";

/// Transfers, and what made them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recording {
    /// The kernel's release.
    pub(super) kernel: String,
    /// How long each transfer lasted.
    pub(super) seconds: i64,
    /// In the order of cells and seeds.
    pub(super) transfers: Vec<Transfer>,
}

/// What the kernel made of a cell with one seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transfer {
    pub(super) cell: Cell,
    pub(super) seed: u64,
    pub(super) outcome: Outcome,
    pub(super) lateness: Lateness,
    /// The longest time for which the hosts stood still.
    pub(super) host_stall_ms: f64,
}

/// The hosts may stand still for this share of the time in which a full queue drains.
const STALL_SHARE: f64 = 0.25;

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Row {
    cell: u32,
    variant: Variant,
    flows: u32,
    rate_kbps: u32,
    rtt_ms: u32,
    queue: Queue,
    queue_packets: u32,
    loss_percent: f64,
    seed: u64,
    goodput_mbps: f64,
    retransmissions: u64,
    drops: u64,
    host_stall_ms: f64,
    late_p50_ms: f64,
    late_p99_ms: f64,
    machine_p50_ms: f64,
    machine_p99_ms: f64,
}

impl Transfer {
    /// Whether the transfer crossed the link that the scenario describes, from hosts that did not
    /// stand still for long.
    pub(super) fn is_sound(&self) -> bool {
        let bound_ms = self.cell.drain().as_secs_f64() * 1e3 * STALL_SHARE;
        self.lateness.is_bounded() && self.host_stall_ms <= bound_ms
    }
}

impl Recording {
    /// The recorded transfers.
    pub(super) fn read() -> Result<Self> {
        let text = fs::read_to_string(root().join(FILE)).context(FILE)?;
        Self::parse(&text).context(FILE)
    }

    /// The transfers that an earlier run left in `file`, if it was one of the same kernel, length
    /// and grid; else none.
    pub(super) fn resume(file: &Path, kernel: &str, seconds: i64) -> Self {
        let earlier = fs::read_to_string(file).ok().and_then(|text| Self::parse(&text).ok());
        let mut recording = earlier
            .filter(|one| one.kernel == kernel && one.seconds == seconds)
            .unwrap_or_else(|| Self { kernel: kernel.to_owned(), seconds, transfers: Vec::new() });
        let grid = Cell::all();
        recording.transfers.retain(|transfer| grid.contains(&transfer.cell));
        recording
    }

    /// Adds a transfer, in the place of one of the same cell and seed.
    pub(super) fn add(&mut self, transfer: Transfer) {
        let key = |transfer: &Transfer| (transfer.cell.number, transfer.seed);
        self.transfers.retain(|other| key(other) != key(&transfer));
        self.transfers.push(transfer);
        self.transfers.sort_by_key(key);
    }

    /// Writes the transfers to `file`.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        fs::write(file, self.text()?).with_context(|| file.display().to_string())
    }

    fn parse(text: &str) -> Result<Self> {
        let said = |key: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(&format!("# {key}: ")));
            value.with_context(|| format!("the line \"# {key}: …\" is missing"))
        };
        let seconds = said("seconds")?.parse().context("seconds: expected a whole number")?;
        let kernel = said("kernel")?.to_owned();
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let transfers: Vec<Transfer> = reader
            .deserialize::<Row>()
            .map(|row| Ok(Transfer::from(row?)))
            .collect::<Result<_>>()?;
        if transfers.is_empty() {
            bail!("holds no transfer");
        }
        Ok(Self { kernel, seconds, transfers })
    }

    fn text(&self) -> Result<String> {
        let Self { kernel, seconds, transfers } = self;
        let mut table = csv::Writer::from_writer(Vec::new());
        for transfer in transfers {
            table.serialize(Row::from(transfer))?;
        }
        let table = String::from_utf8(table.into_inner()?)?;
        Ok(format!(
            "# Transfers by the TCP of the running kernel over the library's emulator.\n\
             # `cargo xtask validate linux`, as root, makes them again and writes this file.\n\
             # Each line is the transfers of validation/linux/transfer.toml with one seed, counted from the first SYN;\n\
             # cells are drawn with seed {seed}. Drops are the queue's. Late: how much later than by the link packets were\n\
             # delivered; machine: how much later a thread of the same priority woke up; host stall: the longest time for\n\
             # which the hosts stood still.\n\
             # kernel: {kernel}\n# seconds: {seconds}\n{table}",
            seed = cell::SEED,
        ))
    }
}

/// To 0.1 kb/s and 0.1 µs.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

impl From<&Transfer> for Row {
    fn from(transfer: &Transfer) -> Self {
        let Transfer { cell, seed, outcome, lateness, host_stall_ms } = *transfer;
        let Cell { number, variant, rate_kbps, rtt_ms, queue, queue_packets, loss_percent, flows } =
            cell;
        Self {
            cell: number,
            variant,
            flows,
            rate_kbps,
            rtt_ms,
            queue,
            queue_packets,
            loss_percent,
            seed,
            goodput_mbps: rounded(outcome.goodput_mbps),
            retransmissions: outcome.retransmissions,
            drops: outcome.drops,
            host_stall_ms: rounded(host_stall_ms),
            late_p50_ms: rounded(lateness.emulator.p50_ms),
            late_p99_ms: rounded(lateness.emulator.p99_ms),
            machine_p50_ms: rounded(lateness.machine.p50_ms),
            machine_p99_ms: rounded(lateness.machine.p99_ms),
        }
    }
}

impl From<Row> for Transfer {
    fn from(row: Row) -> Self {
        let Row { variant, flows, rate_kbps, rtt_ms, queue, queue_packets, loss_percent, .. } = row;
        let number = row.cell;
        Self {
            cell: Cell {
                number,
                variant,
                rate_kbps,
                rtt_ms,
                queue,
                queue_packets,
                loss_percent,
                flows,
            },
            seed: row.seed,
            outcome: Outcome {
                goodput_mbps: row.goodput_mbps,
                retransmissions: row.retransmissions,
                drops: row.drops,
            },
            lateness: Lateness {
                emulator: Late { p50_ms: row.late_p50_ms, p99_ms: row.late_p99_ms },
                machine: Late { p50_ms: row.machine_p50_ms, p99_ms: row.machine_p99_ms },
            },
            host_stall_ms: row.host_stall_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(place: usize, seed: u64) -> Transfer {
        let late = |p50_ms, p99_ms| Late { p50_ms, p99_ms };
        Transfer {
            cell: Cell::all()[place],
            seed,
            outcome: Outcome { goodput_mbps: 9.6241, retransmissions: 30, drops: 29 },
            lateness: Lateness { emulator: late(0.05, 0.9), machine: late(0.08, 1.2) },
            host_stall_ms: 0.4,
        }
    }

    fn recording(transfers: &[Transfer]) -> Recording {
        let transfers = transfers.to_vec();
        Recording { kernel: "6.18.44".to_owned(), seconds: 15, transfers }
    }

    #[test]
    fn a_recording_is_read_as_it_was_written() {
        let recording = recording(&[transfer(7, 1), transfer(7, 2), transfer(8, 1)]);
        assert_eq!(Recording::parse(&recording.text().unwrap()).unwrap(), recording);
    }

    #[test]
    fn a_run_is_taken_up_where_it_ended_if_kernel_length_and_grid_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.csv");
        let mut left = recording(&[transfer(7, 1)]);
        left.write(&file).unwrap();
        assert_eq!(Recording::resume(&file, "6.18.44", 15), left);
        for (kernel, seconds) in [("6.18.45", 15), ("6.18.44", 5)] {
            assert_eq!(Recording::resume(&file, kernel, seconds).transfers, []);
        }
        assert_eq!(Recording::resume(&folder.path().join("none"), "6", 15).transfers, []);
        left.transfers[0].cell.rtt_ms += 1;
        left.write(&file).unwrap();
        assert_eq!(Recording::resume(&file, "6.18.44", 15).transfers, []);
    }

    #[test]
    fn a_transfer_takes_the_place_of_an_earlier_one() {
        let mut made = recording(&[]);
        made.add(transfer(8, 1));
        made.add(Transfer { host_stall_ms: 9.0, ..transfer(7, 2) });
        made.add(transfer(7, 1));
        made.add(transfer(7, 2));
        assert_eq!(made.transfers, [transfer(7, 1), transfer(7, 2), transfer(8, 1)]);
    }

    #[test]
    fn a_stall_of_more_than_a_quarter_of_the_queue_makes_a_transfer_unsound() {
        // 40 packets of 1500 bytes at 12 Mb/s drain in 40 ms.
        let cell = Cell { rate_kbps: 12_000, queue_packets: 40, ..Cell::all()[0] };
        let stalled = |host_stall_ms| Transfer { cell, host_stall_ms, ..transfer(0, 1) };
        assert!(stalled(10.0).is_sound());
        assert!(!stalled(10.1).is_sound());
    }

    #[test]
    fn a_file_without_its_kernel_or_its_transfers_is_refused() {
        let refused = |text: &str| Recording::parse(text).unwrap_err().to_string();
        assert_eq!(refused("# seconds: 15\n"), "the line \"# kernel: …\" is missing");
        assert_eq!(refused("# kernel: 6\n# seconds: x\n"), "seconds: expected a whole number");
        assert_eq!(refused("# kernel: 6\n# seconds: 15\nrate_mbps\n"), "holds no transfer");
    }
}
