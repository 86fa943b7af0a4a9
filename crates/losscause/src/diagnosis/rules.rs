//! What the losses of a flow tell together: the rules by which a cause is named.

use super::rounds::LARGE_ROUND;
use super::{
    BucketTest, Buckets, Cause, Certainty, Diagnosis, Finding, OneRate, Readings, Unknown,
};
use crate::Span;

/// Rounds of losses that are needed to name a cause.
const FEWEST_ROUNDS: u32 = 4;
/// And losses: below, nearly every cause is possible.
const FEWEST_LOSSES: u64 = 8;
/// Rounds that show a deep queue, which overflows seldom and then loses many.
const FEWEST_OVERFLOWS: u32 = 2;
/// So many rounds show what happened more often than not by chance.
const MANY_ROUNDS: u32 = 20;
/// Shares of rounds that are most and nearly all of them.
const MOST: f64 = 0.8;
const NEARLY_ALL: f64 = 0.9;
/// A share that is enough where a queue stood before hardly any round.
const OFTEN_EMPTY: f64 = 0.7;
/// A policer's losses take this share of a flight, and a queue's and the air's take less.
const MUCH_OF_FLIGHT: f64 = 0.15;
/// And so many times as many as losses that are independent of each other.
const MORE_THAN_CHANCE: f64 = 2.0;
/// Independent losses do not come in larger rounds, but for their own chance.
const BY_CHANCE: f64 = 1.4;
/// Bursts of the air are shorter: with so many lost at once no rate is needed to tell a policer.
const MORE_THAN_BURST: f64 = LARGE_ROUND as f64;
/// One rate holds if this share of the time fits it, and more passed in no more than this share.
const FITS: (f64, f64) = (0.45, 0.2);
/// The same where more of a flight is lost than a burst of the air takes.
const FITS_LOOSELY: (f64, f64) = (0.35, 0.25);
/// The same where a rate alone shows a policer: independent losses leave one rate at most two
/// thirds of the time.
const FITS_CLOSELY: (f64, f64) = (0.8, 0.05);
/// A queue or a bucket drops when a flight is too large, so that these flights are alike; the air's
/// losses choose no flight. All flights of a sender that falls to 0.7 of one size and grows back
/// (CUBIC, RFC 9438) have a spread of 0.18, of one that is halved (Reno) 0.33. Losses anywhere
/// spread them further than the first. So do delays: a queue drops at one, as long as its rate
/// stays.
const ALIKE: f64 = 0.2;
const UNLIKE: f64 = 0.27;
/// A sender that a limit stops grows back to it, so that its losses come at regular times; where
/// losses choose no moment, the times between them have a spread of 1.6 (exponential). A sender
/// that keeps its flight whatever is lost, as BBR, has alike flights at both.
const ANY_MOMENT: f64 = 1.0;
/// Nor do losses choose a moment that come again before a sender has grown: within so many round
/// trips.
const AT_ONCE: i64 = 3;
/// A sender that losses limit has 1.5 = flight² × lost share (Mathis et al. 1997). One that its
/// application limits has less, and its constant rate is no policer's.
const LOSS_LIMITED: f64 = 1.0;
/// Bits of a usual packet.
const PACKET_BITS: f64 = 12_000.0;
/// With more lost packets, percent, flights are so small that a policer and the air look alike.
const MOST_OF_AIR: f64 = 5.0;
/// No queue: the delay at losses is below the smaller, or below the larger and three times the
/// jitter.
const NO_QUEUE: (Span, Span) = (Span::from_millis(3), Span::from_millis(10));
/// Hosts alone delay packets by this much.
const HOSTS: Span = Span::from_millis(1);
/// A short delay at losses that is so much longer than that of the last second is a short queue's.
const LONGEST: f64 = 1.0;
/// The delay at losses is longer than that of the last second: the queue was growing.
const LONGER: f64 = 0.5;
/// Managed queues aim at 5 to 15 ms (RFC 8289, RFC 8033); one of twice that is none.
const LONG_QUEUE: Span = Span::from_millis(30);

