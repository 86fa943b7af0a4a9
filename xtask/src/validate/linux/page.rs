//! The page: the agreement in a sentence, the cells side by side, and what makes the differences.

use std::fmt::Write;

use super::agreement::{Both, Compared, Verdict};
use super::golden::{self, Recording, Transfer};
use super::lateness::{Late, Lateness};

/// Where it is.
pub(super) const FILE: &str = "docs/validation/linux.md";

/// The page, as Markdown.
pub(super) fn page(recording: &Recording, compared: &[Compared]) -> String {
    let verdict = Verdict::of(compared);
    let says = if verdict.agrees() { "agrees" } else { "does not agree" };
    let transfers = compared.first().map_or(0, |one| one.pairs.len());
    let seconds = recording.seconds;
    let mut page = format!(
        "# Against Linux\n\nThe simulated TCP of Linux {says} with the kernel. {verdict}\n\n{INTRODUCTION}\n\
         Kernel {}, {transfers} transfers of {seconds} s per cell, means and 95 % intervals:\n\n",
        recording.kernel
    );
    page.push_str(
        "| congestion control | rate, Mb/s | round trip, ms | loss | goodput, Mb/s: kernel | simulator | | \
         retransmissions: kernel | simulator | |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for one in compared {
        let cell = &one.cell;
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} % | {} | {} |",
            cell.variant.name(),
            cell.rate_mbps,
            cell.rtt_ms,
            cell.loss_percent,
            columns(&one.goodput(), 2),
            columns(&one.retransmissions(), 0),
        );
    }
    page + &lateness(&recording.transfers) + EXPLANATION
}

/// Kernel, simulator and the deviation.
fn columns(both: &Both, digits: usize) -> String {
    let value = |of: &losscause_study::statistics::Estimate| {
        let part = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
        };
        format!("{} ± {}", part(of.mean), part(of.ci95))
    };
    let deviation =
        both.deviation().map_or_else(|| "-".to_owned(), |share| format!("{:+.1} %", share * 100.0));
    format!("{} | {} | {deviation}", value(&both.kernel), value(&both.simulated))
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
        "\n## Lateness\n\nThe emulator delivers a packet when the machine has woken up its thread. Right after each \
         transfer, a thread of\nthe same real-time priority slept for the same spans. Late by, in the median of the \
         transfers:\n\n| | median | 99 % | 99 % of the worst transfer |\n|---|--:|--:|--:|\n| emulator | {emulator}\n| this \
         machine's own timers | {machine}\n\nA transfer counts if the emulator is less than 0.2 ms (median) and 1 ms (99 %) \
         later than the machine itself, else it is\nmade again. A TUN device that drops a packet by itself ends the run: \
         there was none.\n\nThe transfers are in [{name}]({name}).\n",
        name = golden::FILE.trim_start_matches("docs/validation/"),
    )
}

const INTRODUCTION: &str = "\
`cargo xtask validate linux`, as root, makes the same transfers with the kernel's TCP over the emulator
([emulate.md](../emulate.md)) and with `mode = \"linux\"` in the simulator. It writes this page and the recorded
transfers. `--recorded` compares the simulator with the recorded transfers and needs no root; `--short` is what CI runs.

Agreement means: mean goodput within 10 % in at least 90 % of the cells and within 25 % in all; mean retransmissions
within 25 %, or with overlapping 95 % intervals, in at least 90 % of the cells.

Both run `validation/linux/transfer.toml`: one transfer that always has data, over a link with a DropTail queue of one
bandwidth-delay product, and random losses behind the transmitter. The way back has the same rate and loses nothing.
The link's losses come from the same random stream of the same seed. Goodput is what the application received; the time
counts from the SYN.
";

const EXPLANATION: &str = "
## What makes the differences

- *CUBIC without loss.* The kernel's transfers fall into groups: at 10 Mb/s and 100 ms, some send 15 to 17 packets again, the
  others 232 to 242; at 40 ms, 9, 29, or 40 to 44. HyStart ends slow start early if a round trip or the spacing of ACKs
  grows by enough, and that hangs on fractions of a millisecond. The simulated link has no such noise, so all its transfers
  fall into one group. If its delay wanders by up to 0.1 ms, which is how late the emulator is, they fall into the same
  groups: 12 transfers with seeds 1 to 12 lost 16 packets (7 times), 54 (once) and 228 to 231 (4 times); at 40 ms 9 (9 times)
  and 30 or 31 (3 times). The scenario is `validation/linux/late.toml`.
- *Reno, 50 Mb/s, 100 ms, without loss.* All of these packets are lost at the end of the first slow start, in the kernel's
  transfers as in the simulator's. Why the kernel loses an eighth less there is not known.
";
