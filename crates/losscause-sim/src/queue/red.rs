//! Random Early Detection (Floyd and Jacobson, "Random Early Detection Gateways for Congestion
//! Avoidance", 1993).
//!
//! The average queue decides, not the momentary one: below `min_th` everything passes, above
//! `max_th` nothing does, and between them a packet is hit with a probability that rises with the
//! average. With q packets waiting,
//!
//! ```text
//! avg <- (1 - w_q) avg + w_q q                          a packet finds the transmitter busy
//! avg <- (1 - w_q)^(m + 1) avg                          it finds it idle for the time of m typical packets
//! p_b = max_p (avg - min_th) / (max_th - min_th)        min_th <= avg < max_th
//! p_b = max_p + (1 - max_p) (avg - max_th) / max_th     max_th <= avg < 2 max_th, gentle only
//! p_a = p_b / (1 - count p_b)
//! ```
//!
//! where `count` is -1 while the average is below `min_th`, grows by 1 with each packet above it,
//! and is 0 after a hit: so hits are spread evenly instead of coming in clusters.
//!
//! With ECN a hit marks the packet instead of dropping it. From `max_th` on a hit is a drop, gentle
//! or not: RFC 3168 wants packets dropped, not marked, when the average is above the upper
//! threshold.
//!
//! Deviations:
//!
//! - The packet that finds the transmitter idle counts as one more sample of an empty queue (m + 1
//!   where the paper's figure 2 has m), as in ns-2: otherwise a link that is never idle for long
//!   and never has a queue would keep an old average.
//! - The paper has no limit. A packet that finds the limit reached is dropped and `count` becomes
//!   0, as in ns-2.
//! - With [`RedSpec::like_ns2`], three rules of ns-2.35's `Queue/RED` take the place of the paper's:
//!   a packet is only hit if two others wait; the packet with which the average enters the band is
//!   spared, and `count` is 1 with it; m is rounded down. ns-2 marks up to a probability of 1 when
//!   gentle; here a hit from `max_th` on is a drop with its rules too.

use losscause::{Span, Time};

use super::QueueHooks;
use super::bounded::{Admission, Bounded, Entering};
use crate::rng::Stream;
use crate::topology::{QueueSpec, RedSpec};

#[derive(Clone, Debug)]
pub(super) struct Red {
    spec: RedSpec,
    /// A typical packet's transmission time, nanoseconds.
    typical_nanos: f64,
    /// avg.
    average: f64,
    /// When the transmitter last found the queue empty.
    idle_since: Time,
    count: i64,
    /// ns-2: whether the packet before this one was in the band.
    was_in_band: bool,
    stream: Stream,
}

/// ns-2 hits no packet that finds fewer waiting.
const LEAST_WAITING_NS2: u32 = 2;

/// What the average means for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Pass,
    /// The packet is hit below `max_th`: marked or dropped.
    Hit,
    Drop,
}

impl Red {
    /// `typical` is the transmission time of a packet of `spec.typical_packet_bytes`.
    pub(super) fn queue(spec: RedSpec, typical: Span, stream: Stream) -> Bounded<Self> {
        let typical_nanos = typical.as_nanos().max(1) as f64;
        let rule = Self {
            spec,
            typical_nanos,
            average: 0.0,
            idle_since: Time::ZERO,
            count: -1,
            was_in_band: false,
            stream,
        };
        Bounded::new(spec.limit, rule)
    }

    /// Takes one sample of the queue that a packet finds.
    fn update_average(&mut self, entering: &Entering) {
        if entering.idle {
            let idle_nanos = (entering.now - self.idle_since).as_nanos().max(0) as f64;
            let mut typical_packets = idle_nanos / self.typical_nanos;
            if self.spec.like_ns2 {
                typical_packets = libm::floor(typical_packets);
            }
            self.average *= libm::pow(1.0 - self.spec.w_q, typical_packets + 1.0);
        } else {
            self.average += self.spec.w_q * (f64::from(entering.found.packets) - self.average);
        }
    }

