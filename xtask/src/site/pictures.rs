//! The live picture of an algorithm: the lab in a frame on its page.

use std::path::Path;

use anyhow::{Result, bail};
use losscause::lda::BuiltIn;

use crate::shell::{read, write};

/// The pages of algorithms in the tables of `docs/algorithms/README.md`, each with the first name
/// of its first row.
fn rows(tables: &str) -> Vec<(&str, &str)> {
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for line in tables.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[names, _, _, link] = cells.as_slice() else { continue };
        let Some((page, _)) = link.strip_prefix('[').and_then(|link| link.split_once(']')) else {
            continue;
        };
        if rows.iter().all(|row| row.1 != page) {
            rows.push((names.split([',', '(']).next().unwrap_or(names).trim(), page));
        }
    }
    rows
}

/// The scenario in which an algorithm is shown, and what it is shown beside. Yardsticks, and those
/// that need a sender's round-trip times, are shown with TCP.
fn scenario(name: &str) -> (&'static str, &'static str) {
    let is_it = |one: BuiltIn| one.info().answers_to(name);
    match BuiltIn::at_receivers().any(is_it) && !BuiltIn::yardsticks().any(is_it) {
        true => ("web/scenarios/first.toml", "always congestion"),
        false => ("web/scenarios/tcp.toml", ""),
    }
}

/// What stands at the end of an algorithm's page.
fn picture(name: &str) -> String {
    let (scenario, other) = scenario(name);
    let encoded = |text: &str| text.replace(' ', "%20");
    let address = format!(
        "../../lab/index.html#try?scenario={scenario}&amp;a={}&amp;b={}",
        encoded(other),
        encoded(name)
    );
    format!(
        "\n## See it\n\n<p>{0} on a radio link: every loss with its true cause and the verdict. <a href=\"{address}\">Open it in the lab</a>, \
         beside a sender without it.</p>\n\n\
         <iframe class=\"lab-frame\" loading=\"lazy\" title=\"{0} in the lab\" src=\"{address}&amp;compact\"></iframe>\n",
        name
    )
}

/// Adds a picture to the page of every algorithm below `pages`.
///
/// # Errors
/// A page cannot be read or written, or no table names one.
pub(super) fn add(pages: &Path) -> Result<()> {
    let folder = pages.join("docs/algorithms");
    let tables = read(folder.join("README.md"))?;
    let rows = rows(&tables);
    if rows.is_empty() {
        bail!("docs/algorithms/README.md has no table of algorithms with their pages");
    }
    for (name, page) in rows {
        write(folder.join(page), read(folder.join(page))? + &picture(name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_with_a_page_has_a_picture_by_a_known_name() {
        let text = read("docs/algorithms/README.md").expect("it can be read");
        let rows = rows(&text);
        let registry = losscause_study::registry();
        for (name, _) in &rows {
            assert!(registry.find(name).is_some(), "{name}");
        }
        let pages: Vec<&str> = rows.iter().map(|row| row.1).collect();
        for page in
            ["biaz.md", "spike.md", "zigzag.md", "zbs.md", "flip-flop.md", "veno.md", "nth-loss.md"]
        {
            assert!(pages.contains(&page), "{page}");
        }
        let is_with_tcp = |name| scenario(name).0 == "web/scenarios/tcp.toml";
        assert_eq!(
            ["Spike", "Flip Flop", "Vegas buffer", "Veno", "n-th loss"].map(is_with_tcp),
            [false, true, true, true, true]
        );
    }
}
