//! Loss recovery based on selective acknowledgements (RFC 6675).
//!
//! A scoreboard records which packets the receiver reported. A packet counts as lost once three
//! packets above it are reported. `pipe` estimates how many packets are still in the network;
//! packets are sent while pipe < cwnd:
//!
//! ```text
//! pipe = packets neither reported nor lost + unreported retransmissions of this recovery            (SetPipe)
//! next = the first lost packet not yet retransmitted, else unsent data, else any other hole not yet
//!        retransmitted, else, once per recovery, the last unreported packet                         (NextSeg)
//! ```
//!
//! Recovery begins with the third duplicate ACK that reports something new, or as soon as the first
//! unacknowledged packet counts as lost. After a timeout it cannot begin until everything sent
//! before the timeout is acknowledged. It ends when everything in flight at its start is
//! acknowledged.
//!
//! Deviations: everything is counted in packets, so "more than (DupThresh - 1) * SMSS bytes" and
//! "DupThresh discontiguous sequences" are one rule. A timeout clears the reports received so far
//! (RFC 2018, section 8, because receivers may renege); packets reported after it are not sent
//! again. [`super::FastRetransmit`] has no effect here.

use super::Progress;
use super::scoreboard::Scoreboard;
use crate::tcp::config::Config;
use crate::tcp::loss_event::Found;
use crate::tcp::quirks::LimitedTransmit;
use crate::tcp::segment::Ack;
use crate::tcp::stream::Stream;
use crate::tcp::window::Window;

#[derive(Clone, Debug)]
pub(crate) struct Sack {
    threshold: u32,
    limited: bool,
    board: Scoreboard,
    phase: Phase,
    /// RecoveryPoint: one above the highest packet sent when the last loss was detected.
    recover: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open {
        dup_acks: u32,
    },
    Recovering {
        /// The first unacknowledged packet must be retransmitted now, whatever pipe is.
        first: bool,
        /// HighRxt: everything below was retransmitted or reported.
        resent: u64,
        /// RescueRxt: the cumulative ACK must pass this packet before another rescue.
        rescued: Option<u64>,
    },
}

