//! The card: from readings to a sum of evidence.

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
    /// What a reading means depends on the jitter. For each reading of [`WITH_JITTER`], the weight of each of its
    /// intervals together with each of the jitter's ([`TABLE_LIMITS`], [`JITTER_LIMITS`]).
    pub tables: [[[i16; TABLE_INTERVALS]; TABLE_INTERVALS]; TABLES],
}

/// Intervals of a reading.
pub const INTERVALS: usize = 7;
/// Intervals of each reading in the table.
pub const TABLE_INTERVALS: usize = 4;

/// Where the second interval of each reading begins, the third, and so on. They are round numbers near the quantiles of
/// the training paths.
pub const LIMITS: [[u16; INTERVALS - 1]; Clues::COUNT] = [
    [20, 100, 250, 500, 750, 950],     // position
    [4, 16, 40, 120, 400, 2_000],      // queue
    [2, 8, 14, 20, 26, 31],            // rank
    [5, 20, 50, 100, 160, 250],        // recent
    [8, 32, 64, 112, 240, 960],        // since
    [10, 30, 100, 400, 2_000, 10_000], // spaced
    [3, 16, 38, 56, 70, 112],          // length
    [10, 50, 120, 250, 450, 700],      // usual
    [5, 18, 36, 56, 90, 150],          // jitter
    [10, 50, 100, 200, 500, 2_000],    // above
    [2, 8, 24, 64, 200, 800],          // own
    [15, 30, 60, 120, 240, 480],       // base
];

/// The readings that are weighed together with the jitter.
pub const WITH_JITTER: [usize; TABLES] = [Clues::POSITION, Clues::QUEUE, Clues::RECENT];
/// The jitter among the readings.
pub const JITTER: usize = Clues::JITTER;
/// How many they are.
pub const TABLES: usize = 3;
/// Where their intervals begin in the tables.
pub const TABLE_LIMITS: [[u16; TABLE_INTERVALS - 1]; TABLES] = [[100, 500, 950], [16, 120, 800], [10, 50, 150]];
/// The same of the jitter.
pub const JITTER_LIMITS: [u16; TABLE_INTERVALS - 1] = [12, 38, 77];

/// Which interval a reading lies in.
pub fn interval(reading: u16, limits: &[u16]) -> usize {
    limits.iter().filter(|limit| reading >= **limit).count()
}

/// In each table, the intervals of its reading and of the jitter.
pub fn in_tables(clues: &Clues) -> [(usize, usize); TABLES] {
    let jitter = interval(clues.0[Clues::JITTER], &JITTER_LIMITS);
    core::array::from_fn(|table| (interval(clues.0[WITH_JITTER[table]], &TABLE_LIMITS[table]), jitter))
}

impl Card {
    /// The sum of the evidence, in tenths of a decibel.
    pub fn sum(&self, clues: &Clues) -> i16 {
        self.weigh(clues).0
    }

    /// The sum of the evidence, and the two heaviest readings, the heaviest first.
    pub(super) fn weigh(&self, clues: &Clues) -> (i16, [usize; 2]) {
        let together = self.tables.iter().zip(in_tables(clues)).map(|(table, (row, jitter))| table[row][jitter]);
        let mut sum = self.start + together.sum::<i16>();
        let mut heaviest = [(0, 0); 2];
        for (clue, (&reading, weights)) in clues.0.iter().zip(&self.single).enumerate() {
            let weight = weights[interval(reading, &LIMITS[clue])];
            sum += weight;
            let candidate = (weight.unsigned_abs(), clue);
            if candidate.0 > heaviest[0].0 {
                heaviest = [candidate, heaviest[0]];
            } else if candidate.0 > heaviest[1].0 {
                heaviest[1] = candidate;
            }
        }
        (sum, heaviest.map(|(_, clue)| clue))
    }
}
