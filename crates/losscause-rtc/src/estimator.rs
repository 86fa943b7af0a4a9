//! The estimator in front: it judges gaps and leaves the reports of wireless losses out.
//!
//! ```text
//! a report, in the order of sending   algorithm                        wrapped estimator
//!   the packet arrived                one observation; judges the gap  told
//!   it did not arrive                 waits for the next that did      told, unless ignored
//! ```
//!
//! A gap has one verdict: that of the first arrival behind it, as at a receiver. The reports keep
//! their order.

use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

use losscause::caps::{CapCounts, Caps, Refusal};
use losscause::lda::{SpikeConfig, SpikeThresholds};
use losscause::registry::Registry;
use losscause::safeguard::Watch;
use losscause::{
    Acked, Algorithm, AnyAlgorithm, Differentiator, End, Judgement, LdaConfig, Loss, Needs,
    Numbers, Observation, Observed, Packet, Safeguard, Safeguards, Span, Time, Verdict,
};
use rtc_interceptor::{BandwidthEstimator, EstimatorStats, PacketReport};
use tracing::debug;

use crate::{Error, LossVerdict, Monitor, Overruled};

/// An estimator that does not hear of losses which a loss differentiation algorithm takes for
/// wireless.
///
/// ```
/// use losscause::registry::Registry;
/// use losscause_rtc::{Caps, Error, LossTolerant};
/// use rtc_interceptor::Gcc;
///
/// let estimator = LossTolerant::named(Gcc::default(), "Spike", &Registry::built_in())?
///     .with_caps(Caps { max_share: 0.03, ..Caps::default() })?;
/// assert_eq!(estimator.algorithm(), "Spike");
/// # Ok::<(), Error>(())
/// ```
pub struct LossTolerant<E> {
    estimator: E,
    receiver: Differentiator<AnyAlgorithm>,
    caps: CapCounts,
    watch: Watch,
    monitor: Monitor,
    /// When the first reports came.
    zero: Option<Instant>,
    flight: Flight,
    /// Lost packets without an arrival behind them yet.
    gap: Vec<PacketReport>,
    /// What the wrapped estimator is told.
    told: Vec<PacketReport>,
}

/// What feedback gives to an algorithm.
pub const PROVIDED: Needs = Needs::NONE.with_delay().with_spacing().with_gap_size();

/// More than any UDP datagram has, bytes.
const MOST_BYTES: usize = 65_535;

impl<E: BandwidthEstimator> LossTolerant<E> {
    /// Puts `lda` in front of `estimator`. An algorithm of your own is an [`AnyAlgorithm::boxed`].
    ///
    /// # Errors
    /// If the algorithm needs what feedback does not give.
    pub fn new(estimator: E, lda: AnyAlgorithm) -> Result<Self, Error> {
        if let Some(input) = lda.needs().first_missing_from(PROVIDED) {
            return Err(Error::MissingInput { algorithm: lda.name(), input });
        }
        Ok(Self {
            estimator,
            receiver: Differentiator::new(lda),
            caps: CapCounts::new(Caps::default()),
            watch: Watch::new(Safeguards::ON),
            monitor: Monitor::default(),
            zero: None,
            flight: Flight::default(),
            gap: Vec::new(),
            told: Vec::new(),
        })
    }

    /// What to begin with: Spike with fixed thresholds
    /// ([`SpikeConfig::tobe`](losscause::lda::SpikeConfig::tobe)) of 5 ms and 2.5 ms above the
    /// smallest trip time. 5 ms are the queueing delay from which CoDel drops packets (RFC 8289).
    /// `docs/webrtc.md` has what was measured.
    pub fn recommended(estimator: E) -> Self {
        let thresholds =
            SpikeThresholds::Fixed { start: Span::from_millis(5), end: Span::from_micros(2_500) };
        let parameters = LdaConfig::Spike(SpikeConfig { thresholds, ..SpikeConfig::tobe() });
        Self::with_parameters(estimator, &parameters)
            .expect("the thresholds are in range, and Spike needs what feedback gives")
    }

