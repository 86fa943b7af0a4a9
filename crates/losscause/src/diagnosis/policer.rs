//! Whether a token bucket loses the packets of a path (Flach et al., "An Internet-Wide Analysis of
//! Traffic Policing", SIGCOMM 2016).
//!
//! A policer drops a packet when its bucket holds too few tokens. So the bucket is empty at every
//! loss, and between any two losses as many bytes pass as its rate allows, whatever the senders do:
//!
//! ```text
//! passed(t1, t2) = rate (t2 - t1)        ± a packet at each end
//! ```
//!
//! A loss that chooses no moment, as the air's, leaves any number of bytes between two of them. The
//! bucket serves all connections of a path, so that those of the same two hosts are one.
//!
//! ```
//! use losscause::diagnosis::{OneRate, PolicerTest};
//! use losscause::{Span, Time};
//!
//! // Between losses 500 ms to 900 ms apart, 1 Mb/s passes.
//! let mut test = PolicerTest::new(Time::ZERO, 1_250);
//! let mut ms = 0;
//! for loss in 0..30 {
//!     ms += 500 + 100 * (loss % 5);
//!     test.on_loss(
//!         Time::ZERO + Span::from_millis(ms),
//!         125 * ms as u64,
//!         Some(Span::from_millis(40)),
//!     );
//! }
//! let OneRate { rate_bps, share, .. } = test.one_rate().expect("30 losses");
//! assert!((990_000..1_010_000).contains(&rate_bps), "{rate_bps}");
//! assert!(share > 0.9, "{share}");
//! ```

use super::{BucketTest, Marks};
use crate::{Span, Time};

/// Collects the losses of a path, in the order in which the packets passed.
#[derive(Clone, Debug)]
pub struct PolicerTest {
    begun: Time,
    packet_bytes: u64,
    marks: Marks<Mark>,
    first: Option<Mark>,
    last: Option<Mark>,
}

/// What had passed when a packet was dropped.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at: Time,
    bytes: u64,
}

/// The rate that most of the time between losses agrees on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneRate {
    /// The rate, bits per second.
    pub rate_bps: u64,
    /// What passed before the first loss beyond that rate, bytes: the bucket holds at least so
    /// much.
    pub burst_bytes: u64,
    /// Intervals between losses that fit the rate.
    pub fit: u32,
    /// All of them.
    pub intervals: u32,
    /// The share of the time between losses that fits, from 0 to 1.
    pub share: f64,
    /// The share of the time in which more passed than the rate allows.
    pub above: f64,
    /// What every packet says of a bucket, if that was asked.
    pub bucket: BucketTest,
}

/// Intervals are not shorter: so many round trips, in which a sender changes its rate, and so long.
const ROUND_TRIPS: i64 = 3;
const SHORTEST: Span = Span::from_millis(200);
/// Nor do fewer packets pass in them: so many make two packets an eighth.
const FEWEST_PKTS: u64 = 16;
/// What passes may differ by this share of the rate: tokens are filled in steps, and
/// acknowledgements are late.
const TOLERANCE: f64 = 0.06;
/// And by so many packets, one at each end.
const TOLERANCE_PKTS: u64 = 2;
/// One interval counts for no more than so many usual ones: a pause, or a clock that was set, fits
/// any rate by itself.
const MOST_WEIGHT: f64 = 2.0;
/// Fewer intervals fit one rate by chance.
const FEWEST: u32 = 6;

impl PolicerTest {
    /// A path whose first packet passed at `begun`, and whose full packets have `packet_bytes`.
    pub fn new(begun: Time, packet_bytes: u64) -> Self {
        Self { begun, packet_bytes, marks: Marks::default(), first: None, last: None }
    }

    /// A packet was dropped at `at`, after `bytes` had passed since the path's first packet. `rtt`
    /// is the round-trip time, if it is known.
    pub fn on_loss(&mut self, at: Time, bytes: u64, rtt: Option<Span>) {
        let mark = Mark { at, bytes };
        self.first.get_or_insert(mark);
        let shortest = SHORTEST.max(rtt.unwrap_or(Span::ZERO) * ROUND_TRIPS);
        let fewest = FEWEST_PKTS * self.packet_bytes;
        if self.last.is_none_or(|last| at - last.at >= shortest && bytes >= last.bytes + fewest) {
            self.marks.push(mark);
            self.last = Some(mark);
        }
    }

    /// The rate that most time agrees on; none from too few losses.
    pub fn one_rate(&self) -> Option<OneRate> {
        let slack = (TOLERANCE_PKTS * self.packet_bytes) as f64;
        let longest = MOST_WEIGHT * self.usual();
        let best = self.intervals().map(|(span, bytes)| self.of_rate(bytes / span, slack, longest));
        // Less passes where senders have less to send; more never does.
        let worth = |one: &OneRate| one.share - one.above;
        let best = best.max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
        if best.intervals < FEWEST {
            return None;
        }
        // What fits also tells the rate better than the one interval that it was tried with.
        let fits = |&(span, bytes): &(f64, f64)| {
            (bytes - best.bytes_per_s() * span).abs() <= best.tolerated(span, slack)
        };
        let (span, bytes) = self
            .intervals()
            .filter(fits)
            .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let rate = bytes / span;
        let before_first = self
            .first
            .map_or(0.0, |first| first.bytes as f64 - rate * (first.at - self.begun).as_secs_f64());
        Some(OneRate {
            rate_bps: (rate * 8.0) as u64,
            burst_bytes: before_first.max(0.0) as u64,
            ..best
        })
    }

