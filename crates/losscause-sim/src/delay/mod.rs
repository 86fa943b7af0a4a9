//! Propagation delays that vary without a queue, one file per process.
//!
//! The added delay is computed once per packet, for the instant at which its transmission ends.
//! Packets keep their order: a packet that would overtake the previous one arrives at the same
//! instant, directly after it. Only jitter may reorder them; then the link adds it
//! (`link/disorder.rs`).

use losscause::{Span, Time};

use crate::rng::Stream;
use crate::topology::VariationSpec;

mod batches;
mod jitter;
mod sinusoid;
mod trace;
mod walk;

use batches::Batches;
pub(crate) use jitter::Jitter;
use sinusoid::Sinusoid;
use trace::Trace;
use walk::Walk;

/// A varying delay.
#[derive(Clone, Debug)]
pub(crate) struct Variation {
    process: Process,
    /// Arrival time of the packet sent last.
    last_arrival: Time,
}

#[derive(Clone, Debug)]
enum Process {
    Trace(Trace),
    Sinusoid(Sinusoid),
    Walk(Walk),
    Batches(Batches),
    Jitter(Jitter),
}

impl Variation {
    /// None if the delay is constant, or if the link adds it. `stream` belongs to the variation
    /// alone.
    pub(crate) fn new(spec: &VariationSpec, stream: impl FnOnce() -> Stream) -> Option<Self> {
        let process = match spec {
            VariationSpec::Constant => return None,
            VariationSpec::Trace { points, between, at_end } => {
                Process::Trace(Trace::new(points, *between, *at_end))
            }
            &VariationSpec::Sinusoid { most, period } => {
                Process::Sinusoid(Sinusoid::new(most, period, &mut stream()))
            }
            &VariationSpec::Walk { most, step, every } => {
                Process::Walk(Walk::new(most, step, every, stream()))
            }
            &VariationSpec::Batches { most, drawn } => {
                Process::Batches(Batches::new(most, drawn, stream()))
            }
            // The link draws it behind the point up to which it keeps the order.
            VariationSpec::Jitter(jitter) if jitter.reorders => return None,
            &VariationSpec::Jitter(jitter) => Process::Jitter(Jitter::new(jitter, stream())),
        };
        Some(Self { process, last_arrival: Time::ZERO })
    }

    /// Arrival time of a packet that is sent at `now` over the constant `delay`: never before the
    /// packet sent before it. Call once per packet, in order of time.
    #[cold]
    pub(crate) fn arrival(&mut self, now: Time, delay: Span) -> Time {
        let added = match &mut self.process {
            Process::Trace(trace) => trace.at(now),
            Process::Sinusoid(sinusoid) => sinusoid.at(now),
            Process::Walk(walk) => walk.at(now),
            Process::Batches(batches) => batches.at(now),
            Process::Jitter(jitter) => jitter.draw(),
        };
        self.last_arrival = self.last_arrival.max(now + delay + added);
        self.last_arrival
    }
}
