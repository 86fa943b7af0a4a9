//! What the sender believes of a report.
//!
//! A report comes from whoever holds the key, and that receiver may lie to get more. The sender
//! knows what it sent, and holds each report against it:
//!
//! - The packet that the report answers must have been sent, and be no older than that of an
//!   earlier report. Its time is the sender's own record; the echoed one must agree with it.
//! - It cannot have been held for longer than it has been away. A hold that would leave less than
//!   half of the handshake's round-trip time counts as one that leaves so much: a receiver can make
//!   the handshake longer, but not shorter.
//! - More packets than were sent cannot have been received or lost, and totals do not fall.
//! - The receive rate is at most the largest rate at which packets were sent for a round-trip time
//!   R (at least 10 ms, the granularity of timers), within twice that time up to the packet that
//!   the report answers, and one packet more:
//!
//! ```text
//! X_recv <= (1 + max over t of packets sent in (t - W, t]) s / W        W = max(R, 10 ms), echo - W <= t <= echo
//! ```
//!
//! A report that contradicts what was sent is ignored and counted; a rate above the limit is
//! lowered to it and counted. What is left to a liar: to hide losses, and to halve R by the hold.
//! The rate then rises as on a path without loss, and of half the length: at most twofold per W, up
//! to the configured maximum.
//!
//! A path whose round-trip time falls below half of the handshake's, because the handshake met a
//! long queue, is taken for longer than it is, so the rate is lower than TFRC's own.

use std::collections::VecDeque;

use losscause::{Span, Time};
use losscause_transport::tfrc;

use crate::wire::feedback::{Feedback, micros};

/// The shortest time over which rates are compared.
const SHORTEST: Span = Span::from_millis(10);

/// Packets that are remembered. At 10,000 packets per second, more than 6 s.
const MOST: usize = 1 << 16;

/// The sender's record of what it sent, and of what it was told.
#[derive(Clone, Debug)]
pub(crate) struct Vetting {
    packet_bytes: f64,
    /// Sequence number of the first time in `sent`.
    first: u64,
    /// When each packet was sent, the newest last.
    sent: VecDeque<Time>,
    last: Option<Feedback>,
    /// No round-trip time below this is believed.
    least_rtt: Span,
}

/// A report that agrees with what was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vetted {
    pub(crate) feedback: tfrc::Feedback,
    /// Whether the receive rate was lowered.
    pub(crate) capped: bool,
}

impl Vetting {
    pub(crate) fn new(packet_bytes: u16) -> Self {
        Self {
            packet_bytes: f64::from(packet_bytes),
            first: 0,
            sent: VecDeque::new(),
            last: None,
            least_rtt: Span::ZERO,
        }
    }

    /// The handshake took so long, there and back.
    pub(crate) fn set_handshake(&mut self, rtt: Span) {
        self.least_rtt = (rtt / 2).max(Span::ZERO);
    }

    /// The next packet was sent.
    pub(crate) fn on_sent(&mut self, now: Time) {
        if self.sent.len() == MOST {
            self.sent.pop_front();
            self.first += 1;
        }
        self.sent.push_back(now);
    }

    /// Holds a report against the record; `rtt` is the sender's estimate. None if the report
    /// contradicts it.
    pub(crate) fn vet(
        &mut self,
        now: Time,
        rtt: Option<Span>,
        report: &Feedback,
    ) -> Option<Vetted> {
        let sent_at = self.sent_at(report.highest)?;
        let sent = report.highest.saturating_add(1);
        let lost = report.lost_congestion.checked_add(report.lost_wireless)?;
        let falls = self.last.is_some_and(|last| {
            report.highest < last.highest
                || report.received < last.received
                || report.lost_congestion < last.lost_congestion
                || report.lost_wireless < last.lost_wireless
        });
        let contradicts = report.echo_us != micros(sent_at)
            || report.hold() > now - sent_at
            || report.received == 0
            || report.received > sent
            || lost > sent
            || falls;
        if contradicts {
            return None;
        }
        self.last = Some(*report);
        let claimed = f64::from(report.receive_rate);
        let limit = rtt.map_or(f64::INFINITY, |rtt| self.largest_rate(sent_at, rtt));
        let feedback = tfrc::Feedback {
            echo: sent_at,
            hold: report.hold().min(now - sent_at - self.least_rtt).max(Span::ZERO),
            receive_rate: claimed.min(limit),
            loss_event_rate: report.loss_event_rate(),
            wire_bytes: 0,
        };
        Some(Vetted { feedback, capped: claimed > limit })
    }

    fn sent_at(&self, seq: u64) -> Option<Time> {
        let place = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        self.sent.get(place).copied()
    }

