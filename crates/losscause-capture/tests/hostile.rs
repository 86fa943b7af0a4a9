//! Captures that want to exhaust time or memory: twice the packets cost at most about twice the
//! time.
//!
//! Processor time is measured, in the best of several runs, against a generous limit, so that a
//! busy machine does not fail and a quadratic walk does: there, four times the packets cost sixteen
//! times the time.
#![cfg(target_os = "linux")] // Which counts the processor time of a thread.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use std::time::Duration;

use common::{ACK, Segment, pcap, rtp};
use losscause_capture::{Analysis, Options, analyze};
use nix::time::{ClockId, clock_gettime};

type Packets = Vec<(u64, Vec<u8>)>;

fn analysed(packets: &Packets) -> Analysis {
    analyze(pcap(packets).as_slice(), "f", &Options::all()).unwrap()
}

/// The processor time of this thread: its clock counts nanoseconds, `getrusage` counts ticks of up to
/// 10 ms.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// The shortest of three runs.
fn time(packets: &Packets) -> Duration {
    let file = pcap(packets);
    let run = || {
        let begun = processor_time();
        analyze(file.as_slice(), "f", &Options::all()).unwrap();
        processor_time() - begun
    };
    (0..3).map(|_| run()).min().unwrap()
}

/// Four times the packets may cost ten times the time.
fn grows_linearly(make: impl Fn(u32) -> Packets, packets: u32) {
    let small = time(&make(packets));
    let large = time(&make(4 * packets));
    assert!(
        large <= small * 10 + Duration::from_millis(20),
        "{small:?} for {packets}, {large:?} for four times as many"
    );
}

fn numbered(count: u32, mut segment: impl FnMut(u32) -> Segment) -> Packets {
    (0..count).map(|i| (u64::from(i) * 10, segment(i).bytes())).collect()
}

#[test]
fn endless_reordering() {
    // Blocks of 1,000 segments, each block backwards.
    let backwards = |count| {
        numbered(count, |i| Segment::data((i / 1_000 * 1_000 + 999 - i % 1_000) * 10 + 1, 10))
    };
    grows_linearly(backwards, 10_000);
    // Every other segment first, then the rest from far behind.
    grows_linearly(
        |count| numbered(count, |i| Segment::data(((i * 2) % count + i * 2 / count) * 10 + 1, 10)),
        10_000,
    );
}

#[test]
fn a_flow_for_every_packet() {
    let flows = |count: u32| {
        numbered(count, |_| Segment::data(1, 10))
            .into_iter()
            .enumerate()
            .map(|(i, (us, mut bytes))| {
                bytes[12..16].copy_from_slice(&(i as u32).to_be_bytes());
                (us, bytes)
            })
            .collect()
    };
    grows_linearly(flows, 20_000);
    let analysis = analysed(&flows(50_000));
    assert_eq!(analysis.flows.len() as u64 + analysis.unlisted_flows, 50_000);
    assert_eq!(analysis.flows.len(), 10_000, "the others are counted");
}

#[test]
fn overlapping_sack_blocks() {
    // A window of segments, then acknowledgements whose blocks cover all of it, shifted by a byte
    // each time.
    let blocks = |count: u32| {
        let mut packets = numbered(count, |i| Segment::data(i * 10 + 1, 10));
        let acks = numbered(count, |i| {
            Segment::ack(1).sack(&[
                (11 + i % 7, count * 10 - i % 5),
                (21, 31 + i),
                (15 + i, count * 10),
            ])
        });
        packets.extend(acks.into_iter().map(|(us, bytes)| (us + u64::from(count) * 10, bytes)));
        packets
    };
    grows_linearly(blocks, 5_000);
}

