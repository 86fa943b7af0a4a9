//! What tshark says about the same captures (`tcp.analysis.*`), packet by packet.
//!
//! tshark marks packets by rules of its own and names no losses. Two of its questions are those of
//! `analyze`: at a sender, whether a packet was sent again because it was lost; at a receiver,
//! whether a gap lies in front of a packet.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use losscause_capture::{Options, Protocol, Vantage, analyze};
use losscause_study::capture_files::KnownCaptures;
use losscause_study::tools::table::Table;

use crate::shell;

/// What tshark and `analyze` say about a packet: tshark's mark, by its place in [`FIELDS`], and
/// whether `analyze` found a loss by it.
type Class = (Vantage, Option<usize>, bool);

/// How often each kind of agreement or difference came up, and how many of those packets told of a
/// true loss.
pub(super) type Classes = BTreeMap<Class, (u64, u64)>;

/// The fields `tcp.analysis.…` that mark a packet; the first one that is set counts.
const FIELDS: [&str; 5] = [
    "spurious_retransmission",
    "fast_retransmission",
    "out_of_order",
    "retransmission",
    "lost_segment",
];

/// A data packet as tshark prints it: its sender's address and port, its time since the first
/// packet, its sequence number, its mark.
type Marked = (String, f64, u32, Option<usize>);

/// Adds what tshark and the analysis say about the data packets of both captures.
pub(super) fn count(classes: &mut Classes, captures: &KnownCaptures) -> Result<()> {
    for vantage in [Vantage::Sender, Vantage::Receiver] {
        count_at(classes, captures, vantage)?;
    }
    Ok(())
}

fn count_at(classes: &mut Classes, captures: &KnownCaptures, vantage: Vantage) -> Result<()> {
    let is_sender = vantage == Vantage::Sender;
    let capture = if is_sender { &captures.sender } else { &captures.receiver };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("capture.pcap");
    fs::write(&file, capture)?;
    let packets = marked(&file)?;
    let analysis = analyze(&capture[..], "a capture", &Options::all())?;
    // A loss shows at a packet: at a sender the retransmission of the same bytes, at a receiver the
    // one behind the gap.
    let mut found: HashSet<(&str, i64, Option<u32>)> = HashSet::new();
    for flow in analysis.flows.iter().filter(|flow| flow.protocol == Protocol::Tcp) {
        for loss in &flow.losses {
            let seq = is_sender.then_some(loss.seq as u32);
            found.insert((&flow.src, micros(loss.time_s), seq));
        }
    }
    let mut lost: HashMap<(&str, u32), Vec<f64>> = HashMap::new();
    for flow in &captures.lost {
        for packet in flow.packets() {
            lost.entry((flow.source(), packet.seq)).or_default().push(packet.lost_s);
        }
    }
    for (src, time_s, seq, mark) in &packets {
        let at = micros(*time_s);
        let key = |micros| (src.as_str(), micros, is_sender.then_some(*seq));
        let loss = [at - 1, at, at + 1].into_iter().any(|at| found.contains(&key(at)));
        // At a sender: the bytes that are sent again had been lost before.
        let losses = lost.get(&(src.as_str(), *seq)).map_or(&[][..], Vec::as_slice);
        let was_lost = is_sender && losses.iter().any(|lost_s| lost_s < time_s);
        if mark.is_none() && !loss {
            continue;
        }
        let (packets, true_losses) = classes.entry((vantage, *mark, loss)).or_default();
        *packets += 1;
        *true_losses += u64::from(was_lost);
    }
    Ok(())
}

/// What tshark says about the same packets.
pub(super) fn section(page: &mut String, classes: &Classes) {
    if classes.is_empty() {
        return;
    }
    page.push_str(
        "## Beside tshark\n\n\
         tshark's `tcp.analysis` on the TCP packets of seed 1 of every case. In a row \"no loss\", packets of the fifth\n\
         column are losses that `analyze` missed, or copies of bytes whose loss had been repaired before.\n\n",
    );
    let columns =
        ["at", "tshark says", "analyze says", "packets", "sent again after a true loss", "why"];
    let mut table = Table::new(columns).numbers(3..5);
    for (class @ (vantage, mark, loss), (packets, lost)) in classes {
        let analyze = if *loss { "loss" } else { "no loss" };
        let lost = if *vantage == Vantage::Sender { lost.to_string() } else { "–".to_owned() };
        let [at, packets] = [vantage.to_string(), packets.to_string()];
        let mark = mark.map_or_else(|| "nothing".to_owned(), |mark| format!("`{}`", FIELDS[mark]));
        table.row([&at, &mark, analyze, &packets, &lost, why(*class)]);
    }
    page.push_str(&(table.markdown() + "\n"));
}

/// The rules that make the two agree or differ.
fn why((vantage, mark, loss): Class) -> &'static str {
    match (vantage, mark.map(|mark| FIELDS[mark]), loss) {
        (Vantage::Sender, Some("out_of_order"), true) => {
            "tshark takes an old number soon after the newest one for reordering; a sender's own packets leave in order"
        }
        (_, None, true) => "a loss without tshark's mark",
        (Vantage::Sender, _, true) => "the same",
        (Vantage::Sender, Some("lost_segment"), false) => "a gap before the capture",
        (Vantage::Sender, _, false) => {
            "the copy was not needed: a duplicate SACK, an echo, an early acknowledgement or the count of duplicates says so"
        }
        (_, Some("lost_segment"), true) => "the same: a gap",
        (_, Some("lost_segment"), false) => "the packets of the gap came late, so nothing was lost",
        (_, Some("spurious_retransmission"), _) => {
            "the receiver had acknowledged it before: a duplicate"
        }
        _ => "it fills a gap, whose loss was counted when it showed, or arrives again",
    }
}

/// The TCP packets with data.
fn marked(capture: &Path) -> Result<Vec<Marked>> {
    let mut tshark = shell::command("tshark -Y tcp.len>0 -T fields -E separator=, -r");
    tshark.arg(capture);
    let fields = ["ip.src", "tcp.srcport", "frame.time_relative", "tcp.seq_raw"];
    let marks = FIELDS.map(|field| format!("tcp.analysis.{field}"));
    fields.into_iter().chain(marks.iter().map(String::as_str)).for_each(|field| {
        tshark.args(["-e", field]);
    });
    let text = shell::text(tshark)?;
    let line = |line| parse(line).with_context(|| format!("tshark printed: {line}"));
    text.lines().map(line).collect()
}

fn parse(line: &str) -> Option<Marked> {
    let cells: Vec<&str> = line.split(',').collect();
    let (&[address, port, time_s, seq], marks) = cells.split_first_chunk::<4>()?;
    let mark = marks.iter().position(|cell| !cell.is_empty());
    Some((format!("{address}:{port}"), time_s.parse().ok()?, seq.parse().ok()?, mark))
}

fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_tshark_has_sender_time_number_and_perhaps_a_mark() {
        let packet = parse("10.0.0.1,40000,1.500000000,77,,1,,1,").unwrap();
        assert_eq!(packet, ("10.0.0.1:40000".to_owned(), 1.5, 77, Some(1)));
        assert_eq!(parse("10.0.0.1,40000,1.0,77,,,,,").unwrap().3, None);
        assert!(parse("10.0.0.1,40000").is_none());
    }
}
