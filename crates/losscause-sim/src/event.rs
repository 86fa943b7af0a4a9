//! Who acts next: a timing wheel over a fixed set of event sources.
//!
//! The simulator knows all its sources beforehand (one per link, two timers per flow), and each has at most one next
//! event. So nothing is ever allocated and there are no stale events: a source is taken out of one slot of the wheel and
//! put into another.
//!
//! A slot is a short stretch of time, and holds the sources that act within it, in order; most slots hold none or one.
//! One bit per slot says whether it holds any, so the next event is found by counting zeros, 64 slots at once. An event
//! farther ahead than the wheel reaches waits in one of the later slots and moves on from there. How long a slot is follows
//! from how densely events came lately; it changes nothing about their order.
//!
//! Events at the same time come in the order in which they were set, or would have been set if they had not been known
//! beforehand ([`Schedule::set_as_of`]).

use losscause::Time;

/// The time of a source without an event.
pub(crate) const NEVER: Time = Time::MAX;

/// Slots of the wheel, a power of two. Few, so that it stays in the fastest cache.
const SLOTS: usize = 2048;
/// Words of bits, one per slot.
const WORDS: usize = SLOTS / 64;
/// Behind the last source of a slot.
const NOBODY: u32 = u32::MAX;
/// The place of a source that has no event.
const NOWHERE: u32 = u32::MAX;
/// The length of a slot is 2 to the power of one of these, nanoseconds: the wheel reaches 8 ms to a quarter of a second
/// ahead.
const SLOT_BITS: std::ops::RangeInclusive<u32> = 12..=17;
/// After so many events the length of a slot is looked at again.
const REVIEW: u64 = if cfg!(test) { 16 } else { 1 << 14 };

/// The next event of every source.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    sources: Box<[Source]>,
    wheel: Wheel,
    /// The time of the event that was taken out last, and as of when it had been set.
    now: Time,
    since: Time,
    /// How often an event was set.
    number: u64,
    /// When the length of a slot was looked at last, and the number at which it will be again.
    reviewed: Time,
    review_at: u64,
}

#[derive(Clone, Copy, Debug)]
struct Source {
    /// When it acts next, or acted last if its event was taken out.
    at: Time,
    /// Orders simultaneous events: as of when it was set.
    since: Time,
    /// Orders those as well.
    number: u64,
    /// Its place in the wheel, or nowhere.
    place: u32,
    /// The source behind it at the same place.
    next: u32,
}

/// The slots. Those of all time are counted from zero; the wheel shows the next of them, each at the place that is its
/// number modulo the number of places.
#[derive(Clone, Debug)]
struct Wheel {
    /// The first source at every place where there is one.
    first: Box<[u32; SLOTS]>,
    /// A bit per place: whether there is one. All bits stay in the fastest cache, so they are what is asked.
    used: [u64; WORDS],
    /// No event is in a slot before this.
    base: i64,
    slot_bits: u32,
}

impl Schedule {
    /// The most sources there can be.
    pub(crate) const MAX_SOURCES: usize = 1 << 20;

    /// So many sources, none with an event.
    pub(crate) fn new(sources: usize) -> Self {
        let slot_bits = *SLOT_BITS.end();
        Self {
            sources: vec![Source { at: NEVER, since: Time::ZERO, number: 0, place: NOWHERE, next: NOBODY }; sources]
                .into_boxed_slice(),
            wheel: Wheel { first: Box::new([NOBODY; SLOTS]), used: [0; WORDS], base: 0, slot_bits },
            now: Time::ZERO,
            since: Time::ZERO,
            number: 0,
            reviewed: Time::ZERO,
            review_at: REVIEW,
        }
    }

    /// `source` acts next at `at`, which may be [`NEVER`]. If that was known already, or is when it acted last, it keeps its
    /// place among simultaneous events.
    #[inline(always)]
    pub(crate) fn set(&mut self, source: usize, at: Time) {
        self.set_as_of(source, at, self.now);
    }

    /// The same as if it were done at `since`, which may be still to come.
    #[inline(always)]
    pub(crate) fn set_as_of(&mut self, source: usize, at: Time, since: Time) {
        let state = &mut self.sources[source];
        let waits = state.place != NOWHERE;
        if state.at != at {
            self.number += 1;
            state.at = at;
            state.since = since;
            state.number = self.number;
        } else if waits {
            return;
        }
        if waits {
            return self.reset(source);
        }
        if at == NEVER {
            return;
        }
        let Some(place) = self.wheel.place_of(at) else {
            state.place = 0;
            return self.turn_to(at);
        };
        state.place = place as u32;
        state.next = NOBODY;
        if self.wheel.is_used(place) {
            return self.join(source, place);
        }
        self.wheel.open(place, source);
    }

