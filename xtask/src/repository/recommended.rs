//! Every text that says how to set an algorithm names the recommended one.

use super::workspace::{read, texts, without_tests};
use losscause::lda::BuiltIn;

/// The sources of the crates and the command without their tests, the scenarios' comments, and the
/// pages of the crates: each with its file.
fn sources() -> Vec<(String, String)> {
    let is_test = |file: &str| file.ends_with("/tests.rs") || file.contains("/tests/");
    let mut found = texts(&["crates/*/src/*.rs"]);
    found.retain(|(file, _)| !is_test(file));
    found.iter_mut().for_each(|(_, text)| *text = without_tests(text).to_owned());
    for (file, text) in texts(&["scenarios/*.toml", "web/scenarios/*.toml"]) {
        let comments: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        found.push((file, comments.join("\n")));
    }
    found.extend(texts(&["crates/*/README.md"]));
    found
}

/// The words behind `prefix`, up to a space or the end of a quotation.
fn behind<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let ends = [' ', '\n', '"', '\'', '`', ')', '.', ';'];
    let rests = text.split(prefix).skip(1);
    rests.map(|rest| rest.split(ends).next().unwrap_or_default()).collect()
}

/// Whether an example names no algorithm (a placeholder, a word of a sentence), or among others the
/// recommended one. What a program fills in is not known here.
fn is_recommended(list: &str) -> bool {
    if list.contains('{') {
        return true;
    }
    let names: Vec<&str> = list.split(',').collect();
    let is_algorithm = |name: &str| BuiltIn::ALL.iter().any(|one| one.info().answers_to(name));
    !names.iter().any(|name| is_algorithm(name))
        || names.contains(&BuiltIn::RECOMMENDED.info().name)
}

#[test]
fn every_example_that_sets_an_algorithm_sets_the_recommended_one() {
    let mut seen = 0;
    let sources = sources();
    let pages = texts(&["docs/*.md", "README.md"]);
    let options = sources.iter().chain(&pages).map(|text| (text, "--lda "));
    let settings = sources.iter().map(|text| (text, ".lda="));
    let name = BuiltIn::RECOMMENDED.info().name;
    for ((path, text), prefix) in options.chain(settings) {
        for list in behind(text, prefix) {
            seen += 1;
            let is_it = is_recommended(list);
            assert!(is_it, "{path}: {prefix}{list} names another algorithm than {name}");
        }
    }
    assert!(seen > 12, "{seen} examples");
}

#[test]
fn the_readme_recommends_the_same_algorithm() {
    let readme = read("README.md");
    let name = BuiltIn::RECOMMENDED.info().name;
    assert!(readme.contains(&format!("{name} is our own, and the one to begin with.")));
}
