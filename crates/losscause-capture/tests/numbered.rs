//! Streams whose packets are numbered in clear: what a gap shows at one end, and what both ends
//! show together.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use common::{analysed, pcap, pcap_of, rtp};
use losscause::Verdict;
use losscause_capture::packet::Unread;
use losscause_capture::{
    Analysis, Evidence, Flow, JoinError, Options, Protocol, Vantage, analyze_both, annotate, share,
};

/// A packet of 10.0.0.1 to 10.0.0.2, or back.
fn ip(protocol: u8, from_first: bool, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len() as u16).to_be_bytes();
    let ends: [u8; 8] =
        if from_first { [10, 0, 0, 1, 10, 0, 0, 2] } else { [10, 0, 0, 2, 10, 0, 0, 1] };
    [&[0x45, 0][..], &length, &[0, 0, 0, 0, 64, protocol, 0, 0], &ends, payload].concat()
}

fn udp(port: u16, from_first: bool, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    ip(
        17,
        from_first,
        &[&port.to_be_bytes()[..], &port.to_be_bytes(), &length, &[0, 0], payload].concat(),
    )
}

fn wireguard(index: u32, counter: u64) -> Vec<u8> {
    udp(
        51_820,
        true,
        &[&[4, 0, 0, 0][..], &index.to_le_bytes(), &counter.to_le_bytes(), &[0xa5; 112]].concat(),
    )
}

fn esp(spi: u32, number: u32) -> Vec<u8> {
    ip(50, true, &[&spi.to_be_bytes()[..], &number.to_be_bytes(), &[0xa5; 96]].concat())
}

fn esp_in_udp(spi: u32, number: u32) -> Vec<u8> {
    udp(4_500, true, &[&spi.to_be_bytes()[..], &number.to_be_bytes(), &[0xa5; 96]].concat())
}

/// A message of one packet of SRT.
fn srt(number: u32, stamp_us: u32, is_again: bool) -> Vec<u8> {
    let flags = 0b11 << 30 | u32::from(is_again) << 26 | (number % 1_000 + 1);
    let words = [number, flags, stamp_us, 42];
    let header: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    udp(9_000, true, &[&header[..], &[0x47; 188]].concat())
}

fn only_flow(analysis: &Analysis) -> &Flow {
    let [flow] = &analysis.flows[..] else { panic!("{:?}", analysis.flows) };
    flow
}

fn lost(flow: &Flow) -> Vec<u64> {
    let mut lost: Vec<u64> = flow.losses.iter().map(|loss| loss.seq).collect();
    lost.sort_unstable();
    lost
}

/// The ways to number packets: what carries them, which stream it is, and the packet with a number.
type Way = (Protocol, u32, fn(u32) -> Vec<u8>);
const WAYS: [Way; 4] = [
    (Protocol::WireGuard, 0x0102_0304, |number| wireguard(0x0102_0304, number.into())),
    (Protocol::Esp, 0xc001_0001, |number| esp(0xc001_0001, number)),
    (Protocol::Esp, 0xc001_0002, |number| esp_in_udp(0xc001_0002, number)),
    (Protocol::Srt, 42, |number| srt(number, number * 1_000, false)),
];

/// Packets with these numbers, one a millisecond.
fn numbered(
    packet: fn(u32) -> Vec<u8>,
    numbers: impl IntoIterator<Item = u32>,
) -> Vec<(u64, Vec<u8>)> {
    numbers.into_iter().zip(1..).map(|(number, ms)| (ms * 1_000, packet(number))).collect()
}

#[test]
fn a_gap_in_numbers_is_a_loss_a_late_packet_or_copy_is_not() {
    for (protocol, stream, packet) in WAYS {
        let mut numbers: Vec<u32> =
            (10..210).filter(|number| ![50, 51, 120].contains(number)).collect();
        let late = numbers.iter().position(|number| *number == 150).unwrap();
        numbers.swap(late, late + 2);
        numbers.insert(180, numbers[178]);
        let analysis = analysed(&pcap(&numbered(packet, numbers)));
        let flow = only_flow(&analysis);
        assert_eq!((flow.protocol, flow.stream, flow.ssrc), (protocol, Some(stream), None));
        assert_eq!((flow.vantage, flow.packets), (Vantage::Receiver, 198), "{protocol:?}");
        assert_eq!(lost(flow), [50, 51, 120], "{protocol:?}");
        assert!(
            flow.losses.iter().all(|loss| loss.evidence == Evidence::Gap && loss.frame.is_some())
        );
        assert_eq!((flow.reordered, flow.duplicates), (2, 1), "{protocol:?}");
        assert_eq!(analysis.unread.total(), 0, "{protocol:?}");
        let says_time = protocol == Protocol::Srt;
        assert_eq!(flow.queueing.is_some(), says_time, "{protocol:?}");
        assert_eq!(
            analysis.answer().contains("delays are not known"),
            !says_time,
            "{}",
            analysis.answer()
        );
    }
}

