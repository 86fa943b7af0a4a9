//! Batches: packets are held and then handed on together, as hosts and access links do.
//!
//! A network card waits some time after a packet before it interrupts the host, and the host then
//! takes in all packets that have come (interrupt coalescing, GRO). A radio or cable modem waits
//! for its turn and then sends what has collected (aggregation); the ACKs of a whole window may
//! leave together (ACK compression). The first packet of a batch is held for `most`, or for a
//! uniform draw from 0 to `most`; packets that come until then wait for the same instant.
//!
//! Parameters: `most` and `drawn`, no defaults. Deviations: none; a batch has no largest size.

use losscause::{Span, Time};

use crate::rng::Stream;

#[derive(Clone, Debug)]
pub(crate) struct Batches {
    most: Span,
    /// Draws the time of each batch; none if each is held for `most`.
    stream: Option<Stream>,
    /// When the present batch is handed on.
    until: Time,
}

impl Batches {
    pub(super) fn new(most: Span, drawn: bool, stream: Stream) -> Self {
        Self { most, stream: drawn.then_some(stream), until: Time::ZERO }
    }

    pub(super) fn at(&mut self, now: Time) -> Span {
        if now > self.until {
            // One nanosecond more, because a draw leaves out the end.
            let drawn = |stream: &mut Stream| stream.span_below(self.most + Span::from_nanos(1));
            self.until = now + self.stream.as_mut().map_or(self.most, drawn);
        }
        self.until - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    #[test]
    fn packets_wait_for_the_end_of_the_batch_that_the_first_opened() {
        let mut batches = Batches::new(Span::from_millis(10), false, Stream::new(1, "x"));
        let arrivals = [1, 4, 11, 12, 13, 40]
            .map(|ms| (at(ms) + batches.at(at(ms)) - Time::ZERO).as_millis_f64());
        assert_eq!(arrivals, [11.0, 11.0, 11.0, 22.0, 22.0, 50.0]);
    }

    #[test]
    fn a_drawn_batch_takes_half_of_the_longest_on_average() {
        let mut batches = Batches::new(Span::from_millis(10), true, Stream::new(1, "x"));
        let held: Vec<f64> = (1..10_001).map(|i| batches.at(at(20 * i)).as_millis_f64()).collect();
        assert!(held.iter().all(|ms| (0.0..=10.0).contains(ms)));
        // Five standard errors: 10 / sqrt(12) / 100 each.
        let mean = held.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 5.0).abs() < 0.15, "{mean}");
    }
}
