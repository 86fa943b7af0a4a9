//! What a queue looks like when a packet is lost: the delay above the smallest one of the last
//! seconds.
//!
//! The smallest trip time of two buckets of 10 s is that of an empty path, so that a route that
//! changes, or a clock that is set, misleads for 20 s. A long queue may stand for longer, so that
//! its delay must stay for 30 times as long as it is before it is taken for the path's. Nothing is
//! divided by the largest delay ever seen.

use crate::{Span, Time};

/// Follows the trip times of a flow, one-way or round, in constant state.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueMeter {
    base: Least,
    low: Least,
    /// The greatest queueing of the present second and of the one before, and when that began.
    peaks: [Span; 2],
    peaks_began: Time,
    /// The smallest of all.
    least: Span,
    /// The first trip time: the others are averaged as differences to it, for clocks may have any
    /// offset.
    first: Option<Span>,
    at: Time,
    latest: Span,
    /// Mean change from one trip time to the next.
    jitter: Span,
    empty_at: Option<Time>,
    /// Of the last second, above the first trip time, nanoseconds.
    mean_ns: f64,
    deviation_ns: f64,
    before_gap: Option<BeforeGap>,
    /// When a sender learnt of the first loss of its last round.
    discovered: Option<Time>,
}

/// The delays of the packets before the newest gap.
#[derive(Clone, Copy, Debug)]
struct BeforeGap {
    /// When the newest of them left, and its trip time.
    left: Time,
    trip: Span,
    /// [`QueueSeen::recent`] then.
    recent: RecentDelay,
}

impl BeforeGap {
    /// Whether a packet that left at `sent`, if that is known, left closer to them than to the newest
    /// packet, which left at `newest`.
    fn is_closer(&self, sent: Option<Time>, newest: Time) -> bool {
        sent.is_none_or(|sent| (sent - self.left).abs() <= (newest - sent).abs())
    }
}

/// The queue when packets were missed, whenever they left.
///
/// ```
/// use losscause::diagnosis::{QueueMeter, QueueMissed};
/// use losscause::{Span, Time};
///
/// let at = |ms| Time::ZERO + Span::from_millis(ms);
/// let mut meter = QueueMeter::default();
/// meter.on_trip(at(40), Span::from_millis(40));
/// meter.on_trip(at(90), Span::from_millis(60));
/// // The next trip time shows a gap.
/// meter.on_gap();
/// meter.on_trip(at(200), Span::from_millis(40));
/// let missed: QueueMissed = meter.missed(at(200)).expect("trip times");
/// // A packet that left at 31 ms met the queue before the gap, one at 159 ms that behind it.
/// let [before, behind] = [31, 159].map(|ms| missed.of_packet(Some(at(ms))).recent.mean);
/// assert!(before > behind);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QueueMissed {
    queue: QueueSeen,
    /// When the newest packet left.
    left: Time,
    before_gap: Option<BeforeGap>,
}

/// The queue when a loss showed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueSeen {
    /// Delay of the newest packet above the smallest.
    pub queueing: Span,
    /// Delay above the smallest that was ever seen: how long the queue may be, unless the path
    /// changed.
    pub above_least: Span,
    /// The least queueing of the last 50 to 100 ms: the queue that stood.
    pub standing: Span,
    /// To be compared with others of the flow ([`DelayRank`](super::DelayRank)). Of the time before
    /// the loss, where that is known.
    pub recent: RecentDelay,
    /// The greatest queueing of the last one to two seconds. Whatever delays no packet, such as a
    /// policer, leaves none.
    pub peak: Span,
    /// Time since the queue was empty; none if it never was.
    pub since_empty: Option<Span>,
    /// Mean change from one delay to the next.
    pub jitter: Span,
    /// The newest delay against those of the last second: in mean deviations above their mean.
    pub contrast: f64,
}

/// A flow's recent trip times above its first; or what was made of each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecentDelay<T = Span> {
    /// Of the least of the last 50 to 100 ms.
    pub least: T,
    /// Of the mean of the last second.
    pub mean: T,
}

