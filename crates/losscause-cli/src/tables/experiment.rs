//! The outcome of an experiment on a real stack: the answer, a table of systems per item, the
//! claims.

use losscause_laboratory::papers::record::{Item, Parameters, Summary};
use losscause_laboratory::papers::reproduce::{Reproduction, Sheet, preview_in_words};
use losscause_study::statistics::Interval;
use losscause_study::tools::table::{Cell, Table};

use super::{below_heading, claims};
use crate::output;

/// Everything, without a line break at its end.
pub(crate) fn text(reproduction: &Reproduction, sheets: &[Sheet]) -> String {
    let mut parts: Vec<String> = reproduction.answer.clone().into_iter().collect();
    parts.extend(preview_in_words(reproduction, sheets));
    parts.extend(sheets.iter().map(|sheet| table(sheet, &reproduction.items)));
    let claims = claims(reproduction);
    if !claims.is_empty() {
        parts.push(claims.trim_end().to_owned());
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
    let names: Vec<&str> =
        sheet.spec.varying(&first.parameters).into_iter().map(|(name, _)| name).collect();
    let head = 1 + names.len();
    let numbers = metrics.iter().map(|metric| metric.as_str());
    let mut table = Table::new(names.into_iter().chain(["system"]).chain(numbers)).numbers(head..);
    for (column, metric) in table.columns[head..].iter_mut().zip(&metrics) {
        let item = items.iter().find(|item| item.metric == **metric);
        column.unit = item.map_or("", |item| output::unit_symbol(&item.unit)).to_owned();
    }
    let mut last: Option<&Parameters> = None;
    for item in items.iter().filter(|item| Some(&&item.metric) == metrics.first()) {
        let is_new = last.replace(&item.parameters) != Some(&item.parameters);
        let at = sheet.spec.varying(&item.parameters).into_iter();
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
            let Some(item) = of(metric) else { return Cell::default() };
            let value = item.measured_text();
            let values = match beside.get(*metric).and_then(of).map(|other| other.measured_text()) {
                None => value,
                Some(other) => format!("{value} {:>WIDTH$}", format!("({other})")),
            };
            let is_wide = item.median_ci95.is_some_and(Interval::is_wide);
            Cell::from(values).below(if is_wide { item.ends_text() } else { String::new() })
        };
        let head = at.into_iter().chain([item.system.clone()]).map(Cell::from);
        table.row(head.chain(metrics.iter().map(cell)));
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
    below_heading(sheet, &spec_items, &table) + &format!("{what}{other}.")
}

/// The width of the value in parentheses.
const WIDTH: usize = 7;
