//! What a run measures, held against numbers worked out by hand.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use losscause_study::run::{SimulationResult, WarningKind};
use losscause_study::{Context, Experiment, Measurements, Scenario, run, run_recorded};

mod common;

use common::{TWO_GROUPS, build, experiment};

/// 100 packets of 1000 bytes a second over a link that carries 125 a second.
const CBR: &str = r#"
title = "constant bit rate"
duration_s = 12
[measure]
from_s = 1
to_s = 11
bottleneck = "line"
[[link]]
name = "line"
rate_bps = 1e6
delay_ms = 10
queue_packets = 3
[[flow]]
name = "source"
protocol = "cbr"
path = ["line"]
rate_bps = 800e3
packet_bytes = 1000
measured = true
"#;

fn measured(text: &str, settings: &[&str]) -> Measurements {
    run(&experiment(text, settings), 1).unwrap()
}

fn close(measurements: &Measurements, metric: &str, expected: f64, tolerance: f64) {
    let value = measurements.metric(metric).unwrap_or_else(|| panic!("{metric} is not defined"));
    assert!((value - expected).abs() <= tolerance, "{metric} is {value}, expected {expected}");
}

#[test]
fn a_source_of_80_percent_has_that_throughput_and_no_loss() {
    let run = measured(CBR, &[]);
    // One packet more or less at the ends of the window is 0.08 percent.
    close(&run, "thput", 80.0, 0.081);
    close(&run, "thput_intact", 80.0, 0.081);
    close(&run, "cong", 0.0, 0.0);
    close(&run, "queue_drops", 0.0, 0.0);
    // A packet is 18 ms on its way: those of the last 18 ms of 12 s do not arrive.
    close(&run, "goodput", 800.0, 800.0 * 0.02 / 12.0 + 0.7);
    assert_eq!(run.metric("M_c"), None);
    assert_eq!(run.metric("dev"), None);
    assert_eq!(run.flows[0].sent_packets, 1201, "one at the start and one every 10 ms up to 12 s");
}

#[test]
fn a_source_of_twice_the_line_fills_it_and_loses_as_much_again() {
    let run = measured(CBR, &["flow.source.rate_bps=2e6"]);
    close(&run, "thput", 100.0, 0.081);
    // 250 packets a second come, 125 cross: one is dropped for each that crosses.
    close(&run, "cong", 100.0, 0.2);
    close(&run, "wireless_drops", 0.0, 0.0);
    assert_eq!(run.links[0].queue_drops, run.flows[0].queue_drops);
    assert!((run.links[0].utilisation_percent.unwrap() - 100.0).abs() < 0.081);
}

#[test]
fn corrupted_packets_have_crossed_the_link_but_not_arrived() {
    let channel = "link.line.channel={kind=\"bernoulli\", loss=1}";
    let run = measured(CBR, &[channel]);
    close(&run, "thput", 80.0, 0.081);
    close(&run, "thput_intact", 0.0, 0.0);
    close(&run, "cong", 0.0, 0.0);
    close(&run, "goodput", 0.0, 0.0);
    let before = measured(CBR, &[channel, "link.line.error_position=before-queue"]);
    close(&before, "thput", 0.0, 0.0);
    assert_eq!(before.metric("cong"), None, "nothing crossed, so there is no share");
    assert_eq!(
        before.metric("wireless_drops"),
        run.metric("wireless_drops").map(|drops| drops + 2.0),
        "two are under way"
    );
}

#[test]
fn an_immune_flow_loses_nothing_to_the_air() {
    let run = measured(
        CBR,
        &["link.line.channel={kind=\"bernoulli\", loss=1}", "flow.source.wireless_immune=true"],
    );
    close(&run, "thput_intact", 80.0, 0.081);
    close(&run, "wireless_drops", 0.0, 0.0);
}

#[test]
fn a_flow_is_measured_over_its_own_life() {
    let run = measured(CBR, &["flow.source.start_s=2", "flow.source.stop_s=7"]);
    // 500 packets in 5 s, though the window has 10 s.
    close(&run, "goodput", 800.0, 1.7);
    close(&run, "thput", 40.0, 0.081);
}

