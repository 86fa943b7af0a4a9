//! The book's sources: every page that `site/SUMMARY.md` names, and the files of the repository
//! that these pages name.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{copy, notebooks};

/// What stands for a folder that a page names.
const FOR_A_FOLDER: [&str; 2] = ["mod.rs", "src/lib.rs"];

/// Writes the pages that `site/SUMMARY.md` names below `pages`, at the places where they stand in
/// `repository`, so that their links hold; pages of the site's own come from `site/`, and a page
/// may be that of a notebook.
///
/// # Errors
/// A page is missing, or names a file that the repository does not have, or a page that the book
/// does not have.
pub(super) fn collect(repository: &Path, pages: &Path) -> Result<()> {
    let read = |file: &Path| {
        fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))
    };
    let summary = read(&repository.join("site/SUMMARY.md"))?;
    let named: Vec<&str> = targets(&summary).map(|(_, target)| target).collect();
    for page in &named {
        let place = pages.join(page);
        let own = repository.join("site").join(page);
        let text = match notebooks::behind(&repository.join(page)) {
            Some(notebook) => notebooks::as_page(&notebook, &place)?,
            None => read(&if own.is_file() { own } else { repository.join(page) })?,
        };
        let text = with_sources(repository, pages, page, &text, &named)?;
        fs::create_dir_all(place.parent().unwrap_or(pages))?;
        fs::write(&place, text)
            .with_context(|| format!("{} cannot be written", place.display()))?;
    }
    copy(&repository.join("site/SUMMARY.md"), &pages.join("SUMMARY.md"))
}

/// The text of a page whose links hold in the book: a README is the page of its folder there. The
/// files that it names are copied beside the pages.
fn with_sources(
    repository: &Path,
    pages: &Path,
    page: &str,
    text: &str,
    book: &[&str],
) -> Result<String> {
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let mut changed = String::with_capacity(text.len());
    let mut rest_at = 0;
    for (at, target) in targets(text) {
        let (path, fragment) = target.find('#').map_or((target, ""), |hash| target.split_at(hash));
        let Some(place) = resolved(folder, path) else { continue };
        let file = repository.join(&place);
        let is_page = |place: &Path| book.iter().any(|page| Path::new(page) == place);
        let new = if is_page(&place) {
            path.strip_suffix("README.md").map(|before| format!("{before}index.md{fragment}"))
        } else if place.extension().is_some_and(|extension| extension == "ipynb")
            && is_page(&place.with_extension("md"))
        {
            path.strip_suffix("ipynb").map(|before| format!("{before}md{fragment}"))
        } else if pages.join(&place).is_file() {
            // A picture of a notebook.
            None
        } else if file.is_file() && place.extension().is_some_and(|extension| extension == "md") {
            bail!("{page}: {target}: site/SUMMARY.md does not name this page");
        } else if file.is_file() {
            copy(&file, &pages.join(&place))?;
            None
        } else if let Some(name) = FOR_A_FOLDER.into_iter().find(|name| file.join(name).is_file()) {
            copy(&file.join(name), &pages.join(&place).join(name))?;
            Some(format!("{}/{name}", path.trim_end_matches('/')))
        } else if path.starts_with("lab/")
            || path.starts_with("papers/")
            || path.starts_with("api/")
        {
            // Parts that are built; the links of the finished site are checked.
            None
        } else {
            bail!("{page}: {target}: the repository has no such file");
        };
        if let Some(new) = new {
            changed.push_str(&text[rest_at..at]);
            changed.push_str(&new);
            rest_at = at + target.len();
        }
    }
    changed.push_str(&text[rest_at..]);
    Ok(changed)
}

/// The relative targets of the links and pictures of a page in Markdown, each with its place.
/// Blocks of code have none.
fn targets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    let mut line_at = 0;
    let lines = text.split_inclusive('\n').filter_map(move |line| {
        let at = line_at;
        line_at += line.len();
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        (!in_code && !is_fence).then_some((at, line))
    });
    lines.flat_map(|(line_at, line)| {
        line.match_indices("](").filter_map(move |(at, opening)| {
            let from = at + opening.len();
            let target = &line[from..from + line[from..].find(')')?];
            let is_relative =
                !target.contains(':') && !target.starts_with(['#', '<']) && !target.contains(' ');
            is_relative.then_some((line_at + from, target))
        })
    })
}

/// A path from the root of the repository; none if it leads out.
fn resolved(folder: &Path, target: &str) -> Option<PathBuf> {
    let mut place = folder.to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir if !place.pop() => return None,
            Component::Normal(name) => place.push(name),
            Component::RootDir | Component::Prefix(_) => return None,
            _ => {}
        }
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::root;

    #[test]
    fn notebooks_are_pages_with_pictures_and_links_lead_there() {
        let pages = tempfile::tempdir().expect("a folder");
        collect(&root(), pages.path()).expect("all links lead somewhere");
        let python = fs::read_to_string(pages.path().join("docs/python.md")).expect("a page");
        assert!(python.contains("](../python/notebooks/a-sweep.md)"), "{python}");
        let sweep =
            fs::read_to_string(pages.path().join("python/notebooks/a-sweep.md")).expect("a page");
        assert!(
            sweep.contains("](a-sweep-1.png)") && sweep.contains("](../../docs/ray.md)"),
            "{sweep}"
        );
        assert!(pages.path().join("python/notebooks/a-sweep-1.png").is_file());
    }

    #[test]
    fn links_to_readmes_files_and_folders_hold_in_the_book() {
        let place = tempfile::tempdir().expect("a folder");
        let repository = place.path().join("repository");
        let pages = place.path().join("pages");
        for (name, text) in [
            ("site/SUMMARY.md", "- [a](docs/a.md)\n- [b](docs/b/README.md)\n"),
            (
                "docs/a.md",
                "[b](b/README.md#x) [code](../src/x.rs) [folder](../tcp/) [web](https://example.org)\n```\n[no](none)\n```\n",
            ),
            ("docs/b/README.md", "# b\n"),
            ("src/x.rs", "x"),
            ("tcp/mod.rs", "tcp"),
        ] {
            let file = repository.join(name);
            fs::create_dir_all(file.parent().expect("it has one")).expect("folders");
            fs::write(file, text).expect("a file");
        }
        collect(&repository, &pages).expect("all links lead somewhere");
        let text = fs::read_to_string(pages.join("docs/a.md")).expect("the page");
        assert!(
            text.starts_with("[b](b/index.md#x) [code](../src/x.rs) [folder](../tcp/mod.rs) [web]"),
            "{text}"
        );
        assert!(text.ends_with("```\n[no](none)\n```\n"), "{text}");
        assert!(pages.join("src/x.rs").is_file() && pages.join("tcp/mod.rs").is_file());
        fs::write(repository.join("docs/a.md"), "[none](none.rs)").expect("a file");
        let said = collect(&repository, &pages)
            .expect_err("it names a file that is not there")
            .to_string();
        assert_eq!(said, "docs/a.md: none.rs: the repository has no such file");
        fs::write(repository.join("docs/a.md"), "[c](c.md)").expect("a file");
        fs::write(repository.join("docs/c.md"), "# c\n").expect("a file");
        let said = collect(&repository, &pages).expect_err("the book has no such page").to_string();
        assert_eq!(said, "docs/a.md: c.md: site/SUMMARY.md does not name this page");
    }
}
