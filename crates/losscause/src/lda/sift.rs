//! Sift: weighs the evidence at a gap, in decibels.
//!
//! A radio strikes at random; a queue drops when it is full. So the state of the path at a wireless
//! loss looks like its state at any packet, and at a congestion loss it does not. Sift takes
//! twenty-three readings of that state ([`Clues`]), each relative to what the flow itself has seen.
//! A card ([`Card`]) gives each reading a weight in decibels, ten times the decimal logarithm of
//! odds: positive weights speak for a wireless loss. The weights are added:
//!
//! ```text
//! a round is a round-trip time (at a receiver, 100 ms), a flight the packets of a round
//! losses belong to one round if their packets left before the first of them could be reported
//!
//! arrival i (delay r, d since the last arrival, p packets spanned):
//!   extremes of r and the least spacing T = min d / p without a gap, over the last 20 s (at least 10 s)
//!   least r of the last 100 ms (at least 50 ms)          empty: when r was last near the least
//!   mean spacing, mean |r_i - r_(i-1)|: gain 1/64        recent: share of arrivals after a gap, gain 1/32
//!   mean r of the last second, mean deviation from it    every 32nd delay of the last 1,024
//!   packets of the round                                 how often two arrivals are 0, T/2, T, … apart
//!
//! gap of n packets before arrival i (all of the state is that before it):
//!   position   of r_(i-1) between the extremes            rank     of r_(i-1) among every 32nd delay
//!   queue      (r_(i-1) - least) / T                       own      (r_(i-1) - least) / mean spacing
//!   noise      (r_(i-1) - least) / jitter                  jitter   mean |r_i - r_(i-1)| / mean spacing
//!   low        (least r of 100 ms - least) / least         empty    since the queue was empty, in rounds
//!   contrast   (r_(i-1) - mean) / mean deviation           after    r_i - r_(i-1) / mean spacing
//!   share      lost in this round / flight                 queued   lost in this round / (packets queued + 1)
//!   length     of the gap: d / mean spacing
//!   dropped    share of pairs that were d + T apart, as after a packet that was never served
//!   recent, and since: the last gap, in rounds
//!   since burst   packets since the last burst of gaps, over the mean from burst to burst
//!   evenness   mean deviation of these numbers of packets from their mean, over that mean
//!   shares, lost, contrasts, rates: of earlier rounds with losses the mean share, packets lost, and contrast, and
//!              how much the rates between them differ
//!   earlier    mean evidence at earlier gaps
//!
//!   own evidence = start + weight of each reading but `earlier` + weights of threes without it
//!   sum = own evidence + weight of `earlier` + weights of its threes
//!   at most 0 at a gap of more than 256 packets
//!   wireless iff sum > margin
//! ```
//!
//! Twenty threes of readings are weighed together too ([`card::TOGETHER`]), because what one means
//! depends on the others. The probability of a wireless loss, if both causes are as likely
//! beforehand, is 1 / (1 + 10^(-sum/10)).
//!
//! Source: this project, `docs/algorithms/sift.md`. Ideas are from Spike (the position), Biaz (the
//! length of a gap that a served packet leaves), Vegas (the queue in packets), fqRTT (losses within
//! a round trip), CoDel (the least delay of 100 ms), and Flach and others 2016 (a policer takes a
//! large share of a flight, and lets equal rates pass from loss to loss).
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `margin_db` | dB | 2.7 | 0 to 60 |
//!
//! 2.7 dB are a probability of 0.65: a wireless loss is nearly twice as likely as congestion. One
//! margin serves measurements and transports, because a transport has the guard and the brake
//! (`docs/safeguards.md`) against a run of wrong answers.
//!
//! The weights are fitted to drawn paths and to kinds of networks abroad by `cargo xtask fit-sift`,
//! which writes `sift/weights.rs`. Receivers and senders have a card each. All arithmetic is on
//! integers.
//!
//! Deviations: none; no paper has published it. A loss among the first 32 arrivals is undecided,
//! and so is one in a gap older than the last eight; a transport takes an undecided loss for
//! congestion.
//!
//! Besides its verdict it gives a probability:
//!
//! ```
//! use losscause::lda::{Sift, SiftConfig};
//! use losscause::{ConfigError, Differentiator, Packet, Span, Time, on_judged};
//!
//! let mut sift =
//!     Differentiator::new(Sift::new(&SiftConfig { margin_db: 6.0 })?);
//! let mut probabilities = Vec::new();
//! let mut keep = on_judged(|_, judgement| probabilities.extend(judgement.probability));
//! // A packet every 10 ms through an empty queue. One in twenty is lost.
//! for seq in (0..1_000).filter(|seq| seq % 20 != 7) {
//!     let sent = Time::ZERO + Span::from_millis(10 * seq);
//!     sift.on_packet(
//!         Packet { seq: seq as u64, at: sent + Span::from_millis(30), sent: Some(sent) },
//!         &mut keep,
//!     );
//! }
//! assert!(probabilities.last() > Some(&0.5), "{probabilities:?}");
//! # Ok::<(), ConfigError>(())
//! ```
//!
//! A fit of other weights starts with a blank card and weighs readings directly:
//!
//! ```
//! use losscause::lda::sift::{Card, Clues, Earlier, Weight};
//!
//! let mut card = Card::blank(false);
//! card.start = 12;
//! let mut earlier = Earlier::NEW;
//! let mut clues = Clues::default();
//! for _ in 0..3 {
//!     clues.0[Clues::EARLIER] = earlier.reading();
//!     let Weight { sum, own, .. } = card.weigh(&clues);
//!     assert_eq!((sum, own), (12, 12));
//!     earlier.observe(own);
//! }
//! assert_eq!(earlier.reading(), 1_012, "1.2 dB on average, above -100 dB");
//! ```

