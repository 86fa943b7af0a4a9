//! The event loop.
//!
//! Sources of events are the links (a packet reaches the far end) and, for each flow, the timers of its sender and its
//! receiver. Whatever an end wants to send after an event is sent at once, before the next event.

use losscause::{Span, Time};

use crate::agent::{self, Receiver, Sender};
use crate::counters::Counters;
use crate::fabric::{Fabric, Source};
use crate::ledger::Watch;
use crate::packet::{Content, Packet};
use crate::report::FlowReport;
use crate::rng::Stream;
use crate::topology::{FlowId, FlowProblem, FlowSpec, Network, NetworkError};
use crate::trace::{Event, EventKind, Recorder};

mod conservation;

pub use conservation::ConservationError;

/// A network in motion.
#[derive(Clone, Debug)]
pub struct Simulation {
    now: Time,
    fabric: Fabric,
    flows: Vec<Flow>,
}

/// What every packet touches comes first, side by side; each end begins a line of the cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Flow {
    phase: Phase,
    /// The first hop of each path.
    path: u32,
    return_path: u32,
    payload_bytes: u32,
    /// Of a data packet.
    wire_bytes: u32,
    /// Its first link, if the sender looks after it ([`Role::First`](crate::link::Role::First)).
    own_link: Option<u32>,
    stops_at: Time,
    /// As of when it is known when the sender is due, if it looks after its first link.
    due_since: Time,
    /// When it heard from the receiver last, and whether that was before the next due time was known.
    heard_at: Time,
    heard_before_due: bool,
    sent_packets: u64,
    received_packets: u64,
    received_payload_bytes: u64,
    starts_at: Time,
    sender: Sender,
    receiver: Receiver,
    /// The last window or rate that was recorded.
    sample: Option<EventKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Sending,
    Stopped,
}

impl Simulation {
    /// The network at time zero, before anything happens. Equal networks and seeds give equal runs.
    ///
    /// # Errors
    /// The network is not valid.
    pub fn new(network: &Network, seed: u64) -> Result<Self, NetworkError> {
        network.validate()?;
        let mut fabric = Fabric::new(network, seed);
        let mut flows: Vec<Flow> = Vec::with_capacity(network.flows.len());
        let mut first_hop = 0;
        for (index, spec) in network.flows.iter().enumerate() {
            let before = spec.turnover.and_then(|turnover| turnover.after).map(|FlowId(flow)| flow as usize);
            let before = before.map(|flow: usize| flows[flow].starts_at);
            let flow = Flow::new(spec, before, seed, first_hop, fabric.own_link(first_hop))
                .map_err(|problem| NetworkError::Flow { flow: spec.name.clone(), problem })?;
            fabric.set_sender(index, Some(flow.starts_at));
            flows.push(flow);
            first_hop += (spec.path.len() + spec.return_path.len()) as u32;
        }
        Ok(Self { now: Time::ZERO, fabric, flows })
    }

    /// Lets everything happen that happens up to and including `until`. Afterwards all counters and reports are exact at
    /// that instant; call it again to go on.
    pub fn run_until<R: Recorder>(&mut self, until: Time, recorder: &mut R) {
        self.run_events(until, u64::MAX, recorder);
    }

    /// [`Simulation::run_until`] that stops after `at_most` events. Returns whether it reached `until`; if not, the counters
    /// and reports are exact only after `run_until(simulation.now())`, which completes the present instant.
    pub fn run_events<R: Recorder>(&mut self, until: Time, at_most: u64, recorder: &mut R) -> bool {
        let mut events = 0_u64;
        loop {
            if events == at_most {
                return false;
            }
            let Some((now, source)) = self.fabric.next(until) else { break };
            events += 1;
            self.now = now;
            match source {
                Source::Link(link) => {
                    if let Some((packet, flow)) = self.fabric.cross(now, link, recorder) {
                        self.receive(now, packet, flow as usize, recorder);
                    }
                }
                Source::Sender(flow) => self.on_sender_timeout(now, flow, recorder),
                Source::Receiver(flow) => {
                    self.flows[flow].receiver.on_timeout(now);
                    self.serve_receiver(now, flow, recorder);
                }
            }
            debug_assert!(!events.is_multiple_of(1024) || self.check_conservation().is_ok());
        }
        self.now = self.now.max(until);
        for index in 0..self.flows.len() {
            if let Some(link) = self.flows[index].own_link {
                self.send_due(self.now, None, index, link, recorder);
            }
        }
        self.fabric.catch_up(self.now, recorder);
        debug_assert_eq!(self.check_conservation(), Ok(()));
        true
    }

