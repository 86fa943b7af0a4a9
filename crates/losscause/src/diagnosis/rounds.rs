//! The losses of a flow, by rounds: those whose packets left before the first of them was missed.

use super::{DelayRank, Marks, Moments, QueueSeen};
use crate::{Span, Time};

/// A packet that was lost, as an end of its flow saw it.
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// When it passed that end; at a receiver, when it was missed.
    pub at: Time,
    /// Only a timer showed it: nothing that was sent later had arrived.
    pub is_by_timer: bool,
    /// Packets in flight when it left, itself included; none at a receiver.
    pub flight_pkts: Option<u32>,
    /// The round-trip time of an empty path.
    pub rtt: Option<Span>,
    /// The queue when it was missed.
    pub queue: Option<QueueSeen>,
}

/// Collects the losses of a flow, in the order in which the packets left.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    marks: Marks<Round>,
    /// When the present round ends.
    ends: Time,
    lost: u64,
    by_timer: u64,
}

/// Losses that belong together.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    at: Time,
    lost: u32,
    flight_pkts: Option<u32>,
    rtt: Option<Span>,
    queue: Option<QueueSeen>,
}

impl Round {
    /// Whether a loss behind `queue` may have the cause of these: one event does not meet both an
    /// empty and a standing queue. A queue between the two may be of either.
    fn is_of_one_event(&self, queue: Option<&QueueSeen>) -> bool {
        let Some((first, later)) = self.queue.as_ref().zip(queue) else {
            return true;
        };
        let are_unlike = |one, other| is_queue(one) && !is_queue(other) && is_empty(self, other);
        !are_unlike(first, later) && !are_unlike(later, first)
    }
}

/// What the rounds tell together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    /// Lost packets, and those that only a timer showed.
    pub lost: u64,
    /// Lost packets that only a timer showed.
    pub by_timer: u64,
    /// Rounds with losses.
    pub rounds: u32,
    /// Those whose delays are known.
    pub with_delay: u32,
    /// Those with a queue that stood for 100 ms.
    pub queued: u32,
    /// Those within a round trip of an empty queue.
    pub empty: u32,
    /// The delay of the queue that stood at losses, median.
    pub standing: Span,
    /// The delay of the queue at losses, median.
    pub queueing: Span,
    /// The same above the smallest delay ever seen, median.
    pub above_least: Span,
    /// The greatest delay of the queue in the one to two seconds before losses, median.
    pub peak: Span,
    /// How unlike the delays above the smallest one are: the least range that holds more than half
    /// of them, over their median.
    pub level_spread: Option<f64>,
    /// The jitter that nine tenths of the rounds stay below.
    pub jitter: Span,
    /// The round-trip time, median.
    pub rtt: Option<Span>,
    /// The delay at losses against that of the last second, mean: in mean deviations.
    pub contrast: f64,
    /// Lost packets of a round, mean.
    pub per_round: f64,
    /// The same, median: one large round does not move it.
    pub usual_round: f64,
    /// Packets in flight at losses, mean; none if no round knows it.
    pub flight_pkts: Option<f64>,
    /// Three quarters of these flights less one quarter of them and one packet, over the median.
    pub flight_spread: Option<f64>,
    /// The time from one round to the next, median.
    pub interval: Span,
    /// Three quarters of these times less one quarter of them, over the median. Independent losses
    /// at one rate have 1.6 (exponential times), those of a sender that grows back to one limit a
    /// few tenths.
    pub interval_spread: Option<f64>,
    /// Packets that were lost of those in flight, from 0 to 1.
    pub share_of_flight: Option<f64>,
    /// The rounds in which more were lost at once than a burst of the air takes.
    pub large_rounds: LargeRounds,
    /// How the moments of the path's losses rank; none if not every packet was seen as it left, or
    /// if that was not asked.
    pub moments: Option<Moments>,
    /// How the delays at losses rank; none if those of other packets are not known.
    pub delays: Option<DelayRank>,
}