/// A path's smallest delay holds for so long, and at most for twice as long.
const BASE_BUCKET: Span = Span::from_secs(10);
/// A queue takes many times its delay to empty: a delay that lasts for so many times its own length
/// is the path's.
const BASE_DELAYS: i64 = 30;
/// Two of them are CoDel's interval, 100 ms (RFC 8289, section 4.3): a queue that lasts longer is
/// no burst.
const LOW_BUCKET: Span = Span::from_millis(50);
/// A loss shows within a round trip, and paths have shorter ones.
const PEAK_BUCKET: Span = Span::from_secs(1);
/// A longer queue at losses is no policer's.
const SHORT_QUEUE: Span = Span::from_millis(10);
/// Hosts alone vary by this much.
const HOST_JITTER: Span = Span::from_millis(1);
/// The weight of a new value in the jitter, as in RTP (RFC 3550, section 6.4.1, has 16).
const JITTER_SHARE: i64 = 32;
/// The newest delay is held against those of this time.
const CONTRAST_NS: f64 = 1e9;

/// The smallest value of the present and the last bucket.
#[derive(Clone, Copy, Debug, Default)]
struct Least {
    began: Time,
    present: Option<Smallest>,
    before: Option<Smallest>,
}

/// A single sample may have a wrong time, so that the second smallest counts where there is one.
#[derive(Clone, Copy, Debug)]
struct Smallest {
    first: Span,
    second: Option<Span>,
}

impl Smallest {
    #[inline]
    fn take(&mut self, value: Span) {
        if value - self.first < Span::ZERO {
            (self.first, self.second) = (value, Some(self.first));
        } else if self.second.is_none_or(|second| value - second < Span::ZERO) {
            self.second = Some(value);
        }
    }
}

impl Least {
    #[inline]
    fn take(&mut self, now: Time, value: Span, bucket: Span) {
        let age = now - self.began;
        if age >= bucket || age < Span::ZERO {
            self.before = self.present.take().filter(|_| age < bucket * 2);
            self.began = now;
        }
        match &mut self.present {
            Some(smallest) => smallest.take(value),
            None => self.present = Some(Smallest { first: value, second: None }),
        }
    }

    /// The value above the smallest of both buckets; `of` picks which of the smallest.
    fn above(&self, value: Span, of: fn(&Smallest) -> Span) -> Span {
        let both = self.present.iter().chain(&self.before);
        both.map(|smallest| value - of(smallest)).max().unwrap_or(Span::ZERO)
    }
}

impl QueueMeter {
    /// A trip time at `now`.
    #[inline]
    pub fn on_trip(&mut self, now: Time, trip: Span) {
        let Some(first) = self.first else {
            (self.first, self.least, self.latest) = (Some(trip), trip, trip);
            (self.at, self.empty_at) = (now, Some(now));
            self.base.take(now, trip, BASE_BUCKET);
            self.low.take(now, trip, LOW_BUCKET);
            return;
        };
        if trip - self.least < Span::ZERO {
            self.least = trip;
        }
        self.base.take(now, trip, BASE_BUCKET.max((trip - self.least) * BASE_DELAYS));
        self.low.take(now, trip, LOW_BUCKET);
        self.jitter += ((trip - self.latest).abs() - self.jitter) / JITTER_SHARE;
        // As the packet before this one met it: this one may show a loss.
        if self.queueing() < self.empty_below() {
            self.empty_at = Some(now);
        }
        let above = (trip - first).as_nanos_f64();
        let elapsed = (now - self.at).as_nanos_f64().max(0.0);
        let share = elapsed / (elapsed + CONTRAST_NS);
        self.deviation_ns += share * ((above - self.mean_ns).abs() - self.deviation_ns);
        self.mean_ns += share * (above - self.mean_ns);
        (self.at, self.latest) = (now, trip);
        self.take_peak(now);
    }

    /// The queue at `now`; none before the first trip time.
    pub fn seen(&self, now: Time) -> Option<QueueSeen> {
        let first = self.first?;
        let queueing = self.queueing();
        let below_latest = self.low.above(self.latest, |smallest| smallest.first);
        let above_mean = (self.latest - first).as_nanos_f64() - self.mean_ns;
        let deviation = self.deviation_ns.max(HOST_JITTER.as_nanos_f64() / 10.0);
        Some(QueueSeen {
            queueing,
            above_least: self.latest - self.least,
            standing: (queueing - below_latest).max(Span::ZERO),
            recent: self.recent()?,
            peak: self.peaks[0].max(self.peaks[1]),
            since_empty: self.empty_at.map(|empty_at| now - empty_at),
            jitter: self.jitter,
            contrast: above_mean / deviation,
        })
    }

    /// The next trip time shows a gap: what is known now is of the packets before it.
    pub fn on_gap(&mut self) {
        let (left, trip) = (self.at - self.latest, self.latest);
        self.before_gap = self.recent().map(|recent| BeforeGap { left, trip, recent });
    }

