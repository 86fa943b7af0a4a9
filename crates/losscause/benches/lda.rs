//! Time per received packet for every algorithm, with the tracker in front of it and the judgements
//! behind, and where no packet is missing; and per acknowledged packet at a sender.
//!
//! The target is at most 10 ns per packet, and for ZBS at most three times Spike.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use losscause::{
    Algorithm, BuiltIn, Differentiator, End, Packet, SenderDifferentiator, Signal, Time, on_judged,
};

/// A flow over a wireless bottleneck of 1.6 Mb/s (762-byte packets, 3.81 ms each) that it shares
/// with others: the queue is a sawtooth, the air corrupts 7.8 % of the packets, a full queue drops
/// the next.
fn trace(packets: usize) -> Vec<Packet> {
    const T_NS: i64 = 3_810_000;
    let mut random = 42_u64;
    let mut draw = |below: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((random >> 32) * below) >> 32) as i64
    };
    let mut seq = 0;
    let mut at = 0;
    let mut queue = 0;
    let mut arrived = Vec::with_capacity(packets);
    while arrived.len() < packets {
        seq += 1;
        // One to three packets of others in between; the queue drifts upwards and empties mostly
        // when it overflows.
        at += T_NS * (1 + draw(3)) + draw(50_000);
        queue += draw(11) - 4;
        if queue > 260 {
            queue /= 6;
        } else if draw(1_000) >= 78 {
            queue = queue.max(0);
            let sent = Time::from_nanos(at - 40_000_000 - queue * T_NS / 10);
            arrived.push(Packet { seq, at: Time::from_nanos(at), sent: Some(sent) });
        }
    }
    arrived
}

fn per_packet(criterion: &mut Criterion) {
    let trace = trace(10_000);
    let renumbered = |(seq, packet): (usize, &Packet)| Packet { seq: seq as u64, ..*packet };
    let none_missing: Vec<Packet> = trace.iter().enumerate().map(renumbered).collect();
    time_each(criterion, "received packets", &trace);
    time_each(criterion, "received packets, none missing", &none_missing);
}

fn time_each(criterion: &mut Criterion, group: &str, trace: &[Packet]) {
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(trace.len() as u64));
    for algorithm in BuiltIn::at_receivers() {
        group.bench_with_input(BenchmarkId::from_parameter(algorithm), trace, |bencher, trace| {
            bencher.iter(|| {
                let mut differentiator = Differentiator::new(
                    algorithm.build(End::Receiver).expect("published parameters"),
                );
                let mut wireless = 0_u32;
                for &packet in black_box(trace) {
                    let mut count = on_judged(|_, judgement| {
                        wireless += u32::from(judgement.verdict.is_wireless());
                    });
                    differentiator.on_packet(packet, &mut count);
                }
                wireless
            });
        });
    }
    group.finish();
}

/// The same flow at a sender with 32 packets in flight and an ACK per packet that arrives: the
/// tracker, the algorithm, and a declaration per gap.
fn judged_at_sender(lda: impl Algorithm, trace: &[Packet]) -> u32 {
    const IN_FLIGHT: u64 = 32;
    let mut sender = SenderDifferentiator::<_, losscause::ack::Fixed<256>>::new(lda);
    let mut unsent = 0;
    let mut expected = 0;
    let mut wireless = 0;
    for packet in trace {
        while unsent < packet.seq + IN_FLIGHT {
            sender.on_sent(unsent, packet.at);
            unsent += 1;
        }
        sender.set_cwnd(IN_FLIGHT as f64);
        sender.on_acked(packet.seq);
        wireless += u32::from(sender.end_of_ack(packet.at, Some(packet.seq), &mut ()).is_some());
        if expected < packet.seq {
            (expected..packet.seq).for_each(|lost| sender.on_lost(lost));
            wireless +=
                u32::from(sender.declare(packet.at, Signal::Gap, &mut ()).verdict.is_wireless());
        }
        expected = packet.seq + 1;
    }
    wireless
}

fn per_ack(criterion: &mut Criterion) {
    let trace = trace(10_000);
    let mut group = criterion.benchmark_group("acknowledged packets");
    group.throughput(Throughput::Elements(trace.len() as u64));
    group.bench_with_input(
        BenchmarkId::from_parameter("tracker alone"),
        &trace,
        |bencher, trace| {
            bencher.iter(|| judged_at_sender((), black_box(trace)));
        },
    );
    for &algorithm in BuiltIn::ALL {
        group.bench_with_input(BenchmarkId::from_parameter(algorithm), &trace, |bencher, trace| {
            let lda = algorithm.build(End::Sender).expect("published parameters");
            bencher.iter(|| judged_at_sender(lda.clone(), black_box(trace)));
        });
    }
    group.finish();
}

criterion_group!(benches, per_packet, per_ack);
criterion_main!(benches);
