//! Captures of a run: what tcpdump would have written at the sender, the bottleneck and the
//! receiver, and beside them the true cause of every drop.
//!
//! A directory holds
//!
//! | file | packets |
//! |---|---|
//! | `sender.pcap` | sent and received by the senders' ends |
//! | `bottleneck.pcap` | leaving the bottleneck's queue, and coming the other way through the same router |
//! | `receiver.pcap` | sent and received by the receivers' ends |
//! | `drops.csv` | dropped or corrupted, with place and true cause: [`DropRow`] |
//!
//! The way of an event through the module:
//!
//! ```text
//! Header    → conversation   the header of a packet as a real network carries it; addresses, numbers, timestamps
//!           → underway       the packets that are on their way, each with its header
//! Sent, Received, Link → taps  whether a capture sees the packet there
//! ```
//!
//! Time 0 of the run is [`EPOCH`], so that a connection's handshake can precede it.

use std::path::Path;

use losscause::{Span, Time};
use losscause_sim::{Detail, Event, EventKind, LinkEvent, LinkId, PacketInfo, Recorder};

use crate::run::Trace;
use crate::trace_file::Filter;
use crate::{Experiment, InputError, RunError};

mod addresses;
mod conversation;
mod directory;
mod drops;
mod flow;
mod handshake;
mod ip;
mod media;
mod outputs;
mod taps;
mod tcp;
mod underway;

pub use directory::{FILE_NAMES, prepare};
pub use drops::{Direction, DropRow};

use flow::Flow;
use outputs::Outputs;
use taps::{Sight, Tap};

/// When the run begins by the captures' clock: 1,000,000,000 seconds after the start of 1970, on 9
/// September 2001.
pub const EPOCH: Time = Time::from_nanos(1_000_000_000_000_000_000);

/// How captures are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureSettings {
    /// The tick of the clock of TCP's timestamps, at least 1 ns. RTP's clock has 90 kHz.
    pub tick: Span,
    /// Most bytes of a packet that a capture has, at least
    /// [`CaptureSettings::SMALLEST_SNAP_BYTES`].
    pub snap_bytes: u32,
}

impl CaptureSettings {
    /// All headers fit into this many bytes.
    pub const SMALLEST_SNAP_BYTES: u32 = losscause_capture::write::LARGEST_HEADERS as u32;
}

impl Default for CaptureSettings {
    /// A tick of 1 ms, as in Linux, and 128 bytes of each packet.
    fn default() -> Self {
        Self { tick: Span::from_millis(1), snap_bytes: 128 }
    }
}

/// The captures of a run that are being written. The files are created before the run, so that an
/// unwritable location is reported at once.
#[derive(Debug)]
pub struct CaptureFiles<'a> {
    experiment: &'a Experiment,
    filter: Filter,
    flows: Vec<Flow>,
    trace: Trace,
    /// How long before its flow's first packet a handshake may begin.
    ahead: Span,
    /// Packets of handshakes that are still to be written.
    handshakes: Vec<Sight>,
    outputs: Outputs,
}

impl<'a> CaptureFiles<'a> {
    /// Starts captures in `directory`, which is created if it is missing. A scenario without a
    /// bottleneck gets no `bottleneck.pcap`.
    ///
    /// # Errors
    /// The directory holds other files than earlier captures, it cannot be written, or a flow's
    /// packets do not fit into IPv4.
    pub fn create(
        directory: &Path,
        experiment: &'a Experiment,
        seed: u64,
        settings: CaptureSettings,
    ) -> Result<Self, RunError> {
        let flows = Flow::all(experiment, seed, settings).map_err(|problem| {
            RunError::Input(InputError::Option {
                option: format!("--pcap {}", directory.display()),
                problem,
            })
        })?;
        let outputs =
            Outputs::create(directory, !experiment.bottleneck.is_empty(), settings.snap_bytes)?;
        let ahead = flows.iter().filter_map(|flow| Some(flow.handshake.as_ref()?.lasts())).max();
        Ok(Self {
            experiment,
            filter: Filter::default(),
            flows,
            trace: Trace::default(),
            ahead: ahead.unwrap_or(Span::ZERO),
            handshakes: Vec::new(),
            outputs,
        })
    }

