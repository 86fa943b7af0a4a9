//! Sweeps over several stacks: every cell on each, with the same seeds, and one that is disturbed.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::ops::ControlFlow;
use std::path::Path;
use std::thread;
use std::time::Duration;

use losscause_laboratory::stack::{Attempt, Stack, Stacks};
use losscause_laboratory::store::Store;
use losscause_laboratory::sweep::{Sweep, SweepResult};
use losscause_study::{Context, Experiment, Jobs, Metric, RunError, Stop, Stopped};

/// Carries 1 kb/s per second of the scenario, and is disturbed whenever the seed is 2.
struct Toy {
    /// Whether a run of five seconds lasts until it is stopped.
    lasts: bool,
}

impl Toy {
    fn goodput(value: Option<f64>) -> Vec<Metric> {
        vec![Metric::new("goodput", "kb/s", value)]
    }
}

impl Stack for Toy {
    fn identity(&self) -> String {
        "toy 1".to_owned()
    }

    fn metrics(&self, experiment: &Experiment) -> Result<Vec<Metric>, RunError> {
        if experiment.network.flows.len() > 1 {
            let problem = "a toy has one flow".to_owned();
            return Err(RunError::Stack { problem, is_bad_input: true });
        }
        Ok(Self::goodput(None))
    }

    fn run(&self, experiment: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        let duration_s = experiment.duration.as_secs_f64();
        if self.lasts && duration_s == 5.0 {
            while !stop.is_requested() {
                thread::sleep(Duration::from_millis(1));
            }
            return Err(Stopped.into());
        }
        if seed == 2 {
            return Ok(Attempt::Spoiled("somebody knocked".to_owned()));
        }
        Ok(Attempt::Made(Self::goodput(Some(duration_s))))
    }

    fn is_alone(&self) -> bool {
        true
    }
}

fn missing() -> Result<Box<dyn Stack>, RunError> {
    Err(RunError::Stack { problem: "this machine has no toys".to_owned(), is_bad_input: true })
}

fn stacks(lasts: bool) -> Stacks {
    let toy = move || -> Result<Box<dyn Stack>, RunError> { Ok(Box::new(Toy { lasts })) };
    Stacks::default().with("toy", toy).with("absent", missing)
}

const SCENARIO: &str = r#"
title = "a transfer"
duration_s = 4
[parameters]
flows = 1
[[link]]
name = "line"
rate_bps = 1e6
delay_ms = 5
queue_packets = 20
channel = { kind = "bernoulli", loss = 0.02 }
[[flow]]
name = "transfer"
count = "flows"
protocol = "tcp"
path = ["line"]
"#;

const SWEEP: &str = r#"
title = "a transfer by two stacks"
scenario = "scenario.toml"
stacks = ["simulator", "toy"]
runs = 2
metrics = ["goodput"]
[[axis]]
key = "duration_s"
values = [3, 5]
[[claim]]
text = "the simulator carries more than the toy"
metric = "goodput"
of = { stack = "simulator" }
is = "at-least"
than = { stack = "toy" }
"#;

fn parsed(folder: &Path, text: &str) -> Result<Sweep, String> {
    parsed_on(folder, text, &stacks(false))
}

fn parsed_on(folder: &Path, text: &str, stacks: &Stacks) -> Result<Sweep, String> {
    std::fs::write(folder.join("scenario.toml"), SCENARIO).unwrap();
    Sweep::parse_on(text, &folder.join("sweep.toml"), &Context::default(), stacks)
        .map_err(|error| error.to_string())
}

/// The refusal of a sweep that cannot be measured.
fn refused(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    match parsed(folder.path(), text) {
        Err(text) => text,
        Ok(sweep) => sweep.check_all().unwrap_err().to_string(),
    }
}

