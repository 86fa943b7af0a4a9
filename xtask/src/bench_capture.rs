//! `cargo xtask bench-capture`: time and memory of `losscause analyze`, beside tshark reading the
//! same files. Run it on an idle machine; it is not a test.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

use anyhow::{Context, Result};
use losscause::{Span, Time};
use losscause_capture::write::{Packet, PcapWriter, Tcp, TcpFlags, Transport};

use crate::measured::{Program, in_turn};
use crate::shell::{losscause, target};
use crate::tools::Tool;

/// How much to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Files of a tenth of the size, and one run instead of three
    #[arg(long)]
    short: bool,
}

/// A capture of TCP connections in full-size packets, all open at once.
struct Bench {
    title: &'static str,
    flows: u32,
    megabytes: u64,
    /// Whether tshark reads it too.
    compared: bool,
    wanted: &'static str,
}

const BENCHES: [Bench; 2] = [
    Bench {
        title: "one connection",
        flows: 1,
        megabytes: 500,
        compared: true,
        wanted: "800 MB/s, 10 times tshark's speed",
    },
    Bench {
        title: "10,000 connections",
        flows: 10_000,
        megabytes: 2_000,
        compared: false,
        wanted: "200 MB of memory",
    },
];

/// Writes the captures, analyses them, and prints speed and memory.
pub(crate) fn bench_capture(options: &Options) -> Result<()> {
    Tool::TSHARK.ensure()?;
    let losscause = losscause()?.display().to_string();
    let directory = tempfile::tempdir_in(target())?;
    let (runs, part) = if options.short { (1, 10) } else { (3, 1) };
    for bench in BENCHES {
        let file = directory.path().join("bench.pcap");
        let packets = write(&file, bench.flows, bench.megabytes * 1_000_000 / part)?;
        let bytes = file.metadata()?.len();
        let file = file.display().to_string();
        let ours = [&losscause, "-q", "analyze", &file, "--format", "json"].map(str::to_owned);
        let theirs = ["tshark", "-q", "-z", "io,stat,0", "-r", &file].map(str::to_owned);
        let megabytes = bytes as f64 / 1e6;
        let title = format!("{}, {megabytes:.0} MB, {packets} packets", bench.title);
        let program = |name, words| Program { name, words, work: megabytes };
        let tshark = bench.compared.then(|| program("tshark", theirs.into()));
        let programs: Vec<_> =
            tshark.into_iter().chain([program("losscause", ours.into())]).collect();
        in_turn(&format!("{title}; wanted: {}", bench.wanted), "MB", runs, &programs)?;
    }
    Ok(())
}

/// Payload of a full packet with timestamps, bytes.
const SEGMENT_BYTES: u16 = 1_448;
/// Each hundredth packet of a connection is lost before the capture and arrives again when
/// [`BEHIND`] more have.
const LOST: u32 = 100;
const BEHIND: u32 = 20;
/// The first packet of each connection: no loss is open.
const FIRST: u32 = LOST + BEHIND;

/// Writes a capture at the receivers of `flows` connections that take turns, until it has `bytes`.
/// Returns its packets.
fn write(file: &Path, flows: u32, bytes: u64) -> Result<u64> {
    let out = BufWriter::new(File::create(file).with_context(|| file.display().to_string())?);
    let mut capture = PcapWriter::new(out, u32::MAX)?;
    let mut packets = 0_u64;
    let mut written = 0_u64;
    for (turn, flow) in (0..).flat_map(|turn| (0..flows).map(move |flow| (turn, flow))) {
        if written >= bytes {
            break;
        }
        let now = Time::ZERO + Span::from_nanos(packets as i64 * 6_000);
        for packet in exchange(flow, turn, (now.as_nanos() / 1_000_000) as u32) {
            capture.write(now, &packet)?;
            packets += 1;
            written += u64::from(packet.bytes());
        }
    }
    capture.into_inner().flush()?;
    Ok(packets)
}

/// A data packet of a connection and its acknowledgement.
fn exchange(flow: u32, turn: u32, ms: u32) -> [Packet; 2] {
    let turn = turn + FIRST + 1;
    let cycle = turn - turn % LOST;
    let behind = turn % LOST;
    // In each cycle the packet before it is missing until it arrives again.
    let sent = cycle + behind + u32::from(behind < BEHIND);
    let (number, missing) = match behind.cmp(&BEHIND) {
        Ordering::Less => (cycle + behind, Some(cycle - 1)),
        Ordering::Equal => (cycle - 1, None),
        Ordering::Greater => (cycle + behind - 1, None),
    };
    let first_byte = |packet: u32| packet.wrapping_mul(u32::from(SEGMENT_BYTES));
    let ack = TcpFlags { ack: true, ..TcpFlags::default() };
    let timestamps = Some((ms, ms));
    let tcp = Tcp { flags: ack, window: u16::MAX, timestamps, ..Tcp::default() };
    let data = Tcp { sequence: first_byte(number), ..tcp };
    let sack = missing.map(|lost| (first_byte(lost + 1), first_byte(sent)));
    let answer = Tcp {
        acknowledgement: first_byte(missing.unwrap_or(sent)),
        sack: [sack.unwrap_or_default(), (0, 0), (0, 0)],
        ..tcp
    };
    let [_, _, high, low] = flow.to_be_bytes();
    let end = |side, port| SocketAddrV4::new(Ipv4Addr::new(10, side, high, low), port);
    let ends = [end(0, 443), end(1, 50_000)];
    [(0, data, SEGMENT_BYTES), (1, answer, 0)].map(|(from, tcp, payload_bytes)| Packet {
        source: ends[from],
        destination: ends[1 - from],
        id: 0,
        time_to_live: 64,
        ecn: 0,
        transport: Transport::Tcp(tcp),
        payload_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capture_has_the_losses_that_its_connections_had() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let packets = write(file.path(), 3, 3_000_000).unwrap();
        let capture = File::open(file.path()).unwrap();
        let analysis =
            losscause_capture::analyze(capture, "f", &losscause_capture::Options::all()).unwrap();
        assert_eq!((analysis.packets, analysis.flows.len()), (packets, 3));
        for flow in &analysis.flows {
            assert_eq!(flow.losses.len() as u64, flow.packets / u64::from(LOST), "{}", flow.src);
        }
    }
}
