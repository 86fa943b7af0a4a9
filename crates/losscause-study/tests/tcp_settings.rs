//! From `[tcp]` to the settings of a connection.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use losscause::{Safeguards, Span};
use losscause_sim::Traffic;
use losscause_study::{Context, InputError, Scenario};

mod common;
use losscause_transport::tcp::{
    Config, FastRetransmit, Halving, NewRenoRules, PartialAckTimer, Quirks, RecoveryScheme,
    ResponseScheme, Variant, VegasParameters, WestwoodVtParameters,
};

const SMALL: &str = r#"
title = "small"
duration_s = 10
[[link]]
name = "radio"
rate_bps = 1e6
delay_ms = 10
queue_packets = 5
[[flow]]
name = "download"
protocol = "tcp"
path = ["radio"]
# here
"#;

/// The settings of the flow, with these lines at the end of the file and these settings of the
/// command line.
fn config_with(lines: &str, settings: &[&str]) -> Result<Config, InputError> {
    let text = SMALL.replace("# here", lines);
    let experiment = common::build(&text, "small.toml", settings, &Context::default())?;
    match &experiment.network.flows[0].traffic {
        Traffic::Tcp { config, .. } => Ok(*config),
        other => panic!("{other:?}"),
    }
}

fn config(lines: &str) -> Config {
    config_with(lines, &[]).unwrap()
}

/// `problem` is what the error says after the file's name.
fn refused(lines: &str, problem: &str) {
    assert_eq!(config_with(lines, &[]).unwrap_err().to_string(), format!("small.toml: {problem}"));
}

/// 14,480 bytes in 10 packets over a round trip of 100 ms.
fn short_transfer(settings: &str) -> f64 {
    let text = format!(
        "title = \"a transfer\"\nduration_s = 3\n{settings}\n[[link]]\nname = \"line\"\nrate_bps = 10e9\n\
         delay_ms = 50\nqueue_packets = 100\n[[flow]]\nname = \"t\"\nprotocol = \"tcp\"\npath = [\"line\"]\n\
         bytes = 14480\npacket_bytes = 1500\nheader_bytes = 52\nsend_jitter_us = 0\n"
    );
    let scenario = Scenario::parse(&text, "test.toml", &Context::default()).unwrap();
    let measured = losscause_study::run(&scenario.experiment().unwrap(), 1).unwrap();
    measured.metric("completion_time").unwrap()
}

#[test]
fn a_transfer_opens_with_a_syn_in_the_modes_for_users() {
    let ten = "initial_window_pkts = 10";
    for (settings, expected_ms) in [
        // A round trip for the SYN, half of one for the data.
        (format!("[tcp]\n{ten}"), 150),
        ("[tcp]\nmode = \"linux\"".to_owned(), 150),
        (format!("[tcp]\n{ten}\n[tcp.quirks]\nsyn_bytes = 0"), 50),
        (format!("[tcp]\nmode = \"ns2-classic\"\n{ten}"), 50),
    ] {
        let took = short_transfer(&settings);
        assert_eq!((took * 1e3).round() as i64, expected_ms, "{settings}: {took} s");
    }
}

#[test]
fn a_mode_is_a_whole_set_of_the_transport() {
    assert_eq!(config(""), Config::rfc());
    assert_eq!(config("[tcp]\nmode = \"rfc\""), Config::rfc());
    assert_eq!(config("[tcp]\nmode = \"ns2\""), Config::ns2());
    assert_eq!(config("[tcp]\nmode = \"ns2-classic\""), Config::ns2_classic());
    assert_eq!(config("[tcp]\nmode = \"ns2-2001\""), Config::ns2_2001());
    assert_eq!(config("[tcp]\nmode = \"linux\""), Config::linux());
}

#[test]
fn linux_has_its_own_recovery_and_three_variants() {
    let cubic = config("[tcp]\nmode = \"linux\"\nvariant = \"cubic\"");
    assert_eq!((cubic.recovery, cubic.response), (RecoveryScheme::RackTlp, ResponseScheme::Cubic));
    let own = config("variant = \"cubic\"\n[tcp]\nmode = \"linux\"\nmin_rto_ms = 50");
    assert_eq!(own, Config { min_rto: Span::from_millis(50), ..cubic });
    let bbr = config("variant = \"bbr\"\n[tcp]\nmode = \"linux\"");
    assert_eq!((bbr.recovery, bbr.response), (RecoveryScheme::RackTlp, ResponseScheme::Bbr));
    let three = |variant: &str| {
        format!(
            "mode \"linux\" has no \"{variant}\", expected one of reno, cubic, bbr, or tcp.mode \"rfc\""
        )
    };
    refused(
        "[tcp]\nmode = \"linux\"\nvariant = \"vegas\"",
        &format!("tcp.variant: {}", three("vegas")),
    );
    refused(
        "variant = \"sack\"\n[tcp]\nmode = \"linux\"",
        &format!("flow.download.variant: {}", three("sack")),
    );
    let other_mode = "only valid with another mode than \"linux\"; remove it";
    for (line, key) in [
        ("recovery = \"sack\"", "recovery"),
        ("response = \"cubic\"", "response"),
        ("additive_increase_pkts = 2", "additive_increase_pkts"),
        ("[tcp.quirks]\nmin_rto_of = \"timer\"", "quirks.min_rto_of"),
        (
            "[tcp.quirks]\nfast_retransmit_restarts_timer = true",
            "quirks.fast_retransmit_restarts_timer",
        ),
        ("[tcp.quirks]\nmax_cwnd_pkts = 9", "quirks.max_cwnd_pkts"),
    ] {
        refused(&format!("[tcp]\nmode = \"linux\"\n{line}"), &format!("tcp.{key}: {other_mode}"));
    }
    refused(
        "additive_increase_pkts = 2\n[tcp]\nmode = \"linux\"",
        &format!("flow.download.additive_increase_pkts: {other_mode}"),
    );
}

