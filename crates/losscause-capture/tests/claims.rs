//! What the answer may claim of captures that do not show everything, or that show some of it
//! twice.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use common::{SYN, Segment, pcap, pcap_of};
use losscause_capture::{Analysis, Options, Vantage, analyze, analyze_both};

/// Time in microseconds, IPv4's identification, the segment.
type Captured = (u64, u16, Segment);

const FIN: u8 = 1;
const PAYLOAD: usize = 1_000;
/// The half of a round trip.
const TRIP_US: u64 = 20_000;

fn file(mut packets: Vec<Captured>) -> Vec<u8> {
    packets.sort_by_key(|(us, ..)| *us);
    let with_id = |(us, id, segment): Captured| {
        let mut bytes = segment.bytes();
        bytes[4..6].copy_from_slice(&id.to_be_bytes());
        (us, bytes)
    };
    pcap(&packets.into_iter().map(with_id).collect::<Vec<_>>())
}

fn analysis(packets: Vec<Captured>) -> Analysis {
    analyze(file(packets).as_slice(), "f", &Options::all()).unwrap()
}

fn data(number: u32) -> Segment {
    Segment::data(1 + PAYLOAD as u32 * number, PAYLOAD)
}

fn ack(number: u32) -> Segment {
    Segment::ack(1 + PAYLOAD as u32 * number)
}

/// At which end of a transfer a capture is taken.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Sender,
    Receiver,
}

/// A transfer of `packets` packets, one each millisecond, of which those in `lost` are lost once
/// and sent again after three selective acknowledgements. Identifications count if `counts_ids`.
fn transfer(end: End, packets: u32, lost: &[u32], counts_ids: bool) -> Vec<Captured> {
    let mut captured = Vec::new();
    let mut id = 0_u16;
    let mut pass = |us: u64, segment: Segment, arrives: bool| {
        id += 1;
        let is_near = (end == End::Sender) == segment.from_first;
        if is_near || arrives {
            let us = us + if is_near { 0 } else { TRIP_US };
            captured.push((us, if counts_ids { id } else { 0 }, segment));
        }
    };
    pass(0, Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) }, true);
    pass(TRIP_US, Segment { flags: SYN | 16, seq: 0, ..Segment::ack(1) }, true);
    pass(2 * TRIP_US, Segment::data(1, 0), true);
    let mut sent: Vec<(u64, u32, bool)> = (0..packets)
        .map(|number| (50_000 + 1_000 * u64::from(number), number, !lost.contains(&number)))
        .collect();
    sent.extend(
        lost.iter()
            .map(|&number| (50_300 + 1_000 * u64::from(number + 3) + 2 * TRIP_US, number, true)),
    );
    sent.sort_by_key(|(us, ..)| *us);
    let mut arrived = vec![false; packets as usize];
    for (us, number, arrives) in sent {
        pass(us, data(number), arrives);
        if arrives {
            arrived[number as usize] = true;
            let missing =
                arrived.iter().position(|arrived| !arrived).unwrap_or(packets as usize) as u32;
            let edge = |number: u32| 1 + PAYLOAD as u32 * number;
            let answer = ack(missing);
            let answer = if number > missing {
                answer.sack(&[(edge(number), edge(number + 1))])
            } else {
                answer
            };
            pass(us + TRIP_US, answer, true);
        }
    }
    captured
}

const LOST: [u32; 4] = [20, 50, 51, 80];

#[test]
fn captures_of_both_ends_in_one_file_hold_every_packet_twice() {
    let [sender, receiver] =
        [End::Sender, End::Receiver].map(|end| transfer(end, 100, &LOST, true));
    let analysis = analysis([sender, receiver].concat());
    assert_eq!(analysis.flows[0].lost(), 4, "{}", analysis.answer());
    assert!(!analysis.answer().contains("SYN"), "{}", analysis.answer());
    assert!(
        analysis.notes()[0].starts_with("100 packets are here twice"),
        "{:?}",
        analysis.notes()
    );
}

