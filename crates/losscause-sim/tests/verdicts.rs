//! What receivers say about losses, against what the links did.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_secs, flow, wired, wireless};
use losscause::{Algorithm, Cause, Span, Verdict};
use losscause_sim::{
    ChannelSpec, Event, EventKind, FlowId, FlowReport, FlowSpec, LdaSpec, Network, Simulation, Traffic, VerdictTally,
};
use losscause_transport::{tcp, tfrc};

/// Four TFRC flows over a congested link with errors.
fn network(lda: LdaSpec) -> Network {
    let channel = ChannelSpec::Bernoulli { loss: 0.02 };
    let traffic = Traffic::Tfrc { config: tfrc::Config::ns2(), lda };
    let flows = (0..4).map(|i| FlowSpec {
        start_spread: Span::from_secs(1),
        ..flow(&format!("tfrc {i}"), &[0], &[1], traffic.clone())
    });
    Network {
        links: vec![wireless("air", 1_000_000, 20, 8, channel), wired("back", 1_000_000, 20, 50)],
        flows: flows.collect(),
    }
}

fn run(lda: LdaSpec) -> (Vec<FlowReport>, Vec<Event>) {
    let network = network(lda);
    let mut simulation = Simulation::new(&network, 3).unwrap();
    let mut events = Vec::new();
    simulation.run_until(at_secs(200), &mut events);
    ((0..4).map(|i| simulation.flow(FlowId(i))).collect(), events)
}

fn total(reports: &[FlowReport]) -> VerdictTally {
    let mut total = VerdictTally::default();
    reports.iter().for_each(|report| total += report.verdicts);
    total
}

#[test]
fn the_omniscient_oracle_is_never_wrong() {
    let (reports, _) = run(LdaSpec::Omniscient);
    let verdicts = total(&reports);
    assert_eq!((verdicts.m_c(), verdicts.m_w()), (Some(0.0), Some(0.0)));
    assert_eq!((verdicts.congestion.undecided, verdicts.wireless.undecided), (0, 0));
    assert!(verdicts.congestion.judged() > 100 && verdicts.wireless.judged() > 100, "{verdicts:?}");
}

#[test]
fn the_constant_verdicts_are_wrong_about_all_losses_of_the_other_cause() {
    let congestion = total(&run(LdaSpec::Algorithm(Algorithm::AlwaysCongestion.build())).0);
    assert_eq!((congestion.m_c(), congestion.m_w()), (Some(0.0), Some(1.0)));
    let wireless = total(&run(LdaSpec::Algorithm(Algorithm::AlwaysWireless.build())).0);
    assert_eq!((wireless.m_c(), wireless.m_w()), (Some(1.0), Some(0.0)));
}

#[test]
fn hardly_a_loss_goes_undetected() {
    for report in run(LdaSpec::Algorithm(Algorithm::Spike.build())).0 {
        let VerdictTally { congestion, wireless } = report.verdicts;
        assert_eq!(congestion.judged() + congestion.undetected, report.lost.congestion);
        assert_eq!(wireless.judged() + wireless.undetected, report.lost.wireless);
        // Only those at the very start and those still ahead of the last arrival.
        assert!(congestion.undetected + wireless.undetected < 10, "{:?}", report.verdicts);
    }
}

#[test]
fn every_verdict_is_traced_with_its_true_cause() {
    let (reports, events) = run(LdaSpec::Algorithm(Algorithm::Zbs.build()));
    let mut traced = VerdictTally::default();
    for event in events {
        if let EventKind::Verdict { cause, judgement, .. } = event.kind {
            let of = match cause.unwrap() {
                Cause::Congestion => &mut traced.congestion,
                Cause::Wireless => &mut traced.wireless,
            };
            match judgement.verdict {
                Verdict::Congestion => of.called_congestion += 1,
                Verdict::Wireless => of.called_wireless += 1,
                Verdict::Undecided => of.undecided += 1,
            }
        }
    }
    let mut reported = total(&reports);
    reported.congestion.undetected = 0;
    reported.wireless.undetected = 0;
    assert_eq!(traced, reported);
}

#[test]
fn the_use_of_base_schemes_adds_up_to_the_packets_received() {
    for report in run(LdaSpec::Algorithm(Algorithm::Zbs.build())).0 {
        let in_force: u64 = report.schemes.iter().map(|&(_, packets)| packets).sum();
        assert_eq!(in_force, report.received_packets, "{:?}", report.schemes);
    }
    for report in run(LdaSpec::Algorithm(Algorithm::Biaz.build())).0 {
        assert_eq!(report.schemes, [("Biaz", report.received_packets)]);
    }
}

#[test]
fn tcp_counts_its_losses_but_judges_none() {
    let mut network = network(LdaSpec::Omniscient);
    network.flows[0].traffic = Traffic::Tcp(tcp::Config::ns2());
    let mut simulation = Simulation::new(&network, 3).unwrap();
    simulation.run_until(at_secs(100), &mut ());
    let report = simulation.flow(FlowId(0));
    assert!(report.lost.congestion > 0 && report.lost.wireless > 0, "{:?}", report.lost);
    assert_eq!(report.verdicts, VerdictTally::default());
}
