//! What a watch knows, for people: the answer first, then connections and destinations.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use clap::ValueEnum;
use losscause::diagnosis::{Cause, Certainty, Unknown};
use losscause_linux::kernel::Algorithm;
use losscause_linux::watch::{PrefixReport, Report, Snapshot};
use losscause_study::tools::table::Table;

use crate::output;

/// What connections are sorted by, the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Sort {
    /// Lost packets.
    #[default]
    Lost,
    /// The share of packets that were lost.
    Share,
    /// Data that arrive.
    Goodput,
    /// The round trip.
    Rtt,
    /// The delay in queues.
    Queueing,
}

/// The whole text.
pub(super) fn text(
    snapshot: &Snapshot,
    sort: Sort,
    most: usize,
    table_text: impl Fn(&Table) -> String,
) -> String {
    let mut connections: Vec<&Report> = snapshot.connections.iter().collect();
    connections.sort_by(|one, other| sort.compare(other, one).then(one.socket.cmp(&other.socket)));
    let mut lines = vec![answer(&connections)];
    if snapshot.unseen_records > 0 {
        lines.push(format!(
            "warning: {} records were dropped, so that losses are missing",
            snapshot.unseen_records
        ));
    }
    if connections.is_empty() {
        return lines.join("\n");
    }
    lines.push(table_text(&connection_table(&connections[..connections.len().min(most)])));
    if connections.len() > most {
        lines.push(format!("{} more connections: --most", connections.len() - most));
    }
    let of_any = || connections.iter().find_map(|one| reason(one));
    lines.extend(connections.iter().find_map(|one| advice(one)).or_else(of_any));
    let mut prefixes: Vec<&PrefixReport> = snapshot.prefixes.iter().collect();
    let lost = |prefix: &PrefixReport| prefix.lost_pkts.values().sum::<u64>();
    prefixes.sort_by_key(|prefix| (std::cmp::Reverse(lost(prefix)), prefix.prefix));
    lines.push(table_text(&prefix_table(&prefixes[..prefixes.len().min(most)])));
    if prefixes.len() > most {
        lines.push(format!("{} more destinations: --most", prefixes.len() - most));
    }
    lines.join("\n")
}

/// "2 of 3 connections lost packets: 1 by a full queue, 1 not shown".
fn answer(connections: &[&Report]) -> String {
    let lossy: Vec<&&Report> = connections.iter().filter(|one| one.lost_pkts > 0).collect();
    match (connections.len(), lossy.len()) {
        (0, _) => return "No connection has sent anything yet.".to_owned(),
        (1, 0) => return "The only connection lost no packet.".to_owned(),
        (all, 0) => return format!("None of {all} connections lost a packet."),
        _ => {}
    }
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &lossy {
        *causes.entry(cause(one)).or_default() += 1;
    }
    let mut causes: Vec<(&str, usize)> = causes.into_iter().collect();
    causes.sort_by_key(|(cause, count)| (std::cmp::Reverse(*count), *cause));
    let causes: Vec<String> =
        causes.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    format!(
        "{} of {} lost packets: {}.",
        lossy.len(),
        output::plural(connections.len() as u64, "connection"),
        causes.join(", ")
    )
}

/// Of a connection whose losses have a cause: what to do about it.
fn advice(report: &Report) -> Option<String> {
    let told = report.diagnosis.as_ref();
    let told = told.filter(|told| told.diagnosis.certainty > Certainty::CannotTell)?;
    let cost = told.cost.map(|cost| format!(" Cost: {}.", cost.told())).unwrap_or_default();
    Some(format!(
        "{} > {}: {}. {}.{cost}",
        report.local,
        report.remote,
        told.diagnosis,
        told.advice()
    ))
}

