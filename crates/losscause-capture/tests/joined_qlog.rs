//! The logs of both ends of a QUIC connection: losses are known, and the trips of the others too.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use losscause::Verdict;
use losscause_capture::{Flow, JoinError, Joined, Options, Protocol, Vantage, analyze_both};

/// A log: its role, what it says of the connection, and its events: time in milliseconds, name,
/// packet number.
fn log(role: &str, common: &str, events: &[(f64, &str, u64)]) -> Vec<u8> {
    let header = format!(
        "{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"trace\":{{\"common_fields\":{{{common}}},\
         \"vantage_point\":{{\"type\":\"{role}\"}}}}}}"
    );
    let event = |&(ms, name, number): &(f64, &str, u64)| {
        format!(
            "{{\"time\":{ms},\"name\":\"transport:{name}\",\"data\":{{\"header\":{{\"packet_type\":\"1RTT\",\
             \"packet_number\":{number}}},\"raw\":{{\"length\":1200}},\"frames\":[{{\"frame_type\":\"stream\"}}]}}}}"
        )
    };
    let records = std::iter::once(header).chain(events.iter().map(event));
    records.flat_map(|record| format!("\u{1e}{record}\n").into_bytes()).collect()
}

/// A path whose queue fills and empties every 200 packets: its trip in milliseconds, of packet `k`.
fn trip_ms(k: u64) -> f64 {
    20.0 + 0.5 * (k % 200).min(200 - k % 200) as f64
}

/// What the client sends, one packet every 2 ms, and what of it arrives.
fn sent() -> Vec<(f64, &'static str, u64)> {
    (0..4_000).map(|k| (2.0 * k as f64, "packet_sent", k)).collect()
}

fn arrived() -> Vec<(f64, &'static str, u64)> {
    let passes = |k: &u64| !queue().contains(k) && !air().contains(k);
    (0..4_000).filter(passes).map(|k| (2.0 * k as f64 + trip_ms(k), "packet_received", k)).collect()
}

fn queue() -> Vec<u64> {
    (0..20).map(|k| 200 * k + 100).collect()
}

fn air() -> Vec<u64> {
    (0..20).map(|k| 200 * k + 5).collect()
}

fn join(sender: &[u8], receiver: &[u8]) -> Result<Joined, JoinError> {
    analyze_both((sender, "client.sqlog"), (receiver, "server.sqlog"), &Options::all())
}

fn lost(flow: &Flow) -> Vec<u64> {
    let mut lost: Vec<u64> = flow.losses.iter().map(|loss| loss.seq).collect();
    lost.sort_unstable();
    lost
}

#[test]
fn what_was_sent_and_not_received_is_lost_and_judged_by_trips() {
    let client = log("client", "\"ODCID\":\"A1B2\"", &sent());
    let server = log("server", "\"ODCID\":\"a1b2\"", &arrived());
    let joined = join(&client, &server).unwrap();
    let [flow] = &joined.both.flows[..] else { panic!("{:?}", joined.both.flows) };
    assert_eq!((flow.protocol, flow.vantage), (Protocol::Quic, Vantage::Both));
    let mut known = [queue(), air()].concat();
    known.sort_unstable();
    assert_eq!(lost(flow), known);
    let spike = |of: &[u64], verdict| {
        let judged = flow.losses.iter().filter(|loss| of.contains(&loss.seq));
        judged.filter(|loss| loss.verdicts.of("spike@receiver") == Some(verdict)).count()
    };
    assert!(spike(&queue(), Verdict::Congestion) >= 18, "{:?}", flow.summary["spike@receiver"]);
    assert!(spike(&air(), Verdict::Wireless) >= 18, "{:?}", flow.summary["spike@receiver"]);
    assert!(joined.receiver.flows[0].queueing.is_none(), "a receiver's log alone knows no trip");
    assert!((20.0..30.0).contains(&flow.queueing.unwrap().p50_ms), "{:?}", flow.queueing);
    assert!(flow.losses.iter().all(|loss| loss.frame.is_none() && loss.time_utc.is_none()));
    assert_eq!(flow.alone.unwrap().receiver.found, known.len() as u64);
}

#[test]
fn what_the_other_end_sends_is_joined_too() {
    let back = |name, all: bool| {
        let numbers = (0..300).filter(move |k| all || k % 100 != 50);
        numbers.map(move |k| (4.0 * k as f64 + if all { 0.0 } else { 30.0 }, name, k))
    };
    let client: Vec<_> = sent().into_iter().chain(back("packet_received", false)).collect();
    let server: Vec<_> = arrived().into_iter().chain(back("packet_sent", true)).collect();
    let joined = join(&log("client", "", &client), &log("server", "", &server)).unwrap();
    let lost: Vec<_> =
        joined.both.flows.iter().map(|flow| (flow.src.as_str(), flow.losses.len())).collect();
    assert_eq!(lost, [("client", 40), ("server", 3)]);
}

#[test]
fn logs_of_two_connections_have_nothing_in_common() {
    let client = log("client", "\"ODCID\":\"a1b2\"", &sent());
    let server = log("server", "\"ODCID\":\"c3d4\"", &arrived());
    assert!(matches!(join(&client, &server), Err(JoinError::NoCommonFlow)));
}

#[test]
fn logs_in_the_wrong_order_are_refused() {
    let client = log("client", "", &sent());
    let server = log("server", "", &arrived());
    assert!(matches!(join(&server, &client), Err(JoinError::Swapped)));
}

#[test]
fn of_a_damaged_log_the_damage_is_what_is_said() {
    let client = log("client", "\"ODCID\":\"a1b2\"", &sent());
    let mut server = log("server", "\"ODCID\":\"c3d4\"", &arrived());
    server.truncate(server.len() - 20);
    let error = join(&client, &server).unwrap_err().to_string();
    assert!(
        error.starts_with("have no flow in common: server.sqlog: ends inside an event at byte "),
        "{error}"
    );
}
