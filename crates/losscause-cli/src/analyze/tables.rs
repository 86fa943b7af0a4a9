//! The analysis of a capture for people: the answer, then its flows.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use losscause_capture::{Analysis, ENDS, Flow, Summary, quoted};
use losscause_study::tools::figures::count;
use losscause_study::tools::table::Table;

use crate::output;

/// Flows that are shown without `--verbose`.
const SHOWN: usize = 20;

/// Prints what was found in a capture.
///
/// `joined` are the captures of both ends, if it is of these; `scenario` is the file to which the
/// link of the largest TCP flow is written, if it is; `files` are those of the captures before.
pub(super) fn print(
    analysis: &Analysis,
    joined: [Option<&Path>; 2],
    scenario: Option<&Path>,
    files: &mut NewFiles,
    verbose: bool,
) -> io::Result<()> {
    output::paragraph(&format!("{}: {}", analysis.file, analysis.answer()))?;
    if let Some(alone) = analysis.told_alone() {
        output::paragraph(&alone)?;
    }
    let shown = if verbose { analysis.flows.len() } else { SHOWN.min(analysis.flows.len()) };
    let table = Table::new(Flow::HEADS).numbers(..1).numbers(4..8);
    output::print_table(&table.with_rows(analysis.flows[..shown].iter().map(Flow::cells)))?;
    let hidden = (analysis.flows.len() - shown) as u64 + analysis.unlisted_flows;
    if hidden > 0 {
        let more = output::plural(hidden, "more flow");
        output::line(&format!("… and {more}; --verbose and --format json show all"))?;
    }
    analysis.notes().iter().try_for_each(|note| output::paragraph(&format!("note: {note}")))?;
    let next = files.name(analysis.next(), scenario);
    if !next.is_empty() {
        let [own, sender, receiver] = [Some(Path::new(&analysis.file)), joined[0], joined[1]];
        let captures = [("FILE", own), (ENDS[0], sender), (ENDS[1], receiver)];
        let next: Vec<String> = next.iter().map(|command| with_names(command, captures)).collect();
        output::line(&format!("next: {}", next.join("\n      ")))?;
    }
    if verbose {
        for flow in &analysis.flows {
            details(flow)?;
        }
    }
    Ok(())
}

/// The files that commands shall write: none is there yet, and no two are the same.
#[derive(Default)]
pub(super) struct NewFiles(BTreeSet<String>);

impl NewFiles {
    /// The name as the shell takes it, with a number if it is taken.
    fn free(&mut self, wanted: &str) -> String {
        let bare = wanted.trim_matches('\'');
        let (stem, end) = bare.rsplit_once('.').unwrap_or((bare, ""));
        let names = [bare.to_owned()].into_iter().chain((2..).map(|k| format!("{stem}-{k}.{end}")));
        let mut free = names.filter(|name| !self.0.contains(name) && !Path::new(name).exists());
        let name = free.next().unwrap_or_default();
        self.0.insert(name.clone());
        quoted(&name)
    }

    /// The commands with names that are free; or with the scenario that is written, and without the
    /// one that would write it.
    fn name(&mut self, mut commands: Vec<String>, scenario: Option<&Path>) -> Vec<String> {
        const WRITES: &str = "losscause analyze FILE --scenario ";
        for option in [" --scenario ", " --annotate "] {
            let written = |command: &String| Some(command.split_once(option)?.1.to_owned());
            let wanted: Vec<String> = commands.iter().filter_map(written).collect();
            for wanted in wanted {
                let writes = format!("{WRITES}{wanted}");
                let name = match scenario.filter(|_| commands.contains(&writes)) {
                    Some(file) => {
                        commands.retain(|command| *command != writes);
                        quoted(&file.display().to_string())
                    }
                    None => self.free(&wanted),
                };
                let named =
                    |command: &String| command.replace(&format!(" {wanted}"), &format!(" {name}"));
                commands = commands.iter().map(named).collect();
            }
        }
        commands
    }
}

