//! Two downloads over a lossy link, without root and in one program: with quinn's CUBIC, then with
//! Sift in front of it, which tells why of each loss.
//!
//!     cargo run --release -p losscause-quic --features quinn --example lossy_relay -- 20 40 1 8
//!
//! The numbers are the link's rate (Mb/s), round-trip time (ms) and random loss (%), and megabytes. A
//! relay sends the datagrams over a link of the simulator, with a queue of one bandwidth-delay product.

use std::env;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use losscause::{Span, Time};
use losscause_quic::on_verdict;
use losscause_quic::quinn::{Base, LossTolerant};
use losscause_sim::live::{Direction, Ecn, Fate, LivePath, Offered};
use losscause_sim::{
    ChannelSpec, FlowId, FlowSpec, Limit, LinkId, LinkSpec, Network, QueueSpec, Traffic,
};
use quinn::congestion::{ControllerFactory, CubicConfig};
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};

const LOOPBACK: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

#[tokio::main]
async fn main() -> Result<()> {
    let numbers: Vec<f64> = env::args().filter_map(|text| text.parse().ok()).collect();
    let [rate_mbps, rtt_ms, loss_percent, megabytes] = numbers[..] else {
        anyhow::bail!("expected MBPS RTT-MS LOSS-PERCENT MEGABYTES, such as 20 40 1 8");
    };
    let link = |name: &str| {
        let queue_bytes = (rate_mbps * rtt_ms * 125.0) as u64;
        let queue = QueueSpec::DropTail { limit: Limit::Bytes(queue_bytes) };
        let one_way = Span::from_secs_f64_rounded(rtt_ms * 0.5e-3);
        LinkSpec::wired(name, (rate_mbps * 1e6) as u64, one_way, queue)
    };
    let channel = ChannelSpec::Bernoulli { loss: loss_percent / 100.0 };
    let links = vec![LinkSpec { channel, ..link("data") }, link("answers")];
    let flow = FlowSpec::new("download", &[LinkId(0)], &[LinkId(1)], Traffic::cbr(1, 1));
    let network = Network { links, flows: vec![flow] };

    let tolerant = LossTolerant::recommended(Base::cubic()).with_observer(on_verdict(|verdict| {
        println!("{:9.3} s: {verdict}", verdict.at.as_secs_f64());
    }));
    let monitor = tolerant.monitor();
    let bytes = (megabytes * 1e6) as usize;
    let rate = download(Arc::new(CubicConfig::default()), &network, bytes).await?;
    println!("cubic:           {rate:5.1} Mb/s");
    let rate = download(Arc::new(tolerant), &network, bytes).await?;
    let totals = monitor.totals();
    let ignored = totals.wireless;
    let lost = ignored + totals.congestion + totals.undecided;
    println!("cubic with Sift: {rate:5.1} Mb/s, {ignored} of {lost} lost packets ignored");
    Ok(())
}

/// Downloads `bytes` from a server with these controllers. Returns the goodput, Mb/s.
async fn download(
    controllers: Arc<dyn ControllerFactory + Send + Sync>,
    network: &Network,
    bytes: usize,
) -> Result<f64> {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = certified.cert.der().clone();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(controllers);
    let mut config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    config.transport_config(Arc::new(transport));
    let server = Endpoint::server(config, LOOPBACK.into())?;
    let socket = UdpSocket::bind(LOOPBACK)?;
    let address = socket.local_addr()?;
    let (from, path) = (server.local_addr()?, LivePath::new(network, FlowId(0), 1)?);
    thread::spawn(move || relay(&socket, from, path));
    let serving = tokio::spawn(async move {
        let connection = server.accept().await.context("no client came")?.await?;
        let mut stream = connection.open_uni().await?;
        stream.write_all(&vec![7; bytes]).await?;
        stream.finish()?;
        connection.closed().await;
        anyhow::Ok(())
    });
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate)?;
    let client = Endpoint::client(LOOPBACK.into())?;
    let config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let connection = client.connect_with(config, address, "localhost")?.await?;
    let begun = Instant::now();
    connection.accept_uni().await?.read_to_end(bytes).await?;
    let rate = bytes as f64 * 8e-6 / begun.elapsed().as_secs_f64();
    connection.close(0_u32.into(), b"done");
    serving.await??;
    Ok(rate)
}

/// Sends the datagrams of server and client over the path, as long as the program runs.
fn relay(socket: &UdpSocket, server: SocketAddr, mut path: LivePath<Vec<u8>>) -> Result<()> {
    let zero = Instant::now();
    let now = move || Time::ZERO + Span::from(zero.elapsed());
    // A thread of its own receives: the timeout of a socket is coarser than a packet's time.
    let (received, datagrams) = mpsc::channel();
    let receiving = socket.try_clone()?;
    thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok((bytes, from)) = receiving.recv_from(&mut buffer) {
            if received.send((now(), from, buffer[..bytes].to_vec())).is_err() {
                break;
            }
        }
    });
    let mut client = None;
    loop {
        while let Some(passed) = path.poll(now()) {
            let to = if passed.direction == Direction::Back { Some(server) } else { client };
            if let (Fate::Delivered { .. }, Some(to)) = (passed.fate, to) {
                socket.send_to(&passed.content, to)?;
            }
        }
        let wait_ns = path.next_event().map_or(100_000_000, |at| (at - now()).as_nanos());
        let wait = Duration::from_nanos(wait_ns.max(0) as u64);
        let Ok((at, from, content)) = datagrams.recv_timeout(wait) else { continue };
        let direction = if from == server { Direction::Forward } else { Direction::Back };
        client = if from == server { client } else { Some(from) };
        let wire_bytes = content.len() as u32 + 28; // UDP and IPv4
        let ecn = Ecn::NotCapable;
        let offered = Offered { content, wire_bytes, flow: 0, ecn, wireless_immune: false };
        path.enter(at, direction, offered);
    }
}
