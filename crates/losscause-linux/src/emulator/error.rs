//! Why a link cannot be emulated.

use std::io;

use losscause_sim::NetworkError;
use losscause_sim::live::Direction;

/// Why a run of the emulator failed. `Display` is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program may not make network namespaces.
    #[error("a network namespace cannot be made ({0}), expected root: try sudo")]
    NotRoot(nix::errno::Errno),
    /// There is no TUN device to make more of.
    #[error("/dev/net/tun: is missing, expected a kernel with TUN devices: try `modprobe tun`")]
    NoTun,
    /// A command's program does not exist, or may not be executed.
    #[error("{program}: is no program on the PATH, expected a command to run")]
    NoProgram {
        /// As the user named it.
        program: String,
    },
    /// The peer's command ended at once.
    #[error(
        "--peer: the command ended with status {status} before COMMAND began, expected one that waits for COMMAND; \
         if COMMAND is to wait for it, let it begin later: --peer 'sleep 3; …'"
    )]
    PeerEnded {
        /// The command's exit status.
        status: u8,
    },
    /// The network is not valid.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A step failed that the kernel refused.
    #[error("{what} ({reason})")]
    System {
        /// What could not be done.
        what: String,
        /// Why.
        reason: io::Error,
    },
    /// A TUN device lost packets that the link never saw.
    #[error(
        "the TUN device at the {} dropped {packets} packets that the link never saw, so the log is not complete; \
         expected less traffic or a less busy machine",
        end_name(*.end)
    )]
    DeviceDrops {
        /// The end, by the direction in which it sends.
        end: Direction,
        /// How many packets.
        packets: u64,
    },
    /// A capture or the log could not be written.
    #[error("{file}: cannot be written ({reason})")]
    Unwritable {
        /// What was being written.
        file: &'static str,
        /// Why.
        reason: io::Error,
    },
    /// A part of the program panicked.
    #[error("a thread of the emulator ended unexpectedly")]
    Thread,
}

/// The end that sends in a direction.
pub(super) fn end_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "sender",
        Direction::Back => "peer",
    }
}

impl Error {
    /// Whether the user's input or machine is to be changed, in contrast to a run that failed.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::NotRoot(_)
            | Self::NoTun
            | Self::NoProgram { .. }
            | Self::PeerEnded { .. }
            | Self::Network(_) => true,
            Self::System { .. }
            | Self::DeviceDrops { .. }
            | Self::Unwritable { .. }
            | Self::Thread => false,
        }
    }

    /// For `map_err`: what could not be done.
    pub(super) fn system<E: Into<io::Error>>(what: &str) -> impl FnOnce(E) -> Self + '_ {
        move |reason| Self::System { what: what.to_owned(), reason: reason.into() }
    }
}
