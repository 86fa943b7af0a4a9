//! A capture with comments is the same capture, and the comments are on the right frames.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use std::io::Write;

use common::{SYN, Segment, data, handshake, pcap, rtp};
use losscause_capture::frames::Frames;
use losscause_capture::{Loss, Options, RewriteError, analyze, annotate};
use pcap_parser::{Block, PcapNGOption, parse_block_be, parse_block_le};

/// What `file` becomes.
fn annotated(file: &[u8]) -> Vec<u8> {
    let options = Options { notes: true, ..Options::all() };
    let analysis = analyze(file, "f", &options).unwrap();
    let mut out = Vec::new();
    annotate(file, &analysis, &mut out).unwrap();
    out
}

/// A pcapng file's blocks, one after the other.
fn blocks(mut file: &[u8], is_big_endian: bool) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let length = *file[4..].first_chunk().unwrap();
        let length =
            if is_big_endian { u32::from_be_bytes(length) } else { u32::from_le_bytes(length) };
        let (block, rest) = file.split_at(length as usize);
        blocks.push(block);
        file = rest;
    }
    blocks
}

/// Frame numbers and their comments.
fn comments(file: &[u8], is_big_endian: bool) -> Vec<(u64, String)> {
    let parse = if is_big_endian { parse_block_be } else { parse_block_le };
    let is_comment = |option: &&PcapNGOption<'_>| option.code.0 == 1;
    let mut comments = Vec::new();
    let mut number = 0;
    for block in blocks(file, is_big_endian) {
        let (rest, block) = parse(block).unwrap();
        assert!(rest.is_empty());
        if let Block::EnhancedPacket(packet) = block {
            number += 1;
            for option in packet.options.iter().filter(is_comment) {
                let text = &option.value[..usize::from(option.len)];
                comments.push((number, String::from_utf8(text.to_vec()).unwrap()));
            }
        }
    }
    comments
}

/// Everything that a file says of its frames.
fn frames(file: &[u8]) -> Vec<String> {
    let mut frames = Frames::open(file).unwrap();
    let mut all = Vec::new();
    while let Some(frame) = frames.next_frame() {
        all.push(format!("{frame:?}"));
    }
    all
}

/// A capture of these segments, times in milliseconds, and its comments once it is annotated.
fn comments_on(packets: impl IntoIterator<Item = (u64, Segment)>) -> Vec<(u64, String)> {
    let packets: Vec<_> =
        packets.into_iter().map(|(ms, segment)| (ms * 1_000, segment.bytes())).collect();
    let file = pcap(&packets);
    let out = annotated(&file);
    assert_eq!(frames(&out), frames(&file));
    comments(&out, false)
}

/// The second of five segments is lost, and sent again behind selective acknowledgements: frames 5
/// and 13.
fn lost_and_repaired() -> Vec<(u64, Segment)> {
    let again = Segment::data(101, 100).at(1_060, 5);
    let sack = |end| Segment::ack(101).sack(&[(201, end)]);
    let sent = (0..5).map(|i| (50 + u64::from(i), data(i)));
    let answers =
        [(90, Segment::ack(101)), (92, sack(301)), (93, sack(401)), (94, sack(501)), (95, again)];
    handshake().into_iter().chain(sent).chain(answers).chain([(135, Segment::ack(501))]).collect()
}

fn bytes(packets: Vec<(u64, Segment)>) -> Vec<(u64, Vec<u8>)> {
    packets.into_iter().map(|(ms, segment)| (ms * 1_000, segment.bytes())).collect()
}

#[test]
fn a_lost_packet_and_its_retransmission_name_each_other() {
    let comments = comments_on(lost_and_repaired());
    let [(5, lost), (13, again)] = &comments[..] else { panic!("{comments:?}") };
    assert!(lost.starts_with("losscause: lost; sent again in frame 13; "), "{lost}");
    assert_eq!(again, "losscause: sent again (earlier in frame 5)");
}

