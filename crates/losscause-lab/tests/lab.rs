//! A lab's run is the run of the command line, however it is looked at, and taking it back changes nothing.
#![allow(clippy::unwrap_used)]

use losscause_lab::request::Labs;
use losscause_lab::{Lab, Numbers};
use losscause_study::files::Memory;
use losscause_study::run::SimulationResult;
use losscause_study::{Run, Scenario, Setting};
use serde_json::{Value, json};

/// A stream of packets of 1000 bytes and a download over 1 Mb/s, 2 % of whose packets the air loses.
const RADIO: &str = r#"
title = "radio"
duration_s = 20
packet_bytes = 1000
link = [{ name = "radio", rate_bps = 1e6, delay_ms = 40, queue_packets = 10, channel = { kind = "bernoulli", loss = 0.02 } }]
flow = [
    { name = "stream", protocol = "tfrc", path = ["radio"], lda = "Spike" },
    { name = "download", protocol = "tcp", path = ["radio"], start_s = 5, measured = false },
]
"#;

fn lab(seed: u64) -> Lab {
    Lab::new(RADIO, "radio.toml", Memory::new(), &[], seed).unwrap()
}

fn read(lab: &mut Lab, what: Numbers) -> Vec<f64> {
    let mut numbers = Vec::new();
    lab.read(what, &mut numbers);
    numbers
}

/// What the simulator measures if nobody watches.
fn unwatched(settings: &[&str], seed: u64) -> String {
    let settings: Vec<Setting> = settings.iter().map(|text| Setting::parse(text).unwrap()).collect();
    let scenario = Scenario::parse(RADIO, "radio.toml").unwrap().with(&settings).unwrap();
    let mut run = Run::new(&scenario.experiment_with_delays().unwrap(), seed).unwrap();
    run.finish(&mut ());
    serde_json::to_string_pretty(&SimulationResult::of(&scenario, &settings, &run)).unwrap() + "\n"
}

#[test]
fn a_run_that_is_watched_step_by_step_and_taken_back_measures_the_same_bytes() {
    let mut lab = lab(3);
    for step in 1..=37 {
        lab.advance(f64::from(step) * 0.31);
        read(&mut lab, Numbers::Packets);
        read(&mut lab, Numbers::Rows);
    }
    lab.seek(2.5);
    lab.seek(19.0);
    lab.seek(0.0);
    lab.advance(1e300);
    assert!(lab.is_finished());
    assert_eq!(lab.result(), unwatched(&[], 3));
    assert_ne!(lab.result(), unwatched(&[], 4));
}

#[test]
fn settings_are_those_of_the_command_line() {
    let settings = ["flow.stream.lda=ZigZag", "link.radio.channel.loss=0.1"];
    let mut lab = Lab::new(RADIO, "radio.toml", Memory::new(), &settings, 1).unwrap();
    lab.advance(20.0);
    assert_eq!(lab.result(), unwatched(&settings, 1));
}

#[test]
fn a_change_at_the_start_is_the_setting_but_for_its_mention_in_the_result() {
    let mut lab = lab(1);
    lab.change("link.radio.channel.loss=0.1").unwrap();
    lab.advance(20.0);
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let (mut changed, mut set) = (read(&lab.result()), read(&unwatched(&["link.radio.channel.loss=0.1"], 1)));
    let changes = changed.as_object_mut().unwrap().remove("changes").unwrap();
    assert_eq!(changes, serde_json::json!([{ "at_s": 0.0, "setting": "link.radio.channel.loss=0.1" }]));
    for result in [&mut changed, &mut set] {
        result["settings"] = Value::Null;
    }
    assert_eq!(changed, set);
}

#[test]
fn a_changed_run_repeats_its_changes_when_it_is_taken_back_and_a_new_one_replaces_those_after_it() {
    let mut lab = lab(2);
    lab.advance(6.0);
    lab.change("link.radio.rate_bps=5e5").unwrap();
    lab.advance(12.0);
    lab.change("link.radio.queue_packets=3").unwrap();
    lab.advance(20.0);
    let first = lab.result();
    for to in [0.0, 6.0, 11.9, 13.0] {
        lab.seek(to);
        assert_eq!(lab.now_s(), to);
        assert_eq!(lab.links()[0].rate_bps, Some(if to < 6.0 { 1_000_000 } else { 500_000 }), "{to}");
        lab.advance(20.0);
        assert_eq!(lab.result(), first, "{to}");
    }
    lab.seek(8.0);
    lab.change("link.radio.delay_ms=1").unwrap();
    let made: Vec<String> = lab.changes().iter().map(|(at, setting)| format!("{at} {setting}")).collect();
    assert_eq!(made, ["6 link.radio.rate_bps=500000.0", "8 link.radio.delay_ms=1"]);
    lab.advance(20.0);
    assert_ne!(lab.result(), first);
    assert_eq!(lab.changes().len(), 2);
}

