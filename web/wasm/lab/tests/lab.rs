//! A lab's run is the run of the command line, however it is looked at, and taking it back changes
//! nothing.
#![allow(clippy::unwrap_used)]

use losscause_lab::request::Labs;
use losscause_lab::{Lab, Numbers};
use losscause_study::files::Memory;
use losscause_study::run::SimulationResult;
use losscause_study::{Context, Run, Scenario, Setting};
use serde_json::{Value, json};

/// A stream of packets of 1000 bytes and a download over 1 Mb/s, 2 % of whose packets the air
/// loses.
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
    let settings: Vec<Setting> =
        settings.iter().map(|text| Setting::parse(text).unwrap()).collect();
    let scenario =
        Scenario::parse(RADIO, "radio.toml", &Context::default()).unwrap().with(&settings).unwrap();
    let mut run = Run::new(&scenario.experiment_with_delays().unwrap(), seed).unwrap();
    run.finish(&mut ());
    serde_json::to_string_pretty(&SimulationResult::of(&scenario, &settings, &run)).unwrap() + "\n"
}

#[test]
fn a_watched_run_that_is_taken_back_measures_the_same_bytes() {
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
fn a_change_at_the_start_is_the_setting_but_for_its_mention() {
    let mut lab = lab(1);
    lab.change("link.radio.channel.loss=0.1").unwrap();
    lab.advance(20.0);
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut changed = read(&lab.result());
    let mut set = read(&unwatched(&["link.radio.channel.loss=0.1"], 1));
    let changes = changed.as_object_mut().unwrap().remove("changes").unwrap();
    assert_eq!(
        changes,
        serde_json::json!([{ "at_s": 0.0, "setting": "link.radio.channel.loss=0.1" }])
    );
    for result in [&mut changed, &mut set] {
        result["settings"] = Value::Null;
        result["origin"]["command"] = Value::Null;
    }
    assert_eq!(changed, set);
}

#[test]
fn a_rewound_run_repeats_changes_and_a_new_one_replaces_them() {
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
        assert_eq!(
            lab.links()[0].rate_bps,
            Some(if to < 6.0 { 1_000_000 } else { 500_000 }),
            "{to}"
        );
        lab.advance(20.0);
        assert_eq!(lab.result(), first, "{to}");
    }
    lab.seek(8.0);
    lab.change("link.radio.delay_ms=1").unwrap();
    let made: Vec<String> =
        lab.changes().iter().map(|(at, setting)| format!("{at} {setting}")).collect();
    assert_eq!(made, ["6 link.radio.rate_bps=500000.0", "8 link.radio.delay_ms=1"]);
    lab.advance(20.0);
    assert_ne!(lab.result(), first);
    assert_eq!(lab.changes().len(), 2);
}

const RIVAL: &str = r#"flow.rival={ protocol = "tcp", path = ["radio"] }"#;

#[test]
fn flows_added_and_stopped_make_the_run_of_the_command_line() {
    let mut lab = lab(4);
    lab.advance(6.25);
    lab.change_all(&[RIVAL, &RIVAL.replace("rival", "other")]).unwrap();
    lab.advance(11.5003);
    lab.change("flow.rival.stop_s=now").unwrap();
    lab.change("flow.download.stop_s=12.5").unwrap();
    lab.advance(20.0);
    let settings: Vec<String> = lab.changes().into_iter().map(|(_, setting)| setting).collect();
    assert!(settings[0].contains("start_s = 6.251"), "{}", settings[0]);
    assert_eq!(settings[2..], ["flow.rival.stop_s=11.501", "flow.download.stop_s=12.5"]);
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let result = lab.result();
    assert_eq!(result, unwatched(&settings, 4));
    let read: Value = serde_json::from_str(&result).unwrap();
    assert_eq!(read["flows"][2]["flow"], "rival");
    assert!(read["flows"][2]["sent_packets"].as_f64().unwrap() > 50.0);
    // Taken back and played again it is the same, and so it is from the list of its changes.
    lab.seek(3.0);
    lab.seek(20.0);
    assert_eq!(lab.result(), result);
    let mut listed = self::lab(4);
    for (at, setting) in lab.changes() {
        listed.advance(at);
        listed.change(&setting).unwrap();
    }
    listed.advance(20.0);
    assert_eq!(listed.result(), result);
}

