//! The transfers: which TCP, over which path.

use anyhow::Result;
use losscause::Span;
use losscause_linux::emulator::Path;
use losscause_sim::{
    ChannelSpec, FlowId, FlowSpec, Lateness, Limit, LinkId, LinkSpec, Network, QueueSpec,
    ReorderingSpec, Traffic,
};
use serde::{Deserialize, Serialize};

use super::transfer::Transfer;

/// The path that all transfers share.
const RATE_BPS: u64 = 10_000_000;
const DELAY: Span = Span::from_millis(20);
const QUEUE_PACKETS: u32 = 50;
/// The longest time for which a packet is held back: about eight packets of a full link.
const HELD_BACK: Span = Span::from_millis(10);

/// One transfer's TCP and path.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Variant {
    /// The congestion control, by the kernel's name.
    pub(super) control: String,
    pub(super) sack: bool,
    pub(super) timestamps: bool,
    /// Shares of packets.
    pub(super) loss: f64,
    pub(super) ack_loss: f64,
    pub(super) reordering: f64,
}

pub(super) const CONTROLS: [&str; 3] = ["reno", "cubic", "bbr"];
const LOSSES: [f64; 3] = [0.005, 0.02, 0.08];

impl Variant {
    /// All of them: every TCP at every loss, and six with lost acknowledgements or a changed order.
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for control in CONTROLS {
            for (sack, timestamps) in [(true, true), (true, false), (false, true), (false, false)] {
                all.extend(LOSSES.map(|loss| Self::of(control, sack, timestamps, loss)));
            }
        }
        for control in CONTROLS {
            all.push(Self { ack_loss: 0.02, ..Self::of(control, true, true, 0.02) });
            all.push(Self { reordering: 0.01, ..Self::of(control, true, true, 0.02) });
        }
        all
    }

    /// A few: with SACK, and one without.
    pub(super) fn few() -> Vec<Self> {
        let mut few: Vec<Self> = CONTROLS
            .iter()
            .flat_map(|control| [0.005, 0.02].map(|loss| Self::of(control, true, true, loss)))
            .collect();
        few.push(Self::of("cubic", true, false, 0.02));
        few.push(Self::of("cubic", false, true, 0.02));
        few
    }

    fn of(control: &str, sack: bool, timestamps: bool, loss: f64) -> Self {
        Self { control: control.to_owned(), sack, timestamps, loss, ack_loss: 0.0, reordering: 0.0 }
    }

    /// The transfer of so many seconds that a seed gives.
    pub(super) fn transfer(&self, seed: u64, seconds: f64) -> Result<Transfer> {
        let control = self.control.clone();
        let sack = self.sack;
        let timestamps = self.timestamps;
        let path = self.path(seed)?;
        let connections = 1;
        let both_ends = true;
        Ok(Transfer { path, control, sack, timestamps, seconds, connections, both_ends })
    }

    /// From the sender to the receiver and back.
    fn path(&self, seed: u64) -> Result<Path> {
        let link = |direction: &str, loss| {
            let queue = QueueSpec::DropTail { limit: Limit::Packets(QUEUE_PACKETS) };
            let wired =
                LinkSpec::wired(format!("{}/{direction}", self.key()), RATE_BPS, DELAY, queue);
            LinkSpec { channel: ChannelSpec::Bernoulli { loss }, ..wired }
        };
        let by = Lateness::Time { most: HELD_BACK, drawn: true };
        let reordering = ReorderingSpec { share: self.reordering, by };
        let forward = LinkSpec { reordering: Some(reordering), ..link("forward", self.loss) };
        let links = vec![forward, link("back", self.ack_loss)];
        // Which traffic the flow has does not matter: real TCP takes its path.
        let flow =
            FlowSpec::new("transfer", &[LinkId(0)], &[LinkId(1)], Traffic::cbr(RATE_BPS, 1_500));
        Ok(Path::new(&Network { links, flows: vec![flow] }, FlowId(0), seed)?)
    }

    /// As in a table: "cubic, no SACK, timestamps, 2 %".
    pub(super) fn name(&self) -> String {
        let with = |is: bool, what: &str| if is { what.to_owned() } else { format!("no {what}") };
        let percent = |share: f64| format!("{} %", (share * 1000.0).round() / 10.0);
        let mut name = format!(
            "{}, {}, {}, {}",
            self.control,
            with(self.sack, "SACK"),
            with(self.timestamps, "timestamps"),
            percent(self.loss)
        );
        if self.ack_loss > 0.0 {
            name += &format!(", {} of ACKs", percent(self.ack_loss));
        }
        if self.reordering > 0.0 {
            name += &format!(", {} reordered", percent(self.reordering));
        }
        name
    }

    /// As a folder's name: "cubic-nosack-timestamps-2".
    pub(super) fn key(&self) -> String {
        self.name()
            .replace("no ", "no")
            .replace(" %", "")
            .replace(", ", "-")
            .replace(' ', "-")
            .to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transfer_has_its_own_name_and_folder() {
        let all = Variant::all();
        assert_eq!(all.len(), 42);
        let keys: std::collections::BTreeSet<String> = all.iter().map(Variant::key).collect();
        assert_eq!(keys.len(), 42);
        assert!(
            keys.contains("bbr-nosack-notimestamps-0.5")
                && keys.contains("reno-sack-timestamps-2-2-of-acks"),
            "{keys:?}"
        );
        assert!(Variant::few().iter().all(|few| all.contains(few)));
    }
}
