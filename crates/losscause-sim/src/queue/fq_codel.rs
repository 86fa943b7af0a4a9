//! FQ-CoDel, flow queueing with controlled delay (RFC 8290).
//!
//! Packets are hashed by flow into sub-queues, each with a CoDel of its own ([`Controller`]). A
//! deficit round robin serves them by bytes: a sub-queue whose turn it is sends until it has used
//! up its quantum, then gets another one and goes to the end of the list of old queues. Sub-queues
//! that just became active are on a list of new ones, which is served first: a flow that sends less
//! than a quantum per round (DNS, voice) finds its queue empty each time and waits for no other
//! flow's backlog. A new queue that runs empty still passes through the list of old ones once, so
//! that a flow cannot stay new by pausing.
//!
//! A packet that brings all sub-queues together above the limit is let in. Then the sub-queue with
//! the most bytes drops packets from its head: half of its bytes, at most 64 packets (section 4.1).
//!
//! | parameter | default | RFC 8290 |
//! |---|---|---|
//! | `limit` | the scenario's; Linux has 10,240 packets | 5.2.3 |
//! | `target`, `interval` | 5 ms, 100 ms | 5.2.2, 5.2.1 |
//! | `quantum_bytes` | 1514 | 5.2.4 |
//! | `queues` | 1024 | 5.2.5 |
//!
//! Deviations:
//!
//! - The hash is of the flow's number, since simulated packets have no addresses (on a [live
//!   path](crate::live) the caller gives the number); its salt is drawn once per link, as section
//!   4.1 asks, so that different seeds have different collisions.
//! - The limit may be in bytes.
//! - Section 4.1 drops half of the *packets* of the longest sub-queue; here it is half of the
//!   bytes, as in Linux and ns-3.
//! - CoDel drops nothing while at most an MTU waits in its own sub-queue. RFC 8289, section 4.4,
//!   recommends counting the bytes of all sub-queues, as Linux does.
//! - ECN is off by default; section 5.2.6 has it on.
//! - Section 4.2 gives a new quantum to a queue with a *negative* deficit and explains this as
//!   having sent a quantum or more. A deficit of exactly 0 is taken as the explanation says, as in
//!   Linux and ns-3.

use losscause::{Span, Time};

use super::codel::{Backlog, Controller};
use super::timed::{Timed, Waiting};
use super::{Occupancy, QueueDiscipline, QueueHooks};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::rng::{Stream, scramble};
use crate::topology::{FqCoDelSpec, QueueSpec};

/// At most so many packets are dropped when the limit is passed.
const DROP_BATCH: u32 = 64;

#[derive(Clone, Debug)]
pub(crate) struct FqCoDel {
    spec: FqCoDelSpec,
    salt: u64,
    queues: Box<[SubQueue]>,
    /// Sub-queues by number, those to be served next in front; each is on one list at most.
    new: Fifo<u32>,
    old: Fifo<u32>,
    /// What waits in all of them.
    total: Occupancy,
}

#[derive(Clone, Debug)]
struct SubQueue {
    packets: Timed,
    controller: Controller,
    /// Bytes that it may still send before the next one has its turn.
    deficit: i64,
    listed: Listed,
}

/// Memory of a sub-queue, bytes. Its list keeps the place of a few packets once it was used.
pub(super) const SUB_QUEUE_BYTES: f64 = (size_of::<SubQueue>() + 4 * size_of::<Waiting>()) as f64;

/// The list that a sub-queue is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    Nowhere,
    New,
    Old,
}

/// A sub-queue while its CoDel takes packets out of it.
struct Served<'a> {
    packets: &'a mut Timed,
    total: &'a mut Occupancy,
}

impl Backlog for Served<'_> {
    fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.packets.pop()?;
        self.total.remove(waiting.packet);
        Some(waiting)
    }

    fn bytes(&self) -> u64 {
        self.packets.occupancy().bytes
    }

    fn at_link(&self) -> Occupancy {
        *self.total
    }
}

impl FqCoDel {
    /// The salt of the hash is drawn from `stream`.
    pub(super) fn new(spec: FqCoDelSpec, mut stream: Stream) -> Self {
        let empty = SubQueue {
            packets: Timed::new(),
            controller: Controller::new(),
            deficit: 0,
            listed: Listed::Nowhere,
        };
        Self {
            spec,
            salt: stream.below(u64::MAX),
            queues: vec![empty; spec.queues as usize].into_boxed_slice(),
            new: Fifo::new(),
            old: Fifo::new(),
            total: Occupancy::default(),
        }
    }

