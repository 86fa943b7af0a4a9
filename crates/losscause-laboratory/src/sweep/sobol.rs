//! Sobol's sequence: points that fill a cube evenly, however many there are.
//!
//! Source: Sobol 1967; Antonov and Saleev 1979; direction numbers of Joe and Kuo, "Constructing
//! Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30(5), 2008
//! (their table new-joe-kuo-6). The first 2^k points have one in each of 2^k equal parts of every
//! axis.
//!
//! The sequence itself begins at 0 on every axis. A *digital shift* by the seed, one random number
//! per axis that is combined with the coordinates by exclusive or, removes that and keeps the
//! property.
//!
//! The direction numbers have a licence of their own (`LICENSE-BSD-3-Clause` in this package):
//!
//! ```text
//! Copyright (c) 2008, Frances Y. Kuo and Stephen Joe
//! All rights reserved.
//!
//! Redistribution and use in source and binary forms, with or without
//! modification, are permitted provided that the following conditions are met:
//!
//!     * Redistributions of source code must retain the above copyright
//!       notice, this list of conditions and the following disclaimer.
//!
//!     * Redistributions in binary form must reproduce the above copyright
//!       notice, this list of conditions and the following disclaimer in the
//!       documentation and/or other materials provided with the distribution.
//!
//!     * Neither the names of the copyright holders nor the names of the
//!       University of New South Wales and the University of Waikato
//!       and its contributors may be used to endorse or promote products derived
//!       from this software without specific prior written permission.
//!
//! THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS ``AS IS'' AND ANY
//! EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED
//! WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
//! DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDERS BE LIABLE FOR ANY
//! DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES
//! (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES;
//! LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND
//! ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
//! (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
//! SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
//! ```

use losscause_sim::rng::Stream;

/// Most axes.
pub(super) const DIMENSIONS: usize = 16;

/// Binary digits of a coordinate, and most digits of a point's number.
const BITS: usize = 32;

/// A primitive polynomial over two elements, and the first direction numbers that belong to it.
struct Direction {
    degree: usize,
    /// The coefficients between the first and the last, which are 1.
    coefficients: u32,
    /// m_1, m_2, …: odd, m_i below 2^i; as many as the degree.
    first: &'static [u32],
}

/// Of the second axis and those that follow it; the first has m_i = 1 throughout.
const DIRECTIONS: [Direction; DIMENSIONS - 1] = [
    Direction { degree: 1, coefficients: 0, first: &[1] },
    Direction { degree: 2, coefficients: 1, first: &[1, 3] },
    Direction { degree: 3, coefficients: 1, first: &[1, 3, 1] },
    Direction { degree: 3, coefficients: 2, first: &[1, 1, 1] },
    Direction { degree: 4, coefficients: 1, first: &[1, 1, 3, 3] },
    Direction { degree: 4, coefficients: 4, first: &[1, 3, 5, 13] },
    Direction { degree: 5, coefficients: 2, first: &[1, 1, 5, 5, 17] },
    Direction { degree: 5, coefficients: 4, first: &[1, 1, 5, 5, 5] },
    Direction { degree: 5, coefficients: 7, first: &[1, 1, 7, 11, 19] },
    Direction { degree: 5, coefficients: 11, first: &[1, 1, 5, 1, 1] },
    Direction { degree: 5, coefficients: 13, first: &[1, 1, 1, 3, 11] },
    Direction { degree: 5, coefficients: 14, first: &[1, 3, 5, 5, 31] },
    Direction { degree: 6, coefficients: 1, first: &[1, 3, 3, 9, 7, 49] },
    Direction { degree: 6, coefficients: 13, first: &[1, 1, 1, 15, 21, 21] },
    Direction { degree: 6, coefficients: 16, first: &[1, 3, 1, 13, 27, 49] },
];

/// The sequence on some axes, shifted by a seed.
#[derive(Debug)]
pub(super) struct Sequence {
    /// The direction numbers and the shift of every axis.
    axes: Vec<([u32; BITS], u32)>,
}

impl Sequence {
    /// The sequence on `axes` axes, at most [`DIMENSIONS`].
    pub(super) fn new(axes: usize, seed: u64) -> Self {
        let mut shifts = Stream::new(seed, "sweep/sobol");
        let of = |axis| (directions(axis), shifts.below(1 << BITS) as u32);
        Self { axes: (0..axes).map(of).collect() }
    }

    /// The coordinates of the point of that number.
    pub(super) fn point(&self, number: u32) -> Vec<f64> {
        let shifted =
            self.axes.iter().map(|(directions, shift)| unshifted(number, directions) ^ shift);
        // The middle of the smallest part.
        shifted.map(|x| (f64::from(x) + 0.5) / (1_u64 << BITS) as f64).collect()
    }
}

