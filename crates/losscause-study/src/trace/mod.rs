//! A file with every packet event of a run, in order of time.
//!
//! | column | meaning |
//! |---|---|
//! | `time_ns` | since the start of the run |
//! | `event` | `sent`, `received`, `enqueue`, `queue-drop`, `mark`, `transmit`, `corrupted`, `deliver`, `cwnd`, `rate`, `verdict` |
//! | `flow`, `link` | names; `link` is empty for events at the ends |
//! | `packet` | `data`, `retransmission`, `ack`, `feedback` |
//! | `seq`, `bytes` | sequence number, and size on the wire |
//! | `queue_packets`, `queue_bytes` | waiting at the link right after the event |
//! | `cwnd_packets`, `rate_bps` | TCP's window, TFRC's allowed rate in payload bits per second, when they change |
//! | `cause` | the true cause of a drop, also beside its verdict |
//! | `verdict`, `reason` | what the algorithm said, and the numbers it compared |

use std::io;
use std::path::Path;

use serde::Serialize;

use losscause::Verdict;
use losscause::truth::Cause;
use losscause_sim::{Event, EventKind, LinkEvent, Network, PacketInfo, PacketKind, Recorder};

use crate::RunError;
use crate::atomic::AtomicFile;

#[cfg(feature = "parquet")]
mod parquet;

/// A trace file under construction: made before the run, so that a place that cannot be written is found out at once.
///
/// Events do not come in order of time, so they wait until [`TraceFile::settle`] says that no earlier ones will come.
#[derive(Debug)]
pub struct TraceFile<'a> {
    network: &'a Network,
    waiting: Vec<Event>,
    out: Out,
    /// What went wrong on the way; told at the end.
    failed: Option<io::Error>,
}

/// The kinds of trace files, told apart by the end of the file's name.
#[derive(Debug)]
enum Out {
    /// Line by line.
    Csv(Box<csv::Writer<AtomicFile>>),
    /// All columns at the end.
    #[cfg(feature = "parquet")]
    Parquet(AtomicFile),
}

impl<'a> TraceFile<'a> {
    /// Starts a trace of `network` that will be called `file`; `.csv` and `.parquet` say of which kind it is.
    ///
    /// # Errors
    /// The file cannot be written there, or is of another kind, or this program cannot write its kind.
    pub fn create(file: &Path, network: &'a Network) -> Result<Self, RunError> {
        let unsupported =
            |problem: &str| RunError::Unsupported { file: file.display().to_string(), problem: problem.into() };
        let out = match file.extension().and_then(|end| end.to_str()) {
            Some("csv") => Out::Csv(Box::new(csv::Writer::from_writer(AtomicFile::create(file)?))),
            #[cfg(feature = "parquet")]
            Some("parquet") => Out::Parquet(AtomicFile::create(file)?),
            #[cfg(not(feature = "parquet"))]
            Some("parquet") => {
                return Err(unsupported(
                    "this program was built without Parquet, expected a .csv file or a program built by \
                     `cargo build --release --features parquet`",
                ));
            }
            _ => return Err(unsupported("is of an unknown kind, expected a name that ends in .csv or .parquet")),
        };
        Ok(Self { network, waiting: Vec::new(), out, failed: None })
    }

    /// All events up to now are there, and none of them comes later: those of a CSV file are written.
    pub fn settle(&mut self) {
        // Stable: events of the same instant stay in the order in which they were worked out.
        self.waiting.sort_by_key(|event| event.at);
        match &mut self.out {
            Out::Csv(writer) => {
                let network = self.network;
                for event in self.waiting.drain(..) {
                    if self.failed.is_none() {
                        self.failed = writer.serialize(Row::of(&event, network)).map_err(io::Error::from).err();
                    }
                }
            }
            #[cfg(feature = "parquet")]
            Out::Parquet(_) => {}
        }
    }

