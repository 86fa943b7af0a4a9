//! The processors that the command is packed for.

use std::fmt;

/// A processor under Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Processor {
    /// Intel's and AMD's with 64 bits
    #[value(name = "x86_64")]
    X86_64,
    /// Arm's with 64 bits
    #[value(name = "aarch64")]
    Aarch64,
}

impl fmt::Display for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        })
    }
}

impl Processor {
    /// Rust's name of the target.
    pub(super) fn target(self) -> String {
        format!("{self}-unknown-linux-gnu")
    }

    /// Debian's name of the architecture.
    pub(super) fn in_debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// Whether a program for it runs here without an emulator.
    pub(super) fn is_this_machines(self) -> bool {
        self.to_string() == std::env::consts::ARCH
    }

    /// Debian's emulator of it, which is linked statically.
    pub(super) fn emulator(self) -> String {
        format!("/usr/bin/qemu-{self}-static")
    }
}
