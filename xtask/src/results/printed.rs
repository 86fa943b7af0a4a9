//! Pages that hold what commands print.

use anyhow::Result;

use super::{Origin, Page};
use crate::shell::{losscause, output, program, read};

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

/// The page of that name; none if no commands are named for it. Takes minutes to hours.
///
/// # Errors
/// A command fails.
pub(super) fn page(name: &str) -> Result<Option<Page>> {
    let Some((name, title, parts)) = PAGES.iter().find(|(known, ..)| *known == name) else {
        return Ok(None);
    };
    let losscause = losscause()?;
    let mut body = String::new();
    for (heading, part) in *parts {
        let printed = output(program(&losscause).args(["--quiet", "reproduce", part]))?;
        body += &section(heading, part, &String::from_utf8_lossy(&printed));
    }
    let command = format!("`cargo xtask results {name}`");
    Ok(Some(Page::new([name, title, &command], Origin::Run, body)))
}

fn section(heading: &str, part: &str, printed: &str) -> String {
    format!("## {heading}\n\n```console\n$ losscause reproduce {part}\n{printed}```\n\n")
}

/// What `losscause reproduce extra` has printed, below the repository's root. A path of git's, which
/// follows no symbolic link.
const EXTRA: &str = "crates/losscause-laboratory/papers/extra/golden";

/// Its parts with their questions, in the order of docs/extra.md.
const QUESTIONS: [Section; 6] = [
    ("Queues", "queues"),
    ("A refreshed minimum", "refreshed"),
    ("A varying delay", "paths"),
    ("On-off cross traffic", "cross"),
    ("A hundred times the bandwidth", "bandwidth"),
    ("Flows that come and go", "turnover"),
];

/// The page of what was printed before.
///
/// # Errors
/// A file is missing.
pub(super) fn extra() -> Result<Page> {
    let mut body = "Means of ten runs with 95 % intervals, percent; `thput` of the bottleneck's rate, `cong` queue drops per \
         hundred packets that cross.\n\n"
        .to_owned();
    for (question, part) in QUESTIONS {
        let text = read(format!("{EXTRA}/{part}.txt"))?;
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let printed = format!("{}\n", lines.join("\n").trim_end());
        body += &section(question, &format!("extra/{part}"), &printed);
    }
    let command = format!(
        "`losscause reproduce extra/queues > {EXTRA}/queues.txt` and so on, `cargo xtask results extra` writes this page"
    );
    Ok(Page::new(["extra", "What Cen 2003 leaves open", &command], Origin::Data(&[EXTRA]), body))
}
