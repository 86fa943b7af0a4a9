//! `cargo xtask look`: `web/tests/reports` opens the program's reports in headless Chromium, checks
//! what only a browser can tell, and keeps screenshots for people to look at in
//! `target/look/PAGE/*.png`.

use anyhow::Result;

use crate::shell::{losscause, run, target};
use crate::tools::{self, Tool};
use crate::{lab, record};

/// Makes these reports or all, checks each, and writes the screenshots.
///
/// # Errors
/// A report is unknown, cannot be made or opened, or a check fails; all findings are printed first.
pub(crate) fn look(pages: &[String]) -> Result<()> {
    tools::ensure(&[Tool::NODE, Tool::CHROMIUM])?;
    let program = losscause()?;
    lab::install()?;
    if pages.is_empty() || pages.iter().any(|page| page == "record") {
        record::report()?;
    }
    let mut reports = lab::playwright();
    reports.arg("--config=playwright.reports.config.ts");
    if !pages.is_empty() {
        reports.arg(format!("--grep=report ({})$", pages.join("|")));
    }
    let look = target().join("look");
    run(reports.env("LOSSCAUSE", program).env("LOOK", &look))?;
    println!("screenshots: {}/*/*.png", look.display());
    Ok(())
}