    /// A sender learnt at `now` of the loss of a packet that left at `sent`, if that is known.
    pub fn on_loss(&mut self, now: Time, sent: Option<Time>) {
        let is_of_last = self.discovered.zip(sent).is_some_and(|(known, sent)| sent <= known);
        if !is_of_last {
            self.discovered = Some(now);
        }
    }

    /// Whether the newest packet left after the first loss of the last round was known; those that
    /// left before count neither as lost nor as others ([`DelayRank`](super::DelayRank)).
    #[inline]
    pub fn is_of_others(&self) -> bool {
        self.discovered.is_none_or(|discovered| self.at - self.latest > discovered)
    }

    /// The queue for packets that are missed at `now`; none before the first trip time.
    pub fn missed(&self, now: Time) -> Option<QueueMissed> {
        let queue = self.seen(now)?;
        Some(QueueMissed { queue, left: self.at - self.latest, before_gap: self.before_gap })
    }

    /// The trip time beside a packet that left at `sent`, if that is known: of the packets before the
    /// newest gap or of the newest one, as [`QueueMissed::of_packet`] chooses; none before the first.
    pub fn trip_beside(&self, sent: Option<Time>) -> Option<Span> {
        self.first?;
        let newest = self.at - self.latest;
        let before = self.before_gap.filter(|before| before.is_closer(sent, newest));
        Some(before.map_or(self.latest, |before| before.trip))
    }

    /// [`QueueSeen::recent`] now; none before the first trip time.
    pub fn recent(&self) -> Option<RecentDelay> {
        let newest = self.latest - self.first?;
        let least = newest - self.low.above(self.latest, |smallest| smallest.first);
        Some(RecentDelay { least, mean: Span::from_nanos(self.mean_ns as i64) })
    }

    #[inline]
    fn take_peak(&mut self, now: Time) {
        let age = now - self.peaks_began;
        if age >= PEAK_BUCKET || age < Span::ZERO {
            let before = if age < PEAK_BUCKET * 2 { self.peaks[0] } else { Span::ZERO };
            (self.peaks, self.peaks_began) = ([Span::ZERO, before], now);
        }
        self.peaks[0] = self.peaks[0].max(self.queueing());
    }

    fn queueing(&self) -> Span {
        self.base
            .above(self.latest, |smallest| smallest.second.unwrap_or(smallest.first))
            .max(Span::ZERO)
    }

    /// A smaller delay is the path's own variation.
    fn empty_below(&self) -> Span {
        (self.jitter * 2).max(HOST_JITTER)
    }
}

impl QueueSeen {
    /// Whether the queue is too short to have dropped a packet by its length: it may be a policer's.
    pub fn may_be_policed(&self) -> bool {
        self.queueing < SHORT_QUEUE
    }
}

