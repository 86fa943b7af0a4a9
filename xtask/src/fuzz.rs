//! `cargo xtask fuzz`: every fuzz target of `fuzz/` for a given time, starting from the committed
//! corpus.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::shell::{cargo_of, root, run};
use crate::tools::Tool;

/// The targets, and the time for each.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Targets that run at the same time (default: one per core)
    #[arg(long)]
    jobs: Option<NonZero<usize>>,
    /// Targets, by their names in fuzz/corpus (default: all)
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

/// Longest input, bytes, and the time limit for one input, seconds.
const LONGEST_INPUT: u32 = 4096;
const TIMEOUT_S: u32 = 10;
/// Memory limit for one input, MiB.
const MOST_MEMORY_MIB: u32 = 1024;
/// The fuzzer's program, and the variable that gives it a target.
const PROGRAM: &str = "any";
const TARGET: &str = "FUZZ_TARGET";
/// Lines of the fuzzer's output that are shown if a target fails.
const SHOWN_LINES: usize = 60;

/// Builds the targets and runs all of them, also after a crash.
///
/// # Errors
/// A target crashed, hung or took too much memory: the error names the input. Or a target is
/// unknown, or a tool that fuzzing needs cannot be installed.
pub(crate) fn fuzz(options: &Options) -> Result<()> {
    let targets = chosen(&options.targets, &known()?)?;
    Tool::Nightly.ensure()?;
    Tool::CargoFuzz.ensure()?;
    run(cargo_fuzz().args(["build", PROGRAM]))?;
    let cores = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let findings = side_by_side(&targets, options.jobs.unwrap_or_else(cores), |target| {
        run_target(target, options.seconds)
    })?;
    if !findings.is_empty() {
        bail!("inputs that must not do what they do:\n  {}", findings.join("\n  "));
    }
    println!("{} targets, {} s each: nothing found", targets.len(), options.seconds);
    Ok(())
}

/// Runs `work` for every target, `jobs` at a time, and returns the findings.
fn side_by_side(
    targets: &[String],
    jobs: NonZero<usize>,
    work: impl Fn(&str) -> Result<Option<String>> + Sync,
) -> Result<Vec<String>> {
    let waiting = Mutex::new(targets.iter());
    let found = Mutex::new(Vec::new());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..jobs.get().min(targets.len()) {
            scope.spawn(|| {
                while let Some(target) = next() {
                    let outcome = work(target);
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
                }
            });
        }
    });
    let found: Result<Vec<_>> =
        found.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect();
    let mut found: Vec<String> = found?.into_iter().flatten().collect();
    found.sort();
    Ok(found)
}

