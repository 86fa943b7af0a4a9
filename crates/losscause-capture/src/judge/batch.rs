//! Packets that a host handed up together.
//!
//! A network card's driver, or a busy host, hands up several packets at once; the capture stamps
//! them a few microseconds apart, however slow the path. If those intervals were believed, the
//! smallest inter-arrival time of a flow would be that of the host, and every loss would look like
//! congestion to Biaz and its kin.
//!
//! An interval is the host's if it is both
//!
//! - below 50 µs: a host takes a few microseconds per packet, and a full packet that fast fills 240
//!   Mb/s; and
//! - below a third of the shortest time per packet in which a whole run of 32 packets arrived: no
//!   path that is so much slower over 32 packets delivers two of them that fast.
//!
//! Packets of one batch get the time of its first one. An interval of zero is what the algorithms
//! know as "too short to be measured", and no trip time changes by more than the batch lasted.

use losscause::{Span, Time};

use super::Least;

/// Recognises packets that were handed up together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batches {
    /// When the last packet came, and the time that it was given.
    last: Option<(Time, Time)>,
    /// Packets of the current run, and its beginning.
    run: Option<(u32, Time)>,
    /// The shortest runs so far, per packet.
    pace: Least,
    /// Packets that came in a batch behind another one.
    joined: u64,
}

/// Longer intervals are never a host's.
const HOST: Span = Span::from_micros(50);
const RUN_PKTS: u32 = 32;

impl Batches {
    /// The time to give to a packet that arrived at `now`: its own, or that of the batch that it
    /// belongs to.
    #[inline]
    pub(crate) fn time_of(&mut self, now: Time) -> Time {
        self.measure(now);
        let given = match (self.last, self.pace.value()) {
            (Some((before, given)), Some(pace))
                if now >= before && now - before < HOST && (now - before) * 3 < pace =>
            {
                self.joined += 1;
                given
            }
            _ => now,
        };
        self.last = Some((now, given));
        given
    }

    #[inline]
    fn measure(&mut self, now: Time) {
        match &mut self.run {
            Some((packets, begun)) if *packets < RUN_PKTS => {
                *packets += 1;
                if *packets == RUN_PKTS {
                    self.pace.take((now - *begun).max(Span::ZERO) / i64::from(RUN_PKTS));
                    self.run = Some((0, now));
                }
            }
            _ => self.run = Some((0, now)),
        }
    }

    /// Packets that came in a batch behind another one.
    pub(crate) fn joined(&self) -> u64 {
        self.joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(arrivals_us: impl Iterator<Item = i64>) -> Vec<i64> {
        let mut batches = Batches::default();
        arrivals_us
            .map(|us| batches.time_of(Time::ZERO + Span::from_micros(us)).as_nanos() / 1_000)
            .collect()
    }

    #[test]
    fn packets_handed_up_in_threes_share_a_time() {
        // Three packets 4 µs apart every 3.6 ms.
        let given = given((0..300).map(|i| i / 3 * 3_600 + i % 3 * 4));
        assert_eq!(
            given[270..276],
            [90 * 3_600, 90 * 3_600, 90 * 3_600, 91 * 3_600, 91 * 3_600, 91 * 3_600]
        );
    }

    #[test]
    fn a_fast_path_is_no_batch() {
        // A full packet every 12 µs: 1 Gb/s.
        let arrivals: Vec<i64> = (0..300).map(|i| i * 12).collect();
        assert_eq!(given(arrivals.iter().copied()), arrivals);
    }

    #[test]
    fn intervals_of_a_slow_path_are_never_touched() {
        let arrivals: Vec<i64> = (0..300).map(|i| i * 1_000 + i % 2 * 900).collect();
        assert_eq!(given(arrivals.iter().copied()), arrivals);
    }
}
