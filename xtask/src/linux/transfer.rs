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
    Clock, EmulatedLink, Header, Histogram, PEER, Path as EmulatedPath, Reordering, SENDER, Sight, device_drops, enter,
};
use losscause_sim::live::Direction;
use losscause_sim::truth::Cause;
use losscause_sim::{ChannelSpec, FlowId, FlowSpec, Limit, LinkId, LinkSpec, Network, QueueSpec, Traffic};
use nix::sys::socket::{setsockopt, sockopt};
use serde::{Deserialize, Serialize};
use tun_rs::SyncDevice;

use super::link_log::{self, Fate, Sent};
use super::sockets::{close, is_waiting};
use super::tcpdump::Capture;
use super::variants::Variant;

const PORT: u16 = 5001;

/// The path that all transfers share.
const RATE_BPS: u64 = 10_000_000;
const DELAY: Span = Span::from_millis(20);
const QUEUE_PACKETS: u32 = 50;
/// The longest time for which a packet is held back: about eight packets of a full link.
const HELD_BACK: Span = Span::from_millis(10);

/// Hosts look at least so often whether to stop.
const PATIENCE: Duration = Duration::from_millis(50);
/// A lost SYN is sent again after 1, 3 and 7 s.
const CONNECT: Duration = Duration::from_secs(10);

/// The files of a transfer's folder.
pub(super) const SENDER_CAPTURE: &str = "sender.pcap";
pub(super) const RECEIVER_CAPTURE: &str = "receiver.pcap";
pub(super) const LINK: &str = "link.csv";
pub(super) const ABOUT: &str = "transfer.json";

/// What is kept about a transfer beside its captures.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct About {
    pub(super) variant: Variant,
    pub(super) seed: u64,
    pub(super) seconds: f64,
    /// The kernel that sent.
    pub(super) kernel: String,
    pub(super) lateness: Lateness,
}

/// How late packets were delivered, microseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(super) struct Lateness {
    pub(super) p50_us: i64,
    pub(super) p99_us: i64,
    pub(super) worst_us: i64,
}

/// What the link did.
struct Report {
    packets: Vec<Sent>,
    lateness: Lateness,
}