    /// As of when the event was set that was taken out last.
    #[inline]
    pub(crate) fn since(&self) -> Time {
        self.since
    }

    /// Takes out the next event up to and including `until`: when, and which source. That one has none until it is set.
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
            let place = place(slot);
            let source = self.wheel.first[place] as usize;
            let state = &mut self.sources[source];
            let at = state.at;
            if self.wheel.slot_of(at) == slot {
                if at > until {
                    return None;
                }
                self.wheel.base = slot;
                self.now = at;
                self.since = state.since;
                state.place = NOWHERE;
                self.wheel.take_out_first(place, state.next);
                return Some((at, source));
            }
            if !self.turn(slot, until) {
                return None;
            }
        }
    }

    /// The first event waits in `slot`, which has come before its time: turns the wheel until it does no more. Returns
    /// whether there may be any up to `until`.
    #[cold]
    fn turn(&mut self, mut slot: i64, until: Time) -> bool {
        for _ in 0..self.sources.len() {
            let source = self.wheel.first[place(slot)] as usize;
            if self.wheel.slot_of(self.sources[source].at) == slot {
                return true;
            }
            if slot > self.wheel.slot_of(until) {
                return false;
            }
            self.move_on(slot, source);
            let Some(slots) = self.wheel.slots_to_next() else { return false };
            slot = self.wheel.base + slots as i64;
        }
        // Everybody may be far ahead: then do not turn the wheel slot by slot.
        let waiting = self.sources.iter().filter(|source| source.place != NOWHERE);
        match waiting.map(|source| source.at).min() {
            Some(earliest) if earliest <= until => {
                self.turn_to(earliest);
                true
            }
            _ => false,
        }
    }

    /// Makes slots about as long as the time between events was lately, so that most hold none or one.
    #[cold]
    fn review(&mut self) {
        let now = self.wheel.start();
        let spacing = (now - self.reviewed).as_nanos().max(1) as u64 / REVIEW;
        self.reviewed = now;
        self.review_at = self.number + REVIEW;
        let slot_bits = spacing.max(1).ilog2().clamp(*SLOT_BITS.start(), *SLOT_BITS.end());
        if slot_bits != self.wheel.slot_bits {
            self.wheel.slot_bits = slot_bits;
            self.turn_to(now);
        }
    }

    /// Links a source into a place where others are, in order.
    fn join(&mut self, source: usize, place: usize) {
        let order = |sources: &[Source], source: u32| {
            let Source { at, since, number, .. } = sources[source as usize];
            (at, since, number)
        };
        let own = order(&self.sources, source as u32);
        let mut before = NOBODY;
        let mut next = self.wheel.first[place];
        while next != NOBODY && order(&self.sources, next) < own {
            before = next;
            next = self.sources[next as usize].next;
        }
        self.sources[source].next = next;
        match before {
            NOBODY => self.wheel.first[place] = source as u32,
            before => self.sources[before as usize].next = source as u32,
        }
    }

    /// Links a source into its slot.
    fn put_in(&mut self, source: usize) {
        let at = self.sources[source].at;
        let Some(place) = self.wheel.place_of(at) else { return self.turn_to(at) };
        self.sources[source].place = place as u32;
        self.sources[source].next = NOBODY;
        if self.wheel.is_used(place) {
            self.join(source, place);
        } else {
            self.wheel.open(place, source);
        }
    }

    /// Takes a source out of the place where it was, and links it in where it belongs now.
    #[inline(never)]
    fn reset(&mut self, source: usize) {
        let Source { place, next, .. } = self.sources[source];
        let place = place as usize % SLOTS;
        if self.wheel.first[place] == source as u32 {
            self.wheel.take_out_first(place, next);
        } else {
            let mut ahead = self.wheel.first[place] as usize;
            while self.sources[ahead].next != source as u32 {
                ahead = self.sources[ahead].next as usize;
            }
            self.sources[ahead].next = next;
        }
        if self.sources[source].at == NEVER {
            self.sources[source].place = NOWHERE;
        } else {
            self.put_in(source);
        }
    }

    /// The first event waits in a slot that has come before its time: the wheel reaches farther now.
    fn move_on(&mut self, slot: i64, source: usize) {
        self.wheel.base = slot;
        self.wheel.take_out_first(place(slot), self.sources[source].next);
        self.put_in(source);
    }

    /// Nobody acts before `at`, which need not be true of the base: everybody is put in anew.
    #[cold]
    fn turn_to(&mut self, at: Time) {
        self.wheel.base = self.wheel.slot_of(at);
        self.wheel.used.fill(0);
        for source in 0..self.sources.len() {
            if self.sources[source].place != NOWHERE {
                self.put_in(source);
            }
        }
    }
}

