//! Invariants of every algorithm under any arrivals: one harness of typed operations, run over all
//! of them.

mod common;

use common::judgements;
use losscause::filter::{Extremes, Lookback, Minimum};
use losscause::registry::Value;
use losscause::verdict::Limit;
use losscause::{
    Algorithm, BuiltIn, Differentiator, End, Judgement, LdaConfig, Loss, Needs, Observation,
    Observed, Observer, Packet, Reason, Span, Time, Verdict,
};
use proptest::prelude::*;

/// The events in a flow of packets.
#[derive(Clone, Debug)]
enum Op {
    /// The next packet arrives, so long after the last one and with such a trip time.
    Arrive { after_ns: i64, rott_ns: i64 },
    /// The next packets are lost.
    Lose(u8),
    /// The next packet is held back: it comes after the one that follows.
    Reorder,
    /// A packet that arrived, so many arrivals ago, comes again.
    Duplicate(u8),
    /// The next packet carries no timestamp.
    WithoutTimestamp,
    /// The receiver's clock is set forward or back.
    SetReceiverClock(i64),
    /// The sender's clock is set forward or back.
    SetSenderClock(i64),
    /// The sequence numbers jump.
    JumpTo(u64),
}

fn arrival() -> impl Strategy<Value = Op> {
    let after_ns = 100_000_i64..90_000_000;
    let rott_ns = 0_i64..400_000_000;
    prop_oneof![
        // A saturated link, and one with anything on it.
        4 => rott_ns.clone().prop_map(|rott_ns| Op::Arrive { after_ns: 40_640_000, rott_ns }),
        4 => (after_ns, rott_ns).prop_map(|(after_ns, rott_ns)| Op::Arrive { after_ns, rott_ns }),
    ]
}

fn ordinary() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(prop_oneof![8 => arrival(), 2 => (1_u8..6).prop_map(Op::Lose)], 1..300)
}

fn anything() -> impl Strategy<Value = Vec<Op>> {
    let clock = prop_oneof![-4_000_000_000_i64..4_000_000_000, any::<i64>()];
    let op = prop_oneof![
        12 => arrival(),
        3 => (1_u8..80).prop_map(Op::Lose),
        1 => Just(Op::Reorder),
        1 => any::<u8>().prop_map(Op::Duplicate),
        1 => Just(Op::WithoutTimestamp),
        1 => clock.clone().prop_map(Op::SetReceiverClock),
        1 => clock.prop_map(Op::SetSenderClock),
        1 => any::<u64>().prop_map(Op::JumpTo),
    ];
    prop::collection::vec(op, 1..200)
}

/// The packets as they arrive.
fn packets(ops: &[Op]) -> Vec<Packet> {
    let mut arrived: Vec<Packet> = Vec::new();
    let mut seq = 0_u64;
    let mut at = 1_000_000_i64;
    let mut sender_offset = 0_i64;
    let mut timestamp = true;
    let mut held_back = None;
    for op in ops {
        match *op {
            Op::Arrive { after_ns, rott_ns } => {
                at = at.wrapping_add(after_ns);
                let sent = at.wrapping_sub(rott_ns).wrapping_add(sender_offset);
                let sent =
                    std::mem::replace(&mut timestamp, true).then_some(Time::from_nanos(sent));
                let packet = Packet { seq, at: Time::from_nanos(at), sent };
                seq = seq.wrapping_add(1);
                arrived.push(packet);
                if let Some(late) = held_back.take() {
                    arrived.push(Packet { seq: late, ..packet });
                }
            }
            Op::Lose(n) => seq = seq.wrapping_add(u64::from(n)),
            Op::Reorder => {
                held_back = Some(seq);
                seq = seq.wrapping_add(1);
            }
            Op::Duplicate(back) => {
                if let Some(old) =
                    arrived.len().checked_sub(usize::from(back) + 1).map(|i| arrived[i])
                {
                    arrived.push(Packet { at: Time::from_nanos(at), ..old });
                }
            }
            Op::WithoutTimestamp => timestamp = false,
            Op::SetReceiverClock(by) => at = at.wrapping_add(by),
            Op::SetSenderClock(by) => sender_offset = sender_offset.wrapping_add(by),
            Op::JumpTo(to) => seq = to,
        }
    }
    arrived
}

