//! The connections of an experiment over the emulator's link.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use losscause::Time;
use losscause_linux::emulator::{Clock, PEER, Sight, StallWatch};
use losscause_linux::kernel::VerdictRecord;
use losscause_sim::VerdictTally;
use losscause_study::{Experiment, Stop, Stopped};

use super::crossing::Crossing;
use super::ends::{self, FIRST_PORT, PORT, failure};
use super::join;
use crate::live::LiveError;
use crate::live::emulated::{self, Hosts, Window, over_link, sleep_until};

/// What the connections did.
#[derive(Debug, Default)]
pub(super) struct Transferred {
    /// What each receiving application read within the window, in the order of the flows.
    pub(super) goodput_kbps: Vec<f64>,
    pub(super) crossing: Crossing,
    /// Packets that the TUN devices dropped by themselves.
    pub(super) device_drops: u64,
    /// The longest time for which the hosts stood still, milliseconds.
    pub(super) host_stall_ms: f64,
    /// Inode number of the sender's network namespace.
    pub(super) netns: u32,
    /// By flow, whether it is under test.
    pub(super) tested: Vec<bool>,
}

impl Transferred {
    /// Why the run does not count.
    pub(super) fn disturbance(&self) -> Option<String> {
        emulated::disturbance(self.device_drops, &self.crossing.late)
    }

    /// The verdicts on the losses of the connections under test, by true cause.
    pub(super) fn verdicts(&self, records: &[VerdictRecord]) -> VerdictTally {
        join::verdicts(&self.crossing.losses, records, |port| self.is_under_test(port))
    }

    /// Whether the connection from this port is under test.
    pub(super) fn is_under_test(&self, port: u16) -> bool {
        port.checked_sub(FIRST_PORT)
            .and_then(|flow| self.tested.get(usize::from(flow)))
            .is_some_and(|tested| *tested)
    }
}

/// The send buffer may grow to 64 MB, where the default is 4 MB: it never limits a transfer, as in
/// the simulator, which has none.
const SEND_BUFFER: (&str, &str) = ("tcp_wmem", "4096 16384 67108864");

/// Makes one connection per flow, with these congestion controls and starts. `tested` says of each
/// whether it is under test, `host` has settings of both hosts, and `observe` gets all that the link
/// sees; it must not wait.
///
/// # Errors
/// A host, the link or a connection fails, or `stop` is requested.
pub(super) fn run(
    layout: &Experiment,
    tested: Vec<bool>,
    seed: u64,
    (controls, starts): (&[&str], &[Time]),
    host: &[(&'static str, String)],
    stop: &Stop,
    mut observe: impl FnMut(&Sight<'_>, Clock) + Send,
) -> Result<Transferred, LiveError> {
    let mut crossing = Crossing::default();
    let over = AtomicBool::new(false);
    let (name, value) = SEND_BUFFER;
    let settings = [host, &[(name, value.to_owned())]].concat();
    let take = |sight: &Sight<'_>, clock: Clock| {
        if !over.load(Ordering::Relaxed) {
            crossing.take(sight, |at| clock.since_1970(at));
        }
        observe(sight, clock);
    };
    let work = |hosts: &Hosts| {
        let listener = hosts.peer.run(|| TcpListener::bind((PEER, PORT)))?;
        let listener = listener.map_err(|reason| failure("the receiver cannot listen", reason))?;
        let netns = hosts.sender.run(|| fs::metadata("/proc/thread-self/ns/net"))?;
        let numberless = |reason| failure("the sender's network has no number", reason);
        let netns = netns.map_err(numberless)?.ino() as u32;
        let stalls = StallWatch::start(hosts.clock)?;
        let goodput = connections(layout.window, hosts, &listener, (controls, starts), &over, stop);
        let host_stall_ms = stalls.stop()?.greatest;
        Ok((goodput?, host_stall_ms, netns))
    };
    let (worked, device_drops) = over_link(&layout.network, seed, &settings, take, work)?;
    let (goodput_kbps, host_stall_ms, netns) = worked;
    Ok(Transferred { goodput_kbps, crossing, device_drops, host_stall_ms, netns, tested })
}

/// Connects, waits for the window, and closes. Returns each connection's goodput within the window,
/// kb/s.
fn connections(
    measured: (Time, Time),
    hosts: &Hosts,
    listener: &TcpListener,
    (controls, starts): (&[&str], &[Time]),
    over: &AtomicBool,
    stop: &Stop,
) -> Result<Vec<f64>, LiveError> {
    let received: Vec<AtomicU64> = controls.iter().map(|_| AtomicU64::new(0)).collect();
    let received = &received[..];
    let clock = hosts.clock;
    let mut sockets = Vec::new();
    for (flow, control) in controls.iter().enumerate() {
        let control = (*control).to_owned();
        let port = FIRST_PORT + flow as u16;
        sockets.push(hosts.sender.run(move || ends::open(port, &control))??);
    }
    let is_over = || over.load(Ordering::Relaxed);
    let begun = clock.now();
    let until = |at: Time| begun + (at - Time::ZERO);
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (socket, start) in sockets.into_iter().zip(starts) {
            threads.push(scope.spawn(move || {
                sleep_until(until(*start), clock, is_over);
                let stream = ends::connect(socket)?;
                ends::send(&stream, is_over)?;
                ends::close(stream);
                Ok::<_, LiveError>(())
            }));
        }
        threads.push(scope.spawn(move || {
            thread::scope(|readers| {
                let mut reading = Vec::new();
                while reading.len() < received.len() {
                    let Some((stream, port)) = ends::accept(listener, is_over)? else { break };
                    let Some(bytes) = received.get(usize::from(port.wrapping_sub(FIRST_PORT)))
                    else {
                        continue;
                    };
                    reading.push(readers.spawn(move || {
                        ends::receive(&stream, bytes, is_over)?;
                        ends::close(stream);
                        Ok::<_, LiveError>(())
                    }));
                }
                reading
                    .into_iter()
                    .try_for_each(|thread| thread.join().map_err(|_| LiveError::Thread)?)
            })
        }));
        let counts =
            || received.iter().map(|bytes| bytes.load(Ordering::Relaxed)).collect::<Vec<u64>>();
        let is_broken =
            || stop.is_requested() || threads.iter().any(thread::ScopedJoinHandle::is_finished);
        let Window { before, after, seconds, is_cut } =
            emulated::window(measured, clock, counts, is_broken);
        over.store(true, Ordering::Relaxed);
        let outcomes: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Err(LiveError::Thread)))
            .collect();
        if stop.is_requested() {
            return Err(Stopped.into());
        }
        outcomes.into_iter().collect::<Result<Vec<()>, LiveError>>()?;
        if is_cut {
            return Err(LiveError::Thread);
        }
        Ok(before
            .iter()
            .zip(&after)
            .map(|(before, after)| (after - before) as f64 * 8e-3 / seconds)
            .collect())
    })
}