#[test]
fn guard_and_brake_belong_to_mode_linux() {
    let safeguards = |line| config(&format!("[tcp]\nmode = \"linux\"\n{line}")).safeguards;
    assert_eq!(safeguards(""), Safeguards::ON);
    assert_eq!(safeguards("guard = false"), Safeguards { guard: false, brake: true });
    assert_eq!(safeguards("brake = false"), Safeguards { guard: true, brake: false });
    assert_eq!(config("").safeguards, Safeguards::OFF, "mode rfc");
    let needs = "only valid with variant \"reno\" or \"cubic\" in mode \"linux\"; remove it";
    refused("[tcp]\nguard = true", &format!("tcp.guard: {needs}"));
    let bbr = "[tcp]\nmode = \"linux\"\nvariant = \"bbr\"\nbrake = false";
    refused(bbr, &format!("tcp.brake: {needs}"));
}

#[test]
fn pacing_and_bbr_belong_to_mode_linux() {
    assert!(config("[tcp]\nmode = \"linux\"\npacing = true").pacing);
    assert!(!config("[tcp]\nmode = \"linux\"").pacing);
    let needs = "only valid with variant \"reno\" or \"cubic\" in mode \"linux\"; remove it";
    refused("[tcp]\npacing = true", &format!("tcp.pacing: {needs}"));
    refused(
        "[tcp]\nmode = \"linux\"\nvariant = \"bbr\"\npacing = false",
        &format!("tcp.pacing: {needs}"),
    );
    let mode = "\"bbr\" needs tcp.mode \"linux\", in a variant to compare as tcp.mode=linux;";
    refused("[tcp]\nvariant = \"bbr\"", &format!("tcp.variant: {mode} tcp.variant=bbr"));
    let of_flow = format!("flow.download.variant: {mode} flow.download.variant=bbr");
    refused("variant = \"bbr\"", &of_flow);
    refused(
        "[tcp]\nresponse = \"bbr\"",
        "tcp: response bbr belongs to mode linux, but the mode is another",
    );
}

#[test]
fn a_variant_takes_the_rules_of_its_mode() {
    assert_eq!(
        config("[tcp]\nvariant = \"newreno\""),
        Config::rfc().with_variant(Variant::NewReno)
    );
    assert_eq!(
        config("[tcp]\nmode = \"ns2\"\nvariant = \"newreno\""),
        Config::ns2().with_variant(Variant::NewReno)
    );
    let westwood = config("[tcp]\nmode = \"ns2-2001\"\nvariant = \"westwood\"");
    assert_eq!(westwood.recovery, RecoveryScheme::FastRetransmit);
    assert!(config("[tcp]\nvariant = \"new-jersey\"").ecn, "it responds to marks");
    refused(
        "[tcp]\nvariant = \"new-jersey\"\necn = false",
        "tcp: ecn must be set for New Jersey, which responds to marks, but is not",
    );
}

#[test]
fn a_quirk_replaces_one_rule_of_the_mode() {
    let lines = "[tcp]\nmode = \"ns2\"\ndelayed_ack_ms = 100\nack_hold_ms = 0.5\n\
                 [tcp.quirks]\nsyn_bytes = 0\nhalving = \"flight-size\"\ntick_ms = 100\nfast_retransmit = \"always\"";
    let quirks = Quirks {
        syn_bytes: None,
        halving: Halving::FlightSize,
        tick: Span::from_millis(100),
        fast_retransmit: Some(FastRetransmit::Always),
        ..Quirks::NS2_2_35
    };
    assert_eq!(
        config(lines),
        Config {
            delayed_ack: Some(Span::from_millis(100)),
            ack_hold: Span::from_micros(500),
            quirks,
            ..Config::ns2()
        }
    );
    let lines =
        "[tcp]\nvariant = \"newreno\"\n[tcp.quirks]\npartial_ack_timer = \"slow-but-steady\"";
    let new_reno = NewRenoRules { timer: PartialAckTimer::SlowButSteady, ..NewRenoRules::RFC };
    assert_eq!(config(lines).quirks, Quirks { new_reno, ..Quirks::RFC });
    refused(
        "[tcp.quirks]\ntick_ms = 0",
        "tcp.quirks.tick_ms: is 0, expected a number from 0.001 to 1e9",
    );
}

