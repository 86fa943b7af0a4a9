//! The kernel's own congestion controls, which the programs begin from.

use std::fmt;

/// A congestion control of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Reno (RFC 5681).
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
}

impl fmt::Display for Base {
    /// The kernel's name of it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Base::Reno => "reno",
            Base::Cubic => "cubic",
        })
    }
}