/// Of a connection whose losses have no cause: why, and what tells more.
fn reason(report: &Report) -> Option<String> {
    let Report { local, remote, control, .. } = report;
    let diagnosis = &report.diagnosis.as_ref()?.diagnosis;
    let more = match diagnosis.cause {
        Cause::NotShown(Unknown::TooFew) => " A longer watch may tell.",
        Cause::NotShown(Unknown::BehindQueue | Unknown::QueueOrAir | Unknown::PolicerOrAir) => {
            " A longer watch, or a capture (losscause analyze), may tell."
        }
        _ => "",
    };
    let judged = match Algorithm::find(control) {
        Ok(_) => format!(" What {control} took each loss for: losscause kernel status {control}."),
        Err(_) => String::new(),
    };
    Some(format!("{local} > {remote}: {diagnosis}.{more}{judged}"))
}

/// A cause in a few words.
fn cause(report: &Report) -> &'static str {
    match report.diagnosis.as_ref().map(|told| told.diagnosis.cause) {
        Some(Cause::FullQueue) => "full queue",
        Some(Cause::ManagedQueue) => "short queue",
        Some(Cause::Policer { .. }) => "policer",
        Some(Cause::Air) => "the air",
        Some(Cause::Outage) => "outage",
        Some(Cause::NotLost) => "not lost",
        _ => "not shown",
    }
}

const CONNECTIONS: [&str; 9] =
    ["connection", "process", "control", "Mb/s", "RTT ms", "queue ms", "lost", "%", "why"];

fn connection_table(connections: &[&Report]) -> Table {
    let mut table = Table::new(CONNECTIONS).numbers(3..8);
    for one in connections {
        let process = one.process.as_ref().map_or_else(String::new, |of| of.name.clone());
        let closed = if one.is_closed { " (closed)" } else { "" };
        table.row([
            format!("{} > {}{closed}", one.local, one.remote),
            process,
            one.control.clone(),
            format!("{:.2}", one.goodput_bps / 1e6),
            millis(one.rtt_ms),
            millis(one.queueing_ms),
            one.lost_pkts.to_string(),
            format!("{:.2}", 100.0 * share(one)),
            why(one),
        ]);
    }
    table
}

/// "full queue, clear", or "not shown: too few losses".
fn why(report: &Report) -> String {
    let Some(told) = &report.diagnosis else { return String::new() };
    let Cause::NotShown(unknown) = told.diagnosis.cause else {
        return format!("{}, {}", cause(report), told.diagnosis.certainty.name());
    };
    let reason = match unknown {
        Unknown::NoDelays => "no delays",
        Unknown::TooFew => "too few losses",
        Unknown::OnlyTimers => "only timers",
        Unknown::BehindQueue => "a queue may hide the air",
        Unknown::QueueOrAir => "a queue or the air",
        Unknown::PolicerOrAir => "a policer or the air",
        other => &other.to_string(),
    };
    format!("not shown: {reason}")
}

const PREFIXES: [&str; 5] = ["destination", "open", "Mb/s", "least RTT ms", "lost, by cause"];

fn prefix_table(prefixes: &[&PrefixReport]) -> Table {
    let mut table = Table::new(PREFIXES).numbers(1..4);
    for one in prefixes {
        let lost: Vec<String> =
            one.lost_pkts.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
        table.row([
            one.prefix.to_string(),
            one.connections.to_string(),
            format!("{:.2}", one.goodput_bps / 1e6),
            millis(one.rtt_ms),
            lost.join(", "),
        ]);
    }
    table
}

fn millis(ms: Option<f64>) -> String {
    ms.map_or_else(String::new, |ms| format!("{ms:.1}"))
}

/// Lost packets of those that were sent, from 0 to 1.
fn share(report: &Report) -> f64 {
    report.lost_pkts as f64 / report.sent_pkts.max(1) as f64
}

impl Sort {
    /// The one after this.
    pub(super) fn next(self) -> Self {
        let all = Self::value_variants();
        let place = all.iter().position(|one| *one == self).unwrap_or(0);
        all[(place + 1) % all.len()]
    }

    /// As an argument has it.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn compare(self, one: &Report, other: &Report) -> Ordering {
        let of = |report: &Report| match self {
            Self::Lost => report.lost_pkts as f64,
            Self::Share => share(report),
            Self::Goodput => report.goodput_bps,
            Self::Rtt => report.rtt_ms.unwrap_or(-1.0),
            Self::Queueing => report.queueing_ms.unwrap_or(-1.0),
        };
        of(one).total_cmp(&of(other))
    }
}

