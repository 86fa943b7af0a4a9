//! HyStart (Ha and Rhee 2011): slow start ends before it overflows the queue.
//!
//! ```text
//! each round trip, with cwnd >= 16:
//! ACK train:  ACKs at most 2 ms apart since the round trip began, over more than (min_rtt + 1 ms)/2,
//!             or min_rtt + 1 ms if the sender is paced
//! delay:      smallest of the first 8 round-trip times > min_rtt + min_rtt/8, that term within 4 .. 16 ms
//! either:     ssthresh = cwnd
//! ```
//!
//! Linux (net/ipv4/tcp_cubic.c) has these classic rules, not HyStart++ (RFC 9406). It adds up to 1
//! ms to min_rtt for ACKs that were held back: 1 ms at every rate below 2 Gb/s.
//!
//! Deviations: that 1 ms is constant.

use losscause::{Span, Time};

/// HyStart in one slow start.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    /// Whether slow start has been ended.
    found: bool,
    /// Whether the sender is paced.
    paced: bool,
    round: Option<Round>,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    began: Time,
    /// The last ACK of the train.
    last_ack: Time,
    /// The round trip ends when more than this is acknowledged.
    end: u64,
    least_rtt: Span,
    samples: u32,
}

const LOW_WINDOW_PKTS: u32 = 16;
const ACK_DELTA: Span = Span::from_millis(2);
const HELD_BACK: Span = Span::from_millis(1);
const MIN_SAMPLES: u32 = 8;
const LEAST_RISE: Span = Span::from_millis(4);
const MOST_RISE: Span = Span::from_millis(16);

/// An ACK in slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlowStartAck {
    pub(super) at: Time,
    pub(super) rtt: Span,
    pub(super) min_rtt: Span,
    pub(super) una: u64,
    pub(super) next: u64,
    pub(super) cwnd_pkts: u32,
}

impl HyStart {
    pub(super) fn new(paced: bool) -> Self {
        Self { found: false, paced, round: None }
    }

    pub(super) fn is_paced(&self) -> bool {
        self.paced
    }

    /// Handles an ACK in slow start. Returns whether slow start ends.
    pub(super) fn on_ack(&mut self, ack: &SlowStartAck) -> bool {
        if self.found {
            return false;
        }
        let round = self.round.get_or_insert_with(|| Round::beginning(ack));
        if ack.una > round.end {
            *round = Round::beginning(ack);
        }
        if ack.cwnd_pkts < LOW_WINDOW_PKTS {
            return false;
        }
        // Both must see every ACK.
        let train = round.is_train(ack, self.paced);
        let delay = round.is_delayed(ack);
        self.found = train || delay;
        self.found
    }
}

impl Round {
    fn beginning(ack: &SlowStartAck) -> Self {
        Self { began: ack.at, last_ack: ack.at, end: ack.next, least_rtt: Span::MAX, samples: 0 }
    }

    fn is_train(&mut self, ack: &SlowStartAck, paced: bool) -> bool {
        if ack.at - self.last_ack > ACK_DELTA {
            return false;
        }
        self.last_ack = ack.at;
        let least = ack.min_rtt + HELD_BACK;
        ack.at - self.began > if paced { least } else { least / 2 }
    }

    fn is_delayed(&mut self, ack: &SlowStartAck) -> bool {
        self.least_rtt = self.least_rtt.min(ack.rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.least_rtt > ack.min_rtt + (ack.min_rtt / 8).clamp(LEAST_RISE, MOST_RISE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(ms: i64, rtt_ms: i64) -> SlowStartAck {
        let at = Time::ZERO + Span::from_millis(ms);
        let rtt = Span::from_millis(rtt_ms);
        SlowStartAck { at, rtt, min_rtt: Span::from_millis(40), una: 1, next: 40, cwnd_pkts: 20 }
    }

    #[test]
    fn a_train_of_acks_over_half_a_round_trip_ends_slow_start() {
        let mut hystart = HyStart::new(false);
        // (40 + 1)/2 ms are exceeded at 22 ms.
        let ended: Vec<bool> = (0..12).map(|i| hystart.on_ack(&ack(2 * i, 40))).collect();
        assert_eq!(ended.iter().position(|&ended| ended), Some(11));
    }

    #[test]
    fn a_paced_train_must_be_twice_as_long() {
        let mut hystart = HyStart::new(true);
        // 40 + 1 ms are exceeded at 42 ms.
        let ended = (0..22).map(|i| hystart.on_ack(&ack(2 * i, 40))).position(|ended| ended);
        assert_eq!(ended, Some(21));
    }

    #[test]
    fn acks_further_apart_are_no_train() {
        let mut hystart = HyStart::new(false);
        assert!((0..12).all(|i| !hystart.on_ack(&ack(3 * i, 40))));
    }

    #[test]
    fn eight_long_round_trip_times_and_one_more_end_slow_start() {
        // 40 + 40/8 = 45 ms.
        let ended = |rtt_ms| {
            let mut hystart = HyStart::new(false);
            (0..12).map(|i| hystart.on_ack(&ack(3 * i, rtt_ms))).position(|ended| ended)
        };
        assert_eq!((ended(45), ended(46)), (None, Some(8)));
    }

    #[test]
    fn one_short_round_trip_time_vouches_for_its_round_only() {
        let mut hystart = HyStart::new(false);
        assert!((0..20).all(|i| !hystart.on_ack(&ack(3 * i, if i == 4 { 40 } else { 60 }))));
        let next = |i: i64| SlowStartAck { una: 41, next: 80, ..ack(60 + 3 * i, 60) };
        assert_eq!((0..12_i64).map(|i| hystart.on_ack(&next(i))).position(|ended| ended), Some(8));
    }

    #[test]
    fn a_window_below_sixteen_is_left_alone() {
        let mut hystart = HyStart::new(false);
        assert!((0..30).all(|i| !hystart.on_ack(&SlowStartAck { cwnd_pkts: 15, ..ack(i, 90) })));
    }
}
