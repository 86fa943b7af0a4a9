//! The receiving end: cumulative acknowledgements (RFC 5681, section 4.2).
//!
//! Deviation: a duplicate of the newest in-order packet may be acknowledged with delay, like the packet itself, as
//! ns-2's `DelAck` does; RFC 9293, section 3.10.7.4 wants it at once.

use losscause::{Span, Time};

use super::config::{Config, ConfigError};
use super::segment::{Ack, Segment};

/// The receiving end of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    ack_bytes: u32,
    delay: Option<Span>,
    /// Packets that carry no payload (the SYN).
    empty: u64,
    /// Everything below was received.
    next: u64,
    /// One above the highest packet received.
    end: u64,
    /// Which of the packets from `next` on were received: bit `seq` modulo the size.
    ahead: Box<[u64]>,
    /// Packets received beyond `next`.
    ahead_pkts: u64,
    acking: Acking,
}

#[derive(Clone, Copy, Debug)]
enum Acking {
    /// Nothing to acknowledge.
    Idle,
    /// An acknowledgement waits for a second packet or the timer.
    Delayed { ack: Ack, until: Time },
    /// An acknowledgement is to be sent now.
    Due { ack: Ack },
}

impl Receiver {
    /// An end that has received nothing.
    ///
    /// # Errors
    ///
    /// A setting is out of its range.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        config.validate()?;
        let words = config.max_window_pkts.div_ceil(u64::BITS).next_power_of_two();
        Ok(Self {
            ack_bytes: config.ack_bytes,
            delay: config.delayed_ack,
            empty: u64::from(config.syn_bytes.is_some()),
            next: 0,
            end: 0,
            ahead: vec![0; words as usize].into_boxed_slice(),
            ahead_pkts: 0,
            acking: Acking::Idle,
        })
    }

    /// A segment arrived. One beyond the receiver's window is not kept.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        let seq = segment.seq;
        self.take_in(seq);
        let in_order = seq + 1 == self.next;
        let ack = Ack {
            next: self.next,
            echo: segment.sent_at,
            echo_of_retransmission: segment.retransmission,
            wire_bytes: self.ack_bytes,
        };
        // RFC 5681, section 4.2: at once for what is out of order or fills a gap, and for every second packet.
        // ns-2.35, DelAckSink::recv: at once for packet 0, too.
        let hurry = !in_order || seq + 1 < self.end || seq == 0 || matches!(self.acking, Acking::Delayed { .. });
        self.acking = match self.delay {
            Some(delay) if !hurry => Acking::Delayed { ack, until: now + delay },
            _ => Acking::Due { ack },
        };
    }

    /// The instant named by [`Receiver::poll_timeout`] has come; earlier calls change nothing.
    pub fn on_timeout(&mut self, now: Time) {
        if let Acking::Delayed { ack, until } = self.acking
            && now >= until
        {
            self.acking = Acking::Due { ack };
        }
    }

    /// When to call [`Receiver::on_timeout`]; never if `None`.
    pub fn poll_timeout(&self) -> Option<Time> {
        match self.acking {
            Acking::Delayed { until, .. } => Some(until),
            Acking::Idle | Acking::Due { .. } => None,
        }
    }

    /// The acknowledgement to send at this instant. Call it until it returns `None` after each of the other calls;
    /// otherwise a later acknowledgement replaces an earlier one.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Ack> {
        let Acking::Due { ack } = self.acking else { return None };
        self.acking = Acking::Idle;
        Some(ack)
    }

    /// Data packets delivered in order, each once.
    pub fn delivered_packets(&self) -> u64 {
        self.next.saturating_sub(self.empty)
    }

    /// Data packets received, each once, in order or not.
    pub fn received_packets(&self) -> u64 {
        (self.next + self.ahead_pkts).saturating_sub(self.empty)
    }

    fn take_in(&mut self, seq: u64) {
        let size = self.ahead.len() as u64 * u64::from(u64::BITS);
        if seq < self.next || seq - self.next >= size {
            return;
        }
        self.end = self.end.max(seq + 1);
        if seq > self.next {
            let (word, bit) = self.slot(seq);
            self.ahead_pkts += u64::from(self.ahead[word] & bit == 0);
            self.ahead[word] |= bit;
            return;
        }
        self.next += 1;
        while self.ahead_pkts > 0 {
            let (word, bit) = self.slot(self.next);
            if self.ahead[word] & bit == 0 {
                break;
            }
            self.ahead[word] &= !bit;
            self.ahead_pkts -= 1;
            self.next += 1;
        }
    }

    fn slot(&self, seq: u64) -> (usize, u64) {
        let word = (seq / u64::from(u64::BITS)) as usize & (self.ahead.len() - 1);
        (word, 1 << (seq % u64::from(u64::BITS)))
    }
}
