//! Two network namespaces with a pair of veth devices between them, and a connection that sends as
//! fast as it can; each end has a core of its own. The namespaces end with the threads in them.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use libbpf_rs::query::ProgInfoIter;
use nix::sched::{CloneFlags, CpuSet, sched_setaffinity, unshare};
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::{Pid, gettid};

const NEAR: &str = "10.78.0.1";
const FAR: &str = "10.78.0.2";
const PORT: u16 = 5001;

pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// The narrowest symmetric pair of order statistics that holds the median with a probability of
/// 95 %, or the extremes. The median lies below the k smallest of n values with the probability
/// of fewer than k heads in n throws.
pub(crate) fn interval(values: &mut [f64]) -> (f64, f64) {
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

pub(crate) fn programs() -> BTreeSet<u32> {
    ProgInfoIter::default().map(|info| info.id).collect()
}

type Job = Box<dyn FnOnce() + Send>;

/// A network namespace, and the thread in it.
pub(crate) struct Host {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Host {
    pub(crate) fn new() -> Self {
        let (jobs, waiting) = channel::<Job>();
        let thread = thread::spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            waiting.iter().for_each(|job| job());
        });
        Self { jobs: Some(jobs), thread: Some(thread) }
    }

    pub(crate) fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> T {
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
pub(crate) struct Hosts {
    pub(crate) near: Host,
    listener: TcpListener,
    _far: Host,
}

impl Hosts {
    pub(crate) fn new() -> Self {
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

    pub(crate) fn connect(&self) -> Connection {
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
pub(crate) struct Connection {
    stream: TcpStream,
    reader: JoinHandle<()>,
}

impl Connection {
    /// Sends for this long with this congestion control; bits per second that the socket took.
    pub(crate) fn slice(&self, algorithm: &'static str, lasts: Duration) -> f64 {
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

    pub(crate) fn close(self) {
        drop(self.stream);
        self.reader.join().unwrap();
    }
}

/// Keeps the calling thread on one core, if the machine has as many.
pub(crate) fn take_core(number: usize) {
    let mut cores = CpuSet::new();
    cores.set(number).unwrap();
    let _ = sched_setaffinity(Pid::from_raw(0), &cores);
}

pub(crate) fn ip(arguments: &[&str]) {
    assert!(
        Command::new("ip").args(arguments).status().unwrap().success(),
        "ip {}",
        arguments.join(" ")
    );
}
