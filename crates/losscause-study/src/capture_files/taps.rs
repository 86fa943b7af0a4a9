//! Where packets are captured.

use losscause::Time;
use losscause_capture::write::Packet;
use losscause_sim::{FlowSpec, LinkId};

/// Where a packet is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tap {
    Sender,
    Bottleneck,
    Receiver,
}

/// A packet, when and where it is captured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) at: Time,
    pub(super) tap: Tap,
    pub(super) packet: Packet,
}

/// The router in front of the bottleneck, on a flow's paths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// The bottleneck among the links of the path: the tap sees packets that leave its queue.
    pub(super) forward: Option<usize>,
    /// The link of the return path that ends at this router. None if the return path has another
    /// number of links, so that the router is not known to be on it.
    pub(super) back: Option<usize>,
}

impl Place {
    pub(super) fn of(flow: &FlowSpec, bottleneck: &[LinkId]) -> Self {
        let forward = flow.path.iter().position(|link| bottleneck.contains(link));
        let is_same_way = flow.return_path.len() == flow.path.len();
        Self {
            forward,
            back: forward.filter(|_| is_same_way).map(|place| flow.path.len() - 1 - place),
        }
    }
}
