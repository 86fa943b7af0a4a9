//! What a sender sends and does, ACK by ACK.

use losscause::{Algorithm, AsTold, End, Loss, Numbers, Observation, Signal, Span, Verdict};

use super::*;
use crate::at;
use crate::tcp::Sender;
use crate::tcp::segment::SackBlocks;
use crate::tcp::{LimitedTransmit, Quirks};

/// Without a SYN, packet numbers are data packets.
fn plain(config: Config) -> Config {
    Config { quirks: Quirks { syn_bytes: None, ..config.quirks }, ..config }
}

fn started(config: &Config) -> Sender {
    let mut sender = Sender::new(config).unwrap();
    sender.start(at(0));
    sender
}

fn sent(sender: &mut Sender, ms: i64) -> Vec<u64> {
    std::iter::from_fn(|| sender.poll_transmit(at(ms))).map(|segment| segment.seq).collect()
}

fn ack(sender: &mut Sender, ms: i64, next: u64) -> Vec<u64> {
    sender.on_ack(at(ms), &ack_of(next), &mut ());
    sent(sender, ms)
}

fn ack_of(next: u64) -> Ack {
    Ack::new(next, at(0))
}

fn time_out(sender: &mut Sender) -> (i64, Vec<u64>) {
    let now = sender.poll_timeout().unwrap();
    sender.on_timeout(now, &mut ());
    let ms = now.as_nanos() / 1_000_000;
    (ms, sent(sender, ms))
}

/// A sender with ten packets in flight, of which `una` is the first, and ssthresh at the receiver's
/// window.
fn ten_in_flight(config: &Config) -> Sender {
    let mut sender = started(&Config { initial_window_pkts: 10, ..*config });
    assert_eq!(sent(&mut sender, 0).len(), 10);
    sender
}

#[test]
fn nothing_is_sent_before_the_start() {
    let mut sender = Sender::new(&Config::rfc()).unwrap();
    assert_eq!(sender.poll_transmit(at(0)), None);
    assert_eq!(sender.poll_timeout(), None);
}

#[test]
fn slow_start_doubles_the_window_every_round_trip() {
    let mut sender = started(&plain(Config { initial_window_pkts: 1, ..Config::rfc() }));
    assert_eq!(sent(&mut sender, 0), [0]);
    assert_eq!(ack(&mut sender, 100, 1), [1, 2]);
    assert_eq!(ack(&mut sender, 200, 2), [3, 4]);
    assert_eq!(ack(&mut sender, 200, 3), [5, 6]);
    assert_eq!(sender.cwnd(), 4.0);
}

#[test]
fn the_receivers_window_bounds_what_is_in_flight() {
    let mut sender =
        started(&plain(Config { max_window_pkts: 3, initial_window_pkts: 10, ..Config::rfc() }));
    assert_eq!(sent(&mut sender, 0), [0, 1, 2]);
    assert_eq!(ack(&mut sender, 100, 1), [3]);
}

#[test]
fn duplicate_acks_pass_a_cwnd_cap_but_not_the_receivers_window() {
    let quirks = Quirks { limited_transmit: LimitedTransmit::Off, ..Quirks::RFC };
    let config = plain(Config { initial_window_pkts: 4, quirks, ..Config::rfc() });
    let third_duplicate = |config: Config| {
        let mut sender = started(&config);
        assert_eq!(sent(&mut sender, 0), [0, 1, 2, 3]);
        // cwnd would be 5.
        assert_eq!(ack(&mut sender, 100, 1), [4]);
        (0..3).map(|_| ack(&mut sender, 110, 1)).last()
    };
    // cwnd is half of 4; three duplicates inflate it to 5, and 4 are in flight.
    assert_eq!(
        third_duplicate(Config { quirks: Quirks { max_cwnd_pkts: Some(4), ..quirks }, ..config }),
        Some(vec![1, 5])
    );
    assert_eq!(third_duplicate(Config { max_window_pkts: 4, ..config }), Some(vec![1]));
}

