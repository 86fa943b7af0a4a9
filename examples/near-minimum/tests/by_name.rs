//! An algorithm of another crate runs by name wherever a built-in one does.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::process::{Command, Output};

use losscause::registry::{Value, check};
use losscause::{Algorithm, ConfigError, Judgement, Loss, Needs, Observation, Verdict};
use losscause_laboratory::papers::record::load_scenario;
use losscause_study::{Context, Measurements, Registry, Setting, run};
use near_minimum::NearMinimum;

const WLH: &str = "cen2003/WLH";

/// The paper's scenario with these settings.
fn measured(registry: &Registry, settings: &[&str]) -> Result<Measurements, String> {
    let settings: Vec<Setting> =
        settings.iter().map(|text| Setting::parse(text).unwrap()).collect();
    let scenario = load_scenario(WLH, &Context::new(registry.clone())).unwrap();
    let experiment = scenario.with(&settings).and_then(|scenario| scenario.experiment());
    Ok(run(&experiment.map_err(|error| error.to_string())?, 1).unwrap())
}

fn registry() -> Registry {
    losscause_study::registry().with_own(NearMinimum { within_ms: 10.0, rott_min: None }).unwrap()
}

#[test]
fn it_judges_the_losses_of_wlh_and_its_setting_moves_its_errors() {
    let errors = |within_ms| {
        let lda =
            ["flow.test.lda=near minimum", &format!("lda.near-minimum.within_ms={within_ms}")];
        let run = measured(&registry(), &lda).unwrap();
        let judged: u64 = run
            .flows
            .iter()
            .map(|flow| flow.queue_drops + flow.wireless_drops - flow.undetected)
            .sum();
        assert!(judged > 50 && run.metric("undecided") == Some(0.0), "{judged}");
        ["M_c", "M_w"].map(|metric| run.metric(metric))
    };
    // No trip time is below its minimum, and every one is within an hour of it.
    let never = errors(0.0);
    let always = errors(3.6e6);
    assert_eq!(never[1], Some(100.0), "every wireless loss is called congestion");
    assert_eq!(always[1], Some(0.0));
    let own = errors(10.0);
    assert!(own[1] > always[1] && own[1] < never[1], "{own:?}");
    let built_in = measured(&registry(), &["flow.test.lda=ZigZag"]).unwrap();
    assert_ne!(own[1], built_in.metric("M_w"));
}

#[test]
fn a_wrong_setting_or_name_is_refused_in_one_sentence() {
    let refused = |settings: &[&str]| measured(&registry(), settings).unwrap_err();
    let lda = "flow.test.lda=near minimum";
    for (setting, expected) in [
        (
            "lda.near-minimum.within_ms=near",
            "lda.near-minimum.within_ms: within_ms must be a number",
        ),
        (
            "lda.near-minimum.within=5",
            "lda.near-minimum.within: near minimum has no such setting; it has within_ms",
        ),
    ] {
        let said = refused(&[lda, setting]);
        assert!(said.ends_with(expected), "{said}");
    }
    let said = refused(&["flow.test.lda=near maximum"]);
    assert!(said.contains("(did you mean \"near minimum\"?)"), "{said}");
    let taken = registry()
        .with_own(NearMinimum { within_ms: 5.0, rott_min: None })
        .unwrap_err()
        .to_string();
    assert_eq!(taken, "the algorithm \"near minimum\" is already there");
}

fn command(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_near-minimum")).args(arguments).output().unwrap()
}

#[test]
fn its_setting_is_shown_with_its_value() {
    let entry = registry().find("Near-Minimum").unwrap().clone();
    assert_eq!(entry.get("within_ms"), Some(Value::Number(10.0)));
    assert_eq!(entry.get("rott_min"), None);
}

#[test]
fn the_command_lists_it_and_runs_it() {
    let listed = command(&["list", "algorithms", "--format", "json"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    for text in ["\"name\": \"near minimum\"", "\"key\": \"within_ms\"", "a number; 10 unless set"]
    {
        assert!(listed.contains(text), "{text} in {listed}");
    }
    let ran = command(&["simulate", WLH, "--set", "flow.test.lda=near-minimum"]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn the_page_on_algorithms_of_ones_own_shows_this_one() {
    let page = include_str!("../../../docs/algorithms/your-own.md");
    for code in [include_str!("../src/lib.rs"), include_str!("../src/main.rs")] {
        assert!(
            page.contains(&format!("```rust\n{code}```")),
            "docs/algorithms/your-own.md shows other code"
        );
    }
}

#[test]
fn the_algorithm_has_at_most_25_lines() {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines = include_str!("../src/lib.rs").lines().filter(is_code).count();
    assert!(lines <= 25, "{lines}");
}

/// An algorithm of senders: every loss is wireless.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Unimpressed {
    /// From 0 to 1.
    firmness: f64,
}

impl Algorithm for Unimpressed {
    fn name(&self) -> &'static str {
        "unimpressed"
    }
    fn check(&self) -> Result<(), ConfigError> {
        check("firmness", self.firmness, |share| (0.0..=1.0).contains(&share), "from 0 to 1")
    }
    fn needs(&self) -> Needs {
        Needs::NONE.with_acks()
    }
    fn observe(&mut self, _: &Observation) {}
    fn judge(&self, _: &Loss) -> Judgement {
        Judgement::stated(Verdict::Wireless, "optimist", "whatever was observed")
    }
}

#[test]
fn one_of_senders_runs_at_a_tcp_sender_and_not_at_a_receiver() {
    let registry = losscause_study::registry().with_own(Unimpressed { firmness: 1.0 }).unwrap();
    let tcp = "flow.test.protocol=tcp";
    let run = measured(&registry, &[tcp, "flow.test.lda=unimpressed"]).unwrap();
    assert_eq!(run.metric("M_w"), Some(0.0), "no wireless loss is called congestion");
    let plain = measured(&registry, &[tcp, "flow.test.lda=always congestion"]).unwrap();
    assert_eq!(plain.metric("M_w"), Some(100.0));
    assert!(run.metric("goodput") > plain.metric("goodput"), "it does not slow down");
    let at_receiver = measured(&registry, &["flow.test.lda=unimpressed"]).unwrap_err();
    assert!(
        at_receiver
            .ends_with("unimpressed looks at acknowledgements, so it is for TCP senders only"),
        "{at_receiver}"
    );
}

#[test]
fn a_setting_out_of_its_range_is_refused() {
    let registry = losscause_study::registry().with_own(Unimpressed { firmness: 1.0 }).unwrap();
    let settings =
        ["flow.test.protocol=tcp", "flow.test.lda=unimpressed", "lda.unimpressed.firmness=2"];
    let said = measured(&registry, &settings).unwrap_err();
    assert!(said.ends_with("lda.unimpressed: firmness is 2 but must be from 0 to 1"), "{said}");
}
