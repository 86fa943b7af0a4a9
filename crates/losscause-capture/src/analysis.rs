//! The analysis of a capture, as data.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Read, Write};
use std::sync::Arc;

use losscause::registry::Registry;
use losscause::verdict::Input;
use losscause::{Judgement, Reason, Span, Time, Verdict};
use serde::Serialize;

use crate::CaptureError;
use crate::alone::Alone;
use crate::annotate::Note;
use crate::diagnose::{self, FlowDiagnosis};
use crate::fit::Fit;
use crate::flow::{
    self, Evidence, FlowResult, FlowTable, Found, LoggedPackets, Passage, Path, Protocol, Rules,
    State, Vantage,
};
use crate::frames::{Frames, LinkType, Truncation, compressed};
use crate::judge::trust::{Expected, Situation, Table};
use crate::judge::{self, Chosen, Opinions, Trips};
use crate::measured::{Measured, Packets};
use crate::minor;
use crate::names::Names;
use crate::observe::{Observer, Watch};
use crate::over_time::{OverTime, Transfer};
use crate::pace::Pace;
use crate::packet::{Packet, Parsed, Radio, Transport, Unread, UnreadCounts};
use crate::qlog;
use crate::selection::Selection;
use crate::series::Budget;
use crate::utc::Utc;

/// What is analysed, and how.
///
/// ```
/// use std::fs::File;
/// use std::sync::mpsc;
///
/// use losscause::registry::Registry;
/// use losscause_capture::judge::{Chosen, UnknownAlgorithm};
/// use losscause_capture::{Observation, Observer, Options, Selection, Vantage, analyze};
///
/// let registry = Registry::built_in();
/// let unknown = Chosen::named(&["zbss".to_owned()], &registry).unwrap_err();
/// assert!(
///     matches!(unknown, UnknownAlgorithm { name, known } if name == "zbss" && known.contains(&"zbs".to_owned()))
/// );
///
/// // What one algorithm sees of one port's flows, while the capture is read.
/// let (sender, seen) = mpsc::channel();
/// let options = Options {
///     chosen: Chosen::named(&["zbs".to_owned()], &registry)?,
///     flows: Selection { ports: vec![5_001], ..Selection::default() },
///     observer: Some(Observer::new(move |observation: &Observation| {
///         if observation.end == Vantage::Receiver {
///             sender.send(observation.missing).expect("read below");
///         }
///     })),
///     ..Options::all()
/// };
/// analyze(File::open("tests/captures/receiver.pcap.gz")?, "receiver.pcap.gz", &options)?;
/// let missing: u64 = seen.try_iter().flatten().sum();
/// assert!(missing > 40, "{missing} packets");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// The algorithms that are asked.
    pub chosen: Chosen,
    /// Whether the skew between the clocks of sender and capture stays in the trip times.
    pub keep_skew: bool,
    /// Only packets from this time on, seconds after the capture's first packet.
    pub from_s: Option<f64>,
    /// Only packets before this time, seconds after the capture's first packet.
    pub to_s: Option<f64>,
    /// Only these flows.
    pub flows: Selection,
    /// Whether the flows with most losses are followed over time, for drawings.
    pub over_time: bool,
    /// Whether it is noted what packets are that were sent or captured again, for
    /// [`annotate`](crate::annotate).
    pub notes: bool,
    /// Who gets every observation of the algorithms while the capture is read.
    pub observer: Option<Observer>,
}

impl Options {
    /// Everything, by all algorithms of this project.
    pub fn all() -> Self {
        let chosen = Chosen::all_of(&Registry::built_in());
        Self {
            chosen,
            keep_skew: false,
            from_s: None,
            to_s: None,
            flows: Selection::default(),
            over_time: false,
            notes: false,
            observer: None,
        }
    }
}

impl Options {
    /// Whether they take in `time` of a capture that begins at `begun`.
    #[inline]
    pub(crate) fn select(&self, begun: Time, time: Time) -> bool {
        if self.from_s.is_none() && self.to_s.is_none() {
            return true;
        }
        let second = (time - begun).as_secs_f64();
        self.from_s.is_none_or(|from| second >= from) && self.to_s.is_none_or(|to| second < to)
    }
}

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
/// Captures { captures: &[analysis] }.write_json(&mut json)?;
/// assert!(String::from_utf8(json)?.contains("\"vantage\": \"sender\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Captures<'a> {
    /// A capture each, in the order in which they were named.
    pub captures: &'a [Analysis],
}

impl Captures<'_> {
    /// Writes them as JSON, and ends the last line.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        serde_json::to_writer_pretty(&mut out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

/// What was found in a capture.
#[derive(Clone, Debug, Serialize)]
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