#[test]
fn the_syn_takes_packet_number_0_and_its_ack_opens_the_window() {
    let mut sender = started(&Config::ns2());
    let syn = sender.poll_transmit(at(0)).unwrap();
    assert_eq!((syn.seq, syn.payload_bytes, syn.wire_bytes), (0, 0, 40));
    assert_eq!(sender.poll_transmit(at(0)), None);
    sender.on_ack(at(50), &ack_of(1), &mut ());
    let data = sender.poll_transmit(at(50)).unwrap();
    assert_eq!((data.seq, data.payload_bytes, data.wire_bytes), (1, 1000, 1040));
    assert_eq!(sent(&mut sender, 50), [2]);
}

#[test]
fn a_lost_syn_leaves_an_initial_window_of_one_packet() {
    let mut sender = started(&Config::ns2());
    sent(&mut sender, 0);
    assert_eq!(time_out(&mut sender), (3_000, vec![0]));
    assert_eq!(ack(&mut sender, 3_050, 1), [1]);
}

#[test]
fn after_a_lost_syn_the_timer_of_data_starts_at_three_seconds() {
    let quirks = Quirks { syn_bytes: Some(40), ..Quirks::RFC };
    let mut sender = started(&Config { quirks, ..Config::rfc() });
    sent(&mut sender, 0);
    assert_eq!(time_out(&mut sender), (1_000, vec![0]));
    assert_eq!(ack(&mut sender, 1_050, 1), [1]);
    assert_eq!(
        sender.poll_timeout(),
        Some(at(4_050)),
        "RFC 6298, 5.7; the back-off alone would say 3,050"
    );
}

#[test]
fn a_window_that_the_receiver_limits_grows_in_ns2_only() {
    let after = |config| {
        let mut sender =
            started(&plain(Config { max_window_pkts: 4, initial_window_pkts: 2, ..config }));
        sent(&mut sender, 0);
        for next in 1..=20 {
            ack(&mut sender, 100, next);
        }
        (sender.cwnd(), sender.stats().new_acks, sender.stats().window_limited_acks)
    };
    // Two ACKs open the window from 2 to 4.
    assert_eq!(after(Config::rfc()), (4.0, 20, 18));
    let (cwnd, new_acks, limited) = after(Config::ns2());
    assert!(cwnd > 6.0 && (new_acks, limited) == (20, 18));
}

#[test]
fn data_sent_above_a_hole_does_not_raise_the_next_threshold() {
    let config =
        Config { initial_window_pkts: 10, initial_ssthresh_pkts: Some(10), ..Config::rfc() };
    let config = Config { max_window_pkts: 100, ..config };
    let mut sender = started(&plain(config));
    sent(&mut sender, 0);
    // Packet 0 is lost. 40 duplicates: ten in flight, two by limited transmit, then one for each
    // above the cut window.
    for _ in 0..40 {
        ack(&mut sender, 100, 0);
    }
    let super::Stats { segments_sent, retransmissions, .. } = sender.stats();
    assert_eq!((sender.ssthresh(), segments_sent - retransmissions), (5.0, 45));
    time_out(&mut sender);
    assert_eq!(sender.ssthresh(), 2.5, "half of the window of 5, not of 45 packets");
}

#[test]
fn the_third_duplicate_ack_halves_and_resends_the_first_packet() {
    let quirks = Quirks { limited_transmit: LimitedTransmit::Off, ..Quirks::RFC };
    let config = Config { quirks, ..Config::rfc() };
    let mut sender = ten_in_flight(&config);
    assert_eq!(ack(&mut sender, 100, 1), [10, 11]);
    // 11 packets in flight, 1 to 11. Packet 1 is lost.
    for expected in [vec![], vec![], vec![1]] {
        assert_eq!(ack(&mut sender, 110, 1), expected);
    }
    assert_eq!((sender.cwnd(), sender.ssthresh(), sender.window_pkts()), (5.5, 5.5, 8));
    // Duplicates 4 to 6 fill the window up to 11; 7 to 9 release three more.
    for expected in [vec![], vec![], vec![], vec![12], vec![13], vec![14]] {
        assert_eq!(ack(&mut sender, 120, 1), expected);
    }
    // The ACK of the retransmission covers everything below packet 12: back to 5.5.
    assert_eq!(ack(&mut sender, 200, 12), [15, 16]);
    assert_eq!(sender.cwnd(), 5.5);
    let stats = sender.stats();
    assert_eq!((stats.fast_retransmits, stats.timeouts, stats.retransmissions), (1, 0, 1));
}

