//! The rules, one by one.

use super::*;
use crate::diagnosis::{LargeRounds, RecentDelay};

fn ms(ms: f64) -> Span {
    Span::from_secs_f64_rounded(ms / 1e3)
}

/// A sender's flow of 5,000 packets that loses one or two of 20 in each of 40 rounds, behind a
/// queue that stands at 40 ms.
fn standing() -> Readings {
    Readings {
        lost: 60,
        rounds: 40,
        with_delay: 40,
        queued: 40,
        standing: ms(40.0),
        queueing: ms(40.0),
        above_least: ms(40.0),
        level_spread: Some(0.8),
        jitter: ms(1.5),
        rtt: Some(ms(40.0)),
        contrast: 2.2,
        per_round: 1.5,
        usual_round: 1.0,
        flight_pkts: Some(20.0),
        flight_spread: Some(0.4),
        interval: ms(800.0),
        interval_spread: Some(0.3),
        share_of_flight: Some(0.075),
        ..Readings::default()
    }
}

/// The same without a queue.
fn passing() -> Readings {
    let delay = ms(0.3);
    Readings {
        queued: 0,
        empty: 40,
        standing: delay,
        queueing: delay,
        above_least: delay,
        contrast: 0.0,
        ..standing()
    }
}

fn rate(mbps: f64, fit: u32, intervals: u32, share: f64) -> OneRate {
    OneRate {
        rate_bps: (mbps * 1e6) as u64,
        burst_bytes: 0,
        fit,
        intervals,
        share,
        above: 0.0,
        bucket: BucketTest::NotTested,
    }
}

fn found(readings: &Readings, one: Option<&OneRate>) -> (Cause, Certainty) {
    let Diagnosis { cause, certainty, .. } = readings.diagnose(one, 5_000);
    (cause, certainty)
}

#[test]
fn a_queue_is_named_by_its_drop_level_not_by_a_grown_delay() {
    // A link that is never idle has one rate, and any loss ends the growth of its queue.
    let busy = rate(2.8, 30, 32, 0.98);
    let untold = (Cause::NotShown(Unknown::BehindQueue), Certainty::CannotTell);
    assert_eq!(found(&standing(), Some(&busy)), untold);
    let queue = (Cause::FullQueue, Certainty::Clear);
    assert_eq!(
        found(&Readings { level_spread: Some(0.05), ..standing() }, Some(&busy)),
        queue,
        "delays alike"
    );
    assert_eq!(
        found(&Readings { flight_spread: Some(0.05), ..standing() }, None),
        queue,
        "flights alike"
    );
    let bursts = Readings { per_round: 30.0, usual_round: 20.0, lost: 1_200, ..standing() };
    assert_eq!(found(&bursts, None), (Cause::FullQueue, Certainty::Likely));
    let one_burst = Readings { usual_round: 1.0, ..bursts };
    assert_eq!(found(&one_burst, None), untold, "one large round is no rule");
}

#[test]
fn a_long_queue_is_likely_after_two_overflows_not_after_one() {
    let deep = Readings {
        lost: 300,
        rounds: 2,
        with_delay: 2,
        queued: 2,
        above_least: ms(700.0),
        per_round: 150.0,
        flight_pkts: Some(400.0),
        flight_spread: Some(0.02),
        ..standing()
    };
    let too_few = (Cause::NotShown(Unknown::TooFew), Certainty::CannotTell);
    let of = |readings: &Readings| found(readings, None);
    assert_eq!(of(&deep), (Cause::FullQueue, Certainty::Likely));
    assert_eq!(of(&Readings { rounds: 1, with_delay: 1, queued: 1, ..deep }), too_few);
    assert_eq!(of(&Readings { flight_spread: Some(0.5), ..deep }), too_few, "at any level");
    assert_eq!(of(&Readings { queued: 1, ..deep }), too_few, "one without a queue");
    assert_eq!(
        of(&Readings { per_round: 4.0, lost: 8, ..deep }),
        too_few,
        "as few as a burst of the air"
    );
    assert_eq!(of(&Readings { above_least: ms(20.0), ..deep }), too_few, "a short queue");
    // A rate that changes has no one level.
    let large_rounds = LargeRounds { rounds: 2, lost: 300, queued: 2, least_queue: ms(560.0) };
    let changing = Readings { flight_spread: Some(0.5), large_rounds, ..deep };
    assert_eq!(of(&changing), (Cause::FullQueue, Certainty::Likely));
    let as_bursts = Readings { per_round: 12.0, lost: 24, ..changing };
    assert_eq!(of(&as_bursts), too_few, "as bursts of the air may be");
}