#[test]
fn a_wrap_around_and_a_far_jump_at_every_packet() {
    grows_linearly(
        |count| numbered(count, |i| Segment::data(i.wrapping_mul(0x3fff_fff0), 100)),
        10_000,
    );
    grows_linearly(
        |count| numbered(count, |i| Segment::data(i.wrapping_mul(0x8000_0000), 100)),
        10_000,
    );
    let analysis = analysed(&numbered(1_000, |i| Segment::data(i.wrapping_mul(0x8000_0000), 100)));
    assert_eq!(analysis.flows[0].losses.len(), 0, "a jump is no loss");
}

#[test]
fn a_gap_of_thousands_of_packets_at_every_packet() {
    let gaps = |count| numbered(count, |i| Segment::data(i.wrapping_mul(4_000 * 10), 10));
    grows_linearly(gaps, 500);
    let flow = &analysed(&gaps(500)).flows[0];
    assert_eq!(flow.losses.len(), 100_000, "no more are listed");
    assert_eq!(flow.losses.len() as u64 + flow.unlisted_losses, 499 * 3_999);
}

#[test]
fn tiny_fragments_and_merged_giants() {
    let fragments = |count: u32| {
        let mut packets = numbered(count, |i| Segment::data(i * 8 + 1, 8));
        packets.iter_mut().for_each(|(_, bytes)| bytes[6] |= 0x20);
        packets
    };
    assert_eq!(analysed(&fragments(10_000)).fragments, 10_000);
    // Segments of 60 kB behind a maximum segment size of 1 byte.
    let giants = |count: u32| {
        let syn = Segment { flags: 2 | ACK, options: vec![2, 4, 0, 1], ..Segment::ack(1) };
        let mut packets = vec![(0, syn.bytes())];
        packets.extend(numbered(count, |i| Segment::data(1 + i * 60_000, 60_000)));
        packets
    };
    grows_linearly(giants, 200);
}

#[test]
fn a_stream_that_loses_every_other_packet_and_one_that_jumps() {
    grows_linearly(
        |count| (0..count).map(|i| (u64::from(i) * 100, rtp((i * 2) as u16, i, 50))).collect(),
        10_000,
    );
    grows_linearly(
        |count| (0..count).map(|i| (u64::from(i) * 100, rtp((i * 9_000) as u16, i, 50))).collect(),
        10_000,
    );
}

/// A packet of ESP.
fn esp(spi: u32, number: u32) -> Vec<u8> {
    let ip = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 50, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    [&ip[..], &spi.to_be_bytes(), &number.to_be_bytes()].concat()
}

#[test]
fn a_tunnel_for_every_packet_and_one_that_jumps() {
    let packets = |count: u32, packet: fn(u32) -> Vec<u8>| -> Packets {
        (0..count).map(|i| (u64::from(i) * 100, packet(i))).collect()
    };
    grows_linearly(|count| packets(count, |i| esp(256 + i, i)), 5_000);
    // Four packets in a row, then a gap of 10,000.
    let jumps = |count| packets(count, |i| esp(256, (i / 4).wrapping_mul(10_000) + i % 4));
    grows_linearly(jumps, 500);
    let flow = &analysed(&jumps(400)).flows[0];
    assert_eq!((flow.losses.len(), flow.lost()), (100_000, 99 * 9_996), "no more are listed");
    // Backwards, and far.
    grows_linearly(
        |count| packets(count, |i| esp(256, (i / 4).wrapping_mul(3_000_000_000) + i % 4)),
        2_000,
    );
}

#[test]
fn a_packet_that_claims_gigabytes_is_not_millions_of_packets() {
    let mut packets = numbered(3, |i| Segment::data(1 + i * 1_000, 1_000));
    packets.iter_mut().for_each(|(_, bytes)| bytes[2..4].fill(0)); // No length in the IP header: offload.
    let mut file = pcap(&packets);
    file[24 + 12..24 + 16].fill(0xff); // The first record's original length.
    let analysis = analyze(file.as_slice(), "f", &Options::all()).unwrap();
    assert!(
        analysis.flows[0].offload && analysis.flows[0].bytes < 1 << 20,
        "{}",
        analysis.flows[0].bytes
    );
}
