//! The true cause of a capture's losses: from the file that a made transfer has beside it, or from
//! the capture's name, `C=5-…-PCIR=1500000-PBC=100000-RTT=100-…-LOSS=0%-…`.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use losscause_experiments::abroad::diagnosed::CauseClass;
use serde::{Deserialize, Serialize};

/// The capture of a made transfer, and the file beside it.
pub(super) const CAPTURE: &str = "sender.pcap";
pub(super) const LABEL: &str = "label.json";

/// What is known of a made transfer.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Known {
    pub(super) kind: String,
    pub(super) seed: u64,
    /// The congestion control, by the kernel's name.
    pub(super) control: String,
    pub(super) seconds: f64,
    /// What the policer allows, bits per second.
    pub(super) policer_bps: Option<u64>,
    /// Packets of data that a queue or a policer dropped.
    pub(super) queue_drops: u64,
    /// Packets of data that the channel corrupted.
    pub(super) air_drops: u64,
    /// The kernel that sent.
    pub(super) kernel: String,
    /// How late the link delivered packets, microseconds: all but one in a hundred, and the worst.
    pub(super) late_p99_us: i64,
    pub(super) late_worst_us: i64,
}

/// What is known of a capture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    /// The row of the table.
    pub(super) kind: String,
    /// What lost most packets; none if nothing was lost, or as much by one cause as by the other.
    pub(super) truth: Option<CauseClass>,
    /// Of a policer, bits per second.
    pub(super) rate_bps: Option<f64>,
    /// Of a made transfer, how late the link delivered packets, microseconds: all but one in a
    /// hundred, and the worst.
    pub(super) late_us: Option<[i64; 2]>,
}

impl Label {
    /// By a capture's name, if that tells it.
    pub(super) fn of_name(file: &Path) -> Option<Self> {
        let name = file.file_name()?.to_str()?;
        let value = |key: &str| {
            name.split('-').find_map(|field| field.strip_prefix(key)?.strip_prefix('='))
        };
        let rate = |key| value(key).and_then(|text| text.parse::<f64>().ok());
        let (kind, truth, rate_bps) = match (value("LOSS"), rate("PCIR"), rate("SCIR")) {
            (Some(loss), ..) if !loss.starts_with("0%") => ("random", CauseClass::Air, None),
            (_, Some(rate), _) => ("policer", CauseClass::Policer, Some(rate)),
            (_, None, Some(_)) => ("shaper", CauseClass::Queue, None),
            _ => return None,
        };
        Some(Self { kind: kind.to_owned(), truth: Some(truth), rate_bps, late_us: None })
    }

    /// By the file that a made transfer has beside its capture.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let known: Known =
            serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        Ok(Self::of(&known))
    }

    fn of(known: &Known) -> Self {
        let queue =
            if known.policer_bps.is_some() { CauseClass::Policer } else { CauseClass::Queue };
        let truth = match known.queue_drops.cmp(&known.air_drops) {
            std::cmp::Ordering::Greater => Some(queue),
            std::cmp::Ordering::Less => Some(CauseClass::Air),
            std::cmp::Ordering::Equal => None,
        };
        let rate_bps = known.policer_bps.map(|rate| rate as f64);
        let late_us = Some([known.late_p99_us, known.late_worst_us]);
        Self { kind: known.kind.clone(), truth, rate_bps, late_us }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        match self.truth {
            Some(truth) => write!(f, ", truly {truth:?}")?,
            None => f.write_str(", no true cause")?,
        }
        self.rate_bps.map_or(Ok(()), |rate| write!(f, " {:.1} Mb/s", rate / 1e6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_cause() {
        let of =
            |name: &str| Label::of_name(Path::new(name)).map(|label| (label.truth, label.rate_bps));
        let policed = of(
            "C=5-CD=1000-PCIR=1500000-PBC=1000000-RTT=100-LOSS=0%-TCP=cubic-T=1-CP=10048.pcap.xz",
        );
        assert_eq!(policed, Some((Some(CauseClass::Policer), Some(1.5e6))));
        assert_eq!(
            of("SCIR=10000000-RTT=100-LOSS=1%-T=1.pcap"),
            Some((Some(CauseClass::Air), None))
        );
        assert_eq!(of("SCIR=3000000-SBC=8000-LOSS=0%.pcap"), Some((Some(CauseClass::Queue), None)));
        assert_eq!(of("LICENSE"), None);
    }

    #[test]
    fn the_majority_of_the_drops_is_the_true_cause() {
        let of = |policer_bps, queue_drops, air_drops| {
            let known = Known {
                kind: "wifi".to_owned(),
                seed: 1,
                control: "cubic".to_owned(),
                seconds: 20.0,
                policer_bps,
                queue_drops,
                air_drops,
                kernel: "6".to_owned(),
                late_p99_us: 0,
                late_worst_us: 0,
            };
            Label::of(&known).truth
        };
        assert_eq!(of(None, 5, 4), Some(CauseClass::Queue));
        assert_eq!(of(None, 4, 5), Some(CauseClass::Air));
        assert_eq!(of(Some(1_000_000), 5, 0), Some(CauseClass::Policer));
        assert_eq!(of(None, 0, 0), None);
    }
}
