//! One transfer: two hosts, the link between them, a capture at each.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use losscause::Span;
use losscause_linux::emulator::{
    Clock, EmulatedLink, Header, Histogram, PEER, Path as EmulatedPath, SENDER, Sight,
    device_drops, enter,
};
use losscause_sim::live::Direction;
use losscause_sim::truth::Cause;
use nix::sys::socket::{setsockopt, sockopt};
use serde::{Deserialize, Serialize};
use tun_rs::SyncDevice;

use super::link_log::{self, Fate, Sent};
use super::sockets::{close, is_waiting};
use super::tcpdump::Capture;

const PORT: u16 = 5001;

/// Hosts look at least so often whether to stop.
const PATIENCE: Duration = Duration::from_millis(50);
/// A lost SYN is sent again after 1, 3 and 7 s.
const CONNECT: Duration = Duration::from_secs(10);

/// The files of a transfer's folder.
pub(super) const SENDER_CAPTURE: &str = "sender.pcap";
pub(super) const RECEIVER_CAPTURE: &str = "receiver.pcap";
pub(super) const LINK: &str = "link.csv";

/// A transfer that is to be made.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) path: EmulatedPath,
    /// The congestion control, by the kernel's name.
    pub(crate) control: String,
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,
    pub(crate) seconds: f64,
    /// How many connections it has, all at once.
    pub(crate) connections: usize,
    /// Whether the receiver captures too; the sender always does.
    pub(crate) both_ends: bool,
}

/// A transfer that was made.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// The kernel that sent.
    pub(crate) kernel: String,
    pub(crate) lateness: Lateness,
    /// The packets of data.
    packets: Vec<Sent>,
}

impl Made {
    /// Packets of data that were lost by this cause.
    pub(crate) fn drops(&self, cause: Cause) -> u64 {
        self.packets.iter().filter(|sent| sent.lost().is_some_and(|(of, _)| of == cause)).count()
            as u64
    }
}

/// How late packets were delivered, microseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Lateness {
    pub(crate) p50_us: i64,
    pub(crate) p99_us: i64,
    pub(crate) worst_us: i64,
}

/// What the link did.
struct Report {
    packets: Vec<Sent>,
    lateness: Lateness,
}

/// Makes a transfer and leaves its captures, and what the link did, in `folder`.
///
/// # Errors
/// If a host or the link cannot be made, a device or tcpdump dropped packets, or `interrupted`.
pub(crate) fn make(transfer: &Transfer, folder: &Path, interrupted: &AtomicBool) -> Result<Made> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let over = &AtomicBool::new(false);
    let stop = &AtomicBool::new(false);
    let report = thread::scope(|scope| -> Result<Report> {
        let (own_device, receivers_device) = channel();
        let receiver = scope.spawn(move || receive(transfer, folder, own_device, over));
        let (own_device, senders_device) = channel();
        let (go, wait) = channel();
        let sender = scope.spawn(move || send(transfer, folder, own_device, &wait, over));
        // A host that failed hangs up; its own error says why.
        let link = match (senders_device.recv(), receivers_device.recv()) {
            (Ok(sender), Ok(receiver)) => {
                let go = go.clone();
                let link =
                    scope.spawn(move || run_link(&transfer.path, [sender, receiver], &go, stop));
                wait_until_over(transfer.seconds, interrupted);
                Some(link)
            }
            _ => None,
        };
        drop(go);
        over.store(true, Ordering::Relaxed);
        let hosts = [joined(sender), joined(receiver)];
        stop.store(true, Ordering::Relaxed);
        let report = link.map(joined);
        hosts.into_iter().collect::<Result<()>>()?;
        report.context("a host did not start")?
    })?;
    if interrupted.load(Ordering::Relaxed) {
        bail!("interrupted");
    }
    let Report { packets, lateness } = report;
    link_log::write(&folder.join(LINK), &packets)?;
    let kernel = nix::sys::utsname::uname()?.release().to_string_lossy().into_owned();
    Ok(Made { kernel, lateness, packets })
}

