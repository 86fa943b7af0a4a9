//! Sender and receiver over a pipe with losses from a bit mask, and under arbitrary calls by a
//! driver.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Link, Pipe};
use losscause::{BuiltIn, Differentiator, End, Span, Time};
use losscause_transport::Ecn;
use losscause_transport::tcp::{
    Ack, AckEvent, Answer, Config, CongestionControl, LossEvent, OwnControl, Quirks, Receiver,
    RecoveryScheme, ResponseScheme, SackBlocks, Segment, Sender, TimeoutEvent, Variant,
    VegasParameters, VegasRules, WestwoodVtParameters, Window,
};
use proptest::prelude::*;

const LINK: Link = Link { rate_bps: 1e6, delay_s: 0.02, queue_pkts: 1000 };

/// Sends 200 packets over a pipe that loses transmission i if bit i of the mask is set; all arrive
/// in the end.
fn transfer(config: Config, mask: u128) -> Pipe<impl FnMut(u64) -> bool> {
    let config = Config { limit_pkts: Some(200), ..config };
    let mut pipe = Pipe::new(&config, LINK, move |i| i < 128 && mask >> i & 1 == 1);
    pipe.run(3_600.0);
    assert!(pipe.sender.is_finished());
    assert_eq!(pipe.receiver.delivered_packets(), 200);
    assert_eq!(pipe.receiver.received_packets(), 200);
    pipe
}

fn rfc() -> Config {
    Config { payload_bytes: 1000, ..Config::rfc() }
}

#[test]
fn without_loss_nothing_is_sent_twice() {
    for config in [rfc(), Config::ns2(), Config::ns2_classic(), Config::ns2_2001()] {
        let pipe = transfer(config, 0);
        assert_eq!(pipe.sender.stats().retransmissions, 0);
        assert_eq!(pipe.sender.stats().timeouts, 0);
    }
}

#[test]
fn a_loss_in_a_large_window_costs_a_fast_resend_and_no_timeout() {
    for config in [rfc(), Config::ns2(), Config::ns2_classic(), Config::ns2_2001()] {
        let stats = transfer(config, 1 << 60).sender.stats();
        assert_eq!((stats.fast_retransmits, stats.timeouts, stats.retransmissions), (1, 0, 1));
    }
}

#[test]
fn two_losses_in_a_window_cost_two_fast_resends_or_a_timeout() {
    let mask = 1 << 60 | 1 << 63;
    // The receiver's window leaves room for new packets during recovery, whose duplicate ACKs
    // reveal the second loss.
    let stats = transfer(Config { max_window_pkts: 200, ..rfc() }, mask).sender.stats();
    assert_eq!((stats.fast_retransmits, stats.timeouts), (2, 0));
    let stats = transfer(Config { max_window_pkts: 200, ..Config::ns2() }, mask).sender.stats();
    assert_eq!((stats.fast_retransmits, stats.timeouts), (1, 1));
}

#[test]
fn a_lost_retransmission_costs_a_timeout() {
    // With a larger window, needlessly sent packets cause duplicates after the timeout, which Reno
    // takes for another loss.
    for config in [Config { max_window_pkts: 44, ..rfc() }, Config::ns2()] {
        let first = transfer(config, 1 << 60);
        let (at, lost) = first.log.sends[60];
        let again = first.log.sends.iter().position(|&(t, seq)| seq == lost && t > at).unwrap();
        let stats = transfer(config, 1 << 60 | 1 << again).sender.stats();
        assert_eq!((stats.fast_retransmits, stats.timeouts), (1, 1));
    }
}

#[test]
fn a_lost_last_packet_costs_a_timeout() {
    let config = Config { limit_pkts: Some(100), ..rfc() };
    let mut pipe = Pipe::new(&config, LINK, |i| i == 99);
    pipe.run(60.0);
    assert!(pipe.sender.is_finished());
    assert_eq!(pipe.sender.stats().timeouts, 1);
    assert_eq!(pipe.sender.stats().retransmissions, 1);
}