/// One direction of a connection, or a stream.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Flow {
    /// The flow's number in this capture, from 1 on, in the order in which flows began.
    pub id: u64,
    /// The sender of the data.
    pub src: String,
    /// The receiver of the data.
    pub dst: String,
    /// What its sender is called, by a DNS answer or a TLS handshake in the capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src_name: Option<String>,
    /// What its receiver is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst_name: Option<String>,
    /// What carries it.
    pub protocol: Protocol,
    /// RTP: which stream of the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssrc: Option<u32>,
    /// WireGuard, ESP and SRT: which one of the sender's, by the receiver's index, the SPI, or the
    /// receiver's socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
    /// Packets with data.
    pub packets: u64,
    /// As many are they on the wire, without copies: a segment may be merged from several.
    #[serde(skip)]
    pub(crate) wire_packets: u64,
    /// Distinct bytes of data.
    pub bytes: u64,
    /// Where the capture was taken.
    pub vantage: Vantage,
    /// Packets that arrived behind later ones.
    pub reordered: u64,
    /// Packets that arrived twice.
    pub duplicates: u64,
    /// TCP: packets that the capture has again, a part of the duplicates.
    #[serde(skip_serializing_if = "is_none")]
    pub copies: u64,
    /// Retransmissions that were not needed.
    pub spurious: u64,
    /// Packets that were delivered and not captured.
    pub capture_drops: u64,
    /// Keep-alives and probes of a closed window.
    pub probes: u64,
    /// Packets with a congestion mark (ECN CE). Marks mean congestion and are no losses.
    pub marked: u64,
    /// Whether segments are larger than packets on the wire: segmentation or receive offload.
    pub offload: bool,
    /// Packets that the host handed up in a batch with an earlier one.
    pub batched: u64,
    /// The drift between the clocks of sender and capture that was removed, parts per million.
    pub clock_drift_ppm: Option<f64>,
    /// The algorithms that cannot judge this flow, with the reason.
    pub not_applicable: BTreeMap<String, String>,
    /// Why its packets were lost; none if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<FlowDiagnosis>,
    /// The algorithm whose verdicts to take; none if no algorithm can judge the flow.
    pub recommended: Option<String>,
    /// What the capture tells about the flow that decides how well algorithms do: of two joined
    /// captures, at the end whose verdicts are recommended.
    pub situation: Situation,
    /// By algorithm that can judge the flow: the errors to expect in this situation, from the
    /// accuracy table. An algorithm that the table does not have is missing.
    pub expected: BTreeMap<String, Expected>,
    /// TCP: whether it carried less than 1 % of what the largest flow between its hosts did, and
    /// nothing of note happened to it: a control connection, or the answers to a transfer. The
    /// answer does not count it.
    #[serde(skip_serializing_if = "is_false")]
    pub minor: bool,
    /// Of two joined captures: what each of them tells alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<Alone>,
    /// How long its packets wait in queues; none if the capture does not tell.
    pub queueing: Option<Queueing>,
    /// How its connection was opened from this end, if that took more than one try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<Tries>,
    /// How its connection was closed from this end, if that took more than one try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closing: Option<Tries>,
    /// Times in which its sender tried three times or more and got no answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Streams: times without a packet, behind which as many numbers were missing as such a time
    /// has packets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pause>,
    /// Streams: how often the sender began new numbers.
    #[serde(skip_serializing_if = "is_none")]
    pub renumbered: u64,
    /// Steps of its trip times that stayed. They were taken out, so that no queueing delay has
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<Shift>,
    /// How long its receiver's window was closed, seconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub window_closed_s: f64,
    /// Bytes that were acknowledged without a captured packet of the flow before.
    #[serde(skip_serializing_if = "is_none")]
    pub acked_uncaptured: u64,
    /// TCP: whether no acknowledgement of its data was captured.
    #[serde(skip_serializing_if = "is_false")]
    pub one_way: bool,
    /// Packets that passed again: of TCP and SRT, not those that the capture holds twice.
    pub sent_again: u64,
    /// How fast its data went, and what held them up; none if the capture does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// TCP seen at its sender: the link that it met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// The flow over time, if [`Options::over_time`] asks for it and the flow is one of those with
    /// most losses.
    #[serde(skip)]
    pub over_time: Option<OverTime>,
    /// What its frames beside the losses are, if [`Options::notes`] asks for it.
    #[serde(skip)]
    pub(crate) notes: Vec<Note>,
    /// What its hosts have between them, if that is counted.
    #[serde(skip)]
    pub(crate) path: Option<Path>,
    /// QUIC: its packets, if they are kept.
    #[serde(skip)]
    pub(crate) logged: Option<LoggedPackets>,
    /// If it lost packets: what is needed when their cause is known.
    #[serde(skip)]
    pub(crate) measured: Option<Box<Measured>>,
    /// Losses beyond those that are listed.
    pub unlisted_losses: u64,
    /// The losses, in the order in which they were found.
    pub losses: Vec<Loss>,
    /// Verdicts by algorithm.
    pub summary: BTreeMap<String, Summary>,
}

/// The tries to open a connection (SYN), or to close it (FIN without data), from one end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tries {
    /// Segments that were sent again.
    pub repeats: u64,
    /// Opening: from the first one to the answer, or to the last packet if there was none. Closing:
    /// from the first one to the last. Seconds.
    pub waited_s: f64,
    /// Whether the other end answered.
    pub answered: bool,
    /// Opening: whether they are replies to the other end's SYN (SYN+ACK).
    #[serde(skip_serializing_if = "is_false")]
    pub reply: bool,
}

