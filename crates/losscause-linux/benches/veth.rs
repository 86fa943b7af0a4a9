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
    use nix::sched::{CloneFlags, CpuSet, sched_setaffinity, unshare};
    use nix::sys::socket::{setsockopt, sockopt};
    use nix::unistd::{Pid, gettid};

    const NEAR: &str = "10.78.0.1";
    const FAR: &str = "10.78.0.2";
    const PORT: u16 = 5001;
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
        load(&Algorithm::find(name).unwrap().settings(), Options::default()).unwrap();
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

    fn median(values: &mut [f64]) -> f64 {
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        if values.len() % 2 == 1 {
            values[middle]
        } else {
            (values[middle - 1] + values[middle]) / 2.0
        }
    }

    /// The narrowest symmetric pair of order statistics that holds the median with a probability of
    /// 95 %, or the extremes. The median lies below the k smallest of n values with the probability
    /// of fewer than k heads in n throws.
    fn interval(values: &mut [f64]) -> (f64, f64) {
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let mut outside = 0.0;
        let mut term = 0.5_f64.powi(n as i32);
        let mut k = 0;
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
        let acked =
            infos.iter().find(|info| info.name.to_string_lossy() == "lc_pkts_acked").unwrap();
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
            self.jobs
                .as_ref()
                .unwrap()
                .send(Box::new(move || answer.send(job()).unwrap()))
                .unwrap();
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
            let near = Host::new();
            let far = Host::new();
            let far_thread = far.run(|| gettid().to_string());
            near.run(move || {
                ip(&[
                    "link",
                    "add",
                    "near",
                    "type",
                    "veth",
                    "peer",
                    "name",
                    "far",
                    "netns",
                    &far_thread,
                ]);
            });
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

        fn connect(&self) -> Connection {
            let stream = self.near.run(|| TcpStream::connect((FAR, PORT)).unwrap());
            let (mut reading, _) = self.listener.accept().unwrap();
            let reader = thread::spawn(move || {
                take_core(1);
                let mut buffer = vec![0; 131_072];
                while reading.read(&mut buffer).unwrap() > 0 {}
            });
            Connection { stream, reader }
        }
    }

    /// A connection whose far end reads all that comes.
    struct Connection {
        stream: TcpStream,
        reader: JoinHandle<()>,
    }

    impl Connection {
        /// Sends for this long with this congestion control; bits per second that the socket took.
        fn slice(&self, algorithm: &'static str, lasts: Duration) -> f64 {
            setsockopt(&self.stream, sockopt::TcpCongestion, &algorithm.into()).unwrap();
            let sender = self.stream.try_clone().unwrap();
            thread::spawn(move || {
                take_core(0);
                let mut stream = sender;
                let buffer = vec![0; 131_072];
                let mut bytes = 0;
                let begun = Instant::now();
                while begun.elapsed() < lasts {
                    stream.write_all(&buffer).unwrap();
                    bytes += buffer.len();
                }
                bytes as f64 * 8.0 / begun.elapsed().as_secs_f64()
            })
            .join()
            .unwrap()
        }

        fn close(self) {
            drop(self.stream);
            self.reader.join().unwrap();
        }
    }

    /// Keeps the calling thread on one core, if the machine has as many.
    fn take_core(number: usize) {
        let mut cores = CpuSet::new();
        cores.set(number).unwrap();
        let _ = sched_setaffinity(Pid::from_raw(0), &cores);
    }

    fn ip(arguments: &[&str]) {
        assert!(
            Command::new("ip").args(arguments).status().unwrap().success(),
            "ip {}",
            arguments.join(" ")
        );
    }
}
