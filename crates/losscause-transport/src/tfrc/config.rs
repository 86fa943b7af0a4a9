//! Every choice that TFRC leaves open, and where ns-2 chose differently from RFC 5348.

use core::fmt;

use losscause::Span;

use super::equation::Equation;

/// How one TFRC flow behaves, at the sender and the receiver. Both ends of a flow take the same settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a data packet (s), bytes, at least 1.
    pub payload_bytes: u32,
    /// Headers of a data packet, bytes. They use the link but do not count for the rate.
    pub header_bytes: u32,
    /// Size of a report on the wire, bytes.
    pub feedback_bytes: u32,

    /// The throughput equation.
    pub equation: Equation,
    /// The retransmission timeout in the equation (t_RTO).
    pub rto: RtoRule,
    /// Weight of the old value in the averages of the round-trip time (q), 0 <= q < 1.
    pub rtt_weight: f64,
    /// How the allowed rate follows the reports, and their absence.
    pub rate: RateRule,
    /// Rate before the first report.
    pub initial_rate: InitialRate,
    /// Rate after the first report, per round-trip time.
    pub initial_window: InitialWindow,
    /// How packets are spaced.
    pub spacing: Spacing,
    /// The no-feedback timer runs this many round-trip times, or two packets' time if that is longer; at least 1.
    pub no_feedback_rtts: u32,
    /// The no-feedback timer before the first report; none: two packets' time.
    pub first_no_feedback: Option<Span>,

    /// Later packets that must arrive before a missing one is declared lost (NDUPACK), at least 1.
    pub loss_after_pkts: u32,
    /// What starts a new loss event.
    pub loss_event: LossEventRule,
    /// The loss interval put before the first loss event.
    pub first_interval: FirstInterval,
    /// Weights of the last eight loss intervals, newest first; not negative, the first above zero.
    pub weights: [f64; 8],
    /// Which intervals stand beside the open one while there are fewer than eight.
    pub few_intervals: FewIntervals,
    /// History discounting; none: off.
    pub discounting: Option<Discounting>,
    /// When the receiver reports.
    pub reports: Reports,
    /// Whether packets may be marked instead of dropped, and marks count as congestion losses (RFC 5348, section 5.1).
    pub ecn: bool,
}

/// The retransmission timeout of the throughput equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// Four round-trip times (RFC 5348, section 3.1).
    FourRtts,
    /// TCP's estimator in whole ticks of a coarse clock (ns-2.35: `tcp_tick_`, `minrto_`). A path shorter than one
    /// and a half ticks always gets three ticks.
    Ticks {
        /// The clock's tick, above zero.
        tick: Span,
        /// The smallest timeout.
        minimum: Span,
    },
}

/// How the allowed rate follows the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateRule {
    /// RFC 5348, sections 4.3 and 4.4: the equation's rate, at most twice the largest receive rate of the last two
    /// round-trip times; slow start doubles once per round-trip time.
    Rfc5348,
    /// ns-2.35: the rate rises by at most one packet per round-trip time for every such time passed, and is held
    /// to twice the last report's receive rate.
    Ns2 {
        /// Slow start spreads each doubling over a round-trip time, packet by packet (`slow_increase_`).
        gradual_slow_start: bool,
    },
}

/// The rate before the first report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialRate {
    /// One packet per second (RFC 5348, section 4.2).
    OnePacketPerSecond,
    /// A fixed rate in payload bytes per second, above zero (ns-2.35: `InitRate_`, 300).
    BytesPerSecond(f64),
}

/// The rate after the first report, per round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// Two to four packets, as near to 4380 bytes as possible (RFC 5348, section 4.2).
    Bytes4380,
    /// Four packets up to 1095 bytes of payload, three below 2190, else two (ns-2.35: `rate_init_option_` 2).
    WholePackets,
}

/// How packets are spaced at a given rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly.
    Even,
    /// Wider while the round-trip time is above its average: by the square root of the one over the average square
    /// root (RFC 5348, section 4.5, optional there; ns-2.35: `ca_`).
    SqrtRtt,
}

/// What starts a new loss event. Always: more than a round-trip time after the start of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossEventRule {
    /// Time is when the lost packet would have arrived (RFC 5348, section 5.2).
    ArrivalTime,
    /// Time is when the lost packet was sent, and the sender must have had a report since (ns-2.35: `PreciseLoss_`).
    SendTimeAndRound,
}

/// The loss interval put before the first loss event: what the equation needs to yield a certain rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstInterval {
    /// The largest receive rate so far, at least half a packet per round-trip time (RFC 5348, section 6.3.1).
    LargestReceiveRate,
    /// The receive rate of the moment, the interval cut to whole packets; the first loss event counts from the
    /// packet that revealed it, and the interval after it from the last report (ns-2.35: `AdjustHistoryAfterSS_`).
    Ns2,
}

