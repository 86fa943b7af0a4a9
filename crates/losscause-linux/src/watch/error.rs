//! Why connections cannot be watched.

use crate::filter::FilterError;
use crate::kernel::KernelError;

/// Why connections cannot be watched. `Display` is one sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The process lacks a capability.
    #[error("watching needs {missing}, which this process does not have: try sudo")]
    MissingCapability {
        /// The capabilities that are missing.
        missing: String,
    },
    /// The kernel has no description of its types.
    #[error("{file}: is missing, expected a kernel built with CONFIG_DEBUG_INFO_BTF")]
    NoBtf {
        /// Where it should be.
        file: &'static str,
    },
    /// The kernel lacks a tracepoint.
    #[error("this kernel has no tracepoint {name}, expected one built with CONFIG_TRACEPOINTS")]
    NoTracepoint {
        /// The tracepoint.
        name: &'static str,
    },
    /// A filter cannot be used.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Another process watches.
    #[error(
        "another `losscause watch` runs here; one shows all connections, so a second is refused"
    )]
    Second,
    /// The kernel refused a program.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

impl WatchError {
    /// Whether the input or the machine is at fault rather than a run that failed.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Kernel(error) => error.is_bad_input(),
            _ => true,
        }
    }
}
