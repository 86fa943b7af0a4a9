//! What the IPv4 headers of all flows have in common.

use losscause_sim::rng::Stream;

/// IPv4's ECN field (RFC 3168, section 5) of a packet that a queue has marked.
pub(super) const CONGESTION_EXPERIENCED: u8 = 3;

/// The ECN field of a packet that is sent.
pub(super) fn ecn_field(ecn: losscause_transport::Ecn) -> u8 {
    match ecn {
        losscause_transport::Ecn::NotCapable => 0,
        // ECT(0).
        losscause_transport::Ecn::Capable => 2,
        losscause_transport::Ecn::Marked => CONGESTION_EXPERIENCED,
    }
}

/// The identifications of one end's packets: consecutive, from a random one on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identification(u16);

impl Identification {
    pub(super) fn new(stream: &mut Stream) -> Self {
        Self(stream.below(1 << 16) as u16)
    }

    pub(super) fn next(&mut self) -> u16 {
        let next = self.0;
        self.0 = next.wrapping_add(1);
        next
    }
}

/// Routers count a packet's time to live down from here.
pub(super) const TIME_TO_LIVE: u8 = 64;
