//! Jitter: a delay drawn from a distribution for each packet.
//!
//! A draw is a quantile of the distribution, taken at a normal variable z: the mean and deviation
//! are those of the distribution whatever the correlation. Successive z are correlated:
//!
//! ```text
//! z(n) = r z(n-1) + sqrt(1 - r^2) e(n),   e(n) independent normal draws
//! uniform:      mean + deviation sqrt(3) (2 P(z) - 1)
//! normal:       mean + deviation z, at least 0
//! exponential:  -mean ln(1 - P(z))
//! Pareto:       least (1 - P(z))^(-1 / shape)
//! ```
//!
//! P is the normal distribution. Pareto's shape is 1 + sqrt(1 + (mean / deviation)^2), and its
//! least value mean (shape - 1) / shape; so mean and deviation are as given.
//!
//! Parameters: [`JitterSpec`]. Deviations from netem (`sch_netem.c`, `tabledist`): netem correlates
//! uniform draws linearly, which lessens their deviation; its Pareto table has shape 3 and is
//! shifted to mean 0; it adds the draw to a delay and lets the sum fall below 0.

use std::f64::consts::FRAC_1_SQRT_2;

use losscause::Span;

use crate::normal::Normal;
use crate::rng::Stream;
use crate::topology::{JitterDistribution, JitterSpec};

#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    spec: JitterSpec,
    normal: Normal,
    /// z of the packet before.
    last: Option<f64>,
}

/// Bounds a draw from a heavy tail.
const LONGEST: Span = Span::from_secs(1_000_000);

impl Jitter {
    pub(crate) fn new(spec: JitterSpec, stream: Stream) -> Self {
        Self { spec, normal: Normal::new(stream), last: None }
    }

    /// What the next packet's delay is longer.
    pub(crate) fn draw(&mut self) -> Span {
        let r = self.spec.correlation;
        let e = self.normal.draw();
        let z = self.last.map_or(e, |last| r * last + (1.0 - r * r).sqrt() * e);
        self.last = Some(z);
        let nanos = nanos(&self.spec, z);
        Span::from_nanos(libm::rint(nanos.clamp(0.0, LONGEST.as_nanos_f64())) as i64)
    }
}

/// The delay at this quantile.
fn nanos(spec: &JitterSpec, z: f64) -> f64 {
    let mean = spec.mean.as_nanos_f64();
    let deviation = spec.deviation.as_nanos_f64();
    let above = || libm::erfc(z * FRAC_1_SQRT_2) / 2.0;
    match spec.distribution {
        JitterDistribution::Uniform => mean + deviation * 3.0_f64.sqrt() * (1.0 - 2.0 * above()),
        JitterDistribution::Normal => mean + deviation * z,
        JitterDistribution::Exponential => -mean * libm::log(above()),
        JitterDistribution::Pareto if deviation == 0.0 => mean,
        JitterDistribution::Pareto => {
            let ratio = mean / deviation;
            let shape = 1.0 + (1.0 + ratio * ratio).sqrt();
            mean * (shape - 1.0) / shape * libm::pow(above(), -1.0 / shape)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(distribution: JitterDistribution, mean_ms: i64, deviation_ms: i64) -> JitterSpec {
        JitterSpec {
            distribution,
            mean: Span::from_millis(mean_ms),
            deviation: Span::from_millis(deviation_ms),
            correlation: 0.0,
            reorders: false,
        }
    }

    fn ms(spec: &JitterSpec, z: f64) -> f64 {
        nanos(spec, z) / 1e6
    }

    #[test]
    fn quantiles_are_those_of_the_distribution() {
        // P(0) = 1/2; P(1.2815516) = 0.9.
        let upper = 1.281_551_565_544_600_4;
        let uniform = spec(JitterDistribution::Uniform, 10, 3);
        assert!((ms(&uniform, 0.0) - 10.0).abs() < 1e-9);
        assert!((ms(&uniform, upper) - (10.0 + 0.8 * 3.0 * 3.0_f64.sqrt())).abs() < 1e-9);
        assert!((ms(&spec(JitterDistribution::Normal, 10, 3), -2.0) - 4.0).abs() < 1e-9);
        let exponential = spec(JitterDistribution::Exponential, 10, 10);
        assert!((ms(&exponential, upper) - 10.0 * 10.0_f64.ln()).abs() < 1e-9);
        // With the deviation sqrt(1/3) of the mean, the shape is 1 + sqrt(1 + 3) = 3.
        let deviation = Span::from_nanos(5_773_503);
        let pareto = JitterSpec { deviation, ..spec(JitterDistribution::Pareto, 10, 0) };
        assert!((ms(&pareto, upper) - 20.0 / 3.0 * 10.0_f64.cbrt()).abs() < 1e-5);
    }

    #[test]
    fn mean_and_deviation_are_as_given() {
        let draws = 200_000;
        for (distribution, correlation) in [
            (JitterDistribution::Uniform, 0.0),
            (JitterDistribution::Normal, 0.0),
            (JitterDistribution::Exponential, 0.0),
            (JitterDistribution::Pareto, 0.0),
            (JitterDistribution::Uniform, 0.5),
        ] {
            let deviation = if distribution == JitterDistribution::Exponential { 20 } else { 4 };
            let spec = JitterSpec { correlation, ..spec(distribution, 20, deviation) };
            let mut jitter = Jitter::new(spec, Stream::new(1, "x"));
            let seen: Vec<f64> = (0..draws).map(|_| jitter.draw().as_millis_f64()).collect();
            let mean = seen.iter().sum::<f64>() / f64::from(draws);
            let square = seen.iter().map(|ms| (ms - mean).powi(2)).sum::<f64>();
            let found = (square / f64::from(draws)).sqrt();
            let deviation = deviation as f64;
            // Correlated draws of r have errors sqrt((1 + r) / (1 - r)) times as large.
            let error = 5.0 * deviation / f64::from(draws).sqrt() * 3.0_f64.sqrt();
            assert!((mean - 20.0).abs() < error, "{distribution:?}: {mean}");
            assert!((found / deviation - 1.0).abs() < 0.03, "{distribution:?}: {found}");
        }
    }

    #[test]
    fn a_normal_draw_below_zero_is_no_delay() {
        // Mean 1 ms, deviation 4 ms: 40.1 % of the draws are below zero.
        let spec = spec(JitterDistribution::Normal, 1, 4);
        let mut jitter = Jitter::new(spec, Stream::new(1, "x"));
        let seen = [(); 10_000].map(|()| jitter.draw());
        assert_eq!(seen.iter().min(), Some(&Span::ZERO));
        let none = seen.iter().filter(|&&delay| delay == Span::ZERO).count();
        // Five standard errors are 245 draws.
        assert!(none.abs_diff(4013) < 245, "{none}");
    }

    #[test]
    fn neighbours_are_correlated_as_asked() {
        for correlation in [0.0, 0.6] {
            let spec = JitterSpec { correlation, ..spec(JitterDistribution::Normal, 100, 10) };
            let mut jitter = Jitter::new(spec, Stream::new(1, "x"));
            let seen: Vec<f64> =
                (0..100_000).map(|_| jitter.draw().as_millis_f64() / 10.0 - 10.0).collect();
            let products: f64 = seen.windows(2).map(|pair| pair[0] * pair[1]).sum();
            let found = products / seen.len() as f64;
            assert!((found - correlation).abs() < 0.02, "{correlation}: {found}");
        }
    }
}
