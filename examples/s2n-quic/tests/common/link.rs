//! The simulator's links in virtual time, and one transfer over them between two real endpoints of
//! s2n-quic.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    reason = "a part of a test, which may stop at a surprise"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use losscause::Time;
use losscause_sim::live::{Direction, Ecn, Fate, LivePath, Offered};
use losscause_sim::truth::Cause;
use losscause_sim::{
    ChannelSpec, FlowId, FlowSpec, LinkId, LinkSpec, Network as Links, QueueSpec, Traffic,
};
use s2n_quic::client::Connect;
use s2n_quic::provider::congestion_controller::Endpoint;
use s2n_quic::provider::io::testing::network::{Buffers, Packet};
use s2n_quic::provider::io::testing::{Network, now, primary, spawn, test_seed, time};
use s2n_quic::provider::limits::Limits;
use s2n_quic::{Client, Server};
use s2n_quic_core::inet::SocketAddress;
use s2n_quic_core::time::Timestamp;

/// A link from the server to the client, and one like it back without losses.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub rate_bps: u64,
    pub one_way: losscause::Span,
    pub queue: QueueSpec,
    /// The share of the server's packets that the channel loses.
    pub loss: f64,
    /// How long the client may hold an acknowledgement back.
    pub max_ack_delay: Duration,
    pub seed: u64,
}

/// What became of the server's packets, and how much of their content arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    pub goodput_bps: f64,
    pub sent: u64,
    pub queue_drops: u64,
    pub random_losses: u64,
}

/// A link in use.
struct Running {
    path: LivePath<Packet>,
    /// What s2n-quic's clock shows at the path's time zero.
    zero: Option<Timestamp>,
    client: Option<SocketAddress>,
    /// The path's next event, when it is waited for.
    awaited: Option<Time>,
    transfer: Arc<Mutex<Transfer>>,
}

/// UDP and IPv4.
const HEADERS: usize = 28;

impl Link {
    fn path(self) -> LivePath<Packet> {
        let channel = if self.loss > 0.0 {
            ChannelSpec::Bernoulli { loss: self.loss }
        } else {
            ChannelSpec::Perfect
        };
        let link = |name: &str| LinkSpec::wired(name, self.rate_bps, self.one_way, self.queue);
        let links = vec![LinkSpec { channel, ..link("link") }, link("link.back")];
        let flow = FlowSpec::new("test", &[LinkId(0)], &[LinkId(1)], Traffic::cbr(1_000_000, 1250));
        LivePath::new(&Links { links, flows: vec![flow] }, FlowId(0), self.seed).unwrap()
    }
}

impl Network for Running {
    fn execute(&mut self, buffers: &Buffers) -> usize {
        let zero = *self.zero.get_or_insert_with(now);
        let at = Time::ZERO + (now() - zero).into();
        let mut pkts = 0;
        buffers.drain_pending_transmissions(|packet| {
            // The client speaks first.
            let is_clients = *self.client.get_or_insert(*packet.path.local_address)
                == *packet.path.local_address;
            let direction = if is_clients { Direction::Back } else { Direction::Forward };
            let wire_bytes = (packet.payload.len() + HEADERS) as u32;
            self.transfer.lock().unwrap().sent += u64::from(direction == Direction::Forward);
            let ecn = Ecn::NotCapable;
            self.path.enter(
                at,
                direction,
                Offered { content: packet, wire_bytes, flow: 0, ecn, wireless_immune: false },
            );
            pkts += 1;
            Ok(())
        });
        while let Some(passed) = self.path.poll(at) {
            let mut transfer = self.transfer.lock().unwrap();
            match passed.fate {
                Fate::Delivered { .. } => {
                    let mut packet = passed.content;
                    packet.switch();
                    buffers.rx(*packet.path.local_address, |queue| queue.enqueue(packet));
                    pkts += 1;
                }
                Fate::Lost { cause: Cause::Congestion, .. } => transfer.queue_drops += 1,
                Fate::Lost { .. } => transfer.random_losses += 1,
            }
        }
        let next = self.path.next_event();
        if let Some(next) = next.filter(|_| next != self.awaited) {
            // s2n-quic's clock counts microseconds.
            let wait =
                Duration::from_micros((next - Time::ZERO).as_nanos().div_euclid(1000) as u64 + 1);
            spawn(async move { time::delay_until(zero + wait).await });
        }
        self.awaited = next;
        pkts
    }
}

impl Link {
    /// A transfer of `measured` after the first 5 s, from a server with these controllers.
    pub fn transfer<C: Endpoint>(self, controllers: C, measured: Duration) -> Transfer {
        let transfer = Arc::new(Mutex::new(Transfer::default()));
        let path = self.path();
        let running =
            Running { path, zero: None, client: None, awaited: None, transfer: transfer.clone() };
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = certified.cert.der().to_vec();
        let key = certified.signing_key.serialize_der();
        let bytes = Arc::new(Mutex::new(0));
        let received = bytes.clone();
        test_seed(running, self.seed, |handle| {
            let mut server = Server::builder()
                .with_io(handle.builder().build()?)?
                .with_tls((&certificate[..], &key[..]))?
                .with_congestion_controller(controllers)?
                .start()?;
            let address = server.local_addr()?;
            spawn(async move {
                let mut connection = server.accept().await.unwrap();
                let mut stream = connection.open_send_stream().await.unwrap();
                // Until the client has gone.
                while stream.send(vec![7; 16 * 1024].into()).await.is_ok() {}
            });
            let limits = Limits::new().with_max_ack_delay(self.max_ack_delay)?;
            let client = Client::builder()
                .with_io(handle.builder().build()?)?
                .with_tls(&certificate[..])?
                .with_limits(limits)?
                .start()?;
            primary::spawn(async move {
                let connect = Connect::new(address).with_server_name("localhost");
                let mut connection = client.connect(connect).await.unwrap();
                let mut stream = connection.accept_receive_stream().await.unwrap().unwrap();
                let from = now() + Duration::from_secs(5);
                while now() < from + measured {
                    let part = stream.receive().await.unwrap().unwrap();
                    if now() >= from {
                        *received.lock().unwrap() += part.len();
                    }
                }
            });
            Ok(())
        })
        .unwrap();
        let mut transfer = *transfer.lock().unwrap();
        transfer.goodput_bps = *bytes.lock().unwrap() as f64 * 8.0 / measured.as_secs_f64();
        transfer
    }
}
