//! `cargo xtask site`: the whole site in `target/site`, which any static host serves: the
//! documentation as a book, the lab, the papers' report, the crates' documentation.
//!
//! The book's pages are those of the repository, in the order of `site/SUMMARY.md`. A page of an
//! algorithm gets its live picture: the lab in a frame. Every link within the site must lead
//! somewhere, and no page may load anything from elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::shell::{command, fresh, losscause, program, root, run, target};
use crate::tools::{self, Tool};
use crate::{checks, lab, record};

mod links;
mod notebooks;
pub(crate) mod pictures;
pub(crate) mod sources;

/// The arguments of `site`.
#[derive(Default, clap::Args)]
pub(crate) struct Options {
    /// Take the papers' report from this folder, which `losscause reproduce --out` wrote, instead
    /// of measuring for it
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
}

/// What the site's own steps need.
pub(crate) const TOOLS: &[Tool] = &[Tool::WASM, Tool::NODE, Tool::MDBOOK, Tool::LYCHEE];

/// Builds the site and checks its links.
///
/// # Errors
/// A tool is missing and cannot be installed, a part cannot be built, or a link leads nowhere.
pub(crate) fn site(options: &Options) -> Result<()> {
    tools::ensure(TOOLS)?;
    tools::ensure(checks::OPTIONAL_PARTS_BUILD)?;
    lab::build()?;
    println!("documents the crates");
    // What was documented here before, such as dependencies, is no part of it.
    fresh(target().join("doc"))?;
    checks::documentation()?;
    put_together(options.report.as_deref())
}

/// As one of CI's steps, after those that build the lab, the documentation and the reports.
///
/// # Errors
/// As [`site`].
pub(crate) fn short() -> Result<()> {
    put_together(Some(record::report()?))
}

/// The site from its parts. The lab and the documentation of the crates are built.
fn put_together(report: Option<&Path>) -> Result<()> {
    let site = target().join("site");
    let book = target().join("book");
    println!("binds the pages into a book");
    pages(&book)?;
    // mdBook removes what its folder holds.
    run(tools::own("mdbook").arg("build").arg(&book).arg("--dest-dir").arg(&site))?;
    copy(&root().join("web/dist"), &site.join("lab"))?;
    copy(&target().join("doc"), &site.join("api"))?;
    papers(report, &site.join("papers"))?;
    println!("checks the links");
    links::check(&site)?;
    println!("{0}: `losscause lab --site {0}` serves it", site.display());
    Ok(())
}

/// The book's sources: its pages, at the places where they stand in the repository, so that their
/// links hold.
fn pages(book: &Path) -> Result<()> {
    fresh(book.to_owned())?;
    let pages = book.join("src");
    sources::collect(&root(), &pages)?;
    copy(&root().join("site/book.toml"), &book.join("book.toml"))?;
    copy(&root().join("site/book.css"), &book.join("site/book.css"))?;
    pictures::add(&pages)
}

/// The report of the papers, with its data.
fn papers(report: Option<&Path>, place: &Path) -> Result<()> {
    let Some(report) = report else {
        println!("measures for the papers' report");
        return run(program(losscause()?).args(["--quiet", "reproduce", "--out"]).arg(place));
    };
    println!("copies the papers' report");
    for name in ["report.html", "result.json"] {
        copy(&report.join(name), &place.join(name))?;
    }
    Ok(())
}

/// Copies a file, or a folder with all that it holds.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    run(command("cp --recursive --no-target-directory").args([from, to]))
}

#[cfg(test)]
mod tests {
    use crate::shell::{files, read};

    #[test]
    fn the_book_has_every_page_of_the_documentation_once() {
        let summary = read("site/SUMMARY.md").expect("it can be read");
        let pages = files(&["docs/*.md", "results/*.md"]).expect("git lists them");
        assert!(pages.len() > 40);
        for page in pages {
            let link = format!("({})", page.display());
            assert_eq!(summary.matches(&link).count(), 1, "site/SUMMARY.md: {link}");
        }
    }
}
