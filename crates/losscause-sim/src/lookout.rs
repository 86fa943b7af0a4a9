//! Who looks when a packet reaches the far end of a link.
//!
//! A packet that nobody waits for may be handed on late, as long as that is known before anybody meets it: each then does what it
//! would have done at its own instant. Late means without an event.
//!
//! - A sender that acts by its own timer alone, unless something reaches it, looks after its first link if no other flow uses that
//!   ([`Role::First`]): its timer runs out when a packet reaches the far end of that link, or would if it were not lost. Only then, or
//!   before the sender hears of anything, do the packets that were due enter it.
//! - Of what a source without feedback sends nobody hears. Its packets are not *awaited* at the end of their last link; nor at the end
//!   of the link before that if nothing else feeds the last one, and so on. A link with such packets has events for the others. What
//!   has left is found by the next of those, by a packet for which there is no more room in memory, and at the end of a run.
//!
//! Only links with a plain queue do this, since they know when a packet arrives as soon as it comes.

use crate::link::Role;
use crate::topology::{FlowSpec, LinkId, LinkSpec, Network, QueueSpec, VariationSpec};

/// For a whole network.
#[derive(Clone, Debug)]
pub(crate) struct Lookout {
    /// Of each link.
    pub(crate) roles: Vec<Role>,
    /// Whether a packet is awaited at the far end, for the hops of all flows: one flow after the other, path, then return path.
    pub(crate) awaited: Vec<bool>,
    /// The lazy links, each before those that it feeds late.
    pub(crate) lazy: Vec<usize>,
}

/// A step on a flow's way.
struct Step {
    link: usize,
    next: Option<usize>,
    /// Somebody hears of the packet.
    heard_of: bool,
}

impl Lookout {
    /// The network is valid.
    pub(crate) fn new(network: &Network) -> Self {
        let steps: Vec<Step> = network.flows.iter().flat_map(steps).collect();
        let feeders = feeders(network);
        let mut awaited = vec![true; steps.len()];
        let users = users(network);
        let mut awaited_at = users.clone();
        let mut roles = vec![Role::Timely; network.links.len()];
        let mut lazy = Vec::new();
        loop {
            let may_be_late = |step: &Step| {
                let next_is_late_too = |next: usize| awaited_at[next] == 0 && feeders[next] == Feeder::Link(step.link);
                !step.heard_of && is_plain(&network.links[step.link]) && step.next.is_none_or(next_is_late_too)
            };
            let found: Vec<usize> = (0..steps.len()).filter(|&at| awaited[at] && may_be_late(&steps[at])).collect();
            if found.is_empty() {
                break;
            }
            for at in found {
                let link = steps[at].link;
                awaited[at] = false;
                awaited_at[link] -= 1;
                lazy.retain(|&other| other != link);
                lazy.push(link);
            }
        }
        // Those were found from the ends of paths on.
        lazy.reverse();
        let mut at = 0;
        for flow in &network.flows {
            if let Some(own) = own_link(network, flow, &users) {
                roles[own] = Role::First;
                awaited[at] = false;
                lazy.retain(|&link| link != own);
            }
            at += flow.path.len() + flow.return_path.len();
        }
        Self { roles, awaited, lazy }
    }
}

/// Path, then return path.
fn steps(flow: &FlowSpec) -> impl Iterator<Item = Step> {
    let heard_of = !flow.traffic.is_without_feedback();
    [&flow.path, &flow.return_path].into_iter().flat_map(move |path| {
        let next = |place: usize| path.get(place + 1).map(|link| link.index());
        path.iter().enumerate().map(move |(place, link)| Step { link: link.index(), next: next(place), heard_of })
    })
}

/// How many flows use each link.
fn users(network: &Network) -> Vec<usize> {
    let mut users = vec![0; network.links.len()];
    for link in network.flows.iter().flat_map(|flow| flow.path.iter().chain(&flow.return_path)) {
        users[link.index()] += 1;
    }
    users
}

/// What feeds a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nobody,
    /// One link, and nothing else.
    Link(usize),
    Others,
}

fn feeders(network: &Network) -> Vec<Feeder> {
    let mut feeders = vec![Feeder::Nobody; network.links.len()];
    for path in network.flows.iter().flat_map(|flow| [&flow.path, &flow.return_path]) {
        let mut feeder = Feeder::Others;
        for &LinkId(link) in path {
            let known = &mut feeders[link as usize];
            *known = if *known == Feeder::Nobody || *known == feeder { feeder } else { Feeder::Others };
            feeder = Feeder::Link(link as usize);
        }
    }
    feeders
}

fn is_plain(link: &LinkSpec) -> bool {
    matches!(link.queue, QueueSpec::DropTail { .. })
}

/// The first link of a flow, if its sender can look after it.
fn own_link(network: &Network, flow: &FlowSpec, users: &[usize]) -> Option<usize> {
    let first = flow.path.first()?.index();
    let spec = &network.links[first];
    let fits = is_plain(spec) && matches!(spec.variation, VariationSpec::Constant);
    (flow.traffic.is_paced() && flow.path.len() > 1 && fits && users[first] == 1).then_some(first)
}

#[cfg(test)]
mod tests {
    use losscause::{AnyLda, Span, Verdict, lda};
    use losscause_transport::{tcp, tfrc};

