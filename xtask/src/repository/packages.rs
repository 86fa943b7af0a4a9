//! What a reader of a package finds in it: text about it, licences, the oldest compiler. Manifests
//! have the same shape.

use std::fs;
use std::path::{Path, PathBuf};

use super::workspace::{FOR_OTHERS, files, manifest, packages, read, root, strings, texts};
use serde_json::Value;
use toml::Table;

/// The folder of a package.
fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

/// The published crates: those that lie below `crates/`. Each with its folder.
fn published() -> Vec<(PathBuf, Value)> {
    let crates = packages().into_iter().map(|package| (folder(&package), package));
    let crates = crates.filter(|(folder, _)| folder.starts_with(root().join("crates")));
    let crates: Vec<_> = crates.collect();
    assert!(crates.len() >= 5);
    crates
}

/// What the package of a published crate holds.
fn included(folder: &Path) -> Vec<String> {
    strings(manifest(folder)["package"].as_table().unwrap(), "include")
}

/// Of crates.io's list of categories, those that fit crates of this project.
const CATEGORIES: [&str; 10] = [
    "algorithms",
    "asynchronous",
    "command-line-utilities",
    "multimedia::video",
    "network-programming",
    "no-std",
    "no-std::no-alloc",
    "os::linux-apis",
    "science",
    "simulation",
];

#[test]
fn every_published_crate_has_keywords_that_crates_io_takes() {
    for (folder, package) in published() {
        assert!(package["publish"].is_null(), "{}", folder.display());
        assert!(package["description"].as_str().unwrap().len() > 15, "{}", folder.display());
        let texts = |key: &str| -> Vec<String> {
            let texts = package[key].as_array().unwrap().iter();
            texts.map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let (keywords, categories) = (texts("keywords"), texts("categories"));
        assert!((1..=5).contains(&keywords.len()), "{keywords:?}");
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_keyword = |word: &String| {
            word.len() <= 20 && word.chars().all(is_letter) && !word.starts_with('-')
        };
        assert!(keywords.iter().all(is_keyword), "{keywords:?}");
        assert!((1..=5).contains(&categories.len()), "{categories:?}");
        let is_category = |category: &String| CATEGORIES.contains(&category.as_str());
        assert!(categories.iter().all(is_category), "{categories:?}");
    }
}

const AUTHORS: &str = "the losscause developers";

/// The packages of crates.io and PyPI name the same people, and no address before there is one:
/// `cargo xtask release` writes what `[workspace.metadata.addresses]` says.
#[test]
fn every_package_names_its_authors_and_no_address_is_invented() {
    let workspace = manifest(&root());
    let addresses = workspace["workspace"]["metadata"]["addresses"].as_table().unwrap();
    let is_public = addresses.values().all(|address| !address.as_str().unwrap().is_empty());
    for package in packages() {
        let name = &package["name"];
        assert_eq!(package["authors"], serde_json::json!([AUTHORS]), "{name}");
        for key in ["homepage", "repository"] {
            assert_eq!(package[key].is_string(), is_public, "{name}: {key}");
        }
        assert!(package["documentation"].is_null(), "{name}: docs.rs is the default");
    }
    let python: Table = toml::from_str(&read("python/pyproject.toml")).unwrap();
    let project = python["project"].as_table().unwrap();
    for key in ["authors", "classifiers", "description", "keywords", "license", "readme"] {
        assert!(project.contains_key(key), "python/pyproject.toml: {key}");
    }
    assert_eq!(project["authors"][0]["name"].as_str(), Some(AUTHORS));
    assert_eq!(project.contains_key("urls"), is_public);
}

#[test]
fn every_published_crate_holds_a_readme_and_both_licences() {
    for (folder, _) in published() {
        let include = included(&folder);
        for entry in ["/src", "/tests", "/README.md", "/LICENSE-*"] {
            let has_it = include.iter().any(|included| included == entry);
            assert!(has_it, "{}: include lacks {entry}", folder.display());
        }
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let text = |folder: &Path| fs::read_to_string(folder.join(licence)).unwrap();
            assert_eq!(text(&folder), text(&root()), "{}", folder.display());
        }
    }
}

