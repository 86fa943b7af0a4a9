//! `results`: the measured tables, one page each in `results/`.
//!
//! Every page goes through [`write()`], which puts the same head on it: date, commit, machine and
//! the command that makes it. The pages in `docs/` state the findings and link here.

mod head;
mod papers;
mod printed;
mod sweeps;

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::shell::{files, is_kept, read, root};
use head::Head;
pub(crate) use sweeps::{cells, linux, ns2};

/// The arguments of `results`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The page to make, as its path in results/ without `.md`: "papers/cen2003". Default: all
    /// that follow from data in the repository.
    name: Option<String>,
    /// Write nothing: check that every page has its head, and that the pages that follow from data in the repository are up to date.
    #[arg(long)]
    check: bool,
}

/// Where a page's figures come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Measured now, on this machine.
    Run,
    /// Simulated before: these files of the repository hold the values, and their last commit is
    /// that of the measurement.
    Data(&'static [&'static str]),
    /// Measured before on some machine: as [`Origin::Data`].
    Recorded(&'static [&'static str]),
}

/// A page, without its head.
pub(crate) struct Page {
    /// Path in `results/` without `.md`.
    name: String,
    /// The heading.
    title: String,
    /// The command that makes it.
    command: String,
    origin: Origin,
    /// Tables, each with how to read it.
    body: String,
}

impl Page {
    pub(crate) fn new(
        [name, title, command]: [&str; 3],
        origin: Origin,
        body: impl Into<String>,
    ) -> Self {
        let [name, title, command] = [name, title, command].map(str::to_owned);
        Self { name, title, command, origin, body: body.into() }
    }
}

/// Makes or checks pages.
///
/// # Errors
/// A page has no generator or fails the check, or its command fails.
pub(crate) fn results(options: &Options) -> Result<()> {
    if options.check {
        return check(options.name.as_deref());
    }
    let data = from_data()?;
    let Some(name) = &options.name else { return data.iter().try_for_each(write) };
    if let Some(page) = data.iter().find(|page| page.name == *name) {
        return write(page);
    }
    if let Some(page) = printed::page(name)? {
        return write(&page);
    }
    let command = Head::parse(&read(path(name))?)?;
    bail!("results/{name}.md is made by {}; run that", command.command())
}

/// Checks all pages, or the one of that name: each has its head, and those that follow from data are
/// up to date.
///
/// # Errors
/// Names every page that fails, one per line.
fn check(name: Option<&str>) -> Result<()> {
    let is_asked = |page: &PathBuf| name.is_none_or(|name| *page == path(name));
    let mut pages: Vec<_> =
        files(&["results/*.md"])?.iter().map(|page| root().join(page)).collect();
    pages.retain(is_asked);
    if pages.is_empty() {
        bail!("results/ has no such page");
    }
    let mut problems = Vec::new();
    for page in &pages {
        if let Err(error) = Head::parse(&read(page)?) {
            problems.push(format!("{}: {error}", page.display()));
        }
    }
    for page in from_data()?.iter().filter(|page| is_asked(&path(&page.name))) {
        let path = path(&page.name);
        let head = Head::kept(&read(&path)?, page)?;
        if !is_kept(&path, &text(page, &head), false)? {
            let name = &page.name;
            problems.push(format!("results/{name}.md: out of date; cargo xtask results {name}"));
        }
    }
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    println!("{} pages in results/ have heads", pages.len());
    Ok(())
}

/// The pages that follow from data in the repository, without a run.
fn from_data() -> Result<Vec<Page>> {
    let mut pages = papers::pages()?;
    pages.extend([ns2()?, linux()?, printed::extra()?]);
    Ok(pages)
}

/// Writes a page with its head. A page whose body has not changed keeps the head that it has.
///
/// # Errors
/// The file cannot be written, or git knows no commit.
pub(crate) fn write(page: &Page) -> Result<()> {
    let path = path(&page.name);
    let head = match read(&path) {
        Ok(text) if body(&text) == page.body => Head::kept(&text, page)?,
        _ => Head::of(page)?,
    };
    is_kept(&path, &text(page, &head), true).map(|_| ())
}

fn text(page: &Page, head: &Head) -> String {
    format!("# {}\n\n{head}\n{}", page.title, page.body)
}

/// What follows the head.
fn body(text: &str) -> &str {
    let rest = text.split_once("\n| command |").map_or("", |(_, rest)| rest);
    rest.split_once("\n\n").map_or("", |(_, body)| body)
}

fn path(name: &str) -> PathBuf {
    root().join(format!("results/{name}.md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_its_title_head_and_body() {
        let command = "`cargo xtask results x`";
        let page = Page::new(["x", "X", command], Origin::Run, "| a |\n|---|\n\nRead it.\n");
        let head = Head(["2026-11-29", "0123abc", "2 cores", command].map(str::to_owned));
        let text = text(&page, &head);
        assert_eq!(body(&text), page.body);
        assert_eq!(Head::parse(&text).unwrap(), head);
        let without = text.replace("| date | 2026-11-29 |\n", "");
        assert!(Head::parse(&without).is_err(), "{without}");
    }

    #[test]
    fn every_page_has_a_head_and_those_from_data_are_up_to_date() {
        check(None).unwrap();
        assert!(check(Some("no-such-page")).unwrap_err().to_string().contains("no such page"));
    }
}
