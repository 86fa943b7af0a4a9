//! The commands that a page tells its reader to type.

use super::markdown::{Kind, Part};

/// A command of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// The first line of the block or paragraph in which it stands, from 1.
    pub(super) line: usize,
    /// As for a shell: `losscause simulate a.toml --set 'x={ y = 1 }'`.
    pub(super) command: String,
    pub(super) output: Output,
}

/// What the page says that a command prints.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Nothing: the command stands in a sentence.
    InSentence,
    /// Nothing: the command stands in a block.
    NotShown,
    Text(String),
}

/// What happens to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Run,
    /// The command's verb, options and files exist.
    Check,
    /// Not even that.
    Skip,
}

/// Commands that are not run, by their beginning. The first entry that fits decides.
const NOT_RUN: [(&str, Test); 35] = [
    // Minutes.
    ("losscause reproduce --all", Test::Check),
    ("losscause reproduce barman2002", Test::Check),
    ("losscause reproduce biaz1999", Test::Check),
    ("losscause reproduce cen2003 ", Test::Check),
    ("losscause reproduce koo2007", Test::Check),
    ("losscause reproduce extra", Test::Check),
    ("losscause reproduce paths --p", Test::Run),
    // A minute and more.
    ("losscause reproduce paths", Test::Check),
    ("losscause reproduce abroad --kind", Test::Run),
    ("losscause reproduce abroad --print", Test::Run),
    ("losscause reproduce abroad/kernel", Test::Run),
    // Half a minute.
    ("losscause reproduce abroad", Test::Check),
    // Needs a feature and takes minutes; has tests of its own.
    ("losscause reproduce quic", Test::Skip),
    ("losscause reproduce media", Test::Skip),
    // Needs root and a feature; has tests of its own.
    ("losscause reproduce live", Test::Skip),
    // Needs root and two features, takes minutes.
    ("losscause reproduce sockets", Test::Skip),
    // Minutes to hours.
    ("losscause sweep papers/", Test::Check),
    // Needs root and a feature, takes minutes.
    ("losscause sweep validation/captures/", Test::Skip),
    // Needs ns-2; a step of CI runs it.
    ("losscause sweep validation/ns2", Test::Skip),
    // Half a minute.
    ("losscause sweep scenarios/sweeps/", Test::Check),
    // Half a minute per pattern; a test recomputes their first trials.
    ("losscause fade", Test::Check),
    // Needs Ray; tests of the Python package sweep on it.
    ("losscause sweep last-hop.toml --engine ray", Test::Skip),
    // Continues an interrupted sweep, which no test leaves.
    ("losscause sweep last-hop.toml --resume", Test::Check),
    // Changes the running kernel; tests of losscause-linux load and unload the programs.
    ("losscause kernel", Test::Skip),
    // Reads a scenario from standard input.
    ("losscause simulate -", Test::Check),
    // Serves until it is stopped; has tests of its own.
    ("losscause lab", Test::Skip),
    // Needs root and a feature; has tests of its own.
    ("losscause emulate", Test::Skip),
    // Needs a feature and two ends; has tests of its own.
    ("losscause stream", Test::Skip),
    // Needs root and a feature; has tests of its own.
    ("losscause watch", Test::Skip),
    // The project's own commands have their own steps in CI.
    ("cargo xtask", Test::Check),
    // Half a minute, of real time; a test of the crate runs a shorter one.
    ("cargo run --release -p losscause-quic", Test::Skip),
    // A step of CI.
    ("cargo test", Test::Skip),
    // `cargo xtask package` installs the program.
    ("cargo install", Test::Skip),
    // The examples are compiled by the tests.
    ("cargo build", Test::Skip),
    // The benchmarks are compiled by a step of CI.
    ("cargo bench", Test::Skip),
];

/// Words for which a reader puts his own.
const PLACEHOLDERS: [&str; 6] =
    ["FILE", "DIR", "KEY=VALUE", "NAME", "implementation_loss_db=DB", "…"];

