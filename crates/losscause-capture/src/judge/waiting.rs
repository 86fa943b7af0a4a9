//! Packets that arrived at a receiver and were not looked at yet.
//!
//! Trip times and algorithms are asked at a gap and at the end of the flow. Until then packets wait,
//! 8 bytes each, and are gone through at once: what is known of the flow is then in the processor's
//! caches, and not fetched anew for every packet between those of other flows. Behind the last gap
//! no algorithm is asked, so that none observes in vain: in a capture that was made where the data
//! are sent, and of a flow that lost nothing. So many may wait as a [`Course`] keeps.

use std::mem::discriminant;

use losscause::Time;

use super::Departure;
use crate::flow::Course;

/// Packets in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    /// The first one's number and departure.
    first: Option<(u64, Departure)>,
    count: u64,
    /// When each arrived, and its departure as a number.
    packets: Course,
}

impl Waiting {
    /// Lets a packet wait. False of one that does not follow the last one, or that there is no
    /// place for.
    #[inline]
    pub(super) fn take(&mut self, number: u64, at: Time, departure: Departure) -> bool {
        let (first, kind) = *self.first.get_or_insert((number, departure));
        let follows = number.checked_sub(first) == Some(self.count);
        if !follows || discriminant(&kind) != discriminant(&departure) || self.packets.is_full() {
            return false;
        }
        self.count += 1;
        let departure = match departure {
            Departure::Unknown => 0,
            Departure::Stamp(stamp) => stamp.into(),
            Departure::At(sent) => sent.as_nanos().cast_unsigned(),
        };
        self.packets.on_packet(at, departure);
        true
    }

    /// The packets that wait: number, arrival and departure.
    pub(super) fn packets(&self) -> impl Iterator<Item = (u64, Time, Departure)> + '_ {
        let (first, kind) = self.first.unwrap_or((0, Departure::Unknown));
        (first..).zip(self.packets.iter()).map(move |(number, (at, departure))| {
            let departure = match kind {
                Departure::Unknown => Departure::Unknown,
                Departure::Stamp(_) => Departure::Stamp(departure as u32),
                Departure::At(_) => Departure::At(Time::from_nanos(departure.cast_signed())),
            };
            (number, at, departure)
        })
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;

    const KINDS: [fn(Time) -> Departure; 3] = [
        |_| Departure::Unknown,
        |sent| Departure::Stamp((sent.as_nanos() / 1_000_000) as u32),
        Departure::At,
    ];

    /// Packets from number 7 on, 1.2 ms apart, some of which arrive or leave out of order.
    fn packet(number: u64, kind: fn(Time) -> Departure) -> (u64, Time, Departure) {
        let at =
            Time::ZERO + Span::from_micros(1_200 * number as i64 + 5_000 * (number as i64 % 7));
        let sent = at - Span::from_millis(40 + number as i64 % 11) - YEAR;
        (7 + number, at, kind(sent))
    }

    fn take(waiting: &mut Waiting, packet: (u64, Time, Departure)) -> bool {
        let (number, at, departure) = packet;
        waiting.take(number, at, departure)
    }

    /// The clocks of both ends may differ by any time.
    const YEAR: Span = Span::from_secs(31_536_000);

    #[test]
    fn what_waited_comes_back_as_it_was() {
        for (place, kind) in KINDS.into_iter().enumerate() {
            let mut waiting = Waiting::default();
            let packets: Vec<_> = (0..5_000).map(|number| packet(number, kind)).collect();
            assert!(packets.iter().all(|one| take(&mut waiting, *one)));
            assert!(!take(&mut waiting, packet(5_001, kind)), "one is missing");
            assert!(!take(&mut waiting, packet(4_999, kind)), "a copy");
            let other = KINDS[(place + 1) % KINDS.len()];
            assert!(!take(&mut waiting, packet(5_000, other)), "another kind of departure");
            assert!(waiting.packets().eq(packets));
        }
    }

    #[test]
    fn a_long_flow_does_not_wait() {
        let mut waiting = Waiting::default();
        let waited =
            (0..).take_while(|&number| take(&mut waiting, packet(number, KINDS[1]))).count();
        assert_eq!(waited, waiting.packets().count(), "none was dropped");
        assert!(waited < 100_000, "{waited}");
    }
}
