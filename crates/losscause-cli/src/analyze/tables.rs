//! The analysis of a capture for people: the answer, then its flows.

use std::collections::BTreeSet;
use std::io;

use losscause::Verdict;
use losscause_capture::{Alone, Analysis, Flow, Summary, Tally};

use crate::output;

/// Flows that are shown without `--verbose`.
const SHOWN: usize = 20;

/// Prints what was found in a capture.
pub(super) fn print(analysis: &Analysis, verbose: bool) -> io::Result<()> {
    output::line(&answer(analysis))?;
    if let Some(alone) = alone(analysis) {
        output::line(&alone)?;
    }
    let mut table = output::table(
        &["flow", "data from", "to", "seen at", "packets", "losses", "wireless", "congestion", "undecided", "by"],
        &["flow", "packets", "losses", "wireless", "congestion", "undecided"],
    );
    let shown = if verbose { analysis.flows.len() } else { SHOWN.min(analysis.flows.len()) };
    for flow in &analysis.flows[..shown] {
        let Summary { wireless, congestion, undecided, .. } = recommended(flow);
        table.add_row([
            flow.id.to_string(),
            flow.src.clone(),
            flow.dst.clone(),
            flow.vantage.to_string(),
            flow.packets.to_string(),
            losses(flow).to_string(),
            wireless.to_string(),
            congestion.to_string(),
            undecided.to_string(),
            flow.recommended.clone().unwrap_or_else(|| "–".to_owned()),
        ]);
    }
    output::print_table(&table)?;
    let hidden = (analysis.flows.len() - shown) as u64 + analysis.unlisted_flows;
    if hidden > 0 {
        output::line(&format!("… and {hidden} more flows; --verbose and --format json show them"))?;
    }
    notes(analysis).iter().try_for_each(|note| output::line(note))?;
    if verbose {
        for flow in &analysis.flows {
            details(flow)?;
        }
    }
    Ok(())
}

/// One sentence that a colleague could repeat.
fn answer(analysis: &Analysis) -> String {
    let file = &analysis.file;
    let total: u64 = analysis.flows.iter().map(losses).sum();
    let flows = analysis.flows.len() as u64 + analysis.unlisted_flows;
    let flows = plural(flows, "flow");
    if total == 0 {
        return format!("{file}: no packet of {flows} was lost.");
    }
    let mut sum = Summary::default();
    for flow in &analysis.flows {
        let one = recommended(flow);
        sum.wireless += one.wireless;
        sum.congestion += one.congestion;
        sum.undecided += one.undecided;
    }
    let lost = format!("{file}: {} in {flows}.", plural(total, "lost packet"));
    let asked = asked(analysis);
    if asked.is_empty() {
        return format!("{lost} No algorithm can tell whether the air or a queue lost them.");
    }
    let Summary { wireless, congestion, undecided, .. } = sum;
    let told = wireless + congestion;
    let cause = if undecided * 10 >= total * 8 {
        "The capture does not show enough to tell the cause"
    } else if wireless * 10 >= told * 8 {
        "Most look like the air, not a queue"
    } else if congestion * 10 >= told * 8 {
        "Most look like a full queue, not the air"
    } else {
        "Some look like the air, some like a full queue"
    };
    let untold = if undecided == 0 { String::new() } else { format!(", and {undecided} cannot be told") };
    format!("{lost} {cause}: by {}, {wireless} are wireless and {congestion} congestion{untold}.", asked.join(" and "))
}

/// The algorithms that the answer rests on, in words.
fn asked(analysis: &Analysis) -> Vec<String> {
    let lossy = analysis.flows.iter().filter(|flow| losses(flow) > 0);
    let names: BTreeSet<&String> = lossy.filter_map(|flow| flow.recommended.as_ref()).collect();
    names.into_iter().map(|name| name.replace('@', " at the ")).collect()
}

