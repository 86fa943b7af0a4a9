//! From a scenario to a network.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::path::Path;

use losscause::{Algorithm, Span, Time};
use losscause_laboratory::papers::record::open_scenario;
use losscause_sim::{
    AtEnd, Between, ChannelSpec, CoDelSpec, FlowId, FqCoDelSpec, Lengths, Limit, LinkSpec, PieSpec,
    QueueSpec, RedSpec, TcpLda, TraceStart, Traffic, Turnover, VariationSpec,
};
use losscause_study::{Context, Experiment, Scenario, Setting};

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

fn shipped(file: &str, settings: &[&str]) -> Experiment {
    let settings = settings.iter().map(|text| Setting::parse(text).unwrap());
    let settings: Vec<Setting> = settings.collect();
    let path = Path::new(PACKAGE).join(file);
    let scenario = open_scenario(&path, Path::new(""), &Context::default()).unwrap();
    scenario.with(&settings).unwrap().experiment().unwrap()
}

/// A scenario, or what is said of it.
fn parsed(text: &str) -> Result<Experiment, String> {
    let scenario = Scenario::parse(text, "small.toml", &Context::default());
    scenario.and_then(|scenario| scenario.experiment()).map_err(|error| error.to_string())
}

/// [`SMALL`] with other lines for the part `old`.
fn small(old: &str, lines: &str) -> Result<Experiment, String> {
    parsed(&SMALL.replace(old, lines))
}

/// The traffic of the flow of [`SMALL`] as TCP with more lines.
fn tcp(lines: &str) -> Traffic {
    let text = SMALL.replace("\"tfrc\"", "\"tcp\"").replace("# here", lines);
    parsed(&text).unwrap().network.flows[0].traffic.clone()
}

fn link<'a>(experiment: &'a Experiment, name: &str) -> &'a LinkSpec {
    let links = &experiment.network.links;
    let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    links.iter().find(|link| link.name == name).unwrap_or_else(|| panic!("{name} in {names:?}"))
}

fn names(experiment: &Experiment, path: &[losscause_sim::LinkId]) -> Vec<String> {
    path.iter().map(|id| experiment.network.links[id.0 as usize].name.clone()).collect()
}

fn waiting(link: &LinkSpec) -> u32 {
    match link.queue {
        QueueSpec::DropTail { limit: Limit::Packets(packets) } => packets,
        other => panic!("{other:?}"),
    }
}

/// Refuses each change of a table: below it stands, behind "-> ", what the error says after the
/// file's name.
fn each_refused(table: &str, made: impl Fn(&str) -> Result<Experiment, String>) {
    let mut change = String::new();
    for line in table.trim().lines() {
        let Some(problem) = line.strip_prefix("-> ") else {
            change += &format!("{line}\n");
            continue;
        };
        let problem = problem.replace("ALGORITHMS", ALGORITHMS);
        assert_eq!(made(&change).unwrap_err(), format!("small.toml: {problem}"), "{change}");
        change.clear();
    }
    assert_eq!(change, "");
}

/// The same of changes of [`SMALL`].
fn refused(table: &str) {
    each_refused(table, |lines| small("# here", lines));
}

const ALGORITHMS: &str = "Biaz, mBiaz, Spike, Spike-Tobe, ZigZag, ZBS, Flip Flop, Vegas buffer, \
    Sift, always congestion, always wireless, Veno, CDG tolerance, fqRTT, n-th loss, drop rate, \
    roll-back, omniscient, labelled";

const SMALL: &str = r#"
title = "small"
duration_s = 10
[[link]]
name = "radio"
rate_bps = 1e6
delay_ms = 10
queue_packets = 5
[[flow]]
name = "video"
protocol = "tfrc"
path = ["radio"]
# here
"#;

