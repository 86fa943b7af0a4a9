//! Downloads bytes from the example `quinn_server` over QUIC, and prints the goodput.
//!
//!     cargo run -p losscause-quic --features quinn --example quinn_client -- 127.0.0.1:4433 cert.der 10000000
//!
//! The sender of the data decides about the congestion control, so a client needs nothing of
//! losscause.

use std::env;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use quinn::{ClientConfig, Endpoint};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, certificate, bytes] = arguments.as_slice() else {
        anyhow::bail!(
            "expected ADDRESS CERTIFICATE-FILE BYTES, such as 127.0.0.1:4433 cert.der 10000000"
        );
    };
    let address: SocketAddr =
        address.parse().with_context(|| format!("{address} is not an address with a port"))?;
    let bytes: u64 = bytes.parse().with_context(|| format!("{bytes} is not a number of bytes"))?;
    let certificate =
        std::fs::read(certificate).with_context(|| format!("cannot read {certificate}"))?;

    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(certificate))?;
    let local: SocketAddr = if address.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let endpoint = Endpoint::client(local)?;
    let config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let connection = endpoint.connect_with(config, address, "localhost")?.await?;

    let (mut request, mut answer) = connection.open_bi().await?;
    let begun = Instant::now();
    request.write_all(&bytes.to_be_bytes()).await?;
    request.finish()?;
    let mut received = 0;
    while let Some(chunk) = answer.read_chunk(usize::MAX, true).await? {
        received += chunk.bytes.len() as u64;
    }
    let took = begun.elapsed().as_secs_f64();
    println!("{received} bytes in {took:.2} s: {:.2} Mb/s", received as f64 * 8e-6 / took);
    connection.close(0_u32.into(), b"done");
    endpoint.wait_idle().await;
    ensure!(received == bytes, "the server sent {received} bytes instead of {bytes}");
    Ok(())
}
