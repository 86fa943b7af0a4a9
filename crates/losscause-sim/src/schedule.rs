//! The event schedule: a timing wheel over a fixed set of event sources.
//!
//! The simulator knows all its sources beforehand (one per link, two timers per flow), and each has
//! at most one next event. So nothing is allocated while it runs and no event goes stale: a source
//! moves from one slot of the wheel to another.
//!
//! A slot is a short stretch of time. It holds the sources with an event in that stretch, in order;
//! most slots hold none or one. One bit per slot says whether it is empty, so the next event is
//! found by counting zeros, 64 slots at once. The wheel has at least as many slots as there are
//! sources. An event beyond its reach waits in one of the farther slots and moves on when that slot
//! comes. The length of a slot follows the recent density of events; it never changes their order.
//!
//! Simultaneous events happen in the order in which they were scheduled. An event that is scheduled
//! for a source whose turn has come late (`simulation/deferral.rs`) tells the instant at which it
//! would have been scheduled.

use losscause::Time;

/// The time of a source without an event.
pub(crate) const NEVER: Time = Time::MAX;

/// The fewest slots of a wheel, a power of two.
const MIN_SLOTS: usize = 2048;
/// Ends the list of sources in a slot.
const END: u32 = u32::MAX;
/// The place of a source that has no event.
const UNSCHEDULED: u32 = u32::MAX;
/// The length of a slot is 2 to the power of one of these, nanoseconds.
const SLOT_BITS: std::ops::RangeInclusive<u32> = 8..=20;
/// The exponent in a new wheel, before a review. Longer slots are an eighth of the time between
/// events: passing over empty slots costs less than putting two sources of one slot in order.
const INITIAL_SLOT_BITS: u32 = 17;
/// The length of a slot is reviewed after so many events.
const REVIEW: u64 = if cfg!(test) { 16 } else { 1 << 14 };

/// The next event of every source.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    sources: Box<[Source]>,
    wheel: Wheel,
    /// How many events were scheduled so far.
    number: u64,
    /// When the length of a slot was reviewed last, and the number at which it is reviewed next.
    reviewed: Time,
    review_at: u64,
}

#[derive(Clone, Copy, Debug)]
struct Source {
    /// The source's next event, or its last one if that was taken out.
    at: Time,
    /// When it was scheduled, and its number among all that were: these order simultaneous events.
    since: Time,
    number: u64,
    /// The source's place in the wheel, or [`UNSCHEDULED`].
    place: u32,
    /// The source behind it at the same place.
    next: u32,
}

/// The slots. Slots are counted from time zero; the wheel holds the next of them, each at the place
/// that is its number modulo the number of places.
#[derive(Clone, Debug)]
struct Wheel {
    /// The sources at every place.
    ends: Box<[Ends]>,
    /// A bit per place: whether it is in use.
    used: Box<[u64]>,
    /// No event is in a slot before this.
    base: i64,
    slot_bits: u32,
}

/// The first source of a place, or [`END`], and the last.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

impl Schedule {
    /// The most sources there can be.
    pub(crate) const MAX_SOURCES: usize = 1 << 20;

    /// So many sources, none with an event.
    pub(crate) fn new(sources: usize) -> Self {
        let unscheduled =
            Source { at: NEVER, since: Time::ZERO, number: 0, place: UNSCHEDULED, next: END };
        Self {
            sources: vec![unscheduled; sources].into_boxed_slice(),
            wheel: Wheel::new(sources.next_power_of_two().max(MIN_SLOTS)),
            number: 0,
            reviewed: Time::ZERO,
            review_at: REVIEW,
        }
    }

    /// The next event of `source` is at `at`, which may be [`NEVER`], and is scheduled at `since`.
    /// If that is when its event was already, or when its last one was, it keeps its place among
    /// simultaneous events.
    #[inline(always)]
    pub(crate) fn set(&mut self, source: usize, at: Time, since: Time) {
        let state = &mut self.sources[source];
        let scheduled = state.place != UNSCHEDULED;
        if state.at != at {
            self.number += 1;
            state.at = at;
            state.since = since;
            state.number = self.number;
        } else if scheduled {
            return;
        }
        if scheduled {
            return self.reset(source);
        }
        if at != NEVER {
            self.insert(source, at);
        }
    }

