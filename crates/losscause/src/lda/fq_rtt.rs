//! fqRTT: is the round-trip time about as long as with a full queue?
//!
//! fqRTT estimates the round-trip time of a full queue, from the losses that came in groups. An
//! isolated loss well below it is no congestion. In this order:
//!
//! ```text
//! congestion  if  fqRTT has no sample
//!             or  another packet was reported lost less than one round trip before
//!             or  latestRTT >= min(sfqRTT - fqRTTvar, minRTT + 5 ms)           else wireless
//!
//! at the end of a recovery that lost several packets, or is the first one:
//!     R = the smallest latestRTT of its losses
//!     first:  sfqRTT = R,  fqRTTvar = R/2
//!     later:  fqRTTvar = 3/4 fqRTTvar + 1/4 |sfqRTT - R|,   sfqRTT = 7/8 sfqRTT + 1/8 R
//! ```
//!
//! latestRTT is that of the ACK that made the packet be declared lost. The limit of 5 ms is for
//! queues that drop on purpose while they are short: 5 ms is the target of CoDel.
//!
//! Source: h2o/quicly, issue 687, "Adding random-loss resilience to loss-based congestion
//! controllers", 2026.
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `above_min` (`above_min_ms`) | ms | 5 | not negative |
//! | `gain` | | 1/8 | above 0, up to 1; assumed |
//! | `variation_gain` | | 1/4 | above 0, up to 1; assumed |
//! | `first_variation` | | 1/2 | 0 to 1; assumed |
//! | `window` | ms or packets | all so far | see [`Lookback`]; assumed |
//!
//! Deviations: none known. What the source says could be read only in part, so these are
//! assumptions:
//!
//! - *Gains and first values* are those of RFC 6298, section 2.
//! - *minRTT* is the smallest of the whole flow, or of a `window`.
//! - *Within one round trip* means: less than latestRTT before, or declared together.
//! - *Without a latestRTT*, as when a timer declares the loss, it is congestion. A timeout ends an
//!   episode without a sample.

use super::{AnyAlgorithm, congestion_without};
use crate::filter::{Lookback, Minimum};
use crate::registry::{ConfigError, End, Field, Info, Parameters, Setting, check};
use crate::time::Nanos;
use crate::{
    Algorithm, Evidence, Judgement, Loss, Needs, Observation, Recovery, Scope, Signal, Span, Time,
    Verdict,
};

/// The fqRTT rule.
#[derive(Clone, Copy, Debug)]
pub struct FqRtt {
    config: FqRttConfig,
    min_rtt: Minimum,
    full_queue: Option<FullQueue>,
    /// The newest round-trip time, and when it was measured.
    latest: Option<(Time, Span)>,
    /// When a packet was last declared lost.
    last_loss: Option<Time>,
    /// How long before the newest lost packet another one was.
    since_other: Option<Span>,
    /// The smallest latestRTT of the episode's losses.
    least: Option<Span>,
}

/// Parameters of [`FqRtt`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqRttConfig {
    /// At most so far above the smallest round-trip time a loss may be wireless.
    pub above_min: Span,
    /// Weight of a new sample in the mean, above 0, up to 1.
    pub gain: f64,
    /// Weight of a new deviation in the variation, above 0, up to 1.
    pub variation_gain: f64,
    /// The first variation, as a share of the first sample, 0 to 1.
    pub first_variation: f64,
    /// How far back the smallest round-trip time looks.
    pub window: Lookback,
}

/// The estimate of the round-trip time with a full queue.
#[derive(Clone, Copy, Debug)]
struct FullQueue {
    smoothed: Nanos,
    variation: Nanos,
}

impl Default for FqRttConfig {
    /// 5 ms, with the gains of RFC 6298.
    fn default() -> Self {
        Self {
            above_min: Span::from_millis(5),
            gain: 0.125,
            variation_gain: 0.25,
            first_variation: 0.5,
            window: Lookback::ALL,
        }
    }
}

