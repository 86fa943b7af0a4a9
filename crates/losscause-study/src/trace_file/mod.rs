//! A file with every packet event of a run, in order of time. [`TraceRow`] documents its columns.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use losscause::Time;
use losscause_sim::{Event, Network, Recorder};

use crate::RunError;
use crate::atomic::AtomicFile;
use crate::run::{Trace, TraceRow};

mod filter;
#[cfg(feature = "parquet")]
mod parquet;

pub use filter::Filter;

/// A trace file that is being written. It is created before the run, so that an unwritable location is reported at
/// once.
#[derive(Debug)]
pub struct TraceFile<'a> {
    network: &'a Network,
    filter: Filter,
    trace: Trace,
    out: Out,
    /// The first failure of a write, reported at the end.
    failed: Option<io::Error>,
}

/// The kinds of trace files, selected by the extension of the file's name.
#[derive(Debug)]
enum Out {
    /// CSV, written line by line.
    Csv(Box<csv::Writer<Text>>),
    /// Parquet, written at the end.
    #[cfg(feature = "parquet")]
    Parquet(AtomicFile),
}

/// Where the lines of a CSV go.
#[derive(Debug)]
enum Text {
    File(AtomicFile),
    Compressed(Box<GzEncoder<AtomicFile>>),
    Standard(io::Stdout),
}

impl Text {
    fn create(file: &Path, is_compressed: bool) -> Result<csv::Writer<Self>, RunError> {
        let created = AtomicFile::create(file)?;
        Ok(csv::Writer::from_writer(if is_compressed {
            Self::Compressed(Box::new(GzEncoder::new(created, Compression::default())))
        } else {
            Self::File(created)
        }))
    }

    fn failed(&self, reason: io::Error) -> RunError {
        match self {
            Self::File(file) => file.failed(reason),
            Self::Compressed(encoder) => encoder.get_ref().failed(reason),
            Self::Standard(_) => RunError::Unwritable { file: "standard output".to_owned(), reason },
        }
    }

    fn finish(self) -> Result<(), RunError> {
        match self {
            Self::File(file) => file.finish(),
            Self::Compressed(mut encoder) => match encoder.try_finish() {
                Ok(()) => encoder.finish().expect("the end was written").finish(),
                Err(reason) => Err(encoder.get_ref().failed(reason)),
            },
            Self::Standard(mut out) => {
                out.flush().map_err(|reason| RunError::Unwritable { file: "standard output".to_owned(), reason })
            }
        }
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Compressed(encoder) => encoder.write(bytes),
            Self::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Compressed(encoder) => encoder.flush(),
            Self::Standard(out) => out.flush(),
        }
    }
}

impl<'a> TraceFile<'a> {
    /// Starts a trace of `network` that will be called `file`; the name's end, `.csv`, `.csv.gz` or `.parquet`, gives
    /// the kind. `-` is CSV on standard output.
    ///
    /// # Errors
    /// The file cannot be written, its extension is unknown, or this program cannot write its kind.
    pub fn create(file: &Path, network: &'a Network) -> Result<Self, RunError> {
        let unsupported =
            |problem: &str| RunError::Unsupported { file: file.display().to_string(), problem: problem.into() };
        let out = match file.extension().and_then(|end| end.to_str()) {
            _ if file == Path::new("-") => Out::Csv(Box::new(csv::Writer::from_writer(Text::Standard(io::stdout())))),
            Some("csv") => Out::Csv(Box::new(Text::create(file, false)?)),
            Some("gz") if file.file_stem().is_some_and(|stem| Path::new(stem).extension() == Some("csv".as_ref())) => {
                Out::Csv(Box::new(Text::create(file, true)?))
            }
            #[cfg(feature = "parquet")]
            Some("parquet") => Out::Parquet(AtomicFile::create(file)?),
            #[cfg(not(feature = "parquet"))]
            Some("parquet") => {
                return Err(unsupported(
                    "this program was built without Parquet, expected a .csv file or a program built by \
                     `cargo build --release --features parquet`",
                ));
            }
            _ => {
                return Err(unsupported(
                    "has an unknown extension, expected a name that ends in .csv, .csv.gz or .parquet",
                ));
            }
        };
        Ok(Self { network, filter: Filter::default(), trace: Trace::default(), out, failed: None })
    }

    /// The same trace, of only the events that `filter` keeps.
    #[must_use]
    pub fn filtered(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// Writes the events up to and including `until`, if the file is CSV; Parquet is written at the end. `until` may be
    /// any time that the run has reached.
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

/// The system's error, with its kind: a reader that closes a pipe early is not a failure.
fn io_error(error: csv::Error) -> io::Error {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(reason) => reason,
        _ => io::Error::other(text),
    }
}

impl Recorder for TraceFile<'_> {
    fn record(&mut self, event: &Event) {
        if self.filter.keeps(event) {
            self.trace.record(event);
        }
    }
}
