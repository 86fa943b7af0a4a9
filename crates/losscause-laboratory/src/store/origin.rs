//! What the results of an experiment depend on. It is kept beside its finished cells, so that it is
//! resumed only if it is the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything that determines the results: the content of `origin.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    /// Name, version and commit of the program.
    pub(crate) program: String,
    /// Which kind of experiment it is.
    pub(crate) experiment: Kind,
    /// What is measured: the sweep file, or the items of papers, as the user named them.
    pub(crate) of: String,
    /// Runs of every system in every cell; none if each paper says how many.
    pub(crate) runs: Option<u32>,
    /// Seed of the first run of every cell.
    pub(crate) seed: u64,
    /// Settings of every cell, each KEY=VALUE.
    pub(crate) set: Vec<String>,
    /// Number of cells, and how they are drawn; none if the files list them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cells: Option<Drawn>,
    /// What the results of every stack depend on, by name; none of the simulator alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) stacks: BTreeMap<String, String>,
    /// Hash of every file that the experiment reads, by name.
    pub(crate) files: BTreeMap<String, String>,
}

/// The experiments that keep finished cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A sweep file.
    Sweep,
    /// Items of papers, or of experiments on real stacks.
    Reproduction,
    /// Variants of a scenario.
    Comparison,
}

/// The drawn cells of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drawn {
    /// Number of cells.
    pub(crate) count: usize,
    /// Whether more cells begin with these.
    pub(crate) grows: bool,
}

impl Kind {
    /// Of which the finished cells in a directory are.
    pub(super) fn this(self) -> &'static str {
        match self {
            Self::Sweep => "cells of this sweep",
            Self::Reproduction => "runs of this reproduction",
            Self::Comparison => "runs of this comparison",
        }
    }

    /// What was expected in the place of another experiment.
    pub(super) fn same(self) -> &'static str {
        match self {
            Self::Sweep => "the same sweep; --restart drops its cells and starts anew",
            Self::Reproduction => "the same reproduction; --restart drops its runs and starts anew",
            Self::Comparison => "the same comparison; --restart drops its runs and starts anew",
        }
    }
}

impl Origin {
    /// Whether both measure the same, though perhaps in another way.
    pub(super) fn is_of_the_same(&self, kept: &Self) -> bool {
        (self.experiment, &self.of) == (kept.experiment, &kept.of)
    }

    /// What makes the experiment of `self` another one than that of `kept`; none if nothing does.
    pub(super) fn difference(&self, kept: &Self) -> Option<String> {
        if !self.is_of_the_same(kept) {
            let what = match kept.experiment {
                Kind::Sweep => "sweep",
                Kind::Reproduction => "reproduction of",
                Kind::Comparison => "comparison",
            };
            return Some(format!("holds the {what} {}", kept.of));
        }
        if kept.program != self.program {
            return Some(format!("was begun by {}, and this is {}", kept.program, self.program));
        }
        if kept.runs != self.runs {
            let shown =
                |runs: Option<u32>| runs.map_or("as published".to_owned(), |n| n.to_string());
            return Some(format!(
                "was begun with runs {}, not {}",
                shown(kept.runs),
                shown(self.runs)
            ));
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
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
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
            experiment: Kind::Sweep,
            of: "s.toml".into(),
            runs: Some(2),
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
        assert_eq!(told(|o| o.of = "t.toml".into()), "holds the sweep s.toml");
        assert_eq!(told(|o| o.experiment = Kind::Reproduction), "holds the sweep s.toml");
        assert_eq!(told(|o| o.runs = Some(3)), "was begun with runs 2, not 3");
        assert_eq!(told(|o| o.runs = None), "was begun with runs 2, not as published");
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
