//! Spike: is the trip time in a spike?
//!
//! Plotted over time, relative one-way trip times (ROTT) show spikes while a queue on the path is
//! filling. A loss during a spike is congestion; any other loss is wireless. The state has
//! hysteresis:
//!
//! ```text
//! enter the spike  if  rott > B_spikestart = rott_min + alpha (rott_max - rott_min)
//! leave it         if  rott < B_spikeend   = rott_min + beta  (rott_max - rott_min)
//! ```
//!
//! rott_min and rott_max are the extremes so far. Tobe et al., who proposed the idea, use rott_min
//! + 20 ms and rott_min + 5 ms ("Spike-Tobe").
//!
//! Source: Cen, Cosman & Voelker 2003, section III-B, figure 3.
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `alpha` | range of ROTTs | 1/2 | beta to 2 (the paper tries up to 1.4) |
//! | `beta` | range of ROTTs | 1/3 | 0 to alpha |
//! | `start`, `end` (Spike-Tobe) | ms | 20, 5 | 0 <= end <= start |
//! | `current_packet` | | included | see below |
//! | `update` | | every-arrival | see below |
//! | `judged_by` | | after-gap | see below |
//! | `window` | ms or packets | all so far | see below |
//!
//! Deviations: none. The paper leaves open:
//!
//! - *Do the extremes include the packet's own ROTT?* Yes: the paper says that alpha >= 1 makes
//!   every loss wireless, which is true only then (otherwise a new maximum would exceed the old
//!   threshold). With 0 < beta and alpha < 1 both readings give the same state. The other reading
//!   is `excluded`.
//! - *When may the state change?* On every packet, as the text says. Table IV lists the thresholds
//!   among the values computed only after a loss; `update = "at-losses"` is that reading.
//! - *Has the packet that reveals a loss already changed the state?* Yes: the state changes "on
//!   receipt of a packet". `before-gap` uses the state before it.
//! - *For how long does an extreme hold?* For ever, as published. Section IX-B asks what happens
//!   when the path changes. With a `window`, the extremes are those of the last ROTTs only, of 3/4
//!   to all of the window (see [`Lookback`]).
//! - *The first state* is "not in spike": the first ROTT is both extremes and exceeds neither.

use super::{AnyAlgorithm, CEN, JudgedBy, Update};
use crate::filter::{Extremes, Lookback};
use crate::registry::{
    ConfigError, End, Field, Info, Parameters, Setting, check, check_order, choice,
};
use crate::verdict::Input;
use crate::{Algorithm, Evidence, Judgement, Loss, Needs, Observation, Span, Verdict};

/// The Spike algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Spike {
    thresholds: SpikeThresholds,
    current_packet: CurrentPacket,
    update: Update,
    extremes: Extremes,
    /// B_spikestart - rott_min, rounded down, and B_spikeend - rott_min, rounded up; recomputed
    /// when an extreme moves.
    start: Span,
    end: Span,
    state: State,
    judged_by: JudgedBy,
    /// The state before the last packet.
    before: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    NotInSpike,
    InSpike,
}

/// Parameters of [`Spike`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpikeConfig {
    /// Where the spike state starts and ends.
    pub thresholds: SpikeThresholds,
    /// Whether the extremes include the packet's own ROTT.
    pub current_packet: CurrentPacket,
    /// When the state may change.
    pub update: Update,
    /// How far back the extremes look.
    pub window: Lookback,
    /// Whose state decides.
    pub judged_by: JudgedBy,
}

/// Where the spike state starts and ends, above rott_min.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpikeThresholds {
    /// In proportion to rott_max - rott_min.
    Proportional {
        /// Where it starts, 0 to 2.
        alpha: f64,
        /// Where it ends, 0 to alpha.
        beta: f64,
    },
    /// At fixed distances (Tobe).
    Fixed {
        /// Where it starts.
        start: Span,
        /// Where it ends, zero to `start`.
        end: Span,
    },
}

choice! {
    /// Whether the extremes include the packet's own ROTT.
    pub enum CurrentPacket {
        /// The extremes include it.
        #[default]
        Included = "included",
        /// Only from the next packet on.
        Excluded = "excluded",
    }
}