/// The names of the targets, in order. Each has a folder of inputs; a test compares the folders
/// with the targets.
fn known() -> Result<Vec<String>> {
    let directory = root().join("fuzz/corpus");
    let entries = fs::read_dir(&directory).with_context(|| directory.display().to_string())?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The requested targets, or all.
fn chosen(asked: &[String], known: &[String]) -> Result<Vec<String>> {
    if let Some(stranger) = asked.iter().find(|name| !known.contains(name)) {
        bail!("fuzz target \"{stranger}\" is unknown, expected one of {}", known.join(", "));
    }
    Ok(if asked.is_empty() { known } else { asked }.to_vec())
}

/// `cargo fuzz` on the nightly compiler, independent of the compiler that runs this program.
fn cargo_fuzz() -> Command {
    let mut fuzzer = cargo_of("nightly");
    fuzzer.arg("fuzz");
    fuzzer
}

/// Runs one target, and returns the failing input, if any.
fn run_target(target: &str, seconds: u32) -> Result<Option<String>> {
    let begun = SystemTime::now();
    let artifacts = root().join("fuzz/artifacts").join(target);
    fs::create_dir_all(&artifacts).with_context(|| artifacts.display().to_string())?;
    let mut fuzzer = cargo_fuzz();
    fuzzer
        .env(TARGET, target)
        .args(["run", PROGRAM])
        .arg(root().join("fuzz/corpus").join(target))
        .arg("--")
        .args([
            // libFuzzer puts the name of a file behind it.
            format!("-artifact_prefix={}/", artifacts.display()),
            format!("-max_total_time={seconds}"),
            format!("-max_len={LONGEST_INPUT}"),
            format!("-timeout={TIMEOUT_S}"),
            format!("-rss_limit_mb={MOST_MEMORY_MIB}"),
            "-print_final_stats=1".to_owned(),
        ]);
    let output =
        fuzzer.output().with_context(|| format!("fuzz target {target} cannot be started"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        println!("{target}: {}", summary(&log));
        return Ok(None);
    }
    let lines: Vec<&str> = log.lines().collect();
    println!("{target}: FAILED\n{}", lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n"));
    match newest_since(&artifacts, begun) {
        Some(input) => Ok(Some(format!("{target}: {}", input.display()))),
        None => bail!("fuzz target {target} ended with {} and left no input", output.status),
    }
}

/// A summary of a run, from libFuzzer's output.
fn summary(log: &str) -> String {
    let after = |mark: &str| {
        let rest = log.rsplit_once(mark)?.1;
        Some(rest.split_whitespace().next()?.to_owned())
    };
    let number = |mark: &str| after(mark).unwrap_or_else(|| "?".to_owned());
    format!(
        "{} inputs, {} of them new, {} edges covered",
        number("stat::number_of_executed_units:"),
        number("stat::new_units_added:"),
        number(" cov: ")
    )
}

/// The newest file of `directory` that was written since `begun`: the fuzzer's finding.
fn newest_since(directory: &Path, begun: SystemTime) -> Option<PathBuf> {
    let written = |path: &PathBuf| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| written(path).is_some_and(|at| at >= begun))
        .max_by_key(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_corpus_and_is_known_by_its_folder() {
        let known = known().unwrap();
        assert!(known.len() >= 10, "{known:?}");
        for name in known {
            let corpus = root().join("fuzz/corpus").join(&name);
            assert!(
                fs::read_dir(&corpus).unwrap().next().is_some(),
                "{} is empty",
                corpus.display()
            );
        }
    }

    #[test]
    fn an_unknown_target_is_refused_and_none_stands_for_all() {
        let known = ["scenario".to_owned(), "sweep".to_owned()];
        assert_eq!(chosen(&[], &known).unwrap(), known);
        assert_eq!(chosen(&["sweep".to_owned()], &known).unwrap(), ["sweep"]);
        assert!(
            chosen(&["swep".to_owned()], &known)
                .unwrap_err()
                .to_string()
                .contains("expected one of scenario")
        );
    }

    #[test]
    fn every_target_runs_once_and_a_failure_stops_no_other() {
        let targets = ["a", "b", "c", "d"].map(str::to_owned);
        for jobs in [1, 2, 9] {
            let ran = Mutex::new(Vec::new());
            let found = side_by_side(&targets, NonZero::new(jobs).unwrap(), |target| {
                ran.lock().unwrap().push(target.to_owned());
                Ok((target == "a" || target == "c").then(|| format!("{target}: input")))
            });
            assert_eq!(found.unwrap(), ["a: input", "c: input"]);
            let mut ran = ran.into_inner().unwrap();
            ran.sort();
            assert_eq!(ran, targets);
        }
        let error = side_by_side(&targets, NonZero::new(2).unwrap(), |target| match target {
            "b" => bail!("no such program"),
            _ => Ok(None),
        });
        assert_eq!(error.unwrap_err().to_string(), "no such program");
    }

    #[test]
    fn a_run_is_summed_up_by_its_last_numbers() {
        let log = "#2\tINITED cov: 640 ft: 1201 corp: 8/1Kb exec/s: 0 rss: 50Mb\n\
                   #524288\tpulse  cov: 702 ft: 1500 corp: 31/2Kb\n\
                   stat::number_of_executed_units: 991122\nstat::average_exec_per_sec:     47196\n\
                   stat::new_units_added:          512\n";
        assert_eq!(summary(log), "991122 inputs, 512 of them new, 702 edges covered");
        assert_eq!(summary(""), "? inputs, ? of them new, ? edges covered");
    }

    #[test]
    fn only_what_the_run_left_counts_as_its_finding() {
        let directory =
            crate::shell::target().join(format!("fuzz-findings-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("crash-1"), "x").unwrap();
        let hour = std::time::Duration::from_secs(3600);
        let found = |begun| newest_since(&directory, begun);
        assert_eq!(found(SystemTime::now() - hour), Some(directory.join("crash-1")));
        assert_eq!(found(SystemTime::now() + hour), None);
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(newest_since(&directory, SystemTime::now() - hour), None);
    }
}
