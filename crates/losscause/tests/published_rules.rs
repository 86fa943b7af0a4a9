//! The rules of Cen 2003 exactly at their edges, through the interface that every driver uses.

mod common;

use common::{packet, verdicts};
use losscause::Verdict::{Congestion, Wireless};
use losscause::lda::{AboveThree, JudgedBy, ZigZag, ZigZagConfig};
use losscause::{Algorithm, BuiltIn, End, Interval, Loss, Observation, Span, Time, Verdict};

const SECOND: i64 = 1_000_000_000;

/// One packet is lost; T_min is one second.
fn biaz_at(algorithm: BuiltIn, t_i_ms: i64) -> Verdict {
    let packets =
        [packet(0, 0, 0), packet(1, SECOND, 0), packet(3, SECOND + t_i_ms * SECOND / 1000, 0)];
    verdicts(algorithm.build(End::Receiver).expect("published parameters"), packets)[0]
}

#[test]
fn biaz_is_wireless_from_n_plus_1_to_n_plus_2_intervals() {
    let edges = [1_990, 2_000, 2_990, 3_000].map(|t_i| biaz_at(BuiltIn::Biaz, t_i));
    assert_eq!(edges, [Congestion, Wireless, Wireless, Congestion]);
}

#[test]
fn mbiaz_is_wireless_from_n_plus_1_to_n_plus_1_25_intervals() {
    let edges = [1_990, 2_000, 2_240, 2_250].map(|t_i| biaz_at(BuiltIn::MBiaz, t_i));
    assert_eq!(edges, [Congestion, Wireless, Wireless, Congestion]);
}

#[test]
fn the_limits_of_biaz_move_with_the_number_of_lost_packets() {
    for n in 1..=9 {
        let at = |t_i_ms: i64| {
            let packets = [
                packet(0, 0, 0),
                packet(1, SECOND, 0),
                packet(2 + n, SECOND + t_i_ms * SECOND / 1000, 0),
            ];
            verdicts(BuiltIn::MBiaz.build(End::Receiver).expect("published parameters"), packets)
        };
        let (n, low) = (n as usize, 1000 * (n as i64 + 1));
        assert_eq!(at(low - 1), vec![Congestion; n]);
        assert_eq!(at(low), vec![Wireless; n]);
        assert_eq!(at(low + 249), vec![Wireless; n]);
        assert_eq!(at(low + 250), vec![Congestion; n]);
    }
}

/// A ZigZag with mean 100 and deviation 10, in microseconds. With gain 1/2 the mean is half the old
/// one and half the new value, and the deviation forgets all but the last distance.
fn zigzag_with_mean_100_dev_10(above_three: AboveThree) -> ZigZag {
    // The packet that reveals the gap decides, so that a test can choose its trip time.
    let config = ZigZagConfig {
        alpha: 0.5,
        above_three,
        judged_by: JudgedBy::AfterGap,
        ..ZigZagConfig::default()
    };
    let mut zigzag = ZigZag::new(&config).expect("valid");
    // Values 0, 180, 110: means 0, 90, 100; the deviation is |110 - 100| = 10.
    for rott in [0, 180, 110] {
        let rott = Some(Span::from_micros(rott));
        zigzag.observe(&Observation::first(0, Time::ZERO).with_delay(rott));
    }
    zigzag
}

fn zigzag_at(above_three: AboveThree, n: u32, rott_tenths: i64) -> Verdict {
    let rott = Some(Span::from_micros(rott_tenths) / 10);
    let revealed_by =
        Observation::first(10, Time::ZERO).with_delay(rott).after(Span::from_millis(1)).with_gap(n);
    zigzag_with_mean_100_dev_10(above_three).judge(&Loss::in_gap(9, revealed_by)).verdict
}

#[test]
fn zigzag_is_wireless_below_the_printed_limits() {
    for (n, limit) in [(1, 900), (2, 950), (3, 1000), (4, 950), (9, 950)] {
        assert_eq!(zigzag_at(AboveThree::Printed, n, limit - 1), Wireless, "n = {n}");
        assert_eq!(zigzag_at(AboveThree::Printed, n, limit), Congestion, "n = {n}");
    }
}

#[test]
fn other_readings_of_zigzag_matter_beyond_three_losses_only() {
    for (reading, limit) in [(AboveThree::Mean, 1000), (AboveThree::MeanPlusHalf, 1050)] {
        for (n, limit) in [(1, 900), (2, 950), (3, 1000), (4, limit), (9, limit)] {
            assert_eq!(zigzag_at(reading, n, limit - 1), Wireless, "{reading:?}, n = {n}");
            assert_eq!(zigzag_at(reading, n, limit), Congestion, "{reading:?}, n = {n}");
        }
    }
}

#[test]
fn zigzag_judges_by_the_packet_before_or_after_the_gap() {
    assert_eq!(ZigZagConfig::default().judged_by, JudgedBy::BeforeGap);
    // Trip times 100 (often), then 130 before the gap and 70 after it: above and below every limit.
    for (judged_by, verdict) in [(JudgedBy::AfterGap, Wireless), (JudgedBy::BeforeGap, Congestion)]
    {
        let mut zigzag =
            ZigZag::new(&ZigZagConfig { judged_by, ..ZigZagConfig::default() }).expect("valid");
        let arrival = |ms, before_ms, missing| {
            let delay = Some(Span::from_millis(ms));
            let mut arrival =
                Observation::first(10, Time::ZERO).with_delay(delay).with_gap(missing);
            arrival.since_last = Some(Interval {
                span: Span::from_millis(1),
                delay_before: Some(Span::from_millis(before_ms)),
            });
            arrival
        };
        for ms in [100; 50].into_iter().chain([130]) {
            zigzag.observe(&arrival(ms, 100, 0));
        }
        let revealed_by = arrival(70, 130, 1);
        zigzag.observe(&revealed_by);
        assert_eq!(zigzag.judge(&Loss::in_gap(9, revealed_by)).verdict, verdict, "{judged_by:?}");
    }
}

/// Spike over extremes 0 and 60 ms: it starts above 30 ms and ends below 20 ms. The ROTTs that
/// follow are each on a packet that reveals one loss.
fn spike_over(rotts_us: &[i64]) -> Vec<Verdict> {
    let mut packets = vec![packet(0, 0, 0), packet(1, 1, 60_000_000), packet(2, 2, 0)];
    packets.extend(
        rotts_us.iter().zip(2_i64..).map(|(rott, i)| packet(2 * i as u64, i, rott * 1_000)),
    );
    verdicts(BuiltIn::Spike.build(End::Receiver).expect("published parameters"), packets)
}

#[test]
fn spike_starts_above_one_threshold_and_ends_below_the_other() {
    assert_eq!(
        spike_over(&[30_000, 30_001, 20_000, 19_999, 30_000])[1..],
        [Congestion, Congestion, Wireless, Wireless]
    );
}

#[test]
fn tobes_thresholds_do_not_depend_on_the_range() {
    let rotts_ms = [0, 20, 21, 300, 5, 4, 20];
    let packets =
        rotts_ms.iter().zip(0_i64..).map(|(rott, i)| packet(2 * i as u64, i, rott * 1_000_000));
    assert_eq!(
        verdicts(BuiltIn::SpikeTobe.build(End::Receiver).expect("published parameters"), packets),
        [Wireless, Congestion, Congestion, Congestion, Wireless, Wireless]
    );
}
