//! `losscause analyze --scenario`: the link of a capture, as a scenario.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

#[path = "common/command.rs"]
mod command;

use std::process::Command;

use command::{captures, losscause, text};

#[test]
fn the_commands_in_a_fitted_scenario_run() {
    let place = captures();
    let output = losscause(&["analyze", "sender.pcap.gz", "--scenario", "link.toml"], place.path());
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        printed.contains("\nlink.toml: ")
            && printed.contains(": the link that 10.77.0.1:")
            && printed.contains("\nNot seen: "),
        "{printed}"
    );
    let scenario = std::fs::read_to_string(place.path().join("link.toml")).unwrap();
    let commands: Vec<&str> =
        scenario.lines().filter_map(|line| line.strip_prefix("#   losscause ")).collect();
    assert_eq!(commands.len(), 3, "{scenario}");
    for command in commands {
        let line = format!("{} {command}", env!("CARGO_BIN_EXE_losscause"));
        let ran =
            Command::new("sh").args(["-c", &line]).current_dir(place.path()).output().unwrap();
        assert!(ran.status.success(), "{command}: {}", text(&ran.stderr));
    }
}

/// A transfer over a link of 10 Mb/s and 40 ms, with these settings of the link.
fn transfer(link: &str) -> String {
    format!(
        "title = \"a transfer\"\nduration_s = 40\npacket_bytes = 1500\nheader_bytes = 52\n[measure]\nbottleneck = \"link\"\n\
         [[link]]\nname = \"link\"\ndelay_ms = 20\n{link}\n[[flow]]\nname = \"transfer\"\nprotocol = \"tcp\"\n\
         path = [\"link\"]\n[tcp]\nmode = \"linux\"\nvariant = \"reno\"\n"
    )
}

#[test]
fn the_commands_that_follow_from_a_cause_run() {
    let policer = "rate_bps = 100e6\nqueue_packets = 100\nqueue = { kind = \"policer\", rate_bps = 3e6, burst_bytes = 50000 }";
    let queue = "rate_bps = 10e6\nqueue_packets = 50";
    let air =
        "rate_bps = 10e6\nqueue_packets = 300\nchannel = { kind = \"bernoulli\", loss = 0.02 }";
    for (link, cause, shaped) in
        [(policer, "policer", true), (queue, "full-queue", true), (air, "air", false)]
    {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("own.toml"), transfer(link)).unwrap();
        assert!(losscause(&["simulate", "own.toml", "--pcap", "c"], place.path()).status.success());
        let output = losscause(&["analyze", "c/sender.pcap", "--format", "json"], place.path());
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let told = &json["captures"][0]["flows"][0]["diagnosis"];
        assert_eq!(told["cause"], cause, "{told}");
        let next: Vec<&str> =
            told["next"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        // What changes the machine is the last, with what undoes it.
        let changes = next.last().unwrap();
        assert_eq!(changes.starts_with("tc qdisc replace "), shaped, "{next:?}");
        assert_eq!(
            changes.ends_with("; undo: tc qdisc del dev <interface> root"),
            shaped,
            "{next:?}"
        );
        let own: Vec<&str> =
            next.iter().filter_map(|command| command.strip_prefix("losscause ")).collect();
        assert!(own.len() == 2 && own[1].starts_with("compare sender.toml "), "{next:?}");
        let printed =
            text(&losscause(&["analyze", "c/sender.pcap", "--verbose"], place.path()).stdout);
        assert!(
            printed.contains(&format!("\nnext: {}\n", next[0].replace("FILE", "c/sender.pcap")))
                && printed.contains("\ngoodput: "),
            "{printed}"
        );
        for command in own {
            let line = format!(
                "{} {}",
                env!("CARGO_BIN_EXE_losscause"),
                command.replace("FILE", "c/sender.pcap")
            );
            let ran =
                Command::new("sh").args(["-c", &line]).current_dir(place.path()).output().unwrap();
            assert!(ran.status.success(), "{command}: {}", text(&ran.stderr));
        }
    }
}

