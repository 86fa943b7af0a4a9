//! What happened to the lost packets of a gap, and counts of it.

use std::fmt;

use losscause::{Judgement, Numbers, Safeguard, Time, Verdict};

/// Lost packets that one later packet revealed, and what was done about them.
///
/// ```
/// use losscause_rtc::{LossVerdict, Overruled};
///
/// fn is_capped(verdict: &LossVerdict) -> bool {
///     use Overruled::{LossRate, RunCap, ShareCap};
///     matches!(verdict.overruled, Some(RunCap | ShareCap | LossRate))
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LossVerdict {
    /// When the feedback came, since the estimator's first.
    pub at: Time,
    /// The first and the last of the lost packets, by
    /// [`PacketReport::id`](rtc_interceptor::PacketReport::id).
    pub ids: Numbers,
    /// Packets lost.
    pub lost_pkts: u32,
    /// The verdict that was acted on. Undecided is treated as congestion.
    pub verdict: Verdict,
    /// What the algorithm said. None if it was not asked.
    pub judgement: Option<Judgement>,
    /// The rule that decided in place of the algorithm, if one did.
    pub overruled: Option<Overruled>,
}

impl LossVerdict {
    /// Why: the rule that overruled the algorithm, or else the algorithm's reason.
    pub fn reason(&self) -> String {
        match (self.overruled, &self.judgement) {
            (Some(overruled), Some(judgement)) => {
                format!("{overruled}: congestion (the algorithm said: {judgement})")
            }
            (Some(overruled), None) => format!("{overruled}: congestion"),
            (None, Some(judgement)) => judgement.to_string(),
            (None, None) => self.verdict.to_string(),
        }
    }
}

impl fmt::Display for LossVerdict {
    /// One sentence: `2 packets lost (812 to 813): Spike: …: wireless`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Numbers { first, last } = self.ids;
        match self.lost_pkts {
            1 => write!(f, "1 packet lost ({first})")?,
            pkts => write!(f, "{pkts} packets lost ({first} to {last})")?,
        }
        write!(f, ": {}", self.reason())
    }
}

/// A rule that stands above the algorithm. All of them mean congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overruled {
    /// The packet behind the gap has no arrival time that can be used.
    NoArrivalTime,
    /// The reports do not name the packets of a gap in their order of sending.
    UnknownPackets,
    /// The brake spoke, with these numbers ([`losscause::safeguard`]).
    Safeguard(Safeguard),
    /// [`Caps::max_run`](crate::Caps::max_run).
    RunCap,
    /// [`Caps::max_share`](crate::Caps::max_share).
    ShareCap,
    /// [`Caps::max_loss_rate`](crate::Caps::max_loss_rate).
    LossRate,
}

impl fmt::Display for Overruled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Overruled::Safeguard(safeguard) => return safeguard.fmt(f),
            Overruled::NoArrivalTime => "the packet behind the gap has no arrival time",
            Overruled::UnknownPackets => "the lost packets are not in their order",
            Overruled::RunCap => "max_run is reached",
            Overruled::ShareCap => "max_share is reached",
            Overruled::LossRate => "the loss rate is above max_loss_rate",
        })
    }
}

/// Counts of lost packets and of what was done about them.
///
/// ```
/// use losscause_rtc::Counts;
///
/// assert_eq!(Counts::default().wireless, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Lost packets taken for congestion.
    pub congestion: u64,
    /// Lost packets taken for wireless: the estimator did not hear of them.
    pub wireless: u64,
    /// Lost packets that the algorithm left undecided: treated as congestion.
    pub undecided: u64,
    /// Of those taken for congestion: by the brake.
    pub braked: u64,
    /// By a cap: [`Caps::max_run`](crate::Caps::max_run), [`Caps::max_share`](crate::Caps::max_share)
    /// or [`Caps::max_loss_rate`](crate::Caps::max_loss_rate).
    pub capped: u64,
    /// The algorithm was not asked, because no arrival time is known, or the packets are not.
    pub unasked: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, verdict: &LossVerdict) {
        let pkts = u64::from(verdict.lost_pkts);
        match verdict.verdict {
            Verdict::Congestion => self.congestion += pkts,
            Verdict::Wireless => self.wireless += pkts,
            Verdict::Undecided => self.undecided += pkts,
        }
        match verdict.overruled {
            Some(Overruled::NoArrivalTime | Overruled::UnknownPackets) => self.unasked += pkts,
            Some(Overruled::Safeguard(_)) => self.braked += pkts,
            Some(Overruled::RunCap | Overruled::ShareCap | Overruled::LossRate) => {
                self.capped += pkts;
            }
            None => {}
        }
    }
}
