//! Scenarios and sweeps to start from: the files of `scenarios/`, inside the program.

use std::ffi::OsStr;
use std::path::Path;

use losscause_study::InputError;
use losscause_study::error::unknown;

/// Templates for one wish of a user.
pub(crate) struct Group {
    /// "Links".
    pub(crate) heading: &'static str,
    /// In the order in which they are listed.
    pub(crate) templates: &'static [Template],
}

/// A scenario or a sweep to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// What `init` calls it: "wifi".
    pub(crate) kind: &'static str,
    /// The file in the folder `scenarios/`, which comments name in their commands: "wifi.toml".
    file: &'static str,
    text: &'static str,
    /// The files of that folder that it reads.
    beside: &'static [Beside],
}

/// A file that a template reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    /// Its name in the folder `scenarios/`, and beside the template.
    pub(crate) file: &'static str,
    text: &'static str,
}

macro_rules! groups {
    ($($heading:literal: { $($kind:literal: $file:literal $(with $beside:literal)?),+ $(,)? })+) => {
        &[$(Group {
            heading: $heading,
            templates: &[$(Template {
                kind: $kind,
                file: $file,
                text: text!($file),
                beside: &[$(Beside { file: $beside, text: text!($beside) })?],
            }),+],
        }),+]
    };
}

macro_rules! text {
    ($file:literal) => {
        include_str!(concat!("../scenarios/", $file))
    };
}

/// All of them; a test compares with the folder.
pub(crate) const GROUPS: &[Group] = groups! {
    "Links": {
        "wifi": "wifi.toml",
        "lte": "lte-uplink.toml",
        "leo": "leo.toml",
        "geo": "satellite.toml",
        "dsl": "dsl.toml",
        "cable": "cable.toml",
        "wired": "clean-link.toml",
    }
    "Lessons": {
        "home-queue": "home-queue.toml",
        "policer": "policer.toml",
        "misjudged": "misjudged.toml",
        "fair-share": "fair-share.toml",
        "parking-lot": "parking-lot.toml",
        "longer-route": "longer-route.toml" with "longer-route.txt",
        "reconfigurations": "reconfigurations.toml" with "reconfigurations.csv",
        "bursty-cross-traffic": "bursty-cross-traffic.toml",
        "comings-and-goings": "comings-and-goings.toml",
        "last-hop-video": "last-hop-video.toml",
        "chunked-video": "chunked-video.toml",
        "requests": "requests.toml",
        "web": "web.toml",
    }
    "Sweeps": {
        "sweep-misjudged": "sweeps/misjudged.toml" with "misjudged.toml",
        "sweep-phase-effects": "sweeps/phase-effects.toml" with "parking-lot.toml",
        "sweep-policer": "sweeps/policer.toml" with "policer.toml",
    }
};

/// The templates of all groups.
pub(crate) fn all() -> impl Iterator<Item = &'static Template> {
    GROUPS.iter().flat_map(|group| group.templates)
}

impl Template {
    /// The template of this kind, or of this file of `scenarios/`, without its end.
    ///
    /// # Errors
    /// There is none; the error lists the kinds.
    pub(crate) fn find(kind: &str) -> Result<&'static Self, InputError> {
        let named = all().find(|template| template.kind == kind);
        named.or_else(|| all().find(|template| template.goes_by(kind))).ok_or_else(|| {
            let known: Vec<&str> = all().map(|template| template.kind).collect();
            InputError::option(
                format!("init {kind}"),
                format!("the kind {}", unknown(kind, &known)),
            )
        })
    }

    /// Whether this is what `init` calls it, or its file in `scenarios/`.
    fn goes_by(&self, name: &str) -> bool {
        let file = self.file.trim_start_matches("sweeps/").strip_suffix(".toml");
        self.kind == name || file == Some(name)
    }

    /// Whether it is a sweep.
    pub(crate) fn is_sweep(&self) -> bool {
        self.file.starts_with("sweeps/")
    }

    /// Its name unless the user gives another: "wifi.toml".
    pub(crate) fn default_file(&self) -> String {
        format!("{}.toml", self.kind)
    }

    /// The template as a file of this name. The commands in its comments name that file.
    pub(crate) fn text_for(&self, file: &str) -> String {
        as_written(&self.text.replace(&format!("scenarios/{}", self.file), file))
    }

    /// The files that it reads, and their texts.
    pub(crate) fn beside(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.beside.iter().map(|beside| (beside.file, as_written(beside.text)))
    }

    /// The title.
    pub(crate) fn title(&self) -> &'static str {
        let line = self.text.lines().find_map(|line| line.strip_prefix("title = \""));
        line.and_then(|line| line.strip_suffix('"')).unwrap_or_default()
    }
}

/// A text of the folder as it is written: what it names lies beside it, under the names that `init`
/// gives.
fn as_written(text: &str) -> String {
    let named = all().fold(text.to_owned(), |text, template| {
        text.replace(&format!("scenarios/{}", template.file), &template.default_file())
    });
    named.replace("../", "")
}

/// The error, with the command that writes the file that is missing if that is a template's.
pub fn named_in(error: InputError, is_sweep: bool) -> InputError {
    let InputError::File { file, problem, expected } = error else { return error };
    let asked = Path::new(&file).file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let is_it = |template: &&Template| template.is_sweep() == is_sweep && template.goes_by(asked);
    let problem = match all().find(is_it).filter(|_| problem == MISSING) {
        Some(Template { kind, .. }) => format!("{MISSING} (losscause init {kind} writes it)"),
        None => problem,
    };
    InputError::file(file, problem, expected)
}

