//! Experiments that are killed, and resumed from what they have finished: a sweep, the reproduction
//! of a paper's table and of a table on another stack, a comparison, and drawn networks.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/files.rs"]
mod files;
#[path = "common/hang.rs"]
mod hang;

use files::{files, unfinished};

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// An experiment of many cells, each of some tens of milliseconds.
struct Experiment {
    words: &'static str,
    cells: usize,
    /// What its cells are called.
    name: &'static str,
    /// A file of its results.
    result: &'static str,
}

impl Experiment {
    /// One whose cells are runs.
    const fn of_runs(words: &'static str, cells: usize) -> Self {
        Self { words, cells, name: "runs", result: "result.json" }
    }
}

/// A sweep; seven systems, eight runs of each; two algorithms on a paper's link; paths at both ends;
/// networks whose captures are analysed, and networks with seven systems.
const EXPERIMENTS: &[Experiment] = &[
    Experiment { words: "sweep s.toml", cells: 30, name: "cells", result: "sweep.json" },
    Experiment::of_runs("reproduce cen2003/table2 --runs 8", 56),
    Experiment::of_runs("compare cen2003/WLH --lda none,Spike --runs 12", 24),
    Experiment::of_runs("reproduce paths --paths 10", 20),
    Experiment::of_runs("reproduce abroad/captures --kind policer --networks 12", 12),
    Experiment::of_runs("reproduce abroad/loop --kind LEO --networks 3", 21),
    #[cfg(feature = "media")]
    Experiment::of_runs("reproduce media/wlh --only system=none,ZBS --runs 3", 18),
];

impl Experiment {
    fn command(&self, place: &Path, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_losscause"));
        command.args(self.words.split(' ')).args(["--out", "o"]).args(more).current_dir(place);
        command
    }

    fn run(&self, place: &Path, more: &[&str]) -> Output {
        self.command(place, more).output().unwrap()
    }

    /// Waits until it has finished some cells, and then ends it with the signal. On a busy machine
    /// it may be faster than this process, and have its results: then it begins again, some times.
    fn interrupted(&self, signal: &str) -> (tempfile::TempDir, Output) {
        for _ in 0..5 {
            let place = place();
            let mut child = self
                .command(place.path(), &[])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let finished = place.path().join("o/cells/finished.jsonl");
            let cells =
                || std::fs::read_to_string(&finished).map_or(0, |text| text.lines().count());
            hang::wait_until("three cells are finished", || {
                cells() >= 3 || child.try_wait().unwrap().is_some()
            });
            // It fails if the experiment has ended.
            let _ = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            let output = hang::output("the experiment", child);
            let has_results = place.path().join("o").join(self.result).exists();
            if !output.status.success() && !has_results {
                return (place, output);
            }
        }
        panic!("{signal} has not ended it in five attempts");
    }
}

/// A directory with a sweep.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let lengths: Vec<String> = (0..30).map(|k| (1000 + k).to_string()).collect();
    let sweep = format!(
        "title = \"t\"\nruns = 2\nscenario = \"cen2003/WLH\"\nmetrics = [\"thput\", \"M_w\"]\n\
         [[axis]]\nkey = \"duration_s\"\nvalues = [{}]\n",
        lengths.join(", ")
    );
    std::fs::write(place.path().join("s.toml"), sweep).unwrap();
    place
}

