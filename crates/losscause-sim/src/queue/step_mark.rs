//! First in, first out; marks packets that arrive while many wait.
//!
//! A packet that finds so many waiting or more is marked, if its transport understands marks (RFC 3168); it is never
//! dropped for that. At three quarters of the limit this is the congestion warning that ECN-reading LDAs and TCP
//! variants for wireless paths were published with.
//!
//! Deviations: none; the rule is the threshold itself, on the momentary queue, without an average.

use losscause::Time;

use super::bounded::Bounded;
use super::{Occupancy, QueueDiscipline, QueueHooks};
use crate::packet::Packet;
use crate::topology::Limit;

#[derive(Clone, Debug)]
pub(crate) struct StepMark {
    fifo: Bounded,
    mark_from_pkts: u32,
}

impl StepMark {
    pub(super) fn new(limit: Limit, mark_from_pkts: u32) -> Self {
        Self { fifo: Bounded::new(limit), mark_from_pkts }
    }
}

impl QueueDiscipline for StepMark {
    fn enqueue(&mut self, now: Time, packet: Packet, idle: bool, hooks: &mut dyn QueueHooks) -> bool {
        if !self.fifo.fits(packet, idle) {
            hooks.drop(now, packet, self.fifo.occupancy());
            return false;
        }
        let found = self.fifo.packets();
        self.fifo.push(packet);
        if found >= self.mark_from_pkts {
            hooks.mark(now, packet, self.fifo.occupancy());
        }
        true
    }

    fn dequeue(&mut self, _: Time, _: &mut dyn QueueHooks) -> Option<Packet> {
        self.fifo.take()
    }

    fn occupancy(&self) -> Occupancy {
        self.fifo.occupancy()
    }

    fn packets(&self) -> Box<dyn Iterator<Item = &Packet> + '_> {
        Box::new(self.fifo.packets_waiting())
    }

    fn boxed_clone(&self) -> Box<dyn QueueDiscipline> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Log, waiting};
    use super::*;

    #[test]
    fn what_finds_three_or_more_waiting_is_marked_and_only_a_full_queue_drops() {
        let mut queue = StepMark::new(Limit::Packets(5), 3);
        let mut log = Log::capable();
        let accepted: Vec<bool> =
            (0..7).map(|i| queue.enqueue(Time::from_nanos(i), waiting(i as u32, 100), false, &mut log)).collect();
        assert_eq!(accepted, [true, true, true, true, true, false, false]);
        assert_eq!(log.marked, [(3, 4), (4, 5)]);
        assert_eq!(log.dropped, [(Time::from_nanos(5), 5), (Time::from_nanos(6), 6)]);
    }
}
