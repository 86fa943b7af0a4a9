//! Biaz and mBiaz: did the packet after the gap arrive exactly when the lost packets' transmission
//! times predict?
//!
//! If the last link is wireless, is the bottleneck and carries one flow, packets arrive one
//! transmission time apart. Packets corrupted on that link still occupied it, so after n of them
//! the next packet arrives n + 1 transmission times after the previous one. If it arrives earlier,
//! the missing packets were never transmitted: a queue dropped them. If it arrives much later,
//! queues elsewhere have grown.
//!
//! ```text
//! wireless  if  (n + 1) T_min <= T_i < (n + k) T_min,   else congestion
//! ```
//!
//! T_i is the time between the two arrivals around the gap of n packets, T_min the smallest
//! inter-arrival time so far.
//!
//! Source: Cen, Cosman & Voelker 2003, section III-A, figures 1 and 2; k = 2 is Biaz & Vaidya 1999.
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `upper_limit` (k) | T_min | 2 (Biaz), 1.25 (mBiaz) | above 1 |
//! | `t_min_over` | | all-intervals | see below |
//! | `t_min_quantile` | share of intervals | 0: the smallest one | 0 to 1/2, see below |
//! | `window` | ms or packets | all so far | see below |
//!
//! Deviations from the rule: none. The paper leaves open:
//!
//! - *For how long does a minimum hold?* For ever, as published. Section IX-B asks what happens
//!   when the path changes. With a `window`, T_min is the smallest of the last intervals only, of
//!   3/4 to all of the window (see [`Lookback`]). If the window holds no other interval to compare
//!   with, an interval counts as the first one.
//! - *May an interval across a gap lower T_min?* Yes: the paper calls T_min the minimum of
//!   "inter_arr_time", the time between packets that arrived, and divides only T_avg by the packets
//!   between (VII). A gap made by a queue can be as short as one transmission; a gap of corrupted
//!   packets cannot. The other reading, `consecutive-packets`, ignores intervals across gaps. In
//!   either reading such an interval is never the *first* value: it would be compared with itself,
//!   and every loss of a flow that begins with losses would be congestion.
//! - *An interval of zero* does not count for T_min: the clock was too coarse to measure a
//!   transmission.
//! - *An interval of several arrivals* (one ACK for two packets) counts with each packet's share;
//!   its gap has all its packets.
//! - *What if a host delivers packets in batches?* Then the smallest interval is microseconds,
//!   however slow the link. With `t_min_quantile`, T_min is a low quantile of the intervals, which
//!   ignores the batch intervals as long as they are a smaller share. It uses all intervals, so it
//!   excludes a `window`. The papers use the smallest interval.
//! - *A tie* is congestion at the upper limit and wireless at the lower one, as printed for Biaz;
//!   figure 2 is read in the same way. The lower limit is compared in integers, so on a saturated
//!   link, where T_i is exactly (n + 1) T_min, it is a tie.

use super::{AnyAlgorithm, CEN};
use crate::filter::{Lookback, Minimum, Quantile};
use crate::registry::{ConfigError, End, Field, Info, Parameters, Setting, check, choice};
use crate::verdict::Input;
use crate::{Algorithm, Evidence, Judgement, Loss, Needs, Observation, Span, Verdict};

/// Biaz, or mBiaz if its upper limit is below (n + 2) T_min.
#[derive(Clone, Copy, Debug)]
pub struct Biaz {
    /// k - 1: the width of the wireless range, in T_min.
    width: f64,
    t_min_over: MinimumOver,
    name: &'static str,
    t_min: TMin,
}

/// T_min, as the smallest interval or as a low quantile.
#[derive(Clone, Copy, Debug)]
enum TMin {
    Smallest(Minimum),
    Quantile(Quantile),
}

impl TMin {
    #[inline]
    fn get(&self) -> Option<Span> {
        match self {
            TMin::Smallest(minimum) => minimum.get(),
            TMin::Quantile(quantile) => quantile.get(),
        }
    }
}

/// Parameters of [`Biaz`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BiazConfig {
    /// k of the upper limit (n + k) T_min, above 1.
    pub upper_limit: f64,
    /// Which intervals may lower T_min.
    pub t_min_over: MinimumOver,
    /// The quantile of the intervals used as T_min, 0 to 1/2; 0 is the smallest interval.
    pub t_min_quantile: f64,
    /// How far back intervals count.
    pub window: Lookback,
}

choice! {
    /// Which intervals may lower T_min.
    pub enum MinimumOver {
        /// All of them, including those across a gap.
        #[default]
        AllIntervals = "all-intervals",
        /// Only those between two packets with consecutive numbers.
        ConsecutivePackets = "consecutive-packets",
    }
}

