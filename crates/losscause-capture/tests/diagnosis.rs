//! The cause of a flow's losses, on transfers over links of a few lines.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{SYN, Segment, pcap};
use losscause::diagnosis::{Cause, Certainty, Diagnosis, Unknown};
use losscause_capture::{Analysis, Flow, Options, analyze};

/// The payload of a packet, and its size on the wire, bytes.
const PAYLOAD: u64 = 1_000;
const WIRE: u64 = 1_040;
/// The round trip of the empty path, microseconds.
const RTT_US: u64 = 40_000;

/// A sender with SACK that halves its window per round trip with losses.
#[derive(Default)]
struct Sender {
    window: f64,
    /// Transmissions that are not known to have arrived or to be lost, in order: packet number and
    /// time.
    flying: BTreeMap<u64, (u64, u64)>,
    sent: u64,
    next: u64,
    again: BTreeSet<u64>,
    arrived: BTreeSet<u64>,
    una: u64,
    reduced_us: u64,
    packets: Vec<(u64, Segment)>,
}

impl Sender {
    fn transmit(&mut self, now: u64) -> u64 {
        let number = self.again.pop_first().unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        self.flying.insert(self.sent, (number, now));
        self.sent += 1;
        self.packets.push((now, Segment::data((1 + PAYLOAD * number) as u32, PAYLOAD as usize)));
        number
    }

    fn lose(&mut self, transmission: u64, now: u64) {
        if let Some((number, sent)) = self.flying.remove(&transmission) {
            self.again.insert(number);
            if sent >= self.reduced_us {
                (self.window, self.reduced_us) = ((self.window * 0.5).max(2.0), now);
            }
        }
    }

    fn on_ack(&mut self, transmission: u64, now: u64) {
        let Some((number, _)) = self.flying.remove(&transmission) else { return };
        self.arrived.insert(number);
        self.again.remove(&number);
        while self.arrived.remove(&self.una) {
            self.una += 1;
        }
        self.window += 1.0 / self.window;
        let byte = |number: u64| (1 + PAYLOAD * number) as u32;
        let mut blocks: Vec<(u32, u32)> = Vec::new();
        if number > self.una {
            let mut ends = [number, number + 1];
            while self.arrived.contains(&(ends[0] - 1)) {
                ends[0] -= 1;
            }
            while self.arrived.contains(&ends[1]) {
                ends[1] += 1;
            }
            blocks.push((byte(ends[0]), byte(ends[1])));
        }
        let ack = Segment::ack(byte(self.una));
        self.packets.push((now, if blocks.is_empty() { ack } else { ack.sack(&blocks) }));
        let old: Vec<u64> =
            self.flying.range(..transmission.saturating_sub(2)).map(|(&old, _)| old).collect();
        old.into_iter().for_each(|old| self.lose(old, now));
    }
}

/// A capture at a sender whose path says of each packet, by its time in microseconds, how long it
/// takes from the sender and back beyond the empty path's round trip, if it arrives.
fn transfer(seconds: u64, mut path: impl FnMut(u64) -> Option<u64>) -> Vec<(u64, Segment)> {
    let syn = Segment { flags: SYN, ack: 0, ..Segment::data(0, 0) };
    let syn_ack = Segment { flags: SYN | 16, seq: 0, ..Segment::ack(1) };
    let mut sender = Sender { window: 10.0, ..Sender::default() };
    sender.packets = vec![(0, syn), (RTT_US, syn_ack), (RTT_US, Segment::data(1, 0))];
    let mut arrivals: BTreeMap<(u64, u64), ()> = BTreeMap::new();
    let mut now = RTT_US;
    while now < seconds * 1_000_000 {
        while (sender.flying.len() as f64) < sender.window {
            now += 20;
            let transmission = sender.sent;
            sender.transmit(now);
            if let Some(more) = path(now) {
                arrivals.insert((now + RTT_US + more, transmission), ());
            }
        }
        match arrivals.pop_first() {
            Some(((at, transmission), ())) => {
                now = now.max(at);
                sender.on_ack(transmission, now);
            }
            None => {
                now += 5 * RTT_US;
                let all: Vec<u64> = sender.flying.keys().copied().collect();
                all.into_iter().for_each(|old| sender.lose(old, now));
            }
        }
    }
    sender.packets
}

fn analysis(packets: &[(u64, Segment)]) -> Analysis {
    let bytes: Vec<_> = packets.iter().map(|(us, segment)| (*us, segment.bytes())).collect();
    analyze(pcap(&bytes).as_slice(), "f", &Options::all()).unwrap()
}

fn diagnosis(packets: &[(u64, Segment)]) -> Diagnosis {
    analysis(packets).flows[0].diagnosis.as_ref().unwrap().diagnosis
}

