//! What knows a paper by name: its data, its claims, the two tables that list papers, and tests.

use std::collections::BTreeSet;

use super::workspace::{texts, without_tests};
use losscause_laboratory::papers::record;

/// Files of the laboratory that may name papers, below `src`.
const ALLOWED: [&str; 2] = ["papers/record/embedded.rs", "papers/claims/mod.rs"];

const CRATES: [&str; 3] = ["losscause-study", "losscause-laboratory", "losscause-report"];

/// The sources of a crate, each by its path below `src`, with its text.
fn sources(name: &str) -> Vec<(String, String)> {
    let folder = format!("crates/{name}/src/");
    let files = texts(&[&format!("{folder}*.rs")]).into_iter();
    files.map(|(file, text)| (file.replace(&folder, ""), text)).collect()
}

/// The lines of a file that are compiled into the program: no comments, and nothing from the tests
/// on, which come last.
fn program(text: &str) -> impl Iterator<Item = &str> {
    without_tests(text).lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// Whether `line` has the short name of a paper, or its name without the year, as a word.
fn names_a_paper(line: &str, keys: &[&str]) -> bool {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    let author = |key: &&str| key.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let authors: Vec<String> = keys.iter().map(author).collect();
    // Biaz is the name of an algorithm, too.
    let mut words = words.into_iter();
    words.any(|word| keys.contains(&&*word) || word != "biaz" && authors.contains(&word))
}

fn keys() -> Vec<&'static str> {
    record::all().iter().filter(|paper| paper.is_published()).map(record::Paper::key).collect()
}

#[test]
fn only_data_and_claims_know_a_paper_by_name() {
    let keys = keys();
    for name in CRATES {
        let found = sources(name);
        assert!(found.len() > 20, "{name}: {} files", found.len());
        for (file, text) in found {
            let claims = keys.iter().any(|key| file.starts_with(&format!("papers/claims/{key}/")));
            if claims || ALLOWED.contains(&file.as_str()) || file.ends_with("tests.rs") {
                continue;
            }
            for line in program(&text) {
                assert!(!names_a_paper(line, &keys), "{name}/src/{file} names a paper: {line}");
            }
        }
    }
}

#[test]
fn a_name_is_found_in_code_and_not_in_comments_or_tests() {
    let named = |text| program(text).any(|line| names_a_paper(line, &keys()));
    assert!(named("if paper == \"cen2003\" {"));
    assert!(named("use super::koo2007::PREDICATES;"));
    assert!(named("fn of_barman() {}\nlet x = Barman;"));
    assert!(!named("// Cen 2003, section VIII-A"));
    assert!(!named("let scenario = Biaz;"));
    assert!(!named("x\n#[cfg(test)]\nmod tests {\n    let paper = \"cen2003\";"));
}

#[test]
fn scenarios_and_runs_write_no_files() {
    let above = ["trace_file", "capture_files", "tools::row_file", "tools::atomic"];
    let below =
        ["scenario/", "run/", "files", "error.rs", "tools/figures.rs", "statistics", "parallel"];
    let mut checked = BTreeSet::new();
    for (file, text) in sources("losscause-study") {
        let Some(start) = below.iter().find(|start| file.starts_with(**start)) else { continue };
        checked.insert(start);
        for line in program(&text) {
            let import = above.iter().find(|module| line.contains(&format!("crate::{module}")));
            assert_eq!(import, None, "{file}: {line}");
        }
    }
    assert_eq!(checked.len(), below.len(), "{checked:?}");
}

#[test]
fn no_message_points_to_a_page_that_an_installed_program_lacks() {
    let found: Vec<_> = CRATES.iter().flat_map(|name| sources(name)).collect();
    assert!(found.len() > 150);
    for (file, text) in found {
        let pointer = program(&text).find(|line| line.contains("docs/") && line.contains(".md"));
        assert_eq!(pointer, None, "{file}");
    }
}