    /// Takes out the next event up to and including `until`: its time and its source, which has
    /// none until it is set again.
    #[inline(always)]
    pub(crate) fn take_until(&mut self, until: Time) -> Option<(Time, usize)> {
        loop {
            let slots = match self.wheel.slots_to_next_in_word() {
                Some(slots) => slots,
                None if self.number >= self.review_at => {
                    self.review();
                    continue;
                }
                None => self.wheel.slots_to_next_word()?,
            };
            let slot = self.wheel.base + slots as i64;
            let place = self.wheel.place(slot);
            let source = self.wheel.ends[place].first as usize;
            let state = &mut self.sources[source];
            let at = state.at;
            if self.wheel.slot_of(at) == slot {
                if at > until {
                    return None;
                }
                self.wheel.base = slot;
                state.place = UNSCHEDULED;
                self.wheel.remove_first(place, state.next);
                return Some((at, source));
            }
            if !self.turn(slot, until) {
                return None;
            }
        }
    }

    /// The first source waits in `slot` for an event that was beyond the wheel's reach: turns the
    /// wheel until the first source is in the slot of its event. Returns whether there may be an
    /// event up to `until`.
    #[cold]
    fn turn(&mut self, mut slot: i64, until: Time) -> bool {
        for _ in 0..self.sources.len() {
            let place = self.wheel.place(slot);
            let source = self.wheel.ends[place].first as usize;
            if self.wheel.slot_of(self.sources[source].at) == slot {
                return true;
            }
            if slot > self.wheel.slot_of(until) {
                return false;
            }
            self.wheel.base = slot;
            self.wheel.remove_first(place, self.sources[source].next);
            self.insert(source, self.sources[source].at);
            let Some(slots) = self.wheel.slots_to_next() else { return false };
            slot = self.wheel.base + slots as i64;
        }
        // All events are far ahead: do not turn the wheel slot by slot.
        let scheduled = self.sources.iter().filter(|source| source.place != UNSCHEDULED);
        match scheduled.map(|source| source.at).min() {
            Some(earliest) if earliest <= until => {
                self.rebuild_from(earliest);
                true
            }
            _ => false,
        }
    }

    /// Makes a slot about as long as the recent time between events, so that most slots hold none
    /// or one.
    #[cold]
    fn review(&mut self) {
        let now = self.wheel.start();
        let spacing = (now - self.reviewed).as_nanos().max(1) as u64 / REVIEW;
        self.reviewed = now;
        self.review_at = self.number + REVIEW;
        let spacing_bits = spacing.max(1).ilog2();
        let slot_bits = spacing_bits.min(INITIAL_SLOT_BITS.max(spacing_bits.saturating_sub(3)));
        let slot_bits = slot_bits.clamp(*SLOT_BITS.start(), *SLOT_BITS.end());
        if slot_bits != self.wheel.slot_bits {
            self.wheel.slot_bits = slot_bits;
            self.rebuild_from(now);
        }
    }

    /// Links a source into the slot of its event at `at`.
    #[inline(always)]
    fn insert(&mut self, source: usize, at: Time) {
        let Some(place) = self.wheel.place_for(at) else {
            self.sources[source].place = 0;
            return self.rebuild_from(at);
        };
        self.sources[source].place = place as u32;
        self.sources[source].next = END;
        if !self.wheel.open(place, source) {
            self.join(source, place);
        }
    }

    /// Links a source into a place where others are, in order.
    fn join(&mut self, source: usize, place: usize) {
        let order = |sources: &[Source], source: u32| {
            let Source { at, since, number, .. } = sources[source as usize];
            (at, since, number)
        };
        let own = order(&self.sources, source as u32);
        let ends = &mut self.wheel.ends[place];
        // Most events of an instant are scheduled in their order, however many share it.
        if order(&self.sources, ends.last) < own {
            self.sources[ends.last as usize].next = source as u32;
            ends.last = source as u32;
            return;
        }
        let mut before = END;
        let mut next = ends.first;
        while next != END && order(&self.sources, next) < own {
            before = next;
            next = self.sources[next as usize].next;
        }
        self.sources[source].next = next;
        match before {
            END => ends.first = source as u32,
            before => self.sources[before as usize].next = source as u32,
        }
    }

    /// Takes a source out of its place and links it in where its new event belongs.
    #[inline(never)]
    fn reset(&mut self, source: usize) {
        let Source { at, place, next, .. } = self.sources[source];
        let place = place as usize;
        let ends = &mut self.wheel.ends[place];
        if ends.first == source as u32 {
            self.wheel.remove_first(place, next);
        } else {
            let mut ahead = ends.first as usize;
            while self.sources[ahead].next != source as u32 {
                ahead = self.sources[ahead].next as usize;
            }
            self.sources[ahead].next = next;
            if next == END {
                ends.last = ahead as u32;
            }
        }
        self.sources[source].place = UNSCHEDULED;
        if at != NEVER {
            self.insert(source, at);
        }
    }

