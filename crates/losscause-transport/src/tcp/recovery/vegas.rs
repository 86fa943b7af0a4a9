//! Vegas' loss recovery: every packet has its own, finely measured timeout (Brakmo and Peterson, "TCP Vegas: End to End
//! Congestion Avoidance on a Global Internet", IEEE JSAC 13(8), 1995, section III-A).
//!
//! The time at which every packet was sent is kept. A duplicate ACK is a reason to look: if the first unacknowledged
//! packet was sent longer ago than the timeout, it is sent again at once, without waiting for the third duplicate. The
//! first and the second ACK of new data after that are a reason to look, too, which finds further losses of the same window.
//!
//! ```text
//! R a round-trip time of a packet sent once:   SRTT += (R - SRTT)/8,  D += (|R - SRTT| - D)/4
//! timeout = 17/16 (SRTT + 2 D)
//! loss found by a duplicate:                   timeout *= 9/8, or 2 if the packet had been sent again before
//! ```
//!
//! The paper leaves the timeout's arithmetic to its implementation; this is the one of ns-2.35, by the same authors'
//! group, whose other rules are followed as well: no limited transmit; the third and every later duplicate adds a packet to
//! cwnd, which the next ACK of new data takes back; duplicates do not start another recovery after a timeout until all that
//! had been sent is acknowledged; a fast retransmit backs the coarse timer off.
//!
//! Deviations from ns-2.35's `Agent/TCP/Vegas`: with [`VegasRules::Published`] what is known of a packet is forgotten when it
//! is acknowledged, and what duplicates after a timeout added to cwnd stays. With [`VegasRules::Ns2`], as in ns-2, it is not
//! forgotten where an ACK of several packets passes a multiple of the receiver's window, and cwnd falls to nothing where
//! there was no loss to take it from since a timeout. In ns-2 an ACK that repeats the last one while nothing is in flight
//! counts as a duplicate, here it changes nothing.

use losscause::{Span, Time};

use super::super::config::Config;
use super::super::loss_event::{Answer, Found, Sending};
use super::super::quirks::VegasRules;
use super::super::stream::Stream;
use super::super::window::Window;
use super::Progress;

#[derive(Clone, Debug)]
pub(in super::super) struct Vegas {
    rules: VegasRules,
    threshold: u32,
    /// What was sent: packet `seq` at `seq` modulo the size. In ns-2 that is the receiver's window; else it grows as the window is
    /// used.
    sendings: Vec<Sending>,
    timeout: Timeout,
    dup_acks: u32,
    /// ACKs of new data that are still a reason to look for an expired packet.
    worried: u64,
    /// cwnd without what duplicate ACKs added to it; 0 if there was no loss since the last timeout.
    deflated: f64,
    /// What the response did about the last loss.
    answer: Answer,
    /// Packets sent when the last loss was found (the numbers below this one).
    recover: u64,
    /// Nothing was found by duplicate ACKs since the last timeout.
    timed_out: bool,
    /// The first unacknowledged packet is to be sent out of line.
    retransmit: bool,
    /// When packet 0 was sent in line; none once something was acknowledged.
    opening: Option<Time>,
    opened_at: Time,
    /// What the last ACK of new data measured: the round-trip time of the newest packet, if that was sent once and not
    /// together with packet 0; that of packet 0 for the first ACK.
    rtt: Option<Span>,
}

