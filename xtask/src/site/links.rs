//! Whether every link within a site leads somewhere, and whether its pages load anything from
//! elsewhere.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::shell::{command, output, run, target, write};
use crate::tools;

/// Where the crates' documentation is. rustdoc checks the links of our crates; what it takes over
/// from other crates' pages has dead ones.
const CRATES: &str = "/api/";

/// What a browser requests without being asked, from another host.
const LOADED_FROM_ELSEWHERE: &str = "<[a-z]+[^<>]*[[:space:]]src=[\"']?(https?:)?//|\
                                     <link[^<>]*[[:space:]]href=[\"']?(https?:)?//";

/// Checks all pages below `site`. The check must find what is wrong in pages that have it.
///
/// # Errors
/// A page cannot be read, or a link is wrong; the findings are printed.
pub(super) fn check(site: &Path) -> Result<()> {
    let place = tempfile::tempdir_in(target())?;
    let faulty = place.path().join("faulty");
    for fault in [
        r#"<a href="none.html">"#,
        // It leads out of the site.
        r#"<a href="../faulty/index.html">"#,
        // It holds at the root of a host only.
        r#"<a href="/index.html">"#,
        "<script\nsrc='https://example.org/x.js'></script>",
        r#"<img alt="" src="//example.org/x.png">"#,
        r#"<link rel="stylesheet" href="https://example.org/x.css">"#,
    ] {
        write(faulty.join("index.html"), fault)?;
        if hold(&faulty, true).is_ok() {
            bail!("the links of a page pass the check: {fault}");
        }
    }
    hold(site, false)
}

fn hold(site: &Path, is_quiet: bool) -> Result<()> {
    // From a copy with nothing around it, no link that leads out of the site leads somewhere.
    let place = tempfile::tempdir_in(target())?;
    let copy = place.path().join("of/the/site");
    fs::create_dir_all(place.path().join("of/the"))?;
    run(command("cp --archive --link").args([site, copy.as_path()]))?;
    let mut search = command("grep -rlziE --include=*.html");
    search.args([LOADED_FROM_ELSEWHERE, "."]).current_dir(&copy);
    let pages = search.output().context("grep cannot be started")?;
    if pages.status.code() != Some(1) {
        bail!("pages load from another host: {}", String::from_utf8_lossy(&pages.stdout));
    }
    let mut links = tools::own("lychee");
    links.args(["--offline", "--no-progress", "--include-verbatim", "--extensions=html"]);
    links.args(["--index-files=index.html", "--exclude-path", CRATES, "."]).current_dir(&copy);
    if is_quiet { output(links).map(drop) } else { run(links) }
}
