//! What a Linux sender sends and does, ACK by ACK. Packets are sent at once, and ACKs come 100 ms
//! later.

use losscause::lda::Constant;
use losscause::{Algorithm, AsTold, AtSender, End, Safeguards, Span, Verdict};

use super::*;
use crate::at;
use crate::tcp::segment::SackBlocks;
use crate::tcp::{Quirks, Sender, Variant};

/// Without a SYN, packet numbers are data packets.
fn config() -> Config {
    Config { quirks: Quirks { syn_bytes: None, ..Quirks::LINUX }, ..Config::linux() }
}

fn ack_of(next: u64, echo_ms: i64, blocks: [(u64, u64); 3]) -> Ack {
    let echo = at(echo_ms);
    let sack = SackBlocks::of(next, blocks);
    Ack { wire_bytes: 52, window_pkts: 1000, sent_us: 1, sack, ..Ack::new(next, echo) }
}

const NO: (u64, u64) = (0, 0);

struct Driver<L> {
    sender: Sender<L>,
}

impl Driver<()> {
    fn new(config: &Config) -> Self {
        Self::with(config, ())
    }
}

impl<L: Algorithm> Driver<L> {
    fn with(config: &Config, lda: L) -> Self {
        let mut sender = Sender::with_lda(config, lda).unwrap();
        sender.start(at(0));
        Self { sender }
    }

    fn sent(&mut self, ms: i64) -> Vec<u64> {
        std::iter::from_fn(|| self.sender.poll_transmit(at(ms)))
            .map(|segment| segment.seq)
            .collect()
    }

    fn ack(&mut self, ms: i64, next: u64) -> Vec<u64> {
        self.report(ms, next, [NO; 3])
    }

    fn report(&mut self, ms: i64, next: u64, blocks: [(u64, u64); 3]) -> Vec<u64> {
        self.on_ack(ms, &ack_of(next, ms - 100, blocks))
    }

    fn on_ack(&mut self, ms: i64, ack: &Ack) -> Vec<u64> {
        self.sender.on_ack(at(ms), ack, &mut ());
        self.sent(ms)
    }

    /// Lets the timer expire: when, and what is sent.
    fn time_out(&mut self) -> (i64, Vec<u64>) {
        let now = self.sender.poll_timeout().unwrap();
        self.sender.on_timeout(now, &mut ());
        let ms = now.as_nanos() / 1_000_000;
        (ms, self.sent(ms))
    }
}

/// Packets 0 to 9 are acknowledged, 10 to 29 in flight since 100 ms with a window of 20.
fn twenty_in_flight<L: Algorithm>(config: &Config, lda: L) -> Driver<L> {
    let mut driver = Driver::with(config, lda);
    assert_eq!(driver.sent(0), (0..10).collect::<Vec<_>>());
    assert_eq!(driver.ack(100, 10), (10..30).collect::<Vec<_>>());
    driver
}

#[test]
fn the_window_opens_with_ten_packets_and_doubles() {
    let driver = twenty_in_flight(&config(), ());
    assert_eq!(driver.sender.cwnd(), 20.0);
}

#[test]
fn the_syn_goes_first_and_two_lost_ones_leave_a_window_of_one() {
    let opened = |lost| {
        let mut driver = Driver::new(&Config::linux());
        assert_eq!(driver.sent(0), [0]);
        let mut sent_at = vec![];
        for _ in 0..lost {
            sent_at.push(driver.time_out());
        }
        let now = sent_at.last().map_or(0, |(ms, _)| *ms) + 100;
        (sent_at, driver.ack(now, 1).len())
    };
    assert_eq!(opened(0), (vec![], 10));
    // 250 ticks of 4 ms, rounded up to the next 8th tick: 256, then 250 more: 512.
    assert_eq!(opened(1), (vec![(1_024, vec![0])], 10));
    assert_eq!(opened(2), (vec![(1_024, vec![0]), (2_048, vec![0])], 1));
}

