//! The link that a flow's sender met: what a scenario of it needs.
//!
//! | of the link | is |
//! |---|---|
//! | round trip | the least that others support |
//! | rate | how fast it emptied the queue while one stood: three quarters of that time it was less |
//! | other traffic | what it left, if it left more at some times than at others |
//! | queue | what packets beside lost ones waited, if losses came where the queue was longest more often than packets did |
//! | random loss | the other losses, over the packets that met no full queue |
//!
//! | policer | the diagnosis: then what was lost beside full queues is the policer's, and no loss is random |
//!
//! A sender's capture tells neither traffic that is always there, nor a queue that drops early from
//! random loss.

use losscause::diagnosis::{Cause, Diagnosis, Finding};
use losscause::{Span, Time};
use serde::Serialize;

use crate::flow::{Carried, Run};
use crate::judge::Trips;
use crate::link_rate::{self, RateStep};
use crate::measured::Packets;
use crate::units;
use crate::{Flow, Loss, Pace, Vantage};

/// The link that a flow's sender met.
///
/// ```
/// use std::fs::File;
///
/// use losscause_capture::{Fit, Options, Others, Policed, analyze};
///
/// fn described(fit: &Fit) -> String {
///     let rate = format!("{:.1} Mb/s", fit.rate_bps / 1e6);
///     match (fit.policer, fit.others) {
///         (Some(Policed { rate_bps, .. }), _) => {
///             format!("{rate} behind a policer of {:.1} Mb/s", rate_bps / 1e6)
///         }
///         (None, Some(Others { on_s, off_s, .. })) => {
///             format!("{rate}, shared for {on_s:.0} of {:.0} s", on_s + off_s)
///         }
///         (None, None) => rate,
///     }
/// }
///
/// let capture = File::open("tests/captures/sender.pcap.gz")?;
/// let analysis = analyze(capture, "sender.pcap.gz", &Options::all())?;
/// let fit = analysis.flows[0].fit.as_ref().expect("a queue stood");
/// assert_eq!(described(fit), "4.0 Mb/s");
/// assert!((0.015..0.035).contains(&fit.random_loss), "2 % of the packets");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Fit {
    /// The link's rate, or what other traffic left of it: bits per second, with all headers from IP
    /// on.
    pub rate_bps: f64,
    /// A tenth of the time in which a queue stood the rate was lower, bits per second.
    pub rate_p10_bps: f64,
    /// A tenth of that time it was higher.
    pub rate_p90_bps: f64,
    /// Traffic that came and went, if the rate did; it may be the link's own rate that changed.
    pub others: Option<Others>,
    /// The rate over time, if it changed and stayed so for a while.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RateStep>,
    /// For so long a queue was seen to stand, seconds.
    pub standing_s: f64,
    /// Packets that passed in that time.
    pub standing_packets: u64,
    /// The round trip of a full packet through empty queues, milliseconds.
    pub rtt_ms: f64,
    /// How long a packet waited in a full queue, milliseconds; none if no queue was seen to drop.
    pub full_ms: Option<f64>,
    /// The longest that packets waited, milliseconds: that of a few that stand alone does not
    /// count.
    pub longest_ms: f64,
    /// The share of packets that were lost where the queue was not full, from 0 to 1.
    pub random_loss: f64,
    /// How many of these were sent in a row, on average: 1 if they are independent of each other.
    pub random_burst: f64,
    /// Losses whose queueing delay is known.
    pub judged_losses: u64,
    /// Of these, losses at a full queue.
    pub queue_losses: u64,
    /// A full packet with its headers from IP on, bytes.
    pub packet_bytes: u64,
    /// The headers of a full packet, from IP on, bytes.
    pub header_bytes: u64,
    /// The receiver's window if it held the sender up for most of the time, bytes.
    pub window_bytes: Option<u64>,
    /// A policer in front of the link, if it lost the packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policer: Option<Policed>,
    /// What packets waited beside half of the losses, or longer, milliseconds.
    #[serde(skip)]
    usual_ms: Option<f64>,
    /// Packets were late where no queue stood.
    #[serde(skip)]
    pub(crate) is_path_longer: bool,
}