#[test]
fn wlh_has_the_papers_rates_delays_and_queues() {
    let experiment = shipped("papers/cen2003/scenarios/WLH.toml", &["N=4"]);
    let shared = link(&experiment, "shared");
    assert_eq!(shared.rate_bps, 520_000);
    assert_eq!(shared.delay, Span::from_millis(20));
    // floor(520e3 / 60e3) = 8, of which one is in transmission.
    assert_eq!(waiting(shared), 7);
    assert!(matches!(shared.channel, ChannelSpec::Perfect));
    let access = link(&experiment, "access.4");
    assert_eq!(
        (access.rate_bps, access.delay, waiting(access)),
        (10_000_000, Span::from_millis(1), 165)
    );
    let last = link(&experiment, "last.4");
    assert_eq!((last.rate_bps, last.delay, waiting(last)), (150_000, Span::from_millis(10), 5));
    let ChannelSpec::Trace { lost, start: TraceStart::Drawn } = &last.channel else {
        panic!("{:?}", last.channel)
    };
    assert_eq!(lost.len(), 58_800);
    assert_eq!(experiment.duration, Time::from_nanos(222_000_000_000));
    assert_eq!(
        experiment.window,
        (Time::from_nanos(20_000_000_000), Time::from_nanos(220_000_000_000))
    );
}

#[test]
fn wlhs_bottleneck_is_last_for_one_flow_and_shared_for_more() {
    let one = shipped("papers/cen2003/scenarios/WLH.toml", &[]);
    assert_eq!(names(&one, &one.bottleneck), ["last.1"]);
    assert_eq!(link(&one, "shared").rate_bps, 260_000);
    let four = shipped("papers/cen2003/scenarios/WLH.toml", &["N=4"]);
    assert_eq!(names(&four, &four.bottleneck), ["shared"]);
}

#[test]
fn wb_has_800_kbps_for_one_flow_and_1600_otherwise() {
    let one = shipped("papers/cen2003/scenarios/WB.toml", &[]);
    assert_eq!((link(&one, "shared").rate_bps, waiting(link(&one, "shared"))), (800_000, 12));
    let two = shipped("papers/cen2003/scenarios/WB.toml", &["N=2"]);
    assert_eq!((link(&two, "shared").rate_bps, waiting(link(&two, "shared"))), (1_600_000, 25));
    assert!(matches!(link(&two, "shared").channel, ChannelSpec::Trace { .. }));
}

#[test]
fn members_of_two_groups_may_share_copies_of_links() {
    let cross = "count = 2\n[[flow]]\nname = \"cross\"\ncount = 3\nprotocol = \"cbr\"\nrate_bps = 1e5\n\
                 path = [\"radio\"]\nlinks_of = \"video\"\n";
    let text = SMALL.replace("= 5\n", "= 5\nper_flow = true\n").replace("# here", cross);
    let experiment = parsed(&text).unwrap();
    let flows = experiment.network.flows.iter();
    let paths: Vec<String> = flows.flat_map(|flow| names(&experiment, &flow.path)).collect();
    // The third has no one to share with.
    assert_eq!(paths, ["radio.1", "radio.2", "radio.1", "radio.2", "radio.3"]);
    refused(
        "links_of = \"video\"\n-> flow.video.links_of: the earlier flow \"video\" is unknown, and there is no name to use here",
    );
}

#[test]
fn every_flow_has_its_own_links_and_error_free_return_copies() {
    let experiment = shipped("papers/cen2003/scenarios/WLH.toml", &["N=2"]);
    let [first, second, ..] = experiment.network.flows.as_slice() else { panic!() };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("test.1", "test.2"));
    assert_eq!(names(&experiment, &second.path), ["access.2", "shared", "last.2"]);
    assert_eq!(
        names(&experiment, &second.return_path),
        ["last.2.back", "shared.back", "access.2.back"]
    );
    let there = link(&experiment, "last.2");
    let back = link(&experiment, "last.2.back");
    assert_eq!((there.rate_bps, there.delay, there.queue), (back.rate_bps, back.delay, back.queue));
    assert!(matches!(back.channel, ChannelSpec::Perfect));
    assert_eq!(first.start, Time::from_nanos(20_000_000_000));
    assert_eq!(first.start_spread, Span::from_secs(2));
    let measured: Vec<bool> = experiment.network.flows.iter().map(|flow| flow.measured).collect();
    assert_eq!(measured, [true, true, false, false]);
}

#[test]
fn a_762_byte_packet_is_762_bytes_under_every_protocol() {
    for protocol in ["tfrc", "tcp"] {
        let setting = format!("flow.test.protocol={protocol}");
        let experiment = shipped("papers/cen2003/scenarios/WLH.toml", &[&setting]);
        let wire_bytes = match &experiment.network.flows[0].traffic {
            Traffic::Tfrc { config, .. } => config.payload_bytes + config.header_bytes,
            Traffic::Tcp { config, .. } => config.wire_bytes(),
            other => panic!("{other:?}"),
        };
        assert_eq!(wire_bytes, 762);
        let cross = &experiment.network.flows[1].traffic;
        assert!(matches!(cross, Traffic::OnOff { packet_bytes: 762, .. }), "{cross:?}");
    }
}