/// proptest keeps the seed of a property that has failed beside `src`, as
/// `proptest-regressions/PATH.txt`, or beside the file in `tests`, as `NAME.proptest-regressions`.
/// A seed whose file has moved would never be tried again.
#[test]
fn a_failing_seed_is_kept_packed_and_tried_by_its_own_file() {
    let mut properties = texts(&["crates/*.rs"]);
    for (file, text) in &properties {
        let elsewhere = text.contains("failure_persistence");
        assert!(!elsewhere, "{file}: keeps no seeds, or elsewhere");
    }
    properties.retain(|(_, text)| text.contains("proptest! {"));
    assert!(properties.len() > 20, "{} files with properties", properties.len());
    for (folder, _) in properties.iter().filter_map(|(file, _)| file.split_once("/src/")) {
        let has_it = included(Path::new(folder)).contains(&"/proptest-regressions".to_owned());
        assert!(has_it, "{folder}: include lacks it");
    }
    for kept in files(&["crates/*proptest-regressions*"]) {
        let source = match kept.split_once("/proptest-regressions/") {
            Some((folder, place)) => format!("{folder}/src/{}", place.replace(".txt", ".rs")),
            None => kept.replace(".proptest-regressions", ".rs"),
        };
        let has_it = properties.iter().any(|(file, _)| *file == source);
        assert!(has_it, "{kept}: belongs to no file with properties");
    }
}

#[test]
fn every_readme_names_the_oldest_compiler_and_has_tested_code() {
    for (folder, package) in published() {
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        let name = package["name"].as_str().unwrap();
        let oldest = package["rust_version"].as_str().unwrap();
        assert!(readme.starts_with(&format!("# {name}\n")), "{name}");
        let names_it = readme.contains(&format!("Rust {oldest} or later"));
        assert!(names_it, "{name}: its README names another compiler");
        assert!(readme.contains("\n```rust"), "{name}: its README shows no code");
        let library = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        let is_tested = library.contains("#[doc = include_str!(\"../README.md\")]");
        assert!(is_tested, "{name}: the README's code is not tested");
    }
}

#[test]
fn every_readme_says_whether_the_crate_is_for_others() {
    let mut for_others = Vec::new();
    for (folder, package) in published() {
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        let name = package["name"].as_str().unwrap().to_owned();
        let is_for_others = readme.contains("\nThis crate is for other programs to depend on.\n");
        let is_a_part =
            readme.contains("\nThis crate is part of the command `losscause`; its API may change with any release.\n");
        assert!(is_for_others != is_a_part, "{name}: its README says neither or both");
        for_others.extend(is_for_others.then_some(name));
    }
    for_others.sort();
    assert_eq!(for_others, FOR_OTHERS);
}

#[test]
fn what_is_not_below_crates_is_not_published() {
    for package in packages() {
        let is_ours = folder(&package).starts_with(root().join("crates"));
        let refused = serde_json::json!([]);
        assert_eq!(package["publish"] == refused, !is_ours, "{}", package["name"]);
    }
    let fuzz = manifest(&root().join("fuzz"));
    assert_eq!(fuzz["package"]["publish"].as_bool(), Some(false));
}

#[test]
fn full_has_every_other_feature_and_none_is_on_by_default() {
    let manifest = manifest(&root().join("crates/losscause-cli"));
    let features = manifest["features"].as_table().unwrap();
    let mut full = strings(features, "full");
    full.sort();
    let is_optional = |name: &&String| !["full", "default"].contains(&name.as_str());
    let others: Vec<_> = features.keys().filter(is_optional).cloned().collect();
    assert_eq!(full, others);
    assert!(features.get("default").is_none_or(|default| default.as_array().unwrap().is_empty()));
}
