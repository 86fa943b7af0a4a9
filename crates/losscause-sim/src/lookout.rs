//! Who looks when a packet reaches the far end of a link.
//!
//! A packet that nobody waits for may be handed on late, as long as that is known before anybody meets it: each then does what it
//! would have done at its own instant. Late means without an event.
//!
//! - A sender that acts by its own timer alone, unless something reaches it, looks after its first link if no other flow uses that
//!   ([`Role::First`]): its timer runs out when a packet reaches the far end of that link. Only then, or before the sender hears of
//!   anything, do the packets that were due enter it.
//! - Of what a source without feedback sends nobody hears. Its packets are not *awaited* at the end of their last link; nor at the end
//!   of the link before that if nothing else feeds the last one, and so on. A link with such packets has events for
//!   the others. The next event, the next packet that comes, and the end of the simulation find what has left by then.
//!
//! Only links with a plain queue do this, since they know when a packet arrives as soon as it comes.

use crate::link::Role;
use crate::topology::{FlowSpec, LinkId, Network, QueueSpec, VariationSpec};

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
        let plain = |link: usize| matches!(network.links[link].queue, QueueSpec::DropTail { .. });
        loop {
            let may_be_late = |step: &Step| {
                let next_is_late_too = |next: usize| awaited_at[next] == 0 && feeders[next] == Feeder::Link(step.link);
                !step.heard_of && plain(step.link) && step.next.is_none_or(next_is_late_too)
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

/// The first link of a flow, if its sender can look after it.
fn own_link(network: &Network, flow: &FlowSpec, users: &[usize]) -> Option<usize> {
    let first = flow.path.first()?.index();
    let spec = &network.links[first];
    let fits = matches!(spec.queue, QueueSpec::DropTail { .. }) && matches!(spec.variation, VariationSpec::Constant);
    (flow.traffic.is_paced() && flow.path.len() > 1 && fits && users[first] == 1).then_some(first)
}
