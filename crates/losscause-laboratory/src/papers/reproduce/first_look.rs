//! What is measured where nothing is named: the most valuable tables and figures that a budget of
//! packet-hops allows.
//!
//! The choice depends on recorded costs and on a fixed order (`papers/first-look.toml`), so it is
//! the same everywhere.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Plan, Repetitions, Selection, Variation};
use crate::papers::record::{self, FIRST_LOOK};
use losscause_study::tools::toml_file;
use losscause_study::{Context, InputError};

/// `papers/first-look.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstLook {
    /// Thousands of packet-hops.
    budget: u64,
    /// PAPER/ITEM, the most valuable first.
    order: Vec<String>,
}

impl FirstLook {
    fn read() -> Result<Self, InputError> {
        toml_file::from_text(FIRST_LOOK, "papers/first-look.toml")
    }
}

impl Selection {
    /// The fixed choice that is measured where nothing is named: at the papers' own number of runs,
    /// something of every paper. An item is taken if what it adds to those before it in the order
    /// of value fits into the budget. The result is in the papers' order.
    ///
    /// # Errors
    /// None that a test does not find: the order names an unknown item, or a setting does not fit a
    /// scenario.
    pub fn first_look() -> Result<Self, InputError> {
        let FirstLook { budget, order } = FirstLook::read()?;
        let candidates = Self::of_items(&order)?;
        let plan = Plan::new(
            &Context::default(),
            &candidates,
            Repetitions::AsPublished,
            1,
            &Variation::default(),
        )?;
        let mut runs = BTreeSet::new();
        let mut searches = BTreeSet::new();
        let mut spent = 0;
        let mut chosen = Vec::new();
        for (entry, sheet) in candidates.iter().zip(plan.sheets()) {
            let mut needs = plan.needs(sheet);
            needs.configurations.retain(|c| !runs.contains(c));
            needs.searches.retain(|s| !searches.contains(s));
            let of_run =
                |&c: &usize| plan.configurations[c].cost * u64::from(plan.configurations[c].runs);
            let price: u64 = needs.configurations.iter().map(of_run).sum();
            let price = price + needs.searches.iter().map(|&s| plan.searches[s].cost).sum::<u64>();
            if spent + price <= budget {
                spent += price;
                runs.extend(needs.configurations);
                searches.extend(needs.searches);
                chosen.push(entry);
            }
        }
        Ok(Self::in_papers_order(&chosen))
    }

    /// The items of these full names, without the parts that a name may stand for elsewhere.
    fn of_items(names: &[String]) -> Result<Self, InputError> {
        let mut items = Vec::new();
        for name in names {
            let (paper, item) = name.split_once('/').unwrap_or((name, ""));
            let paper = record::find(paper)?;
            items.push((paper, paper.item(item)?));
        }
        Ok(Self::of_entries(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(selection: &Selection) -> Vec<String> {
        selection.iter().map(|(paper, item)| format!("{}/{}", paper.key(), item.id)).collect()
    }

    #[test]
    fn the_choice_is_fixed_and_has_something_of_every_paper() {
        let chosen = Selection::first_look().unwrap();
        let names = names(&chosen);
        assert_eq!(names, self::names(&Selection::first_look().unwrap()));
        for paper in record::all().iter().filter(|paper| paper.is_published()) {
            assert!(
                names.iter().any(|name| name.starts_with(paper.key())),
                "{} in {names:?}",
                paper.key()
            );
        }
        for table in ["cen2003/table2", "cen2003/table3", "cen2003/table6"] {
            assert!(names.iter().any(|name| name == table), "{table} in {names:?}");
        }
    }

    #[test]
    fn the_choice_keeps_its_budget_and_the_papers_number_of_runs() {
        let chosen = Selection::first_look().unwrap();
        let plan = Plan::new(
            &Context::default(),
            &chosen,
            Repetitions::AsPublished,
            1,
            &Variation::default(),
        )
        .unwrap();
        let FirstLook { budget, order } = FirstLook::read().unwrap();
        assert!(plan.cost() <= budget && plan.cost() > budget / 2, "{} of {budget}", plan.cost());
        assert!(order.len() > plan.sheets().len(), "the budget leaves something out");
        let too_few = |i: &&crate::papers::record::Item| {
            i.runs > 0 && i.runs < record::find(&i.paper).unwrap().published().repetitions
        };
        assert_eq!(plan.items().iter().find(too_few), None);
    }
}
