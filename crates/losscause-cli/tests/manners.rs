//! Manners: no input is overwritten, documentation is part of the program, pipes work.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/command.rs"]
mod command;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use command::{losscause, printed, text};

/// Runs the program with `input` on standard input.
fn piped(arguments: &[&str], input: &str, directory: &Path) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_losscause"));
    program.args(arguments).current_dir(directory);
    let mut program = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    program.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    program.wait_with_output().unwrap()
}

const VERBS: [&str; 12] = [
    "reproduce",
    "init",
    "simulate",
    "compare",
    "sweep",
    "analyze",
    "fade",
    "lab",
    "list",
    "docs",
    "completions",
    "man",
];

const SCENARIO: &str = r#"
title = "t"
duration_s = 1
[[link]]
name = "radio"
rate_bps = 1e6
delay_ms = 10
queue_packets = 3
channel = { kind = "trace", file = "runs.csv" }
[[flow]]
name = "video"
protocol = "tfrc"
path = ["radio"]
"#;

/// A directory with a scenario that reads an error trace, and a sweep of it.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    write("s.toml", SCENARIO);
    write("runs.csv", "0\n0\n1\n");
    let sweep = "title = \"t\"\nscenario = \"s.toml\"\nmetrics = [\"goodput\"]\n\
                 [[axis]]\nkey = \"link.radio.delay_ms\"\nvalues = [1, 2]\n";
    write("sweep.toml", sweep);
    write("sweep.json", sweep);
    place
}

#[test]
fn output_never_overwrites_an_input() {
    let place = place();
    std::fs::create_dir(place.path().join("sub")).unwrap();
    let refused: [(&[&str], &str); 6] = [
        (&["simulate", "s.toml", "--trace", "s.toml"], "s.toml"),
        (&["simulate", "s.toml", "--trace", "sub/../runs.csv"], "sub/../runs.csv"),
        (&["simulate", "s.toml", "--interval", "1", "--series", "./runs.csv"], "./runs.csv"),
        (&["compare", "s.toml", "--lda", "none,ZBS", "--out", "."], "./runs.csv"),
        (&["sweep", "sweep.toml", "--out", "."], "./runs.csv"),
        (&["sweep", "sweep.json", "--out", "."], "./runs.csv"),
    ];
    let content = || {
        ["s.toml", "runs.csv", "sweep.json"]
            .map(|name| std::fs::read(place.path().join(name)).unwrap())
    };
    let before = content();
    for (arguments, file) in refused {
        let output = losscause(arguments, place.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let problem =
            "is also an input and would be overwritten, expected another place for the output";
        assert_eq!(
            text(&output.stderr),
            format!("losscause: {file}: {problem}\n"),
            "{arguments:?}"
        );
        assert_eq!(text(&output.stdout), "");
    }
    assert_eq!(content(), before);
    let both = losscause(
        &["simulate", "s.toml", "--trace", "a.csv", "--interval", "1", "--series", "a.csv"],
        place.path(),
    );
    assert_eq!(both.status.code(), Some(2));
    assert_eq!(
        text(&both.stderr),
        "losscause: --series a.csv: is also the file of --trace, expected another\n"
    );
}

#[test]
fn an_output_beside_the_inputs_is_written() {
    let place = place();
    printed(&["simulate", "s.toml", "--trace", "trace.csv"], place.path());
    printed(&["sweep", "sweep.toml", "--out", "out"], place.path());
    assert!(place.path().join("trace.csv").exists() && place.path().join("out/runs.csv").exists());
}

#[test]
fn help_names_no_file_that_an_installed_program_lacks() {
    let place = tempfile::tempdir().unwrap();
    for verb in [""].into_iter().chain(VERBS) {
        let help = printed(
            &[verb, "--help"].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>(),
            place.path(),
        );
        for word in ["docs/", ".md", "papers/", "\u{1b}"] {
            assert!(!help.contains(word), "{verb}: {word}\n{help}");
        }
    }
}

#[test]
fn docs_lists_its_pages_and_prints_each() {
    let place = tempfile::tempdir().unwrap();
    let list = printed(&["docs"], place.path());
    let topics: Vec<(&str, &str)> = list
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .map(|line| line.split_once(' ').unwrap())
        .collect();
    assert!(topics.len() > 20, "{list}");
    for (topic, title) in topics {
        let page = printed(&["docs", topic], place.path());
        assert_eq!(page.lines().next().unwrap(), format!("# {}", title.trim()));
    }
    let output = losscause(&["docs", "quues"], place.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr)
            .starts_with("losscause: docs: \"quues\" is unknown (did you mean \"queues\"?)")
    );
}

