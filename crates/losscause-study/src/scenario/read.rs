//! From a text to a [`Document`].

use std::fmt;

use toml::Table;

use super::format::Document;
use super::protocol;
use crate::error::InputError;
use crate::tools::toml_file;

/// What an error says was expected in place of a file that is no scenario.
pub const EXPECTED: &str = "a scenario file in TOML (losscause docs scenario)";

/// The keys and values of a scenario's text.
pub(super) fn table(text: &str, file: &str) -> Result<Table, InputError> {
    let table = toml_file::table(text, file, EXPECTED)?;
    if Kind::of(&table) == Some(Kind::Sweep) {
        return Err(InputError::file(file, Kind::Sweep.to_string(), EXPECTED));
    }
    Ok(table)
}

/// What a document in TOML is for. `Display` is the middle of an error sentence: "is a sweep
/// (losscause sweep runs it)".
///
/// ```
/// use losscause_study::scenario::Kind;
///
/// let text = "[[link]]\nname = \"radio\"";
/// assert_eq!(Kind::of_text(text), Some(Kind::Scenario));
/// assert_eq!(Kind::of_text("a capture"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has links: `simulate` and `compare` run it.
    Scenario,
    /// It has axes and no links: `sweep` runs it.
    Sweep,
}

impl Kind {
    /// What the table is; none if it has neither links nor axes.
    pub fn of(table: &Table) -> Option<Self> {
        if table.contains_key("link") {
            Some(Self::Scenario)
        } else if table.contains_key("axis") {
            Some(Self::Sweep)
        } else {
            None
        }
    }

    /// What the text is; none if it is not TOML, or as in [`Kind::of`].
    pub fn of_text(text: &str) -> Option<Self> {
        Self::of(&text.parse().ok()?)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scenario => "is a scenario (losscause simulate runs it)",
            Self::Sweep => "is a sweep (losscause sweep runs it)",
        })
    }
}