mod average;
pub mod card;
mod clues;
mod gaps;
mod least;
mod level;
mod pairs;
mod rounds;
mod sample;
mod weights;
mod window;

pub use card::{Card, Weight};
pub use clues::Clues;
pub use gaps::Earlier;
pub use weights::{RECEIVER, SENDER};

use core::num::NonZeroU32;

use average::{Average, DAY_NS};
use card::probability;
use clues::{ratio, signed};
use gaps::Gaps;
use least::Least;
use level::Level;
use pairs::Pairs;
use rounds::{RECEIVERS_ROUND, Rounds};
use sample::Sample;
use window::{Part, Window};

use super::AnyAlgorithm;
use crate::registry::{ConfigError, End, Field, Info, Parameters, Setting, check};
use crate::verdict::Input;
use crate::{
    Algorithm, Amount, Evidence, Judgement, Loss, Needs, Observation, Span, Time, Verdict,
};

/// Sift.
#[derive(Clone, Copy, Debug)]
pub struct Sift {
    card: &'static Card,
    /// In tenths of a decibel.
    margin: i16,
    /// The first delay.
    first: Span,
    /// The last delay since the first, nanoseconds, at most a day from it.
    last: i64,
    /// The last interval, if it spans no gap: nanoseconds and packets.
    before: Option<(i64, NonZeroU32)>,
    window: Window,
    spacing: Average<6>,
    jitter: Average<6>,
    recent: Average<5>,
    sample: Sample,
    pairs: Pairs,
    gaps: Gaps,
    rounds: Rounds,
    level: Level,
    /// The least delay of the last 50 to 100 ms.
    low: Least,
    /// When the queue was last empty; at the first delay, it was.
    empty: Time,
    weighed: [Weighed; GAPS],
    /// Which of them is the oldest.
    oldest: u8,
}

/// What is remembered of a gap.
#[derive(Clone, Copy, Debug)]
struct Weighed {
    /// The low bits of the number of the packet after it.
    seq: u32,
    sum: i16,
    /// The two heaviest clues.
    heaviest: [u8; 2],
    /// The readings of these.
    readings: [u16; 2],
}

impl Weighed {
    /// No gap. No sum of evidence is so small.
    const NONE: Self = Self { seq: 0, sum: i16::MIN, heaviest: [0; 2], readings: [0; 2] };
}

