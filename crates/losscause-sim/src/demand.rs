//! The most that a run of a network can need: memory and events.
//!
//! Both are upper bounds that follow from the network alone, so that a run which would fill the
//! machine, or never end, can be refused before it begins.
//!
//! | quantity | bound |
//! |---|---|
//! | packets that a source without feedback sends | its rate, in bursts too, for as long as it may send |
//! | packets that reach the receivers of the flows with the same slowest link | what that link transmits in the run, and the size of the transfers |
//! | packets that flows with feedback send | [`SENT_PER_DELIVERED`] for each that is delivered, the first windows, one per retransmission timeout |
//! | packets of TCP in the network | the window, all of it again, one per timeout |
//! | packets at a link | its queue's limit and what its delay holds, or all that can come to it, whichever is less |
//! | acknowledgements on their way over a link | [`BUNCHED`] for each packet that passes the slowest link in the link's delay |
//! | bytes per packet | a list holds up to twice its entries, and for a moment [`GROWTH`] times while it grows |
//! | events | one per packet and hop, [`AT_ENDS`] at the ends; those that a link makes by itself |
//!
//! A link that doubles packets multiplies what the flow sends. A TCP that is not one of this
//! project's may send more than the table says. Acknowledgements that waited at many links in front
//! of another may come there in a larger bunch than the table says.
//!
//! ```
//! use losscause::{Span, Time};
//! use losscause_sim::{
//!     Demand, FlowDemand, FlowSpec, Limit, LinkDemand, LinkId, LinkSpec, Network, QueueSpec, Traffic,
//! };
//!
//! let queue = QueueSpec::DropTail { limit: Limit::Packets(u32::MAX) };
//! let line = LinkSpec::wired("line", 1_000_000, Span::from_millis(10), queue);
//! let flood = FlowSpec::new("flood", &[LinkId(0)], &[], Traffic::cbr(2_000_000, 1_000));
//! let network = Network { links: vec![line], flows: vec![flood] };
//! let Demand { links, flows, .. } = network.demand(Time::ZERO + Span::from_secs(20));
//!
//! // 2 Mb/s for 20 s are 5,000 packets of 1,000 bytes, and one. Each crosses a link, and has two ends.
//! let [LinkDemand { packets, .. }] = links[..] else { panic!("one link") };
//! assert_eq!(packets, 5_001.0);
//! let [FlowDemand { events, .. }] = flows[..] else { panic!("one flow") };
//! assert_eq!(events, 5_001.0 * 5.0);
//! ```

use std::collections::BTreeSet;

use losscause::{Span, Time};

use crate::ledger::Ledger;
use crate::link::{Link, Transmission};
use crate::packet::Payload;
use crate::queue;
use crate::simulation::FLOW_BYTES;
use crate::stamps::STAMP_BYTES;
use crate::topology::{
    AtEnd, ChannelSpec, FlowSpec, Lateness, Limit, LinkSpec, Network, QueueSpec, RateSpec, Slots,
    Traffic, VariationSpec,
};

/// A jitter or a Poisson count beyond so many deviations is too rare to count.
const DRAWN_DEVIATIONS: i64 = 10;

/// The most that a run can need, part by part.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// In the order of [`Network::links`].
    pub links: Vec<LinkDemand>,
    /// In the order of [`Network::flows`].
    pub flows: Vec<FlowDemand>,
    /// Memory of the content of all packets in the network, bytes.
    pub content_bytes: f64,
}

/// The most that a link can need.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkDemand {
    /// Memory of the link without packets, bytes: its sub-queues, above all.
    pub own_bytes: f64,
    /// Packets that can be at the link at once.
    pub packets: f64,
    /// Memory of the link's lists of them, bytes.
    pub list_bytes: f64,
    /// Events that the link makes by itself: changes of its rate or delay, slots, updates of PIE.
    pub own_events: f64,
    /// Events of the packets of flows with feedback whose slowest link this is.
    pub carried_events: f64,
}

