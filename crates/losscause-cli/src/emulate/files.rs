//! The files that `emulate` writes. They appear when the run is over.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use losscause_linux::emulator::Outputs;
use losscause_study::tools::atomic::folder::Hold;
use losscause_study::tools::atomic::{AtomicFile, finish_together};
use losscause_study::{RunError, capture_files};

const SENDER: &str = "sender.pcap";
const RECEIVER: &str = "receiver.pcap";
const DROPS: &str = "drops.csv";

/// The files of `--pcap`.
pub(super) fn in_directory(directory: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    directory
        .into_iter()
        .flat_map(|directory| [SENDER, RECEIVER, DROPS].map(|name| directory.join(name)))
}

/// The files under construction.
pub(super) struct Files {
    sender: Option<Shared>,
    receiver: Option<Shared>,
    /// The log of drops may be written to two files.
    logs: Vec<Shared>,
    /// No other process writes to the directory.
    _hold: Option<Hold>,
}

/// A file that the emulator writes, and that is finished here.
#[derive(Clone)]
struct Shared(Arc<Mutex<AtomicFile>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// Writes the same to all files.
struct All(Vec<Shared>);

impl Write for All {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.iter_mut().try_for_each(|file| file.write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.iter_mut().try_for_each(Write::flush)
    }
}

impl Files {
    /// Starts the files.
    pub(super) fn create(directory: Option<&Path>, log: Option<&Path>) -> Result<Self, RunError> {
        let create = |file: &Path| {
            Ok::<_, RunError>(Shared(Arc::new(Mutex::new(AtomicFile::create(file)?))))
        };
        // A run with real programs cannot be repeated, so earlier captures are kept.
        let hold =
            directory.map(|directory| capture_files::prepare(directory, None)).transpose()?;
        let captured =
            |name: &str| directory.map(|directory| create(&directory.join(name))).transpose();
        let logs = log.map(create).transpose()?;
        Ok(Self {
            sender: captured(SENDER)?,
            receiver: captured(RECEIVER)?,
            logs: logs.into_iter().chain(captured(DROPS)?).collect(),
            _hold: hold,
        })
    }

    /// What the emulator writes to.
    pub(super) fn outputs(&self) -> Outputs {
        let boxed = |file: &Option<Shared>| {
            file.clone().map(|file| Box::new(file) as Box<dyn Write + Send>)
        };
        let log = (!self.logs.is_empty())
            .then(|| Box::new(All(self.logs.clone())) as Box<dyn Write + Send>);
        Outputs { log, sender: boxed(&self.sender), peer: boxed(&self.receiver) }
    }

    /// Gives the files their names, after the run.
    pub(super) fn finish(self) -> Result<(), RunError> {
        let Self { sender, receiver, logs, _hold } = self;
        let files = sender.into_iter().chain(receiver).chain(logs);
        // The emulator has let go of them: its recorder has ended.
        let files = files.filter_map(|Shared(file)| Arc::into_inner(file));
        let files = files.map(|file| file.into_inner().unwrap_or_else(PoisonError::into_inner));
        finish_together(files.collect())
    }
}
