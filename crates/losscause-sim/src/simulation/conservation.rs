//! Nothing appears and nothing vanishes.

use crate::counters::HopCounters;
use crate::simulation::Simulation;
use crate::topology::{FlowId, LinkId};

/// Packets appeared or vanished: a fault of the simulator.
///
/// ```
/// use losscause::{Span, Time};
/// use losscause_sim::{ConservationError, Network, Simulation};
///
/// /// Checks the simulator once a second: for those who change it.
/// fn run_checked(network: &Network, seconds: i64) -> Result<(), ConservationError> {
///     let mut simulation = Simulation::new(network, 1).expect("a valid network");
///     for second in 1..=seconds {
///         simulation.run_until(Time::ZERO + Span::from_secs(second), &mut ());
///         simulation.check_conservation()?;
///     }
///     Ok(())
/// }
/// assert_eq!(run_checked(&Network::default(), 3), Ok(()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConservationError {
    /// At one hop, what entered or was copied is not what left or is still there.
    #[error(
        "flow {} at link {}: {} packets entered and {duplicated} were copied, but {} were delivered, \
         {} dropped, {} corrupted and {present} are there",
        .flow.0, .link.0, .counters.entered, .counters.delivered, .counters.queue_drops,
        .counters.corrupted
    )]
    Hop {
        /// The flow.
        flow: FlowId,
        /// The link.
        link: LinkId,
        /// The link's counters.
        counters: HopCounters,
        /// Copies that the link made.
        duplicated: u64,
        /// Packets that wait or are in flight there.
        present: u64,
    },
    /// A link handed on another number of packets than the next one took in.
    #[error("flow {}: link {} delivered {delivered} packets, but {entered} came", .flow.0, .link.0)]
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
    /// Packets exist that are on no link, and that no sender with jitter holds.
    #[error("{existing} packets exist, but {present} are on links or held by senders")]
    Stray {
        /// Packets that exist.
        existing: u64,
        /// Packets on links and at such senders.
        present: u64,
    },
    /// A queue's length is not that of the packets that wait in it.
    #[error(
        "link {}: the queue's length is {} packets, {} bytes, but {} packets, {} bytes wait",
        .link.0, .length.0, .length.1, .waiting.0, .waiting.1
    )]
    Queue {
        /// The link.
        link: LinkId,
        /// The queue's length, packets and bytes.
        length: (u32, u64),
        /// The packets that wait, and their bytes.
        waiting: (u32, u64),
    },
    /// Data packets were lost without a cause.
    #[error("flow {}: {lost} data packets were lost, but {with_cause} have a cause", .flow.0)]
    Cause {
        /// The flow.
        flow: FlowId,
        /// Data packets that links lost.
        lost: u64,
        /// Lost data packets with a cause, and lost copies of packets that are not lost.
        with_cause: u64,
    },
}