/// A token bucket, bytes per second and bytes.
fn policer(rate: u64, burst: u64) -> impl FnMut(u64) -> Option<u64> {
    let mut tokens = burst as f64;
    let mut filled_us = 0;
    move |now| {
        tokens = (tokens + (now - filled_us) as f64 * rate as f64 / 1e6).min(burst as f64);
        filled_us = now;
        (tokens >= WIRE as f64).then(|| {
            tokens -= WIRE as f64;
            0
        })
    }
}

/// A link with a queue that drops when it is full, bytes per second and packets.
fn tail_drop(rate: u64, queue_pkts: u64) -> impl FnMut(u64) -> Option<u64> {
    let mut free_us = 0;
    move |now| {
        let per_packet = WIRE * 1_000_000 / rate;
        free_us = now.max(free_us);
        let waits = free_us - now;
        (waits / per_packet < queue_pkts).then(|| {
            free_us += per_packet;
            free_us - now
        })
    }
}

/// Losses that choose nothing, one of so many packets.
fn random(of: u64) -> impl FnMut(u64) -> Option<u64> {
    let mut state = 1_u64;
    move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (!(state >> 33).is_multiple_of(of)).then_some(0)
    }
}

#[test]
fn a_policer_is_named_with_its_rate_and_burst() {
    let found = diagnosis(&transfer(60, policer(400_000, 100_000)));
    let Cause::Policer { rate_bps: Some(rate), burst_bytes: Some(burst) } = found.cause else {
        panic!("{found}")
    };
    assert!(rate.abs_diff(3_200_000) < 160_000, "{found}");
    assert!((50_000..=100_000).contains(&burst), "{burst}: what passed at once at least");
    assert!(found.advice().to_string().starts_with("Shape to 3."), "{}", found.advice());
}

#[test]
fn connections_of_the_same_hosts_tell_a_policer_together() {
    let mut bucket = policer(400_000, 100_000);
    let mut packets = Vec::new();
    for connection in 0..5_u8 {
        let begun = 4_000_000 * u64::from(connection);
        for (us, segment) in transfer(4, |now| bucket(begun + now)) {
            let mut bytes = segment.bytes();
            // The low byte of the first host's port.
            bytes[if segment.from_first { 21 } else { 23 }] += connection;
            packets.push((begun + us, bytes));
        }
    }
    packets.sort();
    let analysis = analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap();
    assert_eq!(analysis.flows.len(), 5);
    for flow in &analysis.flows {
        let found = flow.diagnosis.as_ref().unwrap().diagnosis;
        let Cause::Policer { rate_bps: Some(rate), .. } = found.cause else { panic!("{found}") };
        assert!(rate.abs_diff(3_200_000) < 160_000, "{found}");
    }
}

#[test]
fn a_queue_that_is_full_at_losses_is_named() {
    let found = diagnosis(&transfer(60, tail_drop(400_000, 40)));
    assert_eq!((found.cause, found.certainty), (Cause::FullQueue, Certainty::Clear), "{found}");
}

#[test]
fn a_cause_that_is_named_is_told_of_so_many_losses_as_have_it() {
    let queue = transfer(60, tail_drop(400_000, 40));
    let mut packets: Vec<_> = queue.iter().map(|(us, segment)| (*us, segment.bytes())).collect();
    assert!(analysis(&queue).headline().ends_with("lost packets in 1 flow. Clear: a full queue."));
    for (us, segment) in transfer(2, random(200)) {
        let mut bytes = segment.bytes();
        // The low byte of the first host's port.
        bytes[if segment.from_first { 21 } else { 23 }] += 1;
        packets.push((us, bytes));
    }
    packets.sort();
    let analysis = analyze(pcap(&packets).as_slice(), "f", &Options::all()).unwrap();
    let mut lost: Vec<u64> = analysis.flows.iter().map(Flow::lost).collect();
    lost.sort_unstable();
    let told = format!("{} of {}: Clear: a full queue", lost[1], lost[0] + lost[1]);
    assert!(lost[0] > 0 && analysis.headline().contains(&told), "{}", analysis.answer());
}

#[test]
fn losses_that_choose_nothing_are_called_no_queue_or_policer() {
    for of in [50, 200] {
        let found = diagnosis(&transfer(60, random(of)));
        assert!(matches!(found.cause, Cause::Air), "{found}");
    }
}

#[test]
fn few_losses_name_no_cause() {
    let mut losses = 0;
    let found = diagnosis(&transfer(20, |now| {
        let is_lost = now / 4_000_000 > losses;
        losses += u64::from(is_lost);
        (!is_lost).then_some(0)
    }));
    assert_eq!(found.cause, Cause::NotShown(Unknown::TooFew), "{found}");
}