#[test]
fn ns2_lets_the_ack_that_ends_recovery_open_the_window() {
    let mut sender = ten_in_flight(&plain(Config::ns2()));
    ack(&mut sender, 100, 1);
    for _ in 0..3 {
        ack(&mut sender, 110, 1);
    }
    // Half of 11; ssthresh is rounded down to 5.
    assert_eq!((sender.cwnd(), sender.ssthresh()), (5.5, 5.0));
    ack(&mut sender, 200, 11);
    assert_eq!(sender.cwnd(), 5.5 + 1.0 / 5.5);
}

#[test]
fn limited_transmit_sends_two_packets_that_the_half_leaves_out() {
    let mut sender = ten_in_flight(&plain(Config::rfc()));
    assert_eq!(ack(&mut sender, 100, 1), [10, 11]);
    assert_eq!(ack(&mut sender, 110, 1), [12]);
    assert_eq!(ack(&mut sender, 120, 1), [13]);
    assert_eq!(ack(&mut sender, 130, 1), [1]);
    assert_eq!(sender.ssthresh(), 5.5);
}

#[test]
fn limited_transmit_after_a_timeout_differs() {
    let after_timeout = |config| {
        let mut sender = ten_in_flight(&plain(config));
        assert_eq!(time_out(&mut sender).1, [0]);
        // Packet 0 is acknowledged and cwnd is 2: packets 1 and 2 are sent again, then a duplicate
        // arrives.
        assert_eq!(ack(&mut sender, 10_000, 1), [1, 2]);
        ack(&mut sender, 10_010, 1)
    };
    assert_eq!(after_timeout(Config::rfc()), []);
    assert_eq!(after_timeout(Config::ns2()), [3]);
}

#[test]
fn a_timeout_starts_over_from_the_first_unacknowledged_packet() {
    let mut sender = ten_in_flight(&plain(Config::rfc()));
    assert_eq!(ack(&mut sender, 100, 2).len(), 3);
    // 100 ms measured: the floor of 1 s counts from the last new ACK.
    assert_eq!(time_out(&mut sender), (1_100, vec![2]));
    assert_eq!(sender.cwnd(), 1.0);
    assert_eq!(ack(&mut sender, 1_200, 3), [3, 4]);
    // A later packet had arrived before, so it is not sent again.
    assert_eq!(ack(&mut sender, 1_300, 13), [13, 14, 15]);
    assert_eq!(sender.stats().timeouts, 1);
    assert_eq!(sender.stats().retransmissions, 3);
}

#[test]
fn the_timer_doubles_while_the_same_packet_is_lost() {
    let mut sender = ten_in_flight(&plain(Config::rfc()));
    let times: Vec<i64> = (0..7).map(|_| time_out(&mut sender).0).collect();
    assert_eq!(times, [1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000]);
    assert_eq!(sender.ssthresh(), 5.0, "held");
}

#[test]
fn a_timeout_of_another_packet_halves_what_was_sent_since() {
    let mut sender = ten_in_flight(&plain(Config::rfc()));
    time_out(&mut sender);
    assert_eq!(sender.ssthresh(), 5.0);
    // Slow start up to 5: packets 1 and 2, 3 and 4, 5 and 6, 7 and 8.
    for next in 1..5 {
        assert_eq!(ack(&mut sender, 1_100, next).len(), 2);
    }
    time_out(&mut sender);
    assert_eq!(sender.ssthresh(), 2.5, "half of packets 4 to 8, not of 4 to 9");
}

/// Without timestamps.
fn karn() -> Config {
    let quirks = Quirks { backoff_ends: BackoffEnds::TimedSegment, ..Quirks::RFC };
    plain(Config { quirks, ..Config::rfc() })
}

