//! What to do about a cause has a number where one was seen, and a congestion control is named for
//! the air only.

use losscause::Span;
use losscause::diagnosis::{Cause, Certainty, Diagnosis, PathRate, Unknown};

fn of(cause: Cause) -> Diagnosis {
    Diagnosis { cause, certainty: Certainty::Clear, findings: [None; 3] }
}

fn path(least_bps: u64) -> PathRate {
    PathRate { rate_bps: 20_000_000, least_bps, round_trip: Span::from_millis(40) }
}

#[test]
fn a_queue_is_shaped_to_nine_tenths_and_a_policer_to_less() {
    let queue = of(Cause::FullQueue);
    assert_eq!(
        queue.advice_on(Some(path(19_000_000))).to_string(),
        "Put fq_codel in front of the slow link, at 18 Mb/s (90 % of its 20 Mb/s): it aims at 5 ms of queueing delay"
    );
    assert_eq!(queue.cause.shaped_bps(Some(path(19_000_000))), Some(18_000_000));
    assert_eq!(
        queue.advice().to_string(),
        "Put fq_codel where the slow link's queue is; a shaper in front of it needs the link's rate, which was not seen"
    );
    let policer = of(Cause::Policer { rate_bps: Some(10_000_000), burst_bytes: None });
    assert_eq!(
        policer.advice().to_string(),
        "Shape to 9.8 Mb/s (98 % of its rate): packets then wait in the shaper's queue where the policer would drop them"
    );
    assert_eq!(policer.cause.shaped_bps(None), Some(9_800_000));
}

#[test]
fn text_and_command_have_the_same_rate() {
    for (rate, shaped, told) in [
        (508_500, 498_000, "498 kb/s"),
        (3_004_000, 2_940_000, "2.94 Mb/s"),
        (99, 97, "0.097 kb/s"),
    ] {
        let policer = of(Cause::Policer { rate_bps: Some(rate), burst_bytes: None });
        assert_eq!(policer.cause.shaped_bps(None), Some(shaped));
        let advice = policer.advice().to_string();
        assert!(advice.starts_with(&format!("Shape to {told} (")), "{advice}");
    }
}

#[test]
fn no_fixed_rate_is_advised_where_the_rate_changes() {
    let advice = of(Cause::FullQueue).advice_on(Some(path(2_000_000))).to_string();
    assert!(
        advice.ends_with("would have to follow its rate, which was 2.0 Mb/s to 20 Mb/s"),
        "{advice}"
    );
    assert_eq!(Cause::FullQueue.shaped_bps(Some(path(2_000_000))), None);
}

#[test]
fn a_small_queue_is_to_hold_a_round_trip() {
    // 20 Mb/s for 40 ms.
    let advice = of(Cause::ManagedQueue).advice_on(Some(path(20_000_000))).to_string();
    assert!(advice.contains("a round trip (100 kB at 20 Mb/s)"), "{advice}");
}

#[test]
fn a_congestion_control_is_named_for_the_air_only() {
    let unknown = Cause::NotShown(Unknown::QueueOrAir);
    for cause in [Cause::FullQueue, Cause::ManagedQueue, Cause::Outage, Cause::Air, unknown] {
        let advice = of(cause).advice_on(Some(path(19_000_000))).to_string();
        assert_eq!(advice.contains("congestion control"), cause == Cause::Air, "{advice}");
        assert!(cause == Cause::FullQueue || cause.shaped_bps(Some(path(19_000_000))).is_none());
    }
}
