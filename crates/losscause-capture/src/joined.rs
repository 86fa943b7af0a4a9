//! The captures of both ends of a transfer, joined: what passed the sender and not the receiver was
//! lost. Nothing is inferred.
//!
//! Each capture is analysed alone too ([`crate::analyze`]): the algorithms' verdicts are theirs.
//!
//! ```text
//! log       a capture           → every data packet of each flow
//! matching  two logs of a flow  → the packets that did not arrive
//! quic      two qlogs           → the flows that are the same
//! timed     trips of packets    → the verdicts at a receiver whose packets say no time
//! views     a lost packet       → what each capture alone found and says
//! flows     all of these        → data for tables and JSON
//! ```

mod flows;
mod log;
mod matching;
mod quic;
mod timed;
mod views;

use std::io::Read;

use crate::CaptureError;
use crate::analysis::{Analysis, Options, analyze_keeping};
use flows::Join;
use log::{Key, Log, Logs};
use matching::Matched;

/// Two captures of one transfer.
///
/// ```
/// use std::fs::File;
///
/// use losscause_capture::{Alone, JoinError, Joined, Options, Tally, analyze_both};
///
/// let sent = || File::open("tests/captures/sender.pcap.gz").map(|file| (file, "sender.pcap.gz"));
/// let arrived =
///     || File::open("tests/captures/receiver.pcap.gz").map(|file| (file, "receiver.pcap.gz"));
/// let Joined { both, .. } = analyze_both(sent()?, arrived()?, &Options::all())?;
/// // The capture at the sender alone shows 47 of the 48 losses.
/// let Some(Alone { sender: Tally { found, missed, others, .. }, .. }) = both.flows[0].alone
/// else {
///     panic!("joined")
/// };
/// assert_eq!((both.flows[0].losses.len(), found, missed, others), (48, 47, 1, 0));
/// let swapped = analyze_both(arrived()?, sent()?, &Options::all());
/// assert!(matches!(swapped, Err(JoinError::Swapped)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Joined {
    /// What the two tell together: the flows that both have. Times are those of the sender's
    /// capture. Algorithms are named with the end at which they were asked, as in `spike@receiver`.
    pub both: Analysis,
    /// The sender's capture alone.
    pub sender: Analysis,
    /// The receiver's capture alone.
    pub receiver: Analysis,
}

/// Why two captures cannot be joined. `Display` is the end of a sentence that begins with both
/// files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The sender's capture cannot be analysed.
    #[error("{0}")]
    Sender(CaptureError),
    /// The receiver's capture cannot be analysed.
    #[error("{0}")]
    Receiver(CaptureError),
    /// No flow is in both.
    #[error(
        "have no flow in common, expected two captures of one transfer, with the same addresses and ports in both, or two \
         qlogs of one connection"
    )]
    NoCommonFlow,
    /// No flow is in both, and one of the two is damaged or has none at all.
    #[error("have no flow in common: {file}: {problem}")]
    Lacking {
        /// The file that is damaged or has no flow.
        file: String,
        /// What is wrong with it, as the end of a sentence that begins with it.
        problem: String,
    },
    /// For most of the data the sender's capture was taken at the receiver, and the other way
    /// round.
    #[error(
        "are in the wrong order: the first was taken at the receiver of the data, the second at their sender"
    )]
    Swapped,
}

/// Analyses two captures of the same flows, `sender` taken where the data are sent, `receiver`
/// where they arrive. Each is a source and the file's name. Memory grows with the number of data
/// packets.
///
/// # Errors
/// If one of the two is no capture that can be read, or both have no flow in common.
pub fn analyze_both(
    sender: (impl Read, &str),
    receiver: (impl Read, &str),
    options: &Options,
) -> Result<Joined, JoinError> {
    let mut sent = Logs::default();
    let mut arrived = Logs::default();
    let (mut source, file) = sender;
    let sender = analyze_keeping(&mut source, file, options, &mut |now, packet, _| {
        sent.on_packet(now, packet);
    });
    let sender = sender.map_err(JoinError::Sender)?;
    let (mut source, file) = receiver;
    let receiver = analyze_keeping(&mut source, file, options, &mut |now, packet, _| {
        arrived.on_packet(now, packet);
    });
    let receiver = receiver.map_err(JoinError::Receiver)?;
    let mut join = Join::new(options, &sender, &receiver);
    for (key, logs) in &sent.flows {
        if !join.wants(key) {
            continue;
        }
        let others = arrived.flows.get(key).map_or(&[][..], Vec::as_slice);
        if let Some(matched) = matched(key, logs, others) {
            join.add(key, matched, || self::matched(key, others, logs));
        }
    }
    quic::add(&mut join, &sender, &receiver);
    let both = join.finish().map_err(|error| match error {
        JoinError::NoCommonFlow => lacking(&sender, &receiver, options).unwrap_or(error),
        other => other,
    })?;
    Ok(Joined { both, sender, receiver })
}

/// Which of two captures without a common flow is damaged, or has no flow; none if neither is.
fn lacking(sender: &Analysis, receiver: &Analysis, options: &Options) -> Option<JoinError> {
    let is_filtered = !options.flows.is_all() || options.from_s.is_some() || options.to_s.is_some();
    let problem_of = |one: &Analysis| {
        if one.has_no_flow() { Some(one.no_flow(is_filtered)) } else { one.cut() }
    };
    let lacking = |one: &Analysis| {
        Some(JoinError::Lacking { file: one.file.clone(), problem: problem_of(one)? })
    };
    [sender, receiver].into_iter().find_map(lacking)
}

/// What the logs of the same addresses and ports tell together; none if they have nothing in
/// common.
fn matched(key: &Key, sent: &[Log], arrived: &[Log]) -> Option<Matched> {
    let mut all: Option<Matched> = None;
    for own in sent.iter().filter(|log| log.is_flow(key)) {
        let other = arrived.iter().filter(|other| may_be_one(own, other));
        if let Some(one) = other.into_iter().find_map(|other| pair(key, own, other)) {
            match &mut all {
                Some(earlier) => earlier.extend(one),
                None => all = Some(one),
            }
        }
    }
    all
}

/// Whether two logs of the same addresses and ports can be of one connection.
fn may_be_one(sent: &Log, arrived: &Log) -> bool {
    sent.syn.is_none() || arrived.syn.is_none() || sent.syn == arrived.syn
}

/// Segments above this are merged ones: no Ethernet carries them.
const LARGEST_PACKET: u64 = 8_960;
/// The size of packets whose maximum was not seen.
const USUAL_PACKET: u64 = 1_448;
/// Bytes of the timestamp option with its padding, which a segment's payload lacks (RFC 6691).
const TIMESTAMP_BYTES: u64 = 12;

fn pair(key: &Key, sent: &Log, arrived: &Log) -> Option<Matched> {
    if key.stream.is_some() {
        return matching::matched(sent, arrived, key.protocol.wrap(), 1);
    }
    // The capture without offload shows the size on the wire.
    let seen = sent.largest().min(arrived.largest());
    let stamped = sent.packets.iter().any(|packet| packet.stamp.is_some());
    let room = |mss: u16| u64::from(mss).saturating_sub(if stamped { TIMESTAMP_BYTES } else { 0 });
    let packet_bytes = match sent.mss.or(arrived.mss).map(room) {
        Some(most) => seen.min(most),
        None if seen > LARGEST_PACKET => USUAL_PACKET,
        None => seen,
    };
    matching::matched(sent, arrived, key.protocol.wrap(), packet_bytes)
}