/// An LDA under watch: a judgement must fit its reason and must be the same when asked again.
struct Watched<L>(L);

impl<A: Algorithm> Algorithm for Watched<A> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn needs(&self) -> Needs {
        self.0.needs()
    }
    fn observe(&mut self, arrival: &Observation) {
        assert!(arrival.spanned == arrival.missing + 1);
        assert!(arrival.since_last.is_none_or(|interval| interval.span >= Span::ZERO));
        self.0.observe(arrival);
    }
    fn judge(&self, loss: &Loss) -> Judgement {
        let judgement = self.0.judge(loss);
        assert_eq!(self.0.judge(loss), judgement, "asked again");
        match judgement.reason {
            Reason::Measured(evidence) => {
                assert_eq!(evidence.scheme, self.0.scheme());
                assert!(evidence.lost.is_none_or(|lost| lost == loss.lost_in_gap()));
                let value = evidence.value.value();
                let is_wireless = |limit: &Limit| {
                    let at = limit.at.value();
                    match limit.name {
                        "wireless from" => value >= at,
                        "wireless below" => value < at,
                        "wireless above" => value > at,
                        // Spike's state has a history; the limit is where it changes next.
                        "enters above" => true,
                        "exits below" | "too many called wireless, else wireless above" => false,
                        other => panic!("{other}"),
                    }
                };
                assert_eq!(
                    judgement.verdict.is_wireless(),
                    evidence.limits().all(is_wireless),
                    "{judgement}"
                );
                assert!(
                    judgement
                        .probability
                        .is_none_or(|probability| (probability > 0.5) == (value > 0.0))
                );
            }
            Reason::Missing { .. } => assert_eq!(judgement.verdict, Verdict::Undecided),
            Reason::Stated { .. } => assert_eq!(self.0.needs(), Needs::default()),
            other => panic!("{other} is no reason of a receiver's algorithm"),
        }
        assert_eq!(
            judgement.verdict == Verdict::Undecided,
            matches!(judgement.reason, Reason::Missing { .. })
        );
        let sentence = judgement.to_string();
        assert!(
            !sentence.contains('\n') && sentence.ends_with(&judgement.verdict.to_string()),
            "{sentence}"
        );
        judgement
    }
    fn scheme(&self) -> &'static str {
        self.0.scheme()
    }
}

#[derive(Default)]
struct Counts {
    arrivals: u64,
    losses: u64,
}

impl Observer for Counts {
    fn on_observation(&mut self, _: &Observation, scheme: &'static str) {
        assert!(BuiltIn::from_name(scheme).is_some());
        self.arrivals += 1;
    }
    fn on_judged(&mut self, loss: &Loss, _: &Judgement) {
        let revealed_by = loss.revealed_by.expect("at a receiver");
        assert!(loss.numbers.expect("numbered").last < revealed_by.seq);
        self.losses += 1;
    }
}

/// Every algorithm as published, and with windowed extremes if it has any.
fn configs() -> Vec<LdaConfig> {
    let published: Vec<LdaConfig> = BuiltIn::at_receivers().map(BuiltIn::config).collect();
    let windows = [("window_ms", 400.0), ("window_pkts", 12.0)];
    let windowed = published
        .iter()
        .flat_map(|config| windows.map(|(key, value)| with_window(config, key, value)));
    published.iter().cloned().chain(windowed.flatten()).collect()
}

/// The configuration with this limit in every window that it has; none if it has none.
fn with_window(config: &LdaConfig, key: &str, value: f64) -> Option<LdaConfig> {
    let mut windowed = config.clone();
    let keys = [key.to_owned(), format!("mbiaz.{key}"), format!("spike.{key}")];
    let set = keys.iter().filter(|key| windowed.set(key, Value::Number(value)).is_ok()).count();
    (set > 0).then_some(windowed)
}

/// Those whose verdicts do not depend on the unit of time. Sift's do: it looks at the last second.
fn without_a_unit() -> impl Iterator<Item = LdaConfig> {
    configs().into_iter().filter(|config| !matches!(config, LdaConfig::Sift(_)))
}

