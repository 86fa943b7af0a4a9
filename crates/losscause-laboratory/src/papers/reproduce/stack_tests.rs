//! Plans by stacks in the simulator's place.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use losscause_study::{
    Context, Experiment, Jobs, Metric, RunError, Setting, Stop, Stopped, Workers,
};

use super::*;
use crate::stack::{Attempt, Stack};
use crate::store::Store;

/// A record of no paper: three systems over Cen's last hop, at a loss that changes nothing.
pub(super) fn toy() -> &'static Paper {
    static TOY: OnceLock<&'static Paper> = OnceLock::new();
    TOY.get_or_init(|| Paper::of_texts(TOY_PUBLISHED, TOY_ITEMS))
}

const TOY_PUBLISHED: &str = r#"
key = "toy"
title = "toys"
authors = []
venue = "a test"
simulator = "a toy"
repetitions = 2
number = []
claim = []
system = [
  { name = "TCP", protocol = "tcp", role = "baseline", source = "" },
  { name = "TFRC", protocol = "tfrc", role = "baseline", source = "" },
  { name = "with ZBS", protocol = "tfrc", lda = "ZBS", role = "proposed", source = "" },
]
metric = [
  { name = "goodput", unit = "kb/s", better = "more", definition = "" },
  { name = "delay", unit = "ms", better = "less", definition = "" },
]
"#;

const TOY_ITEMS: &str = r#"
flow = "test"
setting = [
  { parameter = "loss", value = 0, set = [] },
  { parameter = "loss", value = 0.01, set = [] },
  { parameter = "loss", value = 0.02, set = [] },
]
[[network]]
scenario = "WLH"
file = "cen2003/WLH"
[[item]]
id = "table"
title = "toys"
source = "a test"
scenario = "WLH"
parameters = { N = 1, loss = [0, 0.01, 0.02] }
metrics = ["goodput", "delay"]
systems = ["TCP", "TFRC", "with ZBS"]
"#;

/// A stack whose goodput is the seed.
#[derive(Default)]
struct Toy {
    /// How many attempts are disturbed.
    spoils: u32,
    fails: bool,
    /// Requested while the run is under way.
    stop: Option<Stop>,
    attempts: AtomicU32,
}

impl Stack for Toy {
    fn identity(&self) -> String {
        "toy".to_owned()
    }

    fn metrics(&self, _: &Experiment) -> Result<Vec<Metric>, RunError> {
        Ok(vec![])
    }

    fn run(&self, _: &Experiment, seed: u64, stop: &Stop) -> Result<Attempt, RunError> {
        if let Some(whole) = &self.stop {
            whole.request();
        }
        if stop.is_requested() {
            return Err(Stopped.into());
        }
        if self.fails {
            return Err(RunError::Stack { problem: "it broke".to_owned(), is_bad_input: false });
        }
        if self.attempts.fetch_add(1, Ordering::Relaxed) < self.spoils {
            return Ok(Attempt::Spoiled("it was late".to_owned()));
        }
        let value = Some(seed as f64);
        Ok(Attempt::Made(vec![Metric::new("goodput", "kb/s", value)]))
    }
}

fn plan_of_toys(runs: u32, settings: &[Setting]) -> Plan {
    let only = ["system=TCP,with ZBS", "loss=0.01"].map(|text| Only::parse(text).unwrap());
    let selection = Selection::parse_of(&["toy"], |_| Ok(toy())).unwrap();
    let selection = selection.only(only.to_vec()).unwrap().on_stacks();
    let variation = Variation { settings: settings.to_vec(), ..Variation::default() };
    let runs = Repetitions::Exactly(runs);
    Plan::new(&Context::default(), &selection, runs, 5, &variation).unwrap()
}

/// What the stacks of TCP and of ZBS make, and the events.
fn made_by(
    runs: u32,
    toys: [Toy; 2],
    workers: impl Into<Workers>,
) -> (Result<Reproduction, RunError>, Vec<String>) {
    made_in(None, runs, toys, workers)
}

/// The same, with the finished runs of a store.
fn made_in(
    store: Option<&Store>,
    runs: u32,
    toys: [Toy; 2],
    workers: impl Into<Workers>,
) -> (Result<Reproduction, RunError>, Vec<String>) {
    let stacks = toys.map(|toy| Box::new(toy) as Box<dyn Stack>);
    let mut events = Vec::new();
    let made = plan_of_toys(runs, &[]).execute_on(&stacks, workers, store, |event| match event {
        Event::Progress(done) => events.push(format!("{} done", done.runs)),
        Event::Disturbed(cell, why) => events.push(format!("{cell}: {why}")),
        _ => {}
    });
    (made, events)
}

