//! Linux's sender and receiver against the kernel: the same link, and the same packets lost.
//!
//! `linux_kernel.csv` says how its transfers were made. A loss strikes the same packet here as
//! there as long as both have sent the same number of packets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, VecDeque};

use losscause::{Span, Time};
use losscause_transport::tcp::{Ack, Config, Receiver, Segment, Sender, Variant};

const SECONDS: i64 = 15;

/// A transfer, as the kernel made it or as it is made here.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    goodput_mbps: f64,
    retransmissions: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cell {
    rate_mbps: i64,
    rtt_ms: i64,
    loss_percent: u64,
    variant: String,
}

/// SplitMix64 (Steele, Lea and Flood 2014), as uniform numbers from 0 to below 1.
struct Draws(u64);

impl Draws {
    fn of(seed: u64) -> Self {
        let mut draws = Self(seed * 7919);
        (0..10).for_each(|_| {
            draws.next();
        });
        draws
    }

    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

struct Link {
    rate_bps: i64,
    delay: Span,
    queue_pkts: usize,
    loss: f64,
    draws: Draws,
    /// When the transmitters are free, on the way out and back.
    free: [Time; 2],
    leaving: VecDeque<Time>,
    out: VecDeque<(Time, Segment)>,
    back: VecDeque<(Time, Ack)>,
}

impl Link {
    fn new(cell: &Cell, seed: u64) -> Self {
        let bytes = cell.rate_mbps * cell.rtt_ms * 125;
        Self {
            rate_bps: cell.rate_mbps * 1_000_000,
            delay: Span::from_millis(cell.rtt_ms) / 2,
            queue_pkts: ((bytes + 1_499) / 1_500 + 1) as usize,
            loss: cell.loss_percent as f64 / 100.0,
            draws: Draws::of(seed),
            free: [Time::ZERO; 2],
            leaving: VecDeque::new(),
            out: VecDeque::new(),
            back: VecDeque::new(),
        }
    }

    fn transmit(&mut self, now: Time, way: usize, bytes: u32) -> Time {
        let takes = Span::from_nanos(i64::from(bytes) * 8_000_000_000 / self.rate_bps);
        self.free[way] = self.free[way].max(now) + takes;
        self.free[way]
    }

    fn segment(&mut self, now: Time, segment: Segment) {
        while self.leaving.front().is_some_and(|leaves| *leaves <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() >= self.queue_pkts {
            return;
        }
        let leaves = self.transmit(now, 0, segment.wire_bytes);
        self.leaving.push_back(leaves);
        let lost = self.draws.next() < self.loss;
        if segment.payload_bytes == 0 {
            // The ACK of the handshake, which is not simulated.
            self.draws.next();
        }
        if !lost {
            self.out.push_back((leaves + self.delay, segment));
        }
    }

    fn ack(&mut self, now: Time, ack: Ack) {
        let leaves = self.transmit(now, 1, ack.wire_bytes);
        self.back.push_back((leaves + self.delay, ack));
    }
}

fn transfer(cell: &Cell, seed: u64) -> Outcome {
    let variant = if cell.variant == "cubic" { Variant::Cubic } else { Variant::Reno };
    let config = Config::linux().with_variant(variant);
    let mut sender = Sender::new(&config).unwrap();
    let mut receiver = Receiver::new(&config).unwrap();
    let mut link = Link::new(cell, seed);
    let mut now = Time::ZERO;
    let end = Time::ZERO + Span::from_secs(SECONDS);
    sender.start(now);
    while now <= end {
        while let Some(segment) = sender.poll_transmit(now) {
            link.segment(now, segment);
        }
        while let Some(ack) = receiver.poll_transmit(now) {
            link.ack(now, ack);
        }
        let out = link.out.front().map(|(at, _)| *at);
        let back = link.back.front().map(|(at, _)| *at);
        now = [out, back, sender.poll_timeout(), receiver.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
            .unwrap();
        if out == Some(now) {
            receiver.on_segment(now, &link.out.pop_front().unwrap().1, &mut ());
        } else if back == Some(now) {
            sender.on_ack(now, &link.back.pop_front().unwrap().1, &mut ());
        } else if receiver.poll_timeout() == Some(now) {
            receiver.on_timeout(now);
        } else {
            sender.on_timeout(now, &mut ());
        }
    }
    let bits = receiver.delivered_packets() * u64::from(config.payload_bytes) * 8;
    let goodput_mbps = bits as f64 / SECONDS as f64 / 1e6;
    Outcome { goodput_mbps, retransmissions: sender.stats().retransmissions as f64 }
}

/// Every cell's transfers: by the kernel, and here.
fn cells() -> BTreeMap<Cell, Vec<(Outcome, Outcome)>> {
    let mut cells: BTreeMap<Cell, Vec<_>> = BTreeMap::new();
    let lines = include_str!("linux_kernel.csv").lines().filter(|line| !line.starts_with('#'));
    for line in lines.skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [rate, rtt, loss, variant, seed, goodput, retransmissions] = fields[..] else {
            panic!("{line}")
        };
        let number = |text: &str| text.parse::<f64>().unwrap();
        let cell = Cell {
            rate_mbps: rate.parse().unwrap(),
            rtt_ms: rtt.parse().unwrap(),
            loss_percent: (number(loss) * 100.0).round() as u64,
            variant: variant.to_owned(),
        };
        let kernel =
            Outcome { goodput_mbps: number(goodput), retransmissions: number(retransmissions) };
        let here = transfer(&cell, seed.parse().unwrap());
        cells.entry(cell).or_default().push((kernel, here));
    }
    cells
}

fn means(outcomes: &[(Outcome, Outcome)], of: fn(&Outcome) -> f64) -> (f64, f64) {
    let mean = |end: fn(&(Outcome, Outcome)) -> &Outcome| {
        outcomes.iter().map(|pair| of(end(pair))).sum::<f64>() / outcomes.len() as f64
    };
    (mean(|pair| &pair.0), mean(|pair| &pair.1))
}

fn overlap(outcomes: &[(Outcome, Outcome)]) -> bool {
    let range = |end: fn(&(Outcome, Outcome)) -> &Outcome| {
        let values = outcomes.iter().map(|pair| end(pair).retransmissions);
        values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        })
    };
    let (least, most) = range(|pair| &pair.0);
    let (other_least, other_most) = range(|pair| &pair.1);
    least <= other_most && other_least <= most
}

#[test]
fn goodput_and_retransmissions_are_those_of_the_kernel() {
    let cells = cells();
    assert_eq!(cells.len(), 24);
    let mut retransmissions_agree = 0;
    for (cell, outcomes) in &cells {
        let (kernel, here) = means(outcomes, |outcome| outcome.goodput_mbps);
        assert!(
            (here / kernel - 1.0).abs() < 0.03,
            "{cell:?}: goodput {here:.3} Mb/s, the kernel's {kernel:.3}"
        );
        let (kernel, here) = means(outcomes, |outcome| outcome.retransmissions);
        retransmissions_agree +=
            u32::from((here / kernel - 1.0).abs() <= 0.25 || overlap(outcomes));
    }
    assert_eq!(retransmissions_agree, 24);
}