#[test]
fn without_timestamps_retransmissions_are_not_measured() {
    let mut sender = started(&Config { initial_window_pkts: 1, ..karn() });
    sent(&mut sender, 0);
    assert_eq!(time_out(&mut sender), (1_000, vec![0]));
    // This ACK could be of either transmission: the back-off stays, 2 s from now.
    assert_eq!(ack(&mut sender, 1_010, 1), [1, 2]);
    assert_eq!(sender.poll_timeout(), Some(at(3_010)));
    // Packet 1 was sent once: 500 ms, so 500 + 4 * 250, and no back-off.
    assert_eq!(ack(&mut sender, 1_510, 2), [3]);
    assert_eq!(sender.poll_timeout(), Some(at(3_010)));
    assert_eq!(ack(&mut sender, 1_511, 3), [4]);
    assert_eq!(sender.poll_timeout(), Some(at(3_011)));
}

#[test]
fn a_fast_retransmit_ends_the_measurement_too() {
    let mut sender = ten_in_flight(&plain(Config::rfc()));
    for _ in 0..3 {
        ack(&mut sender, 10, 0);
    }
    ack(&mut sender, 700, 12);
    assert_eq!(sender.poll_timeout(), Some(at(1_700)), "still the 1 s from before any measurement");
}

#[test]
fn an_ack_of_a_resent_packet_ends_back_off_only_with_timestamps() {
    let timer = |config| {
        let mut sender = ten_in_flight(&config);
        time_out(&mut sender);
        sender.on_ack(at(1_100), &Ack { echo: at(1_000), ..ack_of(1) }, &mut ());
        sender.poll_timeout()
    };
    assert_eq!(timer(karn()), Some(at(3_100)), "1.1 s and twice the initial 1 s");
    assert_eq!(
        timer(plain(Config::rfc())),
        Some(at(2_100)),
        "100 ms measured, so the smallest timeout of 1 s"
    );
}

#[test]
fn fast_retransmit_restarts_the_timer_in_ns2_only() {
    let timer = |config| {
        let mut sender =
            ten_in_flight(&plain(Config { initial_rto: Span::from_secs(1), ..config }));
        ack(&mut sender, 10, 1);
        let before = sender.poll_timeout();
        for _ in 0..3 {
            ack(&mut sender, 100, 1);
        }
        (before, sender.poll_timeout())
    };
    assert_eq!(timer(Config::rfc()), (Some(at(1_010)), Some(at(1_010))));
    assert_eq!(timer(Config::ns2()), (Some(at(210)), Some(at(300))));
}

#[test]
fn a_limited_stream_ends_and_stops_its_timer() {
    let mut sender = started(&Config { limit_pkts: Some(3), ..Config::ns2() });
    assert_eq!(sent(&mut sender, 0), [0]);
    assert_eq!(ack(&mut sender, 10, 1), [1, 2]);
    assert_eq!(ack(&mut sender, 20, 2), [3]);
    assert!(!sender.is_finished());
    assert_eq!(ack(&mut sender, 30, 4), []);
    assert!(sender.is_finished());
    assert_eq!(sender.poll_timeout(), None);
    assert_eq!(sender.stats().segments_sent, 4);
}

#[test]
fn old_acks_and_acks_of_unsent_packets_change_nothing() {
    let mut sender = ten_in_flight(&plain(Config::rfc()));
    ack(&mut sender, 10, 5);
    let before = format!("{sender:?}");
    assert_eq!(ack(&mut sender, 20, 4), []);
    assert_eq!(ack(&mut sender, 20, 1_000), []);
    assert_eq!(format!("{sender:?}"), before);
}