#[test]
fn an_algorithm_goes_by_its_name_and_takes_its_settings() {
    let omniscient = shipped("papers/cen2003/scenarios/WLH.toml", &["flow.test.lda=omniscient"]);
    let Traffic::Tfrc { lda, .. } = &omniscient.network.flows[0].traffic else { panic!() };
    assert_eq!(lda.name(), "Omni");
    let built = |settings: &[&str]| {
        let experiment = shipped("papers/cen2003/scenarios/WLH.toml", settings);
        let Traffic::Tfrc { lda, .. } = &experiment.network.flows[0].traffic else { panic!() };
        format!("{lda:?}")
    };
    assert!(built(&["flow.test.lda=ZBS"]).starts_with("Zbs"));
    // A setting of Spike reaches the Spike inside ZBS, unless ZBS has its own.
    let published = built(&["flow.test.lda=ZBS"]);
    let changed = built(&["flow.test.lda=ZBS", "lda.Spike.alpha=0.75"]);
    assert_ne!(published, changed);
    let own = ["flow.test.lda=ZBS", "lda.Spike.alpha=0.75", "lda.ZBS.spike.alpha=0.5"];
    assert_eq!(published, built(&own));
    let changed = built(&["flow.test.lda=ZigZag", "lda.Spike.alpha=0.75"]);
    assert_eq!(built(&["flow.test.lda=ZigZag"]), changed);
}

#[test]
fn every_shipped_scenario_loads_and_names_its_source_or_purpose() {
    let mut found = 0;
    let papers = std::fs::read_dir(Path::new(PACKAGE).join("papers")).unwrap();
    let papers = papers.map(|paper| paper.unwrap().path().join("scenarios"));
    let own = Path::new(PACKAGE).join("scenarios");
    for directory in papers.filter(|directory| directory.exists()).chain([own]) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_some_and(|end| end == "toml") {
                let scenario = open_scenario(&file, Path::new(""), &Context::default()).unwrap();
                scenario.experiment().unwrap();
                assert!(!scenario.document().title.is_empty());
                found += 1;
            }
        }
    }
    assert!(found >= 4, "{found}");
}