#[test]
fn a_link_of_the_rate_that_fits_is_no_policer() {
    let one = rate(2.3, 38, 39, 0.97);
    let policer = Cause::Policer { rate_bps: Some(2_300_000), burst_bytes: Some(0) };
    assert_eq!(found(&passing(), Some(&one)), (policer, Certainty::Clear));
    // A packet takes 5.2 ms at this rate: as long as those wait that CoDel drops. The jitter
    // hides it.
    let waiting = Readings { queueing: ms(8.3), jitter: ms(4.1), empty: 0, ..passing() };
    assert_eq!(found(&waiting, Some(&one)).1, Certainty::CannotTell);
    // A queue takes less of a flight at once than a bucket does.
    let many = Readings {
        per_round: 8.0,
        usual_round: 8.0,
        lost: 320,
        share_of_flight: Some(0.4),
        ..waiting
    };
    assert_eq!(found(&many, Some(&one)), (policer, Certainty::Clear));
}

#[test]
fn packets_that_waited_for_half_of_the_bucket_were_in_a_queue() {
    // At 2.3 Mb/s 28,750 bytes take 100 ms.
    let one = OneRate { burst_bytes: 28_750, ..rate(2.3, 38, 39, 0.97) };
    let after = |peak| found(&Readings { peak: ms(peak), ..passing() }, Some(&one));
    assert!(matches!(after(49.9), (Cause::Policer { .. }, Certainty::Clear)));
    assert!(!matches!(after(50.1).0, Cause::Policer { .. }));
    // Without a rate, half of a flight.
    let many = Readings {
        per_round: 10.0,
        usual_round: 10.0,
        lost: 400,
        share_of_flight: Some(0.4),
        rtt: Some(ms(40.0)),
        ..passing()
    };
    let after = |peak| found(&Readings { peak: ms(peak), ..many }, None).0;
    assert!(matches!(after(19.9), Cause::Policer { rate_bps: None, .. }));
    assert!(!matches!(after(20.1), Cause::Policer { .. }));
}

#[test]
fn a_policer_has_the_rate_of_the_buckets_that_fit() {
    let buckets = Buckets {
        least_bps: 9_800_000,
        most_bps: Some(10_200_000),
        least_bytes: 58_000,
        most_bytes: Some(62_000),
        fit: 40,
        stretches: 41,
    };
    let of = |bucket| found(&passing(), Some(&OneRate { bucket, ..rate(3.2, 20, 39, 0.5) }));
    let policer = |rate_bps, burst_bytes| Cause::Policer { rate_bps, burst_bytes };
    assert_eq!(
        of(BucketTest::Fits(buckets)),
        (policer(Some(10_000_000), Some(60_000)), Certainty::Clear)
    );
    let wide = Buckets { most_bps: Some(20_000_000), ..buckets };
    assert_eq!(of(BucketTest::Fits(wide)), (policer(None, None), Certainty::Likely));
    // Of 1.2 kB, 1 ms at the rate: packets of a queue of that size wait as long.
    let queue = Buckets { least_bytes: 700, ..buckets };
    assert_eq!(of(BucketTest::Fits(queue)).1, Certainty::CannotTell);
}

