//! Sources without feedback whose receiver judges losses, and the times of packets in a trace.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use losscause::{BuiltIn, End, Span, Time};
use losscause_sim::{
    ChannelSpec, Event, EventKind, FlowId, FlowReport, FlowSpec, Limit, LinkId, LinkSpec, Network,
    PacketKind, QueueSpec, Simulation, Traffic, VerdictTally,
};
use losscause_transport::tcp;

fn link(name: &str, rate_bps: u64, loss: f64) -> LinkSpec {
    let queue = QueueSpec::DropTail { limit: Limit::Packets(20) };
    let channel = if loss > 0.0 { ChannelSpec::Bernoulli { loss } } else { ChannelSpec::Perfect };
    LinkSpec { channel, ..LinkSpec::wired(name, rate_bps, Span::from_millis(10), queue) }
}

/// 1.2 Mb/s of CBR beside a TCP flow, over 2 Mb/s with 5 % loss.
fn beside_tcp(judged: bool) -> Network {
    let lda = judged.then(|| BuiltIn::Spike.build(End::Receiver).unwrap());
    let cbr = Traffic::Cbr { rate_bps: 1_200_000, packet_bytes: 500, lda };
    Network {
        links: vec![link("air", 2_000_000, 0.05), link("back", 2_000_000, 0.0)],
        flows: vec![
            FlowSpec::new("video", &[LinkId(0)], &[], cbr),
            FlowSpec::new("upload", &[LinkId(0)], &[LinkId(1)], Traffic::tcp(tcp::Config::ns2())),
        ],
    }
}

fn at(seconds: i64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

#[test]
fn a_cbr_receivers_algorithm_judges_all_and_changes_nothing() {
    let reports = |judged| -> [FlowReport; 2] {
        let mut simulation = Simulation::new(&beside_tcp(judged), 4).unwrap();
        simulation.run_until(at(60), &mut ());
        [FlowId(0), FlowId(1)].map(|flow| simulation.flow(flow))
    };
    let [video, upload] = reports(true);
    let [plain, same_upload] = reports(false);
    assert_eq!(upload, same_upload);
    let unjudged =
        FlowReport { verdicts: VerdictTally::default(), schemes: vec![], ..video.clone() };
    assert_eq!(unjudged, plain);
    let VerdictTally { congestion, wireless } = video.verdicts;
    assert!(video.lost.congestion > 10 && video.lost.wireless > 100, "{:?}", video.lost);
    assert_eq!(congestion.judged() + congestion.undetected, video.lost.congestion);
    assert_eq!(wireless.judged() + wireless.undetected, video.lost.wireless);
    assert!(congestion.undetected + wireless.undetected < 5, "all but the last ones are judged");
    assert!(video.verdicts.m_w().unwrap() < 1.0);
}

#[test]
fn a_traced_packet_knows_its_send_time_and_its_wait() {
    // 1000 bytes take 8 ms at 1 Mb/s and come every 4 ms: packet n waits 4 n ms, and arrives 18 ms
    // after its transmission began.
    let network = Network {
        links: vec![link("line", 1_000_000, 0.0)],
        flows: vec![FlowSpec::new("source", &[LinkId(0)], &[], Traffic::cbr(2_000_000, 1000))],
    };
    let mut simulation = Simulation::new(&network, 1).unwrap();
    let mut events: Vec<Event> = Vec::new();
    simulation.run_until(Time::ZERO + Span::from_millis(50), &mut events);
    let mut seen = 0;
    for Event { at, kind, .. } in &events {
        let EventKind::Received(packet) = kind else { continue };
        let timing = packet.timing.unwrap();
        let n = packet.seq as i64;
        assert_eq!(
            (timing.sent_at, timing.queued),
            (Time::ZERO + Span::from_millis(4 * n), Span::from_millis(4 * n))
        );
        assert_eq!(*at - timing.sent_at, Span::from_millis(4 * n + 18));
        seen += 1;
    }
    assert_eq!(seen, 5, "transmissions that ended by 40 ms");
}

#[test]
fn packets_sent_before_the_recorder_came_have_no_times() {
    let mut simulation = Simulation::new(&beside_tcp(false), 1).unwrap();
    simulation.run_until(at(5), &mut ());
    let mut events: Vec<Event> = Vec::new();
    simulation.run_until(at(6), &mut events);
    for Event { at: now, kind, .. } in &events {
        let EventKind::Received(packet) = kind else { continue };
        match packet.timing {
            Some(timing) => assert!(timing.sent_at >= at(5)),
            // 20 waiting packets of at most 1040 bytes at 2 Mb/s, and 10 ms.
            None => assert!(*now < at(5) + Span::from_millis(100)),
        }
    }
}

#[test]
fn an_acknowledgement_knows_the_send_time_of_its_packet() {
    let network = Network {
        links: vec![link("there", 8_000_000, 0.0), link("back", 8_000_000, 0.0)],
        flows: vec![FlowSpec::new(
            "t",
            &[LinkId(0)],
            &[LinkId(1)],
            Traffic::tcp(tcp::Config::ns2()),
        )],
    };
    let mut simulation = Simulation::new(&network, 1).unwrap();
    let mut events: Vec<Event> = Vec::new();
    simulation.run_until(Time::ZERO + Span::from_millis(30), &mut events);
    let (sent, acked) = events.iter().fold((None, None), |(sent, acked), event| match event.kind {
        EventKind::Sent(packet) if packet.kind == PacketKind::Data => {
            (sent.or(Some(packet.wire_bytes)), acked)
        }
        EventKind::Received(packet) if packet.kind == PacketKind::Ack => {
            (sent, acked.or(Some((event.at, packet))))
        }
        _ => (sent, acked),
    });
    let (now, ack) = acked.unwrap();
    let data_bytes = sent.unwrap();
    // 1 us per byte at 8 Mb/s, and 10 ms each way.
    let rtt = Span::from_millis(20) + Span::from_micros(i64::from(data_bytes + ack.wire_bytes));
    assert_eq!(now - ack.answers.unwrap(), rtt);
}

#[test]
fn a_transfer_of_given_size_stops_when_all_of_it_is_delivered() {
    let config = tcp::Config { limit_pkts: Some(500), ..tcp::Config::ns2() };
    let mut network = beside_tcp(false);
    network.flows = vec![FlowSpec::new("t", &[LinkId(0)], &[LinkId(1)], Traffic::tcp(config))];
    let mut simulation = Simulation::new(&network, 1).unwrap();
    simulation.run_until(at(1), &mut ());
    let report = simulation.flow(FlowId(0));
    assert!(
        !report.is_complete && report.stops_at.is_none() && report.delivered_packets < 500,
        "{report:?}"
    );
    simulation.run_until(at(300), &mut ());
    let report = simulation.flow(FlowId(0));
    assert!(report.is_complete, "{report:?}");
    assert_eq!(report.delivered_packets, 500);
    assert!(report.lost.wireless > 5, "losses were repaired: {report:?}");
    let stopped = report.stops_at.unwrap();
    let mut again = Simulation::new(&network, 1).unwrap();
    again.run_until(stopped - Span::from_nanos(1), &mut ());
    assert_eq!(again.flow(FlowId(0)).delivered_packets, 499);
}
