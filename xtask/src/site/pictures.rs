//! The live picture of an algorithm: the lab in a frame on its page.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use losscause::lda::BuiltIn;

use crate::shell::{read, write};

/// The page of an algorithm, by its row in the tables of `docs/algorithms/README.md`.
pub(crate) fn page_of(tables: &str, algorithm: BuiltIn) -> Option<&str> {
    let start = format!("| {algorithm}");
    let mut rows = tables.lines().filter_map(|line| line.strip_prefix(&start));
    let row = rows.find(|rest| rest.starts_with([' ', ',']))?;
    row.rsplit_once("](")?.1.split(')').next()
}

/// The scenario in which an algorithm is shown, and what it is shown beside. Yardsticks, and those
/// that need a sender's round-trip times, are shown with TCP.
fn scenario(algorithm: BuiltIn) -> (&'static str, &'static str) {
    let is_it = |one: BuiltIn| one == algorithm;
    match BuiltIn::at_receivers().any(is_it) && !BuiltIn::yardsticks().any(is_it) {
        true => ("web/scenarios/first.toml", "always congestion"),
        false => ("web/scenarios/tcp.toml", ""),
    }
}

/// What stands at the end of an algorithm's page.
fn picture(algorithm: BuiltIn) -> String {
    let (scenario, other) = scenario(algorithm);
    let name = algorithm.info().name;
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
    let mut pages = BTreeSet::new();
    for algorithm in BuiltIn::ALL {
        if let Some(page) = page_of(&tables, *algorithm).filter(|page| pages.insert(*page)) {
            write(folder.join(page), read(folder.join(page))? + &picture(*algorithm))?;
        }
    }
    if pages.is_empty() {
        bail!("docs/algorithms/README.md has no table of algorithms with their pages");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_with_a_page_has_a_picture_by_a_known_name() {
        let text = read("docs/algorithms/README.md").expect("it can be read");
        let pages: Vec<&str> =
            BuiltIn::ALL.iter().filter_map(|algorithm| page_of(&text, *algorithm)).collect();
        for row in text.lines().filter(|line| line.starts_with("| ") && line.contains("](")) {
            assert!(pages.iter().any(|page| row.contains(page)), "{row}");
        }
        for page in
            ["biaz.md", "spike.md", "zigzag.md", "zbs.md", "flip-flop.md", "veno.md", "nth-loss.md"]
        {
            assert!(pages.contains(&page), "{page}");
        }
        let is_with_tcp = |algorithm| scenario(algorithm).0 == "web/scenarios/tcp.toml";
        use BuiltIn::{FlipFlop, NthLoss, Spike, VegasBuffer, Veno};
        assert_eq!(
            [Spike, FlipFlop, VegasBuffer, Veno, NthLoss].map(is_with_tcp),
            [false, true, true, true, true]
        );
    }
}
