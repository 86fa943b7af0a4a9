//! Vegas' loss recovery: each packet has its own fine-grained timeout (Brakmo and Peterson, "TCP
//! Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8), 1995, section
//! III-A).
//!
//! The sender stores when it sent each packet. On a duplicate ACK it checks the first
//! unacknowledged packet: if that was sent longer ago than the timeout, it is retransmitted at
//! once, without waiting for the third duplicate. The first and second ACK of new data after a
//! retransmission trigger the same check, which finds further losses in the same window.
//!
//! ```text
//! R a round-trip time of a packet sent once:   SRTT += (R - SRTT)/8,  D += (|R - SRTT| - D)/4
//! timeout = 17/16 (SRTT + 2 D)
//! loss found by a duplicate:                   timeout *= 9/8, or 2 if the packet had been retransmitted before
//! ```
//!
//! The paper does not specify the timeout's arithmetic; this is that of ns-2.35, by the same
//! authors' group. Four more rules follow ns-2: no limited transmit; the third and every later
//! duplicate adds a packet to cwnd until the next ACK of new data; after a timeout, duplicates
//! start no recovery until everything sent before it is acknowledged; a fast retransmit backs off
//! the coarse timer.
//!
//! Deviations from ns-2.35's `Agent/TCP/Vegas`: with [`VegasRules::Published`], acknowledged
//! packets are forgotten, and duplicates after a timeout add to cwnd for good. With
//! [`VegasRules::Ns2`], as in ns-2, packets are not forgotten if an ACK of several packets passes a
//! multiple of the receiver's window, and cwnd becomes 0 if there was no loss since the last
//! timeout to restore it from. In ns-2 an ACK that repeats the last one while nothing is in flight
//! counts as a duplicate; here it has no effect.

use losscause::{Span, Time};

use super::Progress;
use super::sendings::Sendings;
use crate::tcp::config::Config;
use crate::tcp::loss_event::{Answer, Found, Sending};
use crate::tcp::quirks::VegasRules;
use crate::tcp::stream::Stream;
use crate::tcp::window::Window;

#[derive(Clone, Debug)]
pub(crate) struct Vegas {
    rules: VegasRules,
    threshold: u32,
    sendings: Sendings,
    timeout: Timeout,
    dup_acks: u32,
    /// How many more ACKs of new data trigger a check for an expired packet.
    worried: u64,
    /// cwnd without the packets added by duplicate ACKs; 0 if there was no loss since the last
    /// timeout.
    deflated: f64,
    /// How the response answered the last loss.
    answer: Answer,
    /// One above the highest packet sent when the last loss was detected.
    recover: u64,
    /// Duplicate ACKs have revealed no loss since the last timeout.
    timed_out: bool,
    /// The first unacknowledged packet must be retransmitted now.
    retransmit: bool,
    /// When packet 0 was first sent; `None` once anything is acknowledged.
    opening: Option<Time>,
    opened_at: Time,
    /// The round-trip time measured by the last ACK of new data: that of the newest packet, if it
    /// was sent once and not together with packet 0; for the first ACK, that of packet 0.
    rtt: Option<Span>,
}

