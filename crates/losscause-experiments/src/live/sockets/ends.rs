//! Both ends of a connection of quinn or noq, with their defaults but for the congestion control.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Defines `send` and `receive` with the types of an implementation, which is named `quic`, with
/// its state machine `proto`, in the module of the call.
macro_rules! ends {
    () => {
        use std::net::UdpSocket;
        use std::sync::Arc;

        use losscause_linux::emulator::PEER;
        use proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
        use quic::congestion::ControllerFactory;
        use quic::{
            ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig,
        };

        use super::{AtomicU64, io};
        use crate::live::quic::{SERVER_NAME, identity};
        use crate::live::sockets::transfer::PORT;

        /// Connects to the peer and sends a stream without end.
        pub(in crate::live::sockets) async fn send(
            socket: UdpSocket,
            factory: Arc<dyn ControllerFactory + Send + Sync>,
        ) -> io::Result<()> {
            let mut transport = TransportConfig::default();
            transport.congestion_controller_factory(factory);
            let mut config = ClientConfig::new(identity().client::<QuicClientConfig>());
            config.transport_config(Arc::new(transport));
            let runtime = Arc::new(TokioRuntime);
            let endpoint = Endpoint::new(EndpointConfig::default(), None, socket, runtime)?;
            let connecting = endpoint.connect_with(config, (PEER, PORT).into(), SERVER_NAME);
            let connection = connecting.map_err(io::Error::other)?.await?;
            let mut stream = connection.open_uni().await?;
            let data = vec![0; 1 << 16];
            loop {
                stream.write_all(&data).await?;
            }
        }

        /// Waits for a connection and counts what arrives.
        pub(in crate::live::sockets) async fn receive(
            socket: UdpSocket,
            received: &AtomicU64,
        ) -> io::Result<()> {
            let config = ServerConfig::with_crypto(identity().server::<QuicServerConfig>());
            let runtime = Arc::new(TokioRuntime);
            let endpoint = Endpoint::new(EndpointConfig::default(), Some(config), socket, runtime)?;
            let incoming = endpoint.accept().await.ok_or(io::ErrorKind::NotConnected)?;
            let connection = incoming.await?;
            count(connection.accept_uni().await?, received).await
        }
    };
}

pub(super) mod quinn {
    use ::quinn as quic;
    use quinn_proto as proto;

    ends!();

    async fn count(mut stream: quic::RecvStream, received: &AtomicU64) -> io::Result<()> {
        while let Some(chunk) = stream.read_chunk(usize::MAX, false).await? {
            super::add(received, chunk.bytes.len());
        }
        Ok(())
    }
}

pub(super) mod noq {
    use ::noq as quic;
    use noq_proto as proto;

    ends!();

    async fn count(stream: quic::RecvStream, received: &AtomicU64) -> io::Result<()> {
        let mut stream = stream.into_unordered();
        while let Some(chunk) = stream.read_chunk(usize::MAX).await? {
            super::add(received, chunk.bytes.len());
        }
        Ok(())
    }
}

fn add(received: &AtomicU64, bytes: usize) {
    received.fetch_add(bytes as u64, Ordering::Relaxed);
}
