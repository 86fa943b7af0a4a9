//! Nothing appears and nothing vanishes.

use std::fmt;

use crate::counters::HopCounters;
use crate::simulation::Simulation;
use crate::topology::{FlowId, LinkId};

/// Packets appeared or vanished: a fault of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConservationError {
    /// At one hop, what entered is not what left or is still there.
    Hop {
        /// The flow.
        flow: FlowId,
        /// The link.
        link: LinkId,
        /// Its counters.
        counters: HopCounters,
        /// Packets that wait or are in flight there.
        present: u64,
    },
    /// A link handed on another number of packets than the next one took in.
    Handover {
        /// The flow.
        flow: FlowId,
        /// The link that handed on.
        link: LinkId,
        /// Packets handed on.
        delivered: u64,
        /// Packets taken in after it, or received at the end.
        entered: u64,
    },
    /// Packets exist that are on no link.
    Stray {
        /// Packets that exist.
        existing: u64,
        /// Packets on links.
        present: u64,
    },
    /// Data packets were lost without a cause.
    Cause {
        /// The flow.
        flow: FlowId,
        /// Data packets that links lost.
        lost: u64,
        /// Lost data packets with a cause.
        with_cause: u64,
    },
}

impl fmt::Display for ConservationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hop { flow, link, counters, present } => write!(
                f,
                "flow {} at link {}: {} packets entered, but {} were delivered, {} dropped, {} corrupted and {} are there",
                flow.0, link.0, counters.entered, counters.delivered, counters.queue_drops, counters.corrupted, present
            ),
            Self::Handover { flow, link, delivered, entered } => {
                write!(f, "flow {}: link {} delivered {delivered} packets, but {entered} came", flow.0, link.0)
            }
            Self::Stray { existing, present } => write!(f, "{existing} packets exist, but {present} are on links"),
            Self::Cause { flow, lost, with_cause } => {
                write!(f, "flow {}: {lost} data packets were lost, but {with_cause} have a cause", flow.0)
            }
        }
    }
}

impl std::error::Error for ConservationError {}

impl Simulation {
    /// Checks that every packet that ever entered a link was delivered, dropped or corrupted there, waits, or is in flight;
    /// that every delivered packet entered the next link or was received; and that every lost one has a cause. Debug
    /// builds do this now and then by themselves.
    ///
    /// # Errors
    /// Says where packets appeared or vanished.
    pub fn check_conservation(&self) -> Result<(), ConservationError> {
        let transit = &self.transit;
        let mut present = vec![0_u64; transit.store.hops.len()];
        for link in &transit.links {
            for packet in link.packets() {
                present[packet.hop as usize] += 1;
            }
        }
        let on_links = present.iter().sum();
        if transit.store.pool.len() as u64 != on_links {
            return Err(ConservationError::Stray { existing: transit.store.pool.len() as u64, present: on_links });
        }
        for (place, hop) in transit.store.hops.iter().enumerate() {
            let (flow, link) = (FlowId(hop.flow), LinkId(hop.link));
            let counters = transit.store.counters.hops[place].counters;
            let HopCounters { entered, queue_drops, corrupted, delivered, .. } = counters;
            let present = present[place];
            if entered != delivered + queue_drops + corrupted + present {
                return Err(ConservationError::Hop { flow, link, counters, present });
            }
            let index = hop.flow as usize;
            let entered_next = if !hop.last {
                transit.store.counters.hops[place + 1].counters.entered
            } else if place < self.flows[index].return_path as usize {
                self.received(flow).0
            } else {
                delivered
            };
            if delivered != entered_next {
                return Err(ConservationError::Handover { flow, link, delivered, entered: entered_next });
            }
        }
        for (index, flow) in self.flows.iter().enumerate() {
            let path = &transit.store.counters.hops[flow.path as usize..flow.return_path as usize];
            let lost = path.iter().map(|hop| hop.counters.queue_drops + hop.counters.corrupted).sum();
            let counts = transit.store.ledgers[index].counts();
            let with_cause = counts.congestion + counts.wireless;
            if lost != with_cause {
                return Err(ConservationError::Cause { flow: FlowId(index as u32), lost, with_cause });
            }
        }
        Ok(())
    }
}
