//! Links that change while packets cross them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_secs, cbr, drop_tail, flow, one_flow, run_to, wired, wireless};
use losscause::{Span, Time};
use losscause_sim::{
    ChannelSpec, CoDelSpec, Event, EventKind, FlowId, Limit, LinkEvent, LinkId, LinkSpec, Network,
    QueueSpec, RatePoint, RateSpec, Simulation, Traffic,
};
use losscause_transport::tcp;

/// 762 bytes at 609,600 b/s: a packet every 10 ms.
const EVERY_10_MS_BPS: u64 = 609_600;

fn at_ms(ms: i64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn changed(simulation: &mut Simulation, network: &Network, change: impl FnOnce(&mut LinkSpec)) {
    let mut links = network.links.clone();
    change(&mut links[0]);
    simulation.change_links(&links).unwrap();
}

/// When the link handed over a packet, and when it began to send it, milliseconds.
fn instants(events: &[Event], what: LinkEvent) -> Vec<i64> {
    let mut of_link: Vec<i64> = events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Link { link: LinkId(0), what: found, .. } if found == what))
        .map(|event| event.at.as_nanos() / 1_000_000)
        .collect();
    of_link.sort_unstable();
    of_link
}

#[test]
fn a_new_rate_holds_from_the_next_packet_and_none_overtakes() {
    // A transmission takes 5 ms, the delay is 20 ms.
    let network = one_flow(cbr(EVERY_10_MS_BPS), 2 * EVERY_10_MS_BPS, ChannelSpec::Perfect);
    let mut simulation = Simulation::new(&network, 1).unwrap();
    let mut events = Vec::new();
    run_to(&mut simulation, at_ms(29), &mut events);
    let sent = instants(&events, LinkEvent::TransmitStart);
    assert_eq!(sent.len(), 3, "{sent:?}");
    // Twice as fast, without delay: the next packet would arrive 2.5 ms after it was sent, 17.5 ms
    // before the last one.
    changed(&mut simulation, &network, |link| {
        link.rate_bps *= 2;
        link.delay = Span::ZERO;
    });
    run_to(&mut simulation, at_ms(70), &mut events);
    let delivered = instants(&events, LinkEvent::Deliver);
    let first = sent[0];
    assert_eq!(delivered[..6], [25, 35, 45, 45, 45, 52].map(|ms| first + ms), "{delivered:?}");
}

#[test]
fn a_loss_that_is_set_while_packets_flow_corrupts_from_then_on() {
    let network = one_flow(cbr(EVERY_10_MS_BPS), 2 * EVERY_10_MS_BPS, ChannelSpec::Perfect);
    let mut simulation = Simulation::new(&network, 1).unwrap();
    let lost = |simulation: &Simulation| simulation.flow(FlowId(0)).lost.wireless;
    run_to(&mut simulation, at_secs(10), &mut ());
    assert_eq!(lost(&simulation), 0);
    changed(&mut simulation, &network, |link| link.channel = ChannelSpec::Bernoulli { loss: 1.0 });
    run_to(&mut simulation, at_secs(20), &mut ());
    let all = lost(&simulation);
    assert!(
        (995..=1001).contains(&all),
        "{all} of a thousand packets, those on their way excepted"
    );
    changed(&mut simulation, &network, |link| link.channel = ChannelSpec::Perfect);
    run_to(&mut simulation, at_secs(30), &mut ());
    assert!(lost(&simulation) <= all + 5);
}

#[test]
fn a_run_with_the_changed_loss_from_the_start_is_the_same() {
    let tcp = || Traffic::tcp(tcp::Config::ns2());
    let lossy = ChannelSpec::GilbertElliott { loss: 0.05, mean_burst_packets: 2.0 };
    let mild = ChannelSpec::GilbertElliott { loss: 0.01, mean_burst_packets: 1.5 };
    for (before, after) in
        [(mild, lossy), (ChannelSpec::Perfect, ChannelSpec::Bernoulli { loss: 0.05 })]
    {
        let [old, new] = [before, after].map(|channel| one_flow(tcp(), 1_000_000, channel));
        let mut changed = Simulation::new(&old, 7).unwrap();
        changed.change_links(&new.links).unwrap();
        let mut fresh = Simulation::new(&new, 7).unwrap();
        for simulation in [&mut changed, &mut fresh] {
            run_to(simulation, at_secs(60), &mut ());
        }
        assert_eq!(changed.flow(FlowId(0)), fresh.flow(FlowId(0)));
        assert!(fresh.flow(FlowId(0)).lost.wireless > 20);
    }
}

