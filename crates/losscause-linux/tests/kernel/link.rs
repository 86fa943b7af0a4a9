//! Two hosts, each a thread in a network namespace of its own, and a link between them: 10 Mb/s, 20
//! ms each way, a queue of one bandwidth-delay product. The namespaces end with the threads and
//! sockets in them.

use std::collections::VecDeque;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{setsockopt, sockopt};
use tun_rs::{DeviceBuilder, SyncDevice};

use super::hang;

const NEAR: &str = "10.77.0.1";
const FAR: &str = "10.77.0.2";
const PORT: u16 = 5001;
const BITS_PER_MICROSECOND: f64 = 10.0;
const DELAY: Duration = Duration::from_millis(20);
pub(crate) const RTT_MS: f64 = 40.0;
const QUEUE_PACKETS: usize = 34;

type Job = Box<dyn FnOnce() + Send>;

/// A link between two hosts.
pub(crate) struct Link {
    near: Option<Sender<Job>>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    delivered: AtomicU64,
    cut: AtomicBool,
    over: AtomicBool,
    longest_pause_ns: AtomicU64,
}

/// What happens to every `one_in`-th large packet; to none for 0.
#[derive(Clone, Copy)]
struct Harm {
    one_in: u32,
    /// The packet is marked, not lost.
    marks: bool,
    /// Not to every such one, but to one of so many on average.
    is_random: bool,
}

impl Harm {
    /// Whether it happens to the large packet of this number.
    fn strikes(self, number: u32) -> bool {
        let drawn = if self.is_random { mixed(number) } else { number };
        self.one_in > 0 && drawn.is_multiple_of(self.one_in)
    }
}

/// A hash of good quality (lowbias32, by Wellons): random, and the same in every run.
fn mixed(number: u32) -> u32 {
    let once = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
    let twice = (once ^ once >> 15).wrapping_mul(0x846c_a68b);
    twice ^ twice >> 16
}

/// A connection that sends until it is stopped.
pub(crate) struct Transfer {
    stream: TcpStream,
    writer: JoinHandle<()>,
}

impl Transfer {
    pub(crate) fn stop(self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        self.writer.join().unwrap();
    }
}

impl Link {
    /// A link that loses every `one_in`-th large packet on the way out, none for 0.
    pub(crate) fn new(one_in: u32) -> Self {
        Self::with(Harm { one_in, marks: false, is_random: false })
    }

    /// A link that loses one of `one_in` large packets on the way out, at irregular distances.
    pub(crate) fn random(one_in: u32) -> Self {
        Self::with(Harm { one_in, marks: false, is_random: true })
    }

    /// A link that marks every `one_in`-th large packet on the way out, and loses none (ECN).
    pub(crate) fn marking(one_in: u32) -> Self {
        Self::with(Harm { one_in, marks: true, is_random: false })
    }

    fn with(harm: Harm) -> Self {
        let shared = Arc::new(Shared::default());
        let (near, jobs) = channel::<Job>();
        let (devices, arriving) = channel();
        let own_device = devices.clone();
        let near_host = thread::spawn(move || {
            own_device.send((0, enter(NEAR, FAR))).unwrap();
            jobs.iter().for_each(|job| job());
        });
        let counters = shared.clone();
        let far_host = thread::spawn(move || {
            devices.send((1, enter(FAR, NEAR))).unwrap();
            receive(&counters);
        });
        let mut ends: Vec<(u8, SyncDevice)> = arriving.iter().take(2).collect();
        ends.sort_by_key(|(end, _)| *end);
        let [near_end, far_end] =
            <[_; 2]>::try_from(ends).map_err(|_| "two hosts").unwrap().map(|(_, device)| device);
        let flags = shared.clone();
        let link = thread::spawn(move || {
            let mut out = Lane::new(harm);
            let mut back = Lane::new(Harm { one_in: 0, marks: false, is_random: false });
            let mut looked = Instant::now();
            while !flags.over.load(Ordering::Relaxed) {
                let cut = flags.cut.load(Ordering::Relaxed);
                flags
                    .longest_pause_ns
                    .fetch_max(looked.elapsed().as_nanos() as u64, Ordering::Relaxed);
                looked = Instant::now();
                out.carry(&near_end, &far_end, cut);
                back.carry(&far_end, &near_end, cut);
                thread::sleep(Duration::from_micros(200));
            }
        });
        Self { near: Some(near), shared, threads: vec![near_host, far_host, link] }
    }

    /// The addresses of the two hosts.
    pub(crate) fn addresses(&self) -> (String, String) {
        (NEAR.to_owned(), FAR.to_owned())
    }

