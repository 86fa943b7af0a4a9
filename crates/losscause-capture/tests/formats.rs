//! Every format of a capture gives the same analysis, and what is no capture is refused in one
//! sentence.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use std::io::{Read, Write};

use common::{Segment, analysed, pcap, pcap_of};
use flate2::read::GzDecoder;
use losscause_capture::frames::Frames;
use losscause_capture::{Options, analyze};

fn refusal(file: &[u8]) -> String {
    analyze(file, "f", &Options::all()).unwrap_err().to_string()
}

/// A capture of three segments, the second of which is missing.
fn small() -> Vec<(u64, Vec<u8>)> {
    [(0, Segment::data(1, 100)), (1_000, Segment::data(201, 100)), (2_000, Segment::data(301, 100))]
        .map(|(us, segment)| (5_000_000 + us, segment.bytes()))
        .to_vec()
}

fn json(file: &[u8]) -> String {
    serde_json::to_string(&analysed(file)).unwrap()
}

/// A pcapng file in either byte order with the times of `resolution`, microseconds or nanoseconds.
fn pcapng(packets: &[(u64, Vec<u8>)], big_endian: bool, nanoseconds: bool) -> Vec<u8> {
    let u32 = |n: u32| if big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
    let u16 = |n: u16| if big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut file = Vec::new();
    let mut block = |kind: u32, mut body: Vec<u8>| {
        body.resize(body.len().div_ceil(4) * 4, 0);
        let length = u32(12 + body.len() as u32);
        file.extend(u32(kind));
        file.extend(length);
        file.extend(body);
        file.extend(length);
    };
    let section = [&u32(0x1a2b_3c4d)[..], &u16(1), &u16(0), &[0xff; 8]].concat();
    block(0x0a0d_0d0a, section);
    // Two interfaces: the second one has the packets, and its own resolution.
    block(1, [&u16(1)[..], &u16(0), &u32(0)].concat());
    let resolution =
        [&u16(9)[..], &u16(1), &[if nanoseconds { 9 } else { 6 }, 0, 0, 0], &u32(0)].concat();
    block(1, [&u16(101)[..], &u16(0), &u32(0), &resolution].concat());
    block(0x0000_0bad, b"some block of the future".to_vec());
    for (us, packet) in packets {
        let ticks = if nanoseconds { us * 1_000 } else { *us };
        let length = u32(packet.len() as u32);
        let head = [u32(1), u32((ticks >> 32) as u32), u32(ticks as u32), length, length].concat();
        block(6, [&head[..], packet].concat());
    }
    file
}

#[test]
fn byte_orders_resolutions_and_compressions_do_not_matter() {
    let plain = pcap(&small());
    let expected = json(&plain);
    assert!(expected.contains("\"seq\":101"), "{expected}");
    for big_endian in [false, true] {
        for nanoseconds in [false, true] {
            assert_eq!(json(&pcapng(&small(), big_endian, nanoseconds)), expected);
        }
    }
    // A big-endian file of microseconds.
    let mut big = Vec::new();
    [0xa1b2_c3d4_u32, 0x0002_0004, 0, 0, 65_535, 101]
        .iter()
        .for_each(|word| big.extend(word.to_be_bytes()));
    for (us, packet) in small() {
        let length = packet.len() as u32;
        let words = [(us / 1_000_000) as u32, (us % 1_000_000) as u32, length, length];
        words.iter().for_each(|word| big.extend(word.to_be_bytes()));
        big.extend(packet);
    }
    assert_eq!(json(&big), expected);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&plain).unwrap();
    assert_eq!(json(&gzip.finish().unwrap()), expected);
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let zstd = ruzstd::encoding::compress_to_vec(plain.as_slice(), level);
    assert_eq!(json(&zstd), expected);
    let (first, second) = plain.split_at(100);
    let frames =
        [first, second].map(|part| ruzstd::encoding::compress_to_vec(part, level)).concat();
    assert_eq!(json(include_bytes!("captures/small.pcap.xz")), expected);
    assert_eq!(json(&frames), expected, "two frames, one behind the other");
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 7, 7, 7][..], &zstd].concat();
    assert_eq!(json(&skipped), expected, "a frame to be skipped before it");
}

/// A block of statistics of the second interface: packets dropped by the interface, and by the
/// system if given.
fn statistics(dropped: u64, by_system: Option<u64>) -> Vec<u8> {
    let mut body = [&1_u32.to_le_bytes()[..], &[0; 8]].concat();
    for (code, count) in [(5_u16, Some(dropped)), (7, by_system)] {
        if let Some(count) = count {
            body.extend(code.to_le_bytes());
            body.extend(8_u16.to_le_bytes());
            body.extend(count.to_le_bytes());
        }
    }
    body.extend([0; 4]);
    let length = (12 + body.len() as u32).to_le_bytes();
    [&5_u32.to_le_bytes()[..], &length, &body, &length].concat()
}