impl Default for SpikeConfig {
    /// Spike: alpha 1/2, beta 1/3.
    fn default() -> Self {
        Self {
            thresholds: SpikeThresholds::Proportional { alpha: 0.5, beta: 1.0 / 3.0 },
            current_packet: CurrentPacket::Included,
            update: Update::EveryArrival,
            window: Lookback::ALL,
            judged_by: JudgedBy::AfterGap,
        }
    }
}

impl SpikeConfig {
    /// Spike-Tobe: 20 ms and 5 ms above the smallest ROTT.
    pub fn tobe() -> Self {
        let thresholds =
            SpikeThresholds::Fixed { start: Span::from_millis(20), end: Span::from_millis(5) };
        Self { thresholds, ..Self::default() }
    }

    /// Whether the thresholds are fixed, as Tobe's.
    pub fn is_fixed(&self) -> bool {
        matches!(self.thresholds, SpikeThresholds::Fixed { .. })
    }
}

pub(super) static SPIKE: Info =
    Info::new("Spike", "congestion while the trip time is in a spike between its extremes")
        .from(CEN, "III-B")
        .with_settings(&PROPORTIONAL)
        .with_operations((5, 1), (0, 0));

static SPIKE_TOBE: Info = Info::new(
    "Spike-Tobe",
    "Spike with fixed thresholds of 20 ms and 5 ms above the smallest trip time",
)
.from(CEN, "III-B")
.with_aliases(&["tobe"])
.with_settings(&FIXED)
.with_operations((5, 1), (0, 0));

const PROPORTIONAL: [Setting; 7] = settings([
    Setting::new(
        "alpha",
        "the spike state starts at rott_min + alpha (rott_max - rott_min); 0 to 2",
    ),
    Setting::new(
        "beta",
        "the spike state ends at rott_min + beta (rott_max - rott_min); 0 to alpha",
    ),
]);

const FIXED: [Setting; 7] = settings([
    Setting::new(
        "start_ms",
        "the spike state starts at rott_min + start_ms, milliseconds, not negative",
    ),
    Setting::new(
        "end_ms",
        "the spike state ends at rott_min + end_ms, milliseconds, 0 to start_ms",
    ),
]);

/// The settings of a Spike with these thresholds.
const fn settings([start, end]: [Setting; 2]) -> [Setting; 7] {
    let current_packet = "whether a packet's own ROTT counts among the extremes it is held against: included or excluded";
    [
        start,
        end,
        Setting::new("current_packet", current_packet),
        Setting::new("update", "when the state may change: every-arrival or at-losses"),
        JudgedBy::SETTING,
        Lookback::WINDOW_MS,
        Lookback::WINDOW_PKTS,
    ]
}

impl Parameters for SpikeConfig {
    fn info(&self) -> &'static Info {
        if self.is_fixed() { &SPIKE_TOBE } else { &SPIKE }
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match (key, &mut self.thresholds) {
            ("alpha", SpikeThresholds::Proportional { alpha, .. }) => Field::Number(alpha),
            ("beta", SpikeThresholds::Proportional { beta, .. }) => Field::Number(beta),
            ("start_ms", SpikeThresholds::Fixed { start, .. }) => Field::Millis(start),
            ("end_ms", SpikeThresholds::Fixed { end, .. }) => Field::Millis(end),
            ("current_packet", _) => Field::Choice(&mut self.current_packet),
            ("update", _) => Field::Choice(&mut self.update),
            ("judged_by", _) => Field::Choice(&mut self.judged_by),
            _ => return self.window.field(key),
        })
    }

    fn build(&self, _: End) -> Result<AnyAlgorithm, ConfigError> {
        Spike::new(self).map(AnyAlgorithm::Spike)
    }
}

