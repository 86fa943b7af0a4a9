//! A small reproduction, held against a table that was read and found right. If a change moves it,
//! the change's message says why; `UPDATE_GOLDEN=1 cargo test -p losscause-laboratory --test
//! golden` writes it anew.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::fmt::Write;

use losscause_laboratory::papers::reproduce::{Event, Plan, Repetitions, Selection, Variation};
use losscause_study::{Context, Jobs, Setting};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/cen2003.txt");

/// One flow of every system, the hybrid with several, and four flows of each.
const ITEMS: [&str; 6] =
    ["table2", "table3", "table5", "figure13", "section3-Spike", "section5-WLAN"];

/// One run of a quarter of the time, in the papers' row and column order, rounded: floats may
/// differ between machines in their last digits.
fn table() -> String {
    let names = ITEMS.map(|item| format!("cen2003/{item}"));
    let selection = Selection::parse(&names).unwrap();
    let short = ["duration_s=72", "measure.to_s=70"].map(|text| Setting::parse(text).unwrap());
    let variation = Variation { settings: short.to_vec(), ..Variation::default() };
    let plan =
        Plan::new(&Context::default(), &selection, Repetitions::Exactly(1), 1, &variation).unwrap();
    let mut text = String::new();
    plan.execute(Jobs::new(2).unwrap(), |event| {
        let Event::Sheet(sheet, items, _) = event else { return };
        let systems = &sheet.spec.systems;
        let columns: String = systems.iter().map(|system| format!("{system:>8}")).collect();
        writeln!(text, "{:<38}{columns}", sheet.spec.id).unwrap();
        let combinations = sheet.spec.combinations();
        for row in items.chunks(systems.len()) {
            let figures: String = row
                .iter()
                .map(|item| {
                    item.measured.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
                })
                .map(|figure| format!("{figure:>8}"))
                .collect();
            let differing = row[0].parameters.iter().filter(|(name, _)| {
                combinations.iter().any(|c| c[*name] != row[0].parameters[*name])
            });
            let at: String = differing.map(|(name, value)| format!(" {name}={value}")).collect();
            writeln!(text, "  {:<36}{figures}", format!("{}{at}", row[0].metric)).unwrap();
        }
        writeln!(text).unwrap();
    })
    .unwrap();
    text
}

#[test]
fn a_short_run_of_every_system_measures_what_it_did() {
    let table = table();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(GOLDEN, &table).unwrap();
    }
    let golden = std::fs::read_to_string(GOLDEN).unwrap();
    assert!(table == golden, "the table has changed:\n{table}\nit was:\n{golden}");
}