#[cfg(test)]
mod tests {
    use losscause::Span;
    use losscause::diagnosis::{Diagnosis, Finding};

    use super::super::sample;
    use super::*;

    fn shown(snapshot: &Snapshot, sort: Sort, most: usize) -> String {
        text(snapshot, sort, most, |table| output::fitted(table, None))
    }

    #[test]
    fn the_help_explains_every_column_but_plain_words() {
        let is_plain =
            |head: &&str| ["connection", "process", "destination", "open"].contains(head);
        for head in CONNECTIONS.iter().chain(&PREFIXES).filter(|head| !is_plain(head)) {
            let word = head.split(',').next().unwrap();
            assert!(super::super::COLUMNS.contains(word), "{head}");
        }
    }

    #[test]
    fn the_answer_comes_first_then_connections_advice_and_destinations() {
        let text = shown(&sample::snapshot(), Sort::Lost, 20);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let expected = include_str!("table.txt");
        assert_eq!(lines, expected.lines().collect::<Vec<_>>(), "\n{text}");
    }

    #[test]
    fn connections_are_sorted_by_what_is_asked_for_and_cut() {
        let snapshot = sample::snapshot();
        let first = |sort| {
            let text = shown(&snapshot, sort, 1);
            assert!(text.contains("2 more connections: --most"), "{text}");
            assert!(text.contains("1 more destinations: --most"), "{text}");
            text.lines().nth(4).unwrap_or_default().trim().to_owned()
        };
        assert!(first(Sort::Lost).starts_with("192.0.2.1:443 > 198.51.100.7:50000"));
        assert!(first(Sort::Goodput).starts_with("[2001:db8::1]:443 >"));
        assert!(first(Sort::Rtt).starts_with("192.0.2.1:443 > 198.51.100.7:50000"));
    }

    #[test]
    fn where_no_cause_is_shown_the_reason_is() {
        let mut snapshot = sample::snapshot();
        snapshot.connections.retain(|report| report.remote.port() == 50_001);
        let standing = Finding::Queued(60, 71, Span::from_millis(9));
        let hidden = Diagnosis::not_shown(Unknown::BehindQueue, [Some(standing), None]);
        let report = &mut snapshot.connections[0];
        report.control = "lc_cubic_sift".to_owned();
        report.diagnosis.as_mut().unwrap().diagnosis = hidden;
        let text = shown(&snapshot, Sort::Lost, 20);
        assert!(text.contains("  not shown: a queue may hide the air"), "{text}");
        let reason = "Cannot tell why: a queue stood at most losses, and losses of the air may hide behind it (a queue stood before 60 of 71 rounds of losses, median 9.0 ms). A longer watch, or a capture (losscause analyze), may tell. What lc_cubic_sift took each loss for: losscause kernel status lc_cubic_sift.\n";
        assert!(text.contains(reason), "{text}");
        let few = Diagnosis::not_shown(Unknown::TooFew, [None; 2]);
        let report = &mut snapshot.connections[0];
        report.diagnosis.as_mut().unwrap().diagnosis = few;
        let text = shown(&snapshot, Sort::Lost, 20);
        let reason = ": Cannot tell why: the losses are too few. A longer watch may tell. What ";
        assert!(text.contains(reason), "{text}");
    }

    #[test]
    fn nothing_seen_and_nothing_lost_are_sentences() {
        let mut snapshot = sample::snapshot();
        snapshot.connections.retain(|report| report.lost_pkts == 0);
        let text = shown(&snapshot, Sort::Lost, 20);
        assert!(text.starts_with("The only connection lost no packet.\n"), "{text}");
        snapshot.connections.clear();
        snapshot.unseen_records = 7;
        assert_eq!(
            shown(&snapshot, Sort::Lost, 20),
            "No connection has sent anything yet.\nwarning: 7 records were dropped, so that losses are missing"
        );
    }
}
