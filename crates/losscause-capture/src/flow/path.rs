//! What passed between two hosts, over all their connections: a policer's bucket serves them
//! together.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use losscause::{Span, Time};

/// One direction between two hosts.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// Tells paths apart.
    pub(crate) id: u64,
    /// When its first flow began.
    pub(crate) begun: Time,
    /// Bytes that passed, headers included.
    bytes: Arc<AtomicU64>,
}

/// The paths of a capture, by their hosts.
#[derive(Debug, Default)]
pub(super) struct Paths {
    known: HashMap<[u128; 2], Path>,
    made: u64,
}

/// Where a lost packet was in what passed between its hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// When it passed; at a receiver, when it was missed.
    pub(crate) at: Time,
    /// Bytes of all flows of the path before it; none if they are not counted.
    pub(crate) path_bytes: Option<u64>,
    /// Packets in flight then, itself included, at a sender.
    pub(crate) flight_pkts: Option<u32>,
    pub(crate) rtt: Option<Span>,
}

/// When a flow's packets passed, and what had passed between its hosts before each, bytes: of the
/// newest ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Course(VecDeque<(Time, u64)>);

/// So many packets are kept: a policer shows in a few dozen rounds of losses.
const MAX_COURSE: usize = 16_384;
/// More paths are not known together: further connections have one each.
const MAX_PATHS: usize = 65_536;

impl Paths {
    /// The path between these hosts, which a flow begins at `now`.
    pub(super) fn of(&mut self, hosts: [u128; 2], now: Time) -> Path {
        if let Some(path) = self.known.get(&hosts) {
            return path.clone();
        }
        self.made += 1;
        let path = Path { id: self.made, begun: now, bytes: Arc::default() };
        if self.known.len() < MAX_PATHS {
            self.known.insert(hosts, path.clone());
        }
        path
    }
}

impl Path {
    /// Bytes pass. Returns how many had passed before. One thread reads a capture, so that a load
    /// and a store will do.
    #[inline]
    pub(super) fn pass(&self, bytes: u64) -> u64 {
        let before = self.bytes.load(Ordering::Relaxed);
        self.bytes.store(before + bytes, Ordering::Relaxed);
        before
    }
}

impl Course {
    /// A packet passed.
    #[inline]
    pub(super) fn on_packet(&mut self, now: Time, path_bytes: u64) {
        if self.0.len() == MAX_COURSE {
            self.0.pop_front();
        }
        self.0.push_back((now, path_bytes));
    }

    /// The packets, in the order in which they passed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Time, u64)> + '_ {
        self.0.iter().copied()
    }
}

impl Passage {
    /// Of a packet of which only this time is known.
    pub(crate) fn at(at: Time) -> Self {
        Self { at, path_bytes: None, flight_pkts: None, rtt: None }
    }
}
