//! `losscause analyze --report`: the page of captures.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/command.rs"]
mod command;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use command::{RECEIVER, SENDER, captures, losscause, text};
use flate2::read::GzDecoder;

/// Analyses with `--report page.html` and gives what the program did and the page.
fn report(arguments: &[&str], directory: &Path) -> (Output, String) {
    // A page that is there is kept.
    let _ = std::fs::remove_file(directory.join("page.html"));
    let output = losscause(&[&["analyze", "--report", "page.html"], arguments].concat(), directory);
    let page = std::fs::read_to_string(directory.join("page.html")).unwrap_or_default();
    (output, page)
}

/// The bytes of a capture, and where its records begin.
fn records(compressed: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut bytes).unwrap();
    let mut starts = Vec::new();
    let mut at = 24;
    while at < bytes.len() {
        starts.push(at);
        at += 16 + u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
    }
    (bytes, starts)
}

#[test]
fn the_page_begins_with_the_answer_its_evidence_and_how_sure() {
    let place = captures();
    let (output, page) = report(&["receiver.pcap.gz"], place.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let answer = printed.lines().next().unwrap().strip_prefix("receiver.pcap.gz: ").unwrap();
    let (head, rest) = page.split_once("</header>").unwrap();
    // The cause; then each number that shows it, what to do, what the algorithm says, and the next
    // command.
    let (headline, rest_of_answer) = answer.split_once(" (").unwrap();
    assert!(head.contains(&format!("<h1>{headline}.</h1>")), "{answer}");
    let (evidence, sentences) = rest_of_answer.split_once("). ").unwrap();
    for finding in evidence.split("; ") {
        assert!(head.contains(&finding[1..]), "{finding}: {head}");
    }
    for sentence in sentences.split_inclusive(". ") {
        assert!(head.contains(sentence.trim_end()), "{sentence}: {head}");
    }
    assert!(
        head.contains(
            "<code>losscause analyze --sender &lt;capture of the sender&gt; --receiver FILE</code>"
        ),
        "{head}"
    );
    assert!(head.contains(" of 47 losses (") && head.contains("happened while the path"), "{head}");
    assert!(head.contains("How far to trust it.") && head.contains("most say what sift says of "));
    // Rows of 47 losses, seven algorithms, one flow.
    assert_eq!(rest.matches("<th scope=\"row\">").count(), 47 + 7 + 1);
    assert!(rest.contains("found by gap") && rest.contains("evidence for a wireless loss"));
}

#[test]
fn losses_have_frames_and_times_and_drawings_share_a_cursor() {
    let place = captures();
    let (output, page) = report(&["sender.pcap.gz", "--format", "json"], place.path());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let loss = &json["captures"][0]["flows"][0]["losses"][0];
    let (date, time) = loss["time_utc"].as_str().unwrap().split_once('T').unwrap();
    assert!(
        page.contains(&format!("UTC, {date}</th>"))
            && page.contains(&time[.."09:30:00.123456".len()])
    );
    assert!(
        page.contains(&format!("<td>{}</td><td>{}</td>", loss["frame"], loss["frame_again"])),
        "{loss}"
    );
    assert!(page.contains(">queueing delay</text>") && page.contains(">in queues, about</text>"));
    assert!(
        page.contains("data-time=\"")
            && page.contains("data-unit=\"kB\"")
            && page.contains("class=\"filter\"")
    );
}

#[test]
fn the_page_is_self_contained_and_the_same_every_time() {
    let place = captures();
    let (_, page) = report(&["sender.pcap.gz", "receiver.pcap.gz"], place.path());
    assert!(page.contains("<h1>2 captures</h1>"));
    for outside in ["http", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.len() < 3_000_000 && !page.contains("NaN"));
    let (_, again) = report(&["sender.pcap.gz", "receiver.pcap.gz"], place.path());
    assert!(page == again);
}

#[test]
fn joined_captures_have_one_page_with_known_losses() {
    let place = captures();
    let (output, page) =
        report(&["--sender", "sender.pcap.gz", "--receiver", "receiver.pcap.gz"], place.path());
    assert!(output.status.success());
    assert!(
        page.contains(
            "Of these known losses, the sender&#x27;s capture alone finds 47 and misses 1"
        ),
        "{page}"
    );
    assert!(page.contains("seen at both ends") && page.contains("found by known"));
    assert!(page.contains("class=\"chart time\""));
}

#[test]
fn the_report_of_a_simulated_capture_tells_the_runs_losses() {
    let place = tempfile::tempdir().unwrap();
    let run = "-q simulate cen2003/WLH --set N=1 --set flow.test.protocol=tcp --pcap c";
    let run: Vec<&str> = run.split(' ').collect();
    assert!(losscause(&run, place.path()).status.success());
    let (output, page) = report(&["c/receiver.pcap", "--format", "json"], place.path());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let flow = &json["captures"][0]["flows"][0];
    let losses = flow["losses"].as_array().unwrap();
    assert!(
        losses.len() > 50 && page.contains(&format!("The {} losses", losses.len())),
        "{}",
        losses.len()
    );
    for loss in losses {
        let queueing = loss["queueing_ms"].as_f64().unwrap();
        assert!(queueing >= 0.0, "{loss}");
        assert_eq!(
            loss["reasons"].as_object().unwrap().len(),
            loss["verdicts"].as_object().unwrap().len()
        );
    }
    let [p50, p95] = ["p50_ms", "p95_ms"].map(|key| flow["queueing"][key].as_f64().unwrap());
    assert!(0.0 < p50 && p50 < p95, "{p50} {p95}");
}

#[test]
fn a_capture_without_losses_has_a_page_with_the_transfer() {
    let place = captures();
    let (output, page) = report(&["--to", "0.1", "sender.pcap.gz"], place.path());
    assert!(output.status.success());
    assert!(page.contains("<h1>No data packet of 1 flow was lost.</h1>"));
    assert!(
        page.contains("class=\"finding\"") && page.contains("round trip 43 ms"),
        "its rate and round trips"
    );
    assert!(
        page.contains("What limited it.") && page.contains(" s for the path."),
        "what its sender waited for"
    );
    assert!(!page.contains("What each algorithm says"));
}

#[test]
fn a_report_never_overwrites_a_capture_or_another_output() {
    let place = captures();
    let refused = |arguments: &[&str]| {
        let output = losscause(&[&["analyze"], arguments].concat(), place.path());
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    let said = refused(&["--report", "./sender.pcap.gz", "sender.pcap.gz"]);
    assert!(said.contains("./sender.pcap.gz: is also an input and would be overwritten"), "{said}");
    assert_eq!(std::fs::read(place.path().join("sender.pcap.gz")).unwrap(), SENDER);
    let said = refused(&["--losses", "out.csv", "--report", "out.csv", "sender.pcap.gz"]);
    assert!(said.contains("--report out.csv: is also the file of --losses"), "{said}");
}

#[test]
fn a_truncated_capture_has_a_report_and_is_a_failure() {
    let place = captures();
    let (bytes, _) = records(RECEIVER);
    std::fs::write(place.path().join("cut.pcap"), &bytes[..bytes.len() - 7]).unwrap();
    let (output, page) = report(&["cut.pcap"], place.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        page.contains("The file ends inside a packet at byte ") && page.contains("47 lost packets"),
        "{page}"
    );
}

#[test]
fn disordered_times_and_cut_options_are_told_on_page_and_screen() {
    let place = captures();
    let (mut bytes, starts) = records(SENDER);
    // A packet with a time before that of the one before it.
    let before = bytes[starts[699]..starts[699] + 8].to_vec();
    bytes[starts[700]..starts[700] + 8].copy_from_slice(&before);
    let at = starts[700] + 4;
    let fraction = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()).saturating_sub(1);
    bytes[at..at + 4].copy_from_slice(&fraction.to_le_bytes());
    // A segment whose options are cut behind the headers of IPv4 and TCP proper, 20 bytes each.
    let start = starts[800];
    let next = starts[801];
    let header = bytes[start + 16..next].len() - bytes[start + 16..next].len().min(44);
    bytes[start + 8..start + 12].copy_from_slice(&44_u32.to_le_bytes());
    bytes.drain(next - header..next);
    std::fs::write(place.path().join("odd.pcap"), bytes).unwrap();
    let (output, page) = report(&["odd.pcap"], place.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    for note in [
        "1 packet has an earlier time than the packet before",
        "1 TCP segment has options that the snap length cut: losses may be missing",
    ] {
        assert!(printed.contains(&format!("note: {note}\n")), "{printed}");
        assert!(page.contains(&format!("<li>{note}.</li>")), "{note}");
    }
}

/// Twenty packets of which the fifth is lost, as newer stacks log them: a record per line.
fn qlog() -> String {
    let mut lines = vec![
        r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"server"}}}"#.to_owned(),
    ];
    let event = |ms: u32, name: &str, data: String| {
        format!(r#"{{"time":{ms},"name":"{name}","data":{data}}}"#)
    };
    let header = |number: u32| {
        format!(
            r#""header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1200}}"#
        )
    };
    for number in 0..20 {
        let data = format!(r#"{{{},"frames":[{{"frame_type":"stream"}}]}}"#, header(number));
        lines.push(event(10 * number, "transport:packet_sent", data));
        let ranges = if number < 4 {
            format!("[[0,{number}]]")
        } else {
            format!("[[0,3],[5,{}]]", number.max(5))
        };
        if number != 4 {
            let frames = format!(r#""frames":[{{"frame_type":"ack","acked_ranges":{ranges}}}]"#);
            lines.push(event(
                10 * number + 9,
                "transport:packet_received",
                format!("{{{},{frames}}}", header(number)),
            ));
        }
    }
    lines.join("\n")
}

#[test]
fn a_qlog_on_standard_input_has_a_report() {
    let place = tempfile::tempdir().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_losscause"));
    program
        .args(["analyze", "--report", "page.html", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut program = program.current_dir(place.path()).spawn().unwrap();
    program.stdin.take().unwrap().write_all(qlog().as_bytes()).unwrap();
    let output = program.wait_with_output().unwrap();
    assert!(output.status.success());
    let printed = text(&output.stdout);
    assert!(printed.starts_with("standard input: 1 lost packet in "), "{printed}");
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(
        page.contains("QUIC seen at the sender") && page.contains("packet 4, found by"),
        "{page}"
    );
}
