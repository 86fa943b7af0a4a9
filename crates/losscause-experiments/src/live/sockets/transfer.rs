//! One connection between two network namespaces, and what its link saw.

use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use losscause::{Span, Time};
use losscause_linux::emulator::{
    Clock, EmulatedLink, Histogram, Host, PEER, Path, SENDER, Sight, device_drops,
};
use losscause_quic::Counts;
use losscause_sim::FlowId;
use losscause_sim::live::Direction;
use losscause_sim::truth::Cause;
use losscause_study::{Stop, Stopped};

use super::ends::{noq, quinn};
use crate::live::quic::{Controllers, System};
use crate::live::{Cell, LiveError};

/// What the connection of a cell did.
pub(super) struct Transferred {
    /// What the receiving application read within the window.
    pub(super) goodput_kbps: f64,
    pub(super) crossed: Crossed,
    /// What the sender took its losses for; nothing if it does not judge.
    pub(super) judged: Counts,
    /// Packets that the TUN devices dropped by themselves.
    pub(super) device_drops: u64,
}

/// What the link saw of the sender's packets.
#[derive(Default)]
pub(super) struct Crossed {
    pub(super) came: u64,
    pub(super) queue_drops: u64,
    /// How long delivered packets waited in the queue.
    pub(super) waited: Histogram,
    /// How late packets were delivered, in both directions.
    pub(super) late: Histogram,
}

impl Crossed {
    fn take(&mut self, sight: &Sight<'_>) {
        match *sight {
            Sight::Came { direction: Direction::Forward, .. } => self.came += 1,
            Sight::Lost { direction: Direction::Forward, cause: Cause::Congestion, .. } => {
                self.queue_drops += 1;
            }
            Sight::Delivered { due, written, queued, direction, .. } => {
                self.late.add(written - due);
                if direction == Direction::Forward {
                    self.waited.add(queued);
                }
            }
            Sight::Came { .. } | Sight::Lost { .. } => {}
        }
    }
}

/// The port of both ends.
pub(super) const PORT: u16 = 4_433;

/// How often threads look whether the run is over.
const PAUSE: Duration = Duration::from_millis(20);

/// Sends over a connection of `system` during the time of `cell`; if `is_busy`, beside a loop on
/// every core.
///
/// # Errors
/// A host, the link or the connection fails, or `stop` is requested.
pub(super) fn run(
    cell: &Cell,
    system: &System,
    is_busy: bool,
    seed: u64,
    stop: &Stop,
) -> Result<Transferred, LiveError> {
    let path = Path::new(&cell.layout.network, FlowId(0), seed)?;
    let (sender, senders) = Host::new(SENDER, &[])?;
    let (peer, peers) = Host::new(PEER, &[])?;
    let bound = |of: io::Result<UdpSocket>| {
        of.map_err(|reason| LiveError::Connection { what: "a socket cannot be bound", reason })
    };
    let from = bound(sender.run(|| UdpSocket::bind((SENDER, PORT)))?)?;
    let to = bound(peer.run(|| UdpSocket::bind((PEER, PORT)))?)?;
    let (controllers, monitor) = system.watched();
    let clock = Clock::start();
    let link = EmulatedLink::new(&path, [senders, peers], clock)?;
    // The connection ends before the link does.
    let over = AtomicBool::new(false);
    let link_over = AtomicBool::new(false);
    let received = AtomicU64::new(0);
    thread::scope(|scope| {
        let crossed = scope.spawn(|| {
            let mut crossed = Crossed::default();
            link.run(&link_over, |sight| crossed.take(&sight))?;
            Ok::<_, LiveError>(crossed)
        });
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..if is_busy { cores } else { 0 } {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let (over, received) = (&over, &received);
        let ends = match controllers {
            Controllers::Quinn(factory) => [
                scope.spawn(move || until(over, quinn::receive(to, received))),
                scope.spawn(move || until(over, quinn::send(from, factory))),
            ],
            Controllers::Noq(factory) => [
                scope.spawn(move || until(over, noq::receive(to, received))),
                scope.spawn(move || until(over, noq::send(from, factory))),
            ],
        };
        let is_broken =
            || stop.is_requested() || ends.iter().any(thread::ScopedJoinHandle::is_finished);
        let begun = clock.now();
        let at = |time: Time| begun + (time - Time::ZERO);
        let count = || received.load(Ordering::Relaxed);
        let (window_begins, window_ends) = cell.layout.window;
        sleep_until(at(window_begins), clock, is_broken);
        let (before, since) = (count(), clock.now());
        sleep_until(at(window_ends), clock, is_broken);
        let (after, now) = (count(), clock.now());
        let judged = monitor.map(|monitor| monitor.totals()).unwrap_or_default();
        over.store(true, Ordering::Relaxed);
        let outcomes = ends.map(|end| end.join().unwrap_or(Err(LiveError::Thread)));
        // The devices end with the link.
        let drops = [sender.run(device_drops), peer.run(device_drops)];
        link_over.store(true, Ordering::Relaxed);
        let crossed = crossed.join().map_err(|_| LiveError::Thread)??;
        if stop.is_requested() {
            return Err(Stopped.into());
        }
        outcomes.into_iter().collect::<Result<Vec<()>, LiveError>>()?;
        let [at_sender, at_peer] = drops;
        let seconds = (now - since).max(Span::from_nanos(1)).as_secs_f64();
        Ok(Transferred {
            goodput_kbps: (after - before) as f64 * 8e-3 / seconds,
            crossed,
            judged,
            device_drops: at_sender?? + at_peer??,
        })
    })
}

/// Runs an end until the run is over. An end that ends by itself has failed.
fn until(over: &AtomicBool, end: impl Future<Output = io::Result<()>>) -> Result<(), LiveError> {
    let failed = |reason| LiveError::Connection { what: "a QUIC connection broke off", reason };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        tokio::select! {
            ended = end => ended.map_err(failed),
            () = async {
                while !over.load(Ordering::Relaxed) {
                    tokio::time::sleep(PAUSE).await;
                }
            } => Ok(()),
        }
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
