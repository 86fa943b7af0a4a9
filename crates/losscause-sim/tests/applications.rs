//! Applications over TCP, with times worked out by hand.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use losscause::{Span, Time};
use losscause_sim::{
    ApplicationReport, ApplicationSpec, ChannelSpec, FlowId, FlowProblem, FlowSpec, Lengths,
    Network, NetworkError, Simulation, TcpLda, Traffic, Waits, tcp,
};
use proptest::prelude::*;

/// A link of 10 Mb/s and 20 ms there and back: a packet of 1500 bytes takes 1.2 ms.
fn network(application: ApplicationSpec, loss: f64) -> Network {
    let traffic = Traffic::Tcp { config: tcp::Config::linux(), lda: TcpLda::None };
    let there = losscause_sim::LinkSpec {
        channel: ChannelSpec::Bernoulli { loss },
        ..common::wired("there", 10_000_000, 20, 1_000)
    };
    let back = common::wired("back", 10_000_000, 20, 1_000);
    let flow =
        FlowSpec { application: Some(application), ..common::flow("client", &[0], &[1], traffic) };
    Network { links: vec![there, back], flows: vec![flow] }
}

fn at(seconds: i64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn run(network: &Network, seed: u64, seconds: i64) -> (ApplicationReport, u64) {
    let mut simulation = Simulation::new(network, seed).unwrap();
    simulation.run_until(at(seconds), &mut ());
    simulation.check_conservation().unwrap();
    let report = simulation.application(FlowId(0)).unwrap();
    (report, simulation.flow(FlowId(0)).delivered_packets)
}

fn thinks(response_pkts: u64, think_ms: i64, lengths: Option<Lengths>) -> ApplicationSpec {
    let mean = Span::from_millis(think_ms);
    ApplicationSpec { response_pkts, waits: Waits::Think { mean, lengths } }
}

#[test]
fn a_response_of_the_initial_window_takes_a_round_trip_and_its_packets() {
    let (report, delivered) = run(&network(thinks(10, 100, None), 0.0), 1, 2);
    let [first, later @ ..] = &report.response_times[..] else { panic!("no response") };
    // 20 ms for the request, 10 packets of 1.2 ms, 20 ms for the last of them.
    let response = Span::from_millis(52);
    assert!(later.iter().all(|time| *time == response), "{later:?}");
    // The handshake takes a round trip, and small packets well below a millisecond.
    let handshake = *first - response;
    assert!((Span::from_millis(40)..Span::from_micros(40_300)).contains(&handshake), "{first:?}");
    // (2000 - 40.. - 52) / 152 ms.
    assert_eq!((report.response_times.len(), delivered), (13, 130));
}

#[test]
fn a_window_restarts_after_an_idle_time() {
    let later = |think_ms| {
        let (report, _) = run(&network(thinks(20, think_ms, None), 0.0), 1, 60);
        report.response_times[1..].to_vec()
    };
    // The window has grown to 20: all packets leave at once.
    let at_once = Span::from_millis(64);
    assert!(later(0).iter().all(|time| *time == at_once));
    // It is the initial one of 10 again: the rest leaves after a round trip, and the first of it
    // arrives after 20 + 1.2 + 40 + 1.2 + 20 ms at the earliest.
    let restarted = Span::from_micros(82_400);
    assert!(later(10_000).len() > 3 && later(10_000).iter().all(|time| *time > restarted));
}

#[test]
fn a_player_on_a_link_that_is_too_slow_plays_as_much_as_arrives() {
    // Chunks of 1 s at 12 Mb/s of payload, over 10 Mb/s: 1036 packets.
    let waits = Waits::Play { chunk: Span::from_secs(1), buffer: Span::from_secs(10) };
    let (report, _) = run(&network(ApplicationSpec { response_pkts: 1_036, waits }, 0.0), 1, 60);
    let chunks = report.response_times.len() as i64;
    assert!(report.stalls >= 40, "{} stalls", report.stalls);
    // After the start, what is not played is stalled.
    let startup = report.response_times[0];
    let left = Span::from_secs(60) - startup - Span::from_secs(chunks);
    assert!(report.stalled >= left && report.stalled - left < Span::from_secs(1));
    // One of 2 Mb/s is played without a stall.
    let waits = Waits::Play { chunk: Span::from_secs(1), buffer: Span::from_secs(10) };
    let (report, _) = run(&network(ApplicationSpec { response_pkts: 173, waits }, 0.0), 1, 60);
    assert_eq!((report.stalls, report.stalled), (0, Span::ZERO));
    // 10 s are in the buffer at the end.
    let chunks = report.response_times.len();
    assert!((68..=70).contains(&chunks), "{chunks} chunks");
}

#[test]
fn an_application_needs_tcp_without_a_size() {
    let mut network = network(thinks(10, 100, None), 0.0);
    network.flows[0].traffic = common::cbr(1_000_000);
    let problem = |network: &Network| match Simulation::new(network, 1).unwrap_err() {
        NetworkError::Flow { problem, .. } => problem,
        error => panic!("{error}"),
    };
    assert_eq!(problem(&network), FlowProblem::ApplicationTraffic);
    let empty = self::network(thinks(0, 100, None), 0.0);
    assert_eq!(problem(&empty), FlowProblem::Application);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_delivered_was_asked_for_and_runs_repeat(
        response_pkts in 1_u64..60, think_ms in 0_i64..400, loss in 0.0..0.1_f64, seed in 0_u64..99,
    ) {
        let network = network(thinks(response_pkts, think_ms, Some(Lengths::Exponential)), loss);
        let (report, delivered) = run(&network, seed, 5);
        let complete = report.response_times.len() as u64 * response_pkts;
        prop_assert!((complete..complete + response_pkts).contains(&delivered));
        prop_assert_eq!(run(&network, seed, 5), (report, delivered));
    }
}
