//! The trip times of a flow as one end sees them: from sender to receiver at a receiver, there and
//! back at a sender.
//!
//! The smallest of them is that of empty queues; what a trip takes longer is its queueing delay.
//!
//! A wrong time, or a clock that is set, would change the smallest and the largest trip for good.
//! So steps are taken out ([`Shifts`]), then the clocks' drift ([`Skew`]), and no trip counts for
//! less than the least or for more than the largest that others support ([`Least`]). The algorithms
//! get what is left: their own rules are those of their papers.

use losscause::diagnosis::{QueueMeter, QueueSeen, RecentDelay};
use losscause::{Span, Time};

use super::shifts::{Shift, Shifts, Taken};
use super::{Least, Sample, Skew};
use crate::series::{Budget, Extremes, Steps};

/// The trip times of a flow.
#[derive(Debug, Default)]
pub(crate) struct Trips {
    shifts: Shifts,
    skew: Option<Skew>,
    least: Least,
    /// The largest, as the least of their negatives.
    most: Least,
    /// The values of both.
    bounds: Option<(Span, Span)>,
    sample: Sample,
    /// When the trips of the sample ended.
    sampled_at: Sample<Time>,
    /// Of the newest observation.
    latest: Option<Span>,
    queue: QueueMeter,
    /// [`QueueSeen::recent`] at packets that did not leave between a loss and its discovery.
    recent: Sample<RecentDelay>,
    over_time: Option<OverTime>,
}

/// A timestamp has a tick of 1 ms mostly, and the first one was as wrong as the last: smaller
/// one-way differences show the clocks and the hosts' timers, not queues.
const TICKS: Span = Span::from_millis(2);

/// For a drawing, milliseconds above the first trip time: the times themselves may have any offset.
#[derive(Debug)]
struct OverTime {
    first: Option<Span>,
    steps: Steps<Extremes>,
}

impl Trips {
    /// Trip times from sender to receiver, without the clocks' skew if it is to be found. They are
    /// kept over time if there is a budget for it.
    pub(crate) fn one_way(budget: Option<&Budget>, skew: Option<Skew>) -> Self {
        let over_time = budget.map(|budget| OverTime { first: None, steps: Steps::new(budget) });
        Self { over_time, skew, ..Self::default() }
    }

    /// Trip times there and back.
    pub(crate) fn round(budget: Option<&Budget>) -> Self {
        Self { shifts: Shifts::of_round_trips(), ..Self::one_way(budget, None) }
    }

