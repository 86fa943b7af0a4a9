//! The connections of an experiment over the emulator's link.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use losscause::{Span, Time};
use losscause_linux::emulator::{
    Clock, EmulatedLink, Host, PEER, Path, SENDER, StallWatch, device_drops,
};
use losscause_sim::FlowId;
use losscause_study::{Experiment, Stop, Stopped};

use super::crossing::Crossing;
use super::ends::{self, FIRST_PORT, PORT, failure};
use crate::live::LiveError;

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

/// How often the main thread looks whether to stop.
const PAUSE: Duration = Duration::from_millis(20);

/// Makes one connection per flow, with these congestion controls and starts. `tested` says of each
/// whether it is under test.
///
/// # Errors
/// A host, the link or a connection fails, or `stop` is requested.
pub(super) fn run(
    layout: &Experiment,
    tested: Vec<bool>,
    seed: u64,
    controls: &[&str],
    starts: &[Time],
    stop: &Stop,
) -> Result<Transferred, LiveError> {
    let path = Path::new(&layout.network, FlowId(0), seed)?;
    let (name, value) = SEND_BUFFER;
    let (sender, senders) = Host::new(SENDER, &[(name, value.to_owned())])?;
    let (peer, peers) = Host::new(PEER, &[])?;
    let listener = peer.run(|| TcpListener::bind((PEER, PORT)))?;
    let listener = listener.map_err(|reason| failure("the receiver cannot listen", reason))?;
    let netns = sender.run(|| fs::metadata("/proc/thread-self/ns/net"))?;
    let netns =
        netns.map_err(|reason| failure("the sender's network has no number", reason))?.ino() as u32;
    let clock = Clock::start();
    let link = EmulatedLink::new(&path, [senders, peers], clock)?;
    // Connections end before the link does.
    let over = AtomicBool::new(false);
    let link_over = AtomicBool::new(false);
    let stalls = StallWatch::start(clock)?;
    let received: Vec<AtomicU64> = controls.iter().map(|_| AtomicU64::new(0)).collect();
    let result = thread::scope(|scope| {
        let crossing = scope.spawn(|| {
            let mut crossing = Crossing::default();
            link.run(&link_over, |sight| {
                if !over.load(Ordering::Relaxed) {
                    crossing.take(&sight, |at| clock.since_1970(at));
                }
            })?;
            Ok::<_, LiveError>(crossing)
        });
        let outcome = connections(
            layout.window,
            (&sender, &listener),
            controls,
            starts,
            (&over, &received),
            clock,
            stop,
        );
        // The devices end with the link.
        let drops = [sender.run(device_drops), peer.run(device_drops)];
        link_over.store(true, Ordering::Relaxed);
        let crossing = crossing.join().map_err(|_| LiveError::Thread)??;
        let goodput_kbps = outcome?;
        let [at_sender, at_peer] = drops;
        Ok::<_, LiveError>((goodput_kbps, crossing, at_sender?? + at_peer??))
    });
    let host_stall_ms = stalls.stop()?.greatest;
    let (goodput_kbps, crossing, device_drops) = result?;
    Ok(Transferred { goodput_kbps, crossing, device_drops, host_stall_ms, netns, tested })
}

/// Connects, waits for the window, and closes. Returns each connection's goodput within the window,
/// kb/s.
fn connections(
    (from, to): (Time, Time),
    (sender, listener): (&Host, &TcpListener),
    controls: &[&str],
    starts: &[Time],
    (over, received): (&AtomicBool, &[AtomicU64]),
    clock: Clock,
    stop: &Stop,
) -> Result<Vec<f64>, LiveError> {
    let mut sockets = Vec::new();
    for (flow, control) in controls.iter().enumerate() {
        let control = (*control).to_owned();
        let port = FIRST_PORT + flow as u16;
        sockets.push(sender.run(move || ends::open(port, &control))??);
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
        sleep_until(until(from), clock, is_broken);
        let before = counts();
        let since = clock.now();
        sleep_until(until(to), clock, is_broken);
        let after = counts();
        let now = clock.now();
        let ended_early = now < until(to);
        over.store(true, Ordering::Relaxed);
        let outcomes: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Err(LiveError::Thread)))
            .collect();
        if stop.is_requested() {
            return Err(Stopped.into());
        }
        outcomes.into_iter().collect::<Result<Vec<()>, LiveError>>()?;
        if ended_early {
            return Err(LiveError::Thread);
        }
        let seconds = (now - since).max(Span::from_nanos(1)).as_secs_f64();
        Ok(before
            .iter()
            .zip(&after)
            .map(|(before, after)| (after - before) as f64 * 8e-3 / seconds)
            .collect())
    })
}

/// Sleeps until `at`, or until `is_over`.
fn sleep_until(at: Time, clock: Clock, is_over: impl Fn() -> bool) {
    loop {
        let left = u64::try_from((at - clock.now()).as_nanos()).unwrap_or(0);
        if left == 0 || is_over() {
            return;
        }
        thread::sleep(Duration::from_nanos(left).min(PAUSE));
    }
}