#[test]
fn every_loss_is_listed_with_its_cause_and_the_verdicts_add_up() {
    let mut lab = lab(5);
    lab.advance(20.0);
    let result: Value = serde_json::from_str(&lab.result()).unwrap();
    let total =
        |key: &str| -> f64 { result["flows"].as_array().unwrap().iter().map(|flow| flow[key].as_f64().unwrap()).sum() };
    let losses = read(&mut lab, Numbers::Losses);
    let mut last = std::collections::BTreeMap::new();
    for loss in losses.chunks(8) {
        last.insert(loss[0] as usize, loss.to_vec());
    }
    let with = |cause: f64| last.values().filter(|loss| loss[4] == cause).count() as f64;
    assert_eq!((with(0.0), with(1.0)), (total("queue_drops"), total("wireless_drops")));
    assert!(with(0.0) > 5.0 && with(1.0) > 20.0, "{} {}", with(0.0), with(1.0));
    // Numbers of flows, causes and verdicts, whole and so exact; a verdict that is not there is negative.
    let stream: Vec<_> = last.values().filter(|loss| loss[1] == 0.0 && loss[5] >= 0.0).collect();
    let verdicts = read(&mut lab, Numbers::Verdicts);
    let judged: f64 = verdicts.chunks(4).map(|counts| counts[..3].iter().sum::<f64>()).sum();
    assert_eq!(judged, stream.len() as f64);
    assert!(lab.loss(0).unwrap().row().reason.unwrap().contains("Spike"), "{:?}", lab.loss(0));
    assert!(read(&mut lab, Numbers::Losses).is_empty(), "they were read");
}

#[test]
fn the_packets_at_the_bottleneck_are_those_that_the_rows_count() {
    let mut lab = lab(1);
    let mut waited = 0;
    for step in 1..=40 {
        // At the end of a step of the curves, which is a thousandth of the run.
        lab.advance(f64::from(step) * 0.5);
        let rows = read(&mut lab, Numbers::Rows);
        let packets = read(&mut lab, Numbers::Packets);
        let [waiting, sending, _] =
            [0.0, 1.0, 2.0].map(|state| packets.chunks(5).filter(|packet| packet[2] == state).count());
        let row = rows.chunks(lab.columns()).last().unwrap();
        assert!((row[0] - lab.now_s()).abs() < 1e-9);
        assert_eq!(row[1], waiting as f64, "at {} s", row[0]);
        assert!(sending <= 1 && waiting <= 10);
        waited = waited.max(waiting);
    }
    assert!(waited > 5, "{waited}");
}

#[test]
fn bad_input_is_told_in_the_programs_own_words_and_the_run_goes_on() {
    let said =
        |text: &str, settings: &[&str]| Lab::new(text, "s.toml", Memory::new(), settings, 1).unwrap_err().to_string();
    assert!(said("title = 5x", &[]).starts_with("s.toml, line 1: "), "{}", said("title = 5x", &[]));
    let empty = "title = \"t\"\nduration_s = 1";
    assert_eq!(said(empty, &[]), "s.toml: flow: there is none, expected at least one flow to watch");
    assert!(said(RADIO, &["flow.stream.lda=Spkie"]).contains("did you mean \"Spike\"?"));
    let mut lab = lab(1);
    lab.advance(3.0);
    let refused = |lab: &mut Lab, setting: &str| lab.change(setting).unwrap_err().to_string();
    assert_eq!(
        refused(&mut lab, "flow.stream.lda=Biaz"),
        "flow.stream.lda=Biaz: holds from the start of a run, expected a key of a link, such as link.NAME.rate_bps"
    );
    assert!(refused(&mut lab, "link.radio.rate_bps=0").contains("rate_bps"));
    let codel = refused(&mut lab, "link.radio.queue={ kind = \"codel\" }");
    assert!(codel.contains("its queue discipline cannot change during a run"), "{codel}");
    lab.advance(20.0);
    assert_eq!(lab.result(), unwatched(&[], 1));
}

#[test]
fn requests_are_answered_and_foreign_ones_are_refused() {
    let mut labs = Labs::new();
    let mut ask = |request: Value| -> Value { serde_json::from_str(&labs.answer(&request.to_string())).unwrap() };
    assert!(ask(json!("catalogue"))["algorithms"].as_array().unwrap().len() > 10);
    let opened = ask(json!({ "open": { "text": RADIO, "name": "radio.toml", "seed": 1 } }));
    assert_eq!((&opened["lab"], &opened["columns"]), (&json!(0), &json!(5)));
    assert_eq!(opened["info"]["bottleneck"], "radio");
    assert_eq!(opened["info"]["flows"][1]["measured"], false);
    // 1 Mb/s for 20 s are 2500 packets, over one link there and one back.
    assert_eq!(opened["info"]["packet_hops"], 5000.0);
    let links = ask(json!({ "change": { "lab": 0, "setting": "link.radio.channel.loss=0.5" } }));
    assert_eq!(links["links"][0]["loss"], 0.5);
    assert_eq!(ask(json!({ "seek": { "lab": 0, "to_s": 1.0 } }))["changes"][0][0], 0.0);
    assert_eq!(ask(json!({ "close": { "lab": 0 } })), Value::Null);
    assert_eq!(ask(json!({ "result": { "lab": 0 } }))["error"], "there is no run number 0");
    assert!(ask(json!({ "open": 5 }))["error"].as_str().unwrap().starts_with("the request: "));
}
