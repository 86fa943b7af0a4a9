//! Logs of QUIC: every draft's form gives the same analysis, and what is no qlog is refused in one
//! sentence.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::io::Write;

use losscause::Verdict;
use losscause_capture::{Analysis, Evidence, Flow, Options, Protocol, Vantage, analyze};
use proptest::prelude::*;
use serde_json::{Value, json};

fn analysed(file: &str) -> Analysis {
    analyze(file.as_bytes(), "f", &Options::all()).unwrap()
}

fn refusal(file: &str) -> String {
    analyze(file.as_bytes(), "f", &Options::all()).unwrap_err().to_string()
}

/// An event: its time in milliseconds, name and data.
type Event = (f64, &'static str, Value);

fn sent(ms: f64, number: u64) -> Event {
    let header = json!({"packet_type": "1RTT", "packet_number": number});
    (
        ms,
        "packet_sent",
        json!({"header": header, "raw": {"length": 1200}, "frames": [{"frame_type": "stream"}]}),
    )
}

fn acked(ms: f64, number: u64, ranges: &[[u64; 2]]) -> Event {
    let header = json!({"packet_type": "1RTT", "packet_number": number});
    let frame = json!({"frame_type": "ack", "ack_delay": 1.0, "acked_ranges": ranges});
    (ms, "packet_received", json!({"header": header, "raw": {"length": 40}, "frames": [frame]}))
}

fn lost(ms: f64, number: u64, trigger: &str) -> Event {
    let header = json!({"packet_type": "1RTT", "packet_number": number});
    (ms, "packet_lost", json!({"header": header, "trigger": trigger}))
}

/// Twelve packets, one every millisecond, each acknowledged 20 ms later; packets 4 and 5 never
/// arrive. `declares` says whether the stack logs what it declares lost.
fn transfer(declares: bool) -> Vec<Event> {
    let mut events: Vec<Event> = (0..12_u32).map(|n| sent(f64::from(n), u64::from(n))).collect();
    for n in (0..12_u64).filter(|n| ![4, 5].contains(n)) {
        let ms = 20.0 + n as f64;
        let ranges = if n < 4 { vec![[0, n]] } else { vec![[6, n], [0, 3]] };
        events.push(acked(ms, n, &ranges));
        match (declares, n) {
            (true, 7) => events.push(lost(ms, 4, "reordering_threshold")),
            (true, 8) => events.push(lost(ms, 5, "reordering_threshold")),
            _ => {}
        }
    }
    events
}

fn current(prefix: &str, events: &[Event]) -> Vec<Value> {
    events
        .iter()
        .map(|(ms, name, data)| json!({"time": ms, "name": format!("{prefix}:{name}"), "data": data}))
        .collect()
}

fn started() -> Value {
    let local = json!({"ip_v4": "10.0.0.1", "port_v4": 443});
    json!({"time": 0, "name": "quic:connection_started",
           "data": {"local": local, "remote": {"ip_v6": "2001:db8::1", "port_v6": 5000}}})
}

/// The newest schema as a sequence of records.
fn sequence(events: &[Value]) -> String {
    let header = json!({"file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "trace": {"common_fields": {"time_format": "relative_to_epoch"}, "vantage_point": {"type": "server"}}});
    [&header].into_iter().chain(events).map(|value| format!("\u{1e}{value}\n")).collect()
}

/// The form of drafts 00 and 01: columns, texts for numbers, a unit.
fn columns(events: &[Event]) -> String {
    let row = |(ms, name, data): &Event| {
        let number = data["header"]["packet_number"].to_string();
        let mut old = json!({"packet_type": "1RTT", "packet_number": number, "trigger": data["trigger"],
            "header": {"packet_number": number, "packet_size": data["raw"]["length"].to_string()}});
        let mut frames = data["frames"].clone();
        for frame in frames.as_array_mut().into_iter().flatten() {
            frame["frame_type"] = frame["frame_type"].as_str().unwrap().to_uppercase().into();
            frame["ack_delay"] = "1000".into();
            for end in frame["acked_ranges"].as_array_mut().into_iter().flatten() {
                *end = end
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|end| Value::from(end.to_string()))
                    .collect();
            }
        }
        old["frames"] = frames;
        json!([((ms * 1000.0) as u64).to_string(), "TRANSPORT", name.to_uppercase(), "", old])
    };
    let fields = ["RELATIVE_TIME", "CATEGORY", "EVENT_TYPE", "TRIGGER", "DATA"];
    let events: Vec<Value> = events.iter().map(row).collect();
    json!({"qlog_version": "draft-00", "traces": [{"configuration": {"time_units": "us"},
        "vantage_point": {"type": "server"}, "event_fields": fields, "events": events}]})
    .to_string()
}

fn one_text(version: &str, prefix: &str, common: &Value, events: &[Event]) -> String {
    json!({"qlog_version": version, "qlog_format": "JSON", "traces": [{"vantage_point": {"type": "server"},
        "common_fields": common, "events": current(prefix, events)}]})
    .to_string()
}

/// The flow that this end sends.
fn flow_of(analysis: &Analysis) -> &Flow {
    analysis.flows.iter().find(|flow| flow.vantage == Vantage::Sender).unwrap()
}

fn lost_numbers(analysis: &Analysis) -> Vec<u64> {
    flow_of(analysis).losses.iter().map(|loss| loss.seq).collect()
}

#[test]
fn a_flow_has_the_losses_that_the_stack_declared() {
    let mut events = vec![started()];
    events.extend(current("quic", &transfer(true)));
    let analysis = analysed(&sequence(&events));
    let flow = flow_of(&analysis);
    assert_eq!((flow.src.as_str(), flow.dst.as_str()), ("10.0.0.1:443", "[2001:db8::1]:5000"));
    assert_eq!((flow.protocol, flow.packets, flow.bytes), (Protocol::Quic, 12, 14_400));
    assert_eq!(lost_numbers(&analysis), [4, 5]);
    let loss = &flow.losses[0];
    assert_eq!((loss.time_s, loss.bytes, loss.evidence), (0.027, 1_200, Evidence::FastRetransmit));
    assert_eq!(analysis.packets, 22);
    assert_eq!(flow.losses[0].verdicts.iter().count(), flow.summary.len());
}

#[test]
fn the_verdict_follows_the_queue_as_at_a_tcp_sender() {
    // Round trips of 20 ms, then of up to 60 ms as a queue fills; packet 75 is lost there. Half a
    // second later the queue is empty, and packet 110 is lost. The stack declares each when the
    // third later packet is acknowledged.
    let sent_ms = |n: u64| n as f64 + if n < 80 { 0.0 } else { 500.0 };
    let rtt_ms = |n: u64| if n < 80 { 20.0 + (n as f64 - 40.0).max(0.0) } else { 20.0 };
    let mut events: Vec<Event> = (0..140).map(|n| sent(sent_ms(n), n)).collect();
    for n in (0..140).filter(|n| ![75, 110].contains(n)) {
        let ms = sent_ms(n) + rtt_ms(n);
        events.push(acked(ms, n, &[[n, n]]));
        if n == 78 || n == 113 {
            events.push(lost(ms, n - 3, "reordering_threshold"));
        }
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    let analysis = analysed(&sequence(&current("quic", &events)));
    let flow = flow_of(&analysis);
    assert_eq!(flow.recommended.as_deref(), Some("spike"));
    let verdicts: Vec<_> =
        flow.losses.iter().map(|loss| (loss.seq, loss.verdicts.of("spike").unwrap())).collect();
    assert_eq!(verdicts, [(75, Verdict::Congestion), (110, Verdict::Wireless)]);
}

#[test]
fn every_draft_says_the_same() {
    let events = transfer(true);
    let expected = serde_json::to_value(analysed(&sequence(&current("quic", &events)))).unwrap();
    let mut absolute = events.clone();
    absolute.iter_mut().for_each(|event| event.0 += 1_600_000_000_000.0);
    let mut delta = events.clone();
    (1..delta.len()).for_each(|i| delta[i].0 = events[i].0 - events[i - 1].0);
    let lines: String = [json!({"qlog_version": "draft-02", "qlog_format": "NDJSON",
        "trace": {"vantage_point": {"type": "server"}}})]
    .into_iter()
    .chain(current("transport", &events))
    .map(|value| format!("{value}\n"))
    .collect();
    let forms = [
        columns(&events),
        one_text("draft-02", "transport", &json!({"time_format": "relative"}), &events),
        one_text("0.3", "recovery", &json!({"time_format": "absolute"}), &absolute),
        one_text("0.4", "quic", &json!({"time_format": "delta"}), &delta),
        lines,
        format!(" \n{}", one_text("0.4", "quic", &json!({"reference_time": 5}), &events)),
    ];
    for form in forms {
        assert_eq!(serde_json::to_value(analysed(&form)).unwrap(), expected, "{form}");
    }
}

#[test]
fn gzip_is_read_like_any_capture() {
    let text = sequence(&current("quic", &transfer(true)));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let analysis = analyze(gzip.finish().unwrap().as_slice(), "f", &Options::all()).unwrap();
    assert_eq!(lost_numbers(&analysis), [4, 5]);
}

#[test]
fn without_declarations_three_later_packets_make_a_loss() {
    let analysis = analysed(&sequence(&current("quic", &transfer(false))));
    assert_eq!(lost_numbers(&analysis), [4, 5]);
    // Packet 7 is three behind packet 4; its acknowledgement arrives at 27 ms.
    let times: Vec<f64> = flow_of(&analysis).losses.iter().map(|loss| loss.time_s).collect();
    assert_eq!(times, [0.027, 0.028]);
}

#[test]
fn without_declarations_time_makes_a_loss_too() {
    // Round trips of 10 ms: packet 1 is one behind packet 2, and declared when it is 11.25 ms old.
    let acks = [
        acked(10.0, 0, &[[0, 0]]),
        acked(12.0, 1, &[[0, 0], [2, 2]]),
        acked(14.0, 2, &[[0, 0], [2, 3]]),
    ];
    let mut events: Vec<Event> = (0..3_u32).map(|n| sent(f64::from(n), u64::from(n))).collect();
    events.extend([sent(4.0, 3)]);
    events.extend(acks);
    let analysis = analysed(&sequence(&current("quic", &events)));
    assert_eq!(lost_numbers(&analysis), [1]);
    assert_eq!(flow_of(&analysis).losses[0].time_s, 0.014);
}

#[test]
fn an_expired_timer_is_congestion_and_an_mtu_probe_is_no_loss() {
    let mut events = transfer(false);
    events.push(lost(90.0, 4, "pto_expired"));
    let mut probe = lost(91.0, 5, "reordering_threshold");
    probe.2["is_mtu_probe_packet"] = true.into();
    events.push(probe);
    let analysis = analysed(&sequence(&current("quic", &events)));
    assert_eq!(lost_numbers(&analysis), [4]);
    let flow = flow_of(&analysis);
    assert_eq!(flow.losses[0].evidence, Evidence::Timeout);
    assert!(flow.summary.values().all(|summary| summary.congestion == 1));
}

#[test]
fn old_drafts_have_a_column_for_the_trigger() {
    let mut events = transfer(false);
    events.push(lost(90.0, 4, ""));
    events.iter_mut().for_each(|event| _ = event.2.as_object_mut().unwrap().remove("trigger"));
    // Only the row of the loss has it.
    let text = columns(&events).replace("\"PACKET_LOST\",\"\"", "\"PACKET_LOST\",\"PTO_EXPIRED\"");
    let analysis = analysed(&text);
    assert_eq!(
        flow_of(&analysis).losses.iter().map(|loss| loss.evidence).collect::<Vec<_>>(),
        [Evidence::Timeout]
    );
}

#[test]
fn a_packet_acknowledged_behind_its_declaration_is_spurious() {
    for declares in [true, false] {
        let mut events = transfer(declares);
        events.push(acked(40.0, 12, &[[0, 4], [6, 11]]));
        let analysis = analysed(&sequence(&current("quic", &events)));
        assert_eq!(
            (lost_numbers(&analysis), flow_of(&analysis).spurious),
            (vec![5], 1),
            "declares: {declares}"
        );
    }
}

#[test]
fn a_loss_logged_before_its_acknowledgement_is_judged_the_same() {
    let usual = transfer(true);
    let mut early = usual.clone();
    for i in 1..early.len() {
        if early[i].1 == "packet_lost" {
            early.swap(i - 1, i);
        }
    }
    let json = |events: &[Event]| {
        serde_json::to_value(analysed(&sequence(&current("quic", events)))).unwrap()
    };
    assert_eq!(json(&early), json(&usual));
}

#[test]
fn packets_of_the_handshake_are_counted_and_not_judged() {
    let mut events = transfer(true);
    for name in ["initial", "handshake"] {
        let mut packet = sent(0.0, 0);
        packet.2["header"]["packet_type"] = name.into();
        events.insert(0, packet);
    }
    let analysis = analysed(&sequence(&current("quic", &events)));
    assert_eq!((analysis.packets, analysis.other_packets, flow_of(&analysis).packets), (24, 2, 12));
}

#[test]
fn a_packet_of_unknown_type_counts_as_application_data() {
    let mut events = transfer(true);
    events.iter_mut().for_each(|event| event.2["header"]["packet_type"] = "UNKNOWN".into());
    let analysis = analysed(&sequence(&current("quic", &events)));
    assert_eq!((lost_numbers(&analysis), analysis.other_packets), (vec![4, 5], 0));
}

#[test]
fn without_addresses_ends_are_named_by_the_vantage_point() {
    for (point, ends) in [
        (json!({"name": "phone", "type": "CLIENT"}), ("phone (client)", "server")),
        (json!({"name": "phone"}), ("phone", "other end")),
        (json!({"type": "unknown"}), ("this end", "other end")),
    ] {
        let events = current("quic", &transfer(true));
        let analysis = analysed(
            &json!({"qlog_version": "0.4", "traces": [{"vantage_point": point, "events": events}]})
                .to_string(),
        );
        let flow = flow_of(&analysis);
        assert_eq!((flow.src.as_str(), flow.dst.as_str()), ends);
    }
}

#[test]
fn the_logged_congestion_window_is_that_of_the_algorithms() {
    // Vegas buffer compares the packets queued, W (1 - min RTT / RTT), with a threshold: only the
    // window differs here.
    let verdict_with = |bytes: u64| {
        let mut events: Vec<Event> =
            (0..60_u32).map(|n| sent(f64::from(n), u64::from(n))).collect();
        for n in (0..60_u64).filter(|&n| n != 50) {
            let rtt = if n < 30 { 20.0 } else { 22.0 };
            events.push(acked(n as f64 + rtt, n, &[[n, n]]));
        }
        events.push((0.0, "recovery_metrics_updated", json!({"congestion_window": bytes})));
        events.push(lost(75.0, 50, "time_threshold"));
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let analysis = analysed(&sequence(&current("quic", &events)));
        flow_of(&analysis).losses[0].verdicts.of("vegas-buffer").unwrap()
    };
    // Round trips of 20 and, without the peer's delay, 21 ms: 11 packets hold half of one in the
    // queue, 220 hold ten.
    assert_eq!(verdict_with(11 * 1_200), Verdict::Wireless);
    assert_eq!(verdict_with(220 * 1_200), Verdict::Congestion);
}

#[test]
fn a_log_of_metrics_and_losses_is_enough() {
    // As quinn logs: no packets, and the metrics of an acknowledgement behind the losses that it
    // shows. Round trips of 20 ms, then of up to 60 ms, then of 20 ms again.
    let mut events: Vec<Event> = Vec::new();
    for n in 0..120_u32 {
        let queued = if n < 80 { (f64::from(n) - 40.0).max(0.0) } else { 0.0 };
        let ms = 2.0 * f64::from(n) + queued;
        if n == 75 || n == 110 {
            let mut loss = lost(ms, u64::from(n) - 3, "reordering_threshold");
            loss.2["header"]["length"] = 1_452.into();
            events.push(loss);
        }
        let rtt = 20.0 + queued + f64::from(n % 2) / 10.0;
        events.push((
            ms,
            "metrics_updated",
            json!({"latest_rtt": rtt, "congestion_window": 60_000}),
        ));
    }
    let analysis = analysed(&sequence(&current("recovery", &events)));
    let flow = flow_of(&analysis);
    let losses: Vec<_> = flow
        .losses
        .iter()
        .map(|loss| (loss.seq, loss.bytes, loss.verdicts.of("spike").unwrap()))
        .collect();
    assert_eq!(losses, [(72, 1_452, Verdict::Congestion), (107, 1_452, Verdict::Wireless)]);
    assert_eq!((flow.packets, analysis.packets, analysis.duration_s), (0, 0, 0.238));
}

#[test]
fn a_receiver_finds_gaps_and_tells_late_packets_apart() {
    let arrives = |ms: f64, number: u64| {
        let (_, _, data) = sent(ms, number);
        (ms, "packet_received", data)
    };
    let numbers = [0, 1, 2, 5, 6, 3, 7, 7];
    let events: Vec<Event> =
        (0_u32..).zip(numbers).map(|(i, number)| arrives(f64::from(i), number)).collect();
    let analysis = analysed(&sequence(&current("quic", &events)));
    let [flow] = analysis.flows.as_slice() else { panic!("one flow") };
    assert_eq!(
        (flow.vantage, flow.src.as_str(), flow.dst.as_str()),
        (Vantage::Receiver, "client", "server")
    );
    assert_eq!(
        flow.losses.iter().map(|loss| (loss.seq, loss.evidence)).collect::<Vec<_>>(),
        [(4, Evidence::Gap)]
    );
    assert_eq!((flow.reordered, flow.duplicates), (1, 1));
    assert!(flow.not_applicable["spike"].contains("timestamp"), "{:?}", flow.not_applicable);
    assert!(!flow.not_applicable.contains_key("biaz"));
}

#[test]
fn connections_of_a_trace_and_traces_of_a_file_are_own_flows() {
    let mut values = current("quic", &transfer(true));
    for (index, value) in values.clone().into_iter().enumerate() {
        let mut value = value;
        value["group_id"] = "other".into();
        values.insert(2 * index, value);
    }
    assert_eq!(analysed(&sequence(&values)).flows.len(), 2);
    let text = one_text("0.4", "quic", &json!({}), &transfer(true));
    let analysis = analysed(&format!("{text}\n{text}"));
    assert_eq!((analysis.flows.len(), analysis.out_of_order_times), (2, 0));
    assert_eq!(analysis.duration_s, 0.031);
}

#[test]
fn what_is_whole_of_a_cut_log_is_analysed() {
    let events = transfer(true);
    for text in [sequence(&current("quic", &events)), one_text("0.4", "quic", &json!({}), &events)]
    {
        let analysis = analysed(&text[..text.len() - 60]);
        assert_eq!(lost_numbers(&analysis), [4, 5]);
        assert_eq!(
            (analysis.packets, analysis.truncation.as_deref()),
            (21, Some("ends inside an event"))
        );
        let rest = text[analysis.truncated_at.unwrap() as usize..].trim_start();
        assert!(rest.starts_with(",{\"data\"") || rest.starts_with("\u{1e}{\"data\""), "{rest}");
    }
    let analysis =
        analysed(&format!("{}\u{1e}{{\"time\": oops}}\n", sequence(&current("quic", &events))));
    assert_eq!(analysis.packets, 22);
    assert!(analysis.truncation.unwrap().starts_with("is damaged: expected value"));
}

#[test]
fn json_that_is_no_qlog_is_refused() {
    let other = "is no qlog (it is JSON without qlog's header or traces), expected a pcap, pcapng or qlog file, plain or \
                 compressed with gzip, xz or zstd";
    assert_eq!(refusal("{\"traces\": []}"), other);
    for (text, problem) in [
        ("{\"name\": \"value\"}", "the JSON is damaged: has no header of a qlog"),
        ("{", "the JSON ends inside an event"),
        ("{nonsense", "the JSON is damaged: key must be a string"),
        (
            "{\"qlog_version\": \"0.4\", \"traces\": 5}",
            "the JSON is damaged: invalid type: integer `5`, expected the traces",
        ),
    ] {
        let refusal = refusal(text);
        assert!(refusal.starts_with(&format!("is no qlog ({problem}")), "{text}: {refusal}");
    }
}

#[test]
fn a_value_that_does_not_end_is_given_up() {
    let text = format!(
        "{}\u{1e}{{\"time\": 1, \"data\": \"{}",
        sequence(&current("quic", &transfer(true))),
        "a".repeat(17 << 20)
    );
    let analysis = analysed(&text);
    assert_eq!(lost_numbers(&analysis), [4, 5]);
    assert!(analysis.truncation.unwrap().contains("a value has more than 16 MiB"));
}

proptest! {
    /// Ranges mean a set: neither their order, nor their cut into pieces, nor saying them again
    /// changes a loss.
    #[test]
    fn shuffled_and_cut_ranges_give_the_same_losses(
        arrives in prop::collection::vec(prop::bool::weighted(0.8), 1..60),
        cuts in prop::collection::vec(any::<u8>(), 60),
        declares: bool,
    ) {
        let numbers = 0..arrives.len() as u64;
        let mut plain: Vec<Event> = numbers.clone().map(|n| sent(n as f64, n)).collect();
        let mut shuffled = plain.clone();
        for n in numbers.filter(|&n| arrives[n as usize]) {
            let mut ranges: Vec<[u64; 2]> = (0..=n).filter(|&n| arrives[n as usize]).map(|n| [n, n]).collect();
            let ms = 100.0 + n as f64;
            let mut pieces = ranges.clone();
            pieces.sort_by_key(|piece| cuts[piece[0] as usize]);
            ranges.dedup_by(|next, last| {
                let joins = last[1] + 1 == next[0];
                if joins { last[1] = next[1]; }
                joins
            });
            plain.push(acked(ms, n, &ranges));
            shuffled.push(acked(ms, n, &pieces));
            if declares && n >= 3 && !arrives[n as usize - 3] {
                plain.push(lost(ms, n - 3, "reordering_threshold"));
                shuffled.push(lost(ms, n - 3, "reordering_threshold"));
            }
        }
        let [plain, shuffled] = [plain, shuffled].map(|events| analysed(&sequence(&current("quic", &events))));
        prop_assert_eq!(serde_json::to_value(&plain.flows).unwrap(), serde_json::to_value(&shuffled.flows).unwrap());
        if !declares {
            // RFC 9002, section 6.1.1; round trips are all the same, so that time alone declares no
            // packet within a millisecond of the newest.
            let newest = arrives.iter().rposition(|arrived| *arrived).unwrap_or(0);
            let expected: Vec<u64> =
                (0..arrives.len()).filter(|&n| !arrives[n] && newest >= n + 3).map(|n| n as u64).collect();
            prop_assert_eq!(lost_numbers(&plain), expected);
        }
    }
}
