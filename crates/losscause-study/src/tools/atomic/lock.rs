//! Locks of the operating system on files. A lock ends when its file is closed, at the latest with
//! its process.

use std::fs::File;

/// What came of an attempt to lock a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The file is locked until it is closed.
    Locked,
    /// Another process, or another handle of this one, has locked it.
    Held,
    /// The file's system has no locks.
    Unsupported,
}

/// Locks `file` for this handle alone, without waiting.
#[cfg(any(unix, windows))]
pub fn try_lock(file: &File) -> Attempt {
    // The standard library's `File::try_lock` needs Rust 1.89.
    match fs4::FileExt::try_lock(file) {
        Ok(()) => Attempt::Locked,
        Err(fs4::TryLockError::WouldBlock) => Attempt::Held,
        Err(fs4::TryLockError::Error(_)) => Attempt::Unsupported,
    }
}

/// Locks `file` for this handle alone, without waiting.
#[cfg(not(any(unix, windows)))]
pub fn try_lock(_: &File) -> Attempt {
    Attempt::Unsupported
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_holds_until_its_file_is_closed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let first = File::create(&path).unwrap();
        let second = File::open(&path).unwrap();
        assert_eq!(try_lock(&first), Attempt::Locked);
        assert_eq!(try_lock(&second), Attempt::Held);
        drop(first);
        assert_eq!(try_lock(&second), Attempt::Locked);
    }
}
