//! The fuzzer's targets without a fuzzer: its corpus, so that what was found once does not come
//! back, and files of the corpus with a fixed number of random changes. `cargo xtask fuzz` searches
//! for longer.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use losscause_laboratory::sweep::Sweep;
use losscause_study::{Context, Scenario};
#[cfg(target_os = "linux")]
use nix::sys::resource::{Resource, setrlimit};
use nix::time::{ClockId, clock_gettime};

#[path = "../../fuzz/src/lib.rs"]
#[allow(unreachable_pub)] // Elsewhere it is a crate of its own.
mod fuzz;

#[path = "corpus/changes.rs"]
mod changes;

use changes::Random;
use fuzz::{TARGETS, Target};

/// The fuzzer's folder.
fn fuzzer() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// The files of a target's corpus, in order.
fn corpus(name: &str) -> Vec<PathBuf> {
    let files = entries(&fuzzer().join("corpus").join(name));
    assert!(!files.is_empty(), "{name} has no corpus");
    files
}

/// What is in a folder, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    entries
}

#[test]
fn every_target_takes_every_file_of_its_corpus() {
    for (name, target) in TARGETS {
        for file in corpus(name) {
            // Shown only if the test fails: the last line is the file that did it.
            println!("{}", file.display());
            target(&fs::read(&file).unwrap());
        }
    }
}

#[test]
fn every_folder_of_the_corpus_is_that_of_a_target() {
    let folder = fuzzer().join("corpus");
    assert_eq!(entries(&folder), TARGETS.map(|(name, _)| folder.join(name)));
}

#[test]
fn the_fuzzers_manifest_has_the_crates_that_its_targets_use() {
    let manifest = fs::read_to_string(fuzzer().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = toml::from_str(&manifest).unwrap();
    let ours = |name: &&str| name.starts_with("losscause");
    let named = manifest["dependencies"].as_table().unwrap().keys().map(String::as_str);
    let named: BTreeSet<String> = named.filter(ours).map(str::to_owned).collect();
    let files = entries(&fuzzer().join("src"));
    let sources: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let words = sources.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let used = words.filter_map(|word| word.split_once("::")).map(|(name, _)| name).filter(ours);
    let used: BTreeSet<String> = used.map(|name| name.replace('_', "-")).collect();
    assert_eq!(used, named);
}

/// Changed files that each target gets.
const CHANGED: usize = 4_000;
/// The limit of the processor time for one of them, and of the memory of all, as the fuzzer has
/// them.
const LIMIT: Duration = Duration::from_secs(10);
/// One of them hangs if none has ended for so long, however busy the machine is.
const HANGS_AFTER: Duration = Duration::from_secs(180);
#[cfg(target_os = "linux")]
const MOST_MEMORY_BYTES: u64 = 2 << 30;

/// The processor time of this thread: other programs take none of it.
fn spent() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// A file that the target took, or a finding.
type Outcome = Result<(), String>;

/// Runs a target. Each input is a file while it runs, so that it is also there if it ends the
/// process; it stays if it is a finding, which ends the target.
fn run_changed(index: usize, (name, target): Target, outcomes: &Sender<Outcome>) {
    let files: Vec<Vec<u8>> = corpus(name).iter().map(|file| fs::read(file).unwrap()).collect();
    let input_file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
    let mut random = Random::new(index as u64);
    for _ in 0..CHANGED {
        let input = random.changed(&files);
        fs::write(&input_file, &input).unwrap();
        let before = spent();
        let outcome = catch_unwind(AssertUnwindSafe(|| target(&input)));
        let took = spent() - before;
        let finding = match outcome {
            Err(_) => Some("panics".to_owned()),
            Ok(()) if took > LIMIT => Some(format!("takes {took:?}")),
            Ok(()) => None,
        };
        if let Some(finding) = finding {
            outcomes.send(Err(format!("{name} {finding}: {}", input_file.display()))).unwrap();
            return;
        }
        outcomes.send(Ok(())).unwrap();
    }
    fs::remove_file(input_file).unwrap();
}

#[test]
fn every_target_takes_changed_files_of_its_corpus() {
    #[cfg(target_os = "linux")]
    setrlimit(Resource::RLIMIT_AS, MOST_MEMORY_BYTES, MOST_MEMORY_BYTES).unwrap();
    let (sender, outcomes) = channel();
    for _ in 0..thread::available_parallelism().unwrap().get() {
        let sender = sender.clone();
        thread::spawn(move || {
            static NEXT: AtomicUsize = AtomicUsize::new(0);
            let next = || NEXT.fetch_add(1, Ordering::Relaxed);
            while let Some((index, target)) = TARGETS.iter().enumerate().nth(next()) {
                run_changed(index, *target, &sender);
            }
        });
    }
    drop(sender);
    let mut findings = Vec::new();
    let mut taken = 0;
    loop {
        match outcomes.recv_timeout(HANGS_AFTER) {
            Ok(Ok(())) => taken += 1,
            Ok(Err(finding)) => findings.push(finding),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                panic!("one of {}/fuzz-* does not end", env!("CARGO_TARGET_TMPDIR"))
            }
        }
    }
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
    assert_eq!(taken, CHANGED * TARGETS.len());
}

/// A file of the corpus.
fn input(name: &str) -> String {
    fs::read_to_string(fuzzer().join("corpus").join(name)).unwrap()
}

/// What is said about the scenario `name` of the corpus.
fn refusal(name: &str) -> String {
    let text = input(&format!("scenario/{name}"));
    let experiment = Scenario::parse(&text, "x.toml", &Context::default())
        .and_then(|scenario| scenario.experiment());
    experiment.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_file_of_a_few_lines_cannot_ask_for_gigabytes() {
    let paths = "there and back, expected at most 200000";
    assert_eq!(
        refusal("many_private_links.toml"),
        format!("x.toml: flow.f.path: brings the links on all paths to 800000, {paths}")
    );
    assert_eq!(
        refusal("many_groups_of_many_flows.toml"),
        format!("x.toml: flow.f10.path: brings the links on all paths to 220000, {paths}")
    );
    for (name, key) in [
        ("count_1e9", "flow.f.count: is 1000000000, expected a whole number from 0 to 10000"),
        ("duration_1e18", "duration_s: is 1000000000000000000, expected"),
        ("queue_1e18", "link.a.queue_packets: is 1000000000000000000, expected"),
        ("slots_1e18", "link.a.slots_per_packet: is 1000000000000000000, expected"),
    ] {
        let found = refusal(&format!("{name}.toml"));
        assert!(found.starts_with(&format!("x.toml: {key}")), "{found}");
    }
}

#[test]
fn a_sweep_of_more_cells_or_runs_than_fit_in_memory_is_refused() {
    let refusal = |name: &str| {
        let text = input(&format!("sweep/{name}"));
        Sweep::parse(&text, Path::new("x.toml"), &Context::default()).unwrap_err().to_string()
    };
    assert_eq!(
        refusal("grid_of_2_to_the_60.toml"),
        "x.toml: axis: the axes make more than 1000000 cells, which is the maximum"
    );
    assert_eq!(
        refusal("runs_4e9.toml"),
        "x.toml: runs: is 4294967295, expected a whole number from 1 to 10000"
    );
}
