//! A flow over time, for drawings.

use losscause::{Span, Time};

use crate::judge::Trips;
use crate::series::{Budget, Extremes, Passed, Steps};

/// A flow over time. Times are seconds after the capture's first packet.
///
/// ```
/// use std::fs::File;
///
/// use losscause_capture::{Options, OverTime, Step, analyze};
///
/// let capture = File::open("tests/captures/sender.pcap.gz")?;
/// let analysis =
///     analyze(capture, "sender.pcap.gz", &Options { over_time: true, ..Options::all() })?;
/// let Some(OverTime { from_s, to_s, queueing_ms, .. }) = &analysis.flows[0].over_time else {
///     panic!("asked for")
/// };
/// let longest = queueing_ms.iter().max_by(|one, other| one.most.total_cmp(&other.most));
/// let Some(Step { at_s, most, .. }) = longest else { panic!("delays are known") };
/// assert!((from_s..=to_s).contains(&at_s));
/// assert!((50.0..65.0).contains(most), "20 packets at 4 Mb/s: {most} ms");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OverTime {
    /// When its first packet with data passed.
    pub from_s: f64,
    /// When its last one did.
    pub to_s: f64,
    /// The rate of data, kb/s: from when on, and how much. It holds until the next one.
    pub rate_kbps: Vec<(f64, f64)>,
    /// Sequence numbers of data, counted from the flow's first one: bytes of TCP, packets of RTP
    /// and QUIC.
    pub seq: Vec<Step>,
    /// The delay that packets spend in queues, milliseconds.
    pub queueing_ms: Vec<Step>,
}

impl OverTime {
    /// What its packets in queues have together, bytes: what they wait times the rate of data then
    /// (Little's law). Estimates, as both are means over steps of time, and more may be sent than a
    /// link passes on: `most_bps` is what it does, if that is known.
    pub fn queue_bytes(&self, most_bps: Option<f64>) -> Vec<Step> {
        let most_kbps = most_bps.map_or(f64::INFINITY, |bps| bps / 1e3);
        let rate = |at_s: f64| {
            let next = self.rate_kbps.partition_point(|(from_s, _)| *from_s <= at_s);
            self.rate_kbps.get(next.saturating_sub(1)).map(|(_, kbps)| kbps.min(most_kbps))
        };
        let step = |waited: &Step| {
            // Milliseconds times kilobits per second are bits.
            let bytes_per_ms = rate(waited.at_s)? / 8.0;
            Some(Step {
                least: waited.least * bytes_per_ms,
                most: waited.most * bytes_per_ms,
                ..*waited
            })
        };
        self.queueing_ms.iter().filter_map(step).collect()
    }
}

/// What was seen within a step of time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The middle of the step.
    pub at_s: f64,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
}

/// The data of a flow that is being read.
#[derive(Debug)]
pub(crate) struct Transfer {
    steps: Steps<Passed>,
    /// The first packet: its time and its unwrapped sequence number.
    first: Option<(Time, u64)>,
    last: Time,
}

/// A rate needs a few packets: so many intervals at most, and steps in each at least.
const RATES: i64 = 128;
const STEPS_PER_RATE: i64 = 4;

