//! Runs the fixed workload and prints how many packet-hops it took, for whoever counts instructions:
//! `event_loop_workload [tfrc|tcp|cbr [FLOWS [SECONDS [REPETITIONS]]]]`, by default `tfrc 16 222 1`.
#![allow(clippy::unwrap_used)]

use std::time::Instant;

use losscause::{Span, Time};
use losscause_sim::Simulation;

#[path = "../benches/workload/mod.rs"]
mod workload;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let traffic = match arguments.next().as_deref() {
        None | Some("tfrc") => workload::tfrc(),
        Some("tcp") => workload::tcp(),
        Some("cbr") => workload::cbr(),
        Some(other) => panic!("there is no traffic \"{other}\", expected tfrc, tcp or cbr"),
    };
    let mut numbers = arguments.map(|argument| argument.parse::<u32>().unwrap());
    let mut next = |default| numbers.next().unwrap_or(default);
    let (flows, seconds, repetitions) = (next(16), next(222), next(1));
    let network = workload::wireless_last_hop(flows, &traffic);
    for _ in 0..repetitions {
        let started = Instant::now();
        let mut simulation = Simulation::new(&network, 1).unwrap();
        simulation.run_until(Time::ZERO + Span::from_secs(seconds.into()), &mut ());
        let took = started.elapsed();
        let hops = workload::packet_hops(&network, simulation.counters());
        println!("packet_hops {hops}");
        eprintln!("{took:?}, {:.1} ns per packet-hop", took.as_secs_f64() * 1e9 / hops as f64);
    }
}