/// Rounds in which at least eight packets were lost, among those that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LargeRounds {
    /// How many there are.
    pub rounds: u32,
    /// The packets that were lost in them.
    pub lost: u64,
    /// Those before which a queue stood.
    pub queued: u32,
    /// The least delay at one of them above the smallest delay ever seen.
    pub least_queue: Span,
}

/// Bursts of the air lose fewer packets at once.
pub(super) const LARGE_ROUND: u32 = 8;

/// Of a round trip that is not known: CoDel's interval, a usual worst case.
const USUAL_RTT: Span = Span::from_millis(100);
/// Smaller delays are the hosts'.
const LEAST_QUEUE: Span = Span::from_millis(3);
/// A loss shows after a round trip, and what it takes to be sure (RFC 9002, section 6.1.2: 9/8 of
/// it).
const SHOWN_NUM: i64 = 9;
const SHOWN_DEN: i64 = 8;
/// Flights are whole packets, and sorted as spans.
const ONE_PKT: Span = Span::from_nanos(1);
/// Quartiles.
const QUARTERS: [f64; 3] = [0.25, 0.5, 0.75];
/// A queue's delay is more than so many times the jitter.
const JITTERS: i64 = 3;

impl Rounds {
    /// A packet was lost.
    pub fn on_loss(&mut self, loss: &LostPacket) {
        self.lost += 1;
        if loss.is_by_timer {
            self.by_timer += 1;
            return;
        }
        match self.marks.last_mut() {
            Some(round) if loss.at <= self.ends && round.is_of_one_event(loss.queue.as_ref()) => {
                round.lost += 1;
                round.queue = round.queue.or(loss.queue);
            }
            _ => {
                let waited = loss.queue.map_or(Span::ZERO, |queue| queue.above_least);
                self.ends =
                    loss.at + (loss.rtt.unwrap_or(USUAL_RTT) + waited) * SHOWN_NUM / SHOWN_DEN;
                let LostPacket { at, flight_pkts, rtt, queue, .. } = *loss;
                self.marks.push(Round { at, lost: 1, flight_pkts, rtt, queue });
            }
        }
    }

    /// How many rounds there were.
    pub fn count(&self) -> usize {
        self.marks.count()
    }

    /// Whether round `number`, counted from 1 on, is one of the [`LargeRounds`].
    pub fn is_large(&self, number: usize) -> bool {
        let newer = self.count().checked_sub(number);
        let place = newer.and_then(|newer| self.marks.len().checked_sub(newer + 1));
        place
            .and_then(|place| self.marks.iter().nth(place))
            .is_some_and(|round| round.lost >= LARGE_ROUND)
    }

