//! `[tfrc]`: the settings of every TFRC flow, and `[tfrc.quirks]`: the rules in which ns-2 differs
//! from the RFC.

use serde::Deserialize;

use losscause::Span;
use losscause_transport::tfrc;

use super::{Overlay, mirrored, replace};
use crate::InputError;
use crate::scenario::expression::{Names, Quantity};
use crate::scenario::reader::{Range, Reader};

/// Keys that have moved, each with its new place.
pub(crate) const MOVED: &[(&str, &str)] = &[
    ("tfrc.equation", "tfrc.quirks.equation"),
    ("tfrc.rto", "tfrc.quirks.rto"),
    ("tfrc.rto_minimum_ms", "tfrc.quirks.rto_minimum_ms"),
    ("tfrc.rtt_weight", "tfrc.quirks.rtt_weight"),
    ("tfrc.initial_rate_bps", "tfrc.quirks.initial_rate"),
    ("tfrc.initial_window", "tfrc.quirks.initial_rate"),
    ("tfrc.rate", "tfrc.quirks.rate"),
    ("tfrc.no_feedback_rtts", "tfrc.quirks.no_feedback_timer"),
    ("tfrc.first_no_feedback_ms", "tfrc.quirks.no_feedback_timer"),
    ("tfrc.loss_event", "tfrc.quirks.loss_event"),
    ("tfrc.first_interval", "tfrc.quirks.first_interval"),
    ("tfrc.few_intervals", "tfrc.quirks.few_intervals"),
    ("tfrc.discounting", "tfrc.quirks.discounting"),
    ("tfrc.discount_floor", "tfrc.quirks.discounting"),
    ("tfrc.discount_at_loss", "tfrc.quirks.discounting"),
    ("tfrc.reports", "tfrc.quirks.reports"),
];

/// Settings of every TFRC flow.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TfrcSettings {
    /// Where every setting that is not given comes from (default: rfc5348).
    #[serde(default)]
    pub mode: TfrcMode,
    /// Size of a report on the wire, bytes.
    pub feedback_bytes: Option<Quantity>,
    /// Later packets that must arrive before a missing one is declared lost (1 or more).
    pub loss_after_pkts: Option<Quantity>,
    /// How packets are spaced.
    pub spacing: Option<Spacing>,
    /// Whether queues may mark packets instead of dropping them, and marks count as congestion
    /// losses (RFC 5348, section 5.1; default false). No algorithm is asked about a mark.
    pub ecn: Option<bool>,
    /// Single rules in which ns-2 differs from the RFC; what is not given is the mode's own.
    #[serde(default)]
    pub quirks: TfrcQuirks,
}

/// The sets of TFRC settings that have a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TfrcMode {
    /// The standard, RFC 5348.
    #[default]
    Rfc5348,
    /// `Agent/TFRC` of ns-2.35.
    Ns2,
}

/// The rules in which ns-2 differs from RFC 5348.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TfrcQuirks {
    /// The throughput equation.
    pub equation: Option<Equation>,
    /// The retransmission timeout in the equation.
    pub rto: Option<Rto>,
    /// With `rto = "ticks"`: the smallest timeout, milliseconds (default 0).
    pub rto_minimum_ms: Option<Quantity>,
    /// Weight of the old value in the averages of the round-trip time (0 to below 1).
    pub rtt_weight: Option<Quantity>,
    /// The rate before the first report, and the one that the first report brings.
    pub initial_rate: Option<InitialRate>,
    /// How the allowed rate follows the reports.
    pub rate: Option<Rate>,
    /// How long the sender waits for a report before it lowers its rate.
    pub no_feedback_timer: Option<NoFeedbackTimer>,
    /// What starts a new loss event.
    pub loss_event: Option<LossEvent>,
    /// The loss interval before the first loss event.
    pub first_interval: Option<FirstInterval>,
    /// Which closed intervals are averaged with the open one while there are fewer than eight.
    pub few_intervals: Option<FewIntervals>,
    /// How far older loss intervals are discounted while the open one is long.
    pub discounting: Option<Discounting>,
    /// When the receiver reports.
    pub reports: Option<Reports>,
}

/// The retransmission timeout in the equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Rto {
    /// Four round-trip times (RFC 5348).
    FourRtts,
    /// TCP's estimator in whole ticks of 0.1 s (ns-2.35).
    Ticks,
}

