//! What an LDA answers: a verdict, and the numbers that led to it.

use core::fmt;

use crate::Span;

/// Why a packet was really lost. Known to the simulator and to link emulators, never to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A queue overflowed, or its management dropped the packet.
    Congestion,
    /// The packet was transmitted and the air corrupted it.
    Wireless,
}

/// Why an LDA believes a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A queue overflowed: slow down.
    Congestion,
    /// The air corrupted the packet: the loss says nothing about the load.
    Wireless,
    /// Not enough was observed to tell. A transport treats it as its paper says, else as congestion.
    Undecided,
}

impl Verdict {
    /// Whether a transport should treat the loss as it would treat a received packet.
    pub fn is_wireless(self) -> bool {
        self == Verdict::Wireless
    }
}

/// A verdict with its reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The answer.
    pub verdict: Verdict,
    /// The numbers that were compared.
    pub reason: Reason,
}

/// What was compared with what. `Display` writes it as one sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The algorithm does not look at the packet (`always …`).
    Unconditional,
    /// The truth was handed in (oracles in a simulator).
    Told,
    /// The inputs the algorithm needs were not there.
    Missing {
        /// What was missing, as a noun phrase: "a sender's timestamp".
        input: &'static str,
    },
    /// A measured span was held against an interval: wireless if `at_least <= measured < below`.
    Compared {
        /// The scheme that decided, by its published name (ZBS names its base scheme).
        scheme: &'static str,
        /// What was measured: "inter-arrival time", "ROTT".
        quantity: &'static str,
        /// Its value. ROTTs are relative: only differences between them mean anything.
        measured: Span,
        /// The smallest wireless value, if there is a lower limit.
        at_least: Option<Span>,
        /// The upper limit of wireless values (exclusive), if there is one.
        below: Option<Span>,
        /// Packets lost in the gap.
        lost: u32,
    },
    /// The algorithm was in a state that decides (Spike).
    State {
        /// The scheme that decided.
        scheme: &'static str,
        /// The state: "in spike", "not in spike".
        state: &'static str,
        /// The measured ROTT.
        measured: Span,
        /// The threshold that would change the state.
        threshold: Span,
    },
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Cause::Congestion => "congestion",
            Cause::Wireless => "wireless",
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Congestion => "congestion",
            Verdict::Wireless => "wireless",
            Verdict::Undecided => "undecided",
        })
    }
}