#[test]
fn a_quirk_is_set_from_the_command_line() {
    let set = |setting| config_with("[tcp]\nmode = \"ns2\"", &[setting]).unwrap().quirks.halving;
    assert_eq!(set("tcp.quirks.halving=whole-window"), Halving::WholeWindow);
    assert_eq!(set("tcp.quirks.halving=window"), Halving::Window);
}

#[test]
fn thresholds_of_a_response_stand_in_its_own_table() {
    let over_sack = "[tcp]\nrecovery = \"sack\"\nresponse = \"vegas\"\n[tcp.vegas]\nbeta_pkts = 4";
    let response =
        ResponseScheme::Vegas(VegasParameters { beta_pkts: 4, ..VegasParameters::PUBLISHED });
    assert_eq!(config(over_sack), Config { response, ..Config::rfc().with_variant(Variant::Sack) });
    refused(
        "[tcp]\nvariant = \"vegas\"\n[tcp.vegas]\nalpha_pkts = 4",
        "tcp: Vegas' beta must be at least its alpha (4 packets), but is 3",
    );
    let vt = "[tcp]\nvariant = \"westwood-vt\"\n[tcp.westwood_vt]\nbeta_pkts = 15";
    let response =
        ResponseScheme::WestwoodVt(WestwoodVtParameters { alpha_pkts: 14, beta_pkts: 15 });
    assert_eq!(config(vt), Config { response, ..Config::rfc().with_variant(Variant::WestwoodVt) });
    refused(
        "[tcp]\nvariant = \"westwood-vt\"\n[tcp.westwood_vt]\nbeta_pkts = 13",
        "tcp: WestwoodVT's beta must be at least its alpha (14 packets), but is 13",
    );
}

#[test]
fn a_setting_that_no_flow_reads_is_refused() {
    let unread = [
        (
            "variant = \"cubic\"\nadditive_increase_pkts = 2",
            "additive_increase_pkts",
            "response \"aimd\"",
        ),
        ("[tcp.vegas]\ngamma_pkts = 2", "vegas.gamma_pkts", "response \"vegas\""),
        ("[tcp.westwood_vt]\nalpha_pkts = 2", "westwood_vt.alpha_pkts", "response \"westwood-vt\""),
        ("[tcp.quirks]\ndeflation = \"all\"", "quirks.deflation", "recovery \"newreno\""),
        (
            "variant = \"sack\"\n[tcp.quirks]\ninflation = \"never\"",
            "quirks.inflation",
            "recovery \"reno\" or \"newreno\"",
        ),
        (
            "variant = \"westwood\"\n[tcp.quirks]\nhalving = \"window\"",
            "quirks.halving",
            "response \"aimd\", \"veno\" or \"vegas\"",
        ),
    ];
    for (lines, key, needs) in unread {
        refused(
            &format!("[tcp]\n{lines}"),
            &format!("tcp.{key}: only valid with {needs}; remove it"),
        );
    }
    let own_variant = "variant = \"cubic\"\nadditive_increase_pkts = 2";
    refused(
        own_variant,
        "flow.download.additive_increase_pkts: only valid with response \"aimd\"; remove it",
    );
}

#[test]
fn ns2s_sack_reads_when_fast_retransmit_may_happen_unlike_6675() {
    let sack = |mode| {
        config_with(
            &format!("[tcp]\nmode = \"{mode}\"\nvariant = \"sack\""),
            &["tcp.quirks.fast_retransmit=always"],
        )
    };
    assert_eq!(sack("ns2").unwrap().quirks.fast_retransmit, Some(FastRetransmit::Always));
    assert_eq!(
        sack("rfc").unwrap_err().to_string(),
        "small.toml: tcp.quirks.fast_retransmit: only valid with recovery \"reno\" or \"newreno\", or with ns-2's \
         \"sack\"; remove it"
    );
}

#[test]
fn a_key_that_has_moved_names_its_new_place() {
    refused(
        "[tcp]\nhalving = \"window\"",
        "tcp.halving: has moved, expected tcp.quirks.halving instead",
    );
    refused(
        "[tcp]\nvegas_alpha_pkts = 2",
        "tcp.vegas_alpha_pkts: has moved, expected tcp.vegas.alpha_pkts instead",
    );
    let said = config_with("[tcp]\nmode = \"ns2\"", &["tcp.tick_ms=100"]).unwrap_err().to_string();
    assert_eq!(said, "small.toml: tcp.tick_ms: has moved, expected tcp.quirks.tick_ms instead");
}