#[test]
fn two_equal_sources_have_no_deviation_and_unmeasured_count_not() {
    let two = format!("{CBR}count = 2\n");
    let run = measured(&two, &["flow.source.rate_bps=400e3", "flow.source.start_spread_s=0.5"]);
    close(&run, "thput", 80.0, 0.1);
    close(&run, "dev", 0.0, 0.2);
    assert_eq!(run.flows.len(), 2);
    let none = measured(&two, &["flow.source.measured=false"]);
    close(&none, "thput", 0.0, 0.0);
    assert_eq!(none.metric("goodput"), None);
}

#[test]
fn a_groups_share_is_held_against_an_equal_share_per_flow() {
    // Three flows on 1 Mb/s: a third, 333 kb/s, is 100 %. One sends 400 kb/s, 120 %, two send 100
    // kb/s each, 30 %.
    let other = "[[flow]]\nname = \"other\"\ncount = 2\nprotocol = \"cbr\"\npath = [\"line\"]\nrate_bps = 100e3\nmeasured = true\n";
    let run = measured(&format!("{CBR}\n{other}"), &["flow.source.rate_bps=400e3"]);
    close(&run, "norm_thput.source", 120.0, 0.3);
    close(&run, "norm_thput.other", 30.0, 0.3);
    let alone = measured(CBR, &[]);
    assert!(
        alone.metrics.iter().all(|m| !m.metric.starts_with("norm_thput")),
        "one group shares with nobody"
    );
}

#[test]
fn a_base_scheme_that_was_never_in_force_has_a_share_of_zero() {
    let tfrc = CBR
        .replace("protocol = \"cbr\"", "protocol = \"tfrc\"\nlda = \"ZBS\"")
        .replace("rate_bps = 800e3", "");
    let run =
        measured(&tfrc, &["measure.from_s=0", "lda.ZBS.lock_ms=1e6", "lda.ZBS.lock_pkts=1e6"]);
    // The first scheme is locked for longer than the run.
    assert_eq!(
        ["ZigZag", "Spike", "mBiaz"].map(|base| run.metric(&format!("usage.{base}"))),
        [100.0, 0.0, 0.0].map(Some)
    );
}

#[test]
fn flows_that_come_and_go_are_measured_over_their_own_lives() {
    // 100 packets a second each, for 2, 3 and no seconds of the run; the third would come after its
    // end.
    let text = CBR.replace(
        "measured = true",
        "measured = true\narrivals = { kind = \"list\", times_s = [[1, 3], [5, 8], [20, 30]] }",
    );
    let run = measured(&text, &[]);
    let lives: Vec<_> = run.flows.iter().map(|flow| (flow.start_s, flow.stop_s)).collect();
    assert_eq!(lives, [(Some(1.0), Some(3.0)), (Some(5.0), Some(8.0)), (None, None)]);
    for flow in &run.flows[..2] {
        assert!((flow.goodput_kbps.unwrap() - 800.0).abs() < 5.0, "{:?}", flow.goodput_kbps);
    }
    assert_eq!(
        (run.flows[2].goodput_kbps, run.flows[2].m_c, run.flows[2].sent_packets),
        (None, None, 0)
    );
    // 500 packets of 10 s at 125 a second; the flows together in the 7 s from 1 s to 8 s.
    close(&run, "thput", 40.0, 0.2);
    close(&run, "goodput", 4000.0 / 7.0, 5.0);
    // Of 200 and 300 packets: 50 sqrt 2 over 250. The flow that never came does not count.
    close(&run, "dev", 28.28, 0.3);
}

#[test]
fn verdicts_on_flows_that_left_early_count_like_any_others() {
    let text = CBR
        .replace("protocol = \"cbr\"", "protocol = \"tfrc\"\nlda = \"always wireless\"\ncount = 20")
        .replace("rate_bps = 800e3\n", "");
    let lossy = "link.line.channel={kind=\"bernoulli\", loss=0.05}";
    let run = measured(
        &text,
        &[
            lossy,
            "flow.source.arrivals={ kind = \"poisson\", rate_per_s = 2, mean_duration_s = 2 }",
        ],
    );
    let came = run.flows.iter().filter(|flow| flow.start_s.is_some()).count();
    assert!((10..=20).contains(&came), "{came}");
    let early = run
        .flows
        .iter()
        .filter(|flow| flow.stop_s.is_some() && flow.wireless_drops > flow.undetected);
    let verdicts: Vec<_> = early.map(|flow| flow.m_w).collect();
    assert!(verdicts.len() > 3 && verdicts.iter().all(|m_w| *m_w == Some(0.0)), "{verdicts:?}");
    close(&run, "M_w", 0.0, 0.0);
    close(&run, "M_c", 100.0, 0.0);
}