#[test]
fn three_reports_start_a_recovery_that_halves_gradually() {
    let mut driver = twenty_in_flight(&config(), ());
    assert_eq!(
        driver.report(200, 10, [(11, 12), NO, NO]),
        [30],
        "in the state disorder reports make room"
    );
    assert_eq!(driver.report(201, 10, [(11, 13), NO, NO]), [31]);
    // 10 is lost. Of 22 packets 3 arrived: 18 in flight, above the target of 10, and one leaves.
    assert_eq!(driver.report(202, 10, [(11, 14), NO, NO]), [10]);
    assert_eq!(driver.sender.ssthresh(), 10.0);
    let later: Vec<usize> =
        (14..24).map(|end| driver.report(203, 10, [(11, end + 1), NO, NO]).len()).collect();
    // ceil(10 n/20) of n = 2, 3, … 11 packets delivered: 1, 2, 2, 3, 3, 4, 4, 5, 5, 6 in all.
    assert_eq!(later, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    driver.report(302, 32, [NO; 3]);
    assert_eq!(driver.sender.cwnd(), 10.0);
    let stats = driver.sender.stats();
    assert_eq!((stats.fast_retransmits, stats.retransmissions, stats.timeouts), (1, 1, 0));
}

#[test]
fn one_report_waits_for_a_quarter_of_the_round_trip_time() {
    let mut driver = twenty_in_flight(&config(), ());
    driver.report(200, 10, [(11, 12), NO, NO]);
    // min_rtt/4 = 25 ms and 2 ms: 7 ticks and one.
    assert_eq!(driver.time_out(), (232, vec![10]));
}

#[test]
fn a_wireless_loss_is_repaired_and_leaves_the_window() {
    let mut driver = twenty_in_flight(&config(), AsTold);
    let labelled = |end| Ack { wireless: true, ..ack_of(10, 100, [(11, end), NO, NO]) };
    driver.on_ack(200, &labelled(12));
    driver.on_ack(201, &labelled(13));
    assert!(driver.on_ack(202, &labelled(14)).contains(&10));
    driver.report(302, 32, [NO; 3]);
    assert_eq!(driver.sender.stats().fast_retransmits, 1);
    assert!(
        driver.sender.cwnd() >= 20.0 && driver.sender.ssthresh() > 1e9,
        "{}",
        driver.sender.cwnd()
    );
}

#[test]
fn at_the_end_of_the_data_a_probe_repeats_the_last_packet() {
    let mut driver = twenty_in_flight(&Config { limit_pkts: Some(30), ..config() }, ());
    assert_eq!(driver.ack(200, 28), []);
    // 2 SRTT + 2 ms: 51 ticks from tick 50, and one.
    assert_eq!(driver.time_out(), (408, vec![29]));
    assert_eq!(driver.sender.stats().timeouts, 0);
}

/// The last of 30 packets is lost, the receiver's window is full, and a probe repairs the loss.
fn window_after_a_repairing_probe<L: Algorithm>(lda: L, wireless: bool) -> f64 {
    let mut driver = Driver::with(&Config { max_window_pkts: 30, ..config() }, lda);
    driver.sent(0);
    let with_room = |next, echo_ms, window_pkts| Ack {
        window_pkts,
        wireless,
        ..ack_of(next, echo_ms, [NO; 3])
    };
    driver.on_ack(100, &with_room(10, 0, 20));
    assert_eq!(driver.on_ack(200, &with_room(29, 100, 1)), [], "the receiver has no room");
    let (probed, sent) = driver.time_out();
    assert_eq!(sent, [29]);
    let before = driver.sender.cwnd();
    assert!(!driver.on_ack(probed + 100, &with_room(30, probed, 1000)).is_empty());
    driver.on_ack(probed + 200, &with_room(32, probed + 100, 1000));
    driver.sender.cwnd() / before
}

#[test]
fn the_algorithm_is_asked_about_a_loss_that_a_probe_repaired() {
    let cut = window_after_a_repairing_probe((), true);
    assert!(cut < 0.6, "{cut}");
    let kept = window_after_a_repairing_probe(AsTold, true);
    assert!(kept >= 1.0, "{kept}");
    assert!(window_after_a_repairing_probe(AsTold, false) < 0.6);
}

#[test]
fn the_timeout_repairs_one_packet_in_slow_start_and_halves_once() {
    let mut driver = twenty_in_flight(&Config { limit_pkts: Some(30), ..config() }, ());
    let (probed, _) = driver.time_out();
    // The window of 20 was full: 2 SRTT + 2 ms from 100 ms on: 51 ticks from tick 25, and one.
    assert_eq!(probed, 308);
    // RTO = 100 + 200 ms = 75 ticks from tick 78, and up to a multiple of 8.
    assert_eq!(driver.time_out(), (640, vec![10]));
    assert_eq!((driver.sender.cwnd(), driver.sender.ssthresh()), (1.0, 10.0));
    // Twice 300 ms: 150 ticks from tick 160, up to a multiple of 8.
    assert_eq!(driver.time_out(), (1_248, vec![10]));
    assert_eq!((driver.sender.cwnd(), driver.sender.ssthresh()), (1.0, 10.0), "not halved again");
}

#[test]
fn a_timeout_that_was_too_early_is_undone() {
    let mut driver = twenty_in_flight(&Config { limit_pkts: Some(30), ..config() }, ());
    driver.time_out();
    driver.time_out();
    // The original of packet 10 was late: the echo is of 100 ms.
    driver.on_ack(650, &ack_of(11, 100, [NO; 3]));
    assert_eq!(driver.sender.cwnd(), 21.0, "20 as before, and one in slow start");
    assert!(driver.sender.ssthresh() > 1e9);
}

#[test]
fn a_recovery_whose_resends_were_all_duplicates_is_undone() {
    let mut driver = twenty_in_flight(&config(), ());
    for end in [12, 13, 14] {
        driver.report(200, 10, [(11, end), NO, NO]);
    }
    assert_eq!(driver.sender.ssthresh(), 10.0);
    driver.on_ack(300, &ack_of(32, 200, [NO; 3]));
    assert_eq!(
        driver.sender.cwnd(),
        11.0,
        "it was needed; the last ACK delivers 19 packets, and 10 give one more"
    );
    let mut driver = twenty_in_flight(&config(), ());
    for end in [12, 13, 14] {
        driver.report(200, 10, [(11, end), NO, NO]);
    }
    let mut duplicate = ack_of(20, 200, [NO; 3]);
    duplicate.sack = duplicate.sack.with_duplicate(20, 10);
    driver.on_ack(300, &duplicate);
    assert!(driver.sender.cwnd() >= 20.0 && driver.sender.ssthresh() > 1e9);
}

#[test]
fn the_receivers_window_holds_the_sender() {
    let mut driver = twenty_in_flight(&config(), ());
    let small = Ack { window_pkts: 5, ..ack_of(30, 100, [NO; 3]) };
    // The first ACK allowed up to packet 1009; a smaller window does not take that back.
    assert_eq!(driver.on_ack(200, &small).len(), 40);
    let mut narrow = Driver::new(&config());
    narrow.sent(0);
    let sent = narrow.on_ack(100, &Ack { window_pkts: 40, ..ack_of(10, 0, [NO; 3]) });
    assert_eq!(sent.len(), 20);
    let sent = narrow.on_ack(200, &Ack { window_pkts: 25, ..ack_of(30, 100, [NO; 3]) });
    assert_eq!(sent.len(), 25, "cwnd is 40");
}

#[test]
fn cubic_cuts_to_seven_tenths() {
    let mut driver = twenty_in_flight(&config().with_variant(Variant::Cubic), ());
    for end in [12, 13, 14] {
        driver.report(200, 10, [(11, end), NO, NO]);
    }
    assert_eq!(driver.sender.ssthresh(), 14.0);
}

#[test]
fn an_echoed_mark_cuts_once_per_window_without_a_retransmission() {
    let mut driver = twenty_in_flight(&Config { ecn: true, ..config() }, ());
    let marked = |next| Ack { ece: true, ..ack_of(next, 100, [NO; 3]) };
    driver.on_ack(200, &marked(12));
    driver.on_ack(201, &marked(14));
    assert_eq!(driver.sender.ssthresh(), 10.0);
    let stats = driver.sender.stats();
    assert_eq!((stats.ecn_reductions, stats.retransmissions), (1, 0));
}

fn algorithm(algorithm: losscause::BuiltIn) -> AtSender<losscause::AnyAlgorithm> {
    AtSender::new(algorithm.build(End::Sender).expect("published parameters"))
}

#[test]
fn a_judge_of_every_loss_cuts_a_spared_window_at_a_later_loss() {
    let mut driver = twenty_in_flight(&config(), algorithm(losscause::BuiltIn::NthLoss));
    for end in 12..15 {
        driver.report(200, 10, [(11, end), NO, NO]);
    }
    assert!(driver.sender.ssthresh() > 1e9, "10 is lost, the first of the episode");
    driver.report(201, 10, [(16, 17), (11, 15), NO]);
    assert_eq!(driver.sender.ssthresh(), 10.0, "15 is lost, the second");
    driver.report(202, 10, [(18, 20), (16, 17), (11, 15)]);
    assert_eq!(driver.sender.ssthresh(), 10.0, "17 is lost; one reduction per recovery");
}

#[test]
fn packets_that_are_found_lost_together_are_declared_together() {
    let mut driver = twenty_in_flight(&config(), algorithm(losscause::BuiltIn::NthLoss));
    // 10 and 12 are lost with the third report.
    driver.report(200, 10, [(11, 12), NO, NO]);
    driver.report(201, 10, [(13, 15), (11, 12), NO]);
    assert_eq!(driver.sender.ssthresh(), 10.0);
}

#[test]
fn a_reduction_is_rolled_back_but_not_into_slow_start() {
    // 10 is lost, and acknowledged a round trip later with everything else.
    let after = |ssthresh| {
        let config = Config { initial_ssthresh_pkts: ssthresh, ..config() };
        let mut driver = Driver::with(&config, algorithm(losscause::BuiltIn::RollBack));
        driver.sent(0);
        let mut sent = driver.ack(100, 10);
        let before = driver.sender.cwnd();
        for end in 12..15 {
            sent.extend(driver.report(200, 10, [(11, end), NO, NO]));
        }
        let reduced = driver.sender.ssthresh();
        driver.ack(300, sent.iter().max().unwrap() + 1);
        (before, reduced, driver.sender.ssthresh(), driver.sender.cwnd())
    };
    let (before, reduced, ssthresh, cwnd) = after(Some(10));
    assert!(
        reduced < 10.0 && ssthresh == 10.0 && cwnd >= before,
        "{before} {reduced} {ssthresh} {cwnd}"
    );
    let (_, reduced, ssthresh, cwnd) = after(None);
    assert!(reduced == ssthresh && cwnd < 20.0, "{reduced} {ssthresh} {cwnd}");
}

/// Keeps the round-trip time of every sample, milliseconds.
#[derive(Clone, Default)]
struct Rtts(std::rc::Rc<std::cell::RefCell<Vec<Option<f64>>>>);

impl Algorithm for Rtts {
    fn name(&self) -> &'static str {
        "round-trip times"
    }
    fn needs(&self) -> losscause::Needs {
        losscause::Needs::NONE
    }
    fn observe(&mut self, sample: &losscause::Observation) {
        self.0.borrow_mut().push(sample.delay.map(Span::as_millis_f64));
    }
    fn judge(&self, loss: &losscause::Loss) -> losscause::Judgement {
        ().judge(loss)
    }
}

