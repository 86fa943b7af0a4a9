//! Sift: weighs the evidence at a gap, in decibels.
//!
//! A radio strikes at random; a queue drops when it is full. So the state of the path at a wireless loss looks like its
//! state at any packet, and at a congestion loss it does not. Sift takes twelve readings of that state ([`Clues`]); all but
//! `above` and `base` are relative to what the flow itself has seen. A card ([`Card`]) gives each reading a weight in
//! decibels, ten times the decimal logarithm of odds: positive weights speak for a wireless loss. The weights are added:
//!
//! ```text
//! arrival i (delay r, d since the last arrival, p packets spanned):
//!   extremes of r and the least spacing T = min d / p without a gap, over the last 30 s (at least 22.5 s)
//!   mean spacing, mean |r_i - r_(i-1)|: gain 1/64        recent: share of arrivals after a gap, gain 1/32
//!   every 32nd delay of the last 1,024                   how often two arrivals are 0, T/2, T, … apart
//!
//! gap of n packets before arrival i (all of the state is that before it):
//!   position   of r_(i-1) between the extremes            queue    (r_(i-1) - least) / T
//!   rank       of r_(i-1) among every 32nd delay           recent
//!   since      the last gap, in round-trip times           spaced   the last gap, in T
//!              (at a receiver, in ranges of r)
//!   length     of the gap: d / mean spacing                usual    share of pairs that were d - (n - 1) T apart
//!   jitter     mean |r_i - r_(i-1)| / mean spacing         above      r_(i-1) - least, ms
//!   own        (r_(i-1) - least) / mean spacing            base       least, ms (at a sender only)
//!
//!   sum = start + weight of each + weight of (position, jitter) + of (queue, jitter) + of (recent, jitter)
//!   wireless iff sum > margin
//! ```
//!
//! The probability of a wireless loss, if both causes are as likely beforehand, is 1 / (1 + 10^(-sum/10)).
//!
//! Source: this project, `docs/algorithms/sift.md`. Ideas are from Spike (the position), Biaz (the length of a gap that a served
//! packet leaves), Vegas (the queue in packets) and fqRTT (losses within a round trip).
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `margin_db` | dB | 6 (`Sift`), 0 (`Sift-balanced`) | 0 to 60 |
//! | `most_ignored` | share of packets | 0.05 (`Sift`), 1 (`Sift-balanced`) | 0 to 1 |
//!
//! `most_ignored` is a ceiling: every arrival earns this share of a packet, up to 16 packets, and every loss called wireless
//! costs one. When nothing is left, a loss is congestion, whatever the evidence.
//!
//! The weights are fitted to drawn paths by `cargo xtask fit-sift`, which writes `sift/weights.rs`. Receivers and senders
//! have a card each. All arithmetic is on integers.
//!
//! Deviations: none; no paper has published it. A loss among the first 32 arrivals is undecided, and so is one in a gap
//! older than the last eight; a transport takes an undecided loss for congestion.

pub mod card;
mod weights;

pub use card::Card;
pub use weights::{RECEIVER, SENDER};

use super::{AnyLda, AnySenderLda, AtSender, Lda, Needs, missing};
use crate::registry::{ConfigError, Field, Info, Parameters, Setting, check};
use crate::verdict::{Clue, Input};
use crate::{Arrival, Interval, Judgement, Loss, Reason, Span, Time, Verdict};

/// Sift.
#[derive(Clone, Copy, Debug)]
pub struct Sift {
    card: &'static Card,
    /// In tenths of a decibel.
    margin: i16,
    /// In 1/65536 of the packets.
    most_ignored: u32,

    /// The first delay, and the last.
    delays: Option<(Span, Span)>,
    /// The last interval, if it spans no gap: nanoseconds and packets.
    before: Option<(i64, u32)>,
    window: Window,
    spacing: Average<6>,
    jitter: Average<6>,
    recent: Average<5>,
    /// What may still be called wireless, in 1/65536 packets.
    allowance: u32,
    /// When the last gap showed.
    gap: Option<Time>,
    sample: Sample,
    pairs: Pairs,
    weighed: [Option<Weighed>; GAPS],
}

