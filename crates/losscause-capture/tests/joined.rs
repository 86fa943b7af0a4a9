//! Two captures of one transfer: the joined losses are what the path dropped.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::net::{Ipv4Addr, SocketAddrV4};

use losscause::{Span, Time, Verdict};
use losscause_capture::write::{Packet, PcapWriter, Rtp, Tcp, TcpFlags, Transport};
use losscause_capture::{Evidence, Flow, JoinError, Joined, Options, Vantage, analyze_both};
use proptest::prelude::*;

const SENDER: &[u8] = include_bytes!("captures/sender.pcap.gz");
const RECEIVER: &[u8] = include_bytes!("captures/receiver.pcap.gz");
const DROPS: &str = include_str!("captures/drops.csv");

fn join(sender: &[u8], receiver: &[u8]) -> Result<Joined, JoinError> {
    analyze_both((sender, "sender.pcap"), (receiver, "receiver.pcap"), &Options::all())
}

fn only_flow(sender: &[u8], receiver: &[u8]) -> Flow {
    let mut flows = join(sender, receiver).unwrap().both.flows;
    assert_eq!(flows.len(), 1);
    flows.remove(0)
}

fn at(ms: i64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A packet of the flow that the tests write.
fn packet(id: u16, transport: Transport, payload_bytes: u16) -> Packet {
    Packet {
        source: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 40_000),
        destination: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 5_001),
        id,
        time_to_live: 64,
        ecn: 0,
        transport,
        payload_bytes,
    }
}

fn data(id: u16, sequence: u32, bytes: u16, stamp: Option<u32>) -> Packet {
    let flags = TcpFlags { ack: true, ..TcpFlags::default() };
    let timestamps = stamp.map(|stamp| (stamp, 1));
    packet(
        id,
        Transport::Tcp(Tcp { sequence, flags, timestamps, window: 100, ..Tcp::default() }),
        bytes,
    )
}

fn acknowledgement(of: u32) -> Packet {
    let flags = TcpFlags { ack: true, ..TcpFlags::default() };
    let tcp = Tcp { sequence: 1, acknowledgement: of, flags, window: 100, ..Tcp::default() };
    let there = packet(1, Transport::Tcp(tcp), 0);
    Packet { source: there.destination, destination: there.source, ..there }
}

/// The SYN of the receiver of the data, which names the largest segment that it takes.
fn syn(max_segment_bytes: u16) -> Packet {
    let flags = TcpFlags { syn: true, ack: true, ..TcpFlags::default() };
    let tcp =
        Tcp { flags, window: 100, max_segment_bytes: Some(max_segment_bytes), ..Tcp::default() };
    let there = packet(1, Transport::Tcp(tcp), 0);
    Packet { source: there.destination, destination: there.source, ..there }
}

fn rtp(id: u16, sequence: u16) -> Packet {
    let rtp = Rtp { sequence, timestamp: u32::from(sequence) * 1_800, source: 7, payload_type: 96 };
    packet(id, Transport::Rtp(rtp), 100)
}

fn file(packets: &[(Time, Packet)]) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), 128).unwrap();
    packets.iter().for_each(|(time, packet)| writer.write(*time, packet).unwrap());
    writer.into_inner()
}

/// The sequence number and time of each loss, milliseconds.
fn losses(flow: &Flow) -> Vec<(u64, i64)> {
    let mut losses: Vec<_> =
        flow.losses.iter().map(|loss| (loss.seq, (loss.time_s * 1e3).round() as i64)).collect();
    losses.sort_unstable();
    losses
}

#[test]
fn of_a_real_transfer_the_joined_losses_are_the_logged_drops() {
    let flow = only_flow(SENDER, RECEIVER);
    let mut dropped: Vec<u64> = DROPS
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap().parse().unwrap())
        .collect();
    dropped.sort_unstable();
    let mut lost: Vec<u64> = flow.losses.iter().map(|loss| loss.seq).collect();
    lost.sort_unstable();
    assert_eq!(lost, dropped);
    assert!(flow.losses.iter().all(|loss| loss.evidence == Evidence::Known && loss.packets == 1));
    assert_eq!((flow.vantage, flow.capture_drops), (Vantage::Both, 0));
}

#[test]
fn each_capture_alone_is_held_against_the_known_losses() {
    let flow = only_flow(SENDER, RECEIVER);
    let alone = flow.alone.unwrap();
    // 48 drops. The sender's capture ends before the last is repaired; a receiver cannot see a
    // retransmission's loss.
    assert_eq!((alone.sender.found, alone.sender.missed, alone.sender.others), (47, 1, 0));
    assert_eq!((alone.receiver.found, alone.receiver.missed, alone.receiver.others), (47, 1, 0));
}

