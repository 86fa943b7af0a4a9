//! `losscause analyze`: the answer, and one sentence for every input that cannot be used.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/command.rs"]
mod command;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use command::{RECEIVER, SENDER, captures, losscause, text};
use flate2::read::GzDecoder;

fn analyze(arguments: &[&str], directory: &Path) -> Output {
    losscause(&[&["analyze"], arguments].concat(), directory)
}

/// Runs the program, which must refuse with status 2, and gives its one sentence.
fn refusal(arguments: &[&str], directory: &Path) -> String {
    let output = analyze(arguments, directory);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{said}");
    let sentence = said.strip_suffix('\n').unwrap();
    assert!(!sentence.contains('\n'), "{said}");
    sentence.strip_prefix("losscause: ").unwrap().to_owned()
}

fn plain(compressed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn the_first_line_is_the_answer() {
    let place = captures();
    let output = analyze(&["receiver.pcap.gz"], place.path());
    assert!(output.status.success());
    let printed = text(&output.stdout);
    let answer = printed.lines().next().unwrap();
    assert!(answer.starts_with("receiver.pcap.gz: 47 lost packets in 1 flow. "), "{answer}");
    let row = printed.lines().find(|line| line.contains("10.77.0.2:5001")).unwrap();
    assert!(row.contains(" receiver ") && row.contains(" 47 "), "{row}");
}

#[test]
fn the_answer_names_the_algorithm_that_it_rests_on() {
    let place = captures();
    let printed = text(
        &analyze(&["--lda", "zbs", "--format", "json", "receiver.pcap.gz"], place.path()).stdout,
    );
    let json: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let summary = &json["captures"][0]["flows"][0]["summary"]["zbs"];
    let printed = text(&analyze(&["--lda", "zbs", "receiver.pcap.gz"], place.path()).stdout);
    let answer = printed.lines().next().unwrap();
    let expected = format!(
        ": by zbs, {} are wireless and {} congestion",
        summary["wireless"], summary["congestion"]
    );
    assert!(answer.contains(&expected), "{answer}");
}

const BOTH: [&str; 4] = ["--sender", "sender.pcap.gz", "--receiver", "receiver.pcap.gz"];

#[test]
fn two_captures_of_one_transfer_make_losses_known() {
    let place = captures();
    let output = analyze(&BOTH, place.path());
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    let printed = text(&output.stdout);
    let mut lines = printed.lines();
    let answer = lines.next().unwrap();
    assert!(
        answer.starts_with("sender.pcap.gz and receiver.pcap.gz: 48 lost packets in 1 flow. "),
        "{answer}"
    );
    assert!(answer.contains(" at the receiver, "), "{answer}");
    assert_eq!(
        lines.next().unwrap(),
        "Of these known losses, the sender's capture alone finds 47 and misses 1; the receiver's alone finds 47 and \
         misses 1."
    );
    let row = printed.lines().find(|line| line.contains("10.77.0.2:5001")).unwrap();
    assert!(row.contains(" both ") && row.contains(" 48 ") && row.contains("@receiver"), "{row}");
    let next = format!("next: losscause analyze {} --report report.html\n", BOTH.join(" "));
    assert!(printed.ends_with(&next), "{printed}");
    // One end alone: the other's capture is missing.
    let alone = text(&analyze(&["sender.pcap.gz"], place.path()).stdout);
    let next =
        "next: losscause analyze --sender sender.pcap.gz --receiver <capture of the receiver>\n";
    assert!(alone.ends_with(next), "{alone}");
}

#[test]
fn joined_json_has_the_shape_of_one_capture() {
    let place = captures();
    let output = analyze(&[&BOTH[..], &["--format", "json"]].concat(), place.path());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let flow = &json["captures"][0]["flows"][0];
    assert_eq!(
        (&flow["vantage"], &flow["losses"][0]["evidence"]),
        (&"both".into(), &"known".into())
    );
    assert_eq!(
        (&flow["alone"]["sender"]["found"], &flow["alone"]["receiver"]["missed"]),
        (&47.into(), &1.into())
    );
    assert!(flow["losses"][0]["verdicts"]["spike@sender"].is_string());
    let command = "losscause analyze --sender sender.pcap.gz --receiver receiver.pcap.gz";
    assert_eq!(json["origin"]["command"], command);
    let options = ["--lda", "zbs,Spike", "--host", "10.77.0.2", "--from", "1.5", "--keep-skew"];
    let words = [&["receiver.pcap.gz"], &options[..], &["--format", "json"]].concat();
    let json: serde_json::Value =
        serde_json::from_slice(&analyze(&words, place.path()).stdout).unwrap();
    let command = format!("losscause analyze receiver.pcap.gz {}", options.join(" "));
    assert_eq!(
        (&json["origin"]["command"], &json["origin"]["seed"]),
        (&command.into(), &().into())
    );
}

#[test]
fn captures_that_cannot_be_joined_are_refused() {
    let place = captures();
    let refused = |arguments: &[&str]| refusal(arguments, place.path());
    assert!(refused(&BOTH[..2]).contains("--receiver <CAPTURE>"));
    assert!(refused(&BOTH[2..]).contains("--sender <CAPTURE>"));
    assert!(refused(&[&BOTH[..], &["sender.pcap.gz"]].concat()).contains("cannot be used with"));
    let missing = refused(&["--sender", "missing.pcap", "--receiver", "receiver.pcap.gz"]);
    let expected =
        "expected a pcap, pcapng or qlog file, plain or compressed with gzip, xz or zstd";
    assert_eq!(missing, format!("missing.pcap: there is no such file, {expected}"));
    let swapped = refused(&["--sender", "receiver.pcap.gz", "--receiver", "sender.pcap.gz"]);
    assert_eq!(
        swapped,
        "receiver.pcap.gz and sender.pcap.gz are in the wrong order: the first was taken at the receiver of the data, \
         the second at their sender"
    );
    // Every address of the other capture is another one.
    let mut other = plain(RECEIVER);
    for at in 0..other.len() - 4 {
        if other[at..at + 3] == [10, 77, 0] {
            other[at + 2] = 9;
        }
    }
    std::fs::write(place.path().join("other.pcap"), other).unwrap();
    let uncommon = refused(&["--sender", "sender.pcap.gz", "--receiver", "other.pcap"]);
    assert!(
        uncommon.starts_with("sender.pcap.gz and other.pcap have no flow in common, expected two"),
        "{uncommon}"
    );
    let twice = refused(&["--sender", "-", "--receiver", "-"]);
    assert_eq!(
        twice,
        "--receiver -: standard input is the sender's capture already, expected a file"
    );
}

#[test]
fn a_truncated_capture_is_joined_as_far_as_it_goes() {
    let place = captures();
    let whole = plain(RECEIVER);
    std::fs::write(place.path().join("cut.pcap"), &whole[..whole.len() - 7]).unwrap();
    let output = analyze(&["--sender", "sender.pcap.gz", "--receiver", "cut.pcap"], place.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("sender.pcap.gz and cut.pcap: 48 lost packets"));
    assert!(text(&output.stderr).starts_with("losscause: cut.pcap: ends inside a packet at byte "));
}

#[test]
fn the_losses_are_written_as_csv_with_a_column_per_algorithm() {
    let place = captures();
    let file = place.path().join("losses.csv");
    let output = analyze(
        &["--losses", "losses.csv", "--lda", "zbs,spike", "receiver.pcap.gz"],
        place.path(),
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let csv = std::fs::read_to_string(&file).unwrap();
    let mut lines = csv.lines();
    let header = "capture,flow,src,dst,time_s,seq,bytes,packets,frame,frame_again,time_utc,evidence,queueing_ms,verdict,reason,spike,zbs";
    assert_eq!(lines.next().unwrap(), header);
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 47);
    for row in &rows {
        assert_eq!((row[0], row[1], row[11]), ("receiver.pcap.gz", "1", "gap"));
        assert!(row[8].parse::<u64>().unwrap() < row[9].parse().unwrap(), "{row:?}");
        assert_eq!(row[13], row[row.len() - 2], "spike is the recommended one");
        assert!(row[12].parse::<f64>().unwrap() >= 0.0 && row[14].contains("Spike"), "{row:?}");
    }
    // Joined, with a column for each end.
    let output =
        analyze(&[&BOTH[..], &["--lda", "zbs", "--losses", "joined.csv"]].concat(), place.path());
    assert!(output.status.success());
    let csv = std::fs::read_to_string(place.path().join("joined.csv")).unwrap();
    assert!(
        csv.lines()
            .next()
            .unwrap()
            .ends_with("evidence,queueing_ms,verdict,reason,zbs@receiver,zbs@sender")
    );
    assert_eq!((csv.lines().count(), csv.matches(",known,").count()), (49, 48));
}

#[test]
fn losses_are_never_written_over_a_capture() {
    let place = captures();
    let before = std::fs::read(place.path().join("sender.pcap.gz")).unwrap();
    let said = refusal(&["--losses", "./sender.pcap.gz", "sender.pcap.gz"], place.path());
    assert!(said.contains("sender.pcap.gz"), "{said}");
    refusal(&[&BOTH[..], &["--losses", "receiver.pcap.gz"]].concat(), place.path());
    assert_eq!(std::fs::read(place.path().join("sender.pcap.gz")).unwrap(), before);
    let unwritable = analyze(&["--losses", "missing/losses.csv", "sender.pcap.gz"], place.path());
    assert_ne!(unwritable.status.code(), Some(0));
}

#[test]
fn no_option_writes_over_a_file_that_is_there() {
    let place = captures();
    std::fs::write(place.path().join("mine.csv"), "mine").unwrap();
    for option in ["--losses", "--observations", "--report", "--annotate", "--share", "--scenario"]
    {
        assert_eq!(
            refusal(&[option, "mine.csv", "sender.pcap.gz"], place.path()),
            format!("{option} mine.csv: the file exists, expected a new one")
        );
    }
    assert_eq!(std::fs::read_to_string(place.path().join("mine.csv")).unwrap(), "mine");
}

#[test]
fn a_capture_is_written_again_with_comments_and_to_be_shared() {
    let place = captures();
    let output = analyze(
        &["--annotate", "marked.pcapng", "--share", "shared.pcapng", "sender.pcap.gz"],
        place.path(),
    );
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("marked.pcapng: ") && said.contains("shared.pcapng: 1876 packets\n"),
        "{said}"
    );
    let answer = |file: &str| {
        let printed = text(&analyze(&[file], place.path()).stdout);
        printed.lines().next().unwrap().split_once(": ").unwrap().1.to_owned()
    };
    assert_eq!(answer("marked.pcapng"), answer("sender.pcap.gz"));
    assert_eq!(answer("shared.pcapng"), answer("sender.pcap.gz"));
    let marked = std::fs::read(place.path().join("marked.pcapng")).unwrap();
    let comments =
        |part: &[u8]| marked.windows(part.len()).filter(|window| *window == part).count();
    assert_eq!(
        (comments(b"lost; sent again in frame "), comments(b"sent again (earlier in frame ")),
        (47, 47)
    );
    // Written whole, or not at all.
    std::fs::write(place.path().join("text.pcap"), b"This is no capture.").unwrap();
    refusal(&["--annotate", "text.pcapng", "text.pcap"], place.path());
    assert!(!place.path().join("text.pcapng").exists());
}