    /// Moves the base to `at`, before which there is no event, and links all sources in anew.
    #[cold]
    fn rebuild_from(&mut self, at: Time) {
        self.wheel.base = self.wheel.slot_of(at);
        self.wheel.used.fill(0);
        self.wheel.ends.fill(Ends { first: END, last: END });
        for source in 0..self.sources.len() {
            if self.sources[source].place != UNSCHEDULED {
                self.insert(source, self.sources[source].at);
            }
        }
    }
}

impl Wheel {
    /// An empty wheel; `slots` is a power of two.
    fn new(slots: usize) -> Self {
        Self {
            ends: vec![Ends { first: END, last: END }; slots].into_boxed_slice(),
            used: vec![0; slots / 64].into_boxed_slice(),
            base: 0,
            slot_bits: INITIAL_SLOT_BITS,
        }
    }

    /// From the base to the first slot that is not empty.
    fn slots_to_next(&self) -> Option<usize> {
        self.slots_to_next_in_word().or_else(|| self.slots_to_next_word())
    }

    /// The same, if that slot is in the base's word and not before the base.
    #[inline]
    fn slots_to_next_in_word(&self) -> Option<usize> {
        let start = self.place(self.base);
        let from_start = self.used[start / 64] >> (start % 64);
        (from_start != 0).then(|| from_start.trailing_zeros() as usize)
    }

    /// The same, if it is in another word, or in the base's word a whole turn ahead.
    fn slots_to_next_word(&self) -> Option<usize> {
        let start = self.place(self.base);
        let words = self.used.len();
        let word = |ahead| self.used[(start / 64 + ahead) & (words - 1)];
        let ahead = (1..=words).find(|&ahead| word(ahead) != 0)?;
        let within = word(ahead).trailing_zeros() as usize;
        Some(64 * ahead + within - start % 64)
    }

    /// When the base begins.
    fn start(&self) -> Time {
        Time::from_nanos(self.base << self.slot_bits)
    }

    #[inline]
    fn slot_of(&self, at: Time) -> i64 {
        at.as_nanos() >> self.slot_bits
    }

    /// The place of a slot.
    #[inline]
    fn place(&self, slot: i64) -> usize {
        slot as usize & (self.ends.len() - 1)
    }

    /// The place for an event at `at`; none if that is before the base. An event beyond the wheel's
    /// reach is put somewhere in the farther half, so that many of them do not share one slot.
    #[inline]
    fn place_for(&self, at: Time) -> Option<usize> {
        let half = (self.ends.len() / 2) as i64;
        let slot = self.slot_of(at);
        let ahead = slot - self.base;
        let within = if ahead < 2 * half { slot } else { self.base + half + (slot & (half - 1)) };
        (ahead >= 0).then(|| self.place(within))
    }

    /// Puts a source at a place if that is empty; returns whether it was.
    #[inline]
    fn open(&mut self, place: usize, source: usize) -> bool {
        let ends = &mut self.ends[place];
        if ends.first != END {
            return false;
        }
        *ends = Ends { first: source as u32, last: source as u32 };
        self.used[place / 64] |= 1 << (place % 64);
        true
    }

