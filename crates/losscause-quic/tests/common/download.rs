//! A download over loopback between an example's server and client, as separate programs.

#[path = "hang.rs"]
mod hang;

use std::process::{Command, Output, Stdio};

/// What the two programs printed.
pub(crate) struct Printed {
    pub(crate) client: String,
    pub(crate) server: String,
}

/// Downloads 500000 bytes. `settings` are the server's arguments after address and certificate
/// file.
pub(crate) fn over_loopback(
    mut server: Command,
    settings: &[&str],
    mut client: Command,
) -> Printed {
    let folder = tempfile::tempdir().unwrap();
    let certificate = folder.path().join("cert.der");
    let address = format!("127.0.0.1:{}", free_port());
    server.arg(&address).arg(&certificate).args(settings).env("SERVE", "1");
    let server = server.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A client that comes before the server listens asks again.
    hang::wait_until("the server has written its certificate", || {
        std::fs::metadata(&certificate).is_ok_and(|file| file.len() > 0)
    });
    client.arg(&address).arg(&certificate).arg("500000");
    let client = client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let client = hang::output("the client", client);
    let server = hang::output("the server", server);
    let succeeded = client.status.success() && server.status.success();
    let printed = Printed { client: text(&client), server: text(&server) };
    assert!(succeeded, "{}{}", printed.client, printed.server);
    printed
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn text(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    format!("{stdout}{stderr}")
}