impl Spike {
    /// A new Spike.
    ///
    /// # Errors
    /// If a threshold is out of range, the end threshold exceeds the start threshold, or the window
    /// is invalid.
    pub fn new(config: &SpikeConfig) -> Result<Self, ConfigError> {
        config.window.validate()?;
        match config.thresholds {
            SpikeThresholds::Proportional { alpha, beta } => {
                check("alpha", alpha, |a| (0.0..=2.0).contains(&a), "a number from 0 to 2")?;
                check("beta", beta, |b| b >= 0.0, "a number from 0 to alpha")?;
                check_order(("beta", beta), ("alpha", alpha))?;
            }
            SpikeThresholds::Fixed { start, end } => {
                let start_ms = start.as_millis_f64();
                let end_ms = end.as_millis_f64();
                check("end_ms", end_ms, |e| e >= 0.0, "a number from 0 to start_ms")?;
                check_order(("end_ms", end_ms), ("start_ms", start_ms))?;
            }
        }
        let mut spike = Self {
            thresholds: config.thresholds,
            current_packet: config.current_packet,
            update: config.update,
            extremes: Extremes::over(config.window),
            start: Span::ZERO,
            end: Span::ZERO,
            state: State::NotInSpike,
            judged_by: config.judged_by,
            before: State::NotInSpike,
        };
        spike.set_thresholds();
        Ok(spike)
    }

    /// Smallest and largest ROTT, so far or within the window.
    pub fn extremes(&self) -> &Extremes {
        &self.extremes
    }

    fn name(&self) -> &'static str {
        match self.thresholds {
            SpikeThresholds::Proportional { .. } => "Spike",
            SpikeThresholds::Fixed { .. } => "Spike-Tobe",
        }
    }

    fn set_thresholds(&mut self) {
        match self.thresholds {
            // Cen III-B: B_spikestart and B_spikeend, both less rott_min. Rounding changes no
            // comparison with an integer.
            SpikeThresholds::Proportional { alpha, beta } => {
                let range = self.extremes.range().unwrap_or(Span::ZERO).as_nanos_f64();
                self.start = Span::floor(alpha * range);
                self.end = Span::ceil(beta * range);
            }
            // Cen III-B, of Tobe: rott_min + 20 ms and rott_min + 5 ms.
            SpikeThresholds::Fixed { start, end } => {
                self.start = start;
                self.end = end;
            }
        }
    }

    #[inline]
    fn set_state(&mut self, above_min: Span) {
        // Cen III-B: "on receipt of a packet", enters above B_spikestart and leaves below
        // B_spikeend.
        self.state = match self.state {
            State::NotInSpike if above_min > self.start => State::InSpike,
            State::InSpike if above_min < self.end => State::NotInSpike,
            unchanged => unchanged,
        };
    }
}

