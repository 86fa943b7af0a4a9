//! Plans whose finished runs are kept in a directory.

use std::path::Path;

use losscause_study::{Jobs, RunError, Stop, Workers};

use super::tests::{CALIBRATION, PLOT, plan};
use super::*;
use crate::store::Store;

/// Two targets that are met after a few halvings.
fn calibration() -> String {
    CALIBRATION.replace("[35, 45, 500]", "[35, 45]")
}

/// Executes the plan on one thread and stops it after so many runs, those of calibrations included.
fn stopped(rest: &str, store: &Store, after: usize) -> Result<Reproduction, RunError> {
    let stop = Stop::new();
    let workers = Workers::from(Jobs::new(1).unwrap()).stopping_at(&stop);
    let mut runs = 0;
    plan(rest).unwrap().drawing().execute_on(&[], workers, Some(store), |event| {
        if let Event::Progress(_) = event {
            runs += 1;
            if runs >= after {
                stop.request();
            }
        }
    })
}

fn json(reproduction: &Reproduction) -> String {
    serde_json::to_string(reproduction).unwrap()
}

fn kept(place: &Path) -> String {
    std::fs::read_to_string(place.join("cells/finished.jsonl")).unwrap()
}

#[test]
fn a_plan_stopped_again_and_again_has_the_same_bytes_at_the_end() {
    for (rest, least) in [(calibration(), 3), (PLOT.to_owned(), 1)] {
        let whole = plan(&rest).unwrap().drawing().execute(Jobs::default(), |_| ()).unwrap();
        let place = tempfile::tempdir().unwrap();
        let store = Store::new(place.path()).resuming();
        let mut after = 1;
        let mut stops = 0;
        let found = loop {
            match stopped(&rest, &store, after) {
                Err(RunError::Stopped(_)) => stops += 1,
                found => break found.unwrap(),
            }
            after *= 2;
        };
        assert!(stops >= least, "{stops}");
        assert!(json(&found) == json(&whole), "after {stops} stops");
        let lines = kept(place.path());
        assert!(json(&stopped(&rest, &store, usize::MAX).unwrap()) == json(&whole));
        assert_eq!(kept(place.path()), lines, "nothing is made again");
    }
}

#[test]
fn a_damaged_run_is_made_again() {
    let whole = plan(PLOT).unwrap().drawing().execute(Jobs::default(), |_| ()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let store = Store::new(place.path()).resuming();
    stopped(PLOT, &store, usize::MAX).unwrap();
    let lines = kept(place.path());
    let cut = lines.len() - 40;
    for damaged in [lines[..cut].to_owned(), lines.replacen("\"number\":0", "\"number\":1", 1)] {
        std::fs::write(place.path().join("cells/finished.jsonl"), damaged).unwrap();
        assert!(json(&stopped(PLOT, &store, usize::MAX).unwrap()) == json(&whole));
    }
}

#[test]
fn finished_runs_of_another_reproduction_are_refused_and_never_dropped_unasked() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::new(place.path());
    assert!(stopped(PLOT, &store, 1).is_err(), "one of two runs is made");
    let lines = kept(place.path());
    let refused = |plan: Plan, store: &Store, problem: &str| {
        let refused = plan.execute_on(&[], Jobs::default(), Some(store), |_| ()).unwrap_err();
        assert!(refused.is_bad_input());
        let problem = format!("{}: {problem}", place.path().display());
        assert!(refused.to_string().starts_with(&problem), "{refused}");
        assert_eq!(kept(place.path()), lines);
    };
    let same = || plan(PLOT).unwrap().drawing();
    let resuming = store.clone().resuming();
    let expected =
        "has finished runs of this reproduction, expected --resume to keep them, or --restart";
    refused(same(), &store, expected);
    let other = Plan { seed: 2, ..same() };
    let expected = "was begun with seed 1, not 2, expected the same reproduction; --restart drops its runs and starts";
    refused(other, &resuming, expected);
    let item = CALIBRATION.replace("[35, 45, 500]", "35");
    for store in [&store, &resuming, &store.clone().restarting()] {
        refused(plan(&item).unwrap(), store, "holds the reproduction of mini/");
    }
    let edited = PLOT.replace("title = \"t\"", "title = \"u\"");
    assert_ne!(edited, PLOT);
    refused(plan(&edited).unwrap().drawing(), &resuming, "was begun before the record of mini/");
    refused(plan(PLOT).unwrap(), &resuming, "was begun before the record of mini/");
    let origin = place.path().join("origin.json");
    let text = std::fs::read_to_string(&origin).unwrap();
    std::fs::write(&origin, text.replace("\"losscause ", "\"losscause 0.")).unwrap();
    refused(same(), &resuming, "was begun by losscause 0.");
    std::fs::write(&origin, &text[..text.len() / 2]).unwrap();
    refused(same(), &store.clone().restarting(), "has cells and no valid origin.json, expected ");
    std::fs::write(&origin, text).unwrap();
    same().execute_on(&[], Jobs::default(), Some(&store.restarting()), |_| ()).unwrap();
    assert_ne!(kept(place.path()), lines, "the second run is there too");
}
