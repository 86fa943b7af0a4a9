//! What is wrong is said in one sentence that names link or flow and what was expected.
#![allow(clippy::unwrap_used)]

mod common;

use common::{cbr, drop_tail, flow, one_flow, wired};
use losscause::{Span, Time};
use losscause_sim::{
    AtEnd, Between, ChannelSpec, CoDelSpec, DelayPoint, DuplicationSpec, ErrorPosition, FlowId,
    FlowSpec, FqCoDelSpec, JitterDistribution, JitterSpec, Lateness, Lengths, Limit, LinkSpec,
    LoadPoint, Network, PieSpec, QueueSpec, RedSpec, ReorderingSpec, Simulation, Slots, TraceStart,
    Traffic, Turnover, VariationSpec,
};
use losscause_transport::{tcp, tfrc};

fn with_link(change: impl FnOnce(&mut LinkSpec)) -> Network {
    let mut network = one_flow(cbr(100_000), 1_000_000, ChannelSpec::Perfect);
    change(&mut network.links[0]);
    network
}

fn with_channel(channel: ChannelSpec) -> Network {
    with_link(|link| link.channel = channel)
}

fn with_flow(change: impl FnOnce(&mut FlowSpec)) -> Network {
    let mut network = one_flow(cbr(100_000), 1_000_000, ChannelSpec::Perfect);
    change(&mut network.flows[0]);
    network
}

fn with_traffic(traffic: Traffic) -> Network {
    with_flow(|flow| flow.traffic = traffic)
}

#[track_caller]
fn refused(network: &Network, sentence: &str) {
    assert_eq!(Simulation::new(network, 1).unwrap_err().to_string(), sentence);
}

#[test]
fn a_network_of_nothing_runs() {
    Simulation::new(&Network::default(), 1).unwrap().run_until(Time::MAX, &mut ());
}

