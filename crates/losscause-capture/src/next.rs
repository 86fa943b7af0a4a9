//! The commands that follow from a cause: what mends it, and what shows more of it.

use losscause::diagnosis::{Cause, PathRate, Unknown};
use losscause::lda::BuiltIn;

use crate::{Flow, FlowDiagnosis, Protocol};

/// The captures of both ends, joined.
const BOTH: &str = "losscause analyze --sender FILE --receiver FILE";

/// The commands to run next, in their order. `FILE` stands for the capture, words in angle brackets
/// for what the reader knows; `is_largest` if no other TCP flow of the capture carried more.
pub(crate) fn commands(
    flow: &Flow,
    cause: Cause,
    path: Option<PathRate>,
    is_largest: bool,
) -> Vec<String> {
    if let Cause::NotShown(unknown) = cause {
        return vec![settling(flow, unknown)];
    }
    let mut commands = Vec::new();
    let shaped = cause.shaped_bps(path);
    if let Some(bps) = shaped {
        commands.push(format!(
            "tc qdisc replace dev <interface> root cake bandwidth {}kbit",
            bps / 1_000
        ));
    }
    match compared(flow, cause, path, shaped) {
        Some(compared) => {
            let chosen = if is_largest {
                String::new()
            } else {
                format!(" --flow <sender of flow {}>", flow.id)
            };
            commands.push(format!("losscause analyze FILE{chosen} --scenario link.toml"));
            commands.push(format!("losscause compare link.toml {compared}"));
        }
        // A log of an endpoint is no capture.
        None if flow.protocol == Protocol::Quic => {
            commands.push("losscause analyze FILE --verbose".to_owned());
        }
        None => commands.push("losscause analyze FILE --annotate marked.pcapng".to_owned()),
    }
    commands
}

/// A flow's cause where the captures of both ends are there: the losses one by one are what is left
/// to look at.
pub(crate) fn in_both(told: FlowDiagnosis) -> FlowDiagnosis {
    let next = told.next.into_iter().map(|command| match command.as_str() {
        BOTH => format!("{BOTH} --report report.html"),
        _ => command,
    });
    FlowDiagnosis { next: next.collect(), is_of_both: true, ..told }
}

/// What to compare on the fitted link; none if its scenario does not have the cause.
fn compared(
    flow: &Flow,
    cause: Cause,
    path: Option<PathRate>,
    shaped: Option<u64>,
) -> Option<String> {
    let has_queue = flow.fitted().ok()?.full_ms.is_some();
    Some(match cause {
        Cause::Policer { .. } => {
            format!(
                "--variant 'shaped: rate_bps={}; link.link.queue={{ kind = \"fq-codel\" }}'",
                shaped?
            )
        }
        Cause::FullQueue if has_queue => {
            "--variant 'fq_codel: link.link.queue={ kind = \"fq-codel\" }'".to_owned()
        }
        Cause::ManagedQueue if has_queue => {
            let path = path.filter(PathRate::is_steady)?;
            let packets = round_trip_pkts(&path);
            format!("--variant 'a round trip: queue_packets={packets}'")
        }
        Cause::Air if !has_queue => format!("--lda none,{}", BuiltIn::RECOMMENDED.info().name),
        _ => return None,
    })
}

/// What a queue of a round trip holds, full packets of Ethernet.
fn round_trip_pkts(path: &PathRate) -> f64 {
    (path.round_trip_bytes() / 1_500.0).ceil()
}

/// The command whose capture would settle what this one does not show.
fn settling(flow: &Flow, unknown: Unknown) -> String {
    match unknown {
        Unknown::TooFew | Unknown::NotObserved | Unknown::NoPlace => {
            "tcpdump -i <interface of the sender> -s 128 -w sender.pcap".to_owned()
        }
        _ if flow.protocol == Protocol::Quic => "losscause analyze FILE --verbose".to_owned(),
        _ => BOTH.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;

    use super::*;

    #[test]
    fn a_queue_of_a_round_trip_is_counted_in_full_packets() {
        let pkts = |rate_bps| {
            let round_trip = Span::from_millis(40);
            round_trip_pkts(&PathRate { rate_bps, least_bps: rate_bps, round_trip })
        };
        // 12 Mb/s for 40 ms are 60,000 bytes.
        assert_eq!((pkts(12_000_000), pkts(12_100_000)), (40.0, 41.0));
    }
}