impl Vegas {
    pub(super) fn new(config: &Config) -> Self {
        let room = match config.quirks.vegas {
            VegasRules::Published => 64,
            VegasRules::Ns2 => config.max_window_pkts as usize,
        };
        Self {
            rules: config.quirks.vegas,
            threshold: config.dup_ack_threshold,
            sendings: vec![Sending::NEVER; room],
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

    pub(super) fn on_dup_ack(&mut self, now: Time, stream: &Stream, window: &mut Window) -> Option<Found> {
        self.dup_acks = self.dup_acks.saturating_add(1);
        let lost = self.sendings[self.slot(stream.una)];
        if self.timeout.expired(&lost, now) || self.dup_acks == self.threshold {
            if self.timed_out && stream.una <= self.recover {
                return None;
            }
            self.timed_out = false;
            self.recover = stream.sent;
            self.worried = (stream.flight_pkts() + 1).min(2);
            self.timeout.back_off(lost.times > 1);
            self.retransmit = true;
            return Some(Found { flight_pkts: stream.flight_pkts(), sending: Some(lost), back_off: true });
        }
        if self.dup_acks > self.threshold {
            window.cwnd += 1.0;
        }
        None
    }

    /// The duplicates so far inflate what a cut has left; those after the first loss of a packet inflate the window, too. A
    /// window that the response kept is what the next ACK of new data goes back to.
    pub(super) fn on_answer(&mut self, answer: Answer, stream: &Stream, window: &mut Window) {
        let uninflated = self.dup_acks <= self.threshold;
        match answer {
            Answer::Cut => {
                self.deflated = window.cwnd;
                window.cwnd += f64::from(self.dup_acks);
            }
            Answer::Kept if self.rules == VegasRules::Published && uninflated => self.deflated = window.cwnd,
            Answer::Kept => {}
        }
        self.answer = answer;
        if self.sendings[self.slot(stream.una)].times == 1 {
            self.dup_acks = self.threshold;
        }
    }

    pub(super) fn on_new_ack(&mut self, now: Time, acked: u64, stream: &Stream, window: &mut Window) -> Progress {
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
        self.forget(stream.una - acked, acked);
        if self.worried > 0 {
            self.worried -= 1;
            if stream.una < stream.end && self.timeout.expired(&self.sendings[self.slot(stream.una)], now) {
                self.dup_acks = self.threshold;
                self.retransmit = true;
            } else {
                self.worried = 0;
            }
        }
        Progress::Open
    }

    /// The round-trip time that the last ACK of new data measured.
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

    pub(super) fn poll_transmit(&mut self, now: Time, stream: &mut Stream, window: &Window) -> Option<u64> {
        let seq = if self.retransmit {
            self.retransmit = false;
            stream.una
        } else if (1..self.threshold).contains(&self.dup_acks) {
            return None;
        } else {
            stream.take_next(window.pkts(0))?
        };
        if seq == 0 {
            self.sendings.fill(Sending::NEVER);
            (self.opening, self.opened_at) = (Some(now), now);
        }
        if self.rules == VegasRules::Published && seq - stream.una >= self.sendings.len() as u64 {
            self.grow(stream);
        }
        let slot = self.slot(seq);
        self.sendings[slot] = Sending { at: Some(now), times: self.sendings[slot].times.saturating_add(1) };
        Some(seq)
    }

    /// Twice the room; what was sent since the cumulative ACK moves along.
    fn grow(&mut self, stream: &Stream) {
        let size = self.sendings.len() as u64;
        let mut larger = vec![Sending::NEVER; 2 * self.sendings.len()];
        for seq in stream.una..stream.sent.min(stream.una + size) {
            larger[(seq % (2 * size)) as usize] = self.sendings[self.slot(seq)];
        }
        self.sendings = larger;
    }

    fn take_sample(&mut self, now: Time, seq: u64) {
        if let Some(opening) = self.opening.take() {
            self.rtt = Some(now - opening);
            self.timeout = Timeout::first(now - opening);
            return;
        }
        let sending = self.sendings[self.slot(seq)];
        self.rtt = sending.at.filter(|&at| sending.times == 1 && at != self.opened_at).map(|at| now - at);
        if let Some(rtt) = self.rtt.filter(|&rtt| rtt > Span::ZERO) {
            self.timeout.on_sample(rtt);
        }
    }

    fn forget(&mut self, first: u64, pkts: u64) {
        let past_the_end = self.slot(first) > self.slot(first + pkts - 1);
        // ns-2.35, VegasTcpAgent::recv: its loop ends before it begins.
        if self.rules == VegasRules::Ns2 && past_the_end {
            return;
        }
        for seq in first..first + pkts {
            let slot = self.slot(seq);
            self.sendings[slot] = Sending::NEVER;
        }
    }

    fn slot(&self, seq: u64) -> usize {
        (seq % self.sendings.len() as u64) as usize
    }
}

/// The finely measured timeout, seconds.
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
        // ns-2 takes a packet that was never sent for one that was sent before the start.
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
    fn duplicates_inflate_the_window_until_new_data_is_acknowledged_and_a_kept_one_goes_on_as_before() {
        assert_eq!(after_a_loss(Answer::Cut), (8.0, 2.0));
        assert_eq!(after_a_loss(Answer::Kept), (10.0, 44.0));
    }

    #[test]
    fn what_is_known_of_packets_survives_a_window_that_opens() {
        let mut vegas = Vegas::new(&Config::rfc());
        let mut stream = Stream { una: 40, next: 40, sent: 40, end: u64::MAX };
        let window = Window { cwnd: 1_000.0, ssthresh: 2.0, max_pkts: 1_000 };
        let at = |seq| Time::ZERO + Span::from_millis(seq as i64);
        while let Some(seq) = vegas.poll_transmit(at(stream.next), &mut stream, &window) {
            stream.sent = seq + 1;
        }
        assert_eq!((stream.sent, vegas.sendings.len()), (1_040, 1_024));
        for seq in 40..1_040 {
            assert_eq!(vegas.sendings[vegas.slot(seq)], Sending { at: Some(at(seq)), times: 1 });
        }
    }
}
