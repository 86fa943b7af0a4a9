//! Why a stream failed.

use std::io;
use std::net::SocketAddr;

use losscause_media::End;
use losscause_media::net::NetError;

/// A stream could not be sent or received to its end. `Display` is one sentence.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamError {
    /// The socket, or its address.
    #[error(transparent)]
    Net(#[from] NetError),
    /// No runtime for sockets and timers.
    #[error("sockets and timers cannot be used ({0})")]
    Runtime(io::Error),
    /// The file to send cannot be read any more.
    #[error("{file}: cannot be read ({reason})")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        reason: io::Error,
    },
    /// The receiver never answered.
    #[error("{0}: no answer, expected `losscause stream receive` there, with the same key")]
    NoAnswer(SocketAddr),
    /// The peer ended the stream, or fell silent.
    #[error("{peer}: {}{}", what(.end), if *.kept { ", and what had arrived is kept" } else { "" })]
    Peer {
        /// The peer.
        peer: SocketAddr,
        /// How it ended.
        end: End,
        /// Whether a file has what was received.
        kept: bool,
    },
}

fn what(end: &End) -> &'static str {
    match end {
        End::PeerStopped => "was stopped before the end",
        _ => "has fallen silent before the end",
    }
}

impl StreamError {
    /// Whether the user's input is at fault: the program then ends with exit status 2, otherwise
    /// with 1.
    pub(crate) fn is_bad_input(&self) -> bool {
        matches!(
            self,
            Self::Net(NetError::Config(_) | NetError::Address { .. } | NetError::TooLarge { .. })
        )
    }
}
