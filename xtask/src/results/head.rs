//! The head of a page: when, from what and on what it was measured, and how to measure again.

use std::fmt;

use anyhow::{Context, Result, bail};

use super::{Origin, Page};
use crate::shell::{command, text};

/// The lines of a head: the day of the measurement, UTC; the commit that measured; cores, memory
/// and kernel, and nothing that identifies a host; the command that makes the page.
const FIELDS: [&str; 4] = ["date", "commit", "machine", "command"];

/// The head, in the order of [`FIELDS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head(pub(super) [String; FIELDS.len()]);

impl Head {
    /// The head of a page that is new or has changed.
    ///
    /// # Errors
    /// git knows no commit.
    pub(super) fn of(page: &Page) -> Result<Self> {
        let (files, machine) = match page.origin {
            Origin::Data(files) => (files, "any: simulated, the figures do not depend on it"),
            Origin::Recorded(files) => (files, "not recorded; the page names the kernel"),
            Origin::Run => {
                let date = text(command("date -u +%Y-%m-%d"))?;
                let commit = text(command("git describe --always --exclude=* --dirty"))?;
                let machine = text(command("sh -c").arg(MACHINE))?;
                return Ok(Self([date, commit, machine, page.command.clone()]));
            }
        };
        let mut log = command("git log -1 --abbrev=8");
        let last = text(log.args(["--format=%cs %h", "--"]).args(files))?;
        let (date, commit) =
            last.split_once(' ').with_context(|| format!("{files:?} have no commit"))?;
        Ok(Self([date, commit, machine, &page.command].map(str::to_owned)))
    }

    /// The head that a page has. The command is that of today.
    ///
    /// # Errors
    /// As [`Head::parse`].
    pub(super) fn kept(text: &str, page: &Page) -> Result<Self> {
        let Self([date, commit, machine, _]) = Self::parse(text)?;
        Ok(Self([date, commit, machine, page.command.clone()]))
    }

    /// The head of a page.
    ///
    /// # Errors
    /// A line of it is missing or empty.
    pub(super) fn parse(text: &str) -> Result<Self> {
        if !text.starts_with("# ") {
            bail!("the page begins with no heading");
        }
        let mut fields = FIELDS.map(str::to_owned);
        for field in &mut fields {
            let start = format!("| {field} | ");
            let line = text.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix(" |"));
            let value = line.map(str::trim).filter(|value| !value.is_empty());
            *field = value.with_context(|| format!("the head has no {field}"))?.to_owned();
        }
        Ok(Self(fields))
    }

    pub(super) fn command(&self) -> &str {
        &self.0[3]
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| measured | |\n|---|---|")?;
        FIELDS.iter().zip(&self.0).try_for_each(|(name, value)| writeln!(f, "| {name} | {value} |"))
    }
}

/// Prints cores, memory in GB of 2^30 bytes, and the kernel's version without the name of its build.
const MACHINE: &str = r#"echo "$(nproc) cores, $(awk '/^MemTotal/ { printf "%.0f", $2 / 2^20 }' \
    /proc/meminfo) GB, $(uname -s -r | cut -d - -f 1)""#;