    /// What they tell together.
    pub fn readings(&self) -> Readings {
        let rounds = || self.marks.iter();
        let queues = || rounds().filter_map(|round| Some((round, round.queue?)));
        let mut sorted = [Span::ZERO; super::marks::MOST];
        let mut quantile = |values: &mut dyn Iterator<Item = Span>, share: f64| {
            let mut count = 0;
            for (place, value) in sorted.iter_mut().zip(values) {
                *place = value;
                count += 1;
            }
            sorted[..count].sort_unstable();
            (count > 0).then(|| sorted[(share * (count - 1) as f64 + 0.5) as usize])
        };
        let mut of_queues = |of: fn(&QueueSeen) -> Span, share| {
            quantile(&mut queues().map(|(_, queue)| of(&queue)), share).unwrap_or(Span::ZERO)
        };
        let standing = of_queues(|queue| queue.standing, 0.5);
        let queueing = of_queues(|queue| queue.queueing, 0.5);
        let above_least = of_queues(|queue| queue.above_least, 0.5);
        let peak = of_queues(|queue| queue.peak, 0.5);
        let jitter = of_queues(|queue| queue.jitter, 0.9);
        let usual_round = quantile(&mut rounds().map(|round| ONE_PKT * i64::from(round.lost)), 0.5);
        let rtt = quantile(&mut rounds().filter_map(|round| round.rtt), 0.5);
        let count = rounds().count();
        let with_delay = queues().count();
        let in_flight = || rounds().filter_map(|round| Some((round.lost, round.flight_pkts?)));
        let (lost, flight) = in_flight().fold((0.0, 0.0), |(lost, flight), one| {
            (lost + f64::from(one.0), flight + f64::from(one.1.max(one.0)))
        });
        let known = in_flight().count();
        let flights = || in_flight().map(|(_, flight)| ONE_PKT * i64::from(flight.max(1)));
        let intervals = || rounds().zip(rounds().skip(1)).map(|(one, next)| next.at - one.at);
        let [low, middle, high] =
            QUARTERS.map(|share| quantile(&mut flights(), share).unwrap_or(Span::ZERO));
        let [short, usual, long] =
            QUARTERS.map(|share| quantile(&mut intervals(), share).unwrap_or(Span::ZERO));
        Readings {
            lost: self.lost,
            by_timer: self.by_timer,
            rounds: count as u32,
            with_delay: with_delay as u32,
            queued: queues().filter(|(_, queue)| is_queue(queue)).count() as u32,
            empty: queues().filter(|(round, queue)| is_empty(round, queue)).count() as u32,
            standing,
            queueing,
            above_least,
            peak,
            level_spread: level_spread(queues().map(|(_, queue)| queue.above_least)),
            jitter,
            rtt,
            contrast: queues().map(|(_, queue)| queue.contrast).sum::<f64>()
                / with_delay.max(1) as f64,
            usual_round: usual_round.unwrap_or(Span::ZERO).as_nanos_f64(),
            per_round: rounds().map(|round| f64::from(round.lost)).sum::<f64>()
                / count.max(1) as f64,
            flight_pkts: (known > 0).then(|| flight / known as f64),
            flight_spread: (known > 0)
                .then(|| (high - low - ONE_PKT).as_nanos_f64().max(0.0) / middle.as_nanos_f64()),
            interval: usual,
            interval_spread: (usual > Span::ZERO)
                .then(|| (long - short).as_nanos_f64() / usual.as_nanos_f64()),
            share_of_flight: (known > 0).then(|| lost / flight),
            large_rounds: LargeRounds::of(rounds()),
            moments: None,
            delays: None,
        }
    }
}

impl LargeRounds {
    fn of<'a>(rounds: impl Iterator<Item = &'a Round>) -> Self {
        let mut found = Self::default();
        for round in rounds.filter(|round| round.lost >= LARGE_ROUND) {
            let above_least = round.queue.map_or(Span::ZERO, |queue| queue.above_least);
            found.least_queue =
                if found.rounds == 0 { above_least } else { found.least_queue.min(above_least) };
            found.rounds += 1;
            found.lost += u64::from(round.lost);
            found.queued += u32::from(round.queue.as_ref().is_some_and(is_queue));
        }
        found
    }
}

/// The least range that holds more than half of the delays, over their median; none if there is no
/// delay.
///
/// Quarters would take in the few long delays of a start that overshoots a short queue.
fn level_spread(delays: impl Iterator<Item = Span>) -> Option<f64> {
    let mut sorted = [Span::ZERO; super::marks::MOST];
    let mut count = 0;
    for (place, delay) in sorted.iter_mut().zip(delays) {
        *place = delay;
        count += 1;
    }
    let sorted = &mut sorted[..count];
    sorted.sort_unstable();
    let half = count / 2;
    let middle = sorted.get(half).filter(|middle| **middle > Span::ZERO)?;
    let range = sorted.iter().zip(&sorted[half..]).map(|(low, high)| *high - *low).min()?;
    Some(range.as_nanos_f64() / middle.as_nanos_f64())
}

/// Whether a queue stood for longer than a burst.
fn is_queue(queue: &QueueSeen) -> bool {
    queue.standing >= LEAST_QUEUE.max(queue.jitter * JITTERS)
}

