//! Wrong times: one packet that is stamped late or early, a clock that is set, a step of the path,
//! a sender's pacing. No verdict hangs on them.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use std::collections::BTreeMap;

use common::{SYN, Segment, pcap, rtp};
use losscause::Verdict;
use losscause::diagnosis::{Cause, Unknown};
use losscause::registry::Registry;
use losscause_capture::judge::Chosen;
use losscause_capture::{Analysis, Flow, Options, Vantage, analyze};

/// Packets with their times in microseconds.
type Capture = Vec<(i64, Vec<u8>)>;

const DATA_PKTS: i64 = 3_000;
const EVERY_US: i64 = 4_000;
const ONE_WAY_US: i64 = 20_000;
const BYTES: usize = 100;
/// All times are later than this, so that none gets negative.
const BEGUN_US: i64 = 1_000_000_000;

/// Whole numbers below `below` that look like chance.
fn chance(of: i64, below: i64) -> i64 {
    let mixed = (of as u64 ^ 0x9e37_79b9).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) as i64 % below
}

/// What a packet sent at `us` waits: nothing for long, then a queue that fills and empties within a
/// second, of every four.
fn queue_us(us: i64) -> i64 {
    let phase = us % 4_000_000;
    (phase - 2_500_000).min(3_500_000 - phase).max(0) / 10 + chance(us, 700)
}

/// Whether the packet sent at `us` is lost: one in a hundred, and one in eight of those that find
/// the queue full.
fn is_lost(us: i64) -> bool {
    chance(us / 3, 100) == 0 || (queue_us(us) > 45_000 && chance(us / 7, 8) == 0)
}

/// A transfer at its two ends: the sender's capture, and the receiver's.
fn transfer() -> [Capture; 2] {
    let seq = |packet: i64| 1 + (packet as usize * BYTES) as u32;
    let stamp = |us: i64| (us / 1_000) as u32 + 1_000;
    let data = |packet: i64, us: i64| Segment::data(seq(packet), BYTES).at(stamp(us), 5).bytes();
    let arrives = |us: i64| us + ONE_WAY_US + queue_us(us);
    let mut sent = Vec::new();
    let mut arrivals = Vec::new();
    for packet in 0..DATA_PKTS {
        let us = 100_000 + EVERY_US * packet;
        sent.push((us, packet));
        if packet > 10 && packet < DATA_PKTS - 100 && is_lost(us) {
            // Sent again when the acknowledgement of the third packet behind it is there.
            let again = arrives(us + 5 * EVERY_US) + ONE_WAY_US;
            sent.push((again, packet));
            arrivals.push((arrives(again), packet, again));
        } else {
            arrivals.push((arrives(us), packet, us));
        }
    }
    sent.sort_unstable();
    arrivals.sort_unstable();
    let syn = Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) }.at(stamp(0), 0).bytes();
    let syn_ack = Segment { flags: SYN | 16, seq: 0, ..Segment::ack(1) }.at(5, stamp(0)).bytes();
    let third = Segment::data(1, 0).at(stamp(40_000), 5).bytes();
    let mut at_sender: Capture =
        vec![(0, syn.clone()), (40_000, syn_ack.clone()), (40_100, third.clone())];
    let mut at_receiver: Capture = vec![(20_000, syn), (20_050, syn_ack), (60_100, third)];
    at_sender.extend(sent.iter().map(|&(us, packet)| (us, data(packet, us))));
    let mut next = 0;
    let mut held = BTreeMap::new();
    for (us, packet, sent) in arrivals {
        at_receiver.push((us, data(packet, sent)));
        held.insert(packet, ());
        while held.remove(&next).is_some() {
            next += 1;
        }
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        for &packet in held.keys() {
            match blocks.last_mut() {
                Some(block) if block.1 == seq(packet) => block.1 = seq(packet + 1),
                _ => blocks.push((seq(packet), seq(packet + 1))),
            }
        }
        blocks.reverse();
        blocks.truncate(3);
        let ack = Segment::ack(seq(next)).at(stamp(us), stamp(sent));
        let ack = if blocks.is_empty() { ack } else { ack.sack(&blocks) };
        at_receiver.push((us + 50, ack.bytes()));
        at_sender.push((us + 50 + ONE_WAY_US, ack.bytes()));
    }
    at_sender.sort_by_key(|packet| packet.0);
    at_receiver.sort_by_key(|packet| packet.0);
    [at_sender, at_receiver]
}

