//! The results as a page: detection, and every algorithm's errors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::score::{Scored, detected, pooled};
use super::variants::{CONTROLS, Variant};
use super::{About, VANTAGES};
use crate::accuracy::Vantage;
use crate::accuracy::matching::{Errors, Judged, Kind, RECOMMENDED};

const DETECTION: &str = "
## Losses found

Without the last 2 s of a transfer. False are found losses that the link did not lose, percent of all found ones.

| transfer | at the sender: losses | found, % | false, % | at the receiver: losses | found, % | false, % |
|---|--:|--:|--:|--:|--:|--:|
";

const ERRORS: &str = "
## Verdicts

Wrong verdicts over all verdicts of all these transfers, percent; undecided and timeouts count as called congestion. By the
link's times, an algorithm for receivers gets every transmission with its exact trip time.

";

/// The body of the page.
pub(super) fn page(scored: &[Scored]) -> String {
    let mut page = String::new();
    about(&mut page, scored);
    page.push_str(DETECTION);
    let mut kinds: Vec<&Variant> = Vec::new();
    for Scored { about, .. } in scored {
        if !kinds.contains(&&about.variant) {
            kinds.push(&about.variant);
        }
    }
    for kind in kinds {
        detection_row(&mut page, &kind.name(), scored, |variant| variant == kind);
    }
    detection_row(&mut page, "**with SACK**", scored, |variant| variant.sack);
    detection_row(&mut page, "**without SACK, not bbr**", scored, |variant| {
        !variant.sack && variant.control != "bbr"
    });
    detection_row(&mut page, "**bbr without SACK**", scored, |variant| {
        !variant.sack && variant.control == "bbr"
    });
    page.push_str(ERRORS);
    errors(&mut page, scored);
    page
}

/// What all transfers have in common.
fn about(page: &mut String, scored: &[Scored]) {
    let set = |text: &dyn Fn(&About) -> String| {
        let all: BTreeSet<String> = scored.iter().map(|scored| text(&scored.about)).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    };
    let worst = |late: &dyn Fn(&About) -> i64| {
        scored.iter().map(|scored| late(&scored.about)).max().unwrap_or(0)
    };
    let _ = writeln!(
        page,
        "{} transfers of {} s; seeds {}; Linux {}. In the worst transfer the link delivered\n\
         packets late by {} µs (median), {} µs (99th percentile) and {} µs (worst).",
        scored.len(),
        set(&|about| about.seconds.to_string()),
        set(&|about| about.seed.to_string()),
        set(&|about| version(&about.kernel).to_owned()),
        worst(&|about| about.lateness.p50_us),
        worst(&|about| about.lateness.p99_us),
        worst(&|about| about.lateness.worst_us),
    );
}

/// A kernel's version without the name of its build.
fn version(release: &str) -> &str {
    release.split('-').next().unwrap_or_default()
}

fn percent(part: u64, of: u64) -> String {
    if of == 0 { "–".to_owned() } else { format!("{:.2}", 100.0 * part as f64 / of as f64) }
}

/// What was found in the transfers of these kinds: three columns per vantage point.
fn detection_row(
    page: &mut String,
    name: &str,
    scored: &[Scored],
    which: impl Fn(&Variant) -> bool,
) {
    let mut cells = vec![name.to_owned()];
    for vantage in VANTAGES {
        let chosen = scored.iter().filter(|scored| which(&scored.about.variant));
        let found = detected(chosen.filter_map(|scored| scored.tallies.get(&vantage)));
        cells.push(found.showing.to_string());
        cells.push(percent(found.showing_found, found.showing));
        cells.push(percent(found.found_false, found.found));
    }
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}

/// Where verdicts come from.
#[derive(Clone, Copy)]
enum Source {
    /// A capture.
    Capture(Vantage),
    /// The link's own times.
    Link,
}

const SOURCES: [Source; 3] =
    [Source::Capture(Vantage::Sender), Source::Capture(Vantage::Receiver), Source::Link];

impl Source {
    fn name(self) -> String {
        match self {
            Self::Capture(vantage) => format!("at the {}", vantage.name()),
            Self::Link => "by the link's times".to_owned(),
        }
    }

    /// The verdicts on a transfer.
    fn errors(self, scored: &Scored) -> Vec<(&str, &Errors)> {
        match self {
            Self::Capture(vantage) => {
                let flows = scored.tallies.get(&vantage).into_iter().flat_map(|tally| &tally.flows);
                flows.flat_map(Judged::by_name).collect()
            }
            Self::Link => {
                scored.ideal.iter().map(|(name, errors)| (name.as_str(), errors)).collect()
            }
        }
    }
}

