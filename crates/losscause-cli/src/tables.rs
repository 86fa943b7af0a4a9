//! Tables of a reproduction, in the papers' row and column order.

use losscause_laboratory::papers::record::{ClaimOutcome, Item};
use losscause_laboratory::papers::record::{Parameters, Value};
use losscause_laboratory::papers::reproduce::{
    Calibrated, Column, LeftOut, Reproduction, Sheet, answer_in_words, possible_in_words,
    score_in_words, score_of,
};
use losscause_report::curves::{Panel, panels};
use losscause_study::tools::table::Table;

use crate::{output, summary};

pub(crate) mod abroad;
pub(crate) mod experiment;
pub(crate) mod paths;

/// A table or figure: systems across, metrics down, each published, measured, and with its
/// interval. The systems beside the paper's follow.
pub(crate) fn sheet(sheet: &Sheet, items: &[Item], beside: &[Column]) -> String {
    let spec = sheet.spec;
    if spec.metrics.is_empty() {
        return format!("{}; drawn in the report\n", heading(sheet, items));
    }
    if spec.x.is_some() {
        return figure(sheet, items, beside);
    }
    let systems = systems(sheet, beside);
    if items.iter().all(|item| item.published.is_none()) {
        return unpublished(sheet, items, beside);
    }
    let mut table = Table::new(["", ""].into_iter().chain(systems)).numbers(2..);
    for row in rows(sheet, items, beside) {
        let Some(first) = row.first() else { continue };
        let mut label = vec![first.metric.clone(), output::unit_symbol(&first.unit).to_owned()];
        label.extend(
            varying(&first.parameters, sheet).map(|(name, value)| format!("{name} {value}")),
        );
        label.retain(|line| !line.is_empty());
        let sure = row.iter().any(|item| item.ci95.is_some());
        let kinds = if sure { "published\nmeasured\n± 95 %" } else { "published\nmeasured" };
        let head = [label.join("\n"), kinds.to_owned()];
        table.row(head.into_iter().chain(row.into_iter().map(|item| cell(item, sure))));
    }
    below_heading(sheet, items, &table) + &score_in_words(sheet.paper, items) + "\n"
}

/// The columns: the paper's systems, and those beside them.
fn systems<'a>(sheet: &'a Sheet, beside: &'a [Column]) -> Vec<&'a str> {
    sheet
        .spec
        .systems
        .iter()
        .chain(beside.iter().map(|column| &column.system))
        .map(String::as_str)
        .collect()
}

/// The rows: of every combination of the parameters each metric.
fn rows<'a>(
    sheet: &Sheet,
    items: &'a [Item],
    beside: &'a [Column],
) -> impl Iterator<Item = Vec<&'a Item>> {
    let row = |(place, own): (usize, &'a [Item])| -> Vec<&'a Item> {
        own.iter().chain(beside.iter().map(|column| &column.items[place])).collect()
    };
    items.chunks(sheet.spec.systems.len()).enumerate().map(row)
}

/// A table without published values: per metric, one line for each combination of the parameters,
/// with means and intervals.
fn unpublished(sheet: &Sheet, items: &[Item], beside: &[Column]) -> String {
    let systems = systems(sheet, beside);
    let names: Vec<&str> = items.first().map_or_else(Vec::new, |item| {
        varying(&item.parameters, sheet).map(|(name, _)| name).collect()
    });
    let head = 1 + names.len();
    let mut table = Table::new([""].into_iter().chain(names).chain(systems)).numbers(head..);
    for metric in &sheet.spec.metrics {
        let mut label = None;
        for row in rows(sheet, items, beside).filter(|row| row[0].metric == *metric) {
            let at = varying(&row[0].parameters, sheet).map(|(_, value)| value.to_string());
            let first = label.replace(String::new()).is_none();
            let head = if first {
                format!("{metric} {}", output::unit_symbol(&row[0].unit))
            } else {
                String::new()
            };
            table.row(
                [head].into_iter().chain(at).chain(row.iter().map(|item| with_interval(item))),
            );
        }
    }
    let text = below_heading(sheet, items, &table);
    if sheet.paper.is_published() {
        text + &score_in_words(sheet.paper, items) + "\n"
    } else {
        text
    }
}

fn with_interval(item: &Item) -> String {
    match item.ci95 {
        Some(_) => format!("{} ± {}", item.measured_text(), item.ci95_text()),
        None => item.measured_text(),
    }
}

/// A figure: its curves as rows, one block per panel, measured means only.
fn figure(sheet: &Sheet, items: &[Item], beside: &[Column]) -> String {
    let all: Vec<Item> =
        items.iter().chain(beside.iter().flat_map(|column| &column.items)).cloned().collect();
    let panels = panels(sheet.spec, &all);
    let axis = panels.first().map(Panel::places).unwrap_or_default();
    let x = sheet.spec.x.clone().unwrap_or_default();
    let places = axis.iter().map(ToString::to_string);
    let mut table = Table::new([String::new(), x].into_iter().chain(places)).numbers(2..);
    for panel in &panels {
        let at = panel.at.values().map(|value| format!(" {value}"));
        let mut label = format!(
            "{}{} {}",
            panel.metric,
            at.collect::<String>(),
            output::unit_symbol(panel.unit)
        );
        for curve in &panel.curves {
            let value = |place: &f64| {
                let point = curve.points.iter().find(|(x, _)| x == place);
                point.map_or_else(String::new, |(_, item)| {
                    format!("{}{:1}", item.measured_text(), item.mark())
                })
            };
            let values = axis.iter().map(value);
            let head = [std::mem::take(&mut label), curve.label()];
            table.row(head.into_iter().chain(values));
        }
    }
    below_heading(sheet, items, &table) + &score_in_words(sheet.paper, items) + "\n"
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
    let settled =
        reproduction.claims.iter().filter_map(|claim| claim.holds.map(|holds| (claim, holds)));
    for (claim, holds) in settled {
        let mark = if holds { '✓' } else { '✗' };
        text += &format!("{mark} {}: {}\n", claim.id, claim.statement);
        if !holds {
            text += &format!("    {}\n", claim.evidence);
        }
    }
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

fn cell(item: &Item, sure: bool) -> String {
    let values = format!("{}  \n{} {:1}", item.published_text(), item.measured_text(), item.mark());
    if sure { format!("{values}\n{}  ", item.ci95_text()) } else { values }
}

/// The parameters that differ between the rows of a table.
fn varying<'a>(
    parameters: &'a Parameters,
    sheet: &Sheet,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let all = sheet.spec.combinations();
    let differs = move |name: &String| all.iter().any(|one| one.get(name) != all[0].get(name));
    parameters
        .iter()
        .filter(move |(name, _)| differs(name))
        .map(|(name, value)| (name.as_str(), value))
}
