//! What tshark says about the same captures (`tcp.analysis.*`), packet by packet.
//!
//! tshark marks packets by rules of its own and names no losses. Two of its questions are those of
//! `analyze`: at a sender, whether a packet was sent again because it was lost; at a receiver,
//! whether a gap lies in front of a packet.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result};
use losscause_capture::{Analysis, Protocol};

use super::Vantage;
use super::truth::Losses;
use crate::shell;

/// How often each kind of agreement or difference came up, and how many of those packets told of a
/// true loss.
pub(super) type Classes = BTreeMap<(Vantage, Class), (u64, u64)>;

/// What tshark and `analyze` say about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class {
    pub(super) tshark: Mark,
    /// Whether `analyze` found a loss by this packet.
    pub(super) loss: bool,
}

/// tshark's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    None,
    Retransmission,
    FastRetransmission,
    SpuriousRetransmission,
    OutOfOrder,
    LostSegment,
}

impl Mark {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::Retransmission => "`retransmission`",
            Self::FastRetransmission => "`fast_retransmission`",
            Self::SpuriousRetransmission => "`spurious_retransmission`",
            Self::OutOfOrder => "`out_of_order`",
            Self::LostSegment => "`lost_segment`",
        }
    }
}

/// The fields that mark a packet; the first one that is set counts.
const FIELDS: [(&str, Mark); 5] = [
    ("tcp.analysis.spurious_retransmission", Mark::SpuriousRetransmission),
    ("tcp.analysis.fast_retransmission", Mark::FastRetransmission),
    ("tcp.analysis.out_of_order", Mark::OutOfOrder),
    ("tcp.analysis.retransmission", Mark::Retransmission),
    ("tcp.analysis.lost_segment", Mark::LostSegment),
];

/// A data packet as tshark prints it: its sender, its time in nanoseconds as text, its sequence
/// number, its mark.
struct Marked {
    src: String,
    time: String,
    seq: u32,
    mark: Mark,
}

/// Adds what tshark and the analysis say about the data packets of a capture.
pub(super) fn count(
    classes: &mut Classes,
    capture: &Path,
    vantage: Vantage,
    (analysis, begins): (&Analysis, f64),
    losses: &Losses,
) -> Result<()> {
    let packets = marked(capture)?;
    // A loss shows at a packet: at a sender the retransmission of the same bytes, at a receiver the
    // one behind the gap.
    let mut found: HashSet<(&str, i64, Option<u32>)> = HashSet::new();
    for flow in analysis.flows.iter().filter(|flow| flow.protocol == Protocol::Tcp) {
        for loss in &flow.losses {
            let seq = (vantage == Vantage::Sender).then_some(loss.seq as u32);
            found.insert((&flow.src, micros(begins + loss.time_s), seq));
        }
    }
    let mut lost: HashMap<(&str, u32), Vec<f64>> = HashMap::new();
    for (src, list) in losses {
        list.iter().for_each(|loss| lost.entry((src, loss.seq)).or_default().push(loss.lost_s));
    }
    for Marked { src, time, seq, mark } in &packets {
        let seconds =
            seconds(time).with_context(|| format!("tshark prints a time that is none: {time}"))?;
        let at = micros(seconds);
        let key = |micros| (src.as_str(), micros, (vantage == Vantage::Sender).then_some(*seq));
        let loss = [at - 1, at, at + 1].into_iter().any(|at| found.contains(&key(at)));
        // At a sender: the bytes that are sent again had been lost before.
        let losses = lost.get(&(src.as_str(), *seq)).map_or(&[][..], Vec::as_slice);
        let was_lost = vantage == Vantage::Sender && losses.iter().any(|&lost_s| lost_s < seconds);
        if *mark == Mark::None && !loss {
            continue;
        }
        let (packets, true_losses) =
            classes.entry((vantage, Class { tshark: *mark, loss })).or_default();
        *packets += 1;
        *true_losses += u64::from(was_lost);
    }
    Ok(())
}

/// The TCP packets with data.
fn marked(capture: &Path) -> Result<Vec<Marked>> {
    let mut command = shell::command("tshark");
    command.arg("-r").arg(capture).args(["-Y", "tcp.len > 0", "-T", "fields", "-E", "separator=,"]);
    for field in ["ip.src", "tcp.srcport", "frame.time_epoch", "tcp.seq_raw"] {
        command.args(["-e", field]);
    }
    for (field, _) in FIELDS {
        command.args(["-e", field]);
    }
    let text = String::from_utf8(shell::output(&mut command)?)?;
    text.lines()
        .map(|line| parse(line).with_context(|| format!("tshark printed: {line}")))
        .collect()
}

fn parse(line: &str) -> Option<Marked> {
    let cells: Vec<&str> = line.split(',').collect();
    let (&[address, port, time, seq], marks) = cells.split_first_chunk::<4>()?;
    let mark = FIELDS
        .iter()
        .zip(marks)
        .find(|(_, cell)| !cell.is_empty())
        .map_or(Mark::None, |((_, mark), _)| *mark);
    Some(Marked {
        src: format!("{address}:{port}"),
        time: time.to_owned(),
        seq: seq.parse().ok()?,
        mark,
    })
}

/// Seconds of the run: captures begin at a round number of seconds.
fn seconds(time: &str) -> Option<f64> {
    let (whole, part) = time.split_once('.')?;
    let whole =
        whole.parse::<i64>().ok()? - losscause_study::capture_files::EPOCH.as_secs_f64() as i64;
    Some(whole as f64 + format!("0.{part}").parse::<f64>().ok()?)
}

fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_tshark_has_sender_time_number_and_perhaps_a_mark() {
        let line = "10.0.0.1,40000,1000000001.500000000,77,,1,,1,";
        let packet = parse(line).unwrap();
        assert_eq!(
            (packet.src.as_str(), packet.seq, packet.mark),
            ("10.0.0.1:40000", 77, Mark::FastRetransmission)
        );
        assert_eq!(seconds(&packet.time), Some(1.5));
        assert_eq!(parse("10.0.0.1,40000,1.0,77,,,,,").unwrap().mark, Mark::None);
        assert!(parse("10.0.0.1,40000").is_none());
    }
}
