//! Near minimum: a loss is wireless if the packet after the gap met no queue to speak of.
use losscause::registry::{ConfigError, Field, Info, Parameters, Setting, check};
use losscause::verdict::Input;
use losscause::{Algorithm, AnyAlgorithm, End, Evidence, Judgement, Loss, Needs, Observation, Span, Verdict};

const INFO: Info = Info::new("near minimum", "wireless if the trip time is near its minimum")
    .with_aliases(&["near-minimum"])
    .with_settings(&[Setting::new("within_ms", "how near, milliseconds, not negative")]);

/// The parameters: what a scenario can set, and what builds the algorithm.
#[derive(Clone)]
pub struct NearMinimumConfig {
    /// A loss less than this above the minimum is wireless; not negative.
    pub within: Span,
}

impl Default for NearMinimumConfig {
    fn default() -> Self {
        Self { within: Span::from_millis(10) }
    }
}

impl Parameters for NearMinimumConfig {
    fn info(&self) -> &'static Info {
        &INFO
    }
    fn field(&mut self, key: &str) -> Option<Field<'_>> {
        (key == "within_ms").then_some(Field::Millis(&mut self.within))
    }
    fn build(&self, _: End) -> Result<AnyAlgorithm, ConfigError> {
        check("within_ms", self.within.as_millis_f64(), |ms| ms >= 0.0, "a number that is not negative")?;
        Ok(AnyAlgorithm::boxed(NearMinimum { within: self.within, rott_min: None }))
    }
}

/// The algorithm: its state is the smallest trip time.
#[derive(Clone)]
struct NearMinimum {
    within: Span,
    rott_min: Option<Span>,
}

impl Algorithm for NearMinimum {
    fn name(&self) -> &'static str {
        INFO.name
    }
    fn needs(&self) -> Needs {
        Needs::NONE.with_delay()
    }
    fn observe(&mut self, observation: &Observation) {
        self.rott_min = self.rott_min.into_iter().chain(observation.delay).min();
    }
    fn judge(&self, loss: &Loss) -> Judgement {
        let (Some(rott), Some(rott_min)) = (loss.revealed_by.and_then(|revealed_by| revealed_by.delay), self.rott_min)
        else {
            return Judgement::without(Input::Delay);
        };
        let above = rott - rott_min;
        let evidence =
            Evidence::new(INFO.name, "ROTT above its minimum", above).held_against("wireless below", self.within);
        Judgement::measured(Verdict::wireless_if(above < self.within), evidence)
    }
}
