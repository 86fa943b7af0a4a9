//! The runs of `papers/extra`: our own questions, without published values, in the scenarios of Cen
//! 2003.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;

use losscause_laboratory::papers::record;
use losscause_laboratory::papers::record::{Item, Status};
use losscause_laboratory::papers::reproduce::{Plan, Repetitions, Selection, Variation, conclude};
use losscause_study::statistics::Estimate;
use losscause_study::{Context, Setting, run};

fn plan(names: &[&str]) -> Plan {
    let selection = Selection::parse(names).unwrap();
    Plan::new(&Context::default(), &selection, Repetitions::AsPublished, 1, &Variation::default())
        .unwrap()
}

#[test]
fn the_unpublished_is_measured_only_if_named_and_never_scored() {
    assert!(plan(&[]).items().iter().all(|item| item.paper != "extra"));
    let plan = plan(&["extra"]);
    assert!(plan.items().iter().all(|item| item.paper == "extra" && item.runs == 10));
    assert!(plan.items().len() > 4000, "{}", plan.items().len());
    let outcome = conclude(plan.items(), 1);
    assert!(
        outcome
            .items
            .iter()
            .all(|item| item.published.is_none() && item.status == Status::NoPublishedValue)
    );
    assert!(outcome.scorecards().is_empty() && outcome.claims.is_empty());
}

#[test]
fn the_first_row_of_a_table_is_the_papers_own_network() {
    // One configuration answers both, so nothing is added by running them together. The paper's
    // items add one reading to its network, which packet decides; here both have it.
    let reading = ["lda.Spike.judged_by=before-gap", "lda.ZBS.zigzag.judged_by=before-gap"];
    let settings = reading.map(|text| Setting::parse(text).unwrap()).to_vec();
    let variation = Variation { settings, ..Variation::default() };
    let runs = |names: &[&str]| {
        let selection = Selection::parse(names).unwrap();
        Plan::new(&Context::default(), &selection, Repetitions::AsPublished, 1, &variation)
            .unwrap()
            .runs()
    };
    let table3 = runs(&["cen2003/table3"]);
    let paths = runs(&["extra/paths-WB"]);
    let shared = table3 + paths - runs(&["cen2003/table3", "extra/paths-WB"]);
    assert_eq!(shared, 6 * 10, "all systems of the table but TCP");
}

/// A golden table's cell: below the title of `item`, in the block of `metric`, in the row that
/// begins with `row`, in the column of `system`.
fn printed(file: &str, item: &str, metric: &str, row: &[&str], system: &str) -> String {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("papers/extra/golden").join(file);
    let text = std::fs::read_to_string(golden).unwrap();
    let table = text
        .split("\n\n")
        .find(|table| table.trim_start().starts_with(&format!("extra/{item} ")))
        .unwrap();
    let cells = |line: &str| {
        line.split("  ").map(str::trim).filter(|c| !c.is_empty()).map(str::to_owned).collect()
    };
    let lines: Vec<Vec<String>> = table.lines().map(cells).collect();
    let header = lines.iter().find(|cells| cells.contains(&system.to_owned())).unwrap();
    let column = header.len() - header.iter().position(|name| name == system).unwrap();
    let block =
        lines.iter().position(|cells| cells.first().is_some_and(|first| first == metric)).unwrap();
    let without_label =
        |cells: &Vec<String>| cells.iter().filter(|cell| *cell != metric).cloned().collect();
    let mut rows = lines[block..].iter().map(without_label);
    let row = rows.find(|cells: &Vec<String>| cells.iter().zip(row).all(|(a, b)| a == b)).unwrap();
    row[row.len() - column].clone()
}

/// The same cell from ten runs with `settings`, written out here: what the items make of their
/// parameters must say no more and no less.
fn measured(scenario: &str, settings: &[&str], metric: &str) -> String {
    let settings: Vec<Setting> =
        settings.iter().map(|text| Setting::parse(text).unwrap()).collect();
    let experiment = record::load_scenario(scenario, &Context::default())
        .unwrap()
        .with(&settings)
        .unwrap()
        .experiment()
        .unwrap();
    let estimate =
        Estimate::from_runs((1..=10).map(|seed| run(&experiment, seed).unwrap().metric(metric)));
    let item = Item {
        measured: estimate.mean,
        ci95: estimate.ci95,
        ..plan(&["extra/paths-WB"]).items()[0].clone()
    };
    format!("{} ± {}", item.measured_text(), item.ci95_text())
}

#[test]
fn a_cell_of_the_tables_comes_out_of_ten_runs() {
    let row = ["1", "shorter", "2000"];
    let mbiaz = measured(
        "cen2003/WB",
        &[
            "flow.test.lda=mBiaz",
            "lda.mBiaz.window_ms=2000",
            "link.shared.delay_variation={ kind = \"trace\", points = [[0, 40], [120, 0]] }",
        ],
        "M_w",
    );
    assert_eq!(printed("refreshed.txt", "refreshed-WB", "M_w %", &row, "mBiaz"), mbiaz);
    let spike = measured(
        "cen2003/WB",
        &[
            "flow.test.lda=Spike",
            "link.shared.queue={ kind = \"codel\", target_ms = 11.43 }",
            "link.shared.queue_packets=4 * 13 - 1",
        ],
        "cong",
    );
    assert_eq!(
        printed("queues.txt", "queues-WB", "cong %", &["1", "false", "4", "CoDel"], "Spike"),
        spike
    );
}
