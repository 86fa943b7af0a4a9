//! The loaded programs, and readers of their verdicts.
//!
//! A program's log has one reader, and its connections may be those of several cells at a time. A
//! thread per program therefore reads, and keeps the verdicts apart by the network namespace of the
//! sender, which each run has for itself.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use losscause_linux::kernel::{
    Algorithm, KernelError, Options, VerdictLog, VerdictRecord, load, unload,
};

use crate::live::LiveError;

/// Verdicts by the inode number of the connection's network namespace.
type Verdicts = Arc<Mutex<HashMap<u32, Vec<VerdictRecord>>>>;

/// Loaded programs; dropping them unloads them.
pub(super) struct Programs(Vec<Program>);

struct Program {
    name: &'static str,
    verdicts: Verdicts,
    over: Arc<AtomicBool>,
    reader: Option<JoinHandle<Result<(), KernelError>>>,
}

/// How long a reader waits for a verdict before it looks whether it is over.
const WAIT: Duration = Duration::from_millis(50);

impl Programs {
    /// Loads all of them, and begins to read. If one fails, those before it are unloaded.
    pub(super) fn load(algorithms: &[&'static Algorithm]) -> Result<Self, LiveError> {
        let mut programs = Self(Vec::new());
        for algorithm in algorithms {
            programs.0.push(Program::load(algorithm)?);
        }
        Ok(programs)
    }

    /// The verdicts of this system in this namespace, which are forgotten. None of a system that is
    /// not loaded.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn verdicts(
        &self,
        system: &str,
        netns: u32,
    ) -> Result<Vec<VerdictRecord>, LiveError> {
        let Some(program) = self.0.iter().find(|program| program.name == system) else {
            return Ok(Vec::new());
        };
        if program.reader.as_ref().is_none_or(JoinHandle::is_finished) {
            return Err(LiveError::Thread);
        }
        // The last verdicts were logged before the connection closed.
        thread::sleep(3 * WAIT);
        Ok(program
            .verdicts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&netns)
            .unwrap_or_default())
    }
}

impl Program {
    fn load(algorithm: &'static Algorithm) -> Result<Self, LiveError> {
        let name = load(&algorithm.settings(), &Options::default())?.name;
        let verdicts = Verdicts::default();
        let over = Arc::new(AtomicBool::new(false));
        let mut program =
            Self { name, verdicts: Arc::clone(&verdicts), over: Arc::clone(&over), reader: None };
        let mut log = VerdictLog::open(name)?;
        let read = move || {
            while !over.load(Ordering::Relaxed) {
                let records = log.wait(WAIT)?;
                let mut verdicts = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
                records
                    .into_iter()
                    .for_each(|record| verdicts.entry(record.netns).or_default().push(record));
            }
            Ok(())
        };
        let reader = thread::Builder::new().name("verdicts".to_owned()).spawn(read);
        let failed = |reason| LiveError::Connection { what: "a thread cannot be started", reason };
        program.reader = Some(reader.map_err(failed)?);
        Ok(program)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        // Somebody else may have unloaded it.
        let _ = unload(self.name, true);
    }
}
