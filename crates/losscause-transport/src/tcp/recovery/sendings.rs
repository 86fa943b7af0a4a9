//! How each unacknowledged packet was sent, for Vegas.
//!
//! Packet `seq` is at `seq` modulo the size of a ring. The ring grows as the window is used, and
//! acknowledged packets are forgotten. In ns-2.35 its size is the receiver's window, and an ACK of
//! several packets that passes its end forgets none of them.

use losscause::Time;

use crate::tcp::config::Config;
use crate::tcp::loss_event::Sending;
use crate::tcp::quirks::VegasRules;
use crate::tcp::stream::Stream;

#[derive(Clone, Debug)]
pub(super) struct Sendings {
    ring: Vec<Sending>,
    rules: VegasRules,
}

/// The size of a ring that grows, at first.
const ROOM: usize = 64;

impl Sendings {
    pub(super) fn new(config: &Config) -> Self {
        let rules = config.quirks.vegas;
        let room = match rules {
            VegasRules::Published => ROOM,
            VegasRules::Ns2 => config.max_window_pkts as usize,
        };
        Self { ring: vec![Sending::NEVER; room], rules }
    }

    pub(super) fn of(&self, seq: u64) -> Sending {
        self.ring[self.slot(seq)]
    }

    /// Packet `seq` is sent.
    pub(super) fn on_send(&mut self, now: Time, seq: u64, stream: &Stream) {
        if self.rules == VegasRules::Published && seq - stream.una >= self.ring.len() as u64 {
            self.grow(stream);
        }
        let slot = self.slot(seq);
        self.ring[slot] = Sending { at: Some(now), times: self.ring[slot].times.saturating_add(1) };
    }

    /// Doubles the ring and moves the records of packets since the cumulative ACK.
    fn grow(&mut self, stream: &Stream) {
        let size = self.ring.len() as u64;
        let mut larger = vec![Sending::NEVER; 2 * self.ring.len()];
        for seq in stream.una..stream.sent.min(stream.una + size) {
            larger[(seq % (2 * size)) as usize] = self.of(seq);
        }
        self.ring = larger;
    }

    /// `pkts` packets from `first` on are acknowledged.
    pub(super) fn forget(&mut self, first: u64, pkts: u64) {
        let past_the_end = self.slot(first) > self.slot(first + pkts - 1);
        // ns-2.35, VegasTcpAgent::recv: the loop's end is below its start, so it never runs.
        if self.rules == VegasRules::Ns2 && past_the_end {
            return;
        }
        for seq in first..first + pkts {
            let slot = self.slot(seq);
            self.ring[slot] = Sending::NEVER;
        }
    }

    /// The connection starts: nothing is known.
    pub(super) fn clear(&mut self) {
        self.ring.fill(Sending::NEVER);
    }

    fn slot(&self, seq: u64) -> usize {
        (seq % self.ring.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;
    use crate::tcp::quirks::Quirks;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms as i64)
    }

    fn sent(config: &Config, first: u64, pkts: u64) -> Sendings {
        let mut sendings = Sendings::new(config);
        for seq in first..first + pkts {
            sendings.on_send(
                at(seq),
                seq,
                &Stream { una: first, next: seq, sent: seq, end: u64::MAX },
            );
        }
        sendings
    }

    #[test]
    fn a_ring_that_grows_keeps_what_it_knows() {
        let sendings = sent(&Config::rfc(), 40, 1_000);
        assert_eq!(sendings.ring.len(), 1_024);
        for seq in 40..1_040 {
            assert_eq!(sendings.of(seq), Sending { at: Some(at(seq)), times: 1 });
        }
    }

    #[test]
    fn ns2_forgets_nothing_if_an_ack_passes_the_end_of_its_ring() {
        let of = |quirks| {
            let mut sendings =
                sent(&Config { quirks, max_window_pkts: 20, ..Config::rfc() }, 10, 20);
            sendings.forget(15, 4);
            sendings.forget(19, 2);
            [16, 19, 20].map(|seq| sendings.of(seq).times)
        };
        assert_eq!(of(Quirks::NS2_2_35), [0, 1, 1]);
        assert_eq!(of(Quirks::RFC), [0, 0, 0]);
    }
}