#[test]
fn an_added_flow_changes_nothing_past_and_nothing_is_read_twice() {
    let (mut lab, mut other) = (lab(6), lab(6));
    for run in [&mut lab, &mut other] {
        run.advance(4.0);
        run.change("link.radio.rate_bps=8e5").unwrap();
        run.advance(9.0);
    }
    let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    let before = bits(read(&mut lab, Numbers::Rows));
    read(&mut lab, Numbers::Losses);
    lab.change(RIVAL).unwrap();
    for what in [Numbers::Rows, Numbers::Losses] {
        assert!(read(&mut lab, what).is_empty(), "{what:?}");
    }
    assert_eq!(lab.links(), other.links());
    for what in [Numbers::Packets, Numbers::Lost, Numbers::Verdicts] {
        assert_eq!(bits(read(&mut lab, what)), bits(read(&mut other, what)), "{what:?}");
    }
    for run in [&mut lab, &mut other] {
        run.seek(9.0);
    }
    assert!(bits(read(&mut lab, Numbers::Rows)) == before);
    assert!(bits(read(&mut lab, Numbers::Losses)) == bits(read(&mut other, Numbers::Losses)));
    // Another change before it is the end of it.
    lab.seek(5.0);
    lab.change("link.radio.rate_bps=1e6").unwrap();
    assert_eq!(lab.flows().len(), 2);
}

#[test]
fn a_text_from_a_link_cannot_ask_for_a_larger_budget() {
    let refused = |settings: &[&str]| {
        let lab = Lab::new(RADIO, "s.toml", Memory::new(), settings, 1);
        lab.map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&["budget=2"]),
        "s.toml: budget: is 2, expected a number above 0, up to 1e0"
    );
    let many = refused(&[
        "flow.rival={ protocol = \"cbr\", rate_bps = 8e12, count = 20, path = [\"radio\"], measured = false }",
    ]);
    assert!(many.contains("flow.rival.rate_bps: a run may need up to "), "{many}");
}

