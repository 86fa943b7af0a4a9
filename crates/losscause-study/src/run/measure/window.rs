//! What crossed the bottleneck within the measured window.

use indexmap::IndexMap;
use losscause::{Span, Time};
use losscause_sim::{Counters, FlowId, FlowSpec, LinkId, Traffic};

use super::{FlowMeasurements, Metrics, State, group, measured, share};
use crate::statistics::{mean, standard_deviation};

/// The measured window, and the packets counted in it.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) counters: Counters,
}

/// Packets and their bits on the wire.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crossed {
    pub(super) packets: u64,
    bits: f64,
}

impl Window {
    pub(super) fn length(&self) -> Span {
        self.to - self.from
    }

    /// Packets of `flow` that crossed one of `links` on their way to the receiver.
    pub(super) fn crossed(&self, flow: FlowId, links: &[LinkId]) -> Crossed {
        let hops = self.counters.path(flow).filter(|(link, _)| links.contains(link));
        hops.fold(Crossed::default(), |sum, (_, hop)| Crossed {
            packets: sum.packets + hop.transmitted,
            bits: sum.bits + hop.transmitted_bytes as f64 * 8.0,
        })
    }

    /// Packets of `flow` that reached the receiver.
    fn arrived(&self, flow: FlowId) -> u64 {
        self.counters.path(flow).last().map_or(0, |(_, hop)| hop.delivered)
    }

    /// Packets of `flow` that queues dropped on their way to the receiver.
    fn queue_drops(&self, flow: FlowId) -> u64 {
        self.counters.path(flow).map(|(_, hop)| hop.queue_drops).sum()
    }

    /// Whether the flow was active at some time in the window.
    fn overlaps(&self, flow: &FlowMeasurements) -> bool {
        flow.stop_s.is_none_or(|stop| stop > self.from.as_secs_f64())
            && flow.start_s.is_some_and(|start| start < self.to.as_secs_f64())
    }
}

/// What the measured flows carried within the window.
pub(super) struct Totals<'a> {
    /// Every measured flow: its group, whether it was active, what crossed the bottleneck.
    flows: Vec<(&'a str, bool, Crossed)>,
    /// Bits that reached the receivers.
    intact_bits: f64,
    queue_drops: u64,
    /// What the bottleneck could carry, bits; none without a bottleneck and before the window.
    capacity_bits: Option<f64>,
}

impl<'a> Totals<'a> {
    pub(super) fn of(state: State<'a>, flows: &[FlowMeasurements]) -> Self {
        let State { experiment, window, .. } = state;
        let network = &experiment.network;
        let spec = |flow: FlowId| &network.flows[flow.0 as usize];
        let rates =
            experiment.bottleneck.iter().map(|link| network.links[link.0 as usize].rate_bps as f64);
        let capacity = rates.sum::<f64>() * window.length().as_secs_f64();
        let arrived = |flow| window.arrived(flow) as f64 * f64::from(wire_bytes(spec(flow))) * 8.0;
        let carried = |flow: FlowId| {
            let active = window.overlaps(&flows[flow.0 as usize]);
            (group(&spec(flow).name), active, window.crossed(flow, &experiment.bottleneck))
        };
        Self {
            flows: measured(network).map(carried).collect(),
            intact_bits: measured(network).map(arrived).sum(),
            queue_drops: measured(network).map(|flow| window.queue_drops(flow)).sum(),
            capacity_bits: (capacity > 0.0).then_some(capacity),
        }
    }

    /// `thput`, `thput_intact` and `cong`.
    pub(super) fn add_throughput(&self, metrics: &mut Metrics) {
        let bits: f64 = self.flows.iter().map(|(.., crossed)| crossed.bits).sum();
        let packets = self.flows.iter().map(|(.., crossed)| crossed.packets).sum();
        metrics.add("thput", "percent", self.capacity_bits.map(|capacity| bits / capacity * 100.0));
        metrics.add(
            "thput_intact",
            "percent",
            self.capacity_bits.map(|capacity| self.intact_bits / capacity * 100.0),
        );
        metrics.add("cong", "percent", share(self.queue_drops, packets).map(|share| share * 100.0));
    }