#[test]
fn amounts_of_half_of_the_time_show_no_rate_where_no_bucket_fits() {
    let many = Readings {
        per_round: 10.0,
        usual_round: 10.0,
        lost: 400,
        share_of_flight: Some(0.4),
        ..passing()
    };
    let of = |share, bucket| found(&many, Some(&OneRate { bucket, ..rate(24.0, 20, 39, share) }));
    let told = |rate_bps| Cause::Policer { rate_bps, burst_bytes: rate_bps.map(|_| 0) };
    let sure = (told(Some(24_000_000)), Certainty::Clear);
    let none = BucketTest::NoneFits(380_000);
    assert_eq!(of(0.6, BucketTest::NotTested), sure);
    assert_eq!(of(0.6, none), (told(None), Certainty::Likely));
    assert_eq!(of(0.9, none), sure, "nearly all of the time");
}

/// Linux's `tbf` holds two packets at least, whose delay is longer than before a loss.
#[test]
fn a_few_packets_that_wait_for_tokens_are_no_queue() {
    let waits = Readings {
        queueing: ms(2.4),
        above_least: ms(2.4),
        empty: 30,
        contrast: 5.0,
        per_round: 3.0,
        lost: 120,
        ..passing()
    };
    let policer = |rate_bps, burst_bytes| Cause::Policer { rate_bps, burst_bytes };
    let one = rate(10.0, 39, 39, 1.0);
    assert!(!matches!(found(&waits, Some(&one)).0, Cause::Policer { .. }), "or a short queue's");
    // 60 kB are 48 ms.
    let buckets = Buckets {
        least_bps: 9_800_000,
        most_bps: Some(10_200_000),
        least_bytes: 60_000,
        most_bytes: None,
        fit: 40,
        stretches: 41,
    };
    let fits = OneRate { bucket: BucketTest::Fits(buckets), ..one };
    let clear = (policer(Some(10_000_000), Some(60_000)), Certainty::Clear);
    assert_eq!(found(&waits, Some(&fits)), clear);
    // 9 kB are 7.2 ms: a short queue may be a third of a small bucket's.
    let small = Buckets { least_bytes: 9_000, ..buckets };
    let small = OneRate { bucket: BucketTest::Fits(small), ..one };
    assert!(!matches!(found(&waits, Some(&small)).0, Cause::Policer { .. }));
    // 15 kB are 12 ms, five times the delay; 6 kB half as long, or less than that at losses.
    let of = |excess| found(&Readings { moments: moments(0.95, 40, 10.0, excess), ..waits }, None);
    assert_eq!(of(15_000), (policer(None, None), Certainty::Likely));
    assert_eq!(of(9_000).1, Certainty::CannotTell);
    assert_eq!(of(6_000), (Cause::ManagedQueue, Certainty::Likely));
}

#[test]
fn equal_amounts_of_a_few_packets_show_no_rate() {
    let one = |bucket| OneRate { bucket, ..rate(0.56, 39, 39, 1.0) };
    let few = one(BucketTest::FewPackets(500_000));
    assert_eq!(found(&passing(), Some(&few)).1, Certainty::CannotTell);
    let many = Readings {
        per_round: 8.0,
        usual_round: 8.0,
        lost: 320,
        share_of_flight: Some(0.4),
        ..passing()
    };
    let unknown = Cause::Policer { rate_bps: None, burst_bytes: None };
    assert_eq!(found(&many, Some(&few)), (unknown, Certainty::Likely));
    let none_fits = one(BucketTest::NoneFits(6_000));
    assert_eq!(found(&many, Some(&none_fits)), (unknown, Certainty::Likely));
    let more = one(BucketTest::NoneFits(30_000));
    assert_eq!(found(&many, Some(&more)).1, Certainty::Clear, "more than a few packets");
}

#[test]
fn overflows_that_lost_most_are_likely_a_queue_beside_single_losses() {
    let large = LargeRounds { rounds: 4, lost: 560, queued: 4, least_queue: ms(600.0) };
    let lte = Readings { lost: 600, large_rounds: large, ..standing() };
    assert_eq!(found(&lte, None), (Cause::FullQueue, Certainty::Likely));
    let untold = (Cause::NotShown(Unknown::BehindQueue), Certainty::CannotTell);
    for other in [
        LargeRounds { rounds: 1, lost: 560, queued: 1, ..large },
        LargeRounds { lost: 400, ..large },
        LargeRounds { queued: 3, ..large },
        LargeRounds { least_queue: ms(20.0), ..large },
    ] {
        assert_eq!(found(&Readings { large_rounds: other, ..lte }, None), untold, "{other:?}");
    }
}