#[test]
fn what_a_capture_says_that_it_dropped_is_told() {
    let plain = pcapng(&small(), false, true);
    assert_eq!(analysed(&plain).dropped_by_capture, None);
    let with = |blocks: &[Vec<u8>]| analysed(&[&plain[..], &blocks.concat()].concat());
    assert_eq!(with(&[statistics(0, None)]).dropped_by_capture, Some(0));
    // The newest counters count; those that are not known are all ones; the next section has
    // interfaces of its own.
    let analysis = with(&[
        statistics(700, None),
        statistics(800, Some(12)),
        plain.clone(),
        statistics(5, Some(u64::MAX)),
    ]);
    assert_eq!(analysis.dropped_by_capture, Some(817));
    let notes = analysis.notes();
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("the capture itself says that 817 packets were dropped")),
        "{notes:?}"
    );
}

#[test]
fn a_cut_anywhere_delivers_what_is_whole_and_says_where() {
    for (file, header) in [(pcap(&small()), 24), (pcapng(&small(), false, true), 28)] {
        let whole = analysed(&file).packets;
        let mut most = 0;
        for cut in header..file.len() {
            let Ok(analysis) = analyze(&file[..cut], "f", &Options::all()) else {
                panic!("cut at {cut}")
            };
            assert!(analysis.packets >= most && analysis.packets < whole, "cut at {cut}");
            most = analysis.packets;
            assert!(analysis.truncated_at.is_none_or(|offset| offset <= cut as u64));
        }
        assert_eq!(most, whole - 1);
        assert_eq!(
            analysed(&file[..file.len() - 1]).truncation.as_deref(),
            Some("ends inside a packet")
        );
    }
}

#[test]
fn a_cut_compressed_file_delivers_what_was_decompressed() {
    let file = include_bytes!("captures/receiver.pcap.gz");
    let mut plain = Vec::new();
    GzDecoder::new(&file[..]).read_to_end(&mut plain).unwrap();
    let analysis = analysed(&file[..file.len() / 2]);
    assert!(analysis.packets > 500, "{}", analysis.packets);
    assert!(
        analysis.truncated_at.is_some_and(|offset| offset > 10_000 && offset < plain.len() as u64)
    );
}

#[test]
fn a_damaged_xz_file_ends_and_one_of_much_memory_is_refused() {
    let file = include_bytes!("captures/small.pcap.xz");
    for at in 0..file.len() {
        for flip in [1, 0x80, 0xff] {
            let mut damaged = file.to_vec();
            damaged[at] ^= flip;
            _ = analyze(damaged.as_slice(), "f", &Options::all());
        }
        _ = analyze(&file[..at], "f", &Options::all());
    }
    // A block's header is a size, flags, the filter with its dictionary (here the largest, 4 GiB),
    // and a check sequence.
    let mut header = [2, 0, 0x21, 1, 40, 0, 0, 0].to_vec();
    let mut check = flate2::Crc::new();
    check.update(&header);
    header.extend(check.sum().to_le_bytes());
    let greedy = [&file[..12], &header, &file[24..]].concat();
    assert!(refusal(&greedy).starts_with("cannot be read ("), "{}", refusal(&greedy));
}

#[test]
fn what_is_no_capture_is_refused_in_one_sentence() {
    assert_eq!(
        refusal(b""),
        "is empty, expected a pcap, pcapng or qlog file, plain or compressed with gzip, xz or zstd"
    );
    assert!(
        refusal(b"hello, world").starts_with("is no capture (it begins with \"hell\"), expected")
    );
    assert!(
        refusal(b"\x7fELF").starts_with("is no capture (it begins with 7f 45 4c 46), expected")
    );
    assert!(refusal(&pcap(&[])[..10]).starts_with("ends after 10 bytes, inside the header"));
    let radio = pcap_of(119, &small());
    assert!(
        refusal(&radio)
            .starts_with("has link type 119 (IEEE 802.11 with a Prism header), expected Ethernet")
    );
}

#[test]
fn a_record_that_claims_gigabytes_ends_the_file_there() {
    let mut file = pcap(&small());
    let offset = file.len() as u64;
    [1_u32, 2, 0x7fff_ffff, 0x7fff_ffff].iter().for_each(|word| file.extend(word.to_le_bytes()));
    let mut frames = Frames::open(file.as_slice()).unwrap();
    let mut count = 0;
    while frames.next_frame().is_some() {
        count += 1;
    }
    assert_eq!(count, 3);
    let truncation = frames.truncation().unwrap();
    assert_eq!(
        (truncation.offset, truncation.problem.as_str()),
        (offset, "is damaged: a record claims more than 16 MiB")
    );
}
