//! Transfers side by side.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Result, bail};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::tools::Tool;

/// Installs what transfers need, and returns what an interrupt sets.
pub(crate) fn prepare() -> Result<Arc<AtomicBool>> {
    Tool::OwnNetworks.ensure()?;
    Tool::Tcpdump.ensure()?;
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, interrupted.clone())?;
    }
    Ok(interrupted)
}

/// Does `work` for all of these, `jobs` at a time, and returns what it returned, in any order. Ends
/// with the first that fails.
pub(crate) fn each<T: Send, R: Send>(
    all: impl Iterator<Item = T> + Send,
    jobs: usize,
    interrupted: &AtomicBool,
    work: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let waiting = Mutex::new(all.fuse());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let worker = || -> Result<Vec<R>> {
        let mut done = Vec::new();
        while let Some(one) = next() {
            let result = work(one);
            if result.is_err() {
                // The others need not begin.
                while next().is_some() {}
            }
            done.push(result?);
        }
        Ok(done)
    };
    let done = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(worker)).collect();
        let ended = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| bail!("a thread panicked")));
        ended.collect::<Result<Vec<_>>>()
    })?;
    if interrupted.load(Ordering::Relaxed) {
        bail!("interrupted");
    }
    Ok(done.into_iter().flatten().collect())
}
