//! The page "Judge a link of your own in five minutes": its commands run, and print what it shows.
//! The templates' comments: their commands run.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;
use std::process::Command;

/// Runs a line of a shell in which `losscause` is the program under test.
fn shell(line: &str, directory: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_losscause")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", line])
        .env("PATH", path)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_page_shows_what_its_commands_print() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/own-link.md"))
            .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let blocks: Vec<&str> =
        page.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 6, "{} blocks", blocks.len());
    for block in blocks {
        let (command, shown) = block.strip_prefix("$ ").unwrap().split_once("\n\n").unwrap();
        let command = command.replace("\\\n", " ");
        let printed = shell(&command, directory.path());
        let mut lines = printed.lines().map(str::trim_end);
        for line in shown.lines().map(str::trim_end).filter(|line| *line != "…") {
            assert!(lines.any(|printed| printed == line), "{command}\nprints no {line}\n{printed}");
        }
    }
}

#[test]
fn the_commands_in_the_templates_comments_run() {
    let directory = tempfile::tempdir().unwrap();
    for kind in ["wifi", "lte", "leo", "geo", "dsl", "cable", "wired"] {
        shell(&format!("losscause init {kind}"), directory.path());
        let text = std::fs::read_to_string(directory.path().join(format!("{kind}.toml"))).unwrap();
        let commands: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("#   losscause ")).collect();
        assert!(commands.len() >= 3, "{kind}: {commands:?}");
        for command in commands {
            shell(&format!("losscause {command}"), directory.path());
        }
    }
}

#[test]
fn all_senders_are_compared_on_a_link_whose_tcp_linux_does_not_have() {
    let directory = tempfile::tempdir().unwrap();
    shell("losscause init wired", directory.path());
    let command = "losscause compare wired.toml --all --runs 1 --set duration_s=2 --set tcp.mode=rfc --set tcp.variant=sack";
    let printed = shell(command, directory.path());
    assert!(
        ["cubic", "bbr", "reno with Sift"].iter().all(|name| printed.contains(name)),
        "{printed}"
    );
    // So many have a row each, which a screen holds.
    assert!(printed.contains("goodput Mb/s   beside Mb/s   queueing_p95 ms"), "{printed}");
    assert!(!printed.contains("metrics marked *"), "none is shown: {printed}");
    assert!(printed.contains("--verbose shows every metric with its interval."), "{printed}");
    assert!(printed.lines().count() < 24, "{printed}");
    let every = shell(&format!("{command} --verbose"), directory.path());
    assert!(every.contains("rtt_p95 ms") && !every.contains("--verbose shows"), "{every}");
}
