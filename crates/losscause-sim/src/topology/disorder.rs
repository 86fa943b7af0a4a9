//! Packets that arrive out of order or twice.

use std::fmt;

use losscause::Span;

/// A share of a link's packets is late at its far end, so that later packets overtake it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderingSpec {
    /// Share of the packets that reach the far end, 0 to 1, each independently.
    pub share: f64,
    /// How late they are.
    pub by: Lateness,
}

/// How late a packet is that others overtake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lateness {
    /// By a time: `most`, or a uniform draw from 0 to `most` from the link's stream.
    Time {
        /// The longest time, not negative.
        most: Span,
        /// Whether the time is drawn for each packet.
        drawn: bool,
    },
    /// By a distance: until this many later packets of any flow, which are not late themselves,
    /// have reached the far end.
    Packets {
        /// At least 1.
        packets: u32,
        /// The packet goes on after this time even if fewer have come; positive.
        most: Span,
    },
}

/// A share of a link's packets arrives twice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuplicationSpec {
    /// Share of the packets that reach the far end, 0 to 1, each independently.
    pub share: f64,
    /// How much later the copy arrives, not negative.
    pub delay: Span,
}

/// Why packets cannot be late or doubled so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DisorderProblem {
    /// A share is outside of 0 to 1.
    Share(f64),
    /// A delay is negative, or a longest time not positive.
    Delay(Span),
    /// A distance of no packets.
    Distance,
}

impl ReorderingSpec {
    pub(super) fn validate(&self) -> Result<(), DisorderProblem> {
        share(self.share)?;
        match self.by {
            Lateness::Time { most, .. } => delay(most, Span::ZERO),
            Lateness::Packets { packets: 0, .. } => Err(DisorderProblem::Distance),
            Lateness::Packets { most, .. } => delay(most, Span::from_nanos(1)),
        }
    }
}

impl DuplicationSpec {
    pub(super) fn validate(&self) -> Result<(), DisorderProblem> {
        share(self.share)?;
        delay(self.delay, Span::ZERO)
    }
}

fn share(share: f64) -> Result<(), DisorderProblem> {
    if (0.0..=1.0).contains(&share) { Ok(()) } else { Err(DisorderProblem::Share(share)) }
}

fn delay(delay: Span, least: Span) -> Result<(), DisorderProblem> {
    if (least..Span::MAX).contains(&delay) { Ok(()) } else { Err(DisorderProblem::Delay(delay)) }
}

impl fmt::Display for DisorderProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => write!(f, "the share is {share}, expected 0 to 1"),
            Self::Delay(delay) => {
                write!(f, "a packet is late by {delay}, expected 0 or more, finite")
            }
            Self::Distance => write!(f, "0 packets overtake, expected at least 1"),
        }
    }
}