#[test]
fn every_loss_has_the_verdicts_of_both_ends() {
    let joined = join(SENDER, RECEIVER).unwrap();
    let flow = &joined.both.flows[0];
    let at_receiver = joined.receiver.flows[0].recommended.as_ref().unwrap();
    assert_eq!(
        flow.recommended,
        Some(format!("{at_receiver}@receiver")),
        "the receiver's, as both found as many"
    );
    for (end, alone) in [("sender", &joined.sender), ("receiver", &joined.receiver)] {
        let both = flow.summary[&format!("spike@{end}")];
        let one = alone.flows[0].summary["spike"];
        assert_eq!((both.wireless, both.congestion), (one.wireless, one.congestion), "{end}");
        assert_eq!(both.undecided, one.undecided + 1, "{end}: the loss that it missed");
    }
    assert!(flow.not_applicable["vegas-buffer@receiver"].contains("runs at a sender"));
    assert!(
        flow.losses[0]
            .verdicts
            .of("zbs@sender")
            .is_some_and(|verdict| verdict != Verdict::Undecided)
    );
}

#[test]
fn acknowledged_data_that_its_capture_lacks_is_no_loss() {
    let sent: Vec<_> = (0..6).map(|i| (at(i), data(0, 1_000 * i as u32, 1_000, None))).collect();
    let mut arrived: Vec<_> =
        sent.iter().map(|(time, packet)| (*time + Span::from_secs(500), *packet)).collect();
    arrived.remove(3);
    arrived.push((at(500_010), acknowledgement(6_000)));
    let flow = only_flow(&file(&sent), &file(&arrived));
    assert_eq!((losses(&flow), flow.capture_drops), (vec![], 1));
}

#[test]
fn only_what_lies_between_common_packets_is_known() {
    // The receiver's capture begins with the fourth packet and ends with the seventh; the sixth is
    // lost.
    let sent: Vec<_> = (0..10).map(|i| (at(i), data(0, 1_000 * i as u32, 1_000, None))).collect();
    let arrived: Vec<_> = [3, 4, 6].iter().map(|&i| (at(20 + i), sent[i as usize].1)).collect();
    assert_eq!(losses(&only_flow(&file(&sent), &file(&arrived))), [(5_000, 5)]);
}

#[test]
fn order_and_trips_tell_which_unidentified_copy_was_lost() {
    // The last packet is lost three times; the clocks are an hour apart.
    let packet = |seq| data(0, seq, 1_000, None);
    let sent =
        [(0, 0), (1, 1_000), (2, 2_000), (50, 2_000), (150, 2_000), (350, 2_000), (351, 3_000)];
    let arrived = [(0, 0), (1, 1_000), (353, 2_000), (352, 3_000)];
    let write = |list: &[(i64, u32)], offset| {
        file(&list.iter().map(|&(ms, seq)| (at(ms + offset), packet(seq))).collect::<Vec<_>>())
    };
    let flow = only_flow(&write(&sent, 0), &write(&arrived, 3_600_020));
    assert_eq!(losses(&flow), [(2_000, 2), (2_000, 50), (2_000, 150)]);
}

#[test]
fn captures_without_a_common_flow_and_swapped_ones_are_refused() {
    let sent: Vec<_> = (0..6).map(|i| (at(i), data(0, 1_000 * i as u32, 1_000, None))).collect();
    let refused = join(SENDER, &file(&sent)).unwrap_err();
    assert!(matches!(refused, JoinError::NoCommonFlow), "{refused}");
    let refused = join(RECEIVER, SENDER).unwrap_err();
    assert!(matches!(refused, JoinError::Swapped), "{refused}");
    assert!(matches!(join(b"", SENDER), Err(JoinError::Sender(_))));
    assert!(matches!(join(SENDER, b"no capture"), Err(JoinError::Receiver(_))));
}

/// A packet that is sent the other way.
fn back(packet: Packet) -> Packet {
    Packet { source: packet.destination, destination: packet.source, ..packet }
}

