//! What is wrong with a [`Config`].

use losscause::Span;

use super::Config;

/// A setting out of its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A count or size that must be at least 1 is 0.
    #[error("{key} must be at least 1, but is 0")]
    Zero {
        /// The field's name.
        key: &'static str,
    },
    /// A time that must be positive is not.
    #[error("{key} must be above zero, but is {value}")]
    NotPositive {
        /// The field's name.
        key: &'static str,
        /// The time that was given.
        value: Span,
    },
    /// A time that must not be negative is.
    #[error("{key} must not be negative, but is {value}")]
    Negative {
        /// The field's name.
        key: &'static str,
        /// The time that was given.
        value: Span,
    },
    /// [`Config::additive_increase_pkts`] is not finite or not above 0.
    #[error("additive_increase_pkts must be finite and above 0, but is {value}")]
    AdditiveIncrease {
        /// The increase that was given, packets.
        value: f64,
    },
    /// The receiver's window exceeds [`Config::LARGEST_WINDOW_PKTS`].
    #[error("max_window_pkts must be at most {}, but is {value}", Config::LARGEST_WINDOW_PKTS)]
    WindowTooLarge {
        /// The window that was given, packets.
        value: u32,
    },
    /// The largest timeout is below the smallest.
    #[error("max_rto must be at least min_rto ({min}), but is {max}")]
    RtoRange {
        /// The smallest.
        min: Span,
        /// The largest.
        max: Span,
    },
    /// Vegas' upper threshold is below its lower one.
    #[error("Vegas' beta must be at least its alpha ({alpha} packets), but is {beta}")]
    VegasThresholds {
        /// The lower one, packets.
        alpha: u32,
        /// The upper one, packets.
        beta: u32,
    },
    /// WestwoodVT's upper threshold is below its lower one.
    #[error("WestwoodVT's beta must be at least its alpha ({alpha} packets), but is {beta}")]
    WestwoodVtThresholds {
        /// The lower one, packets.
        alpha: u32,
        /// The upper one, packets.
        beta: u32,
    },
    /// New Jersey runs without [`Config::ecn`].
    #[error("ecn must be set for New Jersey, which responds to marks, but is not")]
    MarksMissing,
    /// [`crate::tcp::RecoveryScheme::RackTlp`] without [`crate::tcp::SackRules::Linux`], or the
    /// reverse.
    #[error("recovery rack-tlp and mode linux belong together, but only one of them is set")]
    LinuxRecovery,
    /// [`crate::tcp::RecoveryScheme::RackTlp`] with a response that Linux's TCP does not have here.
    #[error("Linux's TCP here is reno, cubic or bbr, but its response is another")]
    LinuxResponse,
    /// A setting that only Linux's TCP has, without [`crate::tcp::RecoveryScheme::RackTlp`].
    #[error("{key} belongs to mode linux, but the mode is another")]
    OnlyLinux {
        /// The setting.
        key: &'static str,
    },
    /// [`crate::tcp::Quirks::tick_offset`] is not within one tick.
    #[error("quirks.tick_offset must be from zero to below quirks.tick ({tick}), but is {value}")]
    TickOffset {
        /// The offset that was given.
        value: Span,
        /// The tick.
        tick: Span,
    },
}
