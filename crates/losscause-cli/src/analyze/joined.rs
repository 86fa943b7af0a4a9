//! `losscause analyze --sender A --receiver B`: two captures of one transfer.

use std::path::Path;

use losscause_capture::{Analysis, JoinError, Options};
use losscause_study::InputError;

use super::captures::{incomplete, name, open, unusable};
use crate::failure::Failure;
use crate::input;

/// The joined analysis, and a failure if one of the captures ended early.
pub(super) fn analyze(
    sender: &Path,
    receiver: &Path,
    options: &Options,
) -> Result<(Vec<Analysis>, Option<Failure>), Failure> {
    if input::is_standard(sender) && input::is_standard(receiver) {
        let problem = "standard input is the sender's capture already, expected a file";
        return Err(InputError::option("--receiver -", problem).into());
    }
    let names = (name(sender), name(receiver));
    let opened = |file| open(file).map_err(|error| unusable(file, error));
    let sources = (opened(sender)?, opened(receiver)?);
    let joined =
        losscause_capture::analyze_both((sources.0, &names.0), (sources.1, &names.1), options);
    let joined = joined.map_err(|error| match error {
        JoinError::Sender(error) => unusable(sender, error),
        JoinError::Receiver(error) => unusable(receiver, error),
        error => Failure::Join { sender: names.0.clone(), receiver: names.1.clone(), error },
    })?;
    let failure = [&joined.sender, &joined.receiver].into_iter().find_map(incomplete);
    Ok((vec![joined.both], failure))
}
