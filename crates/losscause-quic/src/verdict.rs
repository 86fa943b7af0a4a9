//! What happened to a batch of lost packets, and counts of it.

use std::fmt;

use losscause::{Judgement, Numbers, Safeguard, Span, Time, Verdict};

/// Losses that the transport declared at once, or a congestion mark, and what the controller did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LossVerdict {
    /// Which controller of the factory: 0 is the first that it built.
    pub connection: u64,
    /// When it was declared, on the controller's clock; the adapter says what its zero is.
    pub at: Time,
    /// The first and the last of the lost packets' numbers, if known; the adapter says what it
    /// counts.
    pub numbers: Option<Numbers>,
    /// Packets lost. 0 for a mark. An adapter whose transport does not name packets may count one
    /// too many.
    pub lost_pkts: u32,
    /// Bytes lost, as the transport says. 0 for a mark.
    pub lost_bytes: u64,
    /// The last round-trip time, the peer's delay included; that of the ACK which declared the
    /// loss, unless a timer did. None if it was measured more than a quarter of itself ago.
    pub rtt: Option<Span>,
    /// The verdict that was acted on. Undecided is treated as congestion.
    pub verdict: Verdict,
    /// What the algorithm said. None if it was not asked.
    pub judgement: Option<Judgement>,
    /// The rule that decided in place of the algorithm, if one did.
    pub overruled: Option<Overruled>,
    /// What became of the window.
    pub response: Response,
    /// The window before, bytes.
    pub window_before: u64,
    /// The window after, bytes.
    pub window_after: u64,
}

impl fmt::Display for LossVerdict {
    /// One sentence: `7 packets lost (812 to 818): Spike: …: wireless; window kept (84000 bytes)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lost_pkts {
            0 => f.write_str("a mark")?,
            1 => f.write_str("1 packet lost")?,
            pkts => write!(f, "{pkts} packets lost")?,
        }
        if let Some(Numbers { first, last }) = self.numbers {
            write!(f, " ({first}")?;
            if last > first {
                write!(f, " to {last}")?;
            }
            f.write_str(")")?;
        }
        write!(f, ": {}; {} ({} bytes)", self.reason(), self.response, self.window_after)
    }
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

/// A reduction undone, because the algorithm took its verdict back.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Undone {
    /// As [`LossVerdict::connection`].
    pub connection: u64,
    /// The recovery's lost packets, which now count as wireless.
    pub lost_pkts: u32,
    /// Of them, those that counted as undecided.
    pub undecided_pkts: u32,
    /// The new judgement.
    pub revised: Judgement,
    /// The window after it, bytes.
    pub window: u64,
}

/// Losses that were none: the transport reports that their packets have arrived after all. They are
/// those of the last recovery.
///
/// ```
/// use losscause::Observer;
/// use losscause_quic::{ControllerObserver, Spurious};
///
/// /// The packets that reordering delayed for so long that they counted as lost.
/// #[derive(Clone, Default)]
/// struct Late(u64);
///
/// impl Observer for Late {}
///
/// impl ControllerObserver for Late {
///     fn on_spurious(&mut self, spurious: &Spurious) {
///         self.0 += u64::from(spurious.pkts);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spurious {
    /// As [`LossVerdict::connection`].
    pub connection: u64,
    /// The first and the last of the packets' numbers.
    pub numbers: Numbers,
    /// The packets.
    pub pkts: u32,
    /// Whether the base controller was told, because it had reduced its window for them.
    pub told: bool,
    /// The window before, bytes.
    pub window_before: u64,
    /// The window after, bytes.
    pub window_after: u64,
}

/// A rule of the controller that stands above the algorithm. All of them mean congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overruled {
    /// A queue marked a packet (ECN).
    Mark,
    /// Everything sent during a long period was lost (RFC 9002, section 7.6).
    PersistentCongestion,
    /// The last round-trip time was measured more than a quarter of itself ago.
    NoFreshRtt,
    /// The lost packets are not remembered: sent before the controller was built, or too many are
    /// in flight.
    UnknownPackets,
    /// Guard or brake spoke, with these numbers ([`losscause::safeguard`]).
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
            Overruled::Mark => "a queue marked a packet",
            Overruled::PersistentCongestion => "congestion is persistent",
            Overruled::NoFreshRtt => "the last round-trip time is too old",
            Overruled::UnknownPackets => "the lost packets are not remembered",
            Overruled::RunCap => "max_run is reached",
            Overruled::ShareCap => "max_share is reached",
            Overruled::LossRate => "the loss rate is above max_loss_rate",
        })
    }
}