#[test]
fn one_long_interval_is_no_rate() {
    let mostly = rate(4.3, 2, 8, 0.87);
    let many = Readings {
        per_round: 8.0,
        usual_round: 2.0,
        lost: 320,
        share_of_flight: Some(0.4),
        ..passing()
    };
    assert_eq!(found(&many, Some(&mostly)).1, Certainty::CannotTell);
    assert_eq!(found(&many, Some(&rate(4.3, 4, 8, 0.87))).1, Certainty::Clear);
}

/// BBR keeps its flight, and so the queue that it makes, whatever is lost.
#[test]
fn flights_that_are_alike_at_any_moment_show_no_queue() {
    let alike = Readings { flight_spread: Some(0.0), level_spread: Some(0.15), ..standing() };
    assert_eq!(found(&alike, None), (Cause::FullQueue, Certainty::Clear));
    let untold = (Cause::NotShown(Unknown::BehindQueue), Certainty::CannotTell);
    let at_any = Readings { interval_spread: Some(1.6), ..alike };
    assert_eq!(found(&at_any, None), untold, "exponential times");
    assert_eq!(found(&Readings { rounds: 12, ..at_any }, None).1, Certainty::Clear, "too few");
    let at_once = Readings { interval: ms(100.0), ..alike };
    assert_eq!(found(&at_once, None), untold, "no time to grow back");
    // Of BBR's flows that fill a part of the queue, as their receivers see them.
    let received = Readings { flight_pkts: None, flight_spread: None, ..at_any };
    assert_eq!(found(&received, None), untold, "delays alike");
}

#[test]
fn one_level_of_a_queue_that_is_not_seen_to_stand_is_likely_a_queue() {
    let small = Readings {
        queued: 2,
        empty: 1,
        standing: ms(2.3),
        above_least: ms(10.0),
        flight_spread: Some(0.0),
        level_spread: Some(0.09),
        ..standing()
    };
    assert_eq!(found(&small, None), (Cause::ManagedQueue, Certainty::Likely));
    for other in [
        Readings { flight_spread: Some(0.3), ..small },
        Readings { level_spread: Some(0.3), ..small },
        Readings { empty: 9, ..small },
        Readings { interval_spread: Some(1.6), ..small },
    ] {
        assert_eq!(found(&other, None).1, Certainty::CannotTell);
    }
}

#[test]
fn the_air_needs_a_queue_that_is_short_and_hardly_ever_stands() {
    let air = (Cause::Air, Certainty::Clear);
    assert_eq!(found(&passing(), None), air);
    let mostly = Readings { empty: 29, ..passing() };
    assert_eq!(found(&mostly, None), (Cause::Air, Certainty::Likely), "29 of 40");
    assert_eq!(found(&Readings { queued: 5, ..mostly }, None).1, Certainty::CannotTell);
    // Jitter hides a queue of 12 ms.
    let hidden = Readings { queueing: ms(12.0), jitter: ms(16.0), ..passing() };
    assert_eq!(found(&hidden, None).1, Certainty::CannotTell);
}

fn moments(rank: f64, losses: u32, rate_mbps: f64, excess_bytes: u64) -> Option<Moments> {
    Some(Moments { rank, losses, rate_bps: (rate_mbps * 1e6) as u64, excess_bytes })
}

