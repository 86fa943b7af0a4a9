//! The kernel's transfers as they are recorded, for machines without root.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::Outcome;
use super::cell::Cell;
use super::lateness::{Late, Lateness};
use crate::shell::root;

/// Where they are.
pub(super) const FILE: &str = "docs/validation/linux-kernel.csv";

/// All transfers, and what made them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recording {
    /// The kernel's release.
    pub(super) kernel: String,
    /// How long each transfer lasted.
    pub(super) seconds: i64,
    /// In the order of cells and seeds.
    pub(super) transfers: Vec<Transfer>,
}

/// One transfer by the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transfer {
    pub(super) cell: Cell,
    pub(super) seed: u64,
    pub(super) outcome: Outcome,
    pub(super) lateness: Lateness,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Row {
    rate_mbps: u32,
    rtt_ms: u32,
    loss_percent: u32,
    variant: super::cell::Variant,
    seed: u64,
    goodput_mbps: f64,
    retransmissions: u64,
    late_p50_ms: f64,
    late_p99_ms: f64,
    machine_p50_ms: f64,
    machine_p99_ms: f64,
}

impl Recording {
    /// The recorded transfers.
    pub(super) fn read() -> Result<Self> {
        let text = fs::read_to_string(path()).context(FILE)?;
        Self::parse(&text).context(FILE)
    }

    pub(super) fn write(&self) -> Result<()> {
        fs::write(path(), self.text()?).context(FILE)
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
            "# Transfers by the TCP of the running kernel over the library's emulator, with default settings.\n\
             # `cargo xtask validate linux`, as root, makes them again and writes this file.\n\
             # Each is a transfer of validation/linux/transfer.toml, counted from its SYN. Late: how much later than by\n\
             # the link packets were delivered; machine: how much later a thread of the same priority woke up.\n\
             # kernel: {kernel}\n# seconds: {seconds}\n{table}"
        ))
    }
}

fn path() -> PathBuf {
    root().join(FILE)
}

/// To 0.1 kb/s and 0.1 µs.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

impl From<&Transfer> for Row {
    fn from(transfer: &Transfer) -> Self {
        let Transfer { cell, seed, outcome, lateness } = *transfer;
        let Cell { rate_mbps, rtt_ms, loss_percent, variant } = cell;
        Self {
            rate_mbps,
            rtt_ms,
            loss_percent,
            variant,
            seed,
            goodput_mbps: rounded(outcome.goodput_mbps),
            retransmissions: outcome.retransmissions,
            late_p50_ms: rounded(lateness.emulator.p50_ms),
            late_p99_ms: rounded(lateness.emulator.p99_ms),
            machine_p50_ms: rounded(lateness.machine.p50_ms),
            machine_p99_ms: rounded(lateness.machine.p99_ms),
        }
    }
}

impl From<Row> for Transfer {
    fn from(row: Row) -> Self {
        let Row { rate_mbps, rtt_ms, loss_percent, variant, .. } = row;
        Self {
            cell: Cell { rate_mbps, rtt_ms, loss_percent, variant },
            seed: row.seed,
            outcome: Outcome {
                goodput_mbps: row.goodput_mbps,
                retransmissions: row.retransmissions,
            },
            lateness: Lateness {
                emulator: Late { p50_ms: row.late_p50_ms, p99_ms: row.late_p99_ms },
                machine: Late { p50_ms: row.machine_p50_ms, p99_ms: row.machine_p99_ms },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_read_as_it_was_written() {
        let late = |p50_ms, p99_ms| Late { p50_ms, p99_ms };
        let transfer = Transfer {
            cell: Cell::all()[7],
            seed: 3,
            outcome: Outcome { goodput_mbps: 9.6241, retransmissions: 30 },
            lateness: Lateness { emulator: late(0.05, 0.9), machine: late(0.08, 1.2) },
        };
        let recording =
            Recording { kernel: "6.18.44".to_owned(), seconds: 15, transfers: vec![transfer; 2] };
        assert_eq!(Recording::parse(&recording.text().unwrap()).unwrap(), recording);
    }

    #[test]
    fn a_file_without_its_kernel_or_its_transfers_is_refused() {
        let refused = |text: &str| Recording::parse(text).unwrap_err().to_string();
        assert_eq!(refused("# seconds: 15\n"), "the line \"# kernel: …\" is missing");
        assert_eq!(refused("# kernel: 6\n# seconds: x\n"), "seconds: expected a whole number");
        assert_eq!(refused("# kernel: 6\n# seconds: 15\nrate_mbps\n"), "holds no transfer");
    }
}