#[test]
fn means_and_fairness_are_of_all_measured_flows_and_each_group() {
    let run = measured(TWO_GROUPS, &[]);
    let of =
        |group: &str, value: fn(&losscause_study::FlowMeasurements) -> Option<f64>| -> Vec<f64> {
            run.flows
                .iter()
                .filter(|flow| flow.measured && flow.flow.starts_with(group))
                .filter_map(value)
                .collect()
        };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    for (group, name) in [("", ""), ("old", ".old"), ("new", ".new")] {
        close(&run, &format!("goodput_mean{name}"), mean(&of(group, |f| f.goodput_kbps)), 1e-9);
        close(
            &run,
            &format!("throughput_mean{name}"),
            mean(&of(group, |f| f.throughput_kbps)),
            1e-9,
        );
    }
    let [a, b] = of("old", |f| f.throughput_kbps)[..] else { panic!("two flows") };
    close(&run, "fairness.old", (a + b).powi(2) / (2.0 * (a * a + b * b)), 1e-12);
    let goodput = run.metric("goodput").unwrap();
    let throughput = run.metric("throughput").unwrap();
    close(&run, "overhead", 1.0 - goodput / throughput, 1e-12);
    assert_eq!(of("", |f| f.goodput_kbps).len(), 4, "the noise is not measured");
}

#[test]
fn a_queues_loss_is_of_all_packets_or_of_measured_flows_alone() {
    let run = measured(TWO_GROUPS, &[]);
    let line = run.links.iter().find(|link| link.link == "line").unwrap();
    assert!(line.queue_drops > 0);
    close(&run, "queue_loss.line", line.queue_drops as f64 / line.entered_packets as f64, 1e-12);
    close(&run, "queue_loss.access", 0.0, 0.0);
    let measured_drops = run.metric("queue_drops").unwrap();
    assert!(measured_drops < line.queue_drops as f64, "the noise loses packets, too");
    // All that measured flows sent came over their access links to the line, but for what is still
    // under way.
    let share = run.metric("queue_loss_measured.line").unwrap();
    let sent: u64 =
        run.flows.iter().filter(|flow| flow.measured).map(|flow| flow.sent_packets).sum();
    close(&run, "congestion_loss", measured_drops / sent as f64, 1e-12);
    close(&run, "congestion_loss", share, 1e-3 * share);
    let names: Vec<&str> = run.metrics.iter().map(|metric| metric.metric.as_str()).collect();
    assert!(
        !names.contains(&"queue_loss.access.1") && !names.contains(&"queue_loss.line.back"),
        "{names:?}"
    );
}

#[test]
fn probabilities_are_shares_of_the_judged_losses_of_all_flows() {
    let run = measured(TWO_GROUPS, &["flow.new.count=1"]);
    // With one flow that judges, the pooled shares are that flow's.
    close(&run, "P_WC", run.metric("M_c").unwrap() / 100.0, 1e-12);
    close(&run, "P_WW", 1.0 - run.metric("M_w").unwrap() / 100.0, 1e-12);
    close(&run, "P_CC", 1.0 - run.metric("M_c").unwrap() / 100.0, 1e-12);
    let none = measured(TWO_GROUPS, &["flow.new.count=0"]);
    assert_eq!((none.metric("P_CC"), none.metric("P_WW")), (None, None));
}

#[test]
fn the_window_is_measured_on_request_and_nothing_else_changes() {
    let experiment = experiment(TWO_GROUPS, &[]);
    let with = run(&experiment, 1).unwrap();
    let mut without = run(&Experiment { cwnd: false, ..experiment.clone() }, 1).unwrap();
    let names =
        |run: &Measurements| run.metrics.iter().map(|m| m.metric.clone()).collect::<Vec<_>>();
    assert_eq!(names(&with).len(), names(&without).len() + 2);
    without.metrics.extend(with.metrics[with.metrics.len() - 2..].to_vec());
    assert_eq!(with, without);
    // Held against the window's course in a recording of all events.
    let mut events: Vec<losscause_sim::Event> = Vec::new();
    assert_eq!(run_recorded(&experiment, 1, &mut events).unwrap(), with);
    let mut means = Vec::new();
    let mut max = 0.0_f64;
    for flow in [0, 1] {
        let course = events.iter().filter(|event| event.flow.0 == flow);
        let course: Vec<(f64, f64)> = course
            .filter_map(|event| match event.kind {
                losscause_sim::EventKind::Cwnd(packets) => {
                    Some((event.at.as_secs_f64(), packets.min(20.0)))
                }
                _ => None,
            })
            .collect();
        let ends = course[1..].iter().map(|(at, _)| *at).chain([20.0]);
        let area: f64 =
            course.iter().zip(ends).map(|((at, packets), end)| packets * (end - at)).sum();
        means.push(area / (20.0 - course[0].0));
        max = course.iter().map(|(_, packets)| *packets).fold(max, f64::max);
    }
    close(&with, "cwnd_mean", f64::midpoint(means[0], means[1]), 1e-6);
    close(&with, "cwnd_max", max, 0.0);
}

