//! Shifts of trip times: steps that stay. The clock of the capture was set, the route changed, a
//! satellite handed over, or the sender of a stream paused without counting that time.
//!
//! The algorithms hold every trip against extremes of all trips before it. Behind a step these mean
//! nothing: behind one of +200 ms every trip looks like a full queue. Their papers know no such
//! step and have no rule for it, so it is taken out before they are fed. That keeps what they have
//! learnt; beginning anew would throw it away, and with it the largest trip, which comes back only
//! with the next full queue.
//!
//! A queue makes no such step:
//!
//! - it grows and shrinks over many packets, a step happens between two of them, and lies beyond
//!   all that was seen just before. In a time a queue shrinks by no more than that time, and grows
//!   by more only if its link is offered twice what it carries: so a TCP flow begins, but it does
//!   not stay so;
//! - it does not stay as it is for a second: who filled it goes on, or gives way to losses, or is
//!   done. Only a queue that stood before can hold up a whole second's packets at once, when its
//!   link stops for a moment; so a step shows only where the path was empty just before.
//!
//! While a jump is watched, which is a second, nobody knows whether it stays. Such trips are not
//! settled: they are no measure of others. A packet that is stamped wrongly, a whole flight of
//! packets that the clock was set in, and a burst return to where they were, and count as one trip
//! then, however many they were.

use losscause::{Span, Time};

/// A step that stayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shift {
    /// The first packet behind it.
    pub(crate) at: Time,
    /// What trips take longer since then.
    pub(crate) by: Span,
}

/// A trip that was taken in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Taken {
    /// Without steps.
    pub(crate) trip: Span,
    /// Whether it may be a measure of others.
    pub(crate) is_settled: bool,
    /// The trip that a jump counts as which has returned with this one.
    pub(crate) jump: Option<Span>,
}

impl Taken {
    fn settled(trip: Span) -> Self {
        Self { trip, is_settled: true, jump: None }
    }
}

/// Takes steps out of trip times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shifts {
    /// The last settled trips, without steps; the oldest is overwritten.
    recent: [Trip; RECENT],
    /// Trips that were settled since the level is known.
    settled: usize,
    last: Option<Trip>,
    suspect: Option<Suspect>,
    /// All steps so far.
    shift: Span,
    begins_anew: bool,
    /// Trips are there and back.
    are_round: bool,
    found: Vec<Shift>,
}

/// A trip, without the steps before it.
#[derive(Clone, Copy, Debug, Default)]
struct Trip {
    at: Time,
    takes: Span,
}

/// A jump that may stay.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    since: Time,
    /// The least trip just before it.
    level: Span,
    is_up: bool,
    trips: usize,
    /// The least of the first trips behind it.
    early: Span,
    /// The least of those in the second half of the time that it is watched.
    late: Option<Span>,
    /// The trip that is farthest from the old level.
    farthest: Span,
}

/// Trips that show the level before a step, and behind it: the least of so many hardly waited.
const RECENT: usize = 8;
/// A smaller step may be the doing of hosts, as everywhere in this crate.
const LEAST_STEP: Span = Span::from_millis(10);
/// A slow link lets packets that were sent together arrive one by one, each so much later than the
/// one before it as the link takes for it. A jump of two such times is not theirs.
const PACKETS: i64 = 2;
/// No queue of a flow that answers losses stands still for so long.
const STAYS: Span = Span::from_secs(1);
/// A link that stops has stopped for as long as the jump is, and its queue may last as long again.
/// No queue is longer.
const LONGEST_QUEUE: Span = Span::from_secs(10);
/// A link that stops for a moment delays a whole flight of packets, as does a clock that is set;
/// the next one tells.
const FLIGHTS: i64 = 2;
/// What is a part of the step at most, and so small beside it: the queue before it, and what
/// changes behind it.
const STILL: i64 = 8;
/// A flow keeps so many steps.
const MAX_KEPT: usize = 1_000;

impl Shifts {
    /// Shifts of trips there and back.
    pub(crate) fn of_round_trips() -> Self {
        Self { are_round: true, ..Self::default() }
    }

    /// A trip that ended at `at`. `least` is the shortest trip, if it is known: that of the empty
    /// path.
    #[inline]
    pub(crate) fn take(
        &mut self,
        at: Time,
        takes: Span,
        least: impl FnOnce() -> Option<Span>,
    ) -> Taken {
        if self.begins_anew {
            self.adopt(takes);
        }
        let trip = Trip { at, takes: takes - self.shift };
        let last = self.last.replace(trip);
        let is_near = last.is_none_or(|last| (trip.takes - last.takes).abs() < LEAST_STEP);
        if self.suspect.is_none() && is_near {
            return self.keep(trip);
        }
        self.weigh(last.unwrap_or(trip), trip, least())
    }