/// Whether the queue was empty within a round trip before.
fn is_empty(round: &Round, queue: &QueueSeen) -> bool {
    queue.since_empty.is_some_and(|since| since <= round.rtt.unwrap_or(USUAL_RTT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(ms: i64, flight: u32, standing_ms: i64) -> LostPacket {
        let queue = QueueSeen { standing: Span::from_millis(standing_ms), ..QueueSeen::default() };
        LostPacket {
            at: Time::ZERO + Span::from_millis(ms),
            is_by_timer: false,
            flight_pkts: Some(flight),
            rtt: Some(Span::from_millis(40)),
            queue: Some(queue),
        }
    }

    #[test]
    fn losses_within_a_round_trip_of_the_first_are_one_round() {
        let mut rounds = Rounds::default();
        [0, 20, 45, 46, 300].into_iter().for_each(|ms| rounds.on_loss(&loss(ms, 10, 8)));
        rounds.on_loss(&LostPacket { is_by_timer: true, ..loss(900, 1, 0) });
        let readings = rounds.readings();
        assert_eq!((readings.lost, readings.by_timer, readings.rounds), (6, 1, 3));
        assert_eq!((readings.queued, readings.standing), (3, Span::from_millis(8)));
        // 3 of 10, 1 of 10, 1 of 10.
        assert!((readings.share_of_flight.expect("known") - 5.0 / 30.0).abs() < 1e-9);
    }

    #[test]
    fn a_loss_of_an_empty_path_belongs_to_no_overflow() {
        let mut rounds = Rounds::default();
        [(0, 50), (10, 50), (20, 0)]
            .into_iter()
            .for_each(|(ms, queue)| rounds.on_loss(&loss(ms, 10, queue)));
        assert_eq!(rounds.readings().rounds, 1, "when it was empty is not known");
        for ms in [30, 40] {
            let empty =
                QueueSeen { since_empty: Some(Span::from_millis(1)), ..QueueSeen::default() };
            rounds.on_loss(&LostPacket { queue: Some(empty), ..loss(ms, 10, 0) });
        }
        let readings = rounds.readings();
        assert_eq!((readings.rounds, readings.queued, readings.per_round), (2, 1, 2.5));
    }

    #[test]
    fn large_rounds_are_counted_apart() {
        let mut rounds = Rounds::default();
        (0..9).for_each(|ms| rounds.on_loss(&loss(ms, 50, 8)));
        (1_000..1_008).for_each(|ms| rounds.on_loss(&loss(ms, 50, 0)));
        (2_000..2_007).for_each(|ms| rounds.on_loss(&loss(ms, 50, 8)));
        let expected = LargeRounds { rounds: 2, lost: 17, queued: 1, least_queue: Span::ZERO };
        assert_eq!(rounds.readings().large_rounds, expected);
        assert_eq!([0, 1, 2, 3, 4].map(|k| rounds.is_large(k)), [false, true, true, false, false]);
    }

    #[test]
    fn a_flow_without_losses_reads_nothing() {
        assert_eq!(Rounds::default().readings(), Readings::default());
    }

    #[test]
    fn the_level_is_that_of_most_rounds() {
        let spread = |delays: &[i64]| level_spread(delays.iter().map(|&ms| Span::from_millis(ms)));
        // A start that overshoots twice, then a queue that drops from 6 ms on.
        assert_eq!(spread(&[40, 35, 6, 6, 6, 6, 6]), Some(0.0));
        assert_eq!(spread(&[10, 20, 30, 40, 50]), Some(20.0 / 30.0), "three of five");
        assert_eq!(spread(&[100, 110]), Some(10.0 / 110.0), "both");
        assert_eq!((spread(&[]), spread(&[0, 0, 0])), (None, None));
    }

    #[test]
    fn one_large_round_moves_the_mean_alone() {
        let mut rounds = Rounds::default();
        (0..41).for_each(|ms| rounds.on_loss(&loss(ms, 50, 8)));
        [1_000, 2_000].into_iter().for_each(|ms| rounds.on_loss(&loss(ms, 50, 8)));
        let readings = rounds.readings();
        assert_eq!((readings.rounds, readings.usual_round), (3, 1.0));
        assert!(readings.per_round > 14.0);
    }
}
