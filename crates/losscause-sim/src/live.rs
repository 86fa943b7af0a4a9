//! The links of one path, for packets that come from outside: a link emulator, a replay of a
//! recording.
//!
//! [`LivePath`] drives the simulator's own links: queues, rates, channels and random streams are
//! those of a [`Simulation`](crate::Simulation) of the same network and seed. Only the packets
//! differ. They come when the caller says so, carry what the caller gives them, and are handed back
//! where they end. The same packets at the same instants meet the same fate as in a simulation.
//!
//! Time is an argument. A packet's passage from link to link has its exact instants, however late
//! [`LivePath::poll`] is called.
//!
//! ```
//! use losscause::{Span, Time};
//! use losscause_sim::live::{Direction, Ecn, Fate, LivePath, Offered, Passed};
//! use losscause_sim::{FlowId, FlowSpec, Limit, LinkId, LinkSpec, Network, QueueSpec, Traffic};
//!
//! let queue = QueueSpec::DropTail { limit: Limit::Packets(10) };
//! let link = LinkSpec::wired("dsl", 10_000_000, Span::from_millis(20), queue);
//! let flow = FlowSpec::new("test", &[LinkId(0)], &[], Traffic::cbr(1_000_000, 1250));
//! let network = Network { links: vec![link], flows: vec![flow] };
//!
//! let mut path = LivePath::new(&network, FlowId(0), 1)?;
//! let packet = Offered { content: "a packet", wire_bytes: 1250, flow: 0, ecn: Ecn::NotCapable, wireless_immune: false };
//! path.enter(Time::ZERO, Direction::Forward, packet);
//! // 1250 bytes take 1 ms at 10 Mb/s.
//! assert_eq!(path.next_event(), Some(Time::ZERO + Span::from_millis(21)));
//! let passed = path.poll(Time::ZERO + Span::from_millis(30)).expect("it has arrived");
//! let Passed { content, at, fate, .. } = passed;
//! assert_eq!((at, content), (Time::ZERO + Span::from_millis(21), "a packet"));
//! assert!(matches!(fate, Fate::Delivered { .. }));
//! # Ok::<(), losscause_sim::NetworkError>(())
//! ```

use std::collections::VecDeque;

use crate::copies::Copies;
use crate::truth::Cause;
use losscause::{Span, Time};
pub use losscause_transport::Ecn;

use crate::link::{Link, LinkHooks};
use crate::packet::{Handle, Packet};
use crate::queue::{Occupancy, QueueHooks};
use crate::schedule::NEVER;
use crate::topology::{FlowId, LinkId, Network, NetworkError};
use crate::trace::LinkEvent;

/// A path of links in both directions, and the packets on it.
#[derive(Clone, Debug)]
pub struct LivePath<T> {
    links: Vec<Link>,
    /// Steps of the return path begin here.
    first_back: u32,
    packets: Packets<T>,
    /// Everything up to here is worked out.
    now: Time,
}

/// The direction of a packet on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Over the flow's path.
    Forward,
    /// Over its return path.
    Back,
}

/// A packet that comes to a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered<T> {
    /// What the caller gets back with the packet's fate.
    pub content: T,
    /// Bytes that it takes on every link.
    pub wire_bytes: u32,
    /// The packet's flow, for queues that tell flows apart: any number, such as an address hash.
    pub flow: u32,
    /// Whether queues may mark it.
    pub ecn: Ecn,
    /// No channel corrupts it. It still uses up slots, as the packets of a flow with
    /// [`FlowSpec::wireless_immune`](crate::FlowSpec::wireless_immune) do.
    pub wireless_immune: bool,
}

/// A packet that has left a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Passed<T> {
    /// What the caller gave.
    pub content: T,
    /// The direction in which the packet crossed the path.
    pub direction: Direction,
    /// When it came to the path.
    pub entered: Time,
    /// When it arrived or was lost.
    pub at: Time,
    /// Where it ended.
    pub fate: Fate,
    /// A link made a copy of the packet, and this is not the one that counts: it arrived after
    /// another, or was lost while another had arrived or was on its way. Of every packet that
    /// entered, one that counts leaves the path.
    pub is_copy: bool,
}

