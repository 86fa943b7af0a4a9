//! The example server and client, as separate programs over loopback.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "common/hang.rs"]
mod hang;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// An example that `cargo test` has compiled.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let folder: PathBuf = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
    Command::new(folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
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
    let server = example("quinn_server")
        .args([address.as_ref(), certificate.as_os_str(), "cubic".as_ref(), "Spike".as_ref()])
        .env("SERVE", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A client that comes before the server listens asks again.
    hang::wait_until("the server has written its certificate", || {
        std::fs::metadata(&certificate).is_ok_and(|file| file.len() > 0)
    });
    let client = example("quinn_client")
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
    assert!(text(&server).contains("this connection: Counts {"), "{}", text(&server));
}

#[test]
fn an_unknown_base_or_algorithm_is_refused_with_a_list() {
    let refused = |base: &str, algorithm: &str| {
        let output = example("quinn_server")
            .args(["127.0.0.1:0", "unused.der", base, algorithm])
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(
        refused("bbr", "Spike")
            .contains("there is no base controller \"bbr\"; there are newreno, cubic")
    );
    assert!(
        refused("cubic", "Spick")
            .contains("there is no algorithm \"Spick\"; there are Biaz, mBiaz, Spike")
    );
}