fn goodput(of: &Reproduction, system: &str) -> (Option<f64>, u32) {
    let mut items = of.items.iter();
    let item = items.find(|item| item.metric == "goodput" && item.system == system).unwrap();
    (item.measured, item.runs)
}

#[test]
fn a_value_by_a_stack_is_the_mean_over_the_seeds() {
    let (made, events) = made_by(3, [Toy::default(), Toy::default()], Jobs::new(2).unwrap());
    let made = made.unwrap();
    assert_eq!(goodput(&made, "TCP"), (Some(6.0), 3));
    let done: Vec<String> = (1..=6).map(|done| format!("{done} done")).collect();
    assert_eq!(events, done);
    let other = made.items.iter().find(|item| item.metric == "delay").unwrap();
    assert_eq!((other.measured, other.runs), (None, 3));
}

#[test]
fn a_disturbed_run_is_repeated_and_left_out_after_four_tries() {
    let again = |spoils| {
        let disturbed = Toy { spoils, ..Toy::default() };
        let (made, events) = made_by(1, [Toy::default(), disturbed], Jobs::new(2).unwrap());
        let disturbed = events.iter().filter(|event| !event.ends_with("done")).cloned().collect();
        (goodput(&made.unwrap(), "with ZBS"), disturbed)
    };
    let told = "with ZBS, N 1, loss 0.01: it was late".to_owned();
    let (made, disturbed): (_, Vec<String>) = again(3);
    assert_eq!((made, disturbed), ((Some(5.0), 1), vec![told.clone(); 3]));
    let (made, disturbed): (_, Vec<String>) = again(4);
    assert_eq!((made, disturbed), ((None, 0), vec![told; 4]));
}

#[test]
fn a_finished_run_is_not_made_again_and_a_left_out_one_stays_so() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::new(place.path());
    let one = || Jobs::new(1).unwrap();
    let spoilt = Toy { spoils: 4, ..Toy::default() };
    let broken = Toy { fails: true, ..Toy::default() };
    let (failed, _) = made_in(Some(&store), 2, [spoilt, broken], one());
    assert!(matches!(failed, Err(RunError::Stack { .. })), "{failed:?}");
    let resuming = store.clone().resuming();
    let whole = || [Toy::default(), Toy::default()];
    let (made, events) = made_in(Some(&resuming), 2, whole(), one());
    assert_eq!(events, ["1 done", "2 done", "3 done", "4 done"], "the first is not made again");
    let made = made.unwrap();
    assert_eq!(goodput(&made, "TCP"), (Some(6.0), 1), "seed 5 is left out, as it was");
    assert_eq!(goodput(&made, "with ZBS"), (Some(5.5), 2));
    let (again, events) = made_in(Some(&resuming), 2, whole(), one());
    assert_eq!((again.unwrap(), events), (made, vec!["4 done".to_owned()]));
}

#[test]
fn a_failure_ends_the_runs_by_stacks_and_so_does_a_stop() {
    let broken = Toy { fails: true, ..Toy::default() };
    let (failed, _) = made_by(2, [broken, Toy::default()], Jobs::new(2).unwrap());
    assert!(matches!(failed, Err(RunError::Stack { .. })), "{failed:?}");
    let stopped = |stop: Stop, last: Toy| {
        let workers = Workers::from(Jobs::default()).stopping_at(&stop);
        let (stopped, _) = made_by(1, [Toy::default(), last], workers);
        assert!(matches!(stopped, Err(RunError::Stopped(_))), "{stopped:?}");
    };
    let before = Stop::new();
    before.request();
    stopped(before, Toy::default());
    let within = Stop::new();
    stopped(within.clone(), Toy { stop: Some(within), ..Toy::default() });
}

#[test]
fn settings_reach_every_scenario_and_no_two_systems_share_one() {
    let plan = plan_of_toys(1, &[Setting::new("duration_s", 400)]);
    let cells = plan.configurations();
    assert!(cells.iter().all(|cell| cell.experiment.duration.as_secs_f64() == 400.0));
    let names: Vec<String> = cells.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["TCP, N 1, loss 0.01", "with ZBS, N 1, loss 0.01"]);
    let none = Repetitions::exactly(0).unwrap_err();
    assert!(none.to_string().starts_with("--runs 0: nothing would be measured"));
}