const GAPS: usize = 8;
/// One, where shares are whole numbers.
const WHOLE: i64 = 1 << 16;
/// Half the time over which the least delay shows a standing queue: twice this is CoDel's interval.
const LOW: Span = Span::from_millis(50);
/// A queue of less is empty, as is one of less than twice the jitter, nanoseconds.
const EMPTY: i64 = 1_000_000;
/// Less jitter counts as so much, nanoseconds: clocks are no finer.
const LEAST_JITTER: i64 = 1_000;
/// The longest gap that may be noise, packets: a longer one is an outage.
const LONGEST: u32 = 256;
/// Arrivals before the first answer.
const WARM_UP: u32 = 32;

/// Parameters of [`Sift`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiftConfig {
    /// How much more likely than congestion a wireless loss must be, in decibels, 0 to 60.
    pub margin_db: f64,
}

impl Default for SiftConfig {
    /// Nearly twice as likely.
    fn default() -> Self {
        Self { margin_db: 2.7 }
    }
}

impl SiftConfig {
    fn at(&self, card: &'static Card) -> Result<Sift, ConfigError> {
        check("margin_db", self.margin_db, |m| (0.0..=60.0).contains(&m), "a number from 0 to 60")?;
        Ok(Sift {
            card,
            margin: (self.margin_db * 10.0) as i16,
            first: Span::ZERO,
            last: 0,
            before: None,
            window: Window::NEW,
            spacing: Average::NEW,
            jitter: Average::NEW,
            recent: Average::NEW,
            sample: Sample::NEW,
            pairs: Pairs::NEW,
            gaps: Gaps::NEW,
            rounds: Rounds::NEW,
            level: Level::NEW,
            low: Least::NEW,
            empty: Time::ZERO,
            weighed: [Weighed::NONE; GAPS],
            oldest: 0,
        })
    }
}

const SETTINGS: [Setting; 1] =
    [Setting::new("margin_db", "wireless above this sum of evidence, decibels, 0 to 60")];

static INFO: Info = Info::new("Sift", "weighs 23 readings of the path at a gap")
    .described_in("docs/algorithms/sift.md", "Idea")
    .with_aliases(&["Sift-balanced", "sift-safe"])
    .with_settings(&SETTINGS);

impl Parameters for SiftConfig {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        (key == "margin_db").then_some(Field::Number(&mut self.margin_db))
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        self.at(match end {
            End::Receiver => &RECEIVER,
            End::Sender => &SENDER,
        })
        .map(AnyAlgorithm::Sift)
    }
}

