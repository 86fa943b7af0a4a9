//! Each test covers a bug of the crate `packet_loss_classification` 0.1.0, and shows that this
//! crate lacks it.

mod common;

use std::collections::BTreeSet;

use common::{Draws, judgements, packet, saturated, verdicts, wireless_share};
use losscause::lda::{AboveThree, ZbsConfig, ZigZag, ZigZagConfig};
use losscause::{
    Algorithm, BuiltIn, Differentiator, End, LdaConfig, Packet, Span, Verdict, on_judged,
};

/// Every other packet is lost; ROTTs are even draws of `steps` steps of `unit` nanoseconds.
fn every_other_packet_lost(unit: i64, steps: u64, seed: u64) -> Vec<Packet> {
    let mut draws = Draws(seed);
    (0..8_000)
        .map(|i| packet(2 * i as u64, i * 10 * unit * steps as i64, draws.below(steps) * unit))
        .collect()
}

#[test]
fn b1_the_deviation_keeps_its_past_and_zigzag_is_free_of_units() {
    // ROTTs spread evenly over one second, millisecond or microsecond. Mean 1/2, mean deviation
    // 1/4: a quarter of them lies below mean - dev.
    let shares = [1_000_000, 1_000, 1].map(|unit| {
        wireless_share(&verdicts(
            BuiltIn::ZigZag.build(End::Receiver).expect("published parameters"),
            every_other_packet_lost(unit, 1_000, 7),
        ))
    });
    for share in shares {
        assert!((0.22..0.28).contains(&share), "{shares:?}");
        assert!((share - shares[0]).abs() < 0.002, "{shares:?}");
    }
}

#[test]
fn b2_more_than_three_losses_follow_the_printed_rule_by_default() {
    let mut draws = Draws(11);
    let packets: Vec<_> =
        (0..4_000).map(|i| packet(5 * i as u64, i * 1_000_000, draws.below(1_000_000))).collect();
    let share = |above_three| {
        let zigzag =
            ZigZag::new(&ZigZagConfig { above_three, ..ZigZagConfig::default() }).expect("valid");
        wireless_share(&verdicts(zigzag, packets.iter().copied()))
    };
    // Below 1/2 - 1/8, 1/2 and 1/2 + 1/8 of the range.
    let shares = [AboveThree::Printed, AboveThree::Mean, AboveThree::MeanPlusHalf].map(share);
    for (share, expected) in shares.iter().zip([0.375, 0.5, 0.625]) {
        assert!((share - expected).abs() < 0.03, "{shares:?}");
    }
}

#[test]
fn b3_packets_without_a_loss_feed_every_estimate() {
    // Everything the algorithms know comes from packets after which nothing was missing; the one
    // loss is judged by it.
    for algorithm in [BuiltIn::Biaz, BuiltIn::MBiaz, BuiltIn::Spike, BuiltIn::ZigZag, BuiltIn::Zbs]
    {
        let mut packets: Vec<_> =
            (0..200).map(|i| packet(i as u64, i * 1_000, 50_000 + 10_000 * (i % 7))).collect();
        packets.extend([packet(200, 200_000, 40_000), packet(202, 202_000, 40_000)]);
        let judged =
            judgements(algorithm.build(End::Receiver).expect("published parameters"), packets);
        assert_eq!(judged.len(), 1);
        assert_eq!(judged[0].1.verdict, Verdict::Wireless, "{algorithm}: {}", judged[0].1);
        let evidence = judged[0].1.evidence().expect("compared");
        let limit_ms = evidence.limits[0].expect("a limit").at.value();
        match evidence.scheme {
            "Biaz" | "mBiaz" => assert_eq!(limit_ms, 0.002),
            // Mean near 80,000 ns relative to the first ROTT of 50,000: only packets in between can
            // have told.
            "ZigZag" => assert!(limit_ms > 0.005, "{limit_ms}"),
            _ => assert_eq!(limit_ms, 0.035),
        }
    }
}

#[test]
fn b4_ideal_wireless_losses_on_a_full_link_are_all_wireless() {
    let t = Span::from_micros(40_640);
    let rott = Span::from_millis(243);
    let one = |seq: u64| seq < 2 || seq % 2 == 1;
    let mut random = Draws(3);
    // Runs of one to three losses, each followed by one packet.
    let mut arrived = BTreeSet::from([0, 1]);
    let mut seq = 1;
    while seq < 4_000 {
        seq += 2 + random.below(3) as u64;
        arrived.insert(seq);
    }
    for algorithm in [BuiltIn::Biaz, BuiltIn::MBiaz] {
        for packets in
            [saturated(t, rott, one, 2_400), saturated(t, rott, |s| arrived.contains(&s), 4_000)]
        {
            let verdicts =
                verdicts(algorithm.build(End::Receiver).expect("published parameters"), packets);
            assert!(verdicts.len() >= 1_000);
            assert_eq!(wireless_share(&verdicts), 1.0, "{algorithm}");
        }
    }
}

#[test]
fn b4_a_flow_that_begins_with_losses_is_not_held_to_its_gaps() {
    let packets = saturated(Span::from_millis(10), Span::ZERO, |seq| seq % 2 == 0 || seq > 20, 40);
    let verdicts =
        verdicts(BuiltIn::Biaz.build(End::Receiver).expect("published parameters"), packets);
    assert_eq!(verdicts, [Verdict::Undecided; 10], "no interval was ever seen that spans no loss");
}

/// ZBS without time in its lock, so that it may run in any unit.
fn zbs_locked_by_packets() -> impl Algorithm {
    LdaConfig::Zbs(ZbsConfig { lock: Span::MAX, ..ZbsConfig::default() })
        .build(End::Receiver)
        .expect("valid")
}