impl Transfer {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self { steps: Steps::new(budget), first: None, last: Time::ZERO }
    }

    /// A packet of `bytes` passed. `seq` is unwrapped.
    pub(crate) fn take(&mut self, now: Time, seq: u64, bytes: u64) {
        let (_, first_seq) = *self.first.get_or_insert((now, seq));
        self.last = self.last.max(now);
        let seq = Extremes::from(seq.saturating_sub(first_seq) as f64);
        self.steps.take(now, Passed { bytes: bytes as f32, seq });
    }

    /// The sequence number that a drawing counts from.
    pub(crate) fn first_seq(&self) -> Option<u64> {
        self.first.map(|(_, seq)| seq)
    }

    /// As a drawing needs it, with the trip times at one end. `begun` is when the capture began.
    pub(crate) fn over_time(&self, trips: Option<&Trips>, begun: Time) -> Option<OverTime> {
        let (first, _) = self.first?;
        let second = |at: Time| (at - begun).as_secs_f64();
        let half = self.steps.length().as_secs_f64() / 2.0;
        let step = |at: Time, half: f64, values: Extremes| Step {
            at_s: second(at) + half,
            least: f64::from(values.least),
            most: f64::from(values.most),
        };
        let queueing_ms = trips.into_iter().flat_map(Trips::queueing_ms);
        Some(OverTime {
            from_s: second(first),
            to_s: second(self.last),
            rate_kbps: self.rates(first).into_iter().map(|(at, kbps)| (second(at), kbps)).collect(),
            seq: self.steps.iter().map(|(at, passed)| step(at, half, passed.seq)).collect(),
            queueing_ms: queueing_ms.map(|(at, half, values)| step(at, half, values)).collect(),
        })
    }

    /// The rate in intervals of several steps, kb/s; none if all data passed at once.
    fn rates(&self, first: Time) -> Vec<(Time, f64)> {
        let step = self.steps.length().as_nanos();
        let steps = (self.last - first).as_nanos() / step + 1;
        if steps < 2 {
            return Vec::new();
        }
        let per_interval = (steps / RATES + 1).max(STEPS_PER_RATE);
        // The last one takes what is left over.
        let last = (steps / per_interval - 1).max(0);
        let mut bits = vec![0.0; last as usize + 1];
        for (at, passed) in self.steps.iter() {
            let place = (at - first).as_nanos() / step / per_interval;
            bits[place.clamp(0, last) as usize] += f64::from(passed.bytes) * 8.0;
        }
        let length = |place: i64| {
            step * if place == last { steps - last * per_interval } else { per_interval }
        };
        let kbps = |place: i64, bits: f64| bits / (length(place) as f64 / 1e9) / 1e3;
        let begin = |place: i64| first + Span::from_nanos(step) * (place * per_interval);
        (0..).zip(bits).map(|(place, bits)| (begin(place), kbps(place, bits))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_bits_per_interval_and_numbers_count_from_the_first() {
        let mut transfer = Transfer::new(&Budget::default());
        // 1250 bytes every 10 ms: 1 Mb/s.
        let at = |k: i64| Time::from_nanos(7_000_000_000 + k * 10_000_000);
        (0..=1_000).for_each(|k| transfer.take(at(k), 5_000 + 1_250 * k as u64, 1_250));
        let drawn = transfer.over_time(None, Time::from_nanos(5_000_000_000)).unwrap();
        assert_eq!((drawn.from_s, drawn.to_s), (2.0, 12.0));
        // Steps of 8.4 ms, 10 of them per interval: 8 or 9 packets in 83.9 ms.
        let [whole @ .., _] = &drawn.rate_kbps[..] else { panic!("{drawn:?}") };
        assert!(whole.iter().all(|(_, kbps)| (950.0..1_080.0).contains(kbps)), "{whole:?}");
        assert!((whole[1].0 - whole[0].0 - 0.083_886_08).abs() < 1e-9);
        assert_eq!((drawn.seq[0].least, drawn.seq.last().unwrap().most), (0.0, 1_250_000.0));
        assert!(drawn.seq.len() <= 1_024 && drawn.queueing_ms.is_empty());
    }

    #[test]
    fn a_queue_is_what_packets_wait_times_the_rate_then() {
        let step = |at_s, least, most| Step { at_s, least, most };
        let over_time = OverTime {
            rate_kbps: vec![(1.0, 800.0), (2.0, 1_600.0)],
            queueing_ms: vec![step(1.5, 0.0, 10.0), step(2.0, 5.0, 10.0)],
            ..OverTime::default()
        };
        // 100 and 200 bytes per millisecond.
        assert_eq!(
            over_time.queue_bytes(None),
            [step(1.5, 0.0, 1_000.0), step(2.0, 1_000.0, 2_000.0)]
        );
        assert_eq!(
            over_time.queue_bytes(Some(8e5))[1],
            step(2.0, 500.0, 1_000.0),
            "a link of 800 kb/s"
        );
        assert!(
            OverTime { rate_kbps: Vec::new(), ..over_time }.queue_bytes(None).is_empty(),
            "no rate, no queue"
        );
    }

    #[test]
    fn a_single_packet_has_no_rate() {
        let mut transfer = Transfer::new(&Budget::default());
        transfer.take(Time::ZERO, 1, 100);
        assert!(transfer.over_time(None, Time::ZERO).unwrap().rate_kbps.is_empty());
        assert!(Transfer::new(&Budget::default()).over_time(None, Time::ZERO).is_none());
    }
}