impl Default for BiazConfig {
    /// Biaz: upper limit n + 2.
    fn default() -> Self {
        Self {
            upper_limit: 2.0,
            t_min_over: MinimumOver::AllIntervals,
            t_min_quantile: 0.0,
            window: Lookback::ALL,
        }
    }
}

impl BiazConfig {
    /// mBiaz: upper limit n + 1.25.
    pub fn modified() -> Self {
        Self { upper_limit: 1.25, ..Self::default() }
    }

    /// Whether the upper limit is tighter than in Biaz.
    pub fn is_modified(&self) -> bool {
        self.upper_limit < 2.0
    }
}

pub(super) static BIAZ: Info = Info::new(
    "Biaz",
    "wireless if the packet after the gap came as soon as the lost ones allowed, and no later",
)
.from(CEN, "III-A")
.with_settings(SETTINGS)
.with_operations((2, 4), (0, 2));

pub(super) static MBIAZ: Info =
    Info::new("mBiaz", "Biaz with a tighter upper limit: fewer congestion losses pass")
        .from(CEN, "III-A")
        .with_aliases(&["modified-biaz"])
        .with_settings(SETTINGS)
        .with_operations((2, 4), (0, 2));

const SETTINGS: &[Setting] = &[
    Setting::new(
        "upper_limit",
        "k of the upper limit (n + k) T_min, a number above 1; mBiaz if it is below 2",
    ),
    Setting::new(
        "t_min_over",
        "which intervals may lower T_min: all-intervals or consecutive-packets",
    ),
    Setting::new(
        "t_min_quantile",
        "T_min is this quantile of the intervals, 0 to 0.5; 0: the smallest one",
    ),
    Lookback::WINDOW_MS,
    Lookback::WINDOW_PKTS,
];

impl Parameters for BiazConfig {
    fn info(&self) -> &'static Info {
        if self.is_modified() { &MBIAZ } else { &BIAZ }
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "upper_limit" => Field::Number(&mut self.upper_limit),
            "t_min_over" => Field::Choice(&mut self.t_min_over),
            "t_min_quantile" => Field::Number(&mut self.t_min_quantile),
            _ => return self.window.field(key),
        })
    }

    fn build(&self, _: End) -> Result<AnyAlgorithm, ConfigError> {
        Biaz::new(self).map(AnyAlgorithm::Biaz)
    }
}

impl Biaz {
    /// A new Biaz.
    ///
    /// # Errors
    /// If the upper limit is not above 1, the quantile is out of range or combined with a window,
    /// or the window is invalid.
    pub fn new(config: &BiazConfig) -> Result<Self, ConfigError> {
        check("upper_limit", config.upper_limit, |k| k > 1.0, "a number above 1")?;
        config.window.validate()?;
        let q = config.t_min_quantile;
        check("t_min_quantile", q, |q| (0.0..=0.5).contains(&q), "a number from 0 to 0.5")?;
        if q > 0.0 && config.window != Lookback::ALL {
            let expected = "0 beside window_ms or window_pkts";
            return Err(ConfigError::OutOfRange { key: "t_min_quantile", value: q, expected });
        }
        Ok(Self {
            width: config.upper_limit - 1.0,
            t_min_over: config.t_min_over,
            name: config.info().name,
            t_min: if q > 0.0 {
                TMin::Quantile(Quantile::new(q))
            } else {
                TMin::Smallest(Minimum::over(config.window))
            },
        })
    }

    /// Whether an interval across a gap may lower T_min. It is never the first value.
    fn may_span_a_gap(&self) -> bool {
        self.t_min_over == MinimumOver::AllIntervals && self.t_min.get().is_some()
    }

    /// T_min, if known.
    pub fn t_min(&self) -> Option<Span> {
        self.t_min.get()
    }
}

