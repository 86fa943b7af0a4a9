//! `test` and `ci`: named steps, each with the tools it needs.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::iter;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::Command;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::growth::{self, Costs};
use crate::shell::{cargo, losscause, output, program, run, target};
use crate::tools::{self, Tool};
use crate::{captures, instructions, lab, look, package, pages, python, record, site, validate};

/// A check.
struct Step {
    name: &'static str,
    needs: &'static [Tool],
    run: fn() -> Result<()>,
    /// The check stands in for the steps that need these tools, and runs only if one is missing.
    stands_in_for: &'static [Tool],
    /// The check waits much, or yields to those that do, and measures no time: it runs beside its
    /// neighbours of this kind.
    is_beside: bool,
}

impl Step {
    const fn new(name: &'static str, needs: &'static [Tool], run: fn() -> Result<()>) -> Self {
        Self { name, needs, run, stands_in_for: &[], is_beside: false }
    }

    const fn beside(name: &'static str, needs: &'static [Tool], run: fn() -> Result<()>) -> Self {
        Self { is_beside: true, ..Self::new(name, needs, run) }
    }

    /// Whether another step takes its place, or a tool is missing, which is said and listed.
    fn is_left_out(&self, skipped: &mut Vec<String>) -> bool {
        if !self.stands_in_for.is_empty() && self.stands_in_for.iter().all(Tool::present) {
            return true;
        }
        let Some(tool) = self.needs.iter().find(|tool| !tool.present()) else { return false };
        println!("\n== {}: skipped, {} is missing", self.name, tool.name);
        skipped.push(format!("{} ({} is missing)", self.name, tool.name));
        true
    }
}

const TESTS_OF_ALL: Step = Step::beside("tests", OPTIONAL_PARTS, tests);
/// The adapter compiles a second QUIC and its cryptography, which takes longer than the rest of
/// QUIC.
const TESTS_BUT_S2N: Step = Step::new("tests, but for s2n-quic", OPTIONAL_PARTS, tests_but_s2n);

const TESTS: &[Step] = &[
    TESTS_OF_ALL,
    Step {
        stands_in_for: OPTIONAL_PARTS,
        ..Step::new("tests without optional parts", &[], tests_without_optional_parts)
    },
    Step::new("no I/O: the libraries compile for wasm32", &[Tool::WASM], wasm_builds),
    Step::new("the product compiles for macOS and Windows", &[Tool::OTHER_SYSTEMS], other_systems),
    Step::new("agreement with ns-2, short form", &[Tool::NS2], validate::short),
    Step::new("instructions of the event loop", &[Tool::VALGRIND], instructions::compare),
    Step::new("the same bytes from any number of threads", &[], same_bytes),
    Step::new("the record of the five papers", &[], || record::record(&Default::default())),
    Step::beside("captures of this machine's own TCP, short form", OPTIONAL_PARTS, captures::short),
];

const BEFORE_TESTS: &[Step] = &[
    Step::new("compiled units of the default build", &[], growth::units),
    Step::new("format", &[], || run(cargo("fmt --all --check"))),
    Step::new("lints", OPTIONAL_PARTS, || {
        run(everything("clippy --all-targets --quiet").args(["--", "-D", "warnings"]))
    }),
    Step::new("documentation", OPTIONAL_PARTS, documentation),
    Step::new("licences, bans and sources of dependencies", &[Tool::CARGO_DENY], dependencies),
    // These two take what the tests leave.
    Step::beside(
        "the published crates from their packages, with the oldest compiler",
        &[Tool::OLDEST_RUST],
        || package::package(true),
    ),
    Step::beside("the oldest compiler for the other crates", &[Tool::OLDEST_RUST], oldest_compiler),
];

const AFTER_TESTS: &[Step] = &[
    Step::new("the reports in a browser", &[Tool::NODE, Tool::CHROMIUM], || look::look(&[])),
    Step::beside("the commands of README.md and docs/", &[], || pages::pages(&[])),
    Step::beside("the lab in a browser", &[Tool::WASM, Tool::NODE, Tool::CHROMIUM], lab::test),
    Step::beside("the Python package", &[Tool::PYTHON], python::test),
    Step::new("the links of the site", site::TOOLS, site::short),
    Step::new("every benchmark runs once", &[], benchmarks_run),
];

/// The steps of `ci`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the steps whose names contain this; may be given several times
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
}

