//! The page: the agreement in a sentence, the cells side by side, those apart, and what makes the
//! differences.

use std::fmt::Write;

use super::agreement::{Both, Compared, Verdict};
use super::cell::CELLS;
use super::golden::{self, Recording, Transfer};
use super::lateness::{Late, Lateness};

/// The body of the page, as Markdown.
pub(super) fn page(recording: &Recording, compared: &[Compared]) -> String {
    let verdict = Verdict::of(compared);
    let says = if verdict.agrees() { "agrees" } else { "does not agree" };
    let seeds = || compared.iter().map(|one| one.pairs.len());
    let (fewest, most) = (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0));
    let seeds = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
    let seconds = recording.seconds;
    let mut page = format!(
        "The simulated TCP of Linux {says} with the kernel. {verdict}\n\n\
         Kernel {}, {seeds} seeds of {seconds} s per cell, means and 95 % intervals:\n\n",
        recording.kernel.split('-').next().unwrap_or_default()
    );
    table(&mut page, compared.iter().filter(|one| one.is_sound));
    let missing = CELLS as usize - compared.len();
    if missing > 0 {
        let _ = writeln!(page, "\n{missing} of the {CELLS} cells are not in the recording.");
    }
    if compared.iter().any(|one| !one.is_sound) {
        page.push_str(APART);
        table(&mut page, compared.iter().filter(|one| !one.is_sound));
    }
    page + &lateness(&recording.transfers)
}

fn table<'a>(page: &mut String, cells: impl Iterator<Item = &'a Compared>) {
    page.push_str(
        "| | flows | Mb/s | ms | queue, packets | loss | goodput, Mb/s: kernel | simulator | ratio | retransmissions: \
         kernel | simulator | ratio | drops: kernel | simulator | ratio | stall, ms |\n\
         |---|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for one in cells {
        let cell = &one.cell;
        let _ = writeln!(
            page,
            "| {} | {} {} | {:.2} | {} | {} {} | {} % | {} | {} | {} | {:.1} |",
            cell.number,
            cell.flows,
            cell.variant.name(),
            f64::from(cell.rate_kbps) / 1e3,
            cell.rtt_ms,
            cell.queue.name(),
            cell.queue_packets,
            cell.loss_percent,
            columns(&one.goodput(), 2),
            columns(&one.retransmissions(), 0),
            columns(&one.drops(), 0),
            one.host_stall_ms,
        );
    }
}

/// Kernel, simulator and the ratio.
fn columns(both: &Both, digits: usize) -> String {
    let value = |of: &losscause_study::statistics::Estimate| {
        let part = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
        };
        format!("{} ± {}", part(of.mean), part(of.ci95))
    };
    let ratio =
        both.deviation().map_or_else(|| "-".to_owned(), |share| format!("{:.3}", 1.0 + share));
    format!("{} | {} | {ratio}", value(&both.kernel), value(&both.simulated))
}

/// The emulator's lateness beside the machine's.
fn lateness(transfers: &[Transfer]) -> String {
    let median = |of: fn(&Lateness) -> f64| {
        let mut values: Vec<f64> =
            transfers.iter().map(|transfer| of(&transfer.lateness)).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let late = |of: fn(&Lateness) -> Late, p50: f64, p99: f64| {
        let worst =
            transfers.iter().map(|transfer| of(&transfer.lateness).p99_ms).fold(0.0, f64::max);
        format!("{p50:.3} ms | {p99:.3} ms | {worst:.3} ms |")
    };
    let emulator =
        late(|l| l.emulator, median(|l| l.emulator.p50_ms), median(|l| l.emulator.p99_ms));
    let machine = late(|l| l.machine, median(|l| l.machine.p50_ms), median(|l| l.machine.p99_ms));
    format!(
        "\n## Lateness\n\nThe emulator's packets beside a sleeping thread of the same priority, median of the \
         transfers:\n\n| | median | 99 % | 99 % of the worst transfer |\n|---|--:|--:|--:|\n| emulator | {emulator}\n| this \
         machine's own timers | {machine}\n\nThe transfers are in [{file}](../{file}).\n",
        file = golden::FILE,
    )
}

const APART: &str = "
## Cells apart

Three attempts in turn were late, or a host stood still for more than a quarter of the time in which the queue drains. A
host that stands still sends a burst afterwards, which can overflow the queue. These cells do not count:

";
