//! What all charts share: a plane between axes, and what stands on it: lines, steps, points, areas,
//! strokes, marks and texts, written as SVG.

use std::fmt::Write;

use serde::Serialize;

use super::axis::{Axis, short};
use losscause_study::tools::table::escape;

/// A place in a chart, as the values of both axes.
pub(super) type At = (f64, f64);

/// What a sample in a legend means: the sample as HTML, and words.
pub(super) type Legend = Vec<(String, String)>;

/// A chart on a page; without a value its drawing is empty.
#[derive(Serialize)]
pub(super) struct Figure {
    pub(super) caption: String,
    pub(super) legend: Legend,
    pub(super) svg: String,
}

/// The size of a drawing, and how much of it lies around its plane.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// From the edge of the plane to the ends of the horizontal axis.
    pub(super) inset: f64,
}

impl Figure {
    pub(super) fn new(caption: impl Into<String>, svg: String) -> Self {
        Self { caption: caption.into(), legend: Legend::new(), svg }
    }

    /// The same with what its samples mean.
    pub(super) fn legend(self, legend: Legend) -> Self {
        Self { legend, ..self }
    }
}

impl Form {
    /// Width and height, and how much lies around the plane: at the top, the right, the bottom and
    /// the left.
    pub(super) const fn new(
        (width, height): (f64, f64),
        [top, right, bottom, left]: [f64; 4],
    ) -> Self {
        Self { width, height, left, right, top, bottom, inset: 0.0 }
    }
}

/// An axis as it is drawn.
#[derive(Clone)]
pub(super) struct Scale {
    pub(super) name: String,
    pub(super) axis: Axis,
    /// Values to write at it.
    pub(super) ticks: Vec<(f64, String)>,
    /// Whether a line crosses the plane at each of them.
    pub(super) has_lines: bool,
}

/// How points are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    /// A value holds until the next one.
    Held,
    /// Straight lines.
    Line,
    /// Not at all.
    Dots,
}

/// The shape of a mark. Shapes differ, so that a print in grey is legible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    Bar,
    Square,
    Circle,
    Diamond,
    Peak,
    Cup,
}

/// A chart that is being drawn.
pub(super) struct Chart {
    svg: String,
    form: Form,
    across: Axis,
    up: Axis,
    /// The ends of the vertical axis in the drawing.
    top: f64,
    bottom: f64,
}

impl Scale {
    /// The axis with its own ticks.
    pub(super) fn of(name: impl Into<String>, axis: Axis) -> Self {
        Self::with_ticks(name, axis, axis.ticks())
    }

    /// The axis with these ticks.
    pub(super) fn with_ticks(name: impl Into<String>, axis: Axis, ticks: Vec<f64>) -> Self {
        let ticks = ticks.into_iter().map(|tick| (tick, short(tick))).collect();
        Self { name: name.into(), axis, ticks, has_lines: true }
    }

    /// A place for each name, at 0.5, 1.5, and so on.
    pub(super) fn of_names(names: impl IntoIterator<Item = String>) -> Self {
        let ticks: Vec<(f64, String)> =
            (0..).zip(names).map(|(n, name)| (f64::from(n) + 0.5, name)).collect();
        let axis = Axis::linear(0.0, ticks.len() as f64);
        Self { name: String::new(), axis, ticks, has_lines: false }
    }

    /// The same from the top to the bottom.
    pub(super) fn downwards(self) -> Self {
        Self { axis: Axis::linear(self.axis.most, self.axis.least), ..self }
    }
}

impl Chart {
    /// A chart with its axes. `class` is its kind, `label` what it shows, for those who cannot see
    /// it.
    pub(super) fn new(class: &str, label: &str, form: Form, across: &Scale, up: &Scale) -> Self {
        let mut chart = Self::without_panel(class, "", label, form, across);
        chart.panel(form.top, form.height - form.bottom, up);
        chart
    }

