//! Whether a token bucket loses the packets of a path (Flach et al., "An Internet-Wide Analysis of Traffic Policing",
//! SIGCOMM 2016).
//!
//! A policer drops a packet when its bucket holds too few tokens. So the bucket is empty at every loss, and between any
//! two losses as many bytes pass as its rate allows, whatever the senders do:
//!
//! ```text
//! passed(t1, t2) = rate (t2 - t1)        ± a packet at each end
//! ```
//!
//! A loss that chooses no moment, as the air's, leaves any number of bytes between two of them. The bucket serves all
//! connections of a path, so that those of the same two hosts are one.

use super::Marks;
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
    /// What passed before the first loss beyond that rate, bytes: the bucket holds at least so much.
    pub burst_bytes: u64,
    /// Intervals between losses that fit the rate.
    pub fit: u32,
    /// All of them.
    pub intervals: u32,
    /// The share of the time between losses that fits, from 0 to 1.
    pub share: f64,
    /// The share of the time in which more passed than the rate allows.
    pub above: f64,
}

/// Intervals are not shorter: so many round trips, in which a sender changes its rate, and so long.
const ROUND_TRIPS: i64 = 3;
const SHORTEST: Span = Span::from_millis(200);
/// Nor do fewer packets pass in them: so many make two packets an eighth.
const FEWEST_PKTS: u64 = 16;
/// What passes may differ by this share of the rate: tokens are filled in steps, and acknowledgements are late.
const TOLERANCE: f64 = 0.06;
/// And by so many packets, one at each end.
const TOLERANCE_PKTS: u64 = 2;
/// Fewer intervals fit one rate by chance.
const FEWEST: u32 = 6;

impl PolicerTest {
    /// A path whose first packet passed at `begun`, and whose full packets have `packet_bytes`.
    pub fn new(begun: Time, packet_bytes: u64) -> Self {
        Self { begun, packet_bytes, marks: Marks::default(), first: None, last: None }
    }

    /// A packet was dropped at `at`, after `bytes` had passed since the path's first packet. `rtt` is the round-trip time,
    /// if it is known.
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
        let best = self.intervals().map(|(span, bytes)| self.of_rate(bytes / span, slack));
        let best = best.max_by(|a, b| a.share.total_cmp(&b.share))?;
        if best.intervals < FEWEST {
            return None;
        }
        // What fits also tells the rate better than the one interval that it was tried with.
        let fits =
            |&(span, bytes): &(f64, f64)| (bytes - best.bytes_per_s() * span).abs() <= best.tolerated(span, slack);
        let (span, bytes) = self.intervals().filter(fits).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let rate = bytes / span;
        let before_first =
            self.first.map_or(0.0, |first| first.bytes as f64 - rate * (first.at - self.begun).as_secs_f64());
        Some(OneRate { rate_bps: (rate * 8.0) as u64, burst_bytes: before_first.max(0.0) as u64, ..best })
    }

    /// Seconds between losses, and the bytes that passed.
    fn intervals(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let pairs = self.marks.iter().zip(self.marks.iter().skip(1));
        let interval =
            |(from, to): (&Mark, &Mark)| ((to.at - from.at).as_secs_f64(), to.bytes.saturating_sub(from.bytes) as f64);
        pairs.map(interval).filter(|(span, _)| *span > 0.0)
    }

    fn of_rate(&self, bytes_per_s: f64, slack: f64) -> OneRate {
        let mut found = OneRate {
            rate_bps: (bytes_per_s * 8.0) as u64,
            burst_bytes: 0,
            fit: 0,
            intervals: 0,
            share: 0.0,
            above: 0.0,
        };
        let mut all = 0.0;
        for (span, bytes) in self.intervals() {
            let more = bytes - bytes_per_s * span;
            let tolerated = found.tolerated(span, slack);
            all += span;
            found.intervals += 1;
            if more.abs() <= tolerated {
                found.fit += 1;
                found.share += span;
            } else if more > 0.0 {
                found.above += span;
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