fn measured(sweep: &Sweep, store: Option<&Store>, most_cells: usize) -> Option<SweepResult> {
    let outcome = sweep.execute(Jobs::new(2).unwrap(), store, |progress| {
        if progress.finished >= most_cells {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    outcome.unwrap().result
}

#[test]
fn every_cell_runs_on_each_stack_with_the_same_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = parsed(folder.path(), SWEEP).unwrap();
    let result = measured(&sweep, None, usize::MAX).unwrap();
    assert_eq!((result.axes.join(", "), result.is_grid), ("duration_s, stack".to_owned(), true));
    let cells: Vec<String> = result
        .cells
        .iter()
        .map(|cell| {
            let values = cell.cell.values.iter().map(|value| value.value.clone());
            let seeds = cell.runs.iter().map(|run| run.seed.to_string());
            values.chain(seeds).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(cells, ["3 simulator 1 2", "3 toy 1 2", "5 simulator 1 2", "5 toy 1 2"]);
    let toy = &result.cells[3];
    assert_eq!((toy.rows[0].measured, toy.rows[0].runs_with_value), (Some(5.0), Some(1)));
    assert_eq!(toy.left_out, ["as it is, seed 2: somebody knocked"]);
    assert!(
        result.cells[0].left_out.is_empty() && result.cells[0].rows[0].measured.unwrap() > 100.0
    );
    let claim = &result.claims[0];
    assert_eq!((claim.holds, claim.places, claim.holding), (Some(true), 2, 2));
    let tables = result.pivots();
    let stacks: Vec<&str> =
        tables[0].columns[tables[0].labels..].iter().map(|column| column.name.as_str()).collect();
    assert_eq!(stacks, ["simulator", "toy"], "the stacks stand side by side");
    let again: SweepResult = serde_json::from_str(&result.json()).unwrap();
    assert_eq!(again, result);
    assert_eq!(result.beside(&again).same, 4);
}

#[test]
fn drawn_cells_have_the_same_draw_and_seed_on_each_stack() {
    let folder = tempfile::tempdir().unwrap();
    let text = SWEEP
        .replace("values = [3, 5]", "range = { from = 2, to = 6 }")
        .replace("runs = 2", "runs = 1\nsampler = { kind = \"random\", cells = 3 }");
    let result = measured(&parsed(folder.path(), &text).unwrap(), None, usize::MAX).unwrap();
    assert_eq!(result.cells.len(), 6);
    for pair in result.cells.chunks(2) {
        assert_eq!(pair[0].cell.values[0], pair[1].cell.values[0]);
        assert_eq!(pair[0].runs[0].seed, pair[1].runs[0].seed);
    }
    assert_ne!(result.cells[0].runs[0].seed, result.cells[2].runs[0].seed);
}

#[test]
fn an_interrupted_sweep_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = parsed(folder.path(), SWEEP).unwrap();
    let whole = measured(&sweep, Some(&Store::new(&folder.path().join("whole"))), usize::MAX);
    let place = folder.path().join("parts");
    let lasting = parsed_on(folder.path(), SWEEP, &stacks(true)).unwrap();
    measured(&lasting, Some(&Store::new(&place)), 1);
    assert!(!place.join("sweep.json").exists(), "it was interrupted");
    let resumed = measured(&sweep, Some(&Store::new(&place).resuming()), usize::MAX);
    assert_eq!(resumed, whole);
    let [a, b] = ["whole", "parts"]
        .map(|name| std::fs::read(folder.path().join(name).join("sweep.json")).unwrap());
    assert_eq!(a, b);
}

#[test]
fn what_no_stack_can_do_is_refused_in_one_sentence() {
    let of = |from: &str, to: &str| refused(&SWEEP.replace(from, to));
    assert!(
        of("\"toy\"]", "\"toi\"]").contains("stacks: \"toi\" is unknown (did you mean \"toy\"?)")
    );
    assert!(of("\"toy\"]", "\"simulator\"]").contains("stacks: \"simulator\" occurs twice"));
    assert!(
        of("\"toy\"", "\"absent\"")
            .contains("\"absent\" cannot run here: this machine has no toys")
    );
    assert!(
        of("[[axis]]", "[[system]]\nname = \"two\"\nset = [\"flows=2\"]\n[[axis]]")
            .contains("a toy has one flow")
    );
    assert!(
        of("key = \"duration_s\"", "name = \"stack\"")
            .contains("stacks: are an axis by themselves")
    );
    assert!(
        of("of = { stack = \"simulator\" }", "of = { stack = \"ns-3\" }").contains("claim.1.of")
    );
    let scored = "title = \"t\"\nscore = [\"koo2007\"]\nstacks = [\"toy\"]\n[[axis]]\nkey = \"N\"\nvalues = [1]\n";
    assert!(refused(scored).contains("stacks: cannot be combined with score"));
}