impl Tries {
    fn of(tries: flow::Tries) -> Self {
        let flow::Tries { repeats, waited, is_answered, is_reply } = tries;
        Self { repeats, waited_s: waited.as_secs_f64(), answered: is_answered, reply: is_reply }
    }
}

/// A time in which a flow's sender got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outage {
    /// The last answer before, or the first try if there was none: seconds after the capture's
    /// first packet.
    pub from_s: f64,
    /// The answer that ended it, or the last try if there was none.
    pub to_s: f64,
    /// Whether an answer ended it.
    pub answered: bool,
}

/// A time in which nothing of a stream came, while its numbers went on. Whether packets were sent,
/// the capture does not show.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Pause {
    /// The last packet before: seconds after the capture's first packet.
    pub from_s: f64,
    /// The first packet behind it.
    pub to_s: f64,
    /// Sequence numbers that were skipped.
    pub skipped: u64,
}

/// A step of the trip times that stayed: of the capture's or the sender's clock, or of the path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Shift {
    /// The first packet behind it: seconds after the capture's first packet.
    pub at_s: f64,
    /// What trips took longer from then on, milliseconds.
    pub by_ms: f64,
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}

/// Queueing delays: what trips took longer than the shortest one, by the trip times that the
/// algorithms got, from sender to receiver at a receiver, there and back at a sender.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Queueing {
    /// Half of the packets waited less, milliseconds.
    pub p50_ms: f64,
    /// 95 % of them waited less.
    pub p95_ms: f64,
    /// The share of packets that waited at least half of that, from 0 to 1.
    pub busy: f64,
    /// Of how many packets these are figured: of a sample, evenly over time.
    pub sampled: u64,
}

/// A lost packet.
///
/// ```
/// use std::fs::File;
///
/// use losscause::Verdict;
/// use losscause_capture::{Loss, Missing, Options, Utc, Verdicts, analyze};
///
/// /// When, who calls it wireless, and who cannot tell.
/// fn row(at: Option<Utc>, verdicts: &Verdicts, missing: &Missing) -> String {
///     let at = at.map_or_else(String::new, |at| at.to_string());
///     let wireless =
///         verdicts.iter().filter(|(_, judgement)| judgement.verdict == Verdict::Wireless);
///     let wireless: Vec<&str> = wireless.map(|(name, _)| name).collect();
///     let undecided: Vec<&str> = missing.iter().map(|(name, _)| name).collect();
///     format!("{at} {} {}", wireless.join(" "), undecided.join(" "))
/// }
///
/// let capture = File::open("tests/captures/sender.pcap.gz")?;
/// let analysis = analyze(capture, "sender.pcap.gz", &Options::all())?;
/// let Loss { time_utc, verdicts, undecided, .. } = &analysis.flows[0].losses[0];
/// assert_eq!(verdicts.of("spike"), Some(Verdict::Congestion));
/// let row = row(*time_utc, verdicts, undecided);
/// assert!(row.starts_with("2026-11-23T17:32:54.866471621Z "), "{row}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// When it showed, seconds after the capture's first packet; of two joined captures, when the
    /// lost packet passed the sender's.
    pub time_s: f64,
    /// When it showed, by the capture's clock.
    #[serde(skip)]
    pub(crate) time: Time,
    /// The same, as a date and a time; none if the capture has none, as a qlog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_utc: Option<Utc>,
    /// The number of the lost packet's frame in the file, from 1 on, as in Wireshark. A gap has
    /// none of its own: then the frame that revealed it. None in a qlog; of two joined captures
    /// that in the sender's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<u64>,
    /// The frame in which it was sent again, if the capture has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_again: Option<u64>,
    /// Of two joined captures: the first frame in the receiver's with something that was sent
    /// later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_at_receiver: Option<u64>,
    /// TCP: sequence number of the first byte. Others: the packet's number.
    pub seq: u64,
    /// Bytes of payload (QUIC: of the packet); 0 where they are not known (streams, a QUIC
    /// receiver).
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// The place in the flow, from its start on: bytes of TCP, or packets; none if the flow is not
    /// followed over time.
    #[serde(skip)]
    pub place: Option<u64>,
    /// How it was found.
    pub evidence: Evidence,
    /// Where it was in what passed between its hosts.
    #[serde(skip)]
    pub(crate) passage: Passage,
    /// The queueing delay of the newest packet that had arrived when the loss showed, milliseconds;
    /// none if it is not known, as behind a timeout.
    pub queueing_ms: Option<f64>,
    /// The verdict of every algorithm that can judge the flow.
    pub verdicts: Verdicts,
    /// What each of them compared.
    pub reasons: Reasons,
    /// What the undecided algorithms miss.
    #[serde(skip_serializing_if = "Missing::is_empty")]
    pub undecided: Missing,
}

/// By algorithm: what was compared for its verdict.
#[derive(Clone, Debug)]
pub struct Reasons(pub(crate) Verdicts);

impl Serialize for Reasons {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.0.iter().map(|(name, judgement)| (name, judgement.reason.to_string())),
        )
    }
}

