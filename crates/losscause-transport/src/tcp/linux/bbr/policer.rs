//! Policers: a rate that holds for many round trips with heavy losses (tcp_bbr.c,
//! `bbr_lt_bw_sampling`).
//!
//! ```text
//! interval   4 to 16 round trips, from a loss to a loss, with lost >= 50/256 delivered
//! policed    two intervals in a row whose rates differ by at most 1/8, or 4 kb/s: their mean is the bandwidth,
//!            and the gain is 1, for 48 round trips
//! ```

use losscause::{Span, Time};

use super::bandwidth::{Bandwidth, Gain};

#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    /// The rate of the last interval, or of the policer.
    bandwidth: Option<Bandwidth>,
    is_found: bool,
    interval: Option<Interval>,
    /// Round trips of the interval, or with the policer's rate.
    rounds: u32,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    /// Milliseconds.
    began_ms: i64,
    delivered_pkts: u64,
    lost_pkts: u64,
}

/// What an ACK or a timeout tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) round_start: bool,
    /// Whether a packet was lost.
    pub(super) lost: bool,
    /// Whether the flow had no data to send.
    pub(super) is_limited: bool,
    /// In the mode that probes for bandwidth.
    pub(super) probes: bool,
    /// Since the start.
    pub(super) delivered_pkts: u64,
    pub(super) delivered_at: Time,
    pub(super) lost_pkts: u64,
    pub(super) payload_bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    None,
    /// A policer was found.
    Found,
    /// Its rate is used no longer.
    Over,
}

const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
const POLICED_ROUNDS: u32 = 48;
/// Lost packets in 256 delivered.
const LOSSES: u64 = 50;
const NEAR: Gain = Gain::of(1, 8);
const NEAR_BYTES_PER_S: u64 = 4_000 / 8;

impl Policer {
    /// The policer's rate, if one was found.
    pub(super) fn bandwidth(&self) -> Option<Bandwidth> {
        self.bandwidth.filter(|_| self.is_found)
    }

    pub(super) fn on_sample(&mut self, sample: &Sample) -> News {
        if self.is_found {
            self.rounds += u32::from(sample.probes && sample.round_start);
            if self.rounds < POLICED_ROUNDS {
                return News::None;
            }
            *self = Self::default();
            return News::Over;
        }
        if self.interval.is_none() && !sample.lost {
            return News::None;
        }
        let interval = *self.interval.get_or_insert_with(|| {
            self.rounds = 0;
            Interval::beginning(sample)
        });
        if sample.is_limited {
            *self = Self::default();
            return News::None;
        }
        self.rounds += u32::from(sample.round_start);
        if self.rounds > MOST_ROUNDS {
            *self = Self::default();
            return News::None;
        }
        if self.rounds < LEAST_ROUNDS || !sample.lost {
            return News::None;
        }
        let Some(bandwidth) = interval.rate(sample) else { return News::None };
        self.on_rate(bandwidth, sample)
    }

    /// An interval with heavy losses ended.
    fn on_rate(&mut self, bandwidth: Bandwidth, sample: &Sample) -> News {
        self.rounds = 0;
        if let Some(before) = self.bandwidth.filter(|before| is_near(bandwidth, *before, sample)) {
            self.bandwidth = Some(bandwidth.mean_with(before));
            self.is_found = true;
            return News::Found;
        }
        self.bandwidth = Some(bandwidth);
        self.interval = Some(Interval::beginning(sample));
        News::None
    }
}

fn is_near(bandwidth: Bandwidth, before: Bandwidth, sample: &Sample) -> bool {
    let difference = bandwidth.abs_diff(before);
    difference <= before.scaled(NEAR)
        || difference.bytes_per_s(sample.payload_bytes, Gain::ONE) <= NEAR_BYTES_PER_S
}

impl Interval {
    fn beginning(sample: &Sample) -> Self {
        Self {
            began_ms: whole_ms(sample.delivered_at),
            delivered_pkts: sample.delivered_pkts,
            lost_pkts: sample.lost_pkts,
        }
    }

