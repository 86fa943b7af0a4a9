//! Where a capture was taken: at the sender of the data, at their receiver, or between.
//!
//! Data cause acknowledgements, and acknowledgements cause data. At the sender an acknowledgement
//! comes a round trip after its data, and new data follow an acknowledgement at once; at the
//! receiver it is the other way round. So the time from a packet towards an end to the packet that
//! it causes there divides the round trip at the capture's place. Both directions of a connection
//! measure both ends.
//!
//! The delay from data to their acknowledgement is measured on every segment. That from an
//! acknowledgement to the data that it causes is measured where a timestamp echo names the
//! acknowledgement (RFC 7323), and in the handshake. If neither is there, the packets in flight
//! tell a sender, and data that follow acknowledgements at once. Nothing else tells a receiver:
//! then the place is unknown.
//!
//! Some captures say of each packet whether the host sent or received it; that decides.

use losscause::{Span, Time};
use serde::Serialize;

use crate::frames::Direction;
use crate::judge::Least;

/// Where a capture was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Vantage {
    /// At the sender of the data.
    Sender,
    /// At their receiver.
    Receiver,
    /// Between the two.
    Middle,
    /// At both ends: two captures, joined.
    Both,
    /// The capture does not tell.
    #[default]
    Unknown,
}

impl Vantage {
    /// Whose algorithms judge: between the two ends, and at both, those of the receiver come first.
    pub(crate) fn judged_at(self) -> Self {
        match self {
            Vantage::Sender => Vantage::Sender,
            Vantage::Receiver | Vantage::Middle | Vantage::Both | Vantage::Unknown => {
                Vantage::Receiver
            }
        }
    }
}

impl std::fmt::Display for Vantage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Vantage::Sender => "sender",
            Vantage::Receiver => "receiver",
            Vantage::Middle => "middle",
            Vantage::Both => "both",
            Vantage::Unknown => "unknown",
        })
    }
}

/// Packets that the capturing host sent, and that it received, by its own word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    pub(super) sent: u64,
    pub(super) received: u64,
}

impl Passed {
    pub(super) fn count(&mut self, direction: Option<Direction>) {
        match direction {
            Some(Direction::Sent) => self.sent += 1,
            Some(Direction::Received) => self.received += 1,
            None => {}
        }
    }

    /// Whether nearly all of them were of the first kind.
    pub(super) fn are_nearly_all(of: u64, others: u64) -> bool {
        of > 0 && of >= 9 * others
    }

    /// At which end of a stream the host is, by its packets alone; none if they do not tell.
    pub(super) fn place(self) -> Option<Vantage> {
        if Self::are_nearly_all(self.sent, self.received) {
            Some(Vantage::Sender)
        } else if Self::are_nearly_all(self.received, self.sent) {
            Some(Vantage::Receiver)
        } else {
            None
        }
    }
}

/// The delays that tell the vantage point of one direction's data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delays {
    /// From data to their acknowledgement.
    to_ack: Least,
    /// From an acknowledgement to the data that it causes.
    to_data: Least,
    /// An acknowledgement's TSval and time, until data echo it.
    probe: Option<(u32, Time)>,
    /// Sum and count of the packets in flight behind acknowledgements.
    flight: (u64, u64),
    /// How many of these left nothing in flight.
    emptied: u64,
    /// The last acknowledgement of something new, until new data follow.
    advanced: Option<Time>,
    /// How often new data followed one at once, and how often at all.
    followed: (u64, u64),
}

/// One side is nearer if its delay is at least so many times smaller.
const NEARER: i64 = 4;
/// A receiver acknowledges every second packet, so no more are in flight at its side.
const FLIGHT_AT_RECEIVER: u64 = 3;
/// What follows within this part of the time from data to acknowledgement follows at once.
const AT_ONCE: i64 = 8;
/// Fewer times may be chance.
const OFTEN: u64 = 8;

impl Delays {
    pub(crate) fn on_ack_delay(&mut self, delay: Span) {
        if delay >= Span::ZERO {
            self.to_ack.take(delay);
        }
    }

    pub(crate) fn on_data_delay(&mut self, delay: Span) {
        if delay >= Span::ZERO {
            self.to_data.take(delay);
        }
    }

