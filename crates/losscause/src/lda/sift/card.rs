//! The card: from readings to a sum of evidence.

use core::array;
use core::ops::Range;

use super::Clues;

/// The weights of all readings, in tenths of a decibel. Positive weights speak for a wireless loss.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// Whether delays have a zero: round-trip times do, relative one-way times do not.
    pub absolute_delays: bool,
    /// The sum without evidence.
    pub start: i16,
    /// For each reading, the weight of each of its intervals ([`LIMITS`]).
    pub single: [[i16; INTERVALS]; Clues::COUNT],
    /// For each three readings that are weighed together ([`TOGETHER`]), the weight of the quarters
    /// that they lie in.
    pub tables: [Table; TOGETHER.len()],
}

/// Intervals of a reading.
pub const INTERVALS: usize = 8;
/// Intervals of a reading in a table: each is two of the eight.
pub const QUARTERS: usize = INTERVALS / 2;
/// The weights of three readings together.
pub type Table = [[[i16; QUARTERS]; QUARTERS]; QUARTERS];

/// Where the second interval of each reading begins, the third, and so on. They are round numbers
/// near the octiles of the training paths, between those of receivers and of senders.
pub const LIMITS: [[u16; INTERVALS - 1]; Clues::COUNT] = [
    [20, 130, 300, 480, 700, 890, 980],              // position
    [4, 15, 40, 100, 220, 700, 5_000],               // queue
    [3, 11, 18, 23, 27, 30, 32],                     // rank
    [1, 3, 8, 20, 45, 90, 200],                      // recent
    [4, 20, 45, 75, 115, 190, 370],                  // since
    [2, 16, 29, 34, 46, 62, 95],                     // length
    [970, 985, 995, 1_000, 1_001, 1_003, 1_007],     // after
    [5, 17, 32, 46, 66, 95, 140],                    // jitter
    [1, 3, 8, 18, 40, 100, 350],                     // own
    [1, 3, 25, 90, 350, 750, 985],                   // dropped
    [8, 16, 24, 32, 42, 60, 110],                    // since burst
    [75, 138, 162, 181, 192, 215, 260],              // evenness
    [10, 22, 40, 75, 130, 210, 350],                 // share
    [6, 30, 60, 110, 190, 300, 430],                 // shares
    [1, 2, 3, 6, 10, 16, 26],                        // queued
    [2, 15, 38, 85, 190, 430, 1_200],                // empty
    [3, 30, 90, 190, 340, 620, 1_300],               // low
    [973, 989, 1_003, 1_023, 1_037, 1_052, 1_085],   // contrast
    [996, 1_001, 1_008, 1_017, 1_028, 1_043, 1_067], // contrasts
    [8, 25, 50, 100, 230, 600, 2_400],               // noise
    [16, 23, 25, 30, 40, 54, 120],                   // lost
    [4, 18, 40, 62, 81, 100, 130],                   // rates
    [850, 905, 950, 980, 1_000, 1_030, 1_080],       // earlier
];

/// The readings that are weighed together, three at a time, because what one means depends on the
/// others. They were chosen one after the other, for senders and for receivers: each is the three
/// that explain most of what is left of the training losses.
pub const TOGETHER: [[usize; 3]; 20] = [
    [Clues::SHARES, Clues::CONTRAST, Clues::CONTRASTS],
    [Clues::LENGTH, Clues::OWN, Clues::DROPPED],
    [Clues::AFTER, Clues::OWN, Clues::RATES],
    [Clues::LENGTH, Clues::JITTER, Clues::RATES],
    [Clues::QUEUE, Clues::RECENT, Clues::LOST],
    [Clues::RANK, Clues::RECENT, Clues::JITTER],
    [Clues::RECENT, Clues::LENGTH, Clues::LOW],
    [Clues::POSITION, Clues::QUEUE, Clues::SINCE_BURST],
    [Clues::LENGTH, Clues::AFTER, Clues::JITTER],
    [Clues::LENGTH, Clues::CONTRASTS, Clues::NOISE],
    [Clues::EVENNESS, Clues::SHARES, Clues::LOW],
    [Clues::RANK, Clues::SINCE, Clues::EVENNESS],
    [Clues::POSITION, Clues::AFTER, Clues::EMPTY],
    [Clues::POSITION, Clues::SINCE_BURST, Clues::EVENNESS],
    [Clues::SINCE, Clues::AFTER, Clues::CONTRAST],
    [Clues::JITTER, Clues::EVENNESS, Clues::CONTRAST],
    [Clues::OWN, Clues::DROPPED, Clues::SHARES],
    [Clues::POSITION, Clues::OWN, Clues::EARLIER],
    [Clues::LENGTH, Clues::SHARES, Clues::EARLIER],
    [Clues::QUEUE, Clues::LOST, Clues::EARLIER],
];

/// How many of them are without [`Clues::EARLIER`]. They are the first ones.
const WITHOUT_EARLIER: usize = {
    let mut table = 0;
    while TOGETHER[table][2] != Clues::EARLIER {
        table += 1;
    }
    table
};

/// What a card says of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// The sum of the evidence, in tenths of a decibel.
    pub sum: i16,
    /// The same without [`Clues::EARLIER`] and the tables that it is in: what later gaps remember
    /// of this one.
    pub own: i16,
    /// The two heaviest readings, the heaviest first.
    pub heaviest: [usize; 2],
}

/// [`LIMITS`] the other way round: the first limit of all readings, the second, and so on. So each
/// limit is compared with all readings at once.
const LIMITS_OF_ALL: [[u16; LANES]; INTERVALS - 1] = {
    let mut of_all = [[u16::MAX; LANES]; INTERVALS - 1];
    let mut clue = 0;
    while clue < Clues::COUNT {
        let mut limit = 0;
        while limit < INTERVALS - 1 {
            of_all[limit][clue] = LIMITS[clue][limit];
            limit += 1;
        }
        clue += 1;
    }
    of_all
};

