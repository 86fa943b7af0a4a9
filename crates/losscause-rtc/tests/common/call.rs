//! A call over the simulator's links in virtual time: a sender at the rate of its estimator, and a
//! receiver that sends transport-wide feedback.
#![allow(unreachable_pub, clippy::unwrap_used, reason = "a part of a test")]

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use losscause::{Span, Time};
use losscause_sim::live::{Direction, Ecn, Fate, LivePath, Offered, Passed};
use losscause_sim::truth::Cause;
use losscause_sim::{
    AtEnd, ChannelSpec, CoDelSpec, FlowId, FlowSpec, FqCoDelSpec, Limit, LinkId, LinkSpec, Network,
    PolicerSpec, QueueSpec, RatePoint, RateSpec, RetransmissionSpec, Traffic,
};
use rtc_interceptor::{Acknowledgement, BandwidthEstimator, History};

/// What a call was like after the first 60 of its 120 s.
#[derive(Clone, Copy, Debug, Default)]
pub struct Call {
    /// Received, bits per second.
    pub rate_bps: f64,
    /// Mean time in queues, milliseconds.
    pub queued_ms: f64,
    pub sent_pkts: u64,
    pub queue_drops: u64,
    pub air_losses: u64,
}

const FROM: Time = Time::from_nanos(60_000_000_000);
const UNTIL: Time = Time::from_nanos(120_000_000_000);

/// A packet on the wire.
const PACKET_BYTES: u32 = 1_200;

/// As browsers send it.
const FEEDBACK_EVERY: Span = Span::from_millis(100);

/// Whether the estimator hears of packets that the air lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hears {
    All,
    /// The truth decides.
    NoAirLosses,
}

#[derive(Clone)]
enum Content {
    Media {
        id: u64,
        number: u16,
    },
    /// Numbers and times of arrival.
    Feedback(Vec<(u16, Duration)>),
}

/// The bottlenecks, by name.
pub const PATHS: [&str; 6] = ["wire", "LTE", "Wi-Fi", "satellite", "policer", "FQ-CoDel"];

/// Such a bottleneck, then a link that loses this share of the packets, and a wire back.
pub fn network(path: &str, loss: f64) -> Network {
    let drop_tail = |pkts| QueueSpec::DropTail { limit: Limit::Packets(pkts) };
    let fq_codel = QueueSpec::FqCoDel(FqCoDelSpec {
        codel: CoDelSpec::new(Limit::Packets(10_240)),
        quantum_bytes: 1_514,
        queues: 1_024,
    });
    let wired = |rate_bps, delay_ms, queue| {
        LinkSpec::wired("bottleneck", rate_bps, Span::from_millis(delay_ms), queue)
    };
    let bottleneck = match path {
        "wire" => wired(5_000_000, 20, drop_tail(104)),
        "LTE" => {
            let point = |(s, rate_bps)| RatePoint { at: Span::from_secs(s), rate_bps };
            let points: Arc<[RatePoint]> =
                [(0, 5_000_000), (15, 2_500_000), (30, 1_250_000), (45, 4_000_000), (60, 0)]
                    .map(point)
                    .into();
            LinkSpec {
                rate: RateSpec::Steps { points, at_end: AtEnd::Repeat },
                channel: ChannelSpec::Bernoulli { loss: 0.1 },
                retransmission: Some(RetransmissionSpec {
                    attempts: 4,
                    delay: Span::from_millis(8),
                }),
                ..wired(5_000_000, 20, drop_tail(300))
            }
        }
        "Wi-Fi" => LinkSpec {
            channel: ChannelSpec::GilbertElliott { loss: 0.2, mean_burst_packets: 2.0 },
            retransmission: Some(RetransmissionSpec { attempts: 7, delay: Span::from_micros(100) }),
            ..wired(6_000_000, 15, fq_codel)
        },
        "satellite" => wired(2_000_000, 250, drop_tail(52)),
        "policer" => {
            let limit = Limit::Packets(1_000);
            let policer = PolicerSpec { rate_bps: 4_000_000, burst_bytes: 30_000, limit };
            wired(50_000_000, 20, QueueSpec::Policer(policer))
        }
        _ => wired(5_000_000, 20, fq_codel),
    };
    let channel = if loss > 0.0 { ChannelSpec::Bernoulli { loss } } else { ChannelSpec::Perfect };
    let fast = |name| LinkSpec::wired(name, 1_000_000_000, Span::from_millis(1), drop_tail(1_000));
    let back = LinkSpec { delay: bottleneck.delay, ..fast("back") };
    let links = vec![bottleneck, LinkSpec { channel, ..fast("air") }, back];
    let traffic = Traffic::cbr(1_000_000, PACKET_BYTES);
    let flow = FlowSpec::new("call", &[LinkId(0), LinkId(1)], &[LinkId(2)], traffic);
    Network { links, flows: vec![flow] }
}