impl Readings {
    /// The cause that they show together with the rate of the path, if what passed between losses
    /// fits one. `packets` is how many packets the flow sent.
    pub fn diagnose(&self, one_rate: Option<&OneRate>, packets: u64) -> Diagnosis {
        if self.lost == 0 {
            return Diagnosis {
                cause: Cause::NotLost,
                certainty: Certainty::Clear,
                findings: [None; 3],
            };
        }
        if self.by_timer * 2 > self.lost {
            return Diagnosis::not_shown(
                Unknown::OnlyTimers,
                [Some(Finding::ByTimer(self.by_timer, self.lost)), None],
            );
        }
        if self.with_delay == 0 {
            return Diagnosis::not_shown(Unknown::NoDelays, [None; 2]);
        }
        if self.lost - self.by_timer < FEWEST_LOSSES {
            return Diagnosis::not_shown(Unknown::TooFew, [None; 2]);
        }
        let lost_share = self.lost as f64 / packets.max(self.lost) as f64;
        if self.with_delay < FEWEST_ROUNDS {
            let overflow = self.overflow(lost_share);
            return overflow.unwrap_or_else(|| {
                Diagnosis::not_shown(Unknown::TooFew, [Some(self.queued()), None])
            });
        }
        let named = self
            .policer(one_rate, lost_share)
            .or_else(|| self.queue(lost_share))
            .or_else(|| self.overflows(lost_share))
            .or_else(|| self.air(one_rate, lost_share));
        named.unwrap_or_else(|| {
            if self.of_rounds(self.queued) >= MOST {
                return Diagnosis::not_shown(Unknown::BehindQueue, [Some(self.queued()), None]);
            }
            if !self.has_no_queue() && self.of_rounds(self.empty) < MOST {
                return Diagnosis::not_shown(
                    Unknown::QueueOrAir,
                    [Some(self.queued()), Some(self.empty())],
                );
            }
            let rate = one_rate.and_then(OneRate::finding);
            if rate.is_none() && self.of_rounds(self.empty) < MOST {
                return Diagnosis::not_shown(
                    Unknown::QueueOrAir,
                    [Some(self.queued()), Some(self.empty())],
                );
            }
            Diagnosis::not_shown(Unknown::PolicerOrAir, [rate, Some(self.empty())])
        })
    }

    /// A policer: no queue, and a rate that fits or much of a flight lost at once.
    fn policer(&self, one_rate: Option<&OneRate>, lost_share: f64) -> Option<Diagnosis> {
        // A receiver does not know what is in flight: at one rate, what passes in a round trip.
        let of_rate = || Some(one_rate?.rate_bps as f64 / PACKET_BITS * self.rtt?.as_secs_f64());
        let flight = self.flight_pkts.or_else(of_rate);
        let is_loss_limited =
            flight.is_some_and(|flight| flight * flight * lost_share >= LOSS_LIMITED);
        if !self.has_no_queue() || !is_loss_limited {
            return None;
        }
        let many = self.is_much_of_flight(lost_share);
        if let Some(diagnosis) = one_rate.and_then(|one| self.bucket(one, many)) {
            return Some(diagnosis);
        }
        if !many && one_rate.is_some_and(OneRate::is_bucket) {
            return None;
        }
        let is_no_burst = many && self.usual_round >= MORE_THAN_BURST;
        let fits = |limits| one_rate.filter(|one| one.fits(limits));
        // A link that is seldom idle has one rate, too.
        let is_no_link = |one: &&OneRate| self.hardly_stands() && !self.is_queue_of(one);
        let (rate, certainty) =
            if let Some(close) = fits(FITS_CLOSELY).filter(|one| many || is_no_link(one)) {
                let is_sure = many || close.intervals >= MANY_ROUNDS && self.flight_pkts.is_some();
                (Some(close), if is_sure { Certainty::Clear } else { Certainty::Likely })
            } else if let Some(one) = fits(FITS).filter(|_| many) {
                (Some(one), Certainty::Clear)
            } else if is_no_burst {
                (fits(FITS_LOOSELY), Certainty::Likely)
            } else {
                return None;
            };
        let findings = [
            rate.map(|one| Finding::OneRate(one.fit, one.intervals)),
            self.share_of_flight
                .filter(|_| many)
                .map(|share| Finding::ShareOfFlight(100.0 * share)),
            Some(Finding::Queueing(self.queueing)),
        ];
        // A bucket of a few packets makes equal amounts, too, which show no rate.
        let told = rate.filter(|one| !one.may_be_few_packets());
        let certainty = if told.is_some() { certainty } else { Certainty::Likely };
        let rate_bps = told.map(|one| one.rate_bps);
        let burst_bytes = told.map(|one| one.burst_bytes);
        Some(Diagnosis { cause: Cause::Policer { rate_bps, burst_bytes }, certainty, findings })
    }

