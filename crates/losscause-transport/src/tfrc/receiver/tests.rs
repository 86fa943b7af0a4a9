use super::*;
use crate::at;
use crate::tfrc::{Discounting, Quirks, Times};
use losscause::arrivals::MAX_JUMP_PKTS;
use losscause::lda::Constant;
use losscause::{Algorithm, Judgement, Loss, Needs, Observation, Span, Time, Verdict};
use proptest::prelude::*;

const RTT: Span = Span::from_millis(100);
const PAYLOAD: u32 = 1000;

fn times(rtt: Span) -> Option<Times> {
    Some(Times { rtt, rto: rtt * 4 })
}

fn data(seq: u64, sent_ms: i64, round: u32) -> Data {
    Data {
        seq,
        sent_at: at(sent_ms),
        times: times(RTT),
        round,
        urgent: false,
        ecn: Ecn::NotCapable,
        payload_bytes: PAYLOAD,
        wire_bytes: PAYLOAD + 32,
    }
}

/// Calls the losses it is given wireless, by sequence number.
struct Wireless(&'static [u64]);

impl Algorithm for Wireless {
    fn name(&self) -> &'static str {
        "test"
    }
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    fn observe(&mut self, _: &Observation) {}
    fn judge(&self, loss: &Loss) -> Judgement {
        let wireless = loss.seq().is_some_and(|seq| self.0.contains(&seq));
        let verdict = if wireless { Verdict::Wireless } else { Verdict::Congestion };
        Judgement::stated(verdict, "test", "as asked")
    }
}

/// A receiver fed with one packet every 10 ms, packet n at 10 n ms after 50 ms on the way; rounds
/// count 100 ms.
struct Flow<L> {
    receiver: Receiver<L>,
    reports: Vec<(i64, Feedback)>,
}

impl<L: Algorithm> Flow<L> {
    fn new(config: &Config, lda: L) -> Self {
        Self { receiver: Receiver::new(config, lda), reports: Vec::new() }
    }

    fn collect(&mut self, now: Time) {
        while let Some(report) = self.receiver.poll_transmit(now) {
            self.reports.push((now.as_nanos() / 1_000_000, report));
        }
    }

    fn arrive(&mut self, ms: i64, data: &Data) {
        self.timers(ms);
        self.receiver.on_data(at(ms), data, &mut ());
        self.collect(at(ms));
    }

    fn timers(&mut self, until_ms: i64) {
        while let Some(next) = self.receiver.poll_timeout().filter(|t| *t <= at(until_ms)) {
            self.receiver.on_timeout(next);
            self.collect(next);
        }
    }

    fn run(&mut self, seqs: std::ops::Range<u64>, lost: &[u64]) {
        for seq in seqs.filter(|seq| !lost.contains(seq)) {
            let sent = 10 * seq as i64;
            self.arrive(sent + 50, &data(seq, sent, seq as u32 / 10));
        }
    }

    fn p(&mut self) -> f64 {
        let newest = self.receiver.newest_position();
        self.receiver.history.loss_event_rate(newest)
    }
}

fn plain() -> Constant {
    Constant::new(Verdict::Congestion)
}

/// Without discounting, so that intervals are easy to work out.
fn plain_intervals(config: &Config) -> Config {
    let quirks = Quirks { discounting: Discounting::Off, ..config.quirks };
    Config { quirks, ..config.clone() }
}

fn rfc() -> Config {
    plain_intervals(&Config::rfc5348())
}

fn ns2() -> Config {
    plain_intervals(&Config::ns2())
}

#[test]
fn the_first_packet_is_reported_at_once_then_every_round_trip() {
    let mut flow = Flow::new(&rfc(), plain());
    flow.run(0..40, &[]);
    let times: Vec<i64> = flow.reports.iter().map(|r| r.0).collect();
    assert_eq!(times, [50, 150, 250, 350]);
    let (_, last) = flow.reports[3];
    // At 350 ms the timer comes before the packet that arrives then: the newest was sent at 290 ms.
    assert_eq!((last.echo, last.hold), (at(290), Span::from_millis(10)));
    assert_eq!(last.receive_rate, 100_000.0, "a packet of 1000 bytes every 10 ms");
    assert_eq!((last.loss_event_rate, last.wire_bytes), (0.0, 40));
}

#[test]
fn the_first_report_has_measured_no_rate() {
    let mut flow = Flow::new(&rfc(), plain());
    flow.run(0..21, &[]);
    let rates: Vec<f64> = flow.reports.iter().map(|r| r.1.receive_rate).collect();
    // At 150 ms the first packet was reported already and the eleventh comes just after the timer.
    assert_eq!(rates, [0.0, 90_000.0, 100_000.0]);
}