/// What is remembered of a gap.
#[derive(Clone, Copy, Debug)]
struct Weighed {
    /// The low bits of the number of the packet after it.
    seq: u32,
    sum: i16,
    over_ceiling: bool,
    /// The two heaviest clues, four bits each, and their readings.
    heaviest: u8,
    readings: [u16; 2],
}

const GAPS: usize = 8;
/// One, where shares are whole numbers.
const WHOLE: u32 = 1 << 16;
const MOST_ALLOWANCE: u32 = 16 * WHOLE;
/// Arrivals before the first answer.
const WARM_UP: u32 = 32;

/// Parameters of [`Sift`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiftConfig {
    /// How much more likely than congestion a wireless loss must be, in decibels, 0 to 60.
    pub margin_db: f64,
    /// The largest share of the last packets that is called wireless, 0 to 1.
    pub most_ignored: f64,
}

impl Default for SiftConfig {
    /// The safe setting: what a transport should follow.
    fn default() -> Self {
        Self { margin_db: 6.0, most_ignored: 0.05 }
    }
}

impl SiftConfig {
    /// Errors of both kinds count the same: for measurements.
    pub fn balanced() -> Self {
        Self { margin_db: 0.0, most_ignored: 1.0 }
    }

    /// Whether this is the setting for measurements.
    fn is_balanced(&self) -> bool {
        self.most_ignored >= 1.0
    }

    fn at(&self, card: &'static Card) -> Result<Sift, ConfigError> {
        check("margin_db", self.margin_db, |m| (0.0..=60.0).contains(&m), "a number from 0 to 60")?;
        check("most_ignored", self.most_ignored, |m| (0.0..=1.0).contains(&m), "a number from 0 to 1")?;
        Ok(Sift {
            card,
            margin: (self.margin_db * 10.0) as i16,
            most_ignored: (self.most_ignored * f64::from(WHOLE)) as u32,
            delays: None,
            before: None,
            window: Window::NEW,
            spacing: Average::NEW,
            jitter: Average::NEW,
            recent: Average::NEW,
            allowance: MOST_ALLOWANCE,
            gap: None,
            sample: Sample::NEW,
            pairs: Pairs::NEW,
            weighed: [None; GAPS],
        })
    }
}

const SETTINGS: [Setting; 2] = [
    Setting::new("margin_db", "wireless above this sum of evidence, decibels, 0 to 60"),
    Setting::new("most_ignored", "no larger share of the last packets is called wireless; 0 to 1"),
];

static SIFT: Info = Info::new("Sift", "weighs twelve readings of the path at a gap; careful, for transports")
    .described_in("docs/algorithms/sift.md", "Idea")
    .on_trial()
    .with_aliases(&["sift-safe"])
    .with_settings(&SETTINGS);

static BALANCED: Info = Info::new("Sift-balanced", "Sift without margin and ceiling, for measurements")
    .described_in("docs/algorithms/sift.md", "Idea")
    .on_trial()
    .with_settings(&SETTINGS);

impl Parameters for SiftConfig {
    fn info(&self) -> &'static Info {
        if self.is_balanced() { &BALANCED } else { &SIFT }
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "margin_db" => Field::Number(&mut self.margin_db),
            "most_ignored" => Field::Number(&mut self.most_ignored),
            _ => return None,
        })
    }

    fn build(&self) -> Result<AnyLda, ConfigError> {
        self.at(&RECEIVER).map(AnyLda::Sift)
    }

    fn build_at_sender(&self) -> Result<AnySenderLda, ConfigError> {
        Ok(AnySenderLda::AtSender(AtSender::new(AnyLda::Sift(self.at(&SENDER)?))))
    }
}

/// The readings at a gap. Each is a whole number; [`Clues::NAMES`] has their units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clues(pub [u16; Clues::COUNT]);