static FQ_RTT: Info = Info::new(
    "fqRTT",
    "wireless if isolated and the round-trip time is below that of a full queue",
)
.yardstick("h2o/quicly, issue 687, 2026", "description")
.with_aliases(&["fq-rtt"])
.with_settings(&[
    Setting::new(
        "above_min_ms",
        "so far above the smallest round-trip time it is congestion, milliseconds, not negative",
    ),
    Setting::new("gain", "weight of a new sample in sfqRTT; above 0, up to 1"),
    Setting::new("variation_gain", "weight of a new deviation in fqRTTvar; above 0, up to 1"),
    Setting::new("first_variation", "fqRTTvar after the first sample, as a share of it; 0 to 1"),
    Lookback::WINDOW_MS,
    Lookback::WINDOW_PKTS,
]);

impl Parameters for FqRttConfig {
    fn info(&self) -> &'static Info {
        &FQ_RTT
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "above_min_ms" => Field::Millis(&mut self.above_min),
            "gain" => Field::Number(&mut self.gain),
            "variation_gain" => Field::Number(&mut self.variation_gain),
            "first_variation" => Field::Number(&mut self.first_variation),
            _ => return self.window.field(key),
        })
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        end.must_be_sender(self.info())?;
        FqRtt::new(self).map(AnyAlgorithm::FqRtt)
    }
}

impl FqRtt {
    /// Without a sample.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn new(config: &FqRttConfig) -> Result<Self, ConfigError> {
        let above_min_ms = config.above_min.as_millis_f64();
        check("above_min_ms", above_min_ms, |ms| ms >= 0.0, "a number that is not negative")?;
        for (key, gain) in [("gain", config.gain), ("variation_gain", config.variation_gain)] {
            check(key, gain, |g| g > 0.0 && g <= 1.0, "a number above 0, up to 1")?;
        }
        check(
            "first_variation",
            config.first_variation,
            |v| (0.0..=1.0).contains(&v),
            "a number from 0 to 1",
        )?;
        config.window.validate()?;
        Ok(Self {
            config: *config,
            min_rtt: Minimum::over(config.window),
            full_queue: None,
            latest: None,
            last_loss: None,
            since_other: None,
            least: None,
        })
    }

    /// sfqRTT and fqRTTvar; `None` without a sample.
    pub fn full_queue(&self) -> Option<(Nanos, Nanos)> {
        self.full_queue.map(|full| (full.smoothed, full.variation))
    }

    /// The round-trip time of the ACK that arrived at `at`.
    fn latest_at(&self, at: Time) -> Option<Span> {
        self.latest.filter(|(measured_at, _)| *measured_at == at).map(|(_, rtt)| rtt)
    }

    /// RFC 6298, 2.2 and 2.3.
    fn sample(&mut self, rtt: Span) {
        let rtt = rtt.as_nanos_f64();
        let FqRttConfig { gain, variation_gain, first_variation, .. } = self.config;
        self.full_queue = Some(match self.full_queue {
            None => FullQueue { smoothed: rtt, variation: first_variation * rtt },
            Some(FullQueue { smoothed, variation }) => FullQueue {
                variation: (1.0 - variation_gain) * variation
                    + variation_gain * (smoothed - rtt).abs(),
                smoothed: (1.0 - gain) * smoothed + gain * rtt,
            },
        });
    }
}

