//! Bursts at a constant rate and silences, both of random length (ns-2
//! `Application/Traffic/Exponential` and `Application/Traffic/Pareto`, which differ only in the
//! distribution of the lengths; see [`Lengths`]).
//!
//! As in ns-2, the source begins with a silence. A burst's length is drawn in packets, mean
//! `mean_on` over the spacing, and rounded to the nearest whole number, at least 1. Each packet is
//! sent one spacing after the previous one; the first packet of a burst is sent a silence later
//! than that.
//!
//! Parameters: `rate_bps` (during a burst) and `packet_bytes`, both on the wire; `mean_on`,
//! `mean_off`; `lengths`. No defaults. Deviations: none.

use losscause::{Span, Time};

use super::{Departures, Spacing};
use crate::packet::Datagram;
use crate::rng::Stream;
use crate::topology::Lengths;

#[derive(Clone, Debug)]
pub(crate) struct OnOff {
    bursts: Bursts,
    departures: Departures,
}

#[derive(Clone, Debug)]
struct Bursts {
    spacing: Spacing,
    mean_burst_packets: f64,
    mean_off_nanos: f64,
    lengths: Lengths,
    stream: Stream,
    /// Packets left in the burst, including the next one.
    left: u64,
}

impl OnOff {
    pub(crate) fn new(
        rate_bps: u64,
        packet_bytes: u32,
        (mean_on, mean_off): (Span, Span),
        lengths: Lengths,
        stream: Stream,
    ) -> Self {
        let spacing = Spacing::new(rate_bps, packet_bytes);
        let mean_burst_packets = mean_on.as_nanos_f64() / spacing.mean_nanos();
        let mean_off_nanos = mean_off.as_nanos_f64();
        Self {
            bursts: Bursts {
                spacing,
                mean_burst_packets,
                mean_off_nanos,
                lengths,
                stream,
                left: 0,
            },
            departures: Departures::new(packet_bytes),
        }
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.departures.start(now + self.bursts.gap());
    }

    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.departures.next()
    }

    #[inline(always)] // The hot part of a source is short.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        self.departures.take(now, || {
            self.bursts.left -= 1;
            self.bursts.gap()
        })
    }
}

impl Bursts {
    /// The time to the next packet. Draws the next burst if this one has ended.
    #[inline]
    fn gap(&mut self) -> Span {
        let gap = self.spacing.next();
        if self.left == 0 { gap + self.next_burst() } else { gap }
    }

    /// Draws the next burst. Returns the silence before it.
    #[inline(never)]
    fn next_burst(&mut self) -> Span {
        self.left =
            ((self.lengths.draw(&mut self.stream, self.mean_burst_packets) + 0.5) as u64).max(1);
        Span::from_nanos(self.lengths.draw(&mut self.stream, self.mean_off_nanos) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 bytes at 1 Mb/s: 4 ms.
    fn source(mean: Span, lengths: Lengths) -> OnOff {
        let mut source =
            OnOff::new(1_000_000, 500, (mean, mean), lengths, Stream::new(2, "source"));
        source.start(Time::ZERO);
        source
    }

    /// Share of the time in which it sends.
    fn share(mut source: OnOff, secs: i64) -> f64 {
        let mut packets = 0;
        let end = Time::ZERO + Span::from_secs(secs);
        while let Some(next) = source.poll_timeout().filter(|&next| next < end) {
            packets += u32::from(source.poll_transmit(next).is_some());
        }
        f64::from(packets) * 0.004 / secs as f64
    }

    /// The lengths of the first bursts, packets.
    fn bursts(mut source: OnOff, count: usize) -> Vec<u64> {
        let mut bursts = vec![0];
        let mut last = Time::MAX;
        while bursts.len() <= count {
            let now = source.poll_timeout().unwrap();
            source.poll_transmit(now).unwrap();
            if now - last > Span::from_millis(4) {
                bursts.push(0);
            }
            *bursts.last_mut().unwrap() += 1;
            last = now;
        }
        bursts.truncate(count);
        bursts
    }

    #[test]
    fn half_on_and_half_off_sends_at_half_the_rate() {
        // Bursts of 25 packets on average; rounding to at least 1 adds very little. 20,000 cycles
        // of 25 packets in 200 ms: the standard deviation of the share is about sqrt(2/20000)/2.
        let share = share(source(Span::from_millis(100), Lengths::Exponential), 4000);
        assert!((share - 0.5).abs() < 0.02, "{share}");
    }

    #[test]
    fn pareto_lengths_of_the_same_means_send_at_the_same_rate() {
        // Shape 3 has a variance: mean^2 / (shape (shape - 2)) = mean^2 / 3, less than the
        // exponential's.
        let share = share(source(Span::from_millis(100), Lengths::Pareto { shape: 3.0 }), 4000);
        assert!((share - 0.5).abs() < 0.02, "{share}");
    }

    #[test]
    fn a_pareto_burst_is_never_below_its_scale_and_rarely_very_long() {
        // Mean 25 packets, shape 1.5: at least 25 / 3 packets, and one in 2,800 above 200 times
        // that.
        let bursts = bursts(source(Span::from_millis(100), Lengths::Pareto { shape: 1.5 }), 20_000);
        assert_eq!(bursts.iter().min(), Some(&8));
        let long = bursts.iter().filter(|&&packets| packets > 1_666).count();
        // Expected 20000 * 200^-1.5 = 7.1.
        assert!((1..25).contains(&long), "{long}");
    }

    #[test]
    fn a_burst_keeps_the_spacing() {
        let mut source = source(Span::from_secs(1), Lengths::Exponential);
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
