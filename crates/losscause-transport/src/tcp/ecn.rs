//! Explicit Congestion Notification for TCP (RFC 3168, section 6.1).
//!
//! A queue marks a segment instead of dropping it. The receiver echoes the mark in every ACK (ECE)
//! until a segment reports that the sender has reduced its window (CWR). The sender treats an echo
//! as a loss, once per window of data: it halves the window and retransmits nothing.
//!
//! Only first transmissions of data may be marked; the SYN, retransmissions and ACKs may not
//! (sections 6.1.1, 6.1.4 and 6.1.5).
//!
//! Deviations: both ends use the same [`Config`](super::Config), so nothing is negotiated. With a
//! window of one segment an echo changes only ssthresh; section 6.1.2 makes the sender wait for the
//! retransmission timer.

use super::segment::{Ack, Segment};
use crate::Ecn;

/// The sender's part: when an echo counts, and which flags to send.
#[derive(Clone, Debug)]
pub(super) struct Reaction {
    on: bool,
    /// The last reduction; `None` before the first.
    last: Option<Reduction>,
    /// The next segment with new data carries CWR.
    announce: bool,
}

#[derive(Clone, Copy, Debug)]
struct Reduction {
    /// One above the highest packet sent by then.
    sent: u64,
    cause: Cause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Echo,
    Loss,
}

impl Reaction {
    pub(super) fn new(on: bool) -> Self {
        Self { on, last: None, announce: false }
    }

    /// Whether this ACK requires a window reduction: it echoes a mark, and the packets it
    /// acknowledges were sent after the last reduction (section 6.1.2).
    pub(super) fn is_due(&self, ack: &Ack) -> bool {
        self.on && ack.ece && self.last.is_none_or(|last| ack.next > last.sent)
    }

    /// Whether a loss of packet `una` falls in a window that was already reduced for an echo. It is
    /// repaired without another cut (section 6.1.2).
    pub(super) fn covers(&self, una: u64) -> bool {
        self.last.is_some_and(|last| last.cause == Cause::Echo && una <= last.sent)
    }

    /// The window was reduced for an echo, with everything below `sent` sent.
    pub(super) fn on_echo(&mut self, sent: u64) {
        self.reduced(sent, Cause::Echo);
    }

    /// The window was reduced for a loss.
    pub(super) fn on_loss(&mut self, sent: u64) {
        self.reduced(sent, Cause::Loss);
    }

    /// The ECN field and CWR flag of the next segment. `fresh` if it carries data for the first
    /// time.
    pub(super) fn stamp(&mut self, fresh: bool) -> (Ecn, bool) {
        if self.on && fresh {
            (Ecn::Capable, std::mem::take(&mut self.announce))
        } else {
            (Ecn::NotCapable, false)
        }
    }

    fn reduced(&mut self, sent: u64, cause: Cause) {
        if self.on {
            self.last = Some(Reduction { sent, cause });
            self.announce = true;
        }
    }
}

/// The receiver's part: when ACKs carry ECE.
#[derive(Clone, Debug)]
pub(super) struct Echo {
    on: bool,
    ece: bool,
}

impl Echo {
    pub(super) fn new(on: bool) -> Self {
        Self { on, ece: false }
    }

