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