#[test]
fn copies_at_a_receiver_are_no_losses_without_identification() {
    let once = transfer(End::Receiver, 100, &LOST, false);
    let copies = |of: &dyn Fn(usize) -> usize| {
        let copy = |(place, packet): (usize, &Captured)| {
            (0..of(place))
                .map(|copy| (packet.0 + 3 * copy as u64, packet.1, packet.2.clone()))
                .collect::<Vec<_>>()
        };
        analysis(once.iter().enumerate().flat_map(copy).collect())
    };
    for (analysis, captured) in
        [copies(&|_| 2), copies(&|_| 3), copies(&|place| 1 + usize::from(place % 7 == 0))]
            .into_iter()
            .zip([100, 200, 14])
    {
        let flow = &analysis.flows[0];
        assert_eq!((flow.vantage, flow.lost()), (Vantage::Receiver, 4), "{}", analysis.answer());
        let note = &analysis.notes()[0];
        let count: u64 = note.split(' ').next().unwrap().parse().unwrap();
        assert!(note.contains("here twice") && count.abs_diff(captured) <= 2, "{note}");
        assert!(flow.sent_again <= 4, "{} sent again", flow.sent_again);
    }
}

#[test]
fn a_capture_behind_the_senders_queue_is_not_at_the_sender() {
    // What the queue drops is first seen when it is sent again.
    let first = |number: &u32| 50_000 + 1_000 * u64::from(*number);
    let is_dropped = |us: u64, segment: &Segment| {
        segment.from_first && LOST.iter().any(|number| first(number) == us)
    };
    let mut passed = transfer(End::Sender, 100, &LOST, true);
    passed.retain(|(us, _, segment)| !is_dropped(*us, segment));
    let analysis = analysis(passed);
    let flow = &analysis.flows[0];
    assert_eq!((flow.vantage, flow.lost()), (Vantage::Middle, 4), "{}", analysis.answer());
}

#[test]
fn what_a_router_passes_on_counts_once_however_it_is_cut() {
    const LINUX_SLL: u32 = 113;
    let cooked = |kind: u8, segment: &Segment| {
        let header = [0, kind, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0];
        [&header[..], &segment.bytes()].concat()
    };
    let mut packets = Vec::new();
    for (us, _, segment) in transfer(End::Sender, 100, &LOST, false) {
        packets.push((us, cooked(0, &segment)));
        // On the way out its data are cut in two.
        let half = segment.payload / 2;
        let second = Segment {
            seq: segment.seq + half as u32,
            payload: segment.payload - half,
            ..segment.clone()
        };
        packets.push((us + 20, cooked(4, &Segment { payload: half, ..segment })));
        packets.extend((half > 0).then(|| (us + 21, cooked(4, &second))));
    }
    packets.sort_by_key(|(us, _)| *us);
    let analysis = analyze(pcap_of(LINUX_SLL, &packets).as_slice(), "f", &Options::all()).unwrap();
    let flow = &analysis.flows[0];
    assert_eq!((flow.lost(), flow.sent_again), (4, 4), "{}", analysis.answer());
    assert!(
        analysis.notes()[0].starts_with("208 packets are here twice"),
        "{:?}",
        analysis.notes()
    );
}