/// The command with the names of captures in the places of the words that stand for them, if they
/// are those of files.
fn with_names(command: &str, captures: [(&str, Option<&Path>); 3]) -> String {
    let mut named = command.to_owned();
    if command.starts_with("losscause analyze ") {
        for (word, file) in captures {
            if let Some(file) = file.filter(|file| file.is_file()) {
                named = named.replacen(word, &quoted(&file.display().to_string()), 1);
            }
        }
    }
    named
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
    fn the_help_explains_every_column_but_plain_words() {
        for head in Flow::HEADS {
            let is_plain = ["data from", "to", "packets"].contains(&head);
            assert!(is_plain || super::super::COLUMNS.contains(head), "{head}");
        }
    }

    #[test]
    fn the_next_commands_have_the_scenario_that_is_written() {
        let commands = [
            "losscause analyze FILE --scenario free.toml",
            "losscause compare free.toml --lda x",
            "tc",
        ]
        .map(str::to_owned)
        .to_vec();
        let mut files = NewFiles::default();
        assert_eq!(files.name(commands.clone(), None), commands, "there is no free.toml here");
        // That of another capture has its own.
        let second = files.name(commands.clone(), None);
        assert!(second[0].ends_with(" free-2.toml"), "{second:?}");
        assert_eq!(second[1], "losscause compare free-2.toml --lda x");
        let written = files.name(commands, Some(Path::new("my link")));
        assert_eq!(written, ["losscause compare 'my link' --lda x", "tc"]);
        // The scenario is of another flow.
        let of_flow =
            ["losscause analyze FILE --flow <sender of flow 2> --scenario a.toml".to_owned()];
        assert_eq!(files.name(of_flow.to_vec(), Some(Path::new("my.toml"))), of_flow);
    }

    #[test]
    fn no_command_writes_over_a_file() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("a b-marked.pcapng").display().to_string();
        let free = place.path().join("a b-marked-2.pcapng").display().to_string();
        std::fs::write(&file, "").unwrap();
        let commands = vec![format!("losscause analyze FILE --annotate '{file}'")];
        let named = NewFiles::default().name(commands, None);
        assert_eq!(named, [format!("losscause analyze FILE --annotate '{free}'")]);
    }

    #[test]
    fn the_next_command_has_the_names_of_the_captures() {
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let file = place.path().join(name);
            std::fs::write(&file, "").unwrap();
            file
        };
        let of_one = |command: &str, file: &Path| {
            with_names(command, [("FILE", Some(file)), ("", None), ("", None)])
        };
        let (plain, quote) = (file("a.pcap"), file("it's one.pcap"));
        let (verbose, folder) = ("losscause analyze FILE --verbose", place.path().display());
        assert_eq!(of_one(verbose, &plain), format!("losscause analyze {folder}/a.pcap --verbose"));
        let quoted = r"/it'\''s one.pcap' --verbose";
        assert_eq!(of_one(verbose, &quote), format!("losscause analyze '{folder}{quoted}"));
        let both = format!("losscause analyze --sender FILE --receiver {}", ENDS[1]);
        let one = format!("losscause analyze --sender {folder}/a.pcap --receiver {}", ENDS[1]);
        assert_eq!(of_one(&both, &plain), one);
        assert_eq!(of_one(verbose, Path::new("standard input")), verbose);
        let compare = "losscause compare FILE.toml --all";
        assert_eq!(of_one(compare, &plain), compare);
        let joined = [("FILE", None), (ENDS[0], Some(&*plain)), (ENDS[1], Some(&*quote))];
        let of_sender = format!("losscause analyze {} --annotate FILE", ENDS[0]);
        let named = with_names(&of_sender, joined);
        assert_eq!(named, format!("losscause analyze {folder}/a.pcap --annotate FILE"));
    }
}
