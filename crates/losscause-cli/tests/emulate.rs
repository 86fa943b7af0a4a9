//! `losscause emulate`: exit statuses, outputs, and that nothing is left behind.
#![cfg(all(feature = "linux", target_os = "linux"))]
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/hang.rs"]
mod hang;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

const LINK: &str = r#"
title = "t"
duration_s = 1
[[link]]
name = "air"
rate_bps = 10e6
delay_ms = 5
queue_packets = 20
channel = { kind = "bernoulli", loss = 0.2 }
[[flow]]
name = "video"
protocol = "tcp"
path = ["air"]
"#;

/// A directory with a link, or none: root or TUN is missing, which with `CI=true` is a failure.
fn place() -> Option<tempfile::TempDir> {
    let is_root = fs::read_to_string("/proc/self/status").unwrap().contains("\nUid:\t0\t0\t");
    if !is_root || !Path::new("/dev/net/tun").exists() {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "root or TUN is missing, and CI skips nothing"
        );
        eprintln!("skipped: root, or /dev/net/tun, is missing");
        return None;
    }
    Some(directory())
}

fn directory() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("link.toml"), LINK).unwrap();
    place
}

fn emulate(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_losscause"));
    command.args(["emulate", "link.toml"]).args(arguments).current_dir(directory);
    command
}

