//! Packets that arrive out of order or twice.

use losscause::Span;

/// A share of a link's packets is late at its far end, so that later packets overtake it.
///
/// A radio link whose packets jitter, overtake each other and come twice, and which loses more the
/// more it carries:
///
/// ```
/// use losscause::Span;
/// use losscause_sim::{
///     ChannelSpec, DisorderProblem, DuplicationSpec, JitterDistribution, JitterSpec, Lateness, Limit,
///     LinkProblem, LinkSpec, LoadPoint, Network, NetworkError, QueueSpec, ReorderingSpec, VariationSpec,
/// };
///
/// let ms = Span::from_millis;
/// let queue = QueueSpec::DropTail { limit: Limit::Packets(50) };
/// let mut radio = LinkSpec::wired("radio", 10_000_000, ms(20), queue);
/// radio.reordering = Some(ReorderingSpec { share: 0.01, by: Lateness::Time { most: ms(5), drawn: true } });
/// radio.duplication = Some(DuplicationSpec { share: 0.001, delay: ms(1) });
/// radio.variation = VariationSpec::Jitter(JitterSpec {
///     distribution: JitterDistribution::Normal,
///     mean: ms(4),
///     deviation: ms(1),
///     correlation: 0.0,
///     reorders: false,
/// });
/// let at = |load, loss| LoadPoint { load, loss };
/// radio.channel = ChannelSpec::Load { points: [at(0.5, 0.0), at(1.0, 0.02)].into(), window: ms(200) };
/// let network = |radio| Network { links: vec![radio], flows: vec![] };
/// network(radio.clone()).validate()?;
///
/// // A share of more than all packets is refused, with the reason.
/// radio.duplication = Some(DuplicationSpec { share: 1.5, delay: ms(1) });
/// let NetworkError::Link { problem, .. } = network(radio).validate().unwrap_err() else { panic!() };
/// assert_eq!(problem, LinkProblem::Duplication(DisorderProblem::Share(1.5)));
/// # Ok::<(), NetworkError>(())
/// ```
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
    /// have reached the far end. The link's jitter does not add to this.
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
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum DisorderProblem {
    /// A share is outside of 0 to 1.
    #[error("the share is {0}, expected 0 to 1")]
    Share(f64),
    /// A delay is negative, or a longest time not positive.
    #[error("a packet is late by {0}, expected 0 or more, finite")]
    Delay(Span),
    /// A distance of no packets.
    #[error("0 packets overtake, expected at least 1")]
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