/// The average with the open interval, while fewer than eight intervals are closed. With all eight, either leaves the
/// oldest out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FewIntervals {
    /// Without the oldest, so that both averages are over the same number of intervals (RFC 5348, section 5.4).
    WithoutOldest,
    /// With all of them (ns-2.35).
    All,
}

/// History discounting (RFC 5348, section 5.5): while the open loss interval is over twice the average, the older
/// ones weigh less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discounting {
    /// The smallest factor, 0 to 1.
    pub floor: f64,
    /// Whether the factor is brought up to date when a loss event closes the interval, as the RFC does with every
    /// packet; ns-2.35 does so only when it reports.
    pub at_loss: bool,
}

/// When the receiver reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// Every round-trip time if anything arrived, and at once on a new loss event (RFC 5348, section 6).
    Rfc5348,
    /// With the first packet that arrives a round-trip time after the last report; at once on a new loss event or
    /// when the packet asks for it; and one and a half round-trip times after a report if nothing else came, even
    /// when that report was the answer to the last packet (ns-2.35).
    Ns2,
}

impl Config {
    /// The standard, RFC 5348, with its optional parts (4.5 and 5.5). What it does otherwise is listed in
    /// [the module](super).
    pub const fn rfc5348() -> Self {
        Self {
            payload_bytes: 1460,
            header_bytes: 40,
            feedback_bytes: 40,
            equation: Equation::Rfc5348,
            rto: RtoRule::FourRtts,
            rtt_weight: 0.9,
            rate: RateRule::Rfc5348,
            initial_rate: InitialRate::OnePacketPerSecond,
            initial_window: InitialWindow::Bytes4380,
            spacing: Spacing::SqrtRtt,
            no_feedback_rtts: 4,
            first_no_feedback: Some(Span::from_secs(2)),
            loss_after_pkts: 3,
            loss_event: LossEventRule::ArrivalTime,
            first_interval: FirstInterval::LargestReceiveRate,
            weights: [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2],
            few_intervals: FewIntervals::WithoutOldest,
            discounting: Some(Discounting { floor: 0.25, at_loss: true }),
            reports: Reports::Rfc5348,
            ecn: false,
        }
    }

