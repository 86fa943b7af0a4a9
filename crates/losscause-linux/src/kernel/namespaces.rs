//! The network namespaces of this machine: those of its processes, and those that are mounted as
//! files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns};

use super::{KernelError, machine};

/// The mounts that the calling process sees.
const MOUNTS: &str = "/proc/thread-self/mountinfo";

/// Moves the calling thread to every network namespace in turn, and calls `visit` there. The thread
/// stays in the last one.
///
/// # Errors
/// The kernel's files cannot be read, it refuses to enter a namespace, or `visit` fails. A process
/// or a namespace that ends meanwhile is no error, nor is a process that may not be inspected.
pub(super) fn visit_each(
    mut visit: impl FnMut() -> Result<(), KernelError>,
) -> Result<(), KernelError> {
    let mut seen = BTreeSet::new();
    let mut enter = |file: &Path, expected: Option<u64>| {
        let failed = |reason| KernelError::File { file: file.display().to_string(), reason };
        let Some(inode) =
            reachable(fs::metadata(file)).map_err(failed)?.map(|metadata| metadata.ino())
        else {
            return Ok(());
        };
        // Something else may be mounted over it.
        if expected.is_some_and(|expected| expected != inode) || !seen.insert(inode) {
            return Ok(());
        }
        let Some(namespace) = reachable(File::open(file)).map_err(failed)? else {
            // Another file may lead to it.
            seen.remove(&inode);
            return Ok(());
        };
        setns(namespace, CloneFlags::CLONE_NEWNET).map_err(|errno| failed(errno.into()))?;
        visit()
    };
    for process in numbered(Path::new("/proc"))? {
        for thread in numbered(&process.join("task"))? {
            enter(&thread.join("ns/net"), None)?;
        }
    }
    let mounts = fs::read_to_string(MOUNTS);
    let mounts = mounts.map_err(|reason| KernelError::File { file: MOUNTS.to_owned(), reason })?;
    for (inode, mount_point) in mounts.lines().filter_map(mounted) {
        enter(&mount_point, Some(inode))?;
    }
    Ok(())
}

/// The network namespaces whose new connections use `name` by default: "this network namespace", and
/// others as `/proc/PID/ns/net` links to them.
///
/// # Errors
/// As [`visit_each`].
pub(super) fn with_default(name: &str) -> Result<Vec<String>, KernelError> {
    let own = current()?;
    in_a_thread("the network namespaces", || {
        let mut found = Vec::new();
        visit_each(|| {
            if machine::default_control()? == name {
                let namespace = current()?;
                let is_own = namespace == own;
                found.push(if is_own { "this network namespace".to_owned() } else { namespace });
            }
            Ok(())
        })?;
        Ok(found)
    })
}

/// The calling thread's network namespace, such as `net:[4026531840]`.
fn current() -> Result<String, KernelError> {
    let file = "/proc/thread-self/ns/net";
    let link = fs::read_link(file);
    let link = link.map_err(|reason| KernelError::File { file: file.to_owned(), reason })?;
    Ok(link.display().to_string())
}

/// Runs `read` in a thread of its own, because it moves from namespace to namespace. `what` is read.
///
/// # Errors
/// No thread can be started, or `read` fails.
pub(super) fn in_a_thread<T: Send>(
    what: &str,
    read: impl FnOnce() -> Result<T, KernelError> + Send,
) -> Result<T, KernelError> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, read);
        let thread =
            thread.map_err(|reason| KernelError::File { file: what.to_owned(), reason })?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// The entries of a folder of `/proc` that are numbers; none if the process is gone.
fn numbered(dir: &Path) -> Result<Vec<PathBuf>, KernelError> {
    let failed = |reason| KernelError::File { file: dir.display().to_string(), reason };
    let is_numbered = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes()[0].is_ascii_digit())
    };
    let Some(entries) = reachable(fs::read_dir(dir)).map_err(failed)? else {
        return Ok(Vec::new());
    };
    let paths = entries.filter_map(|entry| {
        reachable(entry).transpose().map(|entry| entry.map(|entry| entry.path()))
    });
    paths
        .filter(|path| path.as_ref().map_or(true, is_numbered))
        .collect::<io::Result<_>>()
        .map_err(failed)
}

/// None if what was read is gone, the process or the file; or if it belongs to a process that this
/// one may not inspect, as some machines protect their first process even from root.
fn reachable<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(None)
        }
        Err(error) if error.raw_os_error() == Some(Errno::ESRCH as i32) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The inode number and the mount point of a network namespace, from a line of
/// `/proc/PID/mountinfo` (proc(5)).
fn mounted(line: &str) -> Option<(u64, PathBuf)> {
    let mut fields = line.split(' ').skip(3);
    let root = fields.next()?;
    let mount_point = fields.next()?;
    let inode = root.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()?;
    Some((inode, unescaped(mount_point)))
}

/// A path of `/proc/PID/mountinfo`: a space, a tab, a newline and a backslash are written as octal
/// numbers of three digits.
fn unescaped(path: &str) -> PathBuf {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes
        .iter()
        .fold(path.to_owned(), |path, (escape, character)| path.replace(escape, character))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mounted_network_namespace_is_found_in_the_list_of_mounts() {
        let line =
            "541 29 0:4 net:[4026532573] /run/netns/two\\040words rw shared:231 - nsfs nsfs rw";
        assert_eq!(mounted(line), Some((4_026_532_573, "/run/netns/two words".into())));
        for other in [
            "542 29 0:4 mnt:[4026532574] /run/snapd/ns/lxd.mnt rw - nsfs nsfs rw",
            "29 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw",
            "29 1 254:0 /net:[ /",
            "",
        ] {
            assert_eq!(mounted(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_gone_or_hidden_is_no_error() {
        assert!(reachable(File::open("/proc/0/ns/net")).unwrap().is_none());
        assert!(reachable::<()>(Err(Errno::ESRCH.into())).unwrap().is_none());
        assert!(reachable::<()>(Err(Errno::EACCES.into())).unwrap().is_none());
        assert!(reachable::<()>(Err(Errno::EMFILE.into())).is_err());
        assert_eq!(numbered(Path::new("/proc/0/task")).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_own_process_has_a_number() {
        let own = Path::new("/proc").join(std::process::id().to_string());
        let processes = numbered(Path::new("/proc")).unwrap();
        assert!(processes.contains(&own));
        assert!(processes.iter().all(|process| process.is_dir() || !process.exists()));
    }
}