/// Two transfers of 10 packets of 1000 bytes over 1 Mb/s, by TCP without headers and handshake.
const TRANSFERS: &str = r#"
title = "transfers"
duration_s = 20
[measure]
to_s = 10
[tcp]
mode = "ns2"
[tcp.quirks]
syn_bytes = 0
[[link]]
name = "line"
rate_bps = 1e6
delay_ms = 10
queue_packets = 50
[[flow]]
name = "transfer"
protocol = "tcp"
path = ["line"]
packet_bytes = 1000
header_bytes = 0
bytes = 10e3
arrivals = { kind = "list", times_s = [[0, 20], [9, 20], [12, 20], [15, 15.001]] }
"#;

#[test]
fn sums_are_bytes_over_the_time_from_the_first_start_to_the_last_stop() {
    let run = measured(TRANSFERS, &[]);
    // From 0 to 15.001 s three transfers of 80 kb, and one that is cut off after 2 packets.
    close(&run, "goodput", 256.0 / 15.001, 1e-9);
    let own: f64 = run.flows.iter().filter_map(|flow| flow.goodput_kbps).sum();
    assert!(own > 1000.0, "the sum over the flows' own lives exceeds the link: {own}");
    let turns = "flow.source.arrivals={ kind = \"list\", times_s = [[0, 4], [4, 8]] }";
    // One after the other, each with 800 kb/s.
    close(&measured(CBR, &[turns]), "goodput", 800.0, 2.5);
}

#[test]
fn arrivals_without_a_duration_stay_until_they_are_complete() {
    let arrivals = "flow.transfer.arrivals={ kind = \"poisson\", rate_per_s = 2 }";
    let run = measured(TRANSFERS, &[arrivals, "flow.transfer.count=20"]);
    close(&run, "transfers", 20.0, 0.0);
    close(&run, "incomplete", 0.0, 0.0);
}

#[test]
fn the_answer_counts_transfers_that_started() {
    let told = |settings: &[&str]| of_three_runs(TRANSFERS, settings).0.answer().join(" ");
    assert!(told(&[]).contains("4 transfers of 10 kB: "), "{}", told(&[]));
    let early = told(&["duration_s=8", "measure.to_s=8"]);
    assert!(early.contains("1 transfer of 10 kB: "), "{early}");
}

#[test]
fn transfers_have_percentiles_and_an_offered_load() {
    let run = measured(TRANSFERS, &[]);
    let mut times: Vec<f64> = run.flows.iter().filter_map(|flow| flow.completion_s).collect();
    times.sort_by(f64::total_cmp);
    let [first, .., last] = times[..] else { panic!("{times:?}") };
    // Alone on the line, each takes as long as the others.
    assert!(times.len() == 3 && last - first < 1e-6, "{times:?}");
    close(&run, "completion_time_p50", first, 0.0);
    close(&run, "completion_time_p99", last, 0.0);
    close(&run, "transfers", 4.0, 0.0);
    close(&run, "incomplete", 1.0, 0.0);
    // Two start within 10 s: 160 kb of 10 Mb.
    close(&run, "offered_load", 1.6, 1e-9);
    let one =
        measured(TRANSFERS, &["flow.transfer.arrivals={ kind = \"list\", times_s = [[0, 20]] }"]);
    assert_eq!(one.metric("offered_load"), None, "one transfer is no load");
}