/// The most that a flow can need.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowDemand {
    /// Memory of both ends, bytes, without packets.
    pub own_bytes: f64,
    /// Events of its packets, if nothing slows it down, and of its timeouts.
    pub events: f64,
}

/// A sender in slow start answers a packet's acknowledgement with two, and may send both again.
pub const SENT_PER_DELIVERED: f64 = 4.0;
/// A list doubles when it is full, and then both the old and the new one exist.
pub const GROWTH: f64 = 3.0;
/// Acknowledgements may come faster than the packets that they answer, after they have waited.
pub const BUNCHED: f64 = 4.0;
/// Events per packet at the sender and the receiver.
pub const AT_ENDS: f64 = 4.0;

/// What a sender and a receiver of TCP remember of a packet, bytes.
const TCP_STATE_BYTES: f64 = 256.0;
/// Names, counters and measurements of a link or a flow, bytes.
const LINK_BYTES: f64 = 1_024.0;
const END_BYTES: f64 = 16_384.0;
/// Timeouts until the retransmission timeout has reached its maximum.
const BACKOFFS: f64 = 64.0;
/// Packets that TFRC sends before it hears of the first.
const FIRST_PKTS: f64 = 64.0;

impl Network {
    /// The most that a run until `end` can need. The network must be valid.
    pub fn demand(&self, end: Time) -> Demand {
        let run = end - Time::ZERO;
        let mut groups: Vec<Group> = vec![Group::default(); self.links.len()];
        let mut visits: Vec<Visits> = vec![Visits::default(); self.links.len()];
        let mut flows = Vec::with_capacity(self.flows.len());
        for flow in &self.flows {
            let sent = one_way_pkts(flow, end).map(|packets| packets * self.copies(flow));
            let slowest = self.slowest_link(flow, run);
            if sent.is_none() {
                groups[slowest].add(flow, &self.links, run);
                groups[slowest].copies = groups[slowest].copies.max(self.copies(flow));
            }
            let there = flow.path.iter().map(|link| (link, data_bytes(&flow.traffic)));
            let back = flow.return_path.iter().map(|link| (link, answer_bytes(&flow.traffic)));
            for (place, (link, bytes)) in there.chain(back).enumerate() {
                let visits = &mut visits[link.index()];
                visits.smallest_bytes = visits.smallest_bytes.min(bytes);
                visits.has_data |= place < flow.path.len();
                match sent {
                    Some(packets) => visits.one_way_pkts += packets,
                    None => {
                        visits.groups.insert(slowest);
                    }
                }
            }
            let own_bytes = (FLOW_BYTES + size_of::<Ledger>()) as f64 + END_BYTES;
            let hops = flow.path.len() as f64;
            flows.push(FlowDemand { own_bytes, events: sent.unwrap_or(0.0) * (hops + AT_ENDS) });
        }
        for (group, link) in groups.iter_mut().zip(&self.links) {
            group.sent_pkts += group.timeouts + SENT_PER_DELIVERED * group.delivered(link, run);
            group.sent_pkts *= group.copies;
        }
        let links: Vec<LinkDemand> = self
            .links
            .iter()
            .zip(&visits)
            .zip(&groups)
            .map(|((link, visits), group)| visits.demand(link, group, &self.links, &groups, run))
            .collect();
        let content_bytes = self.content_bytes(end, &links, &visits, &groups);
        Demand { links, flows, content_bytes }
    }

