//! The sockets of a connection. Each call returns soon, so that threads see when the transfer is
//! over.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use losscause_linux::emulator::{PEER, SENDER};
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, SockaddrIn, setsockopt, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::live::LiveError;

/// The port that the peer listens to.
pub(super) const PORT: u16 = 5_001;
/// The port of the first connection; the others follow.
pub(super) const FIRST_PORT: u16 = 40_000;

/// A call on a socket waits for at most this long.
const PATIENCE: Duration = Duration::from_millis(20);
/// A lost SYN is sent again after 1, 3 and 7 s.
const CONNECT_S: i64 = 10;

/// A socket of the calling thread's network with this port and congestion control, not connected
/// yet. (The default of a namespace cannot be set to every congestion control.)
pub(super) fn open(port: u16, control: &str) -> Result<OwnedFd, LiveError> {
    let opened = with_control(control)?;
    setsockopt(&opened, sockopt::SendTimeout, &TimeVal::seconds(CONNECT_S)).map_err(failed)?;
    socket::bind(opened.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(SENDER, port)))
        .map_err(failed)?;
    Ok(opened)
}

/// A socket with this congestion control. Asking for one also loads its module.
pub(super) fn with_control(name: &str) -> Result<OwnedFd, LiveError> {
    let made = socket::socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)
        .map_err(failed)?;
    setsockopt(&made, sockopt::TcpCongestion, &OsString::from(name))
        .map_err(|_| LiveError::NoCongestionControl { name: name.to_owned() })?;
    Ok(made)
}

fn failed(errno: nix::errno::Errno) -> LiveError {
    failure("a socket cannot be made", errno.into())
}

/// Connects the socket to the peer.
pub(super) fn connect(opened: OwnedFd) -> Result<TcpStream, LiveError> {
    let to = SockaddrIn::from(SocketAddrV4::new(PEER, PORT));
    let connected = socket::connect(opened.as_raw_fd(), &to);
    connected.map_err(|errno| failure("the sender cannot connect", errno.into()))?;
    Ok(TcpStream::from(opened))
}

/// Sends as fast as TCP lets it until `is_over`; then the other end may already be closed.
pub(super) fn send(mut stream: &TcpStream, is_over: impl Fn() -> bool) -> Result<(), LiveError> {
    let broken = |reason| failure("a connection broke off at the sender", reason);
    stream.set_write_timeout(Some(PATIENCE)).map_err(broken)?;
    let data = vec![0; 1 << 16];
    while !is_over() {
        match stream.write(&data) {
            Err(_) if is_over() => {}
            written if is_waiting(&written) => {}
            written => _ = written.map_err(broken)?,
        }
    }
    Ok(())
}

/// Reads at once what arrives, and counts the bytes, until `is_over`.
pub(super) fn receive(
    mut stream: &TcpStream,
    bytes: &AtomicU64,
    is_over: impl Fn() -> bool,
) -> Result<(), LiveError> {
    let broken = |reason| failure("a connection broke off at the receiver", reason);
    stream.set_read_timeout(Some(PATIENCE)).map_err(broken)?;
    let mut data = vec![0; 1 << 18];
    while !is_over() {
        match stream.read(&mut data) {
            Err(_) if is_over() => {}
            read if is_waiting(&read) => {}
            read => _ = bytes.fetch_add(read.map_err(broken)? as u64, Ordering::Relaxed),
        }
    }
    Ok(())
}

/// The next connection, and its sender's port. None if `is_over` before one comes.
pub(super) fn accept(
    listener: &TcpListener,
    is_over: impl Fn() -> bool,
) -> Result<Option<(TcpStream, u16)>, LiveError> {
    let failed = |reason| failure("the receiver cannot accept a connection", reason);
    listener.set_nonblocking(true).map_err(failed)?;
    while !is_over() {
        let accepted = listener.accept();
        if !is_waiting(&accepted) {
            let (stream, from) = accepted.map_err(failed)?;
            stream.set_nonblocking(false).map_err(failed)?;
            return Ok(Some((stream, from.port())));
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(None)
}

/// Ends a connection at once: a socket that lingers would keep its network alive.
pub(super) fn close(stream: TcpStream) {
    // If this fails, the connection closes in the usual way.
    let _ = setsockopt(&stream, sockopt::Linger, &nix::libc::linger { l_onoff: 1, l_linger: 0 });
    drop(stream);
}

/// Whether a call on a socket only ended because nothing happened for a while.
fn is_waiting<T>(outcome: &io::Result<T>) -> bool {
    outcome
        .as_ref()
        .is_err_and(|error| [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()))
}

/// For `map_err`.
pub(super) fn failure(what: &'static str, reason: io::Error) -> LiveError {
    LiveError::Connection { what, reason }
}