#[test]
fn losses_at_any_moment_are_no_limit_s() {
    let any = moments(0.53, 60, 8.0, 20_000);
    // A rate fits, half of a burst is lost at once, a tenth of the packets is lost: each alone
    // leaves the air untold.
    let bursts = Readings { per_round: 4.0, lost: 160, ..passing() };
    let alike = Readings { flight_spread: Some(0.1), ..passing() };
    let one = rate(2.8, 20, 39, 0.5);
    for (readings, one) in [(passing(), Some(&one)), (bursts, None), (alike, None)] {
        assert_eq!(found(&readings, one).1, Certainty::CannotTell, "{readings:?}");
        let told = Readings { moments: any, ..readings };
        assert_eq!(found(&told, one), (Cause::Air, Certainty::Clear), "{readings:?}");
    }
    let heavy = Readings { lost: 600, ..passing() };
    assert_eq!(found(&heavy, None).1, Certainty::CannotTell, "12 % are lost");
    assert_eq!(found(&Readings { moments: any, ..heavy }, None), (Cause::Air, Certainty::Clear));
    // A sender at one rate, as BBR, whatever loses its packets.
    let close = rate(2.3, 38, 39, 0.97);
    let paced = Readings { moments: any, ..passing() };
    assert!(matches!(found(&passing(), Some(&close)).0, Cause::Policer { .. }));
    assert_eq!(found(&paced, Some(&close)), (Cause::Air, Certainty::Clear));
}

#[test]
fn a_managed_queue_with_competitors_may_choose_no_moment_that_is_seen() {
    let any = moments(0.55, 30, 8.0, 20_000);
    // Delays step, as between satellites: the queue seldom seems empty.
    let steps = Readings { queued: 18, empty: 20, queueing: ms(2.0), moments: any, ..passing() };
    assert_eq!(found(&steps, None), (Cause::Air, Certainty::Likely));
    for other in [
        Readings { queued: 21, ..steps },
        Readings { queued: 0, empty: 0, ..steps },
        Readings { queueing: ms(7.0), ..steps },
        Readings { moments: moments(0.6, 90, 8.0, 20_000), ..steps },
        Readings { moments: None, ..steps },
    ] {
        assert_eq!(found(&other, None).1, Certainty::CannotTell, "{other:?}");
    }
}

#[test]
fn chosen_moments_are_a_queue_s_or_a_policer_s_by_the_delay() {
    // 20 kB at 8 Mb/s are 20 ms.
    let chosen = moments(0.85, 60, 8.0, 20_000);
    let policer = Cause::Policer { rate_bps: None, burst_bytes: None };
    let several = Readings { per_round: 4.0, lost: 160, moments: chosen, ..passing() };
    assert_eq!(found(&several, None), (policer, Certainty::Likely));
    let waits = Readings { queueing: ms(12.0), above_least: ms(12.0), empty: 10, ..several };
    assert_eq!(found(&waits, None), (Cause::ManagedQueue, Certainty::Likely));
    let between = Readings { queueing: ms(7.0), ..several };
    assert_eq!(found(&between, None).1, Certainty::CannotTell, "neither");
    let stands = Readings { moments: moments(0.85, 60, 8.0, 40_000), ..standing() };
    assert_eq!(found(&stands, None), (Cause::FullQueue, Certainty::Likely));
    // Alone and before an empty queue, as the air's, but at moments that it does not choose.
    assert_eq!(found(&passing(), None).0, Cause::Air);
    let short =
        Readings { queueing: ms(2.0), moments: moments(0.8, 60, 40.0, 20_000), ..passing() };
    assert_eq!(found(&short, None), (Cause::ManagedQueue, Certainty::Likely));
}

#[test]
fn one_overflow_that_lost_most_packets_is_not_the_air_s() {
    let any = moments(0.55, 27, 8.0, 20_000);
    let large_rounds = LargeRounds { rounds: 1, lost: 120, queued: 1, least_queue: ms(90.0) };
    let mixed = Readings { lost: 153, per_round: 5.7, moments: any, large_rounds, ..passing() };
    assert_eq!(found(&mixed, None).1, Certainty::CannotTell);
    // A geometric burst of four packets, once in eight longer than eight.
    let large_rounds = LargeRounds { rounds: 5, lost: 55, queued: 0, least_queue: ms(0.0) };
    let bursts = Readings { usual_round: 3.0, per_round: 4.0, large_rounds, ..mixed };
    assert_eq!(found(&bursts, None).0, Cause::Air);
}

