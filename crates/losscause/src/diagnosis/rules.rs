//! What the losses of a flow tell together: the rules by which a cause is named.

use super::rounds::LARGE_ROUND;
use super::{
    BucketTest, Buckets, Cause, Certainty, DelayRank, Diagnosis, Finding, Moments, OneRate,
    Readings, Unknown,
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
/// Rounds of one kind of bursts lose less than so many times the usual one.
const OTHERS: f64 = 10.0;
/// A policer's packets wait less than this part of the time that a queue of its rate would take.
const LEAST_OF_QUEUE: i64 = 4;
/// The least target of a managed queue (RFC 8289, section 4.4).
const LEAST_TARGET: Span = Span::from_millis(5);
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
            let are_large = self.per_round >= 2.0 * MORE_THAN_BURST;
            let overflows = || self.overflows(lost_share).filter(|_| are_large);
            return overflow.or_else(overflows).unwrap_or_else(|| {
                Diagnosis::not_shown(Unknown::TooFew, [Some(self.queued()), None])
            });
        }
        let named = self
            .policer(one_rate, lost_share)
            .or_else(|| self.queue(lost_share))
            .or_else(|| self.overflows(lost_share))
            .or_else(|| self.air(one_rate, lost_share))
            .or_else(|| self.long_delay())
            .or_else(|| self.limit());
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

    /// The same, with the moments of the losses ([`Self::moments`]) where they may show another
    /// cause.
    pub fn diagnose_with(
        self,
        one_rate: Option<&OneRate>,
        packets: u64,
        moments: impl FnOnce() -> Option<Moments>,
    ) -> Diagnosis {
        let diagnosis = self.diagnose(one_rate, packets);
        let is_asked =
            diagnosis.may_depend_on_moments() || self.delays.is_some_and(|delays| delays.is_any());
        match is_asked.then(moments).flatten() {
            Some(moments) => Self { moments: Some(moments), ..self }.diagnose(one_rate, packets),
            None => diagnosis,
        }
    }

    /// A policer: no queue, and a rate that fits or much of a flight lost at once.
    fn policer(&self, one_rate: Option<&OneRate>, lost_share: f64) -> Option<Diagnosis> {
        // A receiver does not know what is in flight: at one rate, what passes in a round trip.
        let of_rate = || Some(one_rate?.rate_bps as f64 / PACKET_BITS * self.rtt?.as_secs_f64());
        let flight = self.flight_pkts.or_else(of_rate);
        let is_loss_limited =
            flight.is_some_and(|flight| flight * flight * lost_share >= LOSS_LIMITED);
        if !self.has_no_queue_beside(one_rate) || !is_loss_limited {
            return None;
        }
        let many = self.is_much_of_flight(lost_share);
        if let Some(diagnosis) = one_rate.and_then(|one| self.bucket(one, many)) {
            return Some(diagnosis);
        }
        if !self.has_no_queue()
            || self.moments.is_some_and(|moments| moments.are_any())
            || !many && one_rate.is_some_and(OneRate::is_bucket)
            || self.had_queue(one_rate)
        {
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
        // A bucket of a few packets makes equal amounts, too, which show no rate. Nor does one rate
        // that no bucket has, by all that was sent, and hardly fits the amounts.
        let is_told = |one: &&OneRate| {
            let none_fits = matches!(one.bucket, BucketTest::NoneFits(_));
            !one.may_be_few_packets() && (!none_fits || one.fits(FITS_CLOSELY))
        };
        let told = rate.filter(is_told);
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
        if self.choose_nothing().is_some() {
            return None;
        }
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
        let cause = self.queue_cause();
        Some(Diagnosis { cause, certainty, findings: [Some(finding), None, None] })
    }

    /// The air: the queue was just empty before most losses, and they choose no moment; or they are
    /// independent of each other and choose no flight.
    fn air(&self, one_rate: Option<&OneRate>, lost_share: f64) -> Option<Diagnosis> {
        let is_queue = self.delays.is_some_and(|delays| delays.is_chosen());
        if is_queue || self.lost_many_elsewhere() || u64::from(self.with_delay) < FEWEST_LOSSES {
            return None;
        }
        let without_queue = self.air_without_queue(one_rate, lost_share);
        without_queue.or_else(|| {
            let (moments, delays) = self.choose_nothing()?;
            let findings =
                [Some(Finding::DelayRank(delays)), Some(Finding::Moments(moments)), None];
            Some(Diagnosis { cause: Cause::Air, certainty: Certainty::Likely, findings })
        })
    }

    /// The same where the queue was just empty before most losses.
    fn air_without_queue(&self, one_rate: Option<&OneRate>, lost_share: f64) -> Option<Diagnosis> {
        let any = self.moments.filter(Moments::are_any);
        let empty = self.of_rounds(self.empty);
        let is_empty = empty >= MOST
            || empty >= OFTEN_EMPTY && self.hardly_stands()
            || any.is_some() && self.is_below_targets();
        let is_independent = self.per_round < BY_CHANCE * self.by_chance(lost_share);
        let fits = one_rate.is_some_and(|one| one.fits(FITS));
        let is_single = is_independent && !fits && lost_share * 100.0 <= MOST_OF_AIR;
        if !is_empty
            || self.queueing >= NO_QUEUE.1
            || any.is_none() && !is_single
            || self.moments.is_some_and(|moments| moments.are_chosen())
        {
            return None;
        }
        let is_clear = self.with_delay >= MANY_ROUNDS && empty >= NEARLY_ALL;
        let certainty = match self.flight_spread {
            _ if any.is_some() && is_clear => Certainty::Clear,
            _ if any.is_some() => Certainty::Likely,
            Some(spread) if spread < UNLIKE => return None,
            Some(_) if is_clear => Certainty::Clear,
            Some(_) => Certainty::Likely,
            None if is_clear => Certainty::Likely,
            None => return None,
        };
        let spread = self.flight_spread.map(|spread| Finding::FlightSpread(100.0 * spread));
        let findings = [Some(self.empty()), any.map(Finding::Moments).or(spread), None];
        Some(Diagnosis { cause: Cause::Air, certainty, findings })
    }

    /// Whether a few large rounds, as no burst of the others makes, lost many of the packets: what
    /// lost them need not be what made most rounds.
    fn lost_many_elsewhere(&self) -> bool {
        let large = self.large_rounds;
        let usual = self.usual_round * f64::from(large.rounds);
        large.lost as f64 >= (1.0 - MOST) * self.lost as f64 && large.lost as f64 >= OTHERS * usual
    }

    /// Whether the losses choose neither what was sent before nor a delay, as the air's, however
    /// the delay varies. Each alone leaves a policer or a short queue.
    fn choose_nothing(&self) -> Option<(Moments, DelayRank)> {
        let moments = self.moments.filter(Moments::are_any)?;
        Some((moments, self.delays.filter(DelayRank::is_any)?))
    }

    /// A queue, by the delays before its losses: longer than those of other packets; or if they
    /// seem longer, and more was sent before losses than before others. It may be gone when the
    /// losses show, as after a time in which its link stood still.
    fn long_delay(&self) -> Option<Diagnosis> {
        let delays = self.delays?;
        let are_both_above = delays.is_above_chance()
            && self.moments.is_some_and(|moments| moments.is_above_chance());
        let is_gone = self.has_no_queue();
        let was_there = delays.is_clearly_chosen() && self.peak >= NO_QUEUE.1;
        if is_gone && !was_there || !(delays.is_chosen() || are_both_above) {
            return None;
        }
        let stands = self.of_rounds(self.queued) >= MOST;
        let certainty =
            if stands && delays.is_clearly_chosen() { Certainty::Clear } else { Certainty::Likely };
        let queueing = (!is_gone).then_some(Finding::Queueing(self.queueing));
        let findings = [Some(Finding::DelayRank(delays)), queueing, None];
        let length = if is_gone { self.peak } else { self.above_least };
        Some(Diagnosis { cause: queue_of(length), certainty, findings })
    }

    /// A limit to the rate, by the moments of its losses. A queue delays packets by what was sent
    /// beyond its rate, and a policer does not.
    fn limit(&self) -> Option<Diagnosis> {
        let moments = self.moments.filter(Moments::are_chosen)?;
        let as_queue = moments.as_queue();
        let cause = if self.queueing >= HOSTS && self.queueing * 2 >= as_queue {
            self.queue_cause()
        } else if self.has_short_delay() && self.queueing * LEAST_OF_QUEUE < as_queue {
            Cause::Policer { rate_bps: None, burst_bytes: None }
        } else {
            return None;
        };
        let findings =
            [Some(Finding::Moments(moments)), Some(Finding::Queueing(self.queueing)), None];
        Some(Diagnosis { cause, certainty: Certainty::Likely, findings })
    }

    fn queue_cause(&self) -> Cause {
        queue_of(self.above_least)
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

    /// Whether packets waited before the losses for as long as a queue of the bucket's size makes
    /// them, or if no rate tells that size, as half of a flight does: they queue at a link that
    /// stops for a while, and are gone when the losses behind them show. A policer makes none wait.
    fn had_queue(&self, one_rate: Option<&OneRate>) -> bool {
        let full = match one_rate.filter(|one| one.fits(FITS_LOOSELY)) {
            Some(one) => {
                Span::from_secs_f64_rounded(one.burst_bytes as f64 * 8.0 / one.rate_bps as f64)
            }
            None => self.rtt.unwrap_or(Span::MAX),
        };
        self.peak >= NO_QUEUE.1 && self.peak >= full / 2
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
    /// bucket's line they wait for less than a quarter of that.
    fn is_queue_of_bucket(&self, buckets: &Buckets) -> bool {
        self.queueing * LEAST_OF_QUEUE >= buckets.as_queue() || !self.hardly_stands()
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
        let mut spreads = [self.flight_spread, self.level_spread].into_iter().flatten();
        spreads.any(|spread| spread <= ALIKE) && !self.come_at_any_time()
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
            && !self.come_at_any_time();
        is_shown.then_some(Finding::OneLevel(self.with_delay, self.above_least, self.flight_pkts?))
    }

    /// Whether many losses come at no time of their own.
    fn come_at_any_time(&self) -> bool {
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

    /// Whether the queue was more often just empty than standing, and the delay at losses is below
    /// the target of the managed queues, which drop nothing then.
    fn is_below_targets(&self) -> bool {
        self.empty > self.queued && self.queueing < LEAST_TARGET
    }

    /// Whether losses come without a queue. A short delay that is longer than before may be a short
    /// queue's, or that of the few packets that wait for a policer's next tokens: where nothing tells
    /// what the bucket holds, it is taken for a queue.
    fn has_no_queue(&self) -> bool {
        self.has_short_delay() && (self.queueing < HOSTS || self.contrast < LONGEST)
    }

    /// The same, or with one much shorter than what the buckets hold that fit every packet.
    fn has_no_queue_beside(&self, one_rate: Option<&OneRate>) -> bool {
        let is_longer = |one: &OneRate| match one.bucket {
            BucketTest::Fits(buckets) => !self.is_queue_of_bucket(&buckets),
            _ => false,
        };
        self.has_no_queue() || self.has_short_delay() && one_rate.is_some_and(is_longer)
    }

    /// Whether the delay at losses is that of no queue, or of a short one.
    fn has_short_delay(&self) -> bool {
        let (small, large) = NO_QUEUE;
        self.queueing < (self.jitter * 3).max(small).min(large)
    }
}

/// A queue's cause, by its length.
fn queue_of(length: Span) -> Cause {
    if length >= LONG_QUEUE { Cause::FullQueue } else { Cause::ManagedQueue }
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
mod tests;
