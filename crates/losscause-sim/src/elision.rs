//! Arrivals without events: the shortcut that saves most.
//!
//! If nothing observes a packet's arrival at the far end of a link, no event is scheduled for it.
//! The packets of one-way sources (CBR, on-off) without an algorithm at the receiver are not
//! answered, so nothing observes them
//!
//! - at the end of their last link, and
//! - at the end of the link before that, if it is the only one that feeds the last link and every
//!   arrival there is unobserved; and so on, backwards.
//!
//! Such a packet stays on its link until something looks at the link: the event of another packet,
//! a packet for which the link's memory would have to grow, a recorder, or the end of
//! [`run_until`](crate::Simulation::run_until). It then moves on as if it had moved at its own
//! instant. Nothing else can have happened at the next link in between, because nothing else feeds
//! it. Only links with a DropTail queue that keep the order do this, as they know a packet's
//! arrival when it enters. The ends tell copies from packets, so they observe the packets of flows
//! that cross a link with duplication.
//!
//! [`Simulation::with_every_event`](crate::Simulation::with_every_event) runs without shortcuts.
//! Tests compare both: they differ only in the order of events at the very same instant. The
//! shortcut saves two events of four for a packet of cross traffic.

use losscause::Time;

use crate::link::Transmission;
use crate::packet_store::Hooks;
use crate::topology::{FlowId, FlowSpec, LinkId, LinkSpec, Network, QueueSpec};
use crate::trace::{Event, EventKind, Recorder};
use crate::transit::{Arrived, Transit};

/// Which arrivals need an event.
#[derive(Clone, Debug)]
pub(crate) struct Elision {
    /// For the hops of all flows: one flow after the other, path, then return path.
    pub(crate) needs_event: Vec<bool>,
    /// The links with arrivals that need none, each before those that it feeds.
    pub(crate) links: Vec<usize>,
}

/// A step on a flow's path.
struct Step {
    link: usize,
    next: Option<usize>,
    /// The link's receiver looks at every packet.
    observed: bool,
}

impl Elision {
    /// Every arrival has an event.
    pub(crate) fn none(network: &Network) -> Self {
        Self {
            needs_event: vec![
                true;
                network.flows.iter().flat_map(|flow| steps(flow, network)).count()
            ],
            links: Vec::new(),
        }
    }

    /// Unobserved arrivals have none. The network is valid.
    pub(crate) fn of_unobserved(network: &Network) -> Self {
        let steps: Vec<Step> = network.flows.iter().flat_map(|flow| steps(flow, network)).collect();
        let feeders = feeders(network);
        let mut needs_event = vec![true; steps.len()];
        // For every link, the hops there that need events.
        let mut observed = vec![0_usize; network.links.len()];
        for step in &steps {
            observed[step.link] += 1;
        }
        let mut links = Vec::new();
        loop {
            let unobserved = |step: &Step| {
                let joins_nothing =
                    |next: usize| observed[next] == 0 && feeders[next] == Feeder::Link(step.link);
                !step.observed
                    && knows_arrivals(&network.links[step.link])
                    && step.next.is_none_or(joins_nothing)
            };
            let found: Vec<usize> = (0..steps.len())
                .filter(|&place| needs_event[place] && unobserved(&steps[place]))
                .collect();
            if found.is_empty() {
                break;
            }
            for place in found {
                let link = steps[place].link;
                needs_event[place] = false;
                observed[link] -= 1;
                links.retain(|&other| other != link);
                links.push(link);
            }
        }
        // They were found from the ends of paths on.
        links.reverse();
        Self { needs_event, links }
    }
}

impl Transit {
    /// Packets that reached the far end of a link by `until` without an event move on, each at its
    /// own instant, as far as they are by `now`.
    #[inline(never)]
    pub(crate) fn forward_elided<R: Recorder>(
        &mut self,
        until: Time,
        index: usize,
        now: Time,
        recorder: &mut R,
    ) {
        while let Some(at) = self.links[index].next_elided(until) {
            let transmission = self.links[index]
                .leave_in_order(at, &mut Hooks { store: &mut self.store, recorder });
            let Some(Transmission { packet, hit, .. }) = transmission else { return };
            let arrived = self.forward_late(at, packet, hit, index, now, recorder);
            if let Some(Arrived { at, packet, flow }) = arrived {
                if recorder.detail().arrivals() {
                    let kind = EventKind::Received(self.store.info(packet));
                    recorder.record(&Event { at, flow: FlowId(flow), kind });
                }
                self.store.pool.remove(packet.handle);
            }
        }
    }

    /// The same on all links.
    pub(crate) fn forward_all_elided<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        for place in 0..self.elided_links.len() {
            self.forward_elided(now, self.elided_links[place], now, recorder);
        }
    }
}

/// Path, then return path.
fn steps<'a>(flow: &'a FlowSpec, network: &Network) -> impl Iterator<Item = Step> + use<'a> {
    let doubles = |link: &LinkId| network.links[link.index()].duplicates();
    let observed = flow.traffic.is_observed() || flow.path.iter().any(doubles);
    [&flow.path, &flow.return_path].into_iter().flat_map(move |path| {
        let next = |place: usize| path.get(place + 1).map(|link| link.index());
        path.iter().enumerate().map(move |(place, link)| Step {
            link: link.index(),
            next: next(place),
            observed,
        })
    })
}

