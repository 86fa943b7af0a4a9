//! Captures of a run: what tcpdump would have written at the sender, the bottleneck and the
//! receiver, and beside them the true cause of every drop. [`CaptureFiles`] writes them into a
//! directory, [`MemoryCaptures`] keeps both ends' in memory.
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
//! captured  → outputs, memory  what was captured and dropped, into files or into memory
//! ```
//!
//! Time 0 of the run is [`EPOCH`], so that a connection's handshake can precede it.

use std::path::Path;

use losscause::{Span, Time};
use losscause_sim::{Detail, Event, Recorder};

use crate::trace_file::Filter;
use crate::{Experiment, InputError, RunError};

mod addresses;
mod captured;
mod conversation;
mod directory;
mod drops;
mod flow;
mod handshake;
mod ip;
mod lost;
mod media;
mod memory;
mod outputs;
mod taps;
mod tcp;
mod underway;

pub use directory::{FILE_NAMES, prepare};
pub use drops::{Direction, DropRow};
pub use lost::{LostPacket, LostPackets};
pub use memory::{KnownCaptures, MemoryCaptures};

use captured::Captured;
use flow::Flow;
use outputs::Outputs;

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
pub struct CaptureFiles<'a>(Captured<'a, Outputs>);

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
            RunError::Input(InputError::option(format!("--pcap {}", directory.display()), problem))
        })?;
        let outputs =
            Outputs::create(directory, !experiment.bottleneck.is_empty(), settings.snap_bytes)?;
        Ok(Self(Captured::new(experiment, flows, outputs)))
    }

    /// The same captures, of only the flows that `filter` keeps; it must not choose kinds of events
    /// or an interval.
    #[must_use]
    pub fn filtered(self, filter: Filter) -> Self {
        Self(self.0.filtered(filter))
    }

    /// Writes what was captured up to `until`, which may be any time that the run has reached. What
    /// may come after the handshake of a later flow waits.
    pub fn write_until(&mut self, until: Time) {
        self.0.write_until(until);
    }

    /// Writes the rest and gives the files their names.
    ///
    /// # Errors
    /// The disk is full, or an earlier write failed.
    pub fn finish(self) -> Result<(), RunError> {
        self.0.finish().finish()
    }
}

impl Recorder for CaptureFiles<'_> {
    fn detail(&self) -> Detail {
        self.0.detail()
    }

    fn record(&mut self, event: &Event) {
        self.0.record(event);
    }
}
