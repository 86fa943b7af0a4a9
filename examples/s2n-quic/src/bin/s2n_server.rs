//! A server that sends a download over QUIC, with a congestion control that tolerates losses which
//! are not congestion.
//!
//!     cargo run -p s2n-quic-download --bin s2n_server -- 127.0.0.1:4433 cert.der Spike
//!
//! It writes its certificate to the file, for `s2n_client`, serves until Ctrl-C (or until the
//! number of clients in `SERVE` are gone) and prints every verdict. A client sends the number of
//! bytes that it wants as eight bytes.

use std::env;
use std::net::SocketAddr;

use anyhow::{Context, Result};
use losscause::registry::Registry;
use losscause_quic::s2n_quic::LossTolerant;
use losscause_quic::{LossVerdict, on_verdict};
use s2n_quic::{Connection, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Prints a verdict as a sentence.
fn print(verdict: &LossVerdict) {
    println!("connection {}, {:9.3} s: {verdict}", verdict.connection, verdict.at.as_secs_f64());
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, file, algorithm] = arguments.as_slice() else {
        anyhow::bail!(
            "expected ADDRESS CERTIFICATE-FILE ALGORITHM, such as 127.0.0.1:4433 cert.der Spike"
        );
    };
    let controllers =
        LossTolerant::named(algorithm, &Registry::built_in())?.with_observer(on_verdict(print));
    let monitor = controllers.monitor();

    let address: SocketAddr =
        address.parse().with_context(|| format!("{address} is not an address with a port"))?;
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = certified.cert.der().to_vec();
    let key = certified.signing_key.serialize_der();
    let mut server = Server::builder()
        .with_tls((&certificate[..], &key[..]))?
        .with_congestion_controller(controllers)?
        .with_io(address)?
        .start()
        .with_context(|| format!("cannot listen at {address}"))?;
    println!("listening at {}", server.local_addr()?);
    std::fs::write(file, certificate).with_context(|| format!("cannot write {file}"))?;

    let clients: usize =
        env::var("SERVE").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    for _ in 0..clients {
        let Some(connection) = server.accept().await else { break };
        if let Err(error) = serve(connection).await {
            eprintln!("{error:#}");
        }
        println!("all connections: {:?}", monitor.totals());
    }
    Ok(())
}

/// Sends what the client asks for.
async fn serve(mut connection: Connection) -> Result<()> {
    let mut stream =
        connection.accept_bidirectional_stream().await?.context("the client asked for nothing")?;
    let mut left = stream.read_u64().await?;
    let block = [7; 64 * 1024];
    while left > 0 {
        let part = &block[..left.min(block.len() as u64) as usize];
        stream.write_all(part).await?;
        left -= part.len() as u64;
    }
    stream.shutdown().await?;
    // The client closes the connection when it has everything.
    let _ = connection.accept_bidirectional_stream().await;
    Ok(())
}
