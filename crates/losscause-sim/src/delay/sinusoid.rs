//! A sinusoidal delay: most/2 (1 - cos(2 pi (t/period + phase))).
//!
//! Parameters: `most` and `period`, no defaults; the phase is drawn uniformly. Deviations: none.

use std::f64::consts::TAU;

use losscause::{Span, Time};

use crate::rng::Stream;

#[derive(Clone, Debug)]
pub(crate) struct Sinusoid {
    most_nanos: f64,
    period: Span,
    /// 0 to 1 (exclusive).
    phase: f64,
}

impl Sinusoid {
    pub(super) fn new(most: Span, period: Span, stream: &mut Stream) -> Self {
        Self { most_nanos: most.as_nanos_f64(), period, phase: stream.uniform() }
    }

    pub(super) fn at(&self, now: Time) -> Span {
        let turned = (now.as_nanos() % self.period.as_nanos()) as f64 / self.period.as_nanos_f64();
        let share = (1.0 - libm::cos(TAU * (turned + self.phase))) / 2.0;
        Span::from_nanos(libm::rint(self.most_nanos * share) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swing_goes_from_nothing_to_the_most_and_back_in_a_period() {
        let at = |millis: i64| Time::ZERO + Span::from_millis(millis);
        let swing = Sinusoid {
            phase: 0.0,
            ..Sinusoid::new(Span::from_millis(40), Span::from_secs(8), &mut Stream::new(1, "x"))
        };
        let millis = |now| swing.at(at(now)).as_millis_f64();
        assert_eq!(
            [0, 2_000, 4_000, 6_000, 8_000, 12_000].map(millis),
            [0.0, 20.0, 40.0, 20.0, 0.0, 40.0]
        );
        // cos 45 degrees is 0.70711: 20 (1 - 0.70711).
        assert!((millis(1_000) - 5.857_864).abs() < 1e-5);
    }
}