/// Makes a transfer of `seconds` and leaves its captures in `folder`.
///
/// # Errors
/// If a host or the link cannot be made, a device or tcpdump dropped packets, or `interrupted`.
pub(super) fn make(variant: &Variant, seed: u64, seconds: f64, folder: &Path, interrupted: &AtomicBool) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let (over, stop) = (&AtomicBool::new(false), &AtomicBool::new(false));
    let report = thread::scope(|scope| -> Result<Report> {
        let (own_device, receivers_device) = channel();
        let receiver = scope.spawn(move || receive(variant, folder, own_device, over));
        let (own_device, senders_device) = channel();
        let (go, wait) = channel();
        let sender = scope.spawn(move || send(variant, folder, own_device, &wait, over));
        // A host that failed hangs up; its own error says why.
        let link = match (senders_device.recv(), receivers_device.recv()) {
            (Ok(sender), Ok(receiver)) => {
                let go = go.clone();
                let link = scope.spawn(move || run_link(&path(variant, seed)?, [sender, receiver], &go, stop));
                wait_until_over(seconds, interrupted);
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
    link_log::write(&folder.join(LINK), &report.packets)?;
    let kernel = nix::sys::utsname::uname()?.release().to_string_lossy().into_owned();
    let about = About { variant: variant.clone(), seed, seconds, kernel, lateness: report.lateness };
    fs::write(folder.join(ABOUT), serde_json::to_string_pretty(&about)?).context(ABOUT)
}

/// From the sender to the receiver and back.
fn path(variant: &Variant, seed: u64) -> Result<EmulatedPath> {
    let link = |direction: &str, loss| {
        let queue = QueueSpec::DropTail { limit: Limit::Packets(QUEUE_PACKETS) };
        let wired = LinkSpec::wired(format!("{}/{direction}", variant.key()), RATE_BPS, DELAY, queue);
        LinkSpec { channel: ChannelSpec::Bernoulli { loss }, ..wired }
    };
    let links = vec![link("forward", variant.loss), link("back", variant.ack_loss)];
    // Which traffic the flow has does not matter: real TCP takes its path.
    let flow = FlowSpec::new("transfer", &[LinkId(0)], &[LinkId(1)], Traffic::cbr(RATE_BPS, 1_500));
    let mut path = EmulatedPath::new(&Network { links, flows: vec![flow] }, FlowId(0), seed)?;
    if variant.reordering > 0.0 {
        path.reordering = Some(Reordering { share: variant.reordering, at_most: HELD_BACK });
    }
    Ok(path)
}

/// The link, until `stop`; says when it is `ready`.
fn run_link(path: &EmulatedPath, ends: [SyncDevice; 2], ready: &Sender<()>, stop: &AtomicBool) -> Result<Report> {
    let clock = Clock::start();
    let link = EmulatedLink::new(path, ends, clock)?;
    let (mut packets, mut late) = (Vec::new(), Histogram::default());
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
            && let Some(Header { source, seq: Some(seq), payload_bytes: bytes @ 1.., .. }) = Header::of(packet)
        {
            packets.push(Sent { at: clock.since_1970(came), port: source.port(), seq, bytes, fate });
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

fn sysctls(variant: &Variant) -> [(&'static str, String); 2] {
    [("tcp_sack", u8::from(variant.sack).to_string()), ("tcp_timestamps", u8::from(variant.timestamps).to_string())]
}

/// The host that sends, as fast as its TCP lets it.
fn send(
    variant: &Variant,
    folder: &Path,
    device: Sender<SyncDevice>,
    go: &Receiver<()>,
    over: &AtomicBool,
) -> Result<()> {
    let own_device = enter(SENDER, &sysctls(variant))?;
    let capture = Capture::start(&folder.join(SENDER_CAPTURE))?;
    device.send(own_device).context("the link is not there")?;
    drop(device);
    go.recv().context("the receiver is not there")?;
    let mut stream = TcpStream::connect_timeout(&SocketAddr::from((PEER, PORT)), CONNECT)?;
    // Before the first data. A namespace's default may not be set to every congestion control.
    setsockopt(&stream, sockopt::TcpCongestion, &OsString::from(&variant.control))
        .with_context(|| format!("this kernel has no congestion control {}", variant.control))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let data = vec![0; 1 << 16];
    while !over.load(Ordering::Relaxed) {
        may_wait(stream.write(&data), over)?;
    }
    close(stream)?;
    finish(capture)
}

/// The host that receives.
fn receive(variant: &Variant, folder: &Path, device: Sender<SyncDevice>, over: &AtomicBool) -> Result<()> {
    let own_device = enter(PEER, &sysctls(variant))?;
    let capture = Capture::start(&folder.join(RECEIVER_CAPTURE))?;
    let listener = TcpListener::bind((PEER, PORT))?;
    listener.set_nonblocking(true)?;
    device.send(own_device).context("the link is not there")?;
    drop(device);
    let mut data = vec![0; 1 << 16];
    let mut stream: Option<TcpStream> = None;
    while !over.load(Ordering::Relaxed) {
        match &mut stream {
            Some(stream) => may_wait(stream.read(&mut data), over)?,
            None => match listener.accept() {
                Ok((accepted, _)) => {
                    accepted.set_read_timeout(Some(PATIENCE))?;
                    stream = Some(accepted);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(PATIENCE / 10),
                Err(error) => return Err(error).context("no connection"),
            },
        }
    }
    close(stream.context("the sender did not connect")?)?;
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

fn finish(capture: Capture) -> Result<()> {
    capture.finish()?;
    match device_drops()? {
        0 => Ok(()),
        drops => bail!("the TUN device dropped {drops} packets by itself"),
    }
}