#[test]
fn the_receive_rate_covers_the_round_trip_known_a_report_ago() {
    // Lost is 20, reported with 23 at 280 ms; the last report was at 250 ms.
    let mut flow = Flow::new(&rfc(), plain());
    flow.run(0..24, &[20]);
    let (time, report) = flow.reports[3];
    assert_eq!((time, report.receive_rate), (280, 90_000.0), "nine in the 100 ms before");
    // A longer round-trip time holds from the next report on.
    let mut flow = Flow::new(&rfc(), plain());
    flow.run(0..20, &[]);
    for seq in 20..60 {
        let packet = Data { times: times(RTT * 2), ..data(seq, 10 * seq as i64, 2) };
        flow.arrive(10 * seq as i64 + 50, &packet);
    }
    let times: Vec<i64> = flow.reports.iter().map(|r| r.0).collect();
    assert_eq!(times, [50, 150, 250, 350, 550]);
    assert!(flow.reports[2..].iter().all(|r| r.1.receive_rate == 100_000.0));
}

#[test]
fn a_packet_after_silence_is_one_per_round_trip() {
    // Rule 2 of section 6.2 gives that as the least rate there is.
    let mut flow = Flow::new(&rfc(), plain());
    flow.run(0..2, &[]);
    flow.arrive(1000, &data(2, 950, 1));
    assert_eq!(flow.reports[2].1.receive_rate, 10_000.0);
    let mut flow = Flow::new(&ns2(), plain());
    flow.run(0..2, &[]);
    flow.arrive(1000, &data(2, 950, 1));
    assert!(
        flow.reports.last().unwrap().1.receive_rate < 2_000.0,
        "ns-2 takes all the time since its report"
    );
}

#[test]
fn a_late_packet_was_received_like_any_other() {
    let mut flow = Flow::new(&rfc(), plain());
    // In (220, 320] came 18, 19, 21, 20, 22, 23, 25, 26 and 27, which declares the loss of 24.
    flow.run(0..22, &[20]);
    flow.arrive(265, &data(20, 200, 2));
    flow.run(22..28, &[24]);
    let (time, report) = flow.reports.last().unwrap();
    assert_eq!((*time, report.receive_rate), (320, 90_000.0));
}

#[test]
fn a_forged_nanosecond_round_trip_does_not_busy_the_timer() {
    for config in [rfc(), ns2()] {
        let mut flow = Flow::new(&config, plain());
        for seq in 0..20 {
            flow.arrive(0, &Data { times: times(Span::from_nanos(1)), ..data(seq, 0, 0) });
            let timer = flow.receiver.poll_timeout();
            assert!(timer.is_none_or(|timer| timer >= at(0) + SHORTEST_RTT), "{timer:?}");
        }
        let rates = flow.reports.iter().map(|(_, report)| report.receive_rate);
        assert!(
            rates.clone().all(|rate| rate <= 20.0 * 1000.0 / 10e-6),
            "{:?}",
            rates.collect::<Vec<_>>()
        );
    }
}

#[test]
fn without_a_round_trip_time_every_packet_is_reported() {
    let mut flow = Flow::new(&rfc(), plain());
    for seq in 0..3 {
        flow.arrive(1000 * seq, &Data { times: None, ..data(seq as u64, 0, 0) });
    }
    assert_eq!(flow.reports.len(), 3);
    assert_eq!(flow.receiver.poll_timeout(), None);
}

#[test]
fn a_round_trip_time_that_is_not_above_zero_counts_as_none() {
    for config in [rfc(), ns2()] {
        let mut flow = Flow::new(&config, plain());
        flow.arrive(0, &data(0, 0, 0));
        for rtt in [Span::ZERO, -RTT] {
            for seq in [1, 5, 6, 7, 8] {
                flow.arrive(10, &Data { times: times(rtt), urgent: true, ..data(seq, 0, 0) });
            }
        }
        let rates = flow.reports.iter().map(|(_, report)| report.receive_rate);
        assert!(
            flow.reports.len() > 1 && rates.clone().all(f64::is_finite),
            "{:?}",
            rates.collect::<Vec<_>>()
        );
    }
}

#[test]
fn after_a_silent_round_trip_the_next_packet_is_reported() {
    let mut flow = Flow::new(&rfc(), plain());
    flow.run(0..2, &[]);
    flow.arrive(1000, &data(2, 950, 1));
    let times: Vec<i64> = flow.reports.iter().map(|r| r.0).collect();
    assert_eq!(times, [50, 150, 1000]);
}