    /// The same captures, of only the flows that `filter` keeps; it must not choose kinds of events
    /// or an interval.
    #[must_use]
    pub fn filtered(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// Writes what was captured up to `until`, which may be any time that the run has reached. What
    /// may come after the handshake of a later flow waits.
    pub fn write_until(&mut self, until: Time) {
        let until = if until == Time::MAX { until } else { until - self.ahead };
        self.handshakes.sort_by_key(|sight| sight.at);
        let mut handshakes = self.handshakes.iter().peekable();
        let mut written = 0;
        for event in self.trace.take(until) {
            while let Some(sight) = handshakes.next_if(|sight| sight.at <= event.at) {
                self.outputs.capture(*sight);
                written += 1;
            }
            handle(
                &event,
                &mut self.flows[event.flow.0 as usize],
                self.experiment,
                &mut self.outputs,
            );
        }
        while let Some(sight) = handshakes.next_if(|sight| sight.at <= until) {
            self.outputs.capture(*sight);
            written += 1;
        }
        self.handshakes.drain(..written);
    }

    /// Writes the rest and gives the files their names.
    ///
    /// # Errors
    /// The disk is full, or an earlier write failed.
    pub fn finish(mut self) -> Result<(), RunError> {
        self.write_until(Time::MAX);
        self.outputs.finish()
    }
}

impl Recorder for CaptureFiles<'_> {
    fn detail(&self) -> Detail {
        Detail::Headers
    }

    fn record(&mut self, event: &Event) {
        if matches!(event.kind, EventKind::Cwnd(_) | EventKind::Rate(_))
            || !self.filter.keeps(event)
        {
            return;
        }
        if matches!(event.kind, EventKind::Header(_)) {
            let flow = &mut self.flows[event.flow.0 as usize];
            if let Some(handshake) = flow.handshake.take() {
                self.handshakes.extend(flow.open(&handshake, event.at));
            }
        }
        self.trace.record(event);
    }
}

/// Takes in an event of `flow`, in order of time.
fn handle(event: &Event, flow: &mut Flow, experiment: &Experiment, outputs: &mut Outputs) {
    let at = event.at;
    match &event.kind {
        EventKind::Header(header) => flow.send(at, header),
        EventKind::Sent(info) => {
            let direction = Direction::of(info.kind);
            if let Some(packet) = flow.underway(direction).find(info) {
                let tap = if direction == Direction::Forward { Tap::Sender } else { Tap::Receiver };
                outputs.capture(Sight { at, tap, packet: *packet });
            }
        }
        EventKind::Received(info) => {
            if let Some(sight) = flow.receive(at, info) {
                outputs.capture(sight);
            }
        }
        EventKind::Link { link, what, packet, .. } => {
            at_link(at, *link, *what, packet, flow, experiment, outputs);
        }
        EventKind::Cwnd(_) | EventKind::Rate(_) | EventKind::Verdict { .. } => {}
    }
}

/// A link did something to a packet of `flow`.
fn at_link(
    at: Time,
    link: LinkId,
    what: LinkEvent,
    info: &PacketInfo,
    flow: &mut Flow,
    experiment: &Experiment,
    outputs: &mut Outputs,
) {
    match what {
        LinkEvent::Mark => flow.mark(info),
        LinkEvent::Duplicate => flow.underway(Direction::of(info.kind)).copy(info),
        LinkEvent::TransmitStart | LinkEvent::Deliver => {
            if let Some(sight) = flow.pass(at, link, what, info) {
                outputs.capture(sight);
            }
        }
        LinkEvent::QueueDrop | LinkEvent::Corrupted => {
            if let Some(row) = flow.lose(at, link, what, info, &experiment.network) {
                outputs.drop(&row);
            }
        }
        LinkEvent::Enqueue => {}
    }
}
