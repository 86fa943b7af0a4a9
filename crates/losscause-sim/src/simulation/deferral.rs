//! Packets that are sent late, at their own instants: a shortcut.
//!
//! A source without feedback (CBR, on-off) that has the first of several links for itself is heard
//! by nobody before its packet is at the far end of that link, and nothing can change its mind. So
//! its timer is not set for the instant at which it sends, but for the earliest one at which that
//! packet can be at the far end. Then it sends, at the instant that has passed, and a packet that
//! found the link idle enters the next link at once. That saves one event of two, and a packet need
//! not be kept on the link.
//!
//! Results stay the same. A packet enters its first link at the instant at which it would have, so
//! its transmission, its drop or its corruption is the same. It enters the second link at the same
//! instant as well; among simultaneous events it has the place that it would have had (`since` in
//! `schedule.rs`). Before [`run_until`](crate::Simulation::run_until) returns, everything that is
//! due is sent.
//!
//! A recorder of all events gets them as they happen: nothing is late then.
//! [`Simulation::with_every_event`](crate::Simulation::with_every_event) is never late. A property
//! test compares both (`tests/elision.rs`).

use losscause::{Span, Time};

use super::flow::FirstHop;
use super::{Phase, Simulation};
use crate::link::Link;
use crate::topology::{FlowSpec, LinkId, Network, Traffic};
use crate::trace::Recorder;

impl Simulation {
    /// Lets the senders be late that can be. The simulation has not begun.
    pub(super) fn defer_senders(&mut self, network: &Network) {
        let users = users(network);
        for (index, spec) in network.flows.iter().enumerate() {
            if let Some(deferral) = deferral(spec, &users, &self.transit.links) {
                self.flows[index].deferral = deferral;
                self.deferred.push(index);
            }
        }
    }

    /// How late a flow's sender is.
    fn deferral(&self, index: usize, recorder: &impl Recorder) -> Span {
        if recorder.detail().everything() { Span::ZERO } else { self.flows[index].deferral }
    }

    /// The event of a sender that may be late.
    #[inline(never)]
    pub(super) fn on_deferred<R: Recorder>(&mut self, now: Time, index: usize, recorder: &mut R) {
        self.send_deferred(now - self.deferral(index, recorder), now, index, recorder);
    }

    /// All that such senders have to send by `now`.
    pub(super) fn send_all_deferred<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        for place in 0..self.deferred.len() {
            let index = self.deferred[place];
            if self.flows[index].phase == Phase::Sending {
                self.send_deferred(now, now, index, recorder);
            }
        }
    }

    /// Sends what is due by `until`, each packet at its own instant, and sets the sender's timer.
    #[inline(always)]
    fn send_deferred<R: Recorder>(
        &mut self,
        until: Time,
        now: Time,
        index: usize,
        recorder: &mut R,
    ) {
        let FirstHop { hop, link } = self.flows[index].path;
        let mut due = self.next_due(index);
        while let Some(at) = due.filter(|&due| due <= until) {
            let flow = &mut self.flows[index];
            let Some(packet) = flow.sender.poll_transmit(at, hop, &mut self.transit.store.pool)
            else {
                break;
            };
            due = self.next_due(index);
            self.transit.send_late(at, packet, link, now, recorder);
        }
        let Some(due) = due else {
            self.flows[index].phase = Phase::Stopped;
            return self.transit.set_sender(index, None, now);
        };
        let deferral = self.deferral(index, recorder);
        // The first link would have scheduled the packet's arrival when the packet came, or when
        // the one before had left.
        let since = if deferral == Span::ZERO { now } else { due.max(self.last_arrival(index)) };
        self.transit.set_sender(index, Some(due + deferral), since);
    }

    /// When a flow's sender sends next.
    #[inline(always)]
    fn next_due(&self, index: usize) -> Option<Time> {
        let flow = &self.flows[index];
        flow.sender.poll_timeout().filter(|&due| due < flow.stops_at)
    }

    /// When the packet that came last to a flow's first link is at the far end.
    fn last_arrival(&self, index: usize) -> Time {
        self.transit.links[self.flows[index].path.link as usize].last_arrival()
    }
}

