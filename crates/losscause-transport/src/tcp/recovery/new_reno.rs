//! NewReno's loss recovery (RFC 6582): fast recovery lasts until everything in flight at its start
//! is acknowledged.
//!
//! An ACK of new data below that point is partial: the packet it asks for was lost too, and is
//! retransmitted at once, without waiting for further duplicates. One loss is repaired per round
//! trip, and the window is cut once.
//!
//! ```text
//! third duplicate ACK:  recover = everything sent;  retransmit;  window inflated by 3      (section 3.2, steps 2, 3)
//! duplicate ACK:        window inflated by 1                                               (RFC 5681, section 3.2)
//! partial ACK of n:     retransmit;  window deflated by n - 1                              (section 3.2, step 3)
//! full ACK:             cwnd = min(ssthresh, max(FlightSize, 1) + 1)                       (the same)
//! ```
//!
//! If the response kept the window at the loss, the end of recovery does not cut it either. Each
//! ACK then lets out at most two packets until the window is full again.
//!
//! Deviations: the timestamp heuristic of section 4.2, which distinguishes a loss at or below
//! `recover` from packets sent twice, examines the duplicate itself instead of the last ACK of new
//! data (`fast_recovery.rs`). [`NewRenoRules::NS2`] holds the rules of ns-2.35's
//! `Agent/TCP/Newreno`, except `newreno_changes_` (an estimate of ssthresh from the first ACKs, and
//! one new packet per two duplicates), which ns-2 disables by default.

use losscause::Time;

use super::Progress;
use super::fast_recovery::FastRecovery;
use crate::tcp::config::Config;
use crate::tcp::loss_event::{Answer, Found};
use crate::tcp::quirks::{Deflation, FastRetransmit, NewRenoRules, PartialAckTimer, RecoveryExit};
use crate::tcp::segment::Ack;
use crate::tcp::stream::Stream;
use crate::tcp::window::Window;

#[derive(Clone, Debug)]
pub(crate) struct NewReno {
    rules: NewRenoRules,
    fast_recovery: FastRecovery,
    /// What partial ACKs took from cwnd beyond the inflation, packets.
    deflated: f64,
    partial_seen: bool,
    /// How the response answered the loss under repair.
    answer: Answer,
    /// Recovery ended with a kept window larger than the packets in flight; the window is
    /// refilling.
    refilling: bool,
    /// In-sequence packets that the last ACK may still release, if bursts are limited.
    burst_left: u32,
}

/// Packets released per ACK while a kept window refills: as in slow start.
const REFILL_PKTS: u32 = 2;

impl NewReno {
    pub(super) fn new(config: &Config) -> Self {
        let fast_recovery = FastRecovery::new(config, FastRetransmit::AfterRecovery);
        Self {
            rules: config.quirks.new_reno,
            fast_recovery,
            deflated: 0.0,
            partial_seen: false,
            answer: Answer::Kept,
            refilling: false,
            burst_left: 0,
        }
    }

    pub(super) fn on_dup_ack(&mut self, now: Time, ack: &Ack, stream: &Stream) -> Option<Found> {
        self.limit_burst();
        let found = self.fast_recovery.on_dup_ack(now, ack, stream)?;
        (self.deflated, self.partial_seen, self.refilling) = (0.0, false, false);
        Some(found)
    }

    pub(super) fn on_answer(&mut self, answer: Answer) {
        self.answer = answer;
        if answer == Answer::Cut {
            self.deflated = 0.0;
        }
    }

    #[inline]
    pub(super) fn on_new_ack(
        &mut self,
        acked: u64,
        stream: &Stream,
        window: &mut Window,
    ) -> Progress {
        self.fast_recovery.on_new_ack();
        if !self.fast_recovery.is_recovering() {
            self.limit_burst();
            return Progress::Open;
        }
        if self.fast_recovery.is_repaired(stream) {
            self.fast_recovery.end();
            self.leave(stream, window);
            return Progress::Recovered;
        }
        self.on_partial_ack(acked, window)
    }

