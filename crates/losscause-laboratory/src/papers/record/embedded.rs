//! The files of the papers, as parts of the program. A new paper is one line of [`PAPERS`].

use std::fmt::Debug;
use std::io::{self, Read};
use std::path::Path;

use losscause_study::files::Files;

/// The files of one paper, or of an experiment of our own, as texts.
#[derive(Debug)]
pub struct PaperTexts {
    /// Name of its folder, and short name of the paper.
    pub key: &'static str,
    /// What it publishes ([`Published`](super::Published)).
    pub published: &'static str,
    /// Which of it is measured ([`Items`](super::Items)).
    pub items: &'static str,
    /// Why numbers and claims are missed ([`Explanation`](super::Explanation)).
    pub explanations: &'static str,
    /// What its items cost ([`Costs`](super::Costs)); may be empty.
    pub costs: &'static str,
    /// The paper's scenarios.
    pub scenarios: &'static [ScenarioText],
    /// The paper's fading channel, if it has one.
    pub channel: Option<&'static str>,
    /// Name and text of each pattern of packet errors that was made of the channel.
    pub patterns: &'static [(&'static str, &'static str)],
}

/// A scenario of a paper, as it stands in its file.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioText {
    /// The scenario's name in the paper: "WLH".
    pub name: &'static str,
    /// The file, in TOML.
    pub text: &'static str,
}

macro_rules! text {
    ($($part:expr),+) => {
        include_str!(concat!("../../../papers/", $($part),+))
    };
}

/// The texts of the folder `papers/$key/`: published.toml, items.toml, explanations.toml,
/// costs.toml, the scenarios named, and of a paper with a fading channel channel.toml and the
/// patterns named.
macro_rules! paper {
    ($key:literal, scenarios: [$($scenario:literal),*] $(, patterns: [$($pattern:literal),+])?) => {
        PaperTexts {
            key: $key,
            published: text!($key, "/published.toml"),
            items: text!($key, "/items.toml"),
            explanations: text!($key, "/explanations.toml"),
            costs: text!($key, "/costs.toml"),
            scenarios: &[
                $(ScenarioText { name: $scenario, text: text!($key, "/scenarios/", $scenario, ".toml") }),*
            ],
            channel: paper!(@channel $key $($($pattern)+)?),
            patterns: &[$($(($pattern, text!($key, "/patterns/", $pattern, ".txt"))),+)?],
        }
    };
    (@channel $key:literal) => { None };
    (@channel $key:literal $($pattern:literal)+) => { Some(text!($key, "/channel.toml")) };
}

/// Every paper, in the order in which they are listed and measured. `extra` is no paper: it has
/// runs of our own.
pub(super) const PAPERS: &[PaperTexts] = &[
    paper!("barman2002", scenarios: ["config1", "config2"]),
    paper!("cen2003", scenarios: ["WLH", "WB"], patterns: ["high", "medium", "low"]),
    paper!("biaz1999", scenarios: ["accuracy", "throughput"]),
    paper!("koo2007", scenarios: ["single", "background", "fairness"]),
    paper!("dalwadi", scenarios: ["star", "line"]),
    paper!("extra", scenarios: []),
];

/// What is measured where nothing is named.
pub(crate) const FIRST_LOOK: &str = text!("first-look.toml");

/// The scenarios and patterns of the papers, by the names that users give them: PAPER/SCENARIO and
/// PAPER/PATTERN, in any case. A scenario that names `cen2003/high` as its fading pattern finds it
/// here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedded;

impl Embedded {
    /// Name and text of every file.
    fn files(self) -> impl Iterator<Item = (String, &'static str)> {
        PAPERS.iter().flat_map(|paper| {
            let scenarios = paper.scenarios.iter().map(|scenario| (scenario.name, scenario.text));
            let files = scenarios.chain(paper.patterns.iter().copied());
            files.map(|(name, text)| (format!("{}/{name}", paper.key), text))
        })
    }
}

impl Files for Embedded {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        let found = self
            .files()
            .find(|(name, _)| path.to_str().is_some_and(|path| name.eq_ignore_ascii_case(path)));
        let (_, text) = found.ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(text.as_bytes()))
    }

    fn alternatives(&self, _: &Path) -> Vec<String> {
        self.files().map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("papers")
    }

    /// Names of the files or folders in `papers/<folder>`, without their endings.
    fn names(below: &str) -> BTreeSet<String> {
        let Ok(entries) = fs::read_dir(folder().join(below)) else { return BTreeSet::new() };
        entries
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn every_folder_scenario_and_pattern_is_part_of_the_program() {
        let owned =
            |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
        let mut folders = owned(PAPERS.iter().map(|paper| paper.key).collect());
        folders.insert("first-look".to_owned());
        assert_eq!(folders, names(""));
        for paper in PAPERS {
            let scenarios = paper.scenarios.iter().map(|scenario| scenario.name).collect();
            assert_eq!(owned(scenarios), names(&format!("{}/scenarios", paper.key)));
            let patterns = paper.patterns.iter().map(|(name, _)| *name).collect();
            assert_eq!(owned(patterns), names(&format!("{}/patterns", paper.key)));
        }
    }

    #[test]
    fn no_two_files_have_the_same_name() {
        let paths: Vec<String> =
            Embedded.alternatives(Path::new("")).iter().map(|path| path.to_lowercase()).collect();
        assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), paths.len());
    }

    #[test]
    fn a_file_is_found_in_any_case_and_nothing_else_is() {
        for (path, found) in [
            ("cen2003/WLH", true),
            ("CEN2003/wlh", true),
            ("cen2003/high", true),
            ("cen2003", false),
        ] {
            assert_eq!(Embedded.open(Path::new(path)).is_ok(), found, "{path}");
        }
    }
}
