//! Errors. Each is one sentence that names the file, the key and what was expected.

use std::fmt::{self, Write};
use std::io;
use std::path::Path;

use crate::parallel::Stopped;
use crate::tools::plain::is_hidden;

/// The input cannot be used: the program ends with exit status 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A file cannot be read or is not of the kind it should be.
    #[error("{}: {}, expected {expected}", OneLine(.file), OneLine(.problem))]
    File {
        /// The file, as the user named it.
        file: String,
        /// What is wrong with it.
        problem: String,
        /// What was expected in its place.
        expected: &'static str,
    },
    /// A file is not well-formed.
    #[error("{}, line {line}: {}", OneLine(.file), OneLine(.problem))]
    Syntax {
        /// The file, as the user named it.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What was found and what was expected.
        problem: String,
    },
    /// A key is unknown, missing, or has a value that cannot be used.
    #[error("{}: {}: {}", OneLine(.file), OneLine(.key), OneLine(.problem))]
    Key {
        /// The file, as the user named it.
        file: String,
        /// The key, as a dotted path that `--set` takes.
        key: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// An option of the command line, or a setting, cannot be used.
    #[error("{}: {}", OneLine(.option), OneLine(.problem))]
    Option {
        /// The option as the user wrote it: `--jobs 0`.
        option: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// A part of the program is missing, because a feature was not chosen when it was built.
    #[error("{}: {}", OneLine(.what), how_to_build(.feature, cfg!(target_os = "linux")))]
    NotBuilt {
        /// What was asked for, as the user named it: a verb, or a file.
        what: String,
        /// The feature of losscause-cli.
        feature: &'static str,
    },
}

/// The command that installs the program, in a checkout. No registry has the packages yet; README.md
/// says the same.
pub const INSTALL: &str = "cargo install --path crates/losscause-cli";

/// The feature `linux` has nothing for other systems.
fn how_to_build(feature: &str, is_on_linux: bool) -> String {
    if feature == "linux" && !is_on_linux {
        return "needs Linux".to_owned();
    }
    let needs =
        if feature == "linux" { " that has what `losscause docs kernel` lists" } else { "" };
    format!(
        "this program was built without `{feature}`; in a checkout{needs}: {INSTALL} --features {feature}"
    )
}

/// A run or the writing of its results failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A file that the user asked for cannot be written: exit status 2 if nothing can be written at
    /// that place, 1 if something failed there, such as a full disk.
    #[error(
        "{file}: cannot be written ({}){}",
        without_path(reason),
        if is_wrong_place(reason) { ", expected a place in an existing, writable directory" } else { "" }
    )]
    Unwritable {
        /// The file, as the user named it.
        file: String,
        /// What the system said.
        reason: io::Error,
    },
    /// The network cannot be simulated: exit status 2.
    #[error("the network: {0}")]
    Network(#[from] losscause_sim::NetworkError),
    /// The input turned out to be unusable: exit status 2.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file of an unknown kind: exit status 2.
    #[error("{file}: {problem}")]
    Unsupported {
        /// The file, as the user named it.
        file: String,
        /// What was expected.
        problem: String,
    },
    /// The simulator lost count of its packets, which is a mistake of its own: exit status 1.
    #[error("the simulation lost count, which is a mistake of the program: {0}")]
    Conservation(#[from] losscause_sim::ConservationError),
    /// A stack beside the simulator could not make a run: exit status 2 if the machine lacks what it
    /// takes, 1 if the run failed.
    #[error("{problem}")]
    Stack {
        /// What is missing or went wrong, a sentence.
        problem: String,
        /// Whether the machine or the input is at fault.
        is_bad_input: bool,
    },
    /// The work was stopped, as requested: exit status 1.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The work was stopped by one of its own runs, such as by an algorithm that failed: exit
    /// status 1.
    #[error("{place}: stopped before the end")]
    StoppedIn {
        /// Which run: the paper, the table, the system, the parameters, the seed.
        place: String,
    },
}

impl RunError {
    /// `file` cannot be written.
    pub fn unwritable(file: impl AsRef<Path>, reason: io::Error) -> Self {
        Self::Unwritable { file: file.as_ref().display().to_string(), reason }
    }

    /// Whether the user's input is at fault: the program then ends with exit status 2, otherwise
    /// with 1.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Unwritable { reason, .. } => is_wrong_place(reason),
            Self::Network(_) | Self::Input(_) | Self::Unsupported { .. } => true,
            Self::Stack { is_bad_input, .. } => *is_bad_input,
            Self::Conservation(_) | Self::Stopped(_) | Self::StoppedIn { .. } => false,
        }
    }
}

/// Why nothing can be written there, in words of this program where the system's are a riddle, and
/// without the name of a file that the user does not know.
fn without_path(reason: &io::Error) -> String {
    match reason.kind() {
        io::ErrorKind::NotFound => "there is no such directory".to_owned(),
        io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "this user may not".to_owned(),
        io::ErrorKind::AlreadyExists => "the file exists".to_owned(),
        _ => reason.to_string().split(" at path ").next().unwrap_or_default().to_owned(),
    }
}

/// Whether a failed write says that nothing can be written at that place.
fn is_wrong_place(reason: &io::Error) -> bool {
    use io::ErrorKind::{
        AlreadyExists, ExecutableFileBusy, InvalidFilename, InvalidInput, IsADirectory,
        NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem, Unsupported,
    };
    matches!(
        reason.kind(),
        NotFound
            | PermissionDenied
            | NotADirectory
            | IsADirectory
            | ReadOnlyFilesystem
            | InvalidFilename
            | InvalidInput
            | AlreadyExists
            | ExecutableFileBusy
            | Unsupported
    )
}