/// Runs all tests of the crates, but for the adapter to s2n-quic. Steps whose tools are missing are
/// skipped, listed and counted.
pub(crate) fn test() -> Result<()> {
    let is_ours = |step: &&Step| step.name != TESTS_OF_ALL.name;
    run_steps(iter::once(&TESTS_BUT_S2N).chain(TESTS.iter().filter(is_ours)), &mut Costs::default())
}

/// Installs missing tools and runs every step, also after a failure.
pub(crate) fn ci(options: &Options) -> Result<()> {
    let asked = |step: &&Step| {
        options.only.is_empty() || options.only.iter().any(|text| step.name.contains(text))
    };
    let steps: Vec<&Step> =
        BEFORE_TESTS.iter().chain(TESTS).chain(AFTER_TESTS).filter(asked).collect();
    if steps.is_empty() {
        bail!("no step's name contains \"{}\"", options.only.join("\" or \""));
    }
    let mut costs = Costs::before_steps();
    steps.iter().try_for_each(|step| tools::ensure(step.needs))?;
    let outcome = run_steps(steps.into_iter(), &mut costs);
    if options.only.is_empty() {
        growth::report(&mut costs)?;
    }
    outcome
}

fn run_steps<'a>(steps: impl Iterator<Item = &'a Step>, costs: &mut Costs) -> Result<()> {
    let begun = Instant::now();
    let mut passed = 0;
    let mut failed = Vec::new();
    let mut skipped = Vec::new();
    let steps: Vec<&Step> = steps.filter(|step| !step.is_left_out(&mut skipped)).collect();
    for together in steps.chunk_by(|one, next| one.is_beside && next.is_beside) {
        let names = together.iter().map(|step| step.name).collect::<Vec<_>>().join(", ");
        println!("\n== {names}");
        let at = Instant::now();
        let spent_before = growth::processor_s();
        let outcomes: Vec<(&Step, Result<()>, Duration)> = thread::scope(|scope| {
            let timed = |step: &'a Step| (step, (step.run)(), at.elapsed());
            let start = |&step| scope.spawn(move || timed(step));
            let running: Vec<_> = together.iter().map(start).collect();
            let end = |step: ScopedJoinHandle<_>| step.join().unwrap_or_else(|p| resume_unwind(p));
            running.into_iter().map(end).collect()
        });
        let cpu_s = growth::processor_s() - spent_before;
        costs.add(&names, cpu_s, at.elapsed());
        for (Step { name, .. }, outcome, took) in outcomes {
            let took = format!("{:.1} s", took.as_secs_f64());
            if let Err(error) = outcome {
                println!("== {name}: FAILED after {took}: {error:#}");
                failed.push(format!("{name}: {error:#}").replace('\n', " "));
            } else {
                passed += 1;
                println!("== {name}: passed in {took}");
            }
        }
        println!("{cpu_s:.1} processor seconds");
    }
    println!();
    skipped.iter().for_each(|what| println!("skipped: {what}"));
    println!(
        "all steps took {:.0} s\nsteps: {passed} passed, {} failed, {} skipped",
        begun.elapsed().as_secs_f64(),
        failed.len(),
        skipped.len()
    );
    if !failed.is_empty() {
        bail!("failed: {}", failed.join("; "));
    }
    Ok(())
}

/// What the optional parts need: emulated links, congestion control in the running kernel, QUIC,
/// media.
pub(crate) const OPTIONAL_PARTS: &[Tool] = &[Tool::CLANG, Tool::LIB_ELF, Tool::OWN_NETWORKS];

/// What compiling them takes.
pub(crate) const OPTIONAL_PARTS_BUILD: &[Tool] = &[Tool::CLANG, Tool::LIB_ELF];

/// Whether the tests include the optional parts.
pub(crate) fn has_optional_parts() -> bool {
    OPTIONAL_PARTS.iter().all(Tool::present)
}

/// Cargo with one selection for all of lints, documentation, tests and benchmarks: whatever they
/// share is compiled once.
pub(crate) fn everything(words: &str) -> Command {
    let mut cargo = cargo(words);
    cargo.args(["--workspace", "--all-features"]);
    cargo
}

/// The package of s2n-quic itself.
const S2N: &str = "s2n-quic-download";

/// The feature that compiles s2n-quic's core.
const S2N_FEATURE: &str = "losscause-quic/s2n-quic";

