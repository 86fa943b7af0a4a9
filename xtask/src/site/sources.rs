//! The book's sources: every page that `site/SUMMARY.md` names, and the files of the repository
//! that these pages name.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use super::{copy, notebooks};
use crate::shell::{read, write};

/// Writes the pages that `site/SUMMARY.md` names below `pages`, at the places where they stand in
/// `repository`, so that their links hold; pages of the site's own come from `site/`, and a page
/// may be that of a notebook.
///
/// # Errors
/// A page is missing.
pub(super) fn collect(repository: &Path, pages: &Path) -> Result<()> {
    let summary = read(repository.join("site/SUMMARY.md"))?;
    let targets = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let book = Book { repository, pages, named: targets.map(Path::new).collect() };
    for page in &book.named {
        let place = pages.join(page);
        let own = repository.join("site").join(page);
        let text = match notebooks::behind(&repository.join(page)) {
            Some(notebook) => notebooks::as_page(&notebook, &place)?,
            None => read(if own.is_file() { own } else { repository.join(page) })?,
        };
        write(place, book.with_sources(page, &text)?)?;
    }
    copy(&repository.join("site/SUMMARY.md"), &pages.join("SUMMARY.md"))
}

struct Book<'a> {
    repository: &'a Path,
    pages: &'a Path,
    named: Vec<&'a Path>,
}

impl Book<'_> {
    /// The text of a page whose links hold in the book. The files that it names are copied beside
    /// the pages.
    fn with_sources(&self, page: &Path, text: &str) -> Result<String> {
        let folder = page.parent().unwrap_or(Path::new(""));
        let mut parts = text.split("](");
        let mut changed = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (target, rest) = part.split_at(part.find([')', '#', '\n']).unwrap_or(0));
            let target = match resolved(folder, target).filter(|_| !target.is_empty()) {
                Some(place) => self.target(target, &place)?,
                None => target.to_owned(),
            };
            changed += &format!("]({target}{rest}");
        }
        Ok(changed)
    }

    /// What stands in the book for `target`, which is `place` in the repository: a README is the
    /// page of its folder there, and a notebook a page. Other files are copied.
    fn target(&self, target: &str, place: &Path) -> Result<String> {
        let ending = place.extension().and_then(OsStr::to_str);
        let file = self.repository.join(place);
        if self.named.contains(&place) {
            return Ok(target.replace("README.md", "index.md"));
        }
        if ending == Some("ipynb") && self.named.contains(&place.with_extension("md").as_path()) {
            return Ok(target.replace(".ipynb", ".md"));
        }
        if file.is_file() && ending != Some("md") {
            copy(&file, &self.pages.join(place))?;
        }
        // The rest is a part that is built, or a dead link: those of the finished site are checked.
        Ok(target.to_owned())
    }
}

/// A path from the root of the repository; none if it leads out.
pub(crate) fn resolved(folder: &Path, target: &str) -> Option<PathBuf> {
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
        let page = |name: &str| read(pages.path().join(name)).expect("a page");
        let python = page("docs/python.md");
        assert!(python.contains("](../python/notebooks/a-sweep.md)"), "{python}");
        let sweep = page("python/notebooks/a-sweep.md");
        for link in ["](a-sweep-1.png)", "](../../docs/ray.md)"] {
            assert!(sweep.contains(link), "{sweep}");
        }
        assert!(pages.path().join("python/notebooks/a-sweep-1.png").is_file());
    }

    #[test]
    fn links_to_readmes_and_files_hold_in_the_book() {
        let place = tempfile::tempdir().expect("a folder");
        let repository = place.path().join("repository");
        let pages = place.path().join("pages");
        for (name, text) in [
            ("site/SUMMARY.md", "- [a](docs/a.md)\n- [b](docs/b/README.md)\n"),
            (
                "docs/a.md",
                "[b](b/README.md#x) [code](../src/x.rs) [web](https://example.org)\n```\n[no](none)\n```\n",
            ),
            ("docs/b/README.md", "# b\n"),
            ("src/x.rs", "x"),
        ] {
            write(repository.join(name), text).expect("a file");
        }
        collect(&repository, &pages).expect("all links lead somewhere");
        let text = read(pages.join("docs/a.md")).expect("the page");
        let links = "[b](b/index.md#x) [code](../src/x.rs) [web]";
        assert!(text.starts_with(links), "{text}");
        assert!(text.ends_with("```\n[no](none)\n```\n"), "{text}");
        assert!(pages.join("src/x.rs").is_file());
    }
}
