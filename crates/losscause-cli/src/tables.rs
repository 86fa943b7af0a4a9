//! Tables of a reproduction, in the papers' row and column order.

use losscause_laboratory::papers::record::{ClaimOutcome, Item};
use losscause_laboratory::papers::reproduce::{
    Calibrated, Column, LeftOut, Reproduction, Sheet, answer_in_words, possible_in_words,
    score_in_words, score_of,
};
use losscause_study::tools::table::Table;

use crate::{output, summary};

pub(crate) mod experiment;

/// A table or figure with the systems beside the paper's, and its score.
pub(crate) fn sheet(sheet: &Sheet, items: &[Item], beside: &[Column]) -> String {
    let spec = sheet.spec;
    if spec.metrics.is_empty() {
        return format!("{}; drawn in the report\n", heading(sheet, items));
    }
    let systems = spec.systems.iter().chain(beside.iter().map(|column| &column.system));
    let systems: Vec<&str> = systems.map(String::as_str).collect();
    let row = |(place, own): (usize, &[Item])| -> Vec<Item> {
        own.iter().chain(beside.iter().map(|column| &column.items[place])).cloned().collect()
    };
    let rows: Vec<Vec<Item>> = items.chunks(spec.systems.len()).enumerate().map(row).collect();
    let table = losscause_report::sheet_table(sheet, &systems, &rows, |_, cell| cell);
    let text = below_heading(sheet, items, &table);
    match sheet.paper.is_published() {
        true => text + &score_in_words(sheet.paper, items) + "\n",
        false => text,
    }
}

/// The table below its heading, and a line end.
fn below_heading(sheet: &Sheet, items: &[Item], table: &Table) -> String {
    format!("{}\n{}\n", heading(sheet, items), output::drawn(table, None))
}

/// The score of a table or figure in one line.
pub(crate) fn sheet_score(sheet: &Sheet, items: &[Item]) -> String {
    format!("{}: {}", heading(sheet, items), score_in_words(sheet.paper, items))
}

/// The same without its title; none if nothing in it is scored.
pub(crate) fn sheet_in_short(sheet: &Sheet, items: &[Item]) -> Option<String> {
    let is_scored = score_of(sheet.paper, items).numbers > 0;
    is_scored.then(|| {
        format!("{}/{}: {}", sheet.paper.key(), sheet.spec.id, score_in_words(sheet.paper, items))
    })
}

/// Where an algorithm could not run beside the papers', one line each; nothing if it ran
/// everywhere.
pub(crate) fn left_out(reproduction: &Reproduction) -> Vec<String> {
    let line = |one: &LeftOut| format!("{} is not in {}: {}", one.system, one.item, one.why);
    reproduction.left_out.iter().map(line).collect()
}

/// The text after the tables: the meaning of the marks, the settled claims, and the score. None if
/// no value is published.
pub(crate) fn conclusion(reproduction: &Reproduction) -> Option<String> {
    let cards = reproduction.scorecards();
    if cards.is_empty() {
        return None;
    }
    let mut text = String::from(
        "✓ reproduced  ✗ missed  (✓) (✗) the same from fewer runs than the paper's: a preview  · not scored\n\n",
    );
    text += &calibrated(&reproduction.calibrated);
    text += &claims(reproduction);
    text += &claims_beside(reproduction);
    text += "\n";
    for line in summary::per_paper(&cards) {
        text += &format!("{line}\n");
    }
    for card in &cards {
        let numbers = card.numbers.numbers - card.measured.numbers;
        let claims = card.checkable - card.settled;
        if numbers + claims > 0 {
            text += &format!(
                "{}: {numbers} scored numbers and {claims} claims need other items\n",
                card.paper
            );
        }
    }
    text += &format!("\n{}", answer_in_words(&cards));
    if let Some(possible) = possible_in_words(&cards) {
        text += &format!("\n{possible}");
    }
    Some(text)
}

/// The settled claims, each with a line end, and behind those that fail the figures.
fn claims(reproduction: &Reproduction) -> String {
    let line = |claim: &ClaimOutcome| match claim.holds? {
        true => Some(format!("✓ {}: {}\n", claim.id, claim.statement)),
        false => Some(format!("✗ {}: {}\n    {}\n", claim.id, claim.statement, claim.evidence)),
    };
    reproduction.claims.iter().filter_map(line).collect()
}

/// The settled claims beside the fixed list, which are not counted; nothing if there are none.
fn claims_beside(reproduction: &Reproduction) -> String {
    let settled = reproduction.claims_beside.iter().filter(|claim| claim.holds.is_some());
    let line = |claim: &ClaimOutcome| {
        let holds = if claim.holds == Some(true) { "holds" } else { "fails" };
        format!("· {} ({holds}): {}\n    {}\n", claim.id, claim.statement, claim.evidence)
    };
    let lines: String = settled.map(line).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\nAlso said by the papers, not counted:\n{lines}")
}

/// Parameters calibrated before the runs: all of them if they are few, else those that missed their
/// target.
fn calibrated(found: &[Calibrated]) -> String {
    let few = found.len() <= FEW;
    let mut text = String::new();
    for one in found.iter().filter(|one| few || !one.met) {
        text += &format!("{} {one}\n", if one.met { '✓' } else { '✗' });
    }
    if !few {
        let met = found.iter().filter(|one| one.met).count();
        text += &format!(
            "{met} of {} calibrated parameters meet their target; the JSON lists them.\n",
            found.len()
        );
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Up to this many calibrated parameters are all shown.
const FEW: usize = 10;

fn heading(sheet: &Sheet, items: &[Item]) -> String {
    let runs = items.iter().map(|i| i.runs).max().unwrap_or(0);
    let runs = match runs {
        0 => String::new(),
        1 => ", 1 run".to_owned(),
        n => format!(", {n} runs"),
    };
    let spec = sheet.spec;
    format!("{}/{} ({}): {}{runs}", sheet.paper.key(), spec.id, spec.source, spec.title)
}
