//! Queues that have nothing to mark.
//!
//! A StepMark queue admits, sends and drops as a DropTail queue does. It also marks packets, but
//! only those whose transport supports ECN. If no such packet crosses its link, the link gets a
//! DropTail queue, which gives the same run in less time: Koo's table 2 takes a quarter fewer
//! instructions.
//!
//! [`Simulation::with_every_event`](crate::Simulation::with_every_event) keeps the queues as they
//! are given. A property test compares both (`tests/elision.rs`).

use std::borrow::Cow;

use crate::topology::{LinkSpec, Network, QueueSpec};

/// The network, with a DropTail queue in place of every StepMark queue that has nothing to mark.
pub(crate) fn plain_where_nothing_is_marked(network: &Network) -> Cow<'_, Network> {
    let is_step_mark = |link: &LinkSpec| matches!(link.queue, QueueSpec::StepMark { .. });
    if !network.links.iter().any(is_step_mark) {
        return Cow::Borrowed(network);
    }
    let mut has_markable = vec![false; network.links.len()];
    // Packets on return paths are acknowledgements and feedback, which are never marked.
    for flow in network.flows.iter().filter(|flow| flow.traffic.supports_ecn()) {
        for link in &flow.path {
            has_markable[link.index()] = true;
        }
    }
    let mut network = network.clone();
    for (link, has_markable) in network.links.iter_mut().zip(has_markable) {
        if is_step_mark(link) && !has_markable {
            link.queue = QueueSpec::DropTail { limit: link.queue.limit() };
        }
    }
    Cow::Owned(network)
}

#[cfg(test)]
mod tests {
    use losscause::Span;
    use losscause_transport::tcp;

    use super::*;
    use crate::topology::{FlowSpec, Limit, LinkId, Traffic};

    const LIMIT: Limit = Limit::Packets(50);
    const MARKING: QueueSpec = QueueSpec::StepMark { limit: LIMIT, mark_from_pkts: 5 };
    const PLAIN: QueueSpec = QueueSpec::DropTail { limit: LIMIT };

    /// What becomes of four links with marking queues: two flows share 1 there and 3 back; 0 and 2
    /// are their own.
    fn queues(first_supports_ecn: bool) -> Vec<QueueSpec> {
        let link = |name: &str| LinkSpec::wired(name, 1_000_000, Span::from_millis(10), MARKING);
        let flow = |name, path: [u32; 2], ecn| {
            let traffic = Traffic::tcp(tcp::Config { ecn, ..tcp::Config::rfc() });
            FlowSpec::new(name, &path.map(LinkId), &[LinkId(3)], traffic)
        };
        let network = Network {
            links: ["0", "1", "2", "3"].map(link).to_vec(),
            flows: vec![flow("first", [0, 1], first_supports_ecn), flow("second", [2, 1], false)],
        };
        plain_where_nothing_is_marked(&network).links.iter().map(|link| link.queue).collect()
    }

    #[test]
    fn without_ecn_every_queue_is_plain() {
        assert_eq!(queues(false), [PLAIN; 4]);
    }

    #[test]
    fn only_links_whose_packets_may_be_marked_keep_their_queues() {
        assert_eq!(queues(true), [MARKING, MARKING, PLAIN, PLAIN]);
    }
}
