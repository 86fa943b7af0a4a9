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
//! The queue that stands is the least round-trip time of the last 50 to 100 ms above the base,
//! which is the least of the last [`BASE_BUCKET`] to twice that. 100 ms are the interval of CoDel
//! (RFC 8289, section 4.4): a queue that lasts shorter is a burst. Without round-trip times in
//! both halves of the 100 ms the guard does not speak.
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
//! assert_eq!(lose(1), Some(Safeguard::Brake));
//! ```

use crate::{Loss, Needs, Observation, Span, Time, Verdict};

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

/// The safeguard that turned a wireless verdict into congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safeguard {
    /// The reduction leaves the link full.
    Guard,
    /// Rounds lost more than independent losses explain, now or up to 20 rounds ago.
    Brake,
}

/// Watches one sender for both safeguards.
#[derive(Clone, Debug)]
pub struct Watch {
    safeguards: Safeguards,
    base: Least<{ BASE_BUCKET.as_nanos() }>,
    standing: Least<{ STANDING_BUCKET.as_nanos() }>,
    /// The newest round-trip time.
    rtt: Span,
    shares: Shares,
    round: Option<Round>,
    /// Rounds of losses for which the brake still holds, the present one excluded.
    held_rounds: u8,
}

/// The losses whose packets left before the first of them was reported.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// When the first loss was reported.
    began: Time,
    /// Packets in flight then.
    flight_pkts: u64,
    /// Losses that independent ones would bring, 1/1024.
    expected_1024: i64,
    /// Packets lost.
    lost_pkts: u64,
    /// Of these, called wireless, and the reports that told of them.
    wireless_pkts: u64,
    wireless_reports: u32,
    /// What the rounds before left of the sum S, 1/1024.
    surplus_before_1024: i64,
    /// Whether the brake holds.
    is_braked: bool,
}

/// Length of a bucket of the base round-trip time.
pub const BASE_BUCKET: Span = Span::from_secs(10);

/// Length of a bucket of the standing queue: half of CoDel's interval.
const STANDING_BUCKET: Span = Span::from_millis(50);

/// Rounds for which the brake holds after the one that set it.
const HELD_ROUNDS: u8 = 20;

/// The fewest losses of a round that set the brake.
const LEAST_LOST: u64 = 4;
const LEAST_LOST_1024: i64 = 4 * 1_024;

/// The fewest reports of a round that set the brake.
const LEAST_REPORTS: u32 = 3;

/// The surplus over rounds that sets the brake, and what is left of it at most; 1/1024.
const LEAST_SURPLUS_1024: i64 = 6 * 1_024;
const MOST_SURPLUS_1024: i64 = 8 * 1_024;

/// What one round leaves to the next ones at most: half of what sets the brake; 1/1024.
const MOST_RISE_1024: i64 = LEAST_SURPLUS_1024 / 2;

impl Watch {
    /// Half of the window is kept: Reno (RFC 5681, section 3.1, equation 4).
    pub const HALF: u32 = 512;
    /// CUBIC's share (RFC 9438, section 4.6), as Linux rounds it.
    pub const CUBIC: u32 = 717;

    /// A sender that has seen nothing.
    pub const fn new(safeguards: Safeguards) -> Self {
        Self {
            safeguards,
            base: Least::new(),
            standing: Least::new(),
            rtt: Span::ZERO,
            shares: Shares { total: 0, lost: 0 },
            round: None,
            held_rounds: 0,
        }
    }

