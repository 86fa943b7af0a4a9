//! The readings at a gap.

use crate::verdict::Clue;

/// The readings at a gap. Each is a whole number; [`Clues::NAMES`] has their units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clues(pub [u16; Clues::COUNT]);

impl Clues {
    /// How many there are.
    pub const COUNT: usize = 23;

    /// What each says, with its unit. A round is a round-trip time; at a receiver, 100 ms.
    pub const NAMES: [&'static str; Self::COUNT] = [
        "position: delay before the gap, 1/1000 of the range of the last 20 s",
        "queue: delay before the gap above the least, 1/8 of the least spacing",
        "rank: of 32 delays of the last 1,024 packets, how many are below that before the gap",
        "recent: share of arrivals after a gap, gain 1/32, 1/1000",
        "since: the last gap, 1/16 of a round",
        "length: time across the gap, 1/32 of the mean spacing",
        "after: change of the delay across the gap, 1/32 of the mean spacing, 1,000 for none",
        "jitter: mean change of the delay, 1/256 of the mean spacing",
        "own: delay before the gap above the least, 1/8 of the mean spacing",
        "dropped: share of pairs of packets that were as far apart as one that was never served leaves, 1/1000",
        "since burst: packets since the last burst of gaps, 1/32 of the mean from burst to burst",
        "evenness: mean deviation of the packets from burst to burst, 1/256 of their mean",
        "share: of the flight, lost in this round, 1/1000",
        "shares: the mean share of earlier rounds with losses, 1/1000",
        "queued: packets lost in this round, 1/16 of one and those queued",
        "empty: since the queue was last empty, 1/16 of a round",
        "low: least delay of the last 50 to 100 ms above the least, 1/1000 of the least round-trip time (at a receiver, 1/8 of the jitter)",
        "contrast: delay before the gap above the mean of the last second, 1/32 of the mean deviation, 1,000 for none",
        "contrasts: the mean contrast of earlier rounds with losses, the same",
        "noise: delay before the gap above the least, 1/8 of the jitter",
        "lost: mean packets lost in earlier rounds with losses, 1/16",
        "rates: mean deviation of the rates from one round with losses to the next, 1/256 of their mean",
        "earlier: mean evidence at earlier gaps, 1/10 dB above -100 dB",
    ];

    /// How each reading is said: before it, where its zero is, parts of a unit, and the unit. In the
    /// last row [`Clues::LOW`] where delays have no zero.
    const WORDS: [(&'static str, f64, f64, &'static str); Self::COUNT + 1] = [
        ("delay at", 0.0, 10.0, " % of its range"),
        ("a queueing delay of", 0.0, 8.0, " least spacings"),
        ("delay above", 0.0, 0.32, " % of earlier ones"),
        ("gaps before", 0.0, 10.0, " % of recent arrivals"),
        ("the last gap", 0.0, 16.0, " round trips ago"),
        ("a gap of", 0.0, 32.0, " mean spacings"),
        ("the delay changed by", 1_000.0, 32.0, " mean spacings"),
        ("jitter of", 0.0, 256.0, " mean spacings"),
        ("a queueing delay of", 0.0, 8.0, " mean spacings"),
        ("a gap as usual after a dropped packet,", 0.0, 10.0, " % of pairs"),
        ("since the last burst", 0.0, 0.32, " % of the usual packets"),
        ("bursts uneven by", 0.0, 2.56, " %"),
        ("a share lost of", 0.0, 10.0, " % of the flight"),
        ("a share lost in earlier rounds of", 0.0, 10.0, " %"),
        ("lost packets", 0.0, 16.0, " times those queued"),
        ("the queue empty", 0.0, 16.0, " round trips ago"),
        ("a standing queue of", 0.0, 10.0, " % of the least round trip"),
        ("the delay stands out by", 1_000.0, 32.0, " deviations"),
        ("the delay stood out at earlier losses by", 1_000.0, 32.0, " deviations"),
        ("a delay of", 0.0, 8.0, " times the jitter"),
        ("earlier losses of", 0.0, 16.0, " packets"),
        ("rates between losses uneven by", 0.0, 2.56, " %"),
        ("earlier gaps at", 1_000.0, 10.0, " dB"),
        ("a standing queue of", 0.0, 8.0, " times the jitter"),
    ];

    /// A reading for people. Delays are `absolute` at a sender: round trips.
    pub(super) fn in_words(clue: usize, reading: u16, absolute: bool) -> Clue {
        let row = if clue == Self::LOW && !absolute { Self::COUNT } else { clue };
        let (what, zero, per_unit, unit) = Self::WORDS[row];
        Clue { what, reading: (f64::from(reading) - zero) / per_unit, unit }
    }

    pub(super) const POSITION: usize = 0;
    pub(super) const QUEUE: usize = 1;
    pub(super) const RANK: usize = 2;
    pub(super) const RECENT: usize = 3;
    pub(super) const SINCE: usize = 4;
    pub(super) const LENGTH: usize = 5;
    pub(super) const AFTER: usize = 6;
    pub(super) const JITTER: usize = 7;
    pub(super) const OWN: usize = 8;
    pub(super) const DROPPED: usize = 9;
    pub(super) const SINCE_BURST: usize = 10;
    pub(super) const EVENNESS: usize = 11;
    pub(super) const SHARE: usize = 12;
    pub(super) const SHARES: usize = 13;
    pub(super) const QUEUED: usize = 14;
    pub(super) const EMPTY: usize = 15;
    pub(super) const LOW: usize = 16;
    pub(super) const CONTRAST: usize = 17;
    pub(super) const CONTRASTS: usize = 18;
    pub(super) const NOISE: usize = 19;
    pub(super) const LOST: usize = 20;
    pub(super) const RATES: usize = 21;
    /// The mean evidence at earlier gaps.
    pub const EARLIER: usize = 22;
}

/// A number of either sign in 1/32 of `unit`, above 1,000, and not more than 999 from it.
pub(super) fn signed(value: i64, unit: i64) -> u16 {
    let size = ratio(value.abs(), unit, 32).min(999);
    if value < 0 { 1_000 - size } else { 1_000 + size }
}

/// `value / unit` in 1/`parts`, at most 1,000, as far as 16 bits hold it. A value up to 2^53.
#[inline]
pub(super) fn ratio(value: i64, unit: i64, parts: u64) -> u16 {
    let scaled = value.max(0) as u64 * parts / unit.max(1) as u64;
    scaled.min(u64::from(u16::MAX)) as u16
}