    /// The number of the sub-queue of a flow.
    pub(super) fn queue_of(&self, flow: u32) -> u32 {
        (scramble(self.salt ^ u64::from(flow)) % u64::from(self.spec.queues)) as u32
    }

    /// The limit is passed. Returns whether `newest` is among the packets that are dropped.
    #[cold]
    fn drop_from_longest(&mut self, now: Time, newest: Packet, hooks: &mut dyn QueueHooks) -> bool {
        let bytes = |queue: &SubQueue| queue.packets.occupancy().bytes;
        let Some(longest) = self.queues.iter_mut().max_by_key(|queue| bytes(queue)) else {
            return false;
        };
        let enough = bytes(longest) / 2;
        let mut packets = 0;
        let mut dropped = 0;
        let mut newest_dropped = false;
        while packets < DROP_BATCH && (packets == 0 || dropped < enough) {
            let Some(Waiting { packet, .. }) = longest.packets.pop() else { break };
            self.total.remove(packet);
            hooks.drop(now, packet, self.total);
            packets += 1;
            dropped += u64::from(packet.wire_bytes);
            newest_dropped |= packet == newest;
        }
        newest_dropped
    }
}

impl QueueDiscipline for FqCoDel {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        idle: bool,
        hooks: &mut dyn QueueHooks,
    ) -> bool {
        let number = self.queue_of(hooks.flow_of(packet));
        let queue = &mut self.queues[number as usize];
        queue.packets.push(now, packet);
        self.total.add(packet);
        if queue.listed == Listed::Nowhere {
            queue.listed = Listed::New;
            queue.deficit = i64::from(self.spec.quantum_bytes);
            self.new.push(number);
        }
        let passed = !idle && self.spec.codel.limit.is_passed_by(self.total);
        !(passed && self.drop_from_longest(now, packet, hooks))
    }

    /// Section 4.2.
    fn dequeue(&mut self, now: Time, hooks: &mut dyn QueueHooks) -> Option<Packet> {
        loop {
            let list = if self.new.first().is_some() { &mut self.new } else { &mut self.old };
            let number = *list.first()?;
            let queue = &mut self.queues[number as usize];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(self.spec.quantum_bytes);
                queue.listed = Listed::Old;
                list.pop();
                self.old.push(number);
                continue;
            }
            let mut served = Served { packets: &mut queue.packets, total: &mut self.total };
            if let Some(packet) = queue.controller.take(now, &self.spec.codel, &mut served, hooks) {
                queue.deficit -= i64::from(packet.wire_bytes);
                return Some(packet);
            }
            list.pop();
            if queue.listed == Listed::New {
                queue.listed = Listed::Old;
                self.old.push(number);
            } else {
                queue.listed = Listed::Nowhere;
            }
        }
    }

    fn occupancy(&self) -> Occupancy {
        self.total
    }

    fn packets(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.queues.iter().flat_map(|queue| queue.packets.iter()))
    }

    fn adopt(&mut self, spec: &QueueSpec, _: Span) {
        if let QueueSpec::FqCoDel(spec) = *spec {
            self.spec = spec;
        }
    }

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::queue::tests::{Log, waiting};
    use crate::topology::Limit;

    /// The flow of packet n is n modulo 10 (see [`Log`]); with this seed flows 0 to 2 have
    /// sub-queues of their own.
    fn fq_codel(limit: u32) -> FqCoDel {
        with(FqCoDelSpec::new(Limit::Packets(limit)))
    }

    fn with(spec: FqCoDelSpec) -> FqCoDel {
        FqCoDel::new(spec, Stream::new(1, "link/x/queue"))
    }

    fn come<const N: usize>(queue: &mut FqCoDel, log: &mut Log, numbers: [u32; N], bytes: u32) {
        for number in numbers {
            assert!(queue.enqueue(at(0), waiting(number, bytes), false, log));
        }
    }

    fn go(queue: &mut FqCoDel, packets: usize) -> Vec<u32> {
        (0..packets)
            .filter_map(|_| queue.dequeue(at(0), &mut Log::default()))
            .map(Packet::number)
            .collect()
    }

    #[test]
    fn a_flow_whose_queue_is_empty_goes_before_a_backlog() {
        let mut queue = fq_codel(100);
        let mut log = Log::default();
        come(&mut queue, &mut log, [0, 10, 20, 30, 40], 1500);
        assert_eq!(go(&mut queue, 2), [0, 10]);
        // Flow 0 has sent more than a quantum; a packet of flow 1 comes and is the next.
        come(&mut queue, &mut log, [1], 200);
        assert_eq!(go(&mut queue, 4), [1, 20, 30, 40]);
    }

    #[test]
    fn backlogged_flows_share_the_link_by_bytes() {
        let mut queue = fq_codel(100);
        let mut log = Log::default();
        come(&mut queue, &mut log, [0, 10, 20], 1514);
        come(&mut queue, &mut log, [1, 11, 21, 31, 41, 51], 757);
        // A quantum is 1514 bytes: one packet of flow 0, or two of flow 1.
        assert_eq!(go(&mut queue, 9), [0, 1, 11, 10, 21, 31, 20, 41, 51]);
    }

    #[test]
    fn a_flow_does_not_stay_new_by_pausing() {
        let mut queue = fq_codel(100);
        let mut log = Log::default();
        come(&mut queue, &mut log, [0, 10, 20, 30, 40, 50, 60], 500);
        come(&mut queue, &mut log, [1], 1500);
        // Flow 0: 1514, 1014, 514, 14, then -486. Flow 1 has 14 bytes left but no packet: it passes
        // to the old list.
        assert_eq!(go(&mut queue, 6), [0, 10, 20, 30, 1, 40]);
        come(&mut queue, &mut log, [11], 500);
        // Flow 0 has 1514 - 486 - 500 = 528 bytes left, enough for two more; flow 1 waits for its
        // turn.
        assert_eq!(go(&mut queue, 3), [50, 60, 11]);
    }

    #[test]
    fn each_sub_queue_drops_by_codels_law_and_spares_the_others() {
        let mut queue = fq_codel(100_000);
        let mut log = Log::default();
        for i in 0..2000 {
            queue.enqueue(at(0), waiting(10 * i, 1000), false, &mut log);
        }
        for turn in 1..=40 {
            queue.enqueue(at(10 * turn), waiting(10 * turn as u32 + 1, 40), false, &mut log);
            // Each turn ends with a packet of flow 0.
            while queue.dequeue(at(10 * turn), &mut log).unwrap().number() % 10 == 1 {}
        }
        // 100 ms, 100/sqrt(2), 100/sqrt(3) and 100/sqrt(4) ms apart, at the next turn (see CoDel's
        // own tests).
        assert_eq!(log.dropped_at_ms(), [110, 210, 290, 340, 390]);
        assert!(log.dropped.iter().all(|(_, number)| number % 10 == 0));
    }

    #[test]
    fn an_overflow_costs_the_longest_sub_queue_half_its_bytes() {
        let mut queue = fq_codel(5);
        let mut log = Log::default();
        come(&mut queue, &mut log, [0, 10, 20, 30], 1500);
        come(&mut queue, &mut log, [1, 2], 200);
        assert_eq!(log.dropped.iter().map(|(_, number)| *number).collect::<Vec<_>>(), [0, 10]);
        assert_eq!(queue.occupancy(), Occupancy { packets: 4, bytes: 3400 });
    }

    #[test]
    fn passing_the_limit_costs_at_most_sixty_four_packets() {
        let mut queue = fq_codel(199);
        let mut log = Log::default();
        for i in 0..200 {
            assert!(queue.enqueue(at(0), waiting(10 * i, 1000), false, &mut log));
        }
        assert_eq!(log.dropped.len(), 64, "half would be 100");
        assert_eq!(queue.occupancy().packets, 136);
    }

    #[test]
    fn without_room_a_packet_is_dropped_unless_the_link_is_idle() {
        let mut queue = fq_codel(0);
        let mut log = Log::default();
        assert!(!queue.enqueue(at(0), waiting(0, 1000), false, &mut log));
        assert_eq!(log.dropped.len(), 1);
        assert!(queue.enqueue(at(1), waiting(10, 1000), true, &mut log));
        assert_eq!(queue.dequeue(at(1), &mut log).map(Packet::number), Some(10));
    }

    #[test]
    fn flows_that_collide_share_one_queue_in_order() {
        let mut queue = with(FqCoDelSpec { queues: 1, ..FqCoDelSpec::new(Limit::Packets(100)) });
        let mut log = Log::default();
        come(&mut queue, &mut log, [0, 1, 10, 2, 11], 1500);
        assert_eq!(go(&mut queue, 5), [0, 1, 10, 2, 11]);
    }

    #[test]
    fn another_seed_puts_flows_elsewhere() {
        let places = |seed| {
            let queue = FqCoDel::new(
                FqCoDelSpec::new(Limit::Packets(1)),
                Stream::new(seed, "link/x/queue"),
            );
            (0..100).map(|flow| queue.queue_of(flow)).collect::<Vec<_>>()
        };
        assert_eq!(places(1), places(1));
        assert_ne!(places(1), places(2));
    }
}
