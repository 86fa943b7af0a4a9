//! `[tfrc]`: the settings of every TFRC flow.

use schemars::JsonSchema;
use serde::Deserialize;

use losscause::Span;
use losscause_transport::tfrc::{self, Discounting};

use super::super::expression::{Names, Quantity};
use super::super::reader::{Range, Reader};
use super::{Overlay, mirrored, replace};
use crate::InputError;

/// Keys that have moved, each with its new place.
pub(in super::super) const MOVED: &[(&str, &str)] = &[];

/// Settings of every TFRC flow.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TfrcSettings {
    /// Where every setting that is not given comes from (default: rfc5348).
    #[serde(default)]
    pub mode: TfrcMode,
    /// Size of a report on the wire, bytes.
    pub feedback_bytes: Option<Quantity>,
    /// The throughput equation.
    pub equation: Option<Equation>,
    /// The retransmission timeout in the equation.
    pub rto: Option<Rto>,
    /// With `rto = "ticks"`: the clock's tick, milliseconds (default 100).
    pub rto_tick_ms: Option<Quantity>,
    /// With `rto = "ticks"`: the smallest timeout, milliseconds (default 0).
    pub rto_minimum_ms: Option<Quantity>,
    /// Weight of the old value in the averages of the round-trip time (0 to below 1).
    pub rtt_weight: Option<Quantity>,
    /// How the allowed rate follows the reports.
    pub rate: Option<Rate>,
    /// With `rate = "ns2"`: whether slow start spreads each doubling over a round-trip time (default true).
    pub gradual_slow_start: Option<bool>,
    /// Rate before the first report, payload bits per second; 0: one packet per second.
    pub initial_rate_bps: Option<Quantity>,
    /// Rate after the first report, per round-trip time.
    pub initial_window: Option<InitialWindow>,
    /// How packets are spaced.
    pub spacing: Option<Spacing>,
    /// The no-feedback timer, in round-trip times (1 or more).
    pub no_feedback_rtts: Option<Quantity>,
    /// The no-feedback timer before the first report, milliseconds; 0: the time of two packets.
    pub first_no_feedback_ms: Option<Quantity>,
    /// Later packets that must arrive before a missing one is declared lost (1 or more).
    pub loss_after_pkts: Option<Quantity>,
    /// What starts a new loss event.
    pub loss_event: Option<LossEvent>,
    /// The loss interval put before the first loss event.
    pub first_interval: Option<FirstInterval>,
    /// Weights of the last eight loss intervals, newest first.
    pub weights: Option<[f64; 8]>,
    /// Which intervals stand beside the open one while there are fewer than eight.
    pub few_intervals: Option<FewIntervals>,
    /// Whether older loss intervals weigh less while the open one is long.
    pub discounting: Option<bool>,
    /// The smallest factor of the discounting, 0 to 1.
    pub discount_floor: Option<Quantity>,
    /// Whether the discount factor is brought up to date when a loss event closes the interval.
    pub discount_at_loss: Option<bool>,
    /// When the receiver reports.
    pub reports: Option<Reports>,
    /// Whether queues may mark packets instead of dropping them, and marks count as congestion losses (RFC 5348, section
    /// 5.1; default false). No algorithm is asked about a mark.
    pub ecn: Option<bool>,
}

/// The sets of TFRC settings that have a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TfrcMode {
    /// The standard, RFC 5348.
    #[default]
    Rfc5348,
    /// `Agent/TFRC` of ns-2.35.
    Ns2,
}

/// The retransmission timeout in the equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rto {
    /// Four round-trip times (RFC 5348).
    FourRtts,
    /// TCP's estimator in whole ticks of a coarse clock (ns-2.35).
    Ticks,
}

/// How the allowed rate follows the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// RFC 5348, sections 4.3 and 4.4.
    Rfc5348,
    /// At most one packet per round-trip time more for every such time passed (ns-2.35).
    Ns2,
}

