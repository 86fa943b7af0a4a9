//! The decision boundary of an algorithm over a run's samples: what it measured over time with its
//! limits, and every loss that it judged. Where the limits are multiples of a span that grow with
//! the number of lost packets (Biaz), a column per number of lost packets.

use indexmap::IndexSet;

use super::axis::Axis;
use super::chart::{Chart, Figure, Form, Legend, Scale, Stroke};
use super::losses;
use super::marks::{self, Mark};
use super::time::{Curve, Drawing, Panel};
use losscause::Evidence;
use losscause_study::run::{Boundary, LostPacket, RecordSeries as Series, RunRecord};

/// The judged losses of one scheme.
type Judged<'a> = (Evidence, &'a LostPacket);

/// One drawing per scheme that judged losses of `flow`.
pub(super) fn drawings(record: &RunRecord, flow: &str) -> Vec<Figure> {
    let judged: Vec<Judged<'_>> = record
        .losses
        .iter()
        .filter(|loss| loss.flow == flow)
        .filter_map(|loss| Some((evidence(loss)?, loss)))
        .collect();
    let of_flow = record.flows.iter().find(|recorded| recorded.name == flow);
    let boundaries: &[Boundary] =
        of_flow.map(|recorded| &recorded.boundaries[..]).unwrap_or_default();
    let of_boundaries = boundaries.iter().map(|boundary| boundary.scheme);
    let of_losses = judged.iter().map(|(compared, _)| compared.scheme);
    let schemes: IndexSet<&str> = of_boundaries.chain(of_losses).collect();
    let draw = |scheme: &&str| {
        let mine: Vec<&Judged<'_>> =
            judged.iter().filter(|(compared, _)| compared.scheme == *scheme).collect();
        let boundary = boundaries.iter().find(|boundary| boundary.scheme == *scheme);
        match mine.first() {
            Some((compared, _)) if is_of_gaps(compared) => gaps(scheme, flow, &mine),
            None if boundary.is_some_and(|boundary| {
                boundary.limits.len() == 2 && is_named_of_gaps(boundary)
            }) =>
            {
                None
            }
            _ => over_time(scheme, flow, record, boundary, &mine),
        }
    };
    schemes.iter().filter_map(draw).collect()
}

fn evidence(loss: &LostPacket) -> Option<Evidence> {
    loss.judged?.1.evidence().copied()
}

/// Whether a lower limit grows with the packets lost.
fn is_of_gaps(compared: &Evidence) -> bool {
    compared.lost.is_some() && compared.limits().count() == 2
}

fn is_named_of_gaps(boundary: &Boundary) -> bool {
    boundary.limits[0].0 == "wireless from"
}

/// Samples and limits over time.
fn over_time(
    scheme: &str,
    flow: &str,
    record: &RunRecord,
    boundary: Option<&Boundary>,
    judged: &[&Judged<'_>],
) -> Option<Figure> {
    let (quantity, unit) = match judged.first() {
        Some((compared, _)) => (compared.quantity, compared.value.unit()),
        None => ("measured", ""),
    };
    let mut curves = Vec::new();
    if let Some(boundary) = boundary {
        // A hybrid's scheme has values only while it is in force.
        let pieces = |points: &[(f64, f64)]| in_pieces(points, record.to_s / 60.0);
        for points in pieces(&boundary.measured.points()) {
            curves.push(Curve::new(quantity, "samples", Stroke::Line, points));
        }
        for (k, (name, series)) in boundary.limits.iter().enumerate() {
            let curve = |points| Curve::new(name, format!("limit l{k}"), Stroke::Line, points);
            curves.extend(pieces(&last_values(series)).into_iter().map(curve));
        }
    } else {
        // A sender's limits are known only when it judges.
        let limits = judged.iter().flat_map(|(compared, _)| compared.limits());
        let names: IndexSet<&str> = limits.map(|limit| limit.name).collect();
        for (k, name) in names.iter().enumerate() {
            let value = |(compared, loss): &&Judged<'_>| {
                let limit = compared.limits().find(|limit| limit.name == *name)?;
                Some((loss.at_s(), limit.at.value()))
            };
            let points = judged.iter().filter_map(value).collect();
            curves.push(Curve::new(name, format!("limit l{k}"), Stroke::Held, points));
        }
    }
    let mut legend = Legend::new();
    for curve in &curves {
        let words =
            if curve.name == quantity { quantity.to_owned() } else { in_words(&curve.name) };
        if legend.iter().all(|(_, known)| *known != words) {
            legend.push((curve.sample(), words));
        }
    }
    let mark = |(compared, loss): &&Judged<'_>| losses::mark(loss, compared.value.value());
    let marks = judged.iter().map(mark).collect();
    let (from_s, to_s) = in_force(&curves, record.to_s);
    let names = wrapped(quantity, unit);
    let drawing = Drawing {
        label: format!("{scheme}: {quantity} over time with its limits and the losses of {flow}"),
        from_s,
        to_s,
        panels: vec![Panel { names, curves, marks, spot: (2.0, 3.0) }],
        lanes: vec![],
    };
    let caption = format!("{scheme}: {quantity} of {flow}");
    Some(Figure::new(caption, drawing.svg()).legend(legend))
}

