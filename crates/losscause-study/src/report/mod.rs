//! A reproduction as one self-contained HTML file.

use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;

use crate::papers::record::{self, Published};
use crate::papers::record::{Item, Status};
use crate::papers::reproduce::{Calibrated, RecordedCurve, Recording, Reproduction, Scorecard, Sheet, score_in_words};
use crate::report::curves::{Curve, Panel, panels};

mod chart;
pub mod curves;
mod lines;
mod phase;
mod time;

/// Writes the report: scores, every table in the paper's order with a drawing per metric, and every claim. `sheets` are
/// those of the plan that was executed.
pub fn html(reproduction: &Reproduction, sheets: &[Sheet]) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    let template = environment.template_from_str(include_str!("report.html")).expect("a test renders the template");
    let papers: Vec<PaperView> = reproduction.scorecards().iter().map(paper_view).collect();
    let tables: Vec<TableView> = sheets.iter().map(|sheet| table_view(sheet, reproduction)).collect();
    let context = context! {
        papers, tables, seed => reproduction.seed, version => reproduction.version, claims => claims(reproduction),
        calibrated => reproduction.calibrated.iter().map(calibrated_view).collect::<Vec<_>>()
    };
    template.render(context).expect("a test renders the template")
}

#[derive(Serialize)]
struct PaperView {
    title: String,
    authors: String,
    venue: String,
    score: String,
}

#[derive(Serialize)]
struct TableView {
    name: String,
    source: String,
    title: String,
    runs: u32,
    score: String,
    systems: Vec<String>,
    rows: Vec<RowView>,
    /// For a figure: what the curves are, and the panels. The rows are then its values.
    legend: Vec<LegendView>,
    panels: Vec<PanelView>,
    /// Runs over time.
    recordings: Vec<RecordingView>,
}

#[derive(Serialize)]
struct RecordingView {
    caption: String,
    legend: Vec<LegendView>,
    drawing: String,
}

#[derive(Serialize)]
struct LegendView {
    name: String,
    sample: String,
}

#[derive(Serialize)]
struct PanelView {
    caption: String,
    unit: String,
    drawing: String,
}

#[derive(Serialize)]
struct RowView {
    metric: String,
    unit: String,
    cells: Vec<CellView>,
    chart: String,
}

#[derive(Serialize)]
struct CellView {
    published: String,
    measured: String,
    ci95: Option<String>,
    mark: &'static str,
    meaning: &'static str,
    class: &'static str,
}

#[derive(Serialize)]
struct ClaimView {
    id: String,
    statement: String,
    evidence: String,
    mark: &'static str,
    meaning: &'static str,
    class: &'static str,
}

#[derive(Serialize)]
struct CalibratedView {
    text: String,
    mark: &'static str,
    class: &'static str,
}

fn calibrated_view(found: &Calibrated) -> CalibratedView {
    let (mark, class) = if found.met { ("✓", "good") } else { ("✗", "bad") };
    CalibratedView { text: format!("{}: {found}", found.paper), mark, class }
}

fn paper_view(card: &Scorecard) -> PaperView {
    let published = record::find(&card.paper).expect("a scorecard is of a known paper").published();
    PaperView {
        title: published.title.clone(),
        authors: published.authors.join(", "),
        venue: published.venue.clone(),
        score: format!("{}; {}", card.numbers_in_words(), card.claims_in_words()),
    }
}

