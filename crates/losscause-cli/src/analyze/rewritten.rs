//! `losscause analyze --annotate FILE` and `--share FILE`: the capture once more, with comments, or
//! as headers without names.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use losscause_capture::{Analysis, Options, RewriteError};
use losscause_study::InputError;
use losscause_study::tools::atomic::AtomicFile;

use super::captures::{open, unusable};
use crate::failure::Failure;
use crate::input;
use crate::notice;

/// Refuses what cannot be read a second time.
pub(super) fn check(option: &str, out: &Path, captures: &[PathBuf]) -> Result<(), InputError> {
    let problem = match captures {
        [file] => match input::is_read_once(file) {
            Some(what) => {
                format!("reads the capture twice, which {what} cannot be, expected a file")
            }
            None => return Ok(()),
        },
        more => format!("writes one capture again, expected one instead of {}", more.len()),
    };
    Err(InputError::option(format!("{option} {}", out.display()), problem))
}

/// The capture with comments, without its name yet.
pub(super) fn annotate(
    capture: &Path,
    analysis: &Analysis,
    out: &Path,
) -> Result<AtomicFile, Failure> {
    let (comments, file) =
        write(capture, out, |source, out| losscause_capture::annotate(source, analysis, out))?;
    let have = if comments == 1 { "packet has" } else { "packets have" };
    notice::print(&format!("{}: {comments} {have} a comment", out.display()));
    Ok(file)
}

/// The capture's headers with other addresses and ports, without the file's name yet.
pub(super) fn share(
    capture: &Path,
    analysis: &Analysis,
    options: &Options,
    out: &Path,
) -> Result<AtomicFile, Failure> {
    // The standard library draws the keys of its hashes at random.
    let key = RandomState::new().hash_one(());
    let (shared, file) = write(capture, out, |source, out| {
        losscause_capture::share(source, analysis, options, key, out)
    })?;
    notice::print(&format!("{}: {}", out.display(), shared.told()));
    Ok(file)
}

fn write<T>(
    capture: &Path,
    out: &Path,
    rewrite: impl FnOnce(Box<dyn io::Read>, &mut AtomicFile) -> Result<T, RewriteError>,
) -> Result<(T, AtomicFile), Failure> {
    let source = open(capture).map_err(|error| unusable(capture, error))?;
    let mut file = AtomicFile::create(out)?;
    match rewrite(source, &mut file) {
        Ok(written) => Ok((written, file)),
        Err(RewriteError::Capture(error)) => Err(unusable(capture, error)),
        Err(RewriteError::Write(reason)) => Err(file.failed(reason).into()),
        Err(error) => Err(file.failed(io::Error::other(error)).into()),
    }
}