#[test]
fn an_ack_that_may_be_held_back_gives_no_round_trip_time() {
    // The round-trip time after an ACK of packets 0 and 1 at 100 ms.
    let rtt_of = |ms, next, block| {
        let rtts = Rtts::default();
        let mut driver = Driver::with(&config(), rtts.clone());
        driver.sent(0);
        driver.ack(100, 2);
        driver.report(ms, next, [block, NO, NO]);
        let rtts = rtts.0.take();
        assert_eq!((rtts.len(), rtts[0]), (2, Some(100.0)));
        rtts[1]
    };
    assert_eq!(rtt_of(130, 3, NO), None, "one packet, after 30 ms");
    assert_eq!(rtt_of(129, 3, NO), Some(129.0), "sooner");
    assert_eq!(rtt_of(130, 4, NO), Some(130.0), "two packets");
    assert_eq!(rtt_of(130, 2, (3, 4)), Some(130.0), "out of order");
}

/// Lets the timer expire at times of microseconds: when, and what is sent.
fn depart<L: Algorithm>(driver: &mut Driver<L>) -> (i64, Vec<u64>) {
    let now = driver.sender.poll_timeout().unwrap();
    driver.sender.on_timeout(now, &mut ());
    let sent = std::iter::from_fn(|| driver.sender.poll_transmit(now));
    (now.as_nanos() / 1_000, sent.map(|segment| segment.seq).collect())
}

