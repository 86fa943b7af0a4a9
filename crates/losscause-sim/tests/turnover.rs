//! Flows that come as a Poisson process and go after a random time.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_secs, cbr, flow, run_to, wired};
use losscause::{Span, Time};
use losscause_sim::{FlowId, FlowReport, FlowSpec, Lengths, Network, Simulation, Turnover};

/// So many flows, one a second on average, for two seconds on average, from 5 s on.
fn network(flows: u32, durations: Lengths) -> Network {
    let turnover = |number: u32| Turnover {
        after: number.checked_sub(1).map(FlowId),
        mean_gap: Span::from_secs(1),
        mean_duration: Some(Span::from_secs(2)),
        durations,
    };
    let spec = |number| FlowSpec {
        start: at_secs(5),
        turnover: Some(turnover(number)),
        ..flow(&format!("guest.{}", number + 1), &[0], &[], cbr(7_620))
    };
    Network { links: vec![wired("way", 10_000_000, 10, 50)], flows: (0..flows).map(spec).collect() }
}

fn reports(network: &Network, until: Time) -> Vec<FlowReport> {
    let mut simulation = Simulation::new(network, 1).unwrap();
    run_to(&mut simulation, until, &mut ());
    (0..network.flows.len() as u32).map(|flow| simulation.flow(FlowId(flow))).collect()
}

fn secs(time: Option<Time>) -> f64 {
    time.unwrap().as_secs_f64()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn flows_come_at_their_rate_in_order_and_stay_for_their_time() {
    for durations in [Lengths::Exponential, Lengths::Pareto { shape: 3.0 }] {
        let reports = reports(&network(1_000, durations), at_secs(2_000));
        let starts: Vec<f64> = reports.iter().map(|report| secs(report.started_at)).collect();
        let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let lives: Vec<f64> =
            reports.iter().map(|r| secs(r.stops_at) - secs(r.started_at)).collect();
        // The group starts at 5 s; the first flow comes a gap later, and nobody comes before the
        // one before.
        assert!(starts[0] > 5.0, "{}", starts[0]);
        assert!(starts.is_sorted());
        // Standard deviation of a mean of 1000: 0.032 for the gaps, at most 0.064 for the lives;
        // five of each.
        assert!((mean(&gaps) - 1.0).abs() < 0.16, "{}", mean(&gaps));
        assert!((mean(&lives) - 2.0).abs() < 0.32, "{}", mean(&lives));
        // Ten packets in 8 s at 1.25 a second, the first at the start.
        for (report, life) in reports.iter().zip(lives) {
            assert_eq!(report.sent_packets, (life * 1.25).ceil() as u64);
            assert_eq!(report.received_packets, report.sent_packets);
        }
    }
}

#[test]
fn flows_yet_to_come_or_stopped_before_have_no_start() {
    let mut network = network(50, Lengths::Exponential);
    for flow in &mut network.flows {
        flow.stop = Some(at_secs(15));
    }
    let reports = reports(&network, at_secs(30));
    let came = reports.iter().filter(|report| report.started_at.is_some()).count();
    // About ten in the ten seconds from 5 s on.
    assert!((3..20).contains(&came), "{came}");
    assert!(
        reports[..came]
            .iter()
            .all(|report| report.started_at.is_some() && secs(report.stops_at) <= 15.0)
    );
    assert!(reports[came..].iter().all(|report| report.sent_packets == 0));
}

#[test]
fn a_flow_more_leaves_the_lives_of_the_others_as_they_were() {
    let lives = |flows| -> Vec<_> {
        reports(&network(flows, Lengths::Exponential), at_secs(60))
            .iter()
            .map(|r| (r.started_at, r.stops_at))
            .collect()
    };
    assert_eq!(lives(20), lives(21)[..20]);
}
