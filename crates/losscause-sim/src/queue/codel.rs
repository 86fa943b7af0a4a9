//! CoDel, controlled delay (Nichols and others, RFC 8289).
//!
//! CoDel looks at how long packets have waited when their turn comes. Once that was `target` or
//! more for a whole `interval`, the packet at the head is dropped. While it stays so, further
//! packets are dropped `interval / sqrt(count)` apart, with `count` the drops of this episode
//! (sections 3.3 and 5.6). An episode that begins soon after the last one continues with that one's
//! count (section 5.5). Nothing is dropped while no more than one packet of the largest size waits
//! behind it (section 4.1).
//!
//! With ECN a packet is marked instead of dropped, and sent. Section 1 allows marks and gives no
//! details. The order is Linux's: a mark ends the search for this turn.
//!
//! Deviations:
//!
//! - The limit is a setting; the RFC only says that packets which arrive at a full buffer are
//!   dropped (section 5.4).
//! - `mtu_bytes` is a setting. The RFC takes the interface's MTU or the largest packet seen
//!   (sections 4.1 and 5.3), ns-2 the latter.

use losscause::{Span, Time};

use super::timed::{Timed, Waiting};
use super::{Occupancy, QueueDiscipline, QueueHooks};
use crate::packet::Packet;
use crate::topology::{CoDelSpec, QueueSpec};

/// One queue and its controller.
#[derive(Clone, Debug)]
pub(crate) struct CoDel {
    packets: Timed,
    controller: Controller,
    spec: CoDelSpec,
}

/// The state of CoDel for one queue, wherever its packets wait.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    /// When the delay will have been at or above the target for an interval; none while it is
    /// below.
    first_above: Option<Time>,
    dropping: bool,
    /// While dropping: when to drop next; afterwards: when it would have been.
    drop_next: Time,
    /// Drops (or marks) of this episode, and what it began with.
    count: u32,
    last_count: u32,
}

/// The packets that a [`Controller`] controls.
pub(super) trait Backlog {
    /// Takes out the packet at the head.
    fn pop(&mut self) -> Option<Waiting>;

    /// Bytes that wait in this queue.
    fn bytes(&self) -> u64;

    /// What waits at the link, in this queue and others.
    fn at_link(&self) -> Occupancy;
}

/// The packet at the head.
struct Head {
    packet: Packet,
    /// The delay was at or above the target for long enough.
    may_drop: bool,
}

/// An episode goes on from the last one's count if it begins within so many intervals of its end.
const MEMORY_INTERVALS: i64 = 16;

impl CoDel {
    pub(super) fn new(spec: CoDelSpec) -> Self {
        Self { packets: Timed::new(), controller: Controller::new(), spec }
    }
}

impl QueueDiscipline for CoDel {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        idle: bool,
        hooks: &mut dyn QueueHooks,
    ) -> bool {
        if !idle && !self.spec.limit.leaves_room(self.occupancy(), packet.wire_bytes) {
            hooks.drop(now, packet, self.occupancy());
            return false;
        }
        self.packets.push(now, packet);
        true
    }

    fn dequeue(&mut self, now: Time, hooks: &mut dyn QueueHooks) -> Option<Packet> {
        self.controller.take(now, &self.spec, &mut self.packets, hooks)
    }

    fn occupancy(&self) -> Occupancy {
        self.packets.occupancy()
    }

    fn packets(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.packets.iter())
    }

    fn adopt(&mut self, spec: &QueueSpec, _: Span) {
        if let QueueSpec::CoDel(spec) = *spec {
            self.spec = spec;
        }
    }

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}

impl Backlog for Timed {
    fn pop(&mut self) -> Option<Waiting> {
        Timed::pop(self)
    }

    fn bytes(&self) -> u64 {
        self.occupancy().bytes
    }

    fn at_link(&self) -> Occupancy {
        self.occupancy()
    }
}

impl Controller {
    pub(super) fn new() -> Self {
        Self { first_above: None, dropping: false, drop_next: Time::ZERO, count: 0, last_count: 0 }
    }