impl Clues {
    /// How many there are.
    pub const COUNT: usize = 12;

    /// What each says, with its unit.
    pub const NAMES: [&'static str; Self::COUNT] = [
        "position: delay before the gap, 1/1000 of the range of the last 30 s",
        "queue: delay before the gap above the least, 1/8 of the least spacing",
        "rank: of 32 delays of the last 1,024 packets, how many are below that before the gap",
        "recent: share of arrivals after a gap, gain 1/32, 1/1000",
        "since: the last gap, 1/16 of a round-trip time (at a receiver, of the range of delays)",
        "spaced: the last gap, in the least spacing",
        "length: time across the gap, 1/32 of the mean spacing",
        "usual: share of pairs of packets that were as far apart as a served packet leaves, 1/1000",
        "jitter: mean change of the delay, 1/256 of the mean spacing",
        "above: delay before the gap above the least, 1/10 ms",
        "own: delay before the gap above the least, 1/8 of the mean spacing",
        "base: the least round-trip time, ms (at a receiver, zero)",
    ];

    /// A reading for people.
    fn in_words(clue: usize, reading: u16) -> Clue {
        let (what, per_unit, unit) = match clue {
            Self::POSITION => ("delay at", 10.0, " % of its range"),
            Self::QUEUE => ("a queue of", 8.0, " packets"),
            Self::RANK => ("delay above", 0.32, " % of earlier ones"),
            Self::RECENT => ("gaps before", 10.0, " % of recent arrivals"),
            Self::SINCE => ("the last gap", 16.0, " round trips ago"),
            Self::SPACED => ("the last gap", 1.0, " spacings ago"),
            Self::LENGTH => ("a gap of", 32.0, " mean spacings"),
            Self::USUAL => ("a gap as usual after a served packet,", 10.0, " % of pairs"),
            Self::JITTER => ("jitter of", 256.0, " mean spacings"),
            Self::ABOVE => ("a delay of", 10.0, " ms above the least"),
            Self::OWN => ("a queue of", 8.0, " of the flow's own packets"),
            _ => ("a least round-trip time of", 1.0, " ms"),
        };
        Clue { what, reading: f64::from(reading) / per_unit, unit }
    }

    const POSITION: usize = 0;
    const QUEUE: usize = 1;
    const RANK: usize = 2;
    const RECENT: usize = 3;
    const SINCE: usize = 4;
    const SPACED: usize = 5;
    const LENGTH: usize = 6;
    const USUAL: usize = 7;
    const JITTER: usize = 8;
    const ABOVE: usize = 9;
    const OWN: usize = 10;
    const BASE: usize = 11;
}

/// `value / unit` in 1/`parts`, as far as 16 bits hold it.
fn ratio(value: i64, unit: i64, parts: i64) -> u16 {
    let (value, unit) = (value.max(0), unit.max(1));
    // A value so large that it cannot be multiplied is divided first.
    let scaled = value.checked_mul(parts).map_or_else(|| (value / unit).saturating_mul(parts), |scaled| scaled / unit);
    scaled.min(i64::from(u16::MAX)) as u16
}

