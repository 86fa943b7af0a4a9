//! Flows that hardly count beside a transfer: iperf3's control connection, the requests of a
//! download.

use std::collections::BTreeMap;

use crate::{Flow, Protocol};

/// Less than this share of its hosts' largest flow is hardly anything.
const HARDLY_ANY: f64 = 0.01;

/// Marks the flows of TCP that carried hardly anything beside another flow of the same two hosts,
/// and to which nothing of note happened.
pub(crate) fn mark(flows: &mut [Flow]) {
    let mut largest: BTreeMap<[String; 2], u64> = BTreeMap::new();
    for flow in flows.iter() {
        let most = largest.entry(flow.hosts()).or_default();
        *most = flow.carried().max(*most);
    }
    for flow in flows.iter_mut() {
        let most = largest.get(&flow.hosts()).copied().unwrap_or_default();
        let is_small = (flow.carried() as f64) < HARDLY_ANY * most as f64;
        flow.minor =
            flow.protocol == Protocol::Tcp && is_small && flow.lost() == 0 && flow.is_ordinary();
    }
}

impl Flow {
    /// The flow's two hosts, whichever sends.
    fn hosts(&self) -> [String; 2] {
        let host = |end: &str| end.rsplit_once(':').map_or(end, |(host, _)| host).to_owned();
        let mut hosts = [host(&self.src), host(&self.dst)];
        hosts.sort();
        hosts
    }

    /// Bytes of data that passed, captured or not.
    fn carried(&self) -> u64 {
        self.bytes.max(self.acked_uncaptured)
    }

    /// Whether the capture shows it whole and nothing held it up.
    fn is_ordinary(&self) -> bool {
        self.packets > 0
            && !self.is_incomplete()
            && self.opening.is_none()
            && self.outages.is_empty()
    }
}
