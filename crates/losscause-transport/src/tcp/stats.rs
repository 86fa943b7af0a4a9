//! What a sender counts.

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments sent, including retransmissions and the SYN.
    pub segments_sent: u64,
    /// Segments that had been sent before.
    pub retransmissions: u64,
    /// Losses found by duplicate ACKs.
    pub fast_retransmits: u64,
    /// Expiries of the retransmission timer with data outstanding.
    pub timeouts: u64,
    /// Recoveries and timeouts that proved needless and were undone. Only Linux's machine notices.
    pub undone: u64,
    /// Losses that the algorithm called wireless and the guard made congestion.
    pub guarded: u64,
    /// The same, by the brake.
    pub braked: u64,
    /// ECN marks that the control was told of, at most one per window of data. It may keep the
    /// window all the same.
    pub ecn_reductions: u64,
    /// ACKs of new data.
    pub new_acks: u64,
    /// ACKs of new data that arrived while the receiver's window was full and cwnd was no smaller.
    pub window_limited_acks: u64,
}
