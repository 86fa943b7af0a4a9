//! Downloads bytes from `s2n_server` over QUIC, and prints the goodput.
//!
//!     cargo run -p s2n-quic-download --bin s2n_client -- 127.0.0.1:4433 cert.der 10000000
//!
//! The sender of the data decides about the congestion control, so a client needs nothing of
//! losscause.

use std::env;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use s2n_quic::Client;
use s2n_quic::client::Connect;
use tokio::io::AsyncWriteExt;

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

    let local: SocketAddr = if address.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let mut client = Client::builder().with_tls(Path::new(certificate))?.with_io(local)?.start()?;
    let mut connection =
        client.connect(Connect::new(address).with_server_name("localhost")).await?;

    let mut stream = connection.open_bidirectional_stream().await?;
    let begun = Instant::now();
    stream.write_u64(bytes).await?;
    let mut received = 0;
    while let Some(part) = stream.receive().await? {
        received += part.len() as u64;
    }
    let took = begun.elapsed().as_secs_f64();
    println!("{received} bytes in {took:.2} s: {:.2} Mb/s", received as f64 * 8e-6 / took);
    connection.close(0_u32.into());
    client.wait_idle().await?;
    ensure!(received == bytes, "the server sent {received} bytes instead of {bytes}");
    Ok(())
}
