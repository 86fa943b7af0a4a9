//! A TCP of another crate runs by name wherever a published one does.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;
use std::process::{Command, Output};

use losscause_experiments::drawn::RunList;
use losscause_experiments::paths::in_loop;
use losscause_laboratory::compare::{Plan, Variant};
use losscause_laboratory::sweep::Sweep;
use losscause_sim::Traffic;
use losscause_sim::tcp::{Config, RecoveryScheme, ResponseScheme};
use losscause_study::{Context, Jobs, Measurements, Registry, Scenario, Setting, Workers, run};
use own_tcp::GENTLE;

/// A download over a link that loses one packet in a hundred.
const LOSSY: &str = r#"
title = "Lossy"
duration_s = 60
measure = { from_s = 5 }
[[link]]
name = "radio"
rate_bps = 5e6
delay_ms = 40
queue_packets = 60
channel = { kind = "bernoulli", loss = 0.01 }
[[flow]]
name = "download"
protocol = "tcp"
path = ["radio"]
"#;

fn registry() -> Registry {
    losscause_study::registry().with_tcp(GENTLE).unwrap()
}

fn scenario(settings: &[&str]) -> Scenario {
    let settings: Vec<Setting> =
        settings.iter().map(|text| Setting::parse(text).unwrap()).collect();
    Scenario::parse(LOSSY, "lossy.toml", &Context::new(registry()))
        .unwrap()
        .with(&settings)
        .unwrap()
}

fn config(settings: &[&str]) -> Config {
    match &scenario(settings).experiment().unwrap().network.flows[0].traffic {
        Traffic::Tcp { config, .. } => *config,
        other => panic!("{other:?}"),
    }
}

fn measured(settings: &[&str]) -> Measurements {
    run(&scenario(settings).experiment().unwrap(), 1).unwrap()
}

fn goodput(settings: &[&str]) -> f64 {
    measured(settings).metric("goodput").unwrap()
}

fn refused(settings: &[&str]) -> String {
    scenario(settings).experiment().unwrap_err().to_string()
}

#[test]
fn it_runs_over_any_recovery_and_in_the_machine_of_linux() {
    let own = ResponseScheme::Own(GENTLE);
    let parts = |settings: &[&str]| (config(settings).recovery, config(settings).response);
    assert_eq!(parts(&["tcp.variant=gentle"]), (RecoveryScheme::Sack, own));
    assert_eq!(parts(&["flow.download.variant=gentle"]), (RecoveryScheme::Sack, own));
    assert_eq!(
        parts(&["tcp.variant=gentle", "tcp.recovery=newreno"]),
        (RecoveryScheme::NewReno, own)
    );
    assert_eq!(parts(&["tcp.variant=reno", "tcp.response=gentle"]), (RecoveryScheme::Reno, own));
    assert_eq!(parts(&["tcp.variant=gentle", "tcp.mode=linux"]), (RecoveryScheme::RackTlp, own));
    assert_eq!(parts(&["tcp.variant=gentle", "tcp.mode=ns2"]), (RecoveryScheme::Sack, own));
}

#[test]
fn it_gives_up_less_than_reno_for_every_loss() {
    for others in [["tcp.mode=rfc"], ["tcp.mode=ns2"]] {
        let with = |variant: &str| goodput(&[variant, others[0]]);
        let gentle = with("tcp.variant=gentle");
        let sack = with("tcp.variant=sack");
        assert!(gentle > 1.05 * sack, "{others:?}: {gentle} and {sack}");
    }
    let linux = |variant: &str| goodput(&[variant, "tcp.mode=linux"]);
    let gentle = linux("tcp.variant=gentle");
    let reno = linux("tcp.variant=reno");
    assert!(gentle > 1.05 * reno, "{gentle} and {reno}");
    let omniscient = goodput(&["tcp.variant=gentle", "flow.download.lda=omniscient"]);
    assert!(
        omniscient > 1.2 * goodput(&["tcp.variant=gentle"]),
        "losses that are known to be wireless cost nothing"
    );
}

