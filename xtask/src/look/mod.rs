//! `cargo xtask look`: opens the program's reports in headless Chromium, checks what only a browser
//! can tell, and keeps screenshots for people to look at in `target/look/PAGE/*.png`.
//!
//! Checked: no message on the console, no network request, every scored number and claim in the
//! state that result.json gives it, every link within the page leads somewhere that is then seen,
//! no identifier is given twice, the page loads at once, on a phone nothing has to be scrolled
//! sideways, and all text has the contrast of level AA, light and dark.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use losscause_laboratory::papers::reproduce::Reproduction;
use serde::Deserialize;

use crate::record;
use crate::shell::{command, losscause, output, target};

mod browser;
mod states;

use browser::{Browser, Event};
use states::{Expected, differences, unfounded};

pub(crate) use browser::CHROMIUM;

/// A report of the program.
struct Page {
    /// The folder of its screenshots.
    name: &'static str,
    /// The arguments of `losscause` that make it, command by command. `DIR` is its folder, in which
    /// the last command writes `report.html`; what that one prints as JSON becomes `result.json`.
    commands: &'static [&'static str],
    /// What it must contain, each photographed once.
    shows: &'static [Part],
}

/// A part of a page: its name, and the CSS selector of its first example.
type Part = (&'static str, &'static str);

const TABLE: Part = ("table", "main table");
const FIGURE: Part = ("figure", "main figure:not(.recording)");
const TIMELINE: Part = ("timeline", "main figure.recording, main #timeline, main .flow");
/// Of an algorithm's page: its decisions over the samples of the run.
const DECISIONS: Part = ("decisions", "main .algorithm figure");

/// The page whose report [`record::report`] makes.
const RECORD: &str = "record";

/// Captures of a TCP transfer over the air.
const CAPTURES: &str = "-q simulate cen2003/WLH --set N=1 --set flow.test.protocol=tcp --set tcp.variant=sack \
                        --pcap DIR/captures";

/// All reports. To look at one more, add a line.
const PAGES: &[Page] = &[
    // The report that `cargo xtask record` compares: every table and figure of the five papers.
    Page { name: RECORD, commands: &[], shows: &[TABLE, FIGURE] },
    Page {
        name: "preview",
        commands: &["reproduce dalwadi cen2003/table2 --runs 2 --out DIR"],
        shows: &[TABLE, FIGURE, TIMELINE],
    },
    Page {
        name: "simulate",
        commands: &["simulate cen2003/WLH --set N=4 --set flow.test.lda=ZBS --runs 3 --out DIR"],
        shows: &[TABLE, DECISIONS, TIMELINE],
    },
    Page {
        name: "compare",
        commands: &[
            "compare scenarios/clean-link.toml --set loss=0.01 --lda none,ZBS,Spike --runs 5 --out DIR",
        ],
        shows: &[TABLE, FIGURE],
    },
    Page {
        name: "sweep",
        commands: &["sweep xtask/src/look/sweep.toml --runs 3 --out DIR"],
        shows: &[TABLE, FIGURE],
    },
    Page {
        name: "capture",
        commands: &[
            CAPTURES,
            "analyze DIR/captures/receiver.pcap DIR/captures/sender.pcap --report DIR/report.html --format json",
        ],
        shows: &[TABLE, TIMELINE],
    },
    Page {
        name: "capture-joined",
        commands: &[
            CAPTURES,
            "analyze --sender DIR/captures/sender.pcap --receiver DIR/captures/receiver.pcap --report DIR/report.html \
             --format json",
        ],
        shows: &[TABLE, TIMELINE],
    },
];

/// Windows: name, width and height in CSS pixels.
const WIDE: (&str, u32, u32) = ("1400x900", 1400, 900);
const PHONE: (&str, u32, u32) = ("390x844", 390, 844);

/// A page should be there in this time; machines that run tests are slower and busy.
const LOAD_GOAL_MS: f64 = 1000.0;
const LOAD_LIMIT_MS: f64 = 10.0 * LOAD_GOAL_MS;

/// The arguments of `look`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only these reports
    pages: Vec<String>,
}

/// All reports, as one of CI's steps.
pub(crate) fn all() -> Result<()> {
    look(&Options { pages: Vec::new() })
}