impl InputError {
    /// A file that cannot be used.
    pub fn file(
        file: impl Into<String>,
        problem: impl Into<String>,
        expected: &'static str,
    ) -> Self {
        Self::File { file: file.into(), problem: problem.into(), expected }
    }

    /// A key that cannot be used.
    pub fn key(
        file: impl Into<String>,
        key: impl Into<String>,
        problem: impl Into<String>,
    ) -> Self {
        Self::Key { file: file.into(), key: key.into(), problem: problem.into() }
    }

    /// An option that cannot be used.
    pub fn option(option: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Option { option: option.into(), problem: problem.into() }
    }

    /// `file` could not be read as text.
    pub fn unreadable(file: &Path, reason: &io::Error, expected: &'static str) -> Self {
        let problem = match reason.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::IsADirectory => "is a directory".to_owned(),
            io::ErrorKind::InvalidData => "is not UTF-8 text".to_owned(),
            io::ErrorKind::PermissionDenied => "may not be read by this user".to_owned(),
            _ => format!("cannot be read ({reason})"),
        };
        Self::file(file.display().to_string(), problem, expected)
    }
}

/// Displays any text with line ends and control characters escaped: a message stays on one line,
/// and a file cannot send commands to the terminal.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            c if is_hidden(c) => write!(f, "{}", c.escape_default()),
            c => f.write_char(c),
        })
    }
}

/// What Linux calls a thing, and the name here of the same or of the most alike.
const NAMES_OF_LINUX: [(&str, &str); 6] = [
    ("cake", "fq-codel"),
    ("fq", "fq-codel"),
    ("fq_pie", "pie"),
    ("pfifo", "drop-tail"),
    ("bfifo", "drop-tail"),
    ("pfifo_fast", "drop-tail"),
];

/// The entry of `known` nearest to `name`, if it is near enough to be a misspelling, or what Linux
/// calls so.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let known: Vec<&str> = known.into_iter().collect();
    let of_linux = NAMES_OF_LINUX.iter().find(|(linux, _)| *linux == wanted);
    if let Some(here) = of_linux.and_then(|(_, here)| known.iter().find(|name| *name == here)) {
        return Some(here);
    }
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            let longest = candidate.chars().count().max(wanted.chars().count());
            // A name of which no letter is left is another one.
            *distance <= (longest / 3).max(1) && *distance < longest
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The second half of an error sentence about an unknown name: `"y" is unknown (did you mean "x"?),
/// expected one of a, b`.
pub fn unknown(name: &str, known: &[&str]) -> String {
    if let Some(same) = known.iter().find(|known| known.eq_ignore_ascii_case(name)) {
        return format!("\"{name}\" is unknown, expected \"{same}\" in these letters");
    }
    // A second spelling is taken, but not told.
    let is_second = |one: &str| one.contains('_') && known.contains(&&*one.replace('_', "-"));
    let known: &[&str] = &known.iter().copied().filter(|one| !is_second(one)).collect::<Vec<_>>();
    let hint = nearest(name, known.iter().copied())
        .map(|n| format!(" (did you mean \"{n}\"?)"))
        .unwrap_or_default();
    match known {
        [] => format!("\"{name}\" is unknown, and there is no name to use here"),
        [only] => format!("\"{name}\" is unknown{hint}, expected \"{only}\""),
        _ => format!("\"{name}\" is unknown{hint}, expected one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_nearest_name_and_nonsense_finds_none() {
        let known = ["ZigZag", "ZBS", "mBiaz", "Spike"];
        assert_eq!(nearest("zigzga", known), Some("ZigZag"));
        assert_eq!(nearest("zbs", known), Some("ZBS"));
        assert_eq!(nearest("T", ["%", "k"]), None, "no letter is left");
        assert_eq!(nearest("cake", ["codel", "fq-codel"]), Some("fq-codel"));
        assert_eq!(nearest("kangaroo", known), None);
        assert_eq!(
            unknown("SPIKE", &known),
            "\"SPIKE\" is unknown, expected \"Spike\" in these letters"
        );
        assert_eq!(
            unknown("cake", &["codel", "fq-codel", "fq_codel"]),
            "\"cake\" is unknown (did you mean \"fq-codel\"?), expected one of codel, fq-codel"
        );
    }

    #[test]
    fn a_name_of_two_lines_is_shown_on_one() {
        let error = InputError::key("x.toml", "a\nb", "\"\u{1b}[2J\u{2028}\" is µ");
        assert_eq!(error.to_string(), "x.toml: a\\nb: \"\\u{1b}[2J\\u{2028}\" is µ");
    }

    #[test]
    fn a_part_not_built_in_is_told_with_how_to_get_it() {
        let command = "this program was built without `quic`; in a checkout: cargo install --path \
             crates/losscause-cli --features quic";
        assert_eq!(how_to_build("quic", false), command);
        let needs = "checkout that has what `losscause docs kernel` lists:";
        let linux = command.replace("quic", "linux").replace("checkout:", needs);
        assert_eq!(how_to_build("linux", true), linux);
        assert_eq!(how_to_build("linux", false), "needs Linux");
        let error = InputError::NotBuilt { what: "stream".to_owned(), feature: "media" };
        assert_eq!(error.to_string(), format!("stream: {}", command.replace("quic", "media")));
    }

    #[test]
    fn an_unknown_name_is_told_with_what_is_known() {
        assert_eq!(
            unknown("tfcr", &["tfrc", "tcp"]),
            "\"tfcr\" is unknown (did you mean \"tfrc\"?), expected one of tfrc, tcp"
        );
    }
}
