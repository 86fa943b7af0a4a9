//! `cargo xtask lab`: the page in `web/`, built into `web/dist`, which any static host serves; its
//! tests, and its pictures.
//!
//! Binaryen's `wasm-opt -Oz` is not used: it made the module larger when compressed, and no faster.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell::{cargo, command, losscause, root, run, target};
use crate::tools::Tool;

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

/// A module of a page.
struct Module {
    /// The module's file in `web/src`.
    name: &'static str,
    profile: &'static str,
    package: &'static str,
}

const MODULES: [Module; 3] = [
    Module { name: "lab.wasm", profile: "page", package: "losscause-lab" },
    Module { name: "capture.wasm", profile: "page-capture", package: "losscause-capture-page" },
    Module {
        name: "decompress.wasm",
        profile: "page-capture",
        package: "losscause-decompress-page",
    },
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
    let tests: &[Tool] = if options.test || options.posters { &[Tool::Chromium] } else { &[] };
    [Tool::Wasm, Tool::Node].iter().chain(tests).try_for_each(|tool| tool.ensure())?;
    build()?;
    if options.test {
        in_a_browser()?;
    }
    if options.posters {
        run(&mut node(&["scripts/posters.mjs"]))?;
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
    // One after the other: built together, each would have the features that any of them asks for.
    MODULES.iter().try_for_each(|module| built(module, "release"))?;
    pages_around(|_| "release")?;
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
    MODULES.iter().try_for_each(|module| built(module, module.profile))?;
    pages_around(|module| module.profile)?;
    run(&mut node(&["scripts/size.mjs"]))
}

/// Compiles a module.
fn built(module: &Module, profile: &str) -> Result<()> {
    let arguments = ["build", "--quiet", "--profile", profile, "--target", TARGET, "--lib"];
    run(cargo().args(arguments).args(["-p", module.package]))
}

/// The pages around the modules, each of which was compiled with this profile.
fn pages_around(profile: impl Fn(&Module) -> &'static str) -> Result<()> {
    for module in &MODULES {
        let built = format!("{}/{}.wasm", profile(module), module.package.replace('-', "_"));
        let built = target().join(TARGET).join(built);
        fs::copy(&built, root().join("web/src").join(module.name))
            .with_context(|| format!("{} cannot be copied", built.display()))?;
    }
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
