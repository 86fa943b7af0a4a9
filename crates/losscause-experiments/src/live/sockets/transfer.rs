//! One connection between two network namespaces, and what its link saw.

use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use losscause::Time;
use losscause_linux::emulator::{Clock, PEER, SENDER, Sight};
use losscause_quic::Counts;
use losscause_sim::Histogram;
use losscause_sim::live::Direction;
use losscause_sim::truth::Cause;
use losscause_study::{Experiment, Stop, Stopped};

use super::ends::{noq, quinn};
use crate::live::LiveError;
use crate::live::emulated::{self, Hosts, PAUSE, Window, over_link};
use crate::live::quic::{Controllers, System};

/// What the connection did.
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
                self.late.record(written - due);
                if direction == Direction::Forward {
                    self.waited.record(queued);
                }
            }
            Sight::Came { .. } | Sight::Lost { .. } => {}
        }
    }
}

/// The port of both ends.
pub(super) const PORT: u16 = 4_433;

/// Sends over a connection of `system` during the time of `experiment`; if `is_busy`, beside a loop on
/// every core.
///
/// # Errors
/// A host, the link or the connection fails, or `stop` is requested.
pub(super) fn run(
    experiment: &Experiment,
    system: &System,
    is_busy: bool,
    seed: u64,
    stop: &Stop,
) -> Result<Transferred, LiveError> {
    let mut crossed = Crossed::default();
    let take = |sight: &Sight<'_>, _: Clock| crossed.take(sight);
    let work = |hosts: &Hosts| connection(experiment.window, hosts, system, is_busy, stop);
    let ((goodput_kbps, judged), device_drops) =
        over_link(&experiment.network, seed, &[], take, work)?;
    Ok(Transferred { goodput_kbps, crossed, judged, device_drops })
}

/// Connects, waits for the window, and closes. Returns the goodput within the window, kb/s, and
/// what the sender took its losses for.
fn connection(
    measured: (Time, Time),
    hosts: &Hosts,
    system: &System,
    is_busy: bool,
    stop: &Stop,
) -> Result<(f64, Counts), LiveError> {
    let bound = |of: io::Result<UdpSocket>| {
        of.map_err(|reason| LiveError::Connection { what: "a socket cannot be bound", reason })
    };
    let from = bound(hosts.sender.run(|| UdpSocket::bind((SENDER, PORT)))?)?;
    let to = bound(hosts.peer.run(|| UdpSocket::bind((PEER, PORT)))?)?;
    let (controllers, monitor) = system.watched();
    let over = &AtomicBool::new(false);
    let received = &AtomicU64::new(0);
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..if is_busy { cores } else { 0 } {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
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
        let count = || received.load(Ordering::Relaxed);
        let Window { before, after, seconds, .. } =
            emulated::window(measured, hosts.clock, count, is_broken);
        let judged = monitor.map(|monitor| monitor.totals()).unwrap_or_default();
        over.store(true, Ordering::Relaxed);
        let outcomes = ends.map(|end| end.join().unwrap_or(Err(LiveError::Thread)));
        if stop.is_requested() {
            return Err(Stopped.into());
        }
        outcomes.into_iter().collect::<Result<Vec<()>, LiveError>>()?;
        Ok(((after - before) as f64 * 8e-3 / seconds, judged))
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