#[test]
fn a_loss_labelled_wireless_keeps_the_window_a_timeout_does_not() {
    let config = plain(Config {
        initial_window_pkts: 10,
        initial_ssthresh_pkts: Some(10),
        ..Config::ns2_classic()
    });
    let after_three = |wireless: [bool; 3]| {
        let mut sender = Sender::with_lda(&config, AsTold).unwrap();
        sender.start(at(0));
        while sender.poll_transmit(at(0)).is_some() {}
        let ack = |next, wireless| Ack { wireless, ..ack_of(next) };
        // Packet 0 arrived, packet 1 did not.
        sender.on_ack(at(100), &ack(1, false), &mut ());
        for label in wireless {
            sender.on_ack(at(101), &ack(1, label), &mut ());
        }
        let again = sender.poll_transmit(at(101)).unwrap();
        assert!(again.retransmission && again.seq == 1);
        sender
    };
    let mut told = after_three([true; 3]);
    assert_eq!((told.cwnd(), told.ssthresh()), (10.1, 10.0));
    assert_eq!(after_three([false; 3]).cwnd(), 5.0);
    assert_eq!(
        after_three([false, false, true]).cwnd(),
        10.1,
        "the acknowledgement that declares the loss counts"
    );
    told.on_timeout(told.poll_timeout().unwrap(), &mut ());
    assert_eq!((told.cwnd(), told.ssthresh()), (1.0, 5.0));
}

/// Calls every loss congestion, but wireless at the end of a recovery that repaired only one
/// packet.
#[derive(Default)]
struct SecondThoughts(Vec<(Signal, u64)>);

impl Algorithm for SecondThoughts {
    fn name(&self) -> &'static str {
        "second thoughts"
    }
    fn needs(&self) -> losscause::Needs {
        losscause::Needs::NONE
    }
    fn observe(&mut self, _: &Observation) {}
    fn on_loss(&mut self, loss: &Loss) {
        self.0.push((loss.signal, loss.numbers.unwrap().first));
    }
    fn judge(&self, loss: &Loss) -> losscause::Judgement {
        ().judge(loss)
    }
    fn on_recovered(&mut self, recovery: &EndedRecovery) -> Option<losscause::Judgement> {
        let judgement = losscause::Judgement::stated(Verdict::Wireless, "test", "as asked");
        (recovery.lost_pkts == 1).then_some(judgement)
    }
}

#[test]
fn a_verdict_revised_at_the_end_of_recovery_undoes_the_cut() {
    // Packet 1 is lost; or 1 and 4, so that a partial ACK asks for 4.
    let after = |ssthresh: u32, partial_acks: &[u64]| {
        let ssthresh = Some(ssthresh);
        let config =
            Config { initial_window_pkts: 10, initial_ssthresh_pkts: ssthresh, ..Config::rfc() };
        let config = plain(config).with_variant(crate::tcp::Variant::NewReno);
        let mut sender = Classic::new(&config, SecondThoughts::default());
        sender.start(at(0));
        while sender.poll_transmit(at(0)).is_some() {}
        let acks = [1, 1, 1, 1].iter().chain(partial_acks).chain(&[13]);
        for (ms, next) in (100..).zip(acks) {
            sender.on_ack(at(ms), &ack_of(*next), &mut ());
            while sender.poll_transmit(at(ms)).is_some() {}
        }
        assert_eq!(sender.lda.0, [(Signal::Gap, 1)]);
        (sender.cwnd() > 10.0, sender.ssthresh())
    };
    assert_eq!(after(10, &[]), (true, 10.0));
    let (whole, ssthresh) = after(10, &[4]);
    assert!(!whole && ssthresh < 10.0, "two packets were lost: {ssthresh}");
    let (whole, ssthresh) = after(40, &[]);
    assert!(!whole && ssthresh < 10.0, "never back into slow start: {ssthresh}");
}

/// A sender with ten packets in flight, the window in congestion avoidance, and the rule that the
/// second lost packet of an episode is congestion.
fn with_second_loss(variant: crate::tcp::Variant) -> Classic<losscause::AnyAlgorithm> {
    let config =
        Config { initial_window_pkts: 10, initial_ssthresh_pkts: Some(10), ..Config::rfc() };
    let lda = losscause::BuiltIn::NthLoss.build(End::Sender).expect("published parameters");
    let mut sender = Classic::new(&plain(config.with_variant(variant)), lda);
    sender.start(at(0));
    while sender.poll_transmit(at(0)).is_some() {}
    sender
}

