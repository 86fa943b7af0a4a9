//! The page of a sweep: the extremes of every metric, its tables, and every axis as curves with
//! bands. It is made from the results alone.

use indexmap::{IndexMap, IndexSet};
use minijinja::{Value, context};

use super::axis::Axis;
use super::chart::{Figure, Scale};
use super::lines::{self, Curve, Lines, Point, Style};
use losscause_laboratory::sweep::{
    CellOutcome, Row, STACK, SweepClaim, SweepResult, summary, value_in_words,
};
use losscause_study::statistics::Interval;
use losscause_study::tools::figures::{in_parentheses, seeds, sentence, unit_symbol};

/// What the template shows.
pub(super) fn page(result: &SweepResult) -> Value {
    let seeds = match result.seeds_by_cell {
        true => format!("seeds by cell from {}", result.seed),
        false => seeds(result.seed, result.runs),
    };
    let answers = match (result.is_scored(), result.systems().len() > 1) {
        (true, _) => scored_answers(result),
        _ if !result.claims.is_empty() => claims(result),
        (false, true) => against_the_first(result),
        (false, false) => answers(result),
    };
    let charts_note = match result.sampler {
        Some(_) => {
            "Each point is a cell; the values are means, and the tables have their intervals."
        }
        None => {
            "The bands are 95 % intervals. Where there are too many combinations, the other axes have the values of the \
             first cell."
        }
    };
    let pivots = result.pivots();
    context! {
        title => result.title,
        sweep => result.sweep,
        settings => result.settings,
        version => result.version,
        answers,
        runs => format!("{} cells, {} each, {seeds}", result.cells.len(), result.runs_in_words()),
        charts => (0..result.metrics.len()).map(|place| charts(result, place)).collect::<Vec<_>>(),
        charts_note,
        // The tables: each one's title, and the table in HTML.
        pivots => pivots.iter().map(|table| (&table.title, table.html())).collect::<Vec<_>>(),
        footnote => sentence(&result.footnote()),
        // The cells of a scored sweep.
        scores => if result.is_scored() { result.scores().html() } else { String::new() },
        csv => result.csv(),
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

/// A metric, and a drawing of it for every axis.
fn charts(result: &SweepResult, place: usize) -> Value {
    let (metric, unit) = result.metric(place);
    let drawing = |axis: usize| {
        let caption = format!("{metric} by {}{}", result.axes[axis], in_parentheses(unit));
        Figure::new(caption, drawing(result, place, axis))
    };
    // Between two stacks there is nothing to draw a curve through.
    let axes = (0..result.axes.len()).filter(|axis| result.axes[*axis] != STACK);
    let drawings = axes.map(drawing).filter(|figure| !figure.svg.is_empty());
    context! {
        anchor => format!("lines-{metric}"),
        metric,
        drawings => drawings.collect::<Vec<_>>(),
    }
}

/// What a curve holds fixed: the values of the other axes, and the system.
type Fixed<'a> = (Vec<&'a str>, &'a str);

/// A curve's values over the axis.
type Values<'a> = Vec<(&'a str, &'a Row)>;

type Curves<'a> = IndexMap<Fixed<'a>, Values<'a>>;

/// Most cells of a sampled sweep in a drawing.
const MOST_POINTS: usize = 2_000;

/// A metric over one axis; empty if there is nothing to draw. Of a sampled sweep, each cell is a
/// point of its own: all axes change from cell to cell.
fn drawing(result: &SweepResult, place: usize, axis: usize) -> String {
    let is_sampled = result.sampler.is_some();
    let value = |cell: &CellOutcome| cell.cell.values[axis].value.clone();
    let places: IndexSet<String> = result.cells.iter().map(value).collect();
    if places.len() < 2 || (is_sampled && result.cells.len() > MOST_POINTS) {
        return String::new();
    }
    let numbers: Option<Vec<f64>> = places.iter().map(|value| value.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.iter().all(|number| number.is_finite()));
    let x = |value: &str| {
        let index = places.get_index_of(value).unwrap_or(0);
        numbers.as_ref().map_or(index as f64, |numbers| numbers[index])
    };
    let all = grouped(result, place, axis);
    let name = &result.axes[axis];
    let curve = |(index, (fixed, values)): (usize, (&Fixed<'_>, &Values<'_>))| {
        let curve = name_of(result, axis, fixed, &all);
        let point = |(value, row): &(&str, &Row)| {
            let value_text = value_in_words(name, value);
            let title = format!("{name} {value_text} {curve}: {}", row.in_words());
            let interval = row.ci95.filter(|_| !is_sampled).zip(row.measured);
            Point {
                interval: interval.map(|(ci95, mean)| Interval::around(mean, ci95)),
                ..Point::new(x(value), row.measured, title)
            }
        };
        let mut points: Vec<Point> = values.iter().map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        if is_sampled {
            // A gap between every two points: no line joins them.
            let apart = |point: Point| [Point { value: None, ..point.clone() }, point];
            points = points.into_iter().flat_map(apart).collect();
        }
        Curve { name: curve, style: Style::nth(index), points }
    };
    let curves: Vec<Curve> = all.iter().enumerate().map(curve).collect();
    let points = curves.iter().flat_map(|curve| &curve.points);
    let values: Vec<(f64, Option<Interval>)> =
        points.filter_map(|point| Some((point.value?, point.interval))).collect();
    let (metric, unit) = result.metric(place);
    let across = across(result, axis, &places, numbers.as_deref());
    let Some((across, up)) = across.zip(Axis::around_intervals(&values, unit)) else {
        return String::new();
    };
    Lines::new(format!("{metric} over {name}"), across, Scale::of("", up), curves).svg()
}

/// The values of a metric: a curve for every combination of the other axes and system, or if these
/// are too many, for the base's values of the other axes.
fn grouped(result: &SweepResult, place: usize, axis: usize) -> Curves<'_> {
    let mut all = Curves::new();
    for cell in &result.cells {
        let value = cell.cell.values[axis].value.as_str();
        for row in cell.rows.iter().skip(place).step_by(result.metrics.len()) {
            let fixed = (others(result, cell, axis), row.system.as_str());
            all.entry(fixed).or_default().push((value, row));
        }
    }
    if !result.is_grid || all.len() > MOST_CURVES {
        let base = others(result, &result.cells[0], axis);
        all.retain(|(others, _), _| *others == base);
    }
    all
}

/// A cell's values of the other axes, which do not matter in a sampled sweep.
fn others<'a>(result: &SweepResult, cell: &'a CellOutcome, axis: usize) -> Vec<&'a str> {
    let values = cell.cell.values.iter().enumerate().filter(|(k, _)| *k != axis);
    let is_sampled = result.sampler.is_some();
    values.map(|(_, value)| if is_sampled { "" } else { value.value.as_str() }).collect()
}