fn analysis(capture: &Capture) -> Analysis {
    let packets: Vec<_> =
        capture.iter().map(|(us, bytes)| ((us + BEGUN_US) as u64, bytes.clone())).collect();
    // Spike reads nothing but the delay, which clocks can spoil.
    let chosen = Chosen::named(&["spike".to_owned()], &Registry::built_in()).unwrap();
    analyze(pcap(&packets).as_slice(), "f", &Options { chosen, ..Options::all() }).unwrap()
}

fn main_flow(capture: &Capture) -> Flow {
    analysis(capture).flows.into_iter().max_by_key(|flow| flow.packets).unwrap()
}

/// By sequence number: when the loss showed, seconds, and what the algorithm to follow says.
fn verdicts(flow: &Flow) -> BTreeMap<u64, (f64, Verdict)> {
    flow.losses.iter().map(|loss| (loss.seq, (loss.time_s, flow.verdict(loss)))).collect()
}

/// The losses that the two judge otherwise, or that only one of them has, but for those within
/// `but_for`, seconds.
fn changed(before: &Flow, after: &Flow, but_for: std::ops::Range<f64>) -> Vec<(u64, f64)> {
    let before = verdicts(before);
    let after = verdicts(after);
    let counts = |(seq, &(at, verdict)): (&u64, &(f64, Verdict))| {
        let same = after.get(seq).is_some_and(|other| other.1 == verdict);
        (!same && !but_for.contains(&at)).then_some((*seq, at))
    };
    let extra =
        after.keys().filter(|seq| !before.contains_key(seq)).map(|seq| (*seq, after[seq].0));
    before.iter().filter_map(counts).chain(extra.filter(|(_, at)| !but_for.contains(at))).collect()
}

fn both_ends() -> [(Capture, Flow); 2] {
    let ends = transfer().map(|capture| {
        let flow = main_flow(&capture);
        (capture, flow)
    });
    assert_eq!([ends[0].1.vantage, ends[1].1.vantage], [Vantage::Sender, Vantage::Receiver]);
    for (_, flow) in &ends {
        let said: Vec<Verdict> = flow.losses.iter().map(|loss| flow.verdict(loss)).collect();
        let count = |verdict| said.iter().filter(|said| **said == verdict).count();
        assert!(count(Verdict::Wireless) >= 10 && count(Verdict::Congestion) >= 5, "{said:?}");
        assert_eq!(flow.shifts, []);
    }
    ends
}

/// Seconds of a frame's time.
fn second(capture: &Capture, place: usize) -> f64 {
    (capture[place].0 - capture[0].0) as f64 / 1e6
}

#[test]
fn no_verdict_changes_if_a_constant_is_added_to_all_times() {
    for (mut capture, flow) in both_ends() {
        capture.iter_mut().for_each(|packet| packet.0 += 12_345_678_901);
        assert_eq!(changed(&flow, &main_flow(&capture), 0.0..0.0), []);
    }
}

#[test]
fn no_verdict_changes_if_one_packet_is_stamped_wrongly() {
    for (capture, flow) in both_ends() {
        for place in (50..capture.len()).step_by(211) {
            for by in [30_000, -30_000] {
                let mut moved = capture.clone();
                moved[place].0 += by;
                let at = second(&capture, place);
                let found = changed(&flow, &main_flow(&moved), at - 0.1..at + 0.1);
                assert_eq!(found, [], "packet {place} of the {} by {by} us", flow.vantage);
            }
        }
    }
}

