//! `cargo xtask lab`: the page in `web/`, built into `web/dist`, which any static host serves; its
//! tests, and its pictures.
//!
//! Binaryen's `wasm-opt -Oz` is not used: it made the module larger when compressed, and no faster.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use crate::dist;
use crate::shell::{cargo, command, losscause, root, run, target, text};
use crate::tools::{self, Tool};

/// The arguments of `lab`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Also test: the same bytes as the command line, and the page in Chromium; screenshots are
    /// kept in web/look
    #[arg(long)]
    test: bool,
    /// Also make the pictures of the documentation anew, in Chromium: docs/images/lab-*.png and
    /// docs/images/tutorial-*.png
    #[arg(long)]
    posters: bool,
}

const TARGET: &str = "wasm32-unknown-unknown";

/// The modules of the pages: its file in `web/src`, cargo's profile, and its package.
const MODULES: [[&str; 3]; 3] = [
    ["lab.wasm", "page", "losscause-lab"],
    ["capture.wasm", "page-capture", "losscause-capture-page"],
    ["decompress.wasm", "page-capture", "losscause-decompress-page"],
];

/// The program that runs the page's tools.
pub(crate) const NODE: &str = "node";

/// Exits with 0 if Node runs the page's tools, and npm is there.
pub(crate) const IS_USABLE: &str =
    "require('node:child_process').execFileSync('npm', ['--version']);
    process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)";

/// Builds the page.
///
/// # Errors
/// A tool is missing and cannot be installed, the page cannot be built or is too large, or a test
/// fails.
pub(crate) fn lab(options: &Options) -> Result<()> {
    tools::ensure(&[Tool::WASM, Tool::NODE])?;
    if options.test || options.posters {
        Tool::CHROMIUM.ensure()?;
    }
    build()?;
    if options.test {
        in_a_browser()?;
    }
    if options.posters {
        run(node(&["scripts/posters.mjs"]))?;
        run(node(&["scripts/tutorial.mjs"]).env("LOSSCAUSE", losscause()?))?;
    }
    Ok(())
}

/// As one of the steps of a test run. The modules are not optimised as a whole, so their size says
/// nothing.
///
/// # Errors
/// As [`lab`].
pub(crate) fn test() -> Result<()> {
    pages(|_| "release")?;
    in_a_browser()
}

/// The pages that were built give the bytes of the command line, and work in Chromium.
fn in_a_browser() -> Result<()> {
    let program = losscause()?;
    let tests =
        ["tests/same-bytes.test.mjs", "tests/stories.test.mjs", "tests/capture-bytes.test.mjs"];
    run(node(&["--test"]).args(tests).env("LOSSCAUSE", &program))?;
    run(playwright().env("LOSSCAUSE", program))
}

/// The tests in Chromium; [`install`] was called before.
pub(crate) fn playwright() -> Command {
    node(&["node_modules/@playwright/test/cli.js", "test"])
}

/// Installs what the pages and their tests take. What a package would run then is not needed.
///
/// # Errors
/// npm fails.
pub(crate) fn install() -> Result<()> {
    run(in_web("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))
}

/// The modules, then the pages around them.
///
/// # Errors
/// A part cannot be built, or the page is too large.
pub(crate) fn build() -> Result<()> {
    pages(|profile| profile)?;
    run(node(&["scripts/size.mjs"]))
}

/// The modules, each compiled with this profile in place of its own, and the pages around them.
fn pages(profile: impl Fn(&'static str) -> &'static str) -> Result<()> {
    // The same modules on every machine.
    let flags = format!("target.{TARGET}.rustflags={:?}", dist::without_folders()?);
    // As of the command line, so that both name one origin.
    let commit = text(command("git rev-parse --short=12 HEAD")).unwrap_or_default();
    // One after the other: built together, each would have the features that any of them asks for.
    for [file, own, package] in MODULES {
        println!("compiles {file} for the page");
        let profile = profile(own);
        let build = format!("build --quiet --profile {profile} --target {TARGET} --lib -p");
        let mut build = cargo(&build);
        build.arg(package).args(["--config", &flags]).env("LOSSCAUSE_COMMIT", &commit);
        run(build)?;
        let built = format!("{TARGET}/{profile}/{}.wasm", package.replace('-', "_"));
        let built = target().join(built);
        fs::copy(&built, root().join("web/src").join(file))
            .with_context(|| format!("{} cannot be copied", built.display()))?;
    }
    println!("builds the page into web/dist");
    install()?;
    run(in_web("npm").args(["run", "build"]))
}

fn in_web(program: &str) -> Command {
    let mut command = command(program);
    command.current_dir(root().join("web"));
    command
}

fn node(arguments: &[&str]) -> Command {
    let mut command = in_web(NODE);
    command.args(arguments);
    command
}
