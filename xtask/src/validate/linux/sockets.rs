//! What both ends of a transfer do with their sockets.

use std::io::{self, ErrorKind};
use std::net::TcpStream;

use anyhow::Result;
use nix::sys::socket::{setsockopt, sockopt};

/// Whether a call on a socket only ended because nothing happened for a while.
pub(crate) fn is_waiting<T>(outcome: &io::Result<T>) -> bool {
    outcome
        .as_ref()
        .is_err_and(|error| [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()))
}

/// Ends a connection at once: a socket that lingers would keep its network alive.
pub(crate) fn close(stream: TcpStream) -> Result<()> {
    setsockopt(&stream, sockopt::Linger, &nix::libc::linger { l_onoff: 1, l_linger: 0 })?;
    drop(stream);
    Ok(())
}
