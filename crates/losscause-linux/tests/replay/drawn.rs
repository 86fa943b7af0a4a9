//! `lc_spike` as a whole on drawn connections, whose sequence numbers wrap somewhere, against the
//! rule and the caps of the crate: every loss gets the same verdict, for the same reason, at the same
//! place.

use losscause::caps::{CapCounts, Caps, Refusal};
use losscause::observe::Newest;
use losscause::{
    Acked, Algorithm as _, AnyAlgorithm, AtSender, End, Loss, Numbers, Safeguards, Signal, Span,
    Time, Verdict,
};
use losscause_linux::kernel::Algorithm;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::connection::{
    BY_RULE, CONGESTION, Logged, MSS, RTT_US, RUN_CAP, SHARE_CAP, Sender, WIRELESS,
};

/// What happens next to a connection.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Twice so many packets arrive, two by ACK.
    Deliver(u32),
    /// A packet arrives behind the two after it.
    Reorder,
    /// So many packets are lost and sent again.
    Lose(u32),
    /// One ACK delivers so many packets.
    DeliverAtOnce(u32),
}

/// Steps, each with what its round trips take more than the least one, us.
type Steps = Vec<(Step, u64)>;

fn steps() -> impl Strategy<Value = Steps> {
    let step = prop_oneof![
        8 => (1..60_u32).prop_map(Step::Deliver),
        2 => Just(Step::Reorder),
        8 => prop_oneof![4 => 1..4_u32, 1 => 1..30_u32].prop_map(Step::Lose),
        1 => (1..3_000_u32).prop_map(Step::DeliverAtOnce),
    ];
    let queued_us = prop_oneof![3 => Just(0_u64), 1 => 0..60_000_u64];
    proptest::collection::vec((step, queued_us), 20..200)
}

/// The rule and the caps in Rust, beside the sender that the program sees.
struct Reference {
    rule: AtSender<AnyAlgorithm>,
    newest: Newest,
    /// Packets before this number have arrived or are missing.
    known: u32,
    caps: CapCounts,
    sender: Sender,
    expected: Vec<Logged>,
}

impl Reference {
    fn new(first_seq: u32, caps: Caps, rule: AnyAlgorithm) -> Self {
        Self {
            rule: AtSender::new(rule),
            newest: Newest::default(),
            known: 0,
            caps: CapCounts::new(caps),
            sender: Sender::new(first_seq),
            expected: Vec::new(),
        }
    }

    /// As [`Sender::ack`]: at most one block, which then is the newest.
    fn ack(&mut self, una: u32, block: Option<(u32, u32)>, pkts: u32) {
        let (from, to) = block.unwrap_or((una, una));
        let before = self.known.max(una);
        let missing = from.saturating_sub(before);
        let spanned = to.saturating_sub(self.known);
        let mut acked = Acked::new(pkts.into());
        let first = u64::from(before);
        let last = first + u64::from(missing.max(1)) - 1;
        acked.missing = (missing > 0).then_some(Numbers { first, last });
        self.known = self.known.max(to);
        self.sender.ack(una, block.as_slice(), pkts);
        let at = Time::ZERO + Span::from_micros(self.sender.at_us as i64);
        let rtt = Some(Span::from_micros(self.sender.rtt_us as i64));
        let mut observation = self.newest.advance(at, rtt, [spanned, missing]).with_acked(acked);
        observation.delay = rtt;
        self.rule.observe(&observation);
        self.caps.on_acked(pkts);
    }

    fn lose(&mut self, lost: u32) {
        let first = self.sender.una;
        for arrived in 1..=3 {
            self.ack(first, Some((first + lost, first + lost + arrived)), 1);
        }
        self.sender.declare(lost);
        self.caps.on_lost(lost, false);
        let mut loss = Loss::new(Time::ZERO, Signal::Gap);
        loss.numbers = Some(Numbers::one(first.into()));
        let by_rule = self.rule.judge(&loss).verdict;
        let allowed = by_rule.is_wireless().then(|| self.caps.ignore(lost));
        let (verdict, reason) = match allowed {
            None => (CONGESTION, BY_RULE),
            Some(Ok(())) => (WIRELESS, BY_RULE),
            Some(Err(Refusal::Run)) => (CONGESTION, RUN_CAP),
            Some(Err(_)) => (CONGESTION, SHARE_CAP),
        };
        assert_ne!(by_rule, Verdict::Undecided, "Spike has an answer");
        if verdict == CONGESTION {
            self.caps.restart_run();
        }
        self.expected.push(Logged { verdict, reason, pkts: lost, first: Some(first) });
        self.ack(first + lost + 3, None, lost);
        self.sender.end_recovery();
    }

    fn step(&mut self, step: Step) {
        let first = self.sender.una;
        match step {
            Step::Deliver(acks) => (1..=acks).for_each(|ack| self.ack(first + 2 * ack, None, 2)),
            Step::Reorder => {
                self.ack(first, Some((first + 1, first + 3)), 2);
                self.ack(first + 3, None, 1);
            }
            Step::Lose(lost) => self.lose(lost),
            Step::DeliverAtOnce(pkts) => self.ack(first + pkts, None, pkts),
        }
    }
}

#[test]
fn drawn_connections_that_wrap_have_the_same_verdicts_under_caps() {
    let mut runner = TestRunner::deterministic();
    let caps = [(2, 1.0), (20, 0.02), (1_000, 0.1), (5, 0.05), (0, 1.0)];
    let mut counted = [0; 4];
    let mut wrapped = 0;
    for number in 0..400 {
        let (max_run, max_share) = caps[number % caps.len()];
        let drawn = (steps(), any::<u32>()).new_tree(&mut runner).unwrap().current();
        let (steps, place) = drawn;
        let set = [
            format!("max_run={max_run}"),
            format!("max_share={max_share}"),
            "guard=false".to_owned(),
            "brake=false".to_owned(),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let mut settings = Algorithm::find("lc_spike").unwrap().settings();
        set.iter().for_each(|setting| settings.set(setting).unwrap());
        // The program's share is a multiple of 2^-18.
        let max_share = settings.words().unwrap()[1] as f64 / f64::from(1 << 18);
        let caps = Caps { max_run, max_share, max_loss_rate: 1.0, safeguards: Safeguards::OFF };
        // The numbers wrap within the first 4 million bytes; most connections have more.
        let first_seq = 0_u32.wrapping_sub(place % 4_000_000);
        let rule = settings.lda().build(End::Sender).unwrap();
        let mut reference = Reference::new(first_seq, caps, rule);
        for &(step, queued_us) in &steps {
            reference.sender.rtt_us = RTT_US + queued_us;
            reference.step(step);
        }
        let logged = reference.sender.logged(&set);
        assert_eq!(logged, reference.expected, "connection {number}: {set:?}, {first_seq}");
        let bytes = u64::from(reference.sender.una) * u64::from(MSS);
        wrapped += u32::from(u64::from(first_seq) + bytes >= 1 << 32);
        for Logged { verdict, reason, .. } in logged {
            counted[match (verdict, reason) {
                (WIRELESS, _) => 0,
                (_, BY_RULE) => 1,
                (_, RUN_CAP) => 2,
                _ => 3,
            }] += 1;
        }
    }
    println!("ignored, by rule, run cap, share cap: {counted:?}; {wrapped} of 400 wrap");
    assert!(wrapped > 300, "{wrapped} connections");
    assert!(counted.iter().all(|&count| count > 200), "{counted:?}");
}
