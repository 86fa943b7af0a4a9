//! A link with a queue, driven as `validation/ns3/queues.cc` drives ns-3's.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use losscause::{Span, Time};

use super::cells::{Cell, Flow, Source};
use crate::packet::Packet;
use crate::queue::{Occupancy, QueueDiscipline, QueueHooks};

const END: Time = Time::from_nanos(60_000_000_000);
const MEASURED_FROM: Time = Time::from_nanos(5_000_000_000);
/// Run r starts flow i later by r (i + 1) times this.
const SHIFT: Span = Span::from_nanos(1_234_567);

/// What happened to the packets of a group that came while it was measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) arrived: u64,
    pub(super) dropped: u64,
    pub(super) marked: u64,
    pub(super) delays: Vec<Span>,
}

impl Figures {
    pub(super) fn add(&mut self, other: &Self) {
        self.arrived += other.arrived;
        self.dropped += other.dropped;
        self.marked += other.marked;
        self.delays.extend(&other.delays);
    }
}

/// Figures by group.
pub(super) fn run(
    cell: &Cell,
    queue: Box<dyn QueueDiscipline>,
    run: u32,
) -> BTreeMap<String, Figures> {
    let starts = (1..)
        .zip(&cell.flows)
        .map(|(i, flow)| Time::from_nanos(flow.start) + SHIFT * (i64::from(run) * i));
    let mut link = Link {
        queue,
        rate_bps: cell.rate_bps,
        busy: false,
        world: World {
            now: Time::ZERO,
            ecn: cell.ecn,
            flows: starts
                .zip(&cell.flows)
                .map(|(start, flow)| State::new(flow.clone(), start))
                .collect(),
            packets: vec![],
            figures: BTreeMap::new(),
            events: BinaryHeap::new(),
            scheduled: 0,
        },
    };
    for i in 0..link.world.flows.len() {
        link.world.schedule(link.world.flows[i].start, Event::Send(i));
    }
    while let Some(Reverse((at, _, event))) =
        link.world.events.pop().filter(|Reverse((at, ..))| *at < END)
    {
        link.world.now = at;
        link.on(event);
    }
    link.world.figures
}

struct Link {
    queue: Box<dyn QueueDiscipline>,
    rate_bps: u64,
    busy: bool,
    world: World,
}

/// Sources, packets and events; the queue reports their fates to it.
struct World {
    now: Time,
    ecn: bool,
    flows: Vec<State>,
    /// By number.
    packets: Vec<Sent>,
    figures: BTreeMap<String, Figures>,
    /// By time, then in the order in which they were scheduled.
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    scheduled: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The source of this flow is due.
    Send(usize),
    /// The source of this flow learns what became of a packet.
    Feedback { flow: usize, congested: bool },
    /// The transmission of the packet with this number ends.
    Transmitted(usize),
}

struct State {
    flow: Flow,
    start: Time,
    in_flight: i64,
    window: i64,
    acked: i64,
    hold_until: Time,
}

struct Sent {
    flow: usize,
    at: Time,
    marked: bool,
}

impl Link {
    fn on(&mut self, event: Event) {
        while let Some(expires) =
            self.queue.next_timer().filter(|&expires| expires <= self.world.now)
        {
            self.queue.on_timer(expires);
        }
        match event {
            Event::Send(i) => {
                if let Source::Cbr { interval, on_off } = self.world.flows[i].flow.source {
                    self.send(i);
                    let next = self.world.flows[i].next_turn(self.world.now, interval, on_off);
                    self.world.schedule(next, event);
                } else {
                    self.fill(i);
                }
            }
            Event::Feedback { flow, congested } => {
                self.world.flows[flow].learn(self.world.now, congested);
                self.fill(flow);
            }
            Event::Transmitted(number) => {
                let Sent { flow, marked, .. } = self.world.packets[number];
                self.world.tell(flow, marked);
                self.busy = false;
                self.transmit_next();
            }
        }
    }

    fn fill(&mut self, i: usize) {
        while self.world.flows[i].in_flight < self.world.flows[i].window {
            self.world.flows[i].in_flight += 1;
            self.send(i);
        }
    }