impl Vegas {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            rules: config.quirks.vegas,
            threshold: config.dup_ack_threshold,
            sendings: Sendings::new(config),
            timeout: Timeout::default(),
            dup_acks: 0,
            worried: 0,
            deflated: 0.0,
            answer: Answer::Cut,
            recover: 0,
            timed_out: false,
            retransmit: false,
            opening: None,
            opened_at: Time::ZERO,
            rtt: None,
        }
    }

    pub(super) fn on_dup_ack(
        &mut self,
        now: Time,
        stream: &Stream,
        window: &mut Window,
    ) -> Option<Found> {
        self.dup_acks = self.dup_acks.saturating_add(1);
        let lost = self.sendings.of(stream.una);
        if self.timeout.expired(&lost, now) || self.dup_acks == self.threshold {
            if self.timed_out && stream.una <= self.recover {
                return None;
            }
            self.timed_out = false;
            self.recover = stream.sent;
            self.worried = (stream.flight_pkts() + 1).min(2);
            self.timeout.back_off(lost.times > 1);
            self.retransmit = true;
            return Some(Found {
                flight_pkts: stream.flight_pkts(),
                sending: Some(lost),
                back_off: true,
            });
        }
        if self.dup_acks > self.threshold {
            window.cwnd += 1.0;
        }
        None
    }

    /// After a cut, the duplicates so far inflate the reduced window; after the first loss of a
    /// packet, later duplicates inflate it too. If the response kept the window, the next ACK of
    /// new data restores it.
    pub(super) fn on_answer(&mut self, answer: Answer, stream: &Stream, window: &mut Window) {
        let uninflated = self.dup_acks <= self.threshold;
        match answer {
            Answer::Cut => {
                self.deflated = window.cwnd;
                window.cwnd += f64::from(self.dup_acks);
            }
            Answer::Kept if self.rules == VegasRules::Published && uninflated => {
                self.deflated = window.cwnd;
            }
            Answer::Kept => {}
        }
        self.answer = answer;
        if self.sendings.of(stream.una).times == 1 {
            self.dup_acks = self.threshold;
        }
    }

    pub(super) fn on_new_ack(
        &mut self,
        now: Time,
        acked: u64,
        stream: &Stream,
        window: &mut Window,
    ) -> Progress {
        self.retransmit = false;
        let known = self.deflated > 0.0 || self.rules == VegasRules::Ns2;
        if self.dup_acks > self.threshold && window.cwnd > self.deflated && known {
            window.cwnd = self.deflated;
            // A loss ends slow start, unless the response kept the window.
            if self.rules == VegasRules::Ns2 || self.answer == Answer::Cut {
                window.ssthresh = 2.0;
            }
        }
        self.dup_acks = 0;
        self.take_sample(now, stream.una - 1);
        self.sendings.forget(stream.una - acked, acked);
        if self.worried > 0 {
            self.worried -= 1;
            if stream.una < stream.end && self.timeout.expired(&self.sendings.of(stream.una), now) {
                self.dup_acks = self.threshold;
                self.retransmit = true;
            } else {
                self.worried = 0;
            }
        }
        Progress::Open
    }

    /// The round-trip time measured by the last ACK of new data.
    pub(super) fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    pub(super) fn on_timeout(&mut self, stream: &Stream) {
        self.dup_acks = 0;
        self.recover = stream.sent;
        self.timed_out = true;
        self.deflated = 0.0;
        self.retransmit = false;
    }

    pub(super) fn poll_transmit(
        &mut self,
        now: Time,
        stream: &mut Stream,
        window: &Window,
    ) -> Option<u64> {
        let seq = if self.retransmit {
            self.retransmit = false;
            stream.una
        } else if (1..self.threshold).contains(&self.dup_acks) {
            return None;
        } else {
            stream.take_next(window.pkts(0))?
        };
        if seq == 0 {
            self.sendings.clear();
            (self.opening, self.opened_at) = (Some(now), now);
        }
        self.sendings.on_send(now, seq, stream);
        Some(seq)
    }

    fn take_sample(&mut self, now: Time, seq: u64) {
        if let Some(opening) = self.opening.take() {
            self.rtt = Some(now - opening);
            self.timeout = Timeout::first(now - opening);
            return;
        }
        let sending = self.sendings.of(seq);
        self.rtt =
            sending.at.filter(|&at| sending.times == 1 && at != self.opened_at).map(|at| now - at);
        if let Some(rtt) = self.rtt.filter(|&rtt| rtt > Span::ZERO) {
            self.timeout.on_sample(rtt);
        }
    }
}

/// The fine-grained timeout, seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Timeout {
    /// 8 SRTT.
    srtt_8: f64,
    /// 4 times the mean deviation.
    deviation_4: f64,
    value: f64,
}

impl Timeout {
    fn first(rtt: Span) -> Self {
        let rtt = rtt.as_secs_f64();
        Self { srtt_8: rtt * 8.0, deviation_4: rtt, value: (rtt * 2.0 + rtt) / 2.0 }
    }

    fn on_sample(&mut self, rtt: Span) {
        let error = rtt.as_secs_f64() - self.srtt_8 / 8.0;
        self.srtt_8 += error;
        self.deviation_4 += error.abs() - self.deviation_4 / 4.0;
        let value = (self.srtt_8 / 4.0 + self.deviation_4) / 2.0;
        self.value = value + value / 16.0;
    }

    fn back_off(&mut self, again: bool) {
        self.value += if again { self.value } else { self.value / 8.0 };
    }

    fn expired(&self, sending: &Sending, now: Time) -> bool {
        // ns-2 treats a packet that was never sent as sent before time 0.
        sending.at.is_none_or(|at| (now - at).as_secs_f64() >= self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 10 to 19 are in flight since time 0, of a window of 10 in slow start; 10 is lost.
    fn after_a_loss(answer: Answer) -> (f64, f64) {
        let mut vegas = Vegas::new(&Config::rfc());
        let mut stream = Stream { una: 10, next: 10, sent: 20, end: u64::MAX };
        let mut window = Window { cwnd: 10.0, ssthresh: 44.0, max_pkts: 44 };
        while vegas.poll_transmit(Time::ZERO, &mut stream, &window).is_some() {}
        vegas.timeout.value = 100.0;
        for _ in 0..9 {
            if vegas.on_dup_ack(Time::ZERO, &stream, &mut window).is_some() {
                if answer == Answer::Cut {
                    window.cwnd = 8.0;
                }
                vegas.on_answer(answer, &stream, &mut window);
            }
        }
        assert_eq!(window.cwnd, if answer == Answer::Cut { 8.0 + 3.0 + 6.0 } else { 10.0 + 6.0 });
        stream.una = 20;
        vegas.on_new_ack(Time::ZERO, 10, &stream, &mut window);
        (window.cwnd, window.ssthresh)
    }

    #[test]
    fn duplicates_inflate_the_window_until_new_data_is_acknowledged() {
        assert_eq!(after_a_loss(Answer::Cut), (8.0, 2.0));
        assert_eq!(after_a_loss(Answer::Kept), (10.0, 44.0));
    }
}
