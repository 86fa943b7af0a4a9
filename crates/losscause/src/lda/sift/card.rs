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
    /// Queue and jitter together, queue first ([`TABLE_LIMITS`]).
    pub table: [[i16; TABLE_INTERVALS]; TABLE_INTERVALS],
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
];

/// The same of the queue and of the jitter in the table.
pub const TABLE_LIMITS: [[u16; TABLE_INTERVALS - 1]; 2] = [[16, 120, 800], [12, 38, 77]];

/// Which interval a reading lies in.
pub fn interval(reading: u16, limits: &[u16]) -> usize {
    limits.iter().filter(|limit| reading >= **limit).count()
}

/// The intervals of queue and jitter in the table.
pub fn in_table(clues: &Clues) -> (usize, usize) {
    let [queue, jitter] = &TABLE_LIMITS;
    (interval(clues.0[Clues::QUEUE], queue), interval(clues.0[Clues::JITTER], jitter))
}

impl Card {
    /// The sum of the evidence, in tenths of a decibel.
    pub fn sum(&self, clues: &Clues) -> i16 {
        self.weigh(clues).0
    }

    /// The sum of the evidence, and the two heaviest readings, the heaviest first.
    pub(super) fn weigh(&self, clues: &Clues) -> (i16, [usize; 2]) {
        let (queue, jitter) = in_table(clues);
        let mut sum = self.start + self.table[queue][jitter];
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