#[test]
fn docs_are_searched_for_lines_that_have_all_words() {
    let place = tempfile::tempdir().unwrap();
    let found = printed(&["docs", "--search", "Codel TARGET"], place.path());
    assert!(found.lines().any(|line| line.starts_with("queues: ")), "{found}");
    for line in found.lines().filter(|line| line.starts_with("  ")) {
        let line = line.to_lowercase();
        assert!(line.contains("codel") && line.contains("target"), "{line}");
    }
    let output = losscause(&["docs", "--search", "codel xyzzy"], place.path());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr), "losscause: docs: no line has all of \"codel xyzzy\"\n");
}

#[test]
fn the_program_alone_lists_its_verbs() {
    let place = tempfile::tempdir().unwrap();
    let list = printed(&[], place.path());
    for verb in VERBS {
        assert!(list.contains(&format!("\n  {verb} ")), "{verb}: {list}");
    }
}

#[test]
fn every_command_has_a_manual_page_and_completions() {
    let place = tempfile::tempdir().unwrap();
    for verb in VERBS {
        let page = printed(&["man", verb], place.path());
        assert!(
            page.contains(".SH SYNOPSIS") && page.contains(&format!("losscause\\-{verb}")),
            "{verb}: {page}"
        );
    }
    assert!(printed(&["man"], place.path()).contains("losscause"));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell], place.path());
        VERBS.iter().for_each(|verb| assert!(script.contains(verb), "{shell}: {verb}"));
    }
}

#[test]
fn the_version_is_the_packages_with_features_and_any_commit() {
    let version = printed(&["--version"], Path::new("."));
    let rest = version
        .strip_prefix(concat!("losscause ", env!("CARGO_PKG_VERSION"), " ("))
        .unwrap()
        .trim_end();
    let (features, rest) = rest.split_once(')').unwrap();
    let built = [
        ("linux", cfg!(all(feature = "linux", target_os = "linux"))),
        ("media", cfg!(feature = "media")),
        ("parquet", cfg!(feature = "parquet")),
        ("quic", cfg!(feature = "quic")),
    ];
    let built: Vec<&str> =
        built.iter().filter(|(_, is_built)| *is_built).map(|(feature, _)| *feature).collect();
    assert_eq!(
        features,
        if built.is_empty() { "no optional features".to_owned() } else { built.join(", ") }
    );
    let commit = rest.strip_prefix(" (commit ").and_then(|rest| rest.strip_suffix(')'));
    let is_commit =
        |text: &str| text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(rest.is_empty() || commit.is_some_and(is_commit), "{version}");
    assert_eq!(
        printed(&["simulate", "--version"], Path::new(".")),
        version.replace("losscause ", "losscause-simulate ")
    );
}