    /// An acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, ack: &Observation) {
        self.shares.on_acked(ack.newly_acked_pkts());
        if let Some(rtt) = ack.delay.filter(|rtt| *rtt > Span::ZERO) {
            self.rtt = rtt;
            self.base.observe(ack.at, rtt);
            self.standing.observe(ack.at, rtt);
        }
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
        let is_braked = self.brake(loss, is_wireless);
        if !is_wireless {
            None
        } else if self.safeguards.guard && self.is_reduction_free(loss.at, kept_1024) {
            Some(Safeguard::Guard)
        } else {
            (self.safeguards.brake && is_braked).then_some(Safeguard::Brake)
        }
    }

    /// Whether the link stays full after a reduction.
    fn is_reduction_free(&self, at: Time, kept_1024: Option<u32>) -> bool {
        let Some(kept) = kept_1024.map(i128::from) else { return false };
        let Some(base) = self.base.least(at) else { return false };
        let Some(standing) = self.standing.whole(at) else { return false };
        let queue = i128::from((standing - base).as_nanos());
        kept > 0 && queue * kept >= i128::from(base.as_nanos()) * (1_024 - kept)
    }

    /// Counts losses to their round. Returns whether the brake holds.
    fn brake(&mut self, loss: &Loss, is_wireless: bool) -> bool {
        let sent_at = loss.sent_at.unwrap_or(loss.at - self.rtt);
        let mut round = match self.round {
            Some(round) if sent_at <= round.began && round.began <= loss.at => round,
            before => self.next_round(before, loss),
        };
        let pkts = u64::from(loss.lost_pkts);
        round.lost_pkts = round.lost_pkts.saturating_add(pkts);
        if is_wireless {
            round.wireless_pkts = round.wireless_pkts.saturating_add(pkts);
            round.wireless_reports = round.wireless_reports.saturating_add(1);
        }
        if round.loses_a_large_part() || round.left_1024() >= LEAST_SURPLUS_1024 {
            round.is_braked = true;
            self.held_rounds = HELD_ROUNDS;
        } else if round.surplus_1024() >= LEAST_SURPLUS_1024 {
            round.is_braked = true;
        }
        self.round = Some(round);
        round.is_braked
    }

    fn next_round(&mut self, before: Option<Round>, loss: &Loss) -> Round {
        if let Some(before) = before.filter(|before| !before.is_large(before.lost_pkts)) {
            self.shares.on_lost(before.lost_pkts);
        }
        let left_1024 = before.map_or(0, |before| before.left_1024());
        let is_braked = self.held_rounds > 0;
        self.held_rounds = self.held_rounds.saturating_sub(1);
        Round {
            began: loss.at,
            flight_pkts: loss.in_flight_pkts,
            expected_1024: self.shares.expected_1024(loss.in_flight_pkts),
            lost_pkts: 0,
            wireless_pkts: 0,
            wireless_reports: 0,
            surplus_before_1024: left_1024.clamp(0, MOST_SURPLUS_1024),
            is_braked,
        }
    }
}

impl Round {
    /// Whether a large part of the flight was called wireless, and more than independent losses
    /// explain.
    fn loses_a_large_part(&self) -> bool {
        let least_1024 = self.expected_1024.saturating_mul(3).saturating_add(LEAST_LOST_1024);
        self.is_large(self.wireless_pkts)
            && self.wireless_reports >= LEAST_REPORTS
            && to_1024(self.wireless_pkts) >= least_1024
    }

    /// Whether `pkts` are a large part of the flight.
    fn is_large(&self, pkts: u64) -> bool {
        pkts >= LEAST_LOST && pkts > self.flight_pkts / 4
    }

    /// The sum S, 1/1024.
    fn surplus_1024(&self) -> i64 {
        self.surplus_before_1024.saturating_add(self.rise_1024())
    }

    /// What the round leaves of it to the next ones, before its limits, 1/1024.
    fn left_1024(&self) -> i64 {
        self.surplus_before_1024.saturating_add(self.rise_1024().min(MOST_RISE_1024))
    }

    /// What the round adds, 1/1024.
    fn rise_1024(&self) -> i64 {
        let further_1024 = to_1024(self.wireless_reports.saturating_sub(1).into());
        let allowed_1024 = self.expected_1024.saturating_mul(2).saturating_add(512);
        further_1024.saturating_sub(allowed_1024)
    }
}

/// `count` in 1/1024.
fn to_1024(count: u64) -> i64 {
    i64::try_from(count.saturating_mul(1_024)).unwrap_or(i64::MAX)
}

/// The share of packets that are lost, of the last 4096 to 8192.
#[derive(Clone, Copy, Debug)]
struct Shares {
    /// Acknowledged and lost packets.
    total: u64,
    lost: u64,
}

/// Counts are halved when they reach this.
const MOST_COUNTED: u64 = 8_192;

impl Shares {
    #[inline]
    fn on_acked(&mut self, pkts: u64) {
        self.total = self.total.saturating_add(pkts);
        while self.total >= MOST_COUNTED {
            self.total /= 2;
            self.lost /= 2;
        }
    }

    fn on_lost(&mut self, pkts: u64) {
        self.lost = self.lost.saturating_add(pkts);
        self.on_acked(pkts);
    }

    /// Losses to expect of `flight_pkts` packets, 1/1024. One loss more than was seen counts: a
    /// short flow without losses may have been lucky.
    fn expected_1024(&self, flight_pkts: u64) -> i64 {
        let lost = self.lost.saturating_add(1).saturating_mul(flight_pkts);
        to_1024(lost) / i64::try_from(self.total.max(1)).unwrap_or(i64::MAX)
    }
}

/// The least round-trip time of two adjacent buckets: of the last one to two bucket lengths of so
/// many nanoseconds. A constant, because each ACK divides by it.
#[derive(Clone, Copy, Debug)]
struct Least<const BUCKET_NS: i64> {
    /// The number of the present bucket.
    number: i64,
    present: Option<Span>,
    before: Option<Span>,
}

impl<const BUCKET_NS: i64> Least<BUCKET_NS> {
    const fn new() -> Self {
        Self { number: 0, present: None, before: None }
    }

