//! Where a capture was taken: at the sender of the data, at their receiver, or between.
//!
//! Data cause acknowledgements, and acknowledgements cause data. At the sender an acknowledgement comes a round trip
//! after its data, and new data follow an acknowledgement at once; at the receiver it is the other way round. So the
//! smallest delays in both directions divide the round trip at the capture's place.
//!
//! The delay from data to their acknowledgement is measured on every segment. That from an acknowledgement to the data
//! that it causes is measured where a timestamp echo names the acknowledgement (RFC 7323), and in the handshake. If
//! neither is there, the packets in flight tell: a receiver's capture shows data and their acknowledgement together.

use losscause::{Span, Time};
use serde::Serialize;

/// Where a capture was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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
}

impl Vantage {
    /// Whose algorithms judge: between the two ends, and at both, those of the receiver come first.
    pub(crate) fn judged_at(self) -> Self {
        match self {
            Vantage::Sender => Vantage::Sender,
            Vantage::Receiver | Vantage::Middle | Vantage::Both => Vantage::Receiver,
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
        })
    }
}

/// The delays that tell the vantage point of one direction's data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delays {
    /// The smallest delay from data to their acknowledgement.
    to_ack: Option<Span>,
    /// The smallest delay from an acknowledgement to the data that it causes.
    to_data: Option<Span>,
    /// An acknowledgement's TSval and time, until data echo it.
    probe: Option<(u32, Time)>,
    /// Sum and count of the packets in flight behind acknowledgements.
    flight: (u64, u64),
}

/// One side is nearer if its delay is at least so many times smaller.
const NEARER: i64 = 4;
/// A receiver acknowledges every second packet, so no more are in flight at its side.
const FLIGHT_AT_RECEIVER: u64 = 3;

impl Delays {
    pub(crate) fn on_ack_delay(&mut self, delay: Span) {
        keep_smaller(&mut self.to_ack, delay);
    }

    pub(crate) fn on_data_delay(&mut self, delay: Span) {
        keep_smaller(&mut self.to_data, delay);
    }

    /// An acknowledgement with this TSval passed, `flight` packets behind it.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, tsval: Option<u32>, flight: u64) {
        self.flight = (self.flight.0 + flight, self.flight.1 + 1);
        if let (None, Some(tsval)) = (self.probe, tsval) {
            self.probe = Some((tsval, now));
        }
    }

    /// Data passed that echo this TSval.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Time, tsecr: Option<u32>) {
        if let (Some((tsval, since)), Some(tsecr)) = (self.probe, tsecr)
            && tsecr.wrapping_sub(tsval) as i32 >= 0
        {
            self.probe = None;
            // A later acknowledgement may have caused them: then the delay says nothing.
            if tsecr == tsval {
                self.on_data_delay(now - since);
            }
        }
    }

    /// The smallest delay from an acknowledgement to data, if known: at a receiver the round-trip time.
    pub(crate) fn data_delay(&self) -> Option<Span> {
        self.to_data
    }

    pub(crate) fn vantage(&self) -> Vantage {
        match (self.to_ack, self.to_data) {
            (Some(to_ack), Some(to_data)) if to_ack >= to_data * NEARER && to_ack > Span::ZERO => Vantage::Sender,
            (Some(to_ack), Some(to_data)) if to_data >= to_ack * NEARER && to_data > Span::ZERO => Vantage::Receiver,
            (Some(_), Some(_)) => Vantage::Middle,
            // Data without any acknowledgement: a capture of one direction.
            (None, _) => Vantage::Receiver,
            (Some(_), None) if self.flight.0 <= FLIGHT_AT_RECEIVER * self.flight.1 => Vantage::Receiver,
            (Some(_), None) => Vantage::Sender,
        }
    }
}

fn keep_smaller(kept: &mut Option<Span>, delay: Span) {
    if delay >= Span::ZERO {
        *kept = Some(kept.map_or(delay, |smallest| smallest.min(delay)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vantage(to_ack_us: i64, to_data_us: i64) -> Vantage {
        let mut delays = Delays::default();
        delays.on_ack_delay(Span::from_micros(to_ack_us));
        delays.on_data_delay(Span::from_micros(to_data_us));
        delays.vantage()
    }

    #[test]
    fn the_nearer_end_is_the_one_with_the_smaller_delay() {
        assert_eq!(vantage(40_000, 50), Vantage::Sender);
        assert_eq!(vantage(80, 40_000), Vantage::Receiver);
        assert_eq!(vantage(20_000, 20_000), Vantage::Middle);
        assert_eq!(vantage(10_000, 30_000), Vantage::Middle);
    }

    #[test]
    fn an_echo_measures_the_delay_to_the_data_that_it_names() {
        let mut delays = Delays::default();
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        delays.on_ack(at(0), Some(70), 1);
        delays.on_ack(at(5), Some(75), 1);
        delays.on_data(at(30), Some(69));
        assert_eq!(delays.data_delay(), None, "caused by an earlier acknowledgement");
        delays.on_data(at(40), Some(70));
        assert_eq!(delays.data_delay(), Some(Span::from_millis(40)));
    }

    #[test]
    fn without_echoes_the_flight_tells() {
        let mut delays = Delays::default();
        delays.on_ack_delay(Span::from_micros(100));
        (0..100).for_each(|_| delays.on_ack(Time::ZERO, None, 0));
        assert_eq!(delays.vantage(), Vantage::Receiver);
        (0..100).for_each(|_| delays.on_ack(Time::ZERO, None, 20));
        assert_eq!(delays.vantage(), Vantage::Sender);
    }
}
