//! One direction of the emulated path: a DropTail queue, a transmitter, random loss, a delay.
//!
//! A lane has no clock. It is told when a packet comes, and tells what becomes of it.

use std::collections::VecDeque;

use losscause::{Span, Time};
use losscause_sim::rng::Stream;

/// What a lane does to packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) rate_bps: u64,
    pub(super) delay: Span,
    /// Packets that wait, the one in transmission included.
    pub(super) queue_packets: usize,
    /// The share of packets that the air loses behind the queue.
    pub(super) loss: f64,
    /// The share of packets that are held back, for up to [`HELD_BACK`].
    pub(super) reordering: f64,
}

/// What becomes of a packet, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The queue was full.
    Queue,
    /// It left the queue, and the air lost it.
    Air(Time),
    /// It arrives.
    Arrives(Time),
}

/// The longest time for which a packet is held back: about eight packets of a full link.
const HELD_BACK: Span = Span::from_millis(10);

/// A lane and its state.
pub(super) struct Lane {
    rules: Rules,
    air: Stream,
    order: Stream,
    /// When the transmitter is free.
    free: Time,
    /// When the packets in the queue leave it.
    leaving: VecDeque<Time>,
}

impl Lane {
    pub(super) fn new(rules: Rules, seed: u64, name: &str) -> Self {
        let stream = |part| Stream::new(seed, &format!("{name}/{part}"));
        let (air, order) = (stream("air"), stream("order"));
        Self { rules, air, order, free: Time::ZERO, leaving: VecDeque::new() }
    }

    /// A packet of `bytes` comes at `now`.
    pub(super) fn on_packet(&mut self, now: Time, bytes: usize) -> Fate {
        while self.leaving.front().is_some_and(|leaves| *leaves <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() >= self.rules.queue_packets {
            return Fate::Queue;
        }
        let nanos = bytes as u64 * 8 * 1_000_000_000 / self.rules.rate_bps;
        self.free = self.free.max(now) + Span::from_nanos(nanos as i64);
        self.leaving.push_back(self.free);
        if self.air.uniform() < self.rules.loss {
            return Fate::Air(self.free);
        }
        let held =
            if self.order.uniform() < self.rules.reordering { self.order.span_below(HELD_BACK) } else { Span::ZERO };
        Fate::Arrives(self.free + self.rules.delay + held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(queue_packets: usize, loss: f64, reordering: f64) -> Lane {
        let delay = Span::from_millis(20);
        Lane::new(Rules { rate_bps: 10_000_000, delay, queue_packets, loss, reordering }, 7, "forward")
    }

    fn at_us(us: i64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn packets_leave_one_after_the_other_and_a_full_queue_drops() {
        // 1250 bytes take 1 ms.
        let mut lane = lane(2, 0.0, 0.0);
        let fates: Vec<Fate> = [0, 10, 20, 1_000, 9_000].map(|us| lane.on_packet(at_us(us), 1_250)).into();
        let arrives = |us| Fate::Arrives(at_us(us));
        assert_eq!(fates, [arrives(21_000), arrives(22_000), Fate::Queue, arrives(23_000), arrives(30_000)]);
    }

    #[test]
    fn the_air_loses_behind_the_queue_so_a_lost_packet_takes_its_time_on_the_link() {
        let mut lane = lane(10, 1.0, 0.0);
        assert_eq!(
            [0, 0].map(|us| lane.on_packet(at_us(us), 1_250)),
            [Fate::Air(at_us(1_000)), Fate::Air(at_us(2_000))]
        );
    }

    #[test]
    fn the_share_of_lost_packets_is_the_loss_and_order_is_kept_unless_asked_for() {
        let fates = |loss, reordering| {
            let mut lane = lane(10, loss, reordering);
            (0..20_000).map(|i| lane.on_packet(at_us(i * 1_000), 1_250)).collect::<Vec<_>>()
        };
        let lost = fates(0.08, 0.0).iter().filter(|fate| matches!(fate, Fate::Air(_))).count();
        // Two standard deviations of 38 packets.
        assert!((1_523..=1_677).contains(&lost), "{lost}");
        let overtaken = |fates: &[Fate]| {
            let arrivals = fates.iter().filter_map(|fate| if let Fate::Arrives(at) = fate { Some(*at) } else { None });
            arrivals.collect::<Vec<_>>().windows(2).filter(|pair| pair[1] < pair[0]).count()
        };
        assert_eq!(overtaken(&fates(0.08, 0.0)), 0);
        let held = overtaken(&fates(0.0, 0.01));
        assert!((130..=230).contains(&held), "one in a hundred, nine tenths of which by a packet or more: {held}");
    }
}
