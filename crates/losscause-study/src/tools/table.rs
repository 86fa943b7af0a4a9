//! Tables: what stands in one is said once, and asked for as Markdown, as CSV, as HTML, or, by the
//! command, as text for a terminal.

use std::fmt::Write;
use std::slice::SliceIndex;

use serde::Serialize;

/// A table of texts.
///
/// ```
/// use losscause_study::tools::table::{Cell, Table};
///
/// let mut table = Table::new(["flow", "goodput kb/s"]).numbers(1..);
/// table.group("measured flows:");
/// table.row(["video".into(), Cell::from("900.5").below("± 1.2")]);
/// assert_eq!(
///     table.markdown(),
///     "| flow | goodput kb/s |\n|---|--:|\n| **measured flows:** | |\n| video | 900.5 ± 1.2 |\n"
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Table {
    /// What it shows; empty if the text around it says so.
    pub title: String,
    /// What to know when reading it; empty for nothing.
    pub note: String,
    /// How many of the first columns name the rows.
    pub labels: usize,
    /// The columns, from the left to the right.
    pub columns: Vec<Column>,
    /// The rows, from the top to the bottom.
    pub rows: Vec<Row>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// What its cells are.
    pub name: String,
    /// Their unit, if the name does not have it.
    pub unit: String,
    /// Whether they are numbers, which are aligned at the right.
    pub is_number: bool,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Row {
    /// The name of the rows below it.
    Group(String),
    /// A cell for each column, or for the first of them.
    Cells(Vec<Cell>),
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Its text, in lines.
    pub text: String,
    /// What belongs to it and stands below it, such as an interval.
    pub below: String,
    /// On a page, what it means.
    pub tip: String,
    /// On a page, where a link leads to it.
    pub anchor: String,
    /// A sign behind the text, such as ✓. An empty one keeps its room, so that the numbers of a
    /// column stand below each other.
    pub mark: Option<&'static str>,
    /// On a page, the target of a link that the text is.
    pub link: String,
    /// On a page, its class.
    pub class: &'static str,
    /// On a page, the class of a small square before the text; empty for none.
    pub swatch: &'static str,
    /// On a page, a colour of the page behind it, and its share, percent.
    pub shade: Option<(&'static str, u32)>,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl Cell {
    /// The same with a text below it.
    pub fn below(self, below: impl Into<String>) -> Self {
        Self { below: below.into(), ..self }
    }

    /// The same with an explanation.
    pub fn tip(self, tip: impl Into<String>) -> Self {
        Self { tip: tip.into(), ..self }
    }

    /// The same in a class of the page.
    pub fn class(self, class: &'static str) -> Self {
        Self { class, ..self }
    }

    /// The same with a sign behind the text.
    pub fn mark(self, mark: &'static str) -> Self {
        Self { mark: Some(mark), ..self }
    }

    /// The same with a small square before the text, in a class of the page.
    pub fn swatch(self, swatch: &'static str) -> Self {
        Self { swatch, ..self }
    }

    /// The same as a link to a part of the page.
    pub fn link(self, link: impl Into<String>) -> Self {
        Self { link: link.into(), ..self }
    }

    /// The same as the target of a link.
    pub fn anchor(self, anchor: impl Into<String>) -> Self {
        Self { anchor: anchor.into(), ..self }
    }

    /// The same, shaded by a share of wrong answers, 0 to 1: good below a half, which is what a
    /// constant answer or a coin reaches.
    pub fn wrong(self, share: f64) -> Self {
        let distance = (2.0 * (share - 0.5).abs()).min(1.0);
        let colour = if share <= 0.5 { "good" } else { "bad" };
        Self { shade: Some((colour, (60.0 * distance).round() as u32)), ..self }
    }

    /// The text and what stands below it, in lines.
    pub fn lines(&self) -> String {
        let Some(mark) = self.mark else { return self.joined("\n") };
        let below = self.below.lines().map(|line| format!("\n{line}  "));
        format!("{} {mark:1}{}", self.text, below.collect::<String>())
    }

    fn joined(&self, between: &str) -> String {
        let Self { text, below, mark, .. } = self;
        let text = mark.map_or_else(|| text.clone(), |mark| format!("{text} {mark:1}"));
        if below.is_empty() { text } else { format!("{text}{between}{below}") }
    }
}

impl Column {
    /// The name and the unit with this between them; the name alone without a unit.
    pub fn head(&self, between: &str) -> String {
        let Self { name, unit, .. } = self;
        if unit.is_empty() { name.clone() } else { format!("{name}{between}{unit}") }
    }
}

impl Table {
    /// A table without rows. The first column names them.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let column = |name: String| Column { name, unit: String::new(), is_number: false };
        let columns = columns.into_iter().map(Into::into).map(column).collect();
        Self { labels: 1, columns, ..Self::default() }
    }

    /// The same with numbers in these columns.
    pub fn numbers(mut self, columns: impl SliceIndex<[Column], Output = [Column]>) -> Self {
        let columns = self.columns.get_mut(columns).unwrap_or_default();
        columns.iter_mut().for_each(|column| column.is_number = true);
        self
    }

    /// The same with so many first columns that name the rows.
    pub fn labels(self, labels: usize) -> Self {
        Self { labels, ..self }
    }

    /// The same with a title.
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// The same with a note.
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.rows.push(Row::Cells(cells.into_iter().map(Into::into).collect()));
    }

    /// The same with these rows.
    pub fn with_rows<C: Into<Cell>>(
        mut self,
        rows: impl IntoIterator<Item = impl IntoIterator<Item = C>>,
    ) -> Self {
        rows.into_iter().for_each(|row| self.row(row));
        self
    }

    /// Adds the name of the rows that follow.
    pub fn group(&mut self, name: impl Into<String>) {
        self.rows.push(Row::Group(name.into()));
    }

    /// Adds rows below their name; nothing if there are none.
    pub fn group_of<C: Into<Cell>>(
        &mut self,
        name: impl Into<String>,
        rows: impl IntoIterator<Item = impl IntoIterator<Item = C>>,
    ) {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_some() {
            self.group(name);
        }
        rows.for_each(|row| self.row(row));
    }

    /// The cells of all rows.
    pub fn cells(&self) -> impl Iterator<Item = &[Cell]> {
        self.rows.iter().filter_map(|row| match row {
            Row::Group(_) => None,
            Row::Cells(cells) => Some(cells.as_slice()),
        })
    }

    /// The columns that name the rows, and of the others those from `from` to before `to`.
    pub fn part(&self, from: usize, to: usize) -> Self {
        fn kept<T: Clone>(all: &[T], labels: usize, from: usize, to: usize) -> Vec<T> {
            [&all[..labels], &all[labels + from..labels + to]].concat()
        }
        let row = |row: &Row| match row {
            Row::Group(name) => Row::Group(name.clone()),
            Row::Cells(cells) => Row::Cells(kept(cells, self.labels, from, to)),
        };
        Self {
            columns: kept(&self.columns, self.labels, from, to),
            rows: self.rows.iter().map(row).collect(),
            ..self.clone()
        }
    }

    /// The table in Markdown. The title and the note are left to the page.
    pub fn markdown(&self) -> String {
        let cell = |text: &str| match text {
            "" => String::new(),
            text => format!(" {}", text.replace('|', "\\|").replace('\n', "<br>")),
        };
        let line = |cells: Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|text| cell(text) + " |").collect();
            format!("|{}\n", cells.concat())
        };
        let kind = |column: &Column| if column.is_number { "--:|" } else { "---|" };
        let mut text = line(self.columns.iter().map(|column| column.head(", ")).collect());
        text += &format!("|{}\n", self.columns.iter().map(kind).collect::<String>());
        for row in &self.rows {
            text += &match row {
                Row::Group(name) => {
                    let blank = vec![String::new(); self.columns.len() - 1];
                    line([vec![format!("**{name}**")], blank].concat())
                }
                Row::Cells(cells) => line(cells.iter().map(|cell| cell.joined(" ")).collect()),
            };
        }
        text
    }

    /// The table as comma-separated values, without the names of groups and without what stands
    /// below values.
    #[cfg(feature = "csv-files")]
    pub fn csv(&self) -> String {
        let head = |column: &Column| match column.unit.as_str() {
            "" => column.name.clone(),
            unit => format!("{} ({unit})", column.name),
        };
        let record = |cells: &[Cell]| cells.iter().map(|cell| cell.text.clone()).collect();
        super::csv_file::text_of_records(
            self.columns.iter().map(head).collect(),
            self.cells().map(record),
        )
    }

    /// The table in HTML, with classes of the pages' style sheet; nothing without rows. The title
    /// and the note are left to the page.
    pub fn html(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let has_heads = self.columns.iter().any(|column| !column.name.is_empty());
        // On a phone each row becomes a list of its cells, unless they are to be compared.
        let is_compared = self.cells().flatten().any(|cell| cell.mark.is_some());
        let is_wide = has_heads && !is_compared && self.columns.len() > MOST_ON_A_PHONE;
        let class = class_of(if is_wide { "stack" } else { "" });
        let mut html = format!("<div class=\"scroll\" tabindex=\"0\"><table{class}>\n");
        if has_heads {
            html += "<thead><tr>";
            for (place, column) in self.columns.iter().enumerate() {
                let class = self.class_of(place);
                let unit = small(&column.unit);
                _ = write!(html, "<th{}>{}{unit}</th>", class_of(class), escape(&column.name));
            }
            html += "</tr></thead>\n";
        }
        html += "<tbody>\n";
        for row in &self.rows {
            html += &match row {
                Row::Group(name) => format!(
                    r#"<tr><th scope="rowgroup" class="text soft" colspan="{}">{}</th></tr>"#,
                    self.columns.len(),
                    escape(name)
                ),
                Row::Cells(cells) => {
                    let cells = cells.iter().enumerate().map(|(at, cell)| self.cell_html(at, cell));
                    format!("<tr>{}</tr>", cells.collect::<String>())
                }
            };
            html.push('\n');
        }
        html + "</tbody>\n</table></div>\n"
    }

    /// The class of a column: long texts are wrapped, words are not.
    fn class_of(&self, place: usize) -> &'static str {
        let is_number = self.columns.get(place).is_some_and(|column| column.is_number);
        let is_long = |cells: &[Cell]| {
            cells.get(place).is_some_and(|cell| cell.text.chars().count() > LONGEST_WORD)
        };
        match place {
            _ if is_number => "",
            0 if self.labels == 1 => "",
            _ if self.cells().any(is_long) => "text",
            _ => "text word",
        }
    }

    fn cell_html(&self, place: usize, cell: &Cell) -> String {
        let Cell { text, below, tip, anchor, mark, link, class, swatch, shade } = cell;
        let tag = if place < self.labels { "th scope=\"row\"" } else { "td" };
        let class = class_of(&format!("{} {class}", self.class_of(place)));
        let anchor = attribute("id", anchor);
        let shade = shade.map_or_else(String::new, |(colour, share)| {
            format!(
                " style=\"background: color-mix(in srgb, var(--{colour}) {share}%, var(--paper))\""
            )
        });
        let mut content = escape(text).replace('\n', "<br>");
        if !swatch.is_empty() {
            content = format!(r#"<span class="swatch {swatch}"></span> {content}"#);
        }
        if let Some(mark) = mark {
            content += &format!(r#"<span class="mark">{mark}</span>"#);
        }
        if !link.is_empty() {
            content = format!(r##"<a href="#{}">{content}</a>"##, escape(link));
        }
        if !tip.is_empty() {
            let title = attribute("title", tip);
            content = format!(r#"<span class="cell" tabindex="0"{title}>{content}</span>"#);
        }
        let room = if mark.is_some() { r#"<span class="mark"></span>"# } else { "" };
        let below = below.lines().map(|line| format!("<small>{}{room}</small>", escape(line)));
        format!(
            "<{tag}{anchor}{class}{shade}>{content}{}</{}>",
            below.collect::<String>(),
            &tag[..2]
        )
    }
}

/// Most columns that stand beside each other on a phone.
const MOST_ON_A_PHONE: usize = 6;

/// Longer texts are wrapped in pages, characters.
const LONGEST_WORD: usize = 30;

fn small(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<small>{}</small>", escape(text)) }
}

fn class_of(class: &str) -> String {
    attribute("class", class.trim())
}

/// An attribute with a blank before it; nothing if it is empty.
fn attribute(name: &str, value: &str) -> String {
    if value.is_empty() { String::new() } else { format!(" {name}=\"{}\"", escape(value)) }
}

/// A text that cannot break a page or a drawing.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["a", "b & <c>"]).numbers(1..);
        table.columns[1].unit = "ms".to_owned();
        table.group_of("some:", [["x|y".into(), Cell::from("1").below("± 2").wrong(0.0)]]);
        table.group_of("none:", Vec::<Vec<Cell>>::new());
        table
    }

    #[test]
    fn a_table_has_the_same_cells_in_every_form() {
        assert_eq!(
            table().markdown(),
            "| a | b & <c>, ms |\n|---|--:|\n| **some:** | |\n| x\\|y | 1 ± 2 |\n"
        );
        let html = table().html();
        let cells = "<tr><th scope=\"row\">x|y</th>\
                     <td style=\"background: color-mix(in srgb, var(--good) 60%, var(--paper))\">1<small>± 2</small></td></tr>";
        assert!(html.contains(cells), "{html}");
        assert!(html.contains("<th>b &amp; &lt;c&gt;<small>ms</small></th>"), "{html}");
        assert!(html.contains("colspan=\"2\">some:</th>") && !html.contains("none:"), "{html}");
        #[cfg(feature = "csv-files")]
        assert_eq!(table().csv(), "a,b & <c> (ms)\nx|y,1\n");
    }

    #[test]
    fn a_half_has_no_shade_and_both_ends_have_their_own() {
        let shade = |share| Cell::from("").wrong(share).shade.unwrap();
        assert_eq!(
            [0.5, 0.0, 0.25, 1.0].map(shade),
            [("good", 0), ("good", 60), ("good", 30), ("bad", 60)]
        );
    }

    #[test]
    fn a_part_keeps_the_names_of_the_rows() {
        let all = Table::new(["", "a", "b", "c"]).with_rows([["x", "1", "2", "3"]]);
        let part = all.part(1, 3);
        assert_eq!(part, Table::new(["", "b", "c"]).with_rows([["x", "2", "3"]]));
    }

    #[test]
    fn a_mark_stands_behind_its_text_and_keeps_room_below() {
        let cell = Cell::from("20").mark("✗").below("55").link("a").swatch("air");
        let table = Table::new(["", "b"]).with_rows([[Cell::from("x"), cell]]);
        assert!(table.markdown().ends_with("| x | 20 ✗ 55 |\n"), "{}", table.markdown());
        let content = "<a href=\"#a\"><span class=\"swatch air\"></span> 20<span class=\"mark\">✗</span></a>\
                       <small>55<span class=\"mark\"></span></small></td>";
        assert!(table.html().contains(content), "{}", table.html());
    }

    #[test]
    fn names_cannot_break_the_page() {
        assert_eq!(escape("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
    }
}