    /// A policer, by what every packet says of its bucket.
    fn bucket(&self, one_rate: &OneRate, many: bool) -> Option<Diagnosis> {
        let much = self.share_of_flight.filter(|_| many);
        let much = much.map(|share| Finding::ShareOfFlight(100.0 * share));
        let queueing = Some(Finding::Queueing(self.queueing));
        let (rate_bps, burst_bytes, certainty, finding) = match one_rate.bucket {
            BucketTest::Fits(buckets) if !self.is_queue_of_bucket(&buckets) => {
                let narrow = buckets.rate_bps().map(|rate_bps| (rate_bps, buckets.bytes()));
                let among = || Some((self.rate_in(&buckets, one_rate)?, one_rate.burst_bytes));
                let (rate_bps, bytes) = narrow.or_else(among).unzip();
                let certainty =
                    if rate_bps.is_some() { Certainty::Clear } else { Certainty::Likely };
                (rate_bps, bytes, certainty, Finding::Bucket(buckets))
            }
            // The amounts between losses may be the sender's choice.
            BucketTest::FewPackets(least_bps) if many && one_rate.fits(FITS) => {
                (None, None, Certainty::Likely, Finding::FewPackets(least_bps))
            }
            _ => return None,
        };
        let findings = [Some(finding), much, queueing];
        Some(Diagnosis { cause: Cause::Policer { rate_bps, burst_bytes }, certainty, findings })
    }

    /// A queue: it stood before most losses, and they chose it.
    ///
    /// That the delay is longer than just before shows nothing: a sender that reduces at any loss
    /// ends the growth of the queue there. Nor does one rate: a link that is never idle has it,
    /// whatever loses the packets.
    fn queue(&self, lost_share: f64) -> Option<Diagnosis> {
        let standing = self.of_rounds(self.queued);
        let is_alike = self.is_alike();
        let is_chosen = is_alike || self.is_more_than_burst(self.usual_round, lost_share);
        let finding = match (standing >= MOST && is_chosen, self.one_level()) {
            (true, _) => self.queued(),
            (false, Some(one_level)) => one_level,
            (false, None) => return None,
        };
        let certainty =
            if standing >= NEARLY_ALL && is_alike { Certainty::Clear } else { Certainty::Likely };
        let cause =
            if self.above_least >= LONG_QUEUE { Cause::FullQueue } else { Cause::ManagedQueue };
        Some(Diagnosis { cause, certainty, findings: [Some(finding), None, None] })
    }

    /// The air: the queue was just empty before most losses, which are independent of each other
    /// and choose no flight.
    fn air(&self, one_rate: Option<&OneRate>, lost_share: f64) -> Option<Diagnosis> {
        let empty = self.of_rounds(self.empty);
        let is_empty = empty >= MOST || empty >= OFTEN_EMPTY && self.hardly_stands();
        let is_independent = self.per_round < BY_CHANCE * self.by_chance(lost_share);
        let fits = one_rate.is_some_and(|one| one.fits(FITS));
        if u64::from(self.with_delay) < FEWEST_LOSSES
            || !is_empty
            || self.queueing >= NO_QUEUE.1
            || !is_independent
            || fits
            || lost_share * 100.0 > MOST_OF_AIR
        {
            return None;
        }
        let is_clear = self.with_delay >= MANY_ROUNDS && empty >= NEARLY_ALL;
        let certainty = match self.flight_spread {
            Some(spread) if spread < UNLIKE => return None,
            Some(_) if is_clear => Certainty::Clear,
            Some(_) => Certainty::Likely,
            None if is_clear => Certainty::Likely,
            None => return None,
        };
        let findings = [
            Some(self.empty()),
            self.flight_spread.map(|spread| Finding::FlightSpread(100.0 * spread)),
            None,
        ];
        Some(Diagnosis { cause: Cause::Air, certainty, findings })
    }

