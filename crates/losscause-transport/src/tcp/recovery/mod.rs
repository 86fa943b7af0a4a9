//! Loss recovery: which packet is sent next, and when duplicate ACKs mean a loss. One file per scheme.

mod reno;

use losscause::Time;

use super::config::{Config, FastRetransmit, LimitedTransmit};
use super::response::Window;
use super::segment::Ack;
use super::stream::Stream;
use reno::Reno;

/// The scheme of a connection.
#[derive(Clone, Debug)]
pub(super) enum Recovery {
    Reno(Reno),
}

/// What an ACK of new data meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing was being repaired.
    Open,
    /// Everything lost was repaired.
    Recovered,
}

/// A loss that duplicate ACKs revealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Packets in flight, without what limited transmit sent (RFC 5681, section 3.2, step 2).
    pub(super) flight_pkts: u64,
}

impl Recovery {
    pub(super) fn new(config: &Config) -> Self {
        Self::Reno(Reno::new(config))
    }

    /// New data was acknowledged; `stream` counts it already.
    #[inline]
    pub(super) fn on_new_ack(&mut self) -> Progress {
        match self {
            Self::Reno(reno) => reno.on_new_ack(),
        }
    }

    /// A duplicate ACK arrived.
    #[inline]
    pub(super) fn on_dup_ack(&mut self, _now: Time, _ack: &Ack, stream: &Stream, window: &Window) -> Option<Found> {
        match self {
            Self::Reno(reno) => reno.on_dup_ack(stream, window),
        }
    }

    /// The retransmission timer expired; `stream` is not taken back yet.
    pub(super) fn on_timeout(&mut self, stream: &Stream) {
        match self {
            Self::Reno(reno) => reno.on_timeout(stream),
        }
    }

    /// The packet to send now, if there is one.
    #[inline]
    pub(super) fn poll_transmit(&mut self, stream: &mut Stream, window: &Window) -> Option<u64> {
        match self {
            Self::Reno(reno) => reno.poll_transmit(stream, window),
        }
    }

    /// Packets that may be unacknowledged, no more than the receiver's window.
    #[inline]
    pub(super) fn window_pkts(&self, stream: &Stream, window: &Window) -> u32 {
        match self {
            Self::Reno(reno) => reno.window_pkts(stream, window),
        }
    }
}

impl FastRetransmit {
    /// Whether packet `una` may be sent again because of duplicate ACKs, if everything below `recover` had been sent when
    /// the last loss was found.
    fn allows(self, una: u64, recover: u64) -> bool {
        match self {
            Self::Always => true,
            // ns-2.35, RenoTcpAgent::dupack_action.
            Self::OncePerWindow => una > recover || una == 1,
        }
    }
}

impl LimitedTransmit {
    /// Packets that so many duplicate ACKs add to the window, for the next packet in line; `unsent` if that one was not
    /// sent before.
    #[inline]
    fn releases(self, dup_acks: u32, unsent: bool) -> u32 {
        match self {
            Self::Off => 0,
            Self::UnsentPacket if !unsent => 0,
            Self::UnsentPacket | Self::NextPacket => dup_acks,
        }
    }
}