    /// Removes the first source at a place; `next` is the one behind it.
    #[inline]
    fn remove_first(&mut self, place: usize, next: u32) {
        self.ends[place].first = next;
        // Without a branch, which would be mispredicted often.
        self.used[place / 64] &= !(u64::from(next == END) << (place % 64));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use losscause::Span;

    use super::*;

    fn at(nanos: i64) -> Time {
        Time::from_nanos(nanos)
    }

    fn drain(schedule: &mut Schedule) -> Vec<usize> {
        let mut order = Vec::new();
        while let Some((_, source)) = schedule.take_until(Time::MAX) {
            order.push(source);
        }
        order
    }

    #[test]
    fn simultaneous_events_come_in_the_order_of_their_scheduling() {
        let mut schedule = Schedule::new(5);
        for source in [3, 0, 4, 1] {
            schedule.set(source, at(7), Time::ZERO);
        }
        // Setting the same time again does not lose the place; another time in between does.
        schedule.set(3, at(7), Time::ZERO);
        schedule.set(0, at(6), Time::ZERO);
        schedule.set(0, at(7), Time::ZERO);
        assert_eq!(drain(&mut schedule), [3, 4, 1, 0]);
    }

    #[test]
    fn a_simultaneous_event_due_for_scheduling_earlier_comes_first() {
        let mut schedule = Schedule::new(3);
        schedule.set(0, at(7), at(4));
        // This source's turn came later, but it would have been scheduled at 3.
        schedule.set(1, at(7), at(3));
        schedule.set(2, at(7), at(4));
        assert_eq!(drain(&mut schedule), [1, 0, 2]);
    }

    #[test]
    fn an_event_after_the_limit_stays() {
        let mut schedule = Schedule::new(1);
        assert_eq!(schedule.take_until(Time::MAX), None);
        schedule.set(0, at(10), Time::ZERO);
        assert_eq!(schedule.take_until(Time::from_nanos(9)), None);
        assert_eq!(schedule.take_until(Time::from_nanos(10)), Some((Time::from_nanos(10), 0)));
    }

    #[test]
    fn events_beyond_the_horizon_come_in_order_too() {
        let hours = |hours: i64| Time::ZERO + Span::from_secs(hours * 3600);
        let mut schedule = Schedule::new(4);
        for (source, time) in [(0, hours(200_000)), (1, hours(100)), (2, hours(1)), (3, hours(100))]
        {
            schedule.set(source, time, Time::ZERO);
        }
        assert_eq!(schedule.take_until(hours(99)), Some((hours(1), 2)));
        assert_eq!(schedule.take_until(hours(99)), None);
        assert_eq!(schedule.take_until(hours(100)), Some((hours(100), 1)));
        schedule.set(1, hours(100), Time::ZERO);
        schedule.set(2, hours(50), Time::ZERO);
        assert_eq!(drain(&mut schedule), [2, 1, 3, 0]);
    }

    #[test]
    fn an_event_before_all_others_comes_first_after_a_later_search() {
        let mut schedule = Schedule::new(3);
        schedule.set(0, at(40_000_000_000), Time::ZERO);
        schedule.set(1, at(20_000_000_000), Time::ZERO);
        assert_eq!(schedule.take_until(Time::MAX), Some((Time::from_nanos(20_000_000_000), 1)));
        schedule.set(1, at(20_000_000_000), Time::ZERO);
        schedule.set(2, at(-5), Time::ZERO);
        assert_eq!(drain(&mut schedule), [2, 1, 0]);
    }

    /// Close together, slots apart, and farther apart than the wheel reaches.
    fn time() -> impl Strategy<Value = i64> {
        prop_oneof![
            0_i64..50,
            (0_i64..50).prop_map(|t| t << 17),
            (0_i64..50).prop_map(|t| (t << 26) + t % 3)
        ]
    }

    proptest! {
        #[test]
        fn the_wheel_agrees_with_a_sorted_list(
            sources in 1_usize..40,
            steps in prop::collection::vec((0_usize..40, prop::option::weighted(0.8, time())), 0..200),
        ) {
            let mut schedule = Schedule::new(sources);
            let mut model: Vec<Option<(i64, usize)>> = vec![None; sources];
            for (number, &(source, time)) in steps.iter().enumerate() {
                let source = source % sources;
                schedule.set(source, time.map_or(NEVER, Time::from_nanos), Time::ZERO);
                if model[source].map(|(at, ..)| at) != time {
                    model[source] = time.map(|at| (at, number));
                }
                let first = (0..sources).filter(|&s| model[s].is_some()).min_by_key(|&s| model[s]);
                let taken = schedule.take_until(Time::MAX).map(|(_, source)| source);
                prop_assert_eq!(taken, first);
                let Some(taken) = taken else { continue };
                if number % 3 == 0 {
                    schedule.set(taken, NEVER, Time::ZERO);
                    model[taken] = None;
                } else {
                    let (time, ..) = model[taken].unwrap_or_default();
                    schedule.set(taken, at(time), Time::ZERO);
                }
            }
        }

        #[test]
        fn sources_that_act_in_turn_come_in_order_of_time_and_number(
            spans in prop::collection::vec(time(), 1..40),
        ) {
            let mut schedule = Schedule::new(spans.len());
            let mut model = Vec::new();
            for (source, &span) in spans.iter().enumerate() {
                schedule.set(source, at(span), Time::ZERO);
                model.push((span, source));
            }
            for number in spans.len()..500 {
                let first = (0..spans.len()).min_by_key(|&source| model[source]).unwrap_or(0);
                let now = Time::from_nanos(model[first].0);
                prop_assert_eq!(schedule.take_until(now), Some((now, first)));
                // Never at once: that would be no new event.
                let next = now + Span::from_nanos(spans[(first + number) % spans.len()] + 1);
                schedule.set(first, next, Time::ZERO);
                model[first] = (next.as_nanos(), number);
            }
        }
    }
}
