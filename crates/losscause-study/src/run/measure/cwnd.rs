//! TCP's congestion windows over time.

use losscause::Time;
use losscause_sim::{Event, EventKind, FlowSpec, Network, Traffic};

use super::{Metrics, State, measured};
use crate::statistics::mean;

/// Time averages of all flows' congestion windows.
#[derive(Clone, Debug)]
pub(crate) struct CwndAverages {
    flows: Vec<Integral>,
}

/// The integral of one flow's window over time.
#[derive(Clone, Copy, Debug, Default)]
struct Integral {
    /// The receiver's window, packets: ns-2's cwnd grows beyond it, but the sender sends no more.
    limit: f64,
    /// The window in force, packets, and since when.
    now: Option<(Time, f64)>,
    packet_seconds: f64,
    seconds: f64,
    max: f64,
}

impl CwndAverages {
    pub(crate) fn new(network: &Network) -> Self {
        let limit = |flow: &FlowSpec| match &flow.traffic {
            Traffic::Tcp { config, .. } => f64::from(config.max_window_pkts),
            Traffic::Tfrc { .. }
            | Traffic::Cbr { .. }
            | Traffic::OnOff { .. }
            | Traffic::Poisson { .. } => 0.0,
        };
        let integral = |flow: &FlowSpec| Integral { limit: limit(flow), ..Integral::default() };
        Self { flows: network.flows.iter().map(integral).collect() }
    }

    /// Takes in an event; those of one flow come in order of time.
    pub(crate) fn take(&mut self, event: &Event) {
        if let EventKind::Cwnd(packets) = event.kind {
            self.flows[event.flow.0 as usize].change(event.at, packets);
        }
    }

    /// `cwnd_mean` and `cwnd_max`.
    pub(super) fn add(&self, metrics: &mut Metrics, state: State<'_>) {
        let now = state.simulation.now();
        let life = |flow| {
            let end = state.simulation.flow(flow).stops_at.map_or(now, |stop| stop.min(now));
            self.flows[flow.0 as usize].until(end)
        };
        let lives: Vec<Integral> =
            measured(state.network()).map(life).filter(|life| life.seconds > 0.0).collect();
        let averages: Vec<f64> =
            lives.iter().map(|life| life.packet_seconds / life.seconds).collect();
        metrics.add("cwnd_mean", "packets", mean(&averages));
        metrics.add("cwnd_max", "packets", lives.iter().map(|life| life.max).reduce(f64::max));
    }
}

impl Integral {
    fn change(&mut self, at: Time, packets: f64) {
        *self = self.until(at);
        let packets = packets.min(self.limit);
        self.now = Some((at, packets));
        self.max = self.max.max(packets);
    }

    /// The same, carried on to `end`.
    fn until(mut self, end: Time) -> Self {
        if let Some((since, packets)) = self.now.filter(|(since, _)| *since < end) {
            let seconds = (end - since).as_secs_f64();
            self.packet_seconds += packets * seconds;
            self.seconds += seconds;
            self.now = Some((end, packets));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;

    #[test]
    fn a_window_counts_for_as_long_as_it_is_in_force() {
        let at = |seconds: i64| Time::ZERO + Span::from_secs(seconds);
        let mut integral = Integral { limit: 10.0, ..Integral::default() };
        // 4 packets for 3 s, 10 for 1 s (the receiver allows no more), 1 for 6 s: 28 packet-seconds
        // in 10 s.
        for (second, packets) in [(10, 4.0), (13, 12.0), (14, 1.0)] {
            integral.change(at(second), packets);
        }
        let done = integral.until(at(20));
        assert_eq!((done.packet_seconds, done.seconds, done.max), (28.0, 10.0, 10.0));
    }
}
