//! Sender jitter: the time that a host takes to send a packet.
//!
//! Without any chance, flows over a DropTail queue fall into step: whose packet finds the queue full
//! depends on the phase in which packets arrive, not on how many there are. A random delay at the
//! senders breaks the phase (S. Floyd and V. Jacobson, "On Traffic Phase Effects in Packet-Switched
//! Gateways", Internetworking: Research and Experience 3, 1992).
//!
//! A packet that the sender emits at t leaves at the later of t + u and the previous packet's
//! departure, where u is a uniform draw from [0, [`FlowSpec::send_jitter`]). So packets keep their
//! order, and a timestamp in a packet is that of its departure. The draws come from a stream of the flow's own. Receivers send without delay.
//!
//! Deviations: ns-2's `overhead_` adds a draw to the departure of the previous packet, so a burst
//! leaves at half of `overhead_` per packet on average; here a burst stays as short as the largest
//! draw.
//!
//! [`FlowSpec::send_jitter`]: crate::FlowSpec::send_jitter

use std::collections::VecDeque;

use losscause::{Span, Time};

use super::flow::FirstHop;
use super::{Phase, Simulation};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::topology::FlowId;
use crate::trace::Recorder;

/// Packets that a sender has emitted and that have not left yet.
#[derive(Clone, Debug)]
pub(super) struct Jitter {
    /// Upper end of a draw.
    most: Span,
    stream: Stream,
    /// With their departures, in order.
    held: VecDeque<(Time, Packet)>,
    last_departure: Time,
}

impl Jitter {
    pub(super) fn new(most: Span, stream: Stream) -> Self {
        Self { most, stream, held: VecDeque::new(), last_departure: Time::ZERO }
    }

    fn hold(&mut self, now: Time, packet: Packet) {
        self.last_departure = self.last_departure.max(now + self.stream.span_below(self.most));
        self.held.push_back((self.last_departure, packet));
    }

    /// The next packet, if it leaves by `now`.
    fn release(&mut self, now: Time) -> Option<Packet> {
        if self.next_departure() > now {
            return None;
        }
        self.held.pop_front().map(|(_, packet)| packet)
    }

    fn next_departure(&self) -> Time {
        self.held.front().map_or(Time::MAX, |(departure, _)| *departure)
    }

    /// Packets that have not left.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }
}

impl Simulation {
    /// Takes what the application hands over and the sender emits, sends what leaves now, and sets
    /// the sender's timer. The flow has sender jitter, or an application.
    #[inline(never)]
    pub(super) fn serve_jittered<R: Recorder>(
        &mut self,
        now: Time,
        index: usize,
        recorder: &mut R,
    ) {
        let flow = &mut self.flows[index];
        if flow.phase == Phase::Sending {
            flow.serve_application(now);
        }
        let FirstHop { hop, link } = flow.path;
        let Some(jitter) = &mut flow.jitter else { return };
        let mut timeout = Time::MAX;
        if flow.phase == Phase::Sending {
            let pool = &mut self.transit.store.pool;
            while let Some(packet) = flow.sender.poll_transmit(now, hop, pool) {
                jitter.hold(now, packet);
            }
            timeout = flow.sender.poll_timeout().unwrap_or(Time::MAX).min(flow.stops_at);
            if let Some(application) = &flow.application {
                timeout = timeout.min(application.due());
            }
        }
        while let Some(packet) = jitter.release(now) {
            self.transit.store.pool.stamp(packet.handle, now);
            self.transit.send(now, packet, link, recorder);
        }
        let next = timeout.min(jitter.next_departure());
        self.transit.set_sender(index, (next < Time::MAX).then_some(next.max(now)), now);
        if recorder.detail().windows() {
            flow.record_sample(now, FlowId(index as u32), recorder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_departure_is_within_the_jitter_unless_the_packet_ahead_leaves_later() {
        let most = Span::from_micros(100);
        let mut jitter = Jitter::new(most, Stream::new(1, "jitter"));
        let mut draws = Stream::new(1, "jitter");
        let mut last = Time::ZERO;
        for micros in (0..3000).step_by(30) {
            let now = Time::ZERO + Span::from_micros(micros);
            jitter.hold(now, Packet::default());
            let departure = jitter.held.back().unwrap().0;
            assert_eq!(departure, last.max(now + draws.span_below(most)));
            assert!(departure >= last && departure < now + most);
            last = departure;
        }
        assert_eq!(jitter.held(), 100);
        assert!(jitter.release(Time::ZERO).is_none());
        assert!(jitter.release(Time::MAX).is_some());
    }
}