#[test]
fn what_cannot_be_written_again_is_refused_in_one_sentence() {
    let place = captures();
    let qlog = r#"{"qlog_version":"0.3","traces":[{"vantage_point":{"type":"client"},"events":[
        {"time":0,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":0},"frames":[{"frame_type":"ping"}]}},
        {"time":9,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"ping"}]}}]}]}"#;
    std::fs::write(place.path().join("own.qlog"), qlog).unwrap();
    let no_packets =
        "own.qlog: is a qlog, which has no packets to write again, expected a pcap or pcapng file";
    let over = "./sender.pcap.gz: is also an input and would be overwritten, expected another place for the output";
    for option in ["--annotate", "--share"] {
        let refused = |rest: &[&str]| refusal(&[&[option], rest].concat(), place.path());
        assert_eq!(refused(&["out.pcapng", "own.qlog"]), no_packets);
        assert_eq!(refused(&["./sender.pcap.gz", "sender.pcap.gz"]), over);
        let twice = "reads the capture twice, which standard input cannot be, expected a file";
        assert_eq!(refused(&["out.pcapng", "-"]), format!("{option} out.pcapng: {twice}"));
        let one = "writes one capture again, expected one instead of 2";
        assert_eq!(
            refused(&["out.pcapng", "sender.pcap.gz", "receiver.pcap.gz"]),
            format!("{option} out.pcapng: {one}")
        );
        assert!(refused(&[&["out.pcapng"], &BOTH[..]].concat()).contains("cannot be used with"));
        let standard = "standard output has the answer, expected a file";
        assert_eq!(refused(&["-", "sender.pcap.gz"]), format!("{option} -: {standard}"));
    }
    assert!(!place.path().join("out.pcapng").exists());
}