/// The system if there are several, and those values of the other axes that differ between the
/// curves. A number needs its axis.
fn name_of(
    result: &SweepResult,
    axis: usize,
    (values, system): &Fixed<'_>,
    all: &Curves<'_>,
) -> String {
    let of_curves = |k: usize| all.keys().map(move |(values, _)| values[k]);
    let differs = |k: usize, value: &str| of_curves(k).any(|other| other != value);
    // Of a path the last part is enough, if it says which: "low" of cen2003/low.
    let end = |value: &str| value.rsplit('/').next().unwrap_or_default().to_owned();
    let short = |k: usize, value: &str| {
        let is_unique = of_curves(k).all(|other| other == value || end(other) != end(value));
        if is_unique { end(value) } else { value.to_owned() }
    };
    let axes = result.axes.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, axis)| axis);
    let parts = axes.zip(values).enumerate().filter(|(k, (_, value))| differs(*k, value));
    let parts = parts.map(|(k, (axis, value))| match value.parse::<f64>() {
        Ok(_) => format!("{axis} {}", value_in_words(axis, value)),
        Err(_) => short(k, value),
    });
    let system = all.keys().any(|(_, other)| other != system).then(|| (*system).to_owned());
    system.into_iter().chain(parts).collect::<Vec<_>>().join(", ")
}

/// The horizontal axis: to scale if all values are numbers, logarithmic if their range is, else at
/// equal distances.
fn across(
    result: &SweepResult,
    axis: usize,
    places: &IndexSet<String>,
    numbers: Option<&[f64]>,
) -> Option<Scale> {
    let name = &result.axes[axis];
    let Some(numbers) = numbers else {
        let axis = Axis::linear(0.0, places.len() as f64 - 1.0);
        let ticks = (0..).map(f64::from).zip(places.iter().cloned()).collect();
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
