//! What the yardsticks do to a TCP over a lossy link, and to a queue. `cargo test -p losscause-sim
//! --test yardsticks -- --nocapture` prints the tables.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_secs, flow, wired, wireless};
use losscause::lda::{FqRttConfig, NthLossConfig, Within};
use losscause::{BuiltIn, End, LdaConfig, Span};
use losscause_sim::{ChannelSpec, FlowId, FlowSpec, Network, Simulation, TcpLda, Traffic};
use losscause_transport::tcp;

const RATE_BPS: u64 = 20_000_000;
/// The bandwidth-delay product of 20 Mb/s and 40 ms, packets of 1500 bytes.
const QUEUE_PKTS: u32 = 67;
const SECONDS: i64 = 60;

/// What `flows` TCP flows over one link of 20 Mb/s and 40 ms do together.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    goodput_mbps: f64,
    queue_drops: u64,
    sent: u64,
}

impl Outcome {
    fn queue_drop_percent(self) -> f64 {
        100.0 * self.queue_drops as f64 / self.sent as f64
    }
}

fn run(config: tcp::Config, lda: Option<&LdaConfig>, loss: f64, flows: u32) -> Outcome {
    let flow_of = |i| {
        let lda = lda.map_or(TcpLda::None, |lda| TcpLda::Sender(lda.build(End::Sender).unwrap()));
        let traffic = Traffic::Tcp { config, lda };
        FlowSpec {
            start_spread: Span::from_secs(1),
            ..flow(&format!("tcp {i}"), &[0], &[1], traffic)
        }
    };
    let channel = if loss > 0.0 { ChannelSpec::Bernoulli { loss } } else { ChannelSpec::Perfect };
    let network = Network {
        links: vec![
            wireless("link", RATE_BPS, 20, QUEUE_PKTS, channel),
            wired("back", RATE_BPS, 20, 1_000),
        ],
        flows: (0..flows).map(flow_of).collect(),
    };
    let mut simulation = Simulation::new(&network, 1).unwrap();
    simulation.run_until(at_secs(SECONDS), &mut ());
    let mut outcome = Outcome { goodput_mbps: 0.0, queue_drops: 0, sent: 0 };
    for report in (0..flows).map(|i| simulation.flow(FlowId(i))) {
        outcome.goodput_mbps += report.delivered_payload_bytes as f64 * 8.0 / SECONDS as f64 / 1e6;
        outcome.queue_drops += report.lost.congestion;
        outcome.sent += report.sent_packets;
    }
    outcome
}

fn modes() -> [(&'static str, tcp::Config); 2] {
    let sack = tcp::Config {
        max_window_pkts: 1_000,
        ..tcp::Config::rfc().with_variant(tcp::Variant::Sack)
    };
    [("SACK", sack), ("Linux Reno", tcp::Config::linux())]
}

fn nth_loss(n: u32) -> LdaConfig {
    LdaConfig::NthLoss(NthLossConfig { n, within: Within::Episode })
}

/// Every yardstick of one flow in every mode delivers at least nine tenths of the plain TCP, and
/// those that `gains` names half as much again.
fn no_yardstick_delivers_less(loss: f64, gains: impl Fn(BuiltIn) -> bool) {
    for (mode, config) in modes() {
        println!(
            "{mode}, random loss {loss}, 20 Mb/s, 40 ms, queue of {QUEUE_PKTS} packets, {SECONDS} s"
        );
        let told = |name: &dyn std::fmt::Display, lda: Option<&LdaConfig>| {
            let outcome = run(config, lda, loss, 1);
            let Outcome { goodput_mbps, queue_drops, .. } = outcome;
            println!("  {name:<20} {goodput_mbps:>6.2} Mb/s, {queue_drops:>5} queue drops");
            outcome
        };
        let plain = told(&"no LDA", None);
        for algorithm in BuiltIn::yardsticks() {
            let outcome = told(&algorithm, Some(&algorithm.config()));
            let least = if gains(algorithm) { 1.5 } else { 0.9 };
            assert!(
                outcome.goodput_mbps > least * plain.goodput_mbps,
                "{mode}, {algorithm}: {outcome:?} {plain:?}"
            );
        }
    }
}

#[test]
fn at_random_loss_no_yardstick_delivers_less_than_plain_tcp() {
    no_yardstick_delivers_less(0.01, |algorithm| {
        matches!(algorithm, BuiltIn::Veno | BuiltIn::NthLoss | BuiltIn::DropRate)
    });
}

/// The harm that haproxy measured: what is tolerated is lost to the queue.
#[test]
fn the_more_losses_are_tolerated_the_more_a_shared_queue_drops() {
    for (mode, config) in modes() {
        println!("{mode}, no random loss, 20 flows: packets that the queue drops");
        let shares = [1, 2, 3, 5].map(|n| {
            let outcome = run(config, Some(&nth_loss(n)), 0.0, 20);
            println!(
                "  n = {n}: {:>5.2} %, {:>6.2} Mb/s",
                outcome.queue_drop_percent(),
                outcome.goodput_mbps
            );
            outcome.queue_drop_percent()
        });
        assert!(shares.is_sorted(), "{mode}: {shares:?}");
        assert!(shares[3] > 2.0 * shares[0], "{mode}: {shares:?}");
    }
}

#[test]
fn on_a_clean_link_the_yardsticks_fill_it_as_the_plain_tcp_does() {
    no_yardstick_delivers_less(0.0, |_| false);
}

#[test]
fn an_n_of_one_is_the_plain_tcp() {
    for (mode, config) in modes() {
        let plain = run(config, None, 0.01, 1);
        let first = run(config, Some(&nth_loss(1)), 0.01, 1);
        assert_eq!((plain.sent, plain.queue_drops), (first.sent, first.queue_drops), "{mode}");
    }
}

/// With RFC 6298's first variation, half of the first sample, the limit lies below the smallest
/// round-trip time of a path whose queue is at most as long as the path. Without it, rare losses
/// are tolerated; at 1 %, groups of random losses teach fqRTT the round-trip time of an empty
/// queue.
#[test]
fn fq_rtt_tolerates_rare_losses_only_and_with_rfc_6298_none() {
    for (mode, config) in modes() {
        let gain = |first_variation, loss| {
            let fq_rtt =
                LdaConfig::FqRtt(FqRttConfig { first_variation, ..FqRttConfig::default() });
            let [plain, fq] =
                [None, Some(&fq_rtt)].map(|lda| run(config, lda, loss, 1).goodput_mbps);
            println!(
                "{mode}, fqRTT, first variation {first_variation}, loss {loss}: {fq:.2} Mb/s, without {plain:.2}"
            );
            fq / plain
        };
        assert_eq!([gain(0.5, 0.001), gain(0.5, 0.01)], [1.0, 1.0], "{mode}");
        assert!(gain(0.0, 0.001) > 1.2 && gain(0.0, 0.01) < 1.2, "{mode}");
    }
}