    /// The algorithm that answers to `name` in `registry`, in any case, with its published
    /// parameters.
    ///
    /// # Errors
    /// If there is none, or as [`LossTolerant::new`].
    pub fn named(estimator: E, name: &str, registry: &Registry) -> Result<Self, Error> {
        match registry.find(name) {
            Some(parameters) => Self::with_parameters(estimator, parameters),
            None => {
                let known = registry.infos().map(|info| info.name).collect();
                Err(Error::UnknownAlgorithm { name: name.into(), known })
            }
        }
    }

    /// An algorithm with these parameters.
    ///
    /// # Errors
    /// If a parameter is out of range, or as [`LossTolerant::new`].
    pub fn with_parameters(estimator: E, parameters: &LdaConfig) -> Result<Self, Error> {
        Self::new(estimator, parameters.build(End::Receiver)?)
    }

    /// With other caps.
    ///
    /// # Errors
    /// If a cap is out of range.
    pub fn with_caps(self, caps: Caps) -> Result<Self, Error> {
        caps.validate()?;
        Ok(Self { caps: CapCounts::new(caps), watch: Watch::new(caps.safeguards), ..self })
    }

    /// The caps.
    pub fn caps(&self) -> Caps {
        self.caps.caps()
    }

    /// The algorithm's name.
    pub fn algorithm(&self) -> &'static str {
        self.receiver.algorithm().name()
    }

    /// Counts and last verdicts.
    pub fn monitor(&self) -> Monitor {
        self.monitor.clone()
    }

    /// The wrapped estimator.
    pub fn estimator(&self) -> &E {
        &self.estimator
    }

    fn on_report(&mut self, report: &PacketReport, at: Time, zero: Instant) {
        let report = PacketReport { size: report.size.min(MOST_BYTES), ..report.clone() };
        let sent = since(zero, report.departure);
        if !report.arrived {
            self.gap.push(report);
            return;
        }
        self.flight.on_report(sent);
        // The arrival times of RFC 8888 are none (see the crate's documentation).
        let arrival = report.arrival.filter(|_| report.is_twcc);
        let observed = arrival.map(|arrival| {
            let arrived = Time::ZERO + Span::from(arrival);
            let packet = Packet { seq: report.id, at: arrived, sent: Some(sent) };
            self.receiver.observe(packet, &mut ())
        });
        let revealed = match observed {
            None => Err(Overruled::NoArrivalTime),
            Some(Observed::InOrder(observation)) => Ok(observation),
            Some(Observed::Late | Observed::Duplicate) => Err(Overruled::UnknownPackets),
        };
        self.end_gap(revealed, at, zero);
        self.told.push(report);
    }

    /// The packets of the gap are lost. `revealed` is the arrival behind it, or why there is none.
    fn end_gap(&mut self, revealed: Result<Observation, Overruled>, at: Time, zero: Instant) {
        let (Some(first), Some(last)) = (self.gap.first(), self.gap.last()) else { return };
        let ids = Numbers { first: first.id, last: last.id };
        let sent_at = since(zero, last.departure);
        let lost_pkts = u32::try_from(self.gap.len()).unwrap_or(u32::MAX);
        self.caps.on_lost(lost_pkts, false);

        let (judgement, overruled) = match revealed.and_then(|seen| within(ids, seen)) {
            Err(overruled) => (None, Some(overruled)),
            Ok(observation) => {
                let mut loss = Loss::in_gap(ids.first, observation);
                loss.lost_pkts = lost_pkts;
                let judgement = self.receiver.algorithm().judge(&loss);
                // The brake is a sender's.
                loss.at = at;
                loss.sent_at = Some(sent_at);
                loss.in_flight_pkts = self.flight.pkts_at(at).saturating_add(lost_pkts.into());
                let brake = self.watch.on_loss(&loss, judgement.verdict, None);
                (Some(judgement), self.overrule(&judgement, brake, lost_pkts))
            }
        };
        let verdict = match (judgement, overruled) {
            (Some(judgement), None) => judgement.verdict,
            _ => Verdict::Congestion,
        };
        if verdict.is_wireless() {
            self.gap.clear();
        } else {
            self.told.append(&mut self.gap);
        }
        self.report(LossVerdict { at, ids, lost_pkts, verdict, judgement, overruled });
    }

    /// The rule that turns a wireless verdict into congestion.
    fn overrule(
        &mut self,
        judgement: &Judgement,
        brake: Option<Safeguard>,
        lost_pkts: u32,
    ) -> Option<Overruled> {
        if !judgement.verdict.is_wireless() {
            return None;
        }
        if let Some(brake) = brake {
            return Some(Overruled::Safeguard(brake));
        }
        self.caps.ignore(lost_pkts).err().map(|refusal| match refusal {
            Refusal::Run => Overruled::RunCap,
            Refusal::Share => Overruled::ShareCap,
            Refusal::LossRate => Overruled::LossRate,
        })
    }

    fn report(&self, verdict: LossVerdict) {
        debug!(
            target: "losscause_rtc::verdict",
            lost_pkts = verdict.lost_pkts,
            first = verdict.ids.first,
            last = verdict.ids.last,
            verdict = %verdict.verdict,
            reason = %verdict.reason(),
            target_bps = self.estimator.target_bitrate(),
        );
        self.monitor.add(verdict);
    }
}

