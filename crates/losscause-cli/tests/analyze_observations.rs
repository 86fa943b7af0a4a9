//! `losscause analyze --observations` and `--losses`: rows as CSV, plain or compressed, or Parquet.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/command.rs"]
mod command;

use std::io::Read;
use std::path::Path;
use std::process::Output;

use command::{captures, losscause};
use flate2::read::GzDecoder;

fn analyze(arguments: &[&str], directory: &Path) -> Output {
    losscause(&[&["analyze"], arguments].concat(), directory)
}

/// The rows of a CSV, each as pairs of column and cell.
fn rows(text: &str) -> Vec<std::collections::HashMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

fn unpacked(file: &Path) -> String {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_row_tells_what_the_algorithms_got_at_each_end() {
    let place = captures();
    let output = analyze(&["--observations", "seen.csv", "receiver.pcap.gz"], place.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = rows(&std::fs::read_to_string(place.path().join("seen.csv")).unwrap());
    let at = |end: &str| {
        rows.iter().filter(|row| row["end"] == end && row["flow"] == "1").collect::<Vec<_>>()
    };
    let receiver = at("receiver");
    let sender = at("sender");
    assert!(
        receiver.len() > 1_000 && !sender.is_empty(),
        "{} and {}",
        receiver.len(),
        sender.len()
    );
    let missing: u64 =
        receiver.iter().filter_map(|row| row["missing_packets"].parse::<u64>().ok()).sum();
    assert_eq!(missing, 47, "one for each loss of the capture");
    let mut before = f64::NEG_INFINITY;
    for row in receiver {
        let [time, queueing] =
            ["time_s", "queueing_ms"].map(|key| row[key].parse::<f64>().unwrap());
        assert!(
            time >= before
                && queueing >= 0.0
                && row["rtt_ms"].is_empty()
                && !row["rott_ms"].is_empty()
        );
        before = time;
    }
    assert!(
        sender.iter().all(|row| row["rott_ms"].is_empty() && !row["spanned_packets"].is_empty())
    );
}

#[test]
fn rows_are_the_same_compressed_and_the_flow_selects() {
    let place = captures();
    let run = |arguments: &[&str]| assert!(analyze(arguments, place.path()).status.success());
    run(&["--observations", "a.csv", "--losses", "l.csv", "sender.pcap.gz"]);
    run(&["--observations", "a.csv.gz", "--losses", "l.csv.gz", "sender.pcap.gz"]);
    for name in ["a.csv", "l.csv"] {
        let plain = std::fs::read_to_string(place.path().join(name)).unwrap();
        assert!(unpacked(&place.path().join(format!("{name}.gz"))) == plain, "{name}");
    }
    run(&["--observations", "b.csv", "--flow", "10.77.0.1:", "sender.pcap.gz"]);
    let selected = std::fs::read_to_string(place.path().join("b.csv")).unwrap();
    assert!(selected == std::fs::read_to_string(place.path().join("a.csv")).unwrap());
    let refused =
        analyze(&["--observations", "c.csv", "--flow", "10.9.9.9", "sender.pcap.gz"], place.path());
    assert_eq!(refused.status.code(), Some(2));
    assert!(!place.path().join("c.csv").exists(), "nothing is told, and so nothing is written");
}

#[test]
fn joined_captures_have_rows_of_both() {
    let place = captures();
    let words = "--sender sender.pcap.gz --receiver receiver.pcap.gz --observations seen.csv";
    let arguments: Vec<&str> = words.split(' ').collect();
    assert!(analyze(&arguments, place.path()).status.success());
    let text = std::fs::read_to_string(place.path().join("seen.csv")).unwrap();
    assert!(
        text.contains("\nsender.pcap.gz,1,sender,")
            && text.contains("\nreceiver.pcap.gz,1,receiver,")
    );
}

#[test]
fn an_unusable_place_is_refused_before_a_capture_is_read() {
    let place = captures();
    let refused = |file: &str| {
        let output = analyze(&["--observations", file, "sender.pcap.gz"], place.path());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{file}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused("sender.pcap.gz").contains("is also an input and would be overwritten"));
    assert!(refused("seen.txt").contains("expected a name that ends in .csv, .csv.gz or .parquet"));
    assert!(refused("-").contains("standard output has the answer, expected a file"));
    if !cfg!(feature = "parquet") {
        assert!(refused("seen.parquet").contains("built without `parquet`"));
    }
}