    /// A packet has come to its end.
    fn receive<R: Recorder>(&mut self, now: Time, packet: Packet, index: usize, recorder: &mut R) {
        let flow = &mut self.flows[index];
        let id = FlowId(index as u32);
        let content = self.fabric.custody.pool.content(packet);
        if R::ON {
            recorder.record(&Event { at: now, flow: id, kind: EventKind::Received(content.info()) });
        }
        // Of a datagram there is no more to say.
        let Content::Payload(payload) = content else { return self.fabric.custody.pool.remove(packet.handle) };
        if let Some(payload_bytes) = payload.payload_bytes() {
            flow.received_packets += 1;
            flow.received_payload_bytes += u64::from(payload_bytes);
            let mut watch = Watch { ledger: &mut self.fabric.custody.ledgers[index], recorder, flow: id, now };
            flow.receiver.on_message(now, payload, &mut watch);
            self.fabric.custody.pool.remove(packet.handle);
            return self.serve_receiver(now, index, recorder);
        }
        match flow.own_link {
            None => {
                if flow.phase == Phase::Sending {
                    let mut watch = Watch { ledger: &mut self.fabric.custody.ledgers[index], recorder, flow: id, now };
                    flow.sender.on_message(now, payload, &mut watch);
                }
                self.fabric.custody.pool.remove(packet.handle);
                self.serve_sender(now, index, recorder);
            }
            Some(link) => {
                self.hear(now, packet, index, link, recorder);
                self.fabric.custody.pool.remove(packet.handle);
            }
        }
    }

