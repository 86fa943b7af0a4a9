//! A page of tables whose cells may be shaded. The caller says what stands in them.

use losscause_study::tools::table::Table;
use minijinja::{Value, context};
use serde::Serialize;

/// A page of tables.
#[derive(Clone, Debug, Serialize)]
pub struct MapPage {
    /// The page's title.
    pub title: String,
    /// The answer: the first sentence is the heading.
    pub answers: Vec<String>,
    /// What was measured, in a sentence.
    pub what: String,
    /// The tables; below each, sentences about it.
    pub maps: Vec<(Table, Vec<String>)>,
    /// Every value, in CSV.
    pub csv: String,
    /// The file's name when it is saved.
    pub csv_name: String,
    /// The last line: how to get the same page again.
    pub footnote: String,
}

/// What the template shows.
pub(super) fn context(page: &MapPage) -> Value {
    let tables: Vec<String> = page.maps.iter().map(|(table, _)| table.html()).collect();
    context! { title => page.title, page, tables }
}

#[cfg(test)]
mod tests {
    use losscause_study::tools::table::Cell;

    use super::*;

    #[test]
    fn a_page_of_maps_escapes_its_names() {
        let mut table = Table::new(["", "paths", "A & B"]).numbers(1..).title("h").note("n");
        table.row(["<queue>".into(), Cell::from("3"), Cell::from("12").wrong(0.12)]);
        let page = MapPage {
            title: "t".into(),
            answers: vec!["a".into(), "b".into()],
            what: "w".into(),
            maps: vec![(table, vec!["r".into()])],
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
