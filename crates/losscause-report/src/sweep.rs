//! The page of a sweep: the extremes of every metric, its tables, and every axis as curves with
//! bands. It is made from the results alone.

use serde::Serialize;

use super::axis::Axis;
use super::chart::{Figure, Scale};
use super::lines::{self, Curve, Lines, Point, Style};
use losscause_laboratory::sweep::{
    CellOutcome, Row, STACK, SweepClaim, SweepResult, summary, value_in_words,
};
use losscause_study::statistics::Interval;
use losscause_study::tools::figures::{sentence, unit_symbol};

#[derive(Serialize)]
pub(super) struct PageView {
    title: String,
    sweep: String,
    settings: Vec<String>,
    answers: Vec<String>,
    runs: String,
    charts: Vec<ChartsView>,
    charts_note: &'static str,
    /// The tables: each one's title, and the table in HTML.
    pivots: Vec<(String, String)>,
    footnote: String,
    /// The cells of a scored sweep.
    scores: String,
    csv: String,
    version: String,
}

/// The drawings of one metric: one per axis.
#[derive(Serialize)]
struct ChartsView {
    anchor: String,
    metric: String,
    drawings: Vec<Figure>,
}

/// The view of the whole page.
pub(super) fn page(result: &SweepResult) -> PageView {
    let last = result.seed.wrapping_add(u64::from(result.runs) - 1);
    let seeds = match result.seeds_by_cell {
        true => format!("seeds by cell from {}", result.seed),
        false if result.runs == 1 => format!("seed {}", result.seed),
        false => format!("seeds {} to {last}", result.seed),
    };
    PageView {
        title: result.title.clone(),
        sweep: result.sweep.clone(),
        settings: result.settings.clone(),
        answers: match (result.is_scored(), result.systems().len() > 1) {
            (true, _) => scored_answers(result),
            _ if !result.claims.is_empty() => claims(result),
            (false, true) => against_the_first(result),
            (false, false) => answers(result),
        },
        runs: format!("{} cells, {} each, {seeds}", result.cells.len(), result.runs_in_words()),
        charts: (0..result.metrics.len()).map(|place| charts(result, place)).collect(),
        charts_note: match result.sampler {
            Some(_) => {
                "Each point is a cell; the values are means, and the tables have their intervals."
            }
            None => {
                "The bands are 95 % intervals. Where there are too many combinations, the other axes have the values of the \
                 first cell."
            }
        },
        pivots: result
            .pivots()
            .into_iter()
            .map(|table| (table.title.clone(), table.html()))
            .collect(),
        footnote: sentence(&result.footnote()),
        scores: if result.is_scored() { result.scores().html() } else { String::new() },
        csv: result.csv(),
        version: result.version.clone(),
    }
}

/// What the sweep file claims, and whether it holds.
fn claims(result: &SweepResult) -> Vec<String> {
    let of = |claim: &SweepClaim| [sentence(&claim.answer()), sentence(&claim.details())];
    result.claims.iter().flat_map(of).collect()
}

/// A value of one metric, and where it was measured.
type Measured<'a> = (f64, &'a CellOutcome, &'a Row);

/// All values of the metric at `place`.
fn measured(result: &SweepResult, place: usize) -> Vec<Measured<'_>> {
    let step = result.metrics.len();
    let of_cell = |cell| {
        let cell: &CellOutcome = cell;
        cell.rows
            .iter()
            .skip(place)
            .step_by(step)
            .filter_map(move |row| Some((row.measured?, cell, row)))
    };
    result.cells.iter().flat_map(of_cell).collect()
}

/// How many times the first system's value the others have, a sentence per metric and system.
fn against_the_first(result: &SweepResult) -> Vec<String> {
    let systems = result.systems();
    let step = result.metrics.len();
    let ratio = |cell: &CellOutcome, place: usize, system: usize| {
        let first = cell.rows[place].measured.filter(|value| *value > 0.0)?;
        Some(cell.rows[system * step + place].measured? / first)
    };
    let mut sentences = Vec::new();
    for (place, metric) in result.metrics.keys().enumerate() {
        for (number, system) in systems.iter().enumerate().skip(1) {
            let ratios: Vec<(f64, &CellOutcome)> = result
                .cells
                .iter()
                .filter_map(|cell| Some((ratio(cell, place, number)?, cell)))
                .collect();
            let least = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0));
            let most = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0));
            let (Some(least), Some(most)) = (least, most) else { continue };
            let times = |(ratio, cell): &(f64, &CellOutcome)| {
                let values = cell.cell.values.iter();
                let at = values.map(|value| format!("{} {}", value.axis, value.in_words()));
                format!("{ratio:.2} times at {}", at.collect::<Vec<_>>().join(", "))
            };
            sentences.push(format!(
                "{metric}: {system} has from {} to {} that of {}.",
                times(least),
                times(most),
                systems[0]
            ));
        }
    }
    if sentences.is_empty() { answers(result) } else { sentences }
}

