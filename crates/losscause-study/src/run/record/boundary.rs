//! What an algorithm compares with what, over time: its decision boundary over the samples that it saw.

use losscause::observe::Observed;
use losscause::{AnyLda, Differentiator, Lda, Loss, Packet, Reason, Time};

use super::Series;

/// What a judgement compared with what, in one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The scheme that decided; of a hybrid the base scheme.
    pub scheme: &'static str,
    /// What was measured.
    pub quantity: &'static str,
    /// Its unit: "ms", "packets".
    pub unit: &'static str,
    /// Its value.
    pub measured: f64,
    /// The limits that it was held against.
    pub limits: Vec<Limit>,
    /// Packets lost in the gap, where the limits depend on it.
    pub lost: Option<u32>,
}

/// A limit between congestion and wireless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// What it is: "wireless below".
    pub name: &'static str,
    /// Its value.
    pub value: f64,
}

/// What a reason compares with what; none if it compares no figures.
pub fn compared(reason: &Reason) -> Option<Compared> {
    let limit = |name, value| Limit { name, value };
    match *reason {
        Reason::Compared { scheme, quantity, measured, at_least, below, lost } => {
            let from = at_least.map(|span| limit("wireless from", span.as_millis_f64()));
            let below = below.map(|span| limit("wireless below", span.as_millis_f64()));
            let limits = from.into_iter().chain(below).collect();
            Some(Compared {
                scheme,
                quantity,
                unit: "ms",
                measured: measured.as_millis_f64(),
                limits,
                lost: Some(lost),
            })
        }
        Reason::State { scheme, measured, change, threshold, .. } => Some(Compared {
            scheme,
            quantity: "ROTT above its minimum",
            unit: "ms",
            measured: measured.as_millis_f64(),
            limits: vec![limit(change, threshold.as_millis_f64())],
            lost: None,
        }),
        Reason::Counted { scheme, marked, most, .. } => Some(Compared {
            scheme,
            quantity: "outliers among the last RTTs",
            unit: "count",
            measured: f64::from(marked),
            limits: vec![limit("wireless up to", f64::from(most))],
            lost: None,
        }),
        Reason::Queued { scheme, pkts, wireless_up_to, congestion_from } => Some(Compared {
            scheme,
            quantity: "packets in queues",
            unit: "packets",
            measured: pkts,
            limits: vec![limit("wireless up to", wireless_up_to), limit("congestion from", congestion_from)],
            lost: None,
        }),
        Reason::Lost { scheme, pkts, congestion_from, .. } => Some(Compared {
            scheme,
            quantity: "lost packets",
            unit: "packets",
            measured: pkts as f64,
            limits: vec![limit("congestion from", congestion_from as f64)],
            lost: None,
        }),
        Reason::LossRate { scheme, rate, wireless_up_to } => Some(Compared {
            scheme,
            quantity: "drop rate",
            unit: "percent",
            measured: 100.0 * rate,
            limits: vec![limit("wireless up to", 100.0 * wireless_up_to)],
            lost: None,
        }),
        _ => None,
    }
}

/// What one scheme would have compared at every arrival, had one packet been lost before it.
#[derive(Clone, Debug)]
pub struct Boundary {
    /// The scheme.
    pub scheme: &'static str,
    /// What it measures, over time.
    pub measured: Series,
    /// Its limits by name, over time.
    pub limits: Vec<(&'static str, Series)>,
}

/// Asks a copy of a receiver's algorithm at every arrival what it would say.
#[derive(Clone, Debug)]
pub(super) struct Prober {
    copy: Differentiator<AnyLda>,
    end: Time,
    steps: usize,
    boundaries: Vec<Boundary>,
}

impl Prober {
    /// Beside a receiver whose algorithm is `lda`, in its initial state.
    pub(super) fn new(lda: &AnyLda, end: Time, steps: usize) -> Self {
        Self { copy: Differentiator::new(lda.clone()), end, steps, boundaries: Vec::new() }
    }

    /// A packet that the receiver's algorithm has taken in.
    pub(super) fn take(&mut self, seq: u64, at: Time, sent: Time) {
        let observed = self.copy.on_packet(Packet { seq, at, sent: Some(sent) }, |_, _| ());
        let Observed::InOrder(arrival) = observed else { return };
        // After a gap the limits are those of that many losses; such arrivals are judged, and drawn as judged.
        if arrival.reveals_gap() {
            return;
        }
        let reason = self.copy.lda().judge(&Loss::new(seq, arrival)).reason;
        let Some(found) = compared(&reason) else { return };
        let series = || Series::new(self.end, self.steps);
        let place = self.boundaries.iter().position(|boundary| boundary.scheme == found.scheme).unwrap_or_else(|| {
            self.boundaries.push(Boundary { scheme: found.scheme, measured: series(), limits: Vec::new() });
            self.boundaries.len() - 1
        });
        let boundary = &mut self.boundaries[place];
        boundary.measured.take(at, found.measured);
        for limit in found.limits {
            let known = boundary.limits.iter().position(|(name, _)| *name == limit.name);
            let known = known.unwrap_or_else(|| {
                boundary.limits.push((limit.name, series()));
                boundary.limits.len() - 1
            });
            boundary.limits[known].1.take(at, limit.value);
        }
    }

    pub(super) fn finish(self) -> Vec<Boundary> {
        self.boundaries
    }
}