/// The spans that an algorithm does not measure multiplied: the lock of ZBS, Tobe's thresholds,
/// windows.
fn with_times_scaled(config: &LdaConfig, factor: i64) -> impl Algorithm + use<> {
    let mut config = config.clone();
    match &mut config {
        LdaConfig::Zbs(zbs) => {
            zbs.lock = zbs.lock * factor;
            zbs.mbiaz.window.time = zbs.mbiaz.window.time * factor;
            zbs.spike.window.time = zbs.spike.window.time * factor;
        }
        LdaConfig::Spike(spike) => {
            spike.window.time = spike.window.time * factor;
            if let losscause::lda::SpikeThresholds::Fixed { start, end } = &mut spike.thresholds {
                (*start, *end) = (*start * factor, *end * factor);
            }
        }
        LdaConfig::Biaz(biaz) => biaz.window.time = biaz.window.time * factor,
        _ => {}
    }
    config.build(End::Receiver).expect("scaled parameters are valid")
}

fn scaled(packets: &[Packet], factor: i64) -> impl Iterator<Item = Packet> {
    let scale = move |t: Time| Time::from_nanos(t.as_nanos() * factor);
    packets.iter().map(move |p| Packet { seq: p.seq, at: scale(p.at), sent: p.sent.map(scale) })
}

fn verdicts_scaled(config: &LdaConfig, packets: &[Packet], factor: i64) -> Vec<(u64, Verdict)> {
    let judged = judgements(with_times_scaled(config, factor), scaled(packets, factor));
    judged.into_iter().map(|(seq, judgement)| (seq, judgement.verdict)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_input_makes_an_algorithm_panic_or_contradict_itself(ops in anything()) {
        let packets = packets(&ops);
        for config in configs() {
            let mut differentiator = Differentiator::new(Watched(config.build(End::Receiver).expect("valid")));
            let mut counts = Counts::default();
            let mut in_order = 0;
            let mut missing = 0;
            for &packet in &packets {
                if let Observed::InOrder(arrival) = differentiator.on_packet(packet, &mut counts) {
                    in_order += 1;
                    missing += u64::from(arrival.missing);
                }
            }
            prop_assert_eq!((counts.arrivals, counts.losses), (in_order, missing));
        }
    }

    #[test]
    fn the_offset_of_the_senders_clock_changes_no_bit(ops in ordinary(), offset in any::<i64>()) {
        let packets = packets(&ops);
        let sent = |p: &Packet| p.sent.map(|s| Time::from_nanos(s.as_nanos().wrapping_add(offset)));
        for config in configs() {
            let shifted = packets.iter().map(|p| Packet { sent: sent(p), ..*p });
            prop_assert_eq!(
                judgements(config.build(End::Receiver).expect("valid"), shifted),
                judgements(config.build(End::Receiver).expect("valid"), packets.iter().copied()),
                "{:?}", config
            );
        }
    }

    #[test]
    fn a_unit_that_is_a_power_of_two_changes_no_verdict(ops in ordinary(), power in 0_u32..12) {
        let packets = packets(&ops);
        for config in without_a_unit() {
            let scaled = verdicts_scaled(&config, &packets, 1 << power);
            prop_assert_eq!(scaled, verdicts_scaled(&config, &packets, 1), "{:?}", config);
        }
    }

    /// Rounding may differ here, but only where a value lies within rounding of its limit; that
    /// nanoseconds drawn from hundreds of millions do so does not happen.
    #[test]
    fn a_unit_a_thousand_times_smaller_changes_no_verdict(ops in ordinary()) {
        let packets = packets(&ops);
        for config in without_a_unit() {
            let scaled = verdicts_scaled(&config, &packets, 1_000);
            prop_assert_eq!(scaled, verdicts_scaled(&config, &packets, 1), "{:?}", config);
        }
    }

    /// `late` picks lost packets that arrive after all, some packets after the gap, perhaps twice;
    /// `again` repeats packets that arrived.
    #[test]
    fn late_packets_and_duplicates_change_no_judgement(
        ops in ordinary(),
        extra in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..70, 0_i64..50_000_000), 0..60),
    ) {
        let clean = packets(&ops);
        prop_assume!(!clean.is_empty());
        let mut disturbed: Vec<(usize, Packet)> = clean.iter().copied().enumerate().collect();
        for (index, back, wait_ns) in extra {
            let i = index.index(clean.len());
            let at = clean[i].at + Span::from_nanos(wait_ns);
            if let Some(seq) = clean[i].seq.checked_sub(back).filter(|seq| *seq >= clean[0].seq) {
                disturbed.push((i, Packet { seq, at, sent: Some(Time::ZERO) }));
            }
        }
        disturbed.sort_by_key(|(i, _)| *i);
        for config in configs() {
            prop_assert_eq!(
                judgements(config.build(End::Receiver).expect("valid"), disturbed.iter().map(|(_, p)| *p)),
                judgements(config.build(End::Receiver).expect("valid"), clean.iter().copied()),
                "{:?}", config
            );
        }
    }

    #[test]
    fn a_window_longer_than_the_flow_is_the_published_rule(ops in ordinary()) {
        let packets = packets(&ops);
        let verdicts = |config: &LdaConfig| judgements(config.build(End::Receiver).expect("valid"), packets.iter().copied());
        for config in BuiltIn::at_receivers().map(BuiltIn::config) {
            for (key, value) in [("window_ms", 1e12), ("window_pkts", 1e9)] {
                if let Some(windowed) = with_window(&config, key, value) {
                    prop_assert_eq!(verdicts(&windowed), verdicts(&config), "{:?}", config);
                }
            }
        }
    }

    /// Held against a search through all values.
    #[test]
    fn extremes_are_of_the_last_three_quarters_to_all_of_a_window(
        values in prop::collection::vec((0_i64..60, -500_i64..500), 1..200),
        length in 4_i64..400,
    ) {
        let window = Lookback { time: Span::from_nanos(length / 4 * 4), pkts: 0 };
        let mut extremes = Extremes::over(window);
        let mut minimum = Minimum::over(window);
        let mut now = 0;
        let mut seen = Vec::new();
        for (after, value) in values {
            now += after;
            let span = Span::from_nanos(value);
            let at = Time::from_nanos(now);
            minimum.forget(at);
            minimum.observe(span);
            let position = extremes.observe(span, at);
            seen.push((now, value));
            let since = |age: i64| seen.iter().filter(move |(at, _)| now - at <= age).map(|(_, value)| *value);
            let all = window.time.as_nanos();
            let most = window.time.as_nanos() / 4 * 3;
            let min = value - position.above_min.as_nanos();
            let max = min + extremes.range().expect("fed").as_nanos();
            prop_assert!(since(all).min() <= Some(min) && Some(min) <= since(most).min());
            prop_assert!(since(most).max() <= Some(max) && Some(max) <= since(all).max());
            prop_assert!(min <= value && value <= max, "never beyond the last value");
            let positive = |age| since(age).filter(|value| *value > 0).min();
            let t_min = minimum.get().map(Span::as_nanos);
            prop_assert!(t_min.is_some() || positive(most).is_none());
            prop_assert!(t_min.is_none() || (positive(all) <= t_min && positive(most).is_none_or(|min| t_min <= Some(min))));
        }
    }
}