    fn content_bytes(
        &self,
        end: Time,
        links: &[LinkDemand],
        visits: &[Visits],
        groups: &[Group],
    ) -> f64 {
        let at_links: f64 = links.iter().map(|link| link.packets).sum();
        let data = links.iter().zip(visits).filter(|(_, visits)| visits.has_data);
        let at_data_links: f64 = data.map(|(link, _)| link.packets).sum();
        let responsive: f64 = groups.iter().map(Group::in_network).sum();
        // Packets with a timestamp, for an algorithm at the receiver, and plain ones.
        let mut stamped = 0.0;
        let mut plain = 0.0;
        for flow in &self.flows {
            let sent = one_way_pkts(flow, end).unwrap_or(0.0) * self.copies(flow);
            match &flow.traffic {
                Traffic::Cbr { lda: Some(_), .. }
                | Traffic::OnOff { lda: Some(_), .. }
                | Traffic::Poisson { lda: Some(_), .. } => {
                    stamped += sent;
                }
                _ => plain += sent,
            }
        }
        let payload = GROWTH * (size_of::<Payload>() as f64 + STAMP_BYTES);
        let number = GROWTH * (size_of::<u64>() as f64 + STAMP_BYTES);
        payload * at_links.min(responsive + stamped)
            + number * at_links.min(plain)
            + TCP_STATE_BYTES * at_data_links.min(responsive)
    }

    /// Packets that links make of one of the flow's, there and back.
    fn copies(&self, flow: &FlowSpec) -> f64 {
        let both_ways = flow.path.iter().chain(&flow.return_path);
        let doubles = both_ways.filter_map(|link| self.links[link.index()].duplication);
        doubles.map(|doubles| 1.0 + doubles.share).product()
    }

    /// The place of the link on the flow's path that can transmit least.
    fn slowest_link(&self, flow: &FlowSpec, run: Span) -> usize {
        let bits = |place: usize| capacity_bits(&self.links[place], run);
        let places = flow.path.iter().map(|link| link.index());
        places.min_by(|&a, &b| bits(a).total_cmp(&bits(b))).unwrap_or(0)
    }
}

/// Flows with feedback that have the same slowest link.
#[derive(Clone, Debug)]
struct Group {
    smallest_bytes: f64,
    /// Size of the transfers, packets.
    transfers_pkts: f64,
    windows_pkts: f64,
    timeouts: f64,
    sent_pkts: f64,
    hops: f64,
    /// Packets that links make of one.
    copies: f64,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            smallest_bytes: f64::INFINITY,
            transfers_pkts: 0.0,
            windows_pkts: 0.0,
            timeouts: 0.0,
            sent_pkts: 0.0,
            hops: 0.0,
            copies: 1.0,
        }
    }
}

impl Group {
    fn add(&mut self, flow: &FlowSpec, links: &[LinkSpec], run: Span) {
        self.smallest_bytes = self.smallest_bytes.min(data_bytes(&flow.traffic));
        self.hops = self.hops.max((flow.path.len() + flow.return_path.len()) as f64);
        match &flow.traffic {
            Traffic::Tcp { config, .. } => {
                let delays = flow.path.iter().chain(&flow.return_path);
                let delays = delays.map(|link| links[link.index()].delay.as_secs_f64());
                let slowest = flow.path.iter().map(|link| capacity_bits(&links[link.index()], run));
                let transmission = run.as_secs_f64() * data_bytes(&flow.traffic) * 8.0
                    / slowest.fold(f64::INFINITY, f64::min).max(1.0);
                // Samples of the round-trip time are no shorter (RFC 6298, section 2).
                let shortest = delays.sum::<f64>() + transmission;
                let rto = config.min_rto.as_secs_f64().max(shortest);
                let rto = rto.min(config.max_rto.as_secs_f64()).max(1e-9);
                self.timeouts += BACKOFFS + run.as_secs_f64() / rto;
                self.sent_pkts += f64::from(config.initial_window_pkts);
                self.windows_pkts += f64::from(config.max_window_pkts);
                self.transfers_pkts +=
                    config.limit_pkts.map_or(f64::INFINITY, |packets| packets as f64);
            }
            // RFC 5348, section 4.3: at most twice the rate that arrives, and one packet in 64 s.
            _ => {
                self.sent_pkts += FIRST_PKTS + run.as_secs_f64();
                self.windows_pkts = f64::INFINITY;
                self.transfers_pkts = f64::INFINITY;
            }
        }
    }

    fn delivered(&self, link: &LinkSpec, run: Span) -> f64 {
        if self.hops == 0.0 {
            return 0.0;
        }
        (capacity_bits(link, run) / (8.0 * self.smallest_bytes) + 1.0).min(self.transfers_pkts)
    }