#[test]
fn a_loss_is_declared_and_reported_after_three_later_packets() {
    let mut flow = Flow::new(&rfc(), plain());
    flow.run(0..23, &[20]);
    assert!(flow.receiver.history.is_empty());
    flow.run(23..24, &[]);
    assert_eq!(flow.reports.last().unwrap().0, 280);
    assert!(flow.receiver.loss_event_rate() > 0.0);
}

#[test]
fn a_packet_that_comes_late_was_never_lost() {
    for (config, lost) in [(rfc(), false), (ns2(), true)] {
        let mut flow = Flow::new(&config, plain());
        flow.run(0..22, &[20]);
        flow.arrive(265, &data(20, 200, 2));
        flow.run(22..40, &[]);
        assert_eq!(!flow.receiver.history.is_empty(), lost, "ns-2 does not wait");
        assert_eq!(flow.receiver.delivered_packets(), 40);
    }
}

#[test]
fn a_duplicate_changes_nothing() {
    let mut flow = Flow::new(&rfc(), plain());
    flow.run(0..22, &[]);
    flow.arrive(261, &data(20, 200, 2));
    assert_eq!(flow.receiver.delivered_packets(), 22);
    assert_eq!(flow.receiver.since_report, 2);
}

#[test]
fn the_first_interval_gives_the_receive_rate_by_the_equation() {
    let mut flow = Flow::new(&rfc(), plain());
    flow.run(0..24, &[20]);
    // 100 kB/s at 0.1 s and 0.4 s: 3/256, as worked in equation.rs.
    assert_eq!(flow.receiver.loss_event_rate(), 3.0 / 256.0);

    // ns-2 reports p as found, and keeps the interval in whole packets. At 260 ms, 110 ms after the
    // last report, ten packets have arrived since: 90.9 kB/s.
    let mut flow = Flow::new(&ns2(), plain());
    flow.run(0..22, &[20]);
    let p = flow.receiver.loss_event_rate();
    let rate = config_rate(p);
    assert!((rate / 90_909.0 - 1.0).abs() < 0.05, "{rate}");
    assert_eq!(1.0 / flow.p(), (1.0 / p).floor());
}

fn config_rate(p: f64) -> f64 {
    Config::ns2().quirks.equation.rate(p, RTT, RTT * 4, PAYLOAD)
}

#[test]
fn losses_within_a_round_trip_are_one_event_later_ones_another() {
    for config in [rfc(), ns2()] {
        // 50 and 59 are 90 ms apart; 62 is 120 ms after 50.
        let mut flow = Flow::new(&config, plain());
        flow.run(0..40, &[20]);
        let open = |flow: &Flow<Constant>| flow.receiver.event.unwrap().0;
        flow.run(40..61, &[50, 59]);
        let first = open(&flow);
        flow.run(61..70, &[62]);
        assert_eq!(open(&flow) - first, Span::from_millis(120));
    }
}

#[test]
fn ns2_also_waits_for_a_round_after_the_last_event() {
    let mut flow = Flow::new(&ns2(), plain());
    flow.run(0..40, &[20]);
    let event = flow.receiver.event;
    let same_round = event.unwrap().1;
    for seq in (40..80).filter(|seq| *seq != 60) {
        flow.arrive(10 * seq as i64 + 50, &data(seq, 10 * seq as i64, same_round));
    }
    assert_eq!(flow.receiver.event, event);
}

#[test]
fn rounds_are_compared_across_the_end_of_their_numbers() {
    assert!(is_later_round(0, u32::MAX) && is_later_round(5, 4) && is_later_round(1 << 31, 1));
    assert!(!is_later_round(u32::MAX, 0) && !is_later_round(4, 4) && !is_later_round(4, 5));
}

#[test]
fn loss_intervals_are_counted_from_loss_to_loss() {
    // Newest first: 110 - 60 = 50 and 60 - 20 = 40. ns-2 counts the one after the first loss from
    // its last report: packet 20 would have been reported at 250 ms, so that was packet 10.
    for (config, after_first) in [(rfc(), 40.0), (ns2(), 50.0)] {
        let mut flow = Flow::new(&config, plain());
        flow.run(0..200, &[20, 60, 110]);
        let lengths: Vec<f64> = flow.receiver.history.closed_lengths().collect();
        assert_eq!(lengths[..2], [50.0, after_first]);
        assert_eq!(lengths.len(), 3);
    }
}

