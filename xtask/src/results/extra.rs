//! `extra`: what `losscause reproduce extra` prints, from `papers/extra/golden`.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};

use super::{Origin, Page};
use crate::shell::root;

/// Below the repository's root. A path of git's, which follows no symbolic link.
const FOLDER: &str = "crates/losscause-laboratory/papers/extra/golden";

/// The files with their questions, in the order of docs/extra.md.
const FILES: [(&str, &str); 6] = [
    ("queues", "Queues"),
    ("refreshed", "A refreshed minimum"),
    ("paths", "A varying delay"),
    ("cross", "On-off cross traffic"),
    ("bandwidth", "A hundred times the bandwidth"),
    ("turnover", "Flows that come and go"),
];

/// The page.
pub(super) fn page() -> Result<Page> {
    let mut body = "Means of ten runs with 95 % intervals, percent; `thput` of the bottleneck's rate, `cong` queue drops per \
         hundred packets that cross.\n\n"
        .to_owned();
    for (file, question) in FILES {
        let path = root().join(FOLDER).join(format!("{file}.txt"));
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let text: Vec<&str> = text.lines().map(str::trim_end).collect();
        let _ = write!(
            body,
            "## {question}\n\n`losscause reproduce extra/{file}`:\n\n```text\n{}\n```\n\n",
            text.join("\n").trim_end()
        );
    }
    Ok(Page {
        name: "extra".to_owned(),
        title: "What Cen 2003 leaves open".to_owned(),
        command: format!(
            "`losscause reproduce extra/queues > {FOLDER}/queues.txt` and so on, `cargo xtask results extra` writes this page"
        ),
        origin: Origin::Data(&[FOLDER]),
        body,
    })
}
