//! Packets at a constant rate, the first one at the start (ns-2 `Application/Traffic/CBR` without
//! `random_`).
//!
//! Parameters: `rate_bps` and `packet_bytes`, both on the wire, no defaults. Deviations: none.

use losscause::Time;

use super::Spacing;
use crate::packet::Datagram;

#[derive(Clone, Debug)]
pub(crate) struct Cbr {
    spacing: Spacing,
    packet_bytes: u32,
    seq: u64,
    next: Option<Time>,
}

impl Cbr {
    pub(crate) fn new(rate_bps: u64, packet_bytes: u32) -> Self {
        Self { spacing: Spacing::new(rate_bps, packet_bytes), packet_bytes, seq: 0, next: None }
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.next = Some(now);
    }

    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.next
    }

    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        let due = self.next.filter(|&next| next <= now)?;
        self.next = Some(due + self.spacing.next());
        let seq = self.seq;
        self.seq += 1;
        Some(Datagram { seq, bytes: self.packet_bytes })
    }
}
