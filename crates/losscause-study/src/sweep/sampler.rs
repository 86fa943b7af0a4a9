//! Points that a sweep draws between the ends of its ranges, in place of a grid.
//!
//! A point has one coordinate per axis, from [0, 1). All draws come from the sweep's seed, so a sweep has the same points
//! on every machine and with any number of threads. A random or Sobol point depends only on its number: a sweep of more
//! cells begins with the points of one of fewer. A point of a Latin hypercube depends on the number of cells.

use losscause_sim::rng::Stream;
use serde::Deserialize;

use super::sobol;

/// How the cells of a sweep are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Sampler {
    /// The values of the axes, combined as `mode` says.
    #[default]
    Grid,
    /// Independent draws.
    Random {
        /// Number of cells.
        cells: usize,
    },
    /// Each axis is cut into as many equal parts as there are cells, and each part is drawn from once (McKay, Beckman and
    /// Conover 1979).
    LatinHypercube {
        /// Number of cells.
        cells: usize,
    },
    /// Sobol's sequence with Joe and Kuo's direction numbers, shifted by the seed (see [`sobol`]).
    Sobol {
        /// Number of cells.
        cells: usize,
    },
}

/// The drawn points of a sweep.
pub(super) struct Points {
    sampler: Sampler,
    seed: u64,
    axes: usize,
    /// Of a Latin hypercube: the part of every cell, axis by axis.
    parts: Vec<Vec<u32>>,
}

impl Sampler {
    /// Number of cells; none for a grid, whose axes say it.
    pub(super) fn cells(self) -> Option<usize> {
        match self {
            Self::Grid => None,
            Self::Random { cells } | Self::LatinHypercube { cells } | Self::Sobol { cells } => Some(cells),
        }
    }

    /// Its name in a sweep file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Random { .. } => "random",
            Self::LatinHypercube { .. } => "latin-hypercube",
            Self::Sobol { .. } => "sobol",
        }
    }

    /// Most axes, if there is a limit.
    pub(super) fn most_axes(self) -> Option<usize> {
        matches!(self, Self::Sobol { .. }).then_some(sobol::DIMENSIONS)
    }
}

impl Points {
    /// The points of a sweep with that seed and number of axes.
    pub(super) fn new(sampler: Sampler, seed: u64, axes: usize) -> Self {
        let parts = match sampler {
            Sampler::LatinHypercube { cells } => (0..axes).map(|axis| permutation(cells, seed, axis)).collect(),
            _ => Vec::new(),
        };
        Self { sampler, seed, axes, parts }
    }

    /// The coordinates of the point of that number.
    pub(super) fn point(&self, number: usize) -> Vec<f64> {
        let mut stream = Stream::new(self.seed, &format!("sweep/cell/{number}"));
        match self.sampler {
            Sampler::Sobol { .. } => sobol::point(number as u32, self.axes, self.seed),
            Sampler::LatinHypercube { cells } => {
                self.parts.iter().map(|parts| (f64::from(parts[number]) + stream.uniform()) / cells as f64).collect()
            }
            Sampler::Random { .. } | Sampler::Grid => (0..self.axes).map(|_| stream.uniform()).collect(),
        }
    }
}

/// The numbers from 0 to `count` - 1 in an order of their own for each axis (Fisher and Yates).
fn permutation(count: usize, seed: u64, axis: usize) -> Vec<u32> {
    let mut stream = Stream::new(seed, &format!("sweep/axis/{axis}"));
    let mut order: Vec<u32> = (0..count as u32).collect();
    for last in (1..count).rev() {
        order.swap(last, stream.below(last as u64 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn points(sampler: Sampler, seed: u64, axes: usize) -> Vec<Vec<f64>> {
        let points = Points::new(sampler, seed, axes);
        (0..sampler.cells().unwrap()).map(|number| points.point(number)).collect()
    }

    proptest! {
        #[test]
        fn a_latin_hypercube_draws_once_from_every_part_of_every_axis(cells in 1_usize..40, seed: u64, axes in 1_usize..5) {
            let points = points(Sampler::LatinHypercube { cells }, seed, axes);
            for axis in 0..axes {
                let mut parts: Vec<usize> = points.iter().map(|p| (p[axis] * cells as f64) as usize).collect();
                parts.sort_unstable();
                prop_assert_eq!(parts, (0..cells).collect::<Vec<_>>());
            }
        }

        #[test]
        fn every_coordinate_is_from_zero_up_to_one_and_points_are_the_same_again(cells in 1_usize..30, seed: u64) {
            for sampler in [Sampler::Random { cells }, Sampler::LatinHypercube { cells }, Sampler::Sobol { cells }] {
                let first = points(sampler, seed, 3);
                prop_assert!(first.iter().flatten().all(|x| (0.0..1.0).contains(x)), "{:?}", sampler);
                prop_assert_eq!(&first, &points(sampler, seed, 3));
                prop_assert_ne!(&first, &points(sampler, seed ^ 1, 3));
            }
        }

        #[test]
        fn more_random_or_sobol_cells_begin_with_the_points_of_fewer(seed: u64) {
            for of in [|cells| Sampler::Random { cells }, |cells| Sampler::Sobol { cells }] {
                prop_assert_eq!(&points(of(20), seed, 2)[..7], &points(of(7), seed, 2)[..]);
            }
        }
    }
}
