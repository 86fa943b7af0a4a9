//! What a sender has in flight: one entry per packet on the wire.

use losscause::Time;

use super::row::Row;
use super::shown::Data;
use crate::judge::Opinions;

/// A packet that is not acknowledged cumulatively.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    pub(super) end: u64,
    /// In the order of first transmissions.
    pub(super) number: u64,
    /// The last transmission, and its frame.
    pub(super) sent: Time,
    pub(super) frame: u64,
    pub(super) tsval: Option<u32>,
    pub(super) ip_id: u16,
    /// What had passed between its hosts before the last transmission, bytes.
    pub(super) path_bytes: u64,
    /// Packets in flight then, itself included.
    pub(super) flight_pkts: u32,
    /// Transmissions so far.
    pub(super) copies: u16,
    /// A selective acknowledgement names it.
    pub(super) acked: bool,
    /// A later packet was acknowledged before it.
    pub(super) missing: bool,
    /// The packet was declared lost and not retransmitted since.
    pub(super) lost: bool,
    /// The opinions when it was declared lost.
    pub(super) opinions: Option<Opinions>,
    /// The packet is a part of a captured segment: something below the sender cut that otherwise.
    pub(super) is_part: bool,
}

/// Segments by their first byte.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    segments: Row<Segment>,
    /// Segments that are neither acknowledged nor declared lost.
    in_flight: u64,
}

impl Scoreboard {
    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }

    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    #[inline(always)] // As the row's.
    pub(super) fn insert(&mut self, start: u64, mut segment: Segment) {
        self.in_flight += 1;
        segment.flight_pkts = self.in_flight as u32;
        self.segments.insert(start, segment);
    }

    /// Removes the first segment if it begins below `to`. If it ends above, the rest stays.
    pub(super) fn pop_below(&mut self, to: u64) -> Option<(u64, Segment)> {
        let (start, first) = self.segments.first()?;
        if *start >= to {
            return None;
        }
        if first.end > to {
            self.split(to);
        }
        let (start, segment) = self.segments.pop_first()?;
        self.in_flight -= u64::from(!segment.acked && !segment.lost);
        Some((start, segment))
    }

    /// Makes `at` a border between segments.
    pub(super) fn split(&mut self, at: u64) {
        if let Some(segment) = self.segments.last_below(at)
            && segment.end > at
        {
            segment.is_part = true;
            let second = segment.clone();
            segment.end = at;
            self.in_flight += u64::from(!second.acked && !second.lost);
            self.segments.insert(at, second);
        }
    }

    /// The first segment at or behind `from`.
    pub(super) fn next_from(&self, from: u64) -> Option<(u64, &Segment)> {
        self.segments.first_from(from).map(|(start, segment)| (*start, segment))
    }

    /// The segment that begins at `start`.
    pub(super) fn get(&self, start: u64) -> Option<&Segment> {
        self.segments.get(start)
    }

    /// The first segment from `from` to before `to` that is not acknowledged; now it is.
    pub(super) fn acknowledge_next(&mut self, from: u64, to: u64) -> Option<(u64, Segment)> {
        let mut at = from;
        while at < to {
            let (start, segment) = self.segments.first_from_mut(at).filter(|one| one.0 < to)?;
            if !segment.acked {
                self.in_flight -= u64::from(!segment.lost);
                (segment.acked, segment.opinions) = (true, None);
                return Some((*start, segment.clone()));
            }
            at = segment.end;
        }
        None
    }

    /// Changes the segment that begins at `start`, and counts what is in flight anew.
    pub(super) fn change(&mut self, start: u64, change: impl FnOnce(&mut Segment)) {
        if let Some(segment) = self.segments.get_mut(start) {
            let before = u64::from(!segment.acked && !segment.lost);
            let copies = segment.copies;
            change(segment);
            self.in_flight = self.in_flight + u64::from(!segment.acked && !segment.lost) - before;
            if segment.copies != copies {
                segment.flight_pkts = self.in_flight as u32;
            }
        }
    }

    /// The segments from `from` to before `to`.
    pub(super) fn between(
        &mut self,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = (u64, &mut Segment)> {
        self.segments.between(from, to).map(|(start, segment)| (*start, segment))
    }

    /// The oldest segment.
    pub(super) fn first(&self) -> Option<&Segment> {
        self.segments.first().map(|(_, segment)| segment)
    }

    pub(super) fn clear(&mut self) {
        self.segments.clear();
        self.in_flight = 0;
    }
}

impl Segment {
    /// The first transmission of these data, with all up to `end`.
    pub(super) fn first(end: u64, number: u64, sent: Time, data: &Data) -> Self {
        Self {
            end,
            number,
            sent,
            frame: data.frame,
            tsval: data.tsval,
            ip_id: data.ip_id,
            path_bytes: data.path_bytes,
            copies: 1,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(end: u64) -> Segment {
        Segment { end, number: end, frame: 1, copies: 1, ..Segment::default() }
    }

    #[test]
    fn the_flight_is_that_of_the_newest_copy() {
        let mut board = Scoreboard::default();
        (0..3).for_each(|place| board.insert(10 * place, segment(10 * place + 10)));
        let flight = |board: &Scoreboard| board.get(0).map(|segment| segment.flight_pkts);
        assert_eq!(flight(&board), Some(1));
        board.change(10, |second| second.acked = true);
        board.change(0, |first| first.lost = true);
        assert_eq!((flight(&board), board.in_flight()), (Some(1), 1));
        board.change(0, |first| (first.copies, first.lost) = (2, false));
        assert_eq!((flight(&board), board.in_flight()), (Some(2), 2));
    }

    #[test]
    fn a_packet_of_which_a_part_is_acknowledged_leaves_the_flight_in_parts() {
        let mut board = Scoreboard::default();
        (0..2).for_each(|place| board.insert(10 * place, segment(10 * place + 10)));
        board.split(15);
        assert_eq!(board.in_flight(), 3);
        let popped = board.pop_below(5).map(|(start, part)| (start, part.end, part.is_part));
        assert_eq!((popped, board.in_flight()), (Some((0, 5, true)), 3));
        board.change(15, |part| part.lost = true);
        board.split(18);
        assert_eq!(board.in_flight(), 2, "a lost part has left, and so have its parts");
        let parts = std::iter::from_fn(|| board.pop_below(20)).count();
        assert_eq!((parts, board.in_flight()), (4, 0));
    }
}
