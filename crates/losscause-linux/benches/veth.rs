//! What the programs cost: throughput between two network namespaces, beside the kernel's own Reno, and processor time per
//! ACK.
//!
//! ```text
//! cargo bench -p losscause-linux --features kernel --bench veth -- [--pairs N] [--seconds S] [NAME…]
//! ```
//!
//! Transfers of a few seconds alternate (reno, program, program, reno, …). Each program transfer is divided by the Reno
//! transfer beside it; printed are the median of the quotients, and its interval of at least 95 % (order statistics). The
//! times per ACK are the kernel's own (`kernel.bpf_stats_enabled`), in a transfer of their own, because counting costs
//! time, too. Needs root. The namespaces end with the threads in them.
#![allow(clippy::unwrap_used)] // In a benchmark, a panic is the report.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::process::Command;
    use std::sync::mpsc::{Sender, channel};
    use std::thread::{self, JoinHandle};
    use std::time::{Duration, Instant};

    use libbpf_rs::query::ProgInfoIter;
    use losscause_linux::kernel::{Algorithm, Options, algorithm, load, unload};
    use nix::sched::{CloneFlags, unshare};
    use nix::sys::socket::{setsockopt, sockopt};
    use nix::unistd::gettid;

    const NEAR: &str = "10.78.0.1";
    const FAR: &str = "10.78.0.2";
    const PORT: u16 = 5001;

    struct Arguments {
        pairs: usize,
        lasts: Duration,
        names: Vec<&'static str>,
    }

    impl Arguments {
        fn read() -> Self {
            let mut read = Self { pairs: 10, lasts: Duration::from_secs(2), names: Vec::new() };
            let mut given = std::env::args().skip(1);
            while let Some(argument) = given.next() {
                match argument.as_str() {
                    "--bench" => {}
                    "--pairs" => read.pairs = given.next().unwrap().parse().unwrap(),
                    "--seconds" => read.lasts = Duration::from_secs_f64(given.next().unwrap().parse().unwrap()),
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
        println!("program          of reno's throughput (interval)   reno Gb/s   ns per ACK   of them pkts_acked");
        for name in &arguments.names {
            measure(&hosts, name, &arguments);
        }
    }

    fn measure(hosts: &Hosts, name: &'static str, arguments: &Arguments) {
        let before = programs();
        load(&Algorithm::find(name).unwrap().settings(), Options::default()).unwrap();
        let own: BTreeSet<u32> = programs().difference(&before).copied().collect();
        let (mut quotients, mut reno) = (Vec::new(), Vec::new());
        for pair in 0..arguments.pairs {
            let order = if pair % 2 == 0 { ["reno", name] } else { [name, "reno"] };
            let rates = order.map(|algorithm| hosts.transfer(algorithm, arguments.lasts));
            let [of_reno, of_program] = if pair % 2 == 0 { rates } else { [rates[1], rates[0]] };
            quotients.push(of_program / of_reno);
            reno.push(of_reno);
        }
        let cost = cost_per_ack(&own, || {
            hosts.transfer(name, arguments.lasts);
        });
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

    fn median(values: &mut [f64]) -> f64 {
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
    }

    /// The narrowest symmetric pair of order statistics that holds the median with a probability of 95 %, or the extremes.
    /// The median lies below the k smallest of n values with the probability of fewer than k heads in n throws.
    fn interval(values: &mut [f64]) -> (f64, f64) {
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let (mut outside, mut term, mut k) = (0.0, 0.5_f64.powi(n as i32), 0);
        while outside + term <= 0.025 {
            outside += term;
            term *= (n - k) as f64 / (k + 1) as f64;
            k += 1;
        }
        let k = k.max(1);
        (values[k - 1], values[n - k])
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
        let acked = infos.iter().find(|info| info.name.to_string_lossy() == "lc_pkts_acked").unwrap();
        let acks = acked.run_cnt as f64;
        let all: u64 = infos.iter().map(|info| info.run_time_ns).sum();
        Cost { all: all as f64 / acks, pkts_acked: acked.run_time_ns as f64 / acks }
    }

    fn programs() -> BTreeSet<u32> {
        ProgInfoIter::default().map(|info| info.id).collect()
    }

    type Job = Box<dyn FnOnce() + Send>;

    /// A network namespace, and the thread in it.
    struct Host {
        jobs: Option<Sender<Job>>,
        thread: Option<JoinHandle<()>>,
    }

    impl Host {
        fn new() -> Self {
            let (jobs, waiting) = channel::<Job>();
            let thread = thread::spawn(move || {
                unshare(CloneFlags::CLONE_NEWNET).unwrap();
                waiting.iter().for_each(|job| job());
            });
            Self { jobs: Some(jobs), thread: Some(thread) }
        }

        fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> T {
            let (answer, answers) = channel();
            self.jobs.as_ref().unwrap().send(Box::new(move || answer.send(job()).unwrap())).unwrap();
            answers.recv().unwrap()
        }
    }

    impl Drop for Host {
        fn drop(&mut self) {
            self.jobs = None;
            let _ = self.thread.take().unwrap().join();
        }
    }

    /// Two hosts with a pair of veth devices between them.
    struct Hosts {
        near: Host,
        listener: TcpListener,
        _far: Host,
    }

    impl Hosts {
        fn new() -> Self {
            let (near, far) = (Host::new(), Host::new());
            let far_thread = far.run(|| gettid().to_string());
            near.run(move || ip(&["link", "add", "near", "type", "veth", "peer", "name", "far", "netns", &far_thread]));
            let up = |device: &'static str, address: &'static str| {
                move || {
                    ip(&["address", "add", &format!("{address}/24"), "dev", device]);
                    ip(&["link", "set", device, "up"]);
                }
            };
            near.run(up("near", NEAR));
            far.run(up("far", FAR));
            let listener = far.run(|| TcpListener::bind((FAR, PORT)).unwrap());
            Self { near, listener, _far: far }
        }

        /// Sends for this long; bits per second that the far host has read.
        fn transfer(&self, algorithm: &'static str, lasts: Duration) -> f64 {
            let stream = self.near.run(move || {
                let stream = TcpStream::connect((FAR, PORT)).unwrap();
                setsockopt(&stream, sockopt::TcpCongestion, &algorithm.into()).unwrap();
                stream
            });
            let (mut reading, _) = self.listener.accept().unwrap();
            let sender = thread::spawn(move || {
                let (mut stream, buffer, begun) = (stream, vec![0; 131_072], Instant::now());
                while begun.elapsed() < lasts {
                    stream.write_all(&buffer).unwrap();
                }
            });
            let (mut buffer, mut bytes, begun) = (vec![0; 131_072], 0, Instant::now());
            loop {
                match reading.read(&mut buffer).unwrap() {
                    0 => break,
                    read => bytes += read,
                }
            }
            let seconds = begun.elapsed().as_secs_f64();
            sender.join().unwrap();
            bytes as f64 * 8.0 / seconds
        }
    }

    fn ip(arguments: &[&str]) {
        assert!(Command::new("ip").args(arguments).status().unwrap().success(), "ip {}", arguments.join(" "));
    }
}
