//! The trip times of a flow as one end sees them: from sender to receiver at a receiver, there and back at a sender.
//!
//! The smallest of them is that of empty queues; what a trip takes longer is its queueing delay.

use losscause::diagnosis::{QueueMeter, QueueSeen};
use losscause::{Span, Time};

use super::Sample;
use crate::series::{Budget, Extremes, Steps};

/// The trip times of a flow.
#[derive(Debug, Default)]
pub(crate) struct Trips {
    sample: Sample,
    least: Option<Span>,
    latest: Option<Span>,
    queue: QueueMeter,
    over_time: Option<OverTime>,
}

/// For a drawing, milliseconds above the first trip time: the times themselves may have any offset.
#[derive(Debug)]
struct OverTime {
    first: Option<Span>,
    steps: Steps<Extremes>,
}

impl Trips {
    /// Trip times that are kept over time if there is a budget for it.
    pub(crate) fn new(budget: Option<&Budget>) -> Self {
        let over_time = budget.map(|budget| OverTime { first: None, steps: Steps::new(budget) });
        Self { over_time, ..Self::default() }
    }

    /// An observation at `now`; none if it has no trip time.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, trip: Option<Span>) {
        self.latest = trip;
        let Some(trip) = trip else { return };
        self.sample.push(trip);
        self.queue.on_trip(now, trip);
        self.least = Some(self.least.map_or(trip, |least| least.min(trip)));
        if let Some(OverTime { first, steps }) = &mut self.over_time {
            let above = trip - *first.get_or_insert(trip);
            steps.take(now, Extremes::from(above.as_millis_f64()));
        }
    }

    /// Some of them, evenly over time.
    pub(crate) fn sample(&self) -> &Sample {
        &self.sample
    }

    /// The queue at `now`; none if the newest observation has no trip time.
    pub(crate) fn queue(&self, now: Time) -> Option<QueueSeen> {
        self.latest.and_then(|_| self.queue.seen(now))
    }

    /// That of the newest observation.
    pub(crate) fn latest(&self) -> Option<Span> {
        self.latest
    }

    /// That, and how long it waited in queues, milliseconds.
    pub(crate) fn latest_and_queueing(&self) -> Option<(Span, Option<f64>)> {
        self.latest.map(|trip| (trip, self.queueing_of(trip)))
    }

    /// How long a trip waited in queues, milliseconds, by all that is known now.
    pub(crate) fn queueing_of(&self, trip: Span) -> Option<f64> {
        Some((trip - self.least?).as_millis_f64())
    }

    /// The queueing delay that this share of the trips stays below, milliseconds.
    pub(crate) fn queueing_quantile(&self, share: f64) -> Option<f64> {
        self.queueing_of(self.sample.quantile(share)?)
    }

    /// The share of trips that waited at least so long, milliseconds.
    pub(crate) fn share_from(&self, queueing_ms: f64) -> f64 {
        self.sample.share(|trip| self.queueing_of(trip).is_some_and(|ms| ms >= queueing_ms))
    }

    /// Queueing delays over time, milliseconds: the beginning of each step, half of its length in seconds, and values.
    pub(crate) fn queueing_ms(&self) -> impl Iterator<Item = (Time, f64, Extremes)> + '_ {
        self.over_time.iter().flat_map(|OverTime { first, steps }| {
            let lift = first.zip(self.least).map_or(0.0, |(first, least)| (first - least).as_millis_f64()) as f32;
            let half = steps.length().as_secs_f64() / 2.0;
            let lifted = move |values: Extremes| Extremes { least: values.least + lift, most: values.most + lift };
            steps.iter().map(move |(at, values)| (at, half, lifted(values)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_trip_takes_longer_than_the_shortest_one_is_queueing() {
        let mut trips = Trips::new(Some(&Budget::default()));
        for (k, trip_ms) in [-970, -980, -975, -940].into_iter().enumerate() {
            trips.take(Time::ZERO + Span::from_millis(2 * k as i64), Some(Span::from_millis(trip_ms)));
        }
        assert_eq!(trips.queueing_of(Span::from_millis(-970)), Some(10.0));
        assert_eq!((trips.queueing_quantile(0.0), trips.queueing_quantile(1.0)), (Some(0.0), Some(40.0)));
        assert_eq!(trips.share_from(10.0), 0.5);
        let drawn: Vec<f32> = trips.queueing_ms().map(|(_, _, values)| values.most).collect();
        assert_eq!(drawn, [10.0, 0.0, 5.0, 40.0]);
        trips.take(Time::ZERO, None);
        assert_eq!(trips.latest(), None);
    }
}
