//! Runs the fixed workload and prints its packet-hops, to count instructions:
//! `event_loop_workload [SECONDS [tfrc|tcp|cbr [FLOWS [REPETITIONS]]]]`, by default `222 tfrc 16 1`.
#![allow(clippy::unwrap_used)]

use std::time::Instant;

use losscause::{Span, Time};
use losscause_sim::Simulation;

#[path = "../benches/workload/mod.rs"]
mod workload;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |place, default| arguments.get(place).map_or(default, |argument: &String| argument.parse::<u32>().unwrap());
    let traffic = match arguments.get(1).map(String::as_str) {
        None | Some("tfrc") => workload::tfrc(),
        Some("tcp") => workload::tcp(),
        Some("cbr") => workload::cbr(),
        Some(other) => panic!("there is no traffic \"{other}\", expected tfrc, tcp or cbr"),
    };
    let (seconds, flows, repetitions) = (number(0, 222), number(2, 16), number(3, 1));
    let network = workload::wireless_last_hop(flows, &traffic);
    for _ in 0..repetitions {
        let started = Instant::now();
        let mut simulation = Simulation::new(&network, 1).unwrap();
        simulation.run_until(Time::ZERO + Span::from_secs(seconds.into()), &mut ());
        let took = started.elapsed();
        let hops = workload::packet_hops(simulation.counters());
        println!("packet_hops {hops}");
        eprintln!("{took:?}, {:.1} ns per packet-hop", took.as_secs_f64() * 1e9 / hops as f64);
    }
}