#[test]
fn delayed_acks_halve_the_number_of_acks() {
    assert_eq!(transfer(rfc(), 0).log.acks.len(), 200);
    let config = Config { delayed_ack: Some(Span::from_millis(100)), ..rfc() };
    // Packet 0 at once, then every second one, and the last on the timer if it is alone.
    assert_eq!(transfer(config, 0).log.acks.len(), 101);
}

/// 15 s of BBR alone over 10 Mb/s, 40 ms and a queue of one bandwidth-delay product, which loses
/// every packet that `lose` says. Returns the share of the link's rate that arrives, and what was
/// sent.
fn bbr_alone(random_seed: u64, lose: impl FnMut(u64) -> bool) -> (f64, Vec<(f64, f64)>) {
    let link = Link { rate_bps: 10e6, delay_s: 0.02, queue_pkts: 34 };
    let config = Config { random_seed, ..Config::linux().with_variant(Variant::Bbr) };
    let mut pipe = Pipe::new(&config, link, lose);
    pipe.run(15.0);
    let bits = pipe.receiver.delivered_packets() * u64::from(config.wire_bytes()) * 8;
    (bits as f64 / 15.0 / link.rate_bps, pipe.log.sends)
}

#[test]
fn bbr_alone_fills_its_link() {
    let (share, _) = bbr_alone(1, |_| false);
    assert!((0.95..=1.0).contains(&share), "{share}");
}

#[test]
fn bbr_keeps_nine_tenths_with_random_losses_of_2_percent() {
    for seed in 1..6_u64 {
        // SplitMix64 (Steele, Lea and Flood 2014).
        let mut state = seed;
        let lose = move |_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ z >> 31) % 50 == 0
        };
        let (share, _) = bbr_alone(seed, lose);
        assert!(share >= 0.9, "seed {seed}: {share}");
    }
}

#[test]
fn equal_seeds_make_equal_runs() {
    let sends = |seed| bbr_alone(seed, |_| false).1;
    assert_eq!(sends(1), sends(1));
    assert!((2..9).any(|seed| sends(seed) != sends(1)), "the first gain is drawn");
}

/// RFC 5681 as another crate would write it.
const OWN: ResponseScheme = ResponseScheme::Own(OwnControl::new("own", "RFC 5681.", &|_| Own));

#[derive(Clone, Debug)]
struct Own;

impl CongestionControl for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn on_ack(&mut self, window: &mut Window, acked: &AckEvent) {
        if acked.growth.is_due() {
            window.cwnd += if window.in_slow_start() { 1.0 } else { 1.0 / window.cwnd };
        }
    }

    fn on_loss(&mut self, window: &mut Window, loss: &LossEvent) -> Answer {
        if loss.verdict.is_wireless() {
            return Answer::Kept;
        }
        window.ssthresh = (window.in_network(loss.flight_pkts) as f64 / 2.0).max(2.0);
        window.cwnd = window.ssthresh;
        Answer::Cut
    }

    fn on_timeout(&mut self, window: &mut Window, timeout: &TimeoutEvent) {
        if !timeout.again {
            window.ssthresh = (window.in_network(timeout.flight_pkts) as f64 / 2.0).max(2.0);
        }
        window.cwnd = 1.0;
    }
}

fn configs() -> impl Strategy<Value = Config> {
    prop_oneof![3 => classic(), 1 => linux()]
}

