//! A sender with per-packet ACKs has enough information: an algorithm there gives the same verdicts
//! as at the receiver.

mod common;

use common::judgements;
use losscause::ack::{AckTracker, Fixed};
use losscause::lda::AsTold;
use losscause::verdict::Input;
use losscause::{
    Algorithm, BuiltIn, End, Judgement, Loss, Needs, Numbers, Observation, Packet, Reason,
    SenderDifferentiator, Signal, Span, Time, Verdict,
};
use proptest::prelude::*;

/// The delay of the reverse path is constant.
const BACK: Span = Span::from_millis(30);

/// One packet: how long after the one before it is sent, its way to the receiver, whether it
/// arrives. Microseconds.
type Op = (i64, i64, bool);

/// A packet that arrives: its number, when it was sent and when it arrived.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    number: u64,
    sent: Time,
    at: Time,
}

/// What is sent and what arrives of it, in order: packets never overtake each other.
fn flow(ops: &[Op]) -> (Vec<(u64, Time)>, Vec<Arrived>) {
    let mut sent = Vec::new();
    let mut arrived = Vec::new();
    let mut now = Time::ZERO;
    let mut last = Time::ZERO;
    for (number, &(gap_us, way_us, arrives)) in (0..).zip(ops) {
        now += Span::from_micros(gap_us);
        sent.push((number, now));
        if arrives {
            last = last.max(now + Span::from_micros(way_us));
            arrived.push(Arrived { number, sent: now, at: last });
        }
    }
    (sent, arrived)
}

/// Verdicts at the receiver, by number.
fn at_receiver(algorithm: BuiltIn, arrived: &[Arrived]) -> Vec<(u64, Verdict)> {
    let packets = arrived.iter().map(|p| Packet { seq: p.number, at: p.at, sent: Some(p.sent) });
    let judged = judgements(algorithm.build(End::Receiver).expect("published parameters"), packets);
    judged.into_iter().map(|(number, judgement)| (number, judgement.verdict)).collect()
}

/// Verdicts at a sender that learns of every arrival a little later and declares each missing
/// packet lost at once.
fn at_sender(
    algorithm: BuiltIn,
    sent: &[(u64, Time)],
    arrived: &[Arrived],
    named: bool,
) -> Vec<(u64, Verdict)> {
    let mut sender = SenderDifferentiator::<_, Fixed<512>>::new(
        algorithm.build(End::Sender).expect("published parameters"),
    );
    let mut verdicts = Vec::new();
    let mut sends = sent.iter().peekable();
    let mut expected = None;
    for packet in arrived {
        let now = packet.at + BACK;
        while let Some((number, at)) = sends.next_if(|(_, at)| *at <= now) {
            sender.on_sent(*number, *at);
        }
        if named {
            sender.on_acked(packet.number);
        } else {
            sender.on_acked_sent_at(packet.sent);
        }
        assert_eq!(
            sender.end_of_ack(now, Some(packet.number), &mut ()),
            None,
            "no published algorithm revises a verdict"
        );
        // A receiver cannot tell what is missing before its first packet.
        for lost in expected.unwrap_or(packet.number)..packet.number {
            sender.on_lost(lost);
            verdicts.push((lost, sender.declare(now, Signal::Gap, &mut ()).verdict));
        }
        expected = Some(packet.number + 1);
    }
    verdicts
}

const RECEIVERS: [BuiltIn; 6] = [
    BuiltIn::Biaz,
    BuiltIn::MBiaz,
    BuiltIn::Spike,
    BuiltIn::SpikeTobe,
    BuiltIn::ZigZag,
    BuiltIn::Zbs,
];

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec((1_i64..20_000, 10_000_i64..60_000, prop::bool::weighted(0.8)), 2..300)
}