    fn in_network(&self) -> f64 {
        self.sent_pkts.min(self.copies * (2.0 * self.windows_pkts + self.timeouts))
    }
}

/// What comes to a link.
#[derive(Clone, Debug)]
struct Visits {
    smallest_bytes: f64,
    /// Whether it carries data, and not acknowledgements alone.
    has_data: bool,
    one_way_pkts: f64,
    groups: BTreeSet<usize>,
}

impl Default for Visits {
    fn default() -> Self {
        Self {
            smallest_bytes: f64::INFINITY,
            has_data: false,
            one_way_pkts: 0.0,
            groups: BTreeSet::new(),
        }
    }
}

impl Visits {
    fn demand(
        &self,
        link: &LinkSpec,
        group: &Group,
        links: &[LinkSpec],
        groups: &[Group],
        run: Span,
    ) -> LinkDemand {
        let responsive = |of: fn(&Group) -> f64| -> f64 {
            self.groups.iter().map(|&place| of(&groups[place])).sum()
        };
        let all = self.one_way_pkts + responsive(|group| group.sent_pkts);
        let waiting = match link.queue.limit() {
            Limit::Packets(packets) => f64::from(packets),
            Limit::Bytes(bytes) => bytes as f64 / self.smallest_bytes,
        };
        let delay = longest_delay(link);
        let fits = capacity_bits(link, delay) / (8.0 * self.smallest_bytes);
        let answers = || -> f64 {
            let answered = self
                .groups
                .iter()
                .map(|&slowest| groups[slowest].delivered(&links[slowest], delay));
            BUNCHED * answered.sum::<f64>()
        };
        // One is in transmission, one in propagation at least.
        let under_way = 2.0 + if self.has_data { fits } else { fits.min(answers()) };
        let present = self.one_way_pkts + responsive(Group::in_network);
        let packets = present.min(waiting + under_way);
        LinkDemand {
            own_bytes: size_of::<Link>() as f64 + queue::own_bytes(&link.queue) + LINK_BYTES,
            packets,
            list_bytes: packets * 2.0 * (size_of::<Transmission>() as f64 + queue::WAITING_BYTES),
            own_events: own_events(link, all, run),
            carried_events: group.sent_pkts * (group.hops + AT_ENDS),
        }
    }
}

/// Packets that a source without feedback can send; none for other flows.
fn one_way_pkts(flow: &FlowSpec, end: Time) -> Option<f64> {
    let (Traffic::Cbr { rate_bps, packet_bytes, .. }
    | Traffic::OnOff { rate_bps, packet_bytes, .. }
    | Traffic::Poisson { rate_bps, packet_bytes, .. }) = flow.traffic
    else {
        return None;
    };
    let lasts = (flow.stop.unwrap_or(end).min(end) - flow.start).max(Span::ZERO).as_secs_f64();
    let mean = rate_bps as f64 * lasts / (8.0 * f64::from(packet_bytes)) + 1.0;
    let deviation = if matches!(flow.traffic, Traffic::Poisson { .. }) { mean.sqrt() } else { 0.0 };
    Some(mean + DRAWN_DEVIATIONS as f64 * deviation)
}

/// The size of a data packet, bytes.
fn data_bytes(traffic: &Traffic) -> f64 {
    f64::from(match traffic {
        Traffic::Tcp { config, .. } => config.payload_bytes + config.header_bytes,
        Traffic::Tfrc { config, .. } => config.payload_bytes + config.header_bytes,
        Traffic::Cbr { packet_bytes, .. }
        | Traffic::OnOff { packet_bytes, .. }
        | Traffic::Poisson { packet_bytes, .. } => *packet_bytes,
    })
}

