//! The event loop.
//!
//! Sources of events are the links (a packet reaches the far end) and, for each flow, the timers of its sender and its
//! receiver. Whatever an end wants to send after an event is sent at once, before the next event.

use losscause::{Cause, Time};

use crate::agent::{self, Receiver, Sender};
use crate::counters::Counters;
use crate::event::Schedule;
use crate::ledger::{Ledger, Watch};
use crate::link::{Entry, Link};
use crate::packet::{Handle, Packet, Payload, Pool};
use crate::queue::{Queue, Waiting};
use crate::report::FlowReport;
use crate::rng::Stream;
use crate::topology::{FlowId, FlowSpec, LinkId, Network, NetworkError};
use crate::trace::{Event, EventKind, LinkEvent, Recorder};

mod conservation;

pub use conservation::ConservationError;

/// A network in motion.
#[derive(Clone, Debug)]
pub struct Simulation {
    now: Time,
    /// Sources: the links, then sender and receiver of each flow.
    schedule: Schedule,
    pool: Pool,
    links: Vec<Link>,
    /// The hops of all flows, one flow after the other: path, then return path.
    hops: Vec<Hop>,
    flows: Vec<Flow>,
    counters: Counters,
}

/// A step on a flow's way.
#[derive(Clone, Copy, Debug)]
struct Hop {
    link: u32,
    flow: u32,
    /// Whether an end comes after it.
    last: bool,
    immune: bool,
}