#[test]
fn what_one_capture_missed_is_no_sign_of_the_wrong_order() {
    let sent: Vec<_> =
        (0..20).map(|i| (at(5 * i), data(0, 1_000 * i as u32, 1_000, None))).collect();
    let arrived: Vec<_> =
        sent.iter().map(|(time, packet)| (*time + Span::from_secs(9), *packet)).collect();
    let missed: Vec<_> = sent
        .iter()
        .enumerate()
        .filter(|(i, _)| ![4, 11].contains(i))
        .map(|(_, sent)| *sent)
        .collect();
    let flow = only_flow(&file(&missed), &file(&arrived));
    assert_eq!((losses(&flow), flow.capture_drops), (vec![], 2));
    // The network may double a packet, and a capture all of them.
    let doubled: Vec<_> = arrived.iter().flat_map(|arrived| [*arrived; 2]).collect();
    assert_eq!(losses(&only_flow(&file(&sent), &file(&doubled))), []);
}

#[test]
fn data_that_flow_back_in_a_connection_are_joined_in_reverse() {
    let there: Vec<_> =
        (0..50).map(|i| (at(10 * i), data(0, 1_000 * i as u32, 1_000, None))).collect();
    // Of five answers the second is lost once, and sent again 200 ms later.
    let answers = [(5, 0), (105, 1), (205, 2), (305, 1), (405, 3), (425, 4)];
    let answer = |&(ms, i): &(i64, u32)| (at(ms), back(data(0, 100 * i, 100, None)));
    let sent: Vec<_> = answers.iter().map(answer).collect();
    let [mut first, mut second] = [there.clone(), there];
    first.extend(sent.iter().enumerate().filter(|(i, _)| *i != 1).map(|(_, sent)| *sent));
    second.extend(sent);
    let order = |packets: &mut Vec<(Time, Packet)>| packets.sort_by_key(|packet| packet.0);
    [&mut first, &mut second].into_iter().for_each(order);
    let joined = join(&file(&first), &file(&second)).unwrap();
    let flows: Vec<_> = joined.both.flows.iter().map(|flow| (flow.packets, losses(flow))).collect();
    assert_eq!(flows, [(6, vec![(100, 105)]), (50, vec![])]);
}

#[test]
fn a_streams_order_may_be_wrong_if_the_receivers_file_has_more() {
    let sent: Vec<_> = (0..50).map(|i| (at(20 * i), rtp(0, i as u16))).collect();
    let arrived: Vec<_> =
        sent.iter().enumerate().filter(|(i, _)| *i != 20).map(|(_, sent)| *sent).collect();
    assert_eq!(losses(&only_flow(&file(&sent), &file(&arrived))), [(20, 400)]);
    let answer = join(&file(&arrived), &file(&sent)).unwrap().both.answer();
    assert!(
        answer.starts_with("Whether a data packet of 1 flow was lost, the capture does not show."),
        "{answer}"
    );
    assert!(answer.contains("or the captures are in the wrong order"), "{answer}");
}

/// Bytes of a full packet.
const FULL: u32 = 1_000;
/// A lost packet is sent again after so many milliseconds.
const AGAIN_MS: i64 = 12;
/// By how much the receiver's clock is ahead, milliseconds.
const AHEAD_MS: i64 = 777_000;

/// How a transfer looks in the captures.
#[derive(Clone, Copy, Debug)]
struct Look {
    stamps: bool,
    ids: bool,
    /// Packets that the sender hands to its card in one segment.
    cut: usize,
    /// Packets that the receiver's card merges.
    merged: usize,
    first_seq: u32,
}

