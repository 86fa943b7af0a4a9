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
    /// For each pair of readings that are weighed together ([`TOGETHER`]), the weight of each of their pairs of quarters.
    pub tables: [[[i16; QUARTERS]; QUARTERS]; TOGETHER.len()],
}

/// Intervals of a reading.
pub const INTERVALS: usize = 8;
/// Intervals of a reading in a table: each is two of the eight.
pub const QUARTERS: usize = INTERVALS / 2;

/// Where the second interval of each reading begins, the third, and so on. They are round numbers near the octiles of the
/// training paths, between those of receivers and of senders.
pub const LIMITS: [[u16; INTERVALS - 1]; Clues::COUNT] = [
    [15, 100, 240, 400, 560, 750, 950],        // position
    [3, 12, 30, 80, 200, 600, 3_000],          // queue
    [2, 9, 16, 21, 25, 29, 32],                // rank
    [1, 10, 25, 45, 70, 110, 180],             // recent
    [16, 32, 64, 88, 128, 240, 800],           // since
    [10, 30, 80, 250, 1_000, 3_000, 15_000],   // spaced
    [4, 16, 32, 48, 64, 80, 120],              // length
    [1, 25, 75, 150, 300, 500, 800],           // usual
    [3, 10, 20, 32, 45, 64, 100],              // jitter
    [5, 40, 120, 250, 500, 900, 1_800],        // above
    [1, 2, 4, 8, 15, 28, 80],                  // own
    [24, 40, 64, 100, 150, 230, 400],          // base
    [2, 12, 40, 90, 180, 320, 600],            // dropped
    [5, 10, 16, 22, 32, 45, 80],               // since burst
    [110, 135, 157, 177, 198, 225, 270],       // evenness
    [920, 945, 963, 980, 1_000, 1_033, 1_070], // earlier
];

/// The pairs of readings that are weighed together, because what one means depends on the other.
pub const TOGETHER: [(usize, usize); 14] = [
    (Clues::RANK, Clues::JITTER),
    (Clues::RANK, Clues::ABOVE),
    (Clues::POSITION, Clues::RECENT),
    (Clues::LENGTH, Clues::OWN),
    (Clues::LENGTH, Clues::JITTER),
    (Clues::LENGTH, Clues::DROPPED),
    (Clues::LENGTH, Clues::SINCE_BURST),
    (Clues::RECENT, Clues::DROPPED),
    (Clues::SINCE, Clues::SINCE_BURST),
    (Clues::ABOVE, Clues::EVENNESS),
    (Clues::EVENNESS, Clues::SINCE_BURST),
    (Clues::EVENNESS, Clues::EARLIER),
    (Clues::LENGTH, Clues::EARLIER),
    (Clues::OWN, Clues::EARLIER),
];

/// What a card says of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// The sum of the evidence, in tenths of a decibel.
    pub sum: i16,
    /// The same without [`Clues::EARLIER`] and the tables that it is in: what later gaps remember of this one.
    pub own: i16,
    /// The two heaviest readings, the heaviest first.
    pub heaviest: [usize; 2],
}

/// Which interval each reading lies in.
pub fn intervals(clues: &Clues) -> [usize; Clues::COUNT] {
    core::array::from_fn(|clue| LIMITS[clue].iter().filter(|limit| clues.0[clue] >= **limit).count())
}

impl Card {
    /// Weighs the readings at a gap.
    pub fn weigh(&self, clues: &Clues) -> Weight {
        let intervals = intervals(clues);
        let mut weight = Weight { sum: 0, own: self.start, heaviest: [0; 2] };
        let mut most = [0; 2];
        for (clue, weights) in self.single.iter().enumerate() {
            let evidence = weights[intervals[clue]];
            *weight.part(clue == Clues::EARLIER) += evidence;
            let size = evidence.unsigned_abs();
            if size > most[0] {
                (most, weight.heaviest) = ([size, most[0]], [clue, weight.heaviest[0]]);
            } else if size > most[1] {
                (most[1], weight.heaviest[1]) = (size, clue);
            }
        }
        for (table, (row, column)) in self.tables.iter().zip(TOGETHER) {
            *weight.part(column == Clues::EARLIER) += table[intervals[row] / 2][intervals[column] / 2];
        }
        weight.sum += weight.own;
        weight
    }
}

impl Weight {
    fn part(&mut self, is_of_earlier_gaps: bool) -> &mut i16 {
        if is_of_earlier_gaps { &mut self.sum } else { &mut self.own }
    }
}