/// The name of a quantity in lines of two words, then its unit.
fn wrapped(quantity: &str, unit: &str) -> Vec<String> {
    let words: Vec<&str> = quantity.split(' ').collect();
    words.chunks(2).map(|words| words.join(" ")).chain([unit.to_owned()]).collect()
}

/// When a scheme that was in force for less than half of the run was so; else the whole run.
fn in_force(curves: &[Curve], end_s: f64) -> (f64, f64) {
    let times = || curves.iter().flat_map(|curve| &curve.points).map(|(at, _)| *at);
    let first = times().fold(end_s, f64::min);
    let last = times().fold(0.0, f64::max);
    let room = (last - first).max(end_s / 100.0) * 0.05;
    if last - first < end_s / 2.0 {
        ((first - room).max(0.0), (last + room).min(end_s))
    } else {
        (0.0, end_s)
    }
}

/// The points without the gaps between them that are longer than `most_s` seconds.
fn in_pieces(points: &[(f64, f64)], most_s: f64) -> Vec<Vec<(f64, f64)>> {
    points.chunk_by(|before, after| after.0 - before.0 <= most_s).map(<[_]>::to_vec).collect()
}

/// The last value of every step: limits do not need their extremes.
fn last_values(series: &Series) -> Vec<(f64, f64)> {
    let mut last: Vec<(f64, f64)> = Vec::new();
    for (at, value) in series.points() {
        match last.last_mut() {
            Some(point) if point.0 == at => point.1 = value,
            _ => last.push((at, value)),
        }
    }
    last
}

/// A limit in words.
fn in_words(limit: &str) -> String {
    match limit {
        "enters above" => "the spike begins above".to_owned(),
        "exits below" => "the spike ends below".to_owned(),
        "wireless below" => "wireless below, for one lost packet".to_owned(),
        other => other.to_owned(),
    }
}

const FORM: Form = Form::new((720.0, 330.0), [24.0, 0.0, 46.0, 64.0]);

/// One of two limits.
fn limit(evidence: &Evidence, place: usize) -> f64 {
    evidence.limits[place].map_or(0.0, |limit| limit.at.value())
}

/// Most columns; wider gaps share the last one.
const COLUMNS: u32 = 6;

/// Inter-arrival times over T_min: a column per number of lost packets, each with its band of
/// wireless losses.
fn gaps(scheme: &str, flow: &str, judged: &[&Judged<'_>]) -> Option<Figure> {
    let column = |compared: &Evidence| compared.lost.unwrap_or(1).clamp(1, COLUMNS);
    let columns = judged.iter().map(|(compared, _)| column(compared)).max()?;
    // The lower limit is (n + 1) T_min.
    let in_t_min = |compared: &Evidence, value: f64| {
        value / limit(compared, 0).max(1e-9) * f64::from(compared.lost.unwrap_or(1) + 1)
    };
    let shown = |compared: &Evidence, value: f64| {
        // Wider gaps than the last column's are moved into its band.
        let extra = compared.lost.unwrap_or(1).saturating_sub(COLUMNS);
        in_t_min(compared, value) - f64::from(extra)
    };
    let top = columns + 4;
    let ticks = (0..=top).map(f64::from).collect();
    let up = Scale::with_ticks("inter-arrival / T_min", Axis::linear(0.0, f64::from(top)), ticks);
    let more = |n| if n == COLUMNS { " or more" } else { "" };
    let across = Scale::of_names((1..=columns).map(|n| format!("{n}{} lost", more(n))));
    let label =
        format!("{scheme}: inter-arrival times over T_min by number of lost packets, {flow}");
    let mut chart = Chart::new("time gaps", &label, FORM, &across, &up);
    for n in 1..=columns {
        let middle = f64::from(n) - 0.5;
        let of_column = || judged.iter().filter(|(compared, _)| column(compared) == n);
        if let Some((compared, _)) = of_column().next() {
            let low = shown(compared, limit(compared, 0));
            let high = shown(compared, limit(compared, 1));
            let title = format!("wireless: {low:.0} to {high:.2} T_min");
            let (left, right) = (middle - 0.46, middle + 0.46);
            let corners = [(left, low), (left, high), (right, high), (right, low)];
            chart.area("band", corners.into_iter(), &title);
        }
        chart.note("name", (middle, 0.0), (0.0, 31.0), &format!("({})", of_column().count()));
    }
    let end = judged.iter().map(|(_, loss)| loss.at_s()).fold(1e-9, f64::max);
    let mark = |(compared, loss): &&Judged<'_>| Mark {
        at_s: f64::from(column(compared) - 1) + 0.08 + 0.84 * loss.at_s() / end,
        ..losses::mark(loss, shown(compared, compared.value.value()))
    };
    let marks: Vec<Mark> = judged.iter().map(mark).collect();
    marks::draw(&mut chart, &marks, |mark| (mark.at_s, mark.value), (3.0, 3.0));
    let caption = format!(
        "{scheme}: when the packet after a gap came, {flow}; in each column from the beginning to the end of the run"
    );
    let legend =
        vec![(r#"<span class="swatch band"></span>"#.to_owned(), "wireless if within".to_owned())];
    Some(Figure::new(caption, chart.finish()).legend(legend))
}
