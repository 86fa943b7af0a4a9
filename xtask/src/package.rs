//! `cargo xtask package`: the published crates built, tested and installed from their `.crate`
//! files alone.
//!
//! The files are unpacked into an empty directory outside the repository. A Cargo configuration
//! there puts the unpacked crates in place of crates.io, so that they find each other. Each crate
//! is its own workspace and keeps the lock file that its package holds. A crate is tested with its
//! own features only: inside the repository's workspace, another crate could enable a feature that
//! it lacks. The short form checks with the oldest compiler that the tests compile and does not run
//! them: they are those that ran in the repository. A crate whose documentation takes all features
//! (the key `package.metadata.docs.rs.all-features`) is checked with all. It installs nothing
//! either: the commands of the README run with the program of the default build.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::shell::{cargo, losscause, output, root, run, target};
use crate::tools;

mod manifest;

use manifest::Crate;

/// The form of the test.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Check with the oldest compiler that every package and its tests compile instead of running
    /// them, leave out the optional features, which take minutes to compile, and install nothing
    #[arg(long)]
    short: bool,
}

/// The crate that `cargo install` installs, and its program.
const COMMAND_LINE: (&str, &str) = ("losscause-cli", "losscause");

/// The file that selects rustup's compiler for its folder.
const TOOLCHAIN: &str = "rust-toolchain.toml";

/// The names of the published crates.
///
/// # Errors
/// Cargo cannot tell them.
pub(crate) fn published() -> Result<Vec<String>> {
    Ok(manifest::published()?.into_iter().map(|package| package.name).collect())
}

/// Every feature of the workspace's packages, as `--features` takes it: `PACKAGE/FEATURE`.
///
/// # Errors
/// Cargo cannot tell them.
pub(crate) fn features() -> Result<Vec<String>> {
    manifest::features()
}

/// The short form, as one of CI's steps.
pub(crate) fn short() -> Result<()> {
    package(&Options { short: true })
}

/// Packs the published crates, tests each outside the repository, installs the program and runs its
/// README's commands.
///
/// # Errors
/// A crate cannot be packed, built or tested, or a command of the README fails or leaves a file
/// behind.
pub(crate) fn package(options: &Options) -> Result<()> {
    let crates = manifest::published()?;
    let place = tempfile::Builder::new()
        .prefix("losscause-packages-")
        .tempdir()
        .context("the temporary directory")?;
    let target = if options.short { target() } else { place.path().join("target") };
    let place = Place { root: place.path().to_owned(), target, _removed_at_the_end: place };
    place.unpack(&crates)?;
    for package in &crates {
        if options.short { place.check(package) } else { place.test(package) }?;
    }
    let Some(command_line) = crates.iter().find(|package| package.name == COMMAND_LINE.0) else {
        bail!("no published crate is called {}", COMMAND_LINE.0);
    };
    let program =
        if options.short { PathBuf::from(losscause()?) } else { place.install(command_line)? };
    place.run_readme(command_line, &program)
}

/// An empty directory outside the repository.
struct Place {
    root: PathBuf,
    /// Cargo's folder for what it compiles.
    target: PathBuf,
    _removed_at_the_end: tempfile::TempDir,
}

