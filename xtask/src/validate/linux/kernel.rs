//! A cell over the running kernel: transfers between two hosts of its own, with the emulator's link
//! between them.
//!
//! The kernel's settings are its defaults but for [`SEND_BUFFER`].

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use losscause::{Span, Time};
use losscause_linux::emulator::{
    Clock, EmulatedLink, Header, Host, PEER, Path, SENDER, Sight, StallWatch, device_drops,
};
use losscause_sim::FlowId;
use losscause_sim::live::Direction;
use losscause_sim::truth::Cause;
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, SockaddrIn, setsockopt, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};
use tun_rs::SyncDevice;

use super::Outcome;
use super::cell::Cell;
use super::golden::Transfer;
use super::lateness::Watch;
use super::sockets::{close, is_waiting};

/// The port of the first transfer; the second has the next.
const PORT: u16 = 5001;
/// Ends of the connection look at least so often whether the transfer is over.
const PATIENCE: Duration = Duration::from_millis(20);
/// A lost SYN is sent again after 1, 3 and 7 s.
const CONNECT_S: i64 = 10;
/// The send buffer may grow to 64 MB, where the default is 4 MB. It never limits a transfer then,
/// as in the simulator, which has none.
const SEND_BUFFER: (&str, &str) = ("tcp_wmem", "4096 16384 67108864");

/// Makes a cell's transfers for `seconds`, counted from the SYN of the first.
///
/// # Errors
/// A host, the link or a connection fails, or a TUN device dropped packets.
pub(super) fn run(cell: &Cell, seed: u64, seconds: i64) -> Result<Transfer> {
    let network = cell.experiment(seconds)?.network;
    let path = Path::new(&network, FlowId(0), seed)?;
    let (name, value) = SEND_BUFFER;
    let (sender, senders) = Host::new(SENDER, &[(name, value.to_owned())])?;
    let (peer, peers) = Host::new(PEER, &[])?;
    let clock = Clock::start();
    let stop = &AtomicBool::new(false);
    let stalls = StallWatch::start(clock)?;
    let (transferred, drops, seen) = thread::scope(|scope| {
        let link = scope.spawn(move || watch(&path, [senders, peers], clock, stop));
        let starts: Vec<Span> = network.flows.iter().map(|flow| flow.start - Time::ZERO).collect();
        let transferred = transfers(&sender, &peer, cell, clock, &starts, Span::from_secs(seconds));
        // The devices end with the link.
        let drops = own_drops(&sender, &peer);
        stop.store(true, Ordering::Relaxed);
        let seen = link.join().unwrap_or_else(|_| bail!("the link's thread panicked"));
        Ok::<_, anyhow::Error>((transferred?, drops?, seen?))
    })?;
    let host_stall_ms = stalls.stop()?.greatest;
    for (end, drops) in ["sender", "peer"].into_iter().zip(drops) {
        if drops > 0 {
            bail!("the TUN device at the {end} dropped {drops} packets that the link never saw");
        }
    }
    let Transferred { bytes, until } = transferred;
    let in_time = |times: &[Time]| times.iter().filter(|at| **at <= until).count() as u64;
    let outcome = Outcome {
        goodput_mbps: bytes as f64 * 8.0 / seconds as f64 / 1e6,
        retransmissions: in_time(&seen.repeats),
        drops: in_time(&seen.drops),
    };
    let lateness = seen.watch.lateness()?;
    Ok(Transfer { cell: *cell, seed, outcome, lateness, host_stall_ms })
}

/// Packets that each TUN device dropped by itself.
fn own_drops(sender: &Host, peer: &Host) -> Result<[u64; 2]> {
    Ok([sender.run(device_drops)??, peer.run(device_drops)??])
}

/// What the receiving applications read.
struct Transferred {
    bytes: u64,
    /// The end of the transfers.
    until: Time,
}

/// What crossed the link.
#[derive(Default)]
struct Seen {
    watch: Watch,
    /// The sequence number behind the last one sent, by the receiver's port.
    ends: HashMap<u16, u32>,
    /// When packets came whose data had been sent before.
    repeats: Vec<Time>,
    /// When the queue dropped packets.
    drops: Vec<Time>,
}

/// The link, until `stop`.
fn watch(path: &Path, ends: [SyncDevice; 2], clock: Clock, stop: &AtomicBool) -> Result<Seen> {
    let mut seen = Seen::default();
    EmulatedLink::new(path, ends, clock)?.run(stop, |sight| match sight {
        Sight::Came { at, direction: Direction::Forward, packet } => {
            if let Some(header) = Header::of(packet) {
                seen.sent(at, &header);
            }
        }
        Sight::Delivered { due, written, .. } => seen.watch.delivered(due, written),
        Sight::Lost { at, direction: Direction::Forward, cause: Cause::Congestion, .. } => {
            seen.drops.push(at);
        }
        _ => {}
    })?;
    Ok(seen)
}

impl Seen {
    /// The sender sent a packet. Sequence numbers wrap around.
    fn sent(&mut self, at: Time, header: &Header) {
        let Some(seq) = header.seq.filter(|_| header.syn || header.payload_bytes > 0) else {
            return;
        };
        let end = self.ends.entry(header.destination.port()).or_insert(seq);
        let beyond = seq.wrapping_add(header.payload_bytes + u32::from(header.syn));
        if (seq.wrapping_sub(*end) as i32) < 0 {
            self.repeats.push(at);
        }
        if (beyond.wrapping_sub(*end) as i32) > 0 {
            *end = beyond;
        }
    }
}