/// A table per source of verdicts: a row per algorithm, two columns per group of transfers.
fn errors(page: &mut String, scored: &[Scored]) {
    type Group = (String, Box<dyn Fn(&Variant) -> bool>);
    let own = |name: &'static str| -> Group {
        (name.to_owned(), Box::new(move |variant| variant.control == name))
    };
    let mut groups: Vec<Group> = CONTROLS.into_iter().map(own).collect();
    groups.push(("reno, cubic".to_owned(), Box::new(|variant| variant.control != "bbr")));
    groups.push((
        "SACK and timestamps".to_owned(),
        Box::new(|variant| variant.sack && variant.timestamps),
    ));
    groups.push(("all".to_owned(), Box::new(|_| true)));
    for source in SOURCES {
        let columns: Vec<(&str, BTreeMap<String, Errors>)> = groups
            .iter()
            .map(|(name, which)| {
                let chosen = scored.iter().filter(|scored| which(&scored.about.variant));
                (name.as_str(), pooled(chosen.flat_map(|scored| source.errors(scored))))
            })
            .collect();
        let names: BTreeSet<&String> =
            columns.iter().flat_map(|(_, errors)| errors.keys()).collect();
        let head: Vec<String> =
            columns.iter().map(|(name, _)| format!("{name}: M_c | M_w")).collect();
        let _ = writeln!(page, "| {} | {} |", source.name(), head.join(" | "));
        let _ = writeln!(page, "|---|{}", "--:|".repeat(2 * columns.len()));
        let is_recommended = |name: &&&String| name.as_str() == RECOMMENDED;
        for name in names
            .iter()
            .filter(is_recommended)
            .chain(names.iter().filter(|name| !is_recommended(name)))
        {
            let cells =
                columns.iter().flat_map(|(_, errors)| cells(errors.get(name.as_str()).copied()));
            let _ = writeln!(page, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        page.push('\n');
    }
}

fn cells(errors: Option<Errors>) -> [String; 2] {
    [Kind::Congestion, Kind::Wireless].map(|kind| {
        let (wrong, all) = errors.unwrap_or_default().wrong_of(kind);
        if all == 0 {
            "–".to_owned()
        } else {
            format!("{:.1} of {all}", 100.0 * wrong as f64 / all as f64)
        }
    })
}

/// # Errors
/// If fewer losses were found than 99 %, or more than 0.5 % of what was found is none, at either
/// vantage point.
pub(super) fn require(scored: &[&Scored]) -> Result<()> {
    for vantage in VANTAGES {
        let found = detected(scored.iter().filter_map(|scored| scored.tallies.get(&vantage)));
        if found.showing == 0
            || found.showing_found * 100 < found.showing * 99
            || found.found_false * 200 > found.found
        {
            bail!(
                "at the {}, {} of {} losses were found, and {} of {} found ones are none; required are 99 % and at most 0.5 %",
                vantage.name(),
                found.showing_found,
                found.showing,
                found.found_false,
                found.found
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy::matching::Tally;

    fn scored(showing_found: u64, found_false: u64) -> Scored {
        let tally =
            Tally { showing: 200, showing_found, found: 200, found_false, ..Tally::default() };
        let variant = Variant::all().remove(0);
        let about = About {
            variant,
            seed: 1,
            seconds: 20.0,
            kernel: "6".to_owned(),
            lateness: Default::default(),
        };
        Scored {
            about,
            tallies: VANTAGES.map(|vantage| (vantage, tally.clone())).into(),
            ideal: BTreeMap::new(),
        }
    }

    #[test]
    fn one_missed_in_100_and_one_false_in_200_pass_and_no_more() {
        assert!(require(&[&scored(198, 1)]).is_ok());
        assert!(require(&[&scored(197, 1)]).is_err());
        assert!(require(&[&scored(198, 2)]).is_err());
        assert!(require(&[]).is_err(), "nothing lost proves nothing");
    }

    #[test]
    fn a_page_says_how_it_was_made() {
        let page = page(&[scored(199, 0)]);
        assert!(page.contains("1 transfers of 20 s; seeds 1; Linux 6."), "{page}");
        assert!(
            page.contains(
                "| reno, SACK, timestamps, 0.5 % | 200 | 99.50 | 0.00 | 200 | 99.50 | 0.00 |"
            ),
            "{page}"
        );
    }
}