mirrored! {
    /// How packets are spaced at a given rate.
    pub enum Spacing => tfrc::Spacing {
        /// Evenly.
        Even,
        /// Wider while the round-trip time is above its average (RFC 5348, section 4.5; ns-2
        /// `ca_`).
        SqrtRtt,
    }

    /// The throughput equation.
    pub enum Equation => tfrc::Equation {
        /// As printed in RFC 5348.
        Rfc5348,
        /// With the probability of a timeout held to 1, and at most 25 MB/s (ns-2.35).
        Ns2,
    }

    /// The rate before the first report, and the one that the first report brings.
    pub enum InitialRate => tfrc::InitialRate {
        /// One packet per second, then two to four packets per round-trip time (RFC 5348).
        Rfc5348,
        /// 300 bytes per second, then two to four packets per round-trip time by their size
        /// (ns-2.35).
        Ns2,
    }

    /// How the allowed rate follows the reports.
    pub enum Rate => tfrc::RateRule {
        /// RFC 5348, sections 4.3 and 4.4.
        Rfc5348,
        /// At most one packet per round-trip time more for every such time passed (ns-2.35).
        Ns2,
    }

    /// How long the sender waits for a report.
    pub enum NoFeedbackTimer => tfrc::NoFeedbackTimer {
        /// Two seconds, then four round-trip times (RFC 5348).
        Rfc5348,
        /// The time of two packets, then two round-trip times (ns-2.35).
        Ns2,
    }

    /// What starts a new loss event.
    pub enum LossEvent => tfrc::LossEventRule {
        /// More than a round-trip time between the times at which lost packets would have arrived
        /// (RFC 5348).
        ArrivalTime,
        /// The same between the times at which they were sent, and a report in between (ns-2.35).
        SendTimeAndRound,
    }

    /// The loss interval before the first loss event.
    pub enum FirstInterval => tfrc::FirstInterval {
        /// From the largest receive rate so far (RFC 5348).
        LargestReceiveRate,
        /// From the receive rate at the loss (ns-2.35).
        Ns2,
    }

    /// Which closed loss intervals are averaged with the open one while there are fewer than eight.
    pub enum FewIntervals => tfrc::FewIntervals {
        /// All but the oldest (RFC 5348).
        WithoutOldest,
        /// All (ns-2.35).
        All,
    }

    /// How far older loss intervals are discounted while the open one is long.
    pub enum Discounting => tfrc::Discounting {
        /// Not at all.
        Off,
        /// By a factor of at least 0.25, also computed when an interval closes (RFC 5348).
        Rfc5348,
        /// By a factor of at least 0.5, computed for reports only (ns-2.35).
        Ns2,
    }

    /// When the receiver reports.
    pub enum Reports => tfrc::Reports {
        /// Every round-trip time, and at once on a new loss event (RFC 5348).
        Rfc5348,
        /// With the packets that arrive, and at once on a new loss event (ns-2.35).
        Ns2,
    }
}

impl TfrcSettings {
    pub(super) fn config(
        &self,
        reader: &Reader,
        names: &Names,
    ) -> Result<tfrc::Config, InputError> {
        let mut config = match self.mode {
            TfrcMode::Rfc5348 => tfrc::Config::rfc5348(),
            TfrcMode::Ns2 => tfrc::Config::ns2(),
        };
        let overlay = Overlay { section: "tfrc", reader, names };
        overlay.whole(
            "feedback_bytes",
            self.feedback_bytes.as_ref(),
            1,
            65_535,
            &mut config.feedback_bytes,
        )?;
        overlay.whole(
            "loss_after_pkts",
            self.loss_after_pkts.as_ref(),
            1,
            1000,
            &mut config.loss_after_pkts,
        )?;
        replace(&mut config.spacing, self.spacing);
        replace(&mut config.ecn, self.ecn);
        self.quirks.put_over(&mut config.quirks, reader, names)?;
        Ok(config)
    }
}

impl TfrcQuirks {
    /// Replaces the mode's rules by those that are given.
    fn put_over(
        &self,
        quirks: &mut tfrc::Quirks,
        reader: &Reader,
        names: &Names,
    ) -> Result<(), InputError> {
        let overlay = Overlay { section: "tfrc.quirks", reader, names };
        replace(&mut quirks.equation, self.equation);
        replace(&mut quirks.initial_rate, self.initial_rate);
        replace(&mut quirks.rate, self.rate);
        replace(&mut quirks.no_feedback_timer, self.no_feedback_timer);
        replace(&mut quirks.loss_event, self.loss_event);
        replace(&mut quirks.first_interval, self.first_interval);
        replace(&mut quirks.few_intervals, self.few_intervals);
        replace(&mut quirks.discounting, self.discounting);
        replace(&mut quirks.reports, self.reports);
        if let Some(weight) = &self.rtt_weight {
            quirks.rtt_weight =
                reader.number("tfrc.quirks.rtt_weight", weight, names, Range::Share)?;
        }
        quirks.rto = match self.rto {
            None => quirks.rto,
            Some(Rto::FourRtts) => tfrc::RtoRule::FourRtts,
            Some(Rto::Ticks) => tfrc::RtoRule::Ticks { minimum: Span::ZERO },
        };
        let ticks = matches!(quirks.rto, tfrc::RtoRule::Ticks { .. });
        let only = "only valid with rto = \"ticks\"; remove it";
        overlay.refuse_unless(ticks, "rto_minimum_ms", self.rto_minimum_ms.is_some(), only)?;
        if let Some(least) = &self.rto_minimum_ms {
            let minimum =
                overlay.milliseconds_or_off("rto_minimum_ms", least)?.unwrap_or(Span::ZERO);
            quirks.rto = tfrc::RtoRule::Ticks { minimum };
        }
        Ok(())
    }
}
