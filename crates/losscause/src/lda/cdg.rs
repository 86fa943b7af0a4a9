//! CDG's tolerance: does the queue show no sign of being full?
//!
//! A queue that fills raises both the smallest and the largest round-trip time of the rounds. In a
//! full queue the largest one stops growing, while the smallest still does. A loss is tolerated
//! unless the queue is believed full:
//!
//! ```text
//! g_min, g_max = growth of each round's smallest and largest round-trip time, summed over the last 8 rounds
//! full       if  g_min > 0 and g_max <= 0
//! not full   if  g_min > 0 and g_max > 0,  or  g_max < 0        else unchanged
//! wireless   if  not full,   else congestion (full, or unknown)
//! ```
//!
//! Source: Linux, net/ipv4/tcp_cdg.c with `use_tolerance` (off by default), after Hayes & Armitage,
//! "Revisiting TCP congestion control using delay gradients", Networking 2011. Only the tolerance;
//! CDG's back-off because of delay is a response.
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `rounding` (`rounding_ms`) | ms | 0.064 | not negative |
//!
//! A sum counts as zero if it rounds to zero as a multiple of `rounding`. The end of a recovery
//! makes the state unknown. After an ACK of several packets (a stretch ACK), the next ACK of one
//! packet may have waited at the receiver: its round-trip time may lower the minimum and does not
//! count otherwise.
//!
//! Deviations from the kernel:
//!
//! - *During recovery* the rounds go on; the kernel leaves out those of a reduction.
//! - *After several stretch ACKs* one ACK is left out; how many the kernel leaves out was not
//!   available.

use super::AnyAlgorithm;
use crate::filter::{Round, Rounds};
use crate::registry::{ConfigError, End, Field, Info, Parameters, Setting, check};
use crate::verdict::Clue;
use crate::{Algorithm, Evidence, Judgement, Loss, Needs, Observation, Recovery, Span, Verdict};

/// CDG's tolerance of losses.
#[derive(Clone, Copy, Debug)]
pub struct CdgTolerance {
    rounding: Span,
    rounds: Rounds,
    /// The round before the present one.
    previous: Option<Round>,
    /// The growth from round to round, the oldest overwritten first.
    gradients: [Gradient; ROUNDS],
    oldest: usize,
    /// The sums of the gradients.
    sum: Gradient,
    queue: Queue,
    /// Whether the last ACK that counted acknowledged several packets.
    stretched: bool,
}

/// Parameters of [`CdgTolerance`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CdgToleranceConfig {
    /// A sum of at most half of it counts as zero.
    pub rounding: Span,
}

/// How much the smallest and the largest round-trip time grew.
#[derive(Clone, Copy, Debug, Default)]
struct Gradient {
    min: Span,
    max: Span,
}

/// What the gradients tell about the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    Unknown,
    Full,
    NotFull,
}

/// Rounds whose gradients are summed.
const ROUNDS: usize = 8;

impl Default for CdgToleranceConfig {
    /// 64 microseconds.
    fn default() -> Self {
        Self { rounding: Span::from_micros(64) }
    }
}

static CDG: Info = Info::new(
    "CDG tolerance",
    "wireless if the round-trip times do not look like those of a full queue",
)
.yardstick("Linux, net/ipv4/tcp_cdg.c; Hayes & Armitage, Networking 2011", "use_tolerance")
.with_aliases(&["cdg-tolerance"])
.with_settings(&[Setting::new(
    "rounding_ms",
    "growth of at most half of it counts as none, milliseconds, not negative",
)]);

impl Parameters for CdgToleranceConfig {
    fn info(&self) -> &'static Info {
        &CDG
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        (key == "rounding_ms").then_some(Field::Millis(&mut self.rounding))
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        end.must_be_sender(self.info())?;
        CdgTolerance::new(self).map(AnyAlgorithm::CdgTolerance)
    }
}