impl Algorithm for FqRtt {
    fn name(&self) -> &'static str {
        FQ_RTT.name
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_acks().with_delay()
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        let Some(rtt) = observation.delay.filter(|rtt| *rtt > Span::ZERO) else { return };
        self.min_rtt.forget(observation.at);
        self.min_rtt.observe(rtt);
        self.latest = Some((observation.at, rtt));
    }

    fn on_loss(&mut self, loss: &Loss) {
        if loss.signal == Signal::Timeout {
            self.least = None;
        }
        if loss.lost_pkts == 0 {
            return;
        }
        let together = (loss.lost_pkts > 1).then_some(Span::ZERO);
        self.since_other = together.or(self.last_loss.map(|other| loss.at - other));
        self.last_loss = Some(loss.at);
        if let Some(rtt) = self.latest_at(loss.at) {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
    }

    fn judge(&self, loss: &Loss) -> Judgement {
        let Some(full) = self.full_queue else {
            return congestion_without("a round-trip time with a full queue");
        };
        let (Some(rtt), Some(min_rtt)) = (self.latest_at(loss.at), self.min_rtt.get()) else {
            return congestion_without(
                "the round-trip time of the acknowledgement that shows the loss",
            );
        };
        if let Some(before) = self.since_other.filter(|before| *before < rtt) {
            let evidence = Evidence::new(FQ_RTT.name, "time since another lost packet", before)
                .held_against("congestion below", rtt);
            return Judgement::measured(Verdict::Congestion, evidence);
        }
        let below = Span::ceil(full.smoothed - full.variation).min(min_rtt + self.config.above_min);
        Evidence::new(FQ_RTT.name, "round-trip time", rtt)
            .for_gap_of(loss.lost_pkts)
            .wireless_below(below)
    }

    fn on_recovered(&mut self, recovery: &Recovery) -> Option<Judgement> {
        let least = self.least.take();
        if let Some(rtt) = least.filter(|_| self.full_queue.is_none() || recovery.lost_pkts > 1) {
            self.sample(rtt);
        }
        None
    }

    fn scope(&self) -> Scope {
        Scope::EVERY_LOSS
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::Amount;
    use crate::Reason;
    use crate::at;
    use Verdict::{Congestion, Wireless};
    use std::string::ToString;

    fn fresh() -> FqRtt {
        FqRtt::new(&FqRttConfig::default()).expect("valid")
    }

    /// An ACK at `ms` with round-trip time `rtt_ms` shows that `pkts` packets are lost.
    fn lost(lda: &mut FqRtt, ms: i64, rtt_ms: i64, pkts: u32) -> Judgement {
        lda.observe(&Observation::first(0, at(ms)).with_delay(Some(Span::from_millis(rtt_ms))));
        let loss = Loss { lost_pkts: pkts, ..Loss::new(at(ms), Signal::Gap) };
        lda.on_loss(&loss);
        lda.judge(&loss)
    }

    fn recovered(lda: &mut FqRtt, lost_pkts: u64) {
        assert_eq!(lda.on_recovered(&Recovery::new(at(0), at(0), lost_pkts)), None);
    }

    /// After a first sample of 100 ms: sfqRTT is 100 ms, fqRTTvar 50 ms. minRTT is 40 ms.
    fn with_a_sample() -> FqRtt {
        let mut lda = fresh();
        lda.observe(&Observation::first(0, at(0)).with_delay(Some(Span::from_millis(40))));
        assert_eq!(lost(&mut lda, 100, 100, 1).verdict, Congestion, "no sample yet");
        recovered(&mut lda, 1);
        lda
    }

    fn estimate_ms(lda: &FqRtt) -> (f64, f64) {
        let (smoothed, variation) = lda.full_queue().expect("a sample");
        let ms = |nanos: Nanos| Span::floor(nanos).as_millis_f64();
        (ms(smoothed), ms(variation))
    }

    /// The first limit of a judgement.
    fn limit_ms(judgement: &Judgement) -> f64 {
        judgement.evidence().and_then(|evidence| evidence.limits[0]).expect("a limit").at.value()
    }

    #[test]
    fn without_a_sample_every_loss_is_congestion() {
        let judgement = lost(&mut fresh(), 100, 40, 1);
        assert_eq!(
            judgement.to_string(),
            "a round-trip time with a full queue is missing: congestion"
        );
    }

    #[test]
    fn an_isolated_loss_below_both_limits_is_wireless() {
        // min(100 - 50, 40 + 5) = 45 ms.
        assert_eq!(lost(&mut with_a_sample(), 1_000, 44, 1).verdict, Wireless);
        let judgement = lost(&mut with_a_sample(), 1_000, 45, 1);
        assert_eq!(judgement.verdict, Congestion);
        assert_eq!(limit_ms(&judgement), 45.0);
    }

    #[test]
    fn the_full_queue_is_the_limit_where_below_min_rtt_and_5_ms() {
        // The second sample of 84 ms: fqRTTvar = 3/4 50 + 1/4 16 = 41.5 ms; sfqRTT = 7/8 100 + 1/8
        // 84 = 98 ms.
        let mut lda = with_a_sample();
        assert_eq!(lost(&mut lda, 1_000, 84, 2).verdict, Congestion);
        recovered(&mut lda, 2);
        assert_eq!(estimate_ms(&lda), (98.0, 41.5));
        // 56.5 ms is above 45 ms. With a smallest round-trip time of 54 ms it is the limit.
        let limit = |lda: &FqRtt| {
            let mut lda = *lda;
            limit_ms(&lost(&mut lda, 2_000, 300, 1))
        };
        assert_eq!(limit(&lda), 45.0);
        lda.min_rtt = Minimum::default();
        lda.min_rtt.observe(Span::from_millis(54));
        assert_eq!(limit(&lda), 56.5);
    }

    #[test]
    fn a_second_lost_packet_within_one_round_trip_is_congestion() {
        let mut lda = with_a_sample();
        assert_eq!(lost(&mut lda, 1_000, 42, 1).verdict, Wireless);
        let again = lost(&mut lda, 1_041, 42, 1);
        assert_eq!(again.verdict, Congestion);
        assert_eq!(again.evidence().expect("compared").value, Amount::Time(Span::from_millis(41)));
        assert_eq!(limit_ms(&again), 42.0);
        assert_eq!(lost(&mut lda, 1_083, 42, 1).verdict, Wireless, "a whole round trip later");
        assert_eq!(lost(&mut lda, 2_000, 42, 2).verdict, Congestion, "two at once");
    }

    #[test]
    fn only_episodes_of_several_losses_bring_their_smallest_sample() {
        let mut lda = with_a_sample();
        lost(&mut lda, 1_000, 42, 1);
        recovered(&mut lda, 1);
        assert_eq!(estimate_ms(&lda), (100.0, 50.0), "isolated");
        lost(&mut lda, 2_000, 84, 1);
        lost(&mut lda, 2_010, 92, 1);
        recovered(&mut lda, 2);
        assert_eq!(estimate_ms(&lda), (98.0, 41.5), "84 ms, the earlier loss's");
        recovered(&mut lda, 2);
        assert_eq!(estimate_ms(&lda), (98.0, 41.5), "one sample per episode");
    }

    #[test]
    fn a_loss_without_its_round_trip_is_congestion_and_no_sample() {
        let mut lda = with_a_sample();
        lost(&mut lda, 1_000, 42, 1);
        let by_timer = Loss::new(at(3_000), Signal::Gap);
        lda.on_loss(&by_timer);
        let judgement = lda.judge(&by_timer);
        assert_eq!(judgement.verdict, Congestion);
        assert!(matches!(judgement.reason, Reason::Missing { .. }));
        lda.on_loss(&Loss::new(at(4_000), Signal::Timeout));
        recovered(&mut lda, 5);
        assert_eq!(estimate_ms(&lda), (100.0, 50.0));
    }

    #[test]
    fn a_mark_loses_nothing() {
        let mut lda = with_a_sample();
        lda.on_loss(&Loss { lost_pkts: 0, ..Loss::new(at(999), Signal::EcnMark) });
        assert_eq!(lost(&mut lda, 1_000, 42, 1).verdict, Wireless);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let refused = |change: fn(&mut FqRttConfig)| {
            let mut config = FqRttConfig::default();
            change(&mut config);
            FqRtt::new(&config).is_err()
        };
        assert!(refused(|c| c.gain = 0.0) && refused(|c| c.variation_gain = 1.1));
        assert!(
            refused(|c| c.first_variation = -0.1)
                && refused(|c| c.above_min = Span::from_nanos(-1))
        );
        assert!(refused(|c| c.window.pkts = 1) && !refused(|_| ()));
    }
}