impl Place {
    /// Packs `crates`, unpacks them side by side, and puts them in place of crates.io.
    fn unpack(&self, crates: &[Crate]) -> Result<()> {
        let packing = self.root.join("packing");
        let mut pack = cargo();
        // Uncommitted changes are packed as well.
        pack.args(["package", "--quiet", "--no-verify", "--allow-dirty", "--target-dir"])
            .arg(&packing);
        for package in crates {
            pack.args(["--package", &package.name]);
        }
        run(&mut pack)?;
        for package in crates {
            let file = packing.join("package").join(format!("{}.crate", package.folder()));
            let mut tar = Command::new("tar");
            // A package's files are all dated 2006; with those dates Cargo would take an older
            // build of them for fresh.
            run(tar.arg("xzmf").arg(&file).arg("-C").arg(&self.root))?;
            let (files, bytes) = size(&self.root.join(package.folder()))?;
            let packed = fs::metadata(&file)?.len();
            println!(
                "{}: {files} files, {} KiB, {} KiB packed",
                package.folder(),
                kib(bytes),
                kib(packed)
            );
        }
        fs::remove_dir_all(&packing)?;
        fs::create_dir(self.root.join(".cargo"))?;
        fs::write(self.root.join(".cargo/config.toml"), configuration(&self.root, crates))?;
        // The repository's compiler; without the file, rustup takes the machine's default.
        fs::copy(root().join(TOOLCHAIN), self.root.join(TOOLCHAIN))?;
        Ok(())
    }

    /// Cargo in the unpacked `package`.
    fn cargo(&self, package: &Crate) -> Command {
        let mut cargo = cargo();
        self.put(&mut cargo, package);
        cargo
    }

    fn put(&self, cargo: &mut Command, package: &Crate) {
        cargo.current_dir(self.root.join(package.folder())).env("CARGO_TARGET_DIR", &self.target);
    }