impl Simulation {
    /// Checks that every packet that ever entered a link or was copied there was delivered, dropped
    /// or corrupted there, waits, or is in flight; that every delivered packet entered the next
    /// link or was received; that every queue is as long as the packets in it; and that every lost
    /// packet has a cause. Debug builds check this every 1,024 events and at the end of
    /// [`Simulation::run_until`].
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
        let held = self.flows.iter().filter_map(|flow| flow.jitter.as_ref());
        let held: u64 = held.map(|jitter| jitter.held() as u64).sum();
        let known = present.iter().sum::<u64>() + held;
        if transit.store.pool.len() as u64 != known {
            return Err(ConservationError::Stray {
                existing: transit.store.pool.len() as u64,
                present: known,
            });
        }
        for (index, link) in transit.links.iter().enumerate() {
            let length = link.occupancy();
            let waiting = link.recount();
            if length != waiting {
                return Err(ConservationError::Queue {
                    link: LinkId(index as u32),
                    length: (length.packets, length.bytes),
                    waiting: (waiting.packets, waiting.bytes),
                });
            }
        }
        for (place, hop) in transit.store.hops.iter().enumerate() {
            let flow = FlowId(hop.flow);
            let link = LinkId(hop.link);
            let counters = transit.store.counters.hops[place].counters;
            let HopCounters { entered, queue_drops, corrupted, delivered, .. } = counters;
            let duplicated = transit.store.counters.duplicated[place];
            let present = present[place];
            if entered + duplicated != delivered + queue_drops + corrupted + present {
                return Err(ConservationError::Hop { flow, link, counters, duplicated, present });
            }
            let index = hop.flow as usize;
            let entered_next = if !hop.last {
                transit.store.counters.hops[place + 1].counters.entered
            } else if place < self.flows[index].return_path.hop as usize {
                self.received(flow).0 + self.flows[index].received_copies
            } else {
                delivered
            };
            if delivered != entered_next {
                return Err(ConservationError::Handover {
                    flow,
                    link,
                    delivered,
                    entered: entered_next,
                });
            }
        }
        for (index, flow) in self.flows.iter().enumerate() {
            let path =
                &transit.store.counters.hops[flow.path.hop as usize..flow.return_path.hop as usize];
            let lost =
                path.iter().map(|hop| hop.counters.queue_drops + hop.counters.corrupted).sum();
            let ledger = &transit.store.ledgers[index];
            let counts = ledger.counts();
            let with_cause = counts.congestion + counts.wireless + ledger.lost_copies();
            if lost != with_cause {
                return Err(ConservationError::Cause {
                    flow: FlowId(index as u32),
                    lost,
                    with_cause,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use losscause::Span;
    use losscause_transport::tcp;

    use super::*;
    use crate::ChannelSpec;
    use crate::at;
    use crate::topology::{FlowSpec, Limit, LinkSpec, Network, QueueSpec, Traffic};

    /// Two TCP flows over a slow link with a limit in bytes and errors, after 5 s.
    fn simulation() -> Simulation {
        let queue = QueueSpec::DropTail { limit: Limit::Bytes(10_000) };
        let wired = |name, rate_bps| LinkSpec::wired(name, rate_bps, Span::from_millis(10), queue);
        let slow =
            LinkSpec { channel: ChannelSpec::Bernoulli { loss: 0.02 }, ..wired("slow", 500_000) };
        let flow = |name| {
            FlowSpec::new(
                name,
                &[LinkId(0), LinkId(1)],
                &[LinkId(2)],
                Traffic::tcp(tcp::Config::rfc()),
            )
        };
        let network = Network {
            links: vec![wired("fast", 10_000_000), slow, wired("back", 10_000_000)],
            flows: vec![flow("one"), flow("two")],
        };
        let mut simulation = Simulation::new(&network, 1).unwrap();
        simulation.run_until(at(5000), &mut ());
        assert_eq!(simulation.check_conservation(), Ok(()));
        simulation
    }

    /// What the check says after `fault`, and whether a run that goes on from there panics.
    fn after(fault: impl FnOnce(&mut Simulation)) -> (ConservationError, bool) {
        let mut simulation = simulation();
        fault(&mut simulation);
        let found = simulation.check_conservation().unwrap_err();
        let goes_on =
            catch_unwind(AssertUnwindSafe(move || simulation.run_until(at(5000), &mut ())));
        (found, goes_on.is_err())
    }

    #[test]
    fn a_packet_that_vanishes_at_a_hop_is_noticed() {
        let (found, panics) =
            after(|simulation| simulation.transit.store.counters.hops[0].counters.entered += 1);
        assert!(
            matches!(found, ConservationError::Hop { flow: FlowId(0), link: LinkId(0), .. }),
            "{found}"
        );
        assert!(panics);
    }

    #[test]
    fn a_packet_that_vanishes_between_two_links_is_noticed() {
        let (found, panics) = after(|simulation| {
            let counters = &mut simulation.transit.store.counters.hops[0].counters;
            (counters.entered, counters.delivered) = (counters.entered + 1, counters.delivered + 1);
        });
        assert!(
            matches!(found, ConservationError::Handover { flow: FlowId(0), link: LinkId(0), .. }),
            "{found}"
        );
        assert!(panics);
    }

    #[test]
    fn a_packet_that_is_on_no_link_is_noticed() {
        let (found, panics) = after(|simulation| {
            let datagram = crate::packet::Datagram { bytes: 100, seq: 0 };
            simulation.transit.store.pool.insert_datagram(datagram, 0);
        });
        assert!(matches!(found, ConservationError::Stray { .. }), "{found}");
        assert!(panics);
    }

    #[test]
    fn a_loss_without_a_cause_is_noticed() {
        let (found, panics) = after(|simulation| {
            let counters = &mut simulation.transit.store.counters.hops[1].counters;
            (counters.entered, counters.queue_drops) =
                (counters.entered + 1, counters.queue_drops + 1);
            simulation.transit.store.counters.hops[0].counters.delivered += 1;
            simulation.transit.store.counters.hops[0].counters.entered += 1;
        });
        assert!(matches!(found, ConservationError::Cause { flow: FlowId(0), .. }), "{found}");
        assert!(panics);
    }

    #[test]
    fn a_queue_that_keeps_the_bytes_of_what_it_forwarded_is_noticed() {
        let (found, panics) =
            after(|simulation| simulation.transit.links[1].keep_bytes_of_nothing(500));
        assert!(matches!(found, ConservationError::Queue { link: LinkId(1), .. }), "{found}");
        assert!(panics);
    }
}
