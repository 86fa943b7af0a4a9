//! A loss, and how it was found.

use losscause::Time;
use serde::Serialize;

use super::path::Passage;
use crate::judge::Opinions;

/// How a loss was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Evidence {
    /// A later packet arrived and this one had not.
    Gap,
    /// The sender retransmitted it after later packets were acknowledged.
    FastRetransmit,
    /// The sender's retransmission timer expired.
    Timeout,
    /// The sender probed the tail of its window with it (RFC 8985, section 7).
    TailProbe,
    /// The sender's capture has it and the receiver's has not.
    Known,
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Evidence::Gap => "gap",
            Evidence::FastRetransmit => "fast-retransmit",
            Evidence::Timeout => "timeout",
            Evidence::TailProbe => "tail-probe",
            Evidence::Known => "known",
        })
    }
}

/// A packet that did not arrive.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// When the loss showed.
    pub(crate) time: Time,
    /// The first byte, unwrapped; of a stream, the packet's number; of QUIC, the packet number.
    pub(crate) start: u64,
    /// Behind the last byte; of QUIC, the packet number plus the packet's bytes.
    pub(crate) end: u64,
    /// The frame that was lost; at a receiver, the one that revealed it. None in a qlog.
    pub(crate) frame: Option<u64>,
    /// The frame with the same data that came later: the retransmission, or the late packet itself.
    pub(crate) frame_again: Option<u64>,
    pub(crate) evidence: Evidence,
    pub(crate) passage: Passage,
    pub(crate) opinions: Opinions,
    pub(crate) state: State,
}

impl Found {
    /// The loss of the bytes from `start` to before `end`, which showed at `time`, without a frame.
    pub(crate) fn lost(
        time: Time,
        [start, end]: [u64; 2],
        evidence: Evidence,
        opinions: Opinions,
    ) -> Self {
        let passage = Passage::at(time);
        let state = State::Lost;
        Self {
            time,
            start,
            end,
            frame: None,
            frame_again: None,
            evidence,
            passage,
            opinions,
            state,
        }
    }
}

/// A frame whose data the capture has already, and that tells of no loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    pub(crate) frame: u64,
    /// The frame that had them before, if it is known.
    pub(crate) earlier: Option<u64>,
    pub(crate) kind: RepeatKind,
}

/// Why a frame's data are in the capture a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepeatKind {
    /// The frame is the same packet, captured again.
    Copy,
    /// The sender sent what had arrived.
    Needless,
    /// The frame opens the connection once more.
    Syn,
    /// The frame closes the connection once more.
    Fin,
    /// The frame asks whether the other end is there, or whether its window is open.
    Probe,
    /// A receiver cannot tell: the sender, the network or the capture made it.
    Unknown,
}

/// What became of a presumed loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The packet was lost.
    Lost,
    /// The packet was lost, and its retransmission arrived.
    Repaired,
    /// The packet arrived late: reordered.
    Reordered,
    /// The retransmission was not needed.
    Spurious(Proof),
    /// The packet was delivered, and the capture missed it.
    Uncaptured,
}

impl State {
    /// Whether it was a loss.
    pub(crate) fn is_loss(self) -> bool {
        matches!(self, State::Lost | State::Repaired)
    }
}

/// What shows that a retransmission was not needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// An acknowledgement that came too soon, or that echoes the original's timestamp (RFC 3522).
    Timing,
    /// As many duplicate acknowledgements as packets that were sent behind the hole.
    Count,
    /// A duplicate selective acknowledgement (RFC 2883).
    Dsack,
}

/// The losses of one flow as one vantage sees them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    pub(crate) found: Vec<Found>,
    /// Up to [`MAX_LISTED`] too.
    pub(crate) repeats: Vec<Repeat>,
    /// Those above [`MAX_LISTED`].
    pub(crate) unlisted: u64,
}

/// A flow lists so many losses at most; further ones are counted.
pub(crate) const MAX_LISTED: usize = 100_000;
/// A duplicate acknowledgement finds its retransmission among so many of the last ones.
const LOOK_BACK: usize = 512;

impl Losses {
    pub(crate) fn push(&mut self, found: Found) {
        if self.found.len() < MAX_LISTED {
            self.found.push(found);
        } else {
            self.unlisted += 1;
        }
    }

    pub(crate) fn push_repeat(&mut self, repeat: Repeat) {
        if self.repeats.len() < MAX_LISTED {
            self.repeats.push(repeat);
        }
    }

    /// Makes one of the last two losses, if the last one was pushed after there were `before`.
    pub(crate) fn join_last(&mut self, before: usize) {
        if let [.., first, last] = &mut self.found[..]
            && self.unlisted == 0
            && first.end == last.start
            && first.time == last.time
        {
            first.end = last.end;
            self.found.truncate(before);
        }
    }

    /// The last losses, newest first.
    pub(crate) fn recent(&mut self) -> impl Iterator<Item = &mut Found> {
        self.found.iter_mut().rev().take(LOOK_BACK)
    }

    pub(crate) fn count(&self, is: impl Fn(State) -> bool) -> u64 {
        self.count_of(|found| is(found.state))
    }

    pub(crate) fn count_of(&self, is: impl Fn(&Found) -> bool) -> u64 {
        self.found.iter().filter(|found| is(found)).count() as u64
    }
}
