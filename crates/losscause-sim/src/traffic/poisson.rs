//! Packets of one size as a Poisson process: the time between two packets has an exponential
//! distribution, whatever the size of the packets.
//!
//! A FIFO link that has such a source for itself is the queue M/D/1. With the load rho (the source's
//! rate over the link's) and the time s that a packet takes on the link, packets wait for
//! rho s / (2 (1 - rho)) on average (Pollaczek and Khinchine; L. Kleinrock, "Queueing Systems",
//! volume 1, section 5.6).
//!
//! Parameters: `rate_bps` (the mean, on the wire) and `packet_bytes`. No defaults. Deviations: gaps
//! are whole nanoseconds.

use losscause::{Span, Time};

use super::Departures;
use crate::packet::Datagram;
use crate::rng::Stream;

#[derive(Clone, Debug)]
pub(crate) struct Poisson {
    gaps: Gaps,
    departures: Departures,
}

#[derive(Clone, Debug)]
struct Gaps {
    mean_nanos: f64,
    stream: Stream,
}

impl Poisson {
    pub(crate) fn new(rate_bps: u64, packet_bytes: u32, stream: Stream) -> Self {
        let mean_nanos = f64::from(packet_bytes) * 8e9 / rate_bps as f64;
        Self { gaps: Gaps { mean_nanos, stream }, departures: Departures::new(packet_bytes) }
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.departures.start(now + self.gaps.draw());
    }

    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.departures.next()
    }

    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        self.departures.take(now, || self.gaps.draw())
    }
}

impl Gaps {
    fn draw(&mut self) -> Span {
        Span::from_nanos((self.stream.exponential(self.mean_nanos) + 0.5) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_per_second_have_the_mean_and_variance_of_a_poisson_process() {
        // 1000 bytes at 800 kb/s: 100 packets a second.
        let mut source = Poisson::new(800_000, 1000, Stream::new(3, "source"));
        source.start(Time::ZERO);
        let mut counts = vec![0.0; 4000];
        while let Some(next) = source.poll_timeout() {
            let second = (next - Time::ZERO).as_secs_f64() as usize;
            let Some(count) = counts.get_mut(second) else { break };
            *count += 1.0;
            source.poll_transmit(next).unwrap();
        }
        let mean = counts.iter().sum::<f64>() / 4000.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 3999.0;
        // Five standard errors: of the mean 10 / sqrt(4000), of the variance 100 sqrt(2 / 4000).
        assert!((mean - 100.0).abs() < 0.8, "{mean}");
        assert!((variance - 100.0).abs() < 11.2, "{variance}");
    }
}