/// A token bucket in front of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Policed {
    /// The rate at which it fills, bits per second, with all headers from IP on.
    pub rate_bps: f64,
    /// What it holds, bytes: the middle of what is possible, or at least this if the amounts
    /// between losses alone show it.
    pub burst_bytes: u64,
    /// Whether the link behind it was seen, and is faster. Otherwise its rate is a guess.
    pub link_is_seen: bool,
}

/// Other traffic on the link, which comes and goes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Others {
    /// What it takes of the link while it is there, bits per second.
    pub rate_bps: f64,
    /// How long it stays, on average, seconds.
    pub on_s: f64,
    /// How long it is away, on average, seconds.
    pub off_s: f64,
}

/// A packet beside one that a full queue drops waits nearly as long as one can. A burst behind it
/// finds a few packets gone.
const NEARLY_FULL: f64 = 0.8;
/// More standard deviations than this are no chance.
const CHANCE: f64 = 2.0;
/// Delayed acknowledgements and wrong times are more of the round trips than this at most.
const HARDLY_ANY: f64 = 0.02;
/// Of so many delays one may be wrong, but for the first two.
const SUPPORT: usize = 8;
/// So much of the time the link is seen slower than it is: a receiver that holds an acknowledgement
/// back makes a run longer.
const USUAL: f64 = 0.75;
/// Rates farther apart than this part are no measuring error: runs begin and end at
/// acknowledgements, and a run of a round trip has many.
const STEADY: f64 = 0.1;
/// A link behind a policer that no queue showed is taken to be so many times as fast: its own time
/// is then hardly any.
const BEHIND_POLICER: f64 = 10.0;

/// How long packets waited in the queue: at a rate that changes, the time that as long a queue takes
/// at the fit's rate.
struct Delays<'a> {
    base: Span,
    trips: &'a Trips,
    rates: &'a [RateStep],
    rate_bps: f64,
    begun: Time,
}

/// What a full queue does.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    full_ms: Option<f64>,
    judged: u64,
    by_queue: f64,
}

impl Fit {
    /// Of a flow that was captured at its sender; none if nothing was measured.
    pub(crate) fn of(
        carried: &Carried,
        pace: &Pace,
        losses: &[Loss],
        trips: &Trips,
        has_outage: bool,
        begun: Time,
    ) -> Option<Self> {
        let standing = &carried.standing;
        let base = standing.base()?;
        let rtt_ms = base.as_millis_f64();
        let header_bytes = carried.header_bytes;
        let packet_bytes = carried.payload_bytes + header_bytes;
        let (runs, is_short) = standing.runs();
        let queued = match is_short {
            true => runs.some().to_vec(),
            false => link_rate::of_queues(runs.some(), header_bytes),
        };
        let in_time = rates_of(&queued, header_bytes);
        let mut rates = in_time.clone();
        if is_short {
            // The slower ones last longer, as more than their own packets waited. One is as good as
            // another.
            rates.iter_mut().for_each(|(_, weight)| *weight = 1.0);
        }
        rates.sort_by(|a, b| a.0.total_cmp(&b.0));
        let quantiles = [0.1, USUAL, 0.9].map(|share| quantile(&rates, share));
        let [Some(low), Some(usual), Some(high)] = quantiles else { return None };
        let agree = |low: f64, most: f64| high - low <= most * high;
        // Short runs may be jitter, which makes any rate.
        if is_short && (rates.len() < SUPPORT || !agree(usual, STEADY)) {
            return None;
        }
        let changes = !is_short && !agree(low, 2.0 * STEADY);
        let others = if changes { Others::of(&in_time, (low, high), pace.lasted_s) } else { None };
        // A burst waits for its own packets at least, so that it is never too fast.
        let rate_bps = if others.is_some() || is_short { high } else { usual };
        // The link carried the whole flow.
        if rate_bps < (1.0 - STEADY) * pace.rate_bps {
            return None;
        }
        // What comes and goes makes two levels; a link's own rate has any.
        let levels = link_rate::share_at(&in_time, [low, high]);
        let rates = if others.is_some() && levels < NEARLY_FULL {
            link_rate::steps(&queued, header_bytes, begun)
        } else {
            Vec::new()
        };
        let delays = Delays { base, trips, rates: &rates, rate_bps, begun };
        let waited = |loss: &Loss| Some((loss.time_s, delays.at_loss_ms(loss)?));
        let waited: Vec<(f64, f64)> = losses.iter().filter_map(waited).collect();
        let others_ms = delays.of_sample_ms();
        let share_from = |ms: f64| {
            let longer = others_ms.iter().filter(|one| **one >= ms).count();
            longer as f64 / others_ms.len().max(1) as f64
        };
        let is_sure = rates.is_empty();
        let found = Losses::of(&waited, share_from, rtt_ms / 1e3, pace.lasted_s, is_sure);
        let longest_ms = delays.longest_ms()?.max(found.full_ms.unwrap_or(0.0));
        let seen_s: f64 = runs.some().iter().map(|run| run.lasted.as_secs_f64()).sum();
        let part = in_time.iter().map(|(_, lasted_s)| lasted_s).sum::<f64>() / seen_s;
        // Losses without a delay are taken to be of the same kinds, but for tries without an
        // answer.
        let lost = if has_outage { waited.len() } else { losses.len() } as f64;
        let random = (found.judged as f64 - found.by_queue) / found.judged.max(1) as f64;
        let sent = carried.packets.max(1) as f64;
        let random_burst = mean_burst(losses, random * lost / sent, |loss| {
            let is_short = |full| delays.at_loss_ms(loss).is_some_and(|ms| ms < NEARLY_FULL * full);
            found.full_ms.is_none_or(is_short)
        });
        Some(Self {
            rate_bps,
            rate_p10_bps: low,
            rate_p90_bps: high,
            others,
            rates,
            standing_s: runs.whole.lasted.as_secs_f64() * part,
            standing_packets: (runs.whole.packets as f64 * part).round() as u64,
            rtt_ms,
            full_ms: found.full_ms,
            longest_ms,
            random_loss: (random * lost / sent).min(1.0),
            random_burst,
            judged_losses: found.judged,
            queue_losses: found.by_queue.round() as u64,
            packet_bytes,
            header_bytes,
            window_bytes: Packets::of(carried, pace).window_bytes,
            policer: None,
            is_path_longer: part < 1.0,
            usual_ms: middle(waited.iter().map(|(_, ms)| *ms).collect()),
        })
    }