impl Algorithm for Spike {
    fn name(&self) -> &'static str {
        Spike::name(self)
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_delay()
    }

    #[inline(always)] // In front of every packet, and behind two hybrids.
    fn observe(&mut self, observation: &Observation) {
        let Some(rott) = observation.delay else { return };
        let update_is_due = self.update.is_due(observation);
        self.before = self.state;
        if self.current_packet == CurrentPacket::Excluded
            && update_is_due
            && let Some(above_min) = self.extremes.above_min(rott)
        {
            self.set_state(above_min);
        }
        let position = self.extremes.observe(rott, observation.at);
        if position.new_extreme {
            self.set_thresholds();
        }
        if self.current_packet == CurrentPacket::Included && update_is_due {
            self.set_state(position.above_min);
        }
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        if loss.revealed_by.is_none() {
            return Judgement::without(Input::Gap);
        }
        let Some(rott) = loss.delay() else { return Judgement::without(Input::Delay) };
        let Some(measured) = self.extremes.above_min(rott) else {
            return Judgement::without(Input::Other("a smallest and a largest trip time"));
        };
        let state = match self.judged_by {
            JudgedBy::AfterGap => self.state,
            JudgedBy::BeforeGap => self.before,
        };
        // Cen III-B: a loss in the spike state is congestion, any other is wireless.
        let evidence = Evidence::new(self.name(), "ROTT above its minimum", measured);
        match state {
            State::NotInSpike => {
                let evidence = evidence.held_against("enters above", self.start);
                Judgement::measured(Verdict::Wireless, evidence)
            }
            State::InSpike => {
                let evidence = evidence.held_against("exits below", self.end);
                Judgement::measured(Verdict::Congestion, evidence)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::Time;
    use std::vec::Vec;

    /// A packet behind a gap of `missing`.
    fn behind_gap(seq: u64, rott_ms: i64, missing: u32) -> Observation {
        let rott = Some(Span::from_millis(rott_ms));
        Observation::first(seq, Time::ZERO)
            .with_delay(rott)
            .after(Span::from_millis(1))
            .with_gap(missing)
    }

    /// Verdicts about one loss before each packet except the first.
    fn verdicts(change: impl Fn(&mut SpikeConfig), rotts_ms: &[i64]) -> Vec<Verdict> {
        let mut config = SpikeConfig::default();
        change(&mut config);
        let mut spike = Spike::new(&config).expect("valid");
        let judge = |rott: &i64| {
            let arrival = behind_gap(9, *rott, 1);
            spike.observe(&arrival);
            spike.judge(&Loss::in_gap(8, arrival)).verdict
        };
        rotts_ms.iter().map(judge).skip(1).collect()
    }

    fn with(alpha: f64, beta: f64, current_packet: CurrentPacket) -> impl Fn(&mut SpikeConfig) {
        move |c| {
            c.thresholds = SpikeThresholds::Proportional { alpha, beta };
            c.current_packet = current_packet;
        }
    }

    use CurrentPacket::{Excluded, Included};
    use Verdict::{Congestion, Wireless};
    const ROTTS_MS: [i64; 12] = [50, 10, 60, 35, 36, 26, 27, 90, 5, 48, 40, 30];

    #[test]
    fn alpha_of_one_makes_losses_wireless_with_own_rott_included() {
        // Section III-B: "If alpha >= 1, M_c is 100% while M_w is 0%".
        assert_eq!(verdicts(with(1.0, 0.5, Included), &ROTTS_MS), [Wireless; 11]);
        assert_eq!(verdicts(with(1.4, 0.5, Included), &ROTTS_MS), [Wireless; 11]);
        assert!(verdicts(with(1.0, 0.5, Excluded), &ROTTS_MS).contains(&Congestion));
    }

    #[test]
    fn beta_of_zero_never_leaves_the_spike_with_own_rott_included() {
        let verdicts = verdicts(with(0.5, 0.0, Included), &[0, 10, 5, 0, -20, -20]);
        assert_eq!(verdicts, [Congestion; 5]);
    }

    #[test]
    fn published_thresholds_make_both_readings_of_extremes_agree() {
        let published = |current_packet| verdicts(with(0.5, 1.0 / 3.0, current_packet), &ROTTS_MS);
        let verdicts = published(Included);
        assert_eq!(verdicts, published(Excluded));
        assert!(verdicts.contains(&Congestion) && verdicts.contains(&Wireless));
    }

    #[test]
    fn the_state_before_the_revealing_packet_decides_if_asked_for() {
        // Extremes 0 and 60 ms. Each verdict is that of the state before the packet.
        let rotts_ms = [0, 60, 0, 31, 25, 19, 31];
        let after = verdicts(|_| (), &rotts_ms);
        let before = verdicts(|c| c.judged_by = JudgedBy::BeforeGap, &rotts_ms);
        assert_eq!(after, [Congestion, Wireless, Congestion, Congestion, Wireless, Congestion]);
        assert_eq!(before[1..], after[..5]);
    }

    #[test]
    fn the_state_follows_every_packet_unless_only_losses_change_it() {
        // Extremes 0 and 30 ms; a spike at 30 ms without a loss, then a loss at 12 ms, between the
        // thresholds, where the state persists.
        let after = |update| {
            let mut spike =
                Spike::new(&SpikeConfig { update, ..SpikeConfig::default() }).expect("valid");
            let mut last = Observation::first(0, Time::ZERO);
            for (rott_ms, missing) in [(0, 0), (30, 0), (12, 1)] {
                last = behind_gap(0, rott_ms, missing);
                spike.observe(&last);
            }
            spike.judge(&Loss::in_gap(0, last)).verdict
        };
        assert_eq!(after(Update::EveryArrival), Congestion);
        assert_eq!(after(Update::AtLosses), Wireless);
    }
}