impl Sift {
    /// Sift at a receiver.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(config: &SiftConfig) -> Result<Self, ConfigError> {
        config.at(&RECEIVER)
    }

    /// Sift for round-trip times, to be run by [`AtSender`].
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn with_rtts(config: &SiftConfig) -> Result<Self, ConfigError> {
        config.at(&SENDER)
    }

    /// The readings at the gap that `arrival` reveals, from what was seen before it. `None` without a gap, and before
    /// enough was seen.
    pub fn clues(&self, arrival: &Arrival) -> Option<Clues> {
        let interval = arrival.since_last.filter(|interval| interval.missing > 0)?;
        let (first, last) = self.delays.filter(|_| self.sample.seen >= WARM_UP)?;
        let delay = (last - first).as_nanos();
        let Part { least, most, spacing } = self.window.all();
        let since = self.gap.map_or(DAY_NS, |gap| (arrival.at - gap).as_nanos());
        let whole_delay = if self.card.absolute_delays { last.as_nanos() } else { most.saturating_sub(least) };
        let gap = interval.span.as_nanos();
        let served = gap.saturating_sub(spacing.saturating_mul(i64::from(interval.missing) - 1));
        let (above, range) = (delay.saturating_sub(least), most.saturating_sub(least));
        let (mean_spacing, jitter) = (self.spacing.get(), self.jitter.get());
        let mut clues = [0; Clues::COUNT];
        clues[Clues::POSITION] = ratio(above, range, 1_000);
        clues[Clues::QUEUE] = ratio(above, spacing, 8);
        clues[Clues::RANK] = self.sample.below(delay);
        clues[Clues::RECENT] = ratio(self.recent.get(), i64::from(WHOLE), 1_000);
        clues[Clues::SINCE] = ratio(since, whole_delay, 16);
        clues[Clues::SPACED] = ratio(since, spacing, 1);
        clues[Clues::LENGTH] = ratio(gap, mean_spacing, 32);
        clues[Clues::USUAL] = self.pairs.share(served, self.window.least_spacing);
        clues[Clues::JITTER] = ratio(jitter, mean_spacing, 256);
        clues[Clues::ABOVE] = ratio(above, 1_000_000, 10);
        clues[Clues::OWN] = ratio(above, mean_spacing, 8);
        if self.card.absolute_delays {
            clues[Clues::BASE] = ratio(first.as_nanos().saturating_add(least), 1_000_000, 1);
        }
        Some(Clues(clues))
    }

    fn name(&self) -> &'static str {
        if self.most_ignored < WHOLE { SIFT.name } else { BALANCED.name }
    }

    /// Weighs the gap before `arrival`, and remembers the answer.
    fn weigh(&mut self, arrival: &Arrival, missing: u32) {
        let Some(clues) = self.clues(arrival) else { return };
        let (sum, heaviest) = self.card.weigh(&clues);
        let cost = missing.saturating_mul(WHOLE);
        let looks_wireless = sum > self.margin;
        let over_ceiling = looks_wireless && self.most_ignored < WHOLE && cost > self.allowance;
        if looks_wireless && !over_ceiling {
            self.allowance = self.allowance.saturating_sub(cost);
        }
        self.weighed.rotate_right(1);
        let readings = heaviest.map(|clue| clues.0[clue]);
        let heaviest = (heaviest[0] << 4 | heaviest[1]) as u8;
        self.weighed[0] = Some(Weighed { seq: arrival.seq as u32, sum, over_ceiling, heaviest, readings });
    }

    /// Takes the time since the last arrival into the state.
    fn observe_interval(&mut self, arrival: &Arrival, interval: &Interval) {
        let span = interval.span.as_nanos();
        let per_packet = if interval.packets == 1 { span } else { span / i64::from(interval.packets.max(1)) };
        self.spacing.observe(per_packet);
        self.recent.observe(if interval.missing > 0 { i64::from(WHOLE) } else { 0 });
        if interval.missing > 0 {
            self.gap = Some(arrival.at);
            self.before = None;
            return;
        }
        self.window.observe_spacing(per_packet);
        if let Some((before, packets)) = self.before.replace((span, interval.packets)) {
            let (both, packets) = (before.saturating_add(span), i64::from(packets) + i64::from(interval.packets));
            let pair = if packets == 2 { both } else { both.saturating_mul(2) / packets.max(1) };
            self.pairs.observe(pair, self.window.least_spacing);
        }
    }
}