fn output(directory: &Path, arguments: &[&str]) -> Output {
    emulate(directory, arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Processes of the whole machine with this word among their arguments.
fn running(word: &str) -> usize {
    let is_it = |entry: fs::DirEntry| {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    };
    fs::read_dir("/proc").unwrap().filter_map(Result::ok).map(is_it).filter(|is| *is).count()
}

/// Waits until so many processes have the word among their arguments.
fn wait_for(word: &str, count: usize) {
    let what = format!("{count} processes have {word} among their arguments");
    hang::wait_until(&what, || running(word) == count);
}

/// A program that does not outlive its test.
struct Started(Child);

impl Started {
    /// Starts it, and waits until the program, its launcher and the command itself run, which all
    /// have the word among their arguments.
    fn new(directory: &Path, arguments: &[&str], word: &str) -> Self {
        let started = Self::spawn(&mut emulate(directory, arguments));
        wait_for(word, 3);
        started
    }

    fn spawn(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    /// Whether each of its threads is stopped.
    fn is_stopped(&self) -> bool {
        let state = |thread: fs::DirEntry| {
            let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
        };
        let threads = fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap();
        threads.filter_map(Result::ok).all(state)
    }

    fn signal(&self, signal: &str) {
        assert!(
            Command::new("kill")
                .args([signal, &self.0.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    }

    fn ended(&mut self) -> ExitStatus {
        hang::status("the command", &mut self.0)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_exit_status_is_that_of_the_command() {
    let Some(place) = place() else { return };
    for (script, expected) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143)] {
        let output = output(place.path(), &["--quiet", "--", "sh", "-c", script]);
        assert_eq!(output.status.code(), Some(expected), "{script}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "{script}");
    }
}

#[test]
fn each_end_has_its_own_network_and_knows_the_other_address() {
    let Some(place) = place() else { return };
    // Both commands run at the same time: each waits for a file of the other's.
    let peer = "echo $LOSSCAUSE_PEER > peer.txt; cat /proc/net/dev > devices.txt; \
        echo > ready.txt; until [ -e done.txt ]; do sleep 0.05; done; exit 4";
    let script = "until [ -e ready.txt ]; do sleep 0.05; done; \
        ls /proc > processes.txt; echo $LOSSCAUSE_PEER; cat /proc/net/dev; \
        grep -c '^[0-9]' processes.txt; echo > done.txt";
    let output = output(place.path(), &["--peer", peer, "--", "sh", "-c", script]);
    let printed = text(&output.stdout);
    assert!(printed.starts_with("10.77.0.2\n"), "{printed}");
    let devices = |table: &str| table.lines().filter(|line| line.contains(": ")).count();
    // Its own processes are the launcher, the shell and ls.
    assert!(
        devices(&printed) == 2 && printed.contains("tun0:") && printed.ends_with("\n3\n"),
        "{printed}"
    );
    assert_eq!(fs::read_to_string(place.path().join("peer.txt")).unwrap(), "10.77.0.1\n");
    assert_eq!(devices(&fs::read_to_string(place.path().join("devices.txt")).unwrap()), 2);
    // The table is on standard error, away from what the command prints.
    let told = text(&output.stderr);
    assert!(output.status.success() && told.contains("wireless losses"), "{told}");
    assert!(told.contains("\n--peer: the command ended with status 4.\n"), "{told}");
}

#[test]
fn json_is_alone_on_standard_output_and_agrees_with_the_log() {
    let Some(place) = place() else { return };
    // Bash can send datagrams by itself: 40 of them, to a port that nobody has; the answers are
    // ICMP. It ends when the link has taken all 40 and an answer is there.
    let script = "echo noise
for i in $(seq 40); do echo x > /dev/udp/$LOSSCAUSE_PEER/9; sleep 0.002; done 2>&1
for i in $(seq 6000); do
    set -- $(grep tun0: /proc/net/dev)
    [ ${11} -ge 40 ] && grep -q '^Icmp: [1-9]' /proc/net/snmp && break
    sleep 0.01
done";
    // The queue has room for all 40, however late the link takes them.
    let options = ["--set", "link.air.queue_packets=40", "--format", "json"];
    let files = ["--log", "log.csv", "--pcap", "captures", "--", "bash", "-c", script];
    let files = [&options[..], &files].concat();
    let output = output(place.path(), &files);
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(text(&output.stderr).contains("noise"));
    let command = result["origin"]["command"].as_str().unwrap();
    let start = "losscause emulate link.toml --set link.air.queue_packets=40 --seed ";
    assert!(
        command.starts_with(start) && command.contains(" -- bash -c 'echo noise\n"),
        "{command}"
    );
    assert!(result["peer_exit_status"].is_null(), "{result}");
    let count = |direction: &str, what: &str| result[direction][what].as_u64().unwrap();
    assert_eq!(count("forward", "packets"), 40);
    let delivered = count("forward", "delivered");
    let lost = count("forward", "wireless_losses");
    assert_eq!(delivered + lost + count("forward", "in_flight"), 40);
    assert!(lost >= 1 && count("forward", "queue_drops") == 0, "{result}");
    // Each second ICMP message may be withheld by the kernel's own limit.
    assert!(count("back", "packets") >= 1 && count("back", "wireless_losses") == 0, "{result}");
    assert_eq!(result["device_drops"], serde_json::json!({ "sender": 0, "peer": 0 }));
    let log = fs::read_to_string(place.path().join("log.csv")).unwrap();
    assert_eq!(log, fs::read_to_string(place.path().join("captures/drops.csv")).unwrap());
    assert_eq!(
        log.lines().filter(|line| line.contains(",forward,air,wireless,")).count() as u64,
        lost
    );
    assert!(log.contains(",udp,,2,"), "two bytes of payload: {log}");
    // 24 bytes for the file, and 16 + 30 for a packet: 28 of headers, and "x\n".
    let sent = fs::read(place.path().join("captures/sender.pcap")).unwrap();
    assert!(sent.len() >= 24 + 40 * 46, "{}", sent.len());
}

#[test]
fn captures_of_an_earlier_run_are_kept() {
    let Some(place) = place() else { return };
    let run = || output(place.path(), &["--quiet", "--pcap", "captures", "--", "true"]);
    assert!(run().status.success());
    let again = run();
    let error = text(&again.stderr);
    assert_eq!(again.status.code(), Some(2), "{error}");
    assert!(
        error.starts_with("losscause: --pcap captures: holds ")
            && error.ends_with(", expected a new or empty directory\n"),
        "{error}"
    );
}

#[test]
fn a_peer_has_time_to_finish_what_its_shell_started() {
    let Some(place) = place() else { return };
    // The outer shell ends at once when it is asked to; the inner one writes first.
    let inner = "trap 'sleep 0.5; echo done > finished.txt; exit' TERM; echo > ready.txt; while :; do sleep 0.05; done";
    fs::write(place.path().join("inner.sh"), inner).unwrap();
    let script = "until [ -e ready.txt ]; do sleep 0.05; done";
    let output = output(place.path(), &["--peer", "sh inner.sh; exit 5", "--", "sh", "-c", script]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(place.path().join("finished.txt")).unwrap(), "done\n");
}

#[test]
fn a_link_that_fails_is_reported_before_what_its_end_breaks() {
    let Some(place) = place() else { return };
    let script = "ip link del tun0; sleep 36.001";
    let output = output(place.path(), &["--quiet", "--", "sh", "-c", script]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.starts_with("losscause: the TUN device cannot be read ("), "{error}");
    wait_for("36.001", 0);
}

#[test]
fn a_stall_of_the_hosts_is_in_the_summary() {
    let Some(place) = place() else { return };
    let stopped = std::time::Duration::from_millis(40);
    let arguments = ["--format", "json", "--", "sleep", "37.001"];
    let mut started = Started::spawn(emulate(place.path(), &arguments).stdout(Stdio::piped()));
    wait_for("37.001", 3);
    started.signal("-STOP");
    hang::wait_until("each thread is stopped", || started.is_stopped());
    std::thread::sleep(stopped);
    started.signal("-CONT");
    started.signal("-TERM");
    let mut printed = String::new();
    started.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    started.ended();
    let result: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let stall = |key: &str| result["host_stall_ms"][key].as_f64().unwrap();
    // The sleep of 1 ms is no stall.
    assert!(stall("greatest") >= 39.0, "{result}");
    assert!(stall("p99") <= stall("greatest") && (0.0..1.0).contains(&stall("share")), "{result}");
}

#[test]
fn nothing_is_left_behind_by_a_command_that_leaves_processes() {
    let Some(place) = place() else { return };
    let script = "sleep 31.001 & (setsid sleep 31.002 &) ; exit 0";
    assert!(
        output(place.path(), &["--peer", "sleep 31.003", "--", "sh", "-c", script])
            .status
            .success()
    );
    ["31.001", "31.002", "31.003"].iter().for_each(|word| wait_for(word, 0));
}

#[test]
fn nothing_is_left_behind_when_the_program_is_killed() {
    let Some(place) = place() else { return };
    let script = "(setsid sleep 32.001 &) ; sleep 32.002";
    let arguments = ["--peer", "sleep 32.003", "--", "sh", "-c", script, "32.004"];
    let mut started = Started::new(place.path(), &arguments, "32.004");
    ["32.001", "32.002", "32.003"].iter().for_each(|word| wait_for(word, 1));
    started.signal("-KILL");
    started.ended();
    ["32.001", "32.002", "32.003", "32.004"].iter().for_each(|word| wait_for(word, 0));
}

#[test]
fn a_signal_ends_the_command_and_the_files_are_written() {
    let Some(place) = place() else { return };
    for (name, status) in [("-INT", 2), ("-TERM", 15)] {
        let log = place.path().join("log.csv");
        let mut started =
            Started::new(place.path(), &["--log", "log.csv", "--", "sleep", "33.001"], "33.001");
        started.signal(name);
        let ended = started.ended();
        assert_eq!(ended.signal(), Some(status));
        assert!(fs::read_to_string(&log).unwrap().starts_with("time_s,direction,link,cause"));
        fs::remove_file(&log).unwrap();
        assert_eq!(running("33.001"), 0);
    }
}

#[test]
fn a_command_that_ignores_signals_is_ended_all_the_same() {
    let Some(place) = place() else { return };
    let script = "trap '' INT TERM; while :; do sleep 0.1; done";
    let mut started = Started::new(place.path(), &["--", "sh", "-c", script, "34.001"], "34.001");
    started.signal("-TERM");
    // By itself it would never end.
    assert_eq!(started.ended().signal(), Some(15));
    wait_for("34.001", 0);
}

#[test]
fn an_input_that_cannot_be_used_is_told_in_one_sentence() {
    let place = directory();
    fs::create_dir(place.path().join("full")).unwrap();
    fs::write(place.path().join("full/notes.txt"), "").unwrap();
    for (arguments, expected) in [
        (
            &["--set", "link.air.rate=3", "--", "true"][..],
            "losscause: link.toml: link.air.rate: the key \"rate\" is unknown",
        ),
        (
            &["--set", "link.air.rate_bps=0", "--", "true"],
            "losscause: link.toml: link.air.rate_bps: is 0, expected ",
        ),
        (
            &["--flow", "viedo", "--", "true"],
            "losscause: --flow: \"viedo\" is unknown (did you mean",
        ),
        (
            &["--pcap", "full", "--", "true"],
            "losscause: --pcap full: holds notes.txt, expected a new or empty directory",
        ),
        (&["--log", "link.toml", "--", "true"], "losscause: link.toml: "),
        (
            &["--pcap", "new", "--log", "new/drops.csv", "--", "true"],
            "losscause: --log new/drops.csv: is also a file of",
        ),
        (
            &["--log", "-", "--", "true"],
            "losscause: --log -: standard output is the command's, expected a file",
        ),
        (
            &["--", "no-such-command"],
            "losscause: no-such-command: is no program on the PATH, expected a command to run",
        ),
        (
            &[],
            "losscause: emulate: <COMMAND>... is missing, expected as in `losscause emulate --help`",
        ),
    ] {
        let output = output(place.path(), arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(
            error.starts_with(expected) && error.lines().count() == 1,
            "{arguments:?}: {error}"
        );
    }
    assert!(!place.path().join("new/sender.pcap").exists());
}

#[test]
fn a_peer_that_fails_at_once_is_bad_input() {
    let Some(place) = place() else { return };
    let output =
        output(place.path(), &["--peer", "exit 3", "--log", "log.csv", "--", "touch", "began"]);
    let expected = "losscause: --peer: the command ended with status 3 before COMMAND began, expected one that waits for \
                    COMMAND; if COMMAND is to wait for it, let it begin later: --peer 'sleep 3; …'\n";
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(2), expected));
    assert!(!place.path().join("began").exists() && !place.path().join("log.csv").exists());
}

#[test]
fn without_root_the_program_says_so() {
    let Some(place) = place() else { return };
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    match emulate(place.path(), &["--quiet", "--", "true"]).uid(65_534).output() {
        Ok(output) => {
            let error = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{error}");
            let expected = "losscause: a network namespace cannot be made (EPERM: ";
            assert!(error.starts_with(expected) && error.lines().count() == 1, "{error}");
        }
        Err(error) => {
            // The program itself may be out of reach for others.
            assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
            eprintln!(
                "skipped: {} cannot be executed without root",
                env!("CARGO_BIN_EXE_losscause")
            );
        }
    }
}
