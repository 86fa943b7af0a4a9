//! A file with every packet event of a run, in order of time. [`TraceRow`] documents its columns.

use std::io;
use std::path::Path;

use losscause::Time;
use losscause_sim::{Event, Network, Recorder};

use crate::RunError;
use crate::atomic::AtomicFile;
use crate::run::{Trace, TraceRow};

#[cfg(feature = "parquet")]
mod parquet;

/// A trace file that is being written. It is created before the run, so that an unwritable location is reported at
/// once.
#[derive(Debug)]
pub struct TraceFile<'a> {
    network: &'a Network,
    trace: Trace,
    out: Out,
    /// The first failure of a write, reported at the end.
    failed: Option<io::Error>,
}

/// The kinds of trace files, selected by the extension of the file's name.
#[derive(Debug)]
enum Out {
    /// CSV, written line by line.
    Csv(Box<csv::Writer<AtomicFile>>),
    /// Parquet, written at the end.
    #[cfg(feature = "parquet")]
    Parquet(AtomicFile),
}

impl<'a> TraceFile<'a> {
    /// Starts a trace of `network` that will be called `file`; the extension, `.csv` or `.parquet`, gives the kind.
    ///
    /// # Errors
    /// The file cannot be written, its extension is unknown, or this program cannot write its kind.
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
            _ => return Err(unsupported("has an unknown extension, expected a name that ends in .csv or .parquet")),
        };
        Ok(Self { network, trace: Trace::default(), out, failed: None })
    }

    /// Writes the events up to and including `until`, if the file is CSV; Parquet is written at the end. `until` may be
    /// any time that the run has reached.
    pub fn write_until(&mut self, until: Time) {
        match &mut self.out {
            Out::Csv(writer) => {
                for event in self.trace.take(until) {
                    if self.failed.is_none() {
                        let row = TraceRow::of(&event, self.network);
                        self.failed = writer.serialize(row).map_err(io::Error::from).err();
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
            Out::Csv(mut writer) => {
                if let Some(reason) = self.failed.or_else(|| writer.flush().err()) {
                    return Err(writer.get_ref().failed(reason));
                }
                writer.into_inner().expect("after a flush nothing is left to write").finish()
            }
            #[cfg(feature = "parquet")]
            Out::Parquet(mut file) => {
                let rows = self.trace.take(Time::MAX).map(|event| TraceRow::of(&event, self.network));
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
        self.trace.record(event);
    }
}
