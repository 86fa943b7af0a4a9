//! Runs the fixed workload and prints how many packet-hops it took, for whoever counts instructions:
//! `event_loop_workload [FLOWS [SECONDS [REPETITIONS]]]`, by default 16, 222 and 1.
#![allow(clippy::unwrap_used)]

use std::time::Instant;

use losscause::{Span, Time};
use losscause_sim::Simulation;

#[path = "../benches/workload/mod.rs"]
mod workload;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u32>().unwrap());
    let flows = arguments.next().unwrap_or(16);
    let seconds = arguments.next().unwrap_or(222);
    let repetitions = arguments.next().unwrap_or(1);
    let network = workload::wireless_last_hop(flows);
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