#[test]
fn a_stream_that_was_captured_twice_is_one() {
    for (protocol, _, packet) in WAYS {
        let numbers = (10..210)
            .filter(|number| ![50, 120].contains(number))
            .flat_map(|number| [number, number]);
        let analysis = analysed(&pcap(&numbered(packet, numbers)));
        let flow = only_flow(&analysis);
        assert_eq!((flow.protocol, lost(flow)), (protocol, vec![50, 120]));
        assert!(
            analysis.notes().iter().any(|note| note.contains("packets are here twice")),
            "{protocol:?}"
        );
    }
}

#[test]
fn no_missing_number_does_not_mean_that_no_packet_was_lost() {
    for (protocol, _, packet) in WAYS {
        let analysis = analysed(&pcap(&numbered(packet, 10..210)));
        assert_eq!(only_flow(&analysis).vantage, Vantage::Unknown, "{protocol:?}");
        let answer = analysis.answer();
        assert!(
            answer.starts_with("Whether ") && answer.contains("the capture does not show."),
            "{answer}"
        );
        assert!(answer.contains("the other end's would tell"), "{answer}");
        let of_flow = only_flow(&analysis).answer();
        assert_eq!(of_flow, "Whether a data packet was lost, the capture does not show.");
    }
    // A call's receiver is likely, but as little shown.
    let call: Vec<_> =
        (0..200).map(|k| (20_000 * u64::from(k), rtp(k, 160 * u32::from(k), 20))).collect();
    let analysis = analysed(&pcap(&call));
    assert_eq!(only_flow(&analysis).answer(), "No data packet is missing.");
    assert_eq!(analysis.answer(), "No data packet of 1 flow is missing.");
}

#[test]
fn the_capture_says_at_which_end_a_stream_without_gaps_was_seen() {
    // Linux's cooked capture: 0 is to this host, 4 by this host.
    let cooked = |kind: u8| {
        let head = [&[0, kind][..], &[0; 12], &[8, 0]].concat();
        let packets = numbered(|number| wireguard(7, number.into()), 0..100);
        let packets: Vec<_> =
            packets.into_iter().map(|(us, packet)| (us, [&head[..], &packet].concat())).collect();
        analysed(&pcap_of(113, &packets))
    };
    let received = cooked(0);
    assert_eq!(only_flow(&received).vantage, Vantage::Receiver);
    assert!(received.answer().starts_with("No "), "{}", received.answer());
    let sent = cooked(4);
    assert_eq!(only_flow(&sent).vantage, Vantage::Sender);
    assert!(sent.answer().starts_with("Whether "), "{}", sent.answer());
}

#[test]
fn the_next_session_is_another_stream_and_loses_nothing() {
    let packets = (0..100).map(|k| wireguard(7, k)).chain((0..100).map(|k| wireguard(8, k)));
    let packets: Vec<_> = packets.zip(1..).map(|(packet, ms)| (ms * 1_000, packet)).collect();
    let analysis = analysed(&pcap(&packets));
    let streams: Vec<_> = analysis
        .flows
        .iter()
        .map(|flow| (flow.stream, flow.losses.len(), flow.renumbered))
        .collect();
    assert_eq!(streams, [(Some(7), 0, 0), (Some(8), 0, 0)]);
}

#[test]
fn a_burst_that_was_lost_is_lost_whatever_the_rate_was_before() {
    // Ten packets a second, then 500 numbers more within 0.1 s: a session that encrypts never
    // begins anew.
    let numbers = (0..100).chain([600, 601, 602]);
    let packets: Vec<_> =
        numbers.zip(1..).map(|(number, k)| (k * 100_000, wireguard(7, number))).collect();
    let analysis = analysed(&pcap(&packets));
    let flow = only_flow(&analysis);
    assert_eq!((flow.losses.len(), flow.renumbered), (500, 0));
}

#[test]
fn a_gap_of_a_million_numbers_is_counted_and_listed_in_part() {
    for jump in [5_000_u32, 1_000_000] {
        let packets: Vec<_> = (0..100).chain([100 + jump, 101 + jump]).zip(1..).collect();
        let packets: Vec<_> =
            packets.into_iter().map(|(number, ms)| (ms * 1_000, esp(0x1000, number))).collect();
        let analysis = analysed(&pcap(&packets));
        let flow = only_flow(&analysis);
        assert_eq!((flow.lost(), flow.losses.len()), (u64::from(jump), 4_096));
    }
}