    fn send(&mut self, i: usize) {
        let now = self.world.now;
        let number = self.world.packets.len() as u32;
        let packet = Packet::of(number, self.world.flows[i].flow.bytes);
        self.world.packets.push(Sent { flow: i, at: now, marked: false });
        if let Some(figures) = self.world.figures(packet) {
            figures.arrived += 1;
        }
        self.queue.enqueue(now, packet, !self.busy, &mut self.world);
        if !self.busy {
            self.transmit_next();
        }
    }

    fn transmit_next(&mut self) {
        let now = self.world.now;
        let Some(packet) = self.queue.dequeue(now, &mut self.world) else { return };
        let Sent { at, marked, .. } = self.world.packets[packet.number() as usize];
        if let Some(figures) = self.world.figures(packet) {
            figures.delays.push(now - at);
            figures.marked += u64::from(marked);
        }
        self.busy = true;
        let bits = 8 * u64::from(packet.wire_bytes);
        let nanos = (bits * 1_000_000_000 + self.rate_bps / 2) / self.rate_bps;
        let end = now + Span::from_nanos(nanos as i64);
        self.world.schedule(end, Event::Transmitted(packet.number() as usize));
    }
}

impl World {
    fn schedule(&mut self, at: Time, event: Event) {
        self.events.push(Reverse((at, self.scheduled, event)));
        self.scheduled += 1;
    }

    /// One rtt later the source learns it, if it listens.
    fn tell(&mut self, flow: usize, congested: bool) {
        if let Source::Window { rtt, .. } | Source::Aimd { rtt } = self.flows[flow].flow.source {
            self.schedule(self.now + Span::from_nanos(rtt), Event::Feedback { flow, congested });
        }
    }

    /// Where this packet counts, if it came while figures are taken.
    fn figures(&mut self, packet: Packet) -> Option<&mut Figures> {
        let Sent { flow, at, .. } = self.packets[packet.number() as usize];
        let group = &self.flows[flow].flow.group;
        if !self.figures.contains_key(group) {
            self.figures.insert(group.clone(), Figures::default());
        }
        self.figures.get_mut(group).filter(|_| at >= MEASURED_FROM)
    }
}

impl QueueHooks for World {
    fn mark(&mut self, _: Time, packet: Packet, _: Occupancy) -> bool {
        self.packets[packet.number() as usize].marked |= self.ecn;
        self.ecn
    }

    fn drop(&mut self, _: Time, packet: Packet, _: Occupancy) {
        if let Some(figures) = self.figures(packet) {
            figures.dropped += 1;
        }
        self.tell(self.packets[packet.number() as usize].flow, true);
    }

    fn flow_of(&self, packet: Packet) -> u32 {
        self.packets[packet.number() as usize].flow as u32
    }
}

impl State {
    fn new(flow: Flow, start: Time) -> Self {
        let window = if let Source::Window { packets, .. } = flow.source { packets } else { 2 };
        Self { flow, start, in_flight: 0, window, acked: 0, hold_until: Time::ZERO }
    }

    /// When the next packet of a paced source is due.
    fn next_turn(&self, now: Time, interval: i64, on_off: Option<(i64, i64)>) -> Time {
        let next = now + Span::from_nanos(interval);
        let Some((on, off)) = on_off else { return next };
        let phase = (next - self.start).as_nanos() % (on + off);
        if phase < on { next } else { next + Span::from_nanos(on + off - phase) }
    }

    /// A packet left the link, or was dropped or marked, an rtt ago.
    fn learn(&mut self, now: Time, congested: bool) {
        self.in_flight -= 1;
        let Source::Aimd { rtt } = self.flow.source else { return };
        if !congested {
            self.acked += 1;
            if self.acked >= self.window {
                self.window += 1;
                self.acked = 0;
            }
        } else if now >= self.hold_until {
            self.window = (self.window / 2).max(1);
            self.acked = 0;
            self.hold_until = now + Span::from_nanos(rtt);
        }
    }
}