/// By algorithm: the input that was missing for a verdict.
#[derive(Clone, Debug)]
pub struct Missing(pub(crate) Verdicts);

impl Missing {
    /// Whether every algorithm had its inputs.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Each undecided algorithm's name, and what it misses.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Input)> {
        self.0.iter().filter_map(|(name, judgement)| match judgement.reason {
            Reason::Missing { input } if judgement.verdict == Verdict::Undecided => {
                Some((name, input))
            }
            _ => None,
        })
    }
}

impl Serialize for Missing {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, input)| (name, input.to_string())))
    }
}

/// Verdicts by algorithm.
#[derive(Clone, Debug)]
pub struct Verdicts {
    /// The algorithms' names; none in the place of one that cannot judge the flow.
    pub(crate) names: Arc<[Option<String>]>,
    pub(crate) opinions: Opinions,
}

impl Verdicts {
    /// Each algorithm's name, and what it says and why.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Judgement)> {
        self.names
            .iter()
            .zip(self.opinions.iter())
            .filter_map(|(name, judgement)| Some((name.as_deref()?, judgement)))
    }

    /// What the algorithm of this name says, and why.
    pub fn judgement(&self, name: &str) -> Option<&Judgement> {
        self.iter().find(|(own, _)| *own == name).map(|(_, judgement)| judgement)
    }

    /// What the algorithm of this name says.
    pub fn of(&self, name: &str) -> Option<Verdict> {
        self.judgement(name).map(|judgement| judgement.verdict)
    }
}

impl Serialize for Verdicts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_map(self.iter().map(|(name, judgement)| (name, judgement.verdict.to_string())))
    }
}

/// How often an algorithm gave each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Losses called wireless.
    pub wireless: u64,
    /// Losses called congestion.
    pub congestion: u64,
    /// Losses without a verdict.
    pub undecided: u64,
}

/// Flows without losses that are listed.
const MAX_LISTED_FLOWS: usize = 10_000;
/// Flows that are kept over time.
const MAX_DRAWN_FLOWS: usize = 16;
/// Flows with losses that are listed.
const MAX_LOSSY_FLOWS: usize = 100_000;

/// Analyses a capture.
///
/// # Errors
/// If `source` is no capture that can be read. A capture that ends early is analysed as far as it
/// goes, and the analysis says so.
pub fn analyze(
    mut source: impl Read,
    file: &str,
    options: &Options,
) -> Result<Analysis, CaptureError> {
    analyze_and(&mut source, file, options, &mut |_, _, _| {})
}

/// As [`analyze`], of a capture that is still being made: hands a [`Glance`] on for each second of
/// it.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_live(
    mut source: impl Read,
    file: &str,
    options: &Options,
    glance: &mut dyn FnMut(Glance),
) -> Result<Analysis, CaptureError> {
    let mut next: Option<Time> = None;
    analyze_and(&mut source, file, options, &mut |now, _, reading| {
        let due = *next.get_or_insert(now + GLANCE);
        if now >= due {
            next = Some(now + GLANCE);
            glance(reading.glance());
        }
    })
}

/// As [`analyze`], of a capture that is in several files, as a ring buffer's: flows go on from one
/// to the next. Frames are numbered within their file.
///
/// # Errors
/// If a part is no capture that can be read.
pub fn analyze_parts<'a>(
    parts: impl IntoIterator<Item = Box<dyn Read + 'a>>,
    file: &str,
    options: &Options,
) -> Result<Analysis, CaptureError> {
    let mut reading = Reading::new(options, Rules::of(options, file), file);
    let mut truncation = None;
    for part in parts {
        let mut frames = Frames::of(compressed::decompressed(part)?)?;
        reading.read(&mut frames, &mut |_, _, _| {});
        truncation = truncation.or(frames.truncation().cloned());
    }
    reading.finish_frames(truncation)
}

/// What is known of a capture while it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Glance {
    /// Of the newest packet, seconds after the first one.
    pub time_s: f64,
    /// Packets so far.
    pub packets: u64,
    /// Flows so far.
    pub flows: u64,
    /// Losses so far, as the places look now at which the flows were captured.
    pub lost: u64,
}

/// From one glance to the next.
const GLANCE: Span = Span::from_secs(1);

/// Who sees every packet that is analysed, and what is known then.
pub(crate) type Also<'a> = &'a mut dyn FnMut(Time, &Packet<'_>, &Reading<'_>);

/// Analyses a capture and shows every packet of it to `also`. Compiled once, for all sources.
pub(crate) fn analyze_and(
    source: &mut dyn Read,
    file: &str,
    options: &Options,
    also: Also<'_>,
) -> Result<Analysis, CaptureError> {
    analyze_by(source, options, &Rules::of(options, file), file, also)
}

/// As [`analyze_and`], and keeps the packets of a log.
pub(crate) fn analyze_keeping(
    source: &mut dyn Read,
    file: &str,
    options: &Options,
    also: Also<'_>,
) -> Result<Analysis, CaptureError> {
    analyze_by(
        source,
        options,
        &Rules { keeps_packets: true, ..Rules::of(options, file) },
        file,
        also,
    )
}

