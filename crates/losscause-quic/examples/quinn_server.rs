//! A server that sends a download over QUIC, with a congestion control that tolerates losses which
//! are not congestion.
//!
//!     cargo run -p losscause-quic --features quinn --example quinn_server -- 127.0.0.1:4433 cert.der cubic Sift
//!
//! It writes its certificate to the file, for the example `quinn_client`, serves until Ctrl-C (or
//! until the number of clients in `SERVE` are gone) and prints every verdict. A client sends the
//! number of bytes that it wants as eight bytes.

use std::env;
use std::sync::Arc;

use anyhow::{Context, Result};
use losscause::registry::Registry;
use losscause_quic::quinn::{LossTolerant, LossTolerantController};
use losscause_quic::{LossVerdict, on_verdict};
use quinn::{Connection, Endpoint, ServerConfig, TransportConfig};

/// Prints a verdict as a sentence.
fn print(verdict: &LossVerdict) {
    println!("{:9.3} s: {verdict}", verdict.at.as_secs_f64());
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, certificate, base, algorithm] = arguments.as_slice() else {
        anyhow::bail!(
            "expected ADDRESS CERTIFICATE-FILE BASE ALGORITHM, such as 127.0.0.1:4433 cert.der cubic Sift"
        );
    };
    let factory = LossTolerant::named(base.parse()?, algorithm, &Registry::built_in())?
        .with_observer(on_verdict(print));
    let monitor = factory.monitor();
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));

    let mut config = identity(certificate)?;
    config.transport_config(Arc::new(transport));
    let address =
        address.parse().with_context(|| format!("{address} is not an address with a port"))?;
    let endpoint =
        Endpoint::server(config, address).with_context(|| format!("cannot listen at {address}"))?;
    println!("listening at {}", endpoint.local_addr()?);

    let clients: usize =
        env::var("SERVE").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    for _ in 0..clients {
        let Some(incoming) = endpoint.accept().await else { break };
        if let Err(error) = serve(incoming.await?).await {
            eprintln!("{error:#}");
        }
        println!("all connections: {:?}", monitor.totals());
    }
    endpoint.wait_idle().await;
    Ok(())
}

/// A certificate for `localhost`, whose public part is written to `file`.
fn identity(file: &str) -> Result<ServerConfig> {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = certified.cert.der().clone();
    std::fs::write(file, &certificate).with_context(|| format!("cannot write {file}"))?;
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    Ok(ServerConfig::with_single_cert(vec![certificate], key.into())?)
}

/// Sends what the client asks for.
async fn serve(connection: Connection) -> Result<()> {
    let (mut answer, mut request) = connection.accept_bi().await?;
    let mut wanted = [0; 8];
    request.read_exact(&mut wanted).await?;
    let mut left = u64::from_be_bytes(wanted);
    let block = [7; 64 * 1024];
    while left > 0 {
        let pkt = &block[..left.min(block.len() as u64) as usize];
        answer.write_all(pkt).await?;
        left -= pkt.len() as u64;
    }
    answer.finish()?;
    connection.closed().await;
    let state = connection.congestion_state().into_any();
    if let Some(controller) = state.downcast_ref::<LossTolerantController>() {
        println!("this connection: {:?}", controller.counts());
    }
    Ok(())
}
