//! A table or figure of a paper with everything measured for it.

use std::collections::BTreeSet;

use minijinja::{Value, context};

use super::chart::{Figure, Legend};
use super::curves::{Curve, Panel, labels, panels};
use super::strips::{Strip, Strips};
use super::{figure, phase, recordings, scatter, sheets, state};
use losscause_laboratory::papers::record::{Item, ItemSpec, Published};
use losscause_laboratory::papers::reproduce::{
    RecordedCurve, Recording, Reproduction, Sheet, score_in_words,
};
use losscause_laboratory::papers::score::tolerance;
use losscause_study::statistics::Interval;
use losscause_study::tools::figures::{in_parentheses, sentence};
use losscause_study::tools::table::{Cell, Table};

/// What the template shows of a sheet. `shown` holds the anchors that earlier tables have taken.
pub(super) fn view(
    sheet: &Sheet,
    reproduction: &Reproduction,
    shown: &mut BTreeSet<String>,
) -> Value {
    let spec = sheet.spec;
    let published = sheet.paper.published();
    // As on the command line.
    let name = format!("{}/{}", sheet.paper.key(), spec.id);
    let is_candidate = |item: &&Item| {
        item.paper == sheet.paper.key()
            && item.scenario == spec.scenario
            && spec.metrics.contains(&item.metric)
    };
    let columns = sheet.columns_beside(&reproduction.beside);
    let beside = columns.iter().flat_map(|column| &column.items);
    let candidates: Vec<&Item> =
        reproduction.items.iter().filter(is_candidate).chain(beside).collect();
    // A part of a table may have been measured.
    let is_measured = |system: &&String| candidates.iter().any(|item| item.system == **system);
    let own = spec.systems.iter().filter(is_measured);
    let systems = own.chain(columns.iter().map(|column| &column.system));
    let systems: Vec<&str> = systems.map(String::as_str).collect();
    let mut rows: Vec<Vec<Item>> = Vec::new();
    let mut charts = Vec::new();
    for parameters in &spec.combinations() {
        let of_metric = |metric: &String| -> Vec<Item> {
            let of_system = |system: &&str| {
                let is_it = |i: &&&Item| {
                    i.metric == *metric && i.system == *system && i.parameters == *parameters
                };
                candidates.iter().find(is_it).map(|&item| item.clone())
            };
            systems.iter().filter_map(of_system).collect()
        };
        for metric in &spec.metrics {
            let found = of_metric(metric);
            let chart = match spec.beside.get(metric) {
                Some(other) => beside_others(&found, &of_metric(other)),
                None if spec.x.is_some() => String::new(),
                None => beside_published(published, &found),
            };
            charts.push(Figure::new(sheets::label(spec, &found), chart));
            rows.push(found);
        }
    }
    rows.retain(|row| !row.is_empty());
    let finish = |item: &Item, cell: Cell| {
        let state = state::of(item);
        let anchor = state::anchor(&item.paper, &item.id);
        // An earlier table that shows the same value has its anchor.
        let anchor = if shown.insert(anchor.clone()) { anchor } else { String::new() };
        let tip = state::behind(item, figure::printed(published, item), &name);
        cell.class(state.class).anchor(anchor).tip(tip)
    };
    let table = sheets::sheet_table(sheet, &systems, &rows, finish);
    let mine: Vec<Item> = rows.into_iter().flatten().collect();
    let drawn = panels(spec, &mine);
    let (panels, legend) = match (&spec.phase, &spec.scatter) {
        (Some(phase), _) => (phase::drawings(phase, &drawn), phase::legend()),
        (None, Some(of)) => (scatter::drawings(published, spec, of, &mine), vec![]),
        (None, None) => drawn_panels(published, spec, &drawn),
    };
    let recordings = reproduction.recordings.iter().filter(|recording| is_of(recording, sheet));
    context! {
        anchor => anchor(sheet),
        source => spec.source,
        title => spec.title,
        runs => mine.iter().map(|item| item.runs).max().unwrap_or(0),
        score => match sheet.paper.is_published() {
            true => sentence(&score_in_words(sheet.paper, &mine)),
            false => String::new(),
        },
        // Whether some of the systems are none of the paper's.
        beside => !columns.is_empty(),
        // Of a figure, its values.
        table => table.html(),
        charts,
        legend,
        panels,
        recordings => recordings.map(recording).collect::<Vec<_>>(),
        csv => csv(&mine),
        name,
    }
}

/// The items of a metric beside their published values; empty if none is published.
fn beside_published(published: &Published, items: &[Item]) -> String {
    let allowed = |item: &Item| {
        let number = figure::printed(published, item)?;
        Some(Interval::around(number.value, tolerance(number)))
    };
    strips(items, "published and measured", |item| item.published, allowed)
}

/// The items of a metric beside those of the same systems in `others`.
fn beside_others(items: &[Item], others: &[Item]) -> String {
    let other = |item: &Item| others.iter().find(|other| other.system == item.system)?.measured;
    let name = others.first().map(|other| other.metric.as_str()).unwrap_or_default();
    strips(items, &format!("measured, and {name}"), other, |_| None)
}

