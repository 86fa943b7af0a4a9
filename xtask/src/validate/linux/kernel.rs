//! A cell over the running kernel: a transfer between two hosts of its own, with the emulator's
//! link between them.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use losscause::{Span, Time};
use losscause_linux::emulator::{
    Clock, EmulatedLink, Header, Host, PEER, Path, SENDER, Sight, device_drops,
};
use losscause_sim::FlowId;
use losscause_sim::live::Direction;
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, SockaddrIn, setsockopt, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};
use tun_rs::SyncDevice;

use super::Outcome;
use super::cell::Cell;
use super::lateness::{Lateness, Watch};
use crate::linux::sockets::{close, is_waiting};

const PORT: u16 = 5001;
/// Ends of the connection look at least so often whether the transfer is over.
const PATIENCE: Duration = Duration::from_millis(20);
/// A lost SYN is sent again after 1, 3 and 7 s.
const CONNECT_S: i64 = 10;

/// Makes a transfer of `seconds`, counted from the SYN.
///
/// # Errors
/// A host, the link or the connection fails, or a TUN device dropped packets.
pub(super) fn run(cell: &Cell, seed: u64, seconds: i64) -> Result<(Outcome, Lateness)> {
    let path = Path::new(&cell.experiment(seconds)?.network, FlowId(0), seed)?;
    let (sender, senders) = Host::new(SENDER, &[])?;
    let (peer, peers) = Host::new(PEER, &[])?;
    let clock = Clock::start();
    let stop = &AtomicBool::new(false);
    let (received, drops, seen) = thread::scope(|scope| {
        let link = scope.spawn(move || watch(&path, [senders, peers], clock, stop));
        let control = cell.variant.name();
        let received = transfer(&sender, &peer, control, clock, Span::from_secs(seconds));
        // The devices end with the link.
        let drops = own_drops(&sender, &peer);
        stop.store(true, Ordering::Relaxed);
        let seen = link.join().unwrap_or_else(|_| bail!("the link's thread panicked"));
        Ok::<_, anyhow::Error>((received?, drops?, seen?))
    })?;
    for (end, drops) in ["sender", "peer"].into_iter().zip(drops) {
        if drops > 0 {
            bail!("the TUN device at the {end} dropped {drops} packets that the link never saw");
        }
    }
    let outcome = Outcome {
        goodput_mbps: received.bytes as f64 * 8.0 / seconds as f64 / 1e6,
        retransmissions: seen.repeats.iter().filter(|at| **at <= received.until).count() as u64,
    };
    Ok((outcome, seen.watch.lateness()?))
}

/// Packets that each TUN device dropped by itself.
fn own_drops(sender: &Host, peer: &Host) -> Result<[u64; 2]> {
    Ok([sender.run(device_drops)??, peer.run(device_drops)??])
}

/// What the receiving application read.
struct Received {
    bytes: u64,
    /// The end of the transfer.
    until: Time,
}

/// What crossed the link.
#[derive(Default)]
struct Seen {
    watch: Watch,
    /// The sequence number behind the last one sent.
    end: Option<u32>,
    /// When packets came whose data had been sent before.
    repeats: Vec<Time>,
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
        let end = self.end.unwrap_or(seq);
        let beyond = seq.wrapping_add(header.payload_bytes + u32::from(header.syn));
        if (seq.wrapping_sub(end) as i32) < 0 {
            self.repeats.push(at);
        }
        if (beyond.wrapping_sub(end) as i32) > 0 {
            self.end = Some(beyond);
        }
    }
}

/// Sends as fast as TCP lets it, from the SYN on for as long as the transfer `lasts`.
fn transfer(
    sender: &Host,
    peer: &Host,
    control: &'static str,
    clock: Clock,
    lasts: Span,
) -> Result<Received> {
    let listener = peer.run(|| TcpListener::bind((PEER, PORT)))??;
    let until = clock.now() + lasts;
    let stream = sender.run(|| connect(control))?.context("the sender cannot connect")?;
    thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(&listener, clock, until));
        let sent = send(&stream, clock, until);
        let (bytes, other_end) =
            receiver.join().unwrap_or_else(|_| bail!("the receiver's thread panicked"))?;
        sent?;
        // Only now: an end that hears of the other's leaving would fail.
        [stream, other_end].into_iter().try_for_each(close)?;
        Ok(Received { bytes, until })
    })
}

/// A connection with this congestion control, which is set before the SYN. (A namespace's default
/// may not be set to every congestion control.)
fn connect(control: &str) -> Result<TcpStream> {
    let socket =
        socket::socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(control))
        .with_context(|| format!("this kernel has no congestion control {control}"))?;
    setsockopt(&socket, sockopt::SendTimeout, &TimeVal::seconds(CONNECT_S))?;
    socket::connect(socket.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(PEER, PORT)))?;
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
        let mut send = |at, seq, payload_bytes, syn| {
            let source = "10.77.0.1:5001".parse().unwrap();
            let header = Header {
                protocol: 6,
                source,
                destination: source,
                ip_id: 0,
                payload_bytes,
                seq: Some(seq),
                syn,
            };
            seen.sent(Time::from_nanos(at), &header);
        };
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
