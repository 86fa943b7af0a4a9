//! The commands that follow from a cause: what shows more of it, and what mends it.

use losscause::diagnosis::{Cause, PathRate, Unknown};

use crate::{Flow, FlowDiagnosis, Protocol, Vantage};

/// What stands for the captures of the two ends in commands, where it is not `FILE`.
pub const ENDS: [&str; 2] = ["<capture of the sender>", "<capture of the receiver>"];
/// A capture that shows all that one end has.
const AT_SENDER: &str = "tcpdump -i <interface of the sender> -s 128 -w sender.pcap";

/// The files that the commands of a flow write, and which flow it is.
pub(crate) struct Names {
    /// As a shell takes them.
    scenario: String,
    marked: String,
    /// The option that chooses the flow.
    chosen: String,
}

impl Names {
    /// For a flow of the capture `file`, in the working folder; `is_largest` if no other TCP flow of
    /// it carried more.
    pub(crate) fn of(file: &str, flow: &Flow, is_largest: bool) -> Self {
        let stem = stem(file);
        let id = flow.id;
        let (of_flow, chosen) = match is_largest {
            true => (String::new(), String::new()),
            false => (format!("-flow-{id}"), format!(" --flow {}", sender_of(id))),
        };
        Self {
            scenario: quoted(&format!("{stem}{of_flow}.toml")),
            marked: quoted(&format!("{stem}-marked.pcapng")),
            chosen,
        }
    }
}

/// What stands for a flow's end that no other flow has.
pub(crate) fn sender_of(id: u64) -> String {
    format!("<sender of flow {id}>")
}

/// A capture's name without folders and endings; "link" if it is not that of a file.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_packed = |name: &&str| [".gz", ".xz", ".zst"].iter().any(|end| name.ends_with(end));
    let bare = Some(name).filter(is_packed).and_then(|name| name.rsplit_once('.'));
    match bare.map_or(name, |(bare, _)| bare).rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => "link",
    }
}

/// A file's name as a shell takes it.
pub fn quoted(file: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:".contains(c);
    if file.chars().all(is_plain) && !file.starts_with('-') {
        return file.to_owned();
    }
    format!("'{}'", file.replace('\'', r"'\''"))
}

/// The commands to run next, in their order: what changes something is the last. `FILE` stands for
/// the capture, words in angle brackets for what the reader knows.
pub(crate) fn commands(
    flow: &Flow,
    cause: Cause,
    path: Option<PathRate>,
    names: &Names,
) -> Vec<String> {
    if let Cause::NotShown(unknown) = cause {
        return vec![settling(flow, unknown)];
    }
    let mut commands = Vec::new();
    let shaped = cause.shaped_bps(path);
    match compared(flow, cause, path, shaped) {
        Some(compared) => {
            let Names { scenario, chosen, .. } = names;
            commands.push(format!("losscause analyze FILE{chosen} --scenario {scenario}"));
            commands.push(format!("losscause compare {scenario} {compared}"));
        }
        // A log of an endpoint is no capture.
        None if flow.protocol == Protocol::Quic => {
            commands.push("losscause analyze FILE --verbose".to_owned());
        }
        None => {
            commands.push(format!("losscause analyze FILE --annotate {}", names.marked));
            let is_elsewhere = flow.protocol == Protocol::Tcp && flow.vantage != Vantage::Sender;
            commands.extend((cause == Cause::Air && is_elsewhere).then(|| AT_SENDER.to_owned()));
        }
    }
    commands.extend(shaped.map(|bps| {
        format!(
            "tc qdisc replace dev <interface> root cake bandwidth {}kbit   # all traffic of the interface; undo: tc qdisc del dev \
             <interface> root",
            bps / 1_000
        )
    }));
    commands
}

/// A flow's cause where the captures of both ends are there: the losses one by one are what is left
/// to look at.
pub(crate) fn in_both(told: FlowDiagnosis) -> FlowDiagnosis {
    let asks_for_both = both(told.vantage);
    let own = ENDS[usize::from(told.vantage == Vantage::Receiver)];
    let next = told.next.into_iter().map(|command| match command == asks_for_both {
        true => format!("{} --report report.html", both(Vantage::Both)),
        false => command.replacen("analyze FILE", &format!("analyze {own}"), 1),
    });
    FlowDiagnosis { next: next.collect(), vantage: Vantage::Both, ..told }
}

/// Joins the capture with that of the other end.
fn both(vantage: Vantage) -> String {
    let [sender, receiver] = match vantage {
        Vantage::Sender => ["FILE", ENDS[1]],
        Vantage::Receiver => [ENDS[0], "FILE"],
        _ => ENDS,
    };
    format!("losscause analyze --sender {sender} --receiver {receiver}")
}

/// What to compare on the fitted link; none if its scenario does not have the cause.
fn compared(
    flow: &Flow,
    cause: Cause,
    path: Option<PathRate>,
    shaped: Option<u64>,
) -> Option<String> {
    let fit = flow.fitted().ok()?;
    let has_queue = fit.full_ms.is_some();
    Some(match cause {
        Cause::Policer { .. } => {
            format!(
                "--variant 'shaped: rate_bps={}; link.link.queue={{ kind = \"fq-codel\" }}'",
                shaped?
            )
        }
        Cause::FullQueue if has_queue => {
            let managed = "--variant 'fq_codel: link.link.queue={ kind = \"fq-codel\" }'";
            // Where no shaper can stand in front of the queue, the sender can keep it short.
            let sender = if shaped.is_none() { " --variant 'bbr: tcp.variant=bbr'" } else { "" };
            format!("{managed}{sender}")
        }
        Cause::ManagedQueue if has_queue => {
            let path = path.filter(PathRate::is_steady)?;
            let packets = round_trip_pkts(&path);
            format!("--variant 'a round trip: queue_packets={packets}'")
        }
        Cause::Air if 2 * fit.queue_losses < fit.judged_losses => "--all".to_owned(),
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
        Unknown::TooFew | Unknown::NotObserved | Unknown::NoPlace | Unknown::Mixed => {
            AT_SENDER.to_owned()
        }
        Unknown::CutOptions => "tcpdump -i <interface> -s 128 -w whole.pcap".to_owned(),
        _ if flow.protocol == Protocol::Quic => "losscause analyze FILE --verbose".to_owned(),
        _ => both(flow.vantage),
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

    #[test]
    fn files_are_named_after_the_capture() {
        let named = [
            ("caps/server-slow.pcap", "server-slow"),
            ("sender.pcap.gz", "sender"),
            ("up.2026-11-29.pcapng", "up.2026-11-29"),
            (r"C:\caps\a b.pcap.zst", "a b"),
            ("standard input", "link"),
            ("eth0", "link"),
            (".pcap", "link"),
        ];
        assert_eq!(named.map(|(file, _)| stem(file)), named.map(|(_, stem)| stem));
        assert_eq!([quoted("a.toml"), quoted("it's")], ["a.toml", r"'it'\''s'"]);
    }
}