impl Sift {
    /// Sift with another card, for a receiver or a sender as the card says.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn with_card(config: &SiftConfig, card: &'static Card) -> Result<Self, ConfigError> {
        config.at(card)
    }

    /// Sift at a receiver.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(config: &SiftConfig) -> Result<Self, ConfigError> {
        config.at(&RECEIVER)
    }

    /// Sift for round-trip times, to be run by [`AtSender`](crate::AtSender).
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn with_rtts(config: &SiftConfig) -> Result<Self, ConfigError> {
        config.at(&SENDER)
    }

    /// The readings at the gap that `arrival` reveals, from what was seen before it. `None` without
    /// a gap, and before enough was seen.
    pub fn clues(&self, arrival: &Observation) -> Option<Clues> {
        let interval = arrival.since_last.filter(|_| arrival.reveals_gap())?;
        if self.sample.seen < WARM_UP {
            return None;
        }
        let delay = self.last;
        let Part { least, most, spacing } = self.window.all();
        let since = |past: Time| (arrival.at - past).as_nanos().min(DAY_NS);
        let round = self.round();
        // An ACK may span packets that arrived beside the gap, as many as are acknowledged late.
        // They take their time.
        let arrived = i64::from(arrival.arrived()) - 1;
        let mean_spacing = self.spacing.get();
        let gap = at_most_a_day(interval.span).saturating_sub(arrived.saturating_mul(mean_spacing));
        let above = delay - least;
        let low = self.low.get().min(delay) - least;
        let jitter = self.jitter.get();
        let own = ratio(above, mean_spacing, 8);
        let mut clues = [0; Clues::COUNT];
        clues[Clues::POSITION] = ratio(above, most - least, 1_000);
        clues[Clues::QUEUE] = ratio(above, spacing, 8);
        clues[Clues::RANK] = self.sample.below(delay);
        clues[Clues::RECENT] = ratio(self.recent.get(), WHOLE, 1_000);
        clues[Clues::SINCE] = ratio(self.gaps.last.map_or(DAY_NS, since), round, 16);
        clues[Clues::LENGTH] = ratio(gap, mean_spacing, 32);
        let change = arrival.delay.map_or(0, |after| at_most_a_day(after - self.first) - delay);
        clues[Clues::AFTER] = signed(change, mean_spacing);
        clues[Clues::DROPPED] =
            self.pairs.share(gap.saturating_add(spacing), self.window.least_spacing);
        clues[Clues::JITTER] = ratio(jitter, mean_spacing, 256);
        clues[Clues::OWN] = own;
        clues[Clues::SINCE_BURST] = self.gaps.since_burst(self.rounds.arrived());
        clues[Clues::EVENNESS] = self.gaps.evenness();
        let (lost, flight) = self.rounds.lost_now(arrival);
        clues[Clues::SHARE] = ratio(lost, flight, 1_000);
        clues[Clues::SHARES] = self.rounds.mean_share();
        clues[Clues::QUEUED] = ratio(128 * lost, i64::from(own) + 8, 1);
        clues[Clues::EMPTY] = ratio(since(self.empty), round, 16);
        clues[Clues::LOW] = if self.card.absolute_delays {
            ratio(low, self.first.as_nanos().saturating_add(least), 1_000)
        } else {
            ratio(low, jitter.max(LEAST_JITTER), 8)
        };
        clues[Clues::CONTRAST] = self.level.contrast(delay);
        clues[Clues::CONTRASTS] = self.rounds.mean_contrast();
        clues[Clues::NOISE] = ratio(above, jitter.max(LEAST_JITTER), 8);
        clues[Clues::LOST] = self.rounds.mean_lost();
        clues[Clues::RATES] = self.rounds.spread_of_rates();
        clues[Clues::EARLIER] = self.gaps.earlier.reading();
        Some(Clues(clues))
    }

    /// How long a round lasts, nanoseconds.
    fn round(&self) -> i64 {
        if self.card.absolute_delays && self.sample.seen > 0 {
            self.first.as_nanos().saturating_add(self.last)
        } else {
            RECEIVERS_ROUND.as_nanos()
        }
    }

    /// Weighs the gap before `arrival`, and remembers the answer.
    fn weigh(&mut self, arrival: &Observation) {
        let Some(clues) = self.clues(arrival) else { return };
        let Weight { mut sum, own, heaviest } = self.card.weigh(&clues);
        if arrival.missing > LONGEST {
            sum = sum.min(0);
        }
        self.gaps.earlier.observe(own);
        let readings = heaviest.map(|clue| clues.0[clue]);
        let heaviest = heaviest.map(|clue| clue as u8);
        let oldest = usize::from(self.oldest) % GAPS;
        self.weighed[oldest] = Weighed { seq: arrival.seq as u32, sum, heaviest, readings };
        self.oldest = self.oldest.wrapping_add(1);
    }

    /// Takes a gap, whose packets the rounds have, into what is known of gaps and their rounds.
    fn observe_gap(&mut self, arrival: &Observation) {
        if arrival.since_last.is_some() {
            let arrived = self.rounds.arrived() - u64::from(arrival.spanned);
            self.gaps.observe_gap(arrival.at, arrived);
        }
        let round = self.round();
        let contrast = || match self.sample.seen {
            0 => 1_000,
            _ => self.level.contrast(self.last),
        };
        self.rounds.observe_gap(arrival, round, contrast);
    }

    #[cold]
    fn begin_round(&mut self, now: Time) {
        if let Some((packets, duration)) = self.rounds.begin(now, self.round()) {
            self.level.follow(packets, duration);
        }
    }

    /// Takes a delay since the first one into what is known of the queue.
    #[inline]
    fn observe_queue(&mut self, now: Time, delay: i64) {
        self.level.observe(delay);
        self.low.observe(now, LOW, delay);
        let queue = delay - self.window.least_delay();
        if queue < (2 * self.jitter.get()).max(EMPTY) {
            self.empty = now;
        }
    }

    /// Takes the time since the last arrival into the state.
    #[inline]
    fn observe_interval(&mut self, arrival: &Observation, span: Span) {
        let span = at_most_a_day(span);
        let per_packet =
            if arrival.spanned == 1 { span } else { span / i64::from(arrival.spanned.max(1)) };
        self.spacing.observe(per_packet);
        if arrival.reveals_gap() {
            self.recent.observe(WHOLE);
            self.before = None;
            return;
        }
        self.recent.observe(0);
        self.window.observe_spacing(per_packet);
        let Some(packets) = NonZeroU32::new(arrival.spanned) else { return };
        if let Some((before, earlier)) = self.before.replace((span, packets)) {
            let both = before + span;
            let packets = i64::from(earlier.get()) + i64::from(packets.get());
            let pair = if packets == 2 { both } else { 2 * both / packets };
            self.pairs.observe(pair, self.window.least_spacing);
        }
    }
}

