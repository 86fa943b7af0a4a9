//! What knows a paper by name: its data, its claims, the two tables that list papers, and tests.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::fs;
use std::path::{Path, PathBuf};

use losscause_laboratory::papers::record;

/// Files of the laboratory that may name papers, below `src`.
const ALLOWED: [&str; 2] = ["papers/record/embedded.rs", "papers/claims/mod.rs"];

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(name).join("src")
}

const CRATES: [&str; 3] = ["losscause-study", "losscause-laboratory", "losscause-report"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The lines of a file that are compiled into the program: no comments, and nothing from the tests
/// on, which come last.
fn program(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// Whether `line` has the short name of a paper, or its name without the year, as a word.
fn names_a_paper(line: &str, keys: &[&str]) -> bool {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    let authors: Vec<&str> =
        keys.iter().map(|key| key.trim_end_matches(|c: char| c.is_ascii_digit())).collect();
    // Biaz is the name of an algorithm, too.
    words.into_iter().any(|word| {
        keys.contains(&word.as_str()) || word != "biaz" && authors.contains(&word.as_str())
    })
}

fn keys() -> Vec<&'static str> {
    record::all().iter().filter(|paper| paper.is_published()).map(record::Paper::key).collect()
}

#[test]
fn only_data_and_claims_know_a_paper_by_name() {
    let keys = keys();
    for name in CRATES {
        let mut found = Vec::new();
        files(&source(name), &mut found);
        assert!(found.len() > 20, "{name}: {} files", found.len());
        for path in found {
            let file =
                path.strip_prefix(source(name)).unwrap().to_string_lossy().replace('\\', "/");
            let claims = keys.iter().any(|key| file.starts_with(&format!("papers/claims/{key}/")));
            if claims
                || ALLOWED.contains(&file.as_str())
                || file.ends_with("tests.rs")
                || !file.ends_with(".rs")
            {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
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
    for folder in [
        "scenario",
        "run",
        "files.rs",
        "files",
        "error.rs",
        "tools/figures.rs",
        "statistics",
        "parallel",
    ] {
        let mut found = Vec::new();
        let path = source("losscause-study").join(folder);
        if path.is_dir() {
            files(&path, &mut found);
        } else {
            found.push(path);
        }
        for path in found {
            let text = fs::read_to_string(&path).unwrap();
            for line in program(&text) {
                let import = above.iter().find(|module| line.contains(&format!("crate::{module}")));
                assert_eq!(import, None, "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn no_message_points_to_a_page_that_an_installed_program_lacks() {
    let mut found = Vec::new();
    CRATES.iter().for_each(|name| files(&source(name), &mut found));
    assert!(found.len() > 150);
    for path in
        found.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
    {
        let text = fs::read_to_string(path).unwrap();
        let pointer = program(&text).find(|line| line.contains("docs/") && line.contains(".md"));
        assert_eq!(pointer, None, "{}", path.display());
    }
}
