//! `test` and `ci`: named steps, each with the tools it needs.

use std::time::Instant;

use anyhow::{Result, bail};

#[cfg(target_os = "linux")]
use crate::linux;
use crate::shell::{cargo, command, losscause, output, root, run};
use crate::tools::{self, Tool};
use crate::{fuzz, instructions, lab, look, package, pages, python, record, shell, validate};

/// A check.
struct Step {
    name: &'static str,
    needs: &'static [Tool],
    run: fn() -> Result<()>,
}

const TESTS: &[Step] = &[
    Step { name: "tests", needs: &[], run: tests },
    Step { name: "no I/O: the libraries compile for wasm32", needs: &[Tool::Wasm], run: wasm_builds },
    Step { name: "a scenario measures the same on wasm32", needs: &[Tool::Wasm], run: wasm_runs },
    Step { name: "agreement with ns-2, short form", needs: &[Tool::Ns2], run: validate::short },
    Step { name: "instructions of the event loop", needs: &[Tool::Valgrind], run: instructions::compare },
    Step { name: "the same bytes from any number of threads", needs: &[], run: same_bytes },
    Step { name: "the record of the five papers", needs: &[], run: record::compare },
    Step { name: "the reports in a browser", needs: &[Tool::Chromium], run: look::all },
    Step { name: "an optional part: the adapter to s2n-quic", needs: &[], run: s2n_quic },
    #[cfg(target_os = "linux")]
    Step {
        name: "optional parts: emulated links, TCP in the running kernel, QUIC, media",
        needs: &[Tool::Clang, Tool::LibElf, Tool::OwnNetworks],
        run: optional_parts,
    },
    #[cfg(target_os = "linux")]
    Step {
        name: "captures of this machine's own TCP, short form",
        needs: &[Tool::OwnNetworks, Tool::Tcpdump],
        run: linux::short,
    },
    #[cfg(target_os = "linux")]
    Step {
        name: "agreement with the running kernel, short form",
        needs: &[Tool::OwnNetworks],
        run: validate::linux::short,
    },
    Step { name: "the lab in a browser", needs: &[Tool::Wasm, Tool::Node, Tool::Chromium], run: lab::test },
    Step { name: "the Python package", needs: &[Tool::Python], run: python::test },
    Step { name: "the commands of README.md and docs/", needs: &[], run: pages::all },
];

const BEFORE_TESTS: &[Step] = &[
    Step { name: "format", needs: &[], run: format },
    Step { name: "lints", needs: &[], run: lints },
    Step { name: "documentation", needs: &[], run: documentation },
];

const AFTER_TESTS: &[Step] = &[
    Step { name: "the oldest compiler that Cargo.toml allows", needs: &[Tool::OldestRust], run: oldest_compiler },
    Step { name: "the published crates from their packages, short form", needs: &[], run: package::short },
    Step { name: "every benchmark runs once", needs: &[], run: benchmarks_run },
    Step { name: "every fuzz target for 20 s", needs: &[Tool::Nightly, Tool::CargoFuzz], run: fuzz::short },
];

/// Runs all tests. Steps whose tools are missing are skipped, listed and counted.
pub(crate) fn test() -> Result<()> {
    run_steps(TESTS.iter())
}

/// Installs missing tools and runs every step, also after a failure.
pub(crate) fn ci() -> Result<()> {
    for tool in Tool::ALL {
        tool.ensure()?;
    }
    run_steps(BEFORE_TESTS.iter().chain(TESTS).chain(AFTER_TESTS))
}

fn run_steps<'a>(steps: impl Iterator<Item = &'a Step>) -> Result<()> {
    let begun = Instant::now();
    let (mut passed, mut failed, mut skipped) = (0, Vec::new(), Vec::new());
    for step in steps {
        if let Some(tool) = step.needs.iter().find(|tool| !tool.present()) {
            println!("\n== {}: skipped, {} is missing", step.name, tool.name());
            skipped.push(format!("{} ({} is missing)", step.name, tool.name()));
            continue;
        }
        println!("\n== {}", step.name);
        let at = Instant::now();
        let outcome = (step.run)();
        let took = at.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => {
                passed += 1;
                println!("== {}: passed in {took:.1} s", step.name);
            }
            Err(error) => {
                println!("== {}: FAILED after {took:.1} s: {error:#}", step.name);
                failed.push(step.name);
            }
        }
    }
    println!();
    for what in &skipped {
        println!("skipped: {what}");
    }
    println!(
        "all steps took {:.0} s\nsteps: {passed} passed, {} failed, {} skipped",
        begun.elapsed().as_secs_f64(),
        failed.len(),
        skipped.len()
    );
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// What is compiled only on demand, because it is heavy or takes libraries that a fresh machine lacks.
const OPTIONAL: [&str; 8] = [
    "--package",
    "losscause-linux",
    "--package",
    "losscause-live",
    "--package",
    "losscause-cli",
    "--features",
    "losscause-cli/linux,losscause-cli/media,losscause-cli/quic",
];

