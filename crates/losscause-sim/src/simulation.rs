//! The event loop.
//!
//! The sources of events are the links (a packet reaches the far end) and, for each flow, the
//! timers of its sender and its receiver. Packets that an end sends after an event are sent at
//! once, before the next event.

use losscause::{End, Span, Time};

use crate::agent::Receiver;
use crate::application::ApplicationReport;
use crate::counters::Counters;
use crate::elision::Elision;
use crate::ledger::Watch;
use crate::packet::{Content, Packet};
use crate::report::FlowReport;
use crate::topology::{FlowId, LinkId, LinkSpec, Network, NetworkError};
use crate::trace::{Detail, Event, EventKind, Recorder, Recording};
use crate::transit::{Arrived, Source, Transit};
use crate::unmarked::plain_where_nothing_is_marked;

mod change;
mod conservation;
mod deferral;
mod flow;
mod jitter;

pub use conservation::ConservationError;

use flow::{FirstHop, Flow, Phase};

/// Memory of a flow in motion, bytes, without what its ends keep per packet.
pub(crate) const FLOW_BYTES: usize = size_of::<Flow>();

/// A network in motion.
#[derive(Clone, Debug)]
pub struct Simulation {
    now: Time,
    transit: Transit,
    flows: Vec<Flow>,
    /// Those whose senders may be late.
    deferred: Vec<usize>,
    /// The links as they are now, and the seed of their streams.
    links: Vec<LinkSpec>,
    seed: u64,
}

impl Simulation {
    /// The network at time zero, before anything happens. Equal networks and seeds give equal runs.
    ///
    /// # Errors
    /// The network is not valid.
    pub fn new(network: &Network, seed: u64) -> Result<Self, NetworkError> {
        network.validate()?;
        let plain = plain_where_nothing_is_marked(network);
        let mut simulation = Self::with(&plain, Elision::of_unobserved(&plain), seed)?;
        simulation.defer_senders(&plain);
        simulation.links.clone_from(&network.links);
        Ok(simulation)
    }

    /// The same with an event for every arrival and with every queue as it is given: the plain
    /// event loop, which [`Simulation::new`] shortens. Both differ only in the order of events at
    /// the very same instant.
    ///
    /// # Errors
    /// The network is not valid.
    pub fn with_every_event(network: &Network, seed: u64) -> Result<Self, NetworkError> {
        network.validate()?;
        Self::with(network, Elision::none(network), seed)
    }

    fn with(network: &Network, elision: Elision, seed: u64) -> Result<Self, NetworkError> {
        let mut transit = Transit::new(network, &elision.needs_event, elision.links, seed);
        let mut flows: Vec<Flow> = Vec::with_capacity(network.flows.len());
        let mut first_hop = 0;
        for (index, spec) in network.flows.iter().enumerate() {
            let before =
                spec.turnover.and_then(|turnover| turnover.after).map(|FlowId(flow)| flow as usize);
            let before = before.map(|flow: usize| flows[flow].starts_at);
            let back = spec.return_path.iter().map(|link| network.links[link.index()].delay);
            let request = back.fold(Span::ZERO, |sum, delay| sum + delay);
            let flow = Flow::new(spec, request, before, seed, first_hop)
                .map_err(|problem| NetworkError::Flow { flow: spec.name.clone(), problem })?;
            transit.set_sender(index, Some(flow.starts_at), Time::ZERO);
            flows.push(flow);
            first_hop += (spec.path.len() + spec.return_path.len()) as u32;
        }
        Ok(Self {
            now: Time::ZERO,
            transit,
            flows,
            deferred: Vec::new(),
            links: network.links.clone(),
            seed,
        })
    }

    /// Lets everything happen that happens up to and including `until`. Afterwards all counters and
    /// reports are exact at that instant; call it again to go on.
    pub fn run_until(&mut self, until: Time, recorder: &mut dyn Recorder) {
        self.run_events(until, u64::MAX, recorder);
    }

    /// [`Simulation::run_until`] that stops after `at_most` events. Returns whether it reached
    /// `until`; if not, the counters and reports are exact only after
    /// `run_until(simulation.now())`, which completes the present instant.
    pub fn run_events(&mut self, until: Time, at_most: u64, recorder: &mut dyn Recorder) -> bool {
        if recorder.detail() == Detail::Nothing && !recorder.looks() {
            return self.event_loop(until, at_most, &mut ());
        }
        self.event_loop(until, at_most, &mut Recording::new(recorder))
    }

