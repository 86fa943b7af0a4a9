//! Failures and exit statuses of the program.

use std::io::{self, Write};

use losscause_capture::{CaptureError, JoinError};
use losscause_study::tools::plain;
use losscause_study::{InputError, RegistryError, RunError};

use crate::ink;

#[cfg(feature = "media")]
mod stream;

#[cfg(feature = "media")]
pub(crate) use stream::StreamError;

/// Why the program ends with a status other than 0. `Display` is one plain sentence.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The input cannot be used: status 2.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An algorithm or a TCP cannot be added to the others: status 2.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The arguments are wrong: status 2.
    #[error("{0}")]
    Usage(String),
    /// A capture cannot be analysed: status 2.
    #[error("{file}: {error}")]
    Capture {
        /// The capture, as the user named it.
        file: String,
        /// Why.
        error: CaptureError,
    },
    /// A capture has no flow to analyse: status 2.
    #[error("{file}: {problem}")]
    NoFlow {
        /// The capture, as the user named it.
        file: String,
        /// What it has instead.
        problem: String,
    },
    /// Two captures cannot be joined: status 2.
    #[error("{sender} and {receiver} {error}")]
    Join {
        /// The sender's capture, as the user named it.
        sender: String,
        /// The receiver's.
        receiver: String,
        /// Why.
        error: JoinError,
    },
    /// A capture ends early; what is whole was analysed: status 1.
    #[error("{0}")]
    Incomplete(String),
    /// A run failed, or its results could not be written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The kernel's congestion control could not be loaded, unloaded or read.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[error(transparent)]
    Kernel(#[from] losscause_linux::kernel::KernelError),
    /// Connections could not be watched: status 2 or 1.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[error(transparent)]
    Watch(#[from] losscause_linux::watch::WatchError),
    /// A result is worse than the one that it was compared with: status 1.
    #[error("{0}")]
    Worse(String),
    /// A link could not be emulated: status 2 or 1.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[error(transparent)]
    Emulator(#[from] losscause_linux::emulator::Error),
    /// A stream could not be sent or received to its end: status 2 or 1.
    #[cfg(feature = "media")]
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A command that the program ran ended with this status, which is passed on without a word.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[error("the command ended with status {0}")]
    Command(u8),
    /// Standard output could not be written: status 1.
    #[error("standard output: cannot be written ({0})")]
    Output(#[from] io::Error),
}

/// The exit status when all went well.
const SUCCESS: u8 = 0;
/// The exit status when a run failed.
const FAILED: u8 = 1;
/// The exit status when the input cannot be used.
const BAD_INPUT: u8 = 2;

/// Prints the failure, if any, and returns the exit status. A reader that closes our output early
/// (`head`) is not a failure.
pub(crate) fn report(outcome: Result<(), Failure>) -> u8 {
    let failed = |is_bad_input: bool| if is_bad_input { BAD_INPUT } else { FAILED };
    let status = match &outcome {
        Ok(()) => return SUCCESS,
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return SUCCESS,
        Err(Failure::Run(RunError::Unwritable { reason, .. }))
            if reason.kind() == io::ErrorKind::BrokenPipe =>
        {
            return SUCCESS;
        }
        Err(
            Failure::Input(_)
            | Failure::Registry(_)
            | Failure::Usage(_)
            | Failure::Capture { .. }
            | Failure::NoFlow { .. }
            | Failure::Join { .. },
        ) => BAD_INPUT,
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Err(Failure::Kernel(error)) => failed(error.is_bad_input()),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Err(Failure::Watch(error)) => failed(error.is_bad_input()),
        Err(Failure::Run(error)) => failed(error.is_bad_input()),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Err(Failure::Emulator(error)) => failed(error.is_bad_input()),
        #[cfg(feature = "media")]
        Err(Failure::Stream(error)) => failed(error.is_bad_input()),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Err(Failure::Command(status)) => return *status,
        Err(Failure::Output(_) | Failure::Worse(_) | Failure::Incomplete(_)) => FAILED,
    };
    if let Err(failure) = outcome {
        // If standard error is closed as well, the message cannot be shown.
        let sentence = plain::sentence(&failure.to_string());
        let _ = writeln!(io::stderr(), "{} {sentence}", ink::error_head());
    }
    status
}