    /// What comes next has nothing to do with what was before, and is taken for as long.
    pub(crate) fn begin_anew(&mut self) {
        self.begins_anew = true;
    }

    /// Whether trips are there and back.
    #[inline]
    pub(crate) fn are_round(&self) -> bool {
        self.are_round
    }

    /// The steps that were taken out.
    pub(crate) fn found(&self) -> &[Shift] {
        &self.found
    }

    #[inline]
    fn keep(&mut self, trip: Trip) -> Taken {
        self.recent[self.settled % RECENT] = trip;
        self.settled += 1;
        Taken::settled(trip.takes)
    }

    #[cold]
    fn adopt(&mut self, takes: Span) {
        let level = self.least_recent().or(self.last.map(|last| last.takes));
        if let Some(level) = level {
            self.shift = takes - level;
        }
        (self.begins_anew, self.suspect, self.last) = (false, None, None);
    }

    #[cold]
    fn weigh(&mut self, last: Trip, trip: Trip, least: Option<Span>) -> Taken {
        let is_up = trip.takes > last.takes;
        let level =
            self.suspect.map(|suspect| suspect.level).or(self.least_recent()).unwrap_or(trip.takes);
        let may_be = match self.suspect {
            Some(suspect) => suspect.is_up == is_up,
            None => {
                least.is_some_and(|least| (level - least) * STILL <= (trip.takes - level).abs())
            }
        };
        if may_be && self.is_jump(last, trip) {
            let since = trip.at;
            let early = trip.takes;
            let farthest = trip.takes;
            self.suspect =
                Some(Suspect { since, level, is_up, trips: 0, early, late: None, farthest });
        }
        let Some(suspect) = &mut self.suspect else { return self.keep(trip) };
        if suspect.has_returned(trip) {
            let jump = Some(suspect.early);
            self.suspect = None;
            return Taken { jump, ..self.keep(trip) };
        }
        let by = suspect.take(trip);
        let stood = if by.abs() < LONGEST_QUEUE { by.abs() } else { Span::ZERO };
        let flights = if self.are_round { trip.takes * FLIGHTS } else { Span::ZERO };
        let watched = STAYS.max(stood).max(flights);
        if (trip.at - suspect.since).abs() < watched || suspect.trips < RECENT {
            return Taken { is_settled: false, ..Taken::settled(trip.takes) };
        }
        let since = suspect.since;
        let stays = suspect.is_still();
        self.suspect = None;
        if !stays {
            self.settled = 0;
            return self.keep(trip);
        }
        if self.found.len() < MAX_KEPT {
            self.found.push(Shift { at: since, by });
        }
        self.shift += by;
        let trip = Trip { takes: trip.takes - by, ..trip };
        self.last = Some(trip);
        self.keep(trip)
    }

    /// Whether from the last trip to this one more changed than a queue can.
    fn is_jump(&self, last: Trip, trip: Trip) -> bool {
        if self.settled < RECENT {
            return false;
        }
        let jump = trip.takes - last.takes;
        let departed = |trip: &Trip| trip.at - trip.takes;
        let between = (departed(&trip) - departed(&last)).abs();
        let recent = self.in_order();
        let mut least = recent[0].takes;
        let mut most = recent[0].takes;
        recent
            .iter()
            .for_each(|trip| (least, most) = (least.min(trip.takes), most.max(trip.takes)));
        let per_packet = recent
            .windows(2)
            .map(|pair| (pair[1].at - pair[0].at).abs())
            .min()
            .unwrap_or(Span::ZERO);
        let is_up = jump > Span::ZERO;
        let edge =
            self.suspect.map_or(if is_up { most } else { least }, |suspect| suspect.farthest);
        let beyond = if is_up { trip.takes - edge } else { edge - trip.takes };
        beyond >= LEAST_STEP.max(most - least) && jump.abs() >= between.max(per_packet * PACKETS)
    }

    /// The last settled trips, the oldest first.
    fn in_order(&self) -> [Trip; RECENT] {
        let mut recent = self.recent;
        recent.rotate_left(self.settled % RECENT);
        recent
    }

    fn least_recent(&self) -> Option<Span> {
        self.recent[..self.settled.min(RECENT)].iter().map(|trip| trip.takes).min()
    }
}

impl Suspect {
    /// A trip behind the jump. Returns the step, as far as it is known.
    fn take(&mut self, trip: Trip) -> Span {
        self.trips += 1;
        if self.trips <= RECENT {
            self.early = self.early.min(trip.takes);
        }
        if (trip.at - self.since).abs() >= STAYS / 2 {
            self.late = Some(self.late.map_or(trip.takes, |late| late.min(trip.takes)));
        }
        let is_farther = (trip.takes > self.farthest) == self.is_up;
        self.farthest = if is_farther { trip.takes } else { self.farthest };
        self.early - self.level
    }