#[test]
fn values_out_of_range_are_refused_by_key_value_and_expectation() {
    let links = r#"
channel = { kind = "bernoulli", loss = 1.5 }
-> link.x.channel.loss: is 1.5, expected a number from 0 to 1
channel = { kind = "gilbert-elliott", loss = 0.75, mean_burst_packets = 2 }
-> link.x.channel.mean_burst_packets: is 2, expected 3 or more for this loss
queue_bytes = 3
-> link.x.queue_bytes: cannot be combined with queue_packets; give one of them
slot_ms = 0
-> link.x.slot_ms: is 0, expected a number above 0, up to 1e9
delay_variation = { kind = "sinusoid", most_ms = -1, period_s = 1 }
-> link.x.delay_variation.most_ms: is -1, expected a number from 0 to 1e9
delay_variation = { kind = "sinusoid", most_ms = 1, period_s = 0 }
-> link.x.delay_variation.period_s: is 0, expected a number above 0, up to 1e6
delay_variation = { kind = "walk", most_ms = 10, step_ms = 11, every_s = 1 }
-> link.x.delay_variation.step_ms: is 11, expected a number from 0 to 1e1
delay_variation = { kind = "walk", most_ms = 10, step_ms = 1, every_s = 0 }
-> link.x.delay_variation.every_s: is 0, expected a number from 0.001 to 1e6
delay_variation = { kind = "walk", most_ms = 10, step_m = 1 }
-> link.x.delay_variation.step_m: the key "step_m" is unknown (did you mean "step_ms"?), expected one of most_ms, step_ms, every_s
slot_ms = 1e-6
-> link.x.slot_ms: is 0.000001, expected 0.001 or more: the channel takes a step in every slot
"#;
    let link = "[[link]]\nname = \"x\"\nrate_bps = 1\ndelay_ms = 1\nqueue_packets = 1";
    each_refused(links, |line| small("# here", &format!("{link}\n{line}")));
    let on_off = r#"
periods = "pareto"
shape = 1
-> flow.x.shape: is 1, expected a number above 1, up to 1e3
shape = 1.5
-> flow.x.shape: only valid for the Pareto distribution; remove it
periods = "paretto"
-> flow.x.periods: "paretto" is unknown (did you mean "pareto"?), expected one of exponential, pareto
"#;
    let flow = "[[flow]]\nname = \"x\"\nprotocol = \"on-off\"\npath = [\"radio\"]\nrate_bps = 1e5\n\
                mean_on_s = 1\nmean_off_s = 1";
    each_refused(on_off, |line| small("# here", &format!("{flow}\n{line}")));
    let tcp = r#"
lda_at = "receiver"
-> flow.x.lda_at: says which end runs an algorithm, expected it beside lda only
lda_at = "reciever"
-> flow.x.lda_at: "reciever" is unknown (did you mean "receiver"?), expected one of sender, receiver, onlooker
"#;
    let flow = "[[flow]]\nname = \"x\"\nprotocol = \"tcp\"\npath = [\"radio\"]";
    each_refused(tcp, |line| small("# here", &format!("{flow}\n{line}")));
    let others = r#"
count = 1.5
-> flow.video.count: is 1.5, expected a whole number from 0 to 10000
start_s = -1
-> flow.video.start_s: is -1, expected a number from 0 to 1e6
packet_bytes = 40
-> flow.video.packet_bytes: is 40, expected more than the 40 bytes of headers
mean_on_s = 1
-> flow.video.mean_on_s: only valid for on-off flows; remove it
periods = "pareto"
-> flow.video.periods: only valid for on-off flows; remove it
lda = "Spyke"
-> flow.video.lda: the algorithm "Spyke" is unknown (did you mean "Spike"?), expected one of ALGORITHMS
lda = "Biaz"
lda_at = "receiver"
-> flow.video.lda_at: only valid for tcp flows; remove it
[lda.labelled]
P_CC = 1.1
-> lda.labelled: P_CC is 1.1 but must be a number from 0 to 1
[lda.labelled]
P_WW = "x"
-> lda.labelled.P_WW: P_WW must be a number
[lda.labelled]
timeouts = 1
-> lda.labelled.timeouts: timeouts must be true or false
[lda.labelled]
P_WC = 0
-> lda.labelled.P_WC: labelled has no such setting; it has P_CC, P_WW, timeouts, by_packet
[measure]
to_s = 11
-> measure.to_s: the window is 0 to 11, expected one that is not empty and ends by duration_s, 10
[measure]
bottleneck = "x"
-> measure.bottleneck: the link "x" is unknown, expected "radio"
[parameters]
2x = 1
-> parameters.2x: is no name that a formula can use, expected letters, digits and _, a letter first
[tcp]
max_window_pkts = 0
-> tcp.max_window_pkts: is 0, expected a whole number from 1 to 16777216
[lda.Spike]
alpha = "x"
-> lda.Spike.alpha: alpha must be a number
[lda.Spyke]
alpha = 1
-> lda.Spyke: the algorithm "Spyke" is unknown (did you mean "Spike"?), expected one of ALGORITHMS
[tfrc.quirks]
rto_minimum_ms = 10
-> tfrc.quirks.rto_minimum_ms: only valid with rto = "ticks"; remove it
[tfrc.quirks]
rtt_weight = 1
-> tfrc: quirks.rtt_weight must be at least 0 and below 1, not 1
[tfrc]
rto = "four-rtts"
-> tfrc.rto: has moved, expected tfrc.quirks.rto instead
[tfrc]
discount_floor = 0.5
-> tfrc.discount_floor: has moved, expected tfrc.quirks.discounting instead
lda = "Vegas buffer"
-> lda.Vegas buffer: Vegas buffer looks at acknowledgements, so it is for TCP senders only
[lda.flip-flop]
history = 0
-> lda.Flip Flop: history is 0 but must be a whole number from 1 to 64
[lda.flip-flop]
history = 4
eta = 5
-> lda.Flip Flop: eta is 5 but must not be larger than history, which is 4
additive_increase_pkts = 1
-> flow.video.additive_increase_pkts: only valid for tcp flows; remove it
[tcp]
additive_increase_pkts = 0
-> tcp.additive_increase_pkts: is 0, expected a number above 0, up to 1e6
[[flow]]
name = "a"
protocol = "tcp"
path = ["radio"]
additive_increase_pkts = -1
-> flow.a.additive_increase_pkts: is -1, expected a number above 0, up to 1e6
[[flow]]
name = "a"
protocol = "tcp"
variant = "veno"
path = ["radio"]
additive_increase_pkts = 1
-> flow.a.additive_increase_pkts: only valid with response "aimd"; remove it
[tcp]
variant = "veno"
additive_increase_pkts = 1
-> tcp.additive_increase_pkts: only valid with response "aimd"; remove it
"#;
    refused(others);
}

