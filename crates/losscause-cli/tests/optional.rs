//! Parts that the program was built without: each is shown as missing, and says in one sentence how
//! to get it.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::process::{Command, Output};

/// A verb or an experiment of a part, the part's feature, and whether this program has it.
type Case = (&'static str, &'static str, bool);

const LINUX: bool = cfg!(all(feature = "linux", target_os = "linux"));
const MEDIA: bool = cfg!(feature = "media");
const VERBS: &[Case] = &[
    ("emulate", "linux", LINUX),
    ("kernel", "linux", LINUX),
    ("watch", "linux", LINUX),
    ("stream", "media", MEDIA),
];
const EXPERIMENTS: &[Case] = &[
    ("live", "linux", LINUX),
    ("media", "media", MEDIA),
    ("quic", "quic", cfg!(feature = "quic")),
    (
        "sockets",
        if cfg!(feature = "quic") { "linux" } else { "quic" },
        LINUX && cfg!(feature = "quic"),
    ),
];

fn losscause(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_losscause")).args(arguments).output().unwrap()
}

/// What the program prints; it must succeed.
fn printed(arguments: &[&str]) -> String {
    let output = losscause(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn missing(cases: &[Case]) -> impl Iterator<Item = (&'static str, &'static str)> {
    cases.iter().filter(|(.., is_built)| !is_built).map(|&(name, feature, _)| (name, feature))
}

/// How to get `feature`, as a sentence about `what`.
fn sentence(what: &str, feature: &str) -> String {
    if feature == "linux" && !cfg!(target_os = "linux") {
        return format!("{what}: needs Linux");
    }
    let needs =
        if feature == "linux" { " that has what `losscause docs kernel` lists" } else { "" };
    format!(
        "{what}: this program was built without `{feature}`; in a checkout{needs}: cargo install --path \
         crates/losscause-cli --features {feature}"
    )
}

/// Exit status 2, nothing on standard output, the sentence alone on standard error.
fn refuses(arguments: &[&str], sentence: &str) {
    let output = losscause(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), &*error),
        (Some(2), &*format!("losscause: {sentence}\n")),
        "{arguments:?}"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn a_missing_verb_says_how_to_get_it_whatever_its_arguments_are() {
    for (verb, feature) in missing(VERBS) {
        for arguments in [
            &[][..],
            &["--help"],
            &["--version"],
            &["load", "lc_veno"],
            &["link.toml", "--pcap", "out", "--", "iperf3", "-c", "x"],
            &["--", "ls"],
            &["-q"],
        ] {
            refuses(&[&[verb], arguments].concat(), &sentence(verb, feature));
        }
        refuses(&["--quiet", verb, "--seed=3"], &sentence(verb, feature));
    }
}

#[test]
fn a_missing_experiment_says_how_to_get_it() {
    for (name, feature) in missing(EXPERIMENTS) {
        refuses(&["reproduce", name], &sentence(&format!("reproduce {name}"), feature));
    }
}

#[test]
fn help_has_every_verb_and_marks_those_that_are_missing() {
    let help = printed(&["--help"]);
    for (verb, ..) in VERBS {
        assert!(help.lines().any(|line| line.starts_with(&format!("  {verb} "))), "{verb}: {help}");
    }
    let words: Vec<&str> = help.split_whitespace().collect();
    assert_eq!(words.join(" ").matches("[not built in]").count(), missing(VERBS).count(), "{help}");
    for (verb, feature) in missing(VERBS) {
        // Help is as wide as the terminal.
        let help = printed(&["help", verb]);
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(&sentence(verb, feature)), "{help}");
    }
}

#[test]
fn manual_pages_and_completions_know_every_verb() {
    for (verb, ..) in VERBS {
        assert!(printed(&["man", verb]).contains(&format!("losscause\\-{verb}")), "{verb}");
        for shell in ["bash", "zsh", "fish"] {
            assert!(printed(&["completions", shell]).contains(verb), "{shell}: {verb}");
        }
    }
}
