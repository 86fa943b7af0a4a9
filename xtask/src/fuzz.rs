//! `cargo xtask fuzz`: every fuzz target of `fuzz/` for a given time, from the kept corpus on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::shell::{command, output, root, run};

/// What to fuzz, and how long.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Targets, by their names in fuzz/fuzz_targets (default: all)
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

/// Longest input, bytes, and how long one may take, seconds: what is slower has hung.
const LONGEST_INPUT: u32 = 4096;
const TIMEOUT_S: u32 = 10;
/// Memory one input may take, MiB.
const MOST_MEMORY_MIB: u32 = 1024;

/// Runs the targets one after the other; a crash in one does not spare the others.
///
/// # Errors
/// A target crashed, hung or took too much memory: the error names the input. Or a target is unknown, or something that
/// fuzzing needs cannot be installed.
pub(crate) fn fuzz(options: &Options) -> Result<()> {
    let targets = chosen(&options.targets, &known()?)?;
    install()?;
    let mut findings = Vec::new();
    for target in &targets {
        println!("\n== {target}: {} s", options.seconds);
        let begun = SystemTime::now();
        if let Err(error) = run_target(target, options.seconds) {
            match newest_since(&root().join("fuzz/artifacts").join(target), begun) {
                Some(input) => findings.push(format!("{target}: {}", input.display())),
                None => return Err(error),
            }
        }
    }
    if !findings.is_empty() {
        bail!("inputs that must not do what they do:\n  {}", findings.join("\n  "));
    }
    println!("\n{} targets, {} s each: nothing found", targets.len(), options.seconds);
    Ok(())
}

/// The names of the targets, in order.
fn known() -> Result<Vec<String>> {
    let directory = root().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&directory).with_context(|| directory.display().to_string())?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// All that are known, or those asked for.
fn chosen(asked: &[String], known: &[String]) -> Result<Vec<String>> {
    if let Some(stranger) = asked.iter().find(|name| !known.contains(name)) {
        bail!("fuzz target \"{stranger}\" is unknown, expected one of {}", known.join(", "));
    }
    Ok(if asked.is_empty() { known } else { asked }.to_vec())
}

/// cargo-fuzz, and the nightly compiler that it needs.
fn install() -> Result<()> {
    if output(command("rustc").args(["+nightly", "--version"])).is_err() {
        println!("installing the nightly toolchain");
        run(command("rustup").args(["toolchain", "install", "nightly", "--profile", "minimal"]))?;
    }
    if output(command("cargo").args(["fuzz", "--version"])).is_err() {
        println!("installing cargo-fuzz");
        run(command("cargo").args(["install", "--locked", "cargo-fuzz"]))?;
    }
    Ok(())
}

fn run_target(target: &str, seconds: u32) -> Result<()> {
    let mut fuzzer = command("cargo");
    // The compiler that called us must not choose the one that fuzzes.
    fuzzer.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
    fuzzer.args(["+nightly", "fuzz", "run", target, "--"]);
    run(fuzzer.args([
        format!("-max_total_time={seconds}"),
        format!("-max_len={LONGEST_INPUT}"),
        format!("-timeout={TIMEOUT_S}"),
        format!("-rss_limit_mb={MOST_MEMORY_MIB}"),
        "-print_final_stats=1".to_owned(),
    ]))
}

/// The newest file of `directory` that was written since `begun`: what the fuzzer left of a finding.
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
    fn every_target_has_a_corpus_and_is_known_by_its_file() {
        let known = known().unwrap();
        assert!(known.len() >= 10, "{known:?}");
        for name in known {
            let corpus = root().join("fuzz/corpus").join(&name);
            assert!(fs::read_dir(&corpus).unwrap().next().is_some(), "{} is empty", corpus.display());
        }
    }

    #[test]
    fn an_unknown_target_is_refused_and_none_stands_for_all() {
        let known = ["scenario".to_owned(), "sweep".to_owned()];
        assert_eq!(chosen(&[], &known).unwrap(), known);
        assert_eq!(chosen(&["sweep".to_owned()], &known).unwrap(), ["sweep"]);
        assert!(chosen(&["swep".to_owned()], &known).unwrap_err().to_string().contains("expected one of scenario"));
    }

    #[test]
    fn only_what_the_run_left_counts_as_its_finding() {
        let directory = root().join("target").join(format!("fuzz-findings-{}", std::process::id()));
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
