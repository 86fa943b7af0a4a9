//! The example server and client, as separate programs over loopback.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "common/download.rs"]
mod download;

use std::path::PathBuf;
use std::process::Command;

/// An example that `cargo test` has compiled.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let folder: PathBuf = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
    Command::new(folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

#[test]
fn the_client_downloads_from_the_server_and_both_report() {
    let server = example("quinn_server");
    let printed = download::over_loopback(server, &["cubic", "Spike"], example("quinn_client"));
    assert!(printed.client.starts_with("500000 bytes in "), "{}", printed.client);
    assert!(printed.server.contains("this connection: Counts {"), "{}", printed.server);
}

#[test]
fn a_download_over_the_lossy_relay_prints_cubic_sift_and_why_of_each_loss() {
    let output = example("lossy_relay").args(["50", "10", "2", "2"]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [cubic, reasons @ .., sift] = &printed.lines().collect::<Vec<_>>()[..] else {
        panic!("{printed}")
    };
    assert!(cubic.starts_with("cubic: ") && cubic.ends_with(" Mb/s"), "{cubic}");
    let (_, counts) = sift.split_once(" Mb/s, ").unwrap();
    let numbers: Vec<u32> = counts.split(' ').filter_map(|word| word.parse().ok()).collect();
    // A fiftieth of at least 1400 packets.
    assert!(sift.starts_with("cubic with Sift: ") && numbers[0] > 0 && numbers[1] > 5, "{sift}");
    let lost = |line: &str| {
        let (_, verdict) = line.split_once(" s: ")?;
        let (pkts, why) = verdict.split_once(" packet")?;
        why.contains("; window ").then(|| pkts.parse::<u32>().ok())?
    };
    let told: Option<u32> = reasons.iter().map(|line| lost(line)).sum();
    assert_eq!(told, Some(numbers[1]), "a line with its reason per loss: {printed}");
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
