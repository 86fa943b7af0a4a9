//! Which base scheme of a hybrid algorithm was in force.

use losscause::Algorithm;
use losscause_sim::{FlowSpec, TcpLda, Traffic};

use super::{Metrics, State, measured, share};

/// `usage.X` of every base scheme, over all measured flows together, in alphabetic order.
pub(super) fn add(metrics: &mut Metrics, state: State<'_>) {
    let mut schemes: Vec<(&'static str, u64)> = Vec::new();
    for flow in measured(state.network()) {
        // A base scheme that was never in force has a share of zero.
        let never =
            base_schemes(&state.network().flows[flow.0 as usize]).iter().map(|base| (*base, 0));
        for (scheme, packets) in state.simulation.flow(flow).schemes.into_iter().chain(never) {
            match schemes.iter_mut().find(|(known, _)| *known == scheme) {
                Some((_, sum)) => *sum += packets,
                None => schemes.push((scheme, packets)),
            }
        }
    }
    schemes.sort_unstable();
    let all: u64 = schemes.iter().map(|(_, packets)| packets).sum();
    for (scheme, packets) in schemes {
        metrics.add(
            format!("usage.{scheme}"),
            "percent",
            share(packets, all).map(|share| share * 100.0),
        );
    }
}

/// The base schemes of the flow's algorithm, if it is a hybrid.
fn base_schemes(flow: &FlowSpec) -> &'static [&'static str] {
    match &flow.traffic {
        Traffic::Tfrc { lda, .. } | Traffic::Tcp { lda: TcpLda::Receiver { lda, .. }, .. } => {
            lda.schemes()
        }
        Traffic::Cbr { lda: Some(lda), .. }
        | Traffic::OnOff { lda: Some(lda), .. }
        | Traffic::Poisson { lda: Some(lda), .. } => lda.schemes(),
        _ => &[],
    }
}
