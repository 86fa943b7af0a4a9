//! Guard and brake: when a transport reduces its window although the algorithm calls a loss
//! wireless.
//!
//! An algorithm that errs makes its sender keep a window that is too large. Two rules limit the
//! harm. Both look at the path, not at the algorithm, so they are the same above every algorithm.
//!
//! *Guard*: a reduction that costs nothing needs no cause. The response keeps the share b of the
//! window. If a queue stands that holds at least (1 - b)/b of a base round trip, the window after
//! the reduction still fills the link:
//!
//! ```text
//! window >= rate (base + standing),  standing >= base (1 - b)/b   =>   b window >= rate base
//! ```
//!
//! The queue that stands is the least round-trip time of the last 50 to 100 ms above the base.
//! 100 ms are the interval of CoDel (RFC 8289, section 4.4): a queue that lasts shorter is a burst.
//! Without round-trip times in both halves of the 100 ms the guard does not speak.
//!
//! The base is the least round-trip time of the last [`BASE_BUCKET`] to twice that which two round
//! trips support. One that is too short, because a host was busy, changes nothing.
//!
//! What the guard says is checked. In the round trip after it spoke, packets arrive that left before
//! the reduction, and in the one after that packets that left behind it. If the link stayed full,
//! both deliver as much, and the round-trip time falls by the share 1 - b. If the second round trip
//! delivers less by more than half of that share and two packets, and the round-trip time is within
//! an eighth of that share where it was, the reduction has cost goodput and drained no queue: the
//! path has become longer. The base is then learned anew. The queue of more than eight equal flows
//! does not fall either: there the guard falls silent too, because the reduction gives our part of
//! the link to others.
//!
//! *Brake*: a policer drops whatever exceeds its rate, with no queue before. The share that it
//! drops grows with the flight, so a sender that ignores these losses loses ever more. A *round*
//! are the losses whose packets left before the first of them was reported. Of its flight of F
//! packets, n were lost and called wireless, in r reports. p is the share of packets lost before
//! the round, with one loss more than was seen. Two tests ask whether independent losses explain
//! this; one of them is enough:
//!
//! ```text
//! large part:  n > F/4,  n >= 4 + 3 p F,  r >= 3
//! sum:         S >= 6,   S = S' + a,   a = (r - 1) - 2 p F - 1/2
//! ```
//!
//! S' is what the rounds before left: from 0 to 8, and of each round at most 3. Then all losses of
//! this round are congestion from now on. Those of the next 20 rounds are too if a large part was
//! lost, or if S is at least 6 although this round, as well, counts for at most 3. A round that
//! meets one of these while the brake holds makes it hold for 20 rounds more.
//!
//! - p F losses are expected if they are independent. At most one round in 10,000 has 4 + 3 p F of
//!   them, whatever p F is (Poisson). So independent losses seldom set the brake, even of a small
//!   flight.
//! - S is a cumulative sum (Page, "Continuous Inspection Schemes", Biometrika 41, 1954). The first
//!   loss opens the round, and p F more are expected, so S falls by p F + 1/2 in the mean. A
//!   policer at whose rate the sender stays takes a few packets of every flight: less than a
//!   quarter, but again and again.
//! - One round of a small part of the flight stops its own losses only. A queue that overflows once,
//!   behind a satellite or at a step of its rate, drops a dozen packets of a large flight. The
//!   reduction ends that, and it says nothing of the losses of the next 20 rounds. So the brake
//!   holds only after two rounds of at least 3, half of the 6.
//! - Reports are counted beside packets, because a fade loses packets in a row. They show in one
//!   or two reports; those of a policer are spread over the round.
//! - A round of at least 4 losses and more than a quarter of its flight does not count for p,
//!   whatever the verdicts: the overflow of a slow start says nothing of the losses after it.
//! - Losses that the algorithm calls congestion are not counted to n and r: it reduced the window
//!   for these.
//!
//! ```
//! use losscause::safeguard::{Safeguard, Safeguards, Watch};
//! use losscause::{Acked, Loss, Observation, Signal, Span, Time, Verdict};
//!
//! let mut watch = Watch::new(Safeguards::ON);
//! let at = Time::ZERO + Span::from_millis(100);
//! watch.on_ack(&Observation::first(1_000, at).with_acked(Acked::new(1_000)));
//! let mut lose = |lost_pkts| {
//!     let mut loss = Loss::new(at, Signal::Gap);
//!     (loss.lost_pkts, loss.in_flight_pkts) = (lost_pkts, 40);
//!     watch.on_loss(&loss, Verdict::Wireless, Some(Watch::CUBIC))
//! };
//! assert_eq!(lose(9), None, "one report: a fade");
//! assert_eq!(lose(1), None, "two, of a quarter of the flight");
//! let brake: Safeguard = lose(1).expect("three");
//! assert_eq!(
//!     brake.to_string(),
//!     "brake: 11 of a flight of 40 lost in 3 reports, where 0.04 were expected"
//! );
//! ```

