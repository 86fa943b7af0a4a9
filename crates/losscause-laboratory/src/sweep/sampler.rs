//! Points that a sweep draws between the ends of its ranges, in place of a grid.
//!
//! A point has one coordinate per axis, from [0, 1). All draws come from the sweep's seed, so a
//! sweep has the same points on every machine and with any number of threads. A random or Sobol
//! point depends only on its number: a sweep of more cells begins with the points of one of fewer.
//! A point of a Latin hypercube depends on the number of cells.
//!
//! Random draws and those of a Latin hypercube have a stream per axis, named by its key: another
//! axis changes none of them. The axes of Sobol's sequence are its dimensions, in the order of the
//! sweep file: an axis behind the others changes none of them, but one in front of them or between
//! them does.

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
    /// Each axis is cut into as many equal parts as there are cells, and each part is drawn from
    /// once (McKay, Beckman and Conover 1979).
    LatinHypercube {
        /// Number of cells.
        cells: usize,
    },
    /// Sobol's sequence with Joe and Kuo's direction numbers, shifted by the seed (see [`sobol`]).
    Sobol {
        /// Number of cells.
        cells: usize,
    },
    /// The rows of `cells` in the sweep file.
    #[serde(skip)]
    Listed {
        /// Number of rows.
        cells: usize,
    },
}

/// The drawn points of a sweep.
#[derive(Debug)]
pub(super) enum Points {
    /// Independent draws for each key.
    Random {
        seed: u64,
        keys: Vec<String>,
    },
    /// The key and the part of every cell, axis by axis.
    LatinHypercube {
        seed: u64,
        parts: Vec<(String, Vec<u32>)>,
    },
    Sobol(sobol::Sequence),
}

impl Sampler {
    /// Number of cells; none for a grid, whose axes say it.
    pub(super) fn cells(self) -> Option<usize> {
        match self {
            Self::Grid => None,
            Self::Random { cells }
            | Self::LatinHypercube { cells }
            | Self::Sobol { cells }
            | Self::Listed { cells } => Some(cells),
        }
    }

    /// Number of cells that are drawn; none if they are in the sweep file.
    pub(super) fn drawn(self) -> Option<usize> {
        self.cells().filter(|_| !matches!(self, Self::Listed { .. }))
    }

    /// The sampler's name in a sweep file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Random { .. } => "random",
            Self::LatinHypercube { .. } => "latin-hypercube",
            Self::Sobol { .. } => "sobol",
            Self::Listed { .. } => "listed",
        }
    }

    /// Whether a sweep of more cells begins with the cells of one of fewer.
    pub(super) fn grows(self) -> bool {
        matches!(self, Self::Random { .. } | Self::Sobol { .. })
    }

    /// Most axes, if there is a limit.
    pub(super) fn most_axes(self) -> Option<usize> {
        matches!(self, Self::Sobol { .. }).then_some(sobol::DIMENSIONS)
    }
}

impl Points {
    /// The points of a sweep with that seed, and axes of these keys. None for a grid.
    pub(super) fn new(sampler: Sampler, seed: u64, keys: Vec<String>) -> Option<Self> {
        Some(match sampler {
            Sampler::Grid | Sampler::Listed { .. } => return None,
            Sampler::Random { .. } => Self::Random { seed, keys },
            Sampler::LatinHypercube { cells } => {
                let parts = |key: String| {
                    let parts = permutation(cells, seed, &key);
                    (key, parts)
                };
                Self::LatinHypercube { seed, parts: keys.into_iter().map(parts).collect() }
            }
            Sampler::Sobol { .. } => Self::Sobol(sobol::Sequence::new(keys.len(), seed)),
        })
    }

    /// The coordinates of the point of that number.
    pub(super) fn point(&self, number: usize) -> Vec<f64> {
        match self {
            Self::Random { seed, keys } => {
                keys.iter().map(|key| draw(*seed, key, number)).collect()
            }
            Self::LatinHypercube { seed, parts } => {
                let within = |(key, parts): &(String, Vec<u32>)| {
                    (f64::from(parts[number]) + draw(*seed, key, number)) / parts.len() as f64
                };
                parts.iter().map(within).collect()
            }
            Self::Sobol(sequence) => sequence.point(number as u32),
        }
    }
}

/// The draw of a cell for one key.
fn draw(seed: u64, key: &str, number: usize) -> f64 {
    Stream::new(seed, &format!("sweep/cell/{number}/{key}")).uniform()
}

/// The numbers from 0 to `count` - 1 in an order of their own for each key (Fisher and Yates).
fn permutation(count: usize, seed: u64, key: &str) -> Vec<u32> {
    let mut stream = Stream::new(seed, &format!("sweep/axis/{key}"));
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
        points_of(sampler, seed, &["a", "b", "c", "d"][..axes])
    }

    fn points_of(sampler: Sampler, seed: u64, keys: &[&str]) -> Vec<Vec<f64>> {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        let points = Points::new(sampler, seed, keys).unwrap();
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
        fn coordinates_are_from_zero_up_to_one_and_points_repeat(cells in 1_usize..30, seed: u64) {
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

        #[test]
        fn an_axis_in_front_changes_no_draw_of_the_others(seed: u64, cells in 1_usize..20) {
            for sampler in [Sampler::Random { cells }, Sampler::LatinHypercube { cells }] {
                let two = points_of(sampler, seed, &["b", "c"]);
                let three = points_of(sampler, seed, &["a", "b", "c"]);
                prop_assert!(two.iter().zip(&three).all(|(two, three)| two[..] == three[1..]), "{:?}", sampler);
                prop_assert!(three.iter().all(|point| point[0] != point[1]), "{:?}", sampler);
            }
            let sobol = Sampler::Sobol { cells };
            let two = points_of(sobol, seed, &["a", "b"]);
            let three = points_of(sobol, seed, &["a", "b", "c"]);
            prop_assert!(two.iter().zip(&three).all(|(two, three)| two[..] == three[..2]), "one behind changes none");
        }
    }
}
