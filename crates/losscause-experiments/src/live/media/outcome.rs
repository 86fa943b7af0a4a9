//! What became of a flow's data packets, streamed or simulated.

use losscause::Span;
use losscause_sim::{VerdictTally, Verdicts};

/// Counts of data packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) sent_pkts: u64,
    pub(super) delivered_pkts: u64,
    /// Dropped by queues.
    pub(super) queue_drops: u64,
    /// Corrupted by the air.
    pub(super) wireless_losses: u64,
    /// How long the packets that arrived waited in queues, together.
    pub(super) queued: Span,
    /// What the receiver took lost packets for.
    pub(super) verdicts: VerdictTally,
}

impl Outcome {
    /// What happened since `earlier`.
    #[must_use]
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let verdicts = VerdictTally {
            congestion: verdicts_since(&self.verdicts.congestion, &earlier.verdicts.congestion),
            wireless: verdicts_since(&self.verdicts.wireless, &earlier.verdicts.wireless),
        };
        Self {
            sent_pkts: self.sent_pkts - earlier.sent_pkts,
            delivered_pkts: self.delivered_pkts - earlier.delivered_pkts,
            queue_drops: self.queue_drops - earlier.queue_drops,
            wireless_losses: self.wireless_losses - earlier.wireless_losses,
            queued: self.queued - earlier.queued,
            verdicts,
        }
    }

    /// Packets that used the last link: those that arrived, and those that the air corrupted there.
    pub(super) fn crossed_pkts(&self) -> u64 {
        self.delivered_pkts + self.wireless_losses
    }

    /// `pkts` in percent of the packets sent; none if nothing was sent.
    pub(super) fn percent_of_sent(&self, pkts: u64) -> Option<f64> {
        (self.sent_pkts > 0).then(|| 100.0 * pkts as f64 / self.sent_pkts as f64)
    }

    /// Mean time in queues, milliseconds; none if nothing arrived.
    pub(super) fn queueing_ms(&self) -> Option<f64> {
        (self.delivered_pkts > 0).then(|| self.queued.as_millis_f64() / self.delivered_pkts as f64)
    }
}

/// Losses that nobody has judged yet are not counted: they may be judged later.
fn verdicts_since(now: &Verdicts, earlier: &Verdicts) -> Verdicts {
    Verdicts {
        called_congestion: now.called_congestion - earlier.called_congestion,
        called_wireless: now.called_wireless - earlier.called_wireless,
        undecided: now.undecided - earlier.undecided,
        undetected: 0,
    }
}
