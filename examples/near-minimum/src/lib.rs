//! Near minimum: a loss is wireless if the packet after the gap met no queue to speak of.
use losscause::{Algorithm, Amount, Evidence, Input, Judgement, Loss, Needs, Observation, Span};

/// The algorithm, with its setting and its state.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct NearMinimum {
    /// A loss less than this above the smallest trip time is wireless; milliseconds.
    pub within_ms: f64,
    /// The smallest trip time.
    #[serde(skip)]
    pub rott_min: Option<Span>,
}

impl Algorithm for NearMinimum {
    fn name(&self) -> &'static str {
        "near minimum"
    }
    fn needs(&self) -> Needs {
        Needs::NONE.with_delay()
    }
    fn observe(&mut self, observation: &Observation) {
        self.rott_min = self.rott_min.into_iter().chain(observation.delay).min();
    }
    fn judge(&self, loss: &Loss) -> Judgement {
        let Some((rott, rott_min)) = loss.delay().zip(self.rott_min) else {
            return Judgement::without(Input::Delay);
        };
        Evidence::new(self.name(), "queueing delay", rott - rott_min)
            .wireless_below(Amount::millis(self.within_ms))
    }
}
