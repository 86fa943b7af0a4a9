//! The states that a report must show, from the `result.json` beside it.

use std::collections::BTreeMap;

use losscause_laboratory::papers::record::{ClaimOutcome, Item, Status};
use losscause_laboratory::papers::reproduce::Reproduction;

/// How a state is shown: the name in the score box, and the mark in tables and on the terminal.
type Shown = (&'static str, &'static str);

/// The state of a value that is scored; none for all others.
fn of_item(item: &Item) -> Option<Shown> {
    match item.status {
        Status::Reproduced => Some(("met", "✓")),
        Status::Missed => Some(("missed", "✗")),
        Status::Preview if item.within == Some(true) => Some(("preview-met", "(✓)")),
        Status::Preview => Some(("preview-missed", "(✗)")),
        Status::NotScored | Status::NoPublishedValue => None,
    }
}

/// The state of a claim that the runs settle.
fn of_claim(claim: &ClaimOutcome) -> Option<Shown> {
    claim.holds.map(|holds| if holds { ("met", "✓") } else { ("missed", "✗") })
}

/// The place of a value or claim in the page: its paper and its name, with a hyphen for every
/// character that is no letter, digit, dot, hyphen or underscore.
fn anchor(paper: &str, id: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    format!("{paper}.{}", id.chars().map(|c| if kept(c) { c } else { '-' }).collect::<String>())
}

/// States by the places where they stand.
pub(super) type States = BTreeMap<String, String>;

/// What `result` says of every scored number and settled claim: the state in the score box, and the
/// mark beside the value or claim.
pub(super) struct Expected {
    pub(super) numbers: States,
    pub(super) cells: States,
    pub(super) claims: States,
    pub(super) settled: States,
}

impl Expected {
    pub(super) fn of(result: &Reproduction) -> Self {
        let items = || {
            result
                .items
                .iter()
                .filter_map(|item| Some((anchor(&item.paper, &item.id), of_item(item)?)))
        };
        let claims =
            || result.claims.iter().filter_map(|c| Some((anchor(&c.paper, &c.id), of_claim(c)?)));
        Self {
            numbers: items().map(|(at, (name, _))| (at, name.to_owned())).collect(),
            cells: items().map(|(at, (_, mark))| (at, mark.to_owned())).collect(),
            claims: claims().map(|(at, (name, _))| (at, name.to_owned())).collect(),
            settled: claims().map(|(at, (_, mark))| (at, mark.to_owned())).collect(),
        }
    }
}

/// A sentence for each place where `shown` differs from `expected`. What is shown of other places
/// does not count.
pub(super) fn differences(
    what: &str,
    expected: &States,
    shown: &[(String, String)],
) -> Vec<String> {
    let mut sentences = Vec::new();
    for (at, wanted) in expected {
        let states: Vec<&str> = shown
            .iter()
            .filter(|(place, _)| place == at)
            .map(|(_, state)| state.as_str())
            .collect();
        if states != [wanted.as_str()] {
            sentences.push(format!(
                "the {what} {at} shows {states:?}; by result.json it is \"{wanted}\""
            ));
        }
    }
    sentences
}

/// A sentence for each place that shows a state without having one by `expected`.
pub(super) fn unfounded(what: &str, expected: &States, shown: &[(String, String)]) -> Vec<String> {
    let is_unfounded = |(place, _): &&(String, String)| !expected.contains_key(place);
    let sentence = |(place, state): &(String, String)| {
        format!("the {what} {place} shows \"{state}\", of which result.json knows nothing")
    };
    shown.iter().filter(is_unfounded).map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn a_state_that_differs_is_missing_or_stands_twice_is_named() {
        let expected: States = pairs(&[("a", "met"), ("b", "met"), ("c", "missed"), ("d", "met")])
            .into_iter()
            .collect();
        let shown =
            pairs(&[("a", "met"), ("b", "missed"), ("d", "met"), ("d", "met"), ("e", "met")]);
        let found = differences("number", &expected, &shown);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("b shows [\"missed\"]") && found[1].contains("c shows []"));
        assert!(found[2].contains("d shows [\"met\", \"met\"]"));
        assert_eq!(unfounded("number", &expected, &shown).len(), 1);
    }

    #[test]
    fn the_place_of_a_number_has_no_character_that_links_encode() {
        assert_eq!(anchor("barman2002", "LL(0, 1).A_c"), "barman2002.LL-0--1-.A_c");
    }
}