/// All but the adapter to s2n-quic, which is tested by itself: it compiles another cryptography for minutes.
const WORKSPACE: [&str; 3] = ["--workspace", "--exclude", S2N_QUIC[1]];
const S2N_QUIC: [&str; 2] = ["--package", "losscause-s2n-quic"];

fn format() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]))
}

fn lints() -> Result<()> {
    let lint = |what: &[&str]| {
        run(cargo().arg("clippy").args(what).args(["--all-targets", "--quiet", "--", "-D", "warnings"]))
    };
    lint(&WORKSPACE)?;
    lint(&OPTIONAL)?;
    lint(&S2N_QUIC)
}

fn documentation() -> Result<()> {
    run(cargo().args(["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))
}

fn tests() -> Result<()> {
    run(cargo().arg("test").args(WORKSPACE).arg("--quiet"))?;
    // The workspace needs none of the optional features of `losscause`.
    run(cargo().args(["test", "--package", "losscause", "--all-features", "--quiet"]))
}

fn s2n_quic() -> Result<()> {
    run(cargo().arg("test").args(S2N_QUIC).arg("--quiet"))
}

#[cfg(target_os = "linux")]
fn optional_parts() -> Result<()> {
    const TESTS: [&str; 7] = ["emulate", "kernel", "live", "media", "quic", "replay", "stream"];
    run(cargo()
        .arg("test")
        .args(OPTIONAL)
        .arg("--lib")
        .args(TESTS.iter().flat_map(|test| ["--test", test]))
        .arg("--quiet"))
}

const WASM: [&str; 3] = ["--quiet", "--target", "wasm32-unknown-unknown"];

fn wasm_builds() -> Result<()> {
    let check = |arguments: &[&str]| run(cargo().arg("check").args(WASM).args(arguments));
    // The simulator enables the feature `alloc`; the other two are checked without it.
    check(&["-p", "losscause", "-p", "losscause-transport", "--no-default-features"])?;
    check(&["-p", "losscause-sim", "--no-default-features"])?;
    check(&["-p", "losscause-study", "--no-default-features"])?;
    check(&["-p", "losscause-study"])
}

/// Runs the scenario of `wasm/` natively and on wasm32, in an interpreter.
fn wasm_runs() -> Result<()> {
    run(cargo().arg("build").args(WASM).args(["--release", "-p", "wasm-check", "--lib"]))?;
    let module = root().join("target/wasm32-unknown-unknown/release/wasm_check.wasm");
    run(cargo().args(["run", "--quiet", "--release", "-p", "wasm-check", "--"]).arg(module))
}

/// `reproduce` prints the same JSON for any `--jobs`.
fn same_bytes() -> Result<()> {
    let program = losscause()?;
    let json = |jobs: &str| {
        let arguments = ["reproduce", "cen2003", "--runs", "1", "--format", "json", "--jobs", jobs];
        output(command(&program).args(arguments))
    };
    let (one, two) = (json("1")?, json("2")?);
    if one.is_empty() || one != two {
        let at = one.iter().zip(&two).take_while(|(a, b)| a == b).count();
        bail!("`losscause reproduce` printed other bytes with --jobs 2 than with --jobs 1, from byte {at} on");
    }
    Ok(())
}

/// The workspace and its tests compile with the compiler that `rust-version` names.
fn oldest_compiler() -> Result<()> {
    let mut check = shell::cargo_of(&tools::oldest_rust()?);
    check.args(["check", "--quiet", "--locked", "--workspace", "--all-targets"]);
    run(&mut check)
}

/// Without `cargo bench`, criterion runs every benchmark once and times nothing. Those of losscause-linux measure the
/// running kernel for minutes; the lints compile them.
fn benchmarks_run() -> Result<()> {
    run(cargo().arg("test").args(WORKSPACE).args(["--exclude", "losscause-linux", "--bench", "*", "--quiet"]))
}
