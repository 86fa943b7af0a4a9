//! A controller driven by hand, as quinn drives it.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test uses a part, and may stop at a surprise"
)]

#[path = "../common/scripted.rs"]
mod scripted;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use losscause::AnyAlgorithm;
use losscause_quic::quinn::{Base, LossTolerant};
use quinn::congestion::{Controller, ControllerFactory, CubicConfig};
use quinn_proto::RttEstimator;
pub use scripted::{NO_CAPS, Scripted};

pub const MTU: u16 = 1200;

/// quinn's calls for packets of [`MTU`] bytes. Packet `n` is sent on its own at its own instant,
/// unless in a burst.
pub struct Driver<C> {
    pub controller: C,
    pub now: Instant,
    sent_at: Vec<Instant>,
    rtt: RttEstimator,
}

impl<C: Controller> Driver<C> {
    pub fn new(build: impl FnOnce(Instant) -> C) -> Self {
        Self::at(Instant::now(), build)
    }

    /// At a given time.
    pub fn at(now: Instant, build: impl FnOnce(Instant) -> C) -> Self {
        Self { controller: build(now), now, sent_at: Vec::new(), rtt: rtt_estimator() }
    }

    pub fn wait_ms(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    /// Sends `pkts` packets 1 ms apart.
    pub fn send(&mut self, pkts: usize) {
        for _ in 0..pkts {
            self.burst(1);
            self.wait_ms(1);
        }
    }

    /// Sends `pkts` packets at one instant, as one batch.
    pub fn burst(&mut self, pkts: usize) {
        self.sent_at.extend(std::iter::repeat_n(self.now, pkts));
        let bytes = pkts as u64 * u64::from(MTU);
        self.controller.on_sent(self.now, bytes, self.sent_at.len() as u64 - 1);
    }

    /// An ACK of these packets, in rising order.
    pub fn ack(&mut self, numbers: impl IntoIterator<Item = usize>) {
        let mut largest = None;
        for number in numbers {
            let sent = self.sent_at[number];
            self.controller.on_ack(self.now, sent, u64::from(MTU), false, &self.rtt);
            largest = Some(number as u64);
        }
        self.controller.on_end_acks(self.now, 0, false, largest);
    }

    /// `pkts` packets are declared lost, the newest of them `newest`.
    pub fn lose(&mut self, newest: usize, pkts: u64) {
        self.congestion_event(newest, false, pkts * u64::from(MTU));
    }

    pub fn congestion_event(&mut self, newest: usize, persistent: bool, lost_bytes: u64) {
        self.controller.on_congestion_event(self.now, self.sent_at[newest], persistent, lost_bytes);
    }

    pub fn sent_at(&self, number: usize) -> Instant {
        self.sent_at[number]
    }

    pub fn window(&self) -> u64 {
        self.controller.window()
    }
}

impl Scripted {
    /// The factory, without caps.
    pub fn factory(&self, base: Base) -> LossTolerant {
        let factory =
            LossTolerant::new(base, AnyAlgorithm::boxed(self.clone())).expect("needs nothing");
        factory.with_caps(NO_CAPS).expect("in range")
    }
}

/// quinn does not let anybody make an estimator, but hands one to controllers: this is one from a
/// loopback connection.
pub fn rtt_estimator() -> RttEstimator {
    static ESTIMATOR: OnceLock<RttEstimator> = OnceLock::new();
    *ESTIMATOR.get_or_init(|| {
        let caught = Arc::new(Catcher::default());
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(transfer(caught.clone())).expect("a connection over loopback");
        let estimator = *caught.0.lock().expect("no test panicked");
        estimator.expect("an acknowledgement")
    })
}

/// A factory of CUBIC whose controllers keep the estimator that they are shown.
#[derive(Default)]
struct Catcher(Mutex<Option<RttEstimator>>);

impl ControllerFactory for Catcher {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Catching(self, Arc::new(CubicConfig::default()).build(now, mtu)))
    }
}

struct Catching(Arc<Catcher>, Box<dyn Controller>);

impl Controller for Catching {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        *self.0.0.lock().expect("no test panicked") = Some(*rtt);
    }
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}
    fn on_mtu_update(&mut self, _: u16) {}
    fn window(&self) -> u64 {
        self.1.window()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Catching(self.0.clone(), self.1.clone_box()))
    }
    fn initial_window(&self) -> u64 {
        self.1.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }
}

/// Sends 100 kB from a client whose controllers `factory` builds to a server, over loopback.
pub async fn transfer(factory: Arc<dyn ControllerFactory + Send + Sync>) -> anyhow::Result<()> {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = certified.cert.der().clone();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let config = quinn::ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    let server = quinn::Endpoint::server(config, "127.0.0.1:0".parse()?)?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate)?;
    let mut config = quinn::ClientConfig::with_root_certificates(Arc::new(roots))?;
    let mut transport = quinn::TransportConfig::default();
    transport.congestion_controller_factory(factory);
    config.transport_config(Arc::new(transport));
    let client = quinn::Endpoint::client("127.0.0.1:0".parse()?)?;
    let receive = async {
        let connection = server.accept().await.expect("open").await?;
        let mut stream = connection.accept_uni().await?;
        let received = stream.read_to_end(1_000_000).await?;
        connection.close(0_u32.into(), b"");
        anyhow::Ok(received)
    };
    let send = async {
        let connection = client.connect_with(config, server.local_addr()?, "localhost")?.await?;
        let mut stream = connection.open_uni().await?;
        stream.write_all(&vec![7; 100_000]).await?;
        stream.finish()?;
        connection.closed().await;
        anyhow::Ok(())
    };
    let (received, sent) = tokio::join!(receive, send);
    sent?;
    anyhow::ensure!(received? == vec![7; 100_000], "the server received something else");
    Ok(())
}