/// Room for all readings that a processor compares eight at a time.
const LANES: usize = Clues::COUNT.next_multiple_of(8);

/// Which interval each reading lies in.
#[inline(never)]
pub fn intervals(clues: &Clues) -> [u8; Clues::COUNT] {
    let mut readings = [0_u16; LANES];
    readings[..Clues::COUNT].copy_from_slice(&clues.0);
    let mut intervals = [0_u16; LANES];
    for limits in &LIMITS_OF_ALL {
        for lane in 0..LANES {
            intervals[lane] += u16::from(readings[lane] >= limits[lane]);
        }
    }
    array::from_fn(|clue| intervals[clue] as u8)
}

impl Card {
    /// A card without weights, where a fit begins.
    pub const fn blank(absolute_delays: bool) -> Self {
        Self {
            absolute_delays,
            start: 0,
            single: [[0; INTERVALS]; Clues::COUNT],
            tables: [[[[0; QUARTERS]; QUARTERS]; QUARTERS]; TOGETHER.len()],
        }
    }

    /// Weighs the readings at a gap.
    #[inline]
    pub fn weigh(&self, clues: &Clues) -> Weight {
        // The remainders change nothing; they say that the numbers are indices, so that none is
        // checked.
        let intervals = intervals(clues);
        let mut single = [0; LANES];
        for clue in 0..Clues::COUNT {
            single[clue] = self.single[clue][usize::from(intervals[clue]) % INTERVALS];
        }
        let quarters = intervals.map(|interval| interval / 2);
        let together = |tables: Range<usize>| -> i16 {
            let tables = TOGETHER[tables.clone()].iter().zip(&self.tables[tables]);
            tables
                .map(|(three, table)| {
                    let [a, b, c] = three.map(|clue| usize::from(quarters[clue]));
                    let cells = table.as_flattened().as_flattened();
                    cells[((a * QUARTERS + b) * QUARTERS + c) % cells.len()]
                })
                .sum()
        };
        let own = self.start + sum(&single[..Clues::EARLIER]) + together(0..WITHOUT_EARLIER);
        let sum = own + single[Clues::EARLIER] + together(WITHOUT_EARLIER..TOGETHER.len());
        Weight { sum, own, heaviest: heaviest(&single) }
    }
}

/// The two readings with the largest weights of either sign; of two equal ones the first is the
/// heavier.
fn heaviest(weights: &[i16; LANES]) -> [usize; 2] {
    // Each size, with its reading in the low five bits, so that no two are equal.
    let sizes: [i16; LANES] = array::from_fn(|clue| {
        let size = weights[clue].abs().min(1_023);
        (size << 5) | (Clues::COUNT - 1).saturating_sub(clue) as i16
    });
    let largest_but = |other: i16| {
        sizes
            .iter()
            .fold(0, |largest: i16, &size| largest.max(if size == other { 0 } else { size }))
    };
    let largest = largest_but(0);
    [largest, largest_but(largest)]
        .map(|size| (Clues::COUNT - 1).saturating_sub(size as usize % 32))
}

fn sum(weights: &[i16]) -> i16 {
    weights.iter().sum()
}

/// The probability of a wireless loss behind a sum of tenths of decibels: 1 / (1 + 10^(-sum/100)).
pub(super) fn probability(sum: i16) -> f64 {
    /// 10^(i/10) and 10^(i/100).
    const DECIBELS: [f64; 10] = [
        1.0,
        1.258_925_411_794_167,
        1.584_893_192_461_113,
        1.995_262_314_968_88,
        2.511_886_431_509_58,
        3.162_277_660_168_379,
        3.981_071_705_534_972,
        5.011_872_336_272_722,
        6.309_573_444_801_933,
        7.943_282_347_242_815,
    ];
    const TENTHS: [f64; 10] = [
        1.0,
        1.023_292_992_280_754,
        1.047_128_548_050_9,
        1.071_519_305_237_606,
        1.096_478_196_143_185,
        1.122_018_454_301_963,
        1.148_153_621_496_883,
        1.174_897_554_939_529,
        1.202_264_434_617_413,
        1.230_268_770_812_381,
    ];
    let tenths = usize::from(sum.unsigned_abs());
    let odds = (0..tenths / 100)
        .fold(DECIBELS[tenths / 10 % 10] * TENTHS[tenths % 10], |odds, _| odds * 10.0);
    if sum < 0 { 1.0 / (1.0 + odds) } else { odds / (1.0 + odds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_heaviest_weights_are_found_wherever_they_are() {
        for first in 0..Clues::COUNT {
            for second in (0..Clues::COUNT).filter(|second| *second != first) {
                let mut weights = [0; LANES];
                (weights[first], weights[second]) = (-30, 20);
                assert_eq!(heaviest(&weights), [first, second]);
                weights[second] = 30;
                assert_eq!(heaviest(&weights), [first.min(second), first.max(second)], "equal");
            }
        }
        assert_eq!(heaviest(&[0; LANES]), [0, 1], "of equal ones the first");
    }

    #[test]
    fn ten_decibels_are_ten_to_one() {
        let close = |sum, odds: f64| (probability(sum) - odds / (1.0 + odds)).abs() < 1e-12;
        assert!(close(0, 1.0) && close(100, 10.0) && close(-100, 0.1) && close(200, 100.0));
        assert!(close(30, 1.995_262_314_968_88) && close(123, 16.982_436_524_617_444));
    }
}
