//! The packages of the workspace, as its manifest lists them.

#![allow(dead_code, reason = "not every test that has this module reads all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::{Table, Value};

/// The crates that other programs depend on. The others are parts of the command.
pub(crate) const FOR_OTHERS: [&str; 7] = [
    "losscause",
    "losscause-capture",
    "losscause-media",
    "losscause-quic",
    "losscause-rtc",
    "losscause-sim",
    "losscause-transport",
];

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace")
        .to_path_buf()
}

/// A file of the repository.
pub(crate) fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The repository's files that fit one of git's patterns, in order. A star stands for slashes too.
pub(crate) fn files(patterns: &[&str]) -> Vec<String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--"]);
    let listed = git.args(patterns).current_dir(root()).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed.lines().filter(|file| root().join(file).exists()).map(str::to_owned).collect()
}

/// The manifest of the package in `folder`.
pub(crate) fn manifest(folder: &Path) -> Table {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The strings of an array.
pub(crate) fn strings(table: &Table, key: &str) -> Vec<String> {
    let values =
        table.get(key).and_then(Value::as_array).unwrap_or_else(|| panic!("no {key} in {table}"));
    values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

/// The folders in `folder`.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

/// The workspace's packages, each with its folder.
pub(crate) fn members() -> Vec<(PathBuf, Table)> {
    let workspace = manifest(&root());
    let workspace = workspace["workspace"].as_table().unwrap();
    let members = strings(workspace, "members");
    let excluded = strings(workspace, "exclude").into_iter().map(|member| root().join(member));
    let excluded: Vec<PathBuf> = excluded.collect();
    let folders = members.iter().flat_map(|member| match member.strip_suffix("/*") {
        Some(parent) => folders(&root().join(parent)),
        None => vec![root().join(member)],
    });
    let folders = folders.filter(|folder| !excluded.contains(folder));
    folders.map(|folder| (folder.clone(), manifest(&folder))).collect()
}