    /// `Agent/TFRC` and `Agent/TFRCSink` of ns-2.35 with their defaults.
    pub const fn ns2() -> Self {
        Self {
            payload_bytes: 1000,
            header_bytes: 32,
            feedback_bytes: 40,
            equation: Equation::Ns2,
            rto: RtoRule::Ticks { tick: Span::from_millis(100), minimum: Span::ZERO },
            rtt_weight: 0.95,
            rate: RateRule::Ns2 { gradual_slow_start: true },
            initial_rate: InitialRate::BytesPerSecond(300.0),
            initial_window: InitialWindow::WholePackets,
            spacing: Spacing::SqrtRtt,
            no_feedback_rtts: 2,
            first_no_feedback: None,
            loss_after_pkts: 1,
            loss_event: LossEventRule::SendTimeAndRound,
            first_interval: FirstInterval::Ns2,
            weights: [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2],
            few_intervals: FewIntervals::All,
            discounting: Some(Discounting { floor: 0.5, at_loss: false }),
            reports: Reports::Ns2,
            ecn: false,
        }
    }

    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let above_zero = |x: f64| x.is_finite() && x > 0.0;
        let share = |x: f64| (0.0..=1.0).contains(&x);
        if self.payload_bytes == 0 {
            return Err(ConfigError::PayloadBytes);
        }
        if !(share(self.rtt_weight) && self.rtt_weight < 1.0) {
            return Err(ConfigError::RttWeight(self.rtt_weight));
        }
        if let RtoRule::Ticks { tick, minimum } = self.rto
            && (tick <= Span::ZERO || minimum < Span::ZERO)
        {
            return Err(ConfigError::Rto { tick, minimum });
        }
        if let InitialRate::BytesPerSecond(rate) = self.initial_rate
            && !above_zero(rate)
        {
            return Err(ConfigError::InitialRate(rate));
        }
        if self.no_feedback_rtts == 0 {
            return Err(ConfigError::NoFeedbackRtts);
        }
        if let Some(first) = self.first_no_feedback
            && first <= Span::ZERO
        {
            return Err(ConfigError::FirstNoFeedback(first));
        }
        if self.loss_after_pkts == 0 {
            return Err(ConfigError::LossAfterPkts);
        }
        if !above_zero(self.weights[0]) || self.weights.iter().any(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(ConfigError::Weights);
        }
        if let Some(Discounting { floor, .. }) = self.discounting
            && !share(floor)
        {
            return Err(ConfigError::DiscountFloor(floor));
        }
        Ok(())
    }

    /// The initial window W_init in bytes.
    pub(crate) fn initial_window_bytes(&self) -> f64 {
        let s = f64::from(self.payload_bytes);
        match self.initial_window {
            // RFC 5348, section 4.2, with the payload for the segment size.
            InitialWindow::Bytes4380 => (4.0 * s).min((2.0 * s).max(4380.0)),
            InitialWindow::WholePackets => {
                s * match self.payload_bytes {
                    0..=1095 => 4.0,
                    1096..2190 => 3.0,
                    _ => 2.0,
                }
            }
        }
    }

    /// The rate before the first report, bytes per second.
    pub(crate) fn initial_rate_bytes(&self) -> f64 {
        match self.initial_rate {
            InitialRate::OnePacketPerSecond => f64::from(self.payload_bytes),
            InitialRate::BytesPerSecond(rate) => rate,
        }
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
    /// `rtt_weight` is not at least 0 and below 1.
    RttWeight(f64),
    /// `rto` has a tick of zero or less, or a negative minimum.
    Rto {
        /// The tick given.
        tick: Span,
        /// The minimum given.
        minimum: Span,
    },
    /// `initial_rate` is not above zero.
    InitialRate(f64),
    /// `no_feedback_rtts` is zero.
    NoFeedbackRtts,
    /// `first_no_feedback` is not above zero.
    FirstNoFeedback(Span),
    /// `loss_after_pkts` is zero.
    LossAfterPkts,
    /// `weights` has a first entry that is not above zero, or one that is negative or not a number.
    Weights,
    /// `discounting` has a floor outside 0 to 1.
    DiscountFloor(f64),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PayloadBytes => write!(f, "payload_bytes must be at least 1"),
            Self::RttWeight(x) => write!(f, "rtt_weight must be at least 0 and below 1, not {x}"),
            Self::Rto { tick, minimum } => {
                write!(f, "rto needs a tick above zero and a minimum of zero or more, not {tick} and {minimum}")
            }
            Self::InitialRate(x) => write!(f, "initial_rate must be above 0 bytes per second, not {x}"),
            Self::NoFeedbackRtts => write!(f, "no_feedback_rtts must be at least 1"),
            Self::FirstNoFeedback(x) => write!(f, "first_no_feedback must be above zero, not {x}"),
            Self::LossAfterPkts => write!(f, "loss_after_pkts must be at least 1"),
            Self::Weights => write!(f, "weights must be zero or more, the first above zero"),
            Self::DiscountFloor(x) => write!(f, "the floor of discounting must lie between 0 and 1, not {x}"),
        }
    }
}

impl core::error::Error for ConfigError {}

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
        assert!(error(|c| c.rtt_weight = 1.0).starts_with("rtt_weight"));
        assert!(error(|c| c.rtt_weight = f64::NAN).starts_with("rtt_weight"));
        assert!(error(|c| c.rto = RtoRule::Ticks { tick: Span::ZERO, minimum: Span::ZERO }).starts_with("rto"));
        assert!(error(|c| c.initial_rate = InitialRate::BytesPerSecond(-1.0)).starts_with("initial_rate"));
        assert!(error(|c| c.no_feedback_rtts = 0).starts_with("no_feedback_rtts"));
        assert!(error(|c| c.first_no_feedback = Some(Span::ZERO)).starts_with("first_no_feedback"));
        assert!(error(|c| c.loss_after_pkts = 0).starts_with("loss_after_pkts"));
        assert!(error(|c| c.weights[0] = 0.0).starts_with("weights"));
        assert!(error(|c| c.discounting = Some(Discounting { floor: 1.5, at_loss: true })).contains("discounting"));
    }

    #[test]
    fn the_initial_window_follows_rfc_3390_and_its_rounding_in_ns2() {
        let window = |payload_bytes, initial_window| {
            Config { payload_bytes, initial_window, ..Config::ns2() }.initial_window_bytes()
        };
        assert_eq!(window(1000, InitialWindow::Bytes4380), 4000.0);
        assert_eq!(window(1200, InitialWindow::Bytes4380), 4380.0);
        assert_eq!(window(3000, InitialWindow::Bytes4380), 6000.0);
        assert_eq!(window(1000, InitialWindow::WholePackets), 4000.0);
        assert_eq!(window(1200, InitialWindow::WholePackets), 3600.0);
        assert_eq!(window(3000, InitialWindow::WholePackets), 6000.0);
    }
}