fn linux() -> impl Strategy<Value = Config> {
    let response = prop_oneof![
        Just(ResponseScheme::Aimd),
        Just(ResponseScheme::Cubic),
        Just(ResponseScheme::Bbr),
        Just(OWN)
    ];
    (response, 1_u32..70, 1_u32..12, 1_u32..5, any::<[bool; 3]>(), 1_i64..50).prop_map(
        |(response, window, initial, threshold, [delay, no_syn, pacing], tick_ms)| Config {
            pacing,
            max_window_pkts: window,
            initial_window_pkts: initial,
            dup_ack_threshold: threshold,
            delayed_ack: delay.then_some(Span::from_millis(100)),
            max_rto: Span::from_secs(60),
            quirks: Quirks {
                syn_bytes: Quirks::LINUX.syn_bytes.filter(|_| !no_syn),
                tick: Span::from_millis(tick_ms),
                tick_offset: Span::from_millis(tick_ms / 2),
                ..Quirks::LINUX
            },
            ..Config::linux().with_parts(RecoveryScheme::RackTlp, response)
        },
    )
}

fn classic() -> impl Strategy<Value = Config> {
    let named = prop_oneof![
        Just(Config::rfc()),
        Just(Config::ns2()),
        Just(Config::ns2_classic()),
        Just(Config::ns2_2001())
    ];
    let rules = prop_oneof![
        Just(Quirks::RFC),
        Just(Quirks::NS2_2_35),
        Just(Quirks::NS2_CLASSIC),
        Just(Quirks::NS2_2001)
    ];
    let recovery = prop_oneof![
        Just(RecoveryScheme::Reno),
        Just(RecoveryScheme::FastRetransmit),
        Just(RecoveryScheme::NewReno),
        Just(RecoveryScheme::Sack),
        Just(RecoveryScheme::Vegas),
    ];
    let response = prop_oneof![
        Just(ResponseScheme::Aimd),
        Just(ResponseScheme::Vegas(VegasParameters::PUBLISHED)),
        Just(ResponseScheme::Veno),
        Just(ResponseScheme::Cubic),
        Just(ResponseScheme::Westwood),
        Just(ResponseScheme::WestwoodVt(WestwoodVtParameters::PUBLISHED)),
        Just(ResponseScheme::WestwoodVt(WestwoodVtParameters { alpha_pkts: 1, beta_pkts: 3 })),
        Just(ResponseScheme::NewJersey),
        Just(OWN),
    ];
    (
        named,
        rules,
        (recovery, response),
        1_u32..70,
        1_u32..12,
        1_u32..5,
        any::<[bool; 2]>(),
        1_i64..500,
    )
        .prop_map(
            |(
                named,
                rules,
                (recovery, response),
                window,
                initial,
                threshold,
                [delay, no_syn],
                tick_ms,
            )| Config {
                recovery,
                response,
                max_window_pkts: window,
                initial_window_pkts: initial,
                dup_ack_threshold: threshold,
                delayed_ack: delay.then_some(Span::from_millis(100)),
                // Without a limit that matters, a transfer may wait longer than it is given.
                max_rto: Span::from_secs(60),
                ecn: response == ResponseScheme::NewJersey,
                quirks: Quirks {
                    syn_bytes: named.quirks.syn_bytes.filter(|_| !no_syn),
                    tick: Span::from_millis(tick_ms),
                    tick_offset: Span::from_millis(tick_ms / 2),
                    // The rules of the schemes may be those of any set.
                    new_reno: rules.new_reno,
                    sack: rules.sack,
                    vegas: rules.vegas,
                    westwood: rules.westwood,
                    ..named.quirks
                },
                ..named
            },
        )
}

#[derive(Clone, Debug)]
enum Op {
    Start,
    Wait(i64),
    Ack(u64),
    AckNear(i64),
    SenderTimeout,
    Transmit,
    Segment(u64),
    /// The next acknowledgements report a block so far ahead.
    Report(u64, u64),
    ReceiverTimeout,
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        Just(Op::Start),
        (0_i64..3_000).prop_map(Op::Wait),
        any::<u64>().prop_map(Op::Ack),
        (-3_i64..8).prop_map(Op::AckNear),
        (-3_i64..8).prop_map(Op::AckNear),
        Just(Op::SenderTimeout),
        Just(Op::Transmit),
        any::<u64>().prop_map(Op::Segment),
        (0_u64..100).prop_map(Op::Segment),
        (0_u64..80, 0_u64..20).prop_map(|(offset, pkts)| Op::Report(offset, pkts)),
        Just(Op::ReceiverTimeout),
    ]
}