    /// Of a flow at its sender whose losses have this cause, if that is a policer with a rate.
    pub(crate) fn policed(flow: &Flow, cause: Cause) -> Option<Self> {
        let Cause::Policer { rate_bps: Some(rate_bps), burst_bytes } = cause else { return None };
        let packets =
            flow.measured.as_ref()?.packets.filter(|_| flow.vantage == Vantage::Sender)?;
        let rtt_ms = packets.rtt_ms?;
        let rate_bps = rate_bps as f64;
        let seen = flow.fit.as_ref().filter(|fit| fit.rate_bps >= 2.0 * rate_bps);
        // A bucket that is smaller than a packet lets none pass.
        let burst_bytes = burst_bytes.unwrap_or_default().max(2 * packets.full_bytes);
        let policer = Some(Policed { rate_bps, burst_bytes, link_is_seen: seen.is_some() });
        let link_bps = seen.map_or(BEHIND_POLICER * rate_bps, |fit| fit.rate_bps);
        let judged = flow.losses.iter().filter(|loss| loss.queueing_ms.is_some()).count() as u64;
        Some(Self {
            rate_bps: link_bps,
            rate_p10_bps: seen.map_or(link_bps, |fit| fit.rate_p10_bps),
            rate_p90_bps: seen.map_or(link_bps, |fit| fit.rate_p90_bps),
            others: None,
            rates: Vec::new(),
            standing_s: seen.map_or(0.0, |fit| fit.standing_s),
            standing_packets: seen.map_or(0, |fit| fit.standing_packets),
            rtt_ms,
            full_ms: None,
            longest_ms: seen.map_or(0.0, |fit| fit.longest_ms),
            random_loss: 0.0,
            random_burst: 1.0,
            judged_losses: judged,
            queue_losses: 0,
            packet_bytes: packets.full_bytes,
            header_bytes: packets.header_bytes,
            window_bytes: packets.window_bytes,
            policer,
            usual_ms: None,
            is_path_longer: false,
        })
    }

