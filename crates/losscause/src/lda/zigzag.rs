//! ZigZag: is the trip time well below its mean?
//!
//! Congestion control makes the relative one-way trip time (ROTT) of a flow a sawtooth: it climbs while a queue fills and
//! falls after a loss. A congestion loss therefore comes with a high ROTT. The more packets are lost at once, the higher
//! is the ROTT that still counts as low. rott is that of the last packet before the gap, n the number of packets lost:
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
//! Deviations: none. What the paper leaves open:
//!
//! - *The limit for n > 3.* The rule prints mean - dev/2, lower than for n = 3; the prose says that the limit rises with
//!   n. The printed rule is the default, since later work repeats it. `mean` keeps the limit of n = 3, `mean-plus-half`
//!   raises it by another half deviation.
//! - *From which mean is the deviation taken?* From the one just updated, as the two lines read one after the other; the
//!   other reading, `old-mean`, makes the deviation larger by a factor 1 / (1 - alpha), 3 %.
//! - *First values.* The mean begins with the first ROTT, since no other value is indifferent to the sender's clock, and
//!   the deviation with zero; or, `first-distance`, with the second packet's distance from the first.
//! - *Whose trip time is rott_i?* Section III-C uses "the same notation as in the Biaz scheme", where P_i is the last packet before the
//!   gap. `after-gap` takes the trip time of the packet that reveals the gap instead. A packet dropped at one queue is missing from
//!   the next queue as well, so the packet after it has waited less there; the packet before it has not. A gap that the second
//!   arrival reveals is judged by the first.
//! - The brackets in the printed deviation are read as an absolute value.

use super::{JudgedBy, Lda, NO_TIMESTAMP, Needs, missing};
use crate::filter::{DeviationFrom, FirstDeviation, MeanDeviation, Spread};
use crate::registry::{ConfigError, check, choice};
use crate::{Arrival, Judgement, Loss, Reason, Span, Verdict};

/// ZigZag.
#[derive(Clone, Copy, Debug)]
pub struct ZigZag {
    above_three: AboveThree,
    judged_by: JudgedBy,
    rott: MeanDeviation,
    /// ROTTs of the last packet and of the one before it; kept for `JudgedBy::BeforeGap` only.
    last: Option<Span>,
    before: Option<Span>,
}

/// Parameters of [`ZigZag`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZigZagConfig {
    /// Gain of the mean, above 0 to 1/2; the deviation has twice that.
    pub alpha: f64,
    /// The limit for n > 3.
    pub above_three: AboveThree,
    /// The mean that a new deviation is taken from.
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
        /// mean + dev/2: rising with n, as the prose says.
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

impl ZigZag {
    /// A fresh ZigZag.
    ///
    /// # Errors
    /// If alpha is out of range.
    pub fn new(config: &ZigZagConfig) -> Result<Self, ConfigError> {
        check("alpha", config.alpha, |a| a > 0.0 && a <= 0.5, "a number above 0, up to 0.5")?;
        let rott = MeanDeviation::new(config.alpha, config.deviation_from, config.first_deviation);
        Ok(Self { above_three: config.above_three, judged_by: config.judged_by, rott, last: None, before: None })
    }

    /// Whether a loss of `n` packets is wireless, and the limit that `spread.value` was held against, rounded up.
    fn rule(&self, n: u32, spread: &Spread) -> (bool, Span) {
        let Spread { value, mean, deviation } = *spread;
        // Section III-C. Rounding up to an integer changes no comparison with the integer value.
        let limit = match (n, self.above_three) {
            (0 | 1, _) => mean - deviation,
            (2, _) => mean - deviation.half(),
            (3, _) => mean,
            (_, AboveThree::Printed) => mean - deviation.half(),
            (_, AboveThree::Mean) => mean,
            (_, AboveThree::MeanPlusHalf) => mean + deviation.half(),
        }
        .ceil_span();
        (value < limit, limit)
    }
}

impl Lda for ZigZag {
    fn name(&self) -> &'static str {
        "ZigZag"
    }

    fn needs(&self) -> Needs {
        Needs { sender_timestamp: true, ..Needs::default() }
    }

    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival) {
        if let Some(rott) = arrival.rott {
            self.rott.observe(rott);
            if self.judged_by == JudgedBy::BeforeGap {
                self.before = self.last.replace(rott);
            }
        }
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        let Some(rott) = loss.revealed_by.rott else { return missing(NO_TIMESTAMP) };
        let rott = match self.judged_by {
            JudgedBy::AfterGap => rott,
            JudgedBy::BeforeGap => self.before.unwrap_or(rott),
        };
        let Some(spread) = self.rott.spread(rott) else { return missing("a mean ROTT and its deviation") };
        let lost = loss.lost_in_gap();
        let (wireless, below) = self.rule(lost, &spread);
        Judgement {
            verdict: if wireless { Verdict::Wireless } else { Verdict::Congestion },
            reason: Reason::Compared {
                scheme: "ZigZag",
                quantity: "relative ROTT",
                measured: spread.value,
                at_least: None,
                below: Some(below),
                lost,
            },
        }
    }
}
