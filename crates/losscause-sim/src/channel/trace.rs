//! A recorded error pattern, slot by slot, repeated for ever.
//!
//! Parameters: the pattern, and where it starts (see [`TraceStart`]). Deviations: none.

use std::sync::Arc;

use crate::rng::Stream;
use crate::topology::TraceStart;

#[derive(Clone, Debug)]
pub(super) struct Trace {
    lost: Arc<[bool]>,
    /// The repeated part starts at this slot and ends before `end`.
    first: usize,
    end: usize,
    next: usize,
}

impl Trace {
    pub(super) fn new(lost: &Arc<[bool]>, start: TraceStart, stream: &mut Stream) -> Self {
        let mut below = |bound: usize| stream.below(bound as u64) as usize;
        let (first, end, next) = match start {
            TraceStart::Slot(slot) => (0, lost.len(), slot),
            TraceStart::Drawn => (0, lost.len(), below(lost.len())),
            TraceStart::DrawnPart(slots) => {
                let first = slots * below(lost.len() / slots);
                (first, first + slots, first)
            }
        };
        Self { lost: Arc::clone(lost), first, end, next }
    }

    #[inline]
    pub(super) fn next_slot(&mut self) -> bool {
        let lost = self.lost[self.next];
        self.next += 1;
        if self.next == self.end {
            self.next = self.first;
        }
        lost
    }

    pub(super) fn skip(&mut self, slots: u64) {
        let len = (self.end - self.first) as u64;
        let place = (self.next - self.first) as u64;
        self.next = self.first + ((place + slots % len) % len) as usize;
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
    fn a_drawn_part_is_repeated_from_its_beginning() {
        // Parts of three slots; the last slot is in none.
        let lost: Arc<[bool]> = [true, false, false, false, false, true, true].into();
        let read = |seed| {
            let mut trace =
                Trace::new(&lost, TraceStart::DrawnPart(3), &mut Stream::new(seed, "air"));
            let slots = [(); 5].map(|()| trace.next_slot());
            trace.skip(4);
            assert_eq!(trace.next_slot(), slots[0]);
            slots
        };
        let first = [true, false, false, true, false];
        let second = [false, false, true, false, false];
        let drawn: Vec<_> = (0..100).map(read).collect();
        assert!(drawn.iter().all(|slots| [first, second].contains(slots)));
        assert!(drawn.contains(&first) && drawn.contains(&second));
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
