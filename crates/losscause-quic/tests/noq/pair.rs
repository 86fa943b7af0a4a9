//! Two ends of noq, a client that sends and a server that reads, in virtual time.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use noq_proto::congestion::ControllerFactory;
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, Event, FourTuple, ServerConfig, Side, StreamId, TransportConfig,
};

/// What becomes of a datagram of the client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// It arrives after the one-way delay.
    Arrives,
    /// It arrives so much later than that.
    Late(Duration),
    /// The same, with a congestion mark.
    Marked,
    Lost,
}

pub const ONE_WAY: Duration = Duration::from_millis(20);

/// The client's datagrams take 1 ms each; the server's take no time.
const DATAGRAM_TIME: Duration = Duration::from_millis(1);

struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    peer: FourTuple,
}

/// Sends `bytes` from a client with controllers of `factory`. `fate` gets the place among the
/// client's datagrams and the size of each. Returns the client's connection at the end.
pub fn transfer(
    factory: Arc<dyn ControllerFactory + Send + Sync>,
    bytes: usize,
    mut fate: impl FnMut(usize, usize) -> Fate,
) -> Connection {
    let mut now = Instant::now();
    let (client_config, server_config) = configs(factory);
    let mut client = End::new(None, 2);
    let mut server = End::new(Some(server_config), 1);
    let connected = client.endpoint.connect(now, client_config, address(2), "localhost");
    client.connection = Some(connected.expect("the name and the address are valid"));

    // By the time of arrival and the place among all datagrams: to whom, and what.
    let mut path: BTreeMap<(Instant, usize), (bool, Option<EcnCodepoint>, BytesMut)> =
        BTreeMap::new();
    let mut free_at = now;
    let mut sent = 0;
    let mut sent_by_client = 0;
    let mut stream: Option<StreamId> = None;
    let mut left = bytes;
    let mut received = 0;
    while received < bytes {
        while let Some(event) = client.poll() {
            assert!(!matches!(event, Event::ConnectionLost { .. }), "{event:?}");
            if matches!(event, Event::Connected) {
                stream = client.connection().streams().open(Dir::Uni);
            }
        }
        if let Some(stream) = stream {
            let mut stream = client.connection().send_stream(stream);
            while left > 0 {
                let mut chunks: &mut [Bytes] = &mut [Bytes::from(vec![0; left.min(10_000)])];
                let Ok(written) = stream.write_chunks(&mut chunks) else { break };
                left -= written;
            }
        }
        received += server.read();
        let mut buffer = Vec::new();
        while let Some(ecn) = client.poll_transmit(now, &mut buffer) {
            free_at = free_at.max(now) + DATAGRAM_TIME;
            let (late, ecn) = match fate(sent_by_client, buffer.len()) {
                Fate::Arrives => (Some(Duration::ZERO), ecn),
                Fate::Late(by) => (Some(by), ecn),
                Fate::Marked => (Some(Duration::ZERO), Some(EcnCodepoint::Ce)),
                Fate::Lost => (None, ecn),
            };
            if let Some(late) = late {
                let datagram = BytesMut::from(&buffer[..]);
                path.insert((free_at + ONE_WAY + late, sent), (true, ecn, datagram));
            }
            sent_by_client += 1;
            sent += 1;
            buffer.clear();
        }
        while let Some(ecn) = server.poll_transmit(now, &mut buffer) {
            path.insert((now + ONE_WAY, sent), (false, ecn, BytesMut::from(&buffer[..])));
            sent += 1;
            buffer.clear();
        }
        let arrival = path.first_key_value().map(|(&(at, _), _)| at);
        let next = [arrival, client.next_timeout(), server.next_timeout()].into_iter().flatten();
        now = now.max(next.min().expect("a transfer that is not complete has a timer"));
        while let Some(entry) = path.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to_server, ecn, datagram) = entry.remove();
            let end = if to_server { &mut server } else { &mut client };
            end.receive(now, ecn, datagram);
        }
        for end in [&mut client, &mut server] {
            if end.next_timeout().is_some_and(|at| at <= now) {
                end.connection().handle_timeout(now);
                end.exchange();
            }
        }
    }
    client.connection.expect("it connected").1
}

impl End {
    fn new(config: Option<Arc<ServerConfig>>, peer: u8) -> Self {
        let mut settings = EndpointConfig::default();
        settings.rng_seed(Some([peer; 32]));
        let endpoint = Endpoint::new(Arc::new(settings), config, false);
        Self { endpoint, connection: None, peer: FourTuple::new(address(peer), None) }
    }

    fn connection(&mut self) -> &mut Connection {
        &mut self.connection.as_mut().expect("it has a connection by now").1
    }

    fn poll(&mut self) -> Option<Event> {
        self.connection.as_mut()?.1.poll()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.connection.as_ref()?.1.poll_timeout()
    }

    fn receive(&mut self, now: Instant, ecn: Option<EcnCodepoint>, datagram: BytesMut) {
        let mut answer = Vec::new();
        match self.endpoint.handle(now, self.peer, ecn, datagram, &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                self.connection = self.endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                self.connection().handle_event(event);
            }
            _ => {}
        }
        self.exchange();
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        buffer: &mut Vec<u8>,
    ) -> Option<Option<EcnCodepoint>> {
        let connection = &mut self.connection.as_mut()?.1;
        let ecn = connection.poll_transmit(now, NonZeroUsize::MIN, buffer)?.ecn;
        self.exchange();
        Some(ecn)
    }

    /// Reads what has arrived; returns how many bytes.
    fn read(&mut self) -> usize {
        let Some((_, connection)) = &mut self.connection else { return 0 };
        while connection.poll().is_some() {}
        // The client opens one stream.
        let _ = connection.streams().accept(Dir::Uni);
        let mut stream = connection.recv_stream(StreamId::new(Side::Client, Dir::Uni, 0));
        let Ok(mut chunks) = stream.read(false) else { return 0 };
        let mut read = 0;
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            read += chunk.bytes.len();
        }
        let _ = chunks.finalize();
        read
    }

    fn exchange(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }
}

fn address(host: u8) -> SocketAddr {
    (Ipv4Addr::new(192, 0, 2, host), 4433).into()
}

fn configs(factory: Arc<dyn ControllerFactory + Send + Sync>) -> (ClientConfig, Arc<ServerConfig>) {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("valid");
    let certificate = certified.cert.der().clone();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let server = ServerConfig::with_single_cert(vec![certificate.clone()], key.into());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).expect("it can be parsed");
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).expect("it has a suite");
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(factory).mtu_discovery_config(None);
    client.transport_config(Arc::new(transport));
    (client, Arc::new(server.expect("the key belongs to the certificate")))
}