/// How a packet left a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet reached the end.
    Delivered {
        /// The packet's ECN field at the end.
        ecn: Ecn,
        /// How long it waited in queues, without transmissions.
        queued: Span,
    },
    /// A queue dropped it, or a channel corrupted it.
    Lost {
        /// Which of the two: congestion, or wireless.
        cause: Cause,
        /// The link, by its place in the network.
        link: LinkId,
        /// Packets that waited at that link right after.
        queue_packets: u32,
    },
}

impl<T: Clone> LivePath<T> {
    /// The path and the return path of a flow of `network`, at time zero, without packets. The
    /// flow's own traffic and the other flows are not used.
    /// [`FlowSpec::wireless_immune`](crate::FlowSpec::wireless_immune) holds for every packet.
    ///
    /// # Errors
    /// The network is not valid.
    ///
    /// # Panics
    /// If the network has no such flow.
    pub fn new(network: &Network, flow: FlowId, seed: u64) -> Result<Self, NetworkError> {
        network.validate()?;
        let spec = &network.flows[flow.index()];
        let steps = |path: &[LinkId]| -> Vec<Step> {
            let last = path.len().saturating_sub(1);
            path.iter()
                .enumerate()
                .map(|(place, link)| Step { link: *link, last: place == last })
                .collect()
        };
        let forward = steps(&spec.path);
        let back = steps(&spec.return_path);
        Ok(Self {
            links: network.links.iter().map(|spec| Link::new(spec, seed)).collect(),
            first_back: forward.len() as u32,
            packets: Packets {
                steps: forward.into_iter().chain(back).collect(),
                immune: spec.wireless_immune,
                slots: Vec::new(),
                free: Vec::new(),
                passed: VecDeque::new(),
                copies: Copies::default(),
            },
            now: Time::ZERO,
        })
    }

    /// A packet comes at `at`. An instant before that of an earlier call counts as that one.
    ///
    /// # Panics
    /// If the direction has no links.
    pub fn enter(&mut self, at: Time, direction: Direction, offered: Offered<T>) {
        self.advance(at);
        let hop = if direction == Direction::Forward { 0 } else { self.first_back };
        let wire_bytes = offered.wire_bytes;
        let handle = self.packets.insert(self.now, direction, offered);
        self.enter_link(self.now, Packet { handle, hop, wire_bytes });
    }

    /// Works out everything up to and including `now` and returns a packet that has left the path;
    /// call until none.
    ///
    /// Packets that are delivered come in the order of their arrival. A drop by a managed queue may
    /// be told late, after packets that arrived later, with its exact instant.
    pub fn poll(&mut self, now: Time) -> Option<Passed<T>> {
        if let Some(passed) = self.packets.passed.pop_front() {
            return Some(passed);
        }
        self.advance(now);
        self.packets.passed.pop_front()
    }

    /// When [`LivePath::poll`] has more to tell; none if no packet is on a link.
    pub fn next_event(&self) -> Option<Time> {
        if !self.packets.passed.is_empty() {
            return Some(self.now);
        }
        self.next_arrival().map(|(at, _)| at)
    }

    /// Packets on the links, copies included.
    pub fn in_flight(&self) -> usize {
        self.packets.slots.len() - self.packets.free.len()
    }

    /// The next arrival at the far end of a link, and which.
    fn next_arrival(&self) -> Option<(Time, usize)> {
        let arrivals =
            self.links.iter().enumerate().map(|(place, link)| (link.next_event(), place));
        arrivals.min().filter(|(at, _)| *at < NEVER)
    }

    fn advance(&mut self, until: Time) {
        while let Some((at, link)) = self.next_arrival().filter(|(at, _)| *at <= until) {
            self.on_arrival(at, link);
        }
        self.now = self.now.max(until);
    }

    /// A packet is at the far end of a link: it is lost to the channel, delivered, or enters the
    /// next link.
    fn on_arrival(&mut self, at: Time, link: usize) {
        let Some(transmission) = self.links[link].leave(at, &mut self.packets) else { return };
        let packet = transmission.packet;
        if transmission.hit && !self.packets.slot(packet).immune {
            let then = self.links[link].occupancy();
            self.packets.lose(at, packet, Cause::Wireless, then);
        } else if self.packets.steps[packet.hop as usize].last {
            self.packets.deliver(at, packet);
        } else {
            self.enter_link(at, packet.at_next_hop());
        }
    }