/// What is compiled keeps to deny.toml. Known holes need another network: the hosted CI asks for them.
fn dependencies() -> Result<()> {
    let check = ["--locked", "--all-features", "check", "bans", "licenses", "sources"];
    run(tools::own("cargo-deny").args(check))
}

/// The documentation of all crates in `target/doc`.
///
/// # Errors
/// rustdoc fails or warns.
pub(crate) fn documentation() -> Result<()> {
    run(everything("doc --no-deps --quiet").env("RUSTDOCFLAGS", "-D warnings"))
}

fn tests() -> Result<()> {
    run(everything("test --no-fail-fast --quiet"))
}

fn tests_but_s2n() -> Result<()> {
    let mut features = package::features()?;
    let of_s2n = format!("{S2N}/");
    features.retain(|feature| feature != S2N_FEATURE && !feature.starts_with(&of_s2n));
    tests_of(&features.join(","))
}

fn tests_without_optional_parts() -> Result<()> {
    tests_of("losscause-quic/noq,losscause-quic/quinn")
}

fn tests_of(features: &str) -> Result<()> {
    let test = format!("test --no-fail-fast --quiet --workspace --exclude {S2N} --features");
    run(cargo(&test).arg(features))
}

/// The long form of the kernel tests' churn, which the tests leave out.
///
/// # Errors
/// A tool is missing and cannot be installed, or the test fails.
pub(crate) fn churn() -> Result<()> {
    tools::ensure(OPTIONAL_PARTS)?;
    run(cargo("test -p losscause-linux --features kernel --test kernel -- --ignored"))
}

/// The library that C programs load as `name`, compiled as for the tests: with the examples, the
/// same features are selected.
///
/// # Errors
/// It cannot be compiled.
pub(crate) fn library(name: &str) -> Result<PathBuf> {
    run(everything("build --lib --examples --quiet"))?;
    Ok(target().join("debug").join(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}")))
}

fn wasm_builds() -> Result<()> {
    // The simulator enables the feature `alloc`; the other two are checked without it.
    for packages in [
        "-p losscause -p losscause-transport --no-default-features",
        "-p losscause-sim -p losscause-study --no-default-features",
        "-p losscause-study",
    ] {
        run(cargo(&format!("check --quiet --target wasm32-unknown-unknown {packages}")))?;
    }
    Ok(())
}

/// The command, and with it all that it uses, without parts that take a compiler of C.
fn other_systems() -> Result<()> {
    let check = "check --quiet --locked -p losscause-cli -p losscause-media";
    let targets = "--target aarch64-apple-darwin --target x86_64-pc-windows-msvc";
    run(cargo(&format!("{check} {targets}")))
}

/// `reproduce` prints the same JSON for any `--jobs`.
fn same_bytes() -> Result<()> {
    let losscause = losscause()?;
    let json = |jobs: &str| {
        let arguments = ["reproduce", "cen2003", "--runs", "1", "--format", "json", "--jobs", jobs];
        output(program(&losscause).args(arguments))
    };
    let one = json("1")?;
    let two = json("2")?;
    if one.is_empty() || one != two {
        let at = one.iter().zip(&two).take_while(|(a, b)| a == b).count();
        bail!(
            "`losscause reproduce` printed other bytes with --jobs 2 than with --jobs 1, from byte {at} on"
        );
    }
    Ok(())
}

/// What is not published compiles as well, and its tests, without a warning with the compiler that
/// `rust-version` names.
fn oldest_compiler() -> Result<()> {
    let mut check = tools::oldest_check();
    check.args(["--locked", "--workspace"]);
    let published = package::published()?;
    run(check.args(published.iter().flat_map(|one| ["--exclude", &one.name])))
}

/// Without `cargo bench`, criterion runs every benchmark once and times nothing. Those of
/// losscause-linux measure the running kernel for minutes; the lints compile them.
fn benchmarks_run() -> Result<()> {
    run(everything("test --bench lda --bench event_loop --bench per_ack --quiet"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_steps_names_each_that_failed_and_why() {
        const STEPS: [Step; 3] = [
            Step::new("one", &[], || bail!("a\nb")),
            Step::new("two", &[], || Ok(())),
            Step::new("three", &[], || bail!("x")),
        ];
        let error = run_steps(STEPS.iter(), &mut Costs::default()).unwrap_err().to_string();
        assert_eq!(error, "failed: one: a b; three: x");
    }
}
