//! The end that quinn and noq have in common: noq is a fork of quinn, so the same text is compiled
//! with the types of each.

/// Defines `End` in the module of an implementation. The module has what differs: the crate, named
/// `proto`, and `ONE`, `endpoint`, `handle` and `write`.
macro_rules! end {
    () => {
        use std::net::SocketAddr;
        use std::sync::Arc;
        use std::time::Instant;

        use bytes::{Bytes, BytesMut};
        use losscause_sim::live::Ecn;
        use proto::congestion::ControllerFactory;
        use proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
        use proto::{
            ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
            EndpointConfig, Event, IdleTimeout, SendStream, ServerConfig, StreamId,
            TransportConfig, VarInt,
        };

        use crate::live::quic::end::{
            DATAGRAM_BYTES, FLOW_WINDOW_BYTES, Received, address, connection_lost,
        };
        use crate::live::quic::identity::{SERVER_NAME, identity};
        use crate::live::quic::network::ConnectionLost;

        /// One end of a connection.
        pub(super) struct End {
            endpoint: Endpoint,
            connection: Option<(ConnectionHandle, Connection)>,
            /// Address of the other end.
            peer: SocketAddr,
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
                let mut config = ClientConfig::new(identity().client::<QuicClientConfig>());
                config.transport_config(Arc::new(transport));
                Self::new(seed, 2, None, Some(config))
            }

            /// A server that waits for a connection.
            pub(super) fn server(seed: [u8; 32]) -> Self {
                let mut config = ServerConfig::with_crypto(identity().server::<QuicServerConfig>());
                config.transport_config(Arc::new(transport()));
                Self::new(seed, 1, Some(Arc::new(config)), None)
            }

            /// Its draws follow from the seed: skipped packet numbers, greased transport parameters,
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
                    endpoint: endpoint(Arc::new(settings), server),
                    connection: None,
                    peer: address(peer),
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

        impl crate::live::quic::end::End for End {
            fn connect(&mut self, now: Instant) {
                let config = self.config.clone().expect("only clients connect");
                let connected = self.endpoint.connect(now, config, self.peer, SERVER_NAME);
                self.connection =
                    Some(connected.expect("the address, the name and the version are valid"));
            }

            fn receive(&mut self, now: Instant, ecn: Ecn, datagram: BytesMut) {
                let mut answer = Vec::new();
                match handle(
                    &mut self.endpoint,
                    now,
                    self.peer,
                    codepoint(ecn),
                    datagram,
                    &mut answer,
                ) {
                    Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                        // A refused handshake begins again with the client's next packet.
                        self.connection =
                            self.endpoint.accept(incoming, now, &mut answer, None).ok();
                    }
                    Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                        match &mut self.connection {
                            Some((known, connection)) if *known == handle => {
                                connection.handle_event(event)
                            }
                            _ => {}
                        }
                    }
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
                let transmit = self.connection()?.poll_transmit(now, ONE, buffer)?;
                self.exchange();
                Some(if transmit.ecn.is_some() { Ecn::Capable } else { Ecn::NotCapable })
            }

            fn write(&mut self, data: Bytes) -> Result<usize, ConnectionLost> {
                self.poll()?;
                let (Some(stream), Some(connection)) = (self.stream, self.connection()) else {
                    return Ok(0);
                };
                Ok(write(connection.send_stream(stream), data))
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

        /// Settings of both ends: the defaults, but no search for the MTU, no idle timeout, and large
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
    };
}

pub(super) use end;
