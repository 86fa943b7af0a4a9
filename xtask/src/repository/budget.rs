//! The budget of memory and events leaves room for every scenario of the repository.

use super::workspace::{root, tenth, texts};
use losscause_laboratory::papers::record;
use losscause_laboratory::papers::reproduce::{Plan, Repetitions, Selection, Variation};
use losscause_study::Scenario;

#[test]
fn every_scenario_needs_at_most_a_tenth() {
    let patterns = [
        "scenarios/*.toml",
        "crates/losscause-laboratory/papers/*.toml",
        "validation/*.toml",
        "web/scenarios/*.toml",
        "crates/losscause-experiments/experiments/*.toml",
    ];
    let mut count = 0;
    for (file, text) in texts(&patterns) {
        if !text.contains("\nduration_s") || !text.contains("\n[[link]]") {
            continue;
        }
        let scenario = Scenario::load(&root().join(file), &tenth()).unwrap();
        scenario.experiment_with_delays().unwrap_or_else(|error| panic!("{error}"));
        count += 1;
    }
    assert!(count > 20, "{count} scenarios");
}

#[test]
fn every_system_of_the_papers_needs_at_most_a_tenth() {
    for paper in record::all() {
        let selection = Selection::every_item(paper);
        let once = Repetitions::exactly(1).unwrap();
        let plan = Plan::new(&tenth(), &selection, once, 1, &Variation::default());
        assert!(plan.unwrap_or_else(|error| panic!("{error}")).runs() > 0);
    }
}
