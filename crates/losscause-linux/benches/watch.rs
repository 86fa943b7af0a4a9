//! What a watch costs: throughput between two network namespaces with it and without it, processor
//! time per acknowledgement, and what it takes for many connections.
//!
//! ```text
//! cargo bench -p losscause-linux --features kernel --bench watch -- [--pairs N] [--seconds S] [--connections N]
//! ```
//!
//! One connection sends as fast as it can, with a watch and without one in turn (with, without,
//! without, with, …). Printed are the median of the quotients, and its interval of at least 95 %
//! (order statistics). The times per acknowledgement are the kernel's own
//! (`kernel.bpf_stats_enabled`): those of all programs of the watch, at both ends, over the packets
//! that the sending end received. Beside them stand a program that does nothing at the same place,
//! which shows what calling and timing alone take, and one that looks up the connection's storage. Then so many connections are open, a hundred of which carry 1 Mb/s
//! each; the memory and the time of the watch are those of a process of its own. Needs root. The
//! namespaces end with the threads in them.
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
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::path::Path;
    use std::process::Command;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};
    use std::{env, fs, thread};

    use libbpf_rs::query::ProgInfoIter;
    use libbpf_rs::{Link, Object, ObjectBuilder};
    use losscause_linux::watch::{Filter, Watch};
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    use crate::hosts::{Connection, Host, Hosts, interval, median, programs};

    const CONTROL: &str = "cubic";
    const SETTLES: Duration = Duration::from_secs(1);
    /// The argument of the process that watches many connections.
    const WATCHER: &str = "--watcher";
    const EVERY: Duration = Duration::from_secs(1);
    /// Connections that carry 1 Mb/s each: 1,250 bytes in 10 ms.
    const BUSY: usize = 100;
    const PIECE: usize = 1_250;
    const PERIOD: Duration = Duration::from_millis(10);
    const MEASURED: Duration = Duration::from_secs(20);

    pub(super) fn main() {
        let mut pairs = 10;
        let mut lasts = Duration::from_secs(1);
        let mut connections = 10_000;
        let mut given = env::args().skip(1);
        while let Some(argument) = given.next() {
            let mut number = || given.next().unwrap().parse::<f64>().unwrap();
            match argument.as_str() {
                "--pairs" => pairs = number() as usize,
                "--seconds" => lasts = Duration::from_secs_f64(number()),
                "--connections" => connections = number() as usize,
                WATCHER => watch_alone(),
                _ => {}
            }
        }
        if pairs > 0 {
            throughput(pairs, lasts);
        }
        if connections > 0 {
            many(connections);
        }
    }

    /// A watch in a thread, until it is dropped.
    struct Watching {
        is_over: Arc<AtomicBool>,
        thread: Option<thread::JoinHandle<()>>,
    }

    impl Watching {
        fn begin() -> Self {
            let is_over = Arc::new(AtomicBool::new(false));
            let ends = Arc::clone(&is_over);
            let (ready, wait) = channel();
            let thread = thread::spawn(move || {
                let mut watch = Watch::begin(&Filter::default()).unwrap();
                ready.send(()).unwrap();
                while !ends.load(Ordering::Relaxed) {
                    watch.collect(Duration::from_millis(100)).unwrap();
                }
                let snapshot = watch.last_snapshot().unwrap();
                assert_eq!(snapshot.unseen_records, 0, "the watch is too slow");
            });
            wait.recv().unwrap();
            Self { is_over, thread: Some(thread) }
        }
    }

    impl Drop for Watching {
        fn drop(&mut self) {
            self.is_over.store(true, Ordering::Relaxed);
            self.thread.take().unwrap().join().unwrap();
        }
    }

    fn throughput(pairs: usize, lasts: Duration) {
        let hosts = Hosts::new();
        let connection = hosts.connect();
        connection.slice(CONTROL, SETTLES);
        let mut quotients = Vec::new();
        let mut without_it = Vec::new();
        for pair in 0..pairs {
            let with = || {
                let _watching = Watching::begin();
                connection.slice(CONTROL, lasts)
            };
            let without = || connection.slice(CONTROL, lasts);
            let [watched, alone] = if pair % 2 == 0 {
                let watched = with();
                [watched, without()]
            } else {
                let alone = without();
                [with(), alone]
            };
            quotients.push(watched / alone);
            without_it.push(alone);
        }
        let (low, high) = interval(&mut quotients);
        println!(
            "{pairs} pairs of {lasts:?}: {:.3} of the throughput without it ({low:.3} to {high:.3}), {:.1} Gb/s",
            median(&mut quotients),
            median(&mut without_it) / 1e9
        );
        let before = programs();
        let watching = Watching::begin();
        println!("the watch: {}", cost(&hosts, &connection, &before));
        drop(watching);
        for (what, options) in
            [("does nothing", &[][..]), ("looks up the connection's storage", &["-DLOOKUP"])]
        {
            let before = programs();
            let nothing = Nothing::attach(options);
            println!("a program that {what}: {}", cost(&hosts, &connection, &before));
            drop(nothing);
        }
        connection.close();
    }

    /// What the programs that were not there `before` cost while `connection` sends.
    fn cost(hosts: &Hosts, connection: &Connection, before: &BTreeSet<u32>) -> String {
        const SWITCH: &str = "/proc/sys/kernel/bpf_stats_enabled";
        let own: BTreeSet<u32> = programs().difference(before).copied().collect();
        let received = || hosts.near.run(segments_received);
        let as_it_was = fs::read_to_string(SWITCH).unwrap();
        let segments = received();
        fs::write(SWITCH, "1").unwrap();
        connection.slice(CONTROL, SETTLES);
        fs::write(SWITCH, as_it_was).unwrap();
        let segments = received() - segments;
        let infos: Vec<_> = ProgInfoIter::default().filter(|info| own.contains(&info.id)).collect();
        let ns: u64 = infos.iter().map(|info| info.run_time_ns).sum();
        let runs: u64 = infos.iter().map(|info| info.run_cnt).sum();
        format!(
            "{:.0} ns per acknowledgement, {:.0} ns per run ({runs} runs for {segments} acknowledgements)",
            ns as f64 / segments as f64,
            ns as f64 / runs as f64
        )
    }

    /// `nothing.bpf.c`, attached.
    struct Nothing {
        _links: Vec<Link>,
        _object: Object,
    }

    impl Nothing {
        fn attach(options: &[&str]) -> Self {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/nothing.bpf.c");
            let folder = tempfile::tempdir().unwrap();
            let object = folder.path().join("nothing.o");
            let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
            let compiled = Command::new(clang)
                .args(["-target", "bpf", "-mcpu=v3", "-g", "-O2", "-c"])
                .args(options)
                .args([source.as_os_str(), "-o".as_ref(), object.as_os_str()])
                .status();
            assert!(compiled.unwrap().success());
            let object = ObjectBuilder::default().open_file(object).unwrap().load().unwrap();
            let links = object.progs_mut().map(|program| program.attach().unwrap()).collect();
            Self { _links: links, _object: object }
        }
    }

    /// TCP segments that this network namespace has received.
    fn segments_received() -> u64 {
        let text = fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
        let names = lines.next().unwrap().split(' ');
        let values = lines.next().unwrap().split(' ');
        let (_, value) = names.zip(values).find(|(name, _)| *name == "InSegs").unwrap();
        value.parse().unwrap()
    }

    /// Watches until it is killed.
    fn watch_alone() -> ! {
        let mut watch = Watch::begin(&Filter::default()).unwrap();
        loop {
            watch.collect(EVERY).unwrap();
            let snapshot = watch.snapshot().unwrap();
            println!("{}", snapshot.connections.len());
        }
    }

    fn many(count: usize) {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        let files = 2 * count as u64 + 200;
        assert!(
            files <= hard,
            "{count} connections need {files} open files, `ulimit -n` has {hard}"
        );
        setrlimit(Resource::RLIMIT_NOFILE, files, hard).unwrap();
        let mut watcher = Command::new(env::current_exe().unwrap())
            .arg(WATCHER)
            .stdout(fs_null())
            .spawn()
            .unwrap();
        let watcher_files = format!("/proc/{}/status", watcher.id());
        // Programs are loaded within a second, on a busy machine in a few.
        thread::sleep(5 * EVERY);
        let host = Host::new();
        host.run(|| crate::hosts::ip(&["link", "set", "lo", "up"]));
        let (mut senders, mut receivers) = host.run(move || connected(count));
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let busy = thread::spawn(move || {
            let mut due = Instant::now();
            let mut taken = vec![0; 65_536];
            while !ends.load(Ordering::Relaxed) {
                for (sender, receiver) in senders.iter_mut().zip(&mut receivers).take(BUSY) {
                    sender.write_all(&[0; PIECE]).unwrap();
                    _ = receiver.read(&mut taken).unwrap();
                }
                due += PERIOD;
                thread::sleep(due.saturating_duration_since(Instant::now()));
            }
        });
        thread::sleep(5 * EVERY);
        let ticks = || processor_ticks(watcher.id());
        let (before, begun) = (ticks(), Instant::now());
        thread::sleep(MEASURED);
        let used = (ticks() - before) / 100.0 / begun.elapsed().as_secs_f64();
        let status = fs::read_to_string(watcher_files).unwrap();
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap().trim();
        println!(
            "{count} connections, {BUSY} of 1 Mb/s: {rss} resident, {:.1} % of a core",
            100.0 * used
        );
        watcher.kill().unwrap();
        watcher.wait().unwrap();
        is_over.store(true, Ordering::Relaxed);
        busy.join().unwrap();
    }

    fn fs_null() -> fs::File {
        fs::File::create("/dev/null").unwrap()
    }

    /// Connections over the loopback device, each of which has sent something twice.
    fn connected(count: usize) -> (Vec<TcpStream>, Vec<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut senders = Vec::new();
        let mut receivers = Vec::new();
        for _ in 0..count {
            senders.push(TcpStream::connect(address).unwrap());
            receivers.push(listener.accept().unwrap().0);
        }
        for _ in 0..2 {
            for (sender, receiver) in senders.iter_mut().zip(&mut receivers) {
                sender.write_all(&[0; 100]).unwrap();
                receiver.read_exact(&mut [0; 100]).unwrap();
            }
        }
        (senders, receivers)
    }

    /// Time that a process has used, in hundredths of a second.
    fn processor_ticks(process: u32) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        [11, 12].iter().map(|&place| fields[place].parse::<f64>().unwrap()).sum()
    }
}
