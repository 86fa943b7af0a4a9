//! What happened to a flow's data packets.
#![cfg_attr(
    not(all(feature = "linux", feature = "media", feature = "quic", target_os = "linux")),
    allow(dead_code, reason = "each feature takes what it needs")
)]

use std::ops::AddAssign;

use losscause::Span;
use losscause_sim::{VerdictTally, Verdicts};

/// Counts of data packets from sender to receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Distinct bytes of a QUIC stream that the receiving application read.
    pub(super) delivered_bytes: u64,
    pub(super) sent_pkts: u64,
    pub(super) delivered_pkts: u64,
    /// Dropped by queues.
    pub(super) queue_drops: u64,
    /// Corrupted by the air.
    pub(super) wireless_losses: u64,
    /// How long the packets that arrived waited in queues, together.
    pub(super) queued: Span,
    /// What the lost packets were taken for.
    pub(super) verdicts: VerdictTally,
    /// Batches of losses that a QUIC controller heard of.
    pub(super) batches: u64,
    /// Batches whose bytes were not those of the packets that the path lost: packets declared lost
    /// that arrived late.
    pub(super) unexplained: u64,
}

impl Counters {
    /// What happened since `earlier`. Losses without a verdict are not counted: they may be judged
    /// later.
    #[must_use]
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let since = |now: &Verdicts, earlier: &Verdicts| Verdicts {
            called_congestion: now.called_congestion - earlier.called_congestion,
            called_wireless: now.called_wireless - earlier.called_wireless,
            undecided: now.undecided - earlier.undecided,
            undetected: 0,
        };
        Self {
            delivered_bytes: self.delivered_bytes - earlier.delivered_bytes,
            sent_pkts: self.sent_pkts - earlier.sent_pkts,
            delivered_pkts: self.delivered_pkts - earlier.delivered_pkts,
            queue_drops: self.queue_drops - earlier.queue_drops,
            wireless_losses: self.wireless_losses - earlier.wireless_losses,
            queued: self.queued - earlier.queued,
            verdicts: VerdictTally {
                congestion: since(&self.verdicts.congestion, &earlier.verdicts.congestion),
                wireless: since(&self.verdicts.wireless, &earlier.verdicts.wireless),
            },
            batches: self.batches - earlier.batches,
            unexplained: self.unexplained - earlier.unexplained,
        }
    }

    /// `pkts` in percent of the packets sent; none if nothing was sent.
    pub(super) fn percent_of_sent(&self, pkts: u64) -> Option<f64> {
        percent(pkts, self.sent_pkts)
    }

    /// Mean time in queues, milliseconds; none if nothing arrived.
    pub(super) fn queueing_ms(&self) -> Option<f64> {
        (self.delivered_pkts > 0).then(|| self.queued.as_millis_f64() / self.delivered_pkts as f64)
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.delivered_bytes += other.delivered_bytes;
        self.sent_pkts += other.sent_pkts;
        self.delivered_pkts += other.delivered_pkts;
        self.queue_drops += other.queue_drops;
        self.wireless_losses += other.wireless_losses;
        self.queued += other.queued;
        self.verdicts += other.verdicts;
        self.batches += other.batches;
        self.unexplained += other.unexplained;
    }
}

/// A part in percent; none of nothing.
pub(super) fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// M_c: congestion losses called wireless, percent of those judged; none without any.
pub(super) fn m_c(of: &VerdictTally) -> Option<f64> {
    percent(of.congestion.called_wireless, of.congestion.judged())
}

/// M_w: wireless losses called congestion, percent of those judged; none without any.
pub(super) fn m_w(of: &VerdictTally) -> Option<f64> {
    percent(of.wireless.called_congestion, of.wireless.judged())
}