mod brake;
mod guard;

use core::fmt;

use crate::{Loss, Needs, Observation, Span, Verdict};
use brake::Brake;
use guard::Guard;

pub use guard::BASE_BUCKET;

/// Which safeguards a transport has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Safeguards {
    /// Reduce where a reduction leaves the link full.
    pub guard: bool,
    /// Reduce after rounds that lost more than independent losses explain.
    pub brake: bool,
}

impl Safeguards {
    /// Both.
    pub const ON: Self = Self { guard: true, brake: true };
    /// None: the algorithm decides.
    pub const OFF: Self = Self { guard: false, brake: false };

    /// These safeguards above an algorithm that needs `needs`. An algorithm that is told the truth
    /// has none: it does not err.
    #[must_use]
    pub const fn above(self, needs: Needs) -> Self {
        if needs.label || needs.other.is_some() { Self::OFF } else { self }
    }
}

/// The safeguard that turned a wireless verdict into congestion, and the numbers of that decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "name", rename_all = "kebab-case"))]
pub enum Safeguard {
    /// The reduction leaves the link full.
    Guard {
        /// The queue that stood.
        #[cfg_attr(feature = "serde", serde(rename = "queue_ns"))]
        queue: Span,
        /// The round-trip time without it.
        #[cfg_attr(feature = "serde", serde(rename = "base_ns"))]
        base: Span,
        /// The share of the window that the reduction keeps, 1/1024.
        kept_1024: u32,
    },
    /// A round lost more than independent losses explain.
    Brake {
        /// Packets lost and called wireless.
        lost_pkts: u64,
        /// Reports that told of them.
        reports: u32,
        /// Packets in flight when the round began.
        flight_pkts: u64,
        /// Losses that independent ones would have brought, 1/1024.
        expected_1024: i64,
        /// How many rounds of losses ago that was: from 0 to 20.
        rounds_ago: u8,
    },
}

impl Safeguard {
    /// Its name: `guard` or `brake`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Guard { .. } => "guard",
            Self::Brake { .. } => "brake",
        }
    }
}

impl fmt::Display for Safeguard {
    /// One clause with the numbers: `guard: a queue of 62.0 ms stood, 0.43 of the base of 40.0 ms
    /// (17.1 ms) suffice`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name())?;
        match *self {
            Self::Guard { queue, base, kept_1024 } => {
                let share = f64::from(1_024 - kept_1024.min(1_024)) / f64::from(kept_1024.max(1));
                let [queue, base] = [queue, base].map(Span::as_millis_f64);
                let enough = share * base;
                write!(
                    f,
                    "a queue of {queue:.1} ms stood, {share:.2} of the base of {base:.1} ms \
                     ({enough:.1} ms) suffice"
                )
            }
            Self::Brake { lost_pkts, reports, flight_pkts, expected_1024, rounds_ago } => {
                let expected = expected_1024 as f64 / 1_024.0;
                let digits = if expected < 1.0 { 2 } else { 1 };
                write!(
                    f,
                    "{lost_pkts} of a flight of {flight_pkts} lost in {reports} reports, where \
                     {expected:.digits$} were expected"
                )?;
                match rounds_ago {
                    0 => Ok(()),
                    1 => f.write_str(", one round of losses ago"),
                    rounds => write!(f, ", {rounds} rounds of losses ago"),
                }
            }
        }
    }
}