    fn on_partial_ack(&mut self, acked: u64, window: &mut Window) -> Progress {
        let acked = u32::try_from(acked).unwrap_or(u32::MAX);
        if let Some(inflation) = self.fast_recovery.inflation() {
            match self.rules.deflation {
                Deflation::All => *inflation = 0,
                Deflation::ByAcked if *inflation > acked => *inflation -= acked - 1,
                // ns-2.35, NewRenoTcpAgent::partialnewack: what exceeds the inflation is taken from
                // cwnd.
                Deflation::ByAcked => {
                    let cwnd = (window.cwnd - f64::from(acked - *inflation)).max(1.0);
                    self.deflated += window.cwnd - cwnd;
                    window.cwnd = cwnd;
                    *inflation = 1;
                }
            }
        }
        let restart_timer =
            !self.partial_seen || self.rules.timer == PartialAckTimer::SlowButSteady;
        self.partial_seen = true;
        self.fast_recovery.retransmit();
        self.limit_burst();
        Progress::Partial { restart_timer, clear_backoff: false }
    }

    fn leave(&mut self, stream: &Stream, window: &mut Window) {
        self.restore(window);
        match (self.rules.exit, self.answer) {
            (RecoveryExit::NoBurst, Answer::Cut) => {
                let most = stream.flight_pkts().max(1) + 1;
                window.cwnd = window.cwnd.min(most as f64);
            }
            // A kept window is not cut; instead the burst is limited.
            (RecoveryExit::NoBurst, Answer::Kept) => {
                self.refilling = true;
                self.limit_burst();
            }
            (RecoveryExit::AsDeflated, _) => {}
        }
    }

    /// Returns to cwnd what partial ACKs took from it.
    fn restore(&mut self, window: &mut Window) {
        if self.rules.exit != RecoveryExit::AsDeflated {
            window.cwnd += std::mem::take(&mut self.deflated);
        }
    }

    pub(super) fn on_timeout(&mut self, now: Time, stream: &Stream, window: &mut Window) {
        if self.fast_recovery.is_recovering() {
            self.restore(window);
        }
        self.fast_recovery.on_timeout(now, stream);
        self.refilling = false;
    }

    #[inline]
    pub(super) fn poll_transmit(&mut self, stream: &mut Stream, window: &Window) -> Option<u64> {
        if let Some(seq) = self.fast_recovery.take_retransmission(stream) {
            return Some(seq);
        }
        if self.fast_recovery.suspects_loss() || self.refilling {
            self.burst_left = self.burst_left.checked_sub(1)?;
        }
        let next = stream.take_next(self.window_pkts(stream, window));
        self.refilling &= next.is_some();
        next
    }

    fn limit_burst(&mut self) {
        let most = self.rules.burst_pkts.unwrap_or(u32::MAX);
        self.burst_left = if self.refilling { REFILL_PKTS } else { most };
    }

