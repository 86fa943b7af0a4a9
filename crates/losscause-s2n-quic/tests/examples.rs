//! The example server and client, as separate programs over loopback.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// An example that `cargo test` has compiled.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let folder: PathBuf = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
    Command::new(folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Waits at most a minute; afterwards the program is ended.
fn finish(mut child: Child) -> Output {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
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
    let server = example("s2n_server")
        .args([address.as_ref(), certificate.as_os_str(), "Spike".as_ref()])
        .env("SERVE", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !certificate.exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    let client = example("s2n_client")
        .args([address.as_ref(), certificate.as_os_str(), "500000".as_ref()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (client, server) = (finish(client), finish(server));
    let text = |output: &Output| {
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    assert!(client.status.success() && server.status.success(), "{}{}", text(&client), text(&server));
    assert!(text(&client).starts_with("500000 bytes in "), "{}", text(&client));
    assert!(text(&server).contains("all connections: Counts {"), "{}", text(&server));
}

#[test]
fn an_unknown_algorithm_is_refused_with_those_that_there_are() {
    let output = example("s2n_server").args(["127.0.0.1:0", "unused.der", "Spick"]).output().unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("there is no algorithm \"Spick\"; there are Biaz, mBiaz, Spike"), "{error}");
}
