//! Horizontal bars with their intervals and values, for notebooks.

use super::axis::Axis;
use super::chart::{Chart, Form, Scale, shortened};
use losscause_study::tools::figures::{plus_minus, to_the_digits_of};

const FORM: Form = Form {
    width: 530.0,
    height: 48.0,
    left: 150.0,
    right: 120.0,
    top: 8.0,
    bottom: 40.0,
    inset: 0.0,
};
/// The height of a bar with the room around it.
const ROW: f64 = 20.0;
/// Most bars.
const MOST: usize = 24;
/// Longest name of a bar, characters.
const LONGEST: usize = 24;

/// A bar: its name, its value, and the half-width of the value's interval.
pub type Bar = (String, Option<f64>, Option<f64>);

/// The bars over one axis from zero, in the colours of what is around them; empty without a value.
/// A bar without a value says so.
pub(super) fn svg(title: &str, bars: &[Bar]) -> String {
    let shown = &bars[..bars.len().min(MOST)];
    let end = |(_, value, half): &Bar| Some((*value)? + half.unwrap_or(0.0));
    if shown.iter().all(|bar| end(bar).is_none()) {
        return String::new();
    }
    let Some(axis) = Axis::around(shown.iter().filter_map(end).chain([0.0])) else {
        return String::new();
    };
    let names = shown.iter().map(|(name, ..)| shortened(name, LONGEST));
    let rows = Scale::of_names(names).downwards();
    let form = Form { height: FORM.height + ROW * shown.len() as f64, ..FORM };
    let title = match bars.len() - shown.len() {
        0 => title.to_owned(),
        more => format!("{title}; and {more} more"),
    };
    let mut chart = Chart::new("bars", &title, form, &Scale::of(&title, axis), &rows);
    for ((_, value, half), (y, _)) in shown.iter().zip(&rows.ticks) {
        let Some(value) = *value else {
            chart.note("at", (axis.least, *y), (4.0, 4.0), "not defined");
            continue;
        };
        let inside = |value: f64| value.clamp(axis.least, axis.most);
        chart.stroke("bar", (inside(0.0), *y), (value, *y));
        let text = format!("{} {}", to_the_digits_of(value, *half), plus_minus(*half));
        if let Some(half) = half {
            chart.stroke("ends", (inside(value - half), *y), (inside(value + half), *y));
        }
        chart.note("at", (axis.most, *y), (8.0, 4.0), text.trim_end());
    }
    chart.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_its_value_and_one_without_says_so() {
        let bars =
            [("a & b".into(), Some(12.34), Some(0.5)), ("c".into(), None, None)].map(Bar::from);
        let drawn = svg("goodput, kb/s", &bars);
        for text in [">a &amp; b<", ">12.34 ± 0.50<", ">not defined<", ">goodput, kb/s<"] {
            assert!(drawn.contains(text), "{text}: {drawn}");
        }
        assert_eq!(drawn.matches("class=\"bar\"").count(), 1);
        assert_eq!(svg("nothing", &bars[1..]), "");
        let many: Vec<Bar> = (0..30).map(|n| (n.to_string(), Some(1.0), None)).collect();
        assert!(svg("n", &many).contains(">n; and 6 more<"));
    }
}