    /// The fit of a flow at its sender on a link whose rate changed, with the full queue that was
    /// diagnosed. It holds the same packets at every rate.
    pub(crate) fn overflowed(flow: &Flow, diagnosis: &Diagnosis) -> Option<Self> {
        let fit = flow.fit.as_ref().filter(|fit| fit.others.is_some())?;
        let overflow = diagnosis.findings().find_map(|finding| match *finding {
            Finding::Overflows(_, lost, queue) => Some((lost, queue)),
            _ => None,
        });
        let (lost, queue) = overflow?;
        let judged = fit.judged_losses.max(lost);
        Some(Self {
            // Most losses are the overflows'.
            full_ms: fit.usual_ms.or(Some(queue.as_millis_f64())),
            random_burst: 1.0,
            random_loss: (judged - lost) as f64 / flow.packets.max(1) as f64,
            judged_losses: judged,
            queue_losses: lost,
            ..fit.clone()
        })
    }

    /// The time that a packet of `bytes` takes on the link, milliseconds.
    pub fn transmission_ms(&self, bytes: u64) -> f64 {
        8e3 * bytes as f64 / self.rate_bps
    }

    /// The round trip without the time that the link takes for a full packet and for its
    /// acknowledgement, milliseconds.
    pub fn propagation_ms(&self) -> f64 {
        let transmissions =
            self.transmission_ms(self.packet_bytes) + self.transmission_ms(self.header_bytes);
        (self.rtt_ms - transmissions).max(0.0)
    }

    /// The packets that the queue takes, or that wait in a round trip if no queue was seen to drop:
    /// at least as many as waited. `true` if it was seen to drop.
    pub fn queue_packets(&self) -> (u64, bool) {
        let packets =
            |ms: f64| (ms / self.transmission_ms(self.packet_bytes)).round().max(1.0) as u64;
        match self.full_ms {
            Some(full_ms) => (packets(full_ms), true),
            None => (packets(self.longest_ms.max(self.rtt_ms)), false),
        }
    }

    /// What was fitted, in one line: "10 Mb/s (a queue stood for 1.1 s), round trip 40 ms, queue 50
    /// packets, random loss 0.51 %".
    pub fn in_short(&self) -> String {
        if let Some(policer) = &self.policer {
            return format!("{}, round trip {}", policer.told(), units::ms(self.rtt_ms));
        }
        let (packets, is_seen) = self.queue_packets();
        let guess = if is_seen { "" } else { " (a guess: none was seen to drop)" };
        let least = units::rate(self.rate_p10_bps);
        let changes =
            if self.others.is_some() { format!(" down to {least}") } else { String::new() };
        format!(
            "{}{changes} (a queue stood for {:.1} s), round trip {}, queue {packets} packets{guess}, random loss {:.2} %",
            units::rate(self.rate_bps),
            self.standing_s,
            units::ms(self.rtt_ms),
            100.0 * self.random_loss
        )
    }

