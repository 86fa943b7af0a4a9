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

use std::path::Path;

use serde::Serialize;

use losscause::{Cause, Verdict};
use losscause_sim::{Event, EventKind, LinkEvent, Network, PacketInfo, PacketKind};

use crate::RunError;
use crate::atomic::AtomicFile;

#[cfg(feature = "parquet")]
mod parquet;

/// The kinds of trace files, told apart by the end of the file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    Parquet,
}

/// A trace file under construction: made before the run, so that a place that cannot be written is found out at once.
#[derive(Debug)]
pub struct TraceFile {
    file: AtomicFile,
    format: Format,
    events: Vec<Event>,
}

impl TraceFile {
    /// Starts a trace that will be called `file`; `.csv` and `.parquet` say of which kind it is.
    ///
    /// # Errors
    /// The file cannot be written there, or is of another kind, or this program cannot write its kind.
    pub fn create(file: &Path) -> Result<Self, RunError> {
        let unsupported =
            |problem: &str| RunError::Unsupported { file: file.display().to_string(), problem: problem.into() };
        let format = match file.extension().and_then(|end| end.to_str()) {
            Some("csv") => Format::Csv,
            Some("parquet") if cfg!(feature = "parquet") => Format::Parquet,
            Some("parquet") => {
                return Err(unsupported(
                    "this program was built without Parquet, expected a .csv file or a program built by \
                     `cargo build --release --features parquet`",
                ));
            }
            _ => return Err(unsupported("is of an unknown kind, expected a name that ends in .csv or .parquet")),
        };
        Ok(Self { file: AtomicFile::create(file)?, format, events: Vec::new() })
    }

    /// Where a run's events go.
    pub fn recorder(&mut self) -> &mut Vec<Event> {
        &mut self.events
    }

    /// Sorts the events by time and gives the file its name.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be written any more.
    pub fn finish(mut self, network: &Network) -> Result<(), RunError> {
        // Stable: events of the same instant stay in the order in which they were worked out.
        self.events.sort_by_key(|event| event.at);
        let rows = self.events.iter().map(|event| Row::of(event, network));
        let written = match self.format {
            Format::Csv => write_csv(rows, &mut self.file),
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::write(rows, &mut self.file),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => unreachable!("refused when the file was made"),
        };
        match written {
            Ok(()) => self.file.finish(),
            Err(reason) => Err(self.file.failed(reason)),
        }
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

fn write_csv<'a>(rows: impl Iterator<Item = Row<'a>>, out: impl std::io::Write) -> std::io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    for row in rows {
        writer.serialize(row)?;
    }
    writer.flush()
}