impl Algorithm for Biaz {
    fn name(&self) -> &'static str {
        self.name
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_spacing()
    }

    #[inline(always)] // In front of every packet, and behind two hybrids.
    fn observe(&mut self, observation: &Observation) {
        let Some(interval) = observation.since_last else { return };
        if let TMin::Smallest(minimum) = &mut self.t_min {
            minimum.forget(observation.at);
        }
        if observation.reveals_gap() && !self.may_span_a_gap() {
            return;
        }
        // One ACK may report several arrivals.
        let arrived = observation.arrived();
        let span = if arrived == 1 { interval.span } else { interval.span / i64::from(arrived) };
        // Cen III-A: T_min is the minimum of the inter-arrival times so far.
        match &mut self.t_min {
            TMin::Smallest(minimum) => minimum.observe(span),
            TMin::Quantile(quantile) => quantile.observe(span),
        }
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        let Some(revealed_by) = loss.revealed_by else { return Judgement::without(Input::Gap) };
        let Some(interval) = revealed_by.since_last else {
            return Judgement::without(Input::Earlier);
        };
        let Some(t_min) = self.t_min.get() else {
            return Judgement::without(Input::Other("a smallest inter-arrival time"));
        };
        // Cen III-A: wireless if (n + 1) T_min <= T_i < (n + k) T_min. The arrival spans n + 1
        // packets. The upper limit is rounded up to an integer, which changes no comparison.
        let at_least = t_min * i64::from(revealed_by.spanned);
        let below = at_least + Span::ceil(self.width * t_min.as_nanos_f64());
        let wireless = at_least <= interval.span && interval.span < below;
        let evidence = Evidence::new(self.name, "inter-arrival time", interval.span)
            .held_against("wireless from", at_least)
            .held_against("wireless below", below)
            .for_gap_of(revealed_by.missing);
        Judgement::measured(Verdict::wireless_if(wireless), evidence)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::Time;
    use std::vec::Vec;

    fn arrival(span_ms: i64, packets: u32) -> Observation {
        Observation::first(0, Time::ZERO).after(Span::from_millis(span_ms)).with_gap(packets - 1)
    }

    fn t_min_after(t_min_over: MinimumOver, intervals: &[(i64, u32)]) -> Option<i64> {
        let mut biaz =
            Biaz::new(&BiazConfig { t_min_over, ..BiazConfig::default() }).expect("valid");
        for &(span_ms, packets) in intervals {
            biaz.observe(&arrival(span_ms, packets));
        }
        biaz.t_min().map(|t| t.as_nanos() / 1_000_000)
    }

    #[test]
    fn an_interval_across_a_gap_lowers_t_min_unless_ruled_out() {
        let intervals = [(40, 1), (30, 3), (50, 1)];
        assert_eq!(t_min_after(MinimumOver::AllIntervals, &intervals), Some(30));
        assert_eq!(t_min_after(MinimumOver::ConsecutivePackets, &intervals), Some(40));
    }

    #[test]
    fn an_interval_across_a_gap_is_never_the_first_minimum() {
        for reading in [MinimumOver::AllIntervals, MinimumOver::ConsecutivePackets] {
            assert_eq!(t_min_after(reading, &[(30, 2)]), None);
            assert_eq!(t_min_after(reading, &[(30, 2), (40, 1)]), Some(40));
        }
    }

    #[test]
    fn a_low_quantile_keeps_t_min_where_few_packets_come_in_batches() {
        // A packet every 10 ms. One in fifty arrives together with the previous one, and the next
        // one 20 ms later.
        let intervals: Vec<(i64, u32)> =
            (0..1_000).map(|i| (if i % 50 == 7 { 1 } else { 10_000 }, 1)).collect();
        let t_min_us = |t_min_quantile| {
            let mut biaz =
                Biaz::new(&BiazConfig { t_min_quantile, ..BiazConfig::default() }).expect("valid");
            for &(span_us, _) in &intervals {
                biaz.observe(&Observation::first(0, Time::ZERO).after(Span::from_micros(span_us)));
            }
            biaz.t_min().map(|t| t.as_nanos() / 1_000)
        };
        assert_eq!(t_min_us(0.0), Some(1));
        assert!(
            t_min_us(0.1).is_some_and(|us| (9_990..=10_000).contains(&us)),
            "{:?}",
            t_min_us(0.1)
        );
    }

    #[test]
    fn a_quantile_beyond_a_half_or_beside_a_window_is_refused() {
        let refused = |t_min_quantile, pkts| {
            let window = Lookback { pkts, ..Lookback::ALL };
            Biaz::new(&BiazConfig { t_min_quantile, window, ..BiazConfig::default() }).is_err()
        };
        assert_eq!(
            [refused(0.5, 0), refused(0.51, 0), refused(0.1, 40), refused(0.0, 40)],
            [false, true, true, false]
        );
    }

    #[test]
    fn the_name_tells_biaz_from_its_modification() {
        let name = |upper_limit| {
            Biaz::new(&BiazConfig { upper_limit, ..BiazConfig::default() }).map(|b| b.name())
        };
        assert_eq!([name(2.0), name(1.25), name(1.8)], [Ok("Biaz"), Ok("mBiaz"), Ok("mBiaz")]);
    }
}
