//! A capture that is being made ends with the answer at a key, and the terminal is as it was.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Runs `analyze -i` in a terminal of its own, with a tcpdump that writes a capture and then waits,
/// and types `keys`. Returns what the terminal shows, and how it was set before and behind.
fn typed(keys: &str) -> (String, [String; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/captures/sender.pcap.gz");
    let tcpdump = folder.path().join("tcpdump");
    let path = folder.path().display();
    let written = folder.path().join("written");
    let text = format!(
        "#!/bin/sh\ntrap 'exit 0' INT\ngzip -dc '{capture}'\ntouch '{path}/written'\nwhile :; do sleep 0.05; done\n"
    );
    fs::write(&tcpdump, text).unwrap();
    fs::set_permissions(&tcpdump, fs::Permissions::from_mode(0o755)).unwrap();
    let commands = format!(
        "stty -g > '{path}/before'; PATH=\"{path}:$PATH\" '{}' analyze -i eth0; echo \"exit $?\"; stty -g > '{path}/behind'",
        env!("CARGO_BIN_EXE_losscause")
    );
    // A terminal that hangs would wait for ever.
    let mut script = Command::new("timeout")
        .args(["120", "script", "-qec", &commands, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut terminal = script.stdin.take().unwrap();
    while !written.exists() && script.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(10));
    }
    terminal.write_all(keys.as_bytes()).unwrap();
    let shown = script.wait_with_output().unwrap();
    drop(terminal);
    let set =
        ["before", "behind"].map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    (String::from_utf8(shown.stdout).unwrap(), set)
}

#[test]
fn the_key_q_ends_a_capture_with_the_answer() {
    // A key that means nothing comes first.
    let (shown, [before, behind]) = typed("xq");
    assert!(shown.contains("lost packets in"), "{shown}");
    assert!(shown.contains("exit 0"), "{shown}");
    assert_eq!(before, behind);
}