    #[inline]
    fn observe(&mut self, at: Time, rtt: Span) {
        *self = self.moved(at);
        self.present = Some(self.present.map_or(rtt, |least| least.min(rtt)));
    }

    /// The buckets as they are at `at`. After a silence, or if the clock was set back, they are
    /// empty.
    #[inline]
    fn moved(self, at: Time) -> Self {
        let number = at.as_nanos().div_euclid(BUCKET_NS);
        match number.checked_sub(self.number) {
            Some(0) => self,
            Some(1) => Self { number, before: self.present, present: None },
            _ => Self { number, before: None, present: None },
        }
    }

    /// The least of both buckets.
    fn least(self, at: Time) -> Option<Span> {
        let Self { present, before, .. } = self.moved(at);
        present.into_iter().chain(before).min()
    }

    /// The least of both buckets, if both have one.
    fn whole(self, at: Time) -> Option<Span> {
        let Self { present, before, .. } = self.moved(at);
        Some(present?.min(before?))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;
    use crate::{Acked, Signal};

    fn at(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// An ACK at `ms` of one packet with this round-trip time, ms.
    fn ack(watch: &mut Watch, ms: i64, rtt_ms: i64) {
        let ack = Observation::first(0, at(ms)).with_delay(Some(Span::from_millis(rtt_ms)));
        watch.on_ack(&ack.with_acked(Acked::new(1)));
    }

    /// ACKs every 10 ms in `from..to`.
    fn acks(watch: &mut Watch, from: i64, to: i64, rtt_ms: i64) {
        (from..to).step_by(10).for_each(|ms| ack(watch, ms, rtt_ms));
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
    fn round(watch: &mut Watch, ms: i64, reports: &[u32]) -> Option<Safeguard> {
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
    fn lose(watch: &mut Watch, loss: &Loss) -> Option<Safeguard> {
        watch.on_loss(loss, Verdict::Wireless, Some(Watch::HALF))
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
        watch.on_loss(&loss, Verdict::Wireless, Some(kept_1024)) == Some(Safeguard::Guard)
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
        assert_eq!(round(&mut brake(), 100, &[4, 4, 3]), Some(Safeguard::Brake), "11 of 40");
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
        assert_eq!(of_eight(&[2, 2, 1]), Some(Safeguard::Brake));
    }

    #[test]
    fn the_brake_holds_for_20_rounds() {
        let mut watch = brake();
        round(&mut watch, 100, &[5, 5, 5]);
        let rounds: Vec<_> = (2..30).map(|n| round(&mut watch, 100 * n, &[1])).collect();
        assert_eq!(rounds.iter().filter(|spoke| spoke.is_some()).count(), 20);
        assert!(rounds[..20].iter().all(|spoke| *spoke == Some(Safeguard::Brake)));
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
        assert_eq!(of(&mut watch, 147, 140), Some(Safeguard::Brake));
    }

    #[test]
    fn four_reports_in_each_round_set_it_in_the_third() {
        // 3 - 2 * 0.04 - 1/2 of each round: 2.4, 4.8, 7.3. Four of 40 are less than a quarter.
        let mut watch = brake();
        assert_eq!(round(&mut watch, 100, &[1, 1, 1, 1]), None);
        assert_eq!(round(&mut watch, 200, &[1, 1, 1, 1]), None);
        assert_eq!(round(&mut watch, 300, &[1, 1, 1, 1]), Some(Safeguard::Brake));
    }

    /// So many reports of single losses, of 400 packets in flight.
    fn single_losses(watch: &mut Watch, ms: i64, count: usize) -> Option<Safeguard> {
        let report = Loss { in_flight_pkts: 400, ..report(ms, ms - 40, 1) };
        (0..count).map(|_| lose(watch, &report)).last().flatten()
    }

    #[test]
    fn one_overflow_of_a_large_flight_brakes_its_own_round_only() {
        // Of 400, 0.4 are expected: the eighth report has S = 7 - 0.8 - 1/2.
        let mut watch = brake();
        assert_eq!(single_losses(&mut watch, 100, 7), None);
        assert_eq!(single_losses(&mut watch, 100, 23), Some(Safeguard::Brake));
        (2..30).for_each(|n| assert_eq!(single_losses(&mut watch, 100 * n, 1), None));
    }

    #[test]
    fn a_second_overflow_in_a_row_makes_the_brake_hold() {
        // Of 1054, 31 count as lost: 11.8 of 400, and 24.03 are allowed. The first round left 3.
        for (reports, holds) in [(28, None), (29, Some(Safeguard::Brake))] {
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
        assert_eq!(watch.shares.lost, 0, "45 of 40 were the overflow of a slow start");
        watch.on_loss(&report(300, 260, 10), Verdict::Congestion, None);
        round(&mut watch, 400, &[1]);
        assert_eq!(watch.shares.lost, 1 + 10, "those of 200 and 300 ms");
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
