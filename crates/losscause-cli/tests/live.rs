//! `losscause reproduce live` and the other experiments: what is refused, and that nothing is left
//! behind.
#![allow(clippy::unwrap_used)]

#[cfg(all(feature = "linux", target_os = "linux"))]
#[path = "common/hang.rs"]
mod hang;

#[path = "common/refuses.rs"]
mod refuses;

use std::process::{Command, Output};

use refuses::refuses;

fn losscause(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_losscause")).arg("reproduce").args(arguments).output().unwrap()
}

#[test]
fn what_cannot_be_chosen_is_refused_in_one_sentence() {
    for (arguments, sentence) in [
        (&["live/shoring"][..], "live/shoring: is no item (did you mean \"sharing\"?)"),
        (&["live", "cen2003"], "cen2003: the experiment \"cen2003\" is unknown"),
        (
            &["live", "--only", "system=lc_reno"],
            "--only system=lc_reno: the system \"lc_reno\" is unknown",
        ),
        (
            &["live", "--only", "loss=0.5"],
            "--only loss=0.5: leaves nothing to measure, expected values of 0, 0.01, 0.02",
        ),
        (&["live", "--only", "loss"], "--only loss: expected KEY=VALUE"),
        (&["live", "--runs", "0"], "--runs 0: expected a whole number from 1 to 10000"),
        (&["media/wlj"], "media/wlj: is no item (did you mean \"wlh\"?)"),
        (&["quic", "media"], "media: is of another experiment than quic"),
        (&["live", "--check", "old.json"], "--check old.json: only valid with papers"),
        (
            &["cen2003/table2", "--only", "system=TCP"],
            "--only system=TCP: only valid with an experiment on real stacks",
        ),
    ] {
        refuses(&losscause(arguments), sentence);
    }
}

#[cfg(feature = "media")]
#[test]
fn a_part_of_media_has_its_own_headline_and_is_a_preview() {
    let text = |arguments: &[&str]| {
        let output = losscause(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let high =
        text(&["media", "--runs", "2", "--only", "loss=high", "--only", "system=none,oracle,ZBS"]);
    assert!(
        high.starts_with(
            "On Cen's wireless last hop with one flow and high loss, a stream with ZBS uses "
        ),
        "{high}"
    );
    assert!(
        high.contains("Preview after 2 of 30 runs: no intervals, for which six runs are needed."),
        "{high}"
    );
    assert!(high.contains("media/wlh") && high.contains("media/wb"), "{high}");
    let backbone =
        text(&["media/wb", "--runs", "6", "--only", "loss=low", "--only", "system=none"]);
    assert!(backbone.starts_with("Preview after 6 of 30 runs: wider intervals."), "{backbone}");
    assert!(!backbone.contains("wireless last hop") && !backbone.contains('✓'), "{backbone}");
    assert!(
        backbone.contains("Medians over the runs, with their 95 % intervals below; in parentheses"),
        "{backbone}"
    );
}

#[cfg(feature = "quic")]
#[test]
fn a_part_of_quic_does_not_show_the_table_that_it_leaves_out() {
    let arguments =
        ["quic", "--runs", "1", "--only", "loss=0.02", "--only", "system=quinn-newreno"];
    let output = losscause(&arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && text.starts_with("Preview after 1 of 30 runs: no intervals"),
        "{text}"
    );
    assert!(text.contains("quic/loss") && !text.contains("quic/sharing"), "{text}");
}

#[cfg(all(feature = "media", feature = "quic"))]
#[test]
fn an_experiment_replaces_no_results_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let runs = ["--runs", "1", "--out", out];
    let media = ["media/wb", "--only", "loss=low", "--only", "system=none"];
    assert!(losscause(&[&media[..], &runs].concat()).status.success());
    let quic = ["quic/loss", "--only", "loss=0.02", "--only", "system=quinn-newreno"];
    refuses(
        &losscause(&[&quic[..], &runs].concat()),
        "has the result.json of losscause reproduce media",
    );
}

#[cfg(all(feature = "linux", target_os = "linux"))]
mod linux {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Stdio;

    use super::*;

    /// A user without rights.
    const NOBODY: u32 = 65_534;

    fn is_root() -> bool {
        fs::metadata("/proc/self").unwrap().uid() == 0
    }

    #[test]
    fn a_user_without_rights_is_told_that_it_takes_root() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("losscause");
        fs::copy(env!("CARGO_BIN_EXE_losscause"), &binary).unwrap();
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let mut command = Command::new(&binary);
        command.args(["reproduce", "live"]);
        // Only root can become another user; without root, this user has no rights either.
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        refuses(&command.output().unwrap(), "expected root");
    }

    fn is_loaded() -> bool {
        let available =
            fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
        available.split_whitespace().any(|name| name == "lc_veno")
    }

    #[test]
    fn an_interrupted_experiment_unloads_and_ends_by_the_signal() {
        if !is_root() || is_loaded() {
            assert!(
                std::env::var_os("CI").is_none(),
                "skipped, which CI forbids: root is missing, or lc_veno is loaded"
            );
            println!("skipped: root is missing, or lc_veno is loaded");
            return;
        }
        // By itself it would end in hours.
        let running = Command::new(env!("CARGO_BIN_EXE_losscause"))
            .args(["reproduce", "live", "--runs", "1000", "--jobs", "1", "--verbose"])
            .args(["--only", "system=lc_veno", "--only", "loss=0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        hang::wait_until("a run is under way", is_used);
        let id = running.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let output = hang::output("the experiment", running);
        assert_eq!(output.status.signal(), Some(2), "{output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            !told.contains("goodput"),
            "the run that was under way has gone on to its end: {told}"
        );
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "nothing was measured");
        assert!(!is_loaded());
    }

    /// Whether a connection has lc_veno.
    fn is_used() -> bool {
        let status = ["kernel", "status", "lc_veno", "--format", "json"];
        let output = Command::new(env!("CARGO_BIN_EXE_losscause")).args(status).output().unwrap();
        // It fails as long as lc_veno is not loaded.
        let status: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
        status.is_some_and(|status| status["algorithms"][0]["connections"].get(0).is_some())
    }
}