impl Sack {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            threshold: config.dup_ack_threshold,
            limited: config.quirks.limited_transmit != LimitedTransmit::Off,
            board: Scoreboard::new(),
            phase: Phase::Open { dup_acks: 0 },
            recover: 0,
        }
    }

    pub(super) fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    pub(super) fn on_dup_ack(&mut self, ack: &Ack, stream: &Stream) -> Option<Found> {
        // Section 2: a duplicate ACK is one that reports something new.
        if !self.board.update(stream.una, stream.sent, &ack.sack) {
            return None;
        }
        let Phase::Open { dup_acks } = &mut self.phase else { return None };
        *dup_acks = dup_acks.saturating_add(1);
        // Section 5, steps 1 and 2.
        let lost =
            *dup_acks >= self.threshold || self.board.lost_below(self.threshold) > stream.una;
        // Section 5.1.
        if !lost || stream.una < self.recover {
            return None;
        }
        // Step 4.
        self.recover = stream.sent;
        self.phase = Phase::Recovering { first: true, resent: stream.una + 1, rescued: None };
        Some(Found::with(stream.flight_pkts()))
    }

    #[inline]
    pub(super) fn on_new_ack(&mut self, ack: &Ack, stream: &Stream) -> Progress {
        self.board.update(stream.una, stream.sent, &ack.sack);
        match &mut self.phase {
            Phase::Open { dup_acks } => {
                *dup_acks = 0;
                Progress::Open
            }
            // Step A.
            Phase::Recovering { .. } if stream.una >= self.recover => {
                self.phase = Phase::Open { dup_acks: 0 };
                Progress::Recovered
            }
            Phase::Recovering { first, .. } => {
                *first = false;
                Progress::Partial { restart_timer: true, clear_backoff: false }
            }
        }
    }

    pub(super) fn on_timeout(&mut self, stream: &Stream) {
        self.recover = stream.sent;
        self.phase = Phase::Open { dup_acks: 0 };
        self.board.clear(stream.una);
    }

    pub(super) fn poll_transmit(&mut self, stream: &mut Stream, window: &Window) -> Option<u64> {
        if let Phase::Recovering { .. } = self.phase {
            return self.next_in_recovery(stream, window);
        }
        // Packets reported since a timeout are skipped.
        while stream.next < stream.sent && self.board.is_sacked(stream.next) {
            stream.next += 1;
        }
        stream.take_next(self.window_pkts(stream, window))
    }

    /// NextSeg (section 4), while pipe < cwnd (section 5, step C).
    fn next_in_recovery(&mut self, stream: &mut Stream, window: &Window) -> Option<u64> {
        let pipe = self.pipe(stream);
        let Phase::Recovering { first, resent, rescued } = &mut self.phase else { return None };
        if *first {
            *first = false;
            return Some(stream.una);
        }
        if pipe >= u64::from(window.pkts(0)) {
            return None;
        }
        let hole = self.board.next_hole(*resent);
        let lost = hole.filter(|&seq| seq < self.board.lost_below(self.threshold));
        if let Some(seq) = lost.or_else(|| stream.take_next(window.max_pkts)).or(hole) {
            if seq < stream.sent {
                *resent = seq + 1;
            }
            return Some(seq);
        }
        if rescued.is_some_and(|rescued| stream.una <= rescued) {
            return None;
        }
        *rescued = Some(self.recover);
        (stream.una..stream.sent).rev().find(|&seq| !self.board.is_sacked(seq))
    }

    /// SetPipe (section 4).
    fn pipe(&self, stream: &Stream) -> u64 {
        let unreported = |from: u64, to: u64| to.saturating_sub(from) - self.board.count(from, to);
        let resent = match self.phase {
            Phase::Open { .. } => stream.una,
            Phase::Recovering { resent, .. } => resent.max(stream.una),
        };
        unreported(self.board.lost_below(self.threshold), stream.sent)
            + unreported(stream.una, resent)
    }

    /// Outside recovery: cwnd plus limited transmit; reported packets make room (section 5, step
    /// 3).
    #[inline]
    pub(super) fn window_pkts(&self, stream: &Stream, window: &Window) -> u32 {
        window.pkts(match self.phase {
            Phase::Open { dup_acks }
                if self.limited && dup_acks > 0 && stream.next == stream.sent =>
            {
                u32::try_from(stream.flight_pkts() - self.pipe(stream)).unwrap_or(u32::MAX)
            }
            _ => 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use losscause::Time;

    use super::*;
    use crate::tcp::segment::SackBlocks;

    const WINDOW: Window = Window { cwnd: 10.0, ssthresh: 44.0, max_pkts: 44 };

    fn ack(next: u64, blocks: [(u64, u64); 3]) -> Ack {
        Ack { sack: SackBlocks::of(next, blocks), ..Ack::new(next, Time::ZERO) }
    }

    const NO: (u64, u64) = (0, 0);

    /// Packets 10 to 19 are in flight; 10, 12 and 16 are lost.
    fn recovering() -> (Sack, Stream, Window) {
        let mut sack = Sack::new(&Config::rfc());
        let stream = Stream { una: 10, next: 20, sent: 20, end: 22 };
        assert_eq!(sack.on_dup_ack(&ack(10, [(11, 12), NO, NO]), &stream), None);
        assert_eq!(sack.on_dup_ack(&ack(10, [(13, 14), (11, 12), NO]), &stream), None);
        let found = sack.on_dup_ack(&ack(10, [(13, 15), (11, 12), NO]), &stream);
        assert_eq!(found, Some(Found::with(10)));
        (sack, stream, Window { cwnd: 5.0, ssthresh: 5.0, ..WINDOW })
    }

    #[test]
    fn pipe_leaves_out_what_arrived_and_what_is_lost() {
        let (mut sack, mut stream, window) = recovering();
        // 11, 13 and 14 arrived; 10 is lost (three above it), 12 is not (two). 10 is retransmitted
        // at once.
        assert_eq!(sack.pipe(&stream), 7);
        assert_eq!(sack.poll_transmit(&mut stream, &window), Some(10));
        assert_eq!(sack.poll_transmit(&mut stream, &window), None, "7 >= 5");
        // 15 makes 12 lost.
        sack.on_dup_ack(&ack(10, [(13, 16), (11, 12), NO]), &stream);
        assert_eq!(sack.pipe(&stream), 5, "16 to 19, and 10 again");
    }

    #[test]
    fn lost_packets_go_before_unsent_ones_and_these_before_holes() {
        let (mut sack, mut stream, window) = recovering();
        sack.poll_transmit(&mut stream, &window);
        sack.on_dup_ack(&ack(10, [(17, 20), (13, 16), (11, 12)]), &stream);
        // All but 10, 12 and 16 arrived, and all three are lost: rule 1 for 12 and 16, rule 2 for
        // 20 and 21, the end.
        let mut sent = vec![];
        while let Some(seq) = sack.poll_transmit(&mut stream, &window) {
            sent.push((seq, sack.pipe(&stream)));
            stream.sent = stream.sent.max(seq + 1);
        }
        assert_eq!(sent, [(12, 2), (16, 3), (20, 3), (21, 4)]);
    }

    #[test]
    fn a_hole_not_lost_yet_is_resent_once_there_is_nothing_else() {
        let (mut sack, mut stream, window) = recovering();
        stream.end = 20;
        let wide = Window { cwnd: 8.0, ..window };
        let sent: Vec<u64> =
            std::iter::from_fn(|| sack.poll_transmit(&mut stream, &wide)).collect();
        // 12 by rule 3: two packets above it arrived. pipe: 10 retransmitted, 12 twice, and 15 to
        // 19.
        assert_eq!((sent, sack.pipe(&stream)), (vec![10, 12], 8));
    }

    #[test]
    fn the_last_packet_is_rescued_once_per_recovery() {
        let (mut sack, mut stream, window) = recovering();
        stream.end = 20;
        // Everything but 19 arrived after the first ACKs; no packet follows 19, so no duplicate can
        // reveal its loss.
        stream.una = 15;
        sack.on_new_ack(&ack(15, [(15, 19), NO, NO]), &stream);
        let sent: Vec<u64> =
            std::iter::from_fn(|| sack.poll_transmit(&mut stream, &window)).collect();
        assert_eq!(sent, [19]);
    }

    #[test]
    fn recovery_ends_with_all_sent_before_it_and_restarts_the_timer() {
        let (mut sack, mut stream, _) = recovering();
        stream.una = 12;
        let partial = Progress::Partial { restart_timer: true, clear_backoff: false };
        assert_eq!(sack.on_new_ack(&ack(12, [(13, 16), NO, NO]), &stream), partial);
        stream.una = 20;
        assert_eq!(sack.on_new_ack(&ack(20, [NO; 3]), &stream), Progress::Recovered);
        assert_eq!(sack.on_new_ack(&ack(20, [NO; 3]), &stream), Progress::Open);
    }

    #[test]
    fn a_large_gap_starts_recovery_before_the_third_duplicate() {
        let mut sack = Sack::new(&Config::rfc());
        let stream = Stream { una: 10, next: 20, sent: 20, end: 99 };
        assert!(sack.on_dup_ack(&ack(10, [(12, 15), NO, NO]), &stream).is_some(), "ACKs were lost");
    }

    #[test]
    fn a_duplicate_that_reports_nothing_new_does_not_count() {
        let mut sack = Sack::new(&Config::rfc());
        let stream = Stream { una: 10, next: 20, sent: 20, end: 99 };
        for _ in 0..5 {
            assert_eq!(sack.on_dup_ack(&ack(10, [(11, 12), NO, NO]), &stream), None);
        }
    }

    #[test]
    fn after_a_timeout_reported_packets_are_not_sent_again() {
        let (mut sack, mut stream, window) = recovering();
        sack.on_timeout(&stream);
        stream.next = stream.una;
        // The timeout clears earlier reports; later ones count, and recovery does not begin.
        stream.una = 11;
        sack.on_new_ack(&ack(11, [(13, 15), (17, 18), NO]), &stream);
        stream.next = 11;
        let sent: Vec<u64> =
            std::iter::from_fn(|| sack.poll_transmit(&mut stream, &window)).collect();
        assert_eq!(sent, [11, 12, 15]);
        assert_eq!(sack.on_dup_ack(&ack(11, [(17, 20), (13, 15), NO]), &stream), None);
    }
}