/// A transfer of 1000 packets that no queue drops, by Linux's sender, which finds losses by SACK.
const LOSSY_TRANSFER: &str = r#"
title = "a transfer over a lossy link"
duration_s = 60
[tcp]
mode = "linux"
[[link]]
name = "air"
rate_bps = 10e6
delay_ms = 10
queue_packets = 2000
channel = { kind = "bernoulli", loss = 0.01 }
[[flow]]
name = "transfer"
protocol = "tcp"
path = ["air"]
packet_bytes = 1000
header_bytes = 52
bytes = 948e3
"#;

#[test]
fn a_transfer_without_timeouts_sends_each_lost_packet_once_more() {
    let clean = measured(LOSSY_TRANSFER, &["link.air.channel={ kind = \"perfect\" }"]);
    assert_eq!(clean.flows[0].retransmitted_packets, Some(0));
    let lossy = measured(LOSSY_TRANSFER, &[]);
    let flow = &lossy.flows[0];
    assert!(flow.completion_s.is_some() && flow.wireless_drops > 5, "{flow:?}");
    assert_eq!((flow.queue_drops, flow.timeouts), (0, Some(0)));
    assert_eq!(flow.retransmitted_packets, Some(flow.wireless_drops));
    // The SYN and 1000 packets of data, and what was sent again.
    assert_eq!(flow.sent_packets, 1_001 + flow.wireless_drops);
    assert_eq!(measured(CBR, &[]).flows[0].retransmitted_packets, None);
}

/// Responses of 10 packets over 10 Mb/s and 40 ms, in mode linux, whose first window they fill.
const REQUESTS: &str = r#"
title = "requests"
duration_s = 2
send_jitter_us = 0
[tcp]
mode = "linux"
[[link]]
name = "line"
rate_bps = 10e6
delay_ms = 20
queue_packets = 50
[[flow]]
name = "client"
protocol = "tcp"
path = ["line"]
packet_bytes = 1500
header_bytes = 52
application = { kind = "request-response", response_bytes = 14480, think_s = 0.1 }
"#;

#[test]
fn a_response_of_the_first_window_takes_a_round_trip_and_its_packets() {
    let run = measured(REQUESTS, &[]);
    // 20 ms for the request, 10 packets of 1.2 ms each, 20 ms for the last of them.
    close(&run, "response_time_p50", 0.052, 1e-9);
    // The first takes a handshake more. Then one every 52 ms and 100 ms of thought.
    close(&run, "responses", 13.0, 0.0);
    assert_eq!((run.metric("stalls"), run.metric("completion_time")), (None, None));
    let client = run.flows[0].application.clone().unwrap();
    assert_eq!((client.responses, client.response_times.len()), (13, 100));
    // A byte more needs a packet more, which waits for the first acknowledgement.
    let more = "flow.client.application.response_bytes=14481";
    let first = measured(REQUESTS, &[more, "duration_s=0.2"]);
    let needed = first.metric("response_time").unwrap() - client.response_times[99].time_s;
    assert!(needed > 0.025 && needed < 0.045, "{needed}");
}

#[test]
fn video_that_the_link_cannot_carry_stalls() {
    let video = |kbps: u32| {
        let text = format!(
            "flow.client.application={{ kind = \"chunked-video\", chunk_s = 1, bitrate_kbps = \
             {kbps}, buffer_s = 5 }}"
        );
        measured(REQUESTS, &[&text, "duration_s=60"])
    };
    let slow = video(12_000);
    let startup = slow.metric("startup").unwrap();
    let stalled = slow.metric("rebuffering").unwrap();
    let played = slow.metric("responses").unwrap();
    // Since the start it has played a second per chunk, and stalled else.
    assert!((startup + stalled + played - 60.0).abs() < 1.0, "{startup} {stalled} {played}");
    assert!(slow.metric("stalls").unwrap() > 40.0);
    close(&video(2_000), "stalls", 0.0, 0.0);
}

#[test]
fn the_answer_says_how_long_responses_took_and_how_often_video_stalled() {
    let answer = |settings: &[&str]| of_three_runs(REQUESTS, settings).0.answer().join(" ");
    let requests = answer(&[]);
    assert!(requests.contains("Complete responses: 13; mean 0.0"), "{requests}");
    assert!(!requests.contains("Video"), "{requests}");
    let video = "flow.client.application={ kind = \"chunked-video\", chunk_s = 1, bitrate_kbps = \
                 2000, buffer_s = 5 }";
    let plays = answer(&[video]);
    assert!(plays.contains("Video began after 0.4") && plays.contains("stalls: 0"), "{plays}");
    let before = answer(&[video, "duration_s=0.1"]);
    assert!(before.contains("responses: 0; none was complete."), "{before}");
    assert!(!before.contains("Video"), "it has not begun: {before}");
}