#[test]
fn a_paced_sender_spreads_its_window() {
    let mut driver = Driver::new(&Config { pacing: true, ..config() });
    assert_eq!(driver.sent(0).len(), 10, "the first ten are not paced");
    assert_eq!(driver.ack(100, 10), [10, 11]);
    // 20 packets in half of 100 ms are two in 5 ms. The first two were late, so half of that.
    assert_eq!(depart(&mut driver), (102_500, vec![12, 13]));
    assert_eq!(depart(&mut driver), (107_500, vec![14, 15]));
    assert_eq!(depart(&mut driver), (112_500, vec![16, 17]));
}

#[test]
fn a_paced_recovery_repairs_when_the_packet_may_leave() {
    let mut driver = Driver::new(&Config { pacing: true, ..config() });
    driver.sent(0);
    driver.ack(100, 10);
    while driver.sender.poll_timeout().unwrap() < at(150) {
        depart(&mut driver);
    }
    assert_eq!(driver.report(204, 10, [(11, 12), NO, NO]), [30]);
    assert_eq!(driver.report(204, 10, [(11, 14), NO, NO]), [], "10 is lost, and waits");
    assert_eq!(driver.sender.stats().fast_retransmits, 1);
    // A packet takes 2.5 ms; 30 was late, so half of that.
    let (departs, sent) = depart(&mut driver);
    assert!((205_200..205_300).contains(&departs) && sent[0] == 10, "{departs} {sent:?}");
}

