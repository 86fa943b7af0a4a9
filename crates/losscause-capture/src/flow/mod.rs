//! From packets to flows and their losses.
//!
//! A flow is one direction of a TCP or QUIC connection (QUIC: see `qlog`), or a stream of numbered
//! datagrams ([`stream`]). Both directions of a connection are followed at once, each with two
//! views: what its data look like to their receiver ([`receiver`]) and what the acknowledgements
//! tell their sender ([`sender`]). When the flow ends, its vantage point ([`vantage`]) says which
//! view counts.

mod connection;
mod copies;
mod ends;
mod held;
mod hosts;
mod loss;
mod outage;
mod pace;
mod path;
mod ranges;
mod receiver;
mod row;
mod scoreboard;
mod sender;
mod shown;
mod standing;
mod stream;
mod table;
mod unwrap;
mod vantage;

use losscause::{Span, Time};

use crate::judge::{Chosen, DelayShape, Trips, Words};
use crate::observe::Watch;
use crate::over_time::Transfer;
use crate::series::Budget;

pub use crate::packet::Protocol;
pub use loss::Evidence;
pub(crate) use loss::{Found, Losses, Proof, Repeat, RepeatKind, State};
pub(crate) use outage::Outage;
pub(crate) use pace::Pace;
pub use path::Course;
pub(crate) use path::{Passage, Path};
pub(crate) use standing::{Run, Standing};
pub(crate) use stream::{Arrival, Pause, Proven};
pub(crate) use table::FlowTable;
pub(crate) use unwrap::Unwrap;
pub use vantage::Vantage;

/// How flows are judged.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) chosen: Chosen,
    pub(crate) words: Words,
    pub(crate) keep_skew: bool,
    /// For flows over time, if they are asked for.
    pub(crate) budget: Option<Budget>,
    pub(crate) watch: Watch,
    /// Whether a log's packets are kept, to join it with that of the other end.
    pub(crate) keeps_packets: bool,
}

/// What was found about a flow.
#[derive(Debug, Default)]
pub(crate) struct FlowResult {
    /// In the order in which flows began, from 1 on.
    pub(crate) number: u64,
    /// The sender of the data.
    pub(crate) src: String,
    /// The receiver of the data.
    pub(crate) dst: String,
    pub(crate) protocol: Protocol,
    /// Which stream of the sender, by its packets.
    pub(crate) stream: Option<u32>,
    pub(crate) vantage: Vantage,
    /// Whose algorithms judge.
    pub(crate) judged_at: Vantage,
    /// Packets with data.
    pub(crate) packets: u64,
    /// As many are they on the wire, without copies; none if they are that themselves.
    pub(crate) wire_packets: Option<u64>,
    /// Distinct bytes of data.
    pub(crate) bytes: u64,
    pub(crate) losses: Losses,
    pub(crate) counts: FlowCounts,
    /// The drift between the clocks, seconds per second.
    pub(crate) drift: Option<f64>,
    /// By algorithm: why it cannot judge the flow.
    pub(crate) unmet: Vec<Option<String>>,
    /// Acknowledgements name ranges.
    pub(crate) selective: bool,
    pub(crate) delays: DelayShape,
    /// The trip times at each end whose view counts.
    pub(crate) at_receiver: Option<Trips>,
    pub(crate) at_sender: Option<Trips>,
    /// The flow's data over time, if that was asked for.
    pub(crate) over_time: Option<Transfer>,
    /// How it was opened, if that took more than one try.
    pub(crate) opening: Option<Tries>,
    /// How it was closed, if that took more than one try.
    pub(crate) closing: Option<Tries>,
    pub(crate) outages: Vec<Outage>,
    pub(crate) pauses: Vec<Pause>,
    /// How long the receiver's window was closed.
    pub(crate) closed: Span,
    /// Bytes that were acknowledged before any data were captured.
    pub(crate) acked_uncaptured: u64,
    /// TCP: no acknowledgement of its data was captured.
    pub(crate) is_one_way: bool,
    /// Packets that passed again.
    pub(crate) sent_again: u64,
    pub(crate) pace: Option<Pace>,
    pub(crate) carried: Option<Carried>,
    /// The path between the flow's hosts, if what passes there is counted.
    pub(crate) path: Option<Path>,
    /// When its packets passed there.
    pub(crate) course: Course,
    /// QUIC: its packets, if they are kept.
    pub(crate) logged: Option<LoggedPackets>,
}