#[derive(Clone, Debug)]
struct Flow {
    sender: Sender,
    receiver: Receiver,
    phase: Phase,
    starts_at: Time,
    stops_at: Time,
    path: u32,
    return_path: u32,
    payload_bytes: u32,
    sent_packets: u64,
    received_packets: u64,
    received_payload_bytes: u64,
    ledger: Ledger,
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
        let counters = Counters::new(network);
        let mut simulation = Self {
            now: Time::ZERO,
            schedule: Schedule::new(network.links.len() + 2 * network.flows.len()),
            pool: Pool::default(),
            links: network.links.iter().map(|spec| Link::new(spec, seed)).collect(),
            hops: Vec::new(),
            flows: Vec::with_capacity(network.flows.len()),
            counters,
        };
        for (index, spec) in network.flows.iter().enumerate() {
            let flow = Flow::new(spec, seed, simulation.hops.len())
                .map_err(|problem| NetworkError::Flow { flow: spec.name.clone(), problem })?;
            for path in [&spec.path, &spec.return_path] {
                simulation.hops.extend(path.iter().enumerate().map(|(place, link)| Hop {
                    link: link.0,
                    flow: index as u32,
                    last: place + 1 == path.len(),
                    immune: spec.wireless_immune,
                }));
            }
            simulation.schedule.set(network.links.len() + 2 * index, Some(flow.starts_at));
            simulation.flows.push(flow);
        }
        Ok(simulation)
    }

    /// Lets everything happen that happens up to and including `until`. Afterwards all counters and reports are exact at
    /// that instant; call it again to go on.
    pub fn run_until<R: Recorder>(&mut self, until: Time, recorder: &mut R) {
        let links = self.links.len();
        #[cfg(debug_assertions)]
        let mut events = 0_u32;
        while let Some((now, source)) = self.schedule.first_until(until) {
            self.now = now;
            if source < links {
                self.on_arrival(now, source, recorder);
            } else {
                let flow = (source - links) / 2;
                if (source - links).is_multiple_of(2) {
                    self.on_sender_timeout(now, flow, recorder);
                } else {
                    self.flows[flow].receiver.on_timeout(now);
                    self.serve_receiver(now, flow, recorder);
                }
            }
            #[cfg(debug_assertions)]
            {
                events += 1;
                debug_assert!(!events.is_multiple_of(1024) || self.check_conservation().is_ok());
            }
        }
        self.now = self.now.max(until);
        for link in &mut self.links {
            link.catch_up(self.now, observe(recorder, &self.pool, &self.hops));
        }
        debug_assert_eq!(self.check_conservation(), Ok(()));
    }

    /// A packet reaches the far end of a link.
    fn on_arrival<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        let link = &mut self.links[index];
        let flight = link.leave(now, observe(recorder, &self.pool, &self.hops));
        self.schedule.set(index, link.next_arrival());
        let Some(flight) = flight else { return };
        let packet = self.pool.get_mut(flight.packet);
        let place = packet.hop as usize;
        let hop = self.hops[place];
        let counters = &mut self.counters.hops[place];
        counters.transmitted += 1;
        counters.transmitted_bytes += u64::from(packet.wire_bytes);
        if flight.hit && !hop.immune {
            self.corrupt(now, flight.packet, recorder);
            return;
        }
        counters.delivered += 1;
        if R::ON {
            recorder.record(&link_event(now, hop, LinkEvent::Deliver, packet, &self.links[index].queue));
        }
        if hop.last {
            self.receive(now, flight.packet, recorder);
        } else {
            packet.hop += 1;
            self.enter(now, flight.packet, recorder);
        }
    }

    /// A packet comes to the link of its present hop.
    #[inline]
    fn enter<R: Recorder>(&mut self, now: Time, handle: Handle, recorder: &mut R) {
        let packet = self.pool.get(handle);
        let place = packet.hop as usize;
        let hop = self.hops[place];
        let index = hop.link as usize;
        let link = &mut self.links[index];
        self.counters.hops[place].entered += 1;
        let was_empty = link.next_arrival().is_none();
        let waiting = Waiting { packet: handle, wire_bytes: packet.wire_bytes };
        let entry = link.enter(now, waiting, hop.immune, observe(recorder, &self.pool, &self.hops));
        match entry {
            Entry::Accepted => {
                if was_empty {
                    self.schedule.set(index, link.next_arrival());
                }
            }
            Entry::Dropped => self.drop_at_queue(now, handle, recorder),
            Entry::Hit => self.corrupt(now, handle, recorder),
        }
    }

    #[cold]
    fn drop_at_queue<R: Recorder>(&mut self, now: Time, handle: Handle, recorder: &mut R) {
        let place = self.pool.get(handle).hop as usize;
        self.counters.hops[place].queue_drops += 1;
        self.lose(now, handle, Cause::Congestion, LinkEvent::QueueDrop, recorder);
    }

    #[cold]
    fn corrupt<R: Recorder>(&mut self, now: Time, handle: Handle, recorder: &mut R) {
        let place = self.pool.get(handle).hop as usize;
        self.counters.hops[place].corrupted += 1;
        self.lose(now, handle, Cause::Wireless, LinkEvent::Corrupted, recorder);
    }

    fn lose<R: Recorder>(&mut self, now: Time, handle: Handle, cause: Cause, what: LinkEvent, recorder: &mut R) {
        let packet = self.pool.get(handle);
        let hop = self.hops[packet.hop as usize];
        if R::ON {
            recorder.record(&link_event(now, hop, what, packet, &self.links[hop.link as usize].queue));
        }
        if let Some(seq) = packet.payload.data_seq() {
            self.flows[hop.flow as usize].ledger.lost(seq, cause);
        }
        self.pool.remove(handle);
    }

    /// A packet has come to its end.
    fn receive<R: Recorder>(&mut self, now: Time, handle: Handle, recorder: &mut R) {
        let packet = self.pool.get(handle);
        let index = self.hops[packet.hop as usize].flow as usize;
        let flow = &mut self.flows[index];
        let id = FlowId(index as u32);
        if R::ON {
            recorder.record(&Event { at: now, flow: id, kind: EventKind::Received(packet.payload.info()) });
        }
        let payload = &packet.payload;
        let to_receiver = if let Some(payload_bytes) = payload.payload_bytes() {
            flow.received_packets += 1;
            flow.received_payload_bytes += u64::from(payload_bytes);
            let mut watch = Watch { ledger: &mut flow.ledger, recorder, flow: id, now };
            flow.receiver.on_message(now, payload, &mut watch);
            true
        } else {
            if flow.phase == Phase::Sending {
                flow.sender.on_message(now, payload);
            }
            false
        };
        self.pool.remove(handle);
        if to_receiver {
            self.serve_receiver(now, index, recorder);
        } else {
            self.serve_sender(now, index, recorder);
        }
    }

    fn on_sender_timeout<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        let flow = &mut self.flows[index];
        match flow.phase {
            Phase::Waiting if flow.stops_at <= now => flow.phase = Phase::Stopped,
            Phase::Waiting => {
                flow.phase = Phase::Sending;
                flow.sender.start(now);
            }
            Phase::Sending => flow.sender.on_timeout(now),
            Phase::Stopped => {}
        }
        self.serve_sender(now, index, recorder);
    }

    /// Sends what the sender has to send, and sets its timer.
    fn serve_sender<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        let flow = &mut self.flows[index];
        if flow.phase == Phase::Sending && flow.stops_at <= now {
            flow.phase = Phase::Stopped;
        }
        let source = self.links.len() + 2 * index;
        if flow.phase != Phase::Sending {
            self.schedule.set(source, None);
            return;
        }
        while let Some(payload) = self.flows[index].sender.poll_transmit(now) {
            let flow = &mut self.flows[index];
            flow.sent_packets += 1;
            let hop = flow.path;
            self.send(now, payload, hop, index, recorder);
        }
        let flow = &mut self.flows[index];
        let timeout = flow.sender.poll_timeout().unwrap_or(Time::MAX).min(flow.stops_at);
        self.schedule.set(source, (timeout < Time::MAX).then_some(timeout.max(now)));
        if R::ON {
            flow.record_sample(now, FlowId(index as u32), recorder);
        }
    }

    /// Sends what the receiver has to send, and sets its timer.
    fn serve_receiver<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        while let Some(payload) = self.flows[index].receiver.poll_transmit(now) {
            let hop = self.flows[index].return_path;
            self.send(now, payload, hop, index, recorder);
        }
        let timeout = self.flows[index].receiver.poll_timeout().map(|timeout| timeout.max(now));
        self.schedule.set(self.links.len() + 2 * index + 1, timeout);
    }

    #[inline]
    fn send<R: Recorder>(&mut self, now: Time, payload: Payload, hop: u32, flow: usize, recorder: &mut R) {
        if R::ON {
            recorder.record(&Event { at: now, flow: FlowId(flow as u32), kind: EventKind::Sent(payload.info()) });
        }
        let handle = self.pool.insert(Packet { hop, wire_bytes: payload.wire_bytes(), payload });
        self.enter(now, handle, recorder);
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What happened to packets so far. Clone it to measure a window.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What `flow` achieved so far.
    ///
    /// # Panics
    /// There is no such flow.
    pub fn flow(&self, flow: FlowId) -> FlowReport {
        let flow = &self.flows[flow.index()];
        let delivered_packets = flow.receiver.delivered_packets();
        FlowReport {
            started_at: (flow.phase != Phase::Waiting && flow.starts_at < flow.stops_at).then_some(flow.starts_at),
            sent_packets: flow.sent_packets,
            received_packets: flow.received_packets,
            received_payload_bytes: flow.received_payload_bytes,
            delivered_packets,
            delivered_payload_bytes: delivered_packets * u64::from(flow.payload_bytes),
            lost: flow.ledger.counts(),
            verdicts: flow.ledger.verdicts(),
            schemes: flow.ledger.schemes().to_vec(),
            tcp: flow.sender.tcp_stats(),
        }
    }
}