    /// Runs something on the near host.
    pub(crate) fn near<T: Send + 'static>(&self, run: impl FnOnce() -> T + Send + 'static) -> T {
        let (answer, answers) = channel();
        let job = Box::new(move || answer.send(run()).unwrap());
        self.near.as_ref().unwrap().send(job).unwrap();
        answers.recv().unwrap()
    }

    /// A connection from the near to the far host.
    pub(crate) fn start(&self, algorithm: &'static str) -> Transfer {
        let stream = self.near(move || connect(algorithm));
        let mut writing = stream.try_clone().unwrap();
        let writer = thread::spawn(move || while writing.write_all(&[0; 16_384]).is_ok() {});
        Transfer { stream, writer }
    }

    /// A connection that sends until the far host has read so many bytes.
    pub(crate) fn transfer(&self, algorithm: &'static str, bytes: u64) {
        let transfer = self.start(algorithm);
        self.wait_for_delivery(bytes);
        transfer.stop();
    }

    /// Waits until the far host has read so many bytes.
    pub(crate) fn wait_for_delivery(&self, bytes: u64) {
        hang::wait_until(&format!("{bytes} bytes have arrived"), || self.delivered() >= bytes);
    }

    /// How late this link has been at most in a round trip: each way it takes a packet late, and
    /// delivers it late, by at most the time between two looks.
    pub(crate) fn latest_ms(&self) -> f64 {
        4e-6 * self.shared.longest_pause_ns.load(Ordering::Relaxed) as f64
    }

    /// Bytes that the far host has read.
    pub(crate) fn delivered(&self) -> u64 {
        self.shared.delivered.load(Ordering::Relaxed)
    }

    /// From now on every packet is lost.
    pub(crate) fn cut(&self) {
        self.shared.cut.store(true, Ordering::Relaxed);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        self.near = None;
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// A connection to the far host, from the calling thread's.
pub(crate) fn connect(algorithm: &'static str) -> TcpStream {
    let stream = TcpStream::connect((FAR, PORT)).unwrap();
    setsockopt(&stream, sockopt::TcpCongestion, &algorithm.into()).unwrap();
    stream
}

/// Moves this thread to a host of its own, and returns the other end of its device.
fn enter(own: &str, peer: &str) -> SyncDevice {
    unshare(CloneFlags::CLONE_NEWNET).unwrap();
    fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1").unwrap();
    fs::write("/proc/sys/net/ipv4/tcp_ecn", "1").unwrap();
    let device = DeviceBuilder::new().name("tun0").mtu(1_500).build_sync().unwrap();
    let ip = |arguments: &[&str]| {
        assert!(Command::new("ip").args(arguments).status().unwrap().success());
    };
    ip(&["address", "add", own, "peer", peer, "dev", "tun0"]);
    ip(&["link", "set", "tun0", "up"]);
    device.set_nonblocking(true).unwrap();
    device
}

/// Reads every connection until the link is over.
fn receive(shared: &Shared) {
    let listener = TcpListener::bind((FAR, PORT)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut streams = Vec::new();
    let mut buffer = vec![0; 65_536];
    while !shared.over.load(Ordering::Relaxed) {
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(true).unwrap();
            streams.push(stream);
        }
        for stream in &mut streams {
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                shared.delivered.fetch_add(read as u64, Ordering::Relaxed);
            }
        }
        thread::sleep(Duration::from_micros(500));
    }
}

/// One direction.
struct Lane {
    harm: Harm,
    large_packets: u32,
    /// When the packets that wait or are being sent leave the link.
    departures: VecDeque<Instant>,
    /// When a packet arrives, and the packet.
    flying: VecDeque<(Instant, Vec<u8>)>,
}

impl Lane {
    fn new(harm: Harm) -> Self {
        Self { harm, large_packets: 0, departures: VecDeque::new(), flying: VecDeque::new() }
    }

    fn carry(&mut self, from: &SyncDevice, to: &SyncDevice, cut: bool) {
        let mut packet = vec![0; 2_048];
        while let Ok(length) = from.recv(&mut packet) {
            self.take(&packet[..length], cut);
        }
        while self.flying.front().is_some_and(|(at, _)| *at <= Instant::now()) {
            if let Some((_, packet)) = self.flying.pop_front() {
                let _ = to.send(&packet);
            }
        }
    }

    fn take(&mut self, packet: &[u8], cut: bool) {
        let now = Instant::now();
        while self.departures.front().is_some_and(|at| *at <= now) {
            self.departures.pop_front();
        }
        if self.departures.len() >= QUEUE_PACKETS || cut {
            return;
        }
        let begins = self.departures.back().copied().unwrap_or(now);
        let takes =
            Duration::from_nanos((packet.len() as f64 * 8_000.0 / BITS_PER_MICROSECOND) as u64);
        self.departures.push_back(begins + takes);
        self.large_packets += u32::from(packet.len() > 500);
        let mut packet = packet.to_vec();
        if packet.len() > 500 && self.harm.strikes(self.large_packets) {
            if !self.harm.marks {
                return;
            }
            mark(&mut packet);
        }
        self.flying.push_back((begins + takes + DELAY, packet));
    }
}

/// Sets "congestion experienced" in an IPv4 header (RFC 3168, section 5) and its checksum (RFC 791,
/// section 3.1).
fn mark(packet: &mut [u8]) {
    packet[1] |= 3;
    packet[10..12].fill(0);
    let words =
        packet[..20].chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}
