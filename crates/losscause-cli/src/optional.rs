//! The optional parts of the program: what each adds, and which of them were built in.
//!
//! A verb of a missing part stays in the lists of verbs, with a mark; whatever its arguments are,
//! it says how to get it.

use std::ffi::OsString;
use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Command, value_parser};
use losscause_study::InputError;

/// What `emulate` does.
pub(crate) const EMULATE: &str =
    "Run a command over the link of a scenario, in real time. Needs root";
/// What `kernel` does.
pub(crate) const KERNEL: &str = "Put loss-differentiating TCP into the running kernel. Needs root";
/// What `watch` does.
pub(crate) const WATCH: &str = "Tell why this machine's TCP connections lose packets. Needs root";
/// What `stream` does.
pub(crate) const STREAM: &str =
    "Send or receive media over UDP at a rate that ignores losses of the air";

/// An optional part.
struct Part {
    /// The feature of this package.
    feature: &'static str,
    is_built: bool,
    /// The verbs that it adds, with what they do.
    verbs: &'static [(&'static str, &'static str)],
}

/// All parts, by name.
const PARTS: [Part; 4] = [
    Part {
        feature: "linux",
        is_built: cfg!(all(feature = "linux", target_os = "linux")),
        verbs: &[("emulate", EMULATE), ("kernel", KERNEL), ("watch", WATCH)],
    },
    Part { feature: "media", is_built: cfg!(feature = "media"), verbs: &[("stream", STREAM)] },
    Part { feature: "parquet", is_built: cfg!(feature = "parquet"), verbs: &[] },
    Part { feature: "quic", is_built: cfg!(feature = "quic"), verbs: &[] },
];

/// The commit that the program was built from; empty if it is not known.
pub(crate) const COMMIT: &str = env!("LOSSCAUSE_COMMIT");

/// What `--version` prints after the name. Scripts read the first word.
pub(crate) fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let built: Vec<&str> =
            PARTS.iter().filter(|part| part.is_built).map(|part| part.feature).collect();
        let features =
            if built.is_empty() { "no optional features".to_owned() } else { built.join(", ") };
        let commit = if COMMIT.is_empty() { String::new() } else { format!(" (commit {COMMIT})") };
        format!("{} ({features}){commit}", env!("CARGO_PKG_VERSION"))
    });
    &TEXT
}

/// `program` with the verbs that it lacks.
pub(crate) fn with_missing_verbs(program: Command) -> Command {
    program.subcommands(missing().map(|(verb, does, feature)| {
        let anything =
            Arg::new("anything").hide(true).num_args(0..).value_parser(value_parser!(OsString));
        Command::new(verb)
            .about(format!("{does} [not built in]"))
            .after_help(not_built(verb, feature).to_string())
            .help_template("{about-with-newline}\n{after-help}")
            .disable_help_flag(true)
            .disable_version_flag(true)
            .arg(anything.trailing_var_arg(true).allow_hyphen_values(true))
    }))
}

/// Refuses a verb that was not built in.
pub(crate) fn refuse_missing(matches: &ArgMatches) -> Result<(), InputError> {
    let is_chosen = |verb: &str| matches.subcommand_name() == Some(verb);
    missing()
        .find(|(verb, ..)| is_chosen(verb))
        .map_or(Ok(()), |(verb, _, feature)| Err(not_built(verb, feature)))
}

/// The verbs that were not built in: name, what it does, feature.
fn missing() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let parts = PARTS.iter().filter(|part| !part.is_built);
    parts.flat_map(|part| part.verbs.iter().map(|(verb, does)| (*verb, *does, part.feature)))
}

fn not_built(verb: &str, feature: &'static str) -> InputError {
    InputError::NotBuilt { what: verb.to_owned(), feature }
}