/// Where each metric is highest and lowest, one sentence each.
fn answers(result: &SweepResult) -> Vec<String> {
    let sentence = |(place, (metric, unit)): (usize, (&String, &String))| {
        let values = measured(result, place);
        let most = values.iter().reduce(|a, b| if b.0 > a.0 { b } else { a });
        let least = values.iter().reduce(|a, b| if b.0 < a.0 { b } else { a });
        let (Some(most), Some(least)) = (most, least) else {
            return format!("{metric} has no value.");
        };
        let text = |(_, cell, row): &Measured<'_>| {
            let value = format!("{} {}", row.in_words(), unit_symbol(unit));
            format!("{} at {}", value.trim_end(), at(result, cell, row))
        };
        match most.0 == least.0 {
            true => format!("{metric} is {} in every cell.", most.2.in_words()),
            false => {
                format!("{metric} is highest with {}, and lowest with {}.", text(most), text(least))
            }
        }
    };
    result.metrics.iter().enumerate().map(sentence).collect()
}

/// "loss 0.01, ZBS".
fn at(result: &SweepResult, cell: &CellOutcome, row: &Row) -> String {
    let values =
        cell.cell.values.iter().map(|value| format!("{} {}", value.axis, value.in_words()));
    let system = (result.systems().len() > 1).then(|| row.system.clone());
    values.chain(system).collect::<Vec<_>>().join(", ")
}

fn scored_answers(result: &SweepResult) -> Vec<String> {
    let numbers =
        |cell: &CellOutcome| cell.score.map(|score| (score.within_tolerance, score.numbers));
    let Some((base, (within, of))) =
        result.cells.first().and_then(|cell| Some((cell, numbers(cell)?)))
    else {
        return vec!["Nothing was scored.".to_owned()];
    };
    let best = result
        .cells
        .iter()
        .reduce(|a, b| if numbers(b) > numbers(a) { b } else { a })
        .unwrap_or(base);
    let named = &summary(&[base.clone(), best.clone()])[1];
    let base_text = format!("The base meets {within} of {of} published numbers");
    match numbers(best) {
        Some((more, of)) if more > within => {
            vec![format!("{base_text}; most are met with {}: {more} of {of}.", named.in_words())]
        }
        _ => vec![format!("{base_text}, and no other cell meets more.")],
    }
}

/// Most curves of a drawing that has one per combination of the other axes; else the others have
/// the base's values.
const MOST_CURVES: usize = 8;

fn charts(result: &SweepResult, place: usize) -> ChartsView {
    let (metric, unit) = result.metric(place);
    let unit = match unit_symbol(unit) {
        "" => String::new(),
        unit => format!(" ({unit})"),
    };
    let drawing = |axis: usize| Figure {
        caption: format!("{metric} by {}{unit}", result.axes[axis]),
        legend: vec![],
        svg: drawing(result, place, axis),
    };
    ChartsView {
        anchor: format!("lines-{metric}"),
        metric: metric.to_owned(),
        // Between two stacks there is nothing to draw a curve through.
        drawings: (0..result.axes.len())
            .filter(|axis| result.axes[*axis] != STACK)
            .map(drawing)
            .filter(|figure| !figure.svg.is_empty())
            .collect(),
    }
}

/// What a curve holds fixed: the values of the other axes, and the system.
type Fixed = (Vec<String>, String);

/// Most cells of a sampled sweep in a drawing.
const MOST_POINTS: usize = 2_000;

