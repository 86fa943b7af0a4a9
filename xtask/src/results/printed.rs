//! Pages that hold what commands print.

use std::fmt::Write;

use anyhow::Result;

use super::{Origin, Page};
use crate::shell::{command, losscause, output};

/// A heading, and the part of `losscause reproduce` whose tables stand below it.
type Section = (&'static str, &'static str);

/// A page, its title and its sections.
const PAGES: [(&str, &str, &[Section]); 2] = [
    ("paths", "The benchmark of paths", &[("Seed 1", "paths"), ("In the loop", "paths/loop")]),
    (
        "abroad",
        "Networks abroad",
        &[
            ("Per loss", "abroad"),
            ("In the loop", "abroad/loop"),
            ("In captures", "abroad/captures"),
            ("At receivers", "abroad/receivers"),
            ("The kernel's TCP", "abroad/kernel"),
        ],
    ),
];

/// The part whose runs are recorded. It prints at once, so `cargo xtask pages` compares it.
const RECORDED: &str = "abroad/kernel";

/// The page of that name; none if no commands are named for it. Takes minutes to hours.
///
/// # Errors
/// A command fails.
pub(super) fn page(name: &str) -> Result<Option<Page>> {
    let Some((name, title, parts)) = PAGES.iter().find(|(known, ..)| *known == name) else {
        return Ok(None);
    };
    let program = losscause()?;
    let mut body = String::new();
    for (heading, part) in *parts {
        let printed = output(command(&program).args(["--quiet", "reproduce", part]))?;
        let printed = String::from_utf8_lossy(&printed);
        let command = format!("losscause reproduce {part}");
        if *part == RECORDED {
            let _ = write!(body, "## {heading}\n\n```console\n$ {command}\n{printed}```\n\n");
            continue;
        }
        let _ = write!(body, "## {heading}\n\n`{command}`:\n\n```text\n{printed}```\n\n");
    }
    Ok(Some(Page {
        name: (*name).to_owned(),
        title: (*title).to_owned(),
        command: format!("`cargo xtask results {name}`"),
        origin: Origin::Run,
        body,
    }))
}