#[test]
fn queues_are_managed_as_the_link_says() {
    let queue = |lines: &str| {
        let experiment = small("rate_bps = 1e6", &format!("rate_bps = 1e6\n{lines}"));
        experiment.map(|experiment| experiment.network.links[0].queue)
    };
    let limit = match queue("").unwrap() {
        QueueSpec::DropTail { limit } => limit,
        other => panic!("{other:?}"),
    };
    for (lines, expected) in [
        ("queue = { kind = \"drop-tail\" }", QueueSpec::DropTail { limit }),
        (
            "queue = { kind = \"drop-tail\", mark_from_packets = \"rate_bps / 1e5\" }",
            QueueSpec::StepMark { limit, mark_from_pkts: 10 },
        ),
        ("queue = { kind = \"codel\" }", QueueSpec::CoDel(CoDelSpec::new(limit))),
        (
            "queue = { kind = \"codel\", target_ms = 10, interval_ms = 200, mtu_bytes = 762, ecn = true }",
            QueueSpec::CoDel(CoDelSpec {
                limit,
                target: Span::from_millis(10),
                interval: Span::from_millis(200),
                mtu_bytes: 762,
                ecn: true,
            }),
        ),
        ("queue = { kind = \"fq-codel\" }", QueueSpec::FqCoDel(FqCoDelSpec::new(limit))),
        (
            "queue = { kind = \"fq-codel\", target_ms = 10, interval_ms = 200, mtu_bytes = 762, quantum_bytes = 300, queues = 16, ecn = true }",
            QueueSpec::FqCoDel(FqCoDelSpec {
                codel: CoDelSpec {
                    limit,
                    target: Span::from_millis(10),
                    interval: Span::from_millis(200),
                    mtu_bytes: 762,
                    ecn: true,
                },
                quantum_bytes: 300,
                queues: 16,
            }),
        ),
        ("queue = { kind = \"pie\" }", QueueSpec::Pie(PieSpec::new(limit))),
        (
            "queue = { kind = \"pie\", target_ms = 20, update_ms = 30, max_burst_ms = 0, alpha = 0.5, beta = 2, mean_packet_bytes = 500, ecn = true }",
            QueueSpec::Pie(PieSpec {
                limit,
                target: Span::from_millis(20),
                t_update: Span::from_millis(30),
                max_burst: Span::ZERO,
                alpha: 0.5,
                beta: 2.0,
                mean_packet_bytes: 500,
                ecn: true,
            }),
        ),
        (
            "queue = { kind = \"red\", min_th_packets = 2, max_th_packets = 8.5, max_p = 0.02, w_q = 0.01, gentle = true, like_ns2 = true, ecn = true, typical_packet_bytes = 500 }",
            QueueSpec::Red(RedSpec {
                limit,
                min_th_pkts: 2.0,
                max_th_pkts: 8.5,
                max_p: 0.02,
                w_q: 0.01,
                gentle: true,
                like_ns2: true,
                ecn: true,
                typical_packet_bytes: 500,
            }),
        ),
    ] {
        assert_eq!(queue(lines).unwrap(), expected, "{lines}");
    }
    let refused = r#"
kind = "red", min_th_packets = 15
-> link.radio.queue.max_th_packets: is 15, expected more than min_th_packets, which is 15
kind = "red", max_p = 1.2
-> link.radio.queue.max_p: is 1.2, expected a number above 0, up to 1e0
kind = "red", w_q = 0
-> link.radio.queue.w_q: is 0, expected a number above 0, up to 1e0
kind = "codel", target_ms = 0
-> link.radio.queue.target_ms: is 0, expected a number above 0, up to 1e9
kind = "codel", target_ms = 200
-> link.radio.queue.interval_ms: is 100.000 ms, expected at least the target, which is 200.000 ms
kind = "fq-codel", target_ms = 200
-> link.radio.queue.interval_ms: is 100.000 ms, expected at least the target, which is 200.000 ms
kind = "fq-codel", quantum_bytes = 0
-> link.radio.queue.quantum_bytes: is 0, expected a whole number from 1 to 4294967295
kind = "fq-codel", queues = 1e5
-> link.radio.queue.queues: is 100000, expected a whole number from 1 to 65536
kind = "pie", update_ms = 0
-> link.radio.queue.update_ms: is 0, expected a number from 0.001 to 1e9
kind = "pie", max_burst_ms = -1
-> link.radio.queue.max_burst_ms: is -1, expected a number from 0 to 1e9
kind = "pie", alpha = -0.125
-> link.radio.queue.alpha: is -0.125, expected a number from 0 to 1e6
kind = "drop-tail", mark_from_packets = 0
-> link.radio.queue.mark_from_packets: is 0, expected a whole number from 1 to 4294967295
kind = "drop-tail", ecn = true
-> link.radio.queue.ecn: stands in a drop-tail queue, which marks nothing by itself, expected mark_from_packets, or kind red, codel, fq-codel or pie
"#;
    each_refused(refused, |fields| {
        let line = format!("rate_bps = 1e6\nqueue = {{ {} }}", fields.trim());
        small("rate_bps = 1e6", &line)
    });
}

