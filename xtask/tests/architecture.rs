//! The doors between the crates: `ARCHITECTURE.md` names them, the manifests may open no other.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// Who may use whom. A crate that is not listed may not exist.
const EDGES: &[(&str, &[&str])] = &[
    ("losscause", &[]),
    ("losscause-transport", &["losscause"]),
    ("losscause-sim", &["losscause-transport", "losscause"]),
    ("losscause-capture", &["losscause"]),
    ("losscause-media", &["losscause-transport", "losscause"]),
    ("losscause-study", &["losscause-sim", "losscause-capture", "losscause-transport", "losscause"]),
    ("losscause-laboratory", &["losscause-study", "losscause-sim", "losscause-transport", "losscause"]),
    (
        "losscause-report",
        &["losscause-laboratory", "losscause-study", "losscause-capture", "losscause-sim", "losscause"],
    ),
    ("losscause-linux-needs", &[]),
    ("losscause-linux", &["losscause-linux-needs", "losscause-sim", "losscause-capture", "losscause"]),
    (
        "losscause-live",
        &[
            "losscause-laboratory",
            "losscause-report",
            "losscause-study",
            "losscause-linux",
            "losscause-quic",
            "losscause-media",
            "losscause-sim",
            "losscause",
        ],
    ),
    (
        "losscause-paths",
        &[
            "losscause-laboratory",
            "losscause-report",
            "losscause-study",
            "losscause-sim",
            "losscause-transport",
            "losscause",
        ],
    ),
    ("losscause-quic", &["losscause"]),
    // The simulator only in its tests: they run transfers over its links.
    ("s2n-quic-download", &["losscause-quic", "losscause-sim", "losscause"]),
    (
        "losscause-cli",
        &[
            "losscause-live",
            "losscause-paths",
            "losscause-linux",
            "losscause-linux-needs",
            "losscause-media",
            "losscause-laboratory",
            "losscause-report",
            "losscause-study",
            "losscause-capture",
            "losscause-sim",
            "losscause-transport",
            "losscause",
        ],
    ),
    (
        "losscause-python",
        &[
            "losscause-cli",
            "losscause-laboratory",
            "losscause-report",
            "losscause-study",
            "losscause-capture",
            "losscause-sim",
            "losscause",
        ],
    ),
    // A plug-in sees what any package outside of the workspace would see.
    ("near-minimum", &["losscause-cli", "losscause-laboratory", "losscause-study", "losscause"]),
    (
        "own-tcp",
        &[
            "losscause-cli",
            "losscause-paths",
            "losscause-laboratory",
            "losscause-study",
            "losscause-sim",
            "losscause-transport",
        ],
    ),
    ("losscause-lab", &["losscause-study", "losscause-sim", "losscause"]),
    ("losscause-capture-page", &["losscause-capture", "losscause"]),
    (
        "xtask",
        &[
            "losscause-cli",
            "losscause-linux",
            "losscause-media",
            "losscause-laboratory",
            "losscause-study",
            "losscause-capture",
            "losscause-sim",
            "losscause-transport",
            "losscause",
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_path_buf()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn manifests() -> BTreeMap<String, Table> {
    let packages = ["crates", "examples", "web/wasm"].map(|folder| {
        fs::read_dir(root().join(folder)).unwrap_or_else(|e| panic!("{folder}/: {e}")).map(|e| e.unwrap().path())
    });
    packages
        .into_iter()
        .flatten()
        .chain([root().join("xtask")])
        .map(|dir| {
            let manifest: Table = toml::from_str(&read(&dir.join("Cargo.toml"))).unwrap();
            (manifest["package"]["name"].as_str().unwrap().to_owned(), manifest)
        })
        .collect()
}

/// Packages named in the manifest's dependency tables whose name ends in one of `kinds`, for every target.
fn dependencies(manifest: &Table, kinds: &[&str]) -> BTreeSet<String> {
    let mut tables: Vec<&Table> = vec![manifest];
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        tables.extend(targets.values().filter_map(Value::as_table));
    }
    let mut found = BTreeSet::new();
    for table in tables {
        for kind in kinds {
            let Some(entries) = table.get(*kind).and_then(Value::as_table) else { continue };
            for (name, entry) in entries {
                let package = entry.get("package").and_then(Value::as_str).unwrap_or(name);
                found.insert(package.to_owned());
            }
        }
    }
    found
}

const ALL_KINDS: &[&str] = &["dependencies", "build-dependencies", "dev-dependencies"];

#[test]
fn no_crate_opens_a_door_that_is_not_in_the_table() {
    let edges: BTreeMap<_, _> = EDGES.iter().copied().collect();
    for (name, manifest) in manifests() {
        let allowed = edges.get(name.as_str()).unwrap_or_else(|| panic!("crate `{name}` is not in the table of doors"));
        for dependency in dependencies(&manifest, ALL_KINDS) {
            let ours = dependency.starts_with("losscause") || dependency == "xtask";
            assert!(
                !ours || allowed.contains(&dependency.as_str()),
                "`{name}` imports `{dependency}`, which it may not; it may import {allowed:?}",
            );
        }
    }
}

#[test]
fn a_forbidden_door_is_found_wherever_the_manifest_hides_it() {
    let manifest: Table = toml::from_str(
        "[dependencies]\nplain = '1'\n[dev-dependencies]\nalias = { package = 'losscause-sim', version = '1' }\n\
         [target.'cfg(unix)'.build-dependencies]\nhidden.workspace = true\n",
    )
    .unwrap();
    let found: Vec<_> = dependencies(&manifest, ALL_KINDS).into_iter().collect();
    assert_eq!(found, ["hidden", "losscause-sim", "plain"]);
}

#[test]
fn losscause_depends_on_nothing_but_optionally_on_serde() {
    let manifest = &manifests()["losscause"];
    let found = dependencies(manifest, &["dependencies", "build-dependencies"]);
    assert_eq!(found, BTreeSet::from(["serde".to_owned()]), "`losscause` may have no other dependency");
    assert_eq!(manifest["dependencies"]["serde"].get("optional"), Some(&Value::Boolean(true)));
}

#[test]
fn the_table_in_architecture_md_is_the_one_that_is_enforced() {
    let page = read(&root().join("ARCHITECTURE.md"));
    for (name, allowed) in EDGES {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` | ")))
            .unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for `{name}`"));
        let doors = row.split('|').nth(2).unwrap_or_default();
        let named: BTreeSet<_> = doors.split('`').skip(1).step_by(2).collect();
        if doors.contains("nothing") {
            assert!(allowed.is_empty(), "ARCHITECTURE.md lets `{name}` use nothing");
        } else if !doors.contains("all") {
            assert_eq!(named, allowed.iter().copied().collect(), "ARCHITECTURE.md and the test differ on `{name}`");
        }
    }
}

fn files_below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && name != ".git" {
                files_below(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

#[test]
fn nothing_reads_a_file_outside_the_repository() {
    // Put together here, lest this file be the one that is found.
    let outside = ["..", "shared"].join("/");
    let mut files = Vec::new();
    files_below(&root(), &mut files);
    assert!(files.len() > 20, "only {} files found below {}", files.len(), root().display());
    for file in files {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains(&outside), "{} mentions {outside}", file.display());
    }
}
