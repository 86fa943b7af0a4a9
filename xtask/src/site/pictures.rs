//! The live picture of an algorithm: the lab in a frame on its page.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// An algorithm and its page, as a row of the tables in `docs/algorithms/README.md` has them.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    /// The first name of the row.
    name: &'a str,
    page: &'a str,
    at_sender_only: bool,
}

/// The first row of every page. Yardsticks stand in the second table; they and those that need a
/// sender's round-trip times are shown with TCP.
fn rows(text: &str) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut yardsticks = false;
    for line in text.lines() {
        yardsticks |= line.starts_with("| yardstick |");
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[names, _, needs, link] = cells.as_slice() else { continue };
        let Some(page) =
            link.strip_prefix('[').and_then(|link| link.split_once(']')).map(|(page, _)| page)
        else {
            continue;
        };
        let name = names.split([',', '(']).next().unwrap_or(names).trim();
        let at_sender_only =
            yardsticks || needs.starts_with("a TCP sender") || needs.contains("and the window");
        if rows.iter().all(|row| row.page != page) {
            rows.push(Row { name, page, at_sender_only });
        }
    }
    rows
}

/// What stands at the end of an algorithm's page.
fn picture(row: &Row) -> String {
    let (scenario, other) = match row.at_sender_only {
        true => ("web/scenarios/tcp.toml", ""),
        false => ("web/scenarios/first.toml", "always congestion"),
    };
    let encoded = |text: &str| text.replace(' ', "%20");
    let address = format!(
        "../../lab/index.html#try?scenario={scenario}&amp;a={}&amp;b={}",
        encoded(other),
        encoded(row.name)
    );
    let mut text = String::from("\n## See it\n\n");
    let _ = writeln!(
        text,
        "<p>{0} on a radio link: every loss with its true cause and the verdict. <a href=\"{address}\">Open it in the lab</a>, \
         beside a sender without it.</p>\n\n\
         <iframe class=\"lab-frame\" loading=\"lazy\" title=\"{0} in the lab\" src=\"{address}&amp;compact\"></iframe>",
        row.name
    );
    text
}

/// Adds a picture to the page of every algorithm below `pages`.
///
/// # Errors
/// A page cannot be read or written, or no table names one.
pub(super) fn add(pages: &Path) -> Result<()> {
    let folder = pages.join("docs/algorithms");
    let read = |name: &str| {
        let file = folder.join(name);
        fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))
    };
    let tables = read("README.md")?;
    let rows = rows(&tables);
    if rows.is_empty() {
        bail!("docs/algorithms/README.md has no table of algorithms with their pages");
    }
    for row in rows {
        let text = read(row.page)? + &picture(&row);
        fs::write(folder.join(row.page), text)
            .with_context(|| format!("{} cannot be written", row.page))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::root;

    #[test]
    fn every_algorithm_with_a_page_has_a_picture_by_a_known_name() {
        let text =
            fs::read_to_string(root().join("docs/algorithms/README.md")).expect("it can be read");
        let rows = rows(&text);
        let registry = losscause_study::registry();
        for row in &rows {
            assert!(registry.find(row.name).is_some(), "{row:?}");
        }
        let pages: Vec<&str> = rows.iter().map(|row| row.page).collect();
        for page in
            ["biaz.md", "spike.md", "zigzag.md", "zbs.md", "flip-flop.md", "veno.md", "nth-loss.md"]
        {
            assert!(pages.contains(&page), "{page}");
        }
        let of =
            |name: &str| rows.iter().find(|row| row.name == name).map(|row| row.at_sender_only);
        assert_eq!(
            [of("Spike"), of("Flip Flop"), of("Vegas buffer"), of("Veno")]
                .map(Option::unwrap_or_default),
            [false, true, true, true]
        );
    }
}
