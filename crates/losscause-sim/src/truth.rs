//! What only a simulator or a link emulator knows: why a packet was really lost.

use std::fmt;

/// Why a packet was really lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A queue overflowed, or its management dropped the packet.
    Congestion,
    /// The packet was transmitted and the air corrupted it.
    Wireless,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Cause::Congestion => "congestion",
            Cause::Wireless => "wireless",
        })
    }
}

/// The truth about a loss, and a draw for oracles that are not always right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// The true cause. If an event lost several packets: congestion if any of them was lost to it.
    pub cause: Cause,
    /// The true cause of the event's first packet.
    pub first: Cause,
    /// A uniform draw from [0, 1).
    pub draw: f64,
}