/// The keys and values as a scenario.
pub(super) fn document(table: &Table, file: &str) -> Result<Document, InputError> {
    toml_file::from_older_table(table, file, protocol::MOVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let result = table(text, "x.toml").and_then(|table| document(&table, "x.toml"));
        result.map(|_| ()).unwrap_err().to_string()
    }

    const LINK: &str = "[[link]]\nname = \"shared\"\ndelay_ms = 1\n";

    #[test]
    fn an_unknown_key_is_named_with_its_path_and_the_nearest_one() {
        let expected = "x.toml: link.shared.rate_bsp: the key \"rate_bsp\" is unknown (did you mean \"rate_bps\"?), \
                        expected one of name, per_flow, rate_bps";
        let found = error(&format!("title = \"t\"\nduration_s = 1\n{LINK}rate_bsp = 3"));
        assert!(found.starts_with(expected), "{found}");
        let found = error("title = \"t\"\nduraton_s = 1");
        assert!(found.starts_with(
            "x.toml: duraton_s: the key \"duraton_s\" is unknown (did you mean \"duration_s\"?)"
        ));
        let found = error("title = \"t\"\nduration_s = 1\n[tfrc]\nmoed = 1");
        assert!(found.starts_with("x.toml: tfrc.moed: the key \"moed\" is unknown"), "{found}");
    }

    #[test]
    fn an_unknown_key_of_a_channel_is_named() {
        let link = format!("title = \"t\"\nduration_s = 1\n{LINK}rate_bps = 3\n");
        assert_eq!(
            error(&format!("{link}channel = {{ kind = \"bernoulli\", los = 0.1 }}")),
            "x.toml: link.shared.channel.los: the key \"los\" is unknown (did you mean \"loss\"?), expected \"loss\""
        );
        assert_eq!(
            error(&format!("{link}channel = {{ kind = \"bernouli\", loss = 0.1 }}")),
            "x.toml: link.shared.channel.kind: \"bernouli\" is unknown (did you mean \"bernoulli\"?), expected one of \
             perfect, bernoulli, gilbert-elliott, fading, trace, load"
        );
        assert_eq!(
            error(&format!("{link}channel = {{ kind = \"bernoulli\" }}")),
            "x.toml: link.shared.channel.loss: is missing, expected a value"
        );
        assert_eq!(
            error(&format!("{link}channel = {{ kind = \"bernoulli\", loss = \"1 +\" }}")),
            "x.toml: link.shared.channel: \"1 +\" ends too early, expected a number, a name or \"(\""
        );
    }

    #[test]
    fn a_sweep_is_called_a_sweep() {
        assert_eq!(
            error("title = \"t\"\nscenario = \"s.toml\"\n[[axis]]\nkey = \"N\"\nvalues = [1, 2]"),
            "x.toml: is a sweep (losscause sweep runs it), expected a scenario file in TOML (losscause docs scenario)"
        );
    }

    #[test]
    fn missing_keys_and_wrong_types_are_named() {
        assert_eq!(error("title = \"t\""), "x.toml: duration_s: is missing, expected a value");
        assert_eq!(
            error(&format!("title = \"t\"\nduration_s = 1\n{LINK}")),
            "x.toml: link.shared.rate_bps: is missing, expected a value"
        );
        assert_eq!(
            error("title = \"t\"\nduration_s = true"),
            "x.toml: duration_s: is boolean true, expected a number or a formula in quotes"
        );
        assert_eq!(
            error(&format!("title = \"t\"\nduration_s = 1\n{LINK}rate_bps = \"2 *\"")),
            "x.toml: link.shared.rate_bps: \"2 *\" ends too early, expected a number, a name or \"(\""
        );
        let bottleneck = "title = \"t\"\nduration_s = 1\n[measure]\nbottleneck";
        assert_eq!(
            error(&format!("{bottleneck} = 3")),
            "x.toml: measure.bottleneck: is integer 3, expected a link's name, or a list of { link, when }"
        );
        assert!(
            error(&format!("{bottleneck} = [{{ link = \"a\", wen = 1 }}]"))
                .contains("did you mean \"when\"?")
        );
    }

    #[test]
    fn no_message_names_a_type_of_the_program() {
        let at = |rest: &str| error(&format!("title = \"t\"\nduration_s = 1\n{rest}"));
        let link = |rest: &str| at(&format!("{LINK}rate_bps = 1e6\n{rest}"));
        let flow = |rest: &str| at(&format!("[[flow]]\nname = \"f\"\n{rest}"));
        let table = "expected a table: { KEY = VALUE }";
        assert_eq!(at("link = 3"), "x.toml: link: is integer 3, expected a list in [ ]");
        assert_eq!(at("link = [3]"), format!("x.toml: link.1: is integer 3, {table}"));
        assert_eq!(at("tcp = 3"), format!("x.toml: tcp: is integer 3, {table}"));
        assert_eq!(at("parameters = 3"), format!("x.toml: parameters: is integer 3, {table}"));
        assert_eq!(
            at("measure = { delays = 3 }"),
            "x.toml: measure.delays: is integer 3, expected true or false"
        );
        assert_eq!(
            at("tcp = { mode = 3 }"),
            "x.toml: tcp.mode: is no word, expected a word in quotes"
        );
        assert_eq!(
            link("channel = \"x\""),
            format!("x.toml: link.shared.channel: is string \"x\", {table}")
        );
        assert_eq!(
            link("channel = { kind = 3 }"),
            "x.toml: link.shared.channel.kind: is integer 3, expected a word in quotes"
        );
        assert_eq!(
            flow("protocol = \"tfrc\"\npath = 3"),
            "x.toml: flow.f.path: is integer 3, expected a list in [ ]"
        );
        assert_eq!(
            flow("protocol = \"tfrc\"\npath = [\"r\"]\nlda = []"),
            "x.toml: flow.f.lda: is a list, expected a word in quotes"
        );
    }

    #[test]
    fn text_that_is_not_toml_is_told_with_its_line() {
        let found = error("title = \"t\"\nduration_s = = 3\n");
        assert!(found.starts_with("x.toml, line 2: "), "{found}");
        assert!(!found.contains('\n'));
        assert_eq!(
            error(" \n"),
            "x.toml: is empty, expected a scenario file in TOML (losscause docs scenario)"
        );
    }
}