impl QueueMissed {
    /// The same for a packet that left at `sent`, if that is known.
    ///
    /// The recent delays are those before the newest gap, unless the newest packet left at a time
    /// closer to the lost one: a lost packet leaves more room for those behind it, and these may
    /// have left much later.
    pub fn of_packet(&self, sent: Option<Time>) -> QueueSeen {
        let before = self.before_gap.filter(|before| before.is_closer(sent, self.left));
        let recent = before.map_or(self.queue.recent, |before| before.recent);
        QueueSeen { recent, ..self.queue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    /// The queue after these trip times, one every 10 ms.
    fn seen(trips_ms: impl Iterator<Item = i64>) -> QueueSeen {
        let mut meter = QueueMeter::default();
        let mut now = Time::ZERO;
        for trip in trips_ms {
            meter.on_trip(now, Span::from_millis(trip));
            now += Span::from_millis(10);
        }
        meter.seen(now).expect("fed")
    }

    #[test]
    fn a_queue_that_stands_shows_in_the_least_of_the_last_100_ms() {
        let standing = seen((0..100).map(|k| if k < 50 { 40 } else { 60 }));
        assert_eq!(
            (standing.queueing, standing.standing),
            (Span::from_millis(20), Span::from_millis(20))
        );
        assert!(standing.since_empty > Some(Span::from_millis(490)));
        let burst = seen((0..100).map(|k| if k < 98 { 40 } else { 60 }));
        assert_eq!((burst.queueing, burst.standing), (Span::from_millis(20), Span::ZERO));
        assert!(burst.contrast > 2.0, "{}", burst.contrast);
    }

    #[test]
    fn a_peak_is_forgotten_over_a_pause_of_two_seconds() {
        let peak = |then_ms| {
            let mut meter = QueueMeter::default();
            for (now, trip) in [(0, 40), (10, 40), (20, 60), (then_ms, 40)] {
                meter.on_trip(at(now), Span::from_millis(trip));
            }
            meter.seen(at(then_ms)).expect("fed").peak
        };
        assert_eq!([peak(1_500), peak(2_500)], [Span::from_millis(20), Span::ZERO]);
    }

    #[test]
    fn recent_delays_are_the_least_of_a_tenth_of_a_second_and_the_mean_of_a_second() {
        let step =
            |after: i64| seen((0..500 + after).map(|k| if k < 500 { 40 } else { 60 })).recent;
        assert_eq!(step(5).least, Span::ZERO);
        let RecentDelay { least, mean } = step(15);
        assert_eq!(least, Span::from_millis(20));
        // Each of the 15 leaves 100 of 101 parts.
        let expected = Span::from_secs_f64_rounded(0.02 * (1.0 - (100.0_f64 / 101.0).powi(15)));
        assert!((mean - expected).abs() < Span::from_micros(1), "{mean:?}");
    }

    #[test]
    fn a_lost_packet_met_the_delays_of_those_that_left_next_to_it() {
        let mut meter = QueueMeter::default();
        let ms = Span::from_millis;
        (0..100).for_each(|k| meter.on_trip(at(2 * k), ms(40 + k / 2)));
        // The last of them left at 109 ms, and the one that shows the gap at 1158 ms.
        meter.on_gap();
        meter.on_trip(at(1_198), ms(40));
        let missed = meter.missed(at(1_198)).expect("fed");
        let least = |sent: Option<Time>| missed.of_packet(sent).recent.least;
        // The least since 100 ms.
        assert_eq!(least(Some(at(110))), ms(25));
        assert_eq!(least(Some(at(1_150))), Span::ZERO);
        assert_eq!(least(None), ms(25), "the packets before the gap");
    }

    #[test]
    fn what_left_before_a_loss_was_known_is_none_of_the_others() {
        let mut meter = QueueMeter::default();
        meter.on_trip(at(100), Span::from_millis(40));
        assert!(meter.is_of_others());
        meter.on_loss(at(100), Some(at(50)));
        // What left before is lost in the same round.
        meter.on_loss(at(110), Some(at(100)));
        for (now, is_other) in [(130, false), (140, false), (141, true)] {
            meter.on_trip(at(now), Span::from_millis(40));
            assert_eq!(meter.is_of_others(), is_other, "acknowledged at {now} ms");
        }
        meter.on_loss(at(150), Some(at(101)));
        assert!(!meter.is_of_others(), "the next round");
    }

    #[test]
    fn a_peak_is_remembered_for_one_to_two_seconds() {
        let peak = |after: i64| seen((0..after).map(|k| if k == 50 { 100 } else { 40 })).peak;
        assert_eq!(peak(51), Span::from_millis(60));
        // It came at 0.5 s, and the next but one second begins at 2 s.
        assert_eq!(peak(200), Span::from_millis(60));
        assert_eq!(peak(201), Span::ZERO);
    }

    #[test]
    fn a_step_that_stays_is_a_new_base_after_twenty_seconds() {
        let stepped =
            |after: i64| seen((0..1_000 + after).map(|k| if k < 1_000 { 40 } else { 240 }));
        assert_eq!(stepped(500).standing, Span::from_millis(200));
        assert_eq!(stepped(2_100).standing, Span::ZERO);
    }

    #[test]
    fn a_silence_of_two_buckets_begins_a_new_base() {
        let after = |silence: i64| {
            let mut meter = QueueMeter::default();
            meter.on_trip(at(0), Span::from_millis(40));
            meter.on_trip(at(silence), Span::from_millis(60));
            meter.seen(at(silence)).map(|seen| seen.queueing)
        };
        assert_eq!(after(19_000), Some(Span::from_millis(20)));
        assert_eq!(after(20_000), Some(Span::ZERO));
    }

    #[test]
    fn one_trip_time_that_is_too_small_is_no_base() {
        let spoiled = seen((0..100).map(|k| if k == 50 { 10 } else { 40 }));
        assert_eq!(spoiled.standing, Span::ZERO);
    }

    #[test]
    fn any_offset_between_the_clocks_gives_the_same_queue() {
        let of = |offset: i64| {
            let mut meter = QueueMeter::default();
            (0..50).for_each(|k| {
                let trip = Span::from_nanos(offset.wrapping_add((k % 7) * 1_000_000));
                meter.on_trip(at(10 * k), trip);
            });
            meter.seen(at(500)).map(|seen| (seen.queueing, seen.standing))
        };
        assert_eq!(of(0), of(i64::MAX - 2_000_000));
    }
}