fn analyze_by(
    source: &mut dyn Read,
    options: &Options,
    rules: &Rules,
    file: &str,
    also: Also<'_>,
) -> Result<Analysis, CaptureError> {
    let mut reading = Reading::new(options, rules.clone(), file);
    let (is_qlog, source) = qlog::recognised(compressed::decompressed(Box::new(source))?)?;
    if is_qlog {
        let truncation = qlog::read(source, rules, &mut reading)?;
        return Ok(reading.finish(truncation));
    }
    let mut frames = Frames::of(source)?;
    reading.read(&mut frames, also);
    let truncation = frames.truncation().cloned();
    reading.finish_frames(truncation)
}

/// A flow that was not read from a capture, whose times count from `begun`.
pub(crate) fn described(
    options: &Options,
    rules: &Rules,
    begun: Time,
    result: FlowResult,
) -> Option<Flow> {
    let mut reading = Reading::new(options, rules.clone(), "");
    reading.begun = Some(begun);
    reading.keep(result);
    reading.finish(None).flows.pop()
}

impl Rules {
    pub(crate) fn of(options: &Options, file: &str) -> Self {
        let budget = options.over_time.then(Budget::default);
        let watch = Watch::new(file, options.observer.clone(), options.flows.clone());
        let chosen = options.chosen.clone();
        let keep_skew = options.keep_skew;
        Self { chosen, keep_skew, budget, watch, keeps_packets: false }
    }
}

/// An analysis under way.
pub(crate) struct Reading<'a> {
    options: &'a Options,
    table: FlowTable,
    hosts: Names,
    names: Vec<String>,
    begun: Option<Time>,
    last: Time,
    /// The end of the longest trace before this one, if the file has several.
    longest: Time,
    unknown: Option<LinkType>,
    readable: u64,
    /// Packets that may be of a stream, and belong to none that has proved itself yet.
    unproven: BTreeMap<Protocol, u64>,
    lossless: usize,
    lossy: usize,
    watch: Watch,
    /// Places of the flows that are kept over time.
    drawn: Vec<usize>,
    analysis: Analysis,
}

impl<'a> Reading<'a> {
    fn new(options: &'a Options, rules: Rules, file: &str) -> Self {
        let analysis = Analysis {
            file: file.to_owned(),
            packets: 0,
            truncated_at: None,
            truncation: None,
            begun: Time::ZERO,
            duration_s: 0.0,
            fragments: 0,
            other_packets: 0,
            unread: UnreadCounts::default(),
            tcp_packets: 0,
            dropped_by_capture: None,
            radio: None,
            out_of_order_times: 0,
            cut_options: 0,
            unlisted_flows: 0,
            flows: Vec::new(),
        };
        Self {
            options,
            names: rules.chosen.keys().collect(),
            watch: rules.watch.clone(),
            table: FlowTable::new(rules),
            hosts: Names::default(),
            begun: None,
            last: Time::ZERO,
            longest: Time::ZERO,
            unknown: None,
            readable: 0,
            unproven: BTreeMap::new(),
            lossless: 0,
            lossy: 0,
            drawn: Vec::new(),
            analysis,
        }
    }

    /// Reads a file of frames to its end.
    fn read(&mut self, frames: &mut Frames<'_>, also: Also<'_>) {
        while let Some(frame) = frames.next_frame() {
            let frame_time = frame.time;
            if self.takes(frame_time, frame.link) {
                self.on_radio(frame.link.radio(frame.data));
                let parsed = Parsed::of(&frame);
                if let Parsed::Packet(packet) = &parsed {
                    self.hosts.on_packet(packet);
                    also(frame_time, packet, self);
                }
                self.on_frame(frame_time, &parsed);
            }
        }
        let dropped = self.analysis.dropped_by_capture.into_iter().chain(frames.dropped());
        self.analysis.dropped_by_capture = dropped.reduce(u64::saturating_add);
    }

    fn finish_frames(self, truncation: Option<Truncation>) -> Result<Analysis, CaptureError> {
        match self.only_unknown_link() {
            Some(link) => Err(CaptureError::LinkType { link }),
            None => Ok(self.finish(truncation)),
        }
    }

    fn glance(&self) -> Glance {
        let (open, lost) = self.table.glance();
        Glance {
            time_s: (self.last - self.begun.unwrap_or(self.last)).as_secs_f64(),
            packets: self.analysis.packets,
            flows: open + self.analysis.flows.len() as u64 + self.analysis.unlisted_flows,
            lost: lost + self.analysis.flows.iter().map(Flow::lost).sum::<u64>(),
        }
    }

    /// Counts a frame. False if it shall not be analysed.
    #[inline]
    fn takes(&mut self, time: Time, link: LinkType) -> bool {
        let inside = self.on_packet_time(time);
        if !link.is_known() {
            self.unknown = Some(link);
            self.on_unread(Unread::Link(link), 1);
            return false;
        }
        self.readable += 1;
        inside
    }

