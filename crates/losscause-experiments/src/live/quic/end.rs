//! One end of a QUIC connection: quinn's endpoint with a single connection, fed with datagrams and
//! the time.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, EcnCodepoint,
    Endpoint, EndpointConfig, Event, IdleTimeout, ServerConfig, TransportConfig, VarInt,
};

use super::identity::{SERVER_NAME, identity};

/// UDP payload of a full datagram, bytes: what quinn's search for the path's MTU finds where IP
/// packets may have 1500 bytes.
pub(super) const DATAGRAM_BYTES: u16 = 1452;

/// IPv4 and UDP headers, bytes.
pub(super) const HEADER_BYTES: u32 = 28;

/// Bytes that may be in flight as far as flow control is concerned: far above every bandwidth-delay
/// product here, so that only the congestion controller limits a sender.
const FLOW_WINDOW_BYTES: u32 = 32 << 20;

/// One end of a connection.
pub(super) struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    peer: SocketAddr,
}

/// Settings of both ends: quinn's defaults, but no search for the MTU, no idle timeout, and large
/// flow control windows.
pub(super) fn transport() -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .initial_mtu(DATAGRAM_BYTES)
        .min_mtu(DATAGRAM_BYTES)
        .mtu_discovery_config(None)
        .max_idle_timeout(None::<IdleTimeout>)
        .stream_receive_window(VarInt::from_u32(FLOW_WINDOW_BYTES))
        .receive_window(VarInt::from_u32(FLOW_WINDOW_BYTES))
        .send_window(u64::from(FLOW_WINDOW_BYTES));
    config
}

impl End {
    /// A client that has not connected yet.
    pub(super) fn client(seed: [u8; 32]) -> Self {
        Self {
            endpoint: Endpoint::new(endpoint_config(seed), None, false, None),
            connection: None,
            peer: address(2),
        }
    }

    /// A server that waits for a connection.
    pub(super) fn server(seed: [u8; 32]) -> Self {
        let mut config = ServerConfig::with_crypto(identity().server.clone());
        config.transport_config(Arc::new(transport()));
        let endpoint = Endpoint::new(endpoint_config(seed), Some(Arc::new(config)), false, None);
        Self { endpoint, connection: None, peer: address(1) }
    }

    /// Begins the handshake.
    pub(super) fn connect(&mut self, now: Instant, transport: TransportConfig) {
        let mut config = ClientConfig::new(identity().client.clone());
        config.transport_config(Arc::new(transport));
        let connected = self.endpoint.connect(now, config, self.peer, SERVER_NAME);
        self.connection = Some(connected.expect("the address, the name and the version are valid"));
    }

    /// The connection, once there is one.
    pub(super) fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    /// Takes in a datagram.
    pub(super) fn receive(&mut self, now: Instant, ecn: Option<EcnCodepoint>, datagram: BytesMut) {
        let mut answer = Vec::new();
        match self.endpoint.handle(now, self.peer, None, ecn, datagram, &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                // A refused handshake begins again with the client's next packet.
                self.connection = self.endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(handle, event)) => match &mut self.connection {
                Some((known, connection)) if *known == handle => connection.handle_event(event),
                _ => {}
            },
            // Resets and version negotiation, which these two ends never need.
            Some(DatagramEvent::NewConnection(_) | DatagramEvent::Response(_)) | None => {}
        }
        self.exchange();
    }

    /// Tells the connection that the instant of [`End::next_timeout`] has come.
    pub(super) fn on_timeout(&mut self, now: Instant) {
        if let Some(connection) = self.connection() {
            connection.handle_timeout(now);
        }
        self.exchange();
    }

    /// When [`End::on_timeout`] is due.
    pub(super) fn next_timeout(&mut self) -> Option<Instant> {
        self.connection()?.poll_timeout()
    }

    /// Something that happened to the connection.
    pub(super) fn poll(&mut self) -> Option<Event> {
        self.connection()?.poll()
    }

    /// Writes the next datagram into `buffer`, which is empty; false if there is none.
    pub(super) fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
    ) -> Option<Option<EcnCodepoint>> {
        // One datagram at a time: each has its own packet number to be noted.
        let transmit = self.connection()?.poll_transmit(now, 1, buffer)?;
        self.exchange();
        Some(transmit.ecn)
    }

    /// Hands events between the connection and its endpoint.
    fn exchange(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }
}

/// Why a connection ended, as a sentence.
pub(super) fn reason(error: &ConnectionError) -> String {
    format!("a QUIC connection over the virtual network ended: {error}")
}

/// Draws of quinn follow from the seed: skipped packet numbers, greased transport parameters,
/// reserved bits.
fn endpoint_config(seed: [u8; 32]) -> Arc<EndpointConfig> {
    let mut config = EndpointConfig::default();
    config.rng_seed(Some(seed));
    Arc::new(config)
}

fn address(host: u8) -> SocketAddr {
    (Ipv4Addr::new(192, 0, 2, host), 4433).into()
}
