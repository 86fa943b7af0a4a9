//! A lock on a file: around the pins of loaded programs, or of the one watch. It ends with its
//! process.

use std::fs::{OpenOptions, create_dir_all};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::KernelError;

/// The file that is locked. Only root can open it, so no other user can keep root waiting.
const LOCK: &str = "/run/losscause-kernel.lock";
/// A load takes less than a second.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// The right to change or to read the pins, or to watch, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: Flock<std::fs::File>,
}

impl Lock {
    /// For a process that changes the pins.
    ///
    /// # Errors
    /// Another process keeps the lock for longer than a load takes.
    pub(super) fn to_change() -> Result<Self, KernelError> {
        Self::take(Path::new(LOCK), FlockArg::LockExclusiveNonblock, PATIENCE)
    }

    /// For one that reads them: several can.
    ///
    /// # Errors
    /// As [`Lock::to_change`].
    pub(super) fn to_read() -> Result<Self, KernelError> {
        Self::take(Path::new(LOCK), FlockArg::LockSharedNonblock, PATIENCE)
    }

    /// For a process that is the only one to have this file's lock.
    ///
    /// # Errors
    /// [`KernelError::Busy`] if another has it, or the file cannot be opened.
    pub(crate) fn alone(path: &Path) -> Result<Self, KernelError> {
        Self::take(path, FlockArg::LockExclusiveNonblock, Duration::ZERO)
    }

    fn take(path: &Path, how: FlockArg, patience: Duration) -> Result<Self, KernelError> {
        let failed = |reason| KernelError::File { file: path.display().to_string(), reason };
        // A root without `/run` has no other process that could have made it.
        if let Some(folder) = path.parent() {
            create_dir_all(folder).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let mut file = options.open(path).map_err(failed)?;
        let begun = Instant::now();
        loop {
            match Flock::lock(file, how) {
                Ok(file) => return Ok(Self { _file: file }),
                Err((back, Errno::EAGAIN)) if begun.elapsed() < patience => file = back,
                Err((_, Errno::EAGAIN)) => return Err(KernelError::Busy),
                Err((_, errno)) => return Err(failed(errno.into())),
            }
            sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_the_lock_and_a_writer_has_it_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run/lock");
        let take = |how| Lock::take(&path, how, Duration::ZERO);
        let readers = [FlockArg::LockSharedNonblock; 2].map(|how| take(how).expect("shared"));
        let refused = take(FlockArg::LockExclusiveNonblock).expect_err("there are readers");
        assert_eq!(
            refused.to_string(),
            "the kernel's programs are in use by another process of losscause"
        );
        assert!(refused.is_bad_input());
        drop(readers);
        let writer = take(FlockArg::LockExclusiveNonblock).expect("nobody has it");
        assert!(matches!(take(FlockArg::LockSharedNonblock), Err(KernelError::Busy)));
        assert!(matches!(Lock::alone(&path), Err(KernelError::Busy)));
        drop(writer);
        assert!(take(FlockArg::LockSharedNonblock).is_ok() && Lock::alone(&path).is_ok());
    }
}
