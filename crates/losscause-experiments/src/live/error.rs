//! Why an experiment cannot be made.

use losscause_study::{InputError, RunError, Stopped};

/// Why an experiment failed. `Display` is one sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// What was asked for cannot be measured.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A simulated run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The kernel lacks a congestion control.
    #[error("this kernel has no congestion control {name}; `--only system=…` chooses others")]
    NoCongestionControl {
        /// The name of the congestion control.
        name: String,
    },
    /// A connection could not be made or broke off.
    #[error("{what} ({reason})")]
    Connection {
        /// What could not be done.
        what: &'static str,
        /// Why.
        reason: std::io::Error,
    },
    /// A QUIC connection over the virtual network ended early.
    #[cfg(feature = "quic")]
    #[error(transparent)]
    Quic(#[from] crate::live::quic::ConnectionLost),
    /// A stream of media ended early.
    #[cfg(feature = "media")]
    #[error("a stream over the virtual network ended early ({0})")]
    StreamEnded(losscause_media::End),
    /// A part of the program panicked.
    #[error("a thread of the experiment ended unexpectedly")]
    Thread,
    /// A link could not be emulated.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[error(transparent)]
    Emulator(#[from] losscause_linux::emulator::Error),
    /// A congestion control could not be loaded or read.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    #[error(transparent)]
    Kernel(#[from] losscause_linux::kernel::KernelError),
    /// The experiment was stopped, as requested.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<LiveError> for RunError {
    fn from(error: LiveError) -> Self {
        match error {
            LiveError::Input(error) => error.into(),
            LiveError::Run(error) => error,
            LiveError::Stopped(stopped) => stopped.into(),
            other => Self::Stack { problem: other.to_string(), is_bad_input: other.is_bad_input() },
        }
    }
}

impl LiveError {
    /// The experiment needs a feature that was not chosen when the program was built.
    #[cfg(not(all(feature = "linux", feature = "media", feature = "quic", target_os = "linux")))]
    pub(crate) fn not_built(experiment: &str, feature: &'static str) -> Self {
        InputError::NotBuilt { what: format!("reproduce {experiment}"), feature }.into()
    }

    /// Whether the user's input or machine is at fault, in contrast to a run that failed.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Input(_) | Self::NoCongestionControl { .. } => true,
            Self::Run(error) => error.is_bad_input(),
            Self::Connection { .. } | Self::Thread | Self::Stopped(_) => false,
            #[cfg(feature = "quic")]
            Self::Quic(_) => false,
            #[cfg(feature = "media")]
            Self::StreamEnded(_) => false,
            #[cfg(all(feature = "linux", target_os = "linux"))]
            Self::Emulator(error) => error.is_bad_input(),
            #[cfg(all(feature = "linux", target_os = "linux"))]
            Self::Kernel(error) => error.is_bad_input(),
        }
    }
}