    /// The limit of the receive rate for a report that answers the packet sent at `echo`, bytes per
    /// second.
    fn largest_rate(&self, echo: Time, rtt: Span) -> f64 {
        let window = rtt.max(SHORTEST);
        let begin = self.sent.partition_point(|at| *at <= echo - window * 2);
        let end = self.sent.partition_point(|at| *at <= echo);
        let mut oldest = begin;
        let mut most = 0;
        for newest in begin..end {
            while self.sent[oldest] <= self.sent[newest] - window {
                oldest += 1;
            }
            most = most.max(newest - oldest + 1);
        }
        (most + 1) as f64 * self.packet_bytes / window.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Option<Span> = Some(Span::from_millis(100));

    fn at(ms: i64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Packets of 1000 bytes, one every 10 ms from 0 to 390 ms, and every 5 ms from 400 to 495 ms.
    fn vetting() -> Vetting {
        let mut vetting = Vetting::new(1000);
        (0..400).step_by(10).chain((400..500).step_by(5)).for_each(|ms| vetting.on_sent(at(ms)));
        vetting
    }

    /// An honest report about packet 39, sent at 390 ms.
    const HONEST: Feedback = Feedback {
        highest: 39,
        echo_us: 390_000,
        hold_us: 5000,
        receive_rate: 100_000,
        loss_event_rate: 0,
        received: 38,
        lost_congestion: 1,
        lost_wireless: 1,
    };

    #[test]
    fn an_honest_report_passes_as_it_is_with_the_senders_own_time() {
        let vetted = vetting().vet(at(500), RTT, &HONEST).unwrap();
        assert_eq!((vetted.feedback.echo, vetted.feedback.hold), (at(390), Span::from_millis(5)));
        assert_eq!((vetted.feedback.receive_rate, vetted.capped), (100_000.0, false));
    }

    #[test]
    fn a_receive_rate_above_what_was_sent_is_lowered_to_it() {
        let absurd = Feedback { receive_rate: u32::MAX, ..HONEST };
        // Ten packets per 100 ms, and one more.
        let vetted = vetting().vet(at(500), RTT, &absurd).unwrap();
        assert_eq!((vetted.feedback.receive_rate, vetted.capped), (110_000.0, true));
        // The fastest 100 ms up to the packet sent at 495 ms: twenty packets, and one more.
        let later = Feedback { highest: 59, echo_us: 495_000, ..absurd };
        assert_eq!(vetting().vet(at(600), RTT, &later).unwrap().feedback.receive_rate, 210_000.0);
        // A round-trip time of a microsecond counts as 10 ms: the two packets of 10 ms, and one
        // more.
        let shortened = vetting().vet(at(600), Some(Span::from_micros(1)), &later).unwrap();
        assert_eq!(shortened.feedback.receive_rate, 300_000.0);
    }

    #[test]
    fn the_packets_before_a_pause_count_for_another_round_trip() {
        let mut vetting = vetting();
        vetting.on_sent(at(600));
        // In the 200 ms up to 600 ms, the fastest 100 ms have the 19 packets of 405 to 495 ms, and
        // one more.
        let absurd = Feedback { highest: 60, echo_us: 600_000, receive_rate: u32::MAX, ..HONEST };
        assert_eq!(vetting.vet(at(650), RTT, &absurd).unwrap().feedback.receive_rate, 200_000.0);
    }

    #[test]
    fn a_hold_leaves_at_least_half_of_the_handshakes_round_trip() {
        let hold = |handshake_ms: i64, hold_us: u32| {
            let mut vetting = vetting();
            vetting.set_handshake(Span::from_millis(handshake_ms));
            let vetted = vetting.vet(at(490), RTT, &Feedback { hold_us, ..HONEST }).unwrap();
            vetted.feedback.hold.as_millis_f64()
        };
        // The packet was away for 100 ms.
        assert_eq!(hold(90, 5000), 5.0);
        assert_eq!(hold(90, 99_000), 55.0);
        assert_eq!(hold(300, 5000), 0.0);
    }

    #[test]
    fn a_report_that_contradicts_what_was_sent_is_ignored() {
        let changes: [fn(&mut Feedback); 8] = [
            |f| f.highest = 60,
            |f| f.highest = u64::MAX,
            |f| f.echo_us += 1,
            |f| f.hold_us = 110_001,
            |f| f.received = 41,
            |f| f.received = 0,
            |f| f.lost_congestion = 41,
            |f| f.lost_wireless = u64::MAX,
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut report = HONEST;
            change(&mut report);
            assert_eq!(vetting().vet(at(500), RTT, &report), None, "change {number}");
        }
    }

    #[test]
    fn a_report_never_takes_back_what_an_earlier_one_said() {
        let changes: [fn(&mut Feedback); 4] = [
            |f| (f.highest, f.echo_us, f.received) = (38, 380_000, 38),
            |f| f.received = 37,
            |f| f.lost_congestion = 0,
            |f| f.lost_wireless = 0,
        ];
        for change in changes {
            let mut vetting = vetting();
            vetting.vet(at(500), RTT, &HONEST).unwrap();
            let mut report = HONEST;
            change(&mut report);
            assert_eq!(vetting.vet(at(510), RTT, &report), None);
            assert!(vetting.vet(at(510), RTT, &HONEST).is_some());
        }
    }

    #[test]
    fn memory_is_bounded_and_forgotten_packets_cannot_be_reported() {
        let mut vetting = Vetting::new(1000);
        (0..MOST as i64 + 100).for_each(|ms| vetting.on_sent(at(ms)));
        assert_eq!((vetting.sent.len(), vetting.first), (MOST, 100));
        assert_eq!(vetting.sent_at(99), None);
        assert_eq!(vetting.sent_at(100), Some(at(100)));
    }
}
