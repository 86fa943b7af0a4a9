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
    [15, 100, 240, 400, 560, 750, 950],          // position
    [3, 12, 30, 80, 200, 600, 3_000],            // queue
    [2, 9, 16, 21, 25, 29, 32],                  // rank
    [1, 10, 25, 45, 70, 110, 180],               // recent
    [16, 32, 64, 88, 128, 240, 800],             // since
    [10, 30, 80, 250, 1_000, 3_000, 15_000],     // spaced
    [4, 16, 32, 48, 64, 80, 120],                // length
    [978, 992, 998, 1_000, 1_001, 1_003, 1_009], // after
    [3, 10, 20, 32, 45, 64, 100],                // jitter
    [5, 40, 120, 250, 500, 900, 1_800],          // above
    [1, 2, 4, 8, 15, 28, 80],                    // own
    [24, 40, 64, 100, 150, 230, 400],            // base
    [2, 12, 40, 90, 180, 320, 600],              // dropped
    [5, 10, 16, 22, 32, 45, 80],                 // since burst
    [110, 135, 157, 177, 198, 225, 270],         // evenness
    [920, 945, 963, 980, 1_000, 1_033, 1_070],   // earlier
];

/// The readings that are weighed together, three at a time, because what one means depends on the
/// others. They were chosen one after the other: each is the three that explain most of what is
/// left on training paths.
pub const TOGETHER: [[usize; 3]; 20] = [
    [Clues::RECENT, Clues::AFTER, Clues::OWN],
    [Clues::LENGTH, Clues::JITTER, Clues::ABOVE],
    [Clues::QUEUE, Clues::RANK, Clues::JITTER],
    [Clues::JITTER, Clues::SINCE_BURST, Clues::EVENNESS],
    [Clues::POSITION, Clues::QUEUE, Clues::ABOVE],
    [Clues::RECENT, Clues::ABOVE, Clues::EVENNESS],
    [Clues::AFTER, Clues::ABOVE, Clues::BASE],
    [Clues::RECENT, Clues::LENGTH, Clues::DROPPED],
    [Clues::POSITION, Clues::AFTER, Clues::JITTER],
    [Clues::SINCE, Clues::JITTER, Clues::OWN],
    [Clues::RANK, Clues::SPACED, Clues::EVENNESS],
    [Clues::POSITION, Clues::RECENT, Clues::OWN],
    [Clues::SPACED, Clues::JITTER, Clues::BASE],
    [Clues::RANK, Clues::ABOVE, Clues::DROPPED],
    [Clues::RECENT, Clues::LENGTH, Clues::JITTER],
    [Clues::RANK, Clues::SINCE, Clues::AFTER],
    [Clues::RANK, Clues::RECENT, Clues::EARLIER],
    [Clues::OWN, Clues::BASE, Clues::EARLIER],
    [Clues::POSITION, Clues::SINCE, Clues::EARLIER],
    [Clues::QUEUE, Clues::LENGTH, Clues::EARLIER],
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
const LIMITS_OF_ALL: [[u16; Clues::COUNT]; INTERVALS - 1] = {
    let mut of_all = [[0; Clues::COUNT]; INTERVALS - 1];
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

/// Which interval each reading lies in.
#[inline(never)]
pub fn intervals(clues: &Clues) -> [u8; Clues::COUNT] {
    let mut intervals = [0_u16; Clues::COUNT];
    for limits in &LIMITS_OF_ALL {
        for clue in 0..Clues::COUNT {
            intervals[clue] += u16::from(clues.0[clue] >= limits[clue]);
        }
    }
    intervals.map(|interval| interval as u8)
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
        let single: [i16; Clues::COUNT] =
            array::from_fn(|clue| self.single[clue][usize::from(intervals[clue]) % INTERVALS]);
        let quarters = intervals.map(|interval| interval / 2);
        let together = |tables: Range<usize>| -> i16 {
            let tables = TOGETHER[tables.clone()].iter().zip(&self.tables[tables]);
            tables
                .map(|(three, table)| {
                    let [a, b, c] = three.map(|clue| usize::from(quarters[clue]) % QUARTERS);
                    table[a][b][c]
                })
                .sum()
        };
        let own = self.start + sum(&single[..Clues::EARLIER]) + together(0..WITHOUT_EARLIER);
        let sum = own + single[Clues::EARLIER] + together(WITHOUT_EARLIER..TOGETHER.len());
        // The sizes of the weights, each with its reading; of two equal ones the first is the
        // heavier.
        let mut heaviest = [0; 2];
        for (clue, weight) in single.iter().enumerate() {
            let size = (u32::from(weight.unsigned_abs()) << 4) | (Clues::COUNT - 1 - clue) as u32;
            heaviest = [heaviest[0].max(size), heaviest[1].max(heaviest[0].min(size))];
        }
        let heaviest = heaviest.map(|size| Clues::COUNT - 1 - (size as usize & 0xf));
        Weight { sum, own, heaviest }
    }
}

fn sum(weights: &[i16]) -> i16 {
    weights.iter().sum()
}