#[test]
fn a_judge_of_every_loss_cuts_a_spared_window_at_a_partial_ack() {
    // 1 and 4 are lost, and 7, too: cut once.
    let mut sender = with_second_loss(crate::tcp::Variant::NewReno);
    let mut after = |ms, next| {
        sender.on_ack(at(ms), &ack_of(next), &mut ());
        while sender.poll_transmit(at(ms)).is_some() {}
        sender.ssthresh()
    };
    assert_eq!([1, 1, 1, 1].map(|next| after(100, next)), [10.0; 4], "the first loss is spared");
    assert_eq!([after(200, 4), after(300, 7)], [5.0, 5.0]);
}

/// Calls the first loss wireless, and keeps the numbers of every loss that it is told of.
#[derive(Default)]
struct Onlooker(Vec<Numbers>);

impl Algorithm for Onlooker {
    fn name(&self) -> &'static str {
        "onlooker"
    }
    fn needs(&self) -> losscause::Needs {
        losscause::Needs::NONE
    }
    fn observe(&mut self, _: &Observation) {}
    fn on_loss(&mut self, loss: &Loss) {
        self.0.extend(loss.numbers);
    }
    fn judge(&self, _: &Loss) -> losscause::Judgement {
        assert_eq!(self.0.len(), 1, "it is asked about the first loss only");
        losscause::Judgement::stated(Verdict::Wireless, "test", "as asked")
    }
    fn scope(&self) -> losscause::Scope {
        losscause::Scope { observes_every_loss: true, ..losscause::Scope::FIRST_LOSS }
    }
}

#[test]
fn an_observer_of_every_loss_is_told_of_it_and_not_asked_again() {
    // 1 and 4 are lost, and 7, too.
    let config =
        Config { initial_window_pkts: 10, initial_ssthresh_pkts: Some(10), ..Config::rfc() };
    let config = plain(config.with_variant(crate::tcp::Variant::NewReno));
    let mut sender = Classic::new(&config, Onlooker::default());
    sender.start(at(0));
    while sender.poll_transmit(at(0)).is_some() {}
    for (ms, next) in (100..).zip([1, 1, 1, 1, 4, 7]) {
        sender.on_ack(at(ms), &ack_of(next), &mut ());
        while sender.poll_transmit(at(ms)).is_some() {}
    }
    assert_eq!(sender.lda.0, [1, 4, 7].map(Numbers::one));
    assert_eq!(sender.ssthresh(), 10.0, "the window is spared");
}

#[test]
fn a_judge_of_every_loss_cuts_a_spared_window_at_later_reports() {
    // 1 and 5 are lost: 5 counts as lost with the third report above it.
    let mut sender = with_second_loss(crate::tcp::Variant::Sack);
    sender.on_ack(at(100), &ack_of(1), &mut ());
    let mut after = |blocks: [(u64, u64); 3]| {
        let ack = Ack { sack: SackBlocks::of(1, blocks), ..ack_of(1) };
        sender.on_ack(at(101), &ack, &mut ());
        while sender.poll_transmit(at(101)).is_some() {}
        sender.ssthresh()
    };
    const NO: (u64, u64) = (0, 0);
    assert_eq!([3, 4, 5].map(|end| after([(2, end), NO, NO])), [10.0; 3]);
    assert_eq!([7, 8, 9].map(|end| after([(6, end), (2, 5), NO])), [10.0, 10.0, 5.0]);
    assert_eq!(after([(6, 10), (2, 5), NO]), 5.0, "nothing else is lost");
}

#[test]
fn every_transmission_has_its_own_number() {
    let mut sender = ten_in_flight(&plain(Config::rfc()));
    sender.on_timeout(sender.poll_timeout().unwrap(), &mut ());
    let again = sender.poll_transmit(at(1_000)).unwrap();
    assert_eq!((again.seq, again.transmission, again.retransmission), (0, 10, true));
}
