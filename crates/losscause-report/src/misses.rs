//! What was missed, and why: the explanations of the paper's record, each with the numbers and
//! claims that it explains.

use serde::Serialize;

use super::state;
use losscause_laboratory::papers::record::{ClaimOutcome, Item, Paper, Status};
use losscause_laboratory::papers::score::lookup_number;

/// Numbers and claims that were missed for one reason.
#[derive(Serialize)]
pub(super) struct Miss {
    pub(super) anchor: String,
    of: Vec<Missed>,
    why: String,
}

/// A number or claim that was missed.
#[derive(Serialize)]
struct Missed {
    anchor: String,
    name: String,
    figures: Option<String>,
}

impl Miss {
    /// Whether it explains the number or claim with this anchor.
    pub(super) fn explains(&self, anchor: &str) -> bool {
        self.of.iter().any(|missed| missed.anchor == anchor)
    }
}

/// The missed numbers of a paper in its order, then the failing claims; those of one explanation
/// together.
pub(super) fn of(paper: &Paper, items: &[Item], claims: &[&ClaimOutcome]) -> Vec<Miss> {
    let mut misses: Vec<Miss> = Vec::new();
    let mut add = |id: &str, missed: Missed| {
        let why =
            paper.explanation_of(id).map_or(UNEXPLAINED, |explanation| explanation.why.as_str());
        match misses.iter_mut().find(|miss| miss.why == why) {
            Some(miss) => miss.of.push(missed),
            None => {
                let anchor = format!("{}-why-{}", paper.key(), misses.len() + 1);
                misses.push(Miss { anchor, of: vec![missed], why: why.to_owned() });
            }
        }
    };
    for number in paper.published().number.iter().filter(|number| number.counts()) {
        let Some(item) = lookup_number(items, number).filter(|item| item.status == Status::Missed)
        else {
            continue;
        };
        let figures = format!("{} instead of {}", item.measured_text(), item.published_text());
        let name = format!("{}: {}, {}", number.source, number.system, number.metric);
        let anchor = state::anchor(paper.key(), &item.id);
        add(&number.id, Missed { anchor, name, figures: Some(figures) });
    }
    for claim in claims.iter().filter(|claim| claim.holds == Some(false)) {
        let anchor = state::anchor(paper.key(), &claim.id);
        add(&claim.id, Missed { anchor, name: format!("claim {}", claim.id), figures: None });
    }
    misses
}

const UNEXPLAINED: &str = "Not explained yet.";
