//! How a stream ends.

use std::fmt;

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The sender sent all, and both ends know it.
    Finished,
    /// The near end was stopped.
    Stopped,
    /// The other end was stopped.
    PeerStopped,
    /// The other end fell silent.
    PeerGone,
    /// The handshake was never answered (senders only).
    NoAnswer,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            End::Finished => "finished",
            End::Stopped => "stopped",
            End::PeerStopped => "stopped by the peer",
            End::PeerGone => "the peer is gone",
            End::NoAnswer => "no answer",
        })
    }
}