#[test]
fn of_merged_segments_no_more_is_lost_than_was_sent() {
    // Segments of ten packets, as a sender with offload hands them down; one is lost whole.
    let mss = |segment: Segment| Segment { options: vec![2, 4, 3, 232], ..segment };
    let syn = mss(Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) });
    let mut packets =
        vec![(0, 1, syn), (40_000, 2, mss(Segment { flags: SYN | 16, seq: 0, ..Segment::ack(1) }))];
    let merged = |number: u32| Segment::data(1 + 10 * PAYLOAD as u32 * number, 10 * PAYLOAD);
    let edge = |number: u32| 1 + 10 * PAYLOAD as u32 * number;
    packets
        .extend((0..5).map(|number| {
            (50_000 + 1_000 * u64::from(number), 10 + number as u16, merged(number))
        }));
    packets.push((90_000, 50, Segment::ack(edge(1))));
    packets.push((93_000, 51, Segment::ack(edge(1)).sack(&[(edge(2), edge(5))])));
    packets.extend([(93_100, 20, merged(1)), (133_100, 52, Segment::ack(edge(5)))]);
    let analysis = analysis(packets);
    let flow = &analysis.flows[0];
    assert_eq!((flow.packets, flow.lost()), (6, 10));
    assert!((flow.lost_share() - 10.0 / 60.0).abs() < 1e-9, "{}", flow.lost_share());
}

#[test]
fn a_senders_incomplete_capture_says_so_and_names_no_cause() {
    let whole = transfer(End::Sender, 400, &LOST, true);
    // A file of a ring buffer is missing: both directions of 100 ms.
    let holed = whole.iter().filter(|(us, ..)| !(200_000..300_000).contains(us)).cloned().collect();
    let most = whole
        .iter()
        .enumerate()
        .filter(|(place, _)| place % 3 > 0)
        .map(|(_, packet)| packet.clone())
        .collect();
    for (capture, holds) in [(holed, "about 75 %"), (most, "about 67 %")] {
        let analysis = analysis(capture);
        let answer = analysis.answer();
        assert!(analysis.flows[0].is_incomplete() && answer.contains(holds), "{answer}");
        assert!(!answer.contains("Clear") && !answer.contains("Likely"), "{answer}");
    }
    let analysis = analysis(whole);
    assert_eq!((analysis.flows[0].capture_drops, analysis.flows[0].lost()), (0, 4));
}

#[test]
fn a_sample_shows_no_losses() {
    // Every fiftieth packet, and hardly an acknowledgement: most gaps are young or never
    // acknowledged.
    let sample = transfer(End::Receiver, 2_000, &LOST, true).into_iter().step_by(51).collect();
    let answer = analysis(sample).answer();
    assert!(
        answer.starts_with("Whether a data packet of 1 flow was lost, the capture does not show."),
        "{answer}"
    );
}

#[test]
fn a_receiver_does_not_claim_that_nothing_was_lost() {
    // A request each second; the third is lost and sent again after 300 ms, which leaves no gap.
    let exchange = |end: End| {
        let mut packets = transfer(end, 1, &[], true);
        for number in 1..10_u32 {
            let sent = 1_000_000 * u64::from(number);
            let tries =
                if number == 3 { vec![(0, false), (300_000, true)] } else { vec![(0, true)] };
            for (after, arrives) in tries {
                let id = 1_000 + 10 * number as u16 + u16::from(arrives);
                let trip = if end == End::Sender { 0 } else { TRIP_US };
                if arrives || end == End::Sender {
                    packets.push((sent + after + trip, id, data(number)));
                }
                if arrives {
                    packets.push((sent + after + 2 * TRIP_US - trip, id, ack(number + 1)));
                }
            }
        }
        analysis(packets).answer()
    };
    assert!(exchange(End::Sender).starts_with("1 lost packet"), "{}", exchange(End::Sender));
    assert_eq!(exchange(End::Receiver), "No data packet of 1 flow is missing.");
}

