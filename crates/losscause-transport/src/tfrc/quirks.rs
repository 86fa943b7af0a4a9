//! The rules in which ns-2.35 differs from RFC 5348.
//!
//! [`super::Config`] holds what a user of TFRC sets. Here is what only a reproduction sets: one of
//! the two named sets, or one rule at a time. Names in backticks that end with an underscore are
//! ns-2's own.

use losscause::Span;

use super::equation::Equation;

/// Rules of a flow that imitate ns-2; [`Quirks::RFC`] imitates nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quirks {
    /// The throughput equation.
    pub equation: Equation,
    /// The retransmission timeout in the equation (t_RTO).
    pub rto: RtoRule,
    /// Weight of the old value in the averages of the round-trip time (q), at least 0 and below 1.
    pub rtt_weight: f64,
    /// The rate before the first report, and the one that the first report brings.
    pub initial_rate: InitialRate,
    /// How the allowed rate follows the reports.
    pub rate: RateRule,
    /// How long the sender waits for a report.
    pub no_feedback_timer: NoFeedbackTimer,
    /// What starts a new loss event.
    pub loss_event: LossEventRule,
    /// The loss interval before the first loss event.
    pub first_interval: FirstInterval,
    /// Which closed intervals are averaged with the open one.
    pub few_intervals: FewIntervals,
    /// How far older intervals are discounted while the open one is long.
    pub discounting: Discounting,
    /// When the receiver reports.
    pub reports: Reports,
}

impl Quirks {
    /// RFC 5348. The headers of the files list where the code reads it in its own way.
    pub const RFC: Self = Self {
        equation: Equation::Rfc5348,
        rto: RtoRule::FourRtts,
        rtt_weight: 0.9,
        initial_rate: InitialRate::Rfc5348,
        rate: RateRule::Rfc5348,
        no_feedback_timer: NoFeedbackTimer::Rfc5348,
        loss_event: LossEventRule::ArrivalTime,
        first_interval: FirstInterval::LargestReceiveRate,
        few_intervals: FewIntervals::WithoutOldest,
        discounting: Discounting::Rfc5348,
        reports: Reports::Rfc5348,
    };

    /// `Agent/TFRC` and `Agent/TFRCSink` of ns-2.35 with their defaults.
    pub const NS2_2_35: Self = Self {
        equation: Equation::Ns2,
        rto: RtoRule::Ticks { minimum: Span::ZERO },
        rtt_weight: 0.95,
        initial_rate: InitialRate::Ns2,
        rate: RateRule::Ns2,
        no_feedback_timer: NoFeedbackTimer::Ns2,
        loss_event: LossEventRule::SendTimeAndRound,
        first_interval: FirstInterval::Ns2,
        few_intervals: FewIntervals::All,
        discounting: Discounting::Ns2,
        reports: Reports::Ns2,
    };
}

impl Default for Quirks {
    fn default() -> Self {
        Self::RFC
    }
}

/// The retransmission timeout in the throughput equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// Four round-trip times (RFC 5348, section 3.1).
    FourRtts,
    /// TCP's estimator in whole ticks of 0.1 s (ns-2.35: `tcp_tick_`). A path shorter than one and
    /// a half ticks always gets three ticks.
    Ticks {
        /// The smallest timeout, not negative (`minrto_`, 0 by default).
        minimum: Span,
    },
}

/// The rate before the first report, and the window per round-trip time that the first report
/// brings (W_init).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialRate {
    /// One packet per second, then two to four packets, as near to 4380 bytes as possible (RFC
    /// 5348, section 4.2).
    Rfc5348,
    /// 300 bytes per second (ns-2.35: `InitRate_`), then four packets of up to 1095 bytes of
    /// payload, three of less than 2190 bytes, or two (`rate_init_option_` 2).
    Ns2,
}

impl InitialRate {
    /// The rate before the first report, payload bytes per second.
    pub(crate) fn bytes_per_second(self, payload_bytes: u32) -> f64 {
        match self {
            Self::Rfc5348 => f64::from(payload_bytes),
            Self::Ns2 => 300.0,
        }
    }

    /// The initial window W_init, bytes.
    pub(crate) fn window_bytes(self, payload_bytes: u32) -> f64 {
        let s = f64::from(payload_bytes);
        match self {
            Self::Rfc5348 => (4.0 * s).min((2.0 * s).max(4380.0)),
            Self::Ns2 => {
                s * match payload_bytes {
                    0..=1095 => 4.0,
                    1096..2190 => 3.0,
                    _ => 2.0,
                }
            }
        }
    }
}

