//! What holds for every algorithm at a sender, whatever it is fed: those of the papers and the
//! yardsticks.

use losscause::observe::Acked;
use losscause::{
    Algorithm, AtSender, BuiltIn, End, Judgement, LdaConfig, Loss, Numbers, Observation, Recovery,
    SenderDifferentiator, Signal, Span, Time, Verdict,
};
use proptest::prelude::*;

/// One packet: how long after the one before it is sent, its round-trip time, whether it arrives.
/// Microseconds.
type Op = (i64, i64, bool);

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec((1_i64..4_000, 20_000_i64..60_000, prop::bool::weighted(0.9)), 2..400)
}

/// The algorithm with the spans of its settings multiplied: those that it does not measure.
fn with_times_scaled(algorithm: BuiltIn, factor: i64) -> LdaConfig {
    let mut config = algorithm.config();
    match &mut config {
        LdaConfig::Zbs(zbs) => zbs.lock = zbs.lock * factor,
        LdaConfig::Spike(spike) => {
            if let losscause::lda::SpikeThresholds::Fixed { start, end } = &mut spike.thresholds {
                (*start, *end) = (*start * factor, *end * factor);
            }
        }
        LdaConfig::CdgTolerance(cdg) => cdg.rounding = cdg.rounding * factor,
        LdaConfig::FqRtt(fq_rtt) => fq_rtt.above_min = fq_rtt.above_min * factor,
        _ => {}
    }
    config
}

/// Every judgement on a flow whose times are multiplied by `factor` and then shifted by `offset`.
/// Losses are declared three packets later. The window is what is in flight. Revised judgements are
/// among them.
fn judgements(config: &LdaConfig, ops: &[Op], factor: i64, offset: i64) -> Vec<Judgement> {
    let scaled = |us: i64| Time::from_nanos(us * 1_000 * factor + offset);
    let mut sender = SenderDifferentiator::<_, losscause::ack::Fixed<512>>::new(
        config.build(End::Sender).expect("valid"),
    );
    let mut judged = Vec::new();
    let mut now = 0;
    let mut newest = 0;
    let mut acks = Vec::new();
    for (number, &(gap_us, rtt_us, arrives)) in (0..).zip(ops) {
        now += gap_us;
        acks.push((number, now, arrives.then_some(now + rtt_us)));
    }
    let sends: Vec<(u64, i64)> = acks.iter().map(|&(number, sent, _)| (number, sent)).collect();
    let mut unsent = sends.iter().peekable();
    let mut missing: Vec<u64> = Vec::new();
    // In the order of sending: ACKs that overtake would be reordering.
    for (number, _, acked) in acks {
        let Some(acked) = acked else {
            missing.push(number);
            continue;
        };
        newest = newest.max(acked);
        while let Some(&(sent_number, sent)) = unsent.next_if(|(_, sent)| *sent <= newest) {
            sender.on_sent(sent_number, scaled(sent));
        }
        sender.set_cwnd(sender.in_flight_pkts() as f64);
        sender.on_acked(number);
        judged.extend(sender.end_of_ack(scaled(newest), Some(number), &mut ()));
        let (late, still): (Vec<u64>, Vec<u64>) =
            missing.iter().partition(|lost| **lost + 3 <= number);
        missing = still;
        if !late.is_empty() {
            late.iter().for_each(|&lost| sender.on_lost(lost));
            judged.push(sender.declare(scaled(newest), Signal::Gap, &mut ()));
            assert!(
                sender.is_recovering()
                    && sender.declared().is_some_and(|loss| loss.lost_pkts as usize == late.len())
            );
        }
    }
    judged
}

fn verdicts(config: &LdaConfig, ops: &[Op], factor: i64) -> Vec<Verdict> {
    judgements(config, ops, factor, 0).into_iter().map(|judgement| judgement.verdict).collect()
}

/// An event with any numbers in it.
#[derive(Clone, Copy, Debug)]
enum Any {
    Ack(Observation),
    Loss(Loss),
    End(Recovery),
}