/// A call whose sender always has media to send.
pub fn call(
    path: &str,
    loss: f64,
    seed: u64,
    estimator: &mut dyn BandwidthEstimator,
    hears: Hears,
) -> Call {
    let mut path = LivePath::<Content>::new(&network(path, loss), FlowId(0), seed).unwrap();
    let zero = Instant::now();
    let instant = |time: Time| zero + Duration::from_nanos((time - Time::ZERO).as_nanos() as u64);
    let mut history = History::new();
    let mut lost_to_air = HashSet::new();
    let mut received: Vec<(u16, Duration)> = Vec::new();
    let mut sent: u64 = 0;
    let mut next_packet = Time::ZERO;
    let mut next_feedback = Time::ZERO + FEEDBACK_EVERY;
    let mut call = Call::default();
    let mut queued = Span::ZERO;
    let mut arrived: u64 = 0;
    loop {
        let now = path.next_event().into_iter().fold(next_packet.min(next_feedback), Time::min);
        if now >= UNTIL {
            break;
        }
        let is_counted = now >= FROM;
        while let Some(Passed { content, fate, at, .. }) = path.poll(now) {
            match (content, fate) {
                (Content::Media { number, .. }, Fate::Delivered { queued: waited, .. }) => {
                    // Feedback counts quarters of a millisecond.
                    let quarters = (at - Time::ZERO).as_nanos() as u64 / 250_000;
                    received.push((number, Duration::from_micros(quarters * 250)));
                    if is_counted {
                        arrived += 1;
                        queued += waited;
                    }
                }
                (Content::Media { id, .. }, Fate::Lost { cause, .. }) => {
                    if cause == Cause::Wireless {
                        lost_to_air.insert(id);
                    }
                    let drops = u64::from(is_counted && cause == Cause::Congestion);
                    call.queue_drops += drops;
                    call.air_losses += u64::from(is_counted) - drops;
                }
                (Content::Feedback(arrivals), Fate::Delivered { .. }) => {
                    for (number, arrival) in arrivals {
                        let acknowledgement = Acknowledgement {
                            arrived: true,
                            arrival: Some(arrival),
                            ..Acknowledgement::lost(number)
                        };
                        history.on_twcc_feedback(instant(now), acknowledgement);
                    }
                    let mut reports = history.take_reports();
                    if hears == Hears::NoAirLosses {
                        reports
                            .retain(|report| report.arrived || !lost_to_air.contains(&report.id));
                    }
                    estimator.on_reports(instant(now), &reports);
                }
                (Content::Feedback(_), Fate::Lost { .. }) => {}
            }
        }
        let offer = |content, wire_bytes| Offered {
            content,
            wire_bytes,
            flow: 0,
            ecn: Ecn::NotCapable,
            wireless_immune: false,
        };
        if next_feedback <= now {
            next_feedback = now + FEEDBACK_EVERY;
            if !received.is_empty() {
                let feedback = Content::Feedback(std::mem::take(&mut received));
                path.enter(now, Direction::Back, offer(feedback, 200));
            }
        }
        if next_packet <= now {
            let number = sent as u16;
            let bytes = PACKET_BYTES as usize;
            let id = history.add_outgoing(1, number, true, number, bytes, instant(now));
            path.enter(now, Direction::Forward, offer(Content::Media { id, number }, PACKET_BYTES));
            sent += 1;
            call.sent_pkts += u64::from(is_counted);
            let seconds = f64::from(PACKET_BYTES) * 8.0 / estimator.target_bitrate();
            next_packet = now + Span::from(Duration::from_secs_f64(seconds));
        }
    }
    let seconds = (UNTIL - FROM).as_secs_f64();
    call.rate_bps = arrived as f64 * f64::from(PACKET_BYTES) * 8.0 / seconds;
    call.queued_ms = queued.as_millis_f64() / arrived.max(1) as f64;
    call
}