#[test]
fn a_flow_that_cannot_be_added_or_stopped_is_refused() {
    let mut lab = lab(1);
    lab.advance(3.0);
    let mut refused = |setting: &str, expected: &str| {
        let said = lab.change_all(&["link.radio.delay_ms=7", setting]).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    };
    let rival = |more: &str| RIVAL.replace(" }", &format!(", {more} }}"));
    refused("flow.rival=tcp", "adds no flow, expected {");
    refused("link.rival={ rate_bps = 1e6, delay_ms = 1 }", "holds from the start of a run");
    refused(&RIVAL.replace("rival", "stream"), "the flow \"stream\" exists");
    refused(&RIVAL.replace("radio", "raido"), "raido");
    refused(&rival("start_s = 1.5"), "flow.rival: starts at 1.5 s, expected later than now, 3 s");
    refused(
        &rival("arrivals = { kind = \"list\", times_s = [[0, 9]] }"),
        "expected later than now, 3 s",
    );
    refused(&rival("measured = true"), "expected measured = false");
    refused("flow.stream.stop_s=2", "flow.stream: stops at 2 s, expected later than now, 3 s");
    refused("flow.nobody.stop_s=now", "nobody");
    lab.advance(20.0);
    assert_eq!(lab.result(), unwatched(&[], 1));
    lab.seek(4.0);
    let many: Vec<String> =
        (0..64).map(|number| RIVAL.replace("rival", &format!("rival-{number}"))).collect();
    lab.change_all(&many.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    assert!(lab.change(RIVAL).unwrap_err().to_string().contains("there are 64 added flows"));
    lab.advance(5.0);
    lab.change("flow.rival-3.stop_s=now").unwrap();
    lab.advance(6.0);
    let again = lab.change("flow.rival-3.stop_s=now").unwrap_err().to_string();
    assert!(again.contains("stopped at 5.001 s, expected a flow that runs"), "{again}");
}

/// A backbone that both flows cross, then a link for each flow.
const TWO_HOPS: &str = r#"
title = "two hops"
duration_s = 20
packet_bytes = 1000
link = [
    { name = "backbone", rate_bps = 1e6, delay_ms = 10, queue_packets = 10 },
    { name = "last", per_flow = true, rate_bps = 6e5, delay_ms = 5, queue_packets = 5, channel = { kind = "bernoulli", loss = 0.05 } },
]
flow = [{ name = "test", count = 2, protocol = "tfrc", lda = "Spike", path = ["backbone", "last"] }]
"#;

#[test]
fn another_link_can_be_watched_and_the_run_stays_what_it_is() {
    let open = || Lab::new(TWO_HOPS, "hops.toml", Memory::new(), &[], 2).unwrap();
    let mut lab = open();
    let mut other = open();
    for run in [&mut lab, &mut other] {
        run.advance(5.0);
        run.change("link.last.queue_packets=4").unwrap();
        run.advance(9.0);
        run.change(&format!("flow.more={}", run.links()[1].new_flow)).unwrap();
        run.advance(12.0);
    }
    let shown = lab.info().bottleneck;
    let [first, second] = ["backbone", "last"].map(|link| {
        lab.watch(link).unwrap();
        (
            lab.info().bottleneck,
            read(&mut lab, Numbers::Rows),
            read(&mut lab, Numbers::Losses).len(),
        )
    });
    assert!(shown == first.0 || shown == second.0, "{shown}");
    assert_eq!((first.0.as_str(), second.0.as_str()), ("backbone", "last.1"));
    let queue = |rows: &[f64]| rows.chunks(lab.columns()).map(|row| row[1]).fold(0.0, f64::max);
    assert!(queue(&first.1) > queue(&second.1), "{} {}", queue(&first.1), queue(&second.1));
    assert_eq!((first.1.len(), first.2), (second.1.len(), second.2));
    assert_eq!(
        lab.watch("lost").unwrap_err().to_string(),
        "lost: the scenario has no such link, expected one of backbone, last"
    );
    // Changes to come stay, and those that were made are made again.
    lab.seek(7.0);
    lab.watch("backbone").unwrap();
    lab.advance(20.0);
    other.advance(20.0);
    assert_eq!(lab.result(), other.result());
    assert!(lab.result().contains("\"more\""));
}

#[test]
fn a_flow_on_a_link_of_its_own_gets_the_changes_before_it_came() {
    // A backbone that does not hide what the new flow's own link lets through.
    let open = || {
        Lab::new(
            &TWO_HOPS.replace("rate_bps = 1e6", "rate_bps = 1e8"),
            "hops.toml",
            Memory::new(),
            &[],
            2,
        )
        .unwrap()
    };
    let mut lab = open();
    let mut unchanged = open();
    lab.advance(3.0);
    lab.change("link.last.rate_bps=2e5").unwrap();
    let new_flow = lab.links()[1].new_flow.clone();
    let more = |lab: &mut Lab| {
        lab.advance(9.0);
        lab.change(&format!("flow.more={new_flow}")).unwrap();
        lab.advance(20.0);
        let result: Value = serde_json::from_str(&lab.result()).unwrap();
        assert_eq!(result["flows"][2]["flow"], "more");
        result["flows"][2]["goodput_kbps"].as_f64().unwrap()
    };
    let slow = more(&mut lab);
    let fast = more(&mut unchanged);
    assert!(slow > 50.0 && slow < 200.0 && fast > 200.0, "{slow} {fast}");
    // Taken back, and changed after it has come.
    lab.seek(6.0);
    assert_eq!(lab.links()[1].rate_bps, Some(200_000));
    lab.seek(12.0);
    lab.change("link.last.rate_bps=1e5").unwrap();
    lab.advance(20.0);
    let result: Value = serde_json::from_str(&lab.result()).unwrap();
    let slower = result["flows"][2]["goodput_kbps"].as_f64().unwrap();
    assert!(slower < slow, "{slower} {slow}");
}

#[test]
fn a_flow_that_stops_at_its_start_never_was() {
    let mut lab = lab(1);
    lab.advance(3.0);
    lab.change(RIVAL).unwrap();
    lab.change("flow.rival.stop_s=now").unwrap();
    assert_eq!(lab.changes(), []);
    // One that comes later, and is stopped before; another one that it does stop.
    let later = |start_s: f64| RIVAL.replace(" }", &format!(", start_s = {start_s} }}"));
    lab.change(&later(9.0)).unwrap();
    lab.change("flow.rival.stop_s=8").unwrap();
    assert_eq!(lab.changes(), []);
    lab.change_all(&[&later(7.0), "flow.rival.stop_s=8"]).unwrap();
    assert_eq!(lab.changes().len(), 2);
    lab.seek(2.0);
    lab.change("link.radio.rate_bps=1e6").unwrap();
    lab.advance(20.0);
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap()["flows"].clone();
    assert_eq!(read(&lab.result()), read(&unwatched(&[], 1)));
}

#[test]
fn the_limit_of_added_flows_counts_those_that_are_there_now() {
    let mut lab = lab(1);
    let many = |from: u32, count: u32| -> Vec<String> {
        (from..from + count)
            .map(|number| RIVAL.replace("rival", &format!("rival-{number}")))
            .collect()
    };
    let add = |lab: &mut Lab, flows: Vec<String>| {
        lab.change_all(&flows.iter().map(String::as_str).collect::<Vec<_>>())
            .map_err(|error| error.to_string())
    };
    lab.advance(3.0);
    add(&mut lab, many(0, 40)).unwrap();
    // As many again would be more than there can be, in one change too.
    assert!(add(&mut lab, many(40, 40)).unwrap_err().contains("there are 64 added flows"));
    // The change at 2 s is the end of those that came later.
    lab.seek(2.0);
    add(&mut lab, many(100, 40)).unwrap();
    assert_eq!(lab.flows().len(), 42);
}

#[test]
fn the_first_losses_of_an_added_flow_are_read() {
    let (mut lab, mut whole) = (lab(6), lab(6));
    lab.advance(9.01);
    read(&mut lab, Numbers::Losses);
    lab.change(RIVAL).unwrap();
    let mut seen = read(&mut lab, Numbers::Losses);
    let mut lost = read(&mut lab, Numbers::Lost);
    // Step by step, from the very instant of the change.
    for step in 0..=500 {
        lab.advance(9.01 + f64::from(step) * 1e-3);
        seen.extend(read(&mut lab, Numbers::Losses));
        lost.extend(read(&mut lab, Numbers::Lost));
    }
    whole.advance(9.01);
    whole.change(RIVAL).unwrap();
    whole.advance(9.51);
    whole.seek(9.51);
    let places = |numbers: &[f64]| -> std::collections::BTreeSet<u64> {
        numbers.chunks(8).filter(|loss| loss[1] == 2.0).map(|loss| loss[0] as u64).collect()
    };
    let expected = places(&read(&mut whole, Numbers::Losses));
    assert!(!expected.is_empty());
    assert_eq!(places(&seen), expected);
    assert_eq!(lost.chunks(5).filter(|packet| packet[0] == 2.0).count(), expected.len());
}

#[test]
fn every_loss_is_listed_with_its_cause_and_the_verdicts_add_up() {
    let mut lab = lab(5);
    lab.advance(20.0);
    let result: Value = serde_json::from_str(&lab.result()).unwrap();
    let total = |key: &str| -> f64 {
        result["flows"].as_array().unwrap().iter().map(|flow| flow[key].as_f64().unwrap()).sum()
    };
    let losses = read(&mut lab, Numbers::Losses);
    let mut last = std::collections::BTreeMap::new();
    for loss in losses.chunks(8) {
        last.insert(loss[0] as usize, loss.to_vec());
    }
    let with = |cause: f64| last.values().filter(|loss| loss[4] == cause).count() as f64;
    assert_eq!((with(0.0), with(1.0)), (total("queue_drops"), total("wireless_drops")));
    assert!(with(0.0) > 5.0 && with(1.0) > 20.0, "{} {}", with(0.0), with(1.0));
    // Numbers of flows, causes and verdicts, whole and so exact; a verdict that is not there is
    // negative.
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
        let [waiting, sending, _] = [0.0, 1.0, 2.0]
            .map(|state| packets.chunks(5).filter(|packet| packet[2] == state).count());
        let row = rows.chunks(lab.columns()).last().unwrap();
        assert!((row[0] - lab.now_s()).abs() < 1e-9);
        assert_eq!(row[1], waiting as f64, "at {} s", row[0]);
        assert!(sending <= 1 && waiting <= 10);
        waited = waited.max(waiting);
    }
    assert!(waited > 5, "{waited}");
}