#[test]
fn the_probe_counts_from_the_next_departure() {
    let config = Config { limit_pkts: Some(12), pacing: true, ..config() };
    let mut driver = Driver::new(&config);
    driver.sent(0);
    assert_eq!(driver.ack(100, 10), [10, 11]);
    // 2.5 ms, 2 SRTT and 2 ms: 52 ticks from tick 25, and one.
    assert_eq!(driver.time_out(), (312, vec![11]));
}

/// What an algorithm was told to take back.
#[derive(Clone, Default)]
struct TakenBack(std::rc::Rc<std::cell::RefCell<Vec<(u64, u64)>>>);

impl Algorithm for TakenBack {
    fn name(&self) -> &'static str {
        "taken back"
    }
    fn needs(&self) -> losscause::Needs {
        losscause::Needs::NONE
    }
    fn observe(&mut self, _: &losscause::Observation) {}
    fn judge(&self, loss: &losscause::Loss) -> losscause::Judgement {
        ().judge(loss)
    }
    fn take_back(&mut self, numbers: Numbers) {
        self.0.borrow_mut().push((numbers.first, numbers.last));
    }
}

/// Packets 11 to 13 arrive before 10, which is sent again at 200 ms.
fn overtaken() -> (Driver<TakenBack>, TakenBack) {
    let taken_back = TakenBack::default();
    let mut driver = twenty_in_flight(&config(), taken_back.clone());
    for end in [12, 13, 14] {
        driver.report(200, 10, [(11, end), NO, NO]);
    }
    assert_eq!((driver.sender.ssthresh(), driver.sender.stats().undone), (10.0, 0));
    (driver, taken_back)
}