#[test]
fn ends_of_connections_that_were_sent_again_are_told() {
    let fin = |number| Segment { flags: 16 | FIN, payload: 0, ..data(number) };
    let tries = |times: &[u64]| {
        let again =
            times.iter().enumerate().map(|(place, ms)| (ms * 1_000, 900 + place as u16, fin(20)));
        transfer(End::Sender, 20, &[], true).into_iter().chain(again).collect::<Vec<_>>()
    };
    let answer = analysis(tries(&[500, 700, 1_100, 1_900])).answer();
    assert!(
        answer.ends_with("10.0.0.1:1000 to 10.0.0.2:2000: 4 FINs in 1.4 s, never answered."),
        "{answer}"
    );
    let mut answered = tries(&[500, 700]);
    answered.push((740_000, 950, Segment::ack(2 + 20 * PAYLOAD as u32)));
    let answer = analysis(answered).answer();
    assert!(answer.ends_with("FIN sent 2 times in 0.2 s before it was answered."), "{answer}");
    let answer = analysis(tries(&[500])).answer();
    assert!(!answer.contains("FIN"), "{answer}");
}

#[test]
fn the_number_of_a_fin_is_no_byte_of_data() {
    // Begun in mid-transfer; then the other end, which sent nothing, closes.
    let begun = transfer(End::Sender, 60, &[], true).into_iter().filter(|(us, ..)| *us > 70_000);
    let edge = 1 + 60 * PAYLOAD as u32;
    let fin = Segment { flags: 16 | FIN, ..Segment::ack(edge) };
    let closes =
        [(300_000, 900, fin), (300_010, 901, Segment { ack: 2, ..Segment::data(edge, 0) })];
    let analysis = analysis(begun.chain(closes).collect());
    assert_eq!(analysis.answer(), "No data packet of 1 flow was lost.");
}

#[test]
fn a_reply_to_a_syn_that_nobody_answers_opens_nothing() {
    let syn = Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) };
    let replies = [1_u64, 1_000, 3_000]
        .map(|ms| (ms * 1_000, 0, Segment { flags: SYN | 16, seq: 0, ..Segment::ack(1) }));
    let answer = analysis([(0, 1, syn)].into_iter().chain(replies).collect()).answer();
    assert!(
        answer.ends_with("10.0.0.2:2000 to 10.0.0.1:1000: 3 SYN+ACKs in 3.0 s, never answered."),
        "{answer}"
    );
}

#[test]
fn a_syn_that_was_sent_again_may_have_arrived() {
    let syn = || Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) };
    let tries = [0_u64, 1_000, 3_000].map(|ms| (ms * 1_000, 0, syn()));
    let reply = (3_040_000, 1, Segment { flags: SYN | 16, seq: 0, ..Segment::ack(1) });
    let data = (3_041_000, 2, Segment::data(1, 100));
    let answer = analysis(tries.into_iter().chain([reply, data]).collect()).answer();
    assert!(answer.ends_with("SYN sent 3 times before it was answered, after 3.0 s."), "{answer}");
}

#[test]
fn a_peer_is_gone_from_the_first_unanswered_keep_alive_on() {
    // Linux sends keep-alives without a byte.
    let keep_alive = || Segment { payload: 0, seq: 20 * PAYLOAD as u32, ..data(0) };
    let asked = |place: u64| (60_000_000 + 75_000_000 * place, 900 + place as u16, keep_alive());
    let transfer = transfer(End::Sender, 20, &[], true);
    let analysis_of = |answers: bool| {
        let answer = |place: u64| (60_040_000 + 75_000_000 * place, 950 + place as u16, ack(20));
        let answers = (0..5).filter(|_| answers).map(answer);
        analysis(transfer.iter().cloned().chain((0..5).map(asked)).chain(answers).collect())
    };
    let gone = analysis_of(false);
    let answer = gone.answer();
    assert!(answer.contains("got no answer from 10.0.0.2:2000 from 60.0 s to the end"), "{answer}");
    assert!(gone.notes().contains(&"5 keep-alives, no loss".to_owned()), "{:?}", gone.notes());
    let answer = analysis_of(true).answer();
    assert!(!answer.contains("no answer"), "{answer}");
}