    fn on_sender_timeout<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        let flow = &mut self.flows[index];
        if let Some(link) = flow.own_link {
            return self.on_own_timeout(now, index, link, recorder);
        }
        match flow.phase {
            Phase::Waiting if flow.stops_at <= now => flow.phase = Phase::Stopped,
            Phase::Waiting => {
                flow.phase = Phase::Sending;
                flow.sender.start(now);
            }
            Phase::Sending => {
                let ledger = &mut self.fabric.custody.ledgers[index];
                flow.sender.on_timeout(now, &mut Watch { ledger, recorder, flow: FlowId(index as u32), now });
            }
            Phase::Stopped => {}
        }
        self.serve_sender(now, index, recorder);
    }

    /// A sender that looks after its first link starts, or a packet may be at the far end of that.
    fn on_own_timeout<R: Recorder>(&mut self, now: Time, index: usize, link: u32, recorder: &mut R) {
        if self.flows[index].phase == Phase::Waiting {
            self.start_late(now, index, link, recorder);
        }
        let due = self.send_due(now, Some(now), index, link, recorder);
        self.fabric.cross_first(now, link as usize, recorder);
        self.set_own_timer(index, link, due);
    }

    #[cold]
    fn start_late<R: Recorder>(&mut self, now: Time, index: usize, link: u32, recorder: &mut R) {
        let flow = &mut self.flows[index];
        if flow.stops_at <= now {
            flow.phase = Phase::Stopped;
            return;
        }
        flow.phase = Phase::Sending;
        flow.sender.start(now);
        self.send_at(now, None, index, link, recorder);
    }

    /// A sender that looks after its first link hears from the receiver. If something is due at that very instant, what was known first
    /// comes first, as among events.
    #[inline(never)]
    fn hear<R: Recorder>(&mut self, now: Time, packet: Packet, index: usize, link: u32, recorder: &mut R) {
        // What was due before comes first: only then is it known since when the next is due.
        let mut due = self.send_due(now - Span::from_nanos(1), None, index, link, recorder);
        if due == Some(now) {
            let Flow { due_since, heard_at, heard_before_due, .. } = self.flows[index];
            let since = self.fabric.schedule.since();
            // This report's event was set before the report ahead of it, if that arrived at `since`, was heard of.
            let reported_first = due_since > since || due_since == since && heard_at == since && heard_before_due;
            if !reported_first {
                due = self.send_due(now, None, index, link, recorder);
            }
        }
        let flow = &mut self.flows[index];
        if let Content::Payload(payload) = self.fabric.custody.pool.content(packet)
            && flow.phase == Phase::Sending
            && now < flow.stops_at
        {
            let ledger = &mut self.fabric.custody.ledgers[index];
            let mut watch = Watch { ledger, recorder, flow: FlowId(index as u32), now };
            flow.sender.on_message(now, payload, &mut watch);
            self.send_at(now, None, index, link, recorder);
        }
        let flow = &mut self.flows[index];
        flow.heard_at = now;
        let next = flow.due();
        if next != due {
            (flow.due_since, flow.heard_before_due) = (now, true);
        }
        self.set_own_timer(index, link, next);
    }

    /// What a sender that looks after its first link sends by `now`, each packet at its own instant. Returns when the next is due. The
    /// link may hand on what is at its far end at the instant `passes`.
    #[inline(always)]
    fn send_due<R: Recorder>(
        &mut self,
        now: Time,
        passes: Option<Time>,
        index: usize,
        link: u32,
        recorder: &mut R,
    ) -> Option<Time> {
        loop {
            let flow = &mut self.flows[index];
            let due = flow.due();
            let Some(at) = due.filter(|&due| due <= now) else { return due };
            let ledger = &mut self.fabric.custody.ledgers[index];
            flow.sender.on_timeout(at, &mut Watch { ledger, recorder, flow: FlowId(index as u32), now: at });
            (flow.due_since, flow.heard_before_due) = (at, flow.heard_at == at);
            self.send_at(at, passes, index, link, recorder);
        }
    }

    /// The same of what it has to send at `at`.
    #[inline(always)]
    fn send_at<R: Recorder>(&mut self, at: Time, passes: Option<Time>, index: usize, link: u32, recorder: &mut R) {
        let flow = &mut self.flows[index];
        while let Some(packet) = flow.sender.poll_transmit(at, flow.path, &mut self.fabric.custody.pool) {
            flow.sent_packets += 1;
            self.fabric.send_late(at, passes, packet, link, recorder);
        }
        if R::WINDOWS {
            flow.record_sample(at, FlowId(index as u32), recorder);
        }
    }

    /// The timer of a sender that looks after its first link: when the next packet is at the far end of that, if it is not lost.
    #[inline(always)]
    fn set_own_timer(&mut self, index: usize, link: u32, due: Option<Time>) {
        let flow = &self.flows[index];
        let link = &mut self.fabric.links[link as usize];
        if !link.is_empty() {
            let arrival = link.next_arrival();
            let since = link.next_since();
            return self.fabric.set_sender_as_of(index, arrival, since);
        }
        let Some(due) = due else { return self.fabric.set_sender(index, None) };
        // As of when it enters: that is when its arrival would be known otherwise.
        let arrival = link.arrival_of(due, flow.wire_bytes);
        self.fabric.set_sender_as_of(index, arrival, due);
    }

    /// Sends what the sender has to send, and sets its timer.
    fn serve_sender<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        let flow = &mut self.flows[index];
        if flow.phase == Phase::Sending && flow.stops_at <= now {
            flow.phase = Phase::Stopped;
        }
        if flow.phase != Phase::Sending {
            self.fabric.set_sender(index, None);
            return;
        }
        while let Some(packet) = flow.sender.poll_transmit(now, flow.path, &mut self.fabric.custody.pool) {
            flow.sent_packets += 1;
            self.fabric.send(now, packet, recorder);
        }
        let timeout = flow.sender.poll_timeout().unwrap_or(Time::MAX).min(flow.stops_at);
        self.fabric.set_sender(index, (timeout < Time::MAX).then_some(timeout.max(now)));
        if R::WINDOWS {
            flow.record_sample(now, FlowId(index as u32), recorder);
        }
    }

    /// Sends what the receiver has to send, and sets its timer.
    fn serve_receiver<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        let flow = &mut self.flows[index];
        while let Some(packet) = flow.receiver.poll_transmit(now, flow.return_path, &mut self.fabric.custody.pool) {
            self.fabric.send(now, packet, recorder);
        }
        self.fabric.set_receiver(index, flow.receiver.poll_timeout().map(|timeout| timeout.max(now)));
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What happened to packets so far. Clone it to measure a window.
    pub fn counters(&self) -> &Counters {
        &self.fabric.custody.counters
    }

    /// What `flow` achieved so far.
    ///
    /// # Panics
    /// There is no such flow.
    pub fn flow(&self, flow: FlowId) -> FlowReport {
        let ledger = &self.fabric.custody.ledgers[flow.index()];
        let (received_packets, received_payload_bytes) = self.received(flow);
        let flow = &self.flows[flow.index()];
        let delivered_packets = flow.receiver.delivered_packets(received_packets);
        FlowReport {
            started_at: (flow.phase != Phase::Waiting && flow.starts_at < flow.stops_at).then_some(flow.starts_at),
            stops_at: (flow.stops_at < Time::MAX).then_some(flow.stops_at),
            sent_packets: flow.sent_packets,
            received_packets,
            received_payload_bytes,
            delivered_packets,
            delivered_payload_bytes: delivered_packets * u64::from(flow.payload_bytes),
            lost: ledger.counts(),
            verdicts: ledger.verdicts(),
            schemes: ledger.schemes(),
            tcp: flow.sender.tcp_stats(),
        }
    }

    /// Data packets that reached the end of `flow`, and their bytes of payload.
    fn received(&self, flow: FlowId) -> (u64, u64) {
        let Flow { receiver, payload_bytes, received_packets, received_payload_bytes, .. } = &self.flows[flow.index()];
        if !matches!(receiver, Receiver::Sink) {
            return (*received_packets, *received_payload_bytes);
        }
        let packets = self.counters().path(flow).last().map_or(0, |(_, hop)| hop.delivered);
        (packets, packets * u64::from(*payload_bytes))
    }
}