#[test]
fn each_packet_of_a_gap_has_its_own_verdict() {
    let mut flow = Flow::new(&rfc(), Wireless(&[20, 21]));
    flow.run(0..40, &[20, 21]);
    assert!(flow.receiver.history.is_empty());
    let mut flow = Flow::new(&rfc(), Wireless(&[20]));
    flow.run(0..40, &[20, 21]);
    let sent_21 = at(210 + 50);
    assert_eq!(
        flow.receiver.event.unwrap().0,
        sent_21,
        "the event begins with the congestion loss"
    );
}

#[test]
fn losses_are_counted_by_kind_when_declared_reordering_never() {
    let mut flow = Flow::new(&rfc(), Wireless(&[20, 21]));
    flow.run(0..33, &[10, 20, 21, 30]);
    // Three later packets have not arrived for 30.
    assert_eq!(flow.receiver.declared(), Declared { congestion: 1, wireless: 2 });
    flow.arrive(385, &data(30, 300, 3));
    flow.run(33..40, &[]);
    assert_eq!(flow.receiver.declared(), Declared { congestion: 1, wireless: 2 });
}

#[test]
fn a_wireless_loss_is_missing_from_the_receive_rate() {
    let mut flow = Flow::new(&rfc(), Wireless(&[20, 21]));
    flow.run(0..40, &[20, 21]);
    let (time, report) = flow.reports[3];
    assert_eq!((time, report.receive_rate, report.loss_event_rate), (350, 80_000.0, 0.0));
}

#[test]
fn ns2_reports_with_the_first_packet_after_a_round_trip() {
    let mut flow = Flow::new(&ns2(), plain());
    flow.arrive(50, &Data { urgent: true, ..data(0, 0, 0) });
    for seq in 1..20 {
        flow.arrive(50 + 30 * seq, &data(seq as u64, 30 * seq, 1));
    }
    let times: Vec<i64> = flow.reports.iter().map(|r| r.0).collect();
    assert_eq!(times, [50, 170, 290, 410, 530]);
    assert!((flow.reports[1].1.receive_rate - 4000.0 / 0.12).abs() < 1e-6);
}

#[test]
fn ns2_reports_every_packet_that_asks_for_it() {
    let mut flow = Flow::new(&ns2(), plain());
    for seq in 0..5 {
        flow.arrive(50 + 10 * seq, &Data { urgent: true, ..data(seq as u64, 10 * seq, 0) });
    }
    assert_eq!(flow.reports.len(), 5);
}

#[test]
fn ns2_reports_a_silent_flow_once_more_at_one_packet_per_second() {
    let mut flow = Flow::new(&ns2(), plain());
    flow.arrive(50, &data(0, 0, 0));
    flow.timers(5000);
    let times: Vec<i64> = flow.reports.iter().map(|r| r.0).collect();
    assert_eq!(times, [50, 200]);
    assert_eq!(flow.reports[1].1.receive_rate, 1000.0);
}

/// Sends a marked packet with the number `forged` at `ms`, in the round of packet `ms / 10`.
fn forge(flow: &mut Flow<Constant>, ms: i64, forged: u64) {
    flow.arrive(ms, &Data { ecn: Ecn::Marked, ..data(forged, ms - 50, (ms / 100) as u32) });
}

#[test]
fn a_mark_of_any_number_ends_the_interval_where_the_stream_is() {
    // The forged packet comes as the 41st. It ends an interval of 40 - 20 packets; ns-2 counts from
    // packet 11, the one after its last report, to the one after the mark: 41 - 11.
    for (config, closed) in [(rfc(), 20.0), (ns2(), 30.0)] {
        for forged in [40, 1 << 40, u64::MAX - 1, u64::MAX] {
            let mut flow = Flow::new(&Config { ecn: true, ..config.clone() }, plain());
            flow.run(0..40, &[20]);
            forge(&mut flow, 450, forged);
            let lengths: Vec<f64> = flow.receiver.history.closed_lengths().collect();
            assert_eq!((lengths[0], lengths.len()), (closed, 2), "packet {forged}");
        }
    }
}

#[test]
fn a_forged_number_does_not_stretch_an_honest_interval() {
    for config in [rfc(), ns2()] {
        let newest = |forged: Option<u64>| {
            let mut flow = Flow::new(&Config { ecn: true, ..config.clone() }, plain());
            flow.run(0..40, &[20]);
            if let Some(forged) = forged {
                forge(&mut flow, 445, forged);
            }
            flow.run(40..100, &[80]);
            flow.receiver.history.closed_lengths().next().unwrap()
        };
        assert_eq!(newest(None), if config == rfc() { 60.0 } else { 70.0 });
        for forged in [1 << 40, u64::MAX] {
            // From the forged packet, as number 40, to packet 80, by then number 81.
            assert_eq!(newest(Some(forged)), 41.0, "packet {forged}");
        }
    }
}