    /// An acknowledgement with this TSval passed, `flight` packets behind it.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, tsval: Option<u32>, flight: u64, advances: bool) {
        self.flight = (self.flight.0 + flight, self.flight.1 + 1);
        self.emptied += u64::from(flight == 0);
        if let (None, Some(tsval)) = (self.probe, tsval) {
            self.probe = Some((tsval, now));
        }
        if advances {
            self.advanced = Some(now);
        }
    }

    /// Data passed that echo this TSval.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Time, tsecr: Option<u32>, is_new: bool) {
        if let (Some((tsval, since)), Some(tsecr)) = (self.probe, tsecr)
            && tsecr.wrapping_sub(tsval) as i32 >= 0
        {
            self.probe = None;
            // A later acknowledgement may have caused them: then the delay says nothing.
            if tsecr == tsval {
                self.on_data_delay(now - since);
            }
        }
        if is_new
            && let Some(since) = self.advanced.take()
            && let Some(to_ack) = self.to_ack.value()
        {
            let at_once = (now - since) * AT_ONCE < to_ack;
            self.followed = (self.followed.0 + u64::from(at_once), self.followed.1 + 1);
        }
    }

    /// The smallest delay from an acknowledgement to data, if known: at a receiver the round-trip
    /// time.
    pub(crate) fn data_delay(&self) -> Option<Span> {
        self.to_data.value()
    }

    /// The smallest round trip that these delays show; less if only one end's part is known.
    pub(crate) fn round_trip(&self) -> Option<Span> {
        match (self.to_ack.value(), self.to_data.value()) {
            (Some(to_ack), Some(to_data)) => Some(to_ack + to_data),
            (to_ack, to_data) => to_ack.or(to_data),
        }
    }

    /// The vantage point by these delays and those of the connection's other direction.
    pub(crate) fn vantage(&self, other: &Self) -> Vantage {
        let smaller = |a: Option<Span>, b: Option<Span>| a.into_iter().chain(b).min();
        // How long the data's receiver and their sender take to answer, seen from here.
        let at_receiver = smaller(self.to_ack.value(), other.to_data.value());
        let at_sender = smaller(self.to_data.value(), other.to_ack.value());
        match (at_receiver, at_sender) {
            (Some(receiver), Some(sender))
                if receiver >= sender * NEARER && receiver > Span::ZERO =>
            {
                Vantage::Sender
            }
            (Some(receiver), Some(sender))
                if sender >= receiver * NEARER && sender > Span::ZERO =>
            {
                Vantage::Receiver
            }
            (Some(_), Some(_)) => Vantage::Middle,
            (Some(_), None) if self.keeps_in_flight() => Vantage::Sender,
            (Some(_), None) if self.is_followed_at_once() => Vantage::Sender,
            _ => Vantage::Unknown,
        }
    }

    /// Whether more is in flight than a receiver leaves unacknowledged. Behind a hole, it leaves
    /// much; else nothing.
    fn keeps_in_flight(&self) -> bool {
        let (sum, count) = self.flight;
        sum > FLIGHT_AT_RECEIVER * count && self.emptied * 2 < count
    }

    /// Whether most acknowledgements of something new are followed by new data at once.
    fn is_followed_at_once(&self) -> bool {
        let (at_once, all) = self.followed;
        all >= OFTEN && at_once * 2 >= all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    fn vantages(to_ack_us: i64, to_data_us: i64) -> [Vantage; 2] {
        let mut delays = Delays::default();
        let other = Delays::default();
        delays.on_ack_delay(Span::from_micros(to_ack_us));
        delays.on_data_delay(Span::from_micros(to_data_us));
        [delays.vantage(&other), other.vantage(&delays)]
    }

    #[test]
    fn the_nearer_end_has_the_smaller_delay_in_both_directions() {
        assert_eq!(vantages(40_000, 50), [Vantage::Sender, Vantage::Receiver]);
        assert_eq!(vantages(80, 40_000), [Vantage::Receiver, Vantage::Sender]);
        assert_eq!(vantages(20_000, 20_000), [Vantage::Middle; 2]);
        assert_eq!(vantages(10_000, 30_000), [Vantage::Middle; 2]);
    }

    #[test]
    fn an_echo_measures_the_delay_to_the_data_that_it_names() {
        let mut delays = Delays::default();
        delays.on_ack(at(0), Some(70), 1, true);
        delays.on_ack(at(5), Some(75), 1, true);
        delays.on_data(at(30), Some(69), true);
        assert_eq!(delays.data_delay(), None, "caused by an earlier acknowledgement");
        delays.on_data(at(40), Some(70), true);
        assert_eq!(delays.data_delay(), Some(Span::from_millis(40)));
    }

    #[test]
    fn without_echoes_many_packets_in_flight_tell_the_sender() {
        let mut delays = Delays::default();
        delays.on_ack_delay(Span::from_micros(100));
        (0..100).for_each(|_| delays.on_ack(Time::ZERO, None, 0, true));
        assert_eq!(delays.vantage(&Delays::default()), Vantage::Unknown);
        // A receiver holds many packets behind a hole, but not most of the time.
        (0..90).for_each(|_| delays.on_ack(Time::ZERO, None, 20, true));
        assert_eq!(delays.vantage(&Delays::default()), Vantage::Unknown);
        (0..20).for_each(|_| delays.on_ack(Time::ZERO, None, 20, true));
        assert_eq!(delays.vantage(&Delays::default()), Vantage::Sender);
    }

    #[test]
    fn data_that_follow_acknowledgements_at_once_tell_the_sender() {
        let vantage = |after_ms| {
            let mut delays = Delays::default();
            for round in 0..10 {
                let begun = 100 * round;
                delays.on_data(at(begun), None, true);
                delays.on_ack_delay(Span::from_millis(80));
                delays.on_ack(at(begun + 80), None, 1, true);
                delays.on_data(at(begun + 80 + after_ms), None, true);
            }
            delays.vantage(&Delays::default())
        };
        assert_eq!([vantage(1), vantage(15)], [Vantage::Sender, Vantage::Unknown]);
    }

    #[test]
    fn without_any_delay_nothing_is_known() {
        assert_eq!(Delays::default().vantage(&Delays::default()), Vantage::Unknown);
    }
}
