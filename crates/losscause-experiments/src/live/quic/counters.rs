//! What happened to a flow's packets.

use losscause::Span;

use super::ledger::Judged;

/// Counts since a flow's start, of packets from client to server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Distinct bytes of the stream that the server's application read.
    pub(super) delivered_bytes: u64,
    /// Packets that the client sent.
    pub(super) sent_pkts: u64,
    /// Packets that arrived.
    pub(super) delivered_pkts: u64,
    /// Packets that queues dropped.
    pub(super) queue_drops: u64,
    /// Packets that the air corrupted.
    pub(super) wireless_losses: u64,
    /// How long the packets that arrived waited in queues, together.
    pub(super) queued: Span,
    /// Losses and verdicts.
    pub(super) judged: Judged,
}

impl Counters {
    /// What happened since `earlier`.
    #[must_use]
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            delivered_bytes: self.delivered_bytes - earlier.delivered_bytes,
            sent_pkts: self.sent_pkts - earlier.sent_pkts,
            delivered_pkts: self.delivered_pkts - earlier.delivered_pkts,
            queue_drops: self.queue_drops - earlier.queue_drops,
            wireless_losses: self.wireless_losses - earlier.wireless_losses,
            queued: self.queued - earlier.queued,
            judged: self.judged.since(&earlier.judged),
        }
    }

    /// Queue drops in percent of the packets sent; none if nothing was sent.
    pub(super) fn queue_drop_percent(&self) -> Option<f64> {
        (self.sent_pkts > 0).then(|| 100.0 * self.queue_drops as f64 / self.sent_pkts as f64)
    }

    /// Mean time in queues, milliseconds; none if nothing arrived.
    pub(super) fn queueing_delay_ms(&self) -> Option<f64> {
        (self.delivered_pkts > 0).then(|| self.queued.as_millis_f64() / self.delivered_pkts as f64)
    }
}
