//! An end of noq: its endpoint with a single connection.

use std::num::NonZeroUsize;

use noq_proto as proto;
use proto::FourTuple;

super::shared::end!();

/// Datagrams per call: each has its own packet number to be noted.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

fn endpoint(settings: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(settings, server, false)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    datagram: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::new(from, None), ecn, datagram, answer)
}

/// Returns how many bytes the stream took.
fn write(mut stream: SendStream<'_>, data: Bytes) -> usize {
    stream.write_chunks(&mut &mut [data][..]).unwrap_or(0)
}
