//! ZigZag: is the trip time well below its mean?
//!
//! Congestion control makes the relative one-way trip time (ROTT) of a flow a sawtooth: it rises
//! while a queue fills and falls after a loss. A congestion loss therefore coincides with a high
//! ROTT. The more packets are lost at once, the higher the ROTT that still counts as low. rott is
//! that of the last packet before the gap, n the number of packets lost:
//!
//! ```text
//! wireless  if  n = 1 and rott < mean - dev,      n = 2 and rott < mean - dev/2,
//!               n = 3 and rott < mean,            n > 3 and rott < mean - dev/2,      else congestion
//! mean <- (1 - alpha) mean + alpha rott           dev <- (1 - 2 alpha) dev + 2 alpha |rott - mean|
//! ```
//!
//! Source: Cen, Cosman & Voelker 2003, section III-C, figure 4.
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `alpha` | | 1/32 | above 0, to 1/2 |
//! | `above_three` | | printed | see below |
//! | `deviation_from` | | new-mean | see below |
//! | `first_deviation` | | zero | see below |
//! | `judged_by` | | before-gap | see below |
//!
//! Deviations: none. The paper leaves open:
//!
//! - *The limit for n > 3.* The printed rule has mean - dev/2, lower than for n = 3; the text says
//!   that the limit rises with n. The printed rule is the default, since later work repeats it.
//!   `mean` keeps the limit of n = 3; `mean-plus-half` raises it by half a deviation.
//! - *Which mean does the deviation use?* The one just updated, as the two lines read in sequence.
//!   The other reading, `old-mean`, makes the deviation larger by a factor 1 / (1 - alpha), 3 %.
//! - *First values.* The mean begins with the first ROTT, the only value that does not depend on
//!   the sender's clock. The deviation begins with zero or, with `first-distance`, with the second
//!   packet's distance from the first.
//! - *Do mean and deviation include the packet that reveals the gap?* Yes: both already hold its
//!   trip time when the gap is judged.
//! - *Whose trip time is rott_i?* Section III-C uses "the same notation as in the Biaz scheme",
//!   where P_i is the last packet before the gap. `after-gap` uses the packet that reveals the gap
//!   instead. A packet dropped at one queue is also missing from the next queue, so the packet
//!   after it waits less there; the packet before it does not. If the trip time before the gap is
//!   unknown, the one after it is used.
//! - The brackets in the printed deviation are read as an absolute value.

use super::{AnyAlgorithm, CEN, JudgedBy};
use crate::filter::{DeviationFrom, FirstDeviation, MeanDeviation, Spread};
use crate::registry::{ConfigError, End, Field, Info, Parameters, Setting, check, choice};
use crate::time::Nanos;
use crate::verdict::Input;
use crate::{Algorithm, Evidence, Judgement, Loss, Needs, Observation, Span};

/// The ZigZag algorithm.
#[derive(Clone, Copy, Debug)]
pub struct ZigZag {
    above_three: AboveThree,
    judged_by: JudgedBy,
    rott: MeanDeviation,
}

/// Parameters of [`ZigZag`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZigZagConfig {
    /// Gain of the mean, above 0 to 1/2; the gain of the deviation is twice that.
    pub alpha: f64,
    /// The limit for n > 3.
    pub above_three: AboveThree,
    /// The mean used for the deviation.
    pub deviation_from: DeviationFrom,
    /// The deviation at the start.
    pub first_deviation: FirstDeviation,
    /// Whose trip time decides.
    pub judged_by: JudgedBy,
}

choice! {
    /// The limit for more than three lost packets.
    pub enum AboveThree {
        /// mean - dev/2: the rule as printed.
        #[default]
        Printed = "printed",
        /// mean, as for three.
        Mean = "mean",
        /// mean + dev/2: rises with n, as the text says.
        MeanPlusHalf = "mean-plus-half",
    }
}

