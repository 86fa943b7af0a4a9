//! The simulator's TFRC on the links of a stream, with the same seed.

use losscause::{Span, Time};
use losscause_sim::{
    Detail, Event, EventKind, FlowId, Network, NetworkError, PacketKind, Recorder, Simulation,
};

use crate::live::counters::Counters;

/// What became of the packets of `flow` between the two instants.
///
/// # Errors
/// The network is not valid.
pub(super) fn run(
    network: &Network,
    flow: FlowId,
    seed: u64,
    (from, to): (Time, Time),
) -> Result<Counters, NetworkError> {
    let mut simulation = Simulation::new(network, seed)?;
    let mut waited = Waited { flow, queued: Span::ZERO };
    simulation.run_until(from, &mut waited);
    let before = outcome(&simulation, &waited);
    simulation.run_until(to, &mut waited);
    Ok(outcome(&simulation, &waited).since(&before))
}

fn outcome(simulation: &Simulation, waited: &Waited) -> Counters {
    let report = simulation.flow(waited.flow);
    Counters {
        sent_pkts: report.sent_packets,
        delivered_pkts: report.received_packets,
        queue_drops: report.lost.congestion,
        wireless_losses: report.lost.wireless,
        queued: waited.queued,
        verdicts: report.verdicts,
        ..Counters::default()
    }
}

/// How long the data packets of a flow that arrived waited in queues, together.
struct Waited {
    flow: FlowId,
    queued: Span,
}

impl Recorder for Waited {
    fn detail(&self) -> Detail {
        Detail::Arrivals
    }

    fn record(&mut self, event: &Event) {
        if let EventKind::Received(packet) = event.kind
            && event.flow == self.flow
            && packet.kind == PacketKind::Data
            && let Some(timing) = packet.timing
        {
            self.queued += timing.queued;
        }
    }
}
