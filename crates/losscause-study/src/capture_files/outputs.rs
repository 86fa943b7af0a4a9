//! The files of captures.

use std::path::Path;

use losscause::Time;
use losscause_capture::write::PcapWriter;

use super::EPOCH;
use super::captured::Sink;
use super::directory::{self, BOTTLENECK, DROPS, RECEIVER, SENDER};
use super::drops::{COLUMNS, DropRow, Dropped};
use super::taps::{Sight, Tap};
use crate::RunError;
use crate::tools::atomic::folder::Hold;
use crate::tools::atomic::{AtomicFile, finish_together};

/// The files of captures that are being written.
#[derive(Debug)]
pub(super) struct Outputs {
    sender: PcapWriter<AtomicFile>,
    bottleneck: Option<PcapWriter<AtomicFile>>,
    receiver: PcapWriter<AtomicFile>,
    drops: Box<csv::Writer<AtomicFile>>,
    /// The first failure of a write, reported at the end.
    failed: Option<RunError>,
    /// No other process writes to the directory.
    _hold: Hold,
}

impl Outputs {
    pub(super) fn create(
        directory: &Path,
        has_bottleneck: bool,
        snap_bytes: u32,
    ) -> Result<Self, RunError> {
        let hold = directory::prepare(directory, Some(&COLUMNS.join(",")))?;
        let capture = |name: &str| {
            let file = directory.join(name);
            let unwritable = |reason| RunError::unwritable(&file, reason);
            PcapWriter::new(AtomicFile::create(&file)?, snap_bytes).map_err(unwritable)
        };
        let drops = AtomicFile::create(&directory.join(DROPS))?;
        let mut drops = Box::new(csv::WriterBuilder::new().has_headers(false).from_writer(drops));
        let header =
            drops.write_record(COLUMNS).map_err(|error| drops.get_ref().failed(error.into()));
        Ok(Self {
            sender: capture(SENDER)?,
            bottleneck: has_bottleneck.then(|| capture(BOTTLENECK)).transpose()?,
            receiver: capture(RECEIVER)?,
            drops,
            failed: header.err(),
            _hold: hold,
        })
    }

    /// Gives the files their names.
    pub(super) fn finish(self) -> Result<(), RunError> {
        // The last to be dropped: by then no unfinished file is in the directory.
        let Self { _hold, sender, bottleneck, receiver, mut drops, failed } = self;
        if let Some(error) =
            failed.or_else(|| drops.flush().err().map(|reason| drops.get_ref().failed(reason)))
        {
            return Err(error);
        }
        let drops = drops.into_inner().expect("after a flush nothing is left to write");
        let captures = [Some(sender), bottleneck, Some(receiver)]
            .into_iter()
            .flatten()
            .map(PcapWriter::into_inner);
        finish_together(captures.chain([drops]).collect())
    }
}

impl Sink for Outputs {
    fn capture(&mut self, Sight { at, tap, packet }: Sight) {
        let writer = match tap {
            Tap::Sender => Some(&mut self.sender),
            Tap::Bottleneck => self.bottleneck.as_mut(),
            Tap::Receiver => Some(&mut self.receiver),
        };
        let Some(writer) = writer.filter(|_| self.failed.is_none()) else { return };
        let at = EPOCH + (at - Time::ZERO);
        self.failed = writer.write(at, &packet).err().map(|reason| writer.get_ref().failed(reason));
    }

    fn drop(&mut self, dropped: &Dropped<'_>) {
        if self.failed.is_none() {
            let written = self.drops.serialize(DropRow::of(dropped));
            self.failed = written.err().map(|error| self.drops.get_ref().failed(error.into()));
        }
    }
}
