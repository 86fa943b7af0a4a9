//! What a user of TFRC sets.

use losscause::Span;

use super::quirks::{Quirks, RtoRule};

/// How one TFRC flow behaves, at the sender and the receiver. Both ends of a flow take the same
/// settings.
///
/// ```
/// use losscause_transport::tfrc::{
///     Config, ConfigError, Discounting, Equation, FewIntervals, FirstInterval, InitialRate,
///     LossEventRule, NoFeedbackTimer, Quirks, RateRule, Reports, RtoRule, Spacing,
/// };
///
/// // The RFC with the rates of ns-2, and ns-2 with the losses of the RFC.
/// let rates = Quirks {
///     equation: Equation::Ns2,
///     rto: RtoRule::FourRtts,
///     initial_rate: InitialRate::Ns2,
///     rate: RateRule::Ns2,
///     no_feedback_timer: NoFeedbackTimer::Ns2,
///     reports: Reports::Ns2,
///     ..Quirks::RFC
/// };
/// let losses = Quirks {
///     loss_event: LossEventRule::ArrivalTime,
///     first_interval: FirstInterval::LargestReceiveRate,
///     few_intervals: FewIntervals::WithoutOldest,
///     discounting: Discounting::Rfc5348,
///     ..Quirks::NS2_2_35
/// };
/// for quirks in [rates, losses] {
///     let config = Config { spacing: Spacing::Even, quirks, ..Config::rfc5348() };
///     assert_eq!(config.validate(), Ok(()));
///     let wrong = Config { quirks: Quirks { rtt_weight: 1.0, ..quirks }, ..config };
///     assert_eq!(wrong.validate(), Err(ConfigError::RttWeight(1.0)));
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a data packet (s), bytes, at least 1.
    pub payload_bytes: u32,
    /// Headers of a data packet, bytes. They use the link but do not count for the rate.
    pub header_bytes: u32,
    /// Size of a report on the wire, bytes.
    pub feedback_bytes: u32,
    /// Later packets that must arrive before a missing one is declared lost (NDUPACK), at least 1.
    pub loss_after_pkts: u32,
    /// How packets are spaced.
    pub spacing: Spacing,
    /// Whether packets may be marked instead of dropped, and marks count as congestion losses (RFC
    /// 5348, section 5.1).
    pub ecn: bool,
    /// The fastest that packets are ever spaced, payload bits per second, at least 1; none if only
    /// the reports limit the rate.
    pub max_rate_bps: Option<u64>,
    /// The rules in which ns-2 differs from the RFC.
    pub quirks: Quirks,
}

/// How packets are spaced at a given rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly.
    Even,
    /// Wider while the round-trip time is above its average: by the square root of the round-trip
    /// time over the average of that root (RFC 5348, section 4.5, optional there; ns-2.35: `ca_`).
    SqrtRtt,
}

impl Config {
    /// The standard, RFC 5348, with its optional parts (sections 4.5 and 5.5). [The module](super)
    /// lists the deviations.
    pub const fn rfc5348() -> Self {
        Self {
            payload_bytes: 1460,
            header_bytes: 40,
            feedback_bytes: 40,
            loss_after_pkts: 3,
            spacing: Spacing::SqrtRtt,
            ecn: false,
            max_rate_bps: None,
            quirks: Quirks::RFC,
        }
    }

    /// `Agent/TFRC` and `Agent/TFRCSink` of ns-2.35 with their defaults.
    pub const fn ns2() -> Self {
        Self {
            payload_bytes: 1000,
            header_bytes: 32,
            loss_after_pkts: 1,
            quirks: Quirks::NS2_2_35,
            ..Self::rfc5348()
        }
    }

    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.payload_bytes == 0 {
            return Err(ConfigError::PayloadBytes);
        }
        if self.loss_after_pkts == 0 {
            return Err(ConfigError::LossAfterPkts);
        }
        if self.max_rate_bps == Some(0) {
            return Err(ConfigError::MaxRate);
        }
        if !(0.0..1.0).contains(&self.quirks.rtt_weight) {
            return Err(ConfigError::RttWeight(self.quirks.rtt_weight));
        }
        if let RtoRule::Ticks { minimum } = self.quirks.rto
            && minimum < Span::ZERO
        {
            return Err(ConfigError::RtoMinimum(minimum));
        }
        Ok(())
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::rfc5348()
    }
}

/// A setting out of range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// `payload_bytes` is zero.
    #[error("payload_bytes must be at least 1")]
    PayloadBytes,
    /// `loss_after_pkts` is zero.
    #[error("loss_after_pkts must be at least 1")]
    LossAfterPkts,
    /// `max_rate_bps` is zero.
    #[error("max_rate_bps must be at least 1")]
    MaxRate,
    /// `quirks.rtt_weight` is not at least 0 and below 1.
    #[error("quirks.rtt_weight must be at least 0 and below 1, not {0}")]
    RttWeight(f64),
    /// `quirks.rto` has a negative minimum.
    #[error("the minimum of quirks.rto must be zero or more, not {0}")]
    RtoMinimum(Span),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_named_configurations_are_valid() {
        assert_eq!(Config::rfc5348().validate(), Ok(()));
        assert_eq!(Config::ns2().validate(), Ok(()));
    }

    #[test]
    fn each_setting_out_of_range_is_named() {
        let error = |change: fn(&mut Config)| {
            let mut config = Config::ns2();
            change(&mut config);
            config.validate().unwrap_err().to_string()
        };
        assert!(error(|c| c.payload_bytes = 0).starts_with("payload_bytes"));
        assert!(error(|c| c.loss_after_pkts = 0).starts_with("loss_after_pkts"));
        assert!(error(|c| c.max_rate_bps = Some(0)).starts_with("max_rate_bps"));
        assert!(error(|c| c.quirks.rtt_weight = 1.0).starts_with("quirks.rtt_weight"));
        assert!(error(|c| c.quirks.rtt_weight = f64::NAN).starts_with("quirks.rtt_weight"));
        assert!(
            error(|c| c.quirks.rto = RtoRule::Ticks { minimum: -Span::from_millis(1) })
                .contains("quirks.rto")
        );
    }
}
