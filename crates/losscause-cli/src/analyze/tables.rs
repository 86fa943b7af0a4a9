//! The analysis of a capture for people: the answer, then its flows.

use std::io;
use std::path::Path;

use losscause_capture::{Analysis, Flow, Summary};
use losscause_study::tools::figures::count;
use losscause_study::tools::table::Table;

use crate::output;

/// Flows that are shown without `--verbose`.
const SHOWN: usize = 20;

/// Prints what was found in a capture.
///
/// `scenario` is the file to which the link of the largest TCP flow is written, if it is.
pub(super) fn print(analysis: &Analysis, scenario: Option<&Path>, verbose: bool) -> io::Result<()> {
    output::paragraph(&format!("{}: {}", analysis.file, analysis.answer()))?;
    if let Some(alone) = analysis.told_alone() {
        output::paragraph(&alone)?;
    }
    let shown = if verbose { analysis.flows.len() } else { SHOWN.min(analysis.flows.len()) };
    let table = Table::new(Flow::HEADS).numbers(..1).numbers(4..11);
    output::print_table(&table.with_rows(analysis.flows[..shown].iter().map(Flow::cells)))?;
    let hidden = (analysis.flows.len() - shown) as u64 + analysis.unlisted_flows;
    if hidden > 0 {
        let more = output::plural(hidden, "more flow");
        output::line(&format!("… and {more}; --verbose and --format json show all"))?;
    }
    analysis.notes().iter().try_for_each(|note| output::paragraph(&format!("note: {note}")))?;
    let next = with_scenario(analysis.next(), scenario);
    if !next.is_empty() {
        let next: Vec<String> =
            next.iter().map(|command| with_name(command, &analysis.file)).collect();
        output::line(&format!("next: {}", next.join("\n      ")))?;
    }
    if verbose {
        for flow in &analysis.flows {
            details(flow)?;
        }
    }
    Ok(())
}

/// The file of a scenario in the commands of a diagnosis.
const LINK: &str = "link.toml";

/// The commands with the scenario that is written, and without the one that would write it; or with
/// a file that is not there yet.
fn with_scenario(commands: &[String], scenario: Option<&Path>) -> Vec<String> {
    let writes = format!("losscause analyze FILE --scenario {LINK}");
    let is_written = scenario.is_some() && commands.contains(&writes);
    let free = || {
        let mut names =
            [LINK.to_owned()].into_iter().chain((2..).map(|k| format!("link-{k}.toml")));
        names.find(|name| !Path::new(name).exists())
    };
    let written = scenario.filter(|_| is_written).map(|file| quoted(&file.display().to_string()));
    let name = written.or_else(free).unwrap_or_default();
    let left = commands.iter().filter(|command| !is_written || **command != writes);
    left.map(|command| command.replace(LINK, &name)).collect()
}

/// The command with the capture's name in the place of FILE, if it is that of a file.
fn with_name(command: &str, file: &str) -> String {
    const ANALYZE: &str = "losscause analyze ";
    match command.strip_prefix(ANALYZE).and_then(|rest| rest.strip_prefix("FILE")) {
        Some(rest) if Path::new(file).is_file() => format!("{ANALYZE}{}{rest}", quoted(file)),
        _ => command.to_owned(),
    }
}

/// A file's name as a shell takes it.
fn quoted(file: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:".contains(c);
    if file.chars().all(is_plain) && !file.starts_with('-') {
        return file.to_owned();
    }
    format!("'{}'", file.replace('\'', r"'\''"))
}

/// Everything about a flow.
fn details(flow: &Flow) -> io::Result<()> {
    output::line(&format!("\nflow {}: {} to {}", flow.id, flow.src_told(), flow.dst_told()))?;
    let counts = flow.counts_told();
    if !counts.is_empty() {
        output::line(&format!("packets: {}", counts.join(", ")))?;
    }
    if let Some(pace) = flow.pace {
        output::line(&format!("pace: {}", pace.told()))?;
    }
    if let Some(cost) = flow.diagnosis.as_ref().and_then(|told| told.cost) {
        output::line(&format!("goodput: {}", cost.told()))?;
    }
    let Some(evidence) = flow.evidence() else { return Ok(()) };
    output::line(&evidence)?;
    let mut table = Table::new(["algorithm", "wireless", "congestion", "undecided"]).numbers(1..);
    for (name, Summary { wireless, congestion, undecided, .. }) in &flow.summary {
        let counts = [wireless, congestion, undecided].map(u64::to_string);
        table.row([name.clone()].into_iter().chain(counts));
    }
    output::print_table(&table)?;
    for (name, reason) in &flow.not_applicable {
        output::line(&format!("{name}: not applicable, {reason}"))?;
    }
    // Of two joined captures both have frames.
    let is_joined = flow.losses.iter().any(|loss| loss.frame_at_receiver.is_some());
    let mut heads =
        vec!["frame", "again", "time s", "UTC", "sequence number", "bytes", "found by", "verdict"];
    if is_joined {
        heads.insert(2, "at receiver");
    }
    let utc = heads.len() - 5;
    let mut table = Table::new(heads).numbers(..utc).numbers(utc + 1..utc + 3);
    for loss in &flow.losses {
        let mut row = vec![
            count(loss.frame),
            count(loss.frame_again),
            format!("{:.6}", loss.time_s),
            loss.time_utc.map_or_else(|| count(None), |time| time.to_string()),
            loss.seq.to_string(),
            loss.bytes.to_string(),
            loss.evidence.to_string(),
            flow.verdict(loss).to_string(),
        ];
        if is_joined {
            row.insert(2, count(loss.frame_at_receiver));
        }
        table.row(row);
    }
    output::print_table(&table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_commands_have_the_scenario_that_is_written() {
        let commands = [
            "tc",
            "losscause analyze FILE --scenario link.toml",
            "losscause compare link.toml --lda x",
        ]
        .map(str::to_owned);
        assert_eq!(with_scenario(&commands, None), commands, "there is no link.toml here");
        let written = with_scenario(&commands, Some(Path::new("my link")));
        assert_eq!(written, ["tc", "losscause compare 'my link' --lda x"]);
        // The scenario is of another flow.
        let of_flow =
            ["losscause analyze FILE --flow <sender of flow 2> --scenario link.toml".to_owned()];
        assert_eq!(with_scenario(&of_flow, Some(Path::new("my.toml"))), of_flow);
    }

    #[test]
    fn the_next_command_has_the_name_of_the_capture() {
        let place = tempfile::tempdir().unwrap();
        let named = |name: &str| {
            let file = place.path().join(name);
            std::fs::write(&file, "").unwrap();
            with_name("losscause analyze FILE --verbose", &file.display().to_string())
        };
        let folder = place.path().display();
        assert_eq!(named("a.pcap"), format!("losscause analyze {folder}/a.pcap --verbose"));
        let quoted = r"/it'\''s one.pcap' --verbose";
        assert_eq!(named("it's one.pcap"), format!("losscause analyze '{folder}{quoted}"));
        let both = "losscause analyze --sender FILE --receiver FILE";
        assert_eq!(with_name(both, &place.path().join("a.pcap").display().to_string()), both);
        let piped = "losscause analyze FILE --verbose";
        assert_eq!(with_name(piped, "standard input"), piped);
    }
}
