//! What a reader of a package finds in it: text about it, licences, the oldest compiler. Manifests
//! have the same shape.

use std::fs;
use std::path::{Path, PathBuf};

use super::workspace::{FOR_OTHERS, files, manifest, members, read, root, strings};
use toml::{Table, Value};

/// The published crates: those that lie below `crates/`.
fn published() -> Vec<(PathBuf, Table)> {
    let crates: Vec<_> = members()
        .into_iter()
        .filter(|(folder, _)| folder.starts_with(root().join("crates")))
        .collect();
    assert!(crates.len() >= 5);
    crates
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
    for (folder, manifest) in published() {
        let package = manifest["package"].as_table().unwrap();
        assert!(!package.contains_key("publish"), "{}", folder.display());
        assert!(package["description"].as_str().unwrap().len() > 15, "{}", folder.display());
        let keywords = strings(package, "keywords");
        assert!((1..=5).contains(&keywords.len()), "{keywords:?}");
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_keyword = |word: &String| {
            word.len() <= 20 && word.chars().all(is_letter) && !word.starts_with('-')
        };
        assert!(keywords.iter().all(is_keyword), "{keywords:?}");
        let categories = strings(package, "categories");
        assert!((1..=5).contains(&categories.len()), "{categories:?}");
        let is_category = |category: &String| CATEGORIES.contains(&category.as_str());
        assert!(categories.iter().all(is_category), "{categories:?}");
    }
}

/// The packages of crates.io and PyPI name the same people, and no address before there is one:
/// `cargo xtask release` writes what `[workspace.metadata.addresses]` says.
#[test]
fn every_package_names_its_authors_and_no_address_is_invented() {
    let workspace = manifest(&root());
    let package = &workspace["workspace"]["package"];
    assert_eq!(strings(package.as_table().unwrap(), "authors"), ["the losscause developers"]);
    let addresses = workspace["workspace"]["metadata"]["addresses"].as_table().unwrap();
    let is_public = addresses.values().all(|address| !address.as_str().unwrap().is_empty());
    for (folder, manifest) in members() {
        let package = manifest["package"].as_table().unwrap();
        let is_inherited =
            |key: &str| package.get(key).is_some_and(|value| value.get("workspace").is_some());
        assert!(is_inherited("authors"), "{}: authors", folder.display());
        for key in ["homepage", "repository"] {
            assert_eq!(is_inherited(key), is_public, "{}: {key}", folder.display());
        }
        let docs = package.contains_key("documentation");
        assert!(!docs, "{}: docs.rs is the default", folder.display());
    }
    let python: Table = toml::from_str(&read("python/pyproject.toml")).unwrap();
    let project = python["project"].as_table().unwrap();
    for key in ["authors", "classifiers", "description", "keywords", "license", "readme"] {
        assert!(project.contains_key(key), "python/pyproject.toml: {key}");
    }
    assert_eq!(project["authors"][0]["name"].as_str(), Some("the losscause developers"));
    assert_eq!(project.contains_key("urls"), is_public);
}

#[test]
fn every_published_crate_holds_a_readme_and_both_licences() {
    for (folder, manifest) in published() {
        let include = strings(manifest["package"].as_table().unwrap(), "include");
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

/// All files below a folder, as text.
fn texts(folder: &Path) -> Vec<(PathBuf, String)> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let below = format!("{}/*", folder.strip_prefix(root()).unwrap().display());
    let paths = files(&[&below]).into_iter().map(|file| root().join(file));
    let text = |path: &PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    paths.filter(|path| path.is_file()).map(|path| (path.clone(), text(&path))).collect()
}

/// proptest keeps the seed of a property that has failed beside `src`, as
/// `proptest-regressions/PATH.txt`, or beside the file in `tests`, as `NAME.proptest-regressions`.
/// A seed whose file has moved would never be tried again.
#[test]
fn a_failing_seed_is_kept_packed_and_tried_by_its_own_file() {
    let mut properties = 0;
    for (folder, manifest) in published() {
        let [sources, tests] = ["src", "tests"].map(|name| texts(&folder.join(name)));
        let has_property = |file: &&(PathBuf, String)| file.1.contains("proptest! {");
        for (path, text) in sources.iter().chain(&tests) {
            let elsewhere = text.contains("failure_persistence");
            assert!(!elsewhere, "{}: keeps no seeds, or elsewhere", path.display());
        }
        if sources.iter().any(|file| has_property(&file)) {
            let include = strings(manifest["package"].as_table().unwrap(), "include");
            let has_it = include.contains(&"/proptest-regressions".to_owned());
            assert!(has_it, "{}: include lacks it", folder.display());
        }
        let mut expected = Vec::new();
        for (path, _) in sources.iter().filter(has_property) {
            let place = path.strip_prefix(folder.join("src")).unwrap().with_extension("txt");
            expected.push(folder.join("proptest-regressions").join(place));
        }
        let of_tests = tests.iter().filter(has_property);
        expected.extend(of_tests.map(|(path, _)| path.with_extension("proptest-regressions")));
        properties += expected.len();
        let is_kept =
            |path: &Path| path.extension().is_some_and(|end| end == "proptest-regressions");
        let beside_tests = tests.iter().map(|(path, _)| path.clone()).filter(|path| is_kept(path));
        let beside_sources =
            texts(&folder.join("proptest-regressions")).into_iter().map(|(path, _)| path);
        for kept in beside_tests.chain(beside_sources) {
            let is_expected = expected.contains(&kept);
            assert!(is_expected, "{}: belongs to no file with properties", kept.display());
        }
    }
    assert!(properties > 20, "{properties} files with properties");
}

#[test]
fn every_readme_names_the_oldest_compiler_and_has_tested_code() {
    let workspace = manifest(&root());
    let oldest = workspace["workspace"]["package"]["rust-version"].as_str().unwrap();
    for (folder, manifest) in published() {
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        let name = manifest["package"]["name"].as_str().unwrap();
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
    for (folder, manifest) in published() {
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        let name = manifest["package"]["name"].as_str().unwrap().to_owned();
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
    let published = published();
    let fuzz = root().join("fuzz");
    let others = members().into_iter().filter(|member| !published.contains(member));
    for (folder, manifest) in others.chain([(fuzz.clone(), manifest(&fuzz))]) {
        let publish = manifest["package"].get("publish");
        assert_eq!(publish, Some(&Value::Boolean(false)), "{}", folder.display());
    }
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