/// For every link, how many hops of flows are there.
fn users(network: &Network) -> Vec<u32> {
    let mut users = vec![0; network.links.len()];
    for link in network.flows.iter().flat_map(|flow| flow.path.iter().chain(&flow.return_path)) {
        users[link.index()] += 1;
    }
    users
}

/// A run can be stopped soon: no sender is late that would then have to send more packets than
/// these in one go.
const MOST_LATE_PKTS: f64 = 1_000.0;

/// The shortest time that its packets take over the first link, if nobody notices them before. A
/// sender with jitter is never late.
fn deferral(flow: &FlowSpec, users: &[u32], links: &[Link]) -> Option<Span> {
    let (Traffic::Cbr { rate_bps, packet_bytes, .. }
    | Traffic::OnOff { rate_bps, packet_bytes, .. }
    | Traffic::Poisson { rate_bps, packet_bytes, .. }) = flow.traffic
    else {
        return None;
    };
    if flow.send_jitter > Span::ZERO {
        return None;
    }
    let [LinkId(first), _, ..] = flow.path[..] else { return None };
    let first = first as usize;
    if users[first] > 1 {
        return None;
    }
    let passage =
        links[first].fixed_passage(packet_bytes).filter(|&passage| passage > Span::ZERO)?;
    let late_pkts = passage.as_secs_f64() * rate_bps as f64 / (8.0 * f64::from(packet_bytes));
    (late_pkts <= MOST_LATE_PKTS).then_some(passage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Limit, LinkSpec, QueueSpec};
    use losscause_transport::tcp;

    /// 10 Mb/s and 1 ms.
    fn link(name: &str, queue: QueueSpec) -> LinkSpec {
        LinkSpec::wired(name, 10_000_000, Span::from_millis(1), queue)
    }

    fn deferrals(flows: Vec<FlowSpec>) -> Vec<Span> {
        let limit = Limit::Packets(50);
        let plain = QueueSpec::DropTail { limit };
        let managed = QueueSpec::StepMark { limit, mark_from_pkts: 5 };
        let links =
            vec![link("0", plain), link("1", plain), link("2", plain), link("managed", managed)];
        let network = Network { links, flows };
        let mut simulation =
            Simulation::with(&network, crate::elision::Elision::none(&network), 1).unwrap();
        simulation.defer_senders(&network);
        simulation.flows.iter().map(|flow| flow.deferral).collect()
    }

    fn cbr(name: &str, path: &[u32]) -> FlowSpec {
        let path: Vec<LinkId> = path.iter().copied().map(LinkId).collect();
        FlowSpec::new(name, &path, &[], Traffic::cbr(1_000_000, 210))
    }

    #[test]
    fn a_source_alone_on_its_first_link_is_late_by_a_passage() {
        // 210 bytes at 10 Mb/s take 168 microseconds.
        assert_eq!(
            deferrals(vec![cbr("a", &[0, 2]), cbr("b", &[1, 2])]),
            [Span::from_micros(1168); 2]
        );
    }

    #[test]
    fn a_source_is_never_late_with_a_shared_only_or_managed_link() {
        let shared = vec![cbr("a", &[0, 2]), cbr("b", &[1, 0, 2])];
        assert_eq!(deferrals(shared), [Span::ZERO, Span::from_micros(1168)]);
        assert_eq!(deferrals(vec![cbr("a", &[0])]), [Span::ZERO]);
        assert_eq!(deferrals(vec![cbr("a", &[3, 0])]), [Span::ZERO]);
    }

    #[test]
    fn a_source_that_fills_its_first_link_is_never_late() {
        // In 1.005 ms, 1 Tb/s of 40 bytes are three million packets.
        let flow = FlowSpec { traffic: Traffic::cbr(1_000_000_000_000, 40), ..cbr("a", &[0, 2]) };
        assert_eq!(deferrals(vec![flow]), [Span::ZERO]);
    }

    #[test]
    fn a_sender_with_feedback_is_never_late() {
        let flow = FlowSpec::new(
            "a",
            &[LinkId(0), LinkId(1)],
            &[LinkId(2)],
            Traffic::tcp(tcp::Config::ns2()),
        );
        assert_eq!(deferrals(vec![flow]), [Span::ZERO]);
    }
}