/// What feeds a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    None,
    /// One link, and nothing else.
    Link(usize),
    /// Several, or an end.
    Others,
}

fn feeders(network: &Network) -> Vec<Feeder> {
    let mut feeders = vec![Feeder::None; network.links.len()];
    for path in network.flows.iter().flat_map(|flow| [&flow.path, &flow.return_path]) {
        let mut feeder = Feeder::Others;
        for &LinkId(link) in path {
            let known = &mut feeders[link as usize];
            *known =
                if *known == Feeder::None || *known == feeder { feeder } else { Feeder::Others };
            feeder = Feeder::Link(link as usize);
        }
    }
    feeders
}

/// Whether the link knows a packet's arrival when it enters.
fn knows_arrivals(link: &LinkSpec) -> bool {
    matches!(link.queue, QueueSpec::DropTail { .. }) && !link.reorders()
}

#[cfg(test)]
mod tests {
    use losscause::Span;
    use losscause_transport::tcp;

    use super::*;
    use crate::topology::{Limit, Traffic};

    const PLAIN: QueueSpec = QueueSpec::DropTail { limit: Limit::Packets(50) };

    fn network(links: &[QueueSpec], flows: &[(Traffic, &[u32], &[u32])]) -> Network {
        let link =
            |queue: &QueueSpec| LinkSpec::wired("", 1_000_000, Span::from_millis(10), *queue);
        let path = |links: &[u32]| links.iter().copied().map(LinkId).collect::<Vec<_>>();
        let flow = |(traffic, out, back): &(Traffic, &[u32], &[u32])| {
            FlowSpec::new("", &path(out), &path(back), traffic.clone())
        };
        Network { links: links.iter().map(link).collect(), flows: flows.iter().map(flow).collect() }
    }

    fn cbr() -> Traffic {
        Traffic::cbr(1_000_000, 500)
    }

    fn tcp() -> Traffic {
        Traffic::tcp(tcp::Config::ns2())
    }

    #[test]
    fn packets_of_a_one_way_source_need_no_event_at_their_last_link() {
        let elision = Elision::of_unobserved(&network(
            &[PLAIN; 2],
            &[(cbr(), &[0], &[]), (tcp(), &[0], &[1])],
        ));
        assert_eq!(elision.needs_event, [false, true, true]);
        assert_eq!(elision.links, [0]);
    }

    #[test]
    fn each_link_comes_before_those_it_feeds_whatever_the_numbers() {
        // Two share 3, which feeds 0 and 1; 0 feeds 2. Their first links are shared as well, and
        // feed 3 both.
        let flows: &[(Traffic, &[u32], &[u32])] = &[
            (cbr(), &[4, 3, 0, 2], &[]),
            (cbr(), &[4, 3, 1], &[]),
            (cbr(), &[5, 3, 1], &[]),
            (cbr(), &[5, 3, 1], &[]),
        ];
        let elision = Elision::of_unobserved(&network(&[PLAIN; 6], flows));
        let needs_event =
            [true, false, false, false, true, false, false, true, false, false, true, false, false];
        assert_eq!(elision.needs_event, needs_event);
        let place = |link: usize| elision.links.iter().position(|&other| other == link);
        assert_eq!(elision.links.len(), 4);
        assert!(
            place(3) < place(0) && place(0) < place(2) && place(3) < place(1),
            "{:?}",
            elision.links
        );
    }

    #[test]
    fn arrivals_need_events_before_links_with_other_feeders() {
        let others: [(Traffic, &[u32], &[u32]); 3] =
            [(cbr(), &[2, 1], &[]), (cbr(), &[1], &[]), (tcp(), &[0, 1], &[2])];
        for other in others {
            let flows: [(Traffic, &[u32], &[u32]); 3] =
                [(cbr(), &[0, 1], &[]), (cbr(), &[0, 1], &[]), other];
            let elision = Elision::of_unobserved(&network(&[PLAIN; 3], &flows));
            assert_eq!(elision.needs_event[..4], [true, false, true, false]);
        }
    }

    #[test]
    fn packets_of_a_judged_source_need_their_events() {
        let lda = Some(losscause::BuiltIn::Biaz.build(losscause::End::Receiver).unwrap());
        let judged = Traffic::Cbr { rate_bps: 1_000_000, packet_bytes: 500, lda };
        let elision = Elision::of_unobserved(&network(
            &[PLAIN; 2],
            &[(judged, &[0, 1], &[]), (cbr(), &[0], &[])],
        ));
        assert_eq!(elision.needs_event, [true, true, false]);
    }

    #[test]
    fn behind_a_managed_queue_every_arrival_needs_an_event() {
        let managed = QueueSpec::StepMark { limit: Limit::Packets(50), mark_from_pkts: 5 };
        let elision = Elision::of_unobserved(&network(&[managed, PLAIN], &[(cbr(), &[0, 1], &[])]));
        assert_eq!((elision.needs_event, elision.links), (vec![true, false], vec![1]));
    }
}