    fn enter_link(&mut self, at: Time, packet: Packet) {
        let link = self.packets.steps[packet.hop as usize].link.index();
        self.packets.slot(packet).link_entered = at;
        // Nothing is late: `at` is the link's present, so no packet is through at once.
        self.links[link].enter(at, packet, true, at, &mut self.packets);
    }
}

/// A step on the path or the return path.
#[derive(Clone, Copy, Debug)]
struct Step {
    link: LinkId,
    last: bool,
}

/// A packet on the path.
#[derive(Clone, Debug)]
struct Slot<T> {
    /// None if the slot is free.
    content: Option<T>,
    direction: Direction,
    flow: u32,
    ecn: Ecn,
    immune: bool,
    entered: Time,
    link_entered: Time,
    queued: Span,
}

/// All packets, in slots, and those that have left.
#[derive(Clone, Debug)]
struct Packets<T> {
    steps: Vec<Step>,
    /// Whether all of them are immune to channels.
    immune: bool,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    passed: VecDeque<Passed<T>>,
    copies: Copies,
}

impl<T: Clone> Packets<T> {
    fn insert(&mut self, at: Time, direction: Direction, offered: Offered<T>) -> Handle {
        let Offered { content, flow, ecn, wireless_immune, .. } = offered;
        let slot = Slot {
            content: Some(content),
            direction,
            flow,
            ecn,
            immune: self.immune || wireless_immune,
            entered: at,
            link_entered: at,
            queued: Span::ZERO,
        };
        self.place(slot)
    }

    fn place(&mut self, slot: Slot<T>) -> Handle {
        let place = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(place as usize) {
            Some(free) => *free = slot,
            None => self.slots.push(slot),
        }
        Handle::of_slot(place)
    }

    fn slot(&mut self, packet: Packet) -> &mut Slot<T> {
        &mut self.slots[packet.handle.slot().1]
    }

    fn deliver(&mut self, at: Time, packet: Packet) {
        let Slot { ecn, queued, .. } = *self.slot(packet);
        self.leave(at, packet, Fate::Delivered { ecn, queued });
    }

    fn lose(&mut self, at: Time, packet: Packet, cause: Cause, then: Occupancy) {
        let link = self.steps[packet.hop as usize].link;
        self.leave(at, packet, Fate::Lost { cause, link, queue_packets: then.packets });
    }

    /// Frees the packet's slot and tells its fate.
    fn leave(&mut self, at: Time, packet: Packet, fate: Fate) {
        let is_copy = match fate {
            Fate::Delivered { .. } => !self.copies.is_first(packet.handle),
            Fate::Lost { .. } => !self.copies.is_lost(packet.handle),
        };
        let slot = self.slot(packet);
        let direction = slot.direction;
        let entered = slot.entered;
        if let Some(content) = slot.content.take() {
            self.passed.push_back(Passed { content, direction, entered, at, fate, is_copy });
            self.free.push(packet.handle.slot().1 as u32);
        }
    }
}

impl<T: Clone> QueueHooks for Packets<T> {
    fn mark(&mut self, _: Time, packet: Packet, _: Occupancy) -> bool {
        self.slot(packet).ecn.mark()
    }

    fn drop(&mut self, at: Time, packet: Packet, then: Occupancy) {
        self.lose(at, packet, Cause::Congestion, then);
    }

    fn flow_of(&self, packet: Packet) -> u32 {
        self.slots[packet.handle.slot().1].flow
    }
}

impl<T: Clone> LinkHooks for Packets<T> {
    #[inline(always)]
    fn records(&self) -> bool {
        false
    }

    fn is_immune(&self, packet: Packet) -> bool {
        self.slots[packet.handle.slot().1].immune
    }

    fn corrupt(&mut self, at: Time, packet: Packet, then: Occupancy) {
        self.lose(at, packet, Cause::Wireless, then);
    }

    fn transmits(&mut self, from: Time, packet: Packet) {
        let slot = self.slot(packet);
        slot.queued += from - slot.link_entered;
    }

    fn observe(&mut self, _: Time, _: LinkEvent, _: Packet, _: Occupancy) {}

    fn copy(&mut self, _: Time, packet: Packet, _: Occupancy) -> Packet {
        let slot = self.slot(packet).clone();
        let copy = Packet { handle: self.place(slot), ..packet };
        self.copies.add(packet.handle, copy.handle);
        copy
    }

    fn copy_arrives(&mut self, _: Packet) {}
}
