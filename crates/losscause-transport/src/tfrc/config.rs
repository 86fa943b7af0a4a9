//! Every choice that TFRC leaves open, and where ns-2 chose differently from RFC 5348.

use core::fmt;

/// How one TFRC flow behaves, at the sender and the receiver. Both ends of a flow take the same settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a data packet (s), bytes.
    pub payload_bytes: u32,
    /// Headers of a data packet, bytes. They use the link but do not count for the rate.
    pub header_bytes: u32,
    /// Size of a report on the wire, bytes.
    pub feedback_bytes: u32,
}

impl Config {
    /// The standard, RFC 5348.
    pub const fn rfc5348() -> Self {
        Self { payload_bytes: 1460, header_bytes: 40, feedback_bytes: 40 }
    }

    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.payload_bytes == 0 {
            return Err(ConfigError::PayloadBytes);
        }
        Ok(())
    }

    /// `Agent/TFRC` and `Agent/TFRCSink` of ns-2.35 with their defaults.
    pub const fn ns2() -> Self {
        Self { payload_bytes: 1000, header_bytes: 32, feedback_bytes: 40 }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::rfc5348()
    }
}

/// A setting out of range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConfigError {
    /// `payload_bytes` is zero.
    PayloadBytes,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::PayloadBytes => write!(f, "payload_bytes must be at least 1"),
        }
    }
}

impl core::error::Error for ConfigError {}