    /// `dev`.
    pub(super) fn add_deviation(&self, metrics: &mut Metrics) {
        let active = self.flows.iter().filter(|(_, active, _)| *active);
        let packets: Vec<f64> = active.map(|(.., crossed)| crossed.packets as f64).collect();
        metrics.add("dev", "percent", deviation(&packets).map(|share| share * 100.0));
    }

    /// `norm_thput.X`; nothing if there is one group.
    pub(super) fn add_shares(&self, metrics: &mut Metrics) {
        let mut groups: IndexMap<&str, (f64, u32)> = IndexMap::new();
        for &(name, _, crossed) in &self.flows {
            let (bits, members) = groups.entry(name).or_default();
            (*bits, *members) = (*bits + crossed.bits, *members + 1);
        }
        if groups.len() < 2 {
            return;
        }
        let all = self.flows.len() as f64;
        for (name, (bits, members)) in groups {
            let fair = self.capacity_bits.map(|capacity| capacity * f64::from(members) / all);
            metrics.add(
                format!("norm_thput.{name}"),
                "percent",
                fair.map(|fair| bits / fair * 100.0),
            );
        }
    }
}

/// Sample standard deviation over the mean; none for fewer than two values or a mean of zero.
fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|mean| *mean > 0.0)?;
    standard_deviation(values).map(|deviation| deviation / mean)
}

/// Size of a full data packet of the flow on the wire, bytes.
fn wire_bytes(flow: &FlowSpec) -> u32 {
    match &flow.traffic {
        Traffic::Tcp { config, .. } => config.wire_bytes(),
        Traffic::Tfrc { config, .. } => config.payload_bytes + config.header_bytes,
        Traffic::Cbr { packet_bytes, .. }
        | Traffic::OnOff { packet_bytes, .. }
        | Traffic::Poisson { packet_bytes, .. } => *packet_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_four_flows_deviate_by_6_05_percent() {
        // Cen 2003, section VIII-A: packets received by four flows; the deviation itself is not
        // printed there. By hand: mean 13051.75; squared differences 63126.6 + 599463.1 + 5076.6 +
        // 1202860.6 = 1870526.8; / 3 = 623508.9; root 789.63; over the mean 0.0605.
        let deviation = deviation(&[13303.0, 13826.0, 13123.0, 11955.0]).unwrap();
        assert!((deviation - 0.0605).abs() < 0.0001, "{deviation}");
    }

    #[test]
    fn a_flow_overlaps_the_window_if_it_is_active_within_it() {
        let at = |seconds: i64| Time::ZERO + Span::from_secs(seconds);
        let network = losscause_sim::Network { links: vec![], flows: vec![] };
        let counters = losscause_sim::Simulation::new(&network, 1).unwrap().counters().clone();
        let window = Window { from: at(10), to: at(20), counters };
        assert_eq!(window.length(), Span::from_secs(10));
        let overlaps = |start_s: Option<f64>, stop_s: Option<f64>| {
            window.overlaps(&FlowMeasurements { start_s, stop_s, ..FlowMeasurements::default() })
        };
        assert!(
            overlaps(Some(0.0), None)
                && overlaps(Some(19.9), None)
                && overlaps(Some(0.0), Some(10.1))
        );
        assert!(!overlaps(Some(0.0), Some(10.0)), "it left as the window began");
        assert!(!overlaps(Some(20.0), None), "it came as the window ended");
        assert!(!overlaps(None, None), "it never came");
    }

    #[test]
    fn a_single_flow_has_no_deviation() {
        assert_eq!(deviation(&[5.0]), None);
        assert_eq!(deviation(&[0.0, 0.0]), None);
    }
}
