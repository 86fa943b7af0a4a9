//! `cargo xtask event-loop`: runs the simulator's fixed workload and prints its packet-hops, to
//! count instructions.

use std::time::Instant;

use anyhow::{Result, anyhow};
use losscause::{Span, Time};
use losscause_sim::Simulation;

#[path = "../../crates/losscause-sim/benches/workload/mod.rs"]
mod workload;

/// The arguments of `event-loop`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Simulated seconds
    #[arg(default_value_t = 222)]
    seconds: u32,
    #[arg(default_value = "tfrc", value_parser = ["tfrc", "tcp", "cbr"])]
    traffic: String,
    #[arg(default_value_t = 16)]
    flows: u32,
    #[arg(default_value_t = 1)]
    repetitions: u32,
}

/// Runs the workload.
///
/// # Errors
/// The simulator refuses it.
pub(crate) fn event_loop(options: &Options) -> Result<()> {
    let traffic = match options.traffic.as_str() {
        "tcp" => workload::tcp(),
        "cbr" => workload::cbr(),
        _ => workload::tfrc(),
    };
    let network = workload::wireless_last_hop(options.flows, &traffic);
    for _ in 0..options.repetitions {
        let started = Instant::now();
        let mut simulation =
            Simulation::new(&network, 1).map_err(|error| anyhow!("the workload: {error:?}"))?;
        simulation.run_until(Time::ZERO + Span::from_secs(options.seconds.into()), &mut ());
        let took = started.elapsed();
        let hops = workload::packet_hops(simulation.counters());
        println!("packet_hops {hops}");
        eprintln!("{took:?}, {:.1} ns per packet-hop", took.as_secs_f64() * 1e9 / hops as f64);
    }
    Ok(())
}