#[test]
fn a_forged_number_does_not_bring_a_judgement_for_each_below() {
    for algorithm in BuiltIn::at_receivers() {
        let packets = packets(&[
            Op::Arrive { after_ns: 1_000, rott_ns: 5 },
            Op::JumpTo(u64::MAX),
            Op::Arrive { after_ns: 1_000, rott_ns: 5 },
            Op::JumpTo(1 << 32),
            Op::Arrive { after_ns: 1_000, rott_ns: 5 },
        ]);
        assert!(
            judgements(algorithm.build(End::Receiver).expect("published parameters"), packets)
                .is_empty(),
            "{algorithm}"
        );
    }
}

#[test]
fn without_timestamps_algorithms_that_need_them_do_not_decide() {
    for algorithm in BuiltIn::at_receivers() {
        let packets = (0..50).map(|i: i64| Packet {
            seq: i as u64 * 2,
            at: Time::from_nanos(i * 1_000),
            sent: None,
        });
        let judged =
            judgements(algorithm.build(End::Receiver).expect("published parameters"), packets);
        assert_eq!(judged.len(), 49);
        if algorithm.build(End::Receiver).expect("published parameters").needs().delay {
            assert!(
                judged.iter().all(|(_, j)| matches!(j.reason, Reason::Missing { .. })),
                "{algorithm}"
            );
        }
    }
}
