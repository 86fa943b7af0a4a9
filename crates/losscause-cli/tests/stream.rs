//! `losscause stream`: a file over loopback, the ends that are not the planned one, and bad input.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/hang.rs"]
mod hang;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn losscause(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_losscause"));
    command.arg("stream").args(arguments).env("LOSSCAUSE_STREAM_KEY", KEY);
    command
}

/// A receiver that waits, and its address.
struct Receiver {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    address: String,
}

impl Receiver {
    fn start(arguments: &[&str]) -> Self {
        let mut command = losscause(&["receive", "127.0.0.1:0"]);
        let mut child =
            command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("waiting at ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, stderr, address }
    }

    /// The receiver's exit status, standard output and the rest of standard error.
    fn end(mut self) -> (Option<i32>, String, String) {
        let status = hang::status("the receiver", &mut self.child);
        let mut stdout = String::new();
        let mut stderr = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.stderr.read_to_string(&mut stderr).unwrap();
        (status.code(), stdout, stderr)
    }

    fn interrupt(&self) {
        signal(&self.child, "INT");
    }
}

fn signal(child: &Child, name: &str) {
    let sent =
        Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn file(place: &Path, name: &str, bytes: usize) -> (String, Vec<u8>) {
    let content: Vec<u8> = (0..bytes).map(|at| (at * at / 251 % 256) as u8).collect();
    let path = place.join(name);
    std::fs::write(&path, &content).unwrap();
    (path.to_str().unwrap().to_owned(), content)
}

/// The lines of JSON that tell what a sender has done so far, as it prints them.
fn sending(stdout: impl Read) -> impl Iterator<Item = serde_json::Value> {
    let lines =
        BufReader::new(stdout).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap());
    lines.filter(|line: &serde_json::Value| line["event"] == "sending")
}

/// The only sentence of a refusal, with its exit status.
fn refusal(output: &Output) -> (Option<i32>, String) {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(stderr.trim().lines().count(), 1, "{stderr}");
    (output.status.code(), stderr.trim().trim_start_matches("losscause: ").to_owned())
}

#[test]
fn a_file_arrives_whole() {
    let place = tempfile::tempdir().unwrap();
    let (sent, content) = file(place.path(), "sent", 300_001);
    let received = place.path().join("received");
    let receiver = Receiver::start(&["--out", received.to_str().unwrap(), "--format", "json"]);
    let output =
        losscause(&["send", &receiver.address, &sent, "--max-rate", "4e6"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.starts_with("finished: sent 262 packets (300001 bytes)"), "{stdout}");
    let (status, lines, stderr) = receiver.end();
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["event"], "started");
    assert_eq!(
        (&lines.last().unwrap()["event"], &lines.last().unwrap()["end"]),
        (&"end".into(), &"finished".into())
    );
    assert!(!lines.iter().any(|line| line["event"] == "gap"), "loopback lost packets: {lines:?}");
    assert!(std::fs::read(&received).unwrap() == content, "the file differs");
}

#[test]
fn data_that_arrived_is_kept_when_either_end_is_cut_off() {
    let place = tempfile::tempdir().unwrap();
    for killed in [true, false] {
        // At this rate, two minutes.
        let (sent, content) = file(place.path(), "sent", 6_000_000);
        let received = place.path().join(format!("received-{killed}"));
        let mut options = vec!["--out", received.to_str().unwrap()];
        options.extend(if killed { &["--patience", "1"][..] } else { &[] });
        let receiver = Receiver::start(&options);
        let arguments = ["send", &receiver.address, &sent, "--max-rate", "4e5", "--format", "json"];
        let mut sender =
            losscause(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let arrived = |line: &serde_json::Value| line["received_packets"].as_u64().unwrap() >= 20;
        // A sender whose standard output is closed would end by that.
        let mut told = sending(sender.stdout.take().unwrap());
        assert!(
            told.any(|line| arrived(&line)),
            "the sender ends before twenty packets have arrived"
        );
        assert!(!received.exists(), "the file appears only at the end");
        let address = if killed {
            signal(&sender, "KILL");
            hang::status("the killed sender", &mut sender);
            let (status, stdout, stderr) = receiver.end();
            assert_eq!(status, Some(1), "{stderr}");
            assert!(stdout.starts_with("the peer is gone: received"), "{stdout}");
            stderr
        } else {
            receiver.interrupt();
            let (status, stdout, stderr) = receiver.end();
            assert_eq!((status, stderr.as_str()), (None, ""), "ended by the signal");
            assert!(stdout.starts_with("stopped: received"), "{stdout}");
            let output = hang::output("the sender", sender);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{stderr}");
            stderr
        };
        let expected = if killed {
            "has fallen silent before the end, and what had arrived is kept"
        } else {
            "was stopped before the end"
        };
        assert!(
            address.trim().starts_with("losscause: 127.0.0.1:")
                && address.trim().ends_with(expected),
            "{address}"
        );
        let kept = std::fs::read(&received).unwrap();
        assert!(kept.len() > 10_000 && kept.len() < content.len(), "{} bytes are kept", kept.len());
        assert!(content.starts_with(&kept), "the file differs");
    }
}

#[test]
fn a_made_up_stream_keeps_its_rate_and_tells_it_line_by_line() {
    let receiver = Receiver::start(&["--lda", "spike"]);
    let arguments =
        ["send", &receiver.address, "--rate", "4e5", "--duration", "3", "--format", "json"];
    let output = losscause(&arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines: Vec<serde_json::Value> = sending(output.stdout.as_slice()).collect();
    assert!(lines.len() >= 2, "{lines:?}");
    let number = |line: &serde_json::Value, key: &str| line[key].as_f64().unwrap();
    // Of the bytes that the rate gives until then; each end may have a packet more.
    let share = |line: &serde_json::Value| {
        (number(line, "sent_bytes") - 2400.0) / (5e4 * number(line, "time_s"))
    };
    let shares: Vec<f64> = lines.iter().map(share).collect();
    assert!(shares.iter().all(|share| *share <= 1.0), "{lines:?}");
    // Less the start, and what a busy machine holds up in some of the lines.
    assert!(shares.iter().any(|share| *share > 0.25), "{lines:?}");
    assert!(lines.iter().any(|line| number(line, "rate_bps") > 4e5), "{lines:?}");
    let rtts: Vec<[f64; 2]> = lines
        .iter()
        .filter_map(|line| Some([line["rtt_ms"].as_f64()?, 1e3 * number(line, "time_s")]))
        .collect();
    assert!(
        !rtts.is_empty() && rtts.iter().all(|[rtt, so_far]| *rtt > 0.0 && rtt < so_far),
        "{lines:?}"
    );
    assert_eq!(receiver.end().0, Some(0));
}

#[test]
fn with_another_key_nothing_is_sent_and_the_expected_is_told() {
    let receiver = Receiver::start(&[]);
    let mut command = losscause(&["send", &receiver.address, "--patience", "1"]);
    let output = command.env("LOSSCAUSE_STREAM_KEY", KEY.replace('0', "1")).output().unwrap();
    let expected = "no answer, expected `losscause stream receive` there, with the same key";
    assert_eq!(refusal(&output), (Some(1), format!("{}: {expected}", receiver.address)));
    receiver.interrupt();
    let (_, stdout, stderr) = receiver.end();
    assert!(stdout.starts_with("stopped: received 0 packets"), "{stdout}");
    assert_eq!(stderr.trim(), "packets came that no sender with this key has sent");
}

#[test]
fn bad_input_is_refused_with_a_sentence_and_status_2() {
    let place = tempfile::tempdir().unwrap();
    let (empty, _) = file(place.path(), "empty", 0);
    let missing = place.path().join("missing").to_str().unwrap().to_owned();
    let waiting = Receiver::start(&[]);
    let to = waiting.address.as_str();
    let cases: Vec<(Vec<&str>, String)> = vec![
        (vec!["receive", "127.0.0.1:0", "--lda", "zigzog"], "--lda: the algorithm \"zigzog\" is unknown".to_owned()),
        (vec!["receive", "here"], "here: is no address, expected ADDR:PORT, such as 0.0.0.0:5004".to_owned()),
        (vec!["receive", to], format!("{to}: is in use by another program, expected a free port")),
        (vec!["receive", "127.0.0.1:0", "--patience", "0"], "--patience: a peer is gone after".to_owned()),
        (vec!["receive", "127.0.0.1:0", "--key-file", &missing], format!("{missing}: there is no such file")),
        (vec!["send", to, &missing], format!("{missing}: there is no such file, expected a file to send")),
        (vec!["send", to, &empty], format!("{empty}: is empty, expected a file to send")),
        (vec!["send", to, place.path().to_str().unwrap()], format!("{}: is a directory", place.path().display())),
        (vec!["send", "nowhere"], "nowhere: is no address".to_owned()),
        (
            vec!["send", "255.255.255.255:9"],
            "255.255.255.255:9: cannot be used (no single receiver)".to_owned(),
        ),
        (
            vec!["send", to, "--packet-bytes", "1473"],
            "--packet-bytes 1473: is larger than an MTU of 1500 bytes takes, expected at most 1472: IP and UDP add 28 \
             bytes"
                .to_owned(),
        ),
        (vec!["send", to, "--packet-bytes", "100"], "--packet-bytes: a data packet has 100 bytes".to_owned()),
        (vec!["send", to, "--max-rate", "10"], "--max-rate: the largest rate is 10 b/s".to_owned()),
        (vec!["send", to, "--rate", "-5"], "--rate -5: expected bits per second above 0".to_owned()),
        (vec!["send", to, "--duration", "nan"], "--duration NaN: expected seconds above 0".to_owned()),
    ];
    for (arguments, expected) in cases {
        let (status, sentence) = refusal(&losscause(&arguments).output().unwrap());
        assert_eq!(status, Some(2), "{arguments:?}: {sentence}");
        assert!(sentence.starts_with(&expected), "{arguments:?}: {sentence}");
    }
    let unknown = losscause(&["receive", "127.0.0.1:0", "--lda", "zigzog"]).output().unwrap();
    assert!(refusal(&unknown).1.contains("ZBS"), "the algorithms are listed");
    let without_key =
        losscause(&["receive", "127.0.0.1:0"]).env_remove("LOSSCAUSE_STREAM_KEY").output().unwrap();
    let (status, sentence) = refusal(&without_key);
    assert_eq!(status, Some(2));
    assert!(
        sentence.starts_with("LOSSCAUSE_STREAM_KEY: is not set, and there is no --key-file"),
        "{sentence}"
    );
    waiting.interrupt();
    waiting.end();
}

#[test]
fn a_fresh_key_is_64_digits_and_never_the_same() {
    let keys =
        [(); 2].map(|()| String::from_utf8(losscause(&["key"]).output().unwrap().stdout).unwrap());
    assert!(
        keys.iter()
            .all(|key| key.trim().len() == 64 && key.trim().chars().all(|c| c.is_ascii_hexdigit()))
    );
    assert_ne!(keys[0], keys[1]);
}
