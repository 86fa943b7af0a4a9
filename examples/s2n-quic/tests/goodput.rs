//! Real endpoints of s2n-quic over the simulator's links, in virtual time: 20 Mb/s, 40 ms, as in
//! results/quic-controllers.md.
//!
//! Keys and connection IDs are drawn anew in each run, so numbers differ a little from run to run.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "common/link.rs"]
mod link;

use std::time::Duration;

use link::{Link, Transfer};
use losscause::lda::{SpikeConfig, SpikeThresholds};
use losscause::registry::Registry;
use losscause::safeguard::Safeguards;
use losscause::{LdaConfig, Span};
use losscause_quic::s2n_quic::{Cubic, LossTolerant};
use losscause_quic::{Caps, Counts};
use losscause_sim::{CoDelSpec, Limit, QueueSpec};

/// A bandwidth-delay product.
const DROP_TAIL: QueueSpec = QueueSpec::DropTail { limit: Limit::Packets(68) };
const CODEL: QueueSpec = QueueSpec::CoDel(CoDelSpec::new(Limit::Packets(1000)));

fn link(queue: QueueSpec, loss: f64) -> Link {
    let max_ack_delay = Duration::from_millis(25);
    Link {
        rate_bps: 20_000_000,
        one_way: Span::from_millis(20),
        queue,
        loss,
        max_ack_delay,
        seed: 1,
    }
}

const MEASURED: Duration = Duration::from_secs(20);

fn over(link: Link, controllers: LossTolerant) -> (Transfer, Counts) {
    let monitor = controllers.monitor();
    (link.transfer(controllers, MEASURED), monitor.totals())
}

fn with(controllers: LossTolerant, queue: QueueSpec, loss: f64) -> (Transfer, Counts) {
    over(link(queue, loss), controllers)
}

#[test]
fn one_percent_of_random_loss_leaves_four_times_cubics_goodput() {
    for queue in [DROP_TAIL, CODEL] {
        let cubic = link(queue, 0.01).transfer(Cubic::default(), MEASURED);
        let (ours, counts) = with(LossTolerant::recommended(), queue, 0.01);
        let times = ours.goodput_bps / cubic.goodput_bps;
        assert!(times >= 4.0, "{times:.1} times: {ours:?}, {counts:?}");
    }
}

/// By Spike, which needs no more than a delay: Sift leaves the losses of its first packets undecided.
#[test]
fn every_loss_can_be_judged() {
    for queue in [DROP_TAIL, CODEL] {
        let controllers = LossTolerant::with_parameters(&spike(7_500, 5_000)).unwrap();
        let (ours, counts) = with(controllers, queue, 0.01);
        assert!(
            counts.undecided + counts.without_rtt <= ours.random_losses / 50,
            "{ours:?}, {counts:?}"
        );
    }
}

#[test]
fn without_random_loss_it_is_cubic_and_codels_drops_congestion() {
    for queue in [DROP_TAIL, CODEL] {
        let cubic = link(queue, 0.0).transfer(Cubic::default(), MEASURED);
        let (ours, counts) = with(LossTolerant::recommended(), queue, 0.0);
        let ratio = ours.goodput_bps / cubic.goodput_bps;
        assert!((0.97..1.03).contains(&ratio), "{ratio}: {cubic:?}, {ours:?}");
        assert!(counts.congestion > 5 && counts.wireless <= counts.congestion / 3, "{counts:?}");
    }
}

#[test]
fn always_wireless_loses_at_most_a_twentieth_to_the_queue() {
    for queue in [DROP_TAIL, CODEL] {
        let controllers = LossTolerant::named("always wireless", &Registry::built_in()).unwrap();
        let caps = Caps { safeguards: Safeguards::OFF, ..controllers.caps() };
        let (ours, counts) = with(controllers.with_caps(caps).unwrap(), queue, 0.0);
        assert!(counts.wireless > 100, "it ignores losses: {counts:?}");
        assert!(ours.queue_drops * 20 <= ours.sent, "{ours:?}");
    }
}

