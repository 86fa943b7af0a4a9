//! What an algorithm compares with what, over time: its decision boundary over the samples that it
//! saw.

use losscause::Observed;
use losscause::{Algorithm, AnyAlgorithm, Differentiator, Loss, Packet, Time};

use super::Series;

/// What one scheme would have compared at every arrival, had one packet been lost before it.
#[derive(Clone, Debug)]
pub struct Boundary {
    /// The scheme.
    pub scheme: &'static str,
    /// What it measures, over time.
    pub measured: Series,
    /// The scheme's limits by name, over time.
    pub limits: Vec<(&'static str, Series)>,
}

/// Asks a copy of a receiver's algorithm at every arrival what it would say.
#[derive(Clone, Debug)]
pub(super) struct Prober {
    copy: Differentiator<AnyAlgorithm>,
    end: Time,
    steps: usize,
    boundaries: Vec<Boundary>,
}

impl Prober {
    /// Beside a receiver whose algorithm is `lda`, in its initial state.
    pub(super) fn new(lda: &AnyAlgorithm, end: Time, steps: usize) -> Self {
        Self { copy: Differentiator::new(lda.clone()), end, steps, boundaries: Vec::new() }
    }

    /// A packet that the receiver's algorithm has taken in.
    pub(super) fn take(&mut self, seq: u64, at: Time, sent: Time) {
        let observed = self.copy.on_packet(Packet { seq, at, sent: Some(sent) }, &mut ());
        let Observed::InOrder(arrival) = observed else { return };
        // After a gap the limits are those of that many losses; such arrivals are judged, and drawn
        // as judged.
        if arrival.reveals_gap() {
            return;
        }
        let judgement = self.copy.algorithm().judge(&Loss::in_gap(seq, arrival));
        let Some(found) = judgement.evidence() else { return };
        let series = || Series::new(self.end, self.steps);
        let place = self
            .boundaries
            .iter()
            .position(|boundary| boundary.scheme == found.scheme)
            .unwrap_or_else(|| {
                self.boundaries.push(Boundary {
                    scheme: found.scheme,
                    measured: series(),
                    limits: Vec::new(),
                });
                self.boundaries.len() - 1
            });
        let boundary = &mut self.boundaries[place];
        boundary.measured.take(at, found.value.value());
        for limit in found.limits() {
            let known = boundary.limits.iter().position(|(name, _)| *name == limit.name);
            let known = known.unwrap_or_else(|| {
                boundary.limits.push((limit.name, series()));
                boundary.limits.len() - 1
            });
            boundary.limits[known].1.take(at, limit.at.value());
        }
    }

    pub(super) fn finish(self) -> Vec<Boundary> {
        self.boundaries
    }
}