/// The link, until `stop`; says when it is `ready`.
fn run_link(
    path: &EmulatedPath,
    ends: [SyncDevice; 2],
    ready: &Sender<()>,
    stop: &AtomicBool,
) -> Result<Report> {
    let clock = Clock::start();
    let link = EmulatedLink::new(path, ends, clock)?;
    let mut packets = Vec::new();
    let mut late = Histogram::default();
    ready.send(()).context("no host waits for the link")?;
    link.run(stop, |sight| {
        let (came, fate, packet) = match sight {
            Sight::Delivered { came, due, written, direction, packet, .. } => {
                late.add(written - due);
                (came, Fate::Arrives(clock.since_1970(due)), (direction, packet))
            }
            Sight::Lost { came, at, cause, direction, packet, .. } => {
                let fate = match cause {
                    Cause::Congestion => Fate::Queue,
                    Cause::Wireless => Fate::Air(clock.since_1970(at)),
                };
                (came, fate, (direction, packet))
            }
            Sight::Came { .. } => return,
        };
        if let (Direction::Forward, packet) = packet
            && let Some(Header { source, seq: Some(seq), payload_bytes: bytes @ 1.., .. }) =
                Header::of(packet)
        {
            packets.push(Sent {
                at: clock.since_1970(came),
                port: source.port(),
                seq,
                bytes,
                fate,
            });
        }
    })?;
    packets.sort_by_key(|sent| sent.at);
    let us = |span: Option<Span>| span.map_or(0, |span| span.as_nanos() / 1_000);
    let [p50_us, p99_us] = [0.5, 0.99].map(|share| us(late.quantile(share)));
    Ok(Report { packets, lateness: Lateness { p50_us, p99_us, worst_us: us(late.worst()) } })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|_| bail!("a thread panicked"))
}

fn wait_until_over(seconds: f64, interrupted: &AtomicBool) {
    let begun = Instant::now();
    while begun.elapsed().as_secs_f64() < seconds && !interrupted.load(Ordering::Relaxed) {
        thread::sleep(PATIENCE);
    }
}

fn sysctls(transfer: &Transfer) -> [(&'static str, String); 2] {
    [
        ("tcp_sack", u8::from(transfer.sack).to_string()),
        ("tcp_timestamps", u8::from(transfer.timestamps).to_string()),
    ]
}

/// The host that sends, as fast as its TCP lets it.
fn send(
    transfer: &Transfer,
    folder: &Path,
    device: Sender<SyncDevice>,
    go: &Receiver<()>,
    over: &AtomicBool,
) -> Result<()> {
    let own_device = enter(SENDER, &sysctls(transfer))?;
    let capture = Capture::start(&folder.join(SENDER_CAPTURE))?;
    device.send(own_device).context("the link is not there")?;
    drop(device);
    go.recv().context("the receiver is not there")?;
    let connect = || -> Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&SocketAddr::from((PEER, PORT)), CONNECT)?;
        // Before the first data. A namespace's default may not be set to every congestion control.
        setsockopt(&stream, sockopt::TcpCongestion, &OsString::from(&transfer.control))
            .with_context(|| {
                format!("this kernel has no congestion control {}", transfer.control)
            })?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    };
    let pour = |mut stream: TcpStream| -> Result<()> {
        let data = vec![0; 1 << 16];
        while !over.load(Ordering::Relaxed) {
            may_wait(stream.write(&data), over)?;
        }
        close(stream)
    };
    // Threads begin in the network of the thread that starts them.
    thread::scope(|scope| {
        let connections = (0..transfer.connections).map(|_| scope.spawn(|| pour(connect()?)));
        let connections: Vec<_> = connections.collect();
        connections.into_iter().try_for_each(joined)
    })?;
    finish(Some(capture))
}

/// The host that receives.
fn receive(
    transfer: &Transfer,
    folder: &Path,
    device: Sender<SyncDevice>,
    over: &AtomicBool,
) -> Result<()> {
    let own_device = enter(PEER, &sysctls(transfer))?;
    let file = folder.join(RECEIVER_CAPTURE);
    let capture = transfer.both_ends.then(|| Capture::start(&file)).transpose()?;
    let listener = TcpListener::bind((PEER, PORT))?;
    listener.set_nonblocking(true)?;
    device.send(own_device).context("the link is not there")?;
    drop(device);
    let drain = |mut stream: TcpStream| -> Result<()> {
        let mut data = vec![0; 1 << 16];
        while !over.load(Ordering::Relaxed) {
            may_wait(stream.read(&mut data), over)?;
        }
        close(stream)
    };
    thread::scope(|scope| {
        let mut connections = Vec::new();
        while !over.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok((accepted, _)) => {
                    accepted.set_read_timeout(Some(PATIENCE))?;
                    connections.push(scope.spawn(|| drain(accepted)));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(PATIENCE / 10),
                Err(error) => return Err(error).context("no connection"),
            }
        }
        if connections.len() < transfer.connections {
            bail!("the sender did not connect");
        }
        connections.into_iter().try_for_each(joined)
    })?;
    finish(capture)
}

/// A transfer may wait, and at its end the other host may be gone first.
fn may_wait(outcome: std::io::Result<usize>, over: &AtomicBool) -> Result<()> {
    match outcome {
        _ if is_waiting(&outcome) => Ok(()),
        Ok(_) => Ok(()),
        Err(_) if over.load(Ordering::Relaxed) => Ok(()),
        Err(error) => Err(error).context("the transfer broke off"),
    }
}

fn finish(capture: Option<Capture>) -> Result<()> {
    capture.map_or(Ok(()), Capture::finish)?;
    match device_drops()? {
        0 => Ok(()),
        drops => bail!("the TUN device dropped {drops} packets by itself"),
    }
}
