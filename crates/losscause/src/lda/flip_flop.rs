//! Flip Flop with history: were many of the last round-trip times outliers?
//!
//! Round-trip times vary under congestion, but hardly under random losses. A [Flip Flop
//! filter](crate::filter::FlipFlop) marks the round-trip times above its control limit. A bit
//! vector holds the marks of the last l of them:
//!
//! ```text
//! congestion  if  more than eta of the last l round-trip times were outliers,   else wireless
//! ```
//!
//! Source: Barman & Matta 2002, section 2.2, figures 1 and 2 (NewReno-FF).
//!
//! | parameter | unit | default | range |
//! |---|---|---|---|
//! | `history` (l) | round-trip times | 10 (configuration 1; 8 in configuration 2) | 1 to 64 |
//! | `eta` | outliers | 5 (configuration 1; 4 in configuration 2) | 0 to `history` |
//! | `samples` | | new-acks | see below |
//! | `lower_limit`, `neighbour` | | new-mean, previous-value | see [`FlipFlopReadings`] |
//!
//! Deviations: none. The paper leaves open:
//!
//! - *Which ACKs carry a round-trip time?* ACKs of new data, each its own: "on every new ACK
//!   received". ns-2 echoes the timestamp of every packet, so none is skipped. With `every-ack`
//!   duplicates count as well, if the transport knows their round-trip time.
//! - *Before l round-trip times* the rest of the vector is zero, as initialised: a young flow calls
//!   its losses wireless.
//! - *Before the first one* the verdict is undecided.

use super::{AnyAlgorithm, BARMAN};
use crate::filter::{FlipFlop, FlipFlopReadings};
use crate::registry::{
    ConfigError, End, Field, Info, Parameters, Setting, check, check_order, choice,
};
use crate::verdict::Input;
use crate::{Algorithm, Amount, Evidence, Judgement, Loss, Needs, Observation, Span, Verdict};

/// Flip Flop with history.
#[derive(Clone, Copy, Debug)]
pub struct FlipFlopHistory {
    filter: FlipFlop,
    samples: Samples,
    eta: u32,
    /// The lowest l bits set.
    mask: u64,
    /// Marks of the last l round-trip times, the newest in the lowest bit.
    vector: u64,
}

/// Parameters of [`FlipFlopHistory`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlipFlopConfig {
    /// Length of the history (l), round-trip times, 1 to 64.
    pub history: u32,
    /// At most this many outliers mean a wireless loss, 0 to `history`.
    pub eta: u32,
    /// Which ACKs carry a round-trip time.
    pub samples: Samples,
    /// What the filter's figure leaves open.
    pub readings: FlipFlopReadings,
}

choice! {
    /// Which ACKs carry a round-trip time.
    pub enum Samples {
        /// ACKs of new data.
        #[default]
        NewAcks = "new-acks",
        /// Duplicate ACKs as well.
        EveryAck = "every-ack",
    }
}

impl Default for FlipFlopConfig {
    /// Configuration 1 of the paper: more than 5 of 10.
    fn default() -> Self {
        Self {
            history: 10,
            eta: 5,
            samples: Samples::NewAcks,
            readings: FlipFlopReadings::default(),
        }
    }
}

static FLIP_FLOP: Info = Info::new(
    "Flip Flop",
    "congestion if more than eta of the last l round-trip times were outliers",
)
.from(BARMAN, "2.2")
.with_aliases(&["flip-flop", "FF"])
.with_settings(&[
    Setting::new("history", "l: how many round-trip times are looked back on; 1 to 64"),
    Setting::new("eta", "more outliers among them mean congestion; 0 to history"),
    Setting::new(
        "samples",
        "which acknowledgements bring a round-trip time: new-acks or every-ack",
    ),
    Setting::new(
        "lower_limit",
        "the mean that the lower control limit is taken from: new-mean or old-mean",
    ),
    Setting::new(
        "neighbour",
        "what the moving range is taken from: previous-value or previous-within",
    ),
]);

impl Parameters for FlipFlopConfig {
    fn info(&self) -> &'static Info {
        &FLIP_FLOP
    }

    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        Some(match key {
            "history" => Field::Count(&mut self.history),
            "eta" => Field::Count(&mut self.eta),
            "samples" => Field::Choice(&mut self.samples),
            "lower_limit" => Field::Choice(&mut self.readings.lower_limit),
            "neighbour" => Field::Choice(&mut self.readings.neighbour),
            _ => return None,
        })
    }

    fn build(&self, end: End) -> Result<AnyAlgorithm, ConfigError> {
        end.must_be_sender(self.info())?;
        FlipFlopHistory::new(self).map(AnyAlgorithm::FlipFlopHistory)
    }
}

impl FlipFlopHistory {
    /// A new filter with an empty history.
    ///
    /// # Errors
    /// If the history is 0 or above 64, or eta exceeds it.
    pub fn new(config: &FlipFlopConfig) -> Result<Self, ConfigError> {
        let history = f64::from(config.history);
        let eta = f64::from(config.eta);
        check("history", history, |l| (1.0..=64.0).contains(&l), "a whole number from 1 to 64")?;
        check_order(("eta", eta), ("history", history))?;
        Ok(Self {
            filter: FlipFlop::new(config.readings),
            samples: config.samples,
            eta: config.eta,
            mask: u64::MAX >> (64 - config.history),
            vector: 0,
        })
    }

    /// An ACK carried a round-trip time; `new_data` if it acknowledged anything for the first time.
    #[inline]
    pub fn on_rtt(&mut self, rtt: Span, new_data: bool) {
        if new_data || self.samples == Samples::EveryAck {
            // Barman & Matta 2.2: a vector of l bits, shifted by one for every round-trip time.
            let outlier = self.filter.observe(rtt);
            self.vector = (self.vector << 1 | u64::from(outlier)) & self.mask;
        }
    }

