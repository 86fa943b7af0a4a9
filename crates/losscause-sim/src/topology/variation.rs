//! How a propagation delay varies.

use std::sync::Arc;

use losscause::Span;

/// What is added to a link's constant propagation delay, for the instant at which a packet sets
/// out. A packet that would overtake the one before it arrives together with it instead, except
/// with [`JitterSpec::reorders`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum VariationSpec {
    /// Nothing.
    #[default]
    Constant,
    /// A recorded delay.
    Trace {
        /// The trace's points, by rising time; not empty.
        points: Arc<[DelayPoint]>,
        /// The delay between two of them.
        between: Between,
        /// The delay after the last one.
        at_end: AtEnd,
    },
    /// An even swing from 0 to `most` and back, from a phase drawn from the link's stream.
    Sinusoid {
        /// The largest delay, not negative.
        most: Span,
        /// The time of a swing, positive.
        period: Span,
    },
    /// A random walk between 0 and `most` from the link's stream.
    Walk {
        /// The largest delay.
        most: Span,
        /// The longest step, zero to `most`; its length is uniform.
        step: Span,
        /// The time between two steps, at least a millisecond.
        every: Span,
    },
    /// Packets are handed on in batches: a batch is held for `most` from its first packet on, or
    /// for a uniform draw from 0 to `most` from the link's stream.
    Batches {
        /// The longest time, not negative.
        most: Span,
        /// Whether the time is drawn for each batch.
        drawn: bool,
    },
    /// Drawn for each packet from the link's stream.
    Jitter(JitterSpec),
}

/// A delay that is drawn for each packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JitterSpec {
    /// Its distribution.
    pub distribution: JitterDistribution,
    /// Its mean, not negative.
    pub mean: Span,
    /// Its standard deviation, not negative. Of [`JitterDistribution::Uniform`] at most the mean
    /// divided by the square root of 3; of [`JitterDistribution::Exponential`] the mean. A normal
    /// draw below 0 counts as 0, so that the mean grows and the deviation falls if it is not small
    /// beside the mean.
    pub deviation: Span,
    /// Correlation of the normal variables behind the draws of two successive packets, 0 to below
    /// 1.
    pub correlation: f64,
    /// Whether packets overtake each other. If not, a packet that would arrives together with the
    /// one before it, so that the mean is larger where packets are close.
    pub reorders: bool,
}

/// The distribution of a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JitterDistribution {
    /// Uniform around the mean.
    Uniform,
    /// Normal.
    Normal,
    /// Exponential.
    Exponential,
    /// Pareto: never below a part of the mean, and sometimes very long.
    Pareto,
}

/// A delay at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayPoint {
    /// Since the start of the trace, not negative.
    pub at: Span,
    /// What is added from then on, not negative.
    pub delay: Span,
}

/// The delay between two points of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Between {
    /// The earlier point's, as when routes change.
    #[default]
    Steps,
    /// On the straight line between both.
    Linear,
}

/// The delay after the last point of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtEnd {
    /// The last point's for ever.
    #[default]
    Hold,
    /// The trace begins again when the last point, whose time is not zero, has come.
    Repeat,
}

/// Why a delay cannot vary so.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum VariationProblem {
    /// The trace has no points.
    #[error("the delay trace is empty, expected at least one point")]
    Empty,
    /// The times of a trace do not rise, or begin before zero.
    #[error(
        "point {point} of the delay trace is not later than the one before it, expected rising times"
    )]
    Order {
        /// The first point, counted from 0, that is not later than the one before it.
        point: usize,
    },
    /// A delay is negative, or a step longer than its bounds.
    #[error("the delay varies by {0}, expected 0 to its bound")]
    Delay(Span),
    /// A period, or a round of a repeated trace, is not positive.
    #[error("the delay's period is {0}, expected more than 0")]
    Period(Span),
    /// The time between two steps is below a millisecond.
    #[error("the delay steps every {0}, expected at least 1 ms")]
    Every(Span),
    /// The deviation does not fit the mean and the distribution.
    #[error("the jitter deviates by {0}, expected what its mean allows")]
    Deviation(Span),
    /// A correlation is outside of 0 to below 1.
    #[error("the jitter's correlation is {0}, expected 0 to below 1")]
    Correlation(f64),
}

impl VariationSpec {
    pub(super) fn validate(&self) -> Result<(), VariationProblem> {
        let not_negative = |delay: Span| {
            if delay < Span::ZERO { Err(VariationProblem::Delay(delay)) } else { Ok(()) }
        };
        match self {
            Self::Constant => Ok(()),
            Self::Trace { points, at_end, .. } => {
                let Some(last) = points.last() else { return Err(VariationProblem::Empty) };
                let mut before = Span::from_nanos(-1);
                for (point, &DelayPoint { at, delay }) in points.iter().enumerate() {
                    if at <= before {
                        return Err(VariationProblem::Order { point });
                    }
                    not_negative(delay)?;
                    before = at;
                }
                match at_end {
                    AtEnd::Repeat if last.at == Span::ZERO => {
                        Err(VariationProblem::Period(last.at))
                    }
                    AtEnd::Repeat | AtEnd::Hold => Ok(()),
                }
            }
            &Self::Sinusoid { most, period } => {
                not_negative(most)?;
                if period <= Span::ZERO { Err(VariationProblem::Period(period)) } else { Ok(()) }
            }
            &Self::Batches { most, .. } if most == Span::MAX => Err(VariationProblem::Delay(most)),
            &Self::Batches { most, .. } => not_negative(most),
            Self::Jitter(jitter) => {
                not_negative(jitter.mean)?;
                let deviation = jitter.deviation;
                if deviation < Span::ZERO || deviation > jitter.most_deviation() {
                    return Err(VariationProblem::Deviation(deviation));
                }
                if !(0.0..1.0).contains(&jitter.correlation) {
                    return Err(VariationProblem::Correlation(jitter.correlation));
                }
                Ok(())
            }
            &Self::Walk { most, step, every } => {
                not_negative(step)?;
                if step > most || most == Span::MAX {
                    return Err(VariationProblem::Delay(step));
                }
                if every < Span::from_millis(1) {
                    Err(VariationProblem::Every(every))
                } else {
                    Ok(())
                }
            }
        }
    }
}

impl JitterSpec {
    /// The largest deviation that its distribution can have at this mean.
    pub fn most_deviation(&self) -> Span {
        match self.distribution {
            JitterDistribution::Uniform => {
                Span::from_nanos((self.mean.as_nanos_f64() / 3.0_f64.sqrt()) as i64)
            }
            JitterDistribution::Exponential => self.mean,
            JitterDistribution::Normal => Span::MAX,
            JitterDistribution::Pareto if self.mean == Span::ZERO => Span::ZERO,
            JitterDistribution::Pareto => Span::MAX,
        }
    }
}