#[test]
fn the_open_interval_goes_on_where_the_numbers_begin_anew() {
    for begin in [0, 1 << 40, u64::MAX - 100] {
        let mut flow = Flow::new(&rfc(), plain());
        flow.run(0..200_040, &[200_020]);
        let before = flow.p();
        for packet in 0..100 {
            let ms = 2_000_400 + 10 * packet;
            flow.arrive(ms + 50, &data(begin + packet as u64, ms, 0));
        }
        // 20 packets from the lost one on, then 100 more: longer than the 256 / 3 that the first
        // loss event stands for.
        assert_eq!((before, flow.p()), (3.0 / 256.0, 1.0 / 120.0), "from {begin}");
    }
}

proptest! {
    #[test]
    fn any_input_leaves_a_loss_event_rate_and_jumps_are_bounded(
        packets in prop::collection::vec(
            (prop_oneof![0..100u64, u64::MAX - 100..=u64::MAX, any::<u64>()], any::<i64>(), 0..4u8, any::<u32>()),
            1..100,
        ),
        rtt in prop_oneof![Just(RTT), any::<i64>().prop_map(Span::from_nanos)],
        ns2 in any::<bool>(),
    ) {
        let config = if ns2 { Config::ns2() } else { Config::rfc5348() };
        let mut receiver = Receiver::new(&Config { ecn: true, ..config }, plain());
        for (i, (seq, sent_at, ecn, round)) in packets.into_iter().enumerate() {
            let ecn = if ecn == 0 { Ecn::Capable } else { Ecn::Marked };
            let sent_at = Time::from_nanos(sent_at);
            let packet = Data { times: times(rtt), sent_at, ecn, ..data(seq, 0, round) };
            receiver.on_data(at(10 * i as i64), &packet, &mut ());
            let p = receiver.history.loss_event_rate(receiver.newest_position());
            prop_assert!((0.0..=1.0).contains(&p), "{p}");
            prop_assert!(receiver.newest_position() <= MAX_JUMP_PKTS * i as u64);
        }
    }

    #[test]
    fn any_packet_order_leaves_a_loss_event_rate_in_zero_to_one(
        packets in prop::collection::vec((0..300u64, 0..80_000i64, prop::option::of(0..300i64), any::<bool>()), 1..200),
        wireless in any::<bool>(),
        ns2 in any::<bool>(),
    ) {
        let config = if ns2 { Config::ns2() } else { Config::rfc5348() };
        let verdict = if wireless { Verdict::Wireless } else { Verdict::Congestion };
        let mut receiver = Receiver::new(&config, Constant::new(verdict));
        let mut now = at(0);
        let mut seen = std::collections::HashSet::new();
        for (i, (seq, wait_us, rtt_ms, urgent)) in packets.into_iter().enumerate() {
            // Numbers drift upwards with much reordering.
            let seq = seq + 2 * i as u64;
            now += Span::from_micros(wait_us);
            while let Some(next) = receiver.poll_timeout().filter(|t| *t <= now) {
                receiver.on_timeout(next);
                if let Some(report) = receiver.poll_transmit(next) {
                    prop_assert!(report.hold >= Span::ZERO && report.receive_rate >= 0.0);
                }
            }
            let packet = Data {
                times: rtt_ms.map(Span::from_millis).and_then(times),
                urgent,
                round: i as u32 / 7,
                sent_at: now - Span::from_micros(wait_us * 2),
                ..data(seq, 0, 0)
            };
            seen.insert(seq);
            receiver.on_data(now, &packet, &mut ());
            if let Some(report) = receiver.poll_transmit(now) {
                prop_assert!((0.0..=1.0).contains(&report.loss_event_rate));
                prop_assert!(report.receive_rate.is_finite() && report.receive_rate >= 0.0);
            }
            prop_assert!((0.0..=1.0).contains(&receiver.loss_event_rate()));
            if wireless {
                prop_assert_eq!(receiver.loss_event_rate(), 0.0);
            }
            prop_assert!(receiver.poll_timeout().is_none_or(|t| t >= now));
        }
        prop_assert!(receiver.delivered_packets() >= seen.len() as u64);
    }
}
