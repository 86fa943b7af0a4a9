//! Every text that says how to set an algorithm names the recommended one.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};

use losscause::lda::BuiltIn;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below `folder` whose names end with `.ext`.
fn files(folder: &Path, ext: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path, ext));
        } else if path.extension().is_some_and(|found| found == ext) {
            found.push(path);
        }
    }
    found
}

/// The sources of the crates and the command without their tests, the scenarios' comments, and the
/// pages of the crates: each with its file.
fn texts() -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let sources = files(&folder.join("src"), "rs").into_iter().filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name != "tests.rs" && !path.components().any(|part| part.as_os_str() == "tests")
        });
        found.extend(sources.map(read).map(|(path, text)| {
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            (path, code.to_owned())
        }));
        found.extend(Some(folder.join("README.md")).filter(|path| path.exists()).map(read));
    }
    for folder in ["scenarios", "web/scenarios"] {
        found.extend(files(&root().join(folder), "toml").into_iter().map(read).map(
            |(path, text)| {
                let comments: Vec<&str> =
                    text.lines().filter(|line| line.starts_with('#')).collect();
                (path, comments.join("\n"))
            },
        ));
    }
    found
}

/// The pages for readers: each with its file.
fn pages() -> Vec<(PathBuf, String)> {
    let mut found = files(&root().join("docs"), "md");
    found.push(root().join("README.md"));
    found.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The words behind `prefix`, up to a space or the end of a quotation.
fn behind<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    text.match_indices(prefix)
        .map(|(at, _)| {
            let rest = &text[at + prefix.len()..];
            rest.split([' ', '\n', '"', '\'', '`', ')', '.', ';']).next().unwrap_or_default()
        })
        .collect()
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
    let texts = texts();
    let options =
        texts.iter().chain(pages().iter()).map(|text| (text.clone(), "--lda ")).collect::<Vec<_>>();
    let settings = texts.iter().map(|text| (text.clone(), ".lda="));
    for ((path, text), prefix) in options.into_iter().chain(settings) {
        for list in behind(&text, prefix) {
            seen += 1;
            assert!(
                is_recommended(list),
                "{}: {prefix}{list} names another algorithm than {}",
                path.display(),
                BuiltIn::RECOMMENDED.info().name
            );
        }
    }
    assert!(seen > 12, "{seen} examples");
}

#[test]
fn the_readme_recommends_the_same_algorithm() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let name = BuiltIn::RECOMMENDED.info().name;
    assert!(readme.contains(&format!("{name} is our own, and the one to begin with.")));
}
