//! Both ends of a connection of quinn, with its defaults but for the congestion control.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::quinn::congestion::ControllerFactory;
use ::quinn::{
    ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig,
};
use losscause_linux::emulator::PEER;

use super::transfer::PORT;
use crate::live::quic::{SERVER_NAME, identity};

/// Connects to the peer and sends a stream without end.
pub(super) async fn send(
    socket: UdpSocket,
    factory: Arc<dyn ControllerFactory + Send + Sync>,
) -> io::Result<()> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(factory);
    let mut config = ClientConfig::new(identity().quinn_client());
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
pub(super) async fn receive(socket: UdpSocket, received: &AtomicU64) -> io::Result<()> {
    let config = ServerConfig::with_crypto(identity().quinn_server());
    let runtime = Arc::new(TokioRuntime);
    let endpoint = Endpoint::new(EndpointConfig::default(), Some(config), socket, runtime)?;
    let incoming = endpoint.accept().await.ok_or(io::ErrorKind::NotConnected)?;
    let connection = incoming.await?;
    let mut stream = connection.accept_uni().await?;
    while let Some(chunk) = stream.read_chunk(usize::MAX, false).await? {
        received.fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
    }
    Ok(())
}
