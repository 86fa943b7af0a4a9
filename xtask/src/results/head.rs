//! The head of a page: when, from what and on what it was measured, and how to measure again.

use std::fmt;
use std::fs;
use std::thread;

use anyhow::{Context, Result, bail};

use super::{Origin, Page};
use crate::shell::{command, text};

/// The head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Day of the measurement, UTC: "2026-11-29".
    pub(super) date: String,
    /// The commit that measured.
    pub(super) commit: String,
    /// Cores, memory and kernel; nothing that identifies a host.
    pub(super) machine: String,
    /// The command that makes the page.
    pub(super) command: String,
}

impl Head {
    /// The head of a page that is new or has changed.
    ///
    /// # Errors
    /// git knows no commit.
    pub(super) fn of(page: &Page) -> Result<Self> {
        let made_by = page.command.clone();
        let (files, machine) = match page.origin {
            Origin::Data(files) => (files, "any: simulated, the figures do not depend on it"),
            Origin::Recorded(files) => (files, "not recorded; the page names the kernel"),
            Origin::Run => {
                let date = text(command("date").args(["-u", "+%Y-%m-%d"]))?;
                let describe = ["describe", "--always", "--exclude=*", "--dirty"];
                let commit = text(command("git").args(describe))?;
                return Ok(Self { date, commit, machine: machine()?, command: made_by });
            }
        };
        let log = ["log", "-1", "--abbrev=8", "--format=%cs %h", "--"];
        let last = text(command("git").args(log).args(files))?;
        let (date, commit) =
            last.split_once(' ').with_context(|| format!("{files:?} have no commit"))?;
        Ok(Self {
            date: date.to_owned(),
            commit: commit.to_owned(),
            machine: machine.to_owned(),
            command: made_by,
        })
    }

    /// The head of a page.
    ///
    /// # Errors
    /// A line of it is missing or empty.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let field = |name: &str| {
            let start = format!("| {name} | ");
            let line = text.lines().find_map(|line| line.strip_prefix(&start));
            match line.and_then(|line| line.strip_suffix(" |")).map(str::trim) {
                Some(value) if !value.is_empty() => Ok(value.to_owned()),
                _ => bail!("the head has no {name}"),
            }
        };
        if !text.starts_with("# ") {
            bail!("the page begins with no heading");
        }
        Ok(Self {
            date: field("date")?,
            commit: field("commit")?,
            machine: field("machine")?,
            command: field("command")?,
        })
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { date, commit, machine, command } = self;
        writeln!(f, "| measured | |\n|---|---|\n| date | {date} |\n| commit | {commit} |")?;
        writeln!(f, "| machine | {machine} |\n| command | {command} |")
    }
}

/// Cores, memory and the kernel's version without the name of its build.
fn machine() -> Result<String> {
    let cores = thread::available_parallelism().context("counting the cores")?;
    let kernel = text(command("uname").args(["-s", "-r"]))?;
    let kernel = kernel.split('-').next().unwrap_or_default();
    let memory = memory_gb().map_or_else(String::new, |gb| format!("{gb} GB, "));
    Ok(format!("{cores} cores, {memory}{kernel}"))
}

/// Memory in GB of 2^30 bytes, rounded; none where the system has no /proc.
fn memory_gb() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kb: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some((kb + (1 << 19)) >> 20)
}