    use super::*;
    use crate::topology::{Limit, Traffic};

    const PLAIN: QueueSpec = QueueSpec::DropTail { limit: Limit::Packets(50) };

    fn network(links: &[QueueSpec], flows: &[(Traffic, &[u32], &[u32])]) -> Network {
        let link = |queue: &QueueSpec| LinkSpec::wired("", 1_000_000, Span::from_millis(10), *queue);
        let path = |links: &[u32]| links.iter().copied().map(LinkId).collect::<Vec<_>>();
        let flow = |(traffic, out, back): &(Traffic, &[u32], &[u32])| {
            FlowSpec::new("", &path(out), &path(back), traffic.clone())
        };
        Network { links: links.iter().map(link).collect(), flows: flows.iter().map(flow).collect() }
    }

    fn cbr() -> Traffic {
        Traffic::Cbr { rate_bps: 1_000_000, packet_bytes: 500 }
    }

    fn tcp() -> Traffic {
        Traffic::tcp(tcp::Config::ns2())
    }

    fn tfrc() -> Traffic {
        let lda = AnyLda::Constant(lda::Constant::new(Verdict::Congestion));
        Traffic::Tfrc { config: tfrc::Config::ns2(), lda }
    }

    #[test]
    fn beside_packets_that_are_answered_those_of_a_source_without_feedback_are_not_awaited_at_their_last_link() {
        let lookout = Lookout::new(&network(&[PLAIN; 2], &[(cbr(), &[0], &[]), (tcp(), &[0], &[1])]));
        assert_eq!(lookout.awaited, [false, true, true]);
        assert_eq!(lookout.lazy, [0]);
        assert_eq!(lookout.roles, [Role::Timely; 2]);
    }

    #[test]
    fn of_late_links_each_comes_before_those_that_it_feeds_whatever_their_numbers() {
        // Two share 3, which feeds 0 and 1; 0 feeds 2. Their first links are shared as well, and feed 3 both.
        let flows: &[(Traffic, &[u32], &[u32])] = &[
            (cbr(), &[4, 3, 0, 2], &[]),
            (cbr(), &[4, 3, 1], &[]),
            (cbr(), &[5, 3, 1], &[]),
            (cbr(), &[5, 3, 1], &[]),
        ];
        let lookout = Lookout::new(&network(&[PLAIN; 6], flows));
        let awaited = [true, false, false, false, true, false, false, true, false, false, true, false, false];
        assert_eq!(lookout.awaited, awaited);
        let place = |link: usize| lookout.lazy.iter().position(|&other| other == link);
        assert_eq!(lookout.lazy.len(), 4);
        assert!(place(3) < place(0) && place(0) < place(2) && place(3) < place(1), "{:?}", lookout.lazy);
    }

    #[test]
    fn packets_are_awaited_where_the_next_link_has_another_feeder_or_answered_packets() {
        let others: [(Traffic, &[u32], &[u32]); 3] =
            [(cbr(), &[2, 1], &[]), (cbr(), &[1], &[]), (tcp(), &[0, 1], &[2])];
        for other in others {
            let flows: [(Traffic, &[u32], &[u32]); 3] = [(cbr(), &[0, 1], &[]), (cbr(), &[0, 1], &[]), other];
            let lookout = Lookout::new(&network(&[PLAIN; 3], &flows));
            assert_eq!(lookout.awaited[..4], [true, false, true, false]);
        }
    }

    #[test]
    fn a_paced_sender_looks_after_its_first_link_if_that_is_its_own_and_another_one_follows() {
        let first = |flows: &[(Traffic, &[u32], &[u32])]| Lookout::new(&network(&[PLAIN; 4], flows)).roles[0];
        assert_eq!(first(&[(cbr(), &[0, 1], &[])]), Role::First);
        assert_eq!(first(&[(tfrc(), &[0, 1], &[2])]), Role::First);
        assert_eq!(first(&[(tcp(), &[0, 1], &[2])]), Role::Timely);
        assert_eq!(first(&[(tfrc(), &[0], &[2])]), Role::Timely);
        assert_eq!(first(&[(tfrc(), &[0, 1], &[0])]), Role::Timely);
        assert_eq!(first(&[(cbr(), &[0, 1], &[]), (tcp(), &[3], &[0])]), Role::Timely);
    }

    #[test]
    fn a_first_link_that_its_sender_looks_after_is_none_of_the_late_ones() {
        let lookout = Lookout::new(&network(&[PLAIN; 3], &[(cbr(), &[2, 0, 1], &[])]));
        assert_eq!(lookout.roles, [Role::Timely, Role::Timely, Role::First]);
        assert_eq!(lookout.lazy, [0, 1]);
        assert_eq!(lookout.awaited, [false; 3]);
    }

    #[test]
    fn behind_a_managed_queue_every_packet_is_awaited() {
        let managed = QueueSpec::StepMark { limit: Limit::Packets(50), mark_from_pkts: 5 };
        let lookout = Lookout::new(&network(&[managed, PLAIN], &[(cbr(), &[0, 1], &[])]));
        assert_eq!((lookout.awaited, lookout.lazy), (vec![true, false], vec![1]));
        assert_eq!(lookout.roles, [Role::Timely; 2]);
    }
}
