//! Every flow over its own life.

use serde::{Deserialize, Serialize};

use losscause::{Algorithm, Safeguards, Span, Time};
use losscause_sim::{FlowId, FlowReport, TcpLda, Traffic, tcp};

use super::State;
use super::applications::ApplicationMeasurements;
use super::delays::{FlowDelays, Percentiles};
use crate::run::record::algorithm_of;

/// One flow over its whole life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlowMeasurements {
    /// The flow's name.
    pub flow: String,
    /// Whether it counts in the metrics of the run.
    pub measured: bool,
    /// The algorithm that judges its losses; null if every loss counts as congestion.
    pub lda: Option<String>,
    /// When it started, seconds; null if it never did.
    pub start_s: Option<f64>,
    /// When it stopped, seconds; null if it never started, or was still active at the end.
    pub stop_s: Option<f64>,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Data packets received, retransmissions without need included, copies made by links not.
    pub received_packets: u64,
    /// Distinct data packets delivered.
    pub delivered_packets: u64,
    /// Payload of a transfer with `bytes`, rounded up to whole packets, bytes; null if the flow is
    /// unlimited.
    pub offered_bytes: Option<u64>,
    /// Distinct payload delivered, kb/s.
    pub goodput_kbps: Option<f64>,
    /// All payload received, kb/s.
    pub throughput_kbps: Option<f64>,
    /// Packets that crossed the bottleneck within the window.
    pub bottleneck_packets: u64,
    /// Data packets that queues dropped.
    pub queue_drops: u64,
    /// Data packets that channels corrupted.
    pub wireless_drops: u64,
    /// Packets sent again, whether lost or not, a SYN included; null if it is not TCP.
    pub retransmitted_packets: Option<u64>,
    /// Retransmission timeouts; null if it is not TCP.
    pub timeouts: Option<u64>,
    /// Losses that the algorithm called wireless and the guard made congestion; null if no safeguard
    /// watches the sender.
    pub guarded: Option<u64>,
    /// The same, by the brake.
    pub braked: Option<u64>,
    /// Share of judged congestion losses that were called wireless, percent; null if no such loss
    /// was judged.
    #[serde(rename = "M_c")]
    pub m_c: Option<f64>,
    /// Share of judged wireless losses that were called congestion, percent; null if no such loss
    /// was judged.
    #[serde(rename = "M_w")]
    pub m_w: Option<f64>,
    /// Judged congestion losses, on which M_c rests.
    pub judged_congestion: u64,
    /// Judged wireless losses, on which M_w rests.
    pub judged_wireless: u64,
    /// Lost packets on which the algorithm did not decide.
    pub undecided: u64,
    /// Lost packets that the flow's algorithm never judged; 0 if it has no algorithm.
    pub undetected: u64,
    /// From the start to the delivery of the last byte of a transfer with `bytes`, seconds; null if
    /// it is not complete.
    pub completion_s: Option<f64>,
    /// What the client of a flow with an `application` got; null without one.
    pub application: Option<ApplicationMeasurements>,
    /// Share of the acknowledgements of new data at which the receiver's window held the sender
    /// back, percent; null if it is not TCP.
    pub window_limited_percent: Option<f64>,
    /// Whether the sender is still in its first slow start; null if it is neither TCP nor TFRC.
    pub in_slow_start: Option<bool>,
    /// Round-trip times, per acknowledgement; null if there was none, or if delays are not
    /// measured.
    pub rtt_ms: Option<Percentiles>,
    /// One-way delays of data packets; null as above.
    pub delay_ms: Option<Percentiles>,
    /// The part of the one-way delays spent waiting in queues; null as above.
    pub queueing_ms: Option<Percentiles>,
    /// Interarrival jitter of RFC 3550, mean over all arrivals, milliseconds; null as above.
    pub jitter_ms: Option<f64>,
}