#[test]
fn a_late_packet_takes_back_cut_and_loss() {
    let (mut driver, taken_back) = overtaken();
    // The ACK of everything echoes a packet of 100 ms: the original of 10.
    driver.on_ack(205, &ack_of(32, 100, [NO; 3]));
    assert!(driver.sender.cwnd() >= 20.0 && driver.sender.ssthresh() > 1e9);
    assert_eq!(driver.sender.stats().undone, 1);
    assert_eq!(taken_back.0.take(), [(10, 10)]);
}

#[test]
fn a_packet_that_was_lost_is_not_taken_back() {
    let (mut driver, taken_back) = overtaken();
    driver.on_ack(300, &ack_of(32, 200, [NO; 3]));
    assert_eq!((driver.sender.ssthresh(), driver.sender.stats().undone), (10.0, 0));
    assert_eq!(taken_back.0.take(), []);
}

#[test]
fn a_timeout_that_was_too_early_is_taken_back() {
    let taken_back = TakenBack::default();
    let config = Config { limit_pkts: Some(30), ..config() };
    let mut driver = twenty_in_flight(&config, taken_back.clone());
    driver.time_out();
    driver.time_out();
    driver.on_ack(650, &ack_of(11, 100, [NO; 3]));
    assert_eq!(taken_back.0.take(), [(10, 10)]);
}

#[test]
fn after_a_reordering_three_reports_wait_for_a_late_packet() {
    let (mut driver, taken_back) = overtaken();
    // 10 was late, and the recovery not over.
    driver.on_ack(205, &ack_of(14, 100, [NO; 3]));
    assert_eq!((driver.sender.stats().undone, taken_back.0.take()), (1, vec![(10, 10)]));
    for end in [16, 17, 18] {
        driver.report(206, 14, [(15, end), NO, NO]);
    }
    assert_eq!(driver.sender.stats().fast_retransmits, 1, "no second one yet");
    // 14 was sent at 100; a round trip of 106 and 25 ms later it is lost. 27 ms are 7 ticks, from
    // tick 51, and one.
    let (ms, sent) = driver.time_out();
    assert_eq!((ms, sent[0]), (236, 14));
}

#[test]
fn a_report_that_fills_a_gap_below_is_a_reordering() {
    let reports = |driver: &mut Driver<()>, from| {
        for end in [from + 1, from + 2, from + 3] {
            driver.report(205, 10, [(from, end), (11, 12), NO]);
        }
        driver.sender.stats().fast_retransmits
    };
    assert_eq!(reports(&mut twenty_in_flight(&config(), ()), 14), 1);
    let mut driver = twenty_in_flight(&config(), ());
    driver.report(200, 10, [(13, 14), NO, NO]);
    driver.report(201, 10, [(12, 14), NO, NO]);
    assert_eq!(reports(&mut driver, 14), 0, "12 came after 13");
}

#[test]
fn what_the_network_duplicates_changes_nothing() {
    let mut driver = twenty_in_flight(&config(), ());
    let mut duplicate = ack_of(10, 100, [NO; 3]);
    duplicate.sack = duplicate.sack.with_duplicate(10, 5);
    assert_eq!(driver.on_ack(150, &duplicate), []);
    let (mut driver, _) = overtaken();
    let mut first = ack_of(14, 200, [NO; 3]);
    first.sack = first.sack.with_duplicate(14, 3);
    driver.on_ack(250, &first);
    let mut second = ack_of(14, 200, [NO; 3]);
    second.sack = second.sack.with_duplicate(14, 11);
    driver.on_ack(251, &second);
    // One packet was sent again, so only one report can be of a retransmission.
    assert_eq!(driver.sender.stats().undone, 0);
}