#[test]
fn the_losses_of_a_gap_are_counted_on_the_frame_that_shows_it() {
    let again = Segment::data(301, 100).at(1_900, 5);
    let late = data(6);
    let packets = [
        (0, data(0)),
        (1, data(1)),
        (2, data(4)),
        (3, data(5)),
        (60, again),
        (61, data(7)),
        (62, late),
    ];
    let comments = comments_on(packets);
    let [(3, gap), (5, again), (7, late)] = &comments[..] else { panic!("{comments:?}") };
    assert!(gap.starts_with("losscause: 2 packets lost before it; "), "{gap}");
    assert_eq!(again, "losscause: sent again (missing since frame 3)");
    assert_eq!(late, "losscause: not lost but late, overtaken by frame 6");
}

#[test]
fn a_packet_that_only_a_timer_repeated_has_no_cause() {
    let sent = [
        (50, data(0)),
        (51, data(1)),
        (90, Segment::ack(101)),
        (500, Segment::data(101, 100).at(1_500, 5)),
    ];
    let comments =
        comments_on(handshake().into_iter().chain(sent).chain([(540, Segment::ack(201))]));
    let expected =
        "losscause: lost; sent again in frame 7; only a timer showed it, cause not shown";
    assert_eq!(comments[0], (5, expected.to_owned()));
}

#[test]
fn a_copy_names_the_packet_that_it_copies() {
    let sent = (0..10).flat_map(|i| [0, 1].map(|_| (50 + 50 * u64::from(i), data(i))));
    let answers = (0..10).map(|i| (92 + 50 * u64::from(i), Segment::ack(1 + 100 * (i + 1))));
    let mut packets: Vec<_> = handshake().into_iter().chain(sent).chain(answers).collect();
    packets.sort_by_key(|(ms, _)| *ms);
    let comments = comments_on(packets);
    assert_eq!(comments.len(), 10);
    assert_eq!(comments[0], (5, "losscause: captured twice (earlier in frame 4)".to_owned()));
}

#[test]
fn attempts_to_connect_name_the_one_before() {
    let syn = || Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) };
    let comments = comments_on([0, 1_000, 3_000].map(|ms| (ms, syn())));
    let texts = [1, 2].map(|earlier| {
        (earlier + 1, format!("losscause: SYN sent again (earlier in frame {earlier})"))
    });
    assert_eq!(comments, texts);
}

#[test]
fn a_stream_shows_its_losses_and_its_late_packets() {
    let order = [0_u16, 1, 2, 3, 4, 6, 5, 7, 9, 10, 10, 11];
    let packet = |(i, &number): (usize, &u16)| {
        (i as u64 * 20_000, rtp(number, u32::from(number) * 1_800, 100))
    };
    let file = pcap(&order.iter().enumerate().map(packet).collect::<Vec<_>>());
    let comments = comments(&annotated(&file), false);
    let frames: Vec<u64> = comments.iter().map(|(frame, _)| *frame).collect();
    assert_eq!(frames, [7, 9, 11], "late, behind the gap, twice: {comments:?}");
    assert!(comments[1].1.starts_with("losscause: 1 packet lost before it; "), "{comments:?}");
}