/// Makes the reports, checks each, and writes the screenshots.
///
/// # Errors
/// A report cannot be made or opened, or a check fails; all findings are printed first.
pub(crate) fn look(options: &Options) -> Result<()> {
    for name in &options.pages {
        if !PAGES.iter().any(|page| page.name == name) {
            let known: Vec<&str> = PAGES.iter().map(|page| page.name).collect();
            bail!("{name}: no such report, expected one of {}", known.join(", "));
        }
    }
    let program = losscause()?;
    let mut browser = Browser::start()?;
    find_every_fault(&mut browser)?;
    let mut findings = 0;
    for page in PAGES
        .iter()
        .filter(|page| options.pages.is_empty() || options.pages.iter().any(|n| n == page.name))
    {
        let folder = target().join("look").join(page.name);
        let report = make(page, &program, &folder)?;
        let (found, summary) = examine(page, &report, &folder, &mut browser)?;
        println!("{}: {summary}", page.name);
        found.iter().for_each(|sentence| println!("{}: {sentence}", page.name));
        findings += found.len();
    }
    println!("screenshots: {}/*/*.png", target().join("look").display());
    if findings > 0 {
        bail!("{findings} findings in the reports");
    }
    Ok(())
}

/// Makes a report in an empty folder and returns its file.
fn make(page: &Page, program: &str, folder: &Path) -> Result<PathBuf> {
    if page.name == RECORD {
        return Ok(record::report()?.join("report.html"));
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => fs::create_dir_all(folder)?,
    }
    let report = folder.join("report.html");
    for arguments in page.commands {
        let arguments = arguments.replace("DIR", &folder.display().to_string());
        let printed = output(command(program).args(arguments.split_whitespace()))?;
        if arguments.ends_with("--format json") {
            fs::write(report.with_file_name("result.json"), printed)?;
        }
    }
    if !report.is_file() {
        bail!("`losscause {}` writes no report.html", page.commands.join("; losscause "));
    }
    Ok(report)
}

/// What `inspect.js` finds in an open page.
#[derive(Deserialize)]
struct Inspection {
    load_ms: f64,
    text: String,
    links: usize,
    ids_given_twice: Vec<String>,
    links_to_nothing: Vec<String>,
    links_elsewhere: Vec<String>,
    numbers: Vec<(String, String)>,
    claims: Vec<(String, String)>,
    cells: Vec<(String, String)>,
    settled: Vec<(String, String)>,
    scrolls_by_px: f64,
    too_wide: Vec<String>,
}

const INSPECT: &str = include_str!("inspect.js");

/// Checks a report in both windows and photographs it; returns a sentence per finding, and what it
/// is like.
fn examine(
    page: &Page,
    report: &Path,
    folder: &Path,
    browser: &mut Browser,
) -> Result<(Vec<String>, String)> {
    let mut findings = Vec::new();
    let mut summary = String::new();
    for (name, width, height) in [WIDE, PHONE] {
        browser.show_as(width, height, false)?;
        let mut events = browser.open(report)?;
        let inspection: Inspection = browser.evaluate(INSPECT)?;
        let hidden: Vec<String> = browser.evaluate(FOLLOW)?;
        findings.extend(
            hidden
                .iter()
                .map(|link| format!("at {width} px {link} leads to something that is hidden")),
        );
        findings.extend(pale(browser, "light")?);
        for (part, selector) in [("top", "html")].iter().chain(page.shows) {
            if !browser.evaluate::<bool>(&scroll_to(selector))? {
                findings.push(format!("it has no {part} ({selector} finds nothing that is shown)"));
                continue;
            }
            fs::write(folder.join(format!("{part}-{name}.png")), browser.picture()?)?;
        }
        browser.show_as(width, height, true)?;
        browser.evaluate::<bool>(&scroll_to("html"))?;
        findings.extend(pale(browser, "dark")?);
        fs::write(folder.join(format!("top-dark-{name}.png")), browser.picture()?)?;
        events.extend(browser.reported());
        findings.extend(events.iter().filter_map(complaint));
        if inspection.scrolls_by_px > 0.0 {
            let by = inspection.scrolls_by_px;
            let wide = inspection.too_wide.join(", ");
            findings.push(format!("at {width} px it is {by} px too wide: {wide}"));
        }
        if name == WIDE.0 {
            let kib = fs::metadata(report)?.len().div_ceil(1024);
            summary = format!(
                "{kib} KiB, loaded in {:.0} ms, {} links, {} scored numbers, {} settled claims",
                inspection.load_ms,
                inspection.links,
                inspection.numbers.len(),
                inspection.claims.len()
            );
            findings.extend(faults(&inspection, report)?);
        }
    }
    Ok((findings, summary))
}

