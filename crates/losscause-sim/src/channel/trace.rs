//! A recorded error pattern, slot by slot, repeated for ever.
//!
//! Parameters: the pattern, and where it starts (see [`TraceStart`]). Deviations: none.

use std::sync::Arc;

use crate::rng::Stream;
use crate::topology::TraceStart;

#[derive(Clone, Debug)]
pub(super) struct Trace {
    lost: Arc<[bool]>,
    next: usize,
}

impl Trace {
    pub(super) fn new(lost: &Arc<[bool]>, start: TraceStart, stream: &mut Stream) -> Self {
        let next = match start {
            TraceStart::Slot(slot) => slot,
            TraceStart::Drawn => stream.below(lost.len() as u64) as usize,
        };
        Self { lost: Arc::clone(lost), next }
    }

    #[inline]
    pub(super) fn next_slot(&mut self) -> bool {
        let lost = self.lost[self.next];
        self.next += 1;
        if self.next == self.lost.len() {
            self.next = 0;
        }
        lost
    }

    pub(super) fn skip(&mut self, slots: u64) {
        let len = self.lost.len() as u64;
        self.next = ((self.next as u64 + slots % len) % len) as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_wraps_around() {
        let lost: Arc<[bool]> = [true, false, false].into();
        let mut trace = Trace::new(&lost, TraceStart::Slot(1), &mut Stream::new(1, "air"));
        assert_eq!([(); 5].map(|()| trace.next_slot()), [false, false, true, false, false]);
        trace.skip(4);
        assert!(!trace.next_slot());
    }

    #[test]
    fn a_drawn_start_depends_on_the_seed_and_stays_inside() {
        let lost: Arc<[bool]> = (0..1000).map(|slot| slot % 7 == 0).collect();
        let start = |seed| Trace::new(&lost, TraceStart::Drawn, &mut Stream::new(seed, "air")).next;
        assert_eq!(start(1), start(1));
        assert_ne!(start(1), start(2));
        assert!((0..1000).all(|seed| start(seed) < lost.len()));
    }
}