#[test]
fn a_red_queue_takes_the_scenarios_packets_for_typical() {
    let text = SMALL.replace("rate_bps = 1e6", "rate_bps = 1e6\nqueue = { kind = \"red\" }");
    let queue = parsed(&format!("packet_bytes = 762\n{text}")).unwrap().network.links[0].queue;
    let QueueSpec::Red(spec) = queue else { panic!("{queue:?}") };
    assert_eq!(spec.typical_packet_bytes, 762);
}

#[test]
fn paths_that_cannot_be_are_refused() {
    let refused = r#"
path = []
-> flow.video.path: is empty, expected the names of one or more links
path = ["radio", "radio"]
-> flow.video.path: takes the link "radio" twice, expected no cycle
path = ["radoi"]
-> flow.video.path: the link "radoi" is unknown (did you mean "radio"?), expected "radio"
"#;
    each_refused(refused, |path| small("path = [\"radio\"]", path));
}

#[test]
fn settings_of_unused_protocols_are_checked_all_the_same() {
    // A slip in a section must not wait until somebody switches the protocol.
    refused("[tcp]\nmax_rto_ms = 0\n-> tcp.max_rto_ms: is 0, expected a number from 0.001 to 1e9");
}

#[test]
fn modes_are_the_transports_own_and_settings_replace_values() {
    use losscause_transport::tfrc;
    let traffic = |lines: &str| small("# here", lines).unwrap().network.flows.remove(0).traffic;
    let tfrc_of = |lines: &str| match traffic(lines) {
        Traffic::Tfrc { config, .. } => config,
        other => panic!("{other:?}"),
    };
    assert_eq!(tfrc_of(""), tfrc::Config::rfc5348());
    assert_eq!(tfrc_of("[tfrc]\nmode = \"ns2\""), tfrc::Config::ns2());
    let mixed = "[tfrc]\nmode = \"ns2\"\nloss_after_pkts = 3\nspacing = \"even\"\n[tfrc.quirks]\nrto_minimum_ms = 200\n\
         few_intervals = \"without-oldest\"\ndiscounting = \"off\"";
    let ns2 = tfrc::Config::ns2();
    let expected = tfrc::Config {
        loss_after_pkts: 3,
        spacing: tfrc::Spacing::Even,
        quirks: tfrc::Quirks {
            rto: tfrc::RtoRule::Ticks { minimum: Span::from_millis(200) },
            few_intervals: tfrc::FewIntervals::WithoutOldest,
            discounting: tfrc::Discounting::Off,
            ..ns2.quirks
        },
        ..ns2
    };
    assert_eq!(tfrc_of(mixed), expected);
}

#[test]
fn a_senders_algorithm_is_set_by_name_and_refused_at_a_receiver() {
    assert!(matches!(
        tcp("lda = \"flip-flop\"\n[lda.flip-flop]\nhistory = 8\neta = 4"),
        Traffic::Tcp { lda: TcpLda::Sender(losscause::lda::AnyAlgorithm::FlipFlopHistory(_)), .. }
    ));
}

