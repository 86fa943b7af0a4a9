//! Which tables and figures are measured, and how often each system is run.

use std::collections::BTreeSet;

use crate::InputError;
use crate::papers::record::{self, ItemSpec, Paper};

/// Tables and figures to measure.
#[derive(Clone, Debug)]
pub struct Selection(Vec<(&'static Paper, &'static ItemSpec)>);

impl Selection {
    /// The scenario files of the papers that tables and figures were chosen of.
    pub fn scenarios(&self) -> BTreeSet<&'static str> {
        self.0.iter().flat_map(|(paper, _)| paper.scenarios().iter().map(|scenario| scenario.name)).collect()
    }

    /// All items of a paper that is not among those of the program.
    #[cfg(test)]
    pub(super) fn of(paper: &'static Paper) -> Self {
        Self(paper.items().item.iter().map(|item| (paper, item)).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static Paper, &'static ItemSpec)> {
        self.0.iter().copied()
    }

    /// Reads names, each PAPER or PAPER/ITEM; no name at all stands for all that was published. An item that is measured on demand
    /// is chosen by its own name only. An item of several parts ("figure13-WLH",
    /// "figure13-WB") goes by its own name, too.
    ///
    /// # Errors
    /// A paper or item is unknown; the error names the nearest.
    pub fn parse<S: AsRef<str>>(names: &[S]) -> Result<Self, InputError> {
        let mut chosen: Vec<(&'static Paper, &'static ItemSpec)> = Vec::new();
        let mut add = |paper: &'static Paper, item: &'static ItemSpec| {
            if !chosen.iter().any(|(_, known)| std::ptr::eq(*known, item)) {
                chosen.push((paper, item));
            }
        };
        for name in names {
            let (paper, item) = name.as_ref().split_once('/').map_or((name.as_ref(), None), |(p, i)| (p, Some(i)));
            let paper = record::find(paper)?;
            match item {
                Some(item) => paper.items_called(item)?.into_iter().for_each(|item| add(paper, item)),
                None => of_whole(paper).for_each(|item| add(paper, item)),
            }
        }
        if names.is_empty() {
            let published = record::all().iter().filter(|paper| paper.is_published());
            published.for_each(|paper| of_whole(paper).for_each(|item| add(paper, item)));
        }
        Ok(Self(chosen))
    }
}

/// What is measured with the whole paper.
fn of_whole(paper: &'static Paper) -> impl Iterator<Item = &'static ItemSpec> {
    paper.items().item.iter().filter(|item| !item.on_demand)
}

/// How often each system is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetitions {
    /// As often as the paper did; of single runs as many as the paper's items say, for a number is then held against the spread of
    /// one run, which takes several to know.
    AsPublished,
    /// Less often, as the paper's items say: for a first look.
    Quick,
    /// So often.
    Exactly(u32),
}

/// Most runs of a system: each is kept in memory until all are made.
pub const MOST_RUNS: u32 = 10_000;

impl Repetitions {
    /// `runs` runs.
    ///
    /// # Errors
    /// Without a run nothing is measured; and there is a largest number ([`MOST_RUNS`]).
    pub fn exactly(runs: u32) -> Result<Self, InputError> {
        let problem = match runs {
            0 => "nothing would be measured, expected 1 or more".to_owned(),
            1..=MOST_RUNS => return Ok(Self::Exactly(runs)),
            _ => format!("expected at most {MOST_RUNS}"),
        };
        Err(InputError::Option { option: format!("--runs {runs}"), problem })
    }

    pub(super) fn of(self, paper: &Paper) -> u32 {
        match self {
            Self::AsPublished if paper.published().repetitions > 1 => paper.published().repetitions,
            Self::AsPublished | Self::Quick => paper.items().quick_runs,
            Self::Exactly(runs) => runs,
        }
    }
}