fn any_event() -> impl Strategy<Value = Any> {
    let time = || prop_oneof![(0_i64..1 << 40), any::<i64>()].prop_map(Time::from_nanos);
    let span = || prop_oneof![(0_i64..1 << 30), any::<i64>()].prop_map(Span::from_nanos);
    let ack = (time(), prop::option::of(span()), any::<u32>(), prop::option::of(any::<f64>()))
        .prop_map(|(at, rtt, pkts, cwnd_pkts)| {
            let mut acked = Acked::new(pkts.into());
            acked.cwnd_pkts = cwnd_pkts;
            let mut observation = Observation::first(1, at).with_delay(rtt).with_acked(acked);
            observation.spanned = pkts;
            Any::Ack(observation)
        });
    let signal = prop::sample::select(vec![
        Signal::Gap,
        Signal::Gap,
        Signal::Gap,
        Signal::Timeout,
        Signal::EcnMark,
        Signal::PersistentCongestion,
    ]);
    let numbers = prop::option::of((any::<u64>(), any::<u64>()));
    let loss = (
        time(),
        signal,
        numbers,
        any::<u32>(),
        prop::option::of(time()),
        prop::option::of(any::<f64>()),
    )
        .prop_map(|(at, signal, numbers, lost_pkts, sent_at, cwnd_pkts)| {
            let mut loss = Loss::new(at, signal);
            loss.numbers =
                numbers.map(|(a, b): (u64, u64)| Numbers { first: a.min(b), last: a.max(b) });
            (loss.lost_pkts, loss.sent_at, loss.cwnd_pkts) = (lost_pkts, sent_at, cwnd_pkts);
            Any::Loss(loss)
        });
    let end = (time(), time(), any::<u64>())
        .prop_map(|(began, ended, lost)| Any::End(Recovery::new(began, ended, lost)));
    prop_oneof![3 => ack, 2 => loss, 1 => end]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_input_makes_an_algorithm_panic_or_contradict_itself(events in prop::collection::vec(any_event(), 0..120)) {
        for &algorithm in BuiltIn::ALL {
            let mut lda = AtSender::new(algorithm.build(End::Sender).expect("published parameters"));
            for event in &events {
                match event {
                    Any::Ack(sample) => lda.observe(sample),
                    Any::Loss(loss) => {
                        lda.on_loss(loss);
                        // Not compared as values: a window that is no number makes a reason that is
                        // none.
                        let judgement = lda.judge(loss);
                        let again = lda.judge(loss);
                        prop_assert_eq!(judgement.to_string(), again.to_string(), "{}", algorithm);
                    }
                    Any::End(recovery) => _ = lda.on_recovered(recovery),
                }
            }
        }
    }

    #[test]
    fn the_zero_of_the_clock_changes_no_judgement(ops in ops(), offset in -(1_i64 << 60)..(1 << 60)) {
        for &algorithm in BuiltIn::ALL {
            let config = algorithm.config();
            prop_assert_eq!(judgements(&config, &ops, 1, offset), judgements(&config, &ops, 1, 0), "{}", algorithm);
        }
    }

    #[test]
    fn a_unit_that_is_a_power_of_two_changes_no_verdict(ops in ops(), power in 0_u32..12) {
        // Sift looks at the last second and at the last 100 ms, whatever the unit.
        let is_sift = |algorithm: &BuiltIn| matches!(algorithm, BuiltIn::Sift);
        for &algorithm in BuiltIn::ALL.iter().filter(|algorithm| !is_sift(algorithm)) {
            let scaled = verdicts(&with_times_scaled(algorithm, 1 << power), &ops, 1 << power);
            prop_assert_eq!(scaled, verdicts(&algorithm.config(), &ops, 1), "{}", algorithm);
        }
    }

    #[test]
    fn a_yardstick_always_decides(ops in ops()) {
        for algorithm in BuiltIn::yardsticks() {
            let judged = judgements(&algorithm.config(), &ops, 1, 0);
            let undecided = judged.iter().filter(|judgement| judgement.verdict == Verdict::Undecided).count();
            prop_assert_eq!(undecided, 0, "{}", algorithm);
        }
    }
}
