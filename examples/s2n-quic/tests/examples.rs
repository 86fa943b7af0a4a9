//! The server and the client, as separate programs over loopback.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "common/hang.rs"]
mod hang;

use std::process::{Command, Output, Stdio};

fn server() -> Command {
    Command::new(env!("CARGO_BIN_EXE_s2n_server"))
}

fn client() -> Command {
    Command::new(env!("CARGO_BIN_EXE_s2n_client"))
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn the_client_downloads_from_the_server_and_both_report() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = folder.path().join("cert.der");
    let address = format!("127.0.0.1:{}", free_port());
    let server = server()
        .args([address.as_ref(), certificate.as_os_str(), "Spike".as_ref()])
        .env("SERVE", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A client that comes before the server listens asks again.
    hang::wait_until("the server has written its certificate", || {
        std::fs::metadata(&certificate).is_ok_and(|file| file.len() > 0)
    });
    let client = client()
        .args([address.as_ref(), certificate.as_os_str(), "500000".as_ref()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let client = hang::output("the client", client);
    let server = hang::output("the server", server);
    let text = |output: &Output| {
        format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    };
    assert!(
        client.status.success() && server.status.success(),
        "{}{}",
        text(&client),
        text(&server)
    );
    assert!(text(&client).starts_with("500000 bytes in "), "{}", text(&client));
    assert!(text(&server).contains("all connections: Counts {"), "{}", text(&server));
}

#[test]
fn an_unknown_algorithm_is_refused_with_those_that_there_are() {
    let output = server().args(["127.0.0.1:0", "unused.der", "Spick"]).output().unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("there is no algorithm \"Spick\"; there are Biaz, mBiaz, Spike"),
        "{error}"
    );
}
