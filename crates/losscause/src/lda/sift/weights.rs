//! The fitted weights, in tenths of a decibel. Written by `cargo xtask fit-sift`; do not edit.

use super::Card;

/// For receivers: relative one-way trip times.
#[rustfmt::skip]
pub const RECEIVER: Card = Card {
    absolute_delays: false,
    start: -18,
    single: [
        [13, 20, 11, 1, -5, -13, -27],
        [25, 23, 12, 0, -6, -16, -37],
        [-5, 24, 20, 11, -1, -18, -32],
        [47, 34, 19, 5, -11, -33, -61],
        [4, 4, 6, 7, 0, -9, -12],
        [-34, -14, -3, 3, 11, 20, 18],
        [-1, -31, -26, -10, 12, 21, 35],
        [-4, -2, -3, -4, -4, 1, 16],
        [32, 12, -3, -10, -12, -10, -9],
    ],
    table: [
        [11, 14, 6, 16],
        [19, 0, -5, -3],
        [4, -12, -12, -12],
        [23, -13, -10, -26],
    ],
};

/// For senders: round-trip times.
#[rustfmt::skip]
pub const SENDER: Card = Card {
    absolute_delays: true,
    start: -23,
    single: [
        [36, 25, 9, 0, -7, -21, -42],
        [7, 27, 2, -1, 1, -16, -19],
        [15, 20, 14, 8, -4, -23, -29],
        [44, 30, 8, -3, -14, -31, -34],
        [35, 46, 32, -3, -24, -40, -47],
        [-30, -16, -24, -8, 12, 24, 43],
        [16, -9, -9, -4, -2, 9, -1],
        [-15, 0, -1, 6, 2, 1, 7],
        [17, 18, 5, -4, -14, -11, -11],
    ],
    table: [
        [-25, 11, 23, 23],
        [5, 0, -4, 0],
        [24, -14, -15, -12],
        [33, -9, -15, -25],
    ],
};