#[test]
fn a_window_whose_scale_the_capture_cut_off_held_nobody_up() {
    // Windows of 500 units of 128 bytes; the option that says so lies behind the snap length.
    let scaled = |(us, id, segment): Captured| {
        let mut segment = Segment { window: 500, ..segment };
        if segment.flags & SYN != 0 {
            segment.options.extend([2, 4, 5, 180, 1, 3, 3, 7]);
        }
        (us, id, segment)
    };
    let file = file(transfer(End::Sender, 400, &[], true).into_iter().map(scaled).collect());
    let analysis = analyze(snapped(&file, 40).as_slice(), "f", &Options::all()).unwrap();
    assert_eq!(analysis.cut_options, 2);
    assert_eq!(
        analysis.flows[0].pace.unwrap().sending.unwrap().window_full_s,
        0.0,
        "{}",
        analysis.answer()
    );
}

/// A pcap file with the first bytes of each packet.
fn snapped(file: &[u8], most: usize) -> Vec<u8> {
    let (header, mut rest) = file.split_at(24);
    let mut snapped = header.to_vec();
    while let Some((record, packets)) = rest.split_at_checked(16) {
        let length = u32::from_le_bytes(record[8..12].try_into().unwrap()) as usize;
        let kept = length.min(most);
        snapped.extend(&record[..8]);
        snapped.extend((kept as u32).to_le_bytes());
        snapped.extend(&record[12..]);
        snapped.extend(&packets[..kept]);
        rest = &packets[length..];
    }
    snapped
}

#[test]
fn acknowledgements_recorded_before_their_data_hide_no_loss() {
    let is_answer = |segment: &Segment| !segment.from_first && segment.flags & SYN == 0;
    let ahead = |(us, id, segment): Captured| {
        (if is_answer(&segment) { us - 3_000 } else { us }, id, segment)
    };
    let analysis =
        analysis(transfer(End::Receiver, 400, &LOST, true).into_iter().map(ahead).collect());
    let flow = &analysis.flows[0];
    assert_eq!((flow.lost(), flow.capture_drops), (4, 0), "{}", analysis.answer());
    assert!(flow.sent_again <= 4, "{}", flow.sent_again);
}

#[test]
fn another_connection_of_the_same_host_tells_the_place() {
    let told = transfer(End::Sender, 50, &[], true);
    // A second connection of which only repeats were captured.
    let untold =
        [0_u64, 200, 600].map(|ms| (1_000_000 + ms * 1_000, ms as u16, Segment::data(1, 100)));
    let mut packets: Vec<(u64, Vec<u8>)> =
        told.into_iter().map(|(us, _, segment)| (us, segment.bytes())).collect();
    packets.extend(untold.map(|(us, _, segment)| {
        let mut bytes = segment.bytes();
        bytes[20..22].copy_from_slice(&1_001_u16.to_be_bytes());
        (us, bytes)
    }));
    packets.sort_by_key(|(us, _)| *us);
    let analysis = analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap();
    let of = |port: &str| analysis.flows.iter().find(|flow| flow.src == port).unwrap().vantage;
    assert_eq!([of("10.0.0.1:1000"), of("10.0.0.1:1001")], [Vantage::Sender; 2]);
}

#[test]
fn two_captures_show_only_what_was_lost_between_them() {
    let receiver = file(transfer(End::Receiver, 100, &LOST, true));
    let joined =
        analyze_both((receiver.as_slice(), "a"), (receiver.as_slice(), "b"), &Options::all());
    let answer = joined.unwrap().both.answer();
    assert_eq!(answer, "No data packet of 1 flow was lost between the two captures.");
}

#[test]
fn two_captures_of_one_end_are_no_proof_that_nothing_was_lost() {
    let sender = file(transfer(End::Sender, 100, &LOST, true));
    let joined =
        analyze_both((sender.as_slice(), "a"), (sender.as_slice(), "b"), &Options::all()).unwrap();
    let answer = joined.both.answer();
    assert!(
        answer
            .starts_with("No data packet of 1 flow was lost between the two captures; the first alone shows 4 losses"),
        "{answer}"
    );
}