    fn decide(&mut self) -> Decision {
        if self.average < self.spec.min_th_pkts {
            self.count = -1;
            return Decision::Pass;
        }
        self.count += 1;
        let p_b = base_probability(&self.spec, self.average);
        if p_b < 1.0 && self.stream.uniform() >= spaced(p_b, self.count) {
            return Decision::Pass;
        }
        self.hit()
    }

    /// [`Self::decide`] of a packet that finds so many waiting, by the rules of ns-2.35.
    fn decide_as_ns2(&mut self, waiting: u32) -> Decision {
        self.count += 1;
        let in_band = self.average >= self.spec.min_th_pkts && waiting >= LEAST_WAITING_NS2;
        let enters = in_band && !self.was_in_band;
        let p_b = base_probability(&self.spec, self.average);
        if in_band && p_b >= 1.0 {
            return self.hit();
        }
        self.was_in_band = in_band;
        if enters {
            self.count = 1;
        }
        if !in_band || enters || self.stream.uniform() > spaced(p_b, self.count) {
            return Decision::Pass;
        }
        self.hit()
    }

    fn hit(&mut self) -> Decision {
        self.count = 0;
        if self.average < self.spec.max_th_pkts { Decision::Hit } else { Decision::Drop }
    }
}

impl Admission for Red {
    fn admits(&mut self, entering: &Entering, hooks: &mut dyn QueueHooks) -> bool {
        self.update_average(entering);
        let decision = if self.spec.like_ns2 {
            self.decide_as_ns2(entering.found.packets)
        } else {
            self.decide()
        };
        if !entering.fits {
            self.count = 0;
            return false;
        }
        // An idle link sends the packet at once.
        let then = if entering.idle { entering.found } else { entering.then() };
        match decision {
            Decision::Pass => true,
            Decision::Hit => self.spec.ecn && hooks.mark(entering.now, entering.packet, then),
            Decision::Drop => false,
        }
    }

    fn adopt(&mut self, spec: &QueueSpec, typical: Span) {
        if let QueueSpec::Red(spec) = *spec {
            self.spec = spec;
            self.typical_nanos = typical.as_nanos().max(1) as f64;
        }
    }

    fn on_empty(&mut self, now: Time) {
        self.idle_since = now;
    }
}

/// p_b of an average from `min_th` on.
fn base_probability(spec: &RedSpec, average: f64) -> f64 {
    let &RedSpec { min_th_pkts, max_th_pkts, max_p, gentle, .. } = spec;
    if average < max_th_pkts {
        max_p * (average - min_th_pkts) / (max_th_pkts - min_th_pkts)
    } else if gentle && average < 2.0 * max_th_pkts {
        max_p + (1.0 - max_p) * (average - max_th_pkts) / max_th_pkts
    } else {
        1.0
    }
}

