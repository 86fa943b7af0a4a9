//! Streams over the virtual network, as a whole.
//!
//! The simulated flow and the stream share `losscause_transport::tfrc` and the links; what the
//! stream adds is between them: handshake, packets of bytes, microseconds, vetting.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use losscause::{Span, Time};
use losscause_media::{End, SenderConfig};

use super::experiment::MEDIA;
use super::simulated;
use super::stack::StreamPlan;
use super::stream::{Ends, Stream};
use super::truths::Truths;
use crate::live::counters::Counters;
use crate::live::testing::{self, Configuration};

fn cell(table: &str, loss: &str, system: &str) -> Configuration {
    testing::cells(table, &[&format!("loss={loss}"), &format!("system={system}")])[0].clone()
}

fn stream(cell: &Configuration, seed: u64) -> Stream {
    let plan = StreamPlan::of(&cell.experiment).unwrap();
    Stream::new(&cell.experiment.network, plan.flow, seed, plan.ends(&Truths::default())).unwrap()
}

/// The stream at the end of the window, and what became of its packets within.
fn streamed(cell: &Configuration, seed: u64) -> (Stream, Counters) {
    let mut stream = stream(cell, seed);
    let (from, to) = cell.experiment.window;
    stream.run_until(from);
    let before = stream.outcome();
    stream.run_until(to);
    let outcome = stream.outcome().since(&before);
    assert_eq!(stream.ended(), None);
    assert_eq!(
        stream.ends().0.stats().contradicting_reports,
        0,
        "an honest receiver was not believed"
    );
    (stream, outcome)
}

#[test]
fn the_claims_are_about_every_system_of_the_record() {
    let systems: Vec<&str> =
        MEDIA.record().published().system.iter().map(|system| system.name.as_str()).collect();
    assert_eq!(super::claims::SYSTEMS, systems[..]);
}

#[test]
fn links_are_those_of_the_papers_scenario_without_cross_traffic() {
    let cell = cell("media/wlh", "high", "ZBS");
    let network = &cell.experiment.network;
    let links = network.flows[0].path.iter().map(|link| &network.links[link.0 as usize]);
    let links: Vec<(&str, u64)> = links.map(|link| (link.name.as_str(), link.rate_bps)).collect();
    assert_eq!(links, [("access.1", 10_000_000), ("shared", 260_000), ("last.1", 150_000)]);
    assert_eq!(network.flows.len(), 1, "{:?}", network.flows);
    let plan = StreamPlan::of(&cell.experiment).unwrap();
    assert_eq!(
        (plan.sender.packet_bytes, plan.header_bytes, plan.lda.info().name),
        (762, 0, "ZBS")
    );
}

#[test]
fn a_stream_runs_within_a_hundredth_of_simulated_tfrcs_rate() {
    let cells = [
        ("media/radio", "0", "none"),
        ("media/radio", "0.01", "none"),
        ("media/radio", "0.01", "ZBS"),
        ("media/wlh", "high", "none"),
        ("media/wlh", "high", "ZBS"),
    ];
    for (table, loss, system) in cells {
        let cell = cell(table, loss, system);
        let flow = StreamPlan::of(&cell.experiment).unwrap().flow;
        for seed in 1..=3 {
            let simulated =
                simulated::run(&cell.experiment.network, flow, seed, cell.experiment.window)
                    .unwrap();
            let (_, streamed) = streamed(&cell, seed);
            let quotient = streamed.delivered_pkts as f64 / simulated.delivered_pkts as f64;
            assert!(
                (0.99..1.01).contains(&quotient),
                "{cell}, seed {seed}: {streamed:?}, {simulated:?}"
            );
        }
    }
}

#[test]
fn every_packet_has_one_fate_and_an_oracle_is_always_right() {
    let (_, outcome) = streamed(&cell("media/wlh", "high", "oracle"), 4);
    let ended = outcome.delivered_pkts + outcome.queue_drops + outcome.wireless_losses;
    // The links hold at most 11 waiting packets and those in transmission or propagation.
    assert!(outcome.sent_pkts.abs_diff(ended) < 25, "{outcome:?}");
    assert!(outcome.queue_drops > 20 && outcome.wireless_losses > 100, "{outcome:?}");
    assert_eq!((outcome.verdicts.m_c(), outcome.verdicts.m_w()), (Some(0.0), Some(0.0)));
    let judged = outcome.verdicts.wireless.called_wireless;
    assert!(judged.abs_diff(outcome.wireless_losses) < 25, "{outcome:?}");
}

#[test]
fn the_verdicts_reach_the_application_and_the_sender() {
    let (mut stream, _) = streamed(&cell("media/wlh", "high", "ZBS"), 1);
    let heard = stream.heard();
    let of_receiver = stream.outcome().verdicts;
    let stats = stream.ends().0.stats();
    let lost = stats.lost_congestion_pkts + stats.lost_wireless_pkts;
    assert!(
        stats.lost_wireless_pkts > 2 * stats.lost_congestion_pkts,
        "most losses are wireless: {stats:?}"
    );
    // The last report is up to a round-trip time old, and three packets pass before a loss is
    // declared.
    assert!(heard.missing_pkts.abs_diff(lost) <= 5, "{heard:?}, {lost} reported");
    let counted = of_receiver.wireless.called_wireless + of_receiver.congestion.called_wireless;
    assert_eq!(heard.wireless_pkts, counted, "what is counted is what the application hears");
    assert!((0.02..0.2).contains(&stats.recent.wireless), "{:?}", stats.recent);
    let rtt = stats.rtt.unwrap();
    let rate = stats.rate_bps;
    assert!((0.06..1.0).contains(&rtt.as_secs_f64()), "{rtt}");
    assert!((100e3..400e3).contains(&rate), "{rate}");
    assert!((stats.media_rate_bps / rate - 710.0 / 762.0).abs() < 1e-9);

    // Bye is answered, and the totals agree.
    let end = Time::ZERO + Span::from_secs(230);
    stream.ends().0.finish(Time::ZERO + Span::from_secs(220));
    stream.run_until(end);
    assert_eq!((stream.heard().ended, stream.ended()), (Some(End::Finished), Some(End::Finished)));
    let (sender, receiver) = stream.ends();
    let sender = sender.stats();
    let receiver = receiver.stats();
    assert_eq!(receiver.sent_pkts, Some(sender.sent_pkts));
    assert_eq!(receiver.received_pkts, sender.received_pkts);
}

#[test]
fn the_largest_rate_holds_where_the_path_carries_more() {
    let cell = cell("media/radio", "0", "ZBS");
    let plan = StreamPlan::of(&cell.experiment).unwrap();
    let sender = SenderConfig { max_rate_bps: 400_000, ..plan.sender.clone() };
    let ends = Ends { sender, ..plan.ends(&Truths::default()) };
    let mut stream = Stream::new(&cell.experiment.network, plan.flow, 1, ends).unwrap();
    let from = Time::ZERO + Span::from_secs(20);
    stream.run_until(from);
    let before = stream.outcome();
    stream.run_until(from + Span::from_secs(60));
    let delivered = stream.outcome().since(&before).delivered_pkts;
    // 400 kb/s are 41.67 packets of 1200 bytes per second.
    assert!((2490..=2501).contains(&delivered), "{delivered}");
    assert_eq!(stream.ends().0.stats().rate_bps, 400e3);
}