/// A strip per item. Without a ring there is nothing to compare, and the table is enough.
fn strips(
    items: &[Item],
    what: &str,
    ring: impl Fn(&Item) -> Option<f64>,
    allowed: impl Fn(&Item) -> Option<Interval>,
) -> String {
    let strip = |item: &Item| Strip {
        interval: item.interval(),
        published: ring(item),
        allowed: allowed(item),
        ..Strip::new(&item.system, state::of(item).class, item.measured)
    };
    let strips: Vec<Strip> = items.iter().map(strip).collect();
    let Some(first) = items.first() else { return String::new() };
    if strips.iter().all(|strip| strip.published.is_none()) {
        return String::new();
    }
    let label = format!("{}: {what}, per system", first.metric);
    Strips::new(&label, &first.unit, strips).svg()
}

/// The identifier of a table in the page.
pub(super) fn anchor(sheet: &Sheet) -> String {
    format!("{}-{}", sheet.paper.key(), sheet.spec.id)
}

/// The panels of a figure, and what its curves are.
fn drawn_panels(
    published: &Published,
    spec: &ItemSpec,
    drawn: &[Panel<'_>],
) -> (Vec<Figure>, Legend) {
    let labels = labels(drawn);
    let view = |panel: &Panel<'_>| {
        let at = panel.at.iter().map(|(name, value)| format!("{name} {value}"));
        let caption =
            [panel.metric.to_owned()].into_iter().chain(at).collect::<Vec<_>>().join(", ");
        let caption = caption + &in_parentheses(panel.unit);
        Figure::new(caption, figure::svg(published, spec, panel, &labels))
    };
    let curve = |label: &String| -> Option<&Curve<'_>> {
        drawn.iter().flat_map(|panel| &panel.curves).find(|curve| curve.label() == *label)
    };
    let legend =
        |curve: &Curve<'_>| (figure::style(published, curve, &labels).sample(), curve.label());
    (drawn.iter().map(view).collect(), labels.iter().filter_map(curve).map(legend).collect())
}

fn is_of(recording: &Recording, sheet: &Sheet) -> bool {
    recording.paper == sheet.paper.key() && recording.item == sheet.spec.id
}

fn recording(recording: &Recording) -> Figure {
    let at = recording.parameters.iter().map(|(name, value)| format!("{name} {value}"));
    let seed = format!("seed {}", recording.seed);
    let caption = [recording.system.clone()].into_iter().chain(at).chain([seed]);
    let legend = |(place, curve): (usize, &RecordedCurve)| {
        let mean = curve.mean.map(|mean| format!("; mean {mean:.1}")).unwrap_or_default();
        let sample = recordings::curve(curve, place).sample();
        (sample, format!("{}, {}{mean}", curve.name, curve.unit))
    };
    let caption = caption.collect::<Vec<_>>().join(", ");
    Figure::new(caption, recordings::drawing(recording).svg())
        .legend(recording.curves.iter().enumerate().map(legend).collect())
}

/// One line per value, in full precision. Medians have the two ends of their intervals.
fn csv(items: &[Item]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let parameters: BTreeSet<&String> =
        items.iter().flat_map(|item| item.parameters.keys()).collect();
    let has_ends = items.iter().any(|item| item.median_ci95.is_some());
    let ends: &[&str] = if has_ends { &["ci95_low", "ci95_high"] } else { &["ci95"] };
    let heads = ["system", "scenario"]
        .into_iter()
        .chain(parameters.iter().map(|name| name.as_str()))
        .chain(["metric", "unit", "published", "measured"])
        .chain(ends.iter().copied())
        .chain(["runs", "state"]);
    let row = |item: &Item| {
        let of = |name: &&String| {
            item.parameters.get(*name).map(ToString::to_string).unwrap_or_default()
        };
        let mut cells = vec![item.system.clone(), item.scenario.clone()];
        cells.extend(parameters.iter().map(of));
        cells.extend([item.metric.clone(), item.unit.clone()]);
        cells.extend([item.published, item.measured].map(number));
        match item.interval().filter(|_| has_ends) {
            Some(Interval { low, high }) => cells.extend([low, high].map(|end| number(Some(end)))),
            None if has_ends => cells.extend([String::new(), String::new()]),
            None => cells.push(number(item.ci95)),
        }
        cells.extend([item.runs.to_string(), state::of(item).meaning.to_owned()]);
        cells
    };
    Table::new(heads).with_rows(items.iter().map(row)).csv()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_beside_another_has_a_ring_per_system_that_both_have() {
        let spec = &losscause_laboratory::papers::record::find("extra").unwrap().items().item[0];
        let paper = losscause_laboratory::papers::record::find("extra").unwrap();
        let item = |metric: &str, system: &str, measured| {
            let blank = losscause_laboratory::papers::reproduce::blank_item(
                paper,
                spec,
                metric,
                system,
                &Default::default(),
                1,
            );
            Item { measured, ..blank }
        };
        let own = [item("goodput", "reno", Some(3.0)), item("goodput", "bbr", Some(9.0))];
        let others =
            [item("simulated_goodput", "reno", Some(3.5)), item("simulated_goodput", "bbr", None)];
        let svg = beside_others(&own, &others);
        assert_eq!(
            (svg.matches("class=\"published\"").count(), svg.matches("class=\"dot ").count()),
            (1, 2)
        );
        assert!(svg.contains("goodput: measured, and simulated_goodput, per system"));
        assert_eq!(beside_others(&own, &[]), "", "without rings the table is enough");
    }
}
