//! A table or figure of a paper with everything measured for it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::chart::{Figure, Legend};
use super::curves::{Curve, Panel, labels, panels};
use super::{columns, figure, phase, recordings, scatter, state};
use losscause_laboratory::papers::record::{Item, ItemSpec, Number, Published};
use losscause_laboratory::papers::reproduce::{
    RecordedCurve, Recording, Reproduction, Sheet, score_in_words,
};
use losscause_laboratory::papers::score::lookup_number;
use losscause_study::tools::csv_file;
use losscause_study::tools::figures::{sentence, unit_symbol};

#[derive(Serialize)]
pub(super) struct TableView {
    /// "cen2003/table2", as on the command line.
    name: String,
    anchor: String,
    source: String,
    title: String,
    runs: u32,
    score: String,
    systems: Vec<String>,
    /// Whether some of the systems are none of the paper's.
    beside: bool,
    rows: Vec<RowView>,
    /// For a figure: what the curves are, and the panels. The rows are then its values.
    legend: Legend,
    panels: Vec<Figure>,
    /// Runs over time.
    recordings: Vec<Figure>,
    /// The values as comma-separated text.
    csv: String,
}

#[derive(Serialize)]
struct RowView {
    metric: String,
    unit: String,
    /// Whether the paper prints any of its values.
    published: bool,
    cells: Vec<CellView>,
    chart: String,
}

#[derive(Serialize)]
struct CellView {
    /// None if an earlier table shows the same value.
    anchor: Option<String>,
    published: String,
    measured: String,
    /// The interval of a median; nothing for others.
    interval: String,
    mark: &'static str,
    class: &'static str,
    tip: String,
}

/// The view of a sheet. `shown` holds the anchors that earlier tables have taken.
pub(super) fn view(
    sheet: &Sheet,
    reproduction: &Reproduction,
    shown: &mut BTreeSet<String>,
) -> TableView {
    let spec = sheet.spec;
    let published = sheet.paper.published();
    let name = format!("{}/{}", sheet.paper.key(), spec.id);
    let mut mine: Vec<Item> = Vec::new();
    let mut rows = Vec::new();
    let combinations = spec.combinations();
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
    let systems: Vec<String> =
        own.chain(columns.iter().map(|column| &column.system)).cloned().collect();
    for parameters in &combinations {
        let of_metric = |metric: &String| -> Vec<Item> {
            let of_system = |system: &String| {
                let is_it = |i: &&&Item| {
                    i.metric == *metric && i.system == *system && i.parameters == *parameters
                };
                candidates.iter().find(is_it).map(|&item| item.clone())
            };
            systems.iter().filter_map(of_system).collect()
        };
        for metric in &spec.metrics {
            let found = of_metric(metric);
            if found.is_empty() {
                continue;
            }
            let chart = match spec.beside.get(metric) {
                Some(other) => columns::beside(&found, &of_metric(other)),
                None if spec.x.is_some() => String::new(),
                None => columns::svg(published, &found),
            };
            let differs = |name: &String, value| {
                combinations.iter().any(|other| other.get(name) != Some(value))
            };
            let differing = parameters.iter().filter(|(name, value)| differs(name, value));
            let differing: Vec<String> =
                differing.map(|(name, value)| format!("{name} {value}")).collect();
            rows.push(RowView {
                metric: [&[metric.clone()][..], &differing].concat().join(", "),
                unit: found.first().map(|i| unit_symbol(&i.unit).to_owned()).unwrap_or_default(),
                published: found.iter().any(|item| item.published.is_some()),
                cells: found.iter().map(|item| cell(published, item, &name, shown)).collect(),
                chart,
            });
            mine.extend(found);
        }
    }
    let drawn = panels(spec, &mine);
    let (panels, legend) = match (&spec.phase, &spec.scatter) {
        (Some(phase), _) => (phase::drawings(phase, &drawn), phase::legend()),
        (None, Some(of)) => (scatter::drawings(published, spec, of, &mine), vec![]),
        (None, None) => drawn_panels(published, spec, &drawn),
    };
    TableView {
        anchor: anchor(sheet),
        source: spec.source.clone(),
        title: spec.title.clone(),
        runs: mine.iter().map(|i| i.runs).max().unwrap_or(0),
        score: match sheet.paper.is_published() {
            true => sentence(&score_in_words(sheet.paper, &mine)),
            false => String::new(),
        },
        systems,
        beside: !columns.is_empty(),
        rows,
        legend,
        panels,
        recordings: reproduction
            .recordings
            .iter()
            .filter(|r| is_of(r, sheet))
            .map(recording)
            .collect(),
        csv: csv(&mine),
        name,
    }
}

/// The identifier of a table in the page.
pub(super) fn anchor(sheet: &Sheet) -> String {
    format!("{}-{}", sheet.paper.key(), sheet.spec.id)
}

fn cell(
    published: &Published,
    item: &Item,
    command: &str,
    shown: &mut BTreeSet<String>,
) -> CellView {
    let state = state::of(item);
    let is_mine = |number: &&Number| {
        number.counts() && lookup_number(std::slice::from_ref(item), number).is_some()
    };
    let anchor = state::anchor(&item.paper, &item.id);
    CellView {
        anchor: shown.insert(anchor.clone()).then_some(anchor),
        published: item.published_text(),
        measured: item.measured_text(),
        interval: item
            .median_ci95
            .filter(|interval| interval.is_wide())
            .map_or_else(String::new, |_| item.ends_text()),
        mark: state.mark,
        class: state.class,
        tip: state::behind(item, published.number.iter().find(is_mine), command),
    }
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
        let unit = match unit_symbol(panel.unit) {
            "" => String::new(),
            unit => format!(" ({unit})"),
        };
        Figure {
            caption: caption + &unit,
            legend: vec![],
            svg: figure::svg(published, spec, panel, &labels),
        }
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
    Figure {
        caption: caption.collect::<Vec<_>>().join(", "),
        legend: recording.curves.iter().enumerate().map(legend).collect(),
        svg: recordings::drawing(recording).svg(),
    }
}

/// A column of numbers: its name, and an item's value.
type Column = (&'static str, fn(&Item) -> Option<f64>);

/// One line per value, in full precision. Medians have the two ends of their intervals.
fn csv(items: &[Item]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let parameters: BTreeSet<&String> =
        items.iter().flat_map(|item| item.parameters.keys()).collect();
    let ends: &[Column] = match items.iter().any(|item| item.median_ci95.is_some()) {
        false => &[("ci95", |item| item.ci95)],
        true => &[
            ("ci95_low", |item| Some(item.interval()?.low)),
            ("ci95_high", |item| Some(item.interval()?.high)),
        ],
    };
    let header = ["system", "scenario"]
        .into_iter()
        .chain(parameters.iter().map(|name| name.as_str()))
        .chain(["metric", "unit", "published", "measured"])
        .chain(ends.iter().map(|(name, _)| *name))
        .chain(["runs", "state"])
        .map(str::to_owned)
        .collect();
    let record = |item: &Item| {
        let of = |name: &&String| {
            item.parameters.get(*name).map(ToString::to_string).unwrap_or_default()
        };
        let mut fields = vec![item.system.clone(), item.scenario.clone()];
        fields.extend(parameters.iter().map(of));
        fields.extend([item.metric.clone(), item.unit.clone()]);
        fields.extend([item.published, item.measured].map(number));
        fields.extend(ends.iter().map(|(_, end)| number(end(item))));
        fields.extend([item.runs.to_string(), state::of(item).meaning.to_owned()]);
        fields
    };
    csv_file::text_of_records(header, items.iter().map(record))
}
