//! A lost packet, and what the algorithms say of it.

use std::fmt::{self, Write};
use std::sync::Arc;

use losscause::verdict::Input;
use losscause::{Judgement, Reason, Time, Verdict};
use serde::ser::{Error, SerializeMap};
use serde::{Serialize, Serializer};

use crate::flow::{Evidence, Found, Passage, Protocol};
use crate::judge::Opinions;
use crate::utc::Utc;

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
    /// The queueing delay of the packet before the lost one, milliseconds, or of the one behind it if
    /// that left closer to it; none if it is not known. What was lost may have made the packets behind
    /// it wait, as a radio's repeats do.
    pub queueing_before_ms: Option<f64>,
    /// Whether the cause that is named for the flow's other losses does not explain this one.
    #[serde(skip)]
    pub(crate) is_apart: bool,
    /// The verdict of every algorithm that can judge the flow.
    pub verdicts: Verdicts,
    /// What each of them compared.
    pub reasons: Reasons,
    /// What the undecided algorithms miss.
    #[serde(skip_serializing_if = "Missing::is_empty")]
    pub undecided: Missing,
}

/// Writes values by name as they are displayed. Each text is put together first: escaping its dozen
/// pieces one by one takes longer.
fn serialize_shown<'a, S: Serializer>(
    serializer: S,
    values: impl Iterator<Item = (&'a str, impl fmt::Display)>,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    let mut text = String::new();
    for (name, value) in values {
        text.clear();
        write!(text, "{value}").map_err(S::Error::custom)?;
        map.serialize_entry(name, &text)?;
    }
    map.end()
}

/// By algorithm: what was compared for its verdict.
#[derive(Clone, Debug)]
pub struct Reasons(pub(crate) Verdicts);

impl Serialize for Reasons {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reasons = self.0.iter().map(|(name, judgement)| (name, judgement.reason));
        serialize_shown(serializer, reasons)
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
        self.0.words().filter_map(|(name, words)| match words.reason {
            Reason::Missing { input } if words.verdict == Verdict::Undecided => Some((name, input)),
            _ => None,
        })
    }
}

impl Serialize for Missing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_shown(serializer, self.iter())
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
    pub fn iter(&self) -> impl Iterator<Item = (&str, Judgement)> {
        self.named(self.opinions.iter())
    }

    /// What the algorithm of this name says, and why.
    pub fn judgement(&self, name: &str) -> Option<Judgement> {
        self.iter().find(|(own, _)| *own == name).map(|(_, judgement)| judgement)
    }

    /// Each algorithm's name, and what it says; with zeros for all numbers.
    pub(crate) fn words(&self) -> impl Iterator<Item = (&str, &Judgement)> {
        self.named(self.opinions.words())
    }

    /// What the algorithm of this name says.
    pub fn of(&self, name: &str) -> Option<Verdict> {
        self.words().find(|(own, _)| *own == name).map(|(_, words)| words.verdict)
    }

    /// What each algorithm that can judge the flow has of `all`, which are in the order of their
    /// names.
    fn named<T>(&self, all: impl Iterator<Item = T>) -> impl Iterator<Item = (&str, T)> {
        self.names.iter().zip(all).filter_map(|(name, one)| Some((name.as_deref()?, one)))
    }
}

impl Serialize for Verdicts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_shown(serializer, self.words().map(|(name, words)| (name, words.verdict)))
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

impl Loss {
    pub(super) fn from(
        found: Found,
        protocol: Protocol,
        begun: Time,
        names: &Arc<[Option<String>]>,
    ) -> Self {
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
            queueing_before_ms: None,
            is_apart: false,
            verdicts,
            reasons,
            undecided,
        }
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
