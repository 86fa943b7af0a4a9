//! What only looks like a loss: ends that were sent again, probes, late packets, packets that the
//! capture dropped.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use common::{ACK, SYN, Segment, pcap, rtp};
use losscause::{Span, Time};
use losscause_capture::frames::Frame;
use losscause_capture::frames::LinkType;
use losscause_capture::write::PcapngWriter;
use losscause_capture::{Analysis, Options, analyze, annotate, share};

const FIN: u8 = 1;

fn analysed(file: &[u8]) -> Analysis {
    analyze(file, "f", &Options { notes: true, ..Options::all() }).unwrap()
}

/// A capture of these segments, each with its time in milliseconds.
fn file(segments: &[(u64, Segment)]) -> Vec<u8> {
    let packets: Vec<_> =
        segments.iter().map(|(ms, segment)| (ms * 1_000, segment.bytes())).collect();
    pcap(&packets)
}

/// The comments of an annotated capture, as one text.
fn comments(file: &[u8]) -> String {
    let mut out = Vec::new();
    annotate(file, &analysed(file), &mut out).unwrap();
    String::from_utf8_lossy(&out).into_owned()
}

/// A handshake seen at the first end, 40 ms from the second one, and `packets` data packets with
/// their acknowledgements.
fn opened(packets: u32) -> Vec<(u64, Segment)> {
    let syn = Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) };
    let answer = Segment { flags: SYN | ACK, seq: 0, ..Segment::ack(1) };
    let third = Segment { flags: ACK, ..Segment::data(1, 0) };
    let mut all = vec![(0, syn), (40, answer), (40, third)];
    for k in 0..packets {
        all.push((50 + 50 * u64::from(k), Segment::data(1 + 100 * k, 100)));
        all.push((90 + 50 * u64::from(k), Segment::ack(101 + 100 * k)));
    }
    all
}

#[test]
fn an_end_that_was_sent_again_has_a_comment() {
    let fin = || Segment { flags: FIN | ACK, ..Segment::data(401, 0) };
    let ends = |times: &[u64], answer: Option<u64>| {
        let mut all = opened(4);
        all.extend(times.iter().map(|ms| (*ms, fin())));
        all.extend(answer.map(|ms| (ms, Segment::ack(402))));
        file(&all)
    };
    let again = |times: &[u64], answer| {
        comments(&ends(times, answer))
            .matches("losscause: FIN sent again (earlier in frame ")
            .count()
    };
    assert_eq!(again(&[1_000, 2_000, 4_000, 8_000], None), 3);
    assert_eq!(again(&[1_000, 2_000], Some(2_040)), 1);
    assert_eq!(again(&[1_000], Some(1_040)), 0);
}

#[test]
fn a_keep_alive_has_a_comment() {
    let mut all = opened(4);
    all.extend([(100_000, Segment::data(400, 1)), (100_040, Segment::ack(401))]);
    assert_eq!(
        comments(&file(&all)).matches("losscause: keep-alive, or probe of a closed window").count(),
        1
    );
}

/// Segments with these identifications and without timestamps, seen at the receiver, 1 ms apart.
fn identified(segments: &[(u64, Segment, u16)]) -> Vec<u8> {
    let bytes = |segment: &Segment, id: u16| {
        let mut bytes = segment.bytes();
        bytes[4..6].copy_from_slice(&id.to_be_bytes());
        bytes
    };
    pcap(&segments.iter().map(|(us, segment, id)| (*us, bytes(segment, *id))).collect::<Vec<_>>())
}

#[test]
fn a_packet_with_an_older_identification_was_overtaken_not_lost() {
    let with = |late_id: u16, after_us: u64| {
        let mut all: Vec<_> = (0..40_u32)
            .map(|k| (1_000 * u64::from(k), Segment::data(1 + 100 * k, 100), 7 + k as u16))
            .collect();
        let (_, late, _) = all.remove(30);
        // It comes behind three others.
        all.insert(33, (33_000 + after_us, late, late_id));
        all.iter_mut().skip(34).for_each(|(us, ..)| *us += 10_000);
        // One direction only, so that no round trip is known.
        analysed(&identified(&all))
    };
    let late = &with(37, 2_200).flows[0];
    assert_eq!((late.lost(), late.reordered), (0, 1), "it left before the packet that overtook it");
    let again = &with(90, 2_200).flows[0];
    assert_eq!((again.lost(), again.reordered), (1, 0), "it left after that packet");
}

/// A pcapng file of a stream of RTP in which these numbers are missing, whose interface dropped so
/// many packets.
fn dropped(missing: &[u16], dropped: u64) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new()).unwrap();
    let interface = writer.interface(LinkType::RAW, 0).unwrap();
    for k in (0..400_u16).filter(|k| !missing.contains(k)) {
        let data = rtp(k, 160 * u32::from(k), 160);
        let time = Time::ZERO + Span::from_millis(20 * i64::from(k));
        let original_bytes = data.len() as u32;
        let link = LinkType::RAW;
        let frame = Frame { number: 0, time, link, data: &data, original_bytes, direction: None };
        writer.write(interface, &frame, None).unwrap();
    }
    writer.statistics(interface, Time::ZERO + Span::from_secs(9), dropped).unwrap();
    writer.into_inner()
}

#[test]
fn gaps_that_the_capture_may_have_made_have_no_cause() {
    let missing = [50, 90, 130, 170, 210, 250, 290, 330];
    let told = |count| analysed(&dropped(&missing, count)).answer();
    assert!(told(8).contains("the capture does not hold enough of the flow"), "{}", told(8));
    assert!(!told(0).contains("does not hold enough"), "{}", told(0));
    assert!(!told(3).contains("does not hold enough"), "a few are few beside eight: {}", told(3));
}

#[test]
fn what_the_capture_dropped_is_kept_when_it_is_shared() {
    let file = dropped(&[50], 17);
    let mut shared = Vec::new();
    share(&file[..], &analysed(&file), &Options::all(), 1, &mut shared).unwrap();
    assert_eq!(analysed(&shared).dropped_by_capture, Some(17));
    let none = pcap(&[(1, Segment::data(1, 100).bytes()), (2, Segment::data(101, 100).bytes())]);
    let mut shared = Vec::new();
    share(&none[..], &analysed(&none), &Options::all(), 1, &mut shared).unwrap();
    assert_eq!(analysed(&shared).dropped_by_capture, None);
}
