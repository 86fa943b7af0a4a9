//! Captures of a real TCP whose drops were logged.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::collections::BTreeMap;

use losscause_capture::frames::Frames;
use losscause_capture::packet::{Packet, Parsed, Transport};
use losscause_capture::{Analysis, Evidence, Flow, Loss, Options, Vantage, analyze};

const SENDER: &[u8] = include_bytes!("captures/sender.pcap.gz");
const RECEIVER: &[u8] = include_bytes!("captures/receiver.pcap.gz");
const DROPS: &str = include_str!("captures/drops.csv");

fn flow_of(capture: &[u8]) -> Flow {
    let Analysis { flows, truncated_at, .. } =
        analyze(capture, "capture", &Options::all()).unwrap();
    assert_eq!((flows.len(), truncated_at), (1, None));
    flows.into_iter().next().unwrap()
}

/// Every drop's sequence number and cause.
fn drops() -> Vec<(u64, &'static str)> {
    let row = |line: &'static str| {
        let mut cells = line.split(',');
        (cells.next().unwrap().parse().unwrap(), cells.nth(1).unwrap())
    };
    DROPS.lines().skip(1).map(row).collect()
}

fn sorted(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn at_the_sender_every_drop_is_found_and_nothing_else() {
    let flow = flow_of(SENDER);
    assert_eq!(flow.vantage, Vantage::Sender);
    // The capture ends before the last drop is repaired. One packet is lost twice.
    let mut repaired = drops();
    repaired.pop();
    assert_eq!(
        sorted(flow.losses.iter().map(|loss| loss.seq)),
        sorted(repaired.iter().map(|drop| drop.0))
    );
    assert!(
        flow.losses
            .iter()
            .all(|loss| loss.evidence == Evidence::FastRetransmit && loss.packets == 1)
    );
    assert_eq!((flow.spurious, flow.reordered, flow.capture_drops), (0, 0, 0));
}

#[test]
fn at_the_receiver_every_drop_is_found_and_nothing_else() {
    let flow = flow_of(RECEIVER);
    assert_eq!(flow.vantage, Vantage::Receiver);
    // A receiver cannot see that a packet is lost for the second time.
    let mut dropped = sorted(drops().iter().map(|drop| drop.0));
    dropped.dedup();
    assert_eq!(sorted(flow.losses.iter().map(|loss| loss.seq)), dropped);
    assert!(flow.losses.iter().all(|loss| loss.evidence == Evidence::Gap));
    assert_eq!((flow.duplicates, flow.reordered, flow.capture_drops), (0, 0, 0));
    assert!(flow.not_applicable["vegas-buffer"].contains("runs at a sender"));
}

#[test]
fn spike_beats_the_better_constant_answer_at_both_ends() {
    let causes: BTreeMap<u64, &str> = drops().into_iter().collect();
    for capture in [SENDER, RECEIVER] {
        let flow = flow_of(capture);
        let right = |answer: &dyn Fn(&Loss) -> String| {
            flow.losses.iter().filter(|loss| answer(loss) == causes[&loss.seq]).count()
        };
        let constant = right(&|_| "wireless".to_owned()).max(right(&|_| "congestion".to_owned()));
        let spike = right(&|loss| loss.verdicts.of("spike").unwrap().to_string());
        assert!(
            spike > constant,
            "{spike} against {constant} of {} at the {}",
            flow.losses.len(),
            flow.vantage
        );
    }
}

#[test]
fn the_frames_of_a_loss_carry_its_data() {
    for capture in [SENDER, RECEIVER] {
        let mut frames = Frames::open(capture).unwrap();
        let mut seqs = vec![0];
        while let Some(frame) = frames.next_frame() {
            assert_eq!(frame.number, seqs.len() as u64);
            let Parsed::Packet(Packet { transport: Transport::Tcp(tcp), .. }) = Parsed::of(&frame)
            else {
                panic!()
            };
            seqs.push(tcp.seq);
        }
        let seq_of = |frame: Option<u64>| u64::from(seqs[frame.unwrap() as usize]);
        let flow = flow_of(capture);
        for loss in &flow.losses {
            let is_own = seq_of(loss.frame) == loss.seq;
            assert_eq!(
                is_own,
                flow.vantage == Vantage::Sender,
                "a receiver has the packet behind the gap: {loss:?}"
            );
            let comes_behind =
                |again: u64| Some(again) > loss.frame && seq_of(Some(again)) == loss.seq;
            assert!(loss.frame_again.is_none_or(comes_behind), "{loss:?}");
        }
        // The last drop is repaired behind the end of the capture.
        assert!(flow.losses.iter().filter(|loss| loss.frame_again.is_none()).count() <= 1);
    }
}

#[test]
fn the_json_has_the_designed_keys() {
    let analysis = analyze(RECEIVER, "receiver.pcap.gz", &Options::all()).unwrap();
    let json = serde_json::to_value(&analysis).unwrap();
    assert_eq!(json["file"], "receiver.pcap.gz");
    assert!(json["packets"].is_u64() && json["truncated_at"].is_null());
    let flow = &json["flows"][0];
    for key in ["id", "bytes", "reordered", "duplicates", "spurious", "capture_drops"] {
        assert!(flow[key].is_u64(), "{key}");
    }
    assert_eq!(
        (&flow["protocol"], &flow["vantage"], &flow["dst"]),
        (&"tcp".into(), &"receiver".into(), &"10.77.0.2:5001".into())
    );
    let loss = &flow["losses"][0];
    assert_eq!((&loss["evidence"], &loss["packets"]), (&"gap".into(), &1.into()));
    assert!(loss["time_s"].is_f64() && loss["seq"].is_u64() && loss["bytes"].is_u64());
    assert!(
        ["wireless", "congestion", "undecided"]
            .contains(&loss["verdicts"]["zbs"].as_str().unwrap())
    );
    let summary = &flow["summary"]["zbs"];
    let sum: u64 = ["wireless", "congestion", "undecided"]
        .iter()
        .map(|key| summary[key].as_u64().unwrap())
        .sum();
    assert_eq!(sum, flow["losses"].as_array().unwrap().len() as u64);
}
