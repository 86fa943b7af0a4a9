//! Each public type of the crates that others depend on is named in an example: code of a doc
//! comment, of the README, or a file in `examples/`. An import alone shows nothing. The crates'
//! sources are read as text, so that of two types of one name in a crate one is enough.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::workspace::{FOR_OTHERS, read, root, texts};

/// All files of a crate's folder, one after the other.
fn all(name: &str, folder: &str) -> String {
    texts(&[&format!("crates/{name}/{folder}/*.rs")]).into_iter().map(|(_, text)| text).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn types_in(text: &str) -> impl Iterator<Item = String> {
    let is_type =
        |word: &&str| word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase);
    words(text).filter(is_type).map(str::to_owned)
}

/// Adds the types that a module makes public. Its file is `folder.rs`, `folder/mod.rs` or
/// `folder/lib.rs`; what has none is a type, or another crate's module.
fn add_public_types(folder: &Path, types: &mut BTreeSet<String>) {
    let places = [folder.with_extension("rs"), folder.join("mod.rs"), folder.join("lib.rs")];
    let text = places.iter().find_map(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    for statement in lines.join("\n").split("\npub ").skip(1) {
        let (kind, rest) = statement.split_once(' ').unwrap();
        match kind {
            "mod" => add_public_types(&folder.join(words(rest).next().unwrap()), types),
            "struct" | "enum" | "trait" => types.extend(types_in(rest).take(1)),
            "use" => {
                let path = rest.split(';').next().unwrap();
                types.extend(types_in(path));
                let module = words(path).fold(folder.to_owned(), |module, name| module.join(name));
                add_public_types(&module, types);
            }
            _ => {}
        }
    }
}

/// The blocks of code in a text of Markdown, but for those that are marked as no Rust.
fn blocks(markdown: &str) -> String {
    let blocks =
        markdown.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    blocks.filter(|(kind, _)| !["text", "console"].contains(kind)).map(|(_, code)| code).collect()
}

fn documentation(source: &str) -> String {
    let texts = source
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("//")?.strip_prefix(['!', '/']));
    texts.map(|text| format!("{}\n", text.trim_start().trim_start_matches("# "))).collect()
}

/// The types that code names, beside its imports and comments.
fn named(code: &str) -> BTreeSet<String> {
    let without_comment = |line: &str| format!("\n{}", line.split("//").next().unwrap());
    let lines: String = code.lines().map(without_comment).collect();
    let mut parts = lines.split("\nuse ");
    let before = parts.next();
    let behind_imports = parts.map(|part| part.split_once(';').map_or(part, |(_, rest)| rest));
    before.into_iter().chain(behind_imports).flat_map(types_in).collect()
}

#[test]
fn each_public_type_for_others_has_an_example() {
    let mut missing = Vec::new();
    for name in FOR_OTHERS {
        let folder = root().join("crates").join(name);
        let mut types = BTreeSet::new();
        add_public_types(&folder.join("src"), &mut types);
        let fewest = if name == "losscause-rtc" { 7 } else { 11 };
        assert!(types.len() >= fewest, "{name}: {types:?}");
        let readme = read(&format!("crates/{name}/README.md"));
        let source = documentation(&all(name, "src"));
        let shown = named(&(blocks(&readme) + &blocks(&source) + &all(name, "examples")));
        missing.extend(types.difference(&shown).map(|missing| format!("{name}: {missing}")));
    }
    assert!(missing.is_empty(), "public types without an example: {missing:#?}");
}