#[test]
fn a_shorter_queue_drops_the_excess_behind_every_discipline() {
    let limit = Limit::Packets(40);
    let managed = [
        QueueSpec::StepMark { limit, mark_from_pkts: 30 },
        QueueSpec::CoDel(CoDelSpec::new(limit)),
    ];
    for queue in [drop_tail(40)].into_iter().chain(managed) {
        // Twice what the link carries.
        let mut network = one_flow(cbr(2 * EVERY_10_MS_BPS), EVERY_10_MS_BPS, ChannelSpec::Perfect);
        network.links[0].queue = queue;
        let mut simulation = Simulation::with_every_event(&network, 1).unwrap();
        run_to(&mut simulation, at_ms(250), &mut ());
        let waited = simulation.waiting_pkts(LinkId(0));
        assert!((20..=26).contains(&waited), "{waited}");
        changed(&mut simulation, &network, |link| {
            let limit = Limit::Packets(5);
            link.queue = match link.queue {
                QueueSpec::DropTail { .. } => QueueSpec::DropTail { limit },
                QueueSpec::StepMark { .. } => QueueSpec::StepMark { limit, mark_from_pkts: 4 },
                _ => QueueSpec::CoDel(CoDelSpec::new(limit)),
            };
        });
        run_to(&mut simulation, at_ms(260), &mut ());
        assert!(simulation.waiting_pkts(LinkId(0)) >= waited - 2, "what waits stays");
        run_to(&mut simulation, at_secs(1), &mut ());
        assert!(simulation.waiting_pkts(LinkId(0)) <= 5, "{queue:?}");
    }
}

#[test]
fn with_and_without_shortcuts_a_changed_run_is_the_same() {
    let wireless = wireless("shared", 1_000_000, 10, 10, ChannelSpec::Bernoulli { loss: 0.02 });
    let links = vec![
        wireless,
        wired("access", 2_000_003, 3, 50),
        wired("exit", 1_500_007, 5, 8),
        wired("back", 1e6 as u64, 9, 50),
    ];
    let flows = vec![
        flow("source", &[1, 0, 2], &[], cbr(400_000)),
        flow("tcp", &[0], &[3], Traffic::tcp(tcp::Config::ns2())),
    ];
    let network = Network { links, flows };
    let mut changed = network.links.clone();
    changed[1].rate_bps = 500_009;
    changed[0].delay = Span::from_millis(2);
    changed[2].queue = drop_tail(2);
    let reports = |mut simulation: Simulation| {
        for (links, secs) in [(&network.links, 2), (&changed, 5), (&network.links, 9)] {
            simulation.change_links(links).unwrap();
            run_to(&mut simulation, at_secs(secs), &mut ());
        }
        [0, 1].map(|flow| simulation.flow(FlowId(flow)))
    };
    let [short, plain] = [Simulation::new, Simulation::with_every_event]
        .map(|make| reports(make(&network, 3).unwrap()));
    assert_eq!(short, plain);
    assert!(short[1].lost.wireless > 5, "{short:?}");
}

#[test]
fn what_cannot_change_is_refused_by_name_and_unchanged() {
    let network = one_flow(cbr(EVERY_10_MS_BPS), 2 * EVERY_10_MS_BPS, ChannelSpec::Perfect);
    let mut simulation = Simulation::new(&network, 1).unwrap();
    let mut refused = |change: fn(&mut Vec<LinkSpec>)| {
        let mut links = network.links.clone();
        links[0].channel = ChannelSpec::Bernoulli { loss: 1.0 };
        change(&mut links);
        simulation.change_links(&links).unwrap_err().to_string()
    };
    let only =
        "cannot change during a run, expected a change of rate, delay, queue settings or loss";
    let codel = |links: &mut Vec<LinkSpec>| {
        links[1].queue = QueueSpec::CoDel(CoDelSpec::new(Limit::Packets(5)));
    };
    assert_eq!(refused(codel), format!("link \"back\": its queue discipline {only}"));
    assert_eq!(refused(|links| links[1].name.push('!')), format!("link \"back\": its name {only}"));
    let steps = |links: &mut Vec<LinkSpec>| {
        let points = [RatePoint { at: Span::from_secs(1), rate_bps: 5 }].into();
        links[1].rate = RateSpec::Steps { points, at_end: losscause_sim::AtEnd::Hold };
    };
    assert_eq!(refused(steps), format!("link \"back\": its varying rate {only}"));
    assert_eq!(
        refused(|links| links[1].rate_bps = 0),
        "link \"back\": rate_bps is 0, expected at least 1"
    );
    let fewer = "there are 1 links, expected the 2 of the run, whose number cannot change";
    assert_eq!(refused(|links| _ = links.pop()), fewer);
    run_to(&mut simulation, at_secs(5), &mut ());
    assert_eq!(simulation.flow(FlowId(0)).lost.wireless, 0);
}
