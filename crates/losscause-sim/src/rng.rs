//! Randomness: one seed per run, one stream per component.
//!
//! A stream depends only on the run's seed and the component's name. Adding a flow or changing a
//! protocol therefore changes no other component's draws. The generator is xoshiro256++ (Blackman
//! and Vigna 2021); logarithms come from `libm`, so draws are byte-identical on every platform.
//!
//! ```
//! use losscause::Span;
//! use losscause_sim::rng::Stream;
//!
//! let mut arrivals = Stream::new(7, "source/arrivals");
//! let gaps: Vec<f64> = (0..1_000).map(|_| arrivals.exponential(20.0)).collect();
//! assert!((18.0..22.0).contains(&(gaps.iter().sum::<f64>() / 1_000.0)));
//! assert!(arrivals.span_below(Span::from_millis(5)) < Span::from_millis(5));
//! assert_eq!(
//!     Stream::new(7, "source/arrivals").exponential(20.0),
//!     gaps[0],
//!     "the same seed, the same draws"
//! );
//! ```

use losscause::Span;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A component's own stream of draws.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of the component called `name` ("link/air/channel") in the run with this seed.
    pub fn new(seed: u64, name: &str) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(scramble(seed) ^ fnv1a(name.as_bytes())))
    }

    /// A uniform draw from [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A uniform draw from [0, `end`); 0 if `end` is 0. Probabilities deviate from uniform by at
    /// most `end` / 2^64.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(end)) >> 64) as u64
    }

    /// A uniform draw from [0, `end`), in whole nanoseconds; zero unless `end` is positive.
    pub fn span_below(&mut self, end: Span) -> Span {
        Span::from_nanos(self.below(end.as_nanos().max(0) as u64) as i64)
    }

    /// An exponential draw with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// A Pareto draw with this mean and a shape above 1. The smallest value is mean (shape - 1) /
    /// shape.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        mean * (shape - 1.0) / shape * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }
}

/// SplitMix64's output function (Steele, Lea and Flood 2014): neighbouring seeds give unrelated
/// values.
pub fn scramble(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a, 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // From the algorithm's published test vectors.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_scrambler_is_splitmix64() {
        // The first output for seed 0, as published with the algorithm.
        assert_eq!(scramble(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn streams_of_different_names_or_seeds_differ() {
        let first = |seed, name| Stream::new(seed, name).0.next_u64();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn draws_have_their_means() {
        let mut stream = Stream::new(7, "means");
        let n = 200_000;
        let uniform = (0..n).map(|_| stream.uniform()).sum::<f64>() / f64::from(n);
        let exponential = (0..n).map(|_| stream.exponential(3.0)).sum::<f64>() / f64::from(n);
        // Shape 3: the variance is mean^2 / 3.
        let pareto = (0..n).map(|_| stream.pareto(3.0, 3.0)).sum::<f64>() / f64::from(n);
        let below = (0..n).map(|_| stream.below(10) as f64).sum::<f64>() / f64::from(n);
        // Five standard errors each.
        assert!((uniform - 0.5).abs() < 5.0 * 0.289 / f64::from(n).sqrt(), "{uniform}");
        assert!((exponential - 3.0).abs() < 5.0 * 3.0 / f64::from(n).sqrt(), "{exponential}");
        assert!((pareto - 3.0).abs() < 5.0 * 3.0 / f64::from(3 * n).sqrt(), "{pareto}");
        assert!((below - 4.5).abs() < 5.0 * 2.88 / f64::from(n).sqrt(), "{below}");
    }

    #[test]
    fn nothing_is_drawn_below_zero() {
        assert_eq!(Stream::new(1, "x").span_below(Span::from_nanos(-5)), Span::ZERO);
    }
}