    /// A long queue that overflows in few rounds, as a deep one does: it stood before all of them,
    /// was still growing, and lost many packets at one level.
    fn overflow(&self, lost_share: f64) -> Option<Diagnosis> {
        let is_queue = self.queued == self.with_delay
            && self.above_least >= LONG_QUEUE
            && self.contrast >= LONGER;
        let is_chosen = self.is_alike() && self.is_more_than_burst(self.per_round, lost_share);
        (self.with_delay >= FEWEST_OVERFLOWS && is_queue && is_chosen).then(|| Diagnosis {
            cause: Cause::FullQueue,
            certainty: Certainty::Likely,
            findings: [Some(self.queued()), None, None],
        })
    }

    /// A long queue whose overflows are few beside other rounds, and lost most of the packets: it
    /// stood before all large rounds. A single loss of the air is a round as well.
    fn overflows(&self, lost_share: f64) -> Option<Diagnosis> {
        let told = (self.lost - self.by_timer) as f64;
        let large = self.large_rounds;
        let is_shown = large.rounds >= FEWEST_OVERFLOWS
            && large.queued == large.rounds
            && large.least_queue >= LONG_QUEUE
            && large.lost as f64 >= MOST * told
            && self
                .is_more_than_burst(large.lost as f64 / f64::from(large.rounds.max(1)), lost_share);
        is_shown.then_some(Diagnosis {
            cause: Cause::FullQueue,
            certainty: Certainty::Likely,
            findings: [
                Some(Finding::Overflows(large.rounds, large.lost, large.least_queue)),
                None,
                None,
            ],
        })
    }

    /// Whether the delay at losses may be that of packets that wait for a link of this rate. A
    /// policer's line is faster, so that a packet does not wait for as long as the rate takes to
    /// fill one.
    fn is_queue_of(&self, one: &OneRate) -> bool {
        let packet = Span::from_secs_f64_rounded(PACKET_BITS / one.rate_bps as f64);
        self.queueing >= packet.max(HOSTS)
    }

    /// The rate by the amounts between losses, where buckets of many rates fit: if it is one of
    /// them, and its bucket holds more than a flight and a few packets, no burst of the sender alone makes the
    /// amounts equal.
    fn rate_in(&self, buckets: &Buckets, one_rate: &OneRate) -> Option<u64> {
        let rate = one_rate.rate_bps;
        let is_among = rate as f64 * 1.03 >= buckets.least_bps as f64
            && buckets.most_bps.is_none_or(|most| rate <= most);
        let larger_pkts = self.flight_pkts?.max(MORE_THAN_BURST);
        let is_larger = buckets.least_bytes as f64 * 8.0 > larger_pkts * PACKET_BITS;
        (one_rate.fits(FITS_CLOSELY) && is_among && is_larger).then_some(rate)
    }

    /// Whether the delay at losses may be that of a link with such a queue. A queue of that many
    /// bytes is full at losses, so that packets wait for as long as it takes to empty; of a
    /// bucket's line they wait for less than half of that.
    fn is_queue_of_bucket(&self, buckets: &Buckets) -> bool {
        let fastest = buckets.most_bps.unwrap_or(buckets.least_bps) as f64 / 8.0;
        let full = Span::from_secs_f64_rounded(buckets.least_bytes as f64 / fastest);
        self.queueing * 2 >= full || !self.hardly_stands()
    }

    fn of_rounds(&self, count: u32) -> f64 {
        f64::from(count) / f64::from(self.with_delay)
    }

    /// Whether a queue stood before hardly any round.
    fn hardly_stands(&self) -> bool {
        self.of_rounds(self.queued) <= 1.0 - NEARLY_ALL
    }

    fn queued(&self) -> Finding {
        Finding::Queued(self.queued, self.with_delay, self.standing)
    }

    fn empty(&self) -> Finding {
        Finding::Empty(self.empty, self.with_delay)
    }

    /// Lost packets of a round in which each is lost alone: one, and its share of the rest of the
    /// flight.
    fn by_chance(&self, lost_share: f64) -> f64 {
        1.0 + self.flight_pkts.unwrap_or(0.0) * lost_share
    }

