//! `papers/<paper>`: every scored number and every claim of a paper, from `validation/record`, the
//! paper's `published.toml` and its `explanations.toml`.

use std::fmt::Write;

use anyhow::{Context, Result};
use losscause_laboratory::papers::record::{self, ClaimOutcome, Item, Paper};
use losscause_laboratory::papers::score::{lookup_number, within};
use losscause_study::tools::table::Table;

use super::{Origin, Page};
use crate::record::{PAPERS, RUNS, recorded};

/// A page per paper.
pub(super) fn pages() -> Result<Vec<Page>> {
    let (items, claims) = recorded()?;
    PAPERS.iter().map(|key| page(key, &items, &claims)).collect()
}

fn page(key: &str, items: &[Item], claims: &[ClaimOutcome]) -> Result<Page> {
    let paper = record::find(key).with_context(|| format!("no paper {key}"))?;
    let items: Vec<Item> = items.iter().filter(|item| item.paper == key).cloned().collect();
    let mut reasons = Reasons::default();
    let numbers = numbers(paper, &items, &mut reasons);
    let claims = self::claims(paper, claims, &mut reasons);
    let name = format!("papers/{key}");
    let title = format!("{key}: numbers and claims");
    let command = format!(
        "`cargo xtask record --update` measures with {RUNS} runs, `cargo xtask results papers/{key}` writes this page"
    );
    let body = format!("{numbers}{claims}{}", reasons.list());
    Ok(Page::new([&name, &title, &command], Origin::Data(&["validation/record"]), body))
}

/// Every number that is scored.
fn numbers(paper: &Paper, items: &[Item], reasons: &mut Reasons) -> String {
    let published = paper.published();
    let scored: Vec<_> = published.number.iter().filter(|number| number.counts()).collect();
    if scored.is_empty() {
        return "## Numbers\n\nThe paper prints no number that is scored.\n\n".to_owned();
    }
    let columns = ["number", "source", "published", "measured", "met?", "why"];
    let mut table = Table::new(columns).numbers(2..4);
    let mut met = 0;
    for number in &scored {
        let found = lookup_number(items, number).cloned();
        let found = found.map(|item| Item { published: Some(number.value), ..item });
        let is_met = found.as_ref().is_some_and(|i| within(number, i, published.repetitions));
        met += usize::from(is_met);
        let unit = if number.unit == "1" { "" } else { &number.unit };
        let result = match is_met {
            true => "yes",
            false if paper.is_impossible(&number.id) => "cannot be",
            false => "no",
        };
        table.row([
            number.id.clone(),
            number.source.clone(),
            format!("{} {unit}", number.value).trim_end().to_owned(),
            found.as_ref().map_or_else(|| "–".to_owned(), Item::measured_text),
            result.to_owned(),
            reasons.unless(is_met, paper, &number.id),
        ]);
    }
    format!(
        "## Numbers\n\n{met} of {} are within tolerance after {RUNS} of {} runs.\n\n{}\n",
        scored.len(),
        published.repetitions,
        table.markdown()
    )
}

/// Every claim, also those that no run can settle.
fn claims(paper: &Paper, outcomes: &[ClaimOutcome], reasons: &mut Reasons) -> String {
    let mut table = Table::new(["claim", "source", "statement", "result", "why"]);
    let mut count = 0;
    for claim in &paper.published().claim {
        let is_it = |one: &&ClaimOutcome| one.paper == paper.key() && one.id == claim.id;
        let result = match (claim.checkable, outcomes.iter().find(is_it).and_then(|one| one.holds))
        {
            (false, _) => "not checked",
            (true, Some(true)) => "holds",
            (true, Some(false)) => "does not hold",
            (true, None) => "not settled",
        };
        count += usize::from(result == "holds");
        let why = reasons.unless(result == "holds", paper, &claim.id);
        table.row([&claim.id, &claim.source, &claim.statement, result, &why]);
    }
    let checkable = paper.published().claim.iter().filter(|claim| claim.checkable).count();
    let table = table.markdown();
    format!("## Claims\n\n{count} of {checkable} that runs can settle hold.\n\n{table}\n")
}

/// In the place of an explanation.
const UNEXPLAINED: &str = "few runs";

/// The explanations that the tables name, numbered in the order in which they are named.
#[derive(Default)]
struct Reasons {
    texts: Vec<String>,
}

impl Reasons {
    /// Empty, or if a number or claim is missed, the number of its explanation; [`UNEXPLAINED`]
    /// without one.
    fn unless(&mut self, is_met: bool, paper: &Paper, id: &str) -> String {
        if is_met {
            return String::new();
        }
        let Some(explanation) = paper.explanation_of(id) else { return UNEXPLAINED.to_owned() };
        let text = format!(
            "{} ([details](../../docs/reproduction/{}.md#{}))",
            explanation.why.split_whitespace().collect::<Vec<_>>().join(" "),
            paper.key(),
            explanation.section
        );
        let at = self.texts.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        format!("{}", at + 1)
    }

    fn list(&self) -> String {
        let mut list = format!(
            "## Why\n\n\"{UNEXPLAINED}\": missed after {RUNS} runs; explanations are of the misses at the paper's own number of runs.\n\n"
        );
        for (at, text) in self.texts.iter().enumerate() {
            let _ = writeln!(list, "{}. {text}", at + 1);
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_paper_has_a_row_for_every_scored_number_and_every_claim() {
        for page in pages().unwrap() {
            let key = page.name.trim_start_matches("papers/");
            let published = record::find(key).unwrap().published();
            let scored = published.number.iter().filter(|number| number.counts());
            let ids = scored.map(|number| &number.id).chain(published.claim.iter().map(|c| &c.id));
            for id in ids {
                let rows = page.body.matches(&format!("\n| {id} | ")).count();
                assert_eq!(rows, 1, "{key}: {id}");
            }
        }
    }

    #[test]
    fn a_claim_that_does_not_hold_names_its_reason_and_one_that_holds_none() {
        let page = pages().unwrap().into_iter().find(|page| page.name == "papers/koo2007").unwrap();
        let row = |id: &str| {
            let start = format!("| {id} | ");
            page.body.lines().find(|line| line.starts_with(&start)).unwrap().to_owned()
        };
        assert!(row("bg-gain").ends_with("| does not hold | 5 |"), "{}", row("bg-gain"));
        assert!(row("bg-Reno-worst").ends_with("| holds | |"), "{}", row("bg-Reno-worst"));
        assert!(page.body.contains("\n5. Acknowledgements that wait behind"), "{}", page.body);
    }
}