impl Lda for Sift {
    fn name(&self) -> &'static str {
        Sift::name(self)
    }

    fn needs(&self) -> Needs {
        Needs { sender_timestamp: true, inter_arrival: true, truth: false }
    }

    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival) {
        if let Some(interval) = arrival.since_last {
            if interval.missing > 0 {
                self.weigh(arrival, interval.missing);
            }
            self.allowance = (self.allowance + self.most_ignored).min(MOST_ALLOWANCE);
            self.window.turn(arrival.at);
            self.observe_interval(arrival, &interval);
        }
        let Some(delay) = arrival.rott else { return };
        self.window.turn(arrival.at);
        let (first, last) = self.delays.unwrap_or((delay, delay));
        self.delays = Some((first, delay));
        self.jitter.observe((delay - last).abs().as_nanos());
        let since_first = (delay - first).as_nanos();
        self.window.observe_delay(since_first);
        self.sample.observe(since_first);
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        let weighed = self.weighed.iter().flatten().find(|weighed| weighed.seq == loss.revealed_by.seq as u32);
        let Some(weighed) = weighed else {
            return missing(match self.sample.seen {
                0 => Input::Timestamp,
                1..=WARM_UP => Input::Other("a history of 32 packets"),
                _ => Input::Gap,
            });
        };
        let heaviest = [weighed.heaviest >> 4, weighed.heaviest & 0xf].map(usize::from);
        let clues = core::array::from_fn(|i| Clues::in_words(heaviest[i], weighed.readings[i]));
        let reason = Reason::Weighed {
            scheme: Sift::name(self),
            clues,
            decibels: f64::from(weighed.sum) / 10.0,
            above: f64::from(self.margin) / 10.0,
            probability: probability(weighed.sum),
            over_ceiling: weighed.over_ceiling,
        };
        let is_wireless = weighed.sum > self.margin && !weighed.over_ceiling;
        Judgement { verdict: if is_wireless { Verdict::Wireless } else { Verdict::Congestion }, reason }
    }
}

/// The probability of a wireless loss behind a sum of tenths of decibels: 1 / (1 + 10^(-sum/100)).
fn probability(sum: i16) -> f64 {
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
    let odds = (0..tenths / 100).fold(DECIBELS[tenths / 10 % 10] * TENTHS[tenths % 10], |odds, _| odds * 10.0);
    if sum < 0 { 1.0 / (1.0 + odds) } else { odds / (1.0 + odds) }
}

/// Extremes of the last 30 s, of which at least 22.5 s: four parts, the oldest dropped when one begins.
#[derive(Clone, Copy, Debug)]
struct Window {
    parts: [Part; PARTS],
    /// Which of them is the present one, and when it began.
    present: usize,
    since: Option<Time>,
    /// The least spacing of all parts; every pair of packets asks for it.
    least_spacing: Divisor,
}

const PARTS: usize = 4;

/// In nanoseconds; delays since the first one. `i64::MAX` and `MIN` where nothing was seen.
#[derive(Clone, Copy, Debug)]
struct Part {
    least: i64,
    most: i64,
    spacing: i64,
}

impl Part {
    const EMPTY: Self = Self { least: i64::MAX, most: i64::MIN, spacing: i64::MAX };

    fn with(self, other: Self) -> Self {
        let (least, most) = (self.least.min(other.least), self.most.max(other.most));
        Self { least, most, spacing: self.spacing.min(other.spacing) }
    }
}

impl Window {
    const LENGTH: Span = Span::from_millis(7_500);
    const NEW: Self = Self { parts: [Part::EMPTY; PARTS], present: 0, since: None, least_spacing: Divisor::NONE };

    #[inline]
    fn turn(&mut self, now: Time) {
        match self.since {
            Some(since) if now - since < Self::LENGTH => {}
            _ => self.begin(now),
        }
    }

    /// Begins another part; after a pause of the whole window, all parts are new.
    #[cold]
    fn begin(&mut self, now: Time) {
        let ended = self.since.map_or(0, |since| (now - since).as_nanos() / Self::LENGTH.as_nanos());
        self.since = match self.since {
            Some(since) if ended <= PARTS as i64 => Some(since + Self::LENGTH * ended),
            _ => Some(now),
        };
        for _ in 0..ended.min(PARTS as i64) {
            self.present = (self.present + 1) % PARTS;
            self.parts[self.present] = Part::EMPTY;
        }
        self.least_spacing = Divisor::new(self.all().spacing);
    }

