//! Which tables and figures are measured, and how often each system is run.

use std::collections::{BTreeMap, BTreeSet};

use super::only::{self, Only};
use crate::papers::record::{self, ItemSpec, Paper, Parameters};
use crate::store::fnv1a;
use losscause_study::origin::options;
use losscause_study::{InputError, Limits};

/// Tables and figures to measure, and algorithms that run beside the papers' in them.
#[derive(Clone, Debug)]
pub struct Selection {
    entries: Vec<(&'static Paper, &'static ItemSpec)>,
    beside: Vec<String>,
    only: Vec<Only>,
    on_stacks: bool,
}

/// Most tables and figures that are named one by one.
const MOST_NAMES: usize = 4;

/// Stands for all items of a record that are measured on demand.
const FULL: &str = "full";

impl Selection {
    /// The scenario files of the papers whose tables and figures are selected.
    pub fn scenarios(&self) -> BTreeSet<&'static str> {
        self.entries
            .iter()
            .flat_map(|(paper, _)| paper.scenarios().iter().map(|scenario| scenario.name))
            .collect()
    }

    /// All items of a paper, also those that are measured on demand.
    pub fn every_item(paper: &'static Paper) -> Self {
        Self::of_entries(paper.items().item.iter().map(|item| (paper, item)).collect())
    }

    pub(super) fn of_entries(entries: Vec<(&'static Paper, &'static ItemSpec)>) -> Self {
        Self { entries, beside: vec![], only: vec![], on_stacks: false }
    }

    /// The same selection with algorithms, by their names in the registry, that run in every table
    /// and figure in the place of the published ones. Their values stand beside the papers' and are
    /// never scored.
    #[must_use]
    pub fn beside<S: AsRef<str>>(self, algorithms: &[S]) -> Self {
        Self { beside: algorithms.iter().map(|name| name.as_ref().to_owned()).collect(), ..self }
    }

    /// The same selection, of which these filters leave some systems and values of parameters.
    /// Tables without a filter's parameter are measured in full.
    ///
    /// # Errors
    /// A filter names a key or system that no chosen item has, or together they leave nothing.
    pub fn only(self, filters: Vec<Only>) -> Result<Self, InputError> {
        let items: Vec<&ItemSpec> = self.entries.iter().map(|(_, item)| *item).collect();
        only::check(&items, &filters)?;
        Ok(Self { only: filters, ..self })
    }

    /// The same selection, to be run by stacks ([`Plan::execute_on`]): a stack may know more about a
    /// system than its scenario says, so no two systems or parameters share runs.
    ///
    /// [`Plan::execute_on`]: super::Plan::execute_on
    #[must_use]
    pub fn on_stacks(self) -> Self {
        Self { on_stacks: true, ..self }
    }

    pub(super) fn is_on_stacks(&self) -> bool {
        self.on_stacks
    }

    /// The selection as the command takes it.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        let names = self.entries.iter().map(|(paper, item)| format!("{}/{}", paper.key(), item.id));
        let beside = Some(self.beside.join(",")).filter(|_| !self.beside.is_empty());
        names.chain(options("--only", &self.only)).chain(options("--also", beside))
    }

    /// The selection in words: `cen2003/table2 cen2003/table3 with system=ZBS also Spike`.
    pub(super) fn in_words(&self) -> String {
        let name = |(paper, item): &(&Paper, &ItemSpec)| format!("{}/{}", paper.key(), item.id);
        let mut words: Vec<String> = match self.entries.as_slice() {
            [first, .., last] if self.entries.len() > MOST_NAMES => {
                let count = self.entries.len();
                vec![format!("{count} tables and figures from {} to {}", name(first), name(last))]
            }
            few => few.iter().map(name).collect(),
        };
        words.extend(self.only.iter().map(|only| format!("with {only}")));
        words.extend(self.beside.iter().map(|algorithm| format!("also {algorithm}")));
        words.join(" ")
    }

    /// A hash of what the records say of the selected items.
    pub(crate) fn content(&self) -> u64 {
        let records: BTreeMap<&str, _> =
            self.entries.iter().map(|(paper, _)| (paper.key(), paper.texts())).collect();
        let items: Vec<&String> = self.entries.iter().map(|(_, item)| &item.id).collect();
        let Self { beside, only, on_stacks, .. } = self;
        fnv1a(format!("{records:?} {items:?} {beside:?} {only:?} {on_stacks}").as_bytes())
    }

    /// Whether filters leave a part only.
    pub(super) fn is_filtered(&self) -> bool {
        !self.only.is_empty()
    }

    /// The systems of an item that are measured at these parameters, in the item's order.
    pub(super) fn systems<'a>(
        &'a self,
        item: &'a ItemSpec,
        at: &'a Parameters,
    ) -> impl Iterator<Item = &'a String> {
        only::systems(&self.only, item, at)
    }

    /// The algorithms that run beside the papers'.
    pub(super) fn algorithms_beside(&self) -> &[String] {
        &self.beside
    }

    /// The same entries in the order of the papers' records.
    pub(super) fn in_papers_order(entries: &[(&'static Paper, &'static ItemSpec)]) -> Self {
        let is_chosen =
            |item: &ItemSpec| entries.iter().any(|(_, chosen)| std::ptr::eq(*chosen, item));
        let of_paper =
            |paper: &'static Paper| paper.items().item.iter().map(move |item| (paper, item));
        Self::of_entries(
            record::all().iter().flat_map(of_paper).filter(|(_, item)| is_chosen(item)).collect(),
        )
    }

    /// Number of tables and figures.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it names none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static Paper, &'static ItemSpec)> {
        self.entries.iter().copied()
    }

    /// Reads names, each PAPER or PAPER/ITEM; no names select everything that was published. An
    /// item that is measured on demand must be named itself; PAPER/full selects them all.
    /// "figure13" selects all its parts, "figure13-WLH" and "figure13-WB".
    ///
    /// # Errors
    /// A paper or item is unknown; the error names the nearest.
    pub fn parse<S: AsRef<str>>(names: &[S]) -> Result<Self, InputError> {
        if names.is_empty() {
            let published = record::all().iter().filter(|paper| paper.is_published());
            let items = |paper| of_kind(paper, false).map(move |item| (paper, item));
            return Ok(Self::of_entries(published.flat_map(items).collect()));
        }
        Self::parse_of(names, record::find)
    }

    /// Reads names, each RECORD or RECORD/ITEM, of the records that `find` finds: papers, or
    /// experiments of our own.
    ///
    /// # Errors
    /// A record or item is unknown.
    pub fn parse_of<S: AsRef<str>>(
        names: &[S],
        find: impl Fn(&str) -> Result<&'static Paper, InputError>,
    ) -> Result<Self, InputError> {
        let mut chosen: Vec<(&'static Paper, &'static ItemSpec)> = Vec::new();
        let mut add = |paper: &'static Paper, item: &'static ItemSpec| {
            if !chosen.iter().any(|(_, known)| std::ptr::eq(*known, item)) {
                chosen.push((paper, item));
            }
        };
        for name in names {
            let (paper, item) =
                name.as_ref().split_once('/').map_or((name.as_ref(), None), |(p, i)| (p, Some(i)));
            let paper = find(paper)?;
            match item {
                Some(FULL) => of_kind(paper, true).for_each(|item| add(paper, item)),
                Some(item) => {
                    paper.items_called(item)?.into_iter().for_each(|item| add(paper, item));
                }
                None => of_kind(paper, false).for_each(|item| add(paper, item)),
            }
        }
        Ok(Self::of_entries(chosen))
    }
}

/// The items that are measured on demand, or those that are measured with the whole record.
fn of_kind(paper: &'static Paper, on_demand: bool) -> impl Iterator<Item = &'static ItemSpec> {
    paper.items().item.iter().filter(move |item| item.on_demand == on_demand)
}

/// How often each system is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetitions {
    /// As often as the paper did. If the paper made single runs, as often as items.toml says: its
    /// numbers are compared with the prediction interval of one run, which takes several runs to
    /// estimate.
    AsPublished,
    /// Exactly so many runs of each system.
    Exactly(u32),
}

impl Repetitions {
    /// `runs` runs.
    ///
    /// # Errors
    /// `runs` is 0 or larger than [`Limits::RUNS`].
    pub fn exactly(runs: u32) -> Result<Self, InputError> {
        Limits::check_runs(runs)?;
        Ok(Self::Exactly(runs))
    }

    pub(super) fn of(self, paper: &Paper) -> u32 {
        match self {
            Self::AsPublished if paper.published().repetitions > 1 => paper.published().repetitions,
            Self::AsPublished => paper.items().single_runs.unwrap_or(1),
            Self::Exactly(runs) => runs,
        }
    }
}
