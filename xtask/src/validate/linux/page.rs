//! The page: the agreement in a sentence, the cells side by side, those apart, and what makes the
//! differences.

use std::fmt::Write;

use super::agreement::{Both, Compared, Verdict};
use super::cell::CELLS;
use super::golden::{self, Recording, Transfer};
use super::lateness::{Late, Lateness};

/// Where it is.
pub(super) const FILE: &str = "docs/validation/linux.md";

/// The page, as Markdown.
pub(super) fn page(recording: &Recording, compared: &[Compared]) -> String {
    let verdict = Verdict::of(compared);
    let says = if verdict.agrees() { "agrees" } else { "does not agree" };
    let seeds = || compared.iter().map(|one| one.pairs.len());
    let (fewest, most) = (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0));
    let seeds = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
    let seconds = recording.seconds;
    let mut page = format!(
        "# Against Linux\n\nThe simulated TCP of Linux {says} with the kernel. {verdict}\n\n{INTRODUCTION}\n\
         Kernel {}, {seeds} seeds of {seconds} s per cell, means and 95 % intervals:\n\n",
        recording.kernel
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
    page + &lateness(&recording.transfers) + EXPLANATION
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
        "\n## Lateness\n\nThe emulator delivers a packet when the machine has woken up its thread. Right after each \
         transfer, a thread of\nthe same real-time priority slept for the same spans. Late by, in the median of the \
         transfers:\n\n| | median | 99 % | 99 % of the worst transfer |\n|---|--:|--:|--:|\n| emulator | {emulator}\n| this \
         machine's own timers | {machine}\n\nA transfer counts if the emulator is less than 0.2 ms (median) and 1 ms (99 %) \
         later than the machine itself, else it is\nmade again. A TUN device that drops a packet by itself ends the run: \
         there was none.\n\nThe transfers are in [{name}]({name}).\n",
        name = golden::FILE.trim_start_matches("docs/validation/"),
    )
}

const APART: &str = "
## Cells apart

Three attempts in turn were late, or a host stood still for more than a quarter of the time in which the queue drains. A
host that stands still sends a burst afterwards, which can overflow the queue. These cells do not count:

";

const INTRODUCTION: &str = "\
`cargo xtask validate linux`, as root on a quiet machine, makes the same transfers with the kernel's TCP over the emulator
([emulate.md](../emulate.md)) and with `mode = \"linux\"` in the simulator. It takes an hour and writes this page and the
recorded transfers; a run that is interrupted goes on where it ended. `--cells 6` makes the first six cells, `--cell 17` one
of them. `--recorded` compares the simulator with the recorded transfers and needs no root; `--short` is what CI runs.

Agreement means: mean goodput within 5 % (bbr: 10 %) in at least 90 % of the cells and within 15 % in all; mean
retransmissions within 15 %, or with overlapping 95 % intervals, in at least 90 % of the cells.

Every cell is made with two seeds. While the 95 % interval of its ratio of goodput is wider than the bound (5 %; bbr: 10 %),
it is made with a further one, up to the eighth, wherever the ratio lies.

60 cells are drawn with seed 1: 20 each of reno, cubic and bbr; rates of 3 to 100 Mb/s, round trips of 10 to 250 ms and
queues of 0.25 to 4 bandwidth-delay products, all log-uniform; half of them DropTail, the others CoDel or FQ-CoDel; half
without loss, the others with 0.03 to 3 %, log-uniform; one flow or two, of which the second starts after 0.5 s.

Both run `validation/linux/transfer.toml`: transfers that always have data, over a link with random losses behind the
transmitter. The way back has the same rate and queue and loses nothing. The link's losses come from the same random stream
of the same seed. Goodput is what the applications received together; the time counts from the first SYN. The kernel has
its default settings, but its send buffer may grow to 64 MB instead of 4: the simulator has no limit there.
";

const EXPLANATION: &str = "
## What makes the differences

- *CUBIC without loss.* HyStart ends slow start early if a round trip or the spacing of ACKs grows by enough, and that hangs
  on fractions of a millisecond. So the kernel's transfers fall into groups with other numbers of drops. The simulated link
  has no such noise: all its transfers fall into one group. If its delay wanders by up to 0.1 ms, which is how late the
  emulator is, they fall into the kernel's groups. At 10 Mb/s, 100 ms and one bandwidth-delay product, the kernel sends 15
  to 17 packets again in some transfers and 232 to 242 in the others; of 12 simulated ones with seeds 1 to 12, 7 lost 16
  packets, one 54 and 4 lost 228 to 231. The scenario is `validation/linux/late.toml`.
- *Reno behind CoDel, cell 52.* Two groups again. Four of six transfers by the kernel have 33.4 to 33.8 Mb/s and 594 to 597
  drops, the others 46.4 and 50.3 Mb/s with 490 and 551. With a delay that wanders by up to 0.1 ms, 11 of 12 simulated
  transfers have 33.9 to 34.4 Mb/s and 588 to 608 drops, one 40.7 Mb/s and 94 drops.
- *Reno behind CoDel, cell 40.* Of 64 transfers by the kernel 52 have 35 to 37 Mb/s and 860 to 995 drops, 12 have 56 to
  57 Mb/s and 751 to 797. In those the receive window stayed at its first limit, 56 packets, for a round trip longer:
  0.36 s after the start it ended at packet 125 to 130, else at 162 to 189. So slow start was behind, and overshot less.
  If the receive buffer begins with 8 MB (`net.ipv4.tcp_rmem`), none of 23 transfers has fewer than 941 drops; a larger
  first send buffer changes nothing (3 of 13 had 757). The simulator has 36.2 Mb/s, also with a delay that wanders (20
  of 20). Why the kernel's window stays in some transfers is not known. A recording with one transfer of each kind is 22
  % off there, beyond what agreement allows; over all 64 the kernel's mean is 39.9 Mb/s, and the simulator's is 9 %
  below it.
- *A queue of a few packets, cell 58.* Reno's window fills the queue every 0.3 s, and one packet is dropped, or a second one a
  round trip later. Which of both hangs on a single ACK: the window grows once more if the round trip that follows the drop
  acknowledges as many packets as the window has. The kernel's receiver acknowledges packets with PSH at once, which the
  simulator does not model, so its ACKs count odd and even packets in turn. Drops within 8 s at 3.27 Mb/s and 11 ms without
  loss, kernel and simulator: 50 and 61 with a queue of 7 packets, 54 and 33 with 8, 38 and 56 with 9, 39 and 43 with 10. The
  sign changes, and goodput is the same. Segmentation offload is not the cause: without it (`gso_max_segs 1`) the second drop
  is there too.
- *Two flows with loss.* Both simulator and kernel lose the same packets only as long as both flows send in the same order.
  After that two seeds say little: the intervals are wide.
";
