//! Proportional rate reduction (RFC 6937): how many packets leave while the window falls to its
//! target.
//!
//! ```text
//! in flight above the target:  sent = ceil(target * delivered / cwnd before)
//! else:                        sent <= delivered, and one more for an ACK that moves the stream on and finds no new
//!                              loss; in flight stays at or below the target         (slow start reduction bound)
//! the first ACK sends at least one packet
//! ```
//!
//! Linux (net/ipv4/tcp_input.c, `tcp_cwnd_reduction`) chooses between the bounds of RFC 6937,
//! section 3, by each ACK: the slow start bound if the ACK moves SND.UNA and no loss was found,
//! else the conservative one.
//!
//! Deviations: none.

#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    target_pkts: u32,
    prior_cwnd_pkts: u32,
    delivered_pkts: u64,
    sent_pkts: u64,
}

/// What an ACK brings during a reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    /// Packets that it reports for the first time.
    pub(super) delivered_pkts: u64,
    /// Whether it moves SND.UNA and found no loss.
    pub(super) safe: bool,
    /// Packets in flight.
    pub(super) in_flight_pkts: u64,
}

impl Prr {
    /// A reduction from `cwnd_pkts` to `target_pkts`.
    pub(super) fn new(cwnd_pkts: u32, target_pkts: u32) -> Self {
        Self { target_pkts, prior_cwnd_pkts: cwnd_pkts, delivered_pkts: 0, sent_pkts: 0 }
    }

    /// The window when the reduction ends.
    pub(super) fn target_pkts(&self) -> u32 {
        self.target_pkts
    }

    /// A packet was sent.
    pub(super) fn on_send(&mut self) {
        self.sent_pkts += 1;
    }

    /// The window after an ACK; `None` if it stays because the ACK delivers nothing.
    pub(super) fn on_ack(&mut self, ack: &Delivered) -> Option<u32> {
        if ack.delivered_pkts == 0 || self.prior_cwnd_pkts == 0 {
            return None;
        }
        self.delivered_pkts += ack.delivered_pkts;
        let target = u64::from(self.target_pkts);
        let sends = match target.checked_sub(ack.in_flight_pkts) {
            None => {
                let share =
                    (target * self.delivered_pkts).div_ceil(u64::from(self.prior_cwnd_pkts));
                share.saturating_sub(self.sent_pkts)
            }
            Some(room) => {
                let owed =
                    self.delivered_pkts.saturating_sub(self.sent_pkts).max(ack.delivered_pkts);
                room.min(owed + u64::from(ack.safe))
            }
        };
        let sends = sends.max(u64::from(self.sent_pkts == 0));
        Some(u32::try_from(ack.in_flight_pkts + sends).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(in_flight_pkts: u64, safe: bool) -> Delivered {
        Delivered { delivered_pkts: 1, safe, in_flight_pkts }
    }

    #[test]
    fn a_window_of_twenty_halves_by_one_packet_per_two_delivered() {
        // Three packets arrived beyond the hole before recovery began: 16 are in flight after the
        // loss is marked.
        let mut prr = Prr::new(20, 10);
        let mut in_flight = 16;
        let mut sent = vec![];
        for _ in 0..8 {
            let sends = u64::from(prr.on_ack(&ack(in_flight, false)).unwrap()) - in_flight;
            (0..sends).for_each(|_| prr.on_send());
            in_flight = in_flight + sends - 1;
            sent.push(sends);
        }
        // ceil(10 n / 20) = 1, 1, 2, 2, 3 … in all.
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn below_the_target_a_safe_ack_sends_one_packet_beyond_delivery() {
        let window = |in_flight, safe| {
            let mut prr = Prr { sent_pkts: 5, delivered_pkts: 5, ..Prr::new(20, 10) };
            prr.on_ack(&ack(in_flight, safe))
        };
        assert_eq!(window(4, true), Some(6), "slow start bound: 1 delivered, 1 more");
        assert_eq!(window(4, false), Some(5), "conservative bound");
        assert_eq!(window(9, true), Some(10), "never above the target");
    }

    #[test]
    fn below_the_target_an_ack_sends_at_least_what_it_delivered() {
        // 8 were sent and, with this ACK, 6 delivered: nothing is owed, and one has left.
        let mut prr = Prr { sent_pkts: 8, delivered_pkts: 5, ..Prr::new(20, 10) };
        assert_eq!(prr.on_ack(&ack(4, false)), Some(5));
    }

    #[test]
    fn packets_not_sent_earlier_are_made_up_for() {
        // 9 were delivered and 5 sent: the tenth makes 5 due.
        let mut prr = Prr { sent_pkts: 5, delivered_pkts: 9, ..Prr::new(20, 10) };
        assert_eq!(prr.on_ack(&ack(3, false)), Some(8));
    }

    #[test]
    fn an_ack_that_delivers_nothing_leaves_the_window() {
        let nothing = Delivered { delivered_pkts: 0, ..ack(9, true) };
        assert_eq!(Prr::new(20, 10).on_ack(&nothing), None);
    }

    #[test]
    fn the_first_ack_sends_a_packet_even_at_twice_the_target() {
        assert_eq!(Prr::new(1_000, 1).on_ack(&ack(1_000, false)), Some(1_001));
    }

    #[test]
    fn the_first_ack_sends_a_packet_even_at_the_target() {
        // Ten are in flight, so there is no room; the fast retransmission leaves nevertheless (RFC
        // 6937, section 3).
        let mut prr = Prr::new(20, 10);
        assert_eq!(prr.on_ack(&ack(10, false)), Some(11));
        prr.on_send();
        assert_eq!(prr.on_ack(&ack(10, true)), Some(10), "only the first");
    }
}
