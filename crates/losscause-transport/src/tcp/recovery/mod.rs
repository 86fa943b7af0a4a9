//! Loss recovery: which packet is sent next, and when duplicate ACKs mean a loss. One file per scheme.

mod new_reno;
mod reno;
mod sack;
mod sack1;
mod scoreboard;

use losscause::Time;

use super::config::{Config, FastRetransmit, LimitedTransmit, RecoveryScheme};
use super::response::Window;
use super::segment::Ack;
use super::stream::Stream;
use new_reno::NewReno;
pub use new_reno::{Deflation, NewRenoRules, PartialAckTimer, RecoveryExit};
use reno::Reno;
use sack::Sack;
use sack1::Sack1;

/// The scheme of a connection.
#[derive(Clone, Debug)]
pub(super) enum Recovery {
    Reno(Reno),
    NewReno(NewReno),
    Sack(Sack),
    Sack1(Sack1),
}

/// What an ACK of new data meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing was being repaired.
    Open,
    /// A loss was repaired, another is known.
    Partial {
        /// Whether the retransmission timer starts anew.
        restart_timer: bool,
        /// Whether that ends its back-off, from the next start on.
        clear_backoff: bool,
    },
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
        match config.recovery {
            RecoveryScheme::Reno => Self::Reno(Reno::new(config)),
            RecoveryScheme::NewReno(rules) => Self::NewReno(NewReno::new(config, rules)),
            RecoveryScheme::Sack => Self::Sack(Sack::new(config)),
            RecoveryScheme::Sack1 => Self::Sack1(Sack1::new(config)),
        }
    }

    /// So many packets were acknowledged for the first time; `stream` counts them already.
    #[inline]
    pub(super) fn on_new_ack(&mut self, ack: &Ack, acked: u64, stream: &Stream, window: &mut Window) -> Progress {
        match self {
            Self::Reno(reno) => reno.on_new_ack(),
            Self::NewReno(reno) => reno.on_new_ack(acked, stream, window),
            Self::Sack(sack) => sack.on_new_ack(ack, stream),
            Self::Sack1(sack) => sack.on_new_ack(ack, stream),
        }
    }

    /// A duplicate ACK arrived.
    #[inline]
    pub(super) fn on_dup_ack(&mut self, _now: Time, ack: &Ack, stream: &Stream, window: &Window) -> Option<Found> {
        match self {
            Self::Reno(reno) => reno.on_dup_ack(stream, window),
            Self::NewReno(reno) => reno.on_dup_ack(stream, window),
            Self::Sack(sack) => sack.on_dup_ack(ack, stream, window),
            Self::Sack1(sack) => sack.on_dup_ack(ack, stream),
        }
    }

    /// The retransmission timer expired; `stream` is not taken back yet.
    pub(super) fn on_timeout(&mut self, stream: &Stream) {
        match self {
            Self::Reno(reno) => reno.on_timeout(stream),
            Self::NewReno(reno) => reno.on_timeout(stream),
            Self::Sack(sack) => sack.on_timeout(stream),
            Self::Sack1(sack) => sack.on_timeout(stream),
        }
    }

    /// The packet to send now, if there is one.
    #[inline]
    pub(super) fn poll_transmit(&mut self, stream: &mut Stream, window: &Window) -> Option<u64> {
        match self {
            Self::Reno(reno) => reno.poll_transmit(stream, window),
            Self::NewReno(reno) => reno.poll_transmit(stream, window),
            Self::Sack(sack) => sack.poll_transmit(stream, window),
            Self::Sack1(sack) => sack.poll_transmit(stream, window),
        }
    }

    /// Packets that may be unacknowledged, no more than the receiver's window.
    #[inline]
    pub(super) fn window_pkts(&self, stream: &Stream, window: &Window) -> u32 {
        match self {
            Self::Reno(reno) => reno.window_pkts(stream, window),
            Self::NewReno(reno) => reno.window_pkts(stream, window),
            Self::Sack(sack) => sack.window_pkts(stream, window),
            Self::Sack1(sack) => sack.window_pkts(stream, window),
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
            // RFC 6582, section 3.2, step 1: recover starts at the first number.
            Self::AfterRecovery => una > recover || recover == 0,
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
