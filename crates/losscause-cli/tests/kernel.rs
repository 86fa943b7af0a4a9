//! `losscause kernel`: what is refused, and what is printed without root.
#![cfg(all(feature = "linux", target_os = "linux"))]
#![allow(clippy::unwrap_used)]

#[path = "common/hang.rs"]
mod hang;
#[path = "common/refuses.rs"]
mod refuses;

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use refuses::refuses;

/// A user without rights.
const NOBODY: u32 = 65_534;

fn losscause(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_losscause")).arg("kernel").args(arguments).output().unwrap()
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let known = "there is no algorithm \"lc_reno\", expected one of lc_spike, lc_newreno_ff, lc_westwood_vt, lc_zigzag, \
                 lc_zbs, lc_veno, lc_cubic_spike, lc_cubic_zbs, lc_sift, lc_cubic_sift";
    for verb in ["load", "unload", "status", "trace", "install"] {
        refuses(&losscause(&[verb, "lc_reno"]), known);
    }
    for (setting, sentence) in [
        ("alpha=7", "lc_spike: alpha is 7 but must be a number from 0 to 2"),
        ("max_share=1.5", "lc_spike: max_share is 1.5 but must be a number from 0 to 1"),
        ("guard=1", "lc_spike: guard must be true or false"),
        ("beta", "--set beta: expected KEY=VALUE"),
        (
            "gain=1",
            "lc_spike has no setting gain, expected one of alpha, beta, window_ms, max_run, max_share, guard, brake",
        ),
    ] {
        refuses(&losscause(&["load", "lc_spike", "--set", setting]), sentence);
        refuses(&losscause(&["install", "lc_spike", "--dry-run", "--set", setting]), sentence);
    }
    for (option, value, sentence) in [
        ("--share", "0%", "expected a share such as 1%"),
        ("--share", "0.01", "expected a share such as 1%"),
        ("--only", "prot=443", "the filter \"prot=443\" is unknown, expected port=N"),
        ("--only", "process=nginx", "--only process=…: a connection is chosen before its process"),
    ] {
        for verb in ["load", "install"] {
            refuses(&losscause(&[verb, "lc_spike", option, value]), sentence);
        }
    }
}

#[test]
fn a_user_without_rights_is_told_that_it_takes_root() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("losscause");
    // Another process copies it: while this one has a file open to write, a command that another
    // test starts has it too, and nobody can run it.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_losscause")).arg(&binary).status();
    assert!(copied.unwrap().success());
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    for arguments in
        [&["load", "lc_zigzag"][..], &["unload", "lc_zigzag"], &["status"], &["trace", "lc_zigzag"]]
    {
        let mut command = Command::new(&binary);
        command.arg("kernel").args(arguments);
        // Only root can become another user; without root, this user has no rights either.
        if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        refuses(&command.output().unwrap(), "by root only");
    }
}

#[test]
fn a_load_that_is_interrupted_is_whole() {
    let pins = Path::new("/sys/fs/bpf/losscause/lc_newreno_ff");
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 || pins.exists() {
        assert!(std::env::var_os("CI").is_none(), "root is missing, or it is loaded");
        println!("skipped: root is missing, or lc_newreno_ff is loaded");
        return;
    }
    let mut load = Command::new(env!("CARGO_BIN_EXE_losscause"));
    load.args(["kernel", "load", "lc_newreno_ff"]).stdout(Stdio::null());
    let mut load = load.spawn().unwrap();
    // The kernel checks the programs between the folder and the files in it.
    hang::wait_until("it has begun", || pins.exists() || load.try_wait().unwrap().is_some());
    let id = load.id().to_string();
    let _ = Command::new("kill").args(["-TERM", &id]).status().unwrap();
    let status = hang::status("the load", &mut load);
    assert!(pins.join("link").exists(), "{status}");
    // It may have been faster than the signal.
    assert!(status.success() || status.signal() == Some(15), "{status}");
    assert!(losscause(&["unload", "lc_newreno_ff"]).status.success());
    // What a killed one leaves is removed.
    std::fs::create_dir(pins).unwrap();
    refuses(&losscause(&["unload", "lc_newreno_ff"]), "lc_newreno_ff is not loaded");
    assert!(!pins.exists());
}

#[test]
fn a_unit_is_shown_before_it_is_written() {
    let output = losscause(&["install", "lc_zbs", "--set", "lock_pkts=20", "--dry-run"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("# /etc/systemd/system/losscause-lc-zbs.service\n[Unit]\n"), "{text}");
    assert!(text.contains(" kernel load lc_zbs --set lock_pkts=20\n"), "{text}");
    assert!(!std::path::Path::new("/etc/systemd/system/losscause-lc-zbs.service").exists());
}

#[test]
fn systemd_takes_the_unit_into_a_boot() {
    let printed = |trial: &[&str]| {
        let output = losscause(&[&["install", "lc_zbs", "--dry-run"], trial].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let verify = |unit: &str| {
        let units = tempfile::tempdir().unwrap();
        let wanted = units.path().join("multi-user.target.wants");
        std::fs::create_dir(&wanted).unwrap();
        let name = "losscause-lc-zbs.service";
        std::fs::write(units.path().join(name), unit).unwrap();
        std::os::unix::fs::symlink(format!("../{name}"), wanted.join(name)).unwrap();
        let mut command = Command::new("systemd-analyze");
        // The colon: and the folders of this machine.
        command.env("SYSTEMD_UNIT_PATH", format!("{}:", units.path().display()));
        command.args(["verify", "multi-user.target"]).output().ok()
    };
    let on_trial = printed(&["--only", "port=443", "--share", "1%"]);
    assert!(on_trial.contains(" lc_zbs --only port=443 --share 1%%\n"), "{on_trial}");
    for unit in [&printed(&[]), &on_trial] {
        let Some(output) = verify(unit) else {
            println!("skipped: there is no systemd-analyze");
            return;
        };
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && !said.contains("losscause"), "{said}");
    }
    // What comes after the system's initialisation cannot come before the sysctls.
    let late = printed(&[]).replace("After=local-fs.target", "After=sysinit.target");
    let said = String::from_utf8(verify(&late).unwrap().stderr).unwrap();
    assert!(said.contains("cycle"), "{said}");
}

#[test]
fn check_names_every_need_and_ends_with_what_is_lacking() {
    let output = losscause(&["check"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let needs: Vec<(&str, &str)> = printed
        .lines()
        .map(|line| line.split_at(42))
        .map(|(what, found)| (what.trim(), found))
        .collect();
    assert_eq!(needs.len(), 7, "{printed}");
    let lacking: Vec<&str> = needs
        .iter()
        .filter(|(_, found)| found.starts_with("no: "))
        .map(|(what, _)| *what)
        .collect();
    assert!(
        needs.iter().all(|(_, found)| *found == "yes" || found.starts_with("no: ")),
        "{printed}"
    );
    let error = String::from_utf8(output.stderr).unwrap();
    if lacking.is_empty() {
        assert!(output.status.success() && error.is_empty(), "{error}");
    } else {
        assert_eq!(output.status.code(), Some(2));
        assert!(
            error.trim_end().ends_with(&format!("this machine lacks {}", lacking.join(", "))),
            "{error}"
        );
    }
}