    fn all(&self) -> Part {
        self.parts.into_iter().fold(Part::EMPTY, Part::with)
    }

    /// A span of zero is a clock that was too coarse.
    #[inline]
    fn observe_spacing(&mut self, spacing: i64) {
        if spacing > 0 {
            let part = &mut self.parts[self.present];
            part.spacing = part.spacing.min(spacing);
            if spacing < self.least_spacing.value {
                self.least_spacing = Divisor::new(spacing);
            }
        }
    }

    #[inline]
    fn observe_delay(&mut self, delay: i64) {
        let part = &mut self.parts[self.present];
        part.least = part.least.min(delay);
        part.most = part.most.max(delay);
    }
}

/// A span that many others are divided by, with its reciprocal.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    value: i64,
    /// 2^32 / value.
    reciprocal: u64,
}

impl Divisor {
    const NONE: Self = Self { value: i64::MAX, reciprocal: 0 };

    fn new(value: i64) -> Self {
        Self { value, reciprocal: (1 << 32) / value.max(1) as u64 }
    }

    /// Twice `span` over the value, at most `most` (below 2^16). It may be one too small where it is a whole number.
    #[inline]
    fn halves_in(self, span: i64, most: i64) -> u64 {
        match span.saturating_mul(2) {
            ..=0 => 0,
            halves if halves / 64 >= self.value => most as u64,
            halves => ((halves as u64).wrapping_mul(self.reciprocal) >> 32).min(most as u64),
        }
    }
}

/// An exponential mean, with gain 1/2^`SHIFT`, of values that are not negative. It begins with its first value.
#[derive(Clone, Copy, Debug)]
struct Average<const SHIFT: u32> {
    /// The mean times 2^`SHIFT`; negative before the first value.
    scaled: i64,
}

impl<const SHIFT: u32> Average<SHIFT> {
    const NEW: Self = Self { scaled: -1 };

    /// No value, up to a day in nanoseconds, overflows.
    #[inline]
    fn observe(&mut self, value: i64) {
        let value = value.min(DAY_NS);
        let is_first = self.scaled < 0;
        self.scaled = if is_first { value << SHIFT } else { self.scaled + value - (self.scaled >> SHIFT) };
    }

    fn get(&self) -> i64 {
        self.scaled.max(0) >> SHIFT
    }
}

const DAY_NS: i64 = 86_400_000_000_000;

/// Every 32nd of the last 1,024 delays.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// In 128 ns, since the first delay.
    delays: [i32; Self::SIZE],
    /// Delays so far.
    seen: u32,
}

impl Sample {
    const SIZE: usize = 32;
    const EVERY: u32 = 32;
    const NEW: Self = Self { delays: [0; Self::SIZE], seen: 0 };

    fn units(delay: i64) -> i32 {
        (delay >> 7).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }

    #[inline]
    fn observe(&mut self, delay: i64) {
        if self.seen.is_multiple_of(Self::EVERY) {
            self.delays[(self.seen / Self::EVERY) as usize % Self::SIZE] = Self::units(delay);
        }
        self.seen = self.seen.checked_add(1).unwrap_or(Self::EVERY * Self::SIZE as u32);
    }

    /// How many of 32 are below `delay`; in proportion while there are fewer.
    fn below(&self, delay: i64) -> u16 {
        let delay = Self::units(delay);
        let taken = (self.seen.div_ceil(Self::EVERY) as usize).clamp(1, Self::SIZE);
        let below = self.delays[..taken].iter().filter(|earlier| **earlier < delay).count();
        (below * Self::SIZE / taken) as u16
    }
}

/// How far apart two packets arrived that have one between them, in halves of the least spacing.
#[derive(Clone, Copy, Debug)]
struct Pairs {
    counts: [u8; Self::BINS],
    total: u8,
}