    /// Outliers among the last l round-trip times.
    pub fn outliers(&self) -> u32 {
        self.vector.count_ones()
    }

    /// The filter.
    pub fn filter(&self) -> &FlipFlop {
        &self.filter
    }

    /// Judges a loss declared now. Repeated calls give the same answer.
    pub fn verdict(&self) -> Judgement {
        if self.filter.mean().is_none() {
            return Judgement::without(Input::Other("a round-trip time"));
        }
        // Barman & Matta 2.2: congestion if more than eta of the last l were outliers.
        let outliers = self.outliers();
        let evidence =
            Evidence::new(FLIP_FLOP.name, "outliers among the last RTTs", count(outliers))
                .held_against("wireless up to", count(self.eta));
        Judgement::measured(Verdict::wireless_if(outliers <= self.eta), evidence)
    }
}

fn count(outliers: u32) -> Amount {
    Amount::Number(f64::from(outliers), "")
}

impl Algorithm for FlipFlopHistory {
    fn name(&self) -> &'static str {
        FLIP_FLOP.name
    }

    fn needs(&self) -> Needs {
        // Duplicates without a round-trip time are skipped, unless every ACK is to count.
        Needs { delay: self.samples == Samples::EveryAck, ..Needs::NONE.with_acks() }
    }

    #[inline]
    fn observe(&mut self, observation: &Observation) {
        if let Some(rtt) = observation.delay {
            self.on_rtt(rtt, !observation.is_duplicate());
        }
    }

    fn judge(&self, _: &Loss) -> Judgement {
        self.verdict()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Limit;
    use Verdict::{Congestion, Undecided, Wireless};

    fn fresh(history: u32, eta: u32) -> FlipFlopHistory {
        FlipFlopHistory::new(&FlipFlopConfig { history, eta, ..FlipFlopConfig::default() })
            .expect("valid")
    }

    /// Observes the first round-trip time, 100 ms, then `outliers` outliers: each is twice the
    /// previous one and so exceeds mean + 133 ms (MR stays 50 ms). By hand for the first three:
    /// limits 233, 263 and 330 ms; values 400, 800, 1600.
    fn with_outliers(mut lda: FlipFlopHistory, outliers: u32) -> FlipFlopHistory {
        lda.on_rtt(Span::from_millis(100), true);
        for i in 0..outliers {
            lda.on_rtt(Span::from_millis(400 << i), true);
        }
        lda
    }

    #[test]
    fn more_than_eta_outliers_mean_congestion_and_eta_do_not() {
        assert_eq!(with_outliers(fresh(8, 4), 4).verdict().verdict, Wireless);
        let judgement = with_outliers(fresh(8, 4), 5).verdict();
        assert_eq!(judgement.verdict, Congestion);
        let evidence = judgement.evidence().expect("counted");
        assert_eq!(evidence.value, Amount::Number(5.0, ""));
        assert_eq!(
            evidence.limits[0],
            Some(Limit { name: "wireless up to", at: Amount::Number(4.0, "") })
        );
    }

    #[test]
    fn marks_older_than_the_history_are_forgotten() {
        let mut lda = with_outliers(fresh(3, 0), 1);
        for expected in [1, 1, 1, 0] {
            assert_eq!(lda.outliers(), expected);
            lda.on_rtt(Span::from_millis(100), true);
        }
    }

    #[test]
    fn a_history_of_64_keeps_64_marks() {
        let mut lda = fresh(64, 0);
        lda.on_rtt(Span::from_nanos(1), true);
        lda.on_rtt(Span::from_secs(1), true);
        assert_eq!(lda.outliers(), 1);
        (0..63).for_each(|_| lda.on_rtt(Span::ZERO, true));
        assert_eq!(lda.outliers(), 1);
        lda.on_rtt(Span::ZERO, true);
        assert_eq!(lda.outliers(), 0);
    }

    #[test]
    fn nothing_is_known_before_the_first_round_trip_time() {
        assert_eq!(fresh(8, 4).verdict().verdict, Undecided);
        assert_eq!(with_outliers(fresh(8, 4), 0).verdict().verdict, Wireless);
    }

    #[test]
    fn duplicate_acks_count_only_where_they_are_asked_for() {
        let after = |samples| {
            let config = FlipFlopConfig { samples, ..FlipFlopConfig::default() };
            let mut lda = FlipFlopHistory::new(&config).expect("valid");
            lda.on_rtt(Span::from_millis(100), true);
            lda.on_rtt(Span::from_millis(900), false);
            lda.outliers()
        };
        assert_eq!([after(Samples::NewAcks), after(Samples::EveryAck)], [0, 1]);
    }

    #[test]
    fn an_empty_or_too_long_history_or_too_many_outliers_is_refused() {
        let refusal = |history, eta| {
            let config = FlipFlopConfig { history, eta, ..FlipFlopConfig::default() };
            FlipFlopHistory::new(&config).err()
        };
        let out_of_range = |value| {
            Some(ConfigError::OutOfRange {
                key: "history",
                value,
                expected: "a whole number from 1 to 64",
            })
        };
        assert_eq!(refusal(0, 0), out_of_range(0.0));
        assert_eq!(refusal(65, 0), out_of_range(65.0));
        assert!(matches!(
            refusal(4, 5),
            Some(ConfigError::WrongOrder { smaller: "eta", larger: "history", .. })
        ));
        assert_eq!([refusal(1, 0), refusal(1, 1), refusal(64, 64)], [None; 3]);
    }
}