/// The problem of a file that is not there.
const MISSING: &str = "there is no such file";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    use losscause_laboratory::sweep::Sweep;
    use losscause_study::files::Memory;
    use losscause_study::{Context, Scenario, run};

    use super::*;

    /// Where a template can be read under this name.
    fn context(template: &Template) -> Context {
        let files = template
            .beside()
            .fold(Memory::new(), |files, (name, text)| files.with(Path::new(name), text));
        Context::default().with_files(files)
    }

    fn scenarios() -> impl Iterator<Item = &'static Template> {
        all().filter(|template| !template.is_sweep())
    }

    fn scenario(template: &Template) -> Scenario {
        let file = template.default_file();
        Scenario::parse(&template.text_for(&file), &file, &context(template)).unwrap()
    }

    #[test]
    fn every_file_of_the_folder_is_a_template_or_beside_one() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let listed = |below: &str| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder.join(below)).unwrap();
            entries.map(|entry| Path::new(below).join(entry.unwrap().file_name())).collect()
        };
        let found: BTreeSet<PathBuf> = listed("").into_iter().chain(listed("sweeps")).collect();
        let named = all().flat_map(|template| {
            [template.file].into_iter().chain(template.beside.iter().map(|beside| beside.file))
        });
        // The folder itself, and what made a trace.
        let others = ["sweeps", "reconfigurations.py"];
        assert_eq!(found, named.chain(others).map(PathBuf::from).collect());
    }

    #[test]
    fn every_link_runs_as_it_is_and_delivers_data() {
        for template in GROUPS[0].templates {
            let scenario = scenario(template);
            assert_eq!(scenario.document().title, template.title(), "{}", template.kind);
            let measured = run(&scenario.experiment().unwrap(), 1).unwrap();
            let goodput = measured.metric("goodput").unwrap();
            assert!(goodput > 100.0, "{}: {:?}", template.kind, measured.metrics);
        }
    }

    #[test]
    fn every_lesson_and_sweep_can_be_run_as_it_is() {
        for template in scenarios() {
            let scenario = scenario(template);
            assert_eq!(scenario.document().title, template.title(), "{}", template.kind);
            assert!(scenario.experiment().is_ok(), "{}", template.kind);
        }
        for template in all().filter(|template| template.is_sweep()) {
            let file = template.default_file();
            let text = template.text_for(&file);
            let stacks = losscause_experiments::stacks();
            let sweep = Sweep::parse_on(&text, Path::new(&file), &context(template), &stacks);
            assert_eq!(sweep.unwrap().title(), template.title(), "{file}");
        }
    }

    #[test]
    fn the_commands_in_a_templates_comments_name_the_users_file() {
        for template in all() {
            let text = template.text_for("my link.toml");
            let verb = if template.is_sweep() { "sweep" } else { "simulate" };
            let command = format!("losscause {verb} my link.toml");
            assert!(text.contains(&command), "{}: {text}", template.kind);
            assert!(!text.contains("scenarios/"), "{}", template.kind);
            for (file, text) in template.beside() {
                assert!(!text.contains("scenarios/") && !text.contains("../"), "{file}");
            }
        }
    }

    #[test]
    fn a_template_is_found_by_its_kind_and_by_its_file() {
        let kind = |name: &str| Template::find(name).unwrap().kind;
        let found = ["wired", "clean-link", "misjudged", "phase-effects"].map(kind);
        assert_eq!(found, ["wired", "wired", "misjudged", "sweep-phase-effects"]);
    }

    #[test]
    fn an_unknown_kind_is_refused_with_the_kinds_there_are() {
        let refused = Template::find("wlan").unwrap_err().to_string();
        let expected = "init wlan: the kind \"wlan\" is unknown, expected one of wifi, lte, leo, geo, dsl, cable, wired, ";
        assert!(refused.starts_with(expected), "{refused}");
        assert!(refused.ends_with(", sweep-phase-effects, sweep-policer"), "{refused}");
    }

    #[test]
    fn a_missing_file_of_the_folder_names_the_command_that_writes_it() {
        let told = |file: &str, is_sweep: bool| {
            let error = InputError::unreadable(
                Path::new(file),
                &std::io::ErrorKind::NotFound.into(),
                "a scenario",
            );
            named_in(error, is_sweep).to_string()
        };
        for (file, is_sweep, kind) in [
            ("parking-lot", false, "parking-lot"),
            ("scenarios/parking-lot.toml", false, "parking-lot"),
            ("clean-link.toml", false, "wired"),
            ("wired.toml", false, "wired"),
            ("misjudged.toml", false, "misjudged"),
            ("scenarios/sweeps/misjudged.toml", true, "sweep-misjudged"),
            ("sweep-misjudged", true, "sweep-misjudged"),
        ] {
            let expected = format!(
                "{file}: there is no such file (losscause init {kind} writes it), expected a scenario"
            );
            assert_eq!(told(file, is_sweep), expected);
        }
        assert_eq!(
            told("mine.toml", false),
            "mine.toml: there is no such file, expected a scenario"
        );
    }
}