/// A transfer of `packets`; `fates` says of each transmission whether it is dropped and how many
/// milliseconds late it arrives. Returns both captures and the drops between common packets.
fn transfer(
    look: Look,
    packets: usize,
    fates: &[(bool, i64)],
) -> (Vec<u8>, Vec<u8>, Vec<(u64, i64)>) {
    let mut fates = fates.iter().copied().chain(std::iter::repeat((false, 0)));
    let mut sent = Vec::new();
    let mut arrived = Vec::new();
    let mut dropped = Vec::new();
    let mut again: Vec<(i64, usize)> = Vec::new();
    let mut next = 0;
    let mut id = 1_u16;
    for now in 0_i64.. {
        let due = again.iter().position(|&(due, _)| due <= now).map(|place| again.remove(place).1);
        let segment = match due {
            Some(packet) => packet..packet + 1,
            None if next < packets => next..(next + look.cut).min(packets),
            None if again.is_empty() => break,
            None => continue,
        };
        next = next.max(segment.end);
        let seq = |packet: usize| look.first_seq.wrapping_add(packet as u32 * FULL);
        let stamp = look.stamps.then_some(now as u32);
        let shown = |id: u16| if look.ids { id } else { 0 };
        sent.push((
            at(now),
            data(shown(id), seq(segment.start), (segment.len() as u32 * FULL) as u16, stamp),
        ));
        for packet in segment {
            // The first arrives, so that the flow has a beginning.
            let (is_dropped, late) = fates.next().filter(|_| packet > 0).unwrap_or((false, 0));
            let late = if look.stamps || look.ids { late } else { 0 };
            if is_dropped {
                dropped.push((u64::from(seq(packet)), now));
                again.push((now + AGAIN_MS, packet));
            } else {
                arrived.push((at(now + late + AHEAD_MS), packet, shown(id), stamp));
            }
            id = id.wrapping_add(1).max(1);
        }
    }
    arrived.sort_by_key(|arrival| arrival.0);
    let merges = |a: &(Time, usize, u16, Option<u32>), b: &(Time, usize, u16, Option<u32>)| {
        a.1 + 1 == b.1 && (a.0, a.3) == (b.0, b.3)
    };
    let runs = arrived.chunk_by(merges).flat_map(|run| run.chunks(look.merged));
    let arrivals: Vec<_> = runs
        .map(|run| {
            let (time, packet, id, stamp) = run[0];
            let seq = look.first_seq.wrapping_add(packet as u32 * FULL);
            (time, data(id, seq, (run.len() as u32 * FULL) as u16, stamp))
        })
        .collect();
    dropped.sort_unstable();
    // If both cards cut or merge, only the handshake tells the size of packets.
    let syn = (at(0), syn(FULL as u16 + if look.stamps { 12 } else { 0 }));
    (file(&[&[syn], &*sent].concat()), file(&[&[syn], &*arrivals].concat()), dropped)
}

fn any_look() -> impl Strategy<Value = Look> {
    let first_seq = prop_oneof![Just(1), Just(u32::MAX - 20_500), any::<u32>()];
    (any::<bool>(), any::<bool>(), 1..8_usize, 1..8_usize, first_seq).prop_map(
        |(stamps, ids, cut, merged, first_seq)| Look { stamps, ids, cut, merged, first_seq },
    )
}

proptest! {
    /// Whatever offload, wrap and clock do. The last packets always arrive, so that every drop lies
    /// between common ones.
    #[test]
    fn joined_losses_are_the_drops_of_tcp(
        look in any_look(),
        fates in prop::collection::vec((prop::bool::weighted(0.15), 0..4_i64), 10..150),
    ) {
        let (sent, arrived, dropped) = transfer(look, fates.len() + 5, &fates);
        let flow = only_flow(&sent, &arrived);
        prop_assert_eq!(losses(&flow), dropped);
        prop_assert_eq!(flow.capture_drops, 0);
        let alone = flow.alone.unwrap();
        prop_assert_eq!(alone.receiver.found + alone.receiver.missed, flow.losses.len() as u64);
    }

    /// Whatever the clocks: a transfer that lost packets is refused in the wrong order.
    #[test]
    fn swapped_captures_of_tcp_are_refused(
        look in any_look(),
        fates in prop::collection::vec((prop::bool::weighted(0.15), 0..4_i64), 10..150),
    ) {
        let (sent, arrived, dropped) = transfer(look, fates.len() + 5, &fates);
        prop_assume!(!dropped.is_empty());
        let refused = join(&arrived, &sent);
        prop_assert!(matches!(refused, Err(JoinError::Swapped)));
    }

    #[test]
    fn joined_losses_are_the_drops_of_rtp(
        first in any::<u16>(),
        fates in prop::collection::vec((prop::bool::weighted(0.15), 0..60_i64), 10..150),
    ) {
        // Every fate holds for a packet; late ones are overtaken. The first and last packets arrive
        // in order.
        let fates: Vec<_> = [(false, 0); 5].into_iter().chain(fates).chain([(false, 0); 5]).collect();
        let mut sent = Vec::new();
        let mut arrived = Vec::new();
        let mut dropped = Vec::new();
        for (index, (is_dropped, late)) in fates.into_iter().enumerate() {
            let seq = first.wrapping_add(index as u16);
            let now = 20 * index as i64;
            sent.push((at(now), rtp(0, seq)));
            if is_dropped {
                dropped.push((u64::from(seq), now));
            } else {
                arrived.push((at(now + late + AHEAD_MS), rtp(0, seq)));
            }
        }
        arrived.sort_by_key(|arrival| arrival.0);
        dropped.sort_unstable();
        let flow = only_flow(&file(&sent), &file(&arrived));
        prop_assert_eq!(losses(&flow), dropped);
    }
}