    /// A chart with its horizontal axis, to which panels are added. `attributes` are those of the
    /// drawing beside its class, each with a blank before it.
    pub(super) fn without_panel(
        class: &str,
        attributes: &str,
        label: &str,
        form: Form,
        across: &Scale,
    ) -> Self {
        let Form { width, height, left, right, top, bottom, .. } = form;
        let mut chart = Self {
            svg: String::new(),
            form,
            across: across.axis,
            up: Axis::linear(0.0, 1.0),
            top,
            bottom: height - bottom,
        };
        let label = escape(label);
        chart.line(&format!(
            r#"<svg class="chart {class}" viewBox="0 0 {width:.1} {height:.1}" role="img" aria-label="{label}"{attributes}>"#
        ));
        let mut free_from = f64::NEG_INFINITY;
        for (value, text) in &across.ticks {
            let x = chart.x(*value);
            if across.has_lines {
                chart.path("grid", &joined([(x, top), (x, height - bottom)]), "");
            }
            // A tick that would run into the one before it has no text.
            let half = 3.3 * text.chars().count() as f64;
            if x - half >= free_from {
                free_from = x + half + 4.0;
                chart.text("name", (x, height - bottom + 15.0), text);
            }
        }
        chart.text("name", ((left + width - right) / 2.0, height - 6.0), &across.name);
        chart
    }

    /// Adds a vertical axis between two heights. What follows is drawn there.
    pub(super) fn panel(&mut self, top: f64, bottom: f64, up: &Scale) {
        (self.top, self.bottom, self.up) = (top, bottom, up.axis);
        let Form { width, left, right, .. } = self.form;
        for (value, text) in &up.ticks {
            let y = self.y(*value);
            if up.has_lines {
                self.path("grid", &joined([(left, y), (width - right, y)]), "");
            }
            self.text("tick", (left - 6.0, y + 4.0), text);
        }
        self.text("at", (6.0, top - 12.0), &up.name);
    }

    /// Where a value of the horizontal axis stands.
    pub(super) fn x(&self, value: f64) -> f64 {
        let Form { width, left, right, inset, .. } = self.form;
        left + inset + (width - left - right - 2.0 * inset) * self.across.place(value)
    }

    /// A value of the horizontal axis, or its nearer end.
    pub(super) fn inside(&self, value: f64) -> f64 {
        value.clamp(self.across.least, self.across.most)
    }

