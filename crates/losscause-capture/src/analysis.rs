//! The analysis of a capture, as data.
//!
//! [`reading`] goes through a capture, [`describe`] makes a [`Flow`] of each flow that has ended.

mod describe;
mod flow;
mod loss;
mod options;
mod reading;

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};

use losscause::Time;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::ser::PrettyFormatter;

use crate::flow::Evidence;
use crate::packet::UnreadCounts;

pub use flow::{Flow, Outage, Pause, Queueing, Shift, Tries};
pub use loss::{Loss, Missing, Summary, Verdicts};
pub use options::Options;
pub use reading::{Glance, analyze, analyze_live, analyze_parts};
pub(crate) use reading::{Reading, analyze_keeping, described};

/// What `losscause analyze --format json` writes.
///
/// ```
/// use std::fs::File;
///
/// use losscause_capture::{Captures, Glance, Options, analyze_live};
///
/// // The capture may still be growing: a pipe.
/// let capture = File::open("tests/captures/sender.pcap.gz")?;
/// let mut seconds = 0;
/// let analysis =
///     analyze_live(capture, "sender.pcap.gz", &Options::all(), &mut |_: Glance| seconds += 1)?;
/// assert_eq!(seconds, 7);
/// let mut json = Vec::new();
/// Captures { origin: "a program", captures: &[analysis] }.write_json(&mut json)?;
/// let json = String::from_utf8(json)?;
/// assert!(json.contains("\"format_version\": 1") && json.contains("\"vantage\": \"sender\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Captures<'a, O> {
    /// Where the analyses come from.
    pub origin: O,
    /// A capture each, in the order in which they were named.
    pub captures: &'a [Analysis],
}

/// Version of the JSON; it grows when a field is removed or changes its meaning.
const FORMAT_VERSION: u32 = 1;

/// Bytes that are written at once.
const WRITTEN: usize = 1 << 16;

impl<O: Serialize> Captures<'_, O> {
    /// Writes them as JSON, and ends the last line.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(WRITTEN, out);
        let mut json = Json::pretty(&mut out);
        let mut document = json.serialize_struct("Captures", 3)?;
        document.serialize_field("format_version", &FORMAT_VERSION)?;
        document.serialize_field("origin", &self.origin)?;
        end_with(document, self.captures)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

type Json<'a, 'b> =
    serde_json::Serializer<&'a mut BufWriter<&'b mut dyn Write>, PrettyFormatter<'a>>;

/// Writes the captures. It is not generic in the origin, so it is compiled in this crate, which is
/// optimised, and not in the caller's.
fn end_with(
    mut document: <&mut Json<'_, '_> as Serializer>::SerializeStruct,
    captures: &[Analysis],
) -> serde_json::Result<()> {
    document.serialize_field("captures", captures)?;
    document.end()
}

/// What was found in a capture.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Analysis {
    /// The file.
    pub file: String,
    /// Frames of all kinds; of a qlog, the packets that were sent or received.
    pub packets: u64,
    /// The first byte of the decompressed file that is not part of a whole packet, if the file ends
    /// early.
    pub truncated_at: Option<u64>,
    /// Why the file ends early.
    #[serde(skip)]
    pub truncation: Option<String>,
    /// The time of the first frame.
    #[serde(skip)]
    pub(crate) begun: Time,
    /// From the first to the last frame, seconds.
    pub duration_s: f64,
    /// Fragments of IP packets, which are not analysed.
    pub fragments: u64,
    /// Frames of no flow's kind; of a qlog, packets of other spaces than that of application data.
    pub other_packets: u64,
    /// The fragments and other frames of a capture, by kind.
    pub unread: UnreadCounts,
    /// TCP segments, with data or without.
    #[serde(skip)]
    pub(crate) tcp_packets: u64,
    /// Packets that the capture itself says were dropped before they were written; none if it does
    /// not say.
    pub dropped_by_capture: Option<u64>,
    /// In a capture of IEEE 802.11: what its data frames say of the radio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioFrames>,
    /// Frames whose time is before that of the frame before them.
    pub out_of_order_times: u64,
    /// TCP segments whose options the snap length cut.
    pub cut_options: u64,
    /// Flows without losses beyond those that are listed.
    pub unlisted_flows: u64,
    /// The flows with data, those with most losses first.
    pub flows: Vec<Flow>,
}

/// What the data frames of a capture of IEEE 802.11 say of the radio, encrypted or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RadioFrames {
    /// Frames with data.
    pub data_frames: u64,
    /// Those that repeat one that was not acknowledged (retry bit).
    pub retries: u64,
}

/// A capture that dropped a larger share of its packets does not show the losses of any flow.
const MOST_DROPPED: f64 = 0.05;

impl Analysis {
    /// Whether the capture itself says that it dropped so many packets that it does not show the
    /// losses of this flow: of all packets, or beside the gaps of a stream, any of which may be
    /// such packets. TCP tells by its acknowledgements.
    fn is_dropped(&self, flow: &Flow, dropped: u64) -> bool {
        let share = dropped as f64 / (dropped + self.packets) as f64;
        let gaps = flow.losses.iter().filter(|loss| loss.evidence == Evidence::Gap).count() as u64
            + flow.unlisted_losses;
        share > MOST_DROPPED || (flow.protocol.is_numbered() && gaps > 0 && dropped * 2 >= gaps)
    }

    /// The flows whose seeming losses may be what the capture dropped: no cause of theirs is shown.
    fn doubted(&self) -> BTreeSet<u64> {
        let Some(dropped) = self.dropped_by_capture.filter(|dropped| *dropped > 0) else {
            return BTreeSet::new();
        };
        self.flows
            .iter()
            .filter(|flow| self.is_dropped(flow, dropped))
            .map(|flow| flow.id)
            .collect()
    }
}
