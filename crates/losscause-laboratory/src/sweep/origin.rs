//! What the results of a sweep depend on.

use std::collections::BTreeMap;

use super::{Named, Subject, Sweep};
use crate::store::{Drawn, Kind, Origin, program};
use losscause_study::RunError;

impl Sweep {
    /// Everything that determines the results, once all cells were checked: only then all files
    /// have been read.
    ///
    /// # Errors
    /// This machine or this program cannot run one of its stacks.
    pub(super) fn origin(&self) -> Result<Origin, RunError> {
        let hash = |hash: u64| format!("{hash:016x}");
        let mut files = BTreeMap::from([(self.file.clone(), hash(self.content))]);
        match &self.subject {
            Subject::Items(selection) => {
                // The papers' data are part of the program, which may be compiled with other data.
                files.insert(self.score.join(" "), hash(selection.content()));
            }
            Subject::Scenario(subject) => {
                files.insert(subject.scenario.file().to_owned(), hash(subject.content));
                files.extend(
                    subject.read.hashes().into_iter().map(|(file, found)| (file, hash(found))),
                );
            }
        }
        let identity = |named: &Named| Ok((named.name.to_owned(), named.stack()?.identity()));
        Ok(Origin {
            program: program(),
            experiment: Kind::Sweep,
            of: self.file.clone(),
            runs: Some(self.runs),
            seed: self.seed,
            set: self.set.iter().map(ToString::to_string).collect(),
            cells: self.sampler.drawn().map(|count| Drawn { count, grows: self.sampler.grows() }),
            stacks: self.stacks.iter().map(identity).collect::<Result<_, RunError>>()?,
            files,
        })
    }
}