#[test]
fn acknowledgements_are_on_their_way_back_for_as_long_as_the_link_takes() {
    let mut lab = lab(1);
    let mut last: Vec<[f64; 3]> = Vec::new();
    let (mut seen, mut moved) = (0, 0);
    for step in 1..=2000 {
        lab.advance(f64::from(step) * 0.01);
        let packets = read(&mut lab, Numbers::Packets);
        let back = packets.chunks(5).filter(|packet| packet[2] == 3.0);
        let now: Vec<[f64; 3]> = back.map(|one| [one[0], one[4], one[3]]).collect();
        for &[flow, seq, progress] in &now {
            assert!((0.0..=1.0).contains(&progress), "{progress}");
            seen += 1;
            // 10 ms of a way of 40 ms, and the little that a small packet takes to be sent.
            let before =
                |one: &[f64; 3]| one[..2] == [flow, seq] && (progress - one[2] - 0.25).abs() < 0.01;
            if progress > 0.26 {
                assert!(last.iter().any(before), "flow {flow}, {seq}: {progress} at {step}");
                moved += 1;
            }
        }
        last = now;
    }
    assert!(seen > 1000 && moved > 500, "{seen}, {moved}");
}

#[test]
fn bad_input_is_told_in_the_programs_words_and_the_run_goes_on() {
    let said = |text: &str, settings: &[&str]| {
        Lab::new(text, "s.toml", Memory::new(), settings, 1).unwrap_err().to_string()
    };
    assert!(said("title = 5x", &[]).starts_with("s.toml, line 1: "), "{}", said("title = 5x", &[]));
    let empty = "title = \"t\"\nduration_s = 1";
    assert_eq!(
        said(empty, &[]),
        "s.toml: flow: there is none, expected at least one flow to watch"
    );
    assert!(said(RADIO, &["flow.stream.lda=Spkie"]).contains("did you mean \"Spike\"?"));
    let mut lab = lab(1);
    lab.advance(3.0);
    let refused = |lab: &mut Lab, setting: &str| lab.change(setting).unwrap_err().to_string();
    assert_eq!(
        refused(&mut lab, "flow.stream.lda=Biaz"),
        "flow.stream.lda=Biaz: holds from the start of a run, expected a key of a link, such as link.NAME.rate_bps, a flow \
         more, flow.NAME={ … }, or flow.NAME.stop_s"
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
    let mut ask = |request: Value| -> Value {
        serde_json::from_str(&labs.answer(&request.to_string())).unwrap()
    };
    assert!(ask(json!("catalogue"))["algorithms"].as_array().unwrap().len() > 10);
    let opened = ask(json!({ "open": { "text": RADIO, "name": "radio.toml", "seed": 1 } }));
    assert_eq!((&opened["lab"], &opened["columns"]), (&json!(0), &json!(5)));
    assert_eq!(opened["info"]["bottleneck"], "radio");
    assert_eq!(opened["info"]["flows"][1]["measured"], false);
    // 1 Mb/s for 20 s are 2500 packets, over one link there and one back.
    assert_eq!(opened["info"]["packet_hops"], 5000.0);
    let links =
        ask(json!({ "change": { "labs": [0], "settings": ["link.radio.channel.loss=0.5"] } }));
    assert_eq!(links["links"][0]["loss"], 0.5);
    assert_eq!(links["flows"][1]["start_s"], 5.0);
    assert_eq!(ask(json!({ "watch": { "lab": 0, "link": "radio" } }))["bottleneck"], "radio");
    assert_eq!(ask(json!({ "seek": { "lab": 0, "to_s": 1.0 } }))["changes"][0][0], 0.0);
    assert_eq!(ask(json!({ "network": { "lab": 0 } })), links);
    assert_eq!(ask(json!({ "close": { "lab": 0 } })), Value::Null);
    assert_eq!(ask(json!({ "result": { "lab": 0 } }))["error"], "there is no run number 0");
    assert!(ask(json!({ "open": 5 }))["error"].as_str().unwrap().starts_with("the request: "));
}

#[test]
fn a_change_is_made_by_all_runs_or_none_and_a_refusal_is_named() {
    let mut labs = Labs::new();
    let mut ask = |request: Value| -> Value {
        serde_json::from_str(&labs.answer(&request.to_string())).unwrap()
    };
    let own = ["link.radio.rate_variation={ kind = \"steps\", points = [[4, 5e5]] }"];
    for settings in [&[][..], &own] {
        ask(
            json!({ "open": { "text": RADIO, "name": "radio.toml", "seed": 1, "settings": settings } }),
        );
    }
    let mut change =
        |settings: &[&str]| ask(json!({ "change": { "labs": [0, 1], "settings": settings } }));
    let refused = change(&["link.radio.delay_ms=5", "link.radio.rate_bps=5e5"]);
    assert!(refused["error"].as_str().unwrap().contains("varying rate"), "{refused}");
    assert_eq!(refused["lab"], 1);
    let refused = change(&["link.radio.delay_ms=-5"]);
    assert_eq!(refused.get("lab"), None);
    assert!(refused["error"].as_str().unwrap().contains("delay_ms"), "{refused}");
    let made = change(&["link.radio.queue_packets=5"]);
    assert_eq!(made["changes"], json!([[0.0, "link.radio.queue_packets=5"]]));
    for lab in [0, 1] {
        let link = &ask(json!({ "network": { "lab": lab } }))["links"][0];
        assert_eq!((&link["delay_ms"], &link["queue_packets"]), (&json!(40.0), &json!(5)));
    }
}
