//! When a flow that takes the place of a simulated one starts.

use losscause::Time;
use losscause_sim::FlowSpec;
use losscause_sim::rng::Stream;

/// When the simulator's flow would start with this seed.
pub(crate) fn start(flow: &FlowSpec, seed: u64) -> Time {
    flow.start
        + Stream::new(seed, &format!("flow/{}/start", flow.name)).span_below(flow.start_spread)
}