impl<E: BandwidthEstimator> BandwidthEstimator for LossTolerant<E> {
    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]) {
        let zero = *self.zero.get_or_insert(now);
        let at = since(zero, now);
        let arrived = reports.iter().filter(|report| report.arrived).count();
        self.caps.on_acked(u32::try_from(arrived).unwrap_or(u32::MAX));
        self.watch.on_ack(&Observation::first(0, at).with_acked(Acked::new(arrived as u64)));
        self.told.clear();
        for report in reports {
            self.on_report(report, at, zero);
        }
        // rtc-interceptor reports losses up to the newest arrival only.
        self.end_gap(Err(Overruled::UnknownPackets), at, zero);

        let before = self.estimator.target_bitrate();
        self.estimator.on_reports(now, &self.told);
        if self.estimator.target_bitrate() < before {
            self.caps.restart_run();
        }
    }

    fn target_bitrate(&self) -> f64 {
        self.estimator.target_bitrate()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.estimator.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.estimator.poll_timeout()
    }

    /// The wrapped estimator's: its share of lost packets lacks those that it does not hear of.
    fn stats(&self) -> EstimatorStats {
        self.estimator.stats()
    }
}

impl<E: BandwidthEstimator> fmt::Debug for LossTolerant<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LossTolerant")
            .field("algorithm", &self.algorithm())
            .field("caps", &self.caps())
            .field("target_bitrate", &self.target_bitrate())
            .finish_non_exhaustive()
    }
}

/// The observation, if the lost packets lie in the gap before it.
fn within(ids: Numbers, observation: Observation) -> Result<Observation, Overruled> {
    let first_missing = observation.seq.saturating_sub(observation.missing.into());
    let is_within = first_missing <= ids.first && ids.last < observation.seq;
    is_within.then_some(observation).ok_or(Overruled::UnknownPackets)
}

/// Departures of the last packets that arrived, to know how many a flight has.
#[derive(Default)]
struct Flight {
    departures: VecDeque<Time>,
}

impl Flight {
    /// How many departures it keeps.
    const MOST: usize = 4_096;

    fn on_report(&mut self, sent: Time) {
        if self.departures.len() >= Self::MOST {
            self.departures.pop_front();
        }
        self.departures.push_back(sent);
    }

    /// Packets in flight at `at`, as many as left within the last reported round trip: the time
    /// from the newest departure to its report. At least 1.
    fn pkts_at(&self, at: Time) -> u64 {
        let Some(&newest) = self.departures.back() else { return 1 };
        let from = newest - (at - newest);
        self.departures.iter().rev().take_while(|sent| **sent >= from).count().max(1) as u64
    }
}

/// The time of an instant on the clock that is zero at `zero`.
fn since(zero: Instant, instant: Instant) -> Time {
    match instant.checked_duration_since(zero) {
        Some(after) => Time::ZERO + Span::from(after),
        None => Time::ZERO - Span::from(zero.saturating_duration_since(instant)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flight_is_what_left_within_the_last_reported_round_trip() {
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        let mut flight = Flight::default();
        assert_eq!(flight.pkts_at(ms(0)), 1, "at least one");
        (0..10).for_each(|number| flight.on_report(ms(10 * number)));
        // The newest left at 90 ms. With it those of 50 ms to 80 ms.
        assert_eq!(flight.pkts_at(ms(130)), 5);
        assert_eq!(flight.pkts_at(ms(90)), 1);
    }
}