impl Wheel {
    /// From the base to the first slot that is not empty.
    fn slots_to_next(&self) -> Option<usize> {
        self.slots_to_next_in_word().or_else(|| self.slots_to_next_word())
    }

    /// The same, if that is in the same word and not before the base.
    #[inline]
    fn slots_to_next_in_word(&self) -> Option<usize> {
        let start = place(self.base);
        let from_start = self.used[start / 64] >> (start % 64);
        (from_start != 0).then(|| from_start.trailing_zeros() as usize)
    }

    /// The same, if it is not: in another word, or in the same one a whole turn ahead.
    fn slots_to_next_word(&self) -> Option<usize> {
        let start = place(self.base);
        let words = (1..=WORDS).find(|words| self.used[(start / 64 + words) % WORDS] != 0)?;
        let within = self.used[(start / 64 + words) % WORDS].trailing_zeros() as usize;
        Some(64 * words + within - start % 64)
    }

    /// When the base begins.
    fn start(&self) -> Time {
        Time::from_nanos(self.base << self.slot_bits)
    }

    #[inline]
    fn slot_of(&self, at: Time) -> i64 {
        at.as_nanos() >> self.slot_bits
    }

    /// Where a source that acts at `at` belongs; none if that is before the base. Beyond the wheel's reach it is somewhere in
    /// the farther half, so that many such sources do not share one slot.
    #[inline]
    fn place_of(&self, at: Time) -> Option<usize> {
        const HALF: i64 = SLOTS as i64 / 2;
        let slot = self.slot_of(at);
        let ahead = slot - self.base;
        let within = if ahead < 2 * HALF { slot } else { self.base + HALF + slot % HALF };
        (ahead >= 0).then(|| place(within))
    }

    /// Whether there is anybody at a place.
    #[inline]
    fn is_used(&self, place: usize) -> bool {
        self.used[place / 64] >> (place % 64) & 1 != 0
    }

    /// Puts a source where nobody is.
    #[inline]
    fn open(&mut self, place: usize, source: usize) {
        self.first[place] = source as u32;
        self.used[place / 64] |= 1 << (place % 64);
    }

    /// Takes out the first source at a place, behind which is `next`.
    #[inline]
    fn take_out_first(&mut self, place: usize, next: u32) {
        self.first[place] = next;
        // Without a branch, which could not be foreseen.
        self.used[place / 64] &= !(u64::from(next == NOBODY) << (place % 64));
    }
}

