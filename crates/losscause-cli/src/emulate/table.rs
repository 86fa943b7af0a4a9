//! What the link did, as a table.

use losscause_linux::emulator::{DirectionSummary, Quantiles, Summary};
use losscause_study::tools::table::Table;

use crate::output;

/// The columns; all but the first are numbers.
const HEADER: [&str; 10] = [
    "",
    "packets",
    "delivered",
    "queue drops",
    "wireless losses",
    "on the way",
    "goodput Mb/s",
    "queueing p50 ms",
    "p95 ms",
    "p99 ms",
];

/// The table, and a sentence about the emulator's own accuracy.
pub(super) fn summary(summary: &Summary) -> String {
    let directions = summary.directions();
    let rows = directions.iter().map(|(name, direction)| row(name, direction));
    let table = Table::new(HEADER).numbers(1..).with_rows(rows);
    let mut text = format!("{}\n{}", output::drawn(&table, None), lateness(summary));
    if let Some(status) = summary.peer_exit_status.filter(|status| *status != 0) {
        text += &format!("\n--peer: the command ended with status {status}.");
    }
    let marked: u64 = summary.directions().iter().map(|(_, direction)| direction.marked).sum();
    if marked > 0 {
        text += &format!("\nQueues marked {} (ECN).", output::plural(marked, "packet"));
    }
    let not_ip: u64 = summary.directions().iter().map(|(_, direction)| direction.not_ip).sum();
    if not_ip > 0 {
        text += &format!("\nThe link dropped {} other than IP.", output::plural(not_ip, "frame"));
    }
    text
}

fn row(name: &str, direction: &DirectionSummary) -> Vec<String> {
    let DirectionSummary {
        packets,
        delivered,
        queue_drops,
        wireless_losses,
        in_flight,
        queueing_delay,
        ..
    } = direction;
    let counts = [packets, delivered, queue_drops, wireless_losses, in_flight].map(u64::to_string);
    let Quantiles { p50_ms, p95_ms, p99_ms, .. } = *queueing_delay;
    let delays = [p50_ms, p95_ms, p99_ms]
        .map(|ms| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1}")));
    let goodput = format!("{:.3}", direction.goodput_bps / 1e6);
    [name.to_owned()].into_iter().chain(counts).chain([goodput]).chain(delays).collect()
}

/// "10.2 s. The emulator was late by 0.012 ms (median), …".
fn lateness(summary: &Summary) -> String {
    let Quantiles { p50_ms: Some(p50), p99_ms: Some(p99), worst_ms: Some(worst), .. } =
        summary.lateness
    else {
        return "No packet was delivered.".to_owned();
    };
    let priority = if summary.real_time { "with" } else { "without" };
    format!(
        "{:.1} s. The emulator was late by {p50:.3} ms (median), {p99:.3} ms (99 %), {worst:.3} ms (worst), \
         {priority} real-time priority.\nThe hosts stalled for up to {:.3} ms (99 %: {:.3} ms).",
        summary.seconds, summary.host_stall_ms.greatest, summary.host_stall_ms.p99
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_without_packets_has_no_delays() {
        let none = Quantiles { count: 0, p50_ms: None, p95_ms: None, p99_ms: None, worst_ms: None };
        let direction = DirectionSummary {
            packets: 3,
            delivered: 0,
            queue_drops: 1,
            wireless_losses: 1,
            in_flight: 1,
            marked: 0,
            copies: 0,
            not_ip: 0,
            goodput_bps: 1_234_567.0,
            queueing_delay: none,
        };
        assert_eq!(
            row("back", &direction),
            ["back", "3", "0", "1", "1", "1", "1.235", "-", "-", "-"]
        );
    }
}
