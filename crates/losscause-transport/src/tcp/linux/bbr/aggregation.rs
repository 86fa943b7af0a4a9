//! Aggregation of ACKs: by how much more than the estimate was delivered at once (tcp_bbr.c,
//! `bbr_update_ack_aggregation`).
//!
//! ```text
//! extra      packets of an epoch - bandwidth * its time, at most cwnd
//! epoch      begins anew when extra would be 0
//! most       the largest extra of the last 5 to 10 round trips
//! cwnd gets  most, at most what the bandwidth gives in 100 ms
//! ```

use losscause::{Span, Time};

use super::bandwidth::Bandwidth;

#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    epoch: Option<Time>,
    epoch_pkts: u64,
    /// The largest extra of this window, and of the one before.
    most_pkts: [u64; 2],
    /// Round trips of this window.
    rounds: u32,
}

/// What an ACK delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub(super) at: Time,
    pub(super) pkts: u64,
    pub(super) bandwidth: Bandwidth,
    pub(super) cwnd_pkts: u32,
    pub(super) round_start: bool,
}

const WINDOW_ROUNDS: u32 = 5;
const LONGEST_EPOCH_PKTS: u64 = 1 << 20;
const LONGEST_SILENCE: Span = Span::from_millis(100);

impl Aggregation {
    /// The flow begins, or sends again.
    pub(super) fn restart(&mut self, now: Time) {
        (self.epoch, self.epoch_pkts) = (Some(now), 0);
    }

    pub(super) fn on_ack(&mut self, acked: &Acked) {
        if acked.pkts == 0 {
            return;
        }
        if acked.round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.most_pkts = [0, self.most_pkts[0]];
            }
        }
        let began = *self.epoch.get_or_insert(acked.at);
        let mut expected = acked.bandwidth.pkts_in(acked.at - began);
        if self.epoch_pkts <= expected || self.epoch_pkts + acked.pkts >= LONGEST_EPOCH_PKTS {
            self.restart(acked.at);
            expected = 0;
        }
        self.epoch_pkts = (self.epoch_pkts + acked.pkts).min(LONGEST_EPOCH_PKTS - 1);
        let extra = (self.epoch_pkts - expected).min(acked.cwnd_pkts.into());
        self.most_pkts[0] = self.most_pkts[0].max(extra);
    }

    /// Packets that cwnd is larger by.
    pub(super) fn extra_pkts(&self, bandwidth: Bandwidth) -> u64 {
        self.most_pkts[0].max(self.most_pkts[1]).min(bandwidth.pkts_in(LONGEST_SILENCE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000.0 packets per second, a little more for rounding.
    fn bandwidth() -> Bandwidth {
        Bandwidth::of(1_000_100, Span::from_secs(1_000))
    }

    fn ack(aggregation: &mut Aggregation, ms: i64, pkts: u64, round_start: bool) -> u64 {
        let at = Time::ZERO + Span::from_millis(ms);
        let bandwidth = bandwidth();
        aggregation.on_ack(&Acked { at, pkts, bandwidth, cwnd_pkts: 40, round_start });
        aggregation.extra_pkts(bandwidth)
    }

    #[test]
    fn packets_beyond_the_bandwidth_are_extra() {
        let mut aggregation = Aggregation::default();
        // 20 packets at once; 10 ms later 20 more, of which 10 were due.
        assert_eq!(ack(&mut aggregation, 0, 20, false), 20);
        assert_eq!(ack(&mut aggregation, 10, 20, false), 30);
        // At 40 ms 40 were due and 40 came: a new epoch, in which one packet comes.
        assert_eq!(ack(&mut aggregation, 40, 1, false), 30);
        assert_eq!(ack(&mut aggregation, 41, 60, false), 40, "at most cwnd");
    }

    #[test]
    fn an_extra_is_forgotten_after_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        ack(&mut aggregation, 0, 20, true);
        let later = |round: i64| ack(&mut aggregation, 100 * round, 1, true);
        let extras: Vec<u64> = (1..10).map(later).collect();
        // Windows begin with the 5th and the 10th round.
        assert_eq!(extras, [20, 20, 20, 20, 20, 20, 20, 20, 1]);
    }
}