/// Of two joined captures: what each of them tells alone.
fn alone(analysis: &Analysis) -> Option<String> {
    let both: Vec<&Alone> = analysis.flows.iter().filter_map(|flow| flow.alone.as_ref()).collect();
    let side = |tally: fn(&Alone) -> Tally| {
        let sum = |count: fn(&Tally) -> u64| both.iter().map(|alone| count(&tally(alone))).sum::<u64>();
        let (found, missed, others) = (sum(|tally| tally.found), sum(|tally| tally.missed), sum(|tally| tally.others));
        let others = if others == 0 { String::new() } else { format!(", and takes {others} others for losses") };
        format!("finds {found} and misses {missed}{others}")
    };
    let (sender, receiver) = (side(|alone| alone.sender), side(|alone| alone.receiver));
    let is_any = both.iter().any(|alone| [alone.sender, alone.receiver].iter().any(|tally| *tally != Tally::default()));
    let text = format!("Of these known losses, the sender's capture alone {sender}; the receiver's alone {receiver}.");
    is_any.then_some(text)
}

fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn losses(flow: &Flow) -> u64 {
    flow.losses.len() as u64 + flow.unlisted_losses
}

/// The verdicts of the algorithm to follow. Losses that no algorithm can judge are undecided.
fn recommended(flow: &Flow) -> Summary {
    let summary = flow.recommended.as_ref().and_then(|name| flow.summary.get(name)).copied();
    summary.unwrap_or_else(|| {
        let mut none = Summary::default();
        none.undecided = losses(flow);
        none
    })
}

/// What a reader must know to trust the numbers.
fn notes(analysis: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |count: u64, text: &str| {
        if count > 0 {
            notes.push(format!("note: {count} {text}"));
        }
    };
    note(analysis.fragments, "fragments of IP packets were left out");
    note(analysis.out_of_order_times, "packets have a time before that of the packet before them");
    note(analysis.cut_options, "TCP segments have options that the snap length cut: losses may be missing");
    let missed: u64 = analysis.flows.iter().map(|flow| flow.capture_drops).sum();
    note(missed, "packets were delivered but not captured");
    let offload = analysis.flows.iter().filter(|flow| flow.offload).count() as u64;
    note(offload, "flows have segments larger than packets (offload): they were counted as the packets they become");
    notes
}

/// Everything about a flow.
fn details(flow: &Flow) -> io::Result<()> {
    output::line(&format!("\nflow {}: {} to {}", flow.id, flow.src, flow.dst))?;
    let counts = [
        (flow.reordered, "reordered"),
        (flow.duplicates, "duplicates"),
        (flow.spurious, "retransmitted without need"),
        (flow.capture_drops, "not captured"),
        (flow.probes, "probes"),
        (flow.marked, "with a congestion mark"),
        (flow.batched, "handed up in batches"),
    ];
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if !counts.is_empty() {
        output::line(&format!("packets: {}", counts.join(", ")))?;
    }
    if losses(flow) == 0 {
        return Ok(());
    }
    let mut table =
        output::table(&["algorithm", "wireless", "congestion", "undecided"], &["wireless", "congestion", "undecided"]);
    for (name, Summary { wireless, congestion, undecided, .. }) in &flow.summary {
        table.add_row([name.clone(), wireless.to_string(), congestion.to_string(), undecided.to_string()]);
    }
    output::print_table(&table)?;
    for (name, reason) in &flow.not_applicable {
        output::line(&format!("{name}: not applicable, {reason}"))?;
    }
    let mut table = output::table(
        &["time s", "sequence number", "bytes", "found by", "verdict"],
        &["time s", "sequence number", "bytes"],
    );
    for loss in &flow.losses {
        let verdict = flow.recommended.as_ref().and_then(|name| loss.verdicts.of(name)).unwrap_or(Verdict::Undecided);
        table.add_row([
            format!("{:.6}", loss.time_s),
            loss.seq.to_string(),
            loss.bytes.to_string(),
            loss.evidence.to_string(),
            verdict.to_string(),
        ]);
    }
    output::print_table(&table)
}