    #[inline]
    pub(super) fn window_pkts(&self, stream: &Stream, window: &Window) -> u32 {
        self.fast_recovery.window_pkts(stream, window)
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;
    use crate::tcp::quirks::{FastRetransmit, Inflation, LimitedTransmit, Quirks};

    /// A duplicate ACK caused by a packet sent at time 0.
    fn dup_ack(next: u64) -> Ack {
        Ack::new(next, Time::ZERO - Span::from_millis(1))
    }

    fn partial(restart_timer: bool) -> Progress {
        Progress::Partial { restart_timer, clear_backoff: false }
    }

    fn recovering(rules: NewRenoRules) -> (NewReno, Stream, Window) {
        recovering_with(Quirks {
            limited_transmit: LimitedTransmit::Off,
            new_reno: rules,
            ..Quirks::RFC
        })
    }

    fn recovering_with(quirks: Quirks) -> (NewReno, Stream, Window) {
        let mut reno = NewReno::new(&Config { quirks, ..Config::rfc() });
        // Packets 10 to 19 are in flight; 10, 13 and 16 are lost, so seven duplicates arrive.
        let stream = Stream { una: 10, next: 20, sent: 20, end: u64::MAX };
        let mut window = Window { cwnd: 10.0, ssthresh: 44.0, max_pkts: 44 };
        for dup in 1..=7 {
            let found = reno.on_dup_ack(Time::ZERO, &dup_ack(stream.una), &stream);
            assert_eq!(found, (dup == 3).then_some(Found::with(10)));
            if dup == 3 {
                // Stands in for the response.
                (window.cwnd, window.ssthresh) = (5.0, 5.0);
                reno.on_answer(Answer::Cut);
            }
        }
        (reno, stream, window)
    }

    #[test]
    fn partial_acks_resend_a_packet_and_deflate_by_what_they_ack() {
        let (mut reno, mut stream, mut window) = recovering(NewRenoRules::RFC);
        // cwnd 5 + 3 + 4 duplicates: packets 20 and 21 follow the retransmission.
        assert_eq!(reno.window_pkts(&stream, &window), 12);
        let sent: Vec<u64> =
            std::iter::from_fn(|| reno.poll_transmit(&mut stream, &window)).collect();
        assert_eq!(sent, [10, 20, 21]);
        stream.sent = 22;
        // Up to 13: three acknowledged, one added back.
        stream.una = 13;
        assert_eq!(reno.on_new_ack(3, &stream, &mut window), partial(true));
        assert_eq!(reno.window_pkts(&stream, &window), 10);
        assert_eq!(reno.poll_transmit(&mut stream, &window), Some(13));
        // Up to 16: the timer keeps running.
        stream.una = 16;
        assert_eq!(reno.on_new_ack(3, &stream, &mut window), partial(false));
        assert_eq!(reno.window_pkts(&stream, &window), 8);
        assert_eq!(reno.poll_transmit(&mut stream, &window), Some(16));
        // All packets sent before the first retransmission: recovery ends with cwnd = ssthresh, or
        // less if less is in flight.
        stream.una = 20;
        stream.next = 24;
        assert_eq!(reno.on_new_ack(4, &stream, &mut window), Progress::Recovered);
        assert_eq!((window.cwnd, reno.window_pkts(&stream, &window)), (5.0, 5));
    }

    #[test]
    fn the_full_ack_lets_no_burst_out() {
        let exit = |exit| {
            let (mut reno, mut stream, mut window) =
                recovering(NewRenoRules { exit, ..NewRenoRules::RFC });
            stream.una = 20;
            reno.on_new_ack(10, &stream, &mut window);
            window.cwnd
        };
        assert_eq!(exit(RecoveryExit::NoBurst), 2.0, "nothing is in flight: two packets");
        assert_eq!(exit(RecoveryExit::AsDeflated), 5.0);
    }

    #[test]
    fn a_window_that_the_response_kept_stays_when_recovery_ends() {
        let (mut reno, mut stream, mut window) = recovering(NewRenoRules::RFC);
        // A second loss in the same window is not answered: cwnd is 5 and nothing is in flight.
        reno.on_answer(Answer::Kept);
        stream.una = 19;
        reno.on_new_ack(9, &stream, &mut window);
        stream.una = 20;
        reno.on_new_ack(1, &stream, &mut window);
        assert_eq!(window.cwnd, 5.0);
        // Two packets per ACK refill it instead of a burst of five: 2, then 1 acknowledged and 3,
        // then 1 and 4, then 1 and all 5.
        let mut in_flight = vec![];
        for _ in 0..5 {
            while reno.poll_transmit(&mut stream, &window).is_some() {}
            in_flight.push(stream.flight_pkts());
            stream.una += 1;
            reno.on_new_ack(1, &stream, &mut window);
        }
        assert_eq!(in_flight, [2, 3, 4, 5, 5]);
    }

    #[test]
    fn a_timeout_halves_the_window_as_it_was_before_partial_acks() {
        let (mut reno, mut stream, mut window) = recovering(NewRenoRules::RFC);
        stream.una = 19;
        reno.on_new_ack(9, &stream, &mut window);
        assert_eq!(window.cwnd, 3.0);
        reno.on_timeout(Time::ZERO, &stream, &mut window);
        assert_eq!(window.cwnd, 5.0, "the response answers from here");
    }

    #[test]
    fn a_partial_ack_beyond_the_inflation_takes_the_rest_from_cwnd() {
        for (exit, expected) in [(RecoveryExit::NoBurst, 5.0), (RecoveryExit::AsDeflated, 3.0)] {
            let (mut reno, mut stream, mut window) =
                recovering(NewRenoRules { exit, ..NewRenoRules::RFC });
            // 9 acknowledged, inflated by 7: cwnd 3, and 1 for the retransmitted packet.
            stream.una = 19;
            reno.on_new_ack(9, &stream, &mut window);
            assert_eq!((window.cwnd, reno.window_pkts(&stream, &window)), (3.0, 4));
            // Five packets are in flight behind it, so there is no burst to prevent.
            (stream.una, stream.next) = (20, 25);
            reno.on_new_ack(1, &stream, &mut window);
            assert_eq!(window.cwnd, expected);
        }
    }

    #[test]
    fn slow_but_steady_restarts_the_timer_with_every_partial_ack() {
        let rules = NewRenoRules { timer: PartialAckTimer::SlowButSteady, ..NewRenoRules::RFC };
        let (mut reno, mut stream, mut window) = recovering(rules);
        for una in [13, 16] {
            stream.una = una;
            assert_eq!(reno.on_new_ack(3, &stream, &mut window), partial(true));
        }
    }

    #[test]
    fn without_partial_deflation_all_inflation_goes() {
        let (mut reno, mut stream, mut window) =
            recovering(NewRenoRules { deflation: Deflation::All, ..NewRenoRules::RFC });
        stream.una = 13;
        reno.on_new_ack(3, &stream, &mut window);
        assert_eq!(reno.window_pkts(&stream, &window), 5);
    }

    #[test]
    fn in_ns2_an_ack_in_recovery_releases_two_packets_in_sequence() {
        let (mut reno, mut stream, window) = recovering(NewRenoRules::NS2);
        let window = Window { cwnd: 20.0, ..window };
        let sent: Vec<u64> =
            std::iter::from_fn(|| reno.poll_transmit(&mut stream, &window)).collect();
        assert_eq!(sent, [10, 20, 21]);
    }

    #[test]
    fn after_a_timeout_old_duplicates_inflate_the_window_if_all_do() {
        for (inflation, expected) in
            [(Inflation::InRecovery, [5; 5]), (Inflation::Always, [5, 5, 8, 9, 10])]
        {
            let (mut reno, stream, mut window) = recovering_with(Quirks {
                fast_retransmit: Some(FastRetransmit::OncePerWindow),
                inflation,
                limited_transmit: LimitedTransmit::Off,
                new_reno: NewRenoRules::NS2_2001,
                ..Quirks::RFC
            });
            reno.on_timeout(Time::ZERO, &stream, &mut window);
            let windows = [(); 5].map(|()| {
                assert_eq!(reno.on_dup_ack(Time::ZERO, &dup_ack(stream.una), &stream), None);
                reno.window_pkts(&stream, &window)
            });
            assert_eq!(windows, expected);
            let stream = Stream { una: 11, ..stream };
            assert_eq!(reno.on_new_ack(1, &stream, &mut window), Progress::Open);
            assert_eq!(reno.window_pkts(&stream, &window), 5, "an ACK of new data ends it");
        }
    }

    #[test]
    fn after_a_timeout_old_duplicates_do_not_start_recovery() {
        let (mut reno, stream, mut window) = recovering_with(Quirks::RFC);
        reno.on_timeout(Time::ZERO, &stream, &mut window);
        let mut found = |una| {
            let stream = Stream { una, next: 30, sent: 30, end: u64::MAX };
            reno.on_new_ack(1, &stream, &mut window);
            (0..3).any(|_| reno.on_dup_ack(Time::ZERO, &dup_ack(stream.una), &stream).is_some())
        };
        assert!(!found(12));
        assert!(!found(20), "everything sent by then, and no more");
        assert!(found(21));
    }
}
