//! First in, first out, with a mark on what finds a long queue.
//!
//! A packet that finds so many waiting or more is marked, if its transport understands marks (RFC 3168); it is never
//! dropped for that. At three quarters of the limit this is the congestion warning that ECN-reading LDAs and TCP
//! variants for wireless paths were published with.
//!
//! Deviations: none; the rule is the threshold itself, on the momentary queue, without an average.

use losscause::Time;

use super::bounded::Bounded;
use super::{Keeper, Refused};
use crate::packet::Packet;
use crate::topology::Limit;

#[derive(Clone, Debug)]
pub(crate) struct StepMark {
    pub(super) fifo: Bounded,
    mark_from_pkts: u32,
}

impl StepMark {
    pub(super) fn new(limit: Limit, mark_from_pkts: u32) -> Self {
        Self { fifo: Bounded::new(limit), mark_from_pkts }
    }

    pub(super) fn offer(&mut self, now: Time, packet: Packet, keeper: &mut impl Keeper) -> Result<(), Refused> {
        let found = self.fifo.packets();
        self.fifo.offer(packet)?;
        if found >= self.mark_from_pkts {
            keeper.mark(now, packet, self.fifo.occupancy());
        }
        Ok(())
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
            (0..7).map(|i| queue.offer(Time::from_nanos(i), waiting(i as u32, 100), &mut log).is_ok()).collect();
        assert_eq!(accepted, [true, true, true, true, true, false, false]);
        assert_eq!(log.marked, [(3, 4), (4, 5)]);
        assert!(log.dropped.is_empty());
    }
}