    fn event_loop<R: Recorder>(&mut self, until: Time, at_most: u64, recorder: &mut R) -> bool {
        self.transit.store.stamps.set_recording(recorder.detail().arrivals());
        let mut events = 0_u64;
        loop {
            if events == at_most {
                return false;
            }
            let Some((now, source)) = self.transit.next(until) else { break };
            events += 1;
            debug_assert!(self.now <= now, "{source:?} has an event in the past");
            self.now = now;
            match source {
                Source::Link(link) => {
                    if let Some(arrived) = self.transit.on_arrival(now, link, recorder) {
                        self.receive(now, arrived, recorder);
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
        self.send_all_deferred(self.now, recorder);
        self.transit.catch_up(self.now, recorder);
        debug_assert_eq!(self.check_conservation(), Ok(()));
        true
    }

    /// A packet has reached an end of its flow.
    #[inline(always)] // Called at one place, for every packet.
    fn receive<R: Recorder>(
        &mut self,
        now: Time,
        Arrived { packet, flow: id, .. }: Arrived,
        recorder: &mut R,
    ) {
        let index = id as usize;
        let id = FlowId(id);
        if !self.transit.store.copies.is_empty() {
            self.count_copy(index, packet);
        }
        let flow = &mut self.flows[index];
        let content = self.transit.store.pool.content(packet);
        if recorder.detail().arrivals() {
            let kind = EventKind::Received(self.transit.store.info(packet));
            recorder.record(&Event { at: now, flow: id, kind });
        }
        // One-way sources get no feedback.
        let Content::Payload(payload) = content else {
            return self.transit.store.pool.remove(packet.handle);
        };
        let end = if payload.payload_bytes().is_some() { End::Receiver } else { End::Sender };
        let mut watch =
            Watch { ledger: &mut self.transit.store.ledgers[index], recorder, flow: id, end, now };
        if let Some(payload_bytes) = payload.payload_bytes() {
            flow.received_packets += 1;
            flow.received_payload_bytes += u64::from(payload_bytes);
            flow.receiver.on_message(now, payload, &mut watch);
            if flow.is_complete() {
                flow.stops_at = flow.stops_at.min(now);
            }
            self.transit.store.pool.remove(packet.handle);
            let asks = flow.has_application && flow.phase == Phase::Sending;
            self.serve_receiver(now, index, recorder);
            if asks {
                self.serve_client(now, index, recorder);
            }
        } else {
            if flow.phase == Phase::Sending {
                flow.sender.on_message(now, payload, &mut watch);
            }
            self.transit.store.pool.remove(packet.handle);
            self.serve_sender(now, index, recorder);
        }
    }

    /// Some packets in the network have copies. A copy that arrives after the packet or another
    /// copy is counted; that of an acknowledgement is not.
    #[cold]
    fn count_copy(&mut self, index: usize, packet: Packet) {
        if self.transit.store.copies.is_first(packet.handle) {
            return;
        }
        let payload_bytes = match self.transit.store.pool.content(packet) {
            Content::Payload(payload) => payload.payload_bytes(),
            Content::Datagram(datagram) => Some(datagram.bytes),
        };
        if let Some(payload_bytes) = payload_bytes {
            let flow = &mut self.flows[index];
            flow.received_copies += 1;
            flow.received_copied_bytes += u64::from(payload_bytes);
        }
    }

    fn on_sender_timeout<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        let flow = &mut self.flows[index];
        match flow.phase {
            Phase::Waiting if flow.stops_at <= now => flow.phase = Phase::Stopped,
            Phase::Waiting => {
                flow.phase = Phase::Sending;
                flow.sender.start(now);
                flow.start_application(now);
            }
            // Or a packet leaves that the sender has emitted.
            Phase::Sending if flow.is_jittered && !flow.is_sender_due(now) => {}
            Phase::Sending => {
                let ledger = &mut self.transit.store.ledgers[index];
                let flow_id = FlowId(index as u32);
                let mut watch = Watch { ledger, recorder, flow: flow_id, end: End::Sender, now };
                flow.sender.on_timeout(now, &mut watch);
            }
            Phase::Stopped => {}
        }
        if self.flows[index].deferral > Span::ZERO {
            return self.on_deferred(now, index, recorder);
        }
        self.serve_sender(now, index, recorder);
    }

    /// Sends what the sender has to send, and sets its timer.
    fn serve_sender<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        let flow = &mut self.flows[index];
        if flow.phase == Phase::Sending && flow.stops_at <= now {
            flow.phase = Phase::Stopped;
        }
        if flow.is_jittered {
            return self.serve_jittered(now, index, recorder);
        }
        if flow.phase != Phase::Sending {
            self.transit.set_sender(index, None, now);
            return;
        }
        let FirstHop { hop, link } = flow.path;
        while let Some(packet) = flow.sender.poll_transmit(now, hop, &mut self.transit.store.pool) {
            self.transit.send(now, packet, link, recorder);
        }
        let timeout = flow.sender.poll_timeout().unwrap_or(Time::MAX).min(flow.stops_at);
        self.transit.set_sender(index, (timeout < Time::MAX).then_some(timeout.max(now)), now);
        if recorder.detail().windows() {
            flow.record_sample(now, FlowId(index as u32), recorder);
        }
    }

    /// Tells the client of an application what was delivered. Its next request may set the sender's
    /// timer.
    #[inline(never)]
    fn serve_client<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        self.flows[index].serve_client(now);
        self.serve_sender(now, index, recorder);
    }

    /// Sends what the receiver has to send, and sets its timer.
    fn serve_receiver<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        let flow = &mut self.flows[index];
        let FirstHop { hop, link } = flow.return_path;
        while let Some(packet) = flow.receiver.poll_transmit(now, hop, &mut self.transit.store.pool)
        {
            self.transit.send(now, packet, link, recorder);
        }
        self.transit.set_receiver(
            index,
            flow.receiver.poll_timeout().map(|timeout| timeout.max(now)),
            now,
        );
    }