/// Makes the transfers that begin at these times after now, and end together when the first has
/// lasted for `lasts`.
fn transfers(
    sender: &Host,
    peer: &Host,
    cell: &Cell,
    clock: Clock,
    starts: &[Span],
    lasts: Span,
) -> Result<Transferred> {
    let mut sockets = Vec::new();
    for port in (PORT..).take(starts.len()) {
        let listener = peer.run(move || TcpListener::bind((PEER, port)))??;
        let control = cell.variant.name();
        sockets.push((port, listener, sender.run(move || open(control))??));
    }
    let begun = clock.now();
    let until = begun + lasts;
    let sum = thread::scope(|scope| {
        let running: Vec<_> = sockets
            .into_iter()
            .zip(starts)
            .map(|((port, listener, socket), start)| {
                let start = begun + *start;
                scope.spawn(move || transfer(port, &listener, socket, clock, start, until))
            })
            .collect();
        let ended = running
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|_| bail!("a transfer's thread panicked")));
        ended.sum::<Result<u64>>()
    });
    Ok(Transferred { bytes: sum?, until })
}

/// Sends as fast as TCP lets it, from `start` to `until`. Returns how many bytes the receiver read.
fn transfer(
    port: u16,
    listener: &TcpListener,
    socket: OwnedFd,
    clock: Clock,
    start: Time,
    until: Time,
) -> Result<u64> {
    let wait = (start - clock.now()).as_nanos().max(0);
    thread::sleep(Duration::from_nanos(wait.unsigned_abs()));
    let stream = connect(socket, port).context("the sender cannot connect")?;
    thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(listener, clock, until));
        let sent = send(&stream, clock, until);
        let (bytes, other_end) =
            receiver.join().unwrap_or_else(|_| bail!("the receiver's thread panicked"))?;
        sent?;
        // Only now: an end that hears of the other's leaving would fail.
        [stream, other_end].into_iter().try_for_each(close)?;
        Ok(bytes)
    })
}

/// A socket with this congestion control, which is set before the SYN. (A namespace's default may
/// not be set to every congestion control.)
fn open(control: &str) -> Result<OwnedFd> {
    let socket =
        socket::socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(control))
        .with_context(|| format!("this kernel has no congestion control {control}"))?;
    setsockopt(&socket, sockopt::SendTimeout, &TimeVal::seconds(CONNECT_S))?;
    Ok(socket)
}

fn connect(socket: OwnedFd, port: u16) -> Result<TcpStream> {
    socket::connect(socket.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(PEER, port)))?;
    Ok(TcpStream::from(socket))
}

fn send(mut stream: &TcpStream, clock: Clock, until: Time) -> Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let data = vec![0; 1 << 16];
    while clock.now() < until {
        let written = stream.write(&data);
        if !is_waiting(&written) {
            written.context("the transfer broke off")?;
        }
    }
    Ok(())
}

/// Reads at once what arrives. Returns how many bytes that were, and the open connection.
fn receive(listener: &TcpListener, clock: Clock, until: Time) -> Result<(u64, TcpStream)> {
    let mut stream = accept(listener, clock, until)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut bytes = 0;
    let mut data = vec![0; 1 << 18];
    loop {
        let read = stream.read(&mut data);
        if clock.now() >= until {
            return Ok((bytes, stream));
        }
        if !is_waiting(&read) {
            bytes += read.context("the transfer broke off")? as u64;
        }
    }
}

/// The third packet of the handshake may be lost; then the first data opens the connection.
fn accept(listener: &TcpListener, clock: Clock, until: Time) -> Result<TcpStream> {
    listener.set_nonblocking(true)?;
    while clock.now() < until {
        let accepted = listener.accept();
        if !is_waiting(&accepted) {
            let (stream, _) = accepted.context("no connection")?;
            stream.set_nonblocking(false)?;
            return Ok(stream);
        }
        thread::sleep(Duration::from_millis(1));
    }
    bail!("the sender did not connect before the transfer was over")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sent_before_is_a_retransmission_where_numbers_wrap_too() {
        let mut seen = Seen::default();
        let mut send_to = |port, at, seq, payload_bytes, syn| {
            let header = Header {
                protocol: 6,
                source: SocketAddrV4::new(SENDER, 40_000),
                destination: SocketAddrV4::new(PEER, port),
                ip_id: 0,
                payload_bytes,
                seq: Some(seq),
                syn,
            };
            seen.sent(Time::from_nanos(at), &header);
        };
        // Another connection's numbers say nothing.
        send_to(5002, 1, 5_000, 100, false);
        let mut send = |at, seq, payload_bytes, syn| send_to(5001, at, seq, payload_bytes, syn);
        send(1, u32::MAX - 100, 0, true);
        send(2, u32::MAX - 99, 0, false);
        send(3, u32::MAX - 99, 100, false);
        send(4, 0, 1000, false);
        send(5, 0, 1000, false);
        send(6, 1000, 10, false);
        send(7, u32::MAX - 99, 1100, false);
        assert_eq!(seen.repeats, [5, 7].map(Time::from_nanos));
    }
}
