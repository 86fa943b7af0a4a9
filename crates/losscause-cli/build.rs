//! Tells the program the commit that it is built from, for `losscause --version` and the
//! origin of results.
//!
//! A package of crates.io has the commit in `.cargo_vcs_info.json`; otherwise git is asked, if this
//! folder is that of the project's repository. Where neither knows, the version has no commit.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let commit = packaged().or_else(checked_out).filter(|commit| is_commit(commit));
    let commit = commit.unwrap_or_default();
    println!("cargo:rustc-env=LOSSCAUSE_COMMIT={}", commit.get(..12).unwrap_or_default());
}

const PACKAGED: &str = ".cargo_vcs_info.json";

/// The commit that Cargo wrote into the package: `"sha1": "…"`.
fn packaged() -> Option<String> {
    let text = std::fs::read_to_string(PACKAGED).ok()?;
    // Cargo would run this every time for a file that is missing.
    println!("cargo:rerun-if-changed={PACKAGED}");
    let (_, rest) = text.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// The commit of the project's repository, if this is a checkout of it: elsewhere, git would tell
/// the commit of the repository that happens to be around this folder.
fn checked_out() -> Option<String> {
    if git(&["rev-parse", "--show-prefix"])? != "crates/losscause-cli/" {
        return None;
    }
    // Every commit and checkout adds a line to this log.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn is_commit(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