impl Pairs {
    const BINS: usize = 32;
    const NEW: Self = Self { counts: [0; Self::BINS], total: 0 };

    fn bin(span: i64, least_spacing: Divisor) -> usize {
        least_spacing.halves_in(span, Self::BINS as i64 - 1) as usize
    }

    #[inline]
    fn observe(&mut self, span: i64, least_spacing: Divisor) {
        self.counts[Self::bin(span, least_spacing)] += 1;
        self.total += 1;
        if self.total == 250 {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.total = self.counts.iter().sum();
        }
    }

    /// The share of pairs that were so far apart, in 1/1000.
    fn share(&self, span: i64, least_spacing: Divisor) -> u16 {
        let count = u16::from(self.counts[Self::bin(span, least_spacing)]);
        (u32::from(count) * 1_000 / u32::from(self.total.max(1))) as u16
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn sift(change: impl Fn(&mut SiftConfig)) -> Sift {
        let mut config = SiftConfig::balanced();
        change(&mut config);
        Sift::new(&config).expect("valid")
    }

    /// A flow: packets of which some are missing, with their times and delays.
    struct Flow {
        sift: Sift,
        at: Time,
        seq: u64,
    }

    impl Flow {
        fn of(sift: Sift) -> Self {
            Self { sift, at: Time::ZERO, seq: 0 }
        }

        fn next(&mut self, after_ms: i64, delay_ms: i64, missing: u32) -> Arrival {
            let span = Span::from_millis(after_ms);
            (self.at, self.seq) = (self.at + span, self.seq + 1 + u64::from(missing));
            let since_last = (self.seq > 1).then_some(Interval::across_gap(span, missing));
            Arrival { seq: self.seq, at: self.at, rott: Some(Span::from_millis(delay_ms)), since_last }
        }

        fn arrive(&mut self, after_ms: i64, delay_ms: i64, missing: u32) -> Arrival {
            let arrival = self.next(after_ms, delay_ms, missing);
            self.sift.on_arrival(&arrival);
            arrival
        }

        fn judge(&self, arrival: Arrival) -> Judgement {
            self.sift.judge(&Loss::new(arrival.seq - 1, arrival))
        }
    }

    #[test]
    fn the_state_fits_in_512_bytes() {
        assert!(size_of::<Sift>() <= 512, "{} bytes", size_of::<Sift>());
    }

    #[test]
    fn the_readings_at_a_gap_are_those_before_it() {
        // 64 packets 10 ms apart with delays 100, 101, …, 107 ms, 100, … Their jitter is 1 ms, and 7 ms at each fall.
        let mut flow = Flow::of(sift(|_| ()));
        (0..64).for_each(|i| _ = flow.arrive(10, 100 + i % 8, 0));
        // The packet before the gap has 107 ms: at the top of the range, 7 ms or 0.7 spacings above the least.
        let revealing = flow.next(20, 100, 1);
        let clues = flow.sift.clues(&revealing).expect("64 packets").0;
        assert_eq!(clues[Clues::POSITION], 1_000);
        assert_eq!(clues[Clues::QUEUE], 5, "0.7 spacings in eighths, rounded down");
        assert_eq!(clues[Clues::RANK], 32, "both sampled delays, of packets 0 and 32, are 100 ms");
        assert_eq!((clues[Clues::RECENT], clues[Clues::SINCE]), (0, u16::MAX));
        assert_eq!(clues[Clues::LENGTH], 64, "two mean spacings");
        assert_eq!(clues[Clues::USUAL], 1_000, "all packets two apart are 20 ms apart");
        assert_eq!((clues[Clues::ABOVE], clues[Clues::OWN], clues[Clues::BASE]), (70, 5, 0));
        let without_gap = Arrival { since_last: Some(Interval::consecutive(Span::from_millis(10))), ..revealing };
        assert_eq!(flow.sift.clues(&without_gap), None);
    }

    #[test]
    fn the_first_32_packets_are_a_history_and_no_evidence() {
        let mut flow = Flow::of(sift(|_| ()));
        (0..31).for_each(|_| _ = flow.arrive(10, 100, 0));
        let early = flow.arrive(20, 100, 1);
        assert!(matches!(flow.judge(early).reason, Reason::Missing { input: Input::Other(_) }));
        let later = flow.arrive(20, 100, 1);
        assert!(matches!(flow.judge(later).reason, Reason::Weighed { .. }));
    }

    #[test]
    fn a_loss_in_an_empty_queue_is_wireless_and_one_in_a_full_queue_is_congestion() {
        // A sawtooth of delays from 100 to 199 ms, and a gap at its foot or at its top.
        let verdict = |phase: i64| {
            let mut flow = Flow::of(sift(|_| ()));
            (0..1_000 + phase).for_each(|i| _ = flow.arrive(10, 100 + i % 100, 0));
            let revealing = flow.arrive(20, 100 + (1_001 + phase) % 100, 1);
            flow.judge(revealing)
        };
        assert_eq!(verdict(2).verdict, Verdict::Wireless, "{}", verdict(2));
        assert_eq!(verdict(99).verdict, Verdict::Congestion, "{}", verdict(99));
    }

    #[test]
    fn what_is_beyond_the_ceiling_is_congestion() {
        // An empty queue, and a gap before every tenth packet: 16 packets of allowance, then 1 % of the packets.
        let mut flow = Flow::of(sift(|config| config.most_ignored = 0.01));
        (0..100).for_each(|_| _ = flow.arrive(10, 100, 0));
        let mut verdicts = Vec::new();
        for _ in 0..50 {
            (0..9).for_each(|_| _ = flow.arrive(10, 100, 0));
            let revealing = flow.arrive(20, 100, 1);
            let Judgement { verdict, reason } = flow.judge(revealing);
            let Reason::Weighed { over_ceiling, decibels, .. } = reason else { panic!("{reason}") };
            assert!(decibels > 0.0, "{reason}");
            assert_eq!(over_ceiling, verdict == Verdict::Congestion);
            verdicts.push(verdict);
        }
        let wireless = verdicts.iter().filter(|verdict| verdict.is_wireless()).count();
        // Each gap earns 0.1 of a packet: 16 and one of every ten.
        assert!((17..=21).contains(&wireless), "{wireless}");
        assert_eq!(verdicts[..16], [Verdict::Wireless; 16]);
    }

    #[test]
    fn a_gap_older_than_the_last_eight_is_forgotten() {
        let mut flow = Flow::of(sift(|_| ()));
        (0..40).for_each(|_| _ = flow.arrive(10, 100, 0));
        let gaps: Vec<_> = (0..9).map(|_| flow.arrive(20, 100, 1)).collect();
        assert_eq!(flow.judge(gaps[0]).reason, Reason::Missing { input: Input::Gap });
        assert!(gaps[1..].iter().all(|gap| flow.judge(*gap).verdict != Verdict::Undecided));
    }

    #[test]
    fn ten_decibels_are_ten_to_one() {
        let close = |sum, odds: f64| (probability(sum) - odds / (1.0 + odds)).abs() < 1e-12;
        assert!(close(0, 1.0) && close(100, 10.0) && close(-100, 0.1) && close(200, 100.0));
        assert!(close(30, 1.995_262_314_968_88) && close(123, 16.982_436_524_617_444));
    }

    #[test]
    fn extremes_of_more_than_30_s_ago_are_forgotten_and_those_of_22_s_are_not() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut window = Window::NEW;
        let mut observe = |ms, delay| {
            window.turn(at(ms));
            window.observe_delay(delay);
            let Part { least, most, .. } = window.all();
            (least, most)
        };
        assert_eq!(observe(0, 5), (5, 5));
        assert_eq!(observe(22_000, 50), (5, 50));
        assert_eq!(observe(31_000, 40), (40, 50));
        assert_eq!(observe(1_000_000, 7), (7, 7), "after a pause");
    }
}
