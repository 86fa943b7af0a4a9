//! The event loop.

use losscause::Time;

use crate::counters::Counters;
use crate::report::FlowReport;
use crate::topology::{FlowId, Network, NetworkError};
use crate::trace::Recorder;

/// A network in motion.
pub struct Simulation {
    now: Time,
    counters: Counters,
}

impl Simulation {
    /// The network at time zero, before anything happens. Equal networks and seeds give equal runs.
    ///
    /// # Errors
    /// The network is not valid.
    pub fn new(network: &Network, seed: u64) -> Result<Self, NetworkError> {
        network.validate()?;
        let _ = seed;
        Ok(Self { now: Time::ZERO, counters: Counters::new(network) })
    }

    /// Lets everything happen that happens up to and including `until`. Afterwards all counters and reports are exact at
    /// that instant; call it again to go on.
    pub fn run_until(&mut self, until: Time, recorder: &mut impl Recorder) {
        let _ = recorder;
        self.now = self.now.max(until);
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What happened to packets so far. Clone it to measure a window.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What `flow` achieved so far.
    pub fn flow(&self, flow: FlowId) -> FlowReport {
        let _ = flow;
        FlowReport {
            started_at: None,
            sent_packets: 0,
            received_packets: 0,
            received_payload_bytes: 0,
            delivered_packets: 0,
            delivered_payload_bytes: 0,
            lost: crate::LossCounts::default(),
            verdicts: crate::VerdictTally::default(),
            schemes: Vec::new(),
            tcp: None,
        }
    }
}