    /// Where a value of the vertical axis stands; one beyond an end stands there.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.up.share(value)
    }

    /// Whether a value stands above the end of the vertical axis.
    pub(super) fn is_above(&self, value: f64) -> bool {
        self.up.place(value) > 1.0 + 1e-9
    }

    fn place(&self, (across, up): At) -> (f64, f64) {
        (self.x(across), self.y(up))
    }

    /// A straight line between two places.
    pub(super) fn stroke(&mut self, class: &str, from: At, to: At) {
        let d = joined([self.place(from), self.place(to)]);
        self.path(class, &d, "");
    }

    /// An area with these corners.
    pub(super) fn area(&mut self, class: &str, corners: impl Iterator<Item = At>, title: &str) {
        let d = joined(corners.map(|corner| self.place(corner))) + "z";
        self.path(class, &d, title);
    }

    /// The path of a series.
    pub(super) fn series(&self, stroke: Stroke, points: &[At]) -> String {
        let mut path = String::new();
        // Where the pen is, as written.
        let mut pen: Option<(String, String)> = None;
        for &point in points {
            let (x, y) = self.place(point);
            let here = (format!("{x:.1}"), format!("{y:.1}"));
            let (x, y) = (&here.0, &here.1);
            match (stroke, &pen) {
                (Stroke::Dots, _) => path += &format!("M{x} {y}h.01"),
                (_, None) => path += &format!("M{x} {y}"),
                // A value that does not change needs no stroke of its own.
                (Stroke::Held, Some((_, before))) if before == y => continue,
                (Stroke::Held, Some((before, _))) if before == x => path += &format!("V{y}"),
                (Stroke::Held, Some(_)) => path += &format!("H{x}V{y}"),
                (Stroke::Line, Some(before)) if *before == here => continue,
                (Stroke::Line, Some(_)) => path += &format!("L{x} {y}"),
            }
            pen = Some(here);
        }
        if stroke == Stroke::Held && !path.is_empty() {
            path += &format!("H{:.1}", self.x(self.across.most));
        }
        path
    }

    /// A mark; its title is for hover and focus.
    pub(super) fn mark(&mut self, shape: Shape, class: &str, at: At, title: &str) {
        let d = shape.outline(self.place(at));
        self.path(&format!("mark {class}"), &d, title);
    }

    /// A circle with a radius in the drawing.
    pub(super) fn circle(&mut self, class: &str, at: At, radius: f64, title: &str) {
        let d = circle(self.place(at), radius);
        self.path(class, &d, title);
    }

    /// A text beside a place.
    pub(super) fn note(&mut self, class: &str, at: At, (right, down): (f64, f64), text: &str) {
        let (x, y) = self.place(at);
        self.text(class, (x + right, y + down), text);
    }

    /// A text in the drawing; nothing if it is empty.
    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        if !text.is_empty() {
            let text = escape(text);
            self.line(&format!(r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{text}</text>"#));
        }
    }

    /// A path in the drawing.
    pub(super) fn path(&mut self, class: &str, d: &str, title: &str) {
        self.line(&path(class, d, title));
    }

    /// A line of SVG.
    pub(super) fn line(&mut self, text: &str) {
        writeln!(self.svg, "{text}").expect("a string takes every text");
    }

    /// Names at the right of the plane, each with a thin line from the place it is of, pushed apart
    /// where they would collide.
    pub(super) fn names(&mut self, mut names: Vec<(At, String, &str)>) {
        let Form { width, right, .. } = self.form;
        let at = width - right + 8.0;
        let most = ((right - 8.0) / CHARACTER) as usize;
        names.sort_by(|a, b| b.0.1.total_cmp(&a.0.1));
        let places: Vec<f64> = names.iter().map(|((_, up), ..)| self.y(*up)).collect();
        let lines = names.iter().map(|(.., name)| wrapped(name, most).len()).max().unwrap_or(1);
        let places = apart(&places, NAME_LINE * lines as f64, (self.top, self.bottom));
        for ((from, class, name), place) in names.iter().zip(places) {
            let (x, y) = self.place(*from);
            self.path(&format!("leader {class}"), &joined([(x + 5.0, y), (at - 3.0, place)]), "");
            let parts = wrapped(name, most);
            let first = place + 3.5 - NAME_LINE * (parts.len() as f64 - 1.0) / 2.0;
            let mut text = format!(r#"<text class="end {class}">"#);
            for (n, part) in (0..).zip(&parts) {
                let y = first + NAME_LINE * f64::from(n);
                text += &format!(r#"<tspan x="{at:.1}" y="{y:.1}">{}</tspan>"#, escape(part));
            }
            self.line(&format!("{text}<title>{}</title></text>", escape(name)));
        }
    }

    /// The whole drawing.
    pub(super) fn finish(self) -> String {
        self.svg + "</svg>\n"
    }
}

impl Stroke {
    /// A short stroke, for a legend. `class` is that of its path.
    pub(super) fn sample(self, class: &str) -> String {
        let d = if self == Self::Dots { "M8 7h.01M17 7h.01M26 7h.01" } else { "M1 7H33" };
        sample((34, 14), &path(class, d, ""))
    }
}

impl Shape {
    fn outline(self, (x, y): (f64, f64)) -> String {
        match self {
            Self::Bar => format!("M{x:.1} {:.1}v14", y - 7.0),
            Self::Square => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
            Self::Circle => circle((x, y), 3.8),
            Self::Diamond => format!("M{x:.1} {:.1}l4.5 4.5l-4.5 4.5l-4.5 -4.5z", y - 4.5),
            Self::Peak => format!("M{x:.1} {:.1}l4 7h-8z", y - 4.0),
            Self::Cup => format!("M{x:.1} {:.1}l4 -7h-8z", y + 4.0),
        }
    }

    /// A single mark, for a legend.
    pub(super) fn sample(self, class: &str) -> String {
        sample((16, 16), &path(&format!("mark {class}"), &self.outline((8.0, 8.0)), ""))
    }

    /// A mark on a stroke, for a legend.
    pub(super) fn sample_on(self, stroke: &str, class: &str) -> String {
        let mark = path(&format!("mark {class}"), &self.outline((17.0, 7.0)), "");
        sample((34, 14), &(path(stroke, "M1 7H33", "") + &mark))
    }
}

/// A small drawing in a legend.
fn sample((width, height): (u32, u32), content: &str) -> String {
    format!(
        r#"<svg class="chart sample" width="{width}" height="{height}" viewBox="0 0 {width} {height}" aria-hidden="true">{content}</svg>"#
    )
}

fn path(class: &str, d: &str, title: &str) -> String {
    if title.is_empty() {
        return format!(r#"<path class="{class}" d="{d}"/>"#);
    }
    format!(r#"<path class="{class}" d="{d}"><title>{}</title></path>"#, escape(title))
}

/// A path through points of the drawing.
fn joined(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let step = |(n, (x, y))| format!("{}{x:.1} {y:.1}", if n == 0 { 'M' } else { 'L' });
    points.into_iter().enumerate().map(step).collect()
}

fn circle((x, y): (f64, f64), r: f64) -> String {
    format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {w} 0a{r} {r} 0 1 0 -{w} 0z", x - r, w = 2.0 * r)
}

/// Rising places at least `distance` apart, each as near to its own as that allows, within the ends
/// if there is room.
fn apart(places: &[f64], distance: f64, (least, most): (f64, f64)) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::with_capacity(places.len());
    for place in places {
        let free = found.last().map_or(least, |before| before + distance);
        found.push(place.max(free));
    }
    let mut room = most;
    for place in found.iter_mut().rev() {
        *place = place.min(room);
        room = *place - distance;
    }
    found
}

/// Distance of two lines of a name.
const NAME_LINE: f64 = 11.0;

/// Mean width of a character of a name.
pub(super) const CHARACTER: f64 = 6.0;

/// A name in at most two lines of `most` characters, broken between words.
fn wrapped(name: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in name.split_whitespace() {
        let last = lines.len() - 1;
        let length = lines[last].chars().count();
        if length == 0 {
            lines[last] += word;
        } else if length + 1 + word.chars().count() <= most || last == 1 {
            lines[last] += &format!(" {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.iter().map(|line| shortened(line, most)).collect()
}

/// A text of at most `most` characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_has_two_lines_and_is_cut_only_after_them() {
        assert_eq!(wrapped("Spike", 14), ["Spike"]);
        assert_eq!(wrapped("Spike, safeguards", 14), ["Spike,", "safeguards"]);
        assert_eq!(wrapped("Sift, loss 0.17 %", 14), ["Sift, loss", "0.17 %"]);
        assert_eq!(
            wrapped("a-name-of-one-long-word and more of it", 14),
            ["a-name-of-one…", "and more of it"]
        );
    }

    #[test]
    fn names_that_would_collide_are_pushed_apart() {
        assert_eq!(apart(&[10.0, 12.0, 60.0], 11.0, (0.0, 100.0)), [10.0, 21.0, 60.0]);
        assert_eq!(apart(&[95.0, 99.0], 11.0, (0.0, 100.0)), [89.0, 100.0]);
    }
}