/// p_a.
fn spaced(p_b: f64, count: i64) -> f64 {
    let rest = 1.0 - count as f64 * p_b;
    if rest > p_b { p_b / rest } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueDiscipline;
    use crate::queue::tests::{Log, waiting};
    use crate::topology::Limit;

    const TYPICAL: Span = Span::from_millis(1);

    fn at(micros: i64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn spec() -> RedSpec {
        RedSpec {
            w_q: 0.5,
            min_th_pkts: 2.0,
            max_th_pkts: 6.0,
            max_p: 0.25,
            ..RedSpec::new(Limit::Packets(100))
        }
    }

    fn red(spec: RedSpec) -> Bounded<Red> {
        Red::queue(spec, TYPICAL, Stream::new(1, "link/x/queue"))
    }

    /// So many packets come at once while one is transmitted; how many were let in.
    fn burst(red: &mut Bounded<Red>, packets: u32, log: &mut Log) -> u32 {
        (0..packets).map(|i| u32::from(red.enqueue(Time::ZERO, waiting(i, 1000), false, log))).sum()
    }

    #[test]
    fn the_average_follows_the_queue_by_its_weight() {
        let mut red = red(RedSpec { min_th_pkts: 50.0, max_th_pkts: 60.0, ..spec() });
        let averages: Vec<f64> = (0..5)
            .map(|i| {
                assert!(red.enqueue(Time::ZERO, waiting(i, 1000), false, &mut Log::default()));
                red.rule.average
            })
            .collect();
        // They find 0, 1, 2, 3, 4 waiting; half the old average and half of that.
        assert_eq!(averages, [0.0, 0.5, 1.25, 2.125, 3.0625]);
    }

    #[test]
    fn an_idle_time_counts_as_packets_and_the_one_that_ends_it() {
        let mut red = red(spec());
        red.rule.average = 4.0;
        // Idle for two typical packets: 4 / 2^3.
        let log = &mut Log::default();
        assert_eq!(red.dequeue(at(3_000), log), None);
        assert!(red.enqueue(at(5_000), waiting(0, 1000), true, log));
        assert!((red.rule.average - 0.5).abs() < 1e-12, "{}", red.rule.average);
        // Not idle at all: one sample of an empty queue.
        assert!(red.dequeue(at(5_000), log).is_some());
        assert_eq!(red.dequeue(at(6_000), log), None);
        assert!(red.enqueue(at(6_000), waiting(1, 1000), true, log));
        assert!((red.rule.average - 0.25).abs() < 1e-12, "{}", red.rule.average);
    }

    #[test]
    fn the_probability_rises_to_max_p_at_max_th_and_is_then_certain() {
        let p = |average| base_probability(&spec(), average);
        assert_eq!([2.0, 3.0, 4.0, 5.0].map(p), [0.0, 0.0625, 0.125, 0.1875]);
        assert_eq!([6.0, 7.0].map(p), [1.0, 1.0]);
    }

    #[test]
    fn gentle_rises_on_to_1_at_twice_max_th() {
        let p = |average| base_probability(&RedSpec { gentle: true, ..spec() }, average);
        assert_eq!([4.0, 6.0, 8.0, 12.0, 20.0].map(p), [0.125, 0.25, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn a_hit_gets_likelier_with_each_pass_and_certain_at_1_over_p_b() {
        // With p_b = 1/4: 1/4, 1/3, 1/2, 1 for counts of 0 to 3, so that each of the four has the
        // same chance.
        let probabilities: Vec<f64> = (0..5).map(|count| spaced(0.25, count)).collect();
        assert_eq!(probabilities, [0.25, 1.0 / 3.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn hits_come_within_1_over_p_b_and_at_their_mean_rate() {
        let mut red = red(spec());
        red.rule.average = 4.0;
        let mut gaps = vec![];
        let mut gap = 0;
        for _ in 0..100_000 {
            gap += 1;
            if red.rule.decide() == Decision::Hit {
                gaps.push(gap);
                gap = 0;
            }
        }
        // p_b = 1/8. After a hit the count is 1 with the next packet, so the gap is uniform on 1 to
        // 7: its mean is 4.
        assert_eq!((gaps[1..].iter().min(), gaps[1..].iter().max()), (Some(&1), Some(&7)));
        let mean = f64::from(gaps[1..].iter().sum::<i32>()) / (gaps.len() - 1) as f64;
        // Five standard errors: the deviation of a gap is 2.
        assert!((mean - 4.0).abs() < 5.0 * 2.0 / (gaps.len() as f64).sqrt(), "{mean}");
    }

    #[test]
    fn ns2_hits_nothing_while_fewer_than_two_wait_and_spares_the_first_in_the_band() {
        let mut red = red(RedSpec { like_ns2: true, ..spec() }).rule;
        red.average = 5.999;
        // p_b is 1/4: a hit is certain with a count of 3.
        let decided = |red: &mut Red, waiting| (0..4).map(|_| red.decide_as_ns2(waiting)).collect();
        let alone: Vec<Decision> = decided(&mut red, 1);
        assert_eq!(alone, [Decision::Pass; 4]);
        let first = red.decide_as_ns2(2);
        assert_eq!((first, red.count), (Decision::Pass, 1));
        let next: Vec<Decision> = decided(&mut red, 2);
        assert!(next[..2].contains(&Decision::Hit), "{next:?}");
        red.average = 6.0;
        assert_eq!(red.decide_as_ns2(2), Decision::Drop);
        assert_eq!(red.decide_as_ns2(1), Decision::Pass, "whatever the average is");
    }

    #[test]
    fn ns2_rounds_an_idle_time_down_to_whole_packets() {
        let mut red = red(RedSpec { like_ns2: true, ..spec() });
        red.rule.average = 4.0;
        let log = &mut Log::default();
        assert_eq!(red.dequeue(at(3_000), log), None);
        assert!(red.enqueue(at(5_900), waiting(0, 1000), true, log));
        // Idle for 2.9 typical packets: 4 / 2^3.
        assert!((red.rule.average - 0.5).abs() < 1e-12, "{}", red.rule.average);
    }

    #[test]
    fn nothing_drops_below_min_th_and_everything_from_max_th_on() {
        let mut calm = red(RedSpec { min_th_pkts: 80.0, max_th_pkts: 90.0, ..spec() });
        assert_eq!(burst(&mut calm, 50, &mut Log::default()), 50);
        let mut full = red(spec());
        full.rule.average = 50.0;
        assert_eq!(burst(&mut full, 2, &mut Log::default()), 0);
    }

    #[test]
    fn a_full_queue_drops_whatever_the_average_is() {
        let mut red = red(RedSpec {
            limit: Limit::Packets(3),
            min_th_pkts: 50.0,
            max_th_pkts: 60.0,
            ..spec()
        });
        assert_eq!(burst(&mut red, 10, &mut Log::capable()), 3);
        assert_eq!(red.rule.count, -1 + 1, "the next packet in the band is the first after a drop");
    }

    /// A queue with an average of 4, which hits every packet that finds it in the band.
    fn certain(ecn: bool) -> Bounded<Red> {
        let mut red = red(RedSpec {
            ecn,
            min_th_pkts: 2.0,
            max_th_pkts: 4.001,
            max_p: 1.0,
            w_q: 1e-9,
            ..spec()
        });
        red.rule.average = 4.0;
        red.rule.count = 1;
        red
    }

    #[test]
    fn with_ecn_a_hit_below_max_th_marks_and_the_packet_waits() {
        let mut log = Log::capable();
        let mut with = certain(true);
        assert_eq!(burst(&mut with, 1, &mut log), 1);
        assert_eq!((log.marked, with.occupancy().packets), (vec![(0, 1)], 1));
        assert_eq!(
            burst(&mut certain(false), 1, &mut Log::capable()),
            0,
            "without ECN it is dropped"
        );
        assert_eq!(
            burst(&mut certain(true), 1, &mut Log::default()),
            0,
            "and so is what cannot be marked"
        );
    }

    #[test]
    fn with_ecn_packets_are_dropped_from_max_th_on() {
        let mut red = certain(true);
        red.rule.average = 4.01;
        let mut log = Log::capable();
        assert_eq!(burst(&mut red, 3, &mut log), 0);
        assert!(log.marked.is_empty());
    }

    #[test]
    fn with_ecn_and_gentle_packets_are_dropped_from_max_th_on() {
        let mut red = red(RedSpec { ecn: true, gentle: true, w_q: 0.000_1, ..spec() });
        red.rule.average = 11.999;
        let mut log = Log::capable();
        assert!(burst(&mut red, 20, &mut log) < 5);
        assert!(log.marked.is_empty());
    }
}