fn schemes(packets: &[Packet]) -> Vec<&'static str> {
    let mut zbs = Differentiator::new(zbs_locked_by_packets());
    packets
        .iter()
        .map(|&packet| {
            zbs.on_packet(packet, &mut ());
            zbs.algorithm().scheme()
        })
        .collect()
}

#[test]
fn b5_the_average_interval_is_per_packet_and_has_no_unit() {
    // A saturated link of one flow that loses every other packet: T_avg is T_min, so mBiaz runs
    // from the end of the first lock on. Divided by n, T_avg would be twice T_min, and squared it
    // would be anything: a shared link.
    for unit in [1, 1_000, 1_000_000] {
        let t = Span::from_nanos(400 * unit);
        let schemes = schemes(&saturated(t, t * 6, |seq| seq < 2 || seq % 2 == 1, 400));
        assert_eq!(schemes[..50], ["ZigZag"; 50]);
        assert!(schemes[50..].iter().all(|s| *s == "mBiaz"), "unit {unit}: {schemes:?}");
    }
    // Random intervals: the schemes in force are the same ones in every unit.
    let run = |unit: i64| {
        let mut draws = Draws(5);
        let mut at = 0;
        let mut packets = Vec::new();
        for seq in (0..3_000).filter(|seq| seq % 5 != 3) {
            at += (400 + draws.below(700)) * unit;
            packets.push(packet(seq, at, draws.below(4_000) * unit));
        }
        schemes(&packets)
    };
    let in_nanoseconds = run(1);
    assert!(BTreeSet::from_iter(&in_nanoseconds).len() > 1, "the trace should make ZBS switch");
    assert_eq!(in_nanoseconds, run(1_000));
    assert_eq!(in_nanoseconds, run(1_000_000));
}

#[test]
fn b6_the_base_schemes_of_zbs_know_what_they_would_know_alone() {
    let mut draws = Draws(9);
    let mut at = 0;
    let mut queue = 0;
    let mut packets = Vec::new();
    for seq in 0..20_000 {
        at += 1_000 + draws.below(if (seq / 400) % 2 == 0 { 100 } else { 2_500 });
        queue = (queue + draws.below(2_001) - 1_000).clamp(0, 20_000);
        if draws.below(10) > 0 {
            packets.push(packet(seq, at, queue));
        }
    }
    let mut zbs = Differentiator::new(zbs_locked_by_packets());
    let ZbsConfig { zigzag, mbiaz, spike, .. } = ZbsConfig::default();
    let mut alone = [LdaConfig::ZigZag(zigzag), LdaConfig::Biaz(mbiaz), LdaConfig::Spike(spike)]
        .map(|config| Differentiator::new(config.build(End::Receiver).expect("valid")));
    let mut by_scheme = std::collections::BTreeMap::new();
    let mut switches = 0;
    let mut last = "ZigZag";
    for packet in packets {
        let mut judged = Vec::new();
        zbs.on_packet(packet, &mut on_judged(|_, judgement| judged.push(*judgement)));
        let scheme = zbs.algorithm().scheme();
        switches += u32::from(std::mem::replace(&mut last, scheme) != scheme);
        for base in &mut alone {
            let mut expected = Vec::new();
            base.on_packet(packet, &mut on_judged(|_, judgement| expected.push(*judgement)));
            if base.algorithm().name() == scheme {
                assert_eq!(judged, expected, "{scheme} at packet {}", packet.seq);
                *by_scheme.entry(scheme).or_insert(0) += judged.len();
            }
        }
    }
    assert!(
        switches > 20 && by_scheme.len() == 3 && by_scheme.values().all(|&n| n > 50),
        "{switches} {by_scheme:?}"
    );
}

#[test]
fn b7_negative_trip_times_are_judged_like_positive_ones() {
    let mut draws = Draws(1);
    let rotts: Vec<_> = (0..500).map(|_| draws.below(100_000_000)).collect();
    for algorithm in BuiltIn::at_receivers() {
        let with_offset = |offset: i64| {
            let packets = rotts
                .iter()
                .zip(0_i64..)
                .map(|(r, i)| packet(i as u64 * 3 / 2, i * 40_000_000, r + offset));
            judgements(algorithm.build(End::Receiver).expect("published parameters"), packets)
        };
        let ahead = with_offset(1_000_000_000_000);
        assert_eq!(with_offset(-1_000_000_000_000), ahead, "{algorithm}");
        if algorithm == BuiltIn::Spike {
            let wireless = ahead.iter().filter(|(_, j)| j.verdict.is_wireless()).count();
            assert!(
                wireless > 20 && wireless < ahead.len() - 20,
                "both states should occur: {wireless}"
            );
        }
    }
}

#[test]
fn b8_the_first_losses_are_not_forced_to_be_congestion() {
    // ROTTs of 50 ms, then a packet at 10 ms, well below anything seen, and a loss before every
    // packet after it: wireless from the first on.
    let packets = (0..10).map(|i| {
        packet(
            if i < 4 { i as u64 } else { 2 * i as u64 - 3 },
            i * 1_000_000,
            if i < 3 { 50_000_000 } else { 10_000_000 },
        )
    });
    for algorithm in [BuiltIn::ZigZag, BuiltIn::Zbs] {
        let verdicts = verdicts(
            algorithm.build(End::Receiver).expect("published parameters"),
            packets.clone(),
        );
        assert_eq!(verdicts[..5], [Verdict::Wireless; 5], "{algorithm}");
    }
}