proptest! {
    #[test]
    fn a_sender_with_per_packet_acks_says_what_its_receiver_says(ops in ops()) {
        let (sent, arrived) = flow(&ops);
        // The first packet arrives, so that both ends count from the same one.
        prop_assume!(arrived.first().is_some_and(|p| p.number == 0));
        for algorithm in RECEIVERS {
            let expected = at_receiver(algorithm, &arrived);
            prop_assert_eq!(&at_sender(algorithm, &sent, &arrived, true), &expected, "{}", algorithm);
            prop_assert_eq!(&at_sender(algorithm, &sent, &arrived, false), &expected, "{} without numbers", algorithm);
        }
    }

    /// Bursts sent at one instant, acknowledged in any grouping, without numbers: the tracker
    /// misses as many as are missing.
    #[test]
    fn send_times_and_the_largest_number_count_missing_packets(
        bursts in prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.7), 1..6), 1..30),
    ) {
        let mut tracker = AckTracker::<Fixed<256>>::default();
        let mut number = 0;
        let mut missing = 0;
        for (burst, arrives) in bursts.iter().enumerate() {
            let at = Time::from_nanos(burst as i64 * 1_000_000);
            let first = number;
            for _ in arrives {
                tracker.on_sent(number, at);
                number += 1;
            }
            let Some(last) = arrives.iter().rposition(|a| *a) else { continue };
            arrives.iter().filter(|a| **a).for_each(|_| tracker.on_acked_sent_at(at));
            let sample = tracker.end_of_ack(at + BACK, Some(first + last as u64)).expect("something new");
            prop_assert!(sample.missing < sample.spanned);
            missing += sample.missing;
        }
        let flat: Vec<bool> = bursts.concat();
        let newest = flat.iter().rposition(|a| *a).unwrap_or(0);
        prop_assert_eq!(missing as usize, flat[..newest].iter().filter(|a| !**a).count());
        let in_flight = flat.len() - flat.iter().filter(|a| **a).count();
        prop_assert_eq!(tracker.in_flight_pkts() as usize, in_flight);
    }

    /// Hostile input: any numbers and times, in any order.
    #[test]
    fn no_input_makes_a_tracker_panic_or_miss_more_than_it_spans(
        calls in prop::collection::vec((0_u8..6, 0_u64..40, any::<i64>()), 0..300),
    ) {
        let mut sender = SenderDifferentiator::<_, Fixed<16>>::new(BuiltIn::Zbs.build(End::Sender).expect("published parameters"));
        let mut tracker = AckTracker::<Fixed<16>>::default();
        for (call, number, time) in calls {
            let at = Time::from_nanos(time);
            match call {
                0 => (sender.on_sent(number, at), tracker.on_sent(number, at)),
                1 => (sender.on_acked(number), tracker.on_acked(number)),
                2 => (sender.on_acked_sent_at(at), tracker.on_acked_sent_at(at)),
                3 => (sender.on_lost(number), tracker.on_lost(number)),
                4 => (sender.on_lost_bytes(at, number * 1_000, number), tracker.on_resent(number)),
                _ => (_ = sender.declare(at, Signal::Gap, &mut ()), _ = tracker.declare(at, Signal::Timeout)),
            };
            sender.end_of_ack(at, Some(number), &mut ());
            if let Some(sample) = tracker.end_of_ack(at, (number > 20).then_some(number)) {
                prop_assert!(sample.spanned == 0 || sample.missing < sample.spanned);
                prop_assert!(sample.acked.is_some_and(|acked| acked.in_flight_pkts <= 16));
            }
        }
    }
}

#[test]
fn every_receivers_algorithm_decides_at_a_sender_like_quic() {
    // A queue that fills and empties, a packet every 10 ms, every 17th lost: fed like a QUIC stack
    // that names no numbers.
    let ops: Vec<Op> = (0..400).map(|i| (10_000, 30_000 + 500 * (i % 40), i % 17 != 16)).collect();
    let (sent, arrived) = flow(&ops);
    for algorithm in RECEIVERS {
        let verdicts = at_sender(algorithm, &sent, &arrived, false);
        assert_eq!(verdicts.len(), 23);
        assert!(
            verdicts.iter().all(|(_, verdict)| *verdict != Verdict::Undecided),
            "{algorithm}: {verdicts:?}"
        );
    }
}

