//! An end of quinn: its endpoint with a single connection.

use quinn_proto as proto;

super::shared::end!();

/// Datagrams per call: each has its own packet number to be noted.
const ONE: usize = 1;

fn endpoint(settings: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(settings, server, false, None)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    datagram: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, from, None, ecn, datagram, answer)
}

/// Returns how many bytes the stream took.
fn write(mut stream: SendStream<'_>, data: Bytes) -> usize {
    stream.write_chunks(&mut [data]).map_or(0, |written| written.bytes)
}
