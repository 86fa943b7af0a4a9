//! Counters of packets, per flow and hop.

use std::ops::{AddAssign, Sub};
use std::sync::Arc;

use crate::topology::{FlowId, LinkId, Network};

/// Packets of one flow at one link.
///
/// At every instant `entered = delivered + queue_drops + corrupted + queued + in flight`, if the
/// link makes no copies ([`Counters::duplicated`]); they are added to `entered`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopCounters {
    /// Arrived at the link.
    pub entered: u64,
    /// Dropped by the queue.
    pub queue_drops: u64,
    /// Marked by the queue (ECN), including packets that were marked before.
    pub queue_marks: u64,
    /// Transmitted, including corrupted packets.
    pub transmitted: u64,
    /// Bytes on the wire of the transmitted packets.
    pub transmitted_bytes: u64,
    /// Corrupted by the channel.
    pub corrupted: u64,
    /// Handed to the next link or to the receiving end, copies included.
    pub delivered: u64,
}

impl AddAssign for HopCounters {
    fn add_assign(&mut self, other: Self) {
        self.entered += other.entered;
        self.queue_drops += other.queue_drops;
        self.queue_marks += other.queue_marks;
        self.transmitted += other.transmitted;
        self.transmitted_bytes += other.transmitted_bytes;
        self.corrupted += other.corrupted;
        self.delivered += other.delivered;
    }
}

impl Sub for HopCounters {
    type Output = Self;
    fn sub(self, earlier: Self) -> Self {
        Self {
            entered: self.entered - earlier.entered,
            queue_drops: self.queue_drops - earlier.queue_drops,
            queue_marks: self.queue_marks - earlier.queue_marks,
            transmitted: self.transmitted - earlier.transmitted,
            transmitted_bytes: self.transmitted_bytes - earlier.transmitted_bytes,
            corrupted: self.corrupted - earlier.corrupted,
            delivered: self.delivered - earlier.delivered,
        }
    }
}

/// The counters of a whole network. Subtract an earlier state from a later one to measure a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Hops of all flows, one flow after the other: path, then return path.
    pub(crate) hops: Vec<HopState>,
    /// For each hop, the copies that its link made. Apart, because few links make any.
    pub(crate) duplicated: Vec<u64>,
    layout: Arc<Layout>,
}

/// A flow at a link: its counters, and where its packets go next. One cache line, which every
/// packet touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct HopState {
    pub(crate) counters: HopCounters,
    pub(crate) next: Next,
}

/// The next hop or end, and whether an arrival there needs an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Next {
    /// Another link.
    Link { needs_event: bool, link: u32 },
    /// An end of this flow.
    End { needs_event: bool, flow: u32 },
}

impl Next {
    #[inline]
    pub(crate) fn needs_event(self) -> bool {
        match self {
            Next::Link { needs_event, .. } | Next::End { needs_event, .. } => needs_event,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Layout {
    /// The first hop of each flow, and the number of hops in all.
    first: Vec<usize>,
    /// Length of each flow's path, without its return path.
    forward: Vec<usize>,
    /// The link of each hop.
    link: Vec<LinkId>,
    /// The number of links.
    links: usize,
}

impl Counters {
    /// All zero. `needs_event` says for every hop whether arrivals at its far end need events.
    pub(crate) fn new(network: &Network, needs_event: &[bool]) -> Self {
        let mut layout = Layout {
            first: vec![0],
            forward: Vec::new(),
            link: Vec::new(),
            links: network.links.len(),
        };
        let mut hops = Vec::new();
        for (index, flow) in network.flows.iter().enumerate() {
            for path in [&flow.path, &flow.return_path] {
                for place in 1..=path.len() {
                    let needs_event = needs_event[hops.len()];
                    let next = match path.get(place) {
                        None => Next::End { needs_event, flow: index as u32 },
                        Some(link) => Next::Link { needs_event, link: link.0 },
                    };
                    hops.push(HopState { counters: HopCounters::default(), next });
                }
            }
            layout.link.extend(flow.path.iter().chain(&flow.return_path));
            layout.first.push(layout.link.len());
            layout.forward.push(flow.path.len());
        }
        Self { duplicated: vec![0; hops.len()], hops, layout: Arc::new(layout) }
    }

    /// The hops of `flow`'s path, in order, with their links.
    pub fn path(&self, flow: FlowId) -> impl Iterator<Item = (LinkId, &HopCounters)> {
        let first = self.layout.first[flow.index()];
        self.range(first, first + self.layout.forward[flow.index()])
    }

    /// The hops of `flow`'s return path, in order, with their links.
    pub fn return_path(&self, flow: FlowId) -> impl Iterator<Item = (LinkId, &HopCounters)> {
        let first = self.layout.first[flow.index()];
        self.range(first + self.layout.forward[flow.index()], self.layout.first[flow.index() + 1])
    }

    /// `flow` at `link`, in either direction; zero if its path does not contain the link.
    pub fn flow_at(&self, flow: FlowId, link: LinkId) -> HopCounters {
        let hops = self.path(flow).chain(self.return_path(flow));
        sum(hops.filter(|&(at, _)| at == link).map(|(_, hop)| hop))
    }

    /// All flows at `link`.
    pub fn link(&self, link: LinkId) -> HopCounters {
        sum(self
            .layout
            .link
            .iter()
            .zip(&self.hops)
            .filter(|&(&at, _)| at == link)
            .map(|(_, hop)| &hop.counters))
    }

    /// All flows at each link, in the network's order: [`Counters::link`] of all links in one pass.
    pub fn links(&self) -> Vec<HopCounters> {
        let mut totals = vec![HopCounters::default(); self.layout.links];
        for (link, hop) in self.layout.link.iter().zip(&self.hops) {
            totals[link.index()] += hop.counters;
        }
        totals
    }

    /// Copies that each link made ([`DuplicationSpec`](crate::DuplicationSpec)), in the network's
    /// order. They are not transmitted there, and delivered like other packets.
    pub fn duplicated(&self) -> Vec<u64> {
        let mut totals = vec![0; self.layout.links];
        for (link, copies) in self.layout.link.iter().zip(&self.duplicated) {
            totals[link.index()] += copies;
        }
        totals
    }

    fn range(&self, from: usize, to: usize) -> impl Iterator<Item = (LinkId, &HopCounters)> {
        self.layout.link[from..to]
            .iter()
            .copied()
            .zip(self.hops[from..to].iter().map(|hop| &hop.counters))
    }
}

fn sum<'a>(hops: impl Iterator<Item = &'a HopCounters>) -> HopCounters {
    hops.fold(HopCounters::default(), |mut total, &hop| {
        total += hop;
        total
    })
}

impl Sub for &Counters {
    type Output = Counters;

    /// The difference to `earlier`, a state of the same simulation.
    fn sub(self, earlier: &Counters) -> Counters {
        let since = |(later, earlier): (&HopState, &HopState)| HopState {
            counters: later.counters - earlier.counters,
            ..*later
        };
        let hops = self.hops.iter().zip(&earlier.hops).map(since).collect();
        let copies = self.duplicated.iter().zip(&earlier.duplicated);
        let duplicated = copies.map(|(later, earlier)| later - earlier).collect();
        Counters { hops, duplicated, layout: Arc::clone(&self.layout) }
    }
}
