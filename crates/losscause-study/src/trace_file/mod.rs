//! A file with every packet event of a run, in order of time. [`TraceRow`] documents its columns.

use std::io;
use std::path::Path;

use losscause::Time;
use losscause_sim::{Event, Network, Recorder};

use crate::RunError;
use crate::run::{Trace, TraceRow};
use crate::tools::row_file::{Out, finish_csv, io_error};

#[cfg(feature = "arrow")]
mod batch;
mod filter;
#[cfg(feature = "parquet")]
mod parquet;

#[cfg(feature = "arrow")]
pub use batch::batch;
pub use filter::Filter;

/// A trace file that is being written. It is created before the run, so that an unwritable location
/// is reported at once.
#[derive(Debug)]
pub struct TraceFile<'a> {
    network: &'a Network,
    filter: Filter,
    trace: Trace,
    out: Out,
    /// The first failure of a write, reported at the end.
    failed: Option<io::Error>,
}

impl<'a> TraceFile<'a> {
    /// Starts a trace of `network` that will be called `file`; the name's end, `.csv`, `.csv.gz` or
    /// `.parquet`, gives the kind. `-` is CSV on standard output.
    ///
    /// # Errors
    /// The file cannot be written, its extension is unknown, or this program cannot write its kind.
    pub fn create(file: &Path, network: &'a Network) -> Result<Self, RunError> {
        let out = Out::create(file)?;
        Ok(Self { network, filter: Filter::default(), trace: Trace::default(), out, failed: None })
    }

    /// The same trace, of only the events that `filter` keeps.
    #[must_use]
    pub fn filtered(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// Writes the events up to and including `until`, if the file is CSV; Parquet is written at the
    /// end. `until` may be any time that the run has reached.
    pub fn write_until(&mut self, until: Time) {
        match &mut self.out {
            Out::Csv(writer) => {
                for event in self.trace.take(until) {
                    if self.failed.is_none() {
                        let row = TraceRow::of(&event, self.network);
                        self.failed = writer.serialize(row).map_err(io_error).err();
                    }
                }
            }
            #[cfg(feature = "parquet")]
            Out::Parquet(_) => {}
        }
    }

    /// Writes the remaining events and gives the file its final name.
    ///
    /// # Errors
    /// The disk is full, or an earlier write failed.
    pub fn finish(mut self) -> Result<(), RunError> {
        self.write_until(Time::MAX);
        match self.out {
            Out::Csv(writer) => finish_csv(*writer, self.failed),
            #[cfg(feature = "parquet")]
            Out::Parquet(mut file) => {
                let rows =
                    self.trace.take(Time::MAX).map(|event| TraceRow::of(&event, self.network));
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
        if self.filter.keeps(event) {
            self.trace.record(event);
        }
    }
}
