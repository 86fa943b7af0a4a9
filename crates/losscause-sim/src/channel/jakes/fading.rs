//! Time-correlated Rayleigh fading on several independent paths: Jakes' sum of sinusoids, with the
//! paths decorrelated by Walsh-Hadamard codewords (Dent, Bottomley and Croft 1993).
//!
//! Each of N oscillators stands for a wave that arrives under the angle α_n = 2π (n - ½) / (4N) and
//! is shifted by ω_n = 2π f_D cos α_n. Path l weights them with the l-th codeword A_l and the
//! phases β_n = π n / N:
//!
//! ```text
//! a_l(t) = √(2/N) Σ_n A_l(n) (cos β_n + j sin β_n) cos(ω_n t + θ_n)
//! ```
//!
//! which has mean power 1 and autocorrelation close to J0(2π f_D τ). Since the codewords are
//! orthogonal, so are the paths. The starting phases θ_n are the only draws.
//!
//! Deviations: many more oscillators than the 8 to 16 usual in 1993. Paths share their oscillators:
//! with as many paths as oscillators their powers would add up to N Σ cos², which never fades; the
//! sum behaves as one of independent paths only if oscillators are many more than paths.

use std::f64::consts::PI;

use crate::rng::Stream;

/// Several paths, sampled at equal steps of time.
#[derive(Clone, Debug)]
pub(super) struct Fading {
    /// Doppler shift of each oscillator, in cycles per step.
    cycles_per_step: Vec<f64>,
    /// Starting phases, in cycles.
    phases: Vec<f64>,
    /// Per path and oscillator, the weights of the real and of the imaginary part.
    weights: Vec<Vec<[f64; 2]>>,
    /// Where each oscillator stands (cosine, sine), and how far it turns in a step.
    oscillators: Vec<Turning>,
    step: u64,
}

#[derive(Clone, Copy, Debug)]
struct Turning {
    at: [f64; 2],
    by: [f64; 2],
}

/// So many steps are made by turning; then the angle is computed anew, so that rounding does not
/// add up.
const TURNS: u64 = 64;

impl Fading {
    /// `paths` paths with powers that are the caller's to give (each has mean power 1 here), over
    /// `oscillators` oscillators, a power of two and at least `paths`. `doppler` is the largest
    /// shift in cycles per step.
    pub(super) fn new(paths: usize, oscillators: usize, doppler: f64, stream: &mut Stream) -> Self {
        let n = oscillators as f64;
        let shift = |index: usize| doppler * libm::cos(2.0 * PI * (index as f64 + 0.5) / (4.0 * n));
        let scale = (2.0 / n).sqrt();
        let weight = |path: usize, index: usize| {
            let sign = if (path & index).count_ones() % 2 == 1 { -scale } else { scale };
            let (sin, cos) = libm::sincos(PI * (index + 1) as f64 / n);
            [sign * cos, sign * sin]
        };
        let weights = (0..paths)
            .map(|path| (0..oscillators).map(|index| weight(path, index)).collect())
            .collect();
        let cycles_per_step: Vec<f64> = (0..oscillators).map(shift).collect();
        let phases = (0..oscillators).map(|_| stream.uniform()).collect();
        let turn = |&cycles: &f64| {
            let (sin, cos) = libm::sincos(2.0 * PI * cycles);
            Turning { at: [1.0, 0.0], by: [cos, sin] }
        };
        let oscillators = cycles_per_step.iter().map(turn).collect();
        Self { cycles_per_step, phases, weights, oscillators, step: 0 }
    }

