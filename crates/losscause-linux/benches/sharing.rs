//! How two connections share a link that loses nothing but by its queue.
//!
//! ```text
//! cargo bench -p losscause-linux --features kernel --bench sharing -- [--runs N] [--seconds S] [--jobs N] [NAME…]
//! ```
//!
//! 10 Mb/s, 40 ms, a DropTail queue of one bandwidth-delay product (34 packets). Each program
//! shares it with `reno` and with `cubic`; reno with reno and with cubic are the yardsticks. The
//! connections start up to 1 s apart, each first in turn. The goodput of the time from 5 s on
//! counts. A run in which 1 % of the packets were late by more than 10 ms is repeated, twice at
//! most. Needs root.
#![allow(clippy::unwrap_used)] // In a benchmark, a panic is the report.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::VecDeque;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    use losscause::Span;
    use losscause_linux::emulator::{Clock, EmulatedLink, Host, PEER, Path, SENDER, Sight};
    use losscause_linux::kernel::{Algorithm, Options, algorithm, load, unload};
    use losscause_sim::live::Direction;
    use losscause_sim::{
        FlowId, FlowSpec, Histogram, Limit, LinkId, LinkSpec, Network, QueueSpec, Traffic,
    };
    use nix::sys::socket::{setsockopt, sockopt};

    const PORT: u16 = 5001;
    /// The time that does not count.
    const START: Duration = Duration::from_secs(5);
    const LATE: Span = Span::from_millis(10);

    struct Arguments {
        runs: usize,
        lasts: Duration,
        jobs: usize,
        names: Vec<&'static str>,
    }

    impl Arguments {
        fn read() -> Self {
            let mut read =
                Self { runs: 3, lasts: Duration::from_secs(60), jobs: 4, names: Vec::new() };
            let mut given = std::env::args().skip(1);
            while let Some(argument) = given.next() {
                match argument.as_str() {
                    "--bench" => {}
                    "--runs" => read.runs = given.next().unwrap().parse().unwrap(),
                    "--seconds" => {
                        read.lasts =
                            Duration::from_secs_f64(given.next().unwrap().parse().unwrap());
                    }
                    "--jobs" => read.jobs = given.next().unwrap().parse().unwrap(),
                    name => read.names.push(Algorithm::find(name).unwrap().name),
                }
            }
            if read.names.is_empty() {
                read.names = algorithm::ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
            }
            read
        }
    }

    /// A run: the connection that is looked at, and the other one.
    #[derive(Clone, Copy)]
    struct Cell {
        pair: [&'static str; 2],
        run: usize,
    }

    struct Shared {
        cell: Cell,
        /// Bits per second.
        goodput: [f64; 2],
        queue_drops: u64,
        delivered: u64,
        lateness: Span,
    }

    pub(super) fn main() {
        let arguments = Arguments::read();
        for name in &arguments.names {
            load(&Algorithm::find(name).unwrap().settings(), &Options::default()).unwrap();
        }
        let names: Vec<&'static str> =
            ["reno"].into_iter().chain(arguments.names.clone()).collect();
        let pairs: Vec<_> = ["reno", "cubic"]
            .iter()
            .flat_map(|other| names.iter().map(|name| [*name, *other]))
            .collect();
        let cells = (0..arguments.runs)
            .flat_map(|run| pairs.iter().map(move |pair| Cell { pair: *pair, run }));
        let waiting: Mutex<VecDeque<Cell>> = Mutex::new(cells.collect());
        let next = || waiting.lock().unwrap().pop_front();
        let done = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..arguments.jobs {
                scope.spawn(|| {
                    while let Some(cell) = next() {
                        let shared = punctual(cell, arguments.lasts);
                        done.lock().unwrap().push(shared);
                    }
                });
            }
        });
        for name in &arguments.names {
            unload(name, true).unwrap();
        }
        let done = done.into_inner().unwrap();
        println!("{} runs of {:?} per pair", arguments.runs, arguments.lasts);
        println!(
            "of the pair's goodput, %          mean   runs                queue drops per 1000 packets   late by (99 %)"
        );
        for pair in pairs {
            print(pair, &done);
        }
    }

    fn print(pair: [&str; 2], done: &[Shared]) {
        let mut runs: Vec<&Shared> =
            done.iter().filter(|shared| shared.cell.pair == pair).collect();
        runs.sort_by_key(|shared| shared.cell.run);
        let share =
            |shared: &&Shared| 100.0 * shared.goodput[0] / (shared.goodput[0] + shared.goodput[1]);
        let shares: Vec<f64> = runs.iter().map(share).collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let drops: u64 = runs.iter().map(|shared| shared.queue_drops).sum();
        let delivered: u64 = runs.iter().map(|shared| shared.delivered).sum();
        let late = runs.iter().map(|shared| shared.lateness.as_millis_f64()).fold(0.0, f64::max);
        let shares: Vec<String> = shares.iter().map(|share| format!("{share:.1}")).collect();
        println!(
            "{:<15} against {:<7}  {mean:5.1}   {:<30}   {:6.2}   {late:8.2} ms",
            pair[0],
            pair[1],
            shares.join(" "),
            1e3 * drops as f64 / delivered as f64
        );
    }

    fn punctual(cell: Cell, lasts: Duration) -> Shared {
        let mut shared = share(cell, lasts);
        for _ in 0..2 {
            if shared.lateness > LATE {
                shared = share(cell, lasts);
            }
        }
        shared
    }

    #[derive(Default)]
    struct Seen {
        queue_drops: u64,
        delivered: u64,
        lateness: Histogram,
    }

    impl Seen {
        fn note(&mut self, sight: &Sight<'_>) {
            match *sight {
                Sight::Delivered { due, written, direction, .. } => {
                    self.lateness.record(written - due);
                    self.delivered += u64::from(direction == Direction::Forward);
                }
                Sight::Lost { direction: Direction::Forward, .. } => self.queue_drops += 1,
                _ => {}
            }
        }
    }

    fn share(cell: Cell, lasts: Duration) -> Shared {
        let queue = QueueSpec::DropTail { limit: Limit::Packets(34) };
        let link = LinkSpec::wired("link", 10_000_000, Span::from_millis(20), queue);
        let flow = FlowSpec::new("pair", &[LinkId(0)], &[], Traffic::cbr(1_000_000, 1_000));
        let path =
            Path::new(&Network { links: vec![link], flows: vec![flow] }, FlowId(0), 1).unwrap();
        let (sender, senders_device) = Host::new(SENDER, &[]).unwrap();
        let (peer, peers_device) = Host::new(PEER, &[]).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let link =
            EmulatedLink::new(&path, [senders_device, peers_device], Clock::start()).unwrap();
        let told = Arc::clone(&stop);
        let link = thread::spawn(move || {
            let mut seen = Seen::default();
            link.run(&told, |sight| seen.note(&sight)).unwrap();
            seen
        });
        let listener = peer.run(|| TcpListener::bind((PEER, PORT)).unwrap()).unwrap();
        let first = cell.run % 2;
        let mut ends: [Option<Connection>; 2] = [None, None];
        ends[first] = Some(Connection::open(&sender, &listener, cell.pair[first]));
        // Starts spread over a second; 0.38 is the golden section, so that any number of runs is
        // spread evenly.
        thread::sleep(Duration::from_secs_f64((0.38 * (cell.run + 1) as f64).fract()));
        ends[1 - first] = Some(Connection::open(&sender, &listener, cell.pair[1 - first]));
        let ends = ends.map(Option::unwrap);
        let bytes = || ends.each_ref().map(|end| end.received.load(Ordering::Relaxed));
        thread::sleep(START);
        let before = bytes();
        thread::sleep(lasts);
        let after = bytes();
        ends.into_iter().for_each(Connection::close);
        stop.store(true, Ordering::Relaxed);
        let seen = link.join().unwrap();
        let goodput =
            [0, 1].map(|end| (after[end] - before[end]) as f64 * 8.0 / lasts.as_secs_f64());
        let lateness = seen.lateness.quantile(0.99).unwrap();
        Shared { cell, goodput, queue_drops: seen.queue_drops, delivered: seen.delivered, lateness }
    }

    /// A connection that sends until it is closed, with the threads that write and read.
    struct Connection {
        stream: TcpStream,
        received: Arc<AtomicU64>,
        threads: [JoinHandle<()>; 2],
    }

    impl Connection {
        fn open(sender: &Host, listener: &TcpListener, algorithm: &'static str) -> Self {
            let connect = move || {
                let stream = TcpStream::connect((PEER, PORT)).unwrap();
                setsockopt(&stream, sockopt::TcpCongestion, &algorithm.into()).unwrap();
                stream
            };
            let stream = sender.run(connect).unwrap();
            let (mut reading, _) = listener.accept().unwrap();
            let mut writing = stream.try_clone().unwrap();
            let received = Arc::new(AtomicU64::new(0));
            let counter = Arc::clone(&received);
            let writer = thread::spawn(move || while writing.write_all(&[0; 16_384]).is_ok() {});
            let reader = thread::spawn(move || {
                let mut buffer = vec![0; 65_536];
                while let Ok(read @ 1..) = reading.read(&mut buffer) {
                    counter.fetch_add(read as u64, Ordering::Relaxed);
                }
            });
            Self { stream, received, threads: [writer, reader] }
        }

        fn close(self) {
            let _ = self.stream.shutdown(std::net::Shutdown::Both);
            self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    }
}
