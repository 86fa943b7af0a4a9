//! Retransmission by the link layer, as on Wi-Fi and LTE: real radio links show delay where their
//! channel loses packets.
//!
//! A corrupted packet is transmitted again, up to a number of attempts. Every attempt takes the
//! transmitter the packet's transmission time and meets the channel anew. Each attempt after the
//! first adds a fixed delay: the feedback of LTE's hybrid ARQ comes 8 ms later (3GPP TS 36.321,
//! section 5.3.2: 8 subframes for FDD), Wi-Fi's missing acknowledgement is noticed within some 50
//! µs. Packets are delivered in order, so the packets behind a late one wait for it.
//!
//! Deviations: all attempts of a packet follow each other at the transmitter; hybrid ARQ sends
//! other packets between them. Attempts are not combined: each meets the channel like the first.

use losscause::{Span, Time};

use crate::channel::Channel;
use crate::topology::RetransmissionSpec;

#[derive(Clone, Debug)]
pub(super) struct Retransmission {
    spec: RetransmissionSpec,
    /// When the packet before arrives.
    last_arrival: Time,
}

/// One attempt to transmit a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// When the transmission ends.
    pub(super) end: Time,
    /// The channel corrupts it.
    pub(super) hit: bool,
}

impl Retransmission {
    pub(super) fn new(spec: RetransmissionSpec) -> Self {
        Self { spec, last_arrival: Time::ZERO }
    }

    /// Repeats the first attempt until one succeeds or the number of attempts is reached: the last
    /// attempt, and the delay that all of them add. `end_of` says when a transmission ends that
    /// begins at an instant.
    pub(super) fn repeat(
        &self,
        first: Attempt,
        mut end_of: impl FnMut(Time) -> Time,
        channel: &mut Channel,
    ) -> (Attempt, Span) {
        let mut attempt = first;
        let mut extra = Span::ZERO;
        for _ in 1..self.spec.attempts {
            if !attempt.hit {
                break;
            }
            let end = end_of(attempt.end);
            attempt = Attempt { end, hit: channel.corrupts(attempt.end, end) };
            extra += self.spec.delay;
        }
        (attempt, extra)
    }

    /// When a packet is delivered that is there at `arrives`: not before the packet ahead of it.
    pub(super) fn in_order(&mut self, arrives: Time) -> Time {
        self.last_arrival = self.last_arrival.max(arrives);
        self.last_arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at as at_ms;
    use crate::rng::Stream;
    use crate::topology::{ChannelSpec, Slots, TraceStart};

    /// The channel's slots from the second attempt on.
    fn repeat(attempts: u32, slots: &[bool], first_hit: bool) -> (Time, bool, Span) {
        let retransmission =
            Retransmission::new(RetransmissionSpec { attempts, delay: Span::from_millis(8) });
        let spec = ChannelSpec::Trace { lost: slots.into(), start: TraceStart::Slot(0) };
        let mut channel = Channel::new(&spec, Slots::PerPacket(1), Stream::new(1, "test"));
        let first = Attempt { end: at_ms(1), hit: first_hit };
        let (last, extra) =
            retransmission.repeat(first, |begins| begins + Span::from_millis(1), &mut channel);
        (last.end, last.hit, extra)
    }

    #[test]
    fn every_attempt_takes_the_transmitters_time_and_adds_its_delay() {
        assert_eq!(repeat(4, &[true, true, true], false), (at_ms(1), false, Span::ZERO));
        assert_eq!(repeat(4, &[true, false, true], true), (at_ms(3), false, Span::from_millis(16)));
    }

    #[test]
    fn after_the_last_attempt_the_packet_is_lost() {
        assert_eq!(
            repeat(4, &[true, true, true, false], true),
            (at_ms(4), true, Span::from_millis(24))
        );
    }

    #[test]
    fn packets_behind_a_late_one_wait_for_it() {
        let mut link =
            Retransmission::new(RetransmissionSpec { attempts: 4, delay: Span::from_millis(8) });
        assert_eq!(
            [10, 26, 12, 13, 30].map(|ms| link.in_order(at_ms(ms))),
            [10, 26, 26, 26, 30].map(at_ms)
        );
    }
}