#[test]
fn numbers_begin_again_without_a_loss() {
    const WRAP: u32 = 1 << 31;
    let numbers: Vec<u32> =
        (0..200).map(|k| (WRAP - 100 + k) % WRAP).filter(|number| *number != 5).collect();
    // SRT's message numbers follow the packets'.
    let packet = |number: u32| {
        let k = (number + 100) % WRAP;
        let words = [number, 0b11 << 30 | (k + 1), k * 1_000, 42];
        let header: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        udp(9_000, true, &[&header[..], &[0x47; 188]].concat())
    };
    let analysis = analysed(&pcap(&numbered(packet, numbers)));
    assert_eq!(lost(only_flow(&analysis)), [5]);
}

#[test]
fn what_srt_sends_again_was_lost_on_either_side_of_the_capture() {
    let sent: Vec<(u64, Vec<u8>)> = (0..200)
        .flat_map(|k: u32| {
            let packet = (u64::from(k) * 1_000 + 1, srt(k, k * 1_000, false));
            // The report of the loss comes 40 ms later.
            let again = [60, 110]
                .contains(&k)
                .then(|| (u64::from(k) * 1_000 + 2, srt(k - 40, (k - 40) * 1_000, true)));
            [Some(packet), again].into_iter().flatten()
        })
        .collect();
    let at_sender = analysed(&pcap(&sent));
    let flow = only_flow(&at_sender);
    assert_eq!((flow.vantage, flow.sent_again, lost(flow)), (Vantage::Sender, 2, vec![20, 70]));
    assert!(
        flow.losses
            .iter()
            .all(|loss| loss.evidence == Evidence::FastRetransmit && loss.frame_again.is_some())
    );
    let mut arrived = sent.clone();
    arrived.remove(20);
    arrived.remove(70);
    let at_receiver = analysed(&pcap(&arrived));
    let flow = only_flow(&at_receiver);
    assert_eq!((flow.vantage, flow.reordered, lost(flow)), (Vantage::Receiver, 0, vec![20, 70]));
    assert!(
        flow.losses.iter().all(|loss| loss.evidence == Evidence::Gap && loss.frame_again.is_some())
    );
    let both =
        analyze_both((&pcap(&sent)[..], "s"), (&pcap(&arrived)[..], "r"), &Options::all()).unwrap();
    assert_eq!(lost(only_flow(&both.both)), [20, 70]);
    let alone = only_flow(&both.both).alone.unwrap();
    assert_eq!((alone.sender.found, alone.receiver.found), (2, 2));
}

/// A path whose queue fills and empties every 200 packets: its trip in microseconds, of packet `k`.
fn trip_us(k: u64) -> u64 {
    20_000 + 500 * (k % 200).min(200 - k % 200)
}

/// Packets at both ends: one in 200 is lost at a full queue, some others at an empty one. The
/// receiver's clock is an hour ahead.
fn both_ends(packet: impl Fn(u64) -> Vec<u8>) -> (Vec<u8>, Vec<u8>, Vec<u64>, Vec<u64>) {
    let queue: Vec<u64> = (0..20).map(|k| 200 * k + 100).collect();
    let air: Vec<u64> = (0..20).map(|k| 200 * k + 5).collect();
    let sent: Vec<_> = (0..4_000).map(|k| (2_000 * k, packet(k))).collect();
    let passes = |k: &u64| !queue.contains(k) && !air.contains(k);
    let arrived: Vec<_> = (0..4_000)
        .filter(passes)
        .map(|k| (3_600_000_000 + 2_000 * k + trip_us(k), packet(k)))
        .collect();
    (pcap(&sent), pcap(&arrived), queue, air)
}

