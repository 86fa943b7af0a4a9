//! Sender and receiver together over one bottleneck.

mod pipe;

use losscause::lda::Constant;
use losscause::{Span, Time, Verdict};
use losscause_transport::tfrc::equation::Equation;
use losscause_transport::tfrc::{Backlog, Config};
use pipe::Pipe;

/// One way; the path's round-trip time is a little over 100 ms.
const DELAY: Span = Span::from_millis(50);
const ENOUGH_QUEUE: usize = 10_000;

fn secs(s: i64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

fn congestion() -> Constant {
    Constant::new(Verdict::Congestion)
}

fn one_in_a_hundred(seq: u64) -> bool {
    seq % 100 == 50
}

fn payload_rate(bits_per_second: i64, config: &Config) -> f64 {
    let wire = config.payload_bytes + config.header_bytes;
    bits_per_second as f64 / 8.0 * f64::from(config.payload_bytes) / f64::from(wire)
}

#[test]
fn a_lossless_long_queue_lets_slow_start_reach_twice_the_rate() {
    for config in [Config::rfc5348(), Config::ns2()] {
        let mut pipe = Pipe::new(&config, 1_000_000, DELAY, ENOUGH_QUEUE, congestion(), |_| false);
        pipe.start();
        pipe.run_until(secs(10));
        let ratio = pipe.sender.rate() / payload_rate(1_000_000, &config);
        assert!((1.7..=2.3).contains(&ratio), "{ratio}");
        assert_eq!(pipe.receiver.loss_event_rate(), 0.0);
        let fastest = pipe.history.iter().map(|(_, rate, _)| *rate).fold(0.0, f64::max);
        assert!(fastest / payload_rate(1_000_000, &config) < 2.3, "{fastest}");
    }
}

#[test]
fn periodic_loss_ends_at_the_equations_rate() {
    for (config, rto_ms) in [(Config::rfc5348(), None), (Config::ns2(), Some(300))] {
        let mut pipe =
            Pipe::new(&config, 100_000_000, DELAY, ENOUGH_QUEUE, congestion(), one_in_a_hundred);
        pipe.start();
        pipe.run_until(secs(120));
        assert!(
            (pipe.receiver.loss_event_rate() - 0.01).abs() < 1e-6,
            "{}",
            pipe.receiver.loss_event_rate()
        );
        let rtt = pipe.sender.rtt().unwrap();
        let rto = rto_ms.map_or(rtt * 4, Span::from_millis);
        let expected = Equation::Rfc5348.rate(0.01, rtt, rto, config.payload_bytes);
        assert!(
            (pipe.sender.rate() / expected - 1.0).abs() < 1e-3,
            "{} is not {expected}",
            pipe.sender.rate()
        );
        assert_eq!(pipe.sender.no_feedback_expirations(), 0);
    }
}

#[test]
fn the_rate_after_the_same_losses_is_that_of_ns2() {
    // ns-2.35, one flow over 2 Mb/s and 50 ms each way with a queue of 51, packets 100, 200, ... of
    // those that crossed corrupted: `rate_` settles at 110278.163 B/s and 400 packets take 3.62719
    // s.
    let mut crossed = 0;
    let lost = move |_| {
        crossed += 1;
        crossed % 100 == 0
    };
    let mut pipe = Pipe::new(&Config::ns2(), 2_000_000, DELAY, 50, congestion(), lost);
    pipe.start();
    pipe.run_until(secs(60));
    assert!((pipe.sender.rate() - 110_278.163).abs() < 0.01, "{}", pipe.sender.rate());
    let time_of = |n: usize| pipe.sent[n].0;
    let four_hundred = (time_of(6000) - time_of(5600)).as_secs_f64();
    assert!((four_hundred - 3.62719).abs() < 1e-5, "{four_hundred}");
}

#[test]
fn every_packet_goes_as_in_ns2_where_no_tie_is_left_to_rounding() {
    // ns-2.35, one flow of 60 s over 20 ms each way. Of the packets that crossed, every 97th is
    // corrupted, and every fifth time the one after it too. On an idle path ns-2's rounding decides
    // which of two equal times is longer, so the link back is kept busy: 40-byte packets from 0.123
    // ms on, one in 1.37 of their transmission times. Rate, ns-2's queue limit; packets sent,
    // received, and dropped by the queue.
    let ns2 = [
        (1_000_000, 5, (7294, 7152, 47)),
        (1_000_000, 10, (7259, 7151, 11)),
        (10_000_000, 96, (15365, 15171, 0)),
    ];
    for (rate_bps, limit, expected) in ns2 {
        let mut crossed = 0;
        let lost = move |_| {
            let lost = crossed > 0 && (crossed % 97 == 0 || crossed > 1 && crossed % 485 == 1);
            crossed += 1;
            lost
        };
        let delay = Span::from_millis(20);
        let mut pipe = Pipe::new(&Config::ns2(), rate_bps, delay, limit - 1, congestion(), lost);
        pipe.busy_back = true;
        pipe.start();
        pipe.run_until(secs(60));
        let measured = (pipe.sender.sent(), pipe.receiver.delivered_packets(), pipe.queue_drops);
        assert_eq!(measured, expected, "{rate_bps} bit/s, limit {limit}");
    }
}

#[test]
fn wireless_losses_leave_the_loss_event_rate_at_zero_others_not() {
    let wireless = Constant::new(Verdict::Wireless);
    for config in [Config::rfc5348(), Config::ns2()] {
        let mut pipe =
            Pipe::new(&config, 1_000_000, DELAY, ENOUGH_QUEUE, wireless, one_in_a_hundred);
        pipe.start();
        pipe.run_until(secs(30));
        assert_eq!(pipe.receiver.loss_event_rate(), 0.0);
        assert!(pipe.sender.rate() > 0.8 * payload_rate(1_000_000, &config));
    }
    let mut pipe = Pipe::new(&Config::ns2(), 1_000_000, DELAY, 20, congestion(), |_| false);
    pipe.start();
    pipe.run_until(secs(30));
    assert!(pipe.queue_drops > 0);
    assert!(pipe.receiver.loss_event_rate() > 0.0);
}

#[test]
fn an_undecided_loss_counts_as_congestion() {
    let undecided = Constant::new(Verdict::Undecided);
    let mut pipe =
        Pipe::new(&Config::rfc5348(), 1_000_000, DELAY, ENOUGH_QUEUE, undecided, one_in_a_hundred);
    pipe.start();
    pipe.run_until(secs(30));
    assert!(pipe.receiver.loss_event_rate() > 0.0);
}

#[test]
fn a_dead_path_halves_the_rate_again_and_again() {
    // ns-2's receiver reports a silent flow once more, at one packet per second: that costs more
    // than any halving, and makes the halvings rare.
    for (config, halvings) in [(Config::rfc5348(), 6), (Config::ns2(), 1)] {
        let mut pipe =
            Pipe::new(&config, 10_000_000, DELAY, ENOUGH_QUEUE, congestion(), |seq| seq >= 200);
        pipe.start();
        while pipe.sender.sent() < 200 {
            pipe.run_until(pipe.now() + Span::from_millis(1));
        }
        let before = pipe.sender.rate();
        pipe.run_until(pipe.now() + Span::from_secs(5));
        assert!(
            pipe.sender.no_feedback_expirations() >= halvings,
            "{}",
            pipe.sender.no_feedback_expirations()
        );
        assert!(pipe.sender.rate() < before / 32.0, "{}", pipe.sender.rate());
    }
}

#[test]
fn a_slow_application_is_never_held_back_nor_slowed_when_idle() {
    let config = Config::rfc5348();
    let mut pipe = Pipe::new(&config, 10_000_000, DELAY, ENOUGH_QUEUE, congestion(), |_| false);
    pipe.set_backlog(Backlog::Packets(1));
    pipe.start();
    // One packet every 200 ms: two round-trip times.
    for i in 1..100 {
        pipe.run_until(Time::ZERO + Span::from_millis(200 * i));
        pipe.set_backlog(Backlog::Packets(1));
        assert_eq!(pipe.sent.len() as i64, i + 1, "sent at once");
    }
    pipe.run_until(pipe.now() + Span::from_secs(60));
    let initial = 4380.0 / pipe.sender.rtt().unwrap().as_secs_f64();
    assert!(pipe.sender.rate() >= initial, "{} is below {initial}", pipe.sender.rate());
}

#[test]
fn a_stopped_sender_is_silent() {
    let mut pipe =
        Pipe::new(&Config::ns2(), 1_000_000, DELAY, ENOUGH_QUEUE, congestion(), |_| false);
    pipe.start();
    pipe.run_until(secs(5));
    let sent = pipe.sender.sent();
    pipe.sender.stop(secs(5));
    pipe.run_until(secs(20));
    assert_eq!(pipe.sender.sent(), sent);
    assert_eq!(pipe.sender.poll_timeout(), None);
}