    /// The packet to send next, after the drops that are due. (The limit of `spec` is not its
    /// business.)
    pub(super) fn take(
        &mut self,
        now: Time,
        spec: &CoDelSpec,
        backlog: &mut impl Backlog,
        hooks: &mut dyn QueueHooks,
    ) -> Option<Packet> {
        let mut head = self.head(now, spec, backlog)?;
        if self.dropping {
            self.dropping = head.may_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if spec.ecn && hooks.mark(now, head.packet, backlog.at_link()) {
                    self.drop_next = self.control_law(self.drop_next, spec);
                    break;
                }
                hooks.drop(now, head.packet, backlog.at_link());
                head = self.head(now, spec, backlog)?;
                if head.may_drop {
                    self.drop_next = self.control_law(self.drop_next, spec);
                } else {
                    self.dropping = false;
                }
            }
        } else if head.may_drop {
            let marked = spec.ecn && hooks.mark(now, head.packet, backlog.at_link());
            if !marked {
                hooks.drop(now, head.packet, backlog.at_link());
                head = self.head(now, spec, backlog)?;
            }
            self.begin_episode(now, spec);
        }
        Some(head.packet)
    }

    fn begin_episode(&mut self, now: Time, spec: &CoDelSpec) {
        self.dropping = true;
        let last = self.count - self.last_count;
        let recently = now - self.drop_next < spec.interval * MEMORY_INTERVALS;
        self.count = if last > 1 && recently { last } else { 1 };
        self.drop_next = self.control_law(now, spec);
        self.last_count = self.count;
    }

    /// Takes out the first packet.
    fn head(&mut self, now: Time, spec: &CoDelSpec, backlog: &mut impl Backlog) -> Option<Head> {
        let Some(Waiting { packet, since }) = backlog.pop() else {
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        let short = now - since < spec.target || backlog.bytes() <= u64::from(spec.mtu_bytes);
        let may_drop = if short {
            self.first_above = None;
            false
        } else {
            now >= *self.first_above.get_or_insert(now + spec.interval)
        };
        Some(Head { packet, may_drop })
    }

    /// The next drop after one at `at`, to the nearest nanosecond.
    fn control_law(&self, at: Time, spec: &CoDelSpec) -> Time {
        let nanos = spec.interval.as_nanos() as f64 / f64::from(self.count).sqrt();
        at + Span::from_nanos(nanos.round() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::queue::tests::{Log, waiting};
    use crate::topology::Limit;

    fn codel(ecn: bool) -> CoDel {
        CoDel::new(CoDelSpec { ecn, ..CoDelSpec::new(Limit::Packets(100_000)) })
    }

    /// Packet n comes at 0; one is taken every 10 ms from 10 ms on. Returns what is sent, by its
    /// number.
    fn standing_queue(queue: &mut CoDel, log: &mut Log, takes: i64) -> Vec<u32> {
        for i in 0..2000 {
            assert!(queue.enqueue(at(0), waiting(i, 1000), false, log));
        }
        (1..=takes).filter_map(|i| queue.dequeue(at(10 * i), log)).map(Packet::number).collect()
    }

    /// A packet is taken at the instant at which it comes, ahead of those that wait.
    fn without_delay(queue: &mut CoDel, log: &mut Log, ms: i64) {
        let mut alone = Timed::new();
        alone.push(at(ms), waiting(9999, 1000));
        assert!(queue.controller.take(at(ms), &queue.spec, &mut alone, log).is_some());
    }

    #[test]
    fn drops_follow_the_control_law_to_the_nanosecond() {
        let mut queue = codel(false);
        let mut log = Log::default();
        let sent = standing_queue(&mut queue, &mut log, 40);
        // At 10 ms the delay is above 5 ms; an interval of 100 ms later, at 110 ms, the first
        // packet is dropped. The next is due 100 ms after that, then 100/sqrt(2) = 70.7 ms,
        // 100/sqrt(3) = 57.7 ms, 100/sqrt(4) = 50 ms later: at 210, 280.7 and 338.4 and 388.4 ms.
        // Turns come every 10 ms.
        assert_eq!(log.dropped_at_ms(), [110, 210, 290, 340, 390]);
        assert_eq!(sent.len(), 40, "every turn sends a packet");
        assert_eq!(
            sent[9..12],
            [9, 11, 12],
            "number 10 is dropped and 11 sent at the same instant"
        );
        // The next one counts from when the last was due, not from when it was carried out:
        // 100/sqrt(5) = 44.7 ms.
        let due: i64 = 210_000_000 + 70_710_678 + 57_735_027 + 50_000_000 + 44_721_360;
        assert_eq!(queue.controller.drop_next, Time::from_nanos(due));
        assert_eq!(queue.controller.count, 5);
    }

    #[test]
    fn several_drops_may_fall_due_at_one_turn() {
        let mut queue = codel(false);
        let mut log = Log::default();
        standing_queue(&mut queue, &mut log, 11);
        assert_eq!(log.dropped.len(), 1);
        // Nothing is taken until 300 ms: the drops of 210 and 280.7 ms are made up for.
        assert!(queue.dequeue(at(300), &mut log).is_some());
        assert_eq!(log.dropped_at_ms(), [110, 300, 300]);
    }

    #[test]
    fn a_delay_below_target_ends_an_episode_whose_count_is_kept() {
        let mut queue = codel(false);
        let mut log = Log::default();
        standing_queue(&mut queue, &mut log, 40);
        assert_eq!(queue.controller.count, 5);
        without_delay(&mut queue, &mut log, 410);
        assert!(!queue.controller.dropping);
        // Above the target again from 420 ms on: the next episode begins 100 ms later with 5 - 1
        // drops and not with 1.
        for turn in 42..=52 {
            assert!(queue.dequeue(at(10 * turn), &mut log).is_some());
        }
        assert_eq!(log.dropped_at_ms().last(), Some(&520));
        assert_eq!((queue.controller.count, queue.controller.drop_next), (4, at(520 + 50)));
    }

    #[test]
    fn after_sixteen_intervals_the_count_is_forgotten() {
        let mut queue = codel(false);
        let mut log = Log::default();
        standing_queue(&mut queue, &mut log, 40);
        without_delay(&mut queue, &mut log, 410);
        for turn in 242..=252 {
            assert!(queue.dequeue(at(10 * turn), &mut log).is_some());
        }
        assert_eq!(log.dropped_at_ms().last(), Some(&2520));
        assert_eq!((queue.controller.count, queue.controller.drop_next), (1, at(2620)));
    }

    #[test]
    fn nothing_is_dropped_while_no_more_than_one_mtu_waits_behind() {
        let mut queue = codel(false);
        let mut log = Log::default();
        for turn in 0..100 {
            // One packet waits behind the one that is taken, each for 1 s.
            assert!(queue.enqueue(at(1000 * turn), waiting(turn as u32, 1500), false, &mut log));
            if turn > 0 {
                assert!(queue.dequeue(at(1000 * turn), &mut log).is_some());
            }
        }
        assert!(log.dropped.is_empty());
    }

    #[test]
    fn with_ecn_packets_are_marked_at_the_same_instants_and_sent() {
        let mut queue = codel(true);
        let mut log = Log::capable();
        let sent = standing_queue(&mut queue, &mut log, 40);
        assert_eq!(sent, (0..40).collect::<Vec<_>>());
        assert!(log.dropped.is_empty());
        // The packets whose turn is at 110, 210, 290, 340 and 390 ms.
        let marked: Vec<u32> = log.marked.iter().map(|&(packet, _)| packet).collect();
        assert_eq!(marked, [10, 20, 28, 33, 38]);
    }

    #[test]
    fn what_cannot_be_marked_is_dropped() {
        let mut queue = codel(true);
        let mut log = Log::default();
        standing_queue(&mut queue, &mut log, 40);
        assert_eq!(log.dropped_at_ms(), [110, 210, 290, 340, 390]);
    }
}