impl Flow {
    /// `before` is the start of the flow that it comes after, if any.
    fn new(
        spec: &FlowSpec,
        before: Option<Time>,
        seed: u64,
        first_hop: u32,
        own_link: Option<u32>,
    ) -> Result<Self, FlowProblem> {
        let (sender, receiver) = agent::ends(spec, seed)?;
        let (starts_at, stops_at) = life(spec, before, seed);
        Ok(Self {
            sender,
            receiver,
            phase: Phase::Waiting,
            starts_at,
            stops_at,
            path: first_hop,
            return_path: first_hop + spec.path.len() as u32,
            payload_bytes: spec.traffic.payload_bytes(),
            wire_bytes: spec.traffic.wire_bytes(),
            own_link,
            due_since: starts_at,
            heard_at: Time::from_nanos(i64::MIN),
            heard_before_due: false,
            sent_packets: 0,
            received_packets: 0,
            received_payload_bytes: 0,
            sample: None,
        })
    }

    /// When the sender's timer runs out, while it sends.
    #[inline]
    fn due(&self) -> Option<Time> {
        self.sender.poll_timeout().filter(|&due| self.phase == Phase::Sending && due < self.stops_at)
    }

    fn record_sample<R: Recorder>(&mut self, now: Time, id: FlowId, recorder: &mut R) {
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
    let start = before.unwrap_or_else(|| spec.start + stream("start").span_below(spec.start_spread));
    let stop = spec.stop.unwrap_or(Time::MAX);
    let Some(turnover) = spec.turnover else { return (start, stop) };
    let start = start + Span::from_nanos(stream("arrival").exponential(turnover.mean_gap.as_nanos_f64()) as i64);
    let duration = turnover.durations.draw(&mut stream("duration"), turnover.mean_duration.as_nanos_f64());
    (start, stop.min(start + Span::from_nanos(duration as i64)))
}
