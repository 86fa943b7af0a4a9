//! What the programs cost: throughput between two network namespaces, beside the kernel's own Reno,
//! and processor time per ACK.
//!
//! ```text
//! cargo bench -p losscause-linux --features kernel --bench veth -- [--pairs N] [--seconds S] [NAME…]
//! ```
//!
//! One connection switches its congestion control every S seconds (reno, program, program, reno,
//! …), so that nothing else changes between the two; each end has a core of its own. What the
//! program carries is divided by what Reno carries beside it; printed are the median of the
//! quotients, and its interval of at least 95 % (order statistics). The times per ACK are the
//! kernel's own (`kernel.bpf_stats_enabled`), in slices of their own, because counting costs time,
//! too. Needs root. The namespaces end with the threads in them.
#![allow(clippy::unwrap_used)] // In a benchmark, a panic is the report.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod hosts;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;
    use std::time::Duration;

    use libbpf_rs::query::ProgInfoIter;
    use losscause_linux::kernel::{Algorithm, Options, algorithm, load, unload};

    use crate::hosts::{Hosts, interval, median, programs};

    const SETTLES: Duration = Duration::from_secs(1);

    struct Arguments {
        pairs: usize,
        lasts: Duration,
        names: Vec<&'static str>,
    }

    impl Arguments {
        fn read() -> Self {
            let mut read = Self { pairs: 40, lasts: Duration::from_millis(250), names: Vec::new() };
            let mut given = std::env::args().skip(1);
            while let Some(argument) = given.next() {
                match argument.as_str() {
                    "--bench" => {}
                    "--pairs" => read.pairs = given.next().unwrap().parse().unwrap(),
                    "--seconds" => {
                        read.lasts =
                            Duration::from_secs_f64(given.next().unwrap().parse().unwrap());
                    }
                    name => read.names.push(Algorithm::find(name).unwrap().name),
                }
            }
            if read.names.is_empty() {
                read.names = algorithm::ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
            }
            read
        }
    }

    pub(super) fn main() {
        let arguments = Arguments::read();
        let hosts = Hosts::new();
        println!("{} pairs of {:?}", arguments.pairs, arguments.lasts);
        println!(
            "program          of reno's throughput (interval)   reno Gb/s   ns per ACK   of them pkts_acked"
        );
        for name in &arguments.names {
            measure(&hosts, name, &arguments);
        }
    }

    fn measure(hosts: &Hosts, name: &'static str, arguments: &Arguments) {
        let before = programs();
        load(&Algorithm::find(name).unwrap().settings(), &Options::default()).unwrap();
        let own: BTreeSet<u32> = programs().difference(&before).copied().collect();
        let mut quotients = Vec::new();
        let mut reno = Vec::new();
        let connection = hosts.connect();
        // Slow start and the buffers' growth.
        connection.slice("reno", SETTLES);
        connection.slice(name, SETTLES);
        for pair in 0..arguments.pairs {
            let order = if pair % 2 == 0 { ["reno", name] } else { [name, "reno"] };
            let rates = order.map(|algorithm| connection.slice(algorithm, arguments.lasts));
            let [of_reno, of_program] = if pair % 2 == 0 { rates } else { [rates[1], rates[0]] };
            quotients.push(of_program / of_reno);
            reno.push(of_reno);
        }
        let cost = cost_per_ack(&own, || {
            connection.slice(name, SETTLES);
        });
        connection.close();
        unload(name, true).unwrap();
        let (low, high) = interval(&mut quotients);
        println!(
            "{name:<15}  {:6.3} ({low:.3} to {high:.3})            {:9.2}   {:10.0}   {:10.0}",
            median(&mut quotients),
            median(&mut reno) / 1e9,
            cost.all,
            cost.pkts_acked
        );
    }

    /// Processor time per ACK, nanoseconds.
    struct Cost {
        /// Of all callbacks.
        all: f64,
        pkts_acked: f64,
    }

    /// Counts while `run` runs. Every ACK calls `pkts_acked` once.
    fn cost_per_ack(own: &BTreeSet<u32>, run: impl FnOnce()) -> Cost {
        const SWITCH: &str = "/proc/sys/kernel/bpf_stats_enabled";
        let as_it_was = fs::read_to_string(SWITCH).unwrap();
        fs::write(SWITCH, "1").unwrap();
        run();
        fs::write(SWITCH, as_it_was).unwrap();
        let infos: Vec<_> = ProgInfoIter::default().filter(|info| own.contains(&info.id)).collect();
        let acked =
            infos.iter().find(|info| info.name.to_string_lossy() == "lc_pkts_acked").unwrap();
        let acks = acked.run_cnt as f64;
        let all: u64 = infos.iter().map(|info| info.run_time_ns).sum();
        Cost { all: all as f64 / acks, pkts_acked: acked.run_time_ns as f64 / acks }
    }
}
