//! A page of maps: tables whose cells are shares with a colour. The caller says what stands in rows
//! and columns.

use serde::Serialize;

/// A page of maps.
#[derive(Clone, Debug, Serialize)]
pub struct MapPage {
    /// The page's title.
    pub title: String,
    /// The answer: the first sentence is the heading.
    pub answers: Vec<String>,
    /// What was measured, in a sentence.
    pub what: String,
    /// The maps.
    pub maps: Vec<Map>,
    /// Every value, in CSV.
    pub csv: String,
    /// The file's name when it is saved.
    pub csv_name: String,
    /// The last line: how to get the same page again.
    pub footnote: String,
}

/// A table in colour.
#[derive(Clone, Debug, Serialize)]
pub struct Map {
    /// The table's heading.
    pub heading: String,
    /// What the cells are, in a sentence.
    pub note: String,
    /// What the rows rest on: "paths".
    pub basis: &'static str,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, in groups.
    pub groups: Vec<MapGroup>,
    /// Sentences below it.
    pub remarks: Vec<String>,
}

/// Rows that belong together.
#[derive(Clone, Debug, Serialize)]
pub struct MapGroup {
    /// The name that the rows of the group share.
    pub name: String,
    /// The rows.
    pub rows: Vec<MapRow>,
}

/// A row.
#[derive(Clone, Debug, Serialize)]
pub struct MapRow {
    /// The row's name.
    pub name: String,
    /// On how much it rests: "12".
    pub basis: String,
    /// A cell for each column.
    pub cells: Vec<MapCell>,
}

/// A cell.
#[derive(Clone, Debug, Serialize)]
pub struct MapCell {
    text: String,
    /// A colour of the page, and its share, percent.
    colour: Option<(&'static str, u32)>,
}

impl MapCell {
    /// A share of wrong answers, 0 to 1: good below a half, which is what a constant answer or a
    /// coin reaches.
    pub fn error(share: Option<f64>) -> Self {
        let Some(share) = share else { return Self::text("–") };
        let distance = (2.0 * (share - 0.5).abs()).min(1.0);
        let colour = if share <= 0.5 { "good" } else { "bad" };
        Self {
            text: format!("{:.0}", 100.0 * share),
            colour: Some((colour, (60.0 * distance).round() as u32)),
        }
    }

    /// A share of right answers, 0 to 1: good above a half.
    pub fn right(share: f64) -> Self {
        Self { text: format!("{:.0}", 100.0 * share), ..Self::error(Some(1.0 - share)) }
    }

    /// A text without a colour.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), colour: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_has_no_colour_and_both_ends_have_their_own() {
        let colour = |share| MapCell::error(Some(share)).colour;
        assert_eq!(
            [0.5, 0.0, 0.25, 1.0].map(colour).map(Option::unwrap),
            [("good", 0), ("good", 60), ("good", 30), ("bad", 60)]
        );
        assert_eq!(MapCell::error(None).colour, None);
        let right = MapCell::right(0.75);
        assert_eq!((right.text.as_str(), right.colour), ("75", Some(("good", 30))));
    }

    #[test]
    fn a_page_of_maps_escapes_its_names() {
        let row = MapRow {
            name: "<queue>".into(),
            basis: "3".into(),
            cells: vec![MapCell::error(Some(0.12))],
        };
        let map = Map {
            heading: "h".into(),
            note: "n".into(),
            basis: "paths",
            columns: vec!["A & B".into()],
            groups: vec![MapGroup { name: "g".into(), rows: vec![row] }],
            remarks: vec!["r".into()],
        };
        let page = MapPage {
            title: "t".into(),
            answers: vec!["a".into(), "b".into()],
            what: "w".into(),
            maps: vec![map],
            csv: "x,y\n".into(),
            csv_name: "paths.csv".into(),
            footnote: "f".into(),
        };
        let html = crate::map_html(&page);
        assert!(
            html.contains("&lt;queue&gt;")
                && html.contains("A &amp; B")
                && html.contains("var(--good) 46%"),
            "{html}"
        );
    }
}