impl Algorithm for Sift {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_delay().with_spacing()
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        if !observation.is_arrival() {
            return;
        }
        let is_gap = observation.reveals_gap();
        if is_gap {
            self.weigh(observation);
        }
        self.window.turn(observation.at);
        if self.rounds.is_due(observation.at) {
            self.begin_round(observation.at);
        }
        self.rounds.observe(observation.spanned);
        if is_gap {
            self.observe_gap(observation);
        }
        if let Some(interval) = &observation.since_last {
            self.observe_interval(observation, interval.span);
        }
        let Some(delay) = observation.delay else { return };
        if self.sample.seen == 0 {
            self.first = delay;
        }
        let delay = at_most_a_day(delay - self.first);
        self.jitter.observe((delay - self.last).abs());
        self.last = delay;
        self.window.observe_delay(delay);
        self.sample.observe(delay);
        self.observe_queue(observation.at, delay);
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        let mut newest_first = (1..=GAPS)
            .map(|back| &self.weighed[usize::from(self.oldest).wrapping_sub(back) % GAPS]);
        let Some(revealed_by) = loss.revealed_by else { return Judgement::without(Input::Gap) };
        let is_of_this_gap =
            |weighed: &&Weighed| weighed.seq == revealed_by.seq as u32 && weighed.sum != i16::MIN;
        let Some(weighed) = newest_first.find(is_of_this_gap) else {
            return Judgement::without(match self.sample.seen {
                0 => Input::Delay,
                1..=WARM_UP => Input::Other("a history of 32 packets"),
                _ => Input::Gap,
            });
        };
        let absolute = self.card.absolute_delays;
        let clues = core::array::from_fn(|i| {
            Some(Clues::in_words(weighed.heaviest[i].into(), weighed.readings[i], absolute))
        });
        let decibels = |tenths: i16| Amount::Number(f64::from(tenths) / 10.0, "dB");
        let evidence =
            Evidence::new(INFO.name, "evidence for a wireless loss", decibels(weighed.sum))
                .held_against("wireless above", decibels(self.margin))
                .beside(clues);
        let is_wireless = weighed.sum > self.margin;
        let judgement = Judgement::measured(Verdict::wireless_if(is_wireless), evidence);
        Judgement { probability: Some(probability(weighed.sum)), ..judgement }
    }
}

