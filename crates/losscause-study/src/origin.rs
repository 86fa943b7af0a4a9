//! Where a result comes from.
//!
//! ```
//! use losscause_study::origin::{self, Origin};
//!
//! let words = ["simulate".to_owned(), "cen2003/WLH".to_owned()].into_iter();
//! let set = origin::options("--set", ["N=4", "link.last.queue={ kind = \"codel\" }"]);
//! let origin = Origin::of(words.chain(set), 7);
//! let settings = "--set N=4 --set 'link.last.queue={ kind = \"codel\" }'";
//! assert_eq!(origin.command, format!("losscause simulate cen2003/WLH {settings} --seed 7"));
//! assert_eq!(origin.commit, None, "this program has not stated one");
//! ```

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// Where a result comes from: program, command and seed. Equal results of one program have equal
/// origins, also from Python: what changes no result, such as `--jobs` and `--out`, is not part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Version of the program.
    pub version: String,
    /// The commit that it was built from; null if it does not know.
    pub commit: Option<String>,
    /// The command that gives the result. A scenario, a sweep or an algorithm that is a program's
    /// own has only its name there, and what was changed while the lab ran is in `changes`.
    pub command: String,
    /// Seed of the first run; null if nothing is drawn.
    pub seed: Option<u64>,
}

static COMMIT: OnceLock<&str> = OnceLock::new();

impl Origin {
    /// The command `losscause` with these words and this seed, if it takes one.
    pub fn of(words: impl IntoIterator<Item = String>, seed: impl Into<Option<u64>>) -> Self {
        let seed = seed.into();
        let words = words.into_iter().chain(options("--seed", seed));
        let command = words.fold("losscause".to_owned(), |all, word| all + " " + &quoted(&word));
        Self::of_command(command, seed)
    }

    /// This command, which takes this seed.
    pub fn of_command(command: String, seed: Option<u64>) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let commit = COMMIT.get().map(|commit| (*commit).to_owned());
        Self { version, commit, command, seed }
    }
}

/// The program states the commit that it was built from, before its first result. An empty one is
/// unknown.
pub fn state_commit(commit: &'static str) {
    if !commit.is_empty() {
        COMMIT.get_or_init(|| commit);
    }
}

/// Name, version and commit of the program.
pub fn program() -> String {
    let Origin { version, commit, .. } = Origin::of_command(String::new(), None);
    let commit = commit.map_or_else(String::new, |commit| format!(" (commit {commit})"));
    format!("losscause {version}{commit}")
}

/// An option with each of these values.
pub fn options<'a, V: ToString>(
    name: &'a str,
    values: impl IntoIterator<Item = V> + 'a,
) -> impl Iterator<Item = String> + 'a {
    values.into_iter().flat_map(move |value| [name.to_owned(), value.to_string()])
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:=,%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