impl Default for ZigZagConfig {
    fn default() -> Self {
        Self {
            alpha: 1.0 / 32.0,
            above_three: AboveThree::Printed,
            deviation_from: DeviationFrom::NewMean,
            first_deviation: FirstDeviation::Zero,
            judged_by: JudgedBy::BeforeGap,
        }
    }
}

pub(super) static ZIGZAG: Info =
    Info::new("ZigZag", "wireless if the trip time is well below its mean for that many losses")
        .from(CEN, "III-C")
        .with_settings(&[
            Setting::new(
                "alpha",
                "gain of the mean ROTT, above 0 to 0.5; its deviation has twice that",
            ),
            Setting::new(
                "above_three",
                "limit for n > 3: printed (mean - dev/2), mean, or mean-plus-half (mean + dev/2)",
            ),
            Setting::new(
                "deviation_from",
                "the mean a deviation is taken from: new-mean or old-mean",
            ),
            Setting::new("first_deviation", "the deviation at the start: zero or first-distance"),
            JudgedBy::SETTING,
        ])
        .with_operations((5, 4), (4, 1));

impl Parameters for ZigZagConfig {
    fn info(&self) -> &'static Info {
        &ZIGZAG
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "alpha" => Field::Number(&mut self.alpha),
            "above_three" => Field::Choice(&mut self.above_three),
            "deviation_from" => Field::Choice(&mut self.deviation_from),
            "first_deviation" => Field::Choice(&mut self.first_deviation),
            "judged_by" => Field::Choice(&mut self.judged_by),
            _ => return None,
        })
    }

    fn build(&self, _: End) -> Result<AnyAlgorithm, ConfigError> {
        ZigZag::new(self).map(AnyAlgorithm::ZigZag)
    }
}

impl ZigZag {
    /// A new ZigZag.
    ///
    /// # Errors
    /// If alpha is out of range.
    pub fn new(config: &ZigZagConfig) -> Result<Self, ConfigError> {
        check("alpha", config.alpha, |a| a > 0.0 && a <= 0.5, "a number above 0, up to 0.5")?;
        let rott = MeanDeviation::new(config.alpha, config.deviation_from, config.first_deviation);
        Ok(Self { above_three: config.above_three, judged_by: config.judged_by, rott })
    }

    /// Below which trip time a loss of `n` packets is wireless, relative to the same origin as the
    /// mean.
    fn limit(&self, n: u32, mean: Nanos, deviation: Nanos) -> Nanos {
        // Cen III-C, figure 4. For n > 3 the figure and the text differ: `above_three`.
        match (n, self.above_three) {
            (0 | 1, _) => mean - deviation,
            (2, _) => mean - deviation / 2.0,
            (3, _) => mean,
            (_, AboveThree::Printed) => mean - deviation / 2.0,
            (_, AboveThree::Mean) => mean,
            (_, AboveThree::MeanPlusHalf) => mean + deviation / 2.0,
        }
    }
}

impl Algorithm for ZigZag {
    fn name(&self) -> &'static str {
        "ZigZag"
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_delay()
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        // Cen III-C: mean and deviation of ROTT follow every packet.
        if let Some(rott) = observation.delay {
            self.rott.observe(rott);
        }
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        let Some(revealed_by) = loss.revealed_by else { return Judgement::without(Input::Gap) };
        let Some(after) = revealed_by.delay else { return Judgement::without(Input::Delay) };
        // Cen III-C: rott_i is that of the last packet before the gap.
        let rott = match self.judged_by {
            JudgedBy::AfterGap => after,
            JudgedBy::BeforeGap => {
                revealed_by.since_last.and_then(|interval| interval.delay_before).unwrap_or(after)
            }
        };
        let Some(Spread { value, mean, deviation }) = self.rott.spread(rott) else {
            return Judgement::without(Input::Other("a mean trip time and its deviation"));
        };
        let n = revealed_by.missing;
        let limit = self.limit(n, mean, deviation);
        // Rounding up to an integer changes no comparison with the trip time, which is one.
        Evidence::new("ZigZag", "relative ROTT", value)
            .for_gap_of(n)
            .wireless_below(Span::ceil(limit))
    }
}
