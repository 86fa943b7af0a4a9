//! Losses that depend on the link's load.
//!
//! The load is the share of the window, which ends with the packet's own transmission, in which the
//! transmitter was busy. The loss is read from a table of loads and losses: on the straight line
//! between two points, and that of the nearest point outside of them. Every packet is lost with
//! that probability, independently. On satellites the loss of the air rises with the rate that is
//! sent.
//!
//! Parameters: the table and the window, no defaults. Deviations: none. Before time zero the link
//! was idle.

use std::collections::VecDeque;
use std::sync::Arc;

use losscause::{Span, Time};

use crate::rng::Stream;
use crate::topology::LoadPoint;

#[derive(Clone, Debug)]
pub(super) struct Load {
    points: Arc<[LoadPoint]>,
    window: Span,
    stream: Stream,
    /// When the transmitter was busy within the window, in order: from and to.
    busy: VecDeque<(Time, Time)>,
    /// The length of all of them.
    total: Span,
}

impl Load {
    pub(super) fn new(points: &Arc<[LoadPoint]>, window: Span, stream: Stream) -> Self {
        let points = Arc::clone(points);
        Self { points, window, stream, busy: VecDeque::new(), total: Span::ZERO }
    }

    /// Whether the packet is lost whose transmission takes from `start` to `end`, not before the
    /// end of the one before it.
    pub(super) fn corrupts(&mut self, start: Time, end: Time) -> bool {
        let load = self.load(start, end);
        self.stream.uniform() < loss(&self.points, load)
    }

    /// The share of the window up to `end` in which the transmitter was busy.
    fn load(&mut self, start: Time, end: Time) -> f64 {
        match self.busy.back_mut() {
            Some((_, last)) if *last == start => *last = end,
            _ => self.busy.push_back((start, end)),
        }
        self.total += end - start;
        let from = end - self.window;
        while let Some((first, until)) = self.busy.front_mut()
            && *first < from
        {
            if *until > from {
                self.total -= from - *first;
                *first = from;
                break;
            }
            self.total -= *until - *first;
            self.busy.pop_front();
        }
        self.total.as_nanos_f64() / self.window.as_nanos_f64()
    }
}

/// The loss at this load.
fn loss(points: &[LoadPoint], load: f64) -> f64 {
    let above = points.partition_point(|point| point.load <= load);
    match (above.checked_sub(1).map(|below| points[below]), points.get(above)) {
        (Some(below), Some(above)) => {
            let share = (load - below.load) / (above.load - below.load);
            below.loss + share * (above.loss - below.loss)
        }
        (Some(point), None) => point.loss,
        (None, first) => first.map_or(0.0, |first| first.loss),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    const POINTS: [LoadPoint; 3] = [
        LoadPoint { load: 0.2, loss: 0.0 },
        LoadPoint { load: 0.6, loss: 0.1 },
        LoadPoint { load: 1.0, loss: 0.5 },
    ];

    fn channel() -> Load {
        Load::new(&POINTS.into(), Span::from_millis(100), Stream::new(1, "air"))
    }

    #[test]
    fn the_load_is_the_busy_share_of_the_window() {
        let mut channel = channel();
        // From, to, and the busy milliseconds in the 100 ms before the end.
        for (from, to, busy) in [
            (0, 10, 10),
            (10, 30, 30),
            (50, 60, 40),
            // 20 to 120: 10 of the first stretch, 10, 20.
            (100, 120, 40),
            // 60 to 160: the second stretch ends where the window begins.
            (150, 160, 30),
            (300, 310, 10),
            (310, 500, 100),
        ] {
            let load = channel.load(at(from), at(to));
            assert!((load - f64::from(busy) / 100.0).abs() < 1e-12, "{from} to {to}: {load}");
        }
    }

    #[test]
    fn the_loss_is_on_the_line_between_two_points() {
        for (load, expected) in
            [(0.0, 0.0), (0.2, 0.0), (0.4, 0.05), (0.6, 0.1), (0.9, 0.4), (1.0, 0.5)]
        {
            assert!((loss(&POINTS, load) - expected).abs() < 1e-12, "{load}");
        }
        assert_eq!(loss(&POINTS[..1], 0.9), 0.0);
    }

    #[test]
    fn the_share_of_lost_packets_is_the_tables() {
        // A packet of 1 ms in every 2 ms: a load of a half once the window is full.
        let mut channel = channel();
        let packets = 100_000;
        let lost = (0..packets).filter(|i| channel.corrupts(at(2 * i), at(2 * i + 1))).count();
        let expected = 0.075;
        let error = (expected * (1.0 - expected) / packets as f64).sqrt();
        let share = lost as f64 / packets as f64;
        assert!((share - expected).abs() < 5.0 * error, "{share}");
    }
}