    /// The rate of the interval, if enough was lost.
    fn rate(&self, sample: &Sample) -> Option<Bandwidth> {
        let delivered = sample.delivered_pkts - self.delivered_pkts;
        let lost = sample.lost_pkts - self.lost_pkts;
        let ms = whole_ms(sample.delivered_at) - self.began_ms;
        let is_lossy = delivered > 0 && lost * 256 >= LOSSES * delivered && ms >= 1;
        is_lossy.then(|| Bandwidth::of(delivered, Span::from_millis(ms)))
    }
}

fn whole_ms(at: Time) -> i64 {
    at.as_nanos() / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round trip of 100 ms ends: so many packets were delivered and lost since the start.
    fn sample(number: i64, delivered_pkts: u64, lost_pkts: u64) -> Sample {
        Sample {
            round_start: true,
            lost: true,
            is_limited: false,
            probes: true,
            delivered_pkts,
            delivered_at: Time::ZERO + Span::from_millis(100 * number),
            lost_pkts,
            payload_bytes: 1_448,
        }
    }

    fn round(policer: &mut Policer, number: i64, delivered_pkts: u64, lost_pkts: u64) -> News {
        policer.on_sample(&sample(number, delivered_pkts, lost_pkts))
    }

    #[test]
    fn two_lossy_intervals_of_the_same_rate_are_a_policer() {
        let mut policer = Policer::default();
        // 100 packets per round, and 20 lost: 51 in 256. The first round is the first of four.
        let news: Vec<News> =
            (1..9).map(|n| round(&mut policer, n, 100 * n as u64, 20 * n as u64)).collect();
        let expected = [[News::None; 7].as_slice(), &[News::Found]].concat();
        assert_eq!(news, expected, "rounds 1 to 4 and 5 to 8");
        assert_eq!(policer.bandwidth(), Some(Bandwidth::of(300, Span::from_millis(300))));
        let over = (9..).take_while(|n| round(&mut policer, *n, 0, 0) == News::None).count();
        assert_eq!(over, 47, "the 48th round ends it");
        assert_eq!(policer.bandwidth(), None);
    }

    #[test]
    fn less_loss_or_another_rate_is_no_policer() {
        let found = |pkts: fn(u64) -> u64, lost| {
            let mut policer = Policer::default();
            (1..17).any(|n| round(&mut policer, n, pkts(n as u64), lost * n as u64) == News::Found)
        };
        assert!(found(|n| 100 * n, 20));
        assert!(!found(|n| 100 * n, 19), "48.6 in 256");
        assert!(!found(|n| 10 * n * n, 1_000), "the rate rises by more than an eighth");
    }

    #[test]
    fn an_interval_of_more_than_sixteen_rounds_is_given_up() {
        let mut policer = Policer::default();
        let mut end = |number: i64, lost| {
            let pkts = number as u64;
            policer.on_sample(&Sample { lost, ..sample(number, 100 * pkts, 20 * pkts) })
        };
        end(1, true);
        (2..17).for_each(|number| assert_eq!(end(number, false), News::None));
        // The loss of round 17 ends no interval. The next two are rounds 18 to 21 and 22 to 25.
        (17..25).for_each(|number| assert_eq!(end(number, true), News::None, "{number}"));
        assert_eq!(end(25, true), News::Found);
    }

    #[test]
    fn a_flow_without_data_is_not_policed() {
        let mut policer = Policer::default();
        for number in 1..8 {
            round(&mut policer, number, 100 * number as u64, 20 * number as u64);
        }
        let idle = Sample {
            round_start: false,
            lost: false,
            is_limited: true,
            delivered_at: Time::ZERO + Span::from_millis(701),
            ..sample(7, 700, 140)
        };
        assert_eq!(policer.on_sample(&idle), News::None);
        assert_eq!(round(&mut policer, 8, 800, 160), News::None);
    }
}