/// A metric over one axis. Of a sampled sweep, each cell is a point of its own: all axes change
/// from cell to cell.
fn drawing(result: &SweepResult, place: usize, axis: usize) -> String {
    let is_sampled = result.sampler.is_some();
    if is_sampled && result.cells.len() > MOST_POINTS {
        return String::new();
    }
    let (metric, unit) = result.metric(place);
    let mut places: Vec<&str> = Vec::new();
    for cell in &result.cells {
        let value = cell.cell.values[axis].value.as_str();
        if !places.contains(&value) {
            places.push(value);
        }
    }
    if places.len() < 2 {
        return String::new();
    }
    let others = |cell: &CellOutcome| {
        if is_sampled {
            return vec![String::new(); result.axes.len() - 1];
        }
        let values = cell.cell.values.iter().enumerate().filter(|(k, _)| *k != axis);
        values.map(|(_, value)| value.value.clone()).collect::<Vec<_>>()
    };
    let step = result.metrics.len();
    let mut all: Vec<(Fixed, Vec<(&str, &Row)>)> = Vec::new();
    for cell in &result.cells {
        for row in cell.rows.iter().skip(place).step_by(step) {
            let fixed = (others(cell), row.system.clone());
            let point = (cell.cell.values[axis].value.as_str(), row);
            match all.iter_mut().find(|(known, _)| *known == fixed) {
                Some((_, points)) => points.push(point),
                None => all.push((fixed, vec![point])),
            }
        }
    }
    if !result.is_grid || all.len() > MOST_CURVES {
        let base = others(&result.cells[0]);
        all.retain(|((others, _), _)| *others == base);
    }
    // The others' values that differ between curves name them; a number needs its axis.
    let differs = |k: usize| all.iter().any(|((values, _), _)| values[k] != all[0].0.0[k]);
    // Of a path the last part is enough, if it says which: "low" of cen2003/low.
    let short = |k: usize, value: &String| {
        let ends = |other: &String| other.rsplit('/').next().unwrap_or_default().to_owned();
        let is_unique = all
            .iter()
            .all(|((values, _), _)| values[k] == *value || ends(&values[k]) != ends(value));
        if is_unique { ends(value) } else { value.clone() }
    };
    let name = |(values, system): &Fixed| {
        let axes = result.axes.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, axis)| axis);
        let others =
            axes.zip(values).enumerate().filter(|(k, _)| differs(*k)).map(|(k, (axis, value))| {
                match value.parse::<f64>() {
                    Ok(_) => format!("{axis} {}", value_in_words(axis, value)),
                    Err(_) => short(k, value),
                }
            });
        let system = all.iter().any(|((_, other), _)| other != system).then(|| system.clone());
        system.into_iter().chain(others).collect::<Vec<_>>().join(", ")
    };
    let numbers: Option<Vec<f64>> = places.iter().map(|value| value.parse().ok()).collect();
    let numbers =
        numbers.filter(|numbers: &Vec<f64>| numbers.iter().all(|number| number.is_finite()));
    let Some(across) = across(result, axis, &places, numbers.as_deref()) else {
        return String::new();
    };
    let x = |value: &str| {
        let index = places.iter().position(|place| *place == value).unwrap_or(0);
        numbers.as_ref().map_or(index as f64, |numbers| numbers[index])
    };
    let curves: Vec<Curve> = all
        .iter()
        .enumerate()
        .map(|(index, (fixed, points))| {
            let name = name(fixed);
            let point = |(value, row): &(&str, &Row)| Point {
                x: x(value),
                value: row.measured,
                interval: row
                    .ci95
                    .filter(|_| !is_sampled)
                    .zip(row.measured)
                    .map(|(ci95, mean)| Interval::around(mean, ci95)),
                title: format!(
                    "{} {} {name}: {}",
                    result.axes[axis],
                    value_in_words(&result.axes[axis], value),
                    row.in_words()
                ),
                ring: None,
            };
            let mut points: Vec<Point> = points.iter().map(point).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            if is_sampled {
                // A gap between every two points: no line joins them.
                points = points
                    .into_iter()
                    .flat_map(|point| [Point { value: None, ..point.clone() }, point])
                    .collect();
            }
            Curve { name, style: Style::nth(index), points }
        })
        .collect();
    let points = curves.iter().flat_map(|curve| &curve.points);
    let values: Vec<(f64, Option<Interval>)> =
        points.filter_map(|point| Some((point.value?, point.interval))).collect();
    let Some(up) = Axis::around_intervals(&values, unit) else { return String::new() };
    Lines {
        label: format!("{metric} over {}", result.axes[axis]),
        across,
        up: Scale::of("", up),
        curves,
    }
    .svg()
}

/// The horizontal axis: to scale if all values are numbers, logarithmic if their range is, else at
/// equal distances.
fn across(
    result: &SweepResult,
    axis: usize,
    places: &[&str],
    numbers: Option<&[f64]>,
) -> Option<Scale> {
    let name = &result.axes[axis];
    let Some(numbers) = numbers else {
        let names = places.iter().map(|place| (*place).to_owned());
        let axis = Axis::linear(0.0, places.len() as f64 - 1.0);
        let ticks = (0..).map(f64::from).zip(names).collect();
        return Some(Scale { name: name.clone(), axis, ticks, has_lines: false });
    };
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut across = lines::across(name, &sorted)?;
    across.axis.logarithmic |= result.logarithmic_axes.contains(name);
    if result.sampler.is_some() {
        // No drawn value stands out.
        let axis = across.axis;
        let ticks = if axis.logarithmic { axis.ticks() } else { axis.round_ticks() };
        across = Scale { has_lines: false, ..Scale::with_ticks(name, axis, ticks) };
    }
    for (value, text) in &mut across.ticks {
        let number = value.to_string();
        let words = value_in_words(name, &number);
        if words != number {
            *text = words;
        }
    }
    Some(across)
}