    /// Seconds between losses, and the bytes that passed.
    fn intervals(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let pairs = self.marks.iter().zip(self.marks.iter().skip(1));
        let interval = |(from, to): (&Mark, &Mark)| {
            ((to.at - from.at).as_secs_f64(), to.bytes.saturating_sub(from.bytes) as f64)
        };
        pairs.map(interval).filter(|(span, _)| *span > 0.0)
    }

    /// The interval than which half of them are longer.
    fn usual(&self) -> f64 {
        let shorter = |than: f64| self.intervals().filter(|(span, _)| *span < than).count();
        let all = self.intervals().count();
        self.intervals()
            .map(|(span, _)| span)
            .filter(|&span| shorter(span) * 2 <= all)
            .fold(0.0, f64::max)
    }

    fn of_rate(&self, bytes_per_s: f64, slack: f64, longest: f64) -> OneRate {
        let mut found = OneRate {
            rate_bps: (bytes_per_s * 8.0) as u64,
            burst_bytes: 0,
            fit: 0,
            intervals: 0,
            share: 0.0,
            above: 0.0,
            bucket: BucketTest::NotTested,
        };
        let mut all = 0.0;
        for (span, bytes) in self.intervals() {
            let more = bytes - bytes_per_s * span;
            let tolerated = found.tolerated(span, slack);
            let weight = span.min(longest);
            all += weight;
            found.intervals += 1;
            if more.abs() <= tolerated {
                found.fit += 1;
                found.share += weight;
            } else if more > 0.0 {
                found.above += weight;
            }
        }
        (found.share, found.above) = (found.share / all, found.above / all);
        found
    }
}

impl OneRate {
    fn bytes_per_s(&self) -> f64 {
        self.rate_bps as f64 / 8.0
    }

    fn tolerated(&self, span: f64, slack: f64) -> f64 {
        slack + TOLERANCE * self.bytes_per_s() * span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1_500;

    /// A minute of packets, from 17 to 350 in a second and back every 4 s, of which `drops` says
    /// whether one is dropped; it gets the millisecond.
    fn one_rate(mut drops: impl FnMut(u64) -> bool) -> OneRate {
        let mut test = PolicerTest::new(Time::ZERO, PACKET);
        let mut passed = 0;
        let mut due = 0;
        for ms in 0..60_000_u64 {
            let phase = ms % 4_000;
            due += 50 + phase.min(4_000 - phase) / 2;
            while due >= 3_000 {
                due -= 3_000;
                if drops(ms) {
                    let rtt = Some(Span::from_millis(50));
                    test.on_loss(Time::ZERO + Span::from_millis(ms as i64), passed, rtt);
                } else {
                    passed += PACKET;
                }
            }
        }
        test.one_rate().expect("enough losses")
    }

    #[test]
    fn what_passes_between_the_losses_of_a_bucket_is_its_rate() {
        // 200 kB/s and 30 kB.
        let mut tokens = 30_000;
        let mut filled_ms = 0;
        let found = one_rate(|ms| {
            tokens = (tokens + 200 * (ms - filled_ms)).min(30_000);
            filled_ms = ms;
            let passes = tokens >= PACKET;
            tokens -= if passes { PACKET } else { 0 };
            !passes
        });
        assert!(found.rate_bps.abs_diff(1_600_000) < 32_000, "{found:?}");
        // Between the last loss of a crest and the first of the next one the bucket was full for a
        // time.
        assert!(found.fit >= 60 && found.above == 0.0, "{found:?}");
    }

    #[test]
    fn the_burst_is_what_passed_before_the_first_loss_beyond_the_rate() {
        // 100 kB/s since time zero, and 30 kB at once.
        let mut test = PolicerTest::new(Time::ZERO, PACKET);
        for second in 1..=10 {
            let at = Time::ZERO + Span::from_secs(second);
            test.on_loss(at, 30_000 + 100_000 * second as u64, None);
        }
        let found = test.one_rate().expect("enough losses");
        assert_eq!((found.rate_bps, found.burst_bytes), (800_000, 30_000));
    }

    #[test]
    fn losses_that_choose_no_moment_leave_no_rate() {
        let mut state = 1_u64;
        let found = one_rate(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33).is_multiple_of(50)
        });
        assert!(found.share < 0.45, "{found:?}");
    }

    #[test]
    fn a_long_pause_is_no_rate() {
        let mut test = PolicerTest::new(Time::ZERO, PACKET);
        // Random losses, then an hour without any, then more of them.
        let mut state = 1_u64;
        let mut at = Time::ZERO;
        let mut bytes = 0;
        for place in 0..20 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            bytes += 20 * PACKET + (state >> 33) % (200 * PACKET);
            at += if place == 10 { Span::from_secs(3_600) } else { Span::from_millis(300) };
            test.on_loss(at, bytes, None);
        }
        let found = test.one_rate().expect("enough losses");
        assert!(found.share < 0.45, "{found:?}");
    }

    #[test]
    fn few_losses_tell_no_rate() {
        let mut test = PolicerTest::new(Time::ZERO, PACKET);
        (0..6)
            .for_each(|k| test.on_loss(Time::ZERO + Span::from_secs(k), 100_000 * k as u64, None));
        assert_eq!(test.one_rate(), None, "five intervals");
    }
}
