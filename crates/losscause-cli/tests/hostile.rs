//! Inputs and machines that mean no good: the command ends with one sentence, acts on no terminal,
//! and leaves nothing behind.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use losscause_study::tools::plain::is_hidden;

#[path = "common/hang.rs"]
mod hang;

const SCENARIO: &str = include_str!("common/scenario.toml");

/// A terminal's command, and text from right to left.
const NAME: &str = "\u{1b}[2J\u{202e}x";

fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("s.toml"), SCENARIO).unwrap();
    place
}

fn losscause(arguments: &[&str], directory: &Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_losscause"));
    program.args(arguments).current_dir(directory);
    program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

/// What the command did; it must end.
fn output(arguments: &[&str], directory: &Path) -> Output {
    ended(&mut losscause(arguments, directory))
}

fn ended(program: &mut Command) -> Output {
    let child = program.spawn().unwrap();
    hang::within("the command ends", move || child.wait_with_output().unwrap())
}

/// A command of the shell, in which `$0` is the program.
fn shell(command: &str, directory: &Path) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", command, env!("CARGO_BIN_EXE_losscause")]).current_dir(directory);
    ended(shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn entries(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The one sentence of a command that ended with `status`.
fn sentence(output: &Output, status: i32) -> String {
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{error}");
    let sentence = error.strip_suffix('\n').unwrap().to_owned();
    assert!(sentence.starts_with("losscause: ") && !sentence.contains('\n'), "{error}");
    sentence
}

fn assert_shown(what: &str, text: &str) {
    let hidden = text.chars().find(|c| is_hidden(*c) && !"\n\t".contains(*c));
    assert_eq!(hidden, None, "{what}: {text:?}");
}

#[test]
fn no_name_acts_on_a_terminal_or_a_page() {
    let place = place();
    let at = |ending: &str| format!("{NAME}{ending}");
    std::fs::write(place.path().join(at(".toml")), SCENARIO).unwrap();
    let small = unpacked(include_bytes!("captures/sender.pcap.gz"));
    std::fs::write(place.path().join(at(".pcap")), small).unwrap();
    let link = format!("link.radio.name={NAME}");
    let [scenario, capture, page, out] = [".toml", ".pcap", ".html", ".d"].map(at);
    let commands: [&[&str]; 12] = [
        &[NAME],
        &["list", NAME],
        &["docs", NAME],
        &["simulate", NAME],
        &["simulate", "s.toml", "--sed", NAME],
        &["simulate", "s.toml", "--set", &link],
        &["simulate", &scenario, "-v", "--out", &out],
        &["simulate", &scenario, "--format", "json"],
        &["compare", &scenario, "--lda", "none,ZBS", "--runs", "1", "--out", "compared"],
        &["analyze", &capture, "-v", "--report", &page],
        &["analyze", &capture, "--format", "json"],
        &["init", "wifi", "-o", &at(".init")],
    ];
    for arguments in commands {
        let output = output(arguments, place.path());
        assert_shown(&format!("{arguments:?}"), &text(&output.stderr));
        assert_shown(&format!("{arguments:?}"), &text(&output.stdout));
    }
    for page in [page, format!("{out}/report.html"), "compared/report.html".to_owned()] {
        let html = std::fs::read_to_string(place.path().join(&page)).unwrap();
        assert_shown(&page, &html);
    }
}

/// A capture that was compressed with gzip.
fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut plain).unwrap();
    plain
}

#[test]
fn a_value_of_any_length_is_told_in_a_sentence_of_readable_length() {
    let place = place();
    let long = "x".repeat(100_000);
    let said = sentence(&output(&["simulate", "s.toml", "--runs", &long], place.path()), 2);
    assert!(said.chars().count() < 2_100, "{}", said.chars().count());
    assert!(said.ends_with("expected a whole number from 1 to 10000"), "{said}");
}

#[test]
fn an_empty_value_is_told_with_what_shows_a_right_one() {
    let place = place();
    let said = sentence(&output(&["simulate", "s.toml", "--out", ""], place.path()), 2);
    let expected = "expected one as in `losscause simulate --help`";
    assert_eq!(said, format!("losscause: --out: has no value, {expected}"));
}

#[test]
fn a_refused_command_leaves_no_new_folder() {
    let place = place();
    let refused: [&[&str]; 3] = [
        &["reproduce", "--also", "x", "--out", "new/below"],
        &["simulate", "s.toml", "--out", "new/below", "--trace", "no/such/t.csv"],
        &["compare", "s.toml", "--lda", "none,ZBS", "--out", "s.toml/x"],
    ];
    for arguments in refused {
        sentence(&output(arguments, place.path()), 2);
        assert_eq!(entries(place.path()), ["s.toml"], "{arguments:?}");
    }
}

/// Whether what this process starts ignores SIGHUP, as below `nohup`.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}

#[test]
fn an_interrupted_command_leaves_no_empty_folder() {
    let place = place();
    // It would take hours.
    let runs = ["--runs", "10000", "--set", "duration_s=100000"];
    let commands: [&[&str]; 3] = [
        &["compare", "s.toml", "--lda", "none,ZBS", "--out", "new/below"],
        &["simulate", "s.toml", "--out", "new/below"],
        &["sweep", "sweep.toml", "--out", "new/below"],
    ];
    let sweep = "title = \"t\"\nscenario = \"s.toml\"\nmetrics = [\"goodput\"]\n\
                 [[axis]]\nkey = \"link.radio.delay_ms\"\nvalues = [1]\n";
    std::fs::write(place.path().join("sweep.toml"), sweep).unwrap();
    let hangup = if ignores_hangups() { "-TERM" } else { "-HUP" };
    for (arguments, signal) in commands.into_iter().zip(["-INT", "-TERM", hangup]) {
        let arguments = [arguments, &runs[..]].concat();
        let child = losscause(&arguments, place.path()).spawn().unwrap();
        let new = place.path().join("new/below");
        hang::wait_until("it has begun", || new.exists());
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let ended = hang::output("the command", child);
        assert!(ended.status.signal().is_some(), "{}", text(&ended.stderr));
        // A sweep that has begun keeps the place of its cells.
        if arguments[0] != "sweep" {
            assert!(!place.path().join("new").exists(), "{arguments:?}");
        }
    }
}

#[test]
fn a_file_without_an_end_is_refused() {
    let place = place();
    let refused: [&[&str]; 2] =
        [&["reproduce", "cen2003/table2", "--check", "/dev/zero"], &["simulate", "/dev/zero"]];
    for arguments in refused {
        let said = sentence(&output(arguments, place.path()), 2);
        assert!(said.contains("is larger than"), "{said}");
    }
}

#[test]
fn a_pipe_that_holds_no_capture_is_not_waited_for_again() {
    let place = place();
    let write = "mkfifo pipe && { printf 'no capture' > pipe & } && exec \"$0\" analyze pipe";
    let said = sentence(&shell(write, place.path()), 2);
    assert!(said.contains("pipe: is no capture"), "{said}");
    for option in [["--annotate", "a.pcapng"], ["--as-one", "pipe"]] {
        let arguments = [["analyze", "pipe"], option].concat();
        let said = sentence(&output(&arguments, place.path()), 2);
        assert!(said.contains("a pipe or a device cannot be"), "{said}");
    }
}

#[test]
fn a_capture_that_cannot_be_used_leaves_no_file() {
    let place = place();
    let options = ["--observations", "o.csv", "--losses", "l.csv", "--report", "r.html"];
    sentence(&output(&[&["analyze", "s.toml"], &options[..]].concat(), place.path()), 2);
    assert_eq!(entries(place.path()), ["s.toml"]);
}

#[test]
fn a_limit_on_the_size_of_files_is_a_failed_write() {
    let place = place();
    for command in [
        "simulate s.toml --out o",
        "compare s.toml --lda none,ZBS --runs 1 --out o",
        "simulate s.toml --pcap o",
    ] {
        let output = shell(&format!("ulimit -f 1; exec \"$0\" {command}"), place.path());
        let said = sentence(&output, 1);
        assert!(said.contains("cannot be written (File too large"), "{said}");
        assert_eq!(entries(place.path()), ["s.toml"], "{command}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_lab_serves_with_few_file_descriptors() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("index.html"), "front").unwrap();
    let mut shell = Command::new("sh");
    let lab = "ulimit -n 24; exec \"$0\" lab --site . --port 0";
    shell.args(["-c", lab, env!("CARGO_BIN_EXE_losscause")]).current_dir(place.path());
    let mut child = shell.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let host = line.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let answers = (0..20).map(|_| {
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    let wrong: Vec<String> =
        answers.filter(|answer| !answer.starts_with("HTTP/1.1 200 OK")).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn where_no_thread_can_be_made_the_first_does_the_work() {
    let place = place();
    let arguments = ["simulate", "s.toml", "--runs", "3", "--jobs", "2", "--format", "json"];
    let mut program = losscause(&arguments, place.path());
    // A stack that no address space has room for.
    let without = ended(program.env("RUST_MIN_STACK", (1_u64 << 47).to_string()));
    assert!(without.status.success(), "{}", text(&without.stderr));
    assert_eq!(text(&without.stdout), text(&output(&arguments, place.path()).stdout));
}
