//! A propagation delay that varies without any queue, one file per process.
//!
//! The addition to a link's constant delay is worked out once per packet, for the instant at which its transmission ends. Packets keep their order on the way: one that would overtake the packet before it arrives at the same
//! instant instead, right behind it.

use losscause::{Span, Time};

use crate::rng::Stream;
use crate::topology::VariationSpec;

mod sinusoid;
mod trace;
mod walk;

use sinusoid::Sinusoid;
use trace::Trace;
use walk::Walk;

/// A delay in motion.
#[derive(Clone, Debug)]
pub(crate) struct Variation {
    process: Process,
    /// When the last packet that set out arrives.
    last_arrival: Time,
}

#[derive(Clone, Debug)]
enum Process {
    Trace(Trace),
    Sinusoid(Sinusoid),
    Walk(Walk),
}

impl Variation {
    /// None if the delay is constant. `stream` belongs to the variation alone.
    pub(crate) fn new(spec: &VariationSpec, stream: impl FnOnce() -> Stream) -> Option<Self> {
        let process = match spec {
            VariationSpec::Constant => return None,
            VariationSpec::Trace { points, between, at_end } => Process::Trace(Trace::new(points, *between, *at_end)),
            &VariationSpec::Sinusoid { most, period } => Process::Sinusoid(Sinusoid::new(most, period, &mut stream())),
            &VariationSpec::Walk { most, step, every } => Process::Walk(Walk::new(most, step, every, stream())),
        };
        Some(Self { process, last_arrival: Time::ZERO })
    }

    /// When a packet arrives that sets out at `now` on a way of constant `delay`: never before the one that set out before
    /// it. Ask once per packet, in order of time.
    #[cold]
    pub(crate) fn arrival(&mut self, now: Time, delay: Span) -> Time {
        let added = match &mut self.process {
            Process::Trace(trace) => trace.at(now),
            Process::Sinusoid(sinusoid) => sinusoid.at(now),
            Process::Walk(walk) => walk.at(now),
        };
        self.last_arrival = self.last_arrival.max(now + delay + added);
        self.last_arrival
    }
}
