//! What the emulator did to every packet of data: the truth, kept as `link.csv`.

use std::path::Path;

use anyhow::{Context, Result};
use losscause::{Span, Time};
use losscause_sim::truth::Cause;
use serde::{Deserialize, Serialize};

/// What became of a packet, and when, since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The queue was full.
    Queue,
    /// The packet left the queue, and the air lost it.
    Air(Time),
    /// The packet arrived.
    Arrives(Time),
}

/// A packet of data from the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// When it came to the link, since 1970.
    pub(super) at: Time,
    pub(super) port: u16,
    pub(super) seq: u32,
    pub(super) bytes: u32,
    pub(super) fate: Fate,
}

impl Sent {
    /// Why and when it was lost.
    pub(super) fn lost(&self) -> Option<(Cause, Time)> {
        match self.fate {
            Fate::Queue => Some((Cause::Congestion, self.at)),
            Fate::Air(at) => Some((Cause::Wireless, at)),
            Fate::Arrives(_) => None,
        }
    }

    /// When it arrived.
    pub(super) fn arrived(&self) -> Option<Time> {
        match self.fate {
            Fate::Arrives(at) => Some(at),
            Fate::Queue | Fate::Air(_) => None,
        }
    }
}

/// A line of link.csv; times in nanoseconds since 1970.
#[derive(Deserialize, Serialize)]
struct Row {
    came_ns: i64,
    port: u16,
    seq: u32,
    bytes: u32,
    /// `arrived`, `queue` (it was full) or `air`.
    fate: String,
    fate_ns: i64,
}

pub(super) fn write(path: &Path, packets: &[Sent]) -> Result<()> {
    let mut file = csv::Writer::from_path(path).with_context(|| path.display().to_string())?;
    for sent in packets {
        let (fate, at) = match sent.fate {
            Fate::Arrives(at) => ("arrived", at),
            Fate::Queue => ("queue", sent.at),
            Fate::Air(at) => ("air", at),
        };
        let came_ns = sent.at.as_nanos();
        let fate_ns = at.as_nanos();
        file.serialize(Row {
            came_ns,
            port: sent.port,
            seq: sent.seq,
            bytes: sent.bytes,
            fate: fate.to_owned(),
            fate_ns,
        })?;
    }
    file.flush().with_context(|| path.display().to_string())
}

pub(super) fn read(path: &Path) -> Result<Vec<Sent>> {
    let time = |ns| Time::ZERO + Span::from_nanos(ns);
    let sent = |row: Row| -> Result<Sent> {
        let fate = match row.fate.as_str() {
            "arrived" => Fate::Arrives(time(row.fate_ns)),
            "queue" => Fate::Queue,
            "air" => Fate::Air(time(row.fate_ns)),
            other => {
                anyhow::bail!("{}: fate: {other}, expected arrived, queue or air", path.display())
            }
        };
        Ok(Sent { at: time(row.came_ns), port: row.port, seq: row.seq, bytes: row.bytes, fate })
    };
    let mut file = csv::Reader::from_path(path).with_context(|| path.display().to_string())?;
    file.deserialize().map(|row| sent(row?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let at = Time::from_nanos(1_700_000_000_123_456_789);
        let fates = [
            Fate::Queue,
            Fate::Air(at + Span::from_millis(1)),
            Fate::Arrives(at + Span::from_millis(21)),
        ];
        let packets = fates.map(|fate| Sent { at, port: 5001, seq: u32::MAX, bytes: 1448, fate });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("link.csv");
        write(&path, &packets).unwrap();
        assert_eq!(read(&path).unwrap(), packets);
    }
}