pub(super) fn measure(state: State<'_>) -> Vec<FlowMeasurements> {
    let State { experiment, simulation, window, .. } = state;
    let flow = |id: FlowId| {
        let spec = &experiment.network.flows[id.0 as usize];
        let report = simulation.flow(id);
        let life = life(&report, simulation.now());
        let kbps = |bytes: u64| life.map(|life| bytes as f64 * 8e-3 / life.as_secs_f64());
        let verdicts = &report.verdicts;
        let delays = state.delays.map(|delays| delays.flow(id));
        FlowMeasurements {
            flow: spec.name.clone(),
            measured: spec.measured,
            lda: algorithm_of(&spec.traffic).map(str::to_owned),
            start_s: report.started_at.map(Time::as_secs_f64),
            stop_s: stopped(&report, simulation.now()).map(Time::as_secs_f64),
            sent_packets: report.sent_packets,
            received_packets: report.received_packets,
            delivered_packets: report.delivered_packets,
            offered_bytes: offered_bytes(&spec.traffic),
            goodput_kbps: kbps(report.delivered_payload_bytes),
            throughput_kbps: kbps(report.received_payload_bytes),
            bottleneck_packets: window.crossed(id, &experiment.bottleneck).packets,
            queue_drops: report.lost.congestion,
            wireless_drops: report.lost.wireless,
            retransmitted_packets: report.tcp.map(|stats| stats.retransmissions),
            timeouts: report.tcp.map(|stats| stats.timeouts),
            guarded: watched(&spec.traffic, &report).map(|stats| stats.guarded),
            braked: watched(&spec.traffic, &report).map(|stats| stats.braked),
            m_c: verdicts.m_c().map(|share| share * 100.0),
            m_w: verdicts.m_w().map(|share| share * 100.0),
            undecided: verdicts.congestion.undecided + verdicts.wireless.undecided,
            judged_congestion: verdicts.congestion.judged(),
            judged_wireless: verdicts.wireless.judged(),
            undetected: verdicts.congestion.undetected + verdicts.wireless.undetected,
            completion_s: life.filter(|_| report.is_complete).map(Span::as_secs_f64),
            application: ApplicationMeasurements::of(spec, simulation.application(id)),
            window_limited_percent: report.tcp.map(|stats| {
                stats.window_limited_acks as f64 * 100.0 / stats.new_acks.max(1) as f64
            }),
            in_slow_start: report.in_slow_start,
            rtt_ms: delays.and_then(FlowDelays::rtt_ms),
            delay_ms: delays.and_then(FlowDelays::one_way_ms),
            queueing_ms: delays.and_then(FlowDelays::queueing_ms),
            jitter_ms: delays.and_then(FlowDelays::jitter_ms),
        }
    };
    (0..experiment.network.flows.len() as u32).map(FlowId).map(flow).collect()
}

/// The counts of a TCP sender that has safeguards.
fn watched(traffic: &Traffic, report: &FlowReport) -> Option<tcp::Stats> {
    let Traffic::Tcp { config, lda: TcpLda::Sender(lda) } = traffic else { return None };
    let is_watched = config.safeguards.above(lda.needs()) != Safeguards::OFF
        && config.response != tcp::ResponseScheme::Bbr;
    report.tcp.filter(|_| is_watched)
}

/// Payload of a transfer of limited size, bytes.
fn offered_bytes(traffic: &Traffic) -> Option<u64> {
    match traffic {
        Traffic::Tcp { config, .. } => {
            config.limit_pkts.map(|pkts| pkts * u64::from(config.payload_bytes))
        }
        _ => None,
    }
}

/// When the flow lived by `now`; none if it has not.
pub(super) fn lifetime(report: &FlowReport, now: Time) -> Option<(Time, Time)> {
    let end = report.stops_at.unwrap_or(now).min(now);
    report.started_at.map(|start| (start, end)).filter(|(start, end)| start < end)
}

/// How long the flow has lived by `now`; none if it has not.
fn life(report: &FlowReport, now: Time) -> Option<Span> {
    lifetime(report, now).map(|(start, end)| end - start)
}

/// When the flow stopped, if it started and stopped by `now`.
fn stopped(report: &FlowReport, now: Time) -> Option<Time> {
    report.started_at.and(report.stops_at).filter(|stop| *stop <= now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn a_life_lasts_from_the_start_to_the_stop_or_the_present() {
        let report = |started_at: Option<i64>, stops_at: Option<i64>| FlowReport {
            started_at: started_at.map(at),
            stops_at: stops_at.map(at),
            ..FlowReport::default()
        };
        let seconds = |start, stop, now| life(&report(start, stop), at(now)).map(Span::as_secs_f64);
        assert_eq!(seconds(Some(2), Some(7), 10), Some(5.0));
        assert_eq!(seconds(Some(2), Some(7), 4), Some(2.0));
        assert_eq!(seconds(Some(2), None, 10), Some(8.0));
        assert_eq!(seconds(Some(2), None, 2), None);
        assert_eq!(seconds(None, Some(7), 10), None);
        assert_eq!(stopped(&report(Some(2), Some(7)), at(7)), Some(at(7)));
        assert_eq!(stopped(&report(Some(2), Some(7)), at(6)), None);
        assert_eq!(stopped(&report(None, Some(7)), at(8)), None);
    }
}
