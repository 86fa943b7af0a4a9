//! The packages of the workspace, as its manifest lists them.

use std::path::Path;

use losscause_laboratory::papers::record;
use losscause_study::{Context, Limits};
use toml::{Table, Value};

use crate::shell;
pub(crate) use crate::shell::root;

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

/// A file of the repository.
pub(crate) fn read(file: &str) -> String {
    shell::read(file).unwrap_or_else(|error| panic!("{error:#}"))
}

/// The repository's files that fit one of git's patterns, in order. A star stands for slashes too.
pub(crate) fn files(patterns: &[&str]) -> Vec<String> {
    let files = shell::files(patterns).unwrap().into_iter();
    files.map(|file| file.to_str().unwrap().to_owned()).collect()
}

/// The repository's files that fit one of git's patterns, each with its text.
pub(crate) fn texts(patterns: &[&str]) -> Vec<(String, String)> {
    files(patterns).into_iter().map(|file| (file.clone(), read(&file))).collect()
}

/// What is compiled into the program: nothing from the tests on, which come last.
pub(crate) fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}

/// The manifest of the package in `folder`.
pub(crate) fn manifest(folder: &Path) -> Table {
    let path = folder.join("Cargo.toml").to_str().unwrap().to_owned();
    toml::from_str(&read(&path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The strings of an array.
pub(crate) fn strings(table: &Table, key: &str) -> Vec<String> {
    let values =
        table.get(key).and_then(Value::as_array).unwrap_or_else(|| panic!("no {key} in {table}"));
    values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

/// The workspace's packages, as cargo reads their manifests.
pub(crate) fn packages() -> Vec<serde_json::Value> {
    shell::packages("--no-deps").unwrap()
}

/// A tenth of the usual budget.
pub(crate) fn tenth() -> Context {
    let Limits { memory_bytes, events, .. } = Limits::default();
    let limits =
        Limits { memory_bytes: memory_bytes / 10.0, events: events / 10.0, ..Limits::default() };
    record::with_papers(&Context::default().with_limits(limits))
}