#[test]
fn no_verdict_changes_if_the_clock_is_set_and_the_step_is_told() {
    for (capture, flow) in both_ends() {
        for place in [600, 2_700] {
            for by in [200_000, -200_000, 40_000] {
                let mut stepped = capture.clone();
                stepped[place..].iter_mut().for_each(|packet| packet.0 += by);
                let at = second(&capture, place);
                let analysis = analysis(&stepped);
                let after = analysis.flows.iter().max_by_key(|flow| flow.packets).unwrap();
                let found = changed(&flow, after, at - 0.1..at + 1.3);
                assert_eq!(found, [], "{by} us at {at} s at the {}", flow.vantage);
                let told = format!(
                    "the clock of the capture, or the path, stepped by {:+} ms at",
                    by / 1_000
                );
                assert!(
                    analysis.notes().iter().any(|note| note.starts_with(&told)),
                    "{:?}",
                    analysis.notes()
                );
            }
        }
    }
}

#[test]
fn delays_longer_than_the_capture_show_no_cause() {
    let [_, mut capture] = transfer();
    // Every other packet has the timestamp of another connection, 24 days before.
    let data = capture.iter_mut().filter(|(_, bytes)| bytes.len() > 40 + 12 + BYTES - 1);
    for (_, bytes) in data.step_by(2) {
        let stamp: [u8; 4] = bytes[44..48].try_into().unwrap();
        let other = u32::from_be_bytes(stamp).wrapping_sub(2_063_326_756);
        bytes[44..48].copy_from_slice(&other.to_be_bytes());
    }
    let flow = main_flow(&capture);
    let found = flow.diagnosis.as_ref().unwrap().diagnosis;
    assert_eq!(found.cause, Cause::NotShown(Unknown::Mixed), "{found}");
    assert!(flow.evidence().unwrap().contains(" is not known"), "{:?}", flow.evidence());
}

/// Packets of a stream: when each arrives, its number, and its timestamp in ticks of 90 kHz.
fn stream(packets: impl IntoIterator<Item = (i64, u16, u32)>) -> Capture {
    packets.into_iter().map(|(us, number, ticks)| (us, rtp(number, ticks, 100))).collect()
}

#[test]
fn the_packets_of_a_frame_that_are_paced_wait_in_no_queue() {
    // 30 frames a second of 20 packets, one every millisecond; one in fifty is lost.
    let packets = (0..6_000_i64).filter(|&i| i < 40 || chance(i, 50) != 0).map(|i| {
        let frame = i / 20;
        let place = i % 20;
        (33_333 * frame + 1_000 * place + chance(i, 300), i as u16, 3_000 * frame as u32)
    });
    let flow = main_flow(&stream(packets));
    let congestion = flow.verdicts().congestion;
    assert!(flow.lost() > 80 && congestion * 20 < flow.lost(), "{congestion} of {}", flow.lost());
    assert!((0.0..2.0).contains(&flow.queueing.unwrap().p95_ms));
}

#[test]
fn a_sender_that_stalls_with_its_clock_fills_no_queue() {
    // A packet every 20 ms; every four seconds the sender stops for 300 ms and goes on where it
    // was.
    let packets = (0..2_000_i64)
        .filter(|&i| i < 40 || chance(i, 40) != 0)
        .map(|i| (20_000 * i + 300_000 * (i / 200) + chance(i, 1_500), i as u16, 1_800 * i as u32));
    let flow = main_flow(&stream(packets));
    assert_eq!(flow.shifts.len(), 9);
    assert!(flow.shifts.iter().all(|shift| (295.0..305.0).contains(&shift.by_ms)));
    let near = |at: f64| flow.shifts.iter().any(|shift| (0.0..1.1).contains(&(at - shift.at_s)));
    let far: Vec<_> = flow.losses.iter().filter(|loss| !near(loss.time_s)).collect();
    let congestion = far.iter().filter(|loss| flow.verdict(loss) == Verdict::Congestion).count();
    assert!(far.len() > 20 && congestion * 10 < far.len(), "{congestion} of {}", far.len());
}
