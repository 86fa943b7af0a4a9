//! Removes the skew between the clocks of sender and capture from relative one-way trip times.
//!
//! If one clock runs faster, trip times drift, and a minimum taken early means nothing later. Trip
//! times never lie below the path's own delay, so the line under all of them shows the drift: an
//! edge of their lower convex hull (Moon, Skelly & Towsley 1999, there by linear programming, which
//! finds the hull's edge below the mean of the times).
//!
//! The line moves as the capture goes on; a point is corrected with the line known at its time. Two
//! limits keep a queue that fills from being taken for a skew: an edge shorter than ten seconds is
//! not believed, nor is a drift above 500 µs per second, more than any computer's crystal has.

use losscause::{Span, Time};

/// The lower convex hull of trip times, and the drift that it shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skew {
    /// The hull's corners, from left to right: time and trip time, ns.
    hull: Vec<(i64, i64)>,
    /// The drift of the trip times, ns per ns, and where it is zero.
    line: Option<Line>,
    /// Packets until the line is drawn again.
    wait: u32,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    from: i64,
    slope: f64,
}

/// The drift that is still a clock's, per unit.
const MAX_DRIFT: f64 = 500e-6;
/// An edge that is shorter may be a queue's.
const MIN_EDGE_NS: i64 = 10_000_000_000;
/// The line is drawn again after so many packets.
const EVERY_PKTS: u32 = 64;
/// Corners that are kept; of more, every second one goes.
const MAX_CORNERS: usize = 256;

impl Skew {
    /// Takes in the trip time of a packet that arrived at `now`, and returns it without the drift
    /// known so far.
    #[inline]
    pub(crate) fn correct(&mut self, now: Time, rott: Span) -> Span {
        let point = (now.as_nanos(), rott.as_nanos());
        self.extend(point);
        if self.wait == 0 {
            self.wait = EVERY_PKTS;
            self.line = self.find_line();
        }
        self.wait -= 1;
        self.without_drift(now, rott)
    }

    /// The trip time of a packet that arrived at `now`, without the drift known so far. It teaches
    /// nothing.
    #[inline]
    pub(crate) fn without_drift(&self, now: Time, rott: Span) -> Span {
        match self.line {
            Some(line) => {
                rott - Span::from_nanos(
                    (line.slope * between(line.from, now.as_nanos()) as f64) as i64,
                )
            }
            None => rott,
        }
    }

    /// The drift of the trip times, seconds per second; none before it is believed.
    pub(crate) fn drift(&self) -> Option<f64> {
        self.line.map(|line| line.slope)
    }

    /// Adds a point at the right end: corners above the line from the one before them to it are
    /// corners no more.
    #[inline]
    fn extend(&mut self, point: (i64, i64)) {
        if self.hull.last().is_some_and(|last| point.0 <= last.0) {
            return;
        }
        while let [.., a, b] = self.hull[..]
            && i128::from(between(a.1, b.1)) * i128::from(between(a.0, point.0))
                >= i128::from(between(a.1, point.1)) * i128::from(between(a.0, b.0))
        {
            self.hull.pop();
        }
        self.hull.push(point);
        if self.hull.len() > MAX_CORNERS {
            let mut index = 0;
            self.hull.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
    }

    /// The line through the edge below the middle of the time, if it can be a clock's.
    fn find_line(&self) -> Option<Line> {
        let first = self.hull.first()?;
        let last = self.hull.last()?;
        let middle = first.0.midpoint(last.0);
        let edge = self.hull.windows(2).find(|edge| edge[1].0 >= middle)?;
        let from = edge[0];
        let to = edge[1];
        let lasts = between(from.0, to.0);
        let slope = between(from.1, to.1) as f64 / lasts as f64;
        (lasts >= MIN_EDGE_NS && slope.abs() <= MAX_DRIFT).then_some(Line { from: first.0, slope })
    }
}

/// From one instant to another, ns. A hostile capture has instants of any size.
fn between(from: i64, to: i64) -> i64 {
    to.saturating_sub(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trip times of 20 ms and a queue of 0 to 9 ms, a packet every 100 ms, with a drift.
    fn run(drift: f64, packets: i64) -> (Skew, Vec<f64>) {
        let mut skew = Skew::default();
        let corrected = (0..packets)
            .map(|i| {
                let now = Time::from_nanos(i * 100_000_000);
                let rott = Span::from_millis(20 + i * 7 % 10)
                    + Span::from_nanos((drift * now.as_nanos() as f64) as i64);
                skew.correct(now, rott).as_millis_f64()
            })
            .collect();
        (skew, corrected)
    }

    #[test]
    fn a_drift_of_100_ppm_is_found_and_removed() {
        let (skew, corrected) = run(100e-6, 6_000);
        assert!((skew.drift().unwrap() - 100e-6).abs() < 1e-6, "{:?}", skew.drift());
        // Ten minutes would have added 60 ms.
        assert!(corrected[5_000..].iter().all(|ms| (19.0..30.5).contains(ms)));
    }

    #[test]
    fn trip_times_at_both_ends_of_what_a_number_holds_are_taken() {
        let mut skew = Skew::default();
        let times = [i64::MIN, -1, 0, 1, i64::MAX];
        for (now, rott) in times.into_iter().zip([i64::MAX, i64::MIN, 0, i64::MAX, i64::MIN]) {
            skew.correct(Time::from_nanos(now), Span::from_nanos(rott));
        }
        assert_eq!(skew.drift(), None);
    }

    #[test]
    fn a_queue_that_fills_is_no_drift() {
        let (skew, corrected) = run(10e-3, 300);
        assert_eq!(skew.drift(), None);
        assert!(corrected[299] > 300.0);
    }

    #[test]
    fn without_drift_nothing_changes_much() {
        let (_, corrected) = run(0.0, 6_000);
        assert!(corrected.iter().all(|ms| (19.9..29.1).contains(ms)));
    }
}