#[test]
fn a_tcp_flow_may_run_its_algorithm_at_either_end() {
    let lda = |lines: &str| match tcp(lines) {
        Traffic::Tcp { lda, .. } => lda,
        other => panic!("{other:?}"),
    };
    assert!(matches!(lda(""), TcpLda::None));
    assert!(matches!(lda("lda = \"Biaz\""), TcpLda::Sender(_)));
    assert!(matches!(lda("lda = \"Biaz\"\nlda_at = \"sender\""), TcpLda::Sender(_)));
    let aware = lda("lda = \"Biaz\"\nlda_at = \"receiver\"");
    assert!(matches!(aware, TcpLda::Receiver { lda, heeded: true } if lda.name() == "Biaz"));
    let measured = lda("lda = \"omniscient\"\nlda_at = \"onlooker\"");
    assert!(matches!(measured, TcpLda::Receiver { lda, heeded: false } if lda.name() == "Omni"));
}

#[test]
fn a_tcp_flow_may_grow_by_another_step_than_the_rest() {
    let increases = |lines: &str| {
        let text = SMALL.replace("\"tfrc\"", "\"tcp\"").replace("# here", lines);
        let network = parsed(&text).unwrap().network;
        let increase = |traffic: Traffic| match traffic {
            Traffic::Tcp { config, .. } => config.additive_increase_pkts,
            other => panic!("{other:?}"),
        };
        network.flows.into_iter().map(|flow| increase(flow.traffic)).collect::<Vec<f64>>()
    };
    let another = "[[flow]]\nname = \"audio\"\nprotocol = \"tcp\"\npath = [\"radio\"]\n[tcp]\nadditive_increase_pkts = 2";
    assert_eq!(increases(""), [1.0]);
    assert_eq!(increases("additive_increase_pkts = 0.8"), [0.8]);
    assert_eq!(increases(&format!("additive_increase_pkts = 0.8\n{another}")), [0.8, 2.0]);
}

#[test]
fn a_delay_is_read_from_a_file_beside_the_scenario() {
    let directory = tempfile::tempdir().unwrap();
    let scenario = directory.path().join("s.toml");
    let experiment = |delays: &str, keys: &str| {
        std::fs::write(directory.path().join("delays.txt"), delays).unwrap();
        let line = format!(
            "delay_ms = 10\ndelay_variation = {{ kind = \"trace\", file = \"delays.txt\"{keys} }}"
        );
        std::fs::write(&scenario, SMALL.replace("delay_ms = 10", &line)).unwrap();
        Scenario::load(&scenario, &Context::default())
            .unwrap()
            .experiment()
            .map_err(|error| error.to_string())
    };
    let linear =
        experiment("0 20\n60 25\n", ", between = \"linear\", at_end = \"repeat\"").unwrap();
    let radio = link(&linear, "radio");
    let VariationSpec::Trace { points, between, at_end } = &radio.variation else {
        panic!("{:?}", radio.variation)
    };
    assert_eq!((points.len(), *between, *at_end), (2, Between::Linear, AtEnd::Repeat));
    assert_eq!((points[1].at, points[1].delay), (Span::from_secs(60), Span::from_millis(25)));
    // What comes back does so over a link that stands still.
    assert!(matches!(link(&linear, "radio.back").variation, VariationSpec::Constant));
    let said = |delays: &str, keys: &str| {
        let said = experiment(delays, keys).map(|_| ()).unwrap_err();
        said.replace(&format!("{}/", directory.path().display()), "")
    };
    assert_eq!(
        said("0 20\n9 5\n8 10\n", ""),
        "delays.txt, line 3: the time 8 is not later than the one before it, expected rising times"
    );
    assert_eq!(
        said("0 20\n", ", at_end = \"repeat\""),
        "s.toml: link.radio.delay_variation.at_end: is repeat, expected hold: the trace ends at 0 s, so that a round would \
         take no time"
    );
}