#[test]
fn errors_of_applications_name_the_key() {
    let refused = |setting: &str| {
        let built = build(REQUESTS, "test.toml", &[setting], &Context::default());
        built.unwrap_err().to_string()
    };
    for (setting, key) in [
        ("flow.client.application.response_bytes=0", "flow.client.application.response_bytes"),
        ("flow.client.application.think_s=-1", "flow.client.application.think_s"),
        ("flow.client.bytes=1e6", "flow.client.bytes"),
        ("flow.client.protocol=cbr", "flow.client.application"),
    ] {
        let error = refused(setting);
        assert!(error.contains(key), "{setting}: {error}");
    }
}

/// Two long TCP flows over a fast and a slow link.
const LONG: &str = r#"
title = "two long flows"
duration_s = 20
[[link]]
name = "fast"
rate_bps = 10e6
delay_ms = 1
queue_packets = 50
[[link]]
name = "slow"
rate_bps = 1e6
delay_ms = 10
queue_packets = 10
[[flow]]
name = "tcp"
protocol = "tcp"
path = ["fast", "slow"]
count = 2
packet_bytes = 1000
"#;

/// What three runs say, and the kinds of their warnings.
fn of_three_runs(text: &str, settings: &[&str]) -> (SimulationResult, Vec<WarningKind>) {
    let experiment = experiment(text, settings);
    let runs: Vec<Measurements> = (1..=3).map(|seed| run(&experiment, seed).unwrap()).collect();
    let scenario = Scenario::parse(text, "test.toml", &Context::default()).unwrap();
    let result = SimulationResult::of_measurements(&scenario, &[], &experiment, 1, &runs);
    let kinds = result.warnings.iter().map(|warning| warning.kind).collect();
    (result, kinds)
}

#[test]
fn sender_jitter_is_half_a_packet_time_of_the_slowest_link_in_modes_for_users() {
    let micros = |settings: &[&str]| {
        let network = experiment(LONG, settings).network;
        network.flows.iter().map(|flow| flow.send_jitter.as_nanos() / 1000).collect::<Vec<_>>()
    };
    // 1000 bytes at 1 Mb/s take 8 ms.
    assert_eq!(micros(&[]), [4000; 2]);
    assert_eq!(micros(&["tcp.mode=linux"]), [4000; 2]);
    assert_eq!(micros(&["tcp.mode=ns2"]), [0; 2]);
    assert_eq!(micros(&["flow.tcp.protocol=tfrc"]), [4000; 2]);
    assert_eq!(micros(&["flow.tcp.protocol=tfrc", "tfrc.mode=ns2"]), [0; 2]);
    assert_eq!(micros(&["flow.tcp.protocol=cbr", "flow.tcp.rate_bps=1e5"]), [0; 2]);
    assert_eq!(micros(&["send_jitter_us=7"]), [7; 2]);
    assert_eq!(micros(&["send_jitter_us=7", "flow.tcp.send_jitter_us=0"]), [0; 2]);
}

#[test]
fn long_flows_in_step_on_a_plain_queue_are_warned_of() {
    let warned =
        |settings: &[&str]| of_three_runs(LONG, settings).1.contains(&WarningKind::PhaseEffects);
    let still = "send_jitter_us=0";
    assert!(warned(&[still]));
    assert!(!warned(&[]), "the jitter is on by default");
    assert!(!warned(&[still, "flow.tcp.count=1"]), "one flow");
    assert!(!warned(&[still, "link.slow.queue={ kind = \"codel\" }"]), "no plain queue");
    assert!(!warned(&[still, "tcp.max_window_pkts=4"]), "nothing is dropped");
    let random = "flow.cross={ protocol = \"on-off\", path = [\"slow\"], rate_bps = 5e5, \
                  mean_on_s = 0.1, mean_off_s = 0.1 }";
    assert!(!warned(&[still, random]), "cross traffic varies the phase");
}

