//! Reno's loss recovery: fast retransmit and fast recovery (RFC 5681, section 3.2).
//!
//! The third duplicate ACK means that the next packet was lost: it is sent again at once, and the window is halved.
//! Every duplicate ACK shows that another packet has left the network, so that until new data is acknowledged the
//! window is inflated by one packet for each. The first ACK of new data takes the inflation away, whether or not
//! it acknowledges everything that was in flight.
//!
//! Deviations, all chosen by [`Config`]: [`FastRetransmit::OncePerWindow`] and [`LimitedTransmit::NextPacket`] are
//! ns-2's.

use super::config::{Config, FastRetransmit, LimitedTransmit};

#[derive(Clone, Debug)]
pub(super) struct Reno {
    threshold: u32,
    fast_retransmit: FastRetransmit,
    limited_transmit: LimitedTransmit,
    phase: Phase,
    /// Packets sent when the last loss was found (the numbers below this one).
    recover: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No loss is being repaired by fast recovery.
    Open { dup_acks: u32 },
    /// Between fast retransmit and the next ACK of new data.
    FastRecovery { inflation: u32 },
}

impl Reno {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            threshold: config.dup_ack_threshold,
            fast_retransmit: config.fast_retransmit,
            limited_transmit: config.limited_transmit,
            phase: Phase::Open { dup_acks: 0 },
            recover: 0,
        }
    }

    /// A duplicate ACK arrived, with everything below `una` acknowledged and everything below `sent` sent. Whether
    /// packet `una` is to be sent again, and the window to be halved.
    pub(super) fn on_dup_ack(&mut self, una: u64, sent: u64) -> bool {
        match &mut self.phase {
            // Step 4.
            Phase::FastRecovery { inflation } => *inflation = inflation.saturating_add(1),
            Phase::Open { dup_acks } => {
                *dup_acks = dup_acks.saturating_add(1);
                let found = *dup_acks == self.threshold && self.may_retransmit(una);
                if found {
                    // Steps 2 and 3.
                    self.recover = sent;
                    self.phase = Phase::FastRecovery { inflation: self.threshold };
                }
                return found;
            }
        }
        false
    }

    /// New data was acknowledged; whether that ended fast recovery (step 6).
    pub(super) fn on_new_ack(&mut self) -> bool {
        let recovering = matches!(self.phase, Phase::FastRecovery { .. });
        self.phase = Phase::Open { dup_acks: 0 };
        recovering
    }

    /// The retransmission timer expired, with everything below `sent` sent.
    pub(super) fn on_timeout(&mut self, sent: u64) {
        self.recover = sent;
        self.phase = Phase::Open { dup_acks: 0 };
    }

    /// Packets that fast recovery adds to the window.
    pub(super) fn inflation(&self) -> u32 {
        match self.phase {
            Phase::Open { .. } => 0,
            Phase::FastRecovery { inflation } => inflation,
        }
    }

    /// Packets that limited transmit adds to the window (RFC 3042), for the next packet in line; `unsent` if that
    /// one was not sent before.
    pub(super) fn limited_transmit(&self, unsent: bool) -> u32 {
        match self.phase {
            Phase::Open { dup_acks } if dup_acks < self.threshold => match self.limited_transmit {
                LimitedTransmit::Off => 0,
                LimitedTransmit::UnsentPacket if !unsent => 0,
                LimitedTransmit::UnsentPacket | LimitedTransmit::NextPacket => dup_acks,
            },
            _ => 0,
        }
    }

    fn may_retransmit(&self, una: u64) -> bool {
        match self.fast_retransmit {
            FastRetransmit::Always => true,
            // ns-2.35, RenoTcpAgent::dupack_action.
            FastRetransmit::OncePerWindow => una > self.recover || una == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_dup_acks(reno: &mut Reno, una: u64, sent: u64, count: u32) -> Vec<bool> {
        (0..count).map(|_| reno.on_dup_ack(una, sent)).collect()
    }

    #[test]
    fn the_third_duplicate_ack_and_no_other_retransmits() {
        for config in [Config::rfc(), Config::ns2()] {
            let mut reno = Reno::new(&config);
            assert_eq!(after_dup_acks(&mut reno, 5, 15, 6), [false, false, true, false, false, false]);
        }
    }

    #[test]
    fn the_window_is_inflated_by_three_and_one_for_each_further_duplicate() {
        let mut reno = Reno::new(&Config::rfc());
        let mut inflation = vec![];
        for _ in 0..5 {
            reno.on_dup_ack(5, 15);
            inflation.push(reno.inflation());
        }
        assert_eq!(inflation, [0, 0, 3, 4, 5]);
    }

    #[test]
    fn the_first_new_ack_deflates_even_if_it_is_partial() {
        let mut reno = Reno::new(&Config::rfc());
        after_dup_acks(&mut reno, 5, 15, 7);
        assert!(reno.on_new_ack(), "recovery ends");
        assert_eq!(reno.inflation(), 0);
        assert!(!reno.on_new_ack(), "and is not entered by an ACK of new data");
    }

    #[test]
    fn duplicate_acks_are_counted_anew_after_a_new_ack() {
        let mut reno = Reno::new(&Config::rfc());
        after_dup_acks(&mut reno, 5, 15, 2);
        reno.on_new_ack();
        assert_eq!(after_dup_acks(&mut reno, 6, 16, 3), [false, false, true]);
    }

    #[test]
    fn a_second_loss_of_the_same_window_is_retransmitted_under_rfc_5681_but_not_in_ns2() {
        let second_loss = |config: &Config, una| {
            let mut reno = Reno::new(config);
            after_dup_acks(&mut reno, 5, 15, 3);
            reno.on_new_ack();
            after_dup_acks(&mut reno, una, 20, 3)[2]
        };
        assert!(second_loss(&Config::rfc(), 9));
        assert!(!second_loss(&Config::ns2(), 9));
        // Everything sent by then is acknowledged, and no more: not yet.
        assert!(!second_loss(&Config::ns2(), 15));
        assert!(second_loss(&Config::ns2(), 16));
    }

    #[test]
    fn after_a_timeout_ns2_waits_until_the_lost_window_is_acknowledged() {
        let mut reno = Reno::new(&Config::ns2());
        reno.on_timeout(15);
        assert_eq!(after_dup_acks(&mut reno, 7, 16, 5), [false; 5]);
        assert_eq!(reno.inflation(), 0);
        reno.on_new_ack();
        assert_eq!(after_dup_acks(&mut reno, 16, 30, 3), [false, false, true]);
    }

    #[test]
    fn ns2_retransmits_fast_once_something_was_acknowledged() {
        assert!(!after_dup_acks(&mut Reno::new(&Config::ns2()), 0, 4, 3)[2]);
        assert!(after_dup_acks(&mut Reno::new(&Config::ns2()), 1, 5, 3)[2]);
        assert!(after_dup_acks(&mut Reno::new(&Config::rfc()), 0, 4, 3)[2]);
    }

    #[test]
    fn limited_transmit_releases_one_packet_per_duplicate_below_the_threshold() {
        let released = |limited_transmit, unsent| {
            let mut reno = Reno::new(&Config { limited_transmit, ..Config::rfc() });
            let mut released = vec![];
            for _ in 0..4 {
                reno.on_dup_ack(5, 15);
                released.push(reno.limited_transmit(unsent));
            }
            released
        };
        assert_eq!(released(LimitedTransmit::Off, true), [0, 0, 0, 0]);
        assert_eq!(released(LimitedTransmit::UnsentPacket, true), [1, 2, 0, 0]);
        assert_eq!(released(LimitedTransmit::UnsentPacket, false), [0, 0, 0, 0]);
        assert_eq!(released(LimitedTransmit::NextPacket, false), [1, 2, 0, 0]);
    }
}