fn delays(rank: f64, losses: u32) -> Option<DelayRank> {
    Some(DelayRank { ranks: RecentDelay { least: rank, mean: rank }, losses, others: 100 })
}

#[test]
fn a_queue_that_is_not_alike_is_told_by_the_delays_that_its_losses_choose() {
    let untold = (Cause::NotShown(Unknown::BehindQueue), Certainty::CannotTell);
    assert_eq!(found(&standing(), None), untold);
    let of = |delays| found(&Readings { delays, ..standing() }, None);
    assert_eq!(of(delays(0.85, 40)), (Cause::FullQueue, Certainty::Clear));
    assert_eq!(of(delays(0.72, 40)), (Cause::FullQueue, Certainty::Likely));
    assert_eq!(of(delays(0.62, 200)), untold, "a small bias");
    assert_eq!(of(delays(0.72, 10)), untold, "by chance");
    let both = |rank| Readings {
        delays: delays(rank, 40),
        moments: moments(0.63, 40, 8.0, 400_000),
        ..standing()
    };
    let likely = (Cause::FullQueue, Certainty::Likely);
    assert_eq!(found(&both(0.62), None), likely, "by what was sent, too");
    assert_eq!(found(&both(0.55), None), untold, "by what was sent alone");
    let seldom = Readings { queued: 20, delays: delays(0.85, 40), ..standing() };
    assert_eq!(found(&seldom, None), (Cause::FullQueue, Certainty::Likely));
    let without = Readings { per_round: 4.0, lost: 160, delays: delays(0.85, 40), ..passing() };
    assert_eq!(found(&without, None).1, Certainty::CannotTell, "no queue at all");
}

#[test]
fn a_queue_that_is_gone_when_its_losses_show_is_told_by_the_delays_before_them() {
    let of = |peak: f64, rank: f64| {
        let behind = Readings { per_round: 4.0, lost: 160, ..passing() };
        found(&Readings { peak: ms(peak), delays: delays(rank, 40), ..behind }, None)
    };
    assert_eq!(of(60.0, 0.85), (Cause::FullQueue, Certainty::Likely));
    assert_eq!(of(15.0, 0.85), (Cause::ManagedQueue, Certainty::Likely));
    assert_eq!(of(5.0, 0.85).1, Certainty::CannotTell, "no packet waited");
    assert_eq!(of(60.0, 0.72).1, Certainty::CannotTell, "nor is it beyond doubt");
}

#[test]
fn losses_that_choose_neither_moment_nor_delay_are_likely_the_air_s_however_delays_vary() {
    let air = (Cause::Air, Certainty::Likely);
    let any = Readings { moments: moments(0.53, 60, 8.0, 20_000), ..standing() };
    let varies = Readings { delays: delays(0.5, 60), ..any };
    assert_eq!(found(&varies, None), air);
    // Most of the delays are alike, as of packets in batches.
    let batches = Readings { level_spread: Some(0.05), ..varies };
    assert_eq!(found(&batches, None), air);
    for other in [
        any,
        Readings { delays: delays(0.57, 60), ..any },
        Readings { delays: delays(0.5, 12), ..any },
        Readings { moments: moments(0.6, 90, 8.0, 20_000), ..varies },
        Readings { moments: None, ..varies },
    ] {
        assert_eq!(found(&other, None).1, Certainty::CannotTell, "{other:?}");
    }
}

#[test]
fn losses_that_choose_a_long_delay_are_not_the_air_s() {
    let any = moments(0.53, 60, 8.0, 20_000);
    let jitter = ms(1.0);
    let short = Readings { queueing: ms(4.0), jitter, moments: any, ..passing() };
    let queue = Readings { delays: delays(0.8, 60), ..short };
    assert_eq!(found(&queue, None), (Cause::ManagedQueue, Certainty::Likely));
    assert_eq!(found(&short, None).0, Cause::Air);
}