/// What is wrong with the page itself, in any window.
fn faults(inspection: &Inspection, report: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    if inspection.load_ms > LOAD_LIMIT_MS {
        findings.push(format!(
            "it loads in {:.0} ms; wanted are {LOAD_GOAL_MS} ms",
            inspection.load_ms
        ));
    }
    findings
        .extend(inspection.ids_given_twice.iter().map(|id| format!("the id {id} is given twice")));
    findings
        .extend(inspection.links_to_nothing.iter().map(|id| format!("nothing is called #{id}")));
    for link in &inspection.links_elsewhere {
        let is_beside = report.parent().is_some_and(|folder| folder.join(link).is_file());
        if !is_beside && !link.starts_with("https://") {
            findings.push(format!("the link {link} leads to no file beside the report"));
        }
    }
    if report.with_file_name("sweep.json").is_file() {
        // A sweep has no states.
        return Ok(findings);
    }
    let file = report.with_file_name("result.json");
    let text =
        fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    let result: serde_json::Value = serde_json::from_str(&text)?;
    if result["items"].is_array() {
        let expected = Expected::of(&serde_json::from_value::<Reproduction>(result)?);
        if expected.numbers.is_empty() {
            findings.push("result.json has no scored number to compare with".to_owned());
        }
        findings.extend(differences("number", &expected.numbers, &inspection.numbers));
        findings.extend(unfounded("number", &expected.numbers, &inspection.numbers));
        findings.extend(differences("table's cell", &expected.cells, &inspection.cells));
        findings.extend(differences("claim", &expected.claims, &inspection.claims));
        findings.extend(unfounded("claim", &expected.claims, &inspection.claims));
        findings.extend(differences("claim in the list", &expected.settled, &inspection.settled));
    } else if let Some(captures) = result["captures"].as_array() {
        let flows =
            captures.iter().flat_map(|capture| capture["flows"].as_array().into_iter().flatten());
        let rows: Vec<String> = flows.map(row_of_flow).collect();
        if rows.is_empty() {
            findings.push("result.json has no flow to compare with".to_owned());
        }
        let missing = rows.iter().filter(|row| !inspection.text.contains(row.as_str()));
        findings.extend(missing.map(|row| format!("it does not show the flow \"{row}\"")));
    } else if let Some(verdict) = result["verdict"].as_str() {
        // The page begins each sentence with a capital.
        let shown = inspection.text.to_lowercase();
        let wanted = verdict.to_lowercase();
        let missing = wanted.split("; ").filter(|sentence| !shown.contains(sentence));
        findings
            .extend(missing.map(|sentence| format!("it does not show the verdict \"{sentence}\"")));
    }
    Ok(findings)
}

/// The row of a capture's flow as a browser gives its text: the recommended algorithm's verdicts,
/// as the JSON has them, without those that only a timer's rule gave.
fn row_of_flow(flow: &serde_json::Value) -> String {
    let text =
        |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let listed = flow["losses"].as_array().map_or(&[][..], Vec::as_slice);
    let losses = listed.len() as u64 + number(&flow["unlisted_losses"]);
    let by_timer = listed.iter().filter(|loss| {
        ["timeout", "tail-probe"].contains(&loss["evidence"].as_str().unwrap_or(""))
    });
    let name = flow["recommended"].as_str().unwrap_or_default();
    let [wireless, congestion, undecided] = ["wireless", "congestion", "undecided"]
        .map(|verdict| number(&flow["summary"][name][verdict]));
    let by_rule = congestion.min(by_timer.count() as u64);
    let passed = ["sender", "both"].contains(&flow["vantage"].as_str().unwrap_or(""));
    let sent = number(&flow["packets"]) + if passed { 0 } else { losses };
    let end = |key: &str, name: &str| match flow[name].as_str() {
        Some(name) => format!("{} ({name})", text(&flow[key])),
        None => text(&flow[key]),
    };
    let id = text(&flow["id"]);
    let id = if flow["minor"].as_bool().unwrap_or(false) { format!("({id})") } else { id };
    let mut cells = vec![id, end("src", "src_name"), end("dst", "dst_name")];
    cells.extend(["vantage", "packets"].map(|key| text(&flow[key])));
    cells
        .extend([losses.to_string(), format!("{:.1}", 100.0 * losses as f64 / sent.max(1) as f64)]);
    cells.extend(
        [number(&flow["sent_again"]), wireless, congestion - by_rule, undecided + by_rule]
            .map(|n| n.to_string()),
    );
    cells.push(name.replace('@', " at the "));
    cells.join("\t")
}