#[test]
fn a_rate_or_a_delay_in_another_unit_is_asked_about() {
    let asked = |settings: &[&str]| {
        let run = measured(LONG, settings);
        let found = losscause_study::run::warnings(&experiment(LONG, settings), &[run]);
        let found = found.into_iter().filter(|warning| warning.kind == WarningKind::Unit);
        found.map(|warning| warning.text).collect::<Vec<_>>()
    };
    assert_eq!(
        asked(&["link.slow.rate_bps=20"]),
        ["slow: its rate is 20 bit/s; did you mean 20 Mb/s?"]
    );
    assert_eq!(
        asked(&["link.fast.delay_ms=0", "link.slow.delay_ms=0.3"]),
        ["slow: its delay is 0.3 ms; did you mean 0.3 s?"]
    );
    assert_eq!(asked(&["link.slow.delay_ms=0.3"]), [""; 0], "the path is longer than 1 ms");
    assert_eq!(asked(&["link.slow.rate_bps=1 kb/s", "link.slow.delay_ms=1"]), [""; 0]);
}

#[test]
fn a_warning_of_several_flows_counts_runs_and_tells_the_largest_share() {
    let experiment = experiment(LONG, &["tcp.max_window_pkts=7"]);
    let runs: Vec<Measurements> = (1..=3).map(|seed| run(&experiment, seed).unwrap()).collect();
    let flows = runs.iter().flat_map(|run| &run.flows);
    let shares: Vec<f64> = flows.filter_map(|flow| flow.window_limited_percent).collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    assert!(shares.len() == 6 && most > shares[5] + 1.0, "{shares:?}");
    let warnings = losscause_study::run::warnings(&experiment, &runs);
    let limited = warnings.iter().find(|warning| warning.kind == WarningKind::WindowLimited);
    let expected = format!(
        "tcp: the receiver's window of 7 packets held the sender back at {most:.1} % of its \
         acknowledgements; a larger tcp.max_window_pkts would let it send more"
    );
    assert_eq!(limited.unwrap().text, expected);
}

#[test]
fn runs_that_nothing_tells_apart_have_no_interval() {
    let (same, kinds) = of_three_runs(LONG, &["send_jitter_us=0"]);
    assert!(kinds.contains(&WarningKind::SameRuns), "{kinds:?}");
    assert!(same.metrics.values().all(|metric| metric.ci95.is_none()));
    assert!(same.metrics["goodput"].value.is_some() && same.metrics["goodput"].runs == 3);
    let (different, kinds) = of_three_runs(LONG, &[]);
    assert!(!kinds.contains(&WarningKind::SameRuns), "{kinds:?}");
    assert!(different.metrics["goodput"].ci95 > Some(0.0));
    assert_eq!(different.metrics["wireless_drops"].ci95, Some(0.0), "no draw could change it");
    let one = run(&experiment(LONG, &["send_jitter_us=0"]), 1).unwrap();
    assert!(!losscause_study::run::are_one_run(&[one]), "one run is no several");
}

/// How long data packets waited in queues.
#[derive(Default)]
struct Waits {
    sum_ms: f64,
    packets: u64,
}

impl losscause_sim::Recorder for Waits {
    fn detail(&self) -> losscause_sim::Detail {
        losscause_sim::Detail::Arrivals
    }

    fn record(&mut self, event: &losscause_sim::Event) {
        if let losscause_sim::EventKind::Received(packet) = event.kind {
            self.sum_ms += packet.timing.unwrap().queued.as_millis_f64();
            self.packets += 1;
        }
    }
}

#[test]
fn a_poisson_source_alone_on_a_link_waits_as_m_d_1() {
    // 1000 bytes at 10 Mb/s take s = 0.8 ms; at load r packets wait r s / (2 (1 - r)) on average.
    for (load, expected_ms) in [(0.5, 0.4), (0.8, 1.6)] {
        let text = format!(
            "title = \"M/D/1\"\nduration_s = 2000\nmeasure = {{ delays = true }}\n[[link]]\nname = \"line\"\n\
             rate_bps = 10e6\ndelay_ms = 0\nqueue_packets = 100000\n[[flow]]\nname = \"source\"\n\
             protocol = \"poisson\"\nrate_bps = {}\npacket_bytes = 1000\npath = [\"line\"]\nmeasured = true\n",
            load * 10e6
        );
        let mut waits = Waits::default();
        run_recorded(&experiment(&text, &[]), 1, &mut waits).unwrap();
        assert!(waits.packets > 1_000_000, "{} packets", waits.packets);
        let waited = waits.sum_ms / waits.packets as f64;
        assert!((waited / expected_ms - 1.0).abs() < 0.02, "at {load}: {waited} ms");
    }
}