/// The packets of a QUIC flow as an endpoint's log has them.
#[derive(Clone, Debug)]
pub(crate) struct LoggedPackets {
    /// Which connection, if the log tells: in both ends' logs the same.
    pub(crate) connection: Option<String>,
    /// When each was sent or received, and its number.
    pub(crate) packets: Vec<(Time, u64)>,
}

/// How a TCP flow's data were carried, as their sender's side sees it.
#[derive(Debug)]
pub(crate) struct Carried {
    /// Packets that were sent, those that were sent again too.
    pub(crate) packets: u64,
    /// A full packet's payload, and the headers from IP on.
    pub(crate) payload_bytes: u64,
    pub(crate) header_bytes: u64,
    /// How far the receiver's window reached last; none if its scale is not known.
    pub(crate) window_bytes: Option<u64>,
    pub(crate) standing: Standing,
}

/// The tries to open or to close a connection, from one end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tries {
    /// Segments that were sent again.
    pub(crate) repeats: u64,
    /// From the first to the answer, or to the last packet if there was none.
    pub(crate) waited: Span,
    pub(crate) is_answered: bool,
    /// The tries answer the other end's try to open the connection.
    pub(crate) is_reply: bool,
}

/// What was seen beside losses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowCounts {
    pub(crate) reordered: u64,
    pub(crate) duplicates: u64,
    /// Packets that were captured again.
    pub(crate) copies: u64,
    pub(crate) spurious: u64,
    pub(crate) uncaptured: u64,
    /// Keep-alives and probes of a closed window.
    pub(crate) probes: u64,
    /// How often its numbers began anew without a word.
    pub(crate) renumbered: u64,
    /// Packets with a congestion mark.
    pub(crate) marked: u64,
    /// Packets that were handed up in a batch behind another one.
    pub(crate) joined: u64,
    /// Segments were merged before the capture, or cut after it.
    pub(crate) merged: bool,
}

/// A capture that misses a larger share of a flow's packets does not show its losses.
const MOST_MISSED: f64 = 0.05;

/// Whether a capture that has so many packets of a flow and missed so many does not show its
/// losses.
pub(crate) fn is_incomplete(packets: u64, missed: u64) -> bool {
    missed as f64 > MOST_MISSED * (packets + missed) as f64
}

impl FlowResult {
    pub(crate) fn new(
        number: u64,
        src: String,
        dst: String,
        protocol: Protocol,
        vantage: Vantage,
    ) -> Self {
        Self {
            number,
            src,
            dst,
            protocol,
            vantage,
            judged_at: vantage.judged_at(),
            selective: protocol == Protocol::Quic,
            ..Self::default()
        }
    }
}

impl FlowCounts {
    /// Adds what the view of the vantage point counted.
    fn add(
        &mut self,
        vantage: Vantage,
        sender: &sender::SenderView,
        receiver: &receiver::ReceiverView,
    ) {
        let sent = sender.counts;
        let received = receiver.counts;
        let spurious =
            sent.unneeded + sender.losses.count(|state| matches!(state, State::Spurious(_)));
        self.probes = sent.probes;
        match vantage {
            Vantage::Sender => {
                self.reordered = sent.reordered;
                self.duplicates = sent.duplicates;
                self.spurious = spurious;
                self.uncaptured = sent.uncaptured;
            }
            Vantage::Receiver | Vantage::Middle | Vantage::Both | Vantage::Unknown => {
                self.reordered = received.reordered;
                self.duplicates = received.duplicates;
                self.spurious = if vantage == Vantage::Receiver { 0 } else { spurious };
                self.uncaptured = received.uncaptured + received.jumps;
            }
        }
    }
}
