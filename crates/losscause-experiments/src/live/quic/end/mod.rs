//! One end of a QUIC connection: a state machine that is fed with datagrams and the time. The
//! driver knows nothing of the implementation behind it.

mod noq;
mod quinn;
mod shared;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use losscause_sim::live::Ecn;
use noq_proto::congestion::ControllerFactory as NoqFactory;
use quinn_proto::congestion::ControllerFactory as QuinnFactory;

use super::clock::Clock;
use super::ledger::Ledger;
use super::network::ConnectionLost;
use super::recording::{NoqRecording, QuinnRecording};

/// UDP payload of a full datagram, bytes: what a search for the path's MTU finds where IP packets
/// may have 1500 bytes.
pub(super) const DATAGRAM_BYTES: u16 = 1452;

/// IPv4 and UDP headers, bytes.
pub(super) const HEADER_BYTES: u32 = 28;

/// Bytes that may be in flight as far as flow control is concerned: far above every bandwidth-delay
/// product here, so that only the congestion controller limits a sender.
const FLOW_WINDOW_BYTES: u32 = 32 << 20;

/// One end of a connection, which has one stream, from client to server.
pub(super) trait End: Send {
    /// Begins the handshake; only of a client.
    fn connect(&mut self, now: Instant);

    /// Takes in a datagram.
    fn receive(&mut self, now: Instant, ecn: Ecn, datagram: BytesMut);

    /// Tells the connection that the instant of [`End::next_timeout`] has come.
    fn on_timeout(&mut self, now: Instant);

    /// When [`End::on_timeout`] is due.
    fn next_timeout(&mut self) -> Option<Instant>;

    /// Writes the next datagram into `buffer`, which is empty; none if there is none.
    fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Ecn>;

    /// Hands data to the stream; returns how many bytes it took, which is none before the
    /// handshake is over.
    ///
    /// # Errors
    /// The connection ended.
    fn write(&mut self, data: Bytes) -> Result<usize, ConnectionLost>;

    /// The stream's data is complete.
    fn finish(&mut self);

    /// Reads what has arrived of the stream, in any order.
    ///
    /// # Errors
    /// The connection ended.
    fn read(&mut self) -> Result<Received, ConnectionLost>;
}

/// What an end has read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Received {
    pub(super) bytes: u64,
    /// The stream has ended.
    pub(super) is_complete: bool,
}

/// A sender's congestion controllers, of one implementation, which is that of both ends.
pub(in crate::live) enum Controllers {
    Quinn(Arc<dyn QuinnFactory + Send + Sync>),
    Noq(Arc<dyn NoqFactory + Send + Sync>),
}

impl Controllers {
    /// A client that has not connected yet, whose controller's calls are entered in `ledger`.
    pub(super) fn client(&self, seed: [u8; 32], ledger: Ledger, clock: Clock) -> Box<dyn End> {
        match self {
            Self::Quinn(factory) => {
                let factory = QuinnRecording { factory: factory.clone(), ledger, clock };
                Box::new(quinn::End::client(seed, Arc::new(factory)))
            }
            Self::Noq(factory) => {
                let factory = NoqRecording { factory: factory.clone(), ledger, clock };
                Box::new(noq::End::client(seed, Arc::new(factory)))
            }
        }
    }

    /// A server that waits for a connection.
    pub(super) fn server(&self, seed: [u8; 32]) -> Box<dyn End> {
        match self {
            Self::Quinn(_) => Box::new(quinn::End::server(seed)),
            Self::Noq(_) => Box::new(noq::End::server(seed)),
        }
    }
}

fn connection_lost(error: &dyn std::fmt::Display) -> ConnectionLost {
    ConnectionLost(format!("a QUIC connection over the virtual network ended: {error}"))
}

/// Of the client, 1, and the server, 2.
fn address(host: u8) -> SocketAddr {
    (Ipv4Addr::new(192, 0, 2, host), 4433).into()
}