    /// Counts a packet. False if the options leave out its time.
    #[inline]
    pub(crate) fn on_packet_time(&mut self, time: Time) -> bool {
        self.analysis.packets += 1;
        if self.begun.is_none() {
            self.begun = Some(time);
            self.watch.begin(time);
        }
        if time < self.last {
            self.analysis.out_of_order_times += 1;
        }
        self.last = time;
        self.is_inside(time)
    }

    /// Something happened that is no packet. False if the options leave out its time.
    pub(crate) fn on_event_time(&mut self, time: Time) -> bool {
        self.last = self.last.max(time);
        self.is_inside(time)
    }

    /// Whether the options take in this time.
    #[inline]
    fn is_inside(&self, time: Time) -> bool {
        self.options.select(self.begun.unwrap_or(time), time)
    }

    /// Times count from zero again: another trace of the same file.
    pub(crate) fn begin_trace(&mut self) {
        self.longest = self.longest.max(self.last);
        (self.begun, self.last) = (Some(Time::ZERO), Time::ZERO);
        self.watch.begin(Time::ZERO);
    }

    /// Counts a packet that belongs to no flow.
    pub(crate) fn on_other_packet(&mut self) {
        self.analysis.other_packets += 1;
    }

    /// Packets so far.
    pub(crate) fn packets(&self) -> u64 {
        self.analysis.packets
    }

    /// Counts what a radio says of a frame.
    #[inline]
    fn on_radio(&mut self, radio: Option<Radio>) {
        if let Some(radio) = radio {
            let frames = self.analysis.radio.get_or_insert_default();
            frames.data_frames += 1;
            frames.retries += u64::from(radio.is_retry);
        }
    }

    #[inline]
    fn on_frame(&mut self, time: Time, parsed: &Parsed<'_>) {
        match parsed {
            Parsed::Packet(packet) => {
                let protocol =
                    if packet.is_dns() { None } else { self.table.on_packet(time, packet) };
                match &packet.transport {
                    Transport::Tcp(tcp) => {
                        self.analysis.tcp_packets += 1;
                        self.analysis.cut_options += u64::from(tcp.options.cut);
                    }
                    Transport::Udp { .. } | Transport::Esp { .. } => match protocol {
                        Some(protocol) => *self.unproven.entry(protocol).or_default() += 1,
                        None => self.on_unread(Unread::datagram(packet), 1),
                    },
                }
                if self.table.has_finished() {
                    self.collect();
                }
            }
            Parsed::Unread(unread) => self.on_unread(*unread, 1),
        }
    }

    /// Counts packets that were not read.
    #[cold]
    fn on_unread(&mut self, unread: Unread, packets: u64) {
        self.analysis.unread.add(unread, packets);
        *match unread {
            Unread::Fragment => &mut self.analysis.fragments,
            _ => &mut self.analysis.other_packets,
        } += packets;
    }

    /// The link type of the frames, if none of them could be read.
    fn only_unknown_link(&self) -> Option<LinkType> {
        self.unknown.filter(|_| self.readable == 0)
    }

    #[cold]
    fn collect(&mut self) {
        let results: Vec<FlowResult> = self.table.take_finished().collect();
        results.into_iter().for_each(|result| self.keep(result));
    }

    /// Lists a flow that has ended.
    pub(crate) fn keep(&mut self, result: FlowResult) {
        if let Some(unproven) = self.unproven.get_mut(&result.protocol) {
            *unproven = unproven.saturating_sub(result.packets);
        }
        if !self.options.flows.has([&result.src, &result.dst]) {
            return;
        }
        let is_lossy = result.losses.count(State::is_loss) > 0;
        let (listed, most) = if is_lossy {
            (&mut self.lossy, MAX_LOSSY_FLOWS)
        } else {
            (&mut self.lossless, MAX_LISTED_FLOWS)
        };
        if *listed == most {
            self.analysis.unlisted_flows += 1;
            return;
        }
        *listed += 1;
        let flow = self.describe(result);
        self.analysis.flows.push(flow);
        self.limit_drawn();
    }

    /// Keeps over time only the flows with most losses.
    fn limit_drawn(&mut self) {
        let flows = &mut self.analysis.flows;
        if flows.last().is_some_and(|flow| flow.over_time.is_some()) {
            self.drawn.push(flows.len() - 1);
        }
        if self.drawn.len() > MAX_DRAWN_FLOWS {
            let weight = |flow: &Flow| (flow.lost(), flow.packets, std::cmp::Reverse(flow.id));
            let least =
                (0..self.drawn.len()).min_by_key(|&place| weight(&flows[self.drawn[place]]));
            if let Some(place) = least {
                flows[self.drawn.swap_remove(place)].over_time = None;
            }
        }
    }

