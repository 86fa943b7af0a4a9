//! The state of a number or a claim, as a mark that is told by its shape, a class for its colour,
//! and words.

use serde::Serialize;

use crate::axis::short;
use losscause_laboratory::papers::record::{ClaimOutcome, Item, Number, Status};
use losscause_laboratory::papers::score::tolerance;
use losscause_study::tools::figures::unit_symbol;

/// How a state is shown. The marks are those of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct State {
    /// The class of squares and discs in the score.
    pub(super) name: &'static str,
    pub(super) mark: &'static str,
    pub(super) meaning: &'static str,
    /// The class of text and of marks in drawings.
    pub(super) class: &'static str,
}

/// The state of a value.
pub(super) fn of(item: &Item) -> State {
    let state = |name, meaning, class| State { name, mark: item.mark(), meaning, class };
    match item.status {
        Status::Reproduced => state("met", "within tolerance", "good"),
        Status::Missed => state("missed", "missed", "bad"),
        Status::Preview if item.within == Some(true) => {
            state("preview-met", "within tolerance, after fewer runs than the paper's", "good")
        }
        Status::Preview => state(
            "preview-missed",
            "outside the tolerance, after fewer runs than the paper's",
            "wait",
        ),
        Status::NotScored => state("not-scored", "not scored", "plain"),
        Status::NoPublishedValue => state("unpublished", "no published value", "plain"),
    }
}

/// The state of a claim.
pub(super) fn of_claim(claim: &ClaimOutcome) -> State {
    let state = |name, mark, meaning, class| State { name, mark, meaning, class };
    match claim.holds {
        Some(true) => state("met", "✓", "holds", "good"),
        Some(false) => state("missed", "✗", "fails", "bad"),
        None => state("open", "?", "not settled by these runs", "plain"),
    }
}

/// What stands behind a value: published and allowed, measured from how many runs, and the command
/// that measures it. `number` is the published number that it is scored on.
pub(super) fn behind(item: &Item, number: Option<&Number>, command: &str) -> String {
    let at: Vec<String> =
        item.parameters.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let unit = unit_symbol(&item.unit);
    let published = match (number, item.published) {
        (Some(number), _) => {
            let by = tolerance(number);
            let allowed = [number.value - by, number.value + by].map(short).join(" to ");
            let source = &number.source;
            format!("published {} {unit} ({source}), allowed {allowed}", item.published_text())
        }
        (None, Some(_)) => format!("published {} {unit} ({})", item.published_text(), item.source),
        (None, None) => "no published value".to_owned(),
    };
    let runs = if item.runs == 1 { "run" } else { "runs" };
    let measured = format!("{} {unit}, {} {runs}", item.interval_text(), item.runs);
    let meaning = of(item).meaning;
    format!(
        "{}, {}, {} {}\n{published}\nmeasured {measured}: {meaning}\nlosscause reproduce {command}",
        item.metric,
        item.system,
        item.scenario,
        at.join(", ")
    )
}

/// The identifier of a number or claim in the page: letters, digits, dots and hyphens.
pub(super) fn anchor(paper: &str, id: &str) -> String {
    let clean = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    format!("{paper}.{}", id.chars().map(clean).collect::<String>())
}
