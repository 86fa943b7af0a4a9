//! Everything that a scored number or a claim of a paper reads is measured.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use losscause_study::item::Item;
use losscause_study::paper::{Parameters, Value};
use losscause_study::reproduce::{Plan, Repetitions, Selection, Variation};
use losscause_study::score::lookup;

/// The values of a line: metric, system, scenario and parameters of each.
fn required(line: &str) -> Vec<(String, String, String, Parameters)> {
    let (place, systems) = line.split_once(": ").unwrap();
    let words: Vec<&str> = place.split(' ').collect();
    let [scenario, parameters @ .., metric] = words.as_slice() else { panic!("{line}") };
    let parameters: Parameters = parameters
        .iter()
        .map(|text| {
            let (name, value) = text.split_once('=').unwrap();
            (name.to_owned(), value.parse::<f64>().map_or_else(|_| Value::from(value), Value::from))
        })
        .collect();
    let one = |system: &str| ((*metric).to_owned(), system.to_owned(), (*scenario).to_owned(), parameters.clone());
    systems.split(' ').map(one).collect()
}

fn planned(paper: &str) -> Vec<Item> {
    let selection = Selection::parse(&[paper]).unwrap();
    Plan::new(&selection, Repetitions::AsPublished, 1, &Variation::default()).unwrap().items().to_vec()
}

#[test]
fn every_value_that_numbers_and_claims_of_cen_2003_read_is_measured() {
    let items = planned("cen2003");
    let mut values = 0;
    for line in include_str!("required/cen2003.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        for (metric, system, scenario, parameters) in required(line) {
            let found = lookup(&items, &metric, &system, &scenario, &parameters);
            assert!(found.is_some(), "{metric}({system}, {scenario}, {parameters:?}) is not measured");
            values += 1;
        }
    }
    assert_eq!(values, 591);
}

#[test]
fn runs_that_several_tables_need_are_made_once() {
    let runs = |names: &[&str]| {
        let selection = Selection::parse(names).unwrap();
        Plan::new(&selection, Repetitions::Exactly(1), 1, &Variation::default()).unwrap().runs()
    };
    // Seven systems with one flow, which figure 8 shows again; the hybrid's usage is read from its own runs.
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