impl CdgTolerance {
    /// In the unknown state.
    ///
    /// # Errors
    /// If the rounding is negative.
    pub fn new(config: &CdgToleranceConfig) -> Result<Self, ConfigError> {
        let rounding_ms = config.rounding.as_millis_f64();
        check("rounding_ms", rounding_ms, |r| r >= 0.0, "a number that is not negative")?;
        Ok(Self {
            rounding: config.rounding,
            rounds: Rounds::default(),
            previous: None,
            gradients: [Gradient::default(); ROUNDS],
            oldest: 0,
            sum: Gradient::default(),
            queue: Queue::Unknown,
            stretched: false,
        })
    }

    fn on_round(&mut self, round: Round) {
        let Some(previous) = self.previous.replace(round) else { return };
        self.gradients[self.oldest] =
            Gradient { min: round.min - previous.min, max: round.max - previous.max };
        self.oldest = (self.oldest + 1) % ROUNDS;
        self.sum = Gradient::default();
        for gradient in &self.gradients {
            self.sum.min += gradient.min;
            self.sum.max += gradient.max;
        }
        let min = self.rounded(self.sum.min);
        let max = self.rounded(self.sum.max);
        if min > Span::ZERO && max <= Span::ZERO {
            self.queue = Queue::Full;
        } else if (min > Span::ZERO && max > Span::ZERO) || max < Span::ZERO {
            self.queue = Queue::NotFull;
        }
    }

    /// The growth, or zero if it rounds to that.
    fn rounded(&self, growth: Span) -> Span {
        if growth.abs() * 2 < self.rounding { Span::ZERO } else { growth }
    }
}

