//! Streams of observations at a sender: generated, and recorded from simulated senders. Times are
//! in microseconds, as in the kernel.

use std::collections::VecDeque;
use std::fmt::Write;

use losscause::observe::Newest;
use losscause::{
    Acked, Algorithm, AnyAlgorithm, AtSender, End, Loss, Numbers, Observation, Signal, Span, Time,
    Verdict,
};
use losscause_sim::tcp::{Config, Variant};
use losscause_sim::{
    ChannelSpec, Detail, Event, FlowId, FlowSpec, Limit, LinkId, LinkSpec, Network, QueueSpec,
    Recorder, Seen, Simulation, TcpLda, Traffic,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// What a sender observes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream(Vec<Step>);

#[derive(Clone, Copy, Debug)]
enum Step {
    Ack(Ack),
    /// A packet of the gap that begins with this number is declared lost. Gaps are declared in
    /// their order.
    Lost(u64),
}

#[derive(Clone, Copy, Debug)]
struct Ack {
    at_us: i64,
    rtt_us: Option<i64>,
    new_data: bool,
    spanned: u32,
    missing: u32,
    cwnd: u32,
}

impl Stream {
    /// Every missing packet is declared lost after `delay` more ACKs.
    fn new(acks: impl IntoIterator<Item = Ack>, delay: usize) -> Self {
        let mut steps = Vec::new();
        let mut number = 0;
        let mut waiting: VecDeque<(usize, u64)> = VecDeque::new();
        for (i, ack) in acks.into_iter().enumerate() {
            steps.push(Step::Ack(ack));
            waiting.extend((0..ack.missing).map(|_| (i + delay, number)));
            number += u64::from(ack.spanned);
            while waiting.front().is_some_and(|(due, _)| *due <= i) {
                steps.extend(waiting.pop_front().map(|(_, first)| Step::Lost(first)));
            }
        }
        Self(steps)
    }

    /// The verdicts of the reference.
    pub(crate) fn verdicts(&self, lda: AnyAlgorithm) -> Vec<Verdict> {
        let mut lda = AtSender::new(lda);
        // Algorithms for senders take the round-trip time of every ACK, the others only those of
        // arrivals.
        let takes_every_rtt = lda.needs().acks;
        let mut newest = Newest::default();
        let mut verdicts = Vec::new();
        let mut number = 0;
        for step in &self.0 {
            match *step {
                Step::Ack(ack) => {
                    let at = Time::ZERO + Span::from_micros(ack.at_us);
                    let rtt = ack.rtt_us.map(Span::from_micros);
                    let last = number + u64::from(ack.missing.max(1)) - 1;
                    let mut acked = Acked::new(ack.new_data.into());
                    acked.missing = (ack.missing > 0).then_some(Numbers { first: number, last });
                    acked.cwnd_pkts = Some(ack.cwnd.into());
                    number += u64::from(ack.spanned);
                    let mut observation =
                        newest.advance(at, rtt, [ack.spanned, ack.missing]).with_acked(acked);
                    if takes_every_rtt {
                        observation.delay = rtt;
                    }
                    lda.observe(&observation);
                }
                Step::Lost(first) => {
                    let mut loss = Loss::new(Time::ZERO, Signal::Gap);
                    loss.numbers = Some(Numbers::one(first));
                    verdicts.push(lda.judge(&loss).verdict);
                }
            }
        }
        verdicts
    }

    /// The stream as `bpf/replay.c` reads it.
    pub(crate) fn lines(&self) -> String {
        let mut text = "s\n".to_owned();
        for step in &self.0 {
            match *step {
                Step::Ack(Ack { at_us, rtt_us, new_data, spanned, missing, cwnd }) => {
                    let rtt = rtt_us.unwrap_or(-1);
                    let new = u8::from(new_data);
                    writeln!(text, "a {at_us} {rtt} {new} {spanned} {missing} {cwnd}").unwrap();
                }
                Step::Lost(_) => text.push_str("l\n"),
            }
        }
        text
    }
}

/// Streams of random paths: RTTs that wander or stand still, in steps of 1 us or of 1 ms, lost
/// packets, ACKs without an RTT.
pub(crate) fn generated(count: usize) -> Vec<Stream> {
    let mut runner = TestRunner::deterministic();
    let streams = (stream(1), stream(1000)).prop_map(|(fine, coarse)| [fine, coarse]);
    (0..count).flat_map(|_| streams.new_tree(&mut runner).unwrap().current()).collect()
}

fn stream(step_us: i64) -> impl Strategy<Value = Stream> {
    let ack = (
        (0..40_i64, -2_000..2_000_i64, 0..100_u32),
        (1..4_u32, prop_oneof![9 => Just(0_u32), 1 => 1..7_u32]),
        (2..120_u32, 0..100_u32),
    );
    let path = (1_000..150_000_i64, 0..60_000_i64, 200..5_000_i64, 0..4_usize);
    (path, proptest::collection::vec(ack, 100..400)).prop_map(
        move |((base, most, gap, delay), acks)| {
            let mut at = 0;
            let mut queue = most / 3;
            let rounded = |us: i64| us / step_us * step_us;
            let acks = acks.into_iter().map(
                |((jitter, walk, kind), (arrived, missing), (cwnd, known))| {
                    let missing = if kind < 5 { 0 } else { missing };
                    at += gap * i64::from(arrived + missing) + jitter * gap / 40;
                    queue = (queue + walk).clamp(0, most);
                    let rtt_us = (known >= 3).then_some(rounded(base + queue).max(step_us));
                    // One ACK in twenty only fills older gaps, or acknowledges nothing.
                    let spanned = if kind < 5 { 0 } else { arrived + missing };
                    Ack { at_us: rounded(at), rtt_us, new_data: kind != 0, spanned, missing, cwnd }
                },
            );
            Stream::new(acks.collect::<Vec<_>>(), delay)
        },
    )
}

/// The ACKs of every flow's sender.
struct Acks(Vec<Vec<Ack>>);

impl Recorder for Acks {
    fn detail(&self) -> Detail {
        Detail::Windows
    }

    fn record(&mut self, _: &Event) {}

    fn looks(&self) -> bool {
        true
    }

    fn see(&mut self, flow: FlowId, _: End, seen: Seen<'_>) {
        if let Seen::Observed(observation) = seen {
            self.0[flow.0 as usize].push(Ack::from(observation));
        }
    }
}

impl From<&Observation> for Ack {
    fn from(observation: &Observation) -> Self {
        Self {
            at_us: (observation.at - Time::ZERO).as_nanos() / 1_000,
            rtt_us: observation.delay.map(|rtt| rtt.as_nanos() / 1_000),
            new_data: !observation.is_duplicate(),
            spanned: observation.spanned,
            missing: observation.missing,
            cwnd: observation.cwnd_pkts().unwrap() as u32,
        }
    }
}

/// The ACKs of senders with SACK over simulated links, each steered by another algorithm.
pub(crate) fn simulated() -> Vec<Stream> {
    use losscause::BuiltIn::{FlipFlop, Spike, VegasBuffer, Zbs, ZigZag};
    let mut streams = Vec::new();
    for (seed, algorithm) in [Spike, ZigZag, Zbs, FlipFlop, VegasBuffer].into_iter().enumerate() {
        for (loss, flows) in [(0.01, 1), (0.02, 3), (0.05, 1)] {
            let traffic = Traffic::Tcp {
                config: Config::rfc().with_variant(Variant::Sack),
                lda: TcpLda::Sender(algorithm.build(End::Sender).unwrap()),
            };
            let flow =
                |i| FlowSpec::new(format!("tcp {i}"), &[LinkId(0)], &[LinkId(1)], traffic.clone());
            let queue = |pkts| QueueSpec::DropTail { limit: Limit::Packets(pkts) };
            let wired =
                |name, pkts| LinkSpec::wired(name, 10_000_000, Span::from_millis(20), queue(pkts));
            let out = LinkSpec { channel: ChannelSpec::Bernoulli { loss }, ..wired("out", 34) };
            let network = Network {
                links: vec![out, wired("back", 1_000)],
                flows: (0..flows).map(flow).collect(),
            };
            let mut simulation = Simulation::new(&network, seed as u64 + 1).unwrap();
            let mut acks = Acks(vec![Vec::new(); flows]);
            simulation.run_until(Time::ZERO + Span::from_secs(60), &mut acks);
            streams.extend(acks.0.into_iter().map(|acks| Stream::new(acks, 3)));
        }
    }
    streams
}