proptest! {
    #[test]
    fn renos_rules_from_another_crate_make_renos_run(mask: u128, recovery in 0_usize..4) {
        use RecoveryScheme::{NewReno, Reno, Sack, Vegas};
        let config = Config { recovery: [Reno, NewReno, Sack, Vegas][recovery], max_window_pkts: 44, ..rfc() };
        let published = transfer(config, mask);
        let own = transfer(Config { response: OWN, ..config }, mask);
        prop_assert_eq!(&published.log.sends, &own.log.sends);
        prop_assert_eq!(published.sender.cwnd(), own.sender.cwnd());
    }

    #[test]
    fn everything_arrives_over_a_lossy_pipe(config in configs(), mask: u128) {
        transfer(config, mask);
    }

    #[test]
    fn no_sequence_of_calls_breaks_an_invariant(config in configs(), ops in prop::collection::vec(ops(), 1..200)) {
        let mut sender = Sender::new(&config).unwrap();
        let lda = Differentiator::new(BuiltIn::Biaz.build(End::Receiver).expect("published parameters"));
        let mut receiver = Receiver::with_lda(&config, lda).unwrap();
        let mut now = Time::ZERO;
        let mut blocks = [(0, 0); 3];
        for op in ops {
            let acknowledged = sender.acknowledged();
            let delivered = receiver.delivered_packets();
            let sack = SackBlocks::of(acknowledged, blocks);
            let ack = |next| Ack { next, echo: now, echo_of_retransmission: false, ece: false, wireless: false, wire_bytes: 40, window_pkts: config.max_window_pkts, sent_us: 0, sack };
            match op {
                Op::Start => sender.start(now),
                Op::Wait(ms) => now += Span::from_millis(ms),
                Op::Ack(next) => sender.on_ack(now, &ack(next), &mut ()),
                Op::AckNear(offset) => sender.on_ack(now, &ack(acknowledged.saturating_add_signed(offset)), &mut ()),
                Op::SenderTimeout => {
                    now = sender.poll_timeout().unwrap_or(now).max(now);
                    sender.on_timeout(now, &mut ());
                }
                Op::Transmit => {
                    let flight = sender.acknowledged()..sender.acknowledged() + u64::from(config.max_window_pkts);
                    while let Some(segment) = sender.poll_transmit(now) {
                        prop_assert!(flight.contains(&segment.seq));
                        receiver.on_segment(now, &segment, &mut ());
                    }
                }
                Op::Segment(seq) => receiver.on_segment(
                    now,
                    &Segment { seq, transmission: 0, sent_at: now, retransmission: false, ecn: Ecn::NotCapable, cwr: false, echo_us: 0, payload_bytes: 1, wire_bytes: 41 },
                    &mut (),
                ),
                Op::Report(offset, pkts) => {
                    let start = acknowledged.saturating_add(offset);
                    blocks = [(start, start + pkts), blocks[0], blocks[1]];
                }
                Op::ReceiverTimeout => receiver.on_timeout(receiver.poll_timeout().unwrap_or(now)),
            }
            let vegas_of_ns2 = config.recovery == RecoveryScheme::Vegas && config.quirks.vegas == VegasRules::Ns2;
            let least = u32::from(!vegas_of_ns2);
            prop_assert!(sender.cwnd() >= f64::from(least) && sender.cwnd().is_finite());
            prop_assert!(sender.ssthresh() >= 1.0 && sender.ssthresh().is_finite());
            prop_assert!((least..=config.max_window_pkts).contains(&sender.window_pkts()));
            prop_assert!(sender.acknowledged() >= acknowledged);
            prop_assert!(receiver.delivered_packets() >= delivered);
            prop_assert!(receiver.received_packets() >= receiver.delivered_packets());
            prop_assert!(sender.stats().segments_sent >= sender.stats().retransmissions);
        }
    }
}
