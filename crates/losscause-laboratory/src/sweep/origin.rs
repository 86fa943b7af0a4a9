//! What the results of a sweep depend on. It is kept beside them, so that a sweep is resumed only
//! if it is the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Named, Subject, Sweep};
use losscause_study::RunError;

/// Everything that determines the results of a sweep: the content of `origin.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Origin {
    /// Name and version of the program.
    pub(super) program: String,
    /// The sweep file, as the user named it.
    pub(super) sweep: String,
    /// Runs of every system in every cell.
    runs: u32,
    /// Seed of the first run of every cell.
    seed: u64,
    /// Settings from the command line, each KEY=VALUE.
    set: Vec<String>,
    /// Number of cells, and how they are drawn; none if they are the axes' values, which are in the
    /// sweep file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cells: Option<Drawn>,
    /// What the results of every stack depend on, by name; none if the sweep names no stack.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    stacks: BTreeMap<String, String>,
    /// Hash of every file that the sweep reads, by name.
    pub(super) files: BTreeMap<String, String>,
}

/// The drawn cells of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drawn {
    /// Number of cells.
    count: usize,
    /// Whether more cells begin with these.
    grows: bool,
}

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
                files
                    .insert(self.score.join(" "), hash(fnv1a(format!("{selection:?}").as_bytes())));
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
            program: format!("losscause {}", env!("CARGO_PKG_VERSION")),
            sweep: self.file.clone(),
            runs: self.runs,
            seed: self.seed,
            set: self.set.iter().map(ToString::to_string).collect(),
            cells: self.sampler.drawn().map(|count| Drawn { count, grows: self.sampler.grows() }),
            stacks: self.stacks.iter().map(identity).collect::<Result<_, RunError>>()?,
            files,
        })
    }
}

impl Origin {
    /// What makes the sweep of `self` another one than that of `kept`; none if nothing does.
    pub(super) fn difference(&self, kept: &Self) -> Option<String> {
        if kept.sweep != self.sweep {
            return Some(format!("holds the sweep {}", kept.sweep));
        }
        if kept.program != self.program {
            return Some(format!("was begun by {}, and this is {}", kept.program, self.program));
        }
        if kept.runs != self.runs {
            return Some(format!("was begun with runs {}, not {}", kept.runs, self.runs));
        }
        if kept.seed != self.seed {
            return Some(format!("was begun with seed {}, not {}", kept.seed, self.seed));
        }
        if kept.set != self.set {
            let shown =
                |set: &[String]| if set.is_empty() { "none".to_owned() } else { set.join(" ") };
            return Some(format!(
                "was begun with --set {}, not {}",
                shown(&kept.set),
                shown(&self.set)
            ));
        }
        let other = self.stacks.iter().find_map(|(name, identity)| {
            let had = kept.stacks.get(name).filter(|had| *had != identity)?;
            Some(format!("was begun on the {name} {had}, not {identity}"))
        });
        if other.is_some() {
            return other;
        }
        let count = |origin: &Self| origin.cells.as_ref().map_or(0, |cells| cells.count);
        let had = count(kept);
        let has = count(self);
        match (&kept.cells, &self.cells) {
            (Some(Drawn { grows: true, .. }), Some(Drawn { grows: true, .. })) if had > has => {
                return Some(format!(
                    "was begun with {had} cells, not {has}, which would lose finished ones"
                ));
            }
            (Some(Drawn { grows: false, .. }), Some(Drawn { grows: false, .. })) if had != has => {
                let why = "a Latin hypercube of another number of cells has none of them";
                return Some(format!("was begun with {had} cells, not {has}, and {why}"));
            }
            _ => {}
        }
        let is_new = |file: &String| has > had && !kept.files.contains_key(file);
        let changed = self
            .files
            .iter()
            .find(|(file, hash)| kept.files.get(*file) != Some(hash) && !is_new(file));
        let gone = || kept.files.iter().find(|(file, _)| !self.files.contains_key(*file));
        changed.or_else(gone).map(|(file, _)| format!("was begun before {file} was changed"))
    }
}

/// A hash that does not depend on the version of the compiler.
pub(super) fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = losscause_study::files::watched::Hash::default();
    hash.take(bytes);
    hash.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(count: usize, grows: bool) -> Option<Drawn> {
        Some(Drawn { count, grows })
    }

    #[test]
    fn every_difference_is_named() {
        let origin = Origin {
            program: "losscause 1".into(),
            sweep: "s.toml".into(),
            runs: 2,
            seed: 1,
            set: vec![],
            cells: cells(5, true),
            stacks: [("kernel".to_owned(), "Linux 1".to_owned())].into(),
            files: [("s.toml".to_owned(), "a".to_owned())].into(),
        };
        let told = |change: fn(&mut Origin)| {
            let mut other = origin.clone();
            change(&mut other);
            other.difference(&origin).unwrap_or_default()
        };
        assert_eq!(told(|_| ()), "");
        assert_eq!(
            told(|o| o.program = "losscause 2".into()),
            "was begun by losscause 1, and this is losscause 2"
        );
        assert_eq!(told(|o| o.sweep = "t.toml".into()), "holds the sweep s.toml");
        assert_eq!(told(|o| o.runs = 3), "was begun with runs 2, not 3");
        assert_eq!(told(|o| o.seed = 9), "was begun with seed 1, not 9");
        assert_eq!(told(|o| o.set = vec!["N=4".into()]), "was begun with --set none, not N=4");
        let other = |o: &mut Origin| _ = o.stacks.insert("kernel".into(), "Linux 2".into());
        assert_eq!(told(other), "was begun on the kernel Linux 1, not Linux 2");
        let change = |o: &mut Origin| _ = o.files.insert("s.toml".into(), "b".into());
        assert_eq!(told(change), "was begun before s.toml was changed");
        assert_eq!(told(|o| o.files.clear()), "was begun before s.toml was changed");
        assert_eq!(
            told(|o| o.cells = cells(4, true)),
            "was begun with 5 cells, not 4, which would lose finished ones"
        );
        let more = |o: &mut Origin| {
            o.cells = cells(6, true);
            o.files.insert("trace.txt".into(), "c".into());
        };
        assert_eq!(told(more), "", "more cells may read more files");
        let other = Origin { cells: cells(9, false), ..origin.clone() };
        let kept = Origin { cells: cells(5, false), ..origin };
        assert_eq!(
            other.difference(&kept).unwrap(),
            "was begun with 5 cells, not 9, and a Latin hypercube of another number of cells has none of them"
        );
    }
}
