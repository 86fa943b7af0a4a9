//! The event loop allocates nothing per packet.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_secs, cbr, flow, wired, wireless};
use losscause::{BuiltIn, End, Span};
use losscause_sim::{ChannelSpec, Lengths, Network, Simulation, Traffic};
use losscause_transport::{tcp, tfrc};

#[test]
fn once_warm_a_run_allocates_nothing() {
    let mean = Span::from_millis(100);
    let on_off = Traffic::OnOff {
        rate_bps: 500_000,
        packet_bytes: 500,
        mean_on: mean,
        mean_off: mean,
        lengths: Lengths::Pareto { shape: 1.5 },
        lda: None,
    };
    let lda = BuiltIn::Zbs.build(End::Receiver).expect("published parameters");
    let network = Network {
        links: vec![
            wired("in", 10_000_000, 1, 50),
            wireless("air", 2_000_000, 20, 20, ChannelSpec::Bernoulli { loss: 0.03 }),
            wired("back", 2_000_000, 20, 50),
        ],
        flows: vec![
            flow("tcp", &[0, 1], &[2], Traffic::tcp(tcp::Config::ns2())),
            flow("tfrc", &[0, 1], &[2], Traffic::Tfrc { config: tfrc::Config::ns2(), lda }),
            flow("cbr", &[0, 1], &[], cbr(200_000)),
            flow("on-off", &[0, 1], &[], on_off),
        ],
    };
    let mut simulation = Simulation::new(&network, 1).unwrap();
    simulation.run_until(at_secs(50), &mut ());
    let before = simulation.counters().clone();
    let allocated = allocation_counter::measure(|| simulation.run_until(at_secs(150), &mut ()));
    let hops = (simulation.counters() - &before).link(losscause_sim::LinkId(1)).transmitted;
    assert!(hops > 10_000, "{hops}");
    // Debug builds check conservation every 1024 events, and keys are renumbered every 65,536: each
    // allocates a list.
    let checks = if cfg!(debug_assertions) { 10 * hops / 1024 + 2 } else { 0 };
    assert!(
        allocated.count_total <= checks + 10 * hops / 65_536,
        "{allocated:?} for {hops} packets"
    );
}