#[test]
fn bad_links_are_refused() {
    refused(
        &with_link(|link| link.rate_bps = 0),
        r#"link "out": rate_bps is 0, expected at least 1"#,
    );
    refused(
        &with_link(|link| link.delay = Span::from_millis(-1)),
        r#"link "out": delay is -1.000 ms, expected 0 or more"#,
    );
    refused(
        &with_link(|link| link.name = "back".into()),
        r#"link "back": another link has the same name, expected every name once"#,
    );
    let slots = r#"link "out": the channel has no slot per packet, expected at least one"#;
    refused(&with_link(|link| link.slots = Slots::PerPacket(0)), slots);
    for (slot, shown) in [(Span::ZERO, "0.000 ms"), (Span::from_nanos(999), "0.000999 ms")] {
        refused(
            &with_link(|link| link.slots = Slots::PerTime(slot)),
            &format!(r#"link "out": the channel's slots last {shown}, expected at least 0.001 ms"#),
        );
    }
}

#[test]
fn bad_disorder_is_refused() {
    let late = |share, by| with_link(|link| link.reordering = Some(ReorderingSpec { share, by }));
    let time = |most| Lateness::Time { most, drawn: false };
    refused(
        &late(1.1, time(Span::ZERO)),
        r#"link "out": reordering: the share is 1.1, expected 0 to 1"#,
    );
    refused(
        &late(0.1, time(Span::from_millis(-1))),
        r#"link "out": reordering: a packet is late by -1.000 ms, expected 0 or more, finite"#,
    );
    let by = |packets| Lateness::Packets { packets, most: Span::from_millis(1) };
    refused(
        &late(0.1, by(0)),
        r#"link "out": reordering: 0 packets overtake, expected at least 1"#,
    );
    let double = DuplicationSpec { share: f64::NAN, delay: Span::ZERO };
    refused(
        &with_link(|link| link.duplication = Some(double)),
        r#"link "out": duplication: the share is NaN, expected 0 to 1"#,
    );
    let jitter = JitterSpec {
        distribution: JitterDistribution::Uniform,
        mean: Span::from_millis(10),
        deviation: Span::from_millis(6),
        correlation: 0.0,
        reorders: false,
    };
    let varied = |jitter| with_link(|link| link.variation = VariationSpec::Jitter(jitter));
    refused(
        &varied(jitter),
        r#"link "out": the jitter deviates by 6.000 ms, expected what its mean allows"#,
    );
    refused(
        &varied(JitterSpec { deviation: Span::ZERO, correlation: 1.0, ..jitter }),
        r#"link "out": the jitter's correlation is 1, expected 0 to below 1"#,
    );
}

#[test]
fn bad_losses_by_load_are_refused() {
    let window = Span::from_secs(1);
    let channel = |points: &[(f64, f64)], window| {
        let points = points.iter().map(|&(load, loss)| LoadPoint { load, loss });
        ChannelSpec::Load { points: points.collect(), window }
    };
    let table = |point: usize| {
        format!(
            r#"link "out": point {point} of the losses by load is wrong, expected rising loads and losses from 0 to 1"#
        )
    };
    refused(&with_channel(channel(&[], window)), &table(0));
    refused(&with_channel(channel(&[(0.5, 0.1), (0.5, 0.2)], window)), &table(1));
    refused(&with_channel(channel(&[(0.0, 0.1), (1.0, 1.2)], window)), &table(1));
    refused(
        &with_channel(channel(&[(0.5, 0.1)], Span::ZERO)),
        r#"link "out": the window of the load is 0.000 ms, expected more than 0"#,
    );
    let misplaced = with_link(|link| {
        link.channel = channel(&[(0.5, 0.1)], window);
        link.error_position = ErrorPosition::BeforeQueue;
    });
    let expected =
        "losses depend on the load, expected them after the transmission, one slot per packet";
    refused(&misplaced, &format!(r#"link "out": {expected}"#));
}

#[test]
fn bad_channels_are_refused() {
    for (loss, printed) in [(-0.1, "-0.1"), (1.5, "1.5"), (f64::NAN, "NaN")] {
        refused(
            &with_channel(ChannelSpec::Bernoulli { loss }),
            &format!(r#"link "out": loss is {printed}, expected 0 to 1"#),
        );
    }
    let bursty = |loss, mean_burst_packets| {
        with_channel(ChannelSpec::GilbertElliott { loss, mean_burst_packets })
    };
    refused(&bursty(1.0, 2.0), r#"link "out": loss is 1, expected 0 to less than 1"#);
    refused(
        &bursty(0.1, 0.5),
        r#"link "out": mean_burst_packets is 0.5, expected at least 1 at this loss"#,
    );
    refused(
        &bursty(0.75, 2.0),
        r#"link "out": mean_burst_packets is 2, expected at least 3 at this loss"#,
    );
    let trace =
        |lost: &[bool], start| with_channel(ChannelSpec::Trace { lost: lost.into(), start });
    refused(
        &trace(&[], TraceStart::Drawn),
        r#"link "out": the error trace is empty, expected at least one slot"#,
    );
    for part in [0, 3] {
        let problem = format!(
            r#"link "out": the error trace is read in parts of {part} slots, expected 1 to its 2 slots"#
        );
        refused(&trace(&[true, false], TraceStart::DrawnPart(part)), &problem);
    }
    refused(
        &trace(&[true], TraceStart::Slot(1)),
        r#"link "out": the error trace starts at slot 1, expected less than its 1 slots"#,
    );
}

#[test]
fn bad_queues_are_refused() {
    let refused = |queue, sentence: &str| {
        refused(&with_link(|link| link.queue = queue), &format!(r#"link "out": {sentence}"#));
    };
    let limit = Limit::Packets(20);
    refused(
        QueueSpec::StepMark { limit, mark_from_pkts: 0 },
        "mark_from_pkts is 0, expected at least 1",
    );
    let default = RedSpec::new(limit);
    for (spec, sentence) in [
        (RedSpec { min_th_pkts: -1.0, ..default }, "min_th is -1, expected 0 or more"),
        (
            RedSpec { max_th_pkts: 5.0, ..default },
            "max_th is 5, expected more than min_th, which is 5",
        ),
        (
            RedSpec { max_th_pkts: f64::NAN, ..default },
            "max_th is NaN, expected more than min_th, which is 5",
        ),
        (RedSpec { max_p: 1.5, ..default }, "max_p is 1.5, expected more than 0 and at most 1"),
        (RedSpec { max_p: 0.0, ..default }, "max_p is 0, expected more than 0 and at most 1"),
        (RedSpec { w_q: -0.1, ..default }, "w_q is -0.1, expected more than 0 and at most 1"),
        (
            RedSpec { typical_packet_bytes: 0, ..default },
            "typical_packet_bytes is 0, expected at least 1",
        ),
    ] {
        refused(QueueSpec::Red(spec), sentence);
    }
    let default = CoDelSpec::new(limit);
    for (spec, sentence) in [
        (CoDelSpec { target: Span::ZERO, ..default }, "target is 0.000 ms, expected more than 0"),
        (
            CoDelSpec { interval: Span::from_millis(4), ..default },
            "interval is 4.000 ms, expected at least the target, which is 5.000 ms",
        ),
    ] {
        refused(QueueSpec::CoDel(spec), sentence);
    }
    let default = FqCoDelSpec::new(limit);
    for (spec, sentence) in [
        (FqCoDelSpec { quantum_bytes: 0, ..default }, "quantum_bytes is 0, expected at least 1"),
        (FqCoDelSpec { queues: 0, ..default }, "queues is 0, expected 1 to 65536"),
        (FqCoDelSpec { queues: 65_537, ..default }, "queues is 65537, expected 1 to 65536"),
        (
            FqCoDelSpec { codel: CoDelSpec { target: Span::ZERO, ..default.codel }, ..default },
            "target is 0.000 ms, expected more than 0",
        ),
    ] {
        refused(QueueSpec::FqCoDel(spec), sentence);
    }
    let default = PieSpec::new(limit);
    for (spec, sentence) in [
        (PieSpec { target: Span::ZERO, ..default }, "target is 0.000 ms, expected more than 0"),
        (PieSpec { t_update: Span::ZERO, ..default }, "t_update is 0.000 ms, expected more than 0"),
        (
            PieSpec { max_burst: Span::from_millis(-1), ..default },
            "max_burst is -1.000 ms, expected 0 or more",
        ),
        (PieSpec { alpha: -0.125, ..default }, "alpha is -0.125, expected 0 or more"),
        (PieSpec { beta: f64::NAN, ..default }, "beta is NaN, expected 0 or more"),
    ] {
        refused(QueueSpec::Pie(spec), sentence);
    }
}

#[test]
fn bad_paths_are_refused() {
    refused(
        &with_flow(|flow| flow.path.clear()),
        r#"flow "only": path is empty, expected at least one link"#,
    );
    refused(
        &with_flow(|flow| flow.path[0].0 = 2),
        r#"flow "only": the path names link number 2, expected one of the 2 links from 0 on"#,
    );
    refused(
        &with_flow(|flow| flow.return_path = vec![flow.path[0]; 2]),
        r#"flow "only": the path visits link "out" twice, expected once at most"#,
    );
    let mut without_return = with_traffic(Traffic::tcp(tcp::Config::ns2()));
    without_return.flows[0].return_path.clear();
    refused(
        &without_return,
        r#"flow "only": return_path is empty, expected at least one link for traffic with feedback"#,
    );
}

#[test]
fn bad_flows_are_refused() {
    let twins = Network {
        links: vec![wired("out", 1000, 1, 1)],
        flows: vec![flow("a", &[0], &[], cbr(1)), flow("a", &[0], &[], cbr(1))],
    };
    refused(&twins, r#"flow "a": another flow has the same name, expected every name once"#);
    refused(
        &with_flow(|flow| flow.start = Time::from_nanos(-1)),
        r#"flow "only": start is -0.000000 s, expected 0 or more"#,
    );
    refused(
        &with_flow(|flow| flow.start_spread = Span::from_millis(-1)),
        r#"flow "only": start_spread is -1.000 ms, expected 0 or more"#,
    );
    refused(
        &with_flow(|flow| flow.send_jitter = Span::from_millis(-1)),
        r#"flow "only": send_jitter is -1.000 ms, expected 0 or more"#,
    );
    let cbr = |rate_bps, packet_bytes| with_traffic(Traffic::cbr(rate_bps, packet_bytes));
    refused(&cbr(0, 762), r#"flow "only": rate_bps is 0, expected at least 1"#);
    refused(&cbr(1, 0), r#"flow "only": packet_bytes is 0, expected at least 1"#);
    refused(
        &cbr(8_000_000_001, 1),
        r#"flow "only": rate_bps is 8000000001, expected at most 8000000000 (a packet per nanosecond)"#,
    );
    let on_off = |mean_on, mean_off, lengths| {
        with_traffic(Traffic::OnOff {
            rate_bps: 1000,
            packet_bytes: 10,
            mean_on,
            mean_off,
            lengths,
            lda: None,
        })
    };
    let exponential = Lengths::Exponential;
    refused(
        &on_off(Span::ZERO, Span::ZERO, exponential),
        r#"flow "only": mean_on is 0.000 ms, expected more than 0"#,
    );
    refused(
        &on_off(Span::from_millis(1), Span::from_millis(-1), exponential),
        r#"flow "only": mean_off is -1.000 ms, expected 0 or more"#,
    );
    for (shape, printed) in [(1.0, "1"), (-2.0, "-2"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        refused(
            &on_off(Span::from_millis(1), Span::from_millis(1), Lengths::Pareto { shape }),
            &format!(r#"flow "only": shape is {printed}, expected a number above 1"#),
        );
    }
}

#[test]
fn bad_protocol_settings_name_the_setting() {
    let tcp = Traffic::tcp(tcp::Config { dup_ack_threshold: 0, ..tcp::Config::ns2() });
    let error = Simulation::new(&with_traffic(tcp), 1).unwrap_err().to_string();
    assert!(
        error.starts_with(r#"flow "only": "#) && error.contains("dup_ack_threshold"),
        "{error}"
    );
    let config = tfrc::Config { payload_bytes: 0, ..tfrc::Config::ns2() };
    let tfrc = Traffic::Tfrc {
        config,
        lda: losscause::AnyAlgorithm::boxed(losscause_sim::Oracle::OMNISCIENT),
    };
    let error = Simulation::new(&with_traffic(tfrc), 1).unwrap_err().to_string();
    assert!(error.starts_with(r#"flow "only": "#) && error.contains("payload_bytes"), "{error}");
}

#[test]
fn the_largest_values_of_every_setting_do_no_harm() {
    let mut network = with_traffic(Traffic::OnOff {
        rate_bps: 1_000_000,
        packet_bytes: u32::MAX,
        mean_on: Span::MAX,
        mean_off: Span::MAX,
        lengths: Lengths::Pareto { shape: 1.0 + f64::EPSILON },
        lda: None,
    });
    network.links[0] = LinkSpec::wired("out", 1, Span::MAX, drop_tail(u32::MAX));
    let mut fast = flow("fast", &[1], &[], Traffic::cbr(1_000_000, 40));
    fast.start_spread = Span::MAX;
    network.flows.push(fast);
    network.links[1] = LinkSpec::wired("back", u64::MAX, Span::MAX, drop_tail(u32::MAX));
    let mut simulation = Simulation::new(&network, 1).unwrap();
    simulation.run_until(Time::ZERO + Span::from_secs(10), &mut ());
    assert_eq!(simulation.check_conservation(), Ok(()));
}

#[test]
fn delays_that_cannot_vary_so_are_refused() {
    let varying = |variation| with_link(|link| link.variation = variation);
    let trace = |points: &[(i64, i64)], at_end| {
        let point = |&(at, delay)| DelayPoint {
            at: Span::from_millis(at),
            delay: Span::from_millis(delay),
        };
        let points = points.iter().map(point).collect();
        varying(VariationSpec::Trace { points, between: Between::Steps, at_end })
    };
    let hold = AtEnd::Hold;
    let most = Span::from_millis(20);
    refused(
        &trace(&[], hold),
        r#"link "out": the delay trace is empty, expected at least one point"#,
    );
    for points in [[(0, 1), (0, 2)], [(-1, 1), (0, 2)]] {
        let point = usize::from(points[0].0 == 0);
        refused(
            &trace(&points, hold),
            &format!(
                r#"link "out": point {point} of the delay trace is not later than the one before it, expected rising times"#
            ),
        );
    }
    refused(
        &trace(&[(0, 1), (1, -2)], hold),
        r#"link "out": the delay varies by -2.000 ms, expected 0 to its bound"#,
    );
    refused(
        &trace(&[(0, 1)], AtEnd::Repeat),
        r#"link "out": the delay's period is 0.000 ms, expected more than 0"#,
    );
    refused(
        &varying(VariationSpec::Sinusoid { most, period: Span::ZERO }),
        r#"link "out": the delay's period is 0.000 ms, expected more than 0"#,
    );
    refused(
        &varying(VariationSpec::Batches { most: Span::from_millis(-3), drawn: true }),
        r#"link "out": the delay varies by -3.000 ms, expected 0 to its bound"#,
    );
    refused(
        &varying(VariationSpec::Walk { most, step: most * 2, every: Span::from_millis(1) }),
        r#"link "out": the delay varies by 40.000 ms, expected 0 to its bound"#,
    );
    refused(
        &varying(VariationSpec::Walk { most, step: most, every: Span::from_nanos(1) }),
        r#"link "out": the delay steps every 0.000001 ms, expected at least 1 ms"#,
    );
}

#[test]
fn flows_that_cannot_come_and_go_so_are_refused() {
    let turnover = Turnover {
        after: None,
        mean_gap: Span::from_secs(1),
        mean_duration: Some(Span::from_secs(1)),
        durations: Lengths::Exponential,
    };
    let with = |turnover| with_flow(|flow| flow.turnover = Some(turnover));
    refused(
        &with(Turnover { after: Some(FlowId(0)), ..turnover }),
        r#"flow "only": comes after flow number 0, expected one that stands before it in the list"#,
    );
    refused(
        &with(Turnover { mean_gap: Span::ZERO, ..turnover }),
        r#"flow "only": mean_gap is 0.000 ms, expected more than 0"#,
    );
    refused(
        &with(Turnover { mean_duration: Some(Span::ZERO), ..turnover }),
        r#"flow "only": mean_duration is 0.000 ms, expected more than 0"#,
    );
    refused(
        &with(Turnover { durations: Lengths::Pareto { shape: 0.5 }, ..turnover }),
        r#"flow "only": shape is 0.5, expected a number above 1"#,
    );
}