#[test]
fn with_safeguards_always_wireless_fills_no_plain_queue_more_than_cubic() {
    // s2n-quic draws numbers of its own: single transfers of CUBIC differ by a third.
    let mut drops = [0, 0];
    for seed in 1..=12 {
        let link = Link { seed, ..link(DROP_TAIL, 0.0) };
        let controllers = LossTolerant::named("always wireless", &Registry::built_in()).unwrap();
        let cubic = link.transfer(Cubic::default(), MEASURED);
        let (ours, counts) = over(link, controllers);
        assert!(counts.guarded > 0, "{counts:?}");
        drops[0] += cubic.queue_drops;
        drops[1] += ours.queue_drops;
    }
    let [cubic, ours] = drops;
    assert!(ours * 4 <= cubic * 5, "{ours} drops, CUBIC {cubic}");
}

/// Means of three seeds, 30 s each: goodput in Mb/s and queue drops in percent of the packets sent.
fn measure(link: Link, parameters: Option<&LdaConfig>) -> String {
    let measured = Duration::from_secs(30);
    let transfers: Vec<Transfer> = (1..=3)
        .map(|seed| {
            let link = Link { seed, ..link };
            match parameters {
                None => link.transfer(Cubic::default(), measured),
                Some(parameters) => {
                    link.transfer(LossTolerant::with_parameters(parameters).unwrap(), measured)
                }
            }
        })
        .collect();
    let sum = |value: fn(&Transfer) -> f64| transfers.iter().map(value).sum::<f64>();
    let drops = sum(|transfer| transfer.queue_drops as f64) / sum(|transfer| transfer.sent as f64);
    format!("{:.2} | {:.2}", sum(|transfer| transfer.goodput_bps) / 3e6, drops * 100.0)
}

fn spike(start_us: i64, end_us: i64) -> LdaConfig {
    let start = Span::from_micros(start_us);
    let end = Span::from_micros(end_us);
    LdaConfig::Spike(SpikeConfig {
        thresholds: SpikeThresholds::Fixed { start, end },
        ..SpikeConfig::tobe()
    })
}

#[test]
#[ignore = "prints the tables of results/quic-controllers.md in some minutes"]
fn tables() {
    let published = |name| Registry::built_in().find(name).unwrap().clone();
    for (name, queue) in [("DropTail, 68 packets", DROP_TAIL), ("CoDel", CODEL)] {
        let row = |controller: &str, parameters: Option<&LdaConfig>| {
            let cells = [0.0, 0.01, 0.02].map(|loss| measure(link(queue, loss), parameters));
            println!("| {name} | {controller} | {} |", cells.join(" | "));
        };
        row("s2n-quic's CUBIC", None);
        row("recommended", Some(&published("Sift")));
        row("Spike, 7.5 and 5 ms", Some(&spike(7_500, 5_000)));
        row("Spike, 5 and 2.5 ms", Some(&spike(5_000, 2_500)));
        row("Spike-Tobe", Some(&published("Spike-Tobe")));
        row("Spike", Some(&published("Spike")));
        row("always wireless", Some(&published("always wireless")));
    }
    let controllers = [None, Some(published("Sift")), Some(spike(7_500, 5_000))];
    for mbps in [5, 10, 20, 50] {
        let queue = QueueSpec::DropTail { limit: Limit::Packets(68 * mbps / 20) };
        let link = Link { rate_bps: u64::from(mbps) * 1_000_000, ..link(queue, 0.01) };
        let cells = controllers.each_ref().map(|parameters| measure(link, parameters.as_ref()));
        println!("| {mbps} Mb/s | {} |", cells.join(" | "));
    }
    let link = Link { max_ack_delay: Duration::from_millis(1), ..link(DROP_TAIL, 0.01) };
    let cells = controllers.each_ref().map(|parameters| measure(link, parameters.as_ref()));
    println!("| 20 Mb/s, acknowledged within 1 ms | {} |", cells.join(" | "));
}