fn table_view(sheet: &Sheet, reproduction: &Reproduction) -> TableView {
    let spec = sheet.spec;
    let mut mine: Vec<Item> = Vec::new();
    let mut rows = Vec::new();
    let combinations = spec.combinations();
    let candidates: Vec<&Item> = reproduction
        .items
        .iter()
        .filter(|i| i.paper == sheet.paper.key() && i.scenario == spec.scenario && spec.metrics.contains(&i.metric))
        .collect();
    for parameters in &combinations {
        for metric in &spec.metrics {
            let found: Vec<Item> = spec
                .systems
                .iter()
                .filter_map(|system| {
                    candidates
                        .iter()
                        .find(|i| i.metric == *metric && i.system == *system && i.parameters == *parameters)
                })
                .map(|&item| item.clone())
                .collect();
            let differing = parameters
                .iter()
                .filter(|(name, value)| combinations.iter().any(|other| other.get(*name) != Some(*value)));
            let differing: Vec<String> = differing.map(|(name, value)| format!("{name} {value}")).collect();
            rows.push(RowView {
                metric: [&[metric.clone()][..], &differing].concat().join(", "),
                unit: found.first().map(|i| i.unit.clone()).unwrap_or_default(),
                cells: found.iter().map(cell_view).collect(),
                chart: if spec.x.is_some() { String::new() } else { chart::svg(sheet.paper.published(), &found) },
            });
            mine.extend(found);
        }
    }
    let published = sheet.paper.published();
    let drawn = panels(spec, &mine);
    let (panels, legend) = match &spec.phase {
        Some(phase) => {
            let view = |(caption, drawing)| PanelView { caption, unit: String::new(), drawing };
            let move_view = |(name, sample): (&str, String)| LegendView { name: name.to_owned(), sample };
            let legend = phase::legend().into_iter().map(move_view).collect();
            (phase::drawings(phase, &drawn).into_iter().map(view).collect(), legend)
        }
        None => figure(published, &drawn),
    };
    TableView {
        name: format!("{}/{}", sheet.paper.key(), spec.id),
        source: spec.source.clone(),
        title: spec.title.clone(),
        runs: mine.iter().map(|i| i.runs).max().unwrap_or(0),
        score: score_in_words(sheet.paper, &mine),
        systems: spec.systems.clone(),
        rows,
        legend,
        panels,
        recordings: reproduction.recordings.iter().filter(|r| is_of(r, sheet)).map(recording_view).collect(),
    }
}

/// The panels of a figure, and what its curves are.
fn figure(published: &Published, drawn: &[Panel<'_>]) -> (Vec<PanelView>, Vec<LegendView>) {
    let labels = curves::labels(drawn);
    let view = |panel: &Panel<'_>| {
        let at = panel.at.iter().map(|(name, value)| format!("{name} {value}"));
        PanelView {
            caption: [panel.metric.to_owned()].into_iter().chain(at).collect::<Vec<_>>().join(", "),
            unit: panel.unit.to_owned(),
            drawing: lines::svg(published, panel, &labels),
        }
    };
    let curve = |label: &String| -> Option<&Curve<'_>> {
        drawn.iter().flat_map(|panel| &panel.curves).find(|curve| curve.label() == *label)
    };
    let legend =
        |curve: &Curve<'_>| LegendView { name: curve.label(), sample: lines::sample(published, curve, &labels) };
    (drawn.iter().map(view).collect(), labels.iter().filter_map(curve).map(legend).collect())
}

fn is_of(recording: &Recording, sheet: &Sheet) -> bool {
    recording.paper == sheet.paper.key() && recording.item == sheet.spec.id
}

fn recording_view(recording: &Recording) -> RecordingView {
    let at = recording.parameters.iter().map(|(name, value)| format!("{name} {value}"));
    let seed = format!("seed {}", recording.seed);
    let caption = [recording.system.clone()].into_iter().chain(at).chain([seed]).collect::<Vec<_>>().join(", ");
    let legend = |(place, curve)| {
        let curve: &RecordedCurve = curve;
        let mean = curve.mean.map(|mean| format!("; mean {mean:.1}")).unwrap_or_default();
        LegendView { name: format!("{}, {}{mean}", curve.name, curve.unit), sample: time::sample(curve, place) }
    };
    let legend = recording.curves.iter().enumerate().map(legend).collect();
    RecordingView { caption, legend, drawing: time::svg(recording) }
}

fn cell_view(item: &Item) -> CellView {
    let (mark, meaning) = match item.status {
        Status::Reproduced => ("✓", "reproduced"),
        Status::Missed => ("✗", "missed"),
        Status::Preview if item.within == Some(true) => ("(✓)", "within tolerance, from too few runs"),
        Status::Preview => ("(✗)", "outside the tolerance, from too few runs"),
        Status::NotScored => ("·", "not scored"),
        Status::NoPublishedValue => ("", "no published value"),
    };
    CellView {
        published: item.published_text(),
        measured: item.measured_text(),
        ci95: item.ci95.map(|_| item.ci95_text()),
        mark,
        meaning,
        class: chart::class(item.status),
    }
}

