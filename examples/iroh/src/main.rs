//! 10 MB from one iroh endpoint to another. The sender's congestion control keeps the window when a
//! packet was lost on the air, and prints every verdict.
//!
//! ```text
//! iroh-transfer receive 127.0.0.1:4433 id &
//! iroh-transfer send 127.0.0.1:4433 id
//! ```
//!
//! The receiver writes its endpoint's identity into the file `id`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use iroh::endpoint::{QuicTransportConfig, presets};
use iroh::{Endpoint, EndpointAddr, EndpointId};
use losscause_quic::noq::{Base, LossTolerant};
use losscause_quic::{LossVerdict, on_verdict};

const PROTOCOL: &[u8] = b"losscause/transfer/0";
const BYTES: usize = 10_000_000;

/// Prints a verdict as a sentence.
fn print(verdict: &LossVerdict) {
    println!("{:9.3} s: {verdict}", verdict.at.as_secs_f64());
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [role, address, id] = arguments.as_slice() else {
        bail!("expected ROLE ADDRESS FILE, such as receive 127.0.0.1:4433 id");
    };
    let address =
        address.parse().with_context(|| format!("{address} is no address with a port"))?;
    match role.as_str() {
        "receive" => receive(address, id).await,
        _ => send(address, id).await,
    }
}

async fn receive(address: SocketAddr, id: &str) -> Result<()> {
    let endpoint = Endpoint::builder(presets::Minimal)
        .clear_ip_transports()
        .bind_addr(address)?
        .alpns(vec![PROTOCOL.to_vec()])
        .bind()
        .await?;
    std::fs::write(id, endpoint.id().to_string()).with_context(|| format!("cannot write {id}"))?;
    let connection = endpoint.accept().await.context("the endpoint was closed")?.await?;
    let mut stream = connection.accept_uni().await?;
    let received = stream.read_to_end(BYTES).await?.len();
    connection.close(0_u32.into(), b"done");
    endpoint.close().await;
    ensure!(received == BYTES, "{received} bytes arrived, expected {BYTES}");
    Ok(())
}

async fn send(address: SocketAddr, id: &str) -> Result<()> {
    let factory = LossTolerant::recommended(Base::cubic()).with_observer(on_verdict(print));
    let monitor = factory.monitor();
    let transport =
        QuicTransportConfig::builder().congestion_controller_factory(Arc::new(factory)).build();
    let endpoint = Endpoint::builder(presets::Minimal).transport_config(transport).bind().await?;
    let id: EndpointId = std::fs::read_to_string(id)?.parse()?;
    let peer = EndpointAddr::new(id).with_ip_addr(address);
    let connection = endpoint.connect(peer, PROTOCOL).await?;

    let begun = Instant::now();
    let mut stream = connection.open_uni().await?;
    stream.write_all(&vec![7; BYTES]).await?;
    stream.finish()?;
    connection.closed().await;
    let took = begun.elapsed().as_secs_f64();
    println!("{BYTES} bytes in {took:.2} s: {:.1} Mb/s", BYTES as f64 * 8e-6 / took);
    println!("{:?}", monitor.totals());
    endpoint.close().await;
    Ok(())
}