/// What is to be done with a command.
pub(super) fn test(shown: &Shown) -> Test {
    let command = format!("{} ", shown.command);
    let listed = NOT_RUN.into_iter().find(|(start, _)| command.starts_with(start));
    let listed = listed.map_or(Test::Run, |(_, test)| test);
    let is_placeholder = |word: &str| PLACEHOLDERS.contains(&word) || word.starts_with('<');
    // A verb in a sentence is a word of it.
    let is_word = shown.output == Output::InSentence && command.split_whitespace().count() == 2;
    let is_for_readers =
        || command.split_whitespace().any(|word| is_placeholder(word.trim_matches(['"', '\''])));
    if listed == Test::Run && (is_word || is_for_readers()) { Test::Check } else { listed }
}

/// The commands of a page in its order.
pub(super) fn commands(parts: &[Part]) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    for part in parts {
        let text = without_line_ends(&part.text);
        let shown = |command: &str, output| Shown {
            line: part.line,
            command: command.trim().to_owned(),
            output,
        };
        match &part.kind {
            Kind::Fenced { language, .. } if language == "console" => {
                for block in format!("\n{text}").split("\n$ ").skip(1) {
                    let (command, printed) = block.split_once('\n').unwrap_or((block, ""));
                    let printed = printed.trim_matches('\n');
                    let text = || Output::Text(format!("{printed}\n"));
                    let output = if printed.is_empty() { Output::NotShown } else { text() };
                    found.push(shown(command, output));
                }
            }
            Kind::Fenced { .. } => {}
            Kind::Indented => {
                let commands = text.lines().filter(|line| is_command(line));
                found.extend(commands.map(|line| shown(without_comment(line), Output::NotShown)));
            }
            Kind::Span if is_command(&text) => found.push(shown(&text, Output::InSentence)),
            Kind::Span => {}
        }
    }
    found
}

/// `losscause` by itself is a word of a sentence.
fn is_command(text: &str) -> bool {
    ["losscause ", "cargo "].iter().any(|start| text.starts_with(start))
}

/// The command without what follows a `#` between spaces.
fn without_comment(line: &str) -> &str {
    line.split_once(" # ").map_or(line, |(command, _)| command).trim()
}

/// The text with each line joined to the one that it continues after a backslash.
fn without_line_ends(text: &str) -> String {
    text.split("\\\n").map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::markdown::parts;

    fn shown(line: usize, command: &str, output: Output) -> Shown {
        Shown { line, command: command.into(), output }
    }

    #[test]
    fn commands_stand_in_blocks_and_sentences_with_what_they_print() {
        let page = "Try `losscause list` and losscause's `x`.\n\n```console\n$ losscause a \\\n    --b\n\none\n\ntwo\n$ losscause \
                    c\n```\n\n    losscause d # comment\n    not one\n";
        let expected = [
            shown(1, "losscause list", Output::InSentence),
            shown(3, "losscause a --b", Output::Text("one\n\ntwo\n".into())),
            shown(3, "losscause c", Output::NotShown),
            shown(13, "losscause d", Output::NotShown),
        ];
        assert_eq!(commands(&parts(page)), expected);
    }

    #[test]
    fn a_command_is_run_unless_the_list_or_a_placeholder_exempts_it() {
        let test = |command| test(&shown(1, command, Output::NotShown));
        assert_eq!(test("losscause simulate a.toml"), Test::Run);
        assert_eq!(test("losscause reproduce --all"), Test::Check);
        assert_eq!(test("losscause reproduce cen2003 --runs 10"), Test::Check);
        assert_eq!(test("losscause reproduce cen2003/table2"), Test::Run);
        assert_eq!(test("losscause sweep papers/a.toml"), Test::Check);
        for placeholder in ["losscause simulate FILE --runs 10", "losscause reproduce <paper>"] {
            assert!(test(placeholder) == Test::Check);
        }
    }

    #[test]
    fn a_command_that_the_program_may_lack_is_not_even_checked() {
        for output in [Output::InSentence, Output::NotShown] {
            assert!(matches!(test(&shown(1, "losscause emulate", output)), Test::Skip));
        }
        assert!(matches!(
            test(&shown(1, "losscause emulate FILE -- true", Output::NotShown)),
            Test::Skip
        ));
    }

    #[test]
    fn a_verb_in_a_sentence_is_a_word_and_in_a_block_a_command() {
        assert!(matches!(test(&shown(1, "losscause init", Output::InSentence)), Test::Check));
        assert_eq!(test(&shown(1, "losscause init lte", Output::InSentence)), Test::Run);
        assert_eq!(test(&shown(1, "losscause init", Output::NotShown)), Test::Run);
    }
}