fn claims(reproduction: &Reproduction) -> Vec<ClaimView> {
    let view = |claim: &crate::papers::record::ClaimOutcome| {
        let (mark, meaning, class) = match claim.holds {
            Some(true) => ("✓", "holds", "good"),
            Some(false) => ("✗", "fails", "bad"),
            None => ("?", "undecided", "plain"),
        };
        let (id, statement, evidence) = (claim.id.clone(), claim.statement.clone(), claim.evidence.clone());
        ClaimView { id, statement, evidence, mark, meaning, class }
    };
    let mut views: Vec<ClaimView> = reproduction.claims.iter().map(view).collect();
    // Settled claims come first, then the paper's order.
    views.sort_by_key(|view| view.class == "plain");
    views
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::reproduce::{Plan, Repetitions, Selection, Variation, conclude};

    fn of_published_values() -> (Reproduction, Vec<Sheet>) {
        let selection = Selection::parse(&["cen2003/table2"]).unwrap();
        let plan = Plan::new(&selection, Repetitions::AsPublished, 1, &Variation::default()).unwrap();
        let mut items = plan.items().to_vec();
        for item in &mut items {
            let numbers = &record::find("cen2003").unwrap().published().number;
            item.measured = numbers.iter().find(|n| n.id == item.id).map(|n| n.value);
            item.ci95 = Some(0.5);
        }
        items[0].measured = Some(20.0);
        (conclude(&items, 1), plan.sheets().to_vec())
    }

    #[test]
    fn the_report_needs_nothing_from_elsewhere() {
        let (reproduction, sheets) = of_published_values();
        let html = html(&reproduction, &sheets);
        assert!(!html.contains("http"), "an address of something outside");
        assert!(!html.contains("src="));
        assert!(html.contains("<svg"));
    }

    #[test]
    fn hits_and_misses_are_told_by_more_than_a_colour() {
        let (reproduction, sheets) = of_published_values();
        let html = html(&reproduction, &sheets);
        assert!(html.contains("21 of 22 numbers within tolerance"), "TCP's throughput of 20 is not 55");
        assert!(html.contains("title=\"missed\""));
        assert!(html.contains("✗"));
        assert!(!html.contains("of 72"), "the score of a part counts what was measured");
    }

    #[test]
    fn an_item_without_values_shows_its_runs_over_time_and_says_how_large_they_are() {
        let selection = Selection::parse(&["dalwadi/figure4.2"]).unwrap();
        let plan = Plan::new(&selection, Repetitions::AsPublished, 1, &Variation::default()).unwrap();
        assert!(plan.items().is_empty());
        let sheets = plan.sheets().to_vec();
        let points = vec![(0.0, 2.0), (25.0, 4.0)];
        let curve = RecordedCurve { name: "w<1>".into(), unit: "packets".into(), holds: true, points, mean: Some(3.0) };
        let recording = |item: &str| Recording {
            paper: "dalwadi".into(),
            item: item.into(),
            system: "NewReno".into(),
            parameters: sheets[0].spec.combinations()[0].clone(),
            seed: 7,
            from_s: 0.0,
            to_s: 50.0,
            curves: vec![curve.clone()],
            events: vec![],
        };
        let mut reproduction = conclude(&[], 7);
        reproduction.recordings = vec![recording("figure4.2"), recording("section3")];
        let html = html(&reproduction, &sheets);
        assert_eq!(html.matches("<figure class=\"recording\">").count(), 1, "of its own item only");
        assert!(html.contains("NewReno, error_rate 0.01, seed 7"));
        assert!(html.contains("w&lt;1&gt;, packets; mean 3.0") && !html.contains("w<1>"));
        assert!(!html.contains("published<br>measured"), "a table without rows");
    }
}
