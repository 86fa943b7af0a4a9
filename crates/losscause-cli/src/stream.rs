//! `losscause stream`: media over UDP, at TFRC's rate, with loss differentiation at the receiver.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use losscause::Span;
use losscause::registry::Registry;
use losscause_media::{ConfigError, Key, net};
use losscause_study::InputError;
use losscause_study::files::{self, Disk};

use crate::failure::{Failure, StreamError};
use crate::output;

mod receive;
mod send;
mod show;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Print a fresh key. Both ends need the same one.
    Key,
    /// Send a file, or a paced stream of made-up packets, to a receiver.
    Send(send::Arguments),
    /// Wait for one stream, and write it to a file.
    Receive(receive::Arguments),
}

/// Where the key comes from. It is never an argument, because other users can see those.
#[derive(Debug, clap::Args)]
struct KeyOption {
    /// A file with the key that `losscause stream key` printed [default: the variable
    /// LOSSCAUSE_STREAM_KEY]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments, registry: &Registry) -> Result<(), Failure> {
    match &arguments.verb {
        Verb::Key => Ok(output::line(&net::fresh_key().map_err(StreamError::Net)?.to_hex())?),
        Verb::Send(arguments) => send::run(arguments),
        Verb::Receive(arguments) => receive::run(arguments, registry),
    }
}

const VARIABLE: &str = "LOSSCAUSE_STREAM_KEY";

impl KeyOption {
    fn key(&self) -> Result<Key, InputError> {
        key(self.key_file.as_deref(), std::env::var_os(VARIABLE).as_deref())
    }
}

/// The key in the file, or else in the variable.
fn key(file: Option<&Path>, variable: Option<&OsStr>) -> Result<Key, InputError> {
    const KEY: &str = "a key as `losscause stream key` prints it";
    if let Some(file) = file {
        let text = files::text(&Disk, file, files::LARGEST_DOCUMENT, KEY)?;
        let file = || file.display().to_string();
        return Key::parse(&text).map_err(|error| InputError::option(file(), error.to_string()));
    }
    let option = VARIABLE.to_owned();
    match variable {
        Some(text) => Key::parse(&text.to_string_lossy())
            .map_err(|error| InputError::option(option, error.to_string())),
        None => {
            let problem = format!("is not set, and there is no --key-file, expected {KEY}");
            Err(InputError::option(option, problem))
        }
    }
}

/// A setting that the library refuses, by the name of its option.
fn refused(error: &ConfigError) -> InputError {
    let option = match &error {
        ConfigError::PacketBytes(_) => "--packet-bytes",
        ConfigError::MaxRate { .. } => "--max-rate",
        ConfigError::Patience(_) => "--patience",
        ConfigError::UnknownLda { .. } | ConfigError::Algorithm(_) => "--lda",
        ConfigError::QueuePkts(_) => "the queue",
    };
    InputError::option(option, error.to_string())
}

/// Seconds of an option as a span; what is too long becomes the longest span there is.
fn span(secs: f64) -> Span {
    Span::from_secs_f64_rounded(secs)
}

/// Runs `work` on this thread, with sockets and timers.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    runtime.map_err(StreamError::Runtime)?.block_on(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_from_the_file_or_the_variable_and_never_shown() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("key");
        let text = "5".repeat(64);
        std::fs::write(&file, format!("{text}\n")).unwrap();
        assert_eq!(key(Some(&file), Some(OsStr::new("x"))).unwrap().to_hex(), text);
        assert_eq!(key(None, Some(OsStr::new(&text))).unwrap().to_hex(), text);
        let error = |file: Option<&Path>, variable: &str| {
            key(file, Some(OsStr::new(variable)).filter(|text| !text.is_empty()))
                .unwrap_err()
                .to_string()
        };
        let expected =
            "is no key, expected 64 hexadecimal digits as `losscause stream key` prints them";
        assert_eq!(error(None, "secret"), format!("LOSSCAUSE_STREAM_KEY: {expected}"));
        std::fs::write(&file, "secret").unwrap();
        assert_eq!(error(Some(&file), ""), format!("{}: {expected}", file.display()));
        assert!(error(None, "").starts_with("LOSSCAUSE_STREAM_KEY: is not set"));
        assert!(error(Some(&place.path().join("none")), "").contains("there is no such file"));
    }
}