    fn describe(&self, result: FlowResult) -> Flow {
        let mut not_applicable = BTreeMap::new();
        let mut names: Vec<Option<String>> = self.names.iter().cloned().map(Some).collect();
        for (name, reason) in names.iter_mut().zip(&result.unmet) {
            if let Some(reason) = reason {
                not_applicable.extend(name.take().map(|name| (name, reason.clone())));
            }
        }
        let names: Arc<[Option<String>]> = names.into();
        let begun = self.begun.unwrap_or(Time::ZERO);
        let pace = result.pace.as_ref().and_then(|pace| Pace::of(pace, &result, begun));
        let notes = if self.options.notes { Note::all_of(&result.losses) } else { Vec::new() };
        let lost: Vec<Found> =
            result.losses.found.into_iter().filter(|found| found.state.is_loss()).collect();
        let ends = Ends { receiver: result.at_receiver, sender: result.at_sender };
        let told = ends.that_tells(&lost);
        let queueing = told.and_then(Queueing::of);
        let over_time =
            result.over_time.as_ref().and_then(|transfer| transfer.over_time(told, begun));
        let first_seq = result.over_time.as_ref().and_then(Transfer::first_seq);
        let as_loss = |found: Found| {
            let queueing_ms = ends.queueing_of(&found);
            let place = first_seq.map(|first| found.start.saturating_sub(first));
            Loss { queueing_ms, place, ..Loss::from(found, result.protocol, begun, &names) }
        };
        let mut losses: Vec<Loss> = lost.into_iter().map(as_loss).collect();
        losses.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let has_outage = !result.outages.is_empty();
        let fit = match (&result.carried, &pace, &ends.sender) {
            (Some(carried), Some(pace), Some(trips)) if pace.sending.is_some() => {
                Fit::of(carried, pace, &losses, trips, has_outage)
            }
            _ => None,
        };
        let packets = result
            .carried
            .as_ref()
            .zip(pace.as_ref())
            .map(|(carried, pace)| Packets::of(carried, pace));
        let course = result.pace.as_ref().filter(|_| !losses.is_empty());
        let measured = course.map(|course| Box::new(Measured::of(course, packets, begun)));
        let mut summary: BTreeMap<String, Summary> =
            names.iter().flatten().map(|name| (name.clone(), Summary::default())).collect();
        for (name, opinion) in losses.iter().flat_map(|loss| loss.verdicts.iter()) {
            if let Some(summary) = summary.get_mut(name) {
                summary.add(opinion.verdict);
            }
        }
        let judged_at = result.judged_at;
        let protocol = result.protocol;
        let situation =
            Situation { judged_at, protocol, selective: result.selective, delays: result.delays };
        let usable = || names.iter().flatten().map(String::as_str);
        let recommended = Table::built_in().recommend(situation, usable()).map(str::to_owned);
        let expected = Table::built_in().expected_of(situation, usable());
        let counts = result.counts;
        let second = |time: Time| (time - begun).as_secs_f64();
        let outage = |outage: &flow::Outage| Outage {
            from_s: second(outage.from),
            to_s: second(outage.to),
            answered: outage.is_answered,
        };
        let pause = |pause: &flow::Pause| Pause {
            from_s: second(pause.from),
            to_s: second(pause.to),
            skipped: pause.skipped,
        };
        Flow {
            id: result.number,
            src: result.src,
            dst: result.dst,
            src_name: None,
            dst_name: None,
            protocol: result.protocol,
            ssrc: result.stream.filter(|_| result.protocol == Protocol::Rtp),
            stream: result.stream.filter(|_| result.protocol != Protocol::Rtp),
            packets: result.packets,
            wire_packets: result.wire_packets.unwrap_or(result.packets),
            bytes: result.bytes,
            vantage: result.vantage,
            reordered: counts.reordered,
            duplicates: counts.duplicates,
            copies: counts.copies,
            spurious: counts.spurious,
            capture_drops: counts.uncaptured,
            probes: counts.probes,
            marked: counts.marked,
            offload: counts.merged,
            batched: counts.joined,
            clock_drift_ppm: result.drift.map(|drift| drift * 1e6),
            not_applicable,
            diagnosis: None,
            recommended,
            situation,
            expected,
            minor: false,
            alone: None,
            queueing,
            opening: result.opening.map(Tries::of),
            closing: result.closing.map(Tries::of),
            outages: result.outages.iter().map(outage).collect(),
            pauses: result.pauses.iter().map(pause).collect(),
            renumbered: counts.renumbered,
            shifts: ends.shifts(result.vantage, begun),
            window_closed_s: result.closed.as_secs_f64(),
            acked_uncaptured: result.acked_uncaptured,
            one_way: result.is_one_way,
            sent_again: result.sent_again,
            pace,
            fit,
            over_time,
            notes,
            path: result.path,
            logged: result.logged,
            measured,
            unlisted_losses: result.losses.unlisted,
            losses,
            summary,
        }
    }

    /// Tells the flows what their ends are called.
    fn name_ends(&mut self) {
        if self.hosts.is_empty() {
            return;
        }
        for flow in &mut self.analysis.flows {
            if let (Ok(src), Ok(dst)) = (flow.src.parse(), flow.dst.parse()) {
                let names = self.hosts.of([src, dst]);
                [flow.src_name, flow.dst_name] = names.map(|name| name.map(str::to_owned));
            }
        }
    }