    /// Checks with the oldest compiler that `package` and its tests compile; all that they include
    /// is in the package, then.
    fn check(&self, package: &Crate) -> Result<()> {
        let begun = Instant::now();
        let mut check = tools::oldest_check()?;
        self.put(&mut check, package);
        if package.is_documented_whole {
            check.arg("--all-features");
        }
        run(&mut check)?;
        println!("{}: compiles, in {:.0} s", package.folder(), begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// Tests `package` with its default features and, if it has others, with all.
    fn test(&self, package: &Crate) -> Result<()> {
        let features: &[&[&str]] =
            if package.has_features { &[&[], &["--all-features"]] } else { &[&[]] };
        for features in features {
            let begun = Instant::now();
            let mut test = self.cargo(package);
            test.args(["test", "--quiet"]).args(*features).stdin(Stdio::null());
            let output = test.output().context("`cargo test` cannot be started")?;
            let printed = String::from_utf8_lossy(&output.stdout);
            let name = [&[package.folder().as_str()], *features].concat().join(" ");
            if !output.status.success() {
                bail!(
                    "{name}: its tests fail\n{printed}\n{}",
                    String::from_utf8_lossy(&output.stderr)
                );
            }
            let Some(passed) = passed(&printed).filter(|&passed| passed > 0) else {
                bail!("{name}: no test ran\n{printed}");
            };
            println!("{name}: {passed} tests passed in {:.0} s", begun.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// Installs the program of `package` and returns its path.
    fn install(&self, package: &Crate) -> Result<PathBuf> {
        let begun = Instant::now();
        let mut install = self.cargo(package);
        // The tests have adapted the lock file to the unpacked crates; all other versions are the
        // package's own.
        install
            .args(["install", "--quiet", "--locked", "--path", ".", "--root"])
            .arg(self.root.join("installed"));
        run(install.args(["--features", "full"]))?;
        let program = self.root.join("installed/bin").join(COMMAND_LINE.1);
        let bytes = fs::metadata(&program).with_context(|| program.display().to_string())?.len();
        println!(
            "{}: installed `{}`, {} KiB, in {:.0} s",
            package.folder(),
            COMMAND_LINE.1,
            kib(bytes),
            begun.elapsed().as_secs_f64()
        );
        Ok(program)
    }

    /// Runs the commands that the README of `package` shows, in an empty directory, which must stay
    /// empty.
    fn run_readme(&self, package: &Crate, program: &Path) -> Result<()> {
        let readme = fs::read_to_string(self.root.join(package.folder()).join("README.md"))?;
        let commands = commands(&readme, COMMAND_LINE.1);
        for verb in ["reproduce", "simulate"] {
            if !commands.iter().any(|words| words.first() == Some(&verb)) {
                bail!("the README of {} shows no `{} {verb}`", package.name, COMMAND_LINE.1);
            }
        }
        let empty = self.root.join("empty");
        fs::create_dir(&empty)?;
        for words in commands {
            let shown = format!("{} {}", COMMAND_LINE.1, words.join(" "));
            let printed = output(Command::new(program).args(&words).current_dir(&empty))?;
            if printed.is_empty() {
                bail!("`{shown}` printed nothing");
            }
            println!("{shown}: {} lines", printed.split(|&byte| byte == b'\n').count() - 1);
        }
        if fs::read_dir(&empty)?.next().is_some() {
            bail!("the commands of the README left files behind");
        }
        Ok(())
    }
}

/// The Cargo configuration under which unpacked crates find each other instead of crates.io.
fn configuration(root: &Path, crates: &[Crate]) -> String {
    let mut text = String::from("[patch.crates-io]\n");
    for package in crates {
        let folder = root.join(package.folder());
        // A Rust string of a path is a TOML string as well: temporary directories have no odd
        // characters.
        let _ = writeln!(text, "{} = {{ path = {:?} }}", package.name, folder);
    }
    // Optimised, because tests run whole simulations. Built once, so nothing is kept for debugging.
    text.push_str("[profile.dev]\ndebug = false\nincremental = false\nopt-level = 1\n");
    text
}

/// Files below `folder`, and their bytes.
fn size(folder: &Path) -> Result<(usize, u64)> {
    let mut files = 0;
    let mut bytes = 0;
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let (more_files, more_bytes) = if entry.file_type()?.is_dir() {
            size(&entry.path())?
        } else {
            (1, entry.metadata()?.len())
        };
        files += more_files;
        bytes += more_bytes;
    }
    Ok((files, bytes))
}

fn kib(bytes: u64) -> u64 {
    bytes.div_ceil(1024)
}

/// The sum of passed tests over the lines "test result: ok. 12 passed; …"; none if such a line has
/// no number.
fn passed(printed: &str) -> Option<u32> {
    let results = printed.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    results.map(|line| line.split_once(" passed")?.0.parse::<u32>().ok()).sum()
}

/// The arguments of each line of `readme` that calls `program`.
fn commands<'a>(readme: &'a str, program: &str) -> Vec<Vec<&'a str>> {
    let calls = readme.lines().filter_map(|line| line.strip_prefix(program)?.strip_prefix(' '));
    calls.map(|rest| rest.split_whitespace().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_summed_over_test_programs() {
        let printed = "\nrunning 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; finished\n\n\
                       test result: ok. 40 passed; 0 failed; 0 ignored; 0 measured; finished\n";
        assert_eq!(passed(printed), Some(42));
        assert_eq!(passed(""), Some(0));
        assert_eq!(passed("test result: ok. all passed"), None);
    }

    #[test]
    fn a_readmes_commands_are_its_lines_that_begin_with_the_program() {
        let readme = "losscause-cli\nlosscause list papers\ncargo install losscause\nlosscause simulate a/b --seed 7\n";
        assert_eq!(
            commands(readme, "losscause"),
            [vec!["list", "papers"], vec!["simulate", "a/b", "--seed", "7"]]
        );
    }

    #[test]
    fn files_are_counted_in_folders_below_too() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        fs::write(folder.path().join("a"), "12345").unwrap();
        fs::write(folder.path().join("below/b"), "123").unwrap();
        assert_eq!(size(folder.path()).unwrap(), (2, 8));
    }

    #[test]
    fn the_configuration_puts_every_crate_in_the_place_of_crates_io() {
        let crates = [Crate {
            name: "a".into(),
            version: "0.1.0".into(),
            has_features: false,
            is_documented_whole: false,
        }];
        let parsed: toml::Table =
            toml::from_str(&configuration(Path::new("/place"), &crates)).unwrap();
        assert_eq!(parsed["patch"]["crates-io"]["a"]["path"].as_str(), Some("/place/a-0.1.0"));
    }
}
