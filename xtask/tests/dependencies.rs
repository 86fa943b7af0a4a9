//! What the workspace is compiled from keeps to deny.toml: licences, bans, sources. `cargo deny` reads
//! the same file; this needs no network and no other program.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, ParseMode};
use toml::Table;
use workspace::{root, strings};

mod workspace;

fn rules() -> Table {
    toml::from_str(&fs::read_to_string(root().join("deny.toml")).unwrap()).unwrap()
}

/// Every package of the lock file, as `cargo metadata` describes it.
fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--all-features", "--format-version", "1"]);
    let output = cargo.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Whether `licence` can be met with the licences in `allowed`.
fn is_met(licence: &str, allowed: &[String]) -> bool {
    let expression = Expression::parse_mode(licence, ParseMode::LAX);
    let expression = expression.unwrap_or_else(|error| panic!("{licence}: {error}"));
    expression.evaluate(|wanted| allowed.contains(&wanted.to_string()))
}

/// The licences that only the crate of that name may have.
fn exceptions(licences: &Table) -> BTreeMap<String, Vec<String>> {
    let entries = licences["exceptions"].as_array().unwrap().iter();
    let entry = |entry: &toml::Value| {
        let entry = entry.as_table().unwrap();
        (entry["crate"].as_str().unwrap().to_owned(), strings(entry, "allow"))
    };
    entries.map(entry).collect()
}

#[test]
fn every_crate_has_a_licence_that_is_allowed() {
    let rules = rules();
    let licences = rules["licenses"].as_table().unwrap();
    let allowed = strings(licences, "allow");
    let exceptions = exceptions(licences);
    let packages = packages();
    assert!(packages.len() > 300);
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let Some(licence) = package["license"].as_str() else {
            // Of this repository, and not published.
            assert!(package["source"].is_null(), "{name} names no licence");
            continue;
        };
        let more = exceptions.get(name).into_iter().flatten();
        let allowed: Vec<String> = allowed.iter().chain(more).cloned().collect();
        assert!(is_met(licence, &allowed), "{name}: {licence}");
    }
}

#[test]
fn an_expression_is_met_by_one_side_of_or_and_by_both_of_and() {
    let allowed = ["MIT".to_owned()];
    assert!(is_met("MIT/Apache-2.0", &allowed) && is_met("(GPL-2.0-only OR MIT)", &allowed));
    assert!(!is_met("MIT AND Zlib", &allowed) && !is_met("GPL-2.0-only", &allowed));
}

#[test]
fn no_crate_is_banned_and_all_come_from_the_registry() {
    let rules = rules();
    let banned = strings(rules["bans"].as_table().unwrap(), "deny");
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        assert!(!banned.iter().any(|one| one == name), "{name} is banned");
        let source = package["source"].as_str();
        assert!(
            source.is_none_or(|source| source.starts_with("registry+")),
            "{name} comes from {source:?}"
        );
    }
}