    /// What the application of `flow` achieved so far, if it has one.
    ///
    /// # Panics
    /// There is no such flow.
    pub fn application(&self, flow: FlowId) -> Option<ApplicationReport> {
        let flow = &self.flows[flow.index()];
        let now = self.now.min(flow.stops_at);
        flow.application.as_ref().map(|application| application.report_at(now))
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What happened to packets so far. Clone it to measure a window.
    pub fn counters(&self) -> &Counters {
        &self.transit.store.counters
    }

    /// What `flow` achieved so far.
    ///
    /// # Panics
    /// There is no such flow.
    pub fn flow(&self, flow: FlowId) -> FlowReport {
        let ledger = &self.transit.store.ledgers[flow.index()];
        let (received_packets, received_payload_bytes) = self.received(flow);
        let sent_packets = self.counters().path(flow).next().map_or(0, |(_, hop)| hop.entered);
        let flow = &self.flows[flow.index()];
        let delivered_packets = flow.receiver.delivered_packets(received_packets);
        FlowReport {
            started_at: (flow.phase != Phase::Waiting && flow.starts_at < flow.stops_at)
                .then_some(flow.starts_at),
            stops_at: (flow.stops_at < Time::MAX).then_some(flow.stops_at),
            sent_packets,
            received_packets,
            received_payload_bytes,
            received_copies: flow.received_copies,
            delivered_packets,
            delivered_payload_bytes: delivered_packets * u64::from(flow.payload_bytes),
            lost: ledger.counts(),
            verdicts: ledger.verdicts(),
            schemes: ledger.schemes(),
            tcp: flow.sender.tcp_stats(),
            is_complete: flow.is_complete(),
            in_slow_start: flow.sender.in_slow_start(),
        }
    }

    /// Packets that wait at `link`, without the one in transmission.
    ///
    /// # Panics
    /// There is no such link.
    pub fn waiting_pkts(&self, link: LinkId) -> u32 {
        self.transit.waiting_pkts(link.index())
    }

    /// Data packets that reached the end of `flow`, without copies, and their bytes of payload.
    fn received(&self, flow: FlowId) -> (u64, u64) {
        let Flow { receiver, payload_bytes, received_packets, received_payload_bytes, .. } =
            &self.flows[flow.index()];
        let Flow { received_copies, received_copied_bytes, .. } = &self.flows[flow.index()];
        if !matches!(receiver, Receiver::Sink) {
            let packets = received_packets - received_copies;
            return (packets, received_payload_bytes - received_copied_bytes);
        }
        let packets = self.counters().path(flow).last().map_or(0, |(_, hop)| hop.delivered);
        let packets = packets - received_copies;
        (packets, packets * u64::from(*payload_bytes))
    }
}