/// A coordinate in units of 2^-32: the exclusive or of the direction numbers at the ones of the
/// number's Gray code.
fn unshifted(number: u32, directions: &[u32; BITS]) -> u32 {
    let gray = number ^ (number >> 1);
    (0..BITS).filter(|bit| gray >> bit & 1 == 1).fold(0, |x, bit| x ^ directions[bit])
}

/// The direction numbers v_i = m_i 2^(32 - i) of an axis.
fn directions(axis: usize) -> [u32; BITS] {
    let mut v = std::array::from_fn(|i| 1 << (BITS - 1 - i));
    let Some(Direction { degree, coefficients, first }) =
        axis.checked_sub(1).map(|index| &DIRECTIONS[index])
    else {
        return v;
    };
    for i in 0..BITS {
        v[i] = match first.get(i) {
            Some(m) => m << (BITS - 1 - i),
            None => {
                let between = (1..*degree).filter(|k| coefficients >> (degree - 1 - k) & 1 == 1);
                between.fold(v[i - degree] ^ (v[i - degree] >> degree), |x, k| x ^ v[i - k])
            }
        };
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_points_are_the_published_ones() {
        // In units of 1/8; the first eight points of three axes, as Joe and Kuo's program prints
        // them.
        let published: [[u32; 3]; 8] = [
            [0, 0, 0],
            [4, 4, 4],
            [6, 2, 2],
            [2, 6, 6],
            [3, 3, 5],
            [7, 7, 1],
            [5, 1, 7],
            [1, 5, 3],
        ];
        for (number, expected) in published.iter().enumerate() {
            let point = [0, 1, 2].map(|axis| unshifted(number as u32, &directions(axis)) >> 29);
            assert_eq!(&point, expected, "point {number}");
        }
    }

    #[test]
    fn a_late_point_is_that_of_another_program_on_every_axis() {
        // scipy.stats.qmc.Sobol(16, scramble=False, bits=32), point 1000, in units of 2^-32.
        let published: [u32; DIMENSIONS] = [
            943_718_400,
            415_236_096,
            2_227_175_424,
            2_906_652_672,
            1_203_765_248,
            3_896_508_416,
            197_132_288,
            3_862_953_984,
            2_151_677_952,
            297_795_584,
            364_904_448,
            1_094_713_344,
            692_060_160,
            1_648_361_472,
            616_562_688,
            1_589_641_216,
        ];
        assert_eq!(std::array::from_fn(|axis| unshifted(1000, &directions(axis))), published);
    }

    #[test]
    fn powers_of_two_have_one_point_in_every_part_of_every_axis() {
        for k in 1..=10 {
            for axis in 0..DIMENSIONS {
                let directions = directions(axis);
                let mut parts: Vec<u32> =
                    (0..1 << k).map(|number| unshifted(number, &directions) >> (32 - k)).collect();
                parts.sort_unstable();
                assert_eq!(parts, (0..1 << k).collect::<Vec<u32>>(), "axis {axis}");
            }
        }
    }

    #[test]
    fn a_square_of_two_axes_has_equal_counts_in_all_tiles() {
        let sequence = Sequence::new(2, 7);
        let points = (0..64_u32).map(|number| sequence.point(number)).collect::<Vec<_>>();
        for wide in 0..=6 {
            let mut tiles = vec![0; 64];
            for p in &points {
                let x = (p[0] * f64::from(1 << wide)) as usize;
                let y = (p[1] * f64::from(1 << (6 - wide))) as usize;
                tiles[(x << (6 - wide)) + y] += 1;
            }
            assert!(tiles.iter().all(|count| *count == 1), "{wide}");
        }
    }

    #[test]
    fn polynomials_are_primitive_and_directions_odd_and_small() {
        for Direction { degree, coefficients, first } in &DIRECTIONS {
            let polynomial = 1_u32 << degree | coefficients << 1 | 1;
            // x generates every other element before it comes back to 1.
            let mut power = 1_u32;
            let mut order = 0;
            loop {
                power <<= 1;
                if power >> degree & 1 == 1 {
                    power ^= polynomial;
                }
                order += 1;
                if power == 1 {
                    break;
                }
            }
            assert_eq!(order, (1 << degree) - 1, "{polynomial:b}");
            assert_eq!(first.len(), *degree);
            assert!(first.iter().enumerate().all(|(i, m)| m % 2 == 1 && *m < 2 << i));
        }
    }
}
