//! Whether every link within a site leads somewhere, and whether its pages load anything from
//! elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Attributes that hold an address, and whether a browser loads it at once.
const ATTRIBUTES: [(&str, bool); 3] = [("href", false), ("src", true), ("action", false)];

/// Where the crates' documentation is.
const CRATES: &str = "api";

const ELSEWHERE: &str = "is requested from another host";

/// Findings that are printed.
const MOST_FINDINGS: usize = 30;

/// Checks all pages below `site`; returns what was checked, in words.
///
/// # Errors
/// A page cannot be read, or a link is wrong; the first findings are printed.
pub(super) fn check(site: &Path) -> Result<String> {
    let mut files = BTreeSet::new();
    collect(site, site, &mut files)?;
    let mut pages = 0;
    let mut links = 0;
    let mut findings = Vec::new();
    for page in
        files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "html"))
    {
        let text = fs::read_to_string(site.join(page))
            .with_context(|| format!("{} cannot be read", page.display()))?;
        pages += 1;
        for address in addresses(&text) {
            links += 1;
            // rustdoc checks the links of our crates; what it takes over from other crates' pages
            // has dead ones.
            let is_checked = |problem: &&str| !page.starts_with(CRATES) || *problem == ELSEWHERE;
            if let Some(problem) = problem(page, &address, &files).filter(is_checked) {
                findings.push(format!("{}: {}: {problem}", page.display(), address.text));
            }
        }
    }
    findings.iter().take(MOST_FINDINGS).for_each(|finding| println!("{finding}"));
    if !findings.is_empty() {
        bail!("{} wrong links in the site", findings.len());
    }
    Ok(format!("{pages} pages, {links} links checked"))
}

/// Every file below `folder`, relative to `site`.
fn collect(site: &Path, folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?
    {
        let path = entry?.path();
        if path.is_dir() {
            collect(site, &path, files)?;
        } else if let Ok(name) = path.strip_prefix(site) {
            files.insert(name.to_owned());
        }
    }
    Ok(())
}

/// An address in a page.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    text: String,
    /// A browser requests it without being asked.
    is_loaded: bool,
}

/// The addresses in the tags of a page. What stands in scripts and comments is none.
fn addresses(page: &str) -> Vec<Address> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let end = end_of_tag(rest);
        let tag = &rest[..end];
        rest = &rest[end..];
        for (attribute, is_loaded) in ATTRIBUTES {
            if let Some(text) = value(tag, attribute) {
                let is_loaded = is_loaded || (name == "link" && !tag.contains("canonical"));
                found.push(Address { text: text.replace("&amp;", "&"), is_loaded });
            }
        }
        if matches!(name, "script" | "style") {
            rest = rest.find(&format!("</{name}")).map_or("", |end| &rest[end..]);
        }
    }
    found
}

/// Where a tag ends; a quoted ">" does not end it.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '>' => return at,
            _ => {}
        }
    }
    tag.len()
}

fn value<'a>(tag: &'a str, attribute: &str) -> Option<&'a str> {
    let at =
        tag.find(&format!(" {attribute}=")).or_else(|| tag.find(&format!("\n{attribute}=")))?;
    let text = &tag[at + attribute.len() + 2..];
    match text.chars().next()? {
        quote @ ('"' | '\'') => text[1..].split(quote).next(),
        _ => text.split_whitespace().next(),
    }
}

/// What is wrong with an address of a page, if anything.
fn problem(page: &Path, address: &Address, files: &BTreeSet<PathBuf>) -> Option<&'static str> {
    let text = address.text.as_str();
    if text.starts_with("data:")
        || text.starts_with("javascript:void")
        || text.starts_with("mailto:")
    {
        return None;
    }
    if text.starts_with("//") || text.contains("://") {
        return address.is_loaded.then_some(ELSEWHERE);
    }
    let path = text.split(['#', '?']).next().unwrap_or_default();
    if path.is_empty() {
        return None;
    }
    if path.starts_with('/') {
        return Some("holds at the root of a host only, expected a relative link");
    }
    let mut place = page.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    for part in Path::new(&path.replace("%20", " ")).components() {
        match part {
            Component::ParentDir if !place.pop() => return Some("leads out of the site"),
            Component::Normal(name) => place.push(name),
            _ => {}
        }
    }
    let leads = files.contains(&place) || files.contains(&place.join("index.html"));
    (!leads).then_some("leads nowhere")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(page: &str) -> Vec<&'static str> {
        let files =
            ["index.html", "a/page.html", "a/b/index.html", "x.css"].map(PathBuf::from).into();
        addresses(page)
            .iter()
            .filter_map(|address| problem(Path::new("a/page.html"), address, &files))
            .collect()
    }

    #[test]
    fn links_that_lead_somewhere_are_no_findings() {
        let page = r##"<link href="../x.css"><a title="a > b" href='b/'>x</a><a href=page.html#part>y</a><a href="#top">z</a>
            <a class="external"
href="https://example.org/">w</a><!-- <img src="none.png"> --><script>"<img src='none.png'>"</script>"##;
        assert_eq!(addresses(page).len(), 5);
        assert_eq!(findings(page), Vec::<&str>::new());
    }

    #[test]
    fn dead_links_and_foreign_requests_are_found() {
        assert_eq!(findings(r#"<a href="none.html">"#), ["leads nowhere"]);
        assert_eq!(findings(r#"<a href="../../x.css">"#), ["leads out of the site"]);
        assert_eq!(
            findings(r#"<a href="/x.css">"#),
            ["holds at the root of a host only, expected a relative link"]
        );
        for page in [
            r#"<script src="https://example.org/x.js"></script>"#,
            r#"<img alt="" src="//example.org/x.png">"#,
            r#"<link rel="stylesheet" href="https://example.org/x.css">"#,
        ] {
            assert_eq!(findings(page), [ELSEWHERE], "{page}");
        }
    }
}
