//! Bursts at a constant rate between silences, both exponentially long (ns-2 `Application/Traffic/Exponential`).
//!
//! As in ns-2, the source begins with a silence. A burst's length is drawn in packets, mean `mean_on` over the spacing,
//! and rounded to the nearest whole number, at least 1. Each packet comes one spacing after the one before; the first of
//! a burst comes a silence later than that.
//!
//! Parameters: `rate_bps` (during a burst) and `packet_bytes`, both on the wire; `mean_on`, `mean_off`. No defaults.
//! Deviations: none.

use losscause::{Span, Time};

use super::Spacing;
use crate::packet::Datagram;
use crate::rng::Stream;

#[derive(Clone, Debug)]
pub(crate) struct OnOff {
    spacing: Spacing,
    packet_bytes: u32,
    mean_burst_packets: f64,
    mean_off_nanos: f64,
    stream: Stream,
    seq: u64,
    /// Packets left in the burst, the next one included.
    left: u64,
    next: Option<Time>,
}

impl OnOff {
    pub(crate) fn new(rate_bps: u64, packet_bytes: u32, mean_on: Span, mean_off: Span, stream: Stream) -> Self {
        let spacing = Spacing::new(rate_bps, packet_bytes);
        let mean_burst_packets = mean_on.as_nanos_f64() / spacing.mean_nanos();
        let mean_off_nanos = mean_off.as_nanos_f64();
        Self { spacing, packet_bytes, mean_burst_packets, mean_off_nanos, stream, seq: 0, left: 0, next: None }
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.next = Some(now + self.gap());
    }

    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.next
    }

    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        let due = self.next.filter(|&next| next <= now)?;
        self.left -= 1;
        self.next = Some(due + self.gap());
        let seq = self.seq;
        self.seq += 1;
        Some(Datagram { seq, bytes: self.packet_bytes })
    }

    /// To the next packet; draws the next burst if this one is over.
    fn gap(&mut self) -> Span {
        let mut gap = self.spacing.next();
        if self.left == 0 {
            self.left = ((self.stream.exponential(self.mean_burst_packets) + 0.5) as u64).max(1);
            gap += Span::from_nanos(self.stream.exponential(self.mean_off_nanos) as i64);
        }
        gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_on_and_half_off_sends_at_half_the_rate() {
        // 500 bytes at 1 Mb/s: 4 ms. Bursts of 25 packets on average; rounding to at least 1 adds very little.
        let mean = Span::from_millis(100);
        let mut source = OnOff::new(1_000_000, 500, mean, mean, Stream::new(2, "source"));
        source.start(Time::ZERO);
        let mut packets = 0;
        let end = Time::ZERO + Span::from_secs(4000);
        while let Some(next) = source.poll_timeout().filter(|&next| next < end) {
            packets += u32::from(source.poll_transmit(next).is_some());
        }
        // 20,000 cycles of 25 packets in 200 ms; the standard deviation of the share is about sqrt(2/20000)/2.
        let share = f64::from(packets) * 0.004 / 4000.0;
        assert!((share - 0.5).abs() < 0.02, "{share}");
    }

    #[test]
    fn a_burst_keeps_the_spacing() {
        let mut source = OnOff::new(1_000_000, 500, Span::from_secs(1), Span::from_secs(1), Stream::new(2, "source"));
        source.start(Time::ZERO);
        let mut gaps = Vec::new();
        let mut last = None;
        for _ in 0..10_000 {
            let now = source.poll_timeout().unwrap();
            source.poll_transmit(now).unwrap();
            gaps.extend(last.map(|last| now - last));
            last = Some(now);
        }
        let back_to_back = gaps.iter().filter(|&&gap| gap == Span::from_millis(4)).count();
        assert!(gaps.iter().all(|&gap| gap >= Span::from_millis(4)));
        // About 250 packets per burst.
        assert!(back_to_back > 9_900, "{back_to_back}");
    }
}