    /// Handles a segment. Returns whether ACKs carry ECE from now on (section 6.1.3).
    pub(super) fn on_segment(&mut self, segment: &Segment) -> bool {
        if self.on {
            self.ece = segment.ecn == Ecn::Marked || (self.ece && !segment.cwr);
        }
        self.ece
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::tcp::{Config, LimitedTransmit, Quirks, Receiver, SackBlocks, Sender, Variant};

    fn config() -> Config {
        let quirks = Quirks { limited_transmit: LimitedTransmit::Off, ..Quirks::RFC };
        Config { ecn: true, initial_window_pkts: 10, quirks, ..Config::rfc() }
    }

    fn started(config: &Config) -> Sender {
        let mut sender = Sender::new(config).unwrap();
        sender.start(at(0));
        sender
    }

    fn sent(sender: &mut Sender, ms: i64) -> Vec<Segment> {
        std::iter::from_fn(|| sender.poll_transmit(at(ms))).collect()
    }

    fn ack(sender: &mut Sender, ms: i64, next: u64, ece: bool) -> Vec<Segment> {
        let sack = SackBlocks::NONE;
        let ack = Ack { ece, sack, ..Ack::new(next, at(0)) };
        sender.on_ack(at(ms), &ack, &mut ());
        sent(sender, ms)
    }

    #[test]
    fn an_echo_halves_once_per_window_and_retransmits_nothing() {
        let mut sender = started(&config());
        assert_eq!(sent(&mut sender, 0).len(), 10);
        // Ten in flight: half of them.
        assert!(ack(&mut sender, 100, 1, true).is_empty());
        assert_eq!((sender.cwnd(), sender.ssthresh()), (5.0, 5.0));
        // ACKs of everything in flight at that time echo the mark too, and change nothing.
        for next in 2..=10 {
            for segment in ack(&mut sender, 100, next, true) {
                assert!(!segment.retransmission);
            }
            assert_eq!(sender.cwnd(), 5.0, "no growth by an acknowledgement that echoes");
        }
        // Packet 10 was sent after the reduction. Five are in flight.
        ack(&mut sender, 200, 11, true);
        assert_eq!((sender.cwnd(), sender.ssthresh()), (2.5, 2.5));
        let stats = sender.stats();
        assert_eq!((stats.ecn_reductions, stats.retransmissions, stats.timeouts), (2, 0, 0));
    }

    #[test]
    fn only_the_first_new_segment_after_a_reduction_says_cwr() {
        let mut sender = started(&config());
        assert!(
            sent(&mut sender, 0).iter().all(|segment| !segment.cwr && segment.ecn == Ecn::Capable)
        );
        let mut after = ack(&mut sender, 100, 1, true);
        for next in 2..=10 {
            after.extend(ack(&mut sender, 100, next, false));
        }
        let says: Vec<(u64, bool)> =
            after.iter().map(|segment| (segment.seq, segment.cwr)).collect();
        assert_eq!(says[..2], [(10, true), (11, false)]);
        assert!(says[2..].iter().all(|&(_, cwr)| !cwr));
    }

    #[test]
    fn a_loss_after_an_echo_cut_is_repaired_and_costs_nothing_more() {
        let mut sender = started(&config());
        sent(&mut sender, 0);
        ack(&mut sender, 100, 1, true);
        let mut again = vec![];
        for _ in 0..3 {
            again.extend(ack(&mut sender, 110, 1, true));
        }
        let packet: Vec<(u64, bool, Ecn)> =
            again.iter().map(|s| (s.seq, s.retransmission, s.ecn)).collect();
        assert_eq!(packet, [(1, true, Ecn::NotCapable)], "a retransmission may not be marked");
        assert_eq!((sender.cwnd(), sender.ssthresh()), (5.0, 5.0));
    }

    #[test]
    fn an_echo_in_a_window_that_a_loss_reduced_changes_nothing() {
        let mut sender = started(&config());
        sent(&mut sender, 0);
        ack(&mut sender, 100, 1, false);
        for _ in 0..3 {
            ack(&mut sender, 110, 1, false);
        }
        let after_loss = (sender.cwnd(), sender.ssthresh());
        ack(&mut sender, 200, 10, true);
        assert_eq!((sender.cwnd(), sender.ssthresh()), after_loss);
        assert_eq!(sender.stats().ecn_reductions, 0);
    }

    #[test]
    fn new_jersey_cuts_for_an_echo_and_for_no_loss_without_one() {
        let config =
            Config { initial_ssthresh_pkts: Some(5), ..config() }.with_variant(Variant::NewJersey);
        let mut sender = started(&config);
        sent(&mut sender, 0);
        ack(&mut sender, 100, 1, false);
        let before = (sender.cwnd(), sender.ssthresh());
        for ms in [110, 120, 130] {
            ack(&mut sender, ms, 1, false);
        }
        assert_eq!((sender.cwnd(), sender.ssthresh()), before);
        assert_eq!((sender.stats().fast_retransmits, sender.stats().ecn_reductions), (1, 0));
        // An echo in that window still counts, because no loss has cut it. Three reported packets,
        // 10 ms apart: q = 0.1/(0.1 + 0.01), ownd = q + q^2 + q^3.
        ack(&mut sender, 140, 2, true);
        let q: f64 = 10.0 / 11.0;
        assert!((sender.cwnd() - (q + q * q + q * q * q)).abs() < 1e-9);
        assert_eq!((sender.ssthresh(), sender.stats().ecn_reductions), (sender.cwnd(), 1));
    }

    #[test]
    fn without_ecn_nothing_may_be_marked_and_an_echo_is_ignored() {
        let mut sender = started(&Config { ecn: false, ..config() });
        assert!(sent(&mut sender, 0).iter().all(|segment| segment.ecn == Ecn::NotCapable));
        ack(&mut sender, 100, 1, true);
        assert_eq!(sender.cwnd(), 11.0);
    }

    #[test]
    fn the_receiver_echoes_from_a_mark_until_cwr() {
        let mut receiver = Receiver::new(&config()).unwrap();
        let mut echoes = vec![];
        let story = [
            (Ecn::Capable, false),
            (Ecn::Marked, false),
            (Ecn::Capable, false),
            (Ecn::Capable, true),
        ];
        let rest = [(Ecn::Capable, false), (Ecn::Marked, true), (Ecn::NotCapable, false)];
        for (seq, (ecn, cwr)) in (0..).zip(story.into_iter().chain(rest)) {
            let segment = Segment { ecn, cwr, ..Segment::new(seq, at(0), 1460) };
            receiver.on_segment(at(1), &segment, &mut ());
            echoes.extend(receiver.poll_transmit(at(1)).map(|ack| ack.ece));
        }
        assert_eq!(echoes, [false, true, true, false, false, true, true]);
    }

    #[test]
    fn the_syn_may_not_be_marked() {
        let mut sender = started(&Config { ecn: true, ..Config::ns2() });
        assert_eq!(sent(&mut sender, 0)[0].ecn, Ecn::NotCapable);
        assert!(ack(&mut sender, 50, 1, false).iter().all(|segment| segment.ecn == Ecn::Capable));
    }
}