#[test]
fn an_overtaken_ack_still_reports() {
    let mut driver = twenty_in_flight(&config(), ());
    driver.ack(200, 12);
    // These were sent before the ACK of 12 packets.
    for end in [15, 16, 17] {
        driver.report(201, 10, [(14, end), NO, NO]);
    }
    assert_eq!(driver.sender.stats().fast_retransmits, 1);
    assert_eq!(driver.sender.acknowledged(), 12);
}

#[test]
fn bbr_keeps_its_window_at_a_loss_and_paces() {
    let mut driver = Driver::new(&config().with_variant(Variant::Bbr));
    assert_eq!(driver.sent(0).len(), 10);
    // 10 packets in 100 ms, times 2.89 and 0.99: two in 7.001 ms, or half of that if late.
    assert_eq!(driver.ack(100, 10), [10, 11]);
    assert_eq!(depart(&mut driver), (103_500, vec![12, 13]));
    assert_eq!(depart(&mut driver), (110_501, vec![14, 15]));
    while driver.sender.poll_timeout().unwrap() < at(190) {
        depart(&mut driver);
    }
    let before = driver.sender.cwnd();
    driver.report(206, 10, [(11, 12), NO, NO]);
    driver.report(207, 10, [(11, 14), NO, NO]);
    assert_eq!(driver.sender.stats().fast_retransmits, 1);
    assert!(driver.sender.ssthresh() > 1e9);
    // In the first round trip as many are in flight as were, and 10 is found lost.
    assert!(driver.sender.cwnd() <= before, "{} {before}", driver.sender.cwnd());
}

/// Three reports find 11 of 20 packets lost.
fn lose_eleven(safeguards: Safeguards) -> Driver<AtSender<Constant>> {
    let config = Config { safeguards, ..config() };
    let mut driver = twenty_in_flight(&config, AtSender::new(Constant::new(Verdict::Wireless)));
    let blocks = [(13, 16), (20, 23), (27, 30)];
    driver.report(200, 10, [blocks[0], NO, NO]);
    driver.report(201, 10, [blocks[1], blocks[0], NO]);
    assert!(driver.sender.ssthresh() > 1e9, "seven, called wireless");
    driver.report(202, 10, [blocks[2], blocks[1], blocks[0]]);
    driver
}

#[test]
fn the_brake_cuts_in_the_middle_of_a_recovery() {
    let driver = lose_eleven(Safeguards::ON);
    assert_eq!((driver.sender.ssthresh(), driver.sender.stats().braked), (10.0, 1));
    let free = lose_eleven(Safeguards::OFF);
    assert!(free.sender.ssthresh() > 1e9);
    assert_eq!(free.sender.stats().braked, 0);
}

/// Two round trips of 100 ms, then one of 200 ms or more for 50 ms; then packet 18 is lost.
fn lose_behind_a_queue<L: Algorithm>(lda: L) -> Driver<L> {
    let mut driver = twenty_in_flight(&config(), lda);
    for (ms, next) in [(200, 12), (300, 14), (310, 16), (330, 18)] {
        driver.on_ack(ms, &ack_of(next, 100, [NO; 3]));
    }
    let report = Ack { wireless: true, ..ack_of(18, 100, [(19, 22), NO, NO]) };
    driver.on_ack(351, &report);
    assert_eq!(driver.sender.stats().fast_retransmits, 1);
    driver
}

#[test]
fn the_guard_cuts_where_the_link_stays_full() {
    let driver = lose_behind_a_queue(AtSender::new(Constant::new(Verdict::Wireless)));
    assert!(driver.sender.ssthresh() < 100.0);
    assert_eq!((driver.sender.stats().guarded, driver.sender.stats().braked), (1, 0));
}

#[test]
fn a_sender_that_is_told_the_cause_has_no_safeguards() {
    let driver = lose_behind_a_queue(AsTold);
    assert!(driver.sender.ssthresh() > 1e9, "the label says wireless");
    assert_eq!(driver.sender.stats().guarded, 0);
}