#[test]
fn losses_have_the_numbers_and_dates_of_their_frames() {
    let packets: Vec<_> = bytes(lost_and_repaired())
        .into_iter()
        .map(|(us, bytes)| (us + 1_709_251_200_000_000, bytes))
        .collect();
    let analysis = analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap();
    let loss: &Loss = &analysis.flows.iter().find(|flow| flow.lost() == 1).unwrap().losses[0];
    assert_eq!((loss.frame, loss.frame_again), (Some(5), Some(13)));
    assert_eq!(loss.time_utc.unwrap().to_string(), "2024-03-01T00:00:00.095000000Z");
    let json = serde_json::to_string(&analysis).unwrap();
    assert!(
        json.contains(r#""time_utc":"2024-03-01T00:00:00.095000000Z","frame":5,"frame_again":13"#),
        "{json}"
    );
}

/// A pcapng file in either byte order: two interfaces with their own clocks, of which the second
/// has the packets, each with a comment of its own or none; a block that is not known, and one
/// packet without a time.
fn pcapng(packets: &[(u64, Vec<u8>)], is_big_endian: bool) -> Vec<u8> {
    let u32 = |n: u32| if is_big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
    let u16 = |n: u16| if is_big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut file = Vec::new();
    let mut block = |kind: u32, mut body: Vec<u8>| {
        body.resize(body.len().div_ceil(4) * 4, 0);
        let length = u32(12 + body.len() as u32);
        file.extend([&u32(kind)[..], &length, &body, &length].concat());
    };
    block(
        0x0a0d_0d0a,
        [&u32(0x1a2b_3c4d)[..], &u16(1), &u16(0), &[0, 0, 0, 0, 0, 0, 0, 99]].concat(),
    );
    block(1, [&u16(101)[..], &u16(0), &u32(61)].concat());
    let resolution = [&u16(9)[..], &u16(1), &[3, 0, 0, 0], &u32(0)].concat();
    block(1, [&u16(101)[..], &u16(0), &u32(0), &resolution].concat());
    block(0x0bad, b"a block of the future".to_vec());
    for (index, (us, packet)) in packets.iter().enumerate() {
        let ms = us / 1_000;
        let length = u32(packet.len() as u32);
        let mut body = [u32(1), u32((ms >> 32) as u32), u32(ms as u32), length, length].concat();
        body.extend(packet);
        body.resize(body.len().div_ceil(4) * 4, 0);
        if index % 2 == 0 {
            body.extend([&u16(1)[..], &u16(4), b"mine", &u32(0)].concat());
        }
        block(6, body);
    }
    let packet = Segment::ack(1).bytes();
    block(3, [&u32(100)[..], &packet, &[7; 60]].concat()[..65].to_vec());
    file
}

#[test]
fn every_block_of_a_pcapng_file_stays() {
    for is_big_endian in [false, true] {
        let file = pcapng(&bytes(lost_and_repaired()), is_big_endian);
        let out = annotated(&file);
        assert_eq!(frames(&out), frames(&file));
        let before = blocks(&file, is_big_endian);
        let after = blocks(&out, is_big_endian);
        assert_eq!(before.len(), after.len());
        let changed: Vec<usize> = (0..before.len()).filter(|&at| before[at] != after[at]).collect();
        assert_eq!(changed, [0, 8, 16], "the section's length, and frames 5 and 13");
        assert_eq!(after[0][16..24], [0xff; 8]);
        let own = comments(&out, is_big_endian);
        let of_frame = |number| {
            own.iter()
                .filter(|(frame, _)| *frame == number)
                .map(|(_, text)| &text[..text.len().min(10)])
                .collect::<Vec<_>>()
        };
        assert_eq!(of_frame(5), ["losscause:", "mine"]);
    }
}

#[test]
fn a_packet_without_a_time_can_have_a_comment() {
    for snap in [0_u32, 61] {
        let mut file = pcapng(&[], false);
        // The first interface has the packets.
        file[28 + 12..28 + 16].copy_from_slice(&snap.to_le_bytes());
        for number in [0, 1, 2, 4, 5] {
            let packet = data(number).bytes();
            let kept = if snap == 0 { packet.len() } else { snap as usize };
            let mut body = [&(packet.len() as u32).to_le_bytes()[..], &packet[..kept]].concat();
            body.resize(body.len().div_ceil(4) * 4, 0);
            let length = (12 + body.len() as u32).to_le_bytes();
            file.extend([&3_u32.to_le_bytes()[..], &length, &body, &length].concat());
        }
        let out = annotated(&file);
        assert_eq!(frames(&out), frames(&file));
        // The file has one packet before them; the others stay simple and are not counted here.
        let comments = comments(&out, false);
        assert!(
            comments.len() == 1
                && comments[0].1.starts_with("losscause: 1 packet lost before it; "),
            "{comments:?}"
        );
    }
}

#[test]
fn a_compressed_or_cut_capture_is_written_as_far_as_it_goes() {
    let file = pcap(&bytes(lost_and_repaired()));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&file).unwrap();
    assert_eq!(annotated(&gzip.finish().unwrap()), annotated(&file));
    let cut = &file[..file.len() - 3];
    assert_eq!(frames(&annotated(cut)), frames(cut));
}

#[test]
fn a_qlog_has_no_frames() {
    let analysis =
        analyze(pcap(&bytes(lost_and_repaired())).as_slice(), "f", &Options::all()).unwrap();
    let refused = annotate(&br#"{"qlog_version": "0.3", "traces": []}"#[..], &analysis, Vec::new())
        .unwrap_err();
    assert!(matches!(refused, RewriteError::Capture(_)));
    assert_eq!(
        refused.to_string(),
        "is a qlog, which has no packets to write again, expected a pcap or pcapng file"
    );
}