#[test]
fn the_files_of_commands_are_named_after_their_captures() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let queue = "rate_bps = 10e6\nqueue_packets = 50";
    std::fs::write(at("own.toml"), transfer(queue)).unwrap();
    assert!(losscause(&["simulate", "own.toml", "--pcap", "c"], place.path()).status.success());
    std::fs::create_dir(at("d")).unwrap();
    std::fs::copy(at("c/sender.pcap"), at("d/sender.pcap")).unwrap();
    std::fs::copy(at("c/receiver.pcap"), at("re ceiver.pcap")).unwrap();
    let captures = ["c/sender.pcap", "d/sender.pcap", "re ceiver.pcap"];
    let commands = || {
        let printed =
            text(&losscause(&[&["analyze"], &captures[..]].concat(), place.path()).stdout);
        let lines = printed.lines().map(|line| line.trim_start_matches("next:").trim().to_owned());
        lines.filter(|line| line.starts_with("losscause ")).collect::<Vec<String>>()
    };
    let marks = "losscause analyze 're ceiver.pcap' --annotate 're ceiver-marked.pcapng'";
    let compare = "--variant 'fq_codel: link.link.queue={ kind = \"fq-codel\" }'";
    let expected = |[first, second]: [&str; 2]| {
        [
            format!("losscause analyze c/sender.pcap --scenario {first}"),
            format!("losscause compare {first} {compare}"),
            format!("losscause analyze d/sender.pcap --scenario {second}"),
            format!("losscause compare {second} {compare}"),
            marks.to_owned(),
        ]
    };
    assert_eq!(commands(), expected(["sender.toml", "sender-2.toml"]));
    std::fs::write(at("sender.toml"), "another's").unwrap();
    assert_eq!(commands(), expected(["sender-2.toml", "sender-3.toml"]));
}

#[test]
fn json_has_the_fit_and_nothing_else_on_standard_output() {
    let place = captures();
    let arguments = ["analyze", "sender.pcap.gz", "--format", "json", "--scenario", "link.toml"];
    let json: serde_json::Value =
        serde_json::from_slice(&losscause(&arguments, place.path()).stdout).unwrap();
    let fit = &json["captures"][0]["flows"][0]["fit"];
    assert!(
        fit["rate_bps"].as_f64().unwrap() > 0.0 && fit["rtt_ms"].as_f64().unwrap() > 0.0,
        "{fit}"
    );
    assert!(place.path().join("link.toml").exists());
}

#[test]
fn what_no_scenario_can_be_made_of_is_refused_in_one_sentence() {
    let place = captures();
    std::fs::write(place.path().join("mine.toml"), "changed").unwrap();
    let refused = |arguments: &[&str]| {
        let output = losscause(&[&["analyze"], arguments].concat(), place.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
        text(&output.stderr)
    };
    let at_receiver = refused(&["receiver.pcap.gz", "--scenario", "link.toml"]);
    assert!(
        at_receiver.starts_with("losscause: receiver.pcap.gz: no scenario, 10.77.0.1:"),
        "{at_receiver}"
    );
    assert!(
        at_receiver.contains(" was captured at its receiver, expected a capture at 10.77.0.1:"),
        "{at_receiver}"
    );
    assert_eq!(at_receiver.lines().count(), 1, "{at_receiver}");
    assert_eq!(
        refused(&["sender.pcap.gz", "--scenario", "mine.toml"]),
        "losscause: --scenario mine.toml: the file exists, expected a new one\n"
    );
    assert_eq!(
        refused(&["sender.pcap.gz", "receiver.pcap.gz", "--scenario", "link.toml"]),
        "losscause: --scenario link.toml: a scenario is of one link, expected one capture\n"
    );
    let both =
        ["--sender", "sender.pcap.gz", "--receiver", "receiver.pcap.gz", "--scenario", "link.toml"];
    assert!(refused(&both).contains("cannot be used with"));
    assert!(!place.path().join("link.toml").exists());
    assert_eq!(std::fs::read_to_string(place.path().join("mine.toml")).unwrap(), "changed");
}