/// A sentence if the browser reported something that a report must not do.
fn complaint(event: &Event) -> Option<String> {
    let params = &event.params;
    match event.method.as_str() {
        "Runtime.exceptionThrown" => {
            Some(format!("a script failed: {}", params["exceptionDetails"]))
        }
        "Runtime.consoleAPICalled"
            if matches!(params["type"].as_str(), Some("error" | "warning" | "assert")) =>
        {
            Some(format!("on the console: {}", params["args"]))
        }
        "Log.entryAdded"
            if matches!(params["entry"]["level"].as_str(), Some("error" | "warning")) =>
        {
            Some(format!("on the console: {}", params["entry"]["text"]))
        }
        "Network.requestWillBeSent" => {
            let url = params["request"]["url"].as_str().unwrap_or_default();
            let is_page = params["type"] == "Document" && url.starts_with("file:");
            (!is_page && !url.starts_with("data:")).then(|| format!("it asks for {url}"))
        }
        _ => None,
    }
}

/// Examines `faulty.html`, which has one example of every fault: a check that finds nothing must be
/// one that can.
fn find_every_fault(browser: &mut Browser) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let report = folder.path().join("report.html");
    fs::write(&report, include_str!("faulty.html"))?;
    fs::write(report.with_file_name("result.json"), FAULTY_RESULT)?;
    let page = Page { name: "faulty", commands: &[], shows: &[TABLE] };
    let (findings, _) = examine(&page, &report, folder.path(), browser)?;
    for fault in [
        "on the console",
        "a script failed",
        "it asks for file:",
        "the id twice is given twice",
        "nothing is called #nowhere",
        "missing.csv leads to no file",
        "at 390 px #covered leads to something that is hidden",
        "p.pale \"pale text\" has a contrast of 2.32 in light",
        "px too wide: p.wide",
        "the number paper.x shows [\"met\"]; by result.json it is \"missed\"",
        "the table's cell paper.x shows []",
        "it has no table",
    ] {
        if !findings.iter().any(|finding| finding.contains(fault)) {
            bail!(
                "a faulty page passes the check \"{fault}\"; found were only\n{}",
                findings.join("\n")
            );
        }
    }
    Ok(())
}

/// The result of `faulty.html`.
const FAULTY_RESULT: &str = r#"{ "seed": 1, "version": "", "wall_s": null, "claims": [], "items": [{ "id": "x",
    "paper": "paper", "source": "", "system": "", "scenario": "", "parameters": {}, "metric": "", "unit": "1",
    "published": 1, "measured": 2, "ci95": null, "runs": 10, "status": "missed", "within": false }] }"#;

/// Follows links; the value is those whose targets are not to be seen then.
const FOLLOW: &str = include_str!("follow.js");

/// A sentence per kind of text that is too pale to read.
fn pale(browser: &mut Browser, colours: &str) -> Result<Vec<String>> {
    let low: Vec<(String, f64)> = browser.evaluate(include_str!("contrast.js"))?;
    let sentence = |(part, contrast): &(String, f64)| {
        format!("{part} has a contrast of {contrast:.2} in {colours}")
    };
    Ok(low.iter().map(sentence).collect())
}

/// Scrolls to the first part that `selector` finds and that is shown; tells whether there is one.
fn scroll_to(selector: &str) -> String {
    let script = r#"(() => {
      const parts = [...document.querySelectorAll(SELECTOR)];
      const part = parts.find((part) => part.getClientRects().length && !part.closest("details:not([open])"));
      if (part) part.scrollIntoView({ block: "start", behavior: "instant" });
      return Boolean(part);
    })()"#;
    script.replace("SELECTOR", &serde_json::json!(selector).to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(method: &str, params: serde_json::Value) -> Event {
        Event { method: method.to_owned(), params }
    }

    #[test]
    fn errors_warnings_and_requests_alone_are_complaints() {
        let console =
            |kind: &str| event("Runtime.consoleAPICalled", json!({ "type": kind, "args": [] }));
        assert!(complaint(&console("error")).is_some() && complaint(&console("warning")).is_some());
        assert!(complaint(&console("log")).is_none());
        let asks = |kind: &str, url: &str| {
            complaint(&event(
                "Network.requestWillBeSent",
                json!({ "type": kind, "request": { "url": url } }),
            ))
        };
        assert_eq!(asks("Script", "https://a/b.js").as_deref(), Some("it asks for https://a/b.js"));
        assert!(asks("Image", "file:///beside.png").is_some());
        assert!(
            asks("Document", "file:///report.html").is_none() && asks("Image", "data:,x").is_none()
        );
    }

    #[test]
    fn every_report_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = PAGES.iter().map(|page| page.name).collect();
        assert_eq!(names.len(), PAGES.len());
    }
}