/// The results by their names, and what belongs to them.
fn results(place: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let name = |path: PathBuf| path.strip_prefix(place).unwrap().into();
    files(&place.join("o")).into_iter().map(|(path, text)| (name(path), text)).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_killed_and_resumed_experiment_has_the_bytes_of_an_unbroken_one() {
    for experiment in EXPERIMENTS {
        let whole = place();
        let ended = experiment.run(whole.path(), &[]);
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        assert!(whole.path().join("o").join(experiment.result).exists());
        for (signal, number) in [("-TERM", 15), ("-INT", 2), ("-KILL", 9)] {
            let (place, ended) = experiment.interrupted(signal);
            let error = text(&ended.stderr);
            assert_eq!(ended.status.signal(), Some(number), "{error}");
            if signal != "-KILL" {
                assert_eq!(unfinished(place.path()), 0, "{signal} leaves no temporary file");
                let Experiment { cells, name, .. } = experiment;
                let kept = format!(
                    "of {cells} {name} are finished and kept in o, and the same command with --resume"
                );
                assert!(error.contains(&kept), "{error}");
            }
            let kept = place.path().join("o/cells/finished.jsonl");
            let before = std::fs::read_to_string(&kept).unwrap();
            let refused = experiment.run(place.path(), &[]);
            assert_eq!(refused.status.code(), Some(2), "finished cells are not dropped unasked");
            assert_eq!(std::fs::read_to_string(&kept).unwrap(), before);
            // As a killed program leaves it: a file that no process has locked.
            std::fs::write(place.path().join("o/cells/.losscause-x.part"), "half").unwrap();
            std::fs::write(place.path().join("o/.losscause-y.part"), "half").unwrap();
            let resumed = experiment.run(place.path(), &["--resume"]);
            let error = text(&resumed.stderr);
            assert!(resumed.status.success(), "{error}");
            assert!(experiment.name == "runs" || error.contains(" resumed)"), "{error}");
            assert!(results(place.path()) == results(whole.path()), "after {signal}");
        }
    }
}

#[test]
fn a_running_experiments_directory_is_refused_and_free_after_a_kill() {
    for experiment in EXPERIMENTS {
        let place = place();
        let mut child =
            experiment.command(place.path(), &[]).stderr(Stdio::null()).spawn().unwrap();
        let cells = place.path().join("o/cells");
        hang::wait_until("it has begun", || cells.exists());
        // It stands still, so it cannot end before the second one has looked.
        let stop = Command::new("kill").args(["-STOP", &child.id().to_string()]).status();
        assert!(stop.unwrap().success());
        let second = experiment.run(place.path(), &["--resume"]);
        child.kill().unwrap();
        child.wait().unwrap();
        let expected =
            "losscause: o: is in use by another process, expected a directory of its own\n";
        assert_eq!((text(&second.stderr).as_str(), second.status.code()), (expected, Some(2)));
        assert!(experiment.run(place.path(), &["--resume"]).status.success());
    }
}

#[test]
fn a_reproduction_that_is_whole_is_not_measured_again_by_resume() {
    let place = place();
    let table = ["reproduce", "cen2003/table2", "--runs", "1", "--out", "o"];
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_losscause"));
        command.args(table).args(more).current_dir(place.path()).output().unwrap()
    };
    assert!(run(&["--resume"]).status.success(), "there was nothing to resume");
    let before = results(place.path());
    let refused = run(&["--resume"]);
    let expected = "losscause: --resume: o has the whole result.json, expected an interrupted one; without this option it is measured anew\n";
    assert_eq!((text(&refused.stderr).as_str(), refused.status.code()), (expected, Some(2)));
    assert!(results(place.path()) == before);
    assert!(run(&[]).status.success());
}

#[test]
fn resume_and_restart_are_refused_where_nothing_is_kept() {
    for (item, option) in [
        (&["reproduce", "cen2003/table2"][..], "--resume"),
        (&["reproduce", "abroad"], "--restart"),
        (&["compare", "cen2003/WLH", "--lda", "none,ZBS"], "--resume"),
    ] {
        let place = tempfile::tempdir().unwrap();
        let refused = Command::new(env!("CARGO_BIN_EXE_losscause"))
            .args(item)
            .arg(option)
            .current_dir(place.path())
            .output()
            .unwrap();
        let sentence = "nothing is kept without a directory, expected --out DIR";
        assert_eq!(text(&refused.stderr), format!("losscause: {option}: {sentence}\n"));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
