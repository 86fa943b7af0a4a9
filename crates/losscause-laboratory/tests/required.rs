//! Everything that a scored number or a claim of a paper reads is measured.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use losscause_laboratory::papers::claims;
use losscause_laboratory::papers::record::Item;
use losscause_laboratory::papers::record::{self, Parameters, Value};
use losscause_laboratory::papers::reproduce::{Plan, Repetitions, Selection, Variation};
use losscause_laboratory::papers::score::lookup;
use losscause_study::Context;

/// The values of a line: metric, system, scenario and parameters of each.
fn required(line: &str) -> Vec<(String, String, String, Parameters)> {
    let columns: Vec<&str> = line.split('|').map(str::trim).collect();
    let [scenario, parameters, metric, systems] = columns.as_slice() else { panic!("{line}") };
    let parameters: Parameters = parameters
        .split(", ")
        .filter(|text| !text.is_empty())
        .map(|text| {
            let (name, value) = text.split_once('=').unwrap();
            (name.to_owned(), value.parse::<f64>().map_or_else(|_| Value::from(value), Value::from))
        })
        .collect();
    let one = |system: &str| {
        ((*metric).to_owned(), system.to_owned(), (*scenario).to_owned(), parameters.clone())
    };
    systems.split(", ").map(one).collect()
}

fn planned(paper: &str) -> Vec<Item> {
    let selection = Selection::parse(&[paper]).unwrap();
    Plan::new(&Context::default(), &selection, Repetitions::AsPublished, 1, &Variation::default())
        .unwrap()
        .items()
        .to_vec()
}

#[test]
fn every_value_that_numbers_and_claims_read_is_measured() {
    for paper in record::all().iter().filter(|paper| paper.is_published()) {
        let file = format!("{}/tests/required/{}.txt", env!("CARGO_MANIFEST_DIR"), paper.key());
        let text = std::fs::read_to_string(&file).unwrap();
        let items = planned(paper.key());
        let mut values = 0;
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            for (metric, system, scenario, parameters) in required(line) {
                let found = lookup(&items, &metric, &system, &scenario, &parameters);
                let key = paper.key();
                assert!(
                    found.is_some(),
                    "{key}: {metric}({system}, {scenario}, {parameters:?}) is not measured"
                );
                values += 1;
            }
        }
        assert!(
            text.starts_with("# ") && text.contains(&format!(", {values} values:")),
            "{file}: {values} values"
        );
    }
}

#[test]
fn every_checkable_claim_of_a_paper_has_one_predicate() {
    for paper in record::all() {
        let predicates: Vec<&str> = claims::predicates(paper.key()).map(|(id, _)| id).collect();
        let checkable = paper
            .published()
            .claim
            .iter()
            .chain(&paper.published().beside)
            .filter(|claim| claim.checkable)
            .map(|claim| claim.id.as_str());
        let mut ours = predicates;
        let mut theirs = checkable.collect::<Vec<_>>();
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs, "{}", paper.key());
    }
}

#[test]
fn runs_that_several_tables_need_are_made_once() {
    let runs = |names: &[&str]| {
        let selection = Selection::parse(names).unwrap();
        Plan::new(
            &Context::default(),
            &selection,
            Repetitions::Exactly(1),
            1,
            &Variation::default(),
        )
        .unwrap()
        .runs()
    };
    // Seven systems with one flow, which figure 8 shows again; the hybrid's usage is read from its
    // own runs.
    assert_eq!(runs(&["cen2003/table2"]), 7);
    assert_eq!(runs(&["cen2003/figure8"]), 7 * 8);
    assert_eq!(runs(&["cen2003/table2", "cen2003/figure8"]), 7 * 8);
    assert_eq!(runs(&["cen2003/figure11", "cen2003/figure13-WLH"]), 4 * 8);
    // Of figure 14 only TCP without wireless loss is new.
    let three = ["cen2003/figure8", "cen2003/figure9", "cen2003/figure11", "cen2003/figure12"];
    assert_eq!(runs(&three), 8 * 8 * 2);
    assert_eq!(runs(&[&three[..], &["cen2003/figure14"]].concat()), 8 * 8 * 2 + 2 * 7);
    // The wireless link's delay of 20 ms is the file's own.
    assert_eq!(runs(&["cen2003/table3", "cen2003/section5-delay"]), 7 * 3);
}

#[test]
fn a_paper_of_single_runs_is_measured_enough_to_know_its_spread() {
    let dalwadi = record::find("dalwadi").unwrap();
    assert_eq!((dalwadi.published().repetitions, dalwadi.items().single_runs), (1, Some(10)));
    assert!(planned("dalwadi").iter().all(|item| item.runs == 10));
}