#[test]
fn two_captures_of_a_stream_without_timestamps_tell_its_delays() {
    for (name, packet) in [
        ("WireGuard", (|k| wireguard(7, k)) as fn(u64) -> Vec<u8>),
        ("ESP", |k| esp(0x1000, k as u32)),
    ] {
        let (sent, arrived, queue, air) = both_ends(packet);
        let joined = analyze_both((&sent[..], "s"), (&arrived[..], "r"), &Options::all()).unwrap();
        let flow = only_flow(&joined.both);
        assert_eq!(flow.vantage, Vantage::Both, "{name}");
        let mut known = [queue.clone(), air.clone()].concat();
        known.sort_unstable();
        assert_eq!(lost(flow), known, "{name}");
        let spike = |of: &[u64], verdict| {
            let judged = flow.losses.iter().filter(|loss| of.contains(&loss.seq));
            judged.filter(|loss| loss.verdicts.of("spike@receiver") == Some(verdict)).count()
        };
        assert!(
            spike(&queue, Verdict::Congestion) >= 18,
            "{name}: {:?}",
            flow.summary["spike@receiver"]
        );
        assert!(
            spike(&air, Verdict::Wireless) >= 18,
            "{name}: {:?}",
            flow.summary["spike@receiver"]
        );
        let queueing = flow.queueing.unwrap();
        assert!(
            (20.0..30.0).contains(&queueing.p50_ms) && (44.0..50.0).contains(&queueing.p95_ms),
            "{queueing:?}"
        );
        assert_eq!(flow.alone.unwrap().receiver.found, known.len() as u64, "{name}");
        let alone = only_flow(&joined.receiver);
        assert!(alone.queueing.is_none(), "{name}: alone it does not");
        // The frames of both: the lost packet's at the sender, the next one's at the receiver.
        let first = flow.losses.iter().find(|loss| loss.seq == 100).unwrap();
        assert_eq!((first.frame, first.frame_at_receiver), (Some(101), Some(100)), "{name}");
        assert!(matches!(
            analyze_both((&arrived[..], "r"), (&sent[..], "s"), &Options::all()),
            Err(JoinError::Swapped)
        ));
    }
}

#[test]
fn other_datagrams_are_no_streams() {
    let mut noise = 1_u64;
    let mut random = || {
        noise =
            noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 33) as u32
    };
    let mut packets = Vec::new();
    for k in 0..2_000_u32 {
        let payload: Vec<u8> = (0..100).flat_map(|_| random().to_be_bytes()).collect();
        packets.push(udp(9_000, true, &payload));
        packets.push(udp(4_500, true, &[&[0; 4][..], &k.to_be_bytes(), &payload].concat()));
        // A counter alone, as iperf's datagrams have it.
        packets.push(udp(
            5_001,
            true,
            &[&k.to_be_bytes()[..], &7_u32.to_be_bytes(), &[0; 100]].concat(),
        ));
        // WireGuard's first byte, without its zeros.
        packets.push(udp(
            51_820,
            true,
            &[&[4, 1, 0, 0, 7, 0, 0, 0][..], &u64::from(k).to_le_bytes(), &[0; 80]].concat(),
        ));
    }
    let packets: Vec<_> =
        packets.into_iter().zip(1..).map(|(packet, ms)| (ms * 100, packet)).collect();
    let analysis = analysed(&pcap(&packets));
    assert!(analysis.has_no_flow(), "{:?}", analysis.flows);
    assert_eq!(analysis.unread.total(), 8_000);
}

#[test]
fn a_shared_or_annotated_capture_still_shows_a_streams_losses() {
    let options = Options::all();
    for (protocol, _, packet) in WAYS {
        let file = pcap(&numbered(packet, (10..210).filter(|number| *number != 50)));
        let analysis = analysed(&file);
        let mut shared = Vec::new();
        let told = share(&file[..], &analysis, &options, 1, &mut shared).unwrap();
        assert_eq!((told.written, told.left_out), (199, 0), "{protocol:?}");
        let again = analysed(&shared);
        assert_eq!((again.flows.len(), lost(&again.flows[0])), (1, vec![50]), "{protocol:?}");
        assert_eq!(again.flows[0].protocol == Protocol::Esp, protocol == Protocol::Esp);
        assert!(!shared.windows(8).any(|window| window == [0xa5; 8]), "{protocol:?}: payload");
        let mut annotated = Vec::new();
        assert_eq!(annotate(&file[..], &analysis, &mut annotated).unwrap(), 1, "{protocol:?}");
    }
}

#[test]
fn encrypted_reports_are_rtcp_beside_rtp_only() {
    // A sender's report whose blocks are encrypted, with a trailer and a tag.
    let mut secured = [&[0x80, 200, 0, 6][..], &[9; 38]].concat();
    secured[20] = 0xfe;
    let reports = |count: u64| -> Vec<(u64, Vec<u8>)> {
        (0..count).map(|k| (1_000_000 * k + 7, udp(5_003, true, &secured))).collect()
    };
    let stream: Vec<_> =
        (0..200_u16).map(|k| (20_000 * u64::from(k), rtp(k, 160 * u32::from(k), 20))).collect();
    let unread = |packets: &[(u64, Vec<u8>)]| {
        let mut packets = packets.to_vec();
        packets.sort();
        let unread = analysed(&pcap(&packets)).unread;
        (unread.of(Unread::Rtcp), unread.of(Unread::Udp))
    };
    assert_eq!(unread(&[stream, reports(3)].concat()), (3, 0));
    assert_eq!(unread(&reports(3)), (0, 3));
}
