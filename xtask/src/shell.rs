//! Commands run from the root of the repository.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

/// The root of the repository this program was built from.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Cargo's target folder, as cargo itself finds it: the variable CARGO_TARGET_DIR, or
/// `build.target-dir` of a configuration.
pub(crate) fn target() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| named_by(&mut cargo()).unwrap_or_else(|| root().join("target"))).clone()
}

fn named_by(cargo: &mut Command) -> Option<PathBuf> {
    let metadata = output(cargo.args(["metadata", "--no-deps", "--format-version", "1"])).ok()?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata).ok()?;
    Some(PathBuf::from(metadata.get("target_directory")?.as_str()?))
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

fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Whether this program runs as root.
pub(crate) fn is_root() -> Result<bool> {
    Ok(String::from_utf8_lossy(&output(command("id").arg("-u"))?).trim() == "0")
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
    fn the_target_folder_is_the_one_that_cargo_builds_in() {
        let place = tempfile::tempdir().unwrap();
        let named =
            |key: &str| named_by(cargo().env_remove("CARGO_TARGET_DIR").env(key, place.path()));
        for key in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
            assert_eq!(named(key).as_deref(), Some(place.path()), "{key}");
        }
    }
}