    /// What was fitted, and from how much: a sentence each.
    pub fn told(&self) -> Vec<String> {
        let of_rtt = format!(
            "Round trip {}, of which a full packet and its acknowledgement are {} on the link.",
            units::ms(self.rtt_ms),
            units::ms(self.rtt_ms - self.propagation_ms())
        );
        if let Some(policer) = &self.policer {
            let link = units::rate(self.rate_bps);
            let of_link = match policer.link_is_seen {
                true => format!("Link {link}: so fast packets came out of bursts."),
                false => {
                    format!("Link {link}, a guess: no queue was seen to stand behind the policer.")
                }
            };
            return vec![
                format!("{}: what passed between losses.", policer.told()),
                of_link,
                of_rtt,
            ];
        }
        let of_rate = format!(
            "Rate {}: so fast the link emptied its queue, which was seen to stand for {:.2} s ({} packets), at {} to {} for eight \
             tenths of that time.",
            units::rate(self.rate_bps),
            self.standing_s,
            self.standing_packets,
            units::rate(self.rate_p10_bps),
            units::rate(self.rate_p90_bps)
        );
        let of_others = self.others.map(|others| {
            if !self.rates.is_empty() {
                return format!(
                    "The rate changed; the scenario's does as the capture's did, in {} steps.",
                    self.rates.len()
                );
            }
            format!(
                "Other traffic of {} for {:.1} s, then none for {:.1} s, on average: so the rate changed.",
                units::rate(others.rate_bps),
                others.on_s,
                others.off_s
            )
        });
        let (packets, _) = self.queue_packets();
        let longest = units::ms(self.longest_ms);
        let of_queue = if let Some(full_ms) = self.full_ms {
            let full = units::ms(full_ms);
            let waited = match full_ms < NEARLY_FULL * self.longest_ms {
                true => format!("{full} to {longest}"),
                false => format!("about {full}"),
            };
            let queue = self.queue_losses;
            let judged = self.judged_losses;
            format!(
                "Queue {packets} packets: {queue} of {judged} losses came where packets waited {waited}."
            )
        } else {
            format!(
                "Queue {packets} packets, a guess: none was seen to drop. Packets waited {longest} at most."
            )
        };
        let in_a_row = match self.random_burst > 1.0 {
            true => format!(", {:.1} in a row on average", self.random_burst),
            false => String::new(),
        };
        let of_loss = format!(
            "Random loss {:.2} %{in_a_row}: {} of {} losses came where no queue was full.",
            100.0 * self.random_loss,
            self.judged_losses - self.queue_losses.min(self.judged_losses),
            self.judged_losses
        );
        [Some(of_rate), of_others, Some(of_rtt), Some(of_queue), Some(of_loss)]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl Policed {
    /// "Policer of 3 Mb/s with a bucket of 100 kB or more".
    fn told(&self) -> String {
        let rate = units::rate(self.rate_bps);
        let burst = units::bytes(self.burst_bytes);
        format!("Policer of {rate} with a bucket of about {burst}")
    }
}

impl Delays<'_> {
    /// What trips have beyond the base when their own least has nothing, milliseconds.
    fn lift_ms(&self) -> Option<f64> {
        self.trips.queueing_of(self.base)
    }

    /// The steps that were taken out of the trips before `at`, milliseconds. A path that had become
    /// longer has no round trip near the base any more: then there was no step.
    fn untrue_steps_ms(&self, at: Time, lift_ms: f64) -> f64 {
        let before = self.trips.shifts().iter().filter(|shift| shift.at <= at);
        let by_ms: f64 = before.map(|shift| shift.by.as_millis_f64()).sum();
        if by_ms > 0.0 && lift_ms >= NEARLY_FULL * by_ms { by_ms } else { 0.0 }
    }

    fn waited_ms(&self, at: Time, queueing_ms: f64) -> Option<f64> {
        let lift_ms = self.lift_ms()?;
        Some((queueing_ms - lift_ms + self.untrue_steps_ms(at, lift_ms)).max(0.0))
    }

    /// A packet that was acknowledged at `at`.
    fn at_rate_ms(&self, at: Time, waited_ms: f64) -> f64 {
        if self.rates.is_empty() {
            return waited_ms;
        }
        let to_s = (at - self.begun).as_secs_f64();
        1e3 * link_rate::bits_between(self.rates, to_s - waited_ms / 1e3, to_s) / self.rate_bps
    }

    fn at_loss_ms(&self, loss: &Loss) -> Option<f64> {
        let sent = loss.passage.at;
        let waited_ms = self.waited_ms(sent, loss.queueing_ms?)?;
        let would_be = sent + self.base + Span::from_secs_f64_rounded(waited_ms / 1e3);
        Some(self.at_rate_ms(would_be, waited_ms))
    }

    fn sampled_ms(&self) -> impl Iterator<Item = (Time, f64)> {
        self.trips.sampled().filter_map(|(at, trip)| {
            let queueing_ms = self.trips.queueing_of(trip)?;
            Some((at, self.waited_ms(at, queueing_ms)?))
        })
    }

    fn of_sample_ms(&self) -> Vec<f64> {
        self.sampled_ms().map(|(at, waited_ms)| self.at_rate_ms(at, waited_ms)).collect()
    }

    /// The longest that a packet of the sample waited, whatever the rate was.
    fn longest_ms(&self) -> Option<f64> {
        self.sampled_ms().map(|(_, waited_ms)| waited_ms).max_by(f64::total_cmp)
    }
}

impl Losses {
    /// Of `losses`, in order of time: when each showed, seconds, and how long packets waited beside
    /// it, ms. `share_from` is the share of packets that waited at least so long, `round_trip_s`
    /// the time through empty queues, and the flow `lasted_s`. Unless they are `sure`, a few delays
    /// are wrong, those around a change of the rate.
    fn of(
        losses: &[(f64, f64)],
        share_from: impl Fn(f64) -> f64,
        round_trip_s: f64,
        lasted_s: f64,
        sure: bool,
    ) -> Self {
        let mut sorted: Vec<f64> = losses.iter().map(|(_, waited_ms)| *waited_ms).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let place = if sure { (sorted.len() / SUPPORT).min(2) } else { sorted.len() / 2 };
        let Some(&full_ms) = sorted.get(place) else {
            return Self::default();
        };
        let level = NEARLY_FULL * full_ms;
        let all = losses.len() as f64;
        let above = sorted.partition_point(|ms| *ms >= level) as f64;
        let long = share_from(level);
        let expected = long * all;
        let deviation = (expected * (1.0 - long)).sqrt().max(0.5);
        let choose = above == all || above - expected > CHANCE * deviation;
        // No packet waits longer than a full queue lets it.
        let wrong = if sure { HARDLY_ANY } else { 1.0 / SUPPORT as f64 };
        let is_longest = share_from(full_ms / NEARLY_FULL) < wrong;
        let judged = losses.len() as u64;
        if full_ms <= 0.0 || !choose || !is_longest {
            return Self { full_ms: None, judged, by_queue: 0.0 };
        }
        // What a full queue drops shows within a round trip, the last packets beside those of the
        // next round.
        let round_s = round_trip_s + full_ms / 1e3;
        let full_at: Vec<f64> =
            losses.iter().filter(|loss| loss.1 >= level).map(|loss| loss.0).collect();
        let is_lonely = |at: f64| {
            let next = full_at.partition_point(|full| *full < at - round_s);
            full_at.get(next).is_none_or(|full| *full > at + round_s)
        };
        let lonely = losses.iter().filter(|loss| is_lonely(loss.0)).count() as f64;
        let rounds =
            full_at.windows(2).map(|pair| (pair[1] - pair[0]).min(2.0 * round_s)).sum::<f64>()
                + 2.0 * round_s;
        // Random losses come at any time.
        let others = 1.0 - long.max(rounds / lasted_s).min(1.0);
        let random = (lonely / others.max(HARDLY_ANY)).min(all);
        Self { full_ms: Some(full_ms), judged, by_queue: all - random }
    }
}

impl Others {
    /// Of the rate of each run and how long it lasted, in order of time, between a low and a high
    /// rate, in `lasted_s`. None if slow and fast runs follow each other as by chance: then the
    /// measuring errs.
    fn of(rates: &[(f64, f64)], (low, high): (f64, f64), lasted_s: f64) -> Option<Self> {
        let is_slow = |rate: &(f64, f64)| rate.0 < (low + high) / 2.0;
        let time =
            |rates: &mut dyn Iterator<Item = &(f64, f64)>| rates.map(|rate| rate.1).sum::<f64>();
        let slow =
            rates.iter().filter(|rate| is_slow(rate)).count() as f64 / rates.len().max(1) as f64;
        let changes =
            rates.windows(2).filter(|pair| is_slow(&pair[0]) != is_slow(&pair[1])).count() as f64;
        let by_chance = 2.0 * slow * (1.0 - slow) * rates.len() as f64;
        if rates.len() < 2 * SUPPORT || changes < 1.0 || 2.0 * changes > by_chance {
            return None;
        }
        let share = time(&mut rates.iter().filter(|rate| is_slow(rate))) / time(&mut rates.iter());
        let stay_s = 2.0 * lasted_s / (changes + 1.0);
        Some(Self { rate_bps: high - low, on_s: share * stay_s, off_s: (1.0 - share) * stay_s })
    }
}

/// The middle one; none of none.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// How many packets in a row are lost, on average, of the losses that are `meant`; 1 if no more of
/// them follow each other than independent ones may.
fn mean_burst(losses: &[Loss], share: f64, meant: impl Fn(&Loss) -> bool) -> f64 {
    let mut sent: Vec<(Time, u64, u64)> = losses
        .iter()
        .filter(|loss| meant(loss))
        .map(|loss| (loss.passage.at, loss.seq, loss.seq + loss.bytes))
        .collect();
    sent.sort_unstable();
    let all = sent.len();
    let in_row = sent.windows(2).filter(|pair| pair[0].2 == pair[1].1).count();
    let by_chance = CHANCE * share * all as f64;
    if (in_row as f64) < by_chance.max(SUPPORT as f64) {
        1.0
    } else {
        all as f64 / (all - in_row) as f64
    }
}

/// The rate of each run, bits per second, and how long it lasted, seconds, which is its weight.
fn rates_of(runs: &[Run], header_bytes: u64) -> Vec<(f64, f64)> {
    runs.iter().map(|run| (run.rate_bps(header_bytes), run.lasted.as_secs_f64())).collect()
}

/// The rate that this share of the weight is slower than, of rates in order; none without a rate.
fn quantile(rates: &[(f64, f64)], share: f64) -> Option<f64> {
    let mut left = share * rates.iter().map(|(_, weight)| weight).sum::<f64>();
    let reached = rates.iter().find(|(_, weight)| {
        left -= weight;
        left <= 0.0
    });
    reached.or(rates.last()).map(|(rate, _)| *rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loss each second, with these queueing delays, of a flow whose packets wait up to 40 ms,
    /// each delay as often.
    fn losses(waited_ms: &[f64]) -> Losses {
        let losses: Vec<(f64, f64)> = (0..).map(f64::from).zip(waited_ms.iter().copied()).collect();
        let lasted_s = losses.len() as f64;
        Losses::of(&losses, |ms| (1.0 - ms / 40.0).max(0.0), 0.1, lasted_s, true)
    }

    #[test]
    fn the_rate_of_a_queue_counts_headers() {
        let mut run = Run::default();
        (run.lasted, run.bytes, run.packets) = (losscause::Span::from_secs(1), 14_600, 10);
        assert_eq!(rates_of(&[run], 40), [(120_000.0, 1.0)]);
    }

    #[test]
    fn losses_where_the_queue_is_longest_are_the_queues() {
        let found = losses(&[[39.0; 8], [0.0, 5.0, 12.0, 20.0, 39.0, 39.0, 39.0, 39.0]].concat());
        assert_eq!((found.full_ms, found.judged), (Some(39.0), 16));
        // Four are random in the 78 % of the time that the queue was shorter than four fifths: five
        // in all.
        assert!((found.by_queue - 10.9).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn losses_within_a_round_trip_of_a_full_queues_are_its_own() {
        let at = |second: f64| [(second, 39.0), (second, 38.0), (second + 0.1, 2.0)];
        let found = Losses::of(
            &[at(3.0), at(6.0)].concat(),
            |ms| (1.0 - ms / 40.0).max(0.0),
            0.1,
            9.0,
            true,
        );
        assert_eq!((found.full_ms, found.by_queue), (Some(39.0), 6.0));
    }

    #[test]
    fn losses_that_wait_as_packets_do_are_no_queues() {
        let found = losses(&(0..40).map(f64::from).collect::<Vec<_>>());
        assert_eq!((found.full_ms, found.judged, found.by_queue), (None, 40, 0.0));
        assert_eq!(losses(&[]).full_ms, None);
        assert_eq!(losses(&[0.0; 9]).full_ms, None, "nothing waited");
        assert_eq!(losses(&[10.0]).full_ms, None, "others waited longer");
    }

    #[test]
    fn a_slow_change_of_rate_is_traffic_a_jump_is_not() {
        let of = |long: usize| {
            let rates: Vec<(f64, f64)> = (0..64)
                .map(|k| (if (k / long).is_multiple_of(2) { 9e6 } else { 5e6 }, 0.125))
                .collect();
            Others::of(&rates, (5e6, 9e6), 80.0)
        };
        assert_eq!(of(8), Some(Others { rate_bps: 4e6, on_s: 10.0, off_s: 10.0 }));
        assert_eq!(of(1), None);
    }

    #[test]
    fn half_of_the_time_the_rate_is_below_the_median() {
        let rates = [(1e6, 1.0), (2e6, 3.0), (9e6, 1.0)];
        assert_eq!(
            [0.1, 0.5, 0.9].map(|share| quantile(&rates, share)),
            [Some(1e6), Some(2e6), Some(9e6)]
        );
        assert_eq!(quantile(&[], 0.5), None);
    }
}