#[test]
fn it_is_compared_and_swept() {
    let variants = ["sack: tcp.variant=sack", "gentle: tcp.variant=gentle"]
        .map(|text| Variant::parse(text).unwrap());
    let workers = || Workers::from(Jobs::new(2).unwrap());
    let plan = Plan::new(&scenario(&[]), variants.to_vec(), 1, 2).unwrap();
    let compared = plan.measure(&workers(), None, |_, _| ()).unwrap();
    assert_eq!(
        compared.variants.iter().map(|variant| variant.name.as_str()).collect::<Vec<_>>(),
        ["sack", "gentle"]
    );

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lossy.toml"), LOSSY).unwrap();
    let text = "title = \"Whose\"\nscenario = \"lossy.toml\"\nruns = 1\nmetrics = [\"goodput\"]\n\
                [[axis]]\nkey = \"tcp.variant\"\nvalues = [\"sack\", \"gentle\"]\n";
    let sweep =
        Sweep::parse(text, &folder.path().join("sweep.toml"), &Context::new(registry())).unwrap();
    let outcome = sweep.execute(workers(), None, |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert!(outcome.result.unwrap().json().contains("gentle"));
}

#[test]
fn it_is_a_row_of_the_benchmark_of_paths() {
    let plan = |names: &[String]| in_loop::Plan::new(&registry(), names, 1, 2, 1).unwrap();
    let workers = Workers::from(Jobs::new(2).unwrap());
    let found = plan(&["gentle".to_owned()]).measure(&workers, None, |_, _| ()).unwrap();
    let rows: Vec<_> = found.rows.iter().filter(|row| row.algorithm == "gentle").collect();
    assert_eq!(
        rows.iter().map(|row| row.vantage).collect::<Vec<_>>(),
        ["sender", "sender"],
        "one per rate of loss"
    );
    assert!(rows.iter().all(|row| row.over_base.unwrap().mean != 1.0), "it is not the base");
    let all = plan(&[]);
    let names: Vec<String> = all.runs().into_iter().map(|run| run.name).collect();
    assert!(names.iter().any(|name| name.ends_with(", gentle")), "without names too");
}

#[test]
fn an_unknown_name_is_refused_with_the_list() {
    let list = "expected one of reno, newreno, sack, vegas, veno, cubic, westwood, westwood-nr, westwood-vt, \
                new-jersey, bbr, gentle";
    let unknown = format!("\"gentel\" is unknown (did you mean \"gentle\"?), {list}");
    assert_eq!(refused(&["tcp.variant=gentel"]), format!("lossy.toml: tcp.variant: {unknown}"));
    assert_eq!(
        refused(&["flow.download.variant=gentel"]),
        format!("lossy.toml: flow.download.variant: {unknown}")
    );
    let said = refused(&["tcp.response=gentel"]);
    assert!(said.ends_with("new-jersey, bbr, gentle") && said.contains("aimd, vegas"), "{said}");
    let additive = refused(&["tcp.variant=gentle", "tcp.additive_increase_pkts=2"]);
    assert!(additive.ends_with("only valid with response \"aimd\"; remove it"), "{additive}");
    let taken = registry().with_tcp(GENTLE).unwrap_err().to_string();
    assert_eq!(taken, "the TCP \"gentle\" is already there");
}

fn command(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_own-tcp")).args(arguments).output().unwrap()
}

#[test]
fn the_command_lists_it_and_runs_it() {
    let listed = command(&["list", "protocols", "--format", "json"]);
    assert!(String::from_utf8(listed.stdout).unwrap().contains("\"variant\": \"gentle\""));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lossy.toml");
    std::fs::write(&file, LOSSY).unwrap();
    let ran = command(&[
        "simulate",
        file.to_str().unwrap(),
        "--set",
        "tcp.variant=gentle",
        "--set",
        "duration_s=10",
    ]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn the_page_on_tcps_of_ones_own_shows_this_one() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms/your-own-tcp.md");
    let page = std::fs::read_to_string(page).unwrap();
    for code in [include_str!("../src/lib.rs"), include_str!("../src/main.rs")] {
        assert!(
            page.contains(&format!("```rust\n{code}```")),
            "docs/algorithms/your-own-tcp.md shows other code"
        );
    }
}

#[test]
fn the_example_has_at_most_60_lines() {
    let lines = include_str!("../src/lib.rs").lines().count()
        + include_str!("../src/main.rs").lines().count();
    assert!(lines <= 60, "{lines}");
}
