//! Normal draws by Marsaglia's polar method (Marsaglia and Bray 1964), with the logarithm of
//! `libm`: the same bytes on every machine.

use crate::rng::Stream;

/// A source of independent normal draws of mean 0 and variance 1.
#[derive(Clone, Debug)]
pub(crate) struct Normal {
    stream: Stream,
    /// Every second draw comes for free.
    spare: Option<f64>,
}

impl Normal {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, spare: None }
    }

    #[inline]
    pub(crate) fn draw(&mut self) -> f64 {
        if let Some(draw) = self.spare.take() {
            return draw;
        }
        loop {
            let x = 2.0 * self.stream.uniform() - 1.0;
            let y = 2.0 * self.stream.uniform() - 1.0;
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                let factor = (-2.0 * libm::log(square) / square).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_moments_and_tails_of_the_normal_distribution() {
        let mut normal = Normal::new(Stream::new(1, "noise"));
        let draws: Vec<f64> = (0..400_000).map(|_| normal.draw()).collect();
        let mean =
            |f: &dyn Fn(f64) -> f64| draws.iter().map(|&x| f(x)).sum::<f64>() / draws.len() as f64;
        // Five standard errors each: of x, x^2 (variance 2), x^4 (variance 96), and of a share.
        let error = 5.0 / (draws.len() as f64).sqrt();
        assert!(mean(&|x| x).abs() < error);
        assert!((mean(&|x| x * x) - 1.0).abs() < error * 2.0_f64.sqrt());
        assert!((mean(&|x| x.powi(4)) - 3.0).abs() < error * 96.0_f64.sqrt());
        let beyond = mean(&|x| f64::from(u8::from(x.abs() > 2.0)));
        assert!((beyond - 0.0455).abs() < error * (0.0455_f64 * 0.9545).sqrt(), "{beyond}");
    }
}