    fn finish(mut self, truncation: Option<Truncation>) -> Analysis {
        self.table.close_all();
        self.collect();
        for (protocol, packets) in std::mem::take(&mut self.unproven) {
            let unread = match protocol {
                Protocol::WireGuard => Unread::WireGuard,
                Protocol::Esp => Unread::Esp,
                _ => Unread::Udp,
            };
            self.on_unread(unread, packets);
        }
        self.analysis.begun = self.begun.unwrap_or(Time::ZERO);
        let last = self.last.max(self.longest);
        self.analysis.duration_s = (last - self.begun.unwrap_or(last)).as_secs_f64();
        if let Some(truncation) = truncation {
            self.analysis.truncated_at = Some(truncation.offset);
            self.analysis.truncation = Some(truncation.problem);
        }
        self.analysis.flows.sort_by_key(|flow| (std::cmp::Reverse(flow.losses.len()), flow.id));
        self.name_ends();
        minor::mark(&mut self.analysis.flows);
        let doubted = self.analysis.doubted();
        diagnose::diagnose(&mut self.analysis.flows, &doubted);
        self.analysis
    }
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

impl Flow {
    /// Which stream of its sender it is, by its packets.
    pub(crate) fn stream_of_sender(&self) -> Option<u32> {
        self.ssrc.or(self.stream)
    }
}

impl Loss {
    fn from(found: Found, protocol: Protocol, begun: Time, names: &Arc<[Option<String>]>) -> Self {
        let bytes = if protocol.is_numbered() { 0 } else { found.end - found.start };
        let seq = protocol.on_wire(found.start);
        let verdicts = Verdicts { names: names.clone(), opinions: found.opinions };
        let time_s = (found.time - begun).as_secs_f64();
        let frame = found.frame;
        let frame_again = found.frame_again;
        // Only the frames of a capture have dates.
        let time_utc = frame.and_then(|_| Utc::of(found.time));
        let loss = Self::new((time_s, found.time), (seq, bytes), found.evidence, verdicts);
        Self { time_utc, frame, frame_again, passage: found.passage, ..loss }
    }
}

impl Loss {
    /// The loss of one packet, of which neither the place nor the queueing delay is known.
    pub(crate) fn new(
        shown: (f64, Time),
        what: (u64, u64),
        evidence: Evidence,
        verdicts: Verdicts,
    ) -> Self {
        let (time_s, time) = shown;
        let (seq, bytes) = what;
        let reasons = Reasons(verdicts.clone());
        let undecided = Missing(verdicts.clone());
        Self {
            time_s,
            time,
            time_utc: None,
            frame: None,
            frame_again: None,
            frame_at_receiver: None,
            seq,
            bytes,
            packets: 1,
            place: None,
            evidence,
            passage: Passage::at(time),
            queueing_ms: None,
            verdicts,
            reasons,
            undecided,
        }
    }
}

/// The trip times of a flow at the ends whose views count.
struct Ends {
    receiver: Option<Trips>,
    sender: Option<Trips>,
}

impl Ends {
    /// A receiver's view finds gaps, a sender's everything else.
    fn of(&self, evidence: Evidence) -> Option<&Trips> {
        if evidence == Evidence::Gap { self.receiver.as_ref() } else { self.sender.as_ref() }
    }

    fn queueing_of(&self, found: &Found) -> Option<f64> {
        self.of(found.evidence)?.queueing_of(found.opinions.trip()?)
    }

    /// The steps of the trip times that stayed. A receiver's round trips tell nothing of the path.
    fn shifts(&self, vantage: Vantage, begun: Time) -> Vec<Shift> {
        let sender = self.sender.as_ref().filter(|_| vantage != Vantage::Receiver);
        let shifts = [self.receiver.as_ref(), sender].into_iter().flatten().flat_map(Trips::shifts);
        let shift = |shift: &judge::Shift| Shift {
            at_s: (shift.at - begun).as_secs_f64(),
            by_ms: shift.by.as_millis_f64(),
        };
        let mut shifts: Vec<Shift> = shifts.map(shift).collect();
        shifts.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        shifts
    }

    /// The trip times to show: those of the end that found most of the losses, if it has any.
    fn that_tells(&self, lost: &[Found]) -> Option<&Trips> {
        let gaps = lost.iter().filter(|found| found.evidence == Evidence::Gap).count();
        let receiver = self.receiver.as_ref();
        let sender = self.sender.as_ref();
        let by_weight =
            if gaps * 2 >= lost.len() { [receiver, sender] } else { [sender, receiver] };
        by_weight.into_iter().flatten().find(|trips| trips.latest().is_some())
    }
}

impl Queueing {
    fn of(trips: &Trips) -> Option<Self> {
        let p50_ms = trips.queueing_quantile(0.5)?;
        let p95_ms = trips.queueing_quantile(0.95)?;
        let sampled = trips.sample().count() as u64;
        Some(Self { p50_ms, p95_ms, busy: trips.share_from(p95_ms / 2.0), sampled })
    }
}

impl Summary {
    pub(crate) fn add(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Wireless => &mut self.wireless,
            Verdict::Congestion => &mut self.congestion,
            Verdict::Undecided => &mut self.undecided,
        } += 1;
    }
}