impl Flow {
    fn new(spec: &FlowSpec, seed: u64, first_hop: usize) -> Result<Self, crate::FlowProblem> {
        let (sender, receiver) = agent::ends(spec, seed)?;
        let stream = |purpose| Stream::new(seed, &format!("flow/{}/{purpose}", spec.name));
        Ok(Self {
            sender,
            receiver,
            phase: Phase::Waiting,
            starts_at: spec.start + stream("start").span_below(spec.start_spread),
            stops_at: spec.stop.unwrap_or(Time::MAX),
            path: first_hop as u32,
            return_path: (first_hop + spec.path.len()) as u32,
            payload_bytes: spec.traffic.payload_bytes(),
            sent_packets: 0,
            received_packets: 0,
            received_payload_bytes: 0,
            ledger: Ledger::new(spec.traffic.differentiates(), stream("oracle")),
            sample: None,
        })
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

fn link_event(at: Time, hop: Hop, what: LinkEvent, packet: &Packet, queue: &Queue) -> Event {
    let link = LinkId(hop.link);
    let (queue_packets, queue_bytes) = (queue.packets(), queue.bytes());
    let kind = EventKind::Link { link, what, packet: packet.payload.info(), queue_packets, queue_bytes };
    Event { at, flow: FlowId(hop.flow), kind }
}

/// Records what the link reports.
#[inline]
fn observe<R: Recorder>(recorder: &mut R, pool: &Pool, hops: &[Hop]) -> impl FnMut(Time, LinkEvent, Handle, &Queue) {
    move |at, what, handle, queue| {
        if R::ON {
            let packet = pool.get(handle);
            recorder.record(&link_event(at, hops[packet.hop as usize], what, packet, queue));
        }
    }
}