/// Where the wheel shows a slot.
#[inline]
fn place(slot: i64) -> usize {
    slot as usize % SLOTS
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
    fn simultaneous_events_come_in_the_order_they_were_set() {
        let mut schedule = Schedule::new(5);
        for source in [3, 0, 4, 1] {
            schedule.set(source, at(7));
        }
        // Setting the same time again does not lose the place; another time in between does.
        schedule.set(3, at(7));
        schedule.set(0, at(6));
        schedule.set(0, at(7));
        assert_eq!(drain(&mut schedule), [3, 4, 1, 0]);
    }

    #[test]
    fn an_event_that_was_known_beforehand_takes_the_place_it_would_have_been_given() {
        let mut schedule = Schedule::new(3);
        schedule.set(2, at(10));
        schedule.set_as_of(0, at(100), at(20));
        assert_eq!(schedule.take_until(Time::MAX), Some((at(10), 2)));
        schedule.set(1, at(100));
        schedule.set(2, at(30));
        assert_eq!(schedule.take_until(Time::MAX), Some((at(30), 2)));
        schedule.set(2, at(100));
        assert_eq!(drain(&mut schedule), [1, 0, 2]);
    }

    #[test]
    fn it_is_known_as_of_when_the_event_was_set_that_was_taken_out_last() {
        let mut schedule = Schedule::new(2);
        schedule.set_as_of(0, at(100), at(20));
        schedule.set_as_of(1, at(100), at(10));
        let mut since = || schedule.take_until(Time::MAX).map(|(_, source)| (source, schedule.since()));
        assert_eq!([since(), since()], [Some((1, at(10))), Some((0, at(20)))]);
    }

    #[test]
    fn an_event_after_the_limit_stays() {
        let mut schedule = Schedule::new(1);
        assert_eq!(schedule.take_until(Time::MAX), None);
        schedule.set(0, at(10));
        assert_eq!(schedule.take_until(Time::from_nanos(9)), None);
        assert_eq!(schedule.take_until(Time::from_nanos(10)), Some((Time::from_nanos(10), 0)));
    }

    #[test]
    fn events_beyond_the_horizon_come_in_order_too() {
        let hours = |hours: i64| Time::ZERO + Span::from_secs(hours * 3600);
        let mut schedule = Schedule::new(4);
        for (source, time) in [(0, hours(200_000)), (1, hours(100)), (2, hours(1)), (3, hours(100))] {
            schedule.set(source, time);
        }
        assert_eq!(schedule.take_until(hours(99)), Some((hours(1), 2)));
        assert_eq!(schedule.take_until(hours(99)), None);
        assert_eq!(schedule.take_until(hours(100)), Some((hours(100), 1)));
        schedule.set(1, hours(100));
        schedule.set(2, hours(50));
        assert_eq!(drain(&mut schedule), [2, 1, 3, 0]);
    }

    #[test]
    fn an_event_before_all_others_comes_first_though_a_later_one_was_looked_for() {
        let mut schedule = Schedule::new(3);
        schedule.set(0, at(40_000_000_000));
        schedule.set(1, at(20_000_000_000));
        assert_eq!(schedule.take_until(Time::MAX), Some((Time::from_nanos(20_000_000_000), 1)));
        schedule.set(1, at(20_000_000_000));
        schedule.set(2, at(-5));
        assert_eq!(drain(&mut schedule), [2, 1, 0]);
    }

    /// Close together, slots apart, and farther apart than the wheel reaches.
    fn time() -> impl Strategy<Value = i64> {
        prop_oneof![0_i64..50, (0_i64..50).prop_map(|t| t << 17), (0_i64..50).prop_map(|t| (t << 26) + t % 3)]
    }

    proptest! {
        #[test]
        fn the_wheel_agrees_with_a_sorted_list(
            sources in 1_usize..40,
            steps in prop::collection::vec((0_usize..40, prop::option::weighted(0.8, time())), 0..200),
        ) {
            let mut schedule = Schedule::new(sources);
            let mut model: Vec<Option<(i64, i64, usize)>> = vec![None; sources];
            let mut now = 0;
            for (number, &(source, time)) in steps.iter().enumerate() {
                let source = source % sources;
                schedule.set(source, time.map_or(NEVER, Time::from_nanos));
                if model[source].map(|(at, ..)| at) != time {
                    model[source] = time.map(|at| (at, now, number));
                }
                let first = (0..sources).filter(|&s| model[s].is_some()).min_by_key(|&s| model[s]);
                let taken = schedule.take_until(Time::MAX).map(|(_, source)| source);
                prop_assert_eq!(taken, first);
                let Some(taken) = taken else { continue };
                now = model[taken].map_or(now, |(at, ..)| at);
                if number % 3 == 0 {
                    schedule.set(taken, NEVER);
                    model[taken] = None;
                } else {
                    let (time, ..) = model[taken].unwrap_or_default();
                    schedule.set(taken, at(time));
                }
            }
        }

        #[test]
        fn sources_that_act_one_after_the_other_come_in_order_of_time_and_number(
            spans in prop::collection::vec(time(), 1..40),
        ) {
            let mut schedule = Schedule::new(spans.len());
            let mut model = Vec::new();
            for (source, &span) in spans.iter().enumerate() {
                schedule.set(source, at(span));
                model.push((span, source));
            }
            for number in spans.len()..500 {
                let first = (0..spans.len()).min_by_key(|&source| model[source]).unwrap_or(0);
                let now = Time::from_nanos(model[first].0);
                prop_assert_eq!(schedule.take_until(now), Some((now, first)));
                // Never at once: that would be no new event.
                let next = now + Span::from_nanos(spans[(first + number) % spans.len()] + 1);
                schedule.set(first, next);
                model[first] = (next.as_nanos(), number);
            }
        }
    }
}