/// Watches one sender for both safeguards.
#[derive(Clone, Debug)]
pub struct Watch {
    safeguards: Safeguards,
    guard: Guard,
    brake: Brake,
}

impl Watch {
    /// Half of the window is kept: Reno (RFC 5681, section 3.1, equation 4).
    pub const HALF: u32 = 512;
    /// CUBIC's share (RFC 9438, section 4.6), as Linux rounds it.
    pub const CUBIC: u32 = 717;

    /// A sender that has seen nothing.
    pub const fn new(safeguards: Safeguards) -> Self {
        Self { safeguards, guard: Guard::NEW, brake: Brake::NEW }
    }

    /// An acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, ack: &Observation) {
        let rtt = ack.delay.filter(|rtt| *rtt > Span::ZERO);
        let pkts = ack.newly_acked_pkts();
        self.brake.on_ack(pkts, rtt);
        self.guard.on_ack(ack.at, pkts, rtt);
    }

    /// Losses were declared, and the algorithm's verdict on them is `verdict`. Returns the
    /// safeguard that makes them congestion. None if the verdict stands, or is not wireless anyway.
    ///
    /// The response would keep `kept_1024`/1024 of the window, from 0 to 1024. The guard is silent
    /// if that is 0 or not known.
    pub fn on_loss(
        &mut self,
        loss: &Loss,
        verdict: Verdict,
        kept_1024: Option<u32>,
    ) -> Option<Safeguard> {
        let is_wireless = verdict.is_wireless();
        let brake = self.brake.on_loss(loss, is_wireless);
        if !is_wireless {
            return None;
        }
        let kept_1024 = kept_1024.filter(|_| self.safeguards.guard);
        let guard = kept_1024.and_then(|kept_1024| self.guard.on_loss(loss.at, kept_1024));
        guard.or(brake.filter(|_| self.safeguards.brake))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;
    use std::vec::Vec;

    use super::*;
    use crate::{Acked, Signal, Time, at};

    const BRAKE: Option<&str> = Some("brake");

    /// An ACK at `ms` of one packet with this round-trip time, ms.
    fn ack(watch: &mut Watch, ms: i64, rtt_ms: i64) {
        let ack = Observation::first(0, at(ms)).with_delay(Some(Span::from_millis(rtt_ms)));
        watch.on_ack(&ack.with_acked(Acked::new(1)));
    }

    /// ACKs every 10 ms in `from..to`.
    fn acks(watch: &mut Watch, from: i64, to: i64, rtt_ms: i64) {
        (from..to).step_by(10).for_each(|ms| ack(watch, ms, rtt_ms));
    }

    /// The same of no packet.
    fn acks_of_none(watch: &mut Watch, from: i64, to: i64, rtt_ms: i64) {
        for ms in (from..to).step_by(10) {
            watch
                .on_ack(&Observation::first(0, at(ms)).with_delay(Some(Span::from_millis(rtt_ms))));
        }
    }

    fn delivered(watch: &mut Watch, ms: i64, pkts: u64) {
        watch.on_ack(&Observation::first(0, at(ms)).with_acked(Acked::new(pkts)));
    }

    /// A report at `ms` that `pkts` of 40 in flight, sent at `sent_ms`, are lost.
    fn report(ms: i64, sent_ms: i64, pkts: u32) -> Loss {
        let mut loss = Loss::new(at(ms), Signal::Gap);
        loss.sent_at = Some(at(sent_ms));
        loss.lost_pkts = pkts;
        loss.in_flight_pkts = 40;
        loss
    }

    /// A round at `ms` whose reports tell of so many wireless losses each; what speaks at the last.
    fn round(watch: &mut Watch, ms: i64, reports: &[u32]) -> Option<&'static str> {
        let mut spoke = None;
        for &pkts in reports {
            spoke = lose(watch, &report(ms, ms - 40, pkts));
        }
        spoke
    }

    fn guard() -> Watch {
        Watch::new(Safeguards { guard: true, brake: false })
    }

    /// A loss called wireless.
    fn lose(watch: &mut Watch, loss: &Loss) -> Option<&'static str> {
        let spoke = watch.on_loss(loss, Verdict::Wireless, Some(Watch::HALF));
        spoke.map(|spoke| spoke.name())
    }

    /// A brake after 1023 packets without a loss: with one of them lost, 40/1024 of a packet is
    /// expected of 40.
    fn brake() -> Watch {
        let mut watch = Watch::new(Safeguards { guard: false, brake: true });
        delivered(&mut watch, 0, 1_024);
        watch
    }

    /// Whether the guard of a response that keeps `kept_1024` speaks at `ms`.
    fn speaks(watch: &mut Watch, ms: i64, kept_1024: u32) -> bool {
        let loss = report(ms, ms - 40, 1);
        let spoke = watch.on_loss(&loss, Verdict::Wireless, Some(kept_1024));
        spoke.is_some_and(|spoke| spoke.name() == "guard")
    }

    /// The same of Reno's.
    fn guards(watch: &mut Watch, ms: i64) -> bool {
        speaks(watch, ms, Watch::HALF)
    }

    #[test]
    fn renos_guard_asks_for_a_base_round_trip_of_queue() {
        for (rtt_ms, speaks) in [(79, false), (80, true), (200, true)] {
            let mut watch = guard();
            acks(&mut watch, 0, 1_000, 40);
            acks(&mut watch, 1_000, 1_200, rtt_ms);
            assert_eq!(guards(&mut watch, 1_195), speaks, "{rtt_ms} ms, of which 40 are base");
        }
    }

    #[test]
    fn cubics_guard_asks_for_0_43_of_it() {
        // 307/717 of 100 ms are 42.8 ms.
        for (rtt_ms, speaks) in [(142, false), (143, true)] {
            let mut watch = guard();
            acks(&mut watch, 0, 1_000, 100);
            acks(&mut watch, 1_000, 1_200, rtt_ms);
            assert_eq!(self::speaks(&mut watch, 1_195, Watch::CUBIC), speaks, "{rtt_ms} ms");
        }
    }

    #[test]
    fn a_guarded_reduction_leaves_no_link_idle() {
        // A link of 1 packet per ms: a window of rtt packets. After the cut it holds the base.
        for kept in [Watch::HALF, Watch::CUBIC, 922] {
            for base_ms in [3, 20, 100, 317] {
                for rtt_ms in base_ms..3 * base_ms {
                    let mut watch = guard();
                    acks(&mut watch, 0, 1_000, base_ms);
                    acks(&mut watch, 1_000, 1_200, rtt_ms);
                    let window_left_1024 = rtt_ms * i64::from(kept);
                    let fills = window_left_1024 >= base_ms * 1_024;
                    let speaks = speaks(&mut watch, 1_195, kept);
                    assert_eq!(speaks, fills, "{kept} {base_ms} {rtt_ms}");
                }
            }
        }
    }

    #[test]
    fn a_queue_that_was_gone_within_50_ms_does_not_stand() {
        let mut watch = guard();
        acks(&mut watch, 0, 1_000, 40);
        acks(&mut watch, 1_000, 1_200, 200);
        ack(&mut watch, 1_200, 41);
        acks(&mut watch, 1_210, 1_300, 200);
        assert!(!guards(&mut watch, 1_299), "the least of 1200 to 1300 ms");
        ack(&mut watch, 1_300, 200);
        assert!(guards(&mut watch, 1_301), "the least of 1250 to 1301 ms");
    }

    #[test]
    fn without_round_trip_times_of_100_ms_the_guard_is_silent() {
        let mut watch = guard();
        assert!(!guards(&mut watch, 0), "none at all");
        acks(&mut watch, 0, 1_000, 40);
        acks(&mut watch, 1_000, 1_200, 200);
        assert!(guards(&mut watch, 1_199));
        assert!(!guards(&mut watch, 1_210), "none since 1200 ms");
        ack(&mut watch, 1_400, 200);
        assert!(!guards(&mut watch, 1_401), "one after a silence");
    }

    #[test]
    fn the_base_follows_a_longer_path_after_two_buckets() {
        let mut watch = guard();
        acks(&mut watch, 0, 1_000, 40);
        acks(&mut watch, 1_000, 20_000, 120);
        assert!(guards(&mut watch, 19_999), "120 ms look like a queue");
        ack(&mut watch, 20_000, 120);
        assert!(!guards(&mut watch, 20_001), "120 ms are the path");
    }

    #[test]
    fn a_round_trip_time_that_stands_alone_is_no_base() {
        let mut watch = guard();
        acks(&mut watch, 0, 300, 40);
        ack(&mut watch, 305, 24);
        ack(&mut watch, 306, 25);
        acks(&mut watch, 310, 500, 60);
        assert!(!guards(&mut watch, 495), "of 40, not of 24: both left before the first ACK");
        ack(&mut watch, 505, 25);
        acks(&mut watch, 510, 700, 60);
        assert!(guards(&mut watch, 695), "of 25");
    }

    /// The guard spoke at 1.2 s of 80 ms, of which 40 are base. In the two round trips since, so
    /// many packets were delivered, and the round-trip time is then `rtt_ms`. Whether it speaks once
    /// `rtt_ms` stands.
    fn speaks_behind(delivered: [u64; 2], rtt_ms: i64) -> bool {
        let mut watch = guard();
        acks(&mut watch, 0, 1_000, 40);
        acks(&mut watch, 1_000, 1_200, 80);
        assert!(guards(&mut watch, 1_200 - 1));
        self::delivered(&mut watch, 1_210, delivered[0]);
        self::delivered(&mut watch, 1_290, delivered[1]);
        acks_of_none(&mut watch, 1_300, 1_359, rtt_ms);
        acks(&mut watch, 1_359, 1_800, 80);
        guards(&mut watch, 1_795)
    }

    #[test]
    fn a_reduction_that_cost_goodput_and_drained_no_queue_ends_the_base() {
        assert!(!speaks_behind([40, 20], 80), "half as much, at the same 80 ms");
        assert!(!speaks_behind([40, 27], 80));
        assert!(speaks_behind([40, 28], 80), "two packets from half of what was to be lost");
        assert!(speaks_behind([40, 20], 75), "5 ms less: an eighth of what was to be gained");
        assert!(!speaks_behind([40, 20], 76));
        assert!(speaks_behind([8, 4], 80), "too few to tell");
        assert!(speaks_behind([40, 40], 40), "the queue was ours");
    }

    #[test]
    fn what_a_safeguard_says_has_its_numbers() {
        let mut watch = Watch::new(Safeguards::ON);
        acks(&mut watch, 0, 1_000, 40);
        acks(&mut watch, 1_000, 1_200, 102);
        let loss = report(1_195, 1_155, 1);
        let spoke = watch.on_loss(&loss, Verdict::Wireless, Some(Watch::CUBIC)).unwrap();
        assert_eq!(
            spoke.to_string(),
            "guard: a queue of 62.0 ms stood, 0.43 of the base of 40.0 ms (17.1 ms) suffice"
        );
        let mut watch = brake();
        round(&mut watch, 100, &[4, 4, 3]);
        let mut said = |ms| {
            let spoke = watch.on_loss(&report(ms, ms - 40, 1), Verdict::Wireless, None);
            spoke.unwrap().to_string()
        };
        let first = "brake: 12 of a flight of 40 lost in 4 reports, where 0.04 were expected";
        assert_eq!(said(100), first);
        assert_eq!(said(200), std::format!("{first}, one round of losses ago"));
        assert_eq!(said(300), std::format!("{first}, 2 rounds of losses ago"));
    }

    #[test]
    fn a_reduction_to_nothing_is_never_free() {
        let mut watch = guard();
        acks(&mut watch, 0, 1_000, 40);
        acks(&mut watch, 1_000, 1_200, 10_000);
        assert!(!speaks(&mut watch, 1_195, 0));
        let loss = report(1_195, 1_155, 1);
        assert_eq!(watch.on_loss(&loss, Verdict::Wireless, None), None, "no fixed share");
    }

    #[test]
    fn three_reports_of_more_than_a_quarter_set_the_brake() {
        assert_eq!(round(&mut brake(), 100, &[4, 4, 2]), None, "10 of 40");
        assert_eq!(round(&mut brake(), 100, &[4, 4, 3]), BRAKE, "11 of 40");
        assert_eq!(round(&mut brake(), 100, &[20, 20]), None, "two reports: a fade");
    }

    #[test]
    fn a_small_flight_needs_four_losses_more_than_expected() {
        let of_eight = |pkts: &[u32]| {
            let mut watch = brake();
            let report = |&pkts: &u32| {
                let loss = Loss { in_flight_pkts: 8, ..report(100, 60, pkts) };
                lose(&mut watch, &loss)
            };
            pkts.iter().map(report).last().flatten()
        };
        // 3 * 8/1024 are expected.
        assert_eq!(of_eight(&[2, 1, 1]), None, "4 of 4.02");
        assert_eq!(of_eight(&[2, 2, 1]), BRAKE);
    }

    #[test]
    fn the_brake_holds_for_20_rounds() {
        let mut watch = brake();
        round(&mut watch, 100, &[5, 5, 5]);
        let rounds: Vec<_> = (2..30).map(|n| round(&mut watch, 100 * n, &[1])).collect();
        assert_eq!(rounds.iter().filter(|spoke| spoke.is_some()).count(), 20);
        assert!(rounds[..20].iter().all(|spoke| *spoke == BRAKE));
    }

    #[test]
    fn a_second_round_that_sets_it_counts_from_there() {
        let mut watch = brake();
        round(&mut watch, 100, &[5, 5, 5]);
        (2..12).for_each(|n| assert!(round(&mut watch, 100 * n, &[1]).is_some()));
        round(&mut watch, 1_200, &[5, 5, 5]);
        let held = (13..60).filter(|n| round(&mut watch, 100 * n, &[1]).is_some()).count();
        assert_eq!(held, 20);
    }

    #[test]
    fn losses_sent_before_the_first_report_are_one_round() {
        let mut watch = brake();
        let of = |watch: &mut Watch, ms, sent_ms| lose(watch, &report(ms, sent_ms, 4));
        assert_eq!(of(&mut watch, 100, 50), None);
        assert_eq!(of(&mut watch, 120, 100), None);
        assert_eq!(of(&mut watch, 145, 101), None, "a packet of the next round");
        assert_eq!(of(&mut watch, 146, 145), None);
        assert_eq!(of(&mut watch, 147, 140), BRAKE);
    }

    #[test]
    fn four_reports_in_each_round_set_it_in_the_third() {
        // 3 - 2 * 0.04 - 1/2 of each round: 2.4, 4.8, 7.3. Four of 40 are less than a quarter.
        let mut watch = brake();
        assert_eq!(round(&mut watch, 100, &[1, 1, 1, 1]), None);
        assert_eq!(round(&mut watch, 200, &[1, 1, 1, 1]), None);
        assert_eq!(round(&mut watch, 300, &[1, 1, 1, 1]), BRAKE);
    }

    /// So many reports of single losses, of 400 packets in flight.
    fn single_losses(watch: &mut Watch, ms: i64, count: usize) -> Option<&'static str> {
        let report = Loss { in_flight_pkts: 400, ..report(ms, ms - 40, 1) };
        (0..count).map(|_| lose(watch, &report)).last().flatten()
    }

    #[test]
    fn one_overflow_of_a_large_flight_brakes_its_own_round_only() {
        // Of 400, 0.4 are expected: the eighth report has S = 7 - 0.8 - 1/2.
        let mut watch = brake();
        assert_eq!(single_losses(&mut watch, 100, 7), None);
        assert_eq!(single_losses(&mut watch, 100, 23), BRAKE);
        (2..30).for_each(|n| assert_eq!(single_losses(&mut watch, 100 * n, 1), None));
    }

    #[test]
    fn a_second_overflow_in_a_row_makes_the_brake_hold() {
        // Of 1054, 31 count as lost: 11.8 of 400, and 24.03 are allowed. The first round left 3.
        for (reports, holds) in [(28, None), (29, BRAKE)] {
            let mut watch = brake();
            single_losses(&mut watch, 100, 30);
            assert_eq!(single_losses(&mut watch, 200, reports), holds, "3 + {reports} - 25.03");
            single_losses(&mut watch, 300, 1);
            assert_eq!(single_losses(&mut watch, 400, 1), holds);
        }
    }

    #[test]
    fn fades_that_come_in_one_report_never_set_it() {
        let mut watch = brake();
        (1..1_000).for_each(|n| assert_eq!(round(&mut watch, 100 * n, &[18]), None));
    }

    #[test]
    fn losses_called_congestion_set_no_brake_and_teach_unless_many() {
        let mut watch = brake();
        for pkts in [15, 15, 15] {
            let spoke = watch.on_loss(&report(100, 60, pkts), Verdict::Congestion, None);
            assert_eq!(spoke, None);
        }
        assert_eq!(round(&mut watch, 200, &[1]), None);
        assert_eq!(watch.brake.shares.lost, 0, "45 of 40 were the overflow of a slow start");
        watch.on_loss(&report(300, 260, 10), Verdict::Congestion, None);
        round(&mut watch, 400, &[1]);
        assert_eq!(watch.brake.shares.lost, 1 + 10, "those of 200 and 300 ms");
    }

    #[test]
    fn a_path_that_always_loses_5_percent_sets_no_brake() {
        // Every 20th packet is lost, flights of 40: two each, and 4 in a row of bad luck.
        let mut watch = Watch::new(Safeguards::ON);
        for n in 1..500 {
            delivered(&mut watch, 100 * n - 50, 38);
            let reports: &[u32] = if n % 50 == 0 { &[1; 6] } else { &[1, 1] };
            assert_eq!(round(&mut watch, 100 * n, reports), None, "round {n}");
        }
    }

    #[test]
    fn safeguards_that_are_off_say_nothing() {
        let mut watch = Watch::new(Safeguards::OFF);
        acks(&mut watch, 0, 1_000, 40);
        acks(&mut watch, 1_000, 1_200, 400);
        assert_eq!(round(&mut watch, 1_195, &[9, 9, 9]), None);
        let told = Needs::NONE.with_label();
        assert_eq!(Safeguards::ON.above(told), Safeguards::OFF);
        assert_eq!(Safeguards::ON.above(Needs::NONE.with_other("the truth")), Safeguards::OFF);
        assert_eq!(Safeguards::ON.above(Needs::NONE.with_cwnd()), Safeguards::ON);
    }

    #[test]
    fn extreme_input_neither_panics_nor_overflows() {
        let times = [i64::MIN, -1, 0, 0, 1, 50_000_000, i64::MAX, i64::MAX - 1, 7, i64::MIN + 1];
        let rtts = [i64::MIN, -5, 0, 1, 40_000_000, i64::MAX];
        let counts = [0, 1, 3, 5_000, u64::from(u32::MAX), u64::MAX];
        let mut watch = Watch::new(Safeguards::ON);
        for now in times {
            for rtt in rtts {
                for count in counts {
                    let ack = Observation::first(0, Time::from_nanos(now))
                        .with_delay(Some(Span::from_nanos(rtt)))
                        .with_acked(Acked::new(count));
                    watch.on_ack(&ack);
                    let mut loss = Loss::new(Time::from_nanos(now), Signal::Gap);
                    loss.lost_pkts = u32::try_from(count).unwrap_or(u32::MAX);
                    loss.in_flight_pkts = counts[rtt.unsigned_abs() as usize % counts.len()];
                    loss.sent_at = (count % 2 == 1).then(|| Time::from_nanos(rtt));
                    watch.on_loss(&loss, Verdict::Wireless, Some(u32::MAX));
                    watch.on_loss(&loss, Verdict::Undecided, Some(0));
                }
            }
        }
    }
}
