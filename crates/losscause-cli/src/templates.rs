//! Scenarios to start from: files of `scenarios/`, inside the program.

use losscause_study::InputError;
use losscause_study::error::unknown;

/// A scenario of a common kind of link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// The kind of link: "wifi".
    pub(crate) kind: &'static str,
    /// The file in the folder `scenarios/`, which its comments name in their commands: "wifi.toml".
    file: &'static str,
    text: &'static str,
}

macro_rules! templates {
    ($($kind:literal: $file:literal),+ $(,)?) => {
        &[$(Template { kind: $kind, file: $file, text: include_str!(concat!("../scenarios/", $file)) }),+]
    };
}

/// All kinds of links, in the order in which they are listed.
pub(crate) const TEMPLATES: &[Template] = templates! {
    "wifi": "wifi.toml",
    "lte": "lte-uplink.toml",
    "leo": "leo.toml",
    "geo": "satellite.toml",
    "dsl": "dsl.toml",
    "cable": "cable.toml",
    "wired": "clean-link.toml",
};

impl Template {
    /// The template of this kind.
    ///
    /// # Errors
    /// There is none; the error lists the kinds.
    pub(crate) fn find(kind: &str) -> Result<&'static Self, InputError> {
        TEMPLATES.iter().find(|template| template.kind == kind).ok_or_else(|| {
            let known: Vec<&str> = TEMPLATES.iter().map(|template| template.kind).collect();
            InputError::Option {
                option: format!("init {kind}"),
                problem: format!("the kind {}", unknown(kind, &known)),
            }
        })
    }

    /// The scenario as a file of this name. The commands in its comments name that file.
    pub(crate) fn text_for(&self, file: &str) -> String {
        self.text.replace(&format!("scenarios/{}", self.file), file)
    }

    /// The title of the scenario.
    pub(crate) fn title(&self) -> &'static str {
        let line = self.text.lines().find_map(|line| line.strip_prefix("title = \""));
        line.and_then(|line| line.strip_suffix('"')).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use losscause_study::{Context, Scenario, run};

    use super::*;

    #[test]
    fn every_template_runs_as_it_is_and_delivers_data() {
        for template in TEMPLATES {
            let file = format!("{}.toml", template.kind);
            let scenario =
                Scenario::parse(&template.text_for(&file), &file, &Context::default()).unwrap();
            assert_eq!(scenario.document().title, template.title(), "{file}");
            let measured = run(&scenario.experiment().unwrap(), 1).unwrap();
            assert!(measured.metric("goodput").unwrap() > 100.0, "{file}: {:?}", measured.metrics);
        }
    }

    #[test]
    fn the_commands_in_a_templates_comments_name_the_users_file() {
        for template in TEMPLATES {
            let text = template.text_for("my link.toml");
            assert!(text.contains("losscause simulate my link.toml"), "{}", template.kind);
            assert!(!text.contains("scenarios/"), "{}", template.kind);
        }
    }

    #[test]
    fn an_unknown_kind_is_refused_with_the_kinds_there_are() {
        assert_eq!(
            Template::find("wlan").unwrap_err().to_string(),
            "init wlan: the kind \"wlan\" is unknown, expected one of wifi, lte, leo, geo, dsl, cable, wired"
        );
    }
}