    /// Writes what is left and gives the file its name.
    ///
    /// # Errors
    /// The disk is full, or the file could not be written all the time.
    pub fn finish(mut self) -> Result<(), RunError> {
        self.settle();
        match self.out {
            Out::Csv(mut writer) => {
                if let Some(reason) = self.failed.or_else(|| writer.flush().err()) {
                    return Err(writer.get_ref().failed(reason));
                }
                writer.into_inner().expect("after a flush nothing is left to write").finish()
            }
            #[cfg(feature = "parquet")]
            Out::Parquet(mut file) => {
                let rows = self.waiting.iter().map(|event| Row::of(event, self.network));
                match parquet::write(rows, &mut file) {
                    Ok(()) => file.finish(),
                    Err(reason) => Err(file.failed(reason)),
                }
            }
        }
    }
}

impl Recorder for TraceFile<'_> {
    fn record(&mut self, event: &Event) {
        self.waiting.push(*event);
    }
}

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Row<'a> {
    time_ns: i64,
    event: &'static str,
    flow: &'a str,
    link: Option<&'a str>,
    packet: Option<&'static str>,
    seq: Option<u64>,
    bytes: Option<u32>,
    queue_packets: Option<u32>,
    queue_bytes: Option<u64>,
    cwnd_packets: Option<f64>,
    rate_bps: Option<f64>,
    cause: Option<&'static str>,
    verdict: Option<&'static str>,
    reason: Option<String>,
}

impl<'a> Row<'a> {
    fn of(event: &Event, network: &'a Network) -> Self {
        let mut row = Self {
            time_ns: event.at.as_nanos(),
            event: "",
            flow: &network.flows[event.flow.0 as usize].name,
            link: None,
            packet: None,
            seq: None,
            bytes: None,
            queue_packets: None,
            queue_bytes: None,
            cwnd_packets: None,
            rate_bps: None,
            cause: None,
            verdict: None,
            reason: None,
        };
        match event.kind {
            EventKind::Sent(packet) => row.describe("sent", packet),
            EventKind::Received(packet) => row.describe("received", packet),
            EventKind::Link { link, what, packet, queue_packets, queue_bytes } => {
                let (name, cause) = match what {
                    LinkEvent::Enqueue => ("enqueue", None),
                    LinkEvent::QueueDrop => ("queue-drop", Some(Cause::Congestion)),
                    LinkEvent::Mark => ("mark", None),
                    LinkEvent::TransmitStart => ("transmit", None),
                    LinkEvent::Corrupted => ("corrupted", Some(Cause::Wireless)),
                    LinkEvent::Deliver => ("deliver", None),
                };
                row.describe(name, packet);
                row.link = Some(&network.links[link.0 as usize].name);
                row.queue_packets = Some(queue_packets);
                row.queue_bytes = Some(queue_bytes);
                row.cause = cause.map(cause_name);
            }
            EventKind::Cwnd(packets) => {
                row.event = "cwnd";
                row.cwnd_packets = Some(packets);
            }
            EventKind::Rate(bytes_per_second) => {
                row.event = "rate";
                row.rate_bps = Some(bytes_per_second * 8.0);
            }
            EventKind::Verdict { seq, cause, judgement } => {
                row.event = "verdict";
                row.seq = Some(seq);
                row.cause = cause.map(cause_name);
                row.verdict = Some(match judgement.verdict {
                    Verdict::Congestion => "congestion",
                    Verdict::Wireless => "wireless",
                    Verdict::Undecided => "undecided",
                });
                row.reason = Some(judgement.reason.to_string());
            }
        }
        row
    }

    fn describe(&mut self, event: &'static str, packet: PacketInfo) {
        self.event = event;
        self.packet = Some(match packet.kind {
            PacketKind::Data => "data",
            PacketKind::Retransmission => "retransmission",
            PacketKind::Ack => "ack",
            PacketKind::Feedback => "feedback",
        });
        self.seq = Some(packet.seq);
        self.bytes = Some(packet.wire_bytes);
    }
}

fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Congestion => "congestion",
        Cause::Wireless => "wireless",
    }
}