    /// An observation at `now`, none if it has no trip time. Returns the trip as it counts for the
    /// algorithms.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, trip: Option<Span>) -> Option<Span> {
        self.latest = trip.map(|trip| self.count(now, trip));
        self.resolved()
    }

    /// The newest trip, as it counts for the algorithms: as the shortest, as long as no difference
    /// is more than that of clocks that tick.
    #[inline]
    pub(crate) fn resolved(&self) -> Option<Span> {
        let trip = self.latest?;
        let (least, most) = self.bounds?;
        Some(if self.shifts.are_round() || most - least > TICKS { trip } else { least })
    }

    #[inline]
    fn count(&mut self, now: Time, trip: Span) -> Span {
        let skew = &self.skew;
        let least = &self.least;
        let with_drift = |least| {
            skew.as_ref().map_or(least, |skew| least + (least - skew.without_drift(now, least)))
        };
        let Taken { mut trip, is_settled, jump } =
            self.shifts.take(now, trip, || least.value().map(with_drift));
        if let Some(skew) = &mut self.skew {
            trip = if is_settled { skew.correct(now, trip) } else { skew.without_drift(now, trip) };
        }
        if let Some(jump) = jump {
            self.measure(self.skew.as_ref().map_or(jump, |skew| skew.without_drift(now, jump)));
        }
        if is_settled {
            self.measure(trip);
        }
        let (least, most) = self.bounds.unwrap_or((trip, trip));
        let trip = trip.min(most).max(least);
        self.sample.push(trip);
        self.sampled_at.push(now);
        self.queue.on_trip(now, trip);
        if self.queue.is_of_others() {
            let queue = &self.queue;
            self.recent.push_with(|| queue.recent().unwrap_or_default());
        }
        if let Some(OverTime { first, steps }) = &mut self.over_time {
            let above = trip - *first.get_or_insert(trip);
            steps.take(now, Extremes::from(above.as_millis_f64()));
        }
        trip
    }

    #[inline]
    fn measure(&mut self, trip: Span) {
        if self.least.take(trip) | self.most.take(-trip) {
            self.bounds = self.least.value().zip(self.most.value().map(|most| -most));
        }
    }

    /// The sender learnt at `now` of the loss of a packet that left at `sent`. Trips there and back
    /// only.
    pub(crate) fn on_loss(&mut self, now: Time, sent: Option<Time>) {
        self.queue.on_loss(now, sent);
    }

    /// What comes next has nothing to do with what was before, and its first trip is taken for the
    /// shortest.
    pub(crate) fn begin_anew(&mut self) {
        self.shifts.begin_anew();
    }

    /// The steps that were taken out.
    pub(crate) fn shifts(&self) -> &[Shift] {
        self.shifts.found()
    }

    /// The drift between the clocks that was removed, seconds per second.
    pub(crate) fn drift(&self) -> Option<f64> {
        self.skew.as_ref().and_then(Skew::drift)
    }

    /// The shortest.
    pub(crate) fn least(&self) -> Option<Span> {
        self.least.value()
    }

    /// The shortest, though no other supports it.
    pub(crate) fn lowest(&self) -> Option<Span> {
        self.least.lowest()
    }

    /// Some of them, evenly over time.
    pub(crate) fn sample(&self) -> &Sample {
        &self.sample
    }

    /// The same with the times when they ended.
    pub(crate) fn sampled(&self) -> impl Iterator<Item = (Time, Span)> {
        self.sampled_at.kept().iter().copied().zip(self.sample.kept().iter().copied())
    }

    /// What [`QueueSeen::recent`] was at some other packets than the lost ones.
    pub(crate) fn recent(&self) -> &[RecentDelay] {
        self.recent.kept()
    }

    /// The next observation shows a gap: what is known now is of the packets before it.
    pub(crate) fn on_gap(&mut self) {
        self.queue.on_gap();
    }

    /// The queue at `now`, when a packet was missed that left at `sent`, if that is known; none if
    /// the newest observation has no trip time.
    pub(crate) fn queue_at_loss(&self, now: Time, sent: Option<Time>) -> Option<QueueSeen> {
        self.latest?;
        Some(self.queue.missed(now)?.of_packet(sent))
    }

    /// The trip time beside a packet that left at `sent`, if that is known, by the same choice.
    pub(crate) fn before_loss(&self, sent: Option<Time>) -> Option<Span> {
        self.latest?;
        self.queue.trip_beside(sent)
    }

    /// The trip time of the newest observation.
    pub(crate) fn latest(&self) -> Option<Span> {
        self.latest
    }

    /// The newest trip time, and how long it waited in queues, milliseconds.
    pub(crate) fn latest_and_queueing(&self) -> Option<(Span, Option<f64>)> {
        self.resolved().map(|trip| (trip, self.queueing_of(trip)))
    }

    /// How long a trip waited in queues, milliseconds, by all that is known now.
    pub(crate) fn queueing_of(&self, trip: Span) -> Option<f64> {
        Some((trip - self.least.value()?).max(Span::ZERO).as_millis_f64())
    }

    /// The queueing delay that this share of the trips stays below, milliseconds.
    pub(crate) fn queueing_quantile(&self, share: f64) -> Option<f64> {
        self.queueing_of(self.sample.quantile(share)?)
    }

    /// The share of trips that waited at least so long, milliseconds.
    pub(crate) fn share_from(&self, queueing_ms: f64) -> f64 {
        self.sample.share(|trip| self.queueing_of(trip).is_some_and(|ms| ms >= queueing_ms))
    }

    /// Queueing delays over time, milliseconds: the beginning of each step, half of its length in
    /// seconds, and values.
    pub(crate) fn queueing_ms(&self) -> impl Iterator<Item = (Time, f64, Extremes)> + '_ {
        self.over_time.iter().flat_map(|OverTime { first, steps }| {
            let lift = first
                .zip(self.least.value())
                .map_or(0.0, |(first, least)| (first - least).as_millis_f64())
                as f32;
            let half = steps.length().as_secs_f64() / 2.0;
            let lifted = move |values: Extremes| Extremes {
                least: (values.least + lift).max(0.0),
                most: (values.most + lift).max(0.0),
            };
            steps.iter().map(move |(at, values)| (at, half, lifted(values)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    #[test]
    fn what_a_trip_takes_longer_than_the_shortest_one_is_queueing() {
        let mut trips = Trips::round(Some(&Budget::default()));
        for (k, trip_ms) in [-970, -980, -980, -975, -940, -940].into_iter().enumerate() {
            trips.take(at(2 * k as i64), Some(Span::from_millis(trip_ms)));
        }
        assert_eq!(trips.queueing_of(Span::from_millis(-970)), Some(10.0));
        assert_eq!(
            (trips.queueing_quantile(0.0), trips.queueing_quantile(1.0)),
            (Some(0.0), Some(40.0))
        );
        assert_eq!(trips.share_from(10.0), 0.5);
        // The first of the long trips stands alone.
        let drawn: Vec<f32> = trips.queueing_ms().map(|(_, _, values)| values.most).collect();
        assert_eq!(drawn, [10.0, 0.0, 0.0, 5.0, 10.0, 40.0]);
        trips.take(Time::ZERO, None);
        assert_eq!(trips.latest(), None);
    }

    #[test]
    fn a_lost_packet_has_the_trip_time_of_those_that_left_next_to_it() {
        let mut trips = Trips::round(None);
        let ms = Span::from_millis;
        (0..100).for_each(|k| _ = trips.take(at(2 * k), Some(ms(40 + k / 2))));
        // The last of them left at 109 ms, and the one that shows the gap at 1158 ms.
        trips.on_gap();
        trips.take(at(1_198), Some(ms(40)));
        // Of the packet itself, not of those around it. The two of 89 ms count as those of 88.
        let trip = |sent: Option<i64>| trips.before_loss(sent.map(at));
        assert_eq!(trip(Some(110)), Some(ms(88)));
        assert_eq!((trip(Some(1_150)), trip(None)), (Some(ms(40)), Some(ms(88))));
    }

    #[test]
    fn no_single_trip_is_shorter_or_longer_than_all_others() {
        let mut trips = Trips::round(None);
        let ms = |k: i64| match k {
            50 => 41,
            120 => 69,
            k => 50 + k * 7 % 10,
        };
        let takes = |trip: Option<Span>| trip.map_or(0, |trip| trip.as_nanos() / 1_000_000);
        let counted: Vec<i64> = (0..200)
            .map(|k| takes(trips.take(at(2 * k), Some(Span::from_millis(ms(k))))))
            .collect();
        assert_eq!((counted[50], counted[120]), (50, 59));
        assert!((20..200).filter(|k| ![50, 120].contains(k)).all(|k| counted[k as usize] == ms(k)));
        assert_eq!(takes(trips.least()), 50);
    }
}
