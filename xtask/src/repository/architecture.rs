//! Who uses whom: the manifests of the crates, as `ARCHITECTURE.md` says.

use std::collections::{BTreeMap, BTreeSet};

use super::workspace::{packages, read};
use crate::shell::command;
use serde_json::Value;

type Uses = BTreeMap<String, BTreeSet<String>>;

/// The crates of this project that each of its crates uses, by the manifests: for every target, also
/// to build and to test.
fn by_manifests() -> Uses {
    let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
    let used = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap().iter().map(name);
        all.filter(|used| used.starts_with("losscause") || used == "xtask").collect()
    };
    packages().iter().map(|package| (name(package), used(package))).collect()
}

/// The rows "| `crate` | `used`, `used` | what it holds |" of the section "Who uses whom".
#[test]
fn architecture_md_says_who_uses_whom_as_the_manifests_do() {
    let page = read("ARCHITECTURE.md");
    let (_, section) = page.split_once("\n## Who uses whom\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let mut manifests = by_manifests();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let mut names = row.split('`').skip(1).step_by(2).map(str::to_owned);
        let name = names.next().unwrap();
        assert_eq!(manifests.remove(&name), Some(names.collect()), "{row}");
    }
    assert!(manifests.is_empty(), "ARCHITECTURE.md has no row of {manifests:?}");
}

#[test]
fn the_crates_can_be_published_one_after_the_other() {
    let mut waiting = by_manifests();
    loop {
        let names: BTreeSet<String> = waiting.keys().cloned().collect();
        waiting.retain(|_, used| !used.is_disjoint(&names));
        if waiting.len() == names.len() {
            break;
        }
    }
    assert!(waiting.is_empty(), "they depend on each other: {waiting:?}");
}

#[test]
fn losscause_depends_on_nothing_but_optionally_on_serde() {
    let packages = packages();
    let losscause = packages.iter().find(|package| package["name"] == "losscause").unwrap();
    let all = losscause["dependencies"].as_array().unwrap();
    let used: Vec<_> = all.iter().filter(|one| one["kind"] != "dev").collect();
    assert_eq!(used.len(), 1, "`losscause` may have no other dependency than serde: {used:?}");
    assert!(used[0]["name"] == "serde" && used[0]["optional"] == true, "{used:?}");
}

#[test]
fn nothing_reads_a_file_outside_the_repository() {
    // Put together here, lest this file be the one that is found.
    let outside = ["..", "shared"].join("/");
    let mut search = command("git grep --untracked --files-with-matches --fixed-strings");
    let found = search.arg(outside).output().unwrap();
    // It ends with 1 if it finds nothing.
    assert_eq!(found.status.code(), Some(1), "{}", String::from_utf8_lossy(&found.stdout));
}
