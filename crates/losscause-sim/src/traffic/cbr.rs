//! Packets at a constant rate, the first one at the start (ns-2 `Application/Traffic/CBR` without
//! `random_`).
//!
//! Parameters: `rate_bps` and `packet_bytes`, both on the wire, no defaults. Deviations: none.

use losscause::Time;

use super::{Departures, Spacing};
use crate::packet::Datagram;

#[derive(Clone, Debug)]
pub(crate) struct Cbr {
    spacing: Spacing,
    departures: Departures,
}

impl Cbr {
    pub(crate) fn new(rate_bps: u64, packet_bytes: u32) -> Self {
        Self {
            spacing: Spacing::new(rate_bps, packet_bytes),
            departures: Departures::new(packet_bytes),
        }
    }

    pub(crate) fn start(&mut self, now: Time) {
        self.departures.start(now);
    }

    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.departures.next()
    }

    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        self.departures.take(now, || self.spacing.next())
    }
}