/// The size of a packet that answers, bytes; of no matter without feedback.
fn answer_bytes(traffic: &Traffic) -> f64 {
    match traffic {
        Traffic::Tcp { config, .. } => f64::from(config.ack_bytes),
        Traffic::Tfrc { config, .. } => f64::from(config.feedback_bytes),
        Traffic::Cbr { .. } | Traffic::OnOff { .. } | Traffic::Poisson { .. } => {
            data_bytes(traffic)
        }
    }
}

/// Bits that the link can transmit in any stretch of this length.
fn capacity_bits(link: &LinkSpec, stretch: Span) -> f64 {
    let seconds = stretch.as_secs_f64();
    match &link.rate {
        RateSpec::Constant => link.rate_bps as f64 * seconds,
        RateSpec::Steps { points, .. } => {
            let fastest = points.iter().map(|point| point.rate_bps).max().unwrap_or(0);
            fastest.max(link.rate_bps) as f64 * seconds
        }
        RateSpec::Opportunities { at, bytes } => {
            let rounds = at.last().map_or(0.0, |last| (seconds / last.as_secs_f64()).ceil() + 1.0);
            rounds * at.len() as f64 * f64::from(*bytes) * 8.0
        }
    }
}

/// The longest time between a packet's first transmission and its arrival, except for transmission
/// times.
fn longest_delay(link: &LinkSpec) -> Span {
    let varies = match &link.variation {
        VariationSpec::Constant => Span::ZERO,
        VariationSpec::Trace { points, .. } => {
            points.iter().map(|point| point.delay).max().unwrap_or(Span::ZERO)
        }
        VariationSpec::Sinusoid { most, .. }
        | VariationSpec::Walk { most, .. }
        | VariationSpec::Batches { most, .. } => *most,
        VariationSpec::Jitter(jitter) => jitter.mean + jitter.deviation * DRAWN_DEVIATIONS,
    };
    let late = link.reordering.map_or(Span::ZERO, |reordering| match reordering.by {
        Lateness::Time { most, .. } | Lateness::Packets { most, .. } => most,
    });
    let copy = link.duplication.map_or(Span::ZERO, |doubles| doubles.delay);
    let repeated = link.retransmission.map_or(Span::ZERO, |spec| {
        Span::from_secs_f64_rounded(spec.delay.as_secs_f64() * f64::from(spec.attempts))
    });
    link.delay + varies + repeated + late + copy
}

/// Events and steps that a link makes by itself, if so many packets come to it.
fn own_events(link: &LinkSpec, packets: f64, run: Span) -> f64 {
    let run = run.as_secs_f64();
    let rounds = |points: usize, at_end: AtEnd, last: Option<Span>| match (at_end, last) {
        (AtEnd::Repeat, Some(last)) => points as f64 * (run / last.as_secs_f64()),
        _ => points as f64,
    };
    let rate = match &link.rate {
        RateSpec::Constant => 0.0,
        RateSpec::Steps { points, at_end } => {
            rounds(points.len(), *at_end, points.last().map(|last| last.at))
        }
        RateSpec::Opportunities { at, .. } => rounds(at.len(), AtEnd::Repeat, at.last().copied()),
    };
    let delay = match &link.variation {
        VariationSpec::Trace { points, at_end, .. } => {
            rounds(points.len(), *at_end, points.last().map(|last| last.at))
        }
        VariationSpec::Walk { every, .. } => run / every.as_secs_f64(),
        VariationSpec::Constant
        | VariationSpec::Sinusoid { .. }
        | VariationSpec::Batches { .. }
        | VariationSpec::Jitter(_) => 0.0,
    };
    let slots = match (&link.channel, link.slots) {
        (ChannelSpec::Perfect, _) | (_, Slots::PerPacket(1)) => 0.0,
        (_, Slots::PerPacket(slots)) => packets * f64::from(slots),
        (_, Slots::PerTime(slot)) => run / slot.as_secs_f64(),
    };
    let updates = match &link.queue {
        QueueSpec::Pie(pie) => run / pie.t_update.as_secs_f64(),
        _ => 0.0,
    };
    rate + delay + slots + updates
}

#[cfg(test)]
mod tests;
