//! An end of noq: its endpoint with a single connection.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use losscause_sim::live::Ecn;
use noq_proto::congestion::ControllerFactory;
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, Event, FourTuple, IdleTimeout, ServerConfig, StreamId, TransportConfig, VarInt,
};

use super::{DATAGRAM_BYTES, FLOW_WINDOW_BYTES, Received, address, connection_lost};
use crate::live::quic::identity::{SERVER_NAME, identity};
use crate::live::quic::network::ConnectionLost;

/// One end of a connection of noq.
pub(super) struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    peer: FourTuple,
    /// A client's.
    config: Option<ClientConfig>,
    stream: Option<StreamId>,
}

impl End {
    /// A client that has not connected yet.
    pub(super) fn client(
        seed: [u8; 32],
        factory: Arc<dyn ControllerFactory + Send + Sync>,
    ) -> Self {
        let mut transport = transport();
        transport.congestion_controller_factory(factory);
        let mut config = ClientConfig::new(identity().noq_client());
        config.transport_config(Arc::new(transport));
        Self::new(seed, 2, None, Some(config))
    }

    /// A server that waits for a connection.
    pub(super) fn server(seed: [u8; 32]) -> Self {
        let mut config = ServerConfig::with_crypto(identity().noq_server());
        config.transport_config(Arc::new(transport()));
        Self::new(seed, 1, Some(Arc::new(config)), None)
    }

    /// Draws of noq follow from the seed: skipped packet numbers, greased transport parameters,
    /// reserved bits.
    fn new(
        seed: [u8; 32],
        peer: u8,
        server: Option<Arc<ServerConfig>>,
        config: Option<ClientConfig>,
    ) -> Self {
        let mut settings = EndpointConfig::default();
        settings.rng_seed(Some(seed));
        Self {
            endpoint: Endpoint::new(Arc::new(settings), server, false),
            connection: None,
            peer: FourTuple::new(address(peer), None),
            config,
            stream: None,
        }
    }

    fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    /// Takes note of what happened to the connection.
    fn poll(&mut self) -> Result<(), ConnectionLost> {
        while let Some(event) = self.connection().and_then(Connection::poll) {
            match event {
                Event::Connected if self.config.is_some() => {
                    self.stream = self
                        .connection()
                        .and_then(|connection| connection.streams().open(Dir::Uni));
                }
                Event::ConnectionLost { reason } => return Err(connection_lost(&reason)),
                _ => {}
            }
        }
        Ok(())
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

impl super::End for End {
    fn connect(&mut self, now: Instant) {
        let config = self.config.clone().expect("only clients connect");
        let connected = self.endpoint.connect(now, config, self.peer.remote(), SERVER_NAME);
        self.connection = Some(connected.expect("the address, the name and the version are valid"));
    }

    fn receive(&mut self, now: Instant, ecn: Ecn, datagram: BytesMut) {
        let mut answer = Vec::new();
        match self.endpoint.handle(now, self.peer, codepoint(ecn), datagram, &mut answer) {
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

    fn on_timeout(&mut self, now: Instant) {
        if let Some(connection) = self.connection() {
            connection.handle_timeout(now);
        }
        self.exchange();
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        self.connection()?.poll_timeout()
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Ecn> {
        // One datagram at a time: each has its own packet number to be noted.
        let transmit = self.connection()?.poll_transmit(now, NonZeroUsize::MIN, buffer)?;
        self.exchange();
        Some(if transmit.ecn.is_some() { Ecn::Capable } else { Ecn::NotCapable })
    }

    fn write(&mut self, data: Bytes) -> Result<usize, ConnectionLost> {
        self.poll()?;
        let (Some(stream), Some(connection)) = (self.stream, self.connection()) else {
            return Ok(0);
        };
        let written = connection.send_stream(stream).write_chunks(&mut &mut [data][..]);
        Ok(written.unwrap_or(0))
    }

    fn finish(&mut self) {
        if let (Some(stream), Some(connection)) = (self.stream, self.connection()) {
            // Only a stream that was reset refuses to end.
            let _ = connection.send_stream(stream).finish();
        }
    }

    fn read(&mut self) -> Result<Received, ConnectionLost> {
        self.poll()?;
        let mut received = Received::default();
        let known = self.stream;
        let Some(connection) = self.connection() else { return Ok(received) };
        let Some(stream) = known.or_else(|| connection.streams().accept(Dir::Uni)) else {
            return Ok(received);
        };
        let mut arriving = connection.recv_stream(stream);
        if let Ok(mut chunks) = arriving.read(false) {
            loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(chunk)) => received.bytes += chunk.bytes.len() as u64,
                    Ok(None) => {
                        received.is_complete = true;
                        break;
                    }
                    Err(_) => break,
                }
            }
            // Whatever it asks for is sent with the next datagrams, which the driver takes right after.
            let _ = chunks.finalize();
        }
        self.stream = Some(stream);
        Ok(received)
    }
}

/// Settings of both ends: noq's defaults, but no search for the MTU, no idle timeout, and large
/// flow control windows.
fn transport() -> TransportConfig {
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

fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotCapable => None,
        Ecn::Capable => Some(EcnCodepoint::Ect0),
        Ecn::Marked => Some(EcnCodepoint::Ce),
    }
}
