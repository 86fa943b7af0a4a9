//! The outcome of an experiment on a real stack: the answer, a table of systems per item, the
//! claims.

use losscause_laboratory::papers::record::{Item, Parameters, Summary};
use losscause_laboratory::papers::reproduce::{Reproduction, Sheet, preview_in_words};

use super::{heading, varying};
use crate::output;

/// Everything, without a line break at its end.
pub(crate) fn text(reproduction: &Reproduction, sheets: &[Sheet]) -> String {
    let mut parts: Vec<String> = reproduction.answer.clone().into_iter().collect();
    parts.extend(preview_in_words(reproduction, sheets));
    parts.extend(sheets.iter().map(|sheet| table(sheet, &reproduction.items)));
    let claims = claims(reproduction);
    if !claims.is_empty() {
        parts.push(claims);
    }
    parts.join("\n\n")
}

/// One row per system, below the values of the parameters that differ. A metric beside another
/// stands in parentheses behind it, the interval of a median below it.
fn table(sheet: &Sheet, items: &[Item]) -> String {
    let items: Vec<&Item> = sheet.items.iter().filter_map(|index| items.get(*index)).collect();
    let beside = &sheet.spec.beside;
    let own = |metric: &&String| !beside.values().any(|other| other == *metric);
    let metrics: Vec<&String> = sheet.spec.metrics.iter().filter(own).collect();
    let Some(first) = items.first() else { return String::new() };
    let names: Vec<&str> = varying(&first.parameters, sheet).map(|(name, _)| name).collect();
    let heads: Vec<String> = metrics.iter().map(|metric| head(metric, &items)).collect();
    let numbers: Vec<&str> = heads.iter().map(String::as_str).collect();
    let header: Vec<&str> =
        names.iter().copied().chain(["system"]).chain(numbers.iter().copied()).collect();
    let mut table = output::table(&header, &numbers);
    let mut last: Option<&Parameters> = None;
    for item in items.iter().filter(|item| Some(&&item.metric) == metrics.first()) {
        let is_new = last.replace(&item.parameters) != Some(&item.parameters);
        let at = varying(&item.parameters, sheet);
        let at: Vec<String> =
            at.map(|(_, value)| if is_new { value.to_string() } else { String::new() }).collect();
        let of = |metric: &String| {
            let is_it = |other: &&&Item| {
                other.metric == *metric
                    && other.system == item.system
                    && other.parameters == item.parameters
            };
            items.iter().find(is_it)
        };
        let cell = |metric: &&String| {
            let Some(item) = of(metric) else { return String::new() };
            let value = item.measured_text();
            let values = match beside.get(*metric).and_then(of).map(|other| other.measured_text()) {
                None => value,
                Some(other) => format!("{value} {:>WIDTH$}", format!("({other})")),
            };
            match item.median_ci95.filter(|interval| interval.is_wide()) {
                None => values,
                Some(_) => format!("{values}\n{}", item.ends_text()),
            }
        };
        let values: Vec<String> = metrics.iter().map(cell).collect();
        table.add_row(at.into_iter().chain([item.system.clone()]).chain(values));
    }
    let spec_items: Vec<Item> = items.iter().map(|item| (*item).clone()).collect();
    let what = match sheet.paper.published().summary {
        Summary::Mean => "Means over the runs",
        Summary::Median if items.iter().any(|item| item.median_ci95.is_some()) => {
            "Medians over the runs, with their 95 % intervals below"
        }
        Summary::Median => "Medians over the runs",
        Summary::Largest => "The largest of the runs",
        Summary::Smallest => "The smallest of the runs",
    };
    let other = if beside.is_empty() {
        ""
    } else {
        "; in parentheses the simulator's, for the same scenario and seeds"
    };
    format!("{}\n{table}\n{what}{other}.", heading(sheet, &spec_items))
}

/// The width of the value in parentheses.
const WIDTH: usize = 7;

/// A metric and its unit, on two lines.
fn head(metric: &str, items: &[&Item]) -> String {
    let unit = items
        .iter()
        .find(|item| item.metric == metric)
        .map_or("", |item| output::unit_symbol(&item.unit));
    if unit.is_empty() { metric.to_owned() } else { format!("{metric}\n{unit}") }
}

/// The settled claims, and behind those that fail the figures.
fn claims(reproduction: &Reproduction) -> String {
    let settled =
        reproduction.claims.iter().filter_map(|claim| claim.holds.map(|holds| (claim, holds)));
    let lines = settled.map(|(claim, holds)| match holds {
        true => format!("✓ {}: {}", claim.id, claim.statement),
        false => format!("✗ {}: {}\n    {}", claim.id, claim.statement, claim.evidence),
    });
    lines.collect::<Vec<_>>().join("\n")
}