#[test]
fn marks_timeouts_and_persistent_congestion_are_congestion() {
    for signal in [Signal::EcnMark, Signal::Timeout, Signal::PersistentCongestion] {
        let mut sender = SenderDifferentiator::<_, Fixed<8>>::new(
            BuiltIn::AlwaysWireless.build(End::Sender).expect("published parameters"),
        );
        let judgement = sender.declare(Time::ZERO, signal, &mut ());
        assert_eq!(
            (judgement.verdict, judgement.reason),
            (Verdict::Congestion, Reason::Signalled { signal })
        );
    }
}

/// Calls a loss congestion, and wireless once its recovery turns out to have lost one packet only:
/// quiche's roll-back.
#[derive(Default)]
struct SecondThoughts {
    losses: Vec<(u32, Signal)>,
    recoveries: Vec<u64>,
}

impl Algorithm for SecondThoughts {
    fn name(&self) -> &'static str {
        "second thoughts"
    }
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn observe(&mut self, _: &Observation) {}
    fn on_loss(&mut self, loss: &Loss) {
        self.losses.push((loss.lost_pkts, loss.signal));
    }
    fn judge(&self, loss: &Loss) -> Judgement {
        ().judge(loss)
    }
    fn on_recovered(&mut self, recovery: &losscause::Recovery) -> Option<Judgement> {
        self.recoveries.push(recovery.lost_pkts);
        let reason = Reason::Missing { input: Input::Other("a second lost packet") };
        (recovery.lost_pkts == 1).then_some(Judgement::new(Verdict::Wireless, reason))
    }
}

#[test]
fn an_algorithm_learns_a_recoverys_losses_and_may_revise() {
    let ms = |ms| Time::ZERO + Span::from_millis(ms);
    let mut sender = SenderDifferentiator::<_, Fixed<64>>::new(SecondThoughts::default());
    let mut revised = Vec::new();
    // A packet every 10 ms, acknowledged 50 ms later; 7 is lost, and later 20 and 22. Each is
    // declared three packets later.
    for number in 0..40 {
        sender.on_sent(number, ms(10 * number as i64));
        let Some(acked) = number.checked_sub(5).filter(|n| ![7, 20, 22].contains(n)) else {
            continue;
        };
        let now = ms(10 * number as i64);
        sender.on_acked(acked);
        revised.extend(
            sender.end_of_ack(now, None, &mut ()).map(|judgement| (acked, judgement.verdict)),
        );
        if [10, 23, 25].contains(&acked) {
            sender.on_lost(acked - 3);
            assert_eq!(sender.declare(now, Signal::Gap, &mut ()).verdict, Verdict::Congestion);
        }
    }
    // Packet 15 was sent when 10 was acknowledged; 16 is the first one sent after the recovery
    // began.
    assert_eq!(revised, [(16, Verdict::Wireless)]);
    assert_eq!(sender.algorithm().recoveries, [1, 2]);
    assert_eq!(sender.algorithm().losses, [(1, Signal::Gap); 3]);
}

#[test]
fn a_need_that_a_transport_cannot_meet_is_named() {
    let provided = Needs::NONE.with_acks().with_spacing().with_gap_size();
    let lacks = |needs: Needs| needs.first_missing_from(provided);
    assert_eq!(
        lacks(BuiltIn::Biaz.build(End::Sender).expect("published parameters").needs()),
        None
    );
    assert_eq!(
        lacks(BuiltIn::ZigZag.build(End::Sender).expect("published parameters").needs()),
        Some("the delay of every arrival")
    );
    assert_eq!(
        lacks(BuiltIn::VegasBuffer.build(End::Sender).expect("published parameters").needs()),
        Some("a congestion window")
    );
    assert_eq!(lacks(AsTold.needs()), Some("the receiver's label"));
}

#[test]
fn without_a_window_the_vegas_buffer_rule_says_so() {
    let mut lda = BuiltIn::VegasBuffer.build(End::Sender).expect("published parameters");
    lda.observe(&Observation::first(0, Time::ZERO).with_delay(Some(Span::from_millis(50))));
    let mut loss = Loss::new(Time::ZERO, Signal::Gap);
    loss.numbers = Some(Numbers::one(3));
    assert_eq!(lda.judge(&loss).to_string(), "a congestion window is missing: undecided");
}
