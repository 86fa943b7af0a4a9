//! A flow in motion: its two ends and what was counted there.

use losscause::{Span, Time};

use super::jitter::Jitter;
use crate::agent::{self, Receiver, Sender};
use crate::application::Application;
use crate::rng::Stream;
use crate::topology::{FlowId, FlowProblem, FlowSpec, LinkId};
use crate::trace::{Event, EventKind, Recorder};

/// A flow in motion. What every packet touches comes first; each end begins a cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Flow {
    pub(super) phase: Phase,
    /// Whether it has `jitter`. With an application it has one, of zero if need be.
    pub(super) is_jittered: bool,
    /// Whether it has an `application`.
    pub(super) has_application: bool,
    pub(super) payload_bytes: u32,
    pub(super) path: FirstHop,
    pub(super) return_path: FirstHop,
    pub(super) stops_at: Time,
    pub(super) received_packets: u64,
    pub(super) received_payload_bytes: u64,
    /// How late its sender may send (`deferral.rs`).
    pub(super) deferral: Span,
    /// Size of its transfer, packets; the largest number if it is unlimited.
    size_pkts: u64,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) starts_at: Time,
    /// Copies of data packets that arrived after the first, and their payload: a part of what was
    /// received.
    pub(super) received_copies: u64,
    pub(super) jitter: Option<Jitter>,
    pub(super) received_copied_bytes: u64,
    pub(super) application: Option<Box<Application>>,
    /// The last window or rate that was recorded.
    sample: Option<EventKind>,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FirstHop {
    /// Its place among the hops of all flows.
    pub(super) hop: u32,
    pub(super) link: u32,
}

impl FirstHop {
    /// Of a path with links; one without is never used.
    fn new(hop: u32, path: &[LinkId]) -> Self {
        Self { hop, link: path.first().map_or(0, |link| link.0) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    Sending,
    Stopped,
}

impl Flow {
    /// `before` is the start of the flow that it comes after, if any; `request` is how long a request
    /// of its application is under way.
    pub(super) fn new(
        spec: &FlowSpec,
        request: Span,
        before: Option<Time>,
        seed: u64,
        first_hop: u32,
    ) -> Result<Self, FlowProblem> {
        let (sender, receiver) = agent::ends(spec, seed)?;
        let (starts_at, stops_at) = life(spec, before, seed);
        let is_held = spec.send_jitter > Span::ZERO || spec.application.is_some();
        let jitter = is_held.then(|| {
            let stream = Stream::new(seed, &format!("flow/{}/jitter", spec.name));
            Jitter::new(spec.send_jitter, stream)
        });
        Ok(Self {
            sender,
            receiver,
            phase: Phase::Waiting,
            is_jittered: jitter.is_some(),
            jitter,
            has_application: spec.application.is_some(),
            application: spec.application.map(|application| {
                let stream = Stream::new(seed, &format!("flow/{}/application", spec.name));
                Box::new(Application::new(application, request, stream))
            }),
            starts_at,
            stops_at,
            path: FirstHop::new(first_hop, &spec.path),
            return_path: FirstHop::new(first_hop + spec.path.len() as u32, &spec.return_path),
            payload_bytes: spec.traffic.payload_bytes(),
            received_packets: 0,
            received_payload_bytes: 0,
            received_copies: 0,
            received_copied_bytes: 0,
            deferral: Span::ZERO,
            size_pkts: spec.traffic.size_pkts(),
            sample: None,
        })
    }

    /// Whether all of a transfer of limited size is delivered.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.received_packets >= self.size_pkts
            && self.receiver.delivered_packets(self.received_packets) >= self.size_pkts
    }

    /// The sender has started.
    pub(super) fn start_application(&mut self, now: Time) {
        if let Some(application) = &mut self.application {
            application.start(now);
        }
    }

    /// Packets were delivered to the client.
    pub(super) fn serve_client(&mut self, now: Time) {
        if let Some(application) = &mut self.application {
            application.on_delivered(now, self.receiver.delivered_packets(self.received_packets));
        }
    }

    /// Hands over what a request that has arrived asks for.
    pub(super) fn serve_application(&mut self, now: Time) {
        let Some(application) = &mut self.application else { return };
        if self.sender.is_open() {
            application.on_open(now);
        }
        if let Some(pkts) = application.poll(now) {
            self.sender.hand_over(now, pkts);
        }
    }

    /// Whether a timer of the sender itself has expired.
    pub(super) fn is_sender_due(&self, now: Time) -> bool {
        self.sender.poll_timeout().is_some_and(|timeout| timeout <= now)
    }

    /// Records the window or rate if it has changed.
    pub(super) fn record_sample<R: Recorder>(&mut self, now: Time, id: FlowId, recorder: &mut R) {
        let sample = self.sender.sample();
        if sample != self.sample
            && let Some(kind) = sample
        {
            recorder.record(&Event { at: now, flow: id, kind });
            self.sample = sample;
        }
    }
}

/// When a flow starts and stops; `before` is the start of the flow that it comes after, if any.
fn life(spec: &FlowSpec, before: Option<Time>, seed: u64) -> (Time, Time) {
    let stream = |purpose| Stream::new(seed, &format!("flow/{}/{purpose}", spec.name));
    let start = before.unwrap_or_else(|| spec.starts_at(seed));
    let stop = spec.stop.unwrap_or(Time::MAX);
    let Some(turnover) = spec.turnover else { return (start, stop) };
    let start = start
        + Span::from_nanos(stream("arrival").exponential(turnover.mean_gap.as_nanos_f64()) as i64);
    let Some(mean) = turnover.mean_duration else { return (start, stop) };
    let duration = turnover.durations.draw(&mut stream("duration"), mean.as_nanos_f64());
    (start, stop.min(start + Span::from_nanos(duration as i64)))
}
