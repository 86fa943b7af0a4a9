//! `results --check`: heads, links, and the pages that follow from data.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::head::Head;
use super::{Page, folder, from_data, path, text};
use crate::shell::root;

/// Checks all pages, or the one of that name.
///
/// # Errors
/// Names every page that fails, one per line.
pub(super) fn check(name: Option<&str>) -> Result<()> {
    let mut pages = Vec::new();
    markdown(&folder(), &mut pages)?;
    pages.retain(|page| name.is_none_or(|name| *page == path(name)));
    if pages.is_empty() {
        bail!("results/ has no such page");
    }
    let linked = linked()?;
    let mut problems = Vec::new();
    for page in &pages {
        let shown = page.strip_prefix(root()).unwrap_or(page).display();
        if let Err(error) = Head::parse(&fs::read_to_string(page)?) {
            problems.push(format!("{shown}: {error}"));
        }
        if !linked.contains(page) {
            problems.push(format!("{shown}: no page in docs/ links to it"));
        }
    }
    for page in from_data()?.iter().filter(|page| name.is_none_or(|name| page.name == name)) {
        if !is_up_to_date(page)? {
            let name = &page.name;
            problems.push(format!("results/{name}.md: out of date; cargo xtask results {name}"));
        }
    }
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    println!("{} pages in results/ have heads and links", pages.len());
    Ok(())
}

/// Whether the page is in the file as it would be written, with the head that the file has.
fn is_up_to_date(page: &Page) -> Result<bool> {
    let Ok(present) = fs::read_to_string(path(&page.name)) else { return Ok(false) };
    let head = Head { command: page.command.clone(), ..Head::parse(&present)? };
    Ok(present == text(page, &head))
}

/// The files to which pages in docs/ link.
fn linked() -> Result<BTreeSet<PathBuf>> {
    let mut pages = Vec::new();
    markdown(&root().join("docs"), &mut pages)?;
    let mut targets = BTreeSet::new();
    for page in pages {
        let text = fs::read_to_string(&page).with_context(|| page.display().to_string())?;
        let links = text
            .match_indices("](")
            .filter_map(|(at, opening)| text[at + opening.len()..].split([')', '#']).next());
        targets.extend(links.map(|target| resolved(page.parent().unwrap_or(&page), target)));
    }
    Ok(targets)
}

/// `folder/target` without `..`.
fn resolved(folder: &Path, target: &str) -> PathBuf {
    let mut path = folder.to_owned();
    for component in Path::new(target).components() {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path
}

/// The files below `folder` with Markdown.
fn markdown(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            markdown(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(())
}
