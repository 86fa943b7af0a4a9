//! The path that the link emulates: a flow's path and return path in a network.

use losscause_sim::live::LivePath;
use losscause_sim::{FlowId, FlowSpec, LinkId, LinkSpec, Network};

use super::error::Error;

/// A path in both directions, ready to be emulated.
#[derive(Clone, Debug)]
pub struct Path {
    /// The path's links alone, and one flow.
    network: Network,
    seed: u64,
}

impl Path {
    /// The path of a flow of `network`. If the flow has no return path, packets take mirrored links
    /// back: the same rates, delays and queues without errors, as in scenarios of flows with
    /// feedback.
    ///
    /// # Errors
    /// The network is not valid.
    ///
    /// # Panics
    /// If the network has no such flow.
    pub fn new(network: &Network, flow: FlowId, seed: u64) -> Result<Self, Error> {
        network.validate()?;
        let flow = &network.flows[flow.0 as usize];
        let link = |id: &LinkId| &network.links[id.0 as usize];
        let mut links: Vec<LinkSpec> = Vec::new();
        let mut place = |link: LinkSpec| {
            let known = links.iter().position(|known| known.name == link.name);
            let place = known.unwrap_or(links.len());
            if known.is_none() {
                links.push(link);
            }
            LinkId(place as u32)
        };
        let path: Vec<LinkId> = flow.path.iter().map(|id| place(link(id).clone())).collect();
        let return_path: Vec<LinkId> = if flow.return_path.is_empty() {
            let mirrored = |link: &LinkSpec| link.mirrored(format!("{}.back", link.name));
            flow.path.iter().rev().map(|id| place(mirrored(link(id)))).collect()
        } else {
            flow.return_path.iter().map(|id| place(link(id).clone())).collect()
        };
        let flows = vec![FlowSpec { path, return_path, turnover: None, ..flow.clone() }];
        let network = Network { links, flows };
        network.validate()?;
        Ok(Self { network, seed })
    }

    /// The names of the links, in the order of the numbers that [`Sight::Lost`](super::Sight::Lost)
    /// tells.
    pub fn link_names(&self) -> Vec<String> {
        self.network.links.iter().map(|link| link.name.clone()).collect()
    }

    /// The links in motion.
    pub(super) fn live<T: Clone>(&self) -> Result<LivePath<T>, Error> {
        Ok(LivePath::new(&self.network, FlowId(0), self.seed)?)
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;
    use losscause_sim::{ChannelSpec, Limit, QueueSpec, Traffic};

    use super::*;

    fn link(name: &str) -> LinkSpec {
        let queue = QueueSpec::DropTail { limit: Limit::Packets(7) };
        let wired = LinkSpec::wired(name, 5_000_000, Span::from_millis(20), queue);
        LinkSpec { channel: ChannelSpec::Bernoulli { loss: 0.1 }, ..wired }
    }

    fn network(return_path: &[LinkId]) -> Network {
        let flow =
            FlowSpec::new("f", &[LinkId(2), LinkId(0)], return_path, Traffic::cbr(1_000, 100));
        Network { links: ["a", "unused", "b"].map(link).into(), flows: vec![flow] }
    }

    #[test]
    fn without_a_return_path_packets_return_over_error_free_links() {
        let path = Path::new(&network(&[]), FlowId(0), 1).unwrap();
        assert_eq!(path.link_names(), ["b", "a", "a.back", "b.back"]);
        assert_eq!(path.network.flows[0].return_path, [LinkId(2), LinkId(3)]);
        let back = &path.network.links[3];
        assert_eq!((back.rate_bps, back.delay), (5_000_000, Span::from_millis(20)));
        assert!(matches!(back.channel, ChannelSpec::Perfect));
    }

    #[test]
    fn a_return_path_may_share_links_with_the_path() {
        let path = Path::new(&network(&[LinkId(0), LinkId(1)]), FlowId(0), 1).unwrap();
        assert_eq!(path.network.flows[0].return_path, [LinkId(1), LinkId(2)]);
        assert_eq!(path.link_names(), ["b", "a", "unused"]);
    }
}