mirrored! {
    /// The throughput equation.
    pub enum Equation => tfrc::Equation {
        /// As printed in RFC 5348.
        Rfc5348,
        /// With the probability of a timeout held to 1 (ns-2.35).
        Ns2,
    }

    /// The rate after the first report, per round-trip time.
    pub enum InitialWindow => tfrc::InitialWindow {
        /// Two to four packets, as near to 4380 bytes as possible (RFC 5348).
        Bytes4380,
        /// Two to four whole packets by their size (ns-2.35).
        WholePackets,
    }

    /// How packets are spaced at a given rate.
    pub enum Spacing => tfrc::Spacing {
        /// Evenly.
        Even,
        /// Wider while the round-trip time is above its average (RFC 5348, section 4.5; ns-2 `ca_`).
        SqrtRtt,
    }

    /// What starts a new loss event.
    pub enum LossEvent => tfrc::LossEventRule {
        /// More than a round-trip time between the times at which lost packets would have arrived (RFC 5348).
        ArrivalTime,
        /// The same between the times at which they were sent, and a report in between (ns-2.35).
        SendTimeAndRound,
    }

    /// The loss interval put before the first loss event.
    pub enum FirstInterval => tfrc::FirstInterval {
        /// From the largest receive rate so far (RFC 5348).
        LargestReceiveRate,
        /// From the receive rate of the moment (ns-2.35).
        Ns2,
    }

    /// Which loss intervals stand beside the open one while there are fewer than eight.
    pub enum FewIntervals => tfrc::FewIntervals {
        /// All but the oldest (RFC 5348).
        WithoutOldest,
        /// All (ns-2.35).
        All,
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
    pub(super) fn config(&self, reader: &Reader, names: &Names) -> Result<tfrc::Config, InputError> {
        let mut config = match self.mode {
            TfrcMode::Rfc5348 => tfrc::Config::rfc5348(),
            TfrcMode::Ns2 => tfrc::Config::ns2(),
        };
        let overlay = Overlay { section: "tfrc", reader, names };
        overlay.whole("feedback_bytes", self.feedback_bytes.as_ref(), 1, 65_535, &mut config.feedback_bytes)?;
        overlay.whole("no_feedback_rtts", self.no_feedback_rtts.as_ref(), 1, 1000, &mut config.no_feedback_rtts)?;
        overlay.whole("loss_after_pkts", self.loss_after_pkts.as_ref(), 1, 1000, &mut config.loss_after_pkts)?;
        replace(&mut config.equation, self.equation);
        replace(&mut config.initial_window, self.initial_window);
        replace(&mut config.spacing, self.spacing);
        replace(&mut config.loss_event, self.loss_event);
        replace(&mut config.first_interval, self.first_interval);
        replace(&mut config.few_intervals, self.few_intervals);
        replace(&mut config.reports, self.reports);
        replace(&mut config.ecn, self.ecn);
        replace(&mut config.weights, self.weights);
        if let Some(weight) = &self.rtt_weight {
            config.rtt_weight = reader.number("tfrc.rtt_weight", weight, names, Range::Share)?;
        }
        if let Some(rate) = &self.initial_rate_bps {
            let bps = reader.number("tfrc.initial_rate_bps", rate, names, Range::NotNegative(1e13))?;
            config.initial_rate = if bps > 0.0 {
                tfrc::InitialRate::BytesPerSecond(bps / 8.0)
            } else {
                tfrc::InitialRate::OnePacketPerSecond
            };
        }
        if let Some(timer) = &self.first_no_feedback_ms {
            config.first_no_feedback = overlay.milliseconds_or_off("first_no_feedback_ms", timer)?;
        }
        self.rto(&mut config, &overlay)?;
        self.rate(&mut config, &overlay)?;
        self.discounting(&mut config, &overlay)?;
        Ok(config)
    }

    fn rto(&self, config: &mut tfrc::Config, overlay: &Overlay) -> Result<(), InputError> {
        let (mut tick, mut minimum) = match config.rto {
            tfrc::RtoRule::Ticks { tick, minimum } => (tick, minimum),
            tfrc::RtoRule::FourRtts => (Span::from_millis(100), Span::ZERO),
        };
        let ticks = match self.rto {
            Some(Rto::Ticks) => true,
            Some(Rto::FourRtts) => false,
            None => config.rto != tfrc::RtoRule::FourRtts,
        };
        let only = "is for rto = \"ticks\" only, expected no such key";
        overlay.refuse_unless(ticks, "rto_tick_ms", self.rto_tick_ms.is_some(), only)?;
        overlay.refuse_unless(ticks, "rto_minimum_ms", self.rto_minimum_ms.is_some(), only)?;
        overlay.milliseconds("rto_tick_ms", self.rto_tick_ms.as_ref(), &mut tick)?;
        if let Some(least) = &self.rto_minimum_ms {
            minimum = overlay.milliseconds_or_off("rto_minimum_ms", least)?.unwrap_or(Span::ZERO);
        }
        config.rto = if ticks { tfrc::RtoRule::Ticks { tick, minimum } } else { tfrc::RtoRule::FourRtts };
        Ok(())
    }

    fn rate(&self, config: &mut tfrc::Config, overlay: &Overlay) -> Result<(), InputError> {
        let (ns2, gradual) = match config.rate {
            tfrc::RateRule::Ns2 { gradual_slow_start } => (true, gradual_slow_start),
            tfrc::RateRule::Rfc5348 => (false, true),
        };
        let ns2 = self.rate.map_or(ns2, |rate| rate == Rate::Ns2);
        let only = "is for rate = \"ns2\" only, expected no such key";
        overlay.refuse_unless(ns2, "gradual_slow_start", self.gradual_slow_start.is_some(), only)?;
        config.rate = if ns2 {
            tfrc::RateRule::Ns2 { gradual_slow_start: self.gradual_slow_start.unwrap_or(gradual) }
        } else {
            tfrc::RateRule::Rfc5348
        };
        Ok(())
    }

    fn discounting(&self, config: &mut tfrc::Config, overlay: &Overlay) -> Result<(), InputError> {
        let on = self.discounting.unwrap_or(config.discounting.is_some());
        let only = "is for discounting = true only, expected no such key";
        overlay.refuse_unless(on, "discount_floor", self.discount_floor.is_some(), only)?;
        overlay.refuse_unless(on, "discount_at_loss", self.discount_at_loss.is_some(), only)?;
        let Discounting { mut floor, mut at_loss } =
            config.discounting.unwrap_or(Discounting { floor: 0.5, at_loss: true });
        if let Some(least) = &self.discount_floor {
            floor = overlay.reader.number("tfrc.discount_floor", least, overlay.names, Range::Share)?;
        }
        replace(&mut at_loss, self.discount_at_loss);
        config.discounting = on.then_some(Discounting { floor, at_loss });
        Ok(())
    }
}