    /// The complex gain of every path at the next step, into `gains` (one per path); the first call
    /// gives time 0.
    pub(super) fn sample(&mut self, gains: &mut [[f64; 2]]) {
        if self.step.is_multiple_of(TURNS) {
            let step = self.step as f64;
            for (oscillator, (cycles, phase)) in
                self.oscillators.iter_mut().zip(self.cycles_per_step.iter().zip(&self.phases))
            {
                let turns = cycles * step + phase;
                let (sin, cos) = libm::sincos(2.0 * PI * (turns - libm::floor(turns)));
                oscillator.at = [cos, sin];
            }
        }
        for (gain, weights) in gains.iter_mut().zip(&self.weights) {
            *gain = [0.0, 0.0];
            for (weight, oscillator) in weights.iter().zip(&self.oscillators) {
                gain[0] += weight[0] * oscillator.at[0];
                gain[1] += weight[1] * oscillator.at[0];
            }
        }
        for Turning { at, by } in &mut self.oscillators {
            *at = [at[0] * by[0] - at[1] * by[1], at[0] * by[1] + at[1] * by[0]];
        }
        self.step += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOPPLER: f64 = 0.01;
    const PATHS: usize = 4;
    const STEPS: usize = 5_000;
    const STARTS: u64 = 40;

    /// Gains, step by step and path by path, of one start per seed.
    fn samples(oscillators: usize) -> Vec<Vec<[[f64; 2]; PATHS]>> {
        let run = |seed| {
            let mut fading =
                Fading::new(PATHS, oscillators, DOPPLER, &mut Stream::new(seed, "fading"));
            let mut gains = [[0.0; 2]; PATHS];
            let step = |_| {
                fading.sample(&mut gains);
                gains
            };
            (0..STEPS).map(step).collect()
        };
        (0..STARTS).map(run).collect()
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let (sum, count) =
            values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        sum / count
    }

    fn power(gain: [f64; 2]) -> f64 {
        gain[0] * gain[0] + gain[1] * gain[1]
    }

    #[test]
    fn the_envelope_of_every_path_is_rayleigh() {
        let runs = samples(32);
        for path in 0..PATHS {
            let gains = || runs.iter().flatten().map(|gains| gains[path]);
            // A Rayleigh envelope of mean power 1 has mean sqrt(pi)/2 and its power is exponential:
            // variance 1, and below x with probability 1 - e^-x.
            assert!((mean(gains().map(power)) - 1.0).abs() < 0.05);
            assert!(
                (mean(gains().map(|gain| power(gain).sqrt())) - (PI / 4.0).sqrt()).abs() < 0.02
            );
            assert!((mean(gains().map(|gain| (power(gain) - 1.0).powi(2))) - 1.0).abs() < 0.15);
            let deep = mean(gains().map(|gain| f64::from(u8::from(power(gain) < 0.1))));
            assert!((deep - 0.0952).abs() < 0.012, "{deep}");
        }
    }

    #[test]
    fn the_autocorrelation_is_the_bessel_function() {
        let runs = samples(32);
        for lag in [0, 10, 20, 30, 50, 80] {
            let products = runs.iter().flat_map(|run| run.iter().zip(&run[lag..]));
            let found = mean(
                products
                    .map(|(a, b)| (0..PATHS).map(|p| a[p][0] * b[p][0] + a[p][1] * b[p][1]).sum()),
            ) / PATHS as f64;
            let expected = libm::j0(2.0 * PI * DOPPLER * lag as f64);
            assert!((found - expected).abs() < 0.04, "lag {lag}: {found} instead of {expected}");
        }
    }

    #[test]
    fn paths_are_not_correlated() {
        let runs = samples(32);
        for (one, other) in [(0, 1), (0, 3), (1, 2), (2, 3)] {
            let found = |part: fn([f64; 2], [f64; 2]) -> f64| {
                mean(runs.iter().flatten().map(|gains| part(gains[one], gains[other])))
            };
            let real = found(|a, b| a[0] * b[0] + a[1] * b[1]);
            let imaginary = found(|a, b| a[1] * b[0] - a[0] * b[1]);
            assert!(
                real.abs() < 0.04 && imaginary.abs() < 0.04,
                "{one} {other}: {real} {imaginary}"
            );
        }
    }

    /// Share of the time in which all paths together have less than half of their mean power.
    fn fades(oscillators: usize) -> f64 {
        let weak = |gains: &[[f64; 2]; PATHS]| {
            gains.iter().map(|&gain| power(gain)).sum::<f64>() < 0.5 * PATHS as f64
        };
        mean(samples(oscillators).iter().flatten().map(|gains| f64::from(u8::from(weak(gains)))))
    }

    #[test]
    fn a_sum_of_paths_fades_independently_only_with_many_paths() {
        // Four exponential powers of mean 1 add up to less than 2 with probability 1 - e^-2 (1 + 2
        // + 2 + 4/3) = 0.143.
        assert!((fades(32) - 0.143).abs() < 0.03, "{}", fades(32));
        assert!((fades(4) - 0.143).abs() > 0.03, "{}", fades(4));
    }

    #[test]
    fn turning_stays_with_the_angle() {
        let mut fading = Fading::new(1, 1, 0.01, &mut Stream::new(3, "fading"));
        let phase = fading.phases[0];
        let shift = fading.cycles_per_step[0];
        let mut gains = [[0.0; 2]];
        for step in 0..1000 {
            fading.sample(&mut gains);
            // One oscillator: beta is pi, so that its weight is -sqrt(2).
            let expected =
                -(2.0_f64).sqrt() * libm::cos(2.0 * PI * (shift * f64::from(step) + phase));
            assert!((gains[0][0] - expected).abs() < 1e-9, "step {step}");
        }
    }
}
