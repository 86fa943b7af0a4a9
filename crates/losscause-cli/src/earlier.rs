//! `--resume` and `--restart`: what becomes of what an interrupted experiment has finished.

use losscause_laboratory::store::Store;
use losscause_study::InputError;

// The options.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Earlier {
    /// Keep what an interrupted one has finished in the directory, and measure the rest.
    #[arg(long)]
    resume: bool,
    /// Drop what an earlier one has finished in the directory, and start anew.
    #[arg(long, conflicts_with = "resume")]
    restart: bool,
}

/// Why the options are refused without a directory.
pub(crate) const NOTHING_KEPT: &str = "nothing is kept without a directory, expected --out DIR";

impl Earlier {
    /// Whether finished cells are kept.
    pub(crate) fn resumes(self) -> bool {
        self.resume
    }

    /// The store that does so.
    pub(crate) fn of(self, store: Store) -> Store {
        match (self.resume, self.restart) {
            (true, _) => store.resuming(),
            (_, true) => store.restarting(),
            (false, false) => store,
        }
    }

    /// Refuses the options where nothing is kept.
    pub(crate) fn refuse(self, problem: &str) -> Result<(), InputError> {
        let option = match (self.resume, self.restart) {
            (true, _) => "--resume",
            (_, true) => "--restart",
            (false, false) => return Ok(()),
        };
        Err(InputError::option(option, problem))
    }
}
