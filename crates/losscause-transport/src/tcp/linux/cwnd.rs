//! cwnd in whole packets, its growth, and whether it is used (RFC 5681, section 3.1; RFC 7661).
//!
//! ```text
//! slow start:            cwnd += packets delivered, up to ssthresh; the rest counts for congestion avoidance
//! congestion avoidance:  cwnd += 1 for every `per` packets delivered; Reno: per = cwnd
//! used                   cwnd stopped the sender in this round trip; in slow start also if more than half of it was
//!                        outstanding
//! ```
//!
//! An unused window does not grow. Linux (net/ipv4/tcp_cong.c, tcp_output.c `tcp_cwnd_validate`) counts packets that an
//! ACK delivers, reported ones included, where RFC 5681 counts ACKs (RFC 3465 counts bytes).
//!
//! Deviations: the sender always has data, so the window does not shrink after an idle time (RFC 7661, section 4.4).

/// cwnd and ssthresh, packets.
#[derive(Clone, Debug)]
pub(super) struct Cwnd {
    pub(super) pkts: u32,
    pub(super) ssthresh: u32,
    /// Packets delivered towards the next packet of cwnd.
    pub(super) count: u32,
    usage: Usage,
}

/// How much of cwnd was used in this round trip.
#[derive(Clone, Debug, Default)]
struct Usage {
    /// Whether cwnd stopped the sender.
    limited: bool,
    /// Most packets outstanding.
    most_pkts: u64,
    /// The round trip ends when this is acknowledged.
    end: u64,
}

/// ssthresh before the first loss.
pub(super) const UNLIMITED: u32 = i32::MAX as u32;

impl Cwnd {
    pub(super) fn new(pkts: u32, ssthresh: Option<u32>) -> Self {
        Self { pkts, ssthresh: ssthresh.unwrap_or(UNLIMITED), count: 0, usage: Usage::default() }
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.pkts < self.ssthresh
    }

    /// Slow start for `delivered` packets. Returns those left for congestion avoidance.
    pub(super) fn slow_start(&mut self, delivered: u32) -> u32 {
        let pkts = self.pkts.saturating_add(delivered).min(self.ssthresh);
        let left = delivered - (pkts - self.pkts);
        self.pkts = pkts;
        left
    }

    /// Congestion avoidance for `delivered` packets: one packet more for every `per`.
    pub(super) fn add(&mut self, per: u32, delivered: u32) {
        if self.count >= per {
            self.count = 0;
            self.pkts += 1;
        }
        self.count += delivered;
        if self.count >= per {
            self.pkts = self.pkts.saturating_add(self.count / per);
            self.count %= per;
        }
    }

    /// ssthresh to return to if a cut is undone: during a reduction itself, else at least 3/4 of cwnd.
    pub(super) fn current_ssthresh(&self, reducing: bool) -> u32 {
        if reducing { self.ssthresh } else { self.ssthresh.max(self.pkts / 2 + self.pkts / 4) }
    }

    /// The sender stopped sending with `outstanding` packets; `limited` if cwnd stopped it.
    pub(super) fn on_stop(&mut self, limited: bool, outstanding: u64, una: u64, next: u64) {
        let more = !self.usage.limited && outstanding > self.usage.most_pkts;
        if limited || more || una >= self.usage.end {
            self.usage = Usage { limited, most_pkts: outstanding, end: next };
        }
    }

    /// Whether the window is used, so that it may grow.
    pub(super) fn is_used(&self) -> bool {
        self.usage.limited || self.in_slow_start() && u64::from(self.pkts) < 2 * self.usage.most_pkts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_leaves_what_exceeds_ssthresh_to_congestion_avoidance() {
        let mut cwnd = Cwnd::new(10, Some(12));
        assert_eq!(cwnd.slow_start(5), 3);
        assert_eq!(cwnd.pkts, 12);
        cwnd.add(12, 3);
        cwnd.add(12, 8);
        assert_eq!((cwnd.pkts, cwnd.count), (12, 11));
        cwnd.add(12, 2);
        assert_eq!((cwnd.pkts, cwnd.count), (13, 1));
    }

    #[test]
    fn a_count_that_a_smaller_step_has_overtaken_gives_one_packet() {
        let mut cwnd = Cwnd { count: 30, ..Cwnd::new(50, Some(10)) };
        cwnd.add(20, 1);
        assert_eq!((cwnd.pkts, cwnd.count), (51, 1));
    }

    #[test]
    fn a_window_is_used_if_it_stopped_the_sender_in_this_round_trip() {
        let mut cwnd = Cwnd::new(10, Some(5));
        cwnd.on_stop(true, 10, 0, 10);
        cwnd.on_stop(false, 9, 1, 10);
        assert!(cwnd.is_used(), "earlier in the round trip");
        cwnd.on_stop(false, 9, 10, 19);
        assert!(!cwnd.is_used());
    }

    #[test]
    fn in_slow_start_more_than_half_of_the_window_is_enough() {
        let mut cwnd = Cwnd::new(10, None);
        cwnd.on_stop(false, 5, 0, 5);
        assert!(!cwnd.is_used());
        cwnd.on_stop(false, 6, 0, 6);
        assert!(cwnd.is_used());
    }

    #[test]
    fn an_undone_cut_returns_to_three_quarters_of_the_window_at_least() {
        let cwnd = Cwnd::new(21, Some(12));
        assert_eq!((cwnd.current_ssthresh(false), cwnd.current_ssthresh(true)), (15, 12));
    }
}
