//! The sender's view of the round-trip time (RFC 5348, section 4.3, steps 1 and 2).

use losscause::Span;

use super::Times;
use super::quirks::RtoRule;

/// Averages of the round-trip time and the timeout that goes into the throughput equation.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct RttEstimator {
    /// The ratio that spaces every packet, computed with every measurement.
    sqrt_ratio: f64,
    averages: Option<Averages>,
    weight: f64,
    rule: RtoRule,
    ticks: Ticks,
}

/// In seconds.
#[derive(Clone, Copy, Debug)]
struct Averages {
    smoothed: f64,
    mean_sqrt: f64,
}

/// TCP's estimator in ticks: the mean scaled by 8, the deviation by 4 (Jacobson 1988).
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    mean8: i64,
    deviation4: i64,
}

impl RttEstimator {
    pub(crate) fn new(weight: f64, rule: RtoRule) -> Self {
        Self { sqrt_ratio: 1.0, averages: None, weight, rule, ticks: Ticks::default() }
    }

    /// Takes in one measurement, and returns R and t_RTO. A measurement that is not above zero
    /// counts as a nanosecond.
    pub(crate) fn update(&mut self, sample: Span) -> Times {
        let sample = sample.max(Span::from_nanos(1));
        let latest = sample.as_secs_f64();
        let q = self.weight;
        let sqrt = latest.sqrt();
        let averages = match self.averages {
            None => Averages { smoothed: latest, mean_sqrt: sqrt },
            Some(old) => Averages {
                smoothed: q * old.smoothed + (1.0 - q) * latest,
                mean_sqrt: q * old.mean_sqrt + (1.0 - q) * sqrt,
            },
        };
        let smoothed = Span::from_secs_f64_rounded(averages.smoothed);
        let rto = match self.rule {
            RtoRule::FourRtts => smoothed * 4,
            RtoRule::Ticks { minimum } => {
                self.ticks.update(sample);
                (TICK * self.ticks.timeout()).max(minimum)
            }
        };
        self.averages = Some(averages);
        self.sqrt_ratio = averages.mean_sqrt / sqrt;
        Times { rtt: smoothed, rto }
    }

    /// R in seconds; none before the first measurement.
    pub(crate) fn smoothed_secs(&self) -> Option<f64> {
        self.averages.map(|a| a.smoothed)
    }

    /// R_sqmean / sqrt(R_sample) (RFC 5348, section 4.5): below 1 while the queue is longer than
    /// usual.
    pub(crate) fn sqrt_ratio(&self) -> f64 {
        self.sqrt_ratio
    }
}

/// The tick of ns-2's clock (`tcp_tick_`). The longest [`Span`] has fewer than 2^37 of them, so the
/// estimates cannot overflow.
const TICK: Span = Span::from_millis(100);

impl Ticks {
    fn update(&mut self, sample: Span) {
        let sample = ((sample + TICK / 2).as_nanos() / TICK.as_nanos()).max(1);
        if self.mean8 == 0 {
            *self = Self { mean8: sample * 8, deviation4: sample * 2 };
            return;
        }
        let error = sample - self.mean8 / 8;
        self.mean8 = (self.mean8 + error).max(1);
        self.deviation4 = (self.deviation4 + error.abs() - self.deviation4 / 4).max(1);
    }

    /// Mean plus four deviations, in ticks, cut to whole ones.
    fn timeout(self) -> i64 {
        (8 * self.deviation4 + self.mean8) / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(ms: i64) -> Span {
        Span::from_millis(ms)
    }

    #[test]
    fn a_round_trip_of_centuries_leaves_the_estimates_in_range() {
        let rule = RtoRule::Ticks { minimum: Span::ZERO };
        let mut rtt = RttEstimator::new(0.9, rule);
        for sample in [Span::MAX, Span::from_nanos(1)].into_iter().cycle().take(100) {
            assert!(rtt.update(sample).rto > Span::ZERO);
        }
    }

    #[test]
    fn the_average_gives_a_tenth_to_the_new_sample() {
        let mut rtt = RttEstimator::new(0.9, RtoRule::FourRtts);
        rtt.update(millis(100));
        assert_eq!(rtt.update(millis(200)), Times { rtt: millis(110), rto: millis(440) });
    }

    #[test]
    fn a_longer_queue_widens_the_spacing_by_the_square_root() {
        let mut rtt = RttEstimator::new(0.9, RtoRule::FourRtts);
        rtt.update(millis(100));
        assert!((rtt.sqrt_ratio() - 1.0).abs() < 1e-12);
        rtt.update(millis(400));
        // 0.9*sqrt(0.1) + 0.1*sqrt(0.4) = 1.1*sqrt(0.1), over sqrt(0.4) = 2*sqrt(0.1).
        assert!((rtt.sqrt_ratio() - 0.55).abs() < 1e-12);
    }

    #[test]
    fn short_paths_time_out_after_three_ticks_and_long_samples_last() {
        let mut rtt = RttEstimator::new(0.95, RtoRule::Ticks { minimum: Span::ZERO });
        // One tick: mean 8/8, deviation 2/4: (16 + 8) / 8 = 3 ticks; the deviation's quarter rounds
        // to none.
        for _ in 0..10 {
            assert_eq!(rtt.update(millis(60)).rto, millis(300));
        }
        // Two ticks: error 1, mean 9/8, deviation 3/4: (24 + 9) / 8 = 4 ticks, and back at one
        // tick: error 0.
        assert_eq!(rtt.update(millis(160)).rto, millis(400));
        assert_eq!(rtt.update(millis(60)).rto, millis(400));
    }

    #[test]
    fn the_minimum_timeout_holds() {
        let mut rtt = RttEstimator::new(0.95, RtoRule::Ticks { minimum: millis(1000) });
        assert_eq!(rtt.update(millis(60)).rto, millis(1000));
    }
}
