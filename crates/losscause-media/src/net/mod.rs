//! Both ends on a UDP socket, with Tokio. They read the clock and the system's randomness, and hold
//! a session; all decisions are the session's.
//!
//! - [`Sending`]: hands in media, hears the rate and the losses of each kind.
//! - [`Receiving`]: hears packets, gaps and verdicts.
//!
//! Each end is one task that sleeps until a packet, the application or its next deadline wakes it.
//! Tokio's timers are exact to about a millisecond; the sender then sends at once what became due
//! meanwhile (see [`crate::Sender`]).

mod clock;
mod receiving;
mod sending;

use std::io;
use std::net::SocketAddr;

use crate::{ConfigError, Key};

pub use receiving::Receiving;
pub use sending::Sending;

/// A stream failed. `Display` is one sentence.
///
/// ```no_run
/// use losscause_media::net::{NetError, Receiving};
/// use losscause_media::{Key, ReceiverConfig};
///
/// /// Listens at this port, or at any other if another program has it.
/// async fn listen(port: u16, key: &Key) -> Result<Receiving, NetError> {
///     let config = ReceiverConfig::default();
///     match Receiving::bind(([0, 0, 0, 0], port).into(), &config, key).await {
///         Err(NetError::Address { reason, .. })
///             if reason.kind() == std::io::ErrorKind::AddrInUse =>
///         {
///             Receiving::bind(([0, 0, 0, 0], 0).into(), &config, key).await
///         }
///         other => other,
///     }
/// }
/// ```
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// A setting is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address cannot be used by this end.
    #[error("{address}: {}", unusable(.reason))]
    Address {
        /// The address.
        address: SocketAddr,
        /// Why.
        reason: io::Error,
    },
    /// A packet is too large for the path's first link.
    #[error(
        "packets of {bytes} bytes are larger than this path takes (its MTU, less 28 bytes), expected smaller ones"
    )]
    TooLarge {
        /// The packet's size, bytes.
        bytes: usize,
    },
    /// The socket failed.
    #[error("the socket failed ({0})")]
    Socket(io::Error),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers ({0})")]
    Random(getrandom::Error),
}

fn unusable(reason: &io::Error) -> String {
    match reason.kind() {
        io::ErrorKind::AddrInUse => "is in use by another program, expected a free port".to_owned(),
        io::ErrorKind::AddrNotAvailable => "is no address of this machine".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "may not be used by this user, expected a port from 1024 on".to_owned()
        }
        _ => format!("cannot be used ({reason})"),
    }
}

/// A fresh key, from the system's randomness.
///
/// # Errors
/// The system gives no random numbers.
pub fn fresh_key() -> Result<Key, NetError> {
    Ok(Key::from_bytes(random()?))
}

fn random<const N: usize>() -> Result<[u8; N], NetError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(NetError::Random)?;
    Ok(bytes)
}

/// The largest packet that UDP carries, bytes.
const LARGEST: usize = 65_535;
/// Packets that a task takes from the socket before it looks at its timers again.
const AT_ONCE: usize = 64;

/// Whether sending failed for a reason that may pass: a full buffer, or nobody at the address for
/// now. The packet counts as lost.
fn may_pass(reason: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionRefused, HostUnreachable, Interrupted, NetworkUnreachable, WouldBlock,
    };
    matches!(
        reason.kind(),
        WouldBlock | Interrupted | ConnectionRefused | HostUnreachable | NetworkUnreachable
    ) || reason.raw_os_error() == Some(NO_BUFFER)
}

/// ENOBUFS of Linux.
const NO_BUFFER: i32 = 105;
/// EMSGSIZE of Linux.
const MESSAGE_SIZE: i32 = 90;

fn failed(bytes: usize, reason: io::Error) -> NetError {
    match reason.raw_os_error() {
        Some(MESSAGE_SIZE) => NetError::TooLarge { bytes },
        _ => NetError::Socket(reason),
    }
}