#[test]
fn a_delay_may_be_listed_in_the_scenario_itself() {
    let experiment = |keys: &str| {
        let line = format!("delay_ms = 10\ndelay_variation = {{ kind = \"trace\"{keys} }}");
        small("delay_ms = 10", &line)
    };
    let stepped = experiment(", points = [[0, 5], [\"2 * 60\", 40]]").unwrap();
    let VariationSpec::Trace { points, .. } = &link(&stepped, "radio").variation else {
        panic!("expected a trace")
    };
    let points: Vec<_> =
        points.iter().map(|point| (point.at.as_secs_f64(), point.delay.as_millis_f64())).collect();
    assert_eq!(points, [(0.0, 5.0), (120.0, 40.0)]);
    let refused = r#"
-> link.radio.delay_variation.file: is missing, expected it or points
, file = "d.txt", points = [[0, 5]]
-> link.radio.delay_variation.file: cannot be combined with points; give one of them
, points = []
-> link.radio.delay_variation.points: is empty, expected pairs of a time in seconds and a delay in milliseconds
, points = [[0, 5], [0, 6]]
-> link.radio.delay_variation.points.2: begins at 0 s, expected later than the one before it
, points = [[0, -5]]
-> link.radio.delay_variation.points.1: is -5, expected a number from 0 to 1e9
"#;
    each_refused(refused, |keys| experiment(keys.trim()));
}

#[test]
fn members_come_one_after_the_other_or_at_the_times_of_a_list() {
    let flows = |lines: &str| small("# here", lines).unwrap().network.flows;
    let before = "[[flow]]\nname = \"first\"\nprotocol = \"tfrc\"\npath = [\"radio\"]\n[[flow]]\nname = \"guest\"\n";
    let guests = flows(&format!(
        "{before}protocol = \"tfrc\"\npath = [\"radio\"]\ncount = 3\nstart_s = 2\narrivals = {{ kind = \"poisson\", \
         rate_per_s = 4, mean_duration_s = \"2 * 3\", durations = \"pareto\" }}"
    ));
    let names: Vec<&str> = guests.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["video", "first", "guest.1", "guest.2", "guest.3"]);
    let turnovers: Vec<_> = guests.iter().map(|flow| flow.turnover).collect();
    let turnover = |after: Option<u32>| Turnover {
        after: after.map(FlowId),
        mean_gap: Span::from_millis(250),
        mean_duration: Some(Span::from_secs(6)),
        durations: Lengths::Pareto { shape: 1.5 },
    };
    assert_eq!(
        turnovers,
        [None, None, Some(turnover(None)), Some(turnover(Some(2))), Some(turnover(Some(3)))]
    );
    let listed = flows("arrivals = { kind = \"list\", times_s = [[0, 30], [10, \"5 * 5\"]] }");
    let lives: Vec<_> =
        listed.iter().map(|flow| (flow.name.as_str(), flow.start, flow.stop)).collect();
    let at = |secs| Time::ZERO + Span::from_secs(secs);
    assert_eq!(lives, [("video.1", at(0), Some(at(30))), ("video.2", at(10), Some(at(25)))]);
}

#[test]
fn arrivals_that_cannot_be_are_refused() {
    let others = r#"
arrivals = { kind = "poisson", rate_per_s = 1, mean_duration_s = 1 }
-> flow.video.count: is missing, expected the most flows that may come
count = 2
start_spread_s = 0.5
arrivals = { kind = "poisson", rate_per_s = 1, mean_duration_s = 1 }
-> flow.video.start_spread_s: cannot be combined with arrivals, which set when flows start and stop; remove it
count = 2
arrivals = { kind = "poisson", rate_per_s = 0, mean_duration_s = 1 }
-> flow.video.arrivals.rate_per_s: is 0, expected a number from 0.000001 to 1e6
count = 2
arrivals = { kind = "poisson", rate_per_s = 1, mean_duration_s = 0 }
-> flow.video.arrivals.mean_duration_s: is 0, expected a number above 0, up to 1e6
count = 2
arrivals = { kind = "poisson", rate_per_s = 1, mean_duration_s = 1, shape = 2 }
-> flow.video.arrivals.shape: only valid for the Pareto distribution; remove it
count = 2
arrivals = { kind = "list", times_s = [[1, 2]] }
-> flow.video.count: cannot be combined with a list of times, which sets the number of flows; remove it
stop_s = 2
arrivals = { kind = "list", times_s = [[1, 2]] }
-> flow.video.stop_s: cannot be combined with arrivals, which set when flows start and stop; remove it
arrivals = { kind = "list", times_s = [[1, 2], [3, 3]] }
-> flow.video.arrivals.times_s.2: is 3 to 3, expected a stop after the start
"#;
    refused(others);
}