#[test]
fn verbose_shows_every_algorithm_and_every_loss() {
    let place = captures();
    let printed = text(&analyze(&["--verbose", "sender.pcap.gz"], place.path()).stdout);
    for name in
        ["biaz", "mbiaz", "spike", "spike-tobe", "zigzag", "zbs", "flip-flop", "vegas-buffer"]
    {
        assert!(printed.lines().any(|line| line.trim_start().starts_with(name)), "{name}");
    }
    assert_eq!(printed.matches("fast-retransmit").count(), 47);
}

#[test]
fn json_has_one_entry_per_capture_in_the_order_of_arguments() {
    let place = captures();
    let output = analyze(
        &["--format", "json", "--lda", "zbs,Flip Flop", "sender.pcap.gz", "receiver.pcap.gz"],
        place.path(),
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let flow = |index: usize| &json["captures"][index]["flows"][0];
    assert_eq!((&flow(0)["vantage"], &flow(1)["vantage"]), (&"sender".into(), &"receiver".into()));
    let asked: Vec<&String> = flow(0)["summary"].as_object().unwrap().keys().collect();
    assert_eq!(asked, ["flip-flop", "zbs"]);
    assert!(flow(1)["not_applicable"]["flip-flop"].is_string());
    assert_eq!(flow(0)["losses"].as_array().unwrap().len(), 47);
}

#[test]
fn standard_input_is_a_capture() {
    let place = captures();
    let mut program = Command::new(env!("CARGO_BIN_EXE_losscause"));
    program.args(["analyze", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut program = program.current_dir(place.path()).spawn().unwrap();
    program.stdin.take().unwrap().write_all(RECEIVER).unwrap();
    let output = program.wait_with_output().unwrap();
    assert!(text(&output.stdout).starts_with("standard input: 47 lost packets in 1 flow. "));
}

#[test]
fn time_and_flow_select() {
    let place = captures();
    let count = |arguments: &[&str]| {
        let output =
            analyze(&[arguments, &["--format", "json", "sender.pcap.gz"]].concat(), place.path());
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["captures"][0]["flows"][0]["losses"].as_array().unwrap().len()
    };
    let early = count(&["--to", "3"]);
    let late = count(&["--from", "3"]);
    assert!(early > 0 && late > 0 && early + late <= 47, "{early} and {late}");
    assert_eq!(count(&["--flow", "10.77.0.1"]), 47);
    let sentence = refusal(&["--flow", "10.9.9.9", "sender.pcap.gz"], place.path());
    assert_eq!(
        sentence,
        "sender.pcap.gz: no TCP, RTP or QUIC data among its 1876 packets that the options select, expected a capture of a \
         transfer or a stream"
    );
}

#[test]
fn a_truncated_capture_is_analysed_said_and_a_failure() {
    let place = captures();
    let whole = plain(RECEIVER);
    std::fs::write(place.path().join("cut.pcap"), &whole[..whole.len() - 7]).unwrap();
    let output = analyze(&["cut.pcap"], place.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("cut.pcap: 47 lost packets"));
    let said = text(&output.stderr);
    assert!(said.starts_with("losscause: cut.pcap: ends inside a packet at byte "), "{said}");
    assert!(said.ends_with(" packets before were analysed\n"), "{said}");
}

#[test]
fn one_bad_capture_does_not_keep_the_others_from_being_analysed() {
    let place = captures();
    let output = analyze(&["missing.pcap", "sender.pcap.gz"], place.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).starts_with("sender.pcap.gz: 47 lost packets"));
    assert!(text(&output.stderr).starts_with("losscause: missing.pcap: there is no such file,"));
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let place = captures();
    let write = |name: &str, bytes: &[u8]| std::fs::write(place.path().join(name), bytes).unwrap();
    write("empty.pcap", b"");
    write("text.pcap", b"This is no capture.");
    write("link.toml", b"title = \"t\"\n[[link]]\nname = \"a\"\n");
    write("sweep.toml", b"title = \"t\"\n[[axis]]\nkey = \"N\"\n");
    let mut radio = plain(SENDER);
    radio[20] = 119;
    write("radio.pcap", &radio);
    write("header.pcap", &plain(SENDER)[..24]);
    std::fs::create_dir(place.path().join("folder")).unwrap();
    let expected =
        "expected a pcap, pcapng or qlog file, plain or compressed with gzip, xz or zstd";
    let cases = [
        ("empty.pcap", format!("is empty, {expected}")),
        ("text.pcap", format!("is no capture (it begins with \"This\"), {expected}")),
        ("link.toml", format!("is a scenario (losscause simulate runs it), {expected}")),
        ("sweep.toml", format!("is a sweep (losscause sweep runs it), {expected}")),
        (
            "radio.pcap",
            "has link type 119 (IEEE 802.11 with a Prism header), expected Ethernet, IEEE 802.11, PPP, Linux cooked (v1, v2), \
             NFLOG, raw IP or loopback"
                .to_owned(),
        ),
        (
            "header.pcap",
            "no TCP, RTP or QUIC data among its 0 packets, expected a capture of a transfer or a stream".to_owned(),
        ),
        ("folder", format!("is a directory, {expected}")),
        ("missing.pcap", format!("there is no such file, {expected}")),
        (
            "heeder.pcap",
            format!("there is no such file (did you mean \"header.pcap\"?), {expected}"),
        ),
    ];
    for (file, sentence) in cases {
        assert_eq!(refusal(&[file], place.path()), format!("{file}: {sentence}"));
    }
    let unknown = refusal(&["--lda", "zbx", "sender.pcap.gz"], place.path());
    assert!(
        unknown.starts_with(
            "--lda zbx: there is no algorithm \"zbx\" for captures, expected one of biaz"
        ),
        "{unknown}"
    );
    let backwards = refusal(&["--from", "3", "--to", "2", "sender.pcap.gz"], place.path());
    assert_eq!(backwards, "--to 2: ends before --from 3, expected a later time");
}

#[test]
fn oracles_are_not_offered() {
    let place = captures();
    let said = refusal(&["--lda", "omniscient", "sender.pcap.gz"], place.path());
    assert!(said.contains("there is no algorithm \"omniscient\" for captures"), "{said}");
}

#[test]
fn the_files_of_a_ring_buffer_are_one_capture_in_any_order() {
    let place = captures();
    let whole = plain(SENDER);
    let (header, records) = whole.split_at(24);
    // A record is 16 bytes of header, with the bytes that follow in its third word.
    let bytes =
        |at: usize| 16 + u32::from_le_bytes(records[at + 8..at + 12].try_into().unwrap()) as usize;
    let mut middle = 0;
    while middle < records.len() / 2 {
        middle += bytes(middle);
    }
    let parts = [("a.pcap", &records[..middle]), ("b.pcap", &records[middle..])];
    for (name, part) in parts {
        std::fs::write(place.path().join(name), [header, part].concat()).unwrap();
    }
    std::fs::write(place.path().join("whole.pcap"), &whole).unwrap();
    let answer = |arguments: &[&str]| {
        let output = analyze(arguments, place.path());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        said.split_once(": ").unwrap().1.to_owned()
    };
    // Of several files the next command names none.
    let whole = answer(&["whole.pcap"]).replace(" --sender whole.pcap ", " --sender FILE ");
    assert_eq!(answer(&["--as-one", "b.pcap", "a.pcap"]), whole);
    let said = refusal(&["--as-one", "a.pcap", "-"], place.path());
    assert!(said.contains("standard input cannot be read twice"), "{said}");
}