/// What became of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Response {
    /// The base controller was not told: the window is kept, and its growth waits for the end of the
    /// recovery.
    Kept,
    /// The same but for the dry run: the base controller was told.
    WouldKeep,
    /// The base controller was told, and reduced the window.
    Reduced,
    /// The base controller was told, and had reduced it for this round trip already, or it was at
    /// its minimum.
    AlreadyReduced,
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Response::Kept => "window kept",
            Response::WouldKeep => "window would be kept",
            Response::Reduced => "window reduced",
            Response::AlreadyReduced => "window already reduced",
        })
    }
}

/// Counts of losses and of what was done about them; in a dry run, of what would have been done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Lost packets taken for congestion.
    pub congestion: u64,
    /// Lost packets taken for wireless.
    pub wireless: u64,
    /// Lost packets that the algorithm left undecided: treated as congestion.
    pub undecided: u64,
    /// Congestion marks (ECN).
    pub marks: u64,
    /// Reductions of the window.
    pub reductions: u64,
    /// Recoveries in which every loss was wireless, so that the window was kept.
    pub avoided: u64,
    /// Reductions undone, because the algorithm revised its verdict when the recovery ended.
    pub undone: u64,
    /// Lost packets called wireless that the guard turned into congestion
    /// ([`Caps::safeguards`](crate::Caps::safeguards)).
    pub guarded: u64,
    /// The same, by the brake.
    pub braked: u64,
    /// Lost packets that [`Caps::max_run`](crate::Caps::max_run) turned into congestion.
    pub run_caps: u64,
    /// Lost packets that [`Caps::max_share`](crate::Caps::max_share) turned into congestion.
    pub share_caps: u64,
    /// Lost packets that [`Caps::max_loss_rate`](crate::Caps::max_loss_rate) turned into
    /// congestion.
    pub rate_caps: u64,
    /// Lost packets about which the algorithm was not asked, because the last round-trip time was
    /// too old.
    pub without_rtt: u64,
    /// Of the lost packets, those that have arrived after all. Only some transports report them.
    pub spurious: u64,
    /// Reductions that the base controller took back, because the lost packets have arrived.
    pub restored: u64,
}

impl Counts {
    /// Counts the packets of a verdict, and what was done about them.
    pub(crate) fn add(&mut self, verdict: &LossVerdict) {
        let pkts = u64::from(verdict.lost_pkts);
        match verdict.verdict {
            Verdict::Congestion => self.congestion += pkts,
            Verdict::Wireless => self.wireless += pkts,
            Verdict::Undecided => self.undecided += pkts,
        }
        match verdict.overruled {
            Some(Overruled::Mark) => self.marks += 1,
            Some(Overruled::NoFreshRtt) => self.without_rtt += pkts,
            Some(Overruled::Safeguard(Safeguard::Guard { .. })) => self.guarded += pkts,
            Some(Overruled::Safeguard(Safeguard::Brake { .. })) => self.braked += pkts,
            Some(Overruled::RunCap) => self.run_caps += pkts,
            Some(Overruled::ShareCap) => self.share_caps += pkts,
            Some(Overruled::LossRate) => self.rate_caps += pkts,
            Some(Overruled::PersistentCongestion | Overruled::UnknownPackets) | None => {}
        }
        self.reductions += u64::from(verdict.response == Response::Reduced);
    }

    /// Counts losses that were none.
    pub(crate) fn take_back(&mut self, spurious: &Spurious) {
        self.spurious += u64::from(spurious.pkts);
        self.restored += u64::from(spurious.window_after > spurious.window_before);
    }

    /// Counts the packets of a reduction that was undone as wireless.
    pub(crate) fn undo(&mut self, undone: &Undone) {
        let lost = u64::from(undone.lost_pkts);
        let undecided = u64::from(undone.undecided_pkts);
        self.undone += 1;
        self.congestion -= lost - undecided;
        self.undecided -= undecided;
        self.wireless += lost;
    }
}
