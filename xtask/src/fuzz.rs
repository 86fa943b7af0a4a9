//! `cargo xtask fuzz`: every fuzz target of `fuzz/` for a given time, starting from the committed
//! corpus.

use std::fs;
use std::num::NonZero;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::shell::{files, other_cargo, root, run};
use crate::tools::{self, Tool};

/// The targets, and the time for each.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Processes that share the work on a target (default: one per core)
    #[arg(long)]
    jobs: Option<NonZero<usize>>,
    /// Targets, by their names in fuzz/corpus (default: all)
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

/// Longest input, bytes, and the limits for one input: time, seconds, and memory, MiB. Each is a
/// finding that ends the target.
const LIMITS: [&str; 5] =
    ["-max_len=4096", "-timeout=10", "-ignore_timeouts=0", "-rss_limit_mb=1024", "-ignore_ooms=0"];

/// Runs the targets, one after the other, also after a crash.
///
/// # Errors
/// A target crashed, hung or took too much memory: libFuzzer has printed where the input is. Or a
/// target is unknown, or a tool that fuzzing needs cannot be installed.
pub(crate) fn fuzz(options: &Options) -> Result<()> {
    let known = known()?;
    let asked = if options.targets.is_empty() { &known } else { &options.targets };
    if let Some(stranger) = asked.iter().find(|name| !known.contains(name)) {
        bail!("fuzz target \"{stranger}\" is unknown, expected one of {}", known.join(", "));
    }
    tools::ensure(&[Tool::NIGHTLY, Tool::CARGO_FUZZ])?;
    let jobs = options.jobs.or_else(|| thread::available_parallelism().ok());
    let jobs = jobs.unwrap_or(NonZero::<usize>::MIN);
    let mut failed = Vec::new();
    for target in asked {
        let artifacts = root().join("fuzz/artifacts").join(target);
        fs::create_dir_all(&artifacts).with_context(|| artifacts.display().to_string())?;
        println!("{target}");
        // The compiler is independent of the one that runs this program.
        let mut fuzzer = other_cargo("cargo +nightly fuzz run any");
        fuzzer.arg(root().join("fuzz/corpus").join(target)).arg("--");
        // libFuzzer puts the name of a file behind the prefix.
        fuzzer.arg(format!("-artifact_prefix={}/", artifacts.display())).args(LIMITS);
        fuzzer.arg(format!("-max_total_time={}", options.seconds)).arg(format!("-fork={jobs}"));
        if let Err(error) = run(fuzzer.env("FUZZ_TARGET", target)) {
            println!("{target}: FAILED: {error}");
            failed.push(target.as_str());
        }
    }
    if !failed.is_empty() {
        bail!("inputs in fuzz/artifacts must not do what they do: {}", failed.join(", "));
    }
    println!("{} targets, {} s each: nothing found", asked.len(), options.seconds);
    Ok(())
}

/// The names of the targets, in order. Each has a folder of inputs; a test compares the folders
/// with the targets.
fn known() -> Result<Vec<String>> {
    let files = files(&["fuzz/corpus/*"])?;
    let folders = files.iter().filter_map(|file| file.parent()?.file_name());
    let mut names: Vec<_> = folders.map(|name| name.to_string_lossy().into_owned()).collect();
    names.dedup();
    Ok(names)
}