#[test]
fn a_scenario_comes_from_standard_input() {
    let place = place();
    let json = |name: &str| {
        let output = piped(&["simulate", name, "--format", "json"], SCENARIO, place.path());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let named = json("s.toml")
        .replace("\"s.toml\"", "\"standard input\"")
        .replace("simulate s.toml", "simulate 'standard input'");
    assert_eq!(json("-"), named);
    let output =
        piped(&["compare", "-", "--lda", "none,ZBS", "--runs", "2"], SCENARIO, place.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let broken = piped(&["simulate", "-"], "title = 3\nduration_s = 1\n", place.path());
    assert_eq!(broken.status.code(), Some(2));
    let expected = "losscause: standard input: title: is integer 3, expected a word in quotes\n";
    assert_eq!(text(&broken.stderr), expected);
    let empty = piped(&["simulate", "-"], "", place.path());
    let expected = "losscause: standard input: is empty, expected a scenario file in TOML (losscause docs scenario)\n";
    assert_eq!(text(&empty.stderr), expected);
}

#[test]
fn quiet_leaves_nothing_on_standard_error() {
    let place = place();
    for before in [true, false] {
        let mut arguments = vec!["sweep", "sweep.toml", "--out", "out", "--restart"];
        arguments.insert(if before { 0 } else { 4 }, "--quiet");
        let quiet = losscause(&arguments, place.path());
        assert_eq!((quiet.status.code(), text(&quiet.stderr)), (Some(0), String::new()));
        let again = ["sweep", "sweep.toml", "--out", "out", "--restart"];
        let loud = losscause(&again, place.path());
        assert!(text(&loud.stderr).contains("2 cells"));
        assert_eq!(quiet.stdout, loud.stdout);
    }
    let failed = losscause(&["-q", "simulate", "none.toml"], place.path());
    assert!(text(&failed.stderr).contains("there is no such file"), "errors are still printed");
}

#[test]
fn a_verbose_comparison_has_every_metric() {
    let place = place();
    let rows = |option: &[&str]| {
        let arguments =
            [&["compare", "s.toml", "--lda", "none,ZBS", "--runs", "2"], option].concat();
        printed(&arguments, place.path()).lines().count()
    };
    assert!(rows(&["-v"]) > rows(&[]) + 4);
}

/// The lines of a trace with these arguments.
fn trace(arguments: &[&str], directory: &Path) -> Vec<String> {
    let all = [&["simulate", "s.toml", "--trace", "-"], arguments].concat();
    printed(&all, directory).lines().map(str::to_owned).collect()
}

#[test]
fn a_trace_on_standard_output_is_the_file_and_nothing_else() {
    let place = place();
    printed(&["simulate", "s.toml", "--trace", "trace.csv"], place.path());
    let file = std::fs::read_to_string(place.path().join("trace.csv")).unwrap();
    assert_eq!(trace(&[], place.path()), file.lines().collect::<Vec<_>>());
    let mixed =
        losscause(&["simulate", "s.toml", "--trace", "-", "--format", "json"], place.path());
    assert_eq!((mixed.status.code(), text(&mixed.stdout)), (Some(2), String::new()));
}

#[test]
fn a_reader_that_stops_early_ends_a_trace_without_an_error() {
    let place = place();
    let mut program = Command::new(env!("CARGO_BIN_EXE_losscause"));
    program.args(["simulate", "s.toml", "--trace", "-"]).current_dir(place.path());
    let mut program = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(program.stdout.take());
    let output = program.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn a_compressed_trace_holds_the_bytes_of_the_plain_one() {
    let place = place();
    for name in ["trace.csv", "trace.csv.gz", "again.csv.gz"] {
        let still = "send_jitter_us=0";
        printed(&["simulate", "s.toml", "--trace", name, "--set", still], place.path());
    }
    let bytes = |name: &str| std::fs::read(place.path().join(name)).unwrap();
    assert_eq!(bytes("trace.csv.gz"), bytes("again.csv.gz"));
    assert!(bytes("trace.csv.gz").len() < bytes("trace.csv").len() / 2);
    let mut plain = String::new();
    std::io::Read::read_to_string(
        &mut flate2::read::GzDecoder::new(&bytes("trace.csv.gz")[..]),
        &mut plain,
    )
    .unwrap();
    assert_eq!(plain.as_bytes(), bytes("trace.csv"));
    let other = losscause(&["simulate", "s.toml", "--trace", "trace.gz"], place.path());
    assert_eq!(other.status.code(), Some(2));
}

#[test]
fn a_filtered_trace_is_the_part_of_the_whole_that_was_asked_for() {
    let place = place();
    let second = "\n[[flow]]\nname = \"other\"\ncount = 2\nprotocol = \"cbr\"\nrate_bps = 1e5\npacket_bytes = 500\n\
                  path = [\"radio\"]\n";
    std::fs::write(place.path().join("s.toml"), format!("{SCENARIO}{second}")).unwrap();
    let whole = trace(&[], place.path());
    let part = |arguments: &[&str], keeps: &dyn Fn(f64, &str, &str) -> bool| {
        let expected: Vec<&String> = whole[..1]
            .iter()
            .chain(whole[1..].iter().filter(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                keeps(cells[0].parse::<f64>().unwrap() / 1e9, cells[1], cells[2])
            }))
            .collect();
        assert!((2..whole.len()).contains(&expected.len()), "{arguments:?}");
        assert_eq!(
            trace(arguments, place.path()).iter().collect::<Vec<_>>(),
            expected,
            "{arguments:?}"
        );
    };
    part(&["--trace-flow", "video"], &|_, _, flow| flow == "video");
    part(&["--trace-flow", "other"], &|_, _, flow| flow == "other.1" || flow == "other.2");
    part(&["--trace-flow", "other.2,video"], &|_, _, flow| flow != "other.1");
    part(&["--trace-kind", "drop,corrupt,verdict"], &|_, event, _| {
        ["queue-drop", "corrupted", "verdict"].contains(&event)
    });
    part(&["--trace-interval", "0.25..0.5"], &|time, _, _| (0.25..0.5).contains(&time));
    part(&["--trace-interval", "0.5..", "--trace-kind", "sent"], &|time, event, _| {
        time >= 0.5 && event == "sent"
    });
    for (arguments, sentence) in [
        (["--trace-flow", "vidoe"], "--trace-flow: \"vidoe\" is unknown (did you mean \"video\"?)"),
        (["--trace-kind", "drops"], "--trace-kind: \"drops\" is unknown"),
        (["--trace-interval", "2..1"], "--trace-interval 2..1: expected two seconds"),
    ] {
        let refused = losscause(
            &[&["simulate", "s.toml", "--trace", "-"], &arguments[..]].concat(),
            place.path(),
        );
        assert_eq!(refused.status.code(), Some(2));
        assert!(
            text(&refused.stderr).starts_with(&format!("losscause: {sentence}")),
            "{}",
            text(&refused.stderr)
        );
    }
}