    /// Whether a trip is nearer to the old level than to the new one, or both are one.
    fn has_returned(&self, trip: Trip) -> bool {
        let up = |span: Span| if self.is_up { span } else { -span };
        let by = up(self.early - self.level);
        by < LEAST_STEP || up(trip.takes - self.level) * 2 < by
    }

    fn is_still(&self) -> bool {
        self.late.is_some_and(|late| {
            (late - self.early).abs() * STILL <= (self.early - self.level).abs()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each trip, milliseconds, and whether it is settled.
    type Counted = Vec<(i64, bool)>;

    /// Trips in milliseconds, a packet sent every 5 ms with a jitter of 1 ms, behind the delay that
    /// `delay` adds. Returns what comes out, and the steps.
    fn run(delay: impl Fn(i64) -> i64) -> (Counted, Vec<(i64, i64)>) {
        let mut shifts = Shifts::default();
        let ms = |span: Span| span.as_nanos() / 1_000_000;
        let trips = (0..1_000)
            .map(|i| {
                let takes = 40 + i * 7 % 2 + delay(i);
                let at = Time::ZERO + Span::from_millis(5 * i + takes);
                let taken =
                    shifts.take(at, Span::from_millis(takes), || Some(Span::from_millis(40)));
                (ms(taken.trip), taken.is_settled)
            })
            .collect();
        let found =
            shifts.found().iter().map(|shift| (ms(shift.at - Time::ZERO), ms(shift.by))).collect();
        (trips, found)
    }

    #[test]
    fn a_step_that_stays_is_taken_out_from_a_second_later_on() {
        for by in [200, 15, -30, -200] {
            let (trips, found) = run(|i| if i < 400 { 0 } else { by });
            assert_eq!(found, [(2_040 + by, by)]);
            assert!(
                trips[400..600].iter().all(|trip| !trip.1)
                    && trips[..400].iter().all(|trip| trip.1)
            );
            assert!(
                trips[610..].iter().all(|&trip| trip == (40, true) || trip == (41, true)),
                "{:?}",
                trips[610]
            );
        }
    }

    #[test]
    fn wrong_times_are_not_settled_and_leave_no_trace() {
        for (by, packets) in [(30, 1), (-30, 1), (200, 20), (-39, 20)] {
            let (trips, found) = run(|i| if (400..400 + packets).contains(&i) { by } else { 0 });
            assert_eq!(found, []);
            let unsettled: Vec<_> = (0..1_000).filter(|&i| !trips[i as usize].1).collect();
            assert_eq!(unsettled, (400..400 + packets).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_queue_is_no_step() {
        // It fills within 200 ms, stays for 2 s and empties.
        let (trips, found) = run(|i| (4 * (i - 300)).clamp(0, 160) - (4 * (i - 740)).clamp(0, 160));
        assert_eq!(found, []);
        assert!(trips.iter().all(|trip| trip.1));
        // A link stops for 300 ms and is faster than its packets by a quarter then.
        let (_, found) = run(|i| if i < 400 { 0 } else { (300 - (i - 400)).max(0) });
        assert_eq!(found, []);
    }

    #[test]
    fn a_jump_from_a_queue_that_stands_is_no_step() {
        let (trips, found) = run(|i| if i < 400 { 50.min(i) } else { 250 });
        assert_eq!(found, []);
        assert!(trips.iter().all(|trip| trip.1));
    }

    #[test]
    fn steps_that_follow_each_other_soon_are_one() {
        let (_, found) = run(|i| if i < 400 { 0 } else { 100 + 100 * ((i - 400) / 100).min(2) });
        assert_eq!(found, [(3_340, 300)]);
    }

    #[test]
    fn a_jitter_is_no_step() {
        let (trips, found) = run(|i| i * 7_919 % 50);
        assert_eq!(found, []);
        assert!(trips.iter().filter(|trip| !trip.1).count() < 50);
    }

    #[test]
    fn what_begins_anew_takes_as_long_as_before() {
        let mut shifts = Shifts::default();
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        (0..20).for_each(|i| _ = shifts.take(at(20 * i), Span::from_millis(7), || None));
        shifts.begin_anew();
        for i in 0..5 {
            let taken = shifts.take(at(9_000 + 20 * i), Span::from_millis(-700), || None);
            assert_eq!(taken, Taken::settled(Span::from_millis(7)));
        }
        assert_eq!(shifts.found(), []);
    }
}
