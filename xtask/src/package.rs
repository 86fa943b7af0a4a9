//! `cargo xtask package`: the published crates built, tested and installed from their `.crate`
//! files alone.
//!
//! The files are unpacked into an empty directory outside the repository. A Cargo configuration
//! there puts the unpacked crates in place of crates.io, so that they find each other. Each crate
//! is its own workspace and keeps the lock file that its package holds; in the short form they are
//! one, with the repository's. A crate is tested with its own features only: inside the repository's
//! workspace, another crate could enable a feature that it lacks. The short form checks with the
//! oldest compiler that the tests compile and does not run them: they are those that ran in the
//! repository. A crate whose documentation takes all features (the key
//! `package.metadata.docs.rs.all-features`) is checked with all. It installs nothing either: the
//! commands of the README run with the program of the default build.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::shell::{cargo, command, losscause, output, packages, read, root, run, write};
use crate::tools;

/// The crate that `cargo install` installs, and its program.
const COMMAND_LINE: (&str, &str) = ("losscause-cli", "losscause");

/// The file that selects rustup's compiler for its folder.
const TOOLCHAIN: &str = "rust-toolchain.toml";

/// A crate of the workspace.
#[derive(Deserialize)]
pub(crate) struct Crate {
    pub(crate) name: String,
    version: String,
    /// Not named: to any registry. An empty list: not published.
    publish: Option<Vec<String>>,
    metadata: Value,
    features: BTreeMap<String, Value>,
}

impl Crate {
    /// The name of its `.crate` file without the ending, and of the folder in that file.
    fn folder(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }
}

/// The published crates.
///
/// # Errors
/// Cargo cannot tell them.
pub(crate) fn published() -> Result<Vec<Crate>> {
    let mut crates: Vec<Crate> = packages("--no-deps")?;
    crates.retain(|one| one.publish.as_ref().is_none_or(|to| !to.is_empty()));
    Ok(crates)
}

/// Every feature of the workspace's packages, as `--features` takes it: `PACKAGE/FEATURE`.
///
/// # Errors
/// Cargo cannot tell them.
pub(crate) fn features() -> Result<Vec<String>> {
    let named = |Crate { name, features, .. }: Crate| {
        features.into_keys().map(move |feature| format!("{name}/{feature}"))
    };
    Ok(packages("--no-deps")?.into_iter().flat_map(named).collect())
}

/// Packs the published crates, tests each outside the repository, installs the program and runs its
/// README's commands.
///
/// # Errors
/// A crate cannot be packed, built or tested, or a command of the README fails or leaves a file
/// behind.
pub(crate) fn package(is_short: bool) -> Result<()> {
    let crates = published()?;
    let place = tempfile::Builder::new().prefix("losscause-packages-").tempdir()?;
    let place = place.path();
    unpack(&crates, place)?;
    if is_short {
        check_with_oldest(&crates, place)?;
    } else {
        crates.iter().try_for_each(|package| test(package, place))?;
    }
    let Some(command_line) = crates.iter().find(|package| package.name == COMMAND_LINE.0) else {
        bail!("no published crate is called {}", COMMAND_LINE.0);
    };
    let installed = place.join("installed/bin").join(COMMAND_LINE.1);
    let program = if is_short { losscause()? } else { installed };
    run_readme(&place.join(command_line.folder()).join("README.md"), &program)
}

/// Checks that every package and its tests compile: then all that the tests include is in the
/// package. What a crate shares with those that use it is compiled once, as they are one workspace;
/// features are selected for one crate at a time.
fn check_with_oldest(crates: &[Crate], place: &Path) -> Result<()> {
    let folders: Vec<String> = crates.iter().map(Crate::folder).collect();
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = {folders:?}\n");
    write(place.join("Cargo.toml"), workspace)?;
    fs::copy(root().join("Cargo.lock"), place.join("Cargo.lock"))?;
    for package in crates {
        println!("{}", package.folder());
        let mut check = tools::oldest_check();
        let is_documented_whole = package.metadata["docs"]["rs"]["all-features"] == true;
        check.args(["-p", &package.name]).args(is_documented_whole.then_some("--all-features"));
        run(check.current_dir(place))?;
    }
    Ok(())
}

/// Tests a package as its own workspace, with and without its optional features, and installs the
/// program.
fn test(package: &Crate, place: &Path) -> Result<()> {
    println!("{}", package.folder());
    let folder = place.join(package.folder());
    let run = |mut cargo: Command| {
        run(cargo.current_dir(&folder).env("CARGO_TARGET_DIR", place.join("target")))
    };
    run(cargo("test --quiet"))?;
    run(cargo("test --quiet --all-features"))?;
    if package.name == COMMAND_LINE.0 {
        // The tests have adapted the lock file to the unpacked crates; all other versions are the
        // package's own.
        let mut install = cargo("install --quiet --locked --path . --features full --root");
        install.arg(place.join("installed"));
        run(install)?;
    }
    Ok(())
}

/// Packs `crates`, unpacks them side by side in `place`, and puts them in place of crates.io.
fn unpack(crates: &[Crate], place: &Path) -> Result<()> {
    let packing = place.join("packing");
    // Uncommitted changes are packed as well.
    let mut pack = cargo("package --quiet --no-verify --allow-dirty --target-dir");
    pack.arg(&packing).args(crates.iter().flat_map(|package| ["--package", &package.name]));
    run(pack)?;
    for folder in crates.iter().map(Crate::folder) {
        let file = packing.join("package").join(format!("{folder}.crate"));
        // A package's files are all dated 2006; with those dates Cargo would take an older build of
        // them for fresh.
        run(command("tar xzmf").arg(&file).arg("-C").arg(place))?;
        println!("{folder}: {} KiB packed", fs::metadata(&file)?.len() / 1024);
    }
    write(place.join(".cargo/config.toml"), configuration(place, crates))?;
    // The repository's compiler; without the file, rustup takes the machine's default.
    fs::copy(root().join(TOOLCHAIN), place.join(TOOLCHAIN))?;
    Ok(())
}

/// The Cargo configuration under which unpacked crates find each other instead of crates.io.
fn configuration(place: &Path, crates: &[Crate]) -> String {
    // A Rust string of a path is a TOML string as well: temporary directories have no odd characters.
    let patch =
        |one: &Crate| format!("{} = {{ path = {:?} }}\n", one.name, place.join(one.folder()));
    let patches: String = crates.iter().map(patch).collect();
    // Optimised, because tests run whole simulations. Built once, so nothing is kept for debugging.
    let profile = "[profile.dev]\ndebug = false\nincremental = false\nopt-level = 1\n";
    format!("[patch.crates-io]\n{patches}{profile}")
}

/// Runs the commands that a README shows, in an empty directory, which must stay empty.
fn run_readme(readme: &Path, program: &Path) -> Result<()> {
    let readme = read(readme)?;
    let calls = || readme.lines().filter_map(|line| line.strip_prefix("losscause "));
    for verb in ["reproduce", "simulate"] {
        if !calls().any(|words| words.starts_with(verb)) {
            bail!("the README of {} shows no `{} {verb}`", COMMAND_LINE.0, COMMAND_LINE.1);
        }
    }
    let empty = tempfile::tempdir()?;
    for words in calls() {
        let words = words.split_whitespace();
        if output(Command::new(program).args(words).current_dir(&empty))?.is_empty() {
            bail!("a command of the README printed nothing");
        }
    }
    if fs::read_dir(&empty)?.next().is_some() {
        bail!("the commands of the README left files behind");
    }
    Ok(())
}
