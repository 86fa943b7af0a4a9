//! Warnings about the numbers of a run.

use losscause_sim::{Network, Simulation, Traffic};

use super::{group, measured};

/// For every group of measured TCP flows that the receivers' windows limited: how often.
pub(super) fn notes(network: &Network, simulation: &Simulation) -> Vec<String> {
    // Per group: its name, the window, ACKs that it limited, ACKs of new data.
    let mut groups: Vec<(&str, u32, u64, u64)> = Vec::new();
    for id in measured(network) {
        let spec = &network.flows[id.0 as usize];
        let (Traffic::Tcp { config, .. }, Some(stats)) = (&spec.traffic, simulation.flow(id).tcp) else { continue };
        let known = groups.iter_mut().find(|(known, ..)| *known == group(&spec.name));
        if let Some((.., limited, all)) = known {
            *limited += stats.window_limited_acks;
            *all += stats.new_acks;
        } else {
            groups.push((group(&spec.name), config.max_window_pkts, stats.window_limited_acks, stats.new_acks));
        }
    }
    let limited = groups.into_iter().filter(|(_, _, limited, _)| *limited > 0);
    let note = |(flow, window, limited, all): (&str, u32, u64, u64)| {
        format!(
            "{flow}: the receiver's window of {window} packets held the sender back at {:.1} % of its acknowledgements; a larger \
             tcp.max_window_pkts would let it send more",
            limited as f64 * 100.0 / all as f64
        )
    };
    limited.map(note).collect()
}
