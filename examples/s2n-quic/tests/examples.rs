//! The server and the client, as separate programs over loopback.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "common/download.rs"]
mod download;

use std::process::Command;

fn server() -> Command {
    Command::new(env!("CARGO_BIN_EXE_s2n_server"))
}

fn client() -> Command {
    Command::new(env!("CARGO_BIN_EXE_s2n_client"))
}

#[test]
fn the_client_downloads_from_the_server_and_both_report() {
    let printed = download::over_loopback(server(), &["Spike"], client());
    assert!(printed.client.starts_with("500000 bytes in "), "{}", printed.client);
    assert!(printed.server.contains("all connections: Counts {"), "{}", printed.server);
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