    /// Whether the flights or the delays at losses are alike: a queue drops at its level, and the
    /// air at any. Flights that are alike at any moment are the sender's choice, and so are the
    /// delays that they make.
    fn is_alike(&self) -> bool {
        let is_below = |spread: Option<f64>| spread.is_some_and(|spread| spread <= ALIKE);
        if is_below(self.flight_spread) {
            return !self.come_at_any_moment();
        }
        is_below(self.level_spread)
    }

    /// The delay and the flight that losses choose, if they choose one and the queue is never empty
    /// then: it is too short, or too few packets pass it, to be seen to stand.
    fn one_level(&self) -> Option<Finding> {
        let are_alike = [self.flight_spread, self.level_spread]
            .iter()
            .all(|spread| spread.is_some_and(|spread| spread <= ALIKE));
        let is_never_empty = 1.0 - self.of_rounds(self.empty) >= NEARLY_ALL;
        let is_shown = u64::from(self.with_delay) >= FEWEST_LOSSES
            && are_alike
            && is_never_empty
            && !self.come_at_any_moment();
        is_shown.then_some(Finding::OneLevel(self.with_delay, self.above_least, self.flight_pkts?))
    }

    /// Whether many losses come at no time of their own.
    fn come_at_any_moment(&self) -> bool {
        let round_trip = self.rtt.unwrap_or(Span::ZERO) + self.queueing;
        self.rounds >= MANY_ROUNDS
            && (self.interval_spread.is_some_and(|spread| spread > ANY_MOMENT)
                || self.interval < round_trip * AT_ONCE)
    }

    /// Whether so many lost packets of a round are more than independent losses and bursts of the
    /// air take.
    fn is_more_than_burst(&self, lost: f64, lost_share: f64) -> bool {
        lost >= MORE_THAN_BURST && lost >= MORE_THAN_CHANCE * self.by_chance(lost_share)
    }

    /// Whether more of a flight is lost at once than independent losses would take.
    fn is_much_of_flight(&self, lost_share: f64) -> bool {
        self.share_of_flight.is_some_and(|share| share >= MUCH_OF_FLIGHT)
            && self.per_round >= MORE_THAN_CHANCE * self.by_chance(lost_share)
    }

    /// Whether losses come without a queue.
    fn has_no_queue(&self) -> bool {
        let (small, large) = NO_QUEUE;
        let is_small = self.queueing < (self.jitter * 3).max(small).min(large);
        is_small && (self.queueing < HOSTS || self.contrast < LONGEST)
    }
}

impl OneRate {
    /// What speaks for a policer; nothing where most of the time fits no rate.
    fn finding(&self) -> Option<Finding> {
        match self.bucket {
            BucketTest::Fits(buckets) => Some(Finding::Bucket(buckets)),
            _ if !self.fits(FITS_LOOSELY) => None,
            BucketTest::FewPackets(least_bps) => Some(Finding::FewPackets(least_bps)),
            _ => Some(Finding::OneRate(self.fit, self.intervals)),
        }
    }

    /// Whether buckets fit what every packet says, at this rate or at others.
    fn is_bucket(&self) -> bool {
        match self.bucket {
            BucketTest::Fits(_) => true,
            BucketTest::FewPackets(_) => true,
            BucketTest::NotTested | BucketTest::NoneFits(_) => false,
        }
    }

    /// Whether every packet was seen, and none showed that a bucket holds more than a few.
    fn may_be_few_packets(&self) -> bool {
        match self.bucket {
            BucketTest::NotTested => false,
            BucketTest::NoneFits(bytes) => bytes as f64 * 8.0 < MORE_THAN_BURST * PACKET_BITS,
            BucketTest::FewPackets(_) | BucketTest::Fits(_) => true,
        }
    }

    /// Whether a share of the time fits the rate, and more passed in no more than another share.
    /// Most of the time may be one long interval, so that half of the intervals must fit too.
    fn fits(&self, (share, above): (f64, f64)) -> bool {
        self.share >= share && self.above <= above && self.fit * 2 >= self.intervals
    }
}

#[cfg(test)]
mod tests {
    use super::super::LargeRounds;
    use super::*;

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
}