/// How the allowed rate follows the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateRule {
    /// The equation's rate, at most twice the largest receive rate of the last two round-trip
    /// times; slow start doubles the rate once per round-trip time (RFC 5348, sections 4.3 and
    /// 4.4).
    Rfc5348,
    /// The rate rises by at most one packet per round-trip time for each round-trip time that has
    /// passed, and is at most twice the receive rate of the last report; slow start spreads each
    /// doubling over a round-trip time, packet by packet (ns-2.35).
    Ns2,
}

/// How long the sender waits for a report before it lowers its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFeedbackTimer {
    /// Two seconds for the first report, then four round-trip times or the time of two packets,
    /// whichever is longer (RFC 5348, sections 4.2 to 4.4).
    Rfc5348,
    /// The time of two packets for the first report, then two round-trip times or the time of two
    /// packets, whichever is longer (ns-2.35).
    Ns2,
}

impl NoFeedbackTimer {
    /// The time for the first report, where it is fixed.
    pub(crate) fn first(self) -> Option<Span> {
        match self {
            Self::Rfc5348 => Some(Span::from_secs(2)),
            Self::Ns2 => None,
        }
    }

    /// The time for each further report, in round-trip times.
    pub(crate) fn rtts(self) -> i64 {
        match self {
            Self::Rfc5348 => 4,
            Self::Ns2 => 2,
        }
    }
}

/// What starts a new loss event: a loss more than a round-trip time after the start of the last
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossEventRule {
    /// A loss happens when the lost packet would have arrived (RFC 5348, section 5.2).
    ArrivalTime,
    /// A loss happens when the lost packet was sent. In addition, the sender must have had a report
    /// since the last event (ns-2.35: `PreciseLoss_`).
    SendTimeAndRound,
}

/// The loss interval before the first loss event: the length at which the equation yields a certain
/// rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstInterval {
    /// The largest receive rate so far, at least half a packet per round-trip time (RFC 5348,
    /// section 6.3.1).
    LargestReceiveRate,
    /// The receive rate at the loss, with the interval cut to whole packets. The first loss event
    /// begins with the packet that revealed the loss, and the interval after it with the last
    /// report (ns-2.35: `AdjustHistoryAfterSS_`).
    Ns2,
}

/// Which closed intervals are averaged with the open one while fewer than eight are closed. With
/// eight, both rules leave the oldest out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FewIntervals {
    /// All but the oldest, so that both averages are over the same number of intervals (RFC 5348,
    /// section 5.4).
    WithoutOldest,
    /// All (ns-2.35).
    All,
}

/// History discounting: while the open loss interval is over twice the average, the older ones
/// weigh less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discounting {
    /// No discounting.
    Off,
    /// By a factor of at least 0.25, computed for each report and for each interval that closes
    /// (RFC 5348, section 5.5).
    Rfc5348,
    /// By a factor of at least 0.5, computed for each report only (ns-2.35).
    Ns2,
}

impl Discounting {
    /// The smallest factor.
    pub(crate) fn floor(self) -> f64 {
        match self {
            Self::Off => 1.0,
            Self::Rfc5348 => 0.25,
            Self::Ns2 => 0.5,
        }
    }

    /// Whether the factor is computed again when an interval closes.
    pub(crate) fn at_loss(self) -> bool {
        self == Self::Rfc5348
    }
}

/// When the receiver reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// Every round-trip time if anything arrived, and at once on a new loss event (RFC 5348,
    /// section 6).
    Rfc5348,
    /// With the first packet that arrives a round-trip time after the last report; at once on a new
    /// loss event and when a packet asks for it; and one and a half round-trip times after a report
    /// if nothing arrived since, even if that report answered the last packet (ns-2.35).
    Ns2,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_window_is_rfc_3390s_and_in_ns2_whole_packets() {
        let windows = |rule: InitialRate| {
            [1000, 1200, 3000].map(|payload_bytes| rule.window_bytes(payload_bytes))
        };
        assert_eq!(windows(InitialRate::Rfc5348), [4000.0, 4380.0, 6000.0]);
        assert_eq!(windows(InitialRate::Ns2), [4000.0, 3600.0, 6000.0]);
    }
}