impl Algorithm for CdgTolerance {
    fn name(&self) -> &'static str {
        CDG.name
    }

    fn needs(&self) -> Needs {
        Needs::NONE.with_acks()
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        let Some(rtt) = observation.delay.filter(|rtt| *rtt > Span::ZERO) else { return };
        let newly_acked_pkts = observation.acked.map_or(0, |acked| acked.newly_acked_pkts);
        if newly_acked_pkts == 1 && self.stretched {
            self.rounds.lower(rtt);
            self.stretched = false;
        } else {
            self.rounds.observe(rtt);
            self.stretched |= newly_acked_pkts > 1;
        }
        if let Some(round) = self.rounds.turn(observation.at, rtt) {
            self.on_round(round);
        }
    }

    fn judge(&self, _: &Loss) -> Judgement {
        let Gradient { min, max } = self.sum;
        let of_max = Clue { what: "of the largest", reading: max.as_millis_f64(), unit: " ms" };
        let evidence = Evidence::new(CDG.name, "growth of the smallest round-trip time", min)
            .beside([Some(of_max), None]);
        Judgement::measured(Verdict::wireless_if(self.queue == Queue::NotFull), evidence)
    }

    fn on_recovered(&mut self, _: &Recovery) -> Option<Judgement> {
        self.queue = Queue::Unknown;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Acked;
    use crate::{Signal, Time};
    use Verdict::{Congestion, Wireless};

    /// An algorithm, and the time of its last ACK.
    struct Fed {
        lda: CdgTolerance,
        now: Time,
    }

    impl Fed {
        fn new() -> Self {
            let lda = CdgTolerance::new(&CdgToleranceConfig::default()).expect("valid");
            Self { lda, now: Time::ZERO }
        }

        fn ack(&mut self, after_ms: i64, rtt_us: i64, pkts: u32) {
            self.now += Span::from_millis(after_ms);
            let rtt = Some(Span::from_micros(rtt_us));
            self.lda.observe(
                &Observation::first(0, self.now)
                    .with_delay(rtt)
                    .with_acked(Acked::new(pkts.into())),
            );
        }

        /// A round of a second with this smallest and largest round-trip time, microseconds: 10 ms
        /// after its start an ACK with the largest one, and at its end one with the smallest.
        fn round(&mut self, min_us: i64, max_us: i64) -> Verdict {
            self.ack(10, max_us, 1);
            self.ack(990, min_us, 1);
            self.judgement().verdict
        }

        fn judgement(&self) -> Judgement {
            self.lda.judge(&Loss::new(self.now, Signal::Gap))
        }

        /// The sums of the growth of the smallest and the largest round-trip time, microseconds.
        fn sums_us(&self) -> (i64, i64) {
            (self.lda.sum.min.as_nanos() / 1_000, self.lda.sum.max.as_nanos() / 1_000)
        }
    }

    #[test]
    fn the_state_follows_the_signs_of_both_sums() {
        let mut fed = Fed::new();
        assert_eq!(fed.round(40_000, 50_000), Congestion, "one round has no growth: unknown");
        // Growth (1, 2) ms: both grow.
        assert_eq!(fed.round(41_000, 52_000), Wireless);
        // (3, -2), sums (4, 0): only the smallest grows.
        assert_eq!(fed.round(44_000, 50_000), Congestion);
        // (0, -1), sums (4, -1): the same.
        assert_eq!(fed.round(44_000, 49_000), Congestion);
        // (-6, 0), sums (-2, -1): the largest falls.
        assert_eq!(fed.round(38_000, 49_000), Wireless);
        // (0, 11), sums (-2, 10): neither rule, so the state stays.
        assert_eq!(fed.round(38_000, 60_000), Wireless);
        // (10, -10), sums (8, 0): full. (-9, 1), sums (-1, 1): it stays.
        assert_eq!(fed.round(48_000, 50_000), Congestion);
        assert_eq!(fed.round(39_000, 51_000), Congestion);
        assert_eq!(fed.sums_us(), (-1_000, 1_000));
    }

    #[test]
    fn a_sum_of_less_than_half_the_rounding_counts_as_zero() {
        let mut fed = Fed::new();
        fed.round(40_000, 50_000);
        assert_eq!(fed.round(40_031, 50_031), Congestion, "31 microseconds: still unknown");
        assert_eq!(fed.round(40_032, 50_032), Wireless);
    }

    #[test]
    fn growth_older_than_eight_rounds_is_forgotten() {
        let mut fed = Fed::new();
        fed.round(40_000, 50_000);
        fed.round(50_000, 60_000);
        for expected in [10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 0] {
            fed.round(50_000, 60_000);
            assert_eq!(fed.sums_us(), (expected, expected));
        }
    }

    #[test]
    fn the_end_of_a_recovery_makes_the_state_unknown() {
        let mut fed = Fed::new();
        fed.round(40_000, 50_000);
        assert_eq!(fed.round(41_000, 52_000), Wireless);
        assert_eq!(fed.lda.on_recovered(&Recovery::new(Time::ZERO, fed.now, 1)), None);
        assert_eq!(fed.judgement().verdict, Congestion);
    }

    #[test]
    fn an_ack_that_may_have_waited_only_lowers_the_minimum() {
        let mut fed = Fed::new();
        fed.round(40_000, 50_000);
        fed.ack(10, 50_000, 2);
        fed.ack(10, 90_000, 1);
        fed.ack(980, 40_000, 1);
        assert_eq!(fed.sums_us(), (0, 0), "90 ms after a stretch ACK");
        fed.ack(5, 50_000, 2);
        fed.ack(5, 30_000, 1);
        fed.ack(10, 90_000, 1);
        fed.ack(980, 40_000, 1);
        assert_eq!(
            fed.sums_us(),
            (-10_000, 40_000),
            "30 ms after a stretch ACK, and 90 ms after another ACK"
        );
    }

    #[test]
    fn a_negative_rounding_is_refused() {
        let with = |rounding| CdgTolerance::new(&CdgToleranceConfig { rounding }).is_ok();
        assert_eq!([with(Span::from_nanos(-1)), with(Span::ZERO)], [false, true]);
    }
}
