//! First in, first out; marks packets that arrive while many wait.
//!
//! A packet that finds so many waiting or more is marked, if its transport understands marks (RFC
//! 3168); it is never dropped for that. At three quarters of the limit this is the congestion
//! warning that ECN-reading LDAs and TCP variants for wireless paths were published with.
//!
//! Deviations: none; the rule is the threshold itself, on the momentary queue, without an average.

use losscause::Span;

use super::QueueHooks;
use super::bounded::{Admission, Bounded, Entering};
use crate::topology::{Limit, QueueSpec};

#[derive(Clone, Debug)]
pub(super) struct StepMark {
    mark_from_pkts: u32,
}

impl StepMark {
    pub(super) fn queue(limit: Limit, mark_from_pkts: u32) -> Bounded<Self> {
        Bounded::new(limit, Self { mark_from_pkts })
    }
}

impl Admission for StepMark {
    fn admits(&mut self, entering: &Entering, hooks: &mut dyn QueueHooks) -> bool {
        if entering.fits && entering.found.packets >= self.mark_from_pkts {
            hooks.mark(entering.now, entering.packet, entering.then());
        }
        entering.fits
    }

    fn adopt(&mut self, spec: &QueueSpec, _: Span) {
        if let QueueSpec::StepMark { mark_from_pkts, .. } = *spec {
            self.mark_from_pkts = mark_from_pkts;
        }
    }
}

#[cfg(test)]
mod tests {
    use losscause::Time;

    use super::*;
    use crate::queue::QueueDiscipline;
    use crate::queue::tests::{Log, waiting};

    #[test]
    fn a_packet_behind_three_is_marked_and_only_overflow_drops() {
        let mut queue = StepMark::queue(Limit::Packets(5), 3);
        let mut log = Log::capable();
        let accepted: Vec<bool> = (0..7)
            .map(|i| queue.enqueue(Time::from_nanos(i), waiting(i as u32, 100), false, &mut log))
            .collect();
        assert_eq!(accepted, [true, true, true, true, true, false, false]);
        assert_eq!(log.marked, [(3, 4), (4, 5)]);
        assert_eq!(log.dropped, [(Time::from_nanos(5), 5), (Time::from_nanos(6), 6)]);
    }
}
