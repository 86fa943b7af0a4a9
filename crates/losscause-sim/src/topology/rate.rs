//! How a link's rate varies, and how the link layer repeats what its channel loses.

use std::sync::Arc;

use losscause::Span;

use super::AtEnd;

/// How fast a link transmits as time goes by.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RateSpec {
    /// Always at the link's `rate_bps`.
    #[default]
    Constant,
    /// At given rates from given instants on, and at the link's `rate_bps` before the first. A
    /// transmission goes on at the new rate when the rate changes.
    Steps {
        /// The points, by rising time; not empty.
        points: Arc<[RatePoint]>,
        /// The rate after the last one. If the steps repeat, the last point's time is the length of
        /// a round.
        at_end: AtEnd,
    },
    /// Opportunities to deliver a number of bytes at an instant, as in the packet-delivery traces
    /// of mahimahi (Netravali and others, "Mahimahi: Accurate Record-and-Replay for HTTP", 2015).
    /// An opportunity that finds nothing to deliver is lost. Packets that are small share one,
    /// larger packets take several.
    Opportunities {
        /// The instants: not falling, not negative, not empty. The last one, not zero, is the
        /// length of a round: then they begin again.
        at: Arc<[Span]>,
        /// What one delivers, bytes on the wire; at least 1. Mahimahi: 1504.
        bytes: u32,
    },
}

/// A rate from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatePoint {
    /// Since the start of the steps, not negative.
    pub at: Span,
    /// Bits per second from then on; 0 is an outage.
    pub rate_bps: u64,
}

/// Retransmission by the link layer: a packet that the channel corrupts is transmitted again, and
/// packets are delivered in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetransmissionSpec {
    /// The most transmissions of a packet, 2 or more. Wi-Fi: 7. LTE: 4 by hybrid ARQ.
    pub attempts: u32,
    /// What each attempt after the first adds to the packet's delay, not negative. Wi-Fi: some 50
    /// µs. LTE: 8 ms.
    pub delay: Span,
}

/// Why a rate cannot vary so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RateProblem {
    /// There are no points or opportunities.
    #[error("the rate has no points, expected at least one")]
    Empty,
    /// The times do not rise (opportunities: fall), or begin before zero.
    #[error(
        "point {point} of the rate is not later than the one before it, expected rising times from 0 on"
    )]
    Order {
        /// The first one out of order, counted from 0.
        point: usize,
    },
    /// A round is not positive.
    #[error("a round of the rate takes {0}, expected more than 0")]
    Round(Span),
    /// Nothing is ever transmitted after the last step, or in a round.
    #[error("the rate stays 0 for ever, expected a positive rate at the end or in every round")]
    Outage,
    /// An opportunity delivers nothing.
    #[error("a delivery opportunity has 0 bytes, expected at least 1")]
    Bytes,
}

impl RateSpec {
    /// Checks the times and rates.
    ///
    /// # Errors
    /// Names what is wrong.
    pub fn validate(&self) -> Result<(), RateProblem> {
        match self {
            Self::Constant => Ok(()),
            Self::Steps { points, at_end } => {
                let Some(last) = points.last() else { return Err(RateProblem::Empty) };
                let rising = points.windows(2).position(|pair| pair[1].at <= pair[0].at);
                if let Some(point) =
                    rising.map(|place| place + 1).or((points[0].at < Span::ZERO).then_some(0))
                {
                    return Err(RateProblem::Order { point });
                }
                match at_end {
                    AtEnd::Hold if last.rate_bps == 0 => Err(RateProblem::Outage),
                    AtEnd::Hold => Ok(()),
                    AtEnd::Repeat if last.at == Span::ZERO => Err(RateProblem::Round(last.at)),
                    // The last point only ends the round, and `rate_bps` holds before the first.
                    AtEnd::Repeat if points[0].at > Span::ZERO => Ok(()),
                    AtEnd::Repeat
                        if points[..points.len() - 1].iter().all(|point| point.rate_bps == 0) =>
                    {
                        Err(RateProblem::Outage)
                    }
                    AtEnd::Repeat => Ok(()),
                }
            }
            Self::Opportunities { at, bytes } => {
                let Some(&last) = at.last() else { return Err(RateProblem::Empty) };
                let falling = at.windows(2).position(|pair| pair[1] < pair[0]);
                if let Some(point) =
                    falling.map(|place| place + 1).or((at[0] < Span::ZERO).then_some(0))
                {
                    return Err(RateProblem::Order { point });
                }
                if last == Span::ZERO {
                    return Err(RateProblem::Round(last));
                }
                if *bytes == 0 { Err(RateProblem::Bytes) } else { Ok(()) }
            }
        }
    }
}