/// Nanoseconds, at most a day of either sign, so that sums and multiples of them overflow nothing.
#[inline]
fn at_most_a_day(span: Span) -> i64 {
    span.as_nanos().clamp(-DAY_NS, DAY_NS)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::Reason;
    use crate::Time;
    use std::vec::Vec;

    fn sift() -> Sift {
        Sift::new(&SiftConfig::default()).expect("valid")
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

        fn next(&mut self, after_ms: i64, delay_ms: i64, missing: u32) -> Observation {
            let span = Span::from_millis(after_ms);
            (self.at, self.seq) = (self.at + span, self.seq + 1 + u64::from(missing));
            let first =
                Observation::first(self.seq, self.at).with_delay(Some(Span::from_millis(delay_ms)));
            if self.seq > 1 { first.after(span).with_gap(missing) } else { first }
        }

        fn arrive(&mut self, after_ms: i64, delay_ms: i64, missing: u32) -> Observation {
            let arrival = self.next(after_ms, delay_ms, missing);
            self.sift.observe(&arrival);
            arrival
        }

        fn judge(&self, arrival: Observation) -> Judgement {
            self.sift.judge(&Loss::in_gap(arrival.seq - 1, arrival))
        }
    }

    #[test]
    fn the_state_fits_in_640_bytes() {
        assert!(size_of::<Sift>() <= 640, "{} bytes", size_of::<Sift>());
    }

    #[test]
    fn the_readings_at_a_gap_are_those_before_it() {
        // 64 packets 10 ms apart with delays 100, 101, …, 107 ms, 100, … Their jitter is 1 ms, and
        // 7 ms at each fall.
        let mut flow = Flow::of(sift());
        (0..64).for_each(|i| _ = flow.arrive(10, 100 + i % 8, 0));
        // The packet before the gap has 107 ms: at the top of the range, 7 ms or 0.7 spacings above
        // the least.
        let revealing = flow.next(20, 100, 1);
        let clues = flow.sift.clues(&revealing).expect("64 packets").0;
        assert_eq!(clues[Clues::POSITION], 1_000);
        assert_eq!(clues[Clues::QUEUE], 5, "0.7 spacings in eighths, rounded down");
        assert_eq!(clues[Clues::RANK], 32, "both sampled delays, of packets 0 and 32, are 100 ms");
        assert_eq!((clues[Clues::RECENT], clues[Clues::SINCE]), (0, u16::MAX));
        assert_eq!(clues[Clues::LENGTH], 64, "two mean spacings");
        assert_eq!(clues[Clues::AFTER], 1_000 - 22, "the delay fell by 7 ms, 0.7 spacings");
        assert_eq!(clues[Clues::DROPPED], 0, "no packets two apart are 30 ms apart");
        // 64 packets, of eight delays from 0 to 7 ms above the least.
        assert_eq!(clues[Clues::OWN], 5, "the same in the mean spacing");
        assert_eq!(clues[Clues::SHARE], 100, "one of the ten packets in 100 ms");
        assert_eq!((clues[Clues::SHARES], clues[Clues::LOST]), (0, 0), "no earlier losses");
        let without_gap = revealing.after(Span::from_millis(10)).with_gap(0);
        assert_eq!(flow.sift.clues(&without_gap), None);
    }

    #[test]
    fn the_readings_of_queue_and_rounds_worked_by_hand() {
        // At a sender: a packet every 10 ms with 100 ms, ten in a round. After a second the delay
        // is 130 ms for 300 ms, and then two packets are lost.
        let sift = Sift::with_rtts(&SiftConfig::default()).expect("valid");
        let mut flow = Flow::of(sift);
        (0..100).for_each(|_| _ = flow.arrive(10, 100, 0));
        (0..30).for_each(|_| _ = flow.arrive(10, 130, 0));
        let revealing = flow.next(30, 130, 2);
        let clues = flow.sift.clues(&revealing).expect("130 packets").0;
        assert_eq!(clues[Clues::LOW], 300, "30 ms for 100 ms, over a round-trip time of 100 ms");
        // The last packet with 100 ms was 330 ms ago, 2.54 rounds of 130 ms.
        assert_eq!(clues[Clues::EMPTY], 40, "2.54 rounds in sixteenths, rounded down");
        assert_eq!(clues[Clues::OWN], 24, "three packets of 10 ms, in eighths");
        assert_eq!(clues[Clues::SHARE], 153, "two packets of a flight of 13");
        assert_eq!(
            clues[Clues::QUEUED],
            8,
            "two packets lost to three queued and one, in sixteenths"
        );
        assert!(
            clues[Clues::CONTRAST] > 1_032,
            "more than a mean deviation above the second's mean"
        );
        assert_eq!(clues[Clues::NOISE], 808, "30 ms over a jitter of 30 ms / 64 * (63/64)^29");
    }

    #[test]
    fn extreme_inputs_are_congestion_and_no_panic() {
        // Span between packets and delay, in nanoseconds, of the i-th packet.
        type Times = fn(i64) -> (i64, i64);
        let streams: [(&str, Times); 6] = [
            ("times that stand still", |_| (0, 0)),
            ("a round-trip time of 0", |_| (1_000_000, 0)),
            ("a clock that jumps by an hour and back", |i| {
                (if i % 20 == 0 { 3_600_000_000_000 } else { 1_000_000 }, 50_000_000)
            }),
            ("100 Gb/s", |_| (120, 20_000)),
            ("a flight of one packet", |_| (100_000_000, 100_000_000)),
            ("delays of days", |i| (1_000_000, (i % 2) << 50)),
        ];
        for (what, times) in streams {
            for sift in [Sift::new, Sift::with_rtts] {
                let mut sift = sift(&SiftConfig::default()).expect("valid");
                let mut at = Time::ZERO;
                let mut seq = 0;
                for i in 0..2_000 {
                    let (span, delay) = times(i);
                    let span = Span::from_nanos(span);
                    // The clock goes back by half of what it went forth.
                    at = if i % 40 == 39 { at - span * 10 } else { at + span };
                    let missing = if i % 100 == 99 { 5_000 } else { 0 };
                    seq += 1 + u64::from(missing);
                    let arrival = Observation::first(seq, at)
                        .with_delay(Some(Span::from_nanos(delay)))
                        .after(span)
                        .with_gap(missing);
                    sift.observe(&arrival);
                    if missing > 0 {
                        let judgement = sift.judge(&Loss::in_gap(seq - 1, arrival));
                        assert_eq!(
                            judgement.verdict,
                            Verdict::Congestion,
                            "{what}, {i}: {judgement}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_32_packets_are_a_history_and_no_evidence() {
        let mut flow = Flow::of(sift());
        (0..31).for_each(|_| _ = flow.arrive(10, 100, 0));
        let early = flow.arrive(20, 100, 1);
        assert!(matches!(flow.judge(early).reason, Reason::Missing { input: Input::Other(_) }));
        let later = flow.arrive(20, 100, 1);
        assert!(flow.judge(later).evidence().is_some());
    }

    #[test]
    fn a_loss_is_wireless_in_an_empty_queue_congested_in_a_full_one() {
        // A sawtooth of delays from 100 to 199 ms, and a gap at its foot or at its top.
        let verdict = |phase: i64| {
            let mut flow = Flow::of(sift());
            (0..1_000 + phase).for_each(|i| _ = flow.arrive(10, 100 + i % 100, 0));
            let revealing = flow.arrive(20, 100 + (1_001 + phase) % 100, 1);
            flow.judge(revealing)
        };
        assert_eq!(verdict(2).verdict, Verdict::Wireless, "{}", verdict(2));
        assert_eq!(verdict(99).verdict, Verdict::Congestion, "{}", verdict(99));
    }

    #[test]
    fn a_gap_older_than_the_last_eight_is_forgotten() {
        let mut flow = Flow::of(sift());
        (0..40).for_each(|_| _ = flow.arrive(10, 100, 0));
        let gaps: Vec<_> = (0..9).map(|_| flow.arrive(20, 100, 1)).collect();
        assert_eq!(flow.judge(gaps[0]).reason, Reason::Missing { input: Input::Gap });
        assert!(gaps[1..].iter().all(|gap| flow.judge(*gap).verdict != Verdict::Undecided));
    }
}
