//! Commands run from the root of the repository.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The root of the repository this program was built from.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// A text below `[workspace]` of Cargo.toml, by its key: "package.version".
pub(crate) fn workspace(key: &str) -> Result<String> {
    let manifest: toml::Table = toml::from_str(&fs::read_to_string(root().join("Cargo.toml"))?)?;
    let value = key.split('.').fold(manifest.get("workspace"), |value, key| value?.get(key));
    let text = value.and_then(toml::Value::as_str).map(str::to_owned);
    text.with_context(|| format!("Cargo.toml: workspace.{key} is missing"))
}

/// Cargo's target folder, as cargo itself finds it: the variable CARGO_TARGET_DIR, or
/// `build.target-dir` of a configuration.
pub(crate) fn target() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| named_by(&mut cargo()).unwrap_or_else(|_| root().join("target"))).clone()
}

fn named_by(cargo: &mut Command) -> Result<PathBuf> {
    let metadata = metadata_by(cargo, &["--no-deps"])?;
    let folder = metadata["target_directory"].as_str().context("cargo metadata: no folder")?;
    Ok(PathBuf::from(folder))
}

/// What `cargo metadata` says of the workspace.
pub(crate) fn metadata(options: &[&str]) -> Result<Value> {
    metadata_by(&mut cargo(), options)
}

fn metadata_by(cargo: &mut Command, options: &[&str]) -> Result<Value> {
    let printed = output(cargo.args(["metadata", "--format-version", "1"]).args(options))?;
    serde_json::from_slice(&printed).context("what `cargo metadata` printed")
}

/// A command that starts at the root of the repository.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Cargo itself, as it called us. Nothing is compiled incrementally, which would take gigabytes of
/// disk.
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = command(&cargo);
    command.env("CARGO_INCREMENTAL", "0");
    command
}

/// The cargo of another toolchain than the one that runs this program.
pub(crate) fn cargo_of(toolchain: &str) -> Command {
    let mut cargo = command("cargo");
    cargo
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .arg(format!("+{toolchain}"));
    cargo
}

/// Runs `command` with its output on the terminal; an exit status other than 0 is an error.
///
/// Cargo draws its bar there also if it is told to be quiet, so that a person sees that it
/// compiles. Logs have no bar.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    if io::stderr().is_terminal() {
        command.envs([("CARGO_TERM_PROGRESS_WHEN", "always"), ("CARGO_TERM_PROGRESS_WIDTH", "80")]);
    }
    let status = command.status().with_context(|| format!("`{shown}` cannot be started"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

/// Runs `command` and returns what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let shown = shown(command);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("`{shown}` cannot be started"))?;
    if !output.status.success() {
        bail!("`{shown}` ended with {}", output.status);
    }
    Ok(output.stdout)
}

/// What `command` writes to standard output, as text without space around it.
pub(crate) fn text(command: &mut Command) -> Result<String> {
    Ok(String::from_utf8(output(command)?)?.trim().to_owned())
}

/// The repository's files that fit one of git's patterns, in order. A star stands for slashes too.
pub(crate) fn files(patterns: &[&str]) -> Result<Vec<PathBuf>> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--"];
    let listed = text(command("git").args(list).args(patterns))?;
    Ok(listed.lines().map(PathBuf::from).filter(|file| root().join(file).exists()).collect())
}

fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    words.join(" ")
}

/// The folder, empty.
pub(crate) fn fresh(folder: PathBuf) -> Result<PathBuf> {
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => fs::create_dir_all(&folder)?,
    }
    Ok(folder)
}

/// Lines that are printed of a file's differences.
const MOST_LINES: usize = 40;

/// Whether the committed file at `path` is what is made `now`; the first lines that differ are
/// printed. With `update`, it is written.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn is_kept(path: &Path, now: &str, update: bool) -> Result<bool> {
    let failed = || path.display().to_string();
    if update {
        fs::create_dir_all(path.parent().unwrap_or(path)).with_context(failed)?;
        fs::write(path, now).with_context(failed)?;
        println!("{}", path.display());
        return Ok(true);
    }
    if fs::read_to_string(path).is_ok_and(|before| before == now) {
        return Ok(true);
    }
    let new = tempfile::NamedTempFile::new()?;
    fs::write(new.path(), now)?;
    let mut diff = command("git");
    diff.args(["diff", "--no-index", "--no-color", "--unified=0"]).arg(path).arg(new.path());
    let lines = diff.output().context("`git diff` cannot be started")?.stdout;
    let lines = String::from_utf8_lossy(&lines).into_owned();
    println!("{} differs from what is made now:", path.display());
    lines.lines().take(MOST_LINES).for_each(|line| println!("{line}"));
    println!("({} lines)", lines.lines().count());
    Ok(false)
}

/// Whether this program runs as root.
pub(crate) fn is_root() -> Result<bool> {
    Ok(text(command("id").arg("-u"))? == "0")
}

/// The default build: the command `losscause`; returns its path. This program shares all that it
/// compiles.
pub(crate) fn losscause() -> Result<String> {
    run(cargo().args(["build", "--quiet", "--release"]))?;
    Ok(target().join("release/losscause").to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_kept_if_it_is_the_same_or_was_updated() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a/b.txt");
        assert!(!is_kept(&path, "1\n", false).unwrap() && !path.exists());
        assert!(is_kept(&path, "1\n", true).unwrap());
        assert!(is_kept(&path, "1\n", false).unwrap());
        assert!(!is_kept(&path, "1\n2\n", false).unwrap());
    }

    #[test]
    fn the_target_folder_is_the_one_that_cargo_builds_in() {
        let place = tempfile::tempdir().unwrap();
        let named =
            |key: &str| named_by(cargo().env_remove("CARGO_TARGET_DIR").env(key, place.path()));
        for key in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
            assert_eq!(named(key).unwrap(), place.path(), "{key}");
        }
    }
}
