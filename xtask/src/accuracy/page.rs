//! results/capture-accuracy.md.

use std::collections::BTreeSet;
use std::fmt::Write;

use losscause_capture::judge::trust::Table;
use losscause_study::statistics::Estimate;

use super::matching::{Errors, Judged, Kind, Tally};
use super::{Outcome, Results, VANTAGES, Vantage, sections};

/// The body of the page of these results.
pub(super) fn page(results: &Results, table: &Table) -> String {
    let Results { runs, outcomes, agreements, classes } = results;
    let mut page = format!(
        "Every case is simulated with seeds 1 to {runs} and captured at the senders and at the receivers. What `losscause\n\
         analyze` finds in each capture is compared with the true cause of every drop.\n\n",
    );
    cases(&mut page, outcomes);
    detection(&mut page, outcomes);
    sections::recommended(&mut page, outcomes, table);
    sections::servers(&mut page, outcomes, table);
    sections::agreement(&mut page, agreements);
    sections::tshark(&mut page, classes);
    for vantage in VANTAGES {
        for (kind, about) in [
            (Kind::Congestion, "M_c: congestion losses called wireless, percent"),
            (Kind::Wireless, "M_w: wireless losses not called wireless, percent"),
        ] {
            let _ = writeln!(page, "## At the {}: {about}\n", vantage.name());
            errors(&mut page, outcomes, (vantage, kind), table);
        }
    }
    page
}

fn cases(page: &mut String, outcomes: &[Outcome]) {
    page.push_str("## Cases\n\n| case | network |\n|---|---|\n");
    for Outcome { case, .. } in outcomes {
        let _ = writeln!(page, "| {} | {} |", case.name, case.about);
    }
    page.push_str(
        "\nThe cases from drop-tail to ticks of 10 ms are one network: a wired link of 4 Mb/s with a queue, then a wireless hop of\n\
         10 Mb/s per flow with 1 % errors; two TCP flows with SACK, two TFRC flows (RTP) and two on-off sources. The\n\
         papers' cases use the TCP of the paper, mostly without SACK. The last six are one flow like a Linux server's: CUBIC\n\
         with SACK and timestamps over a link of that rate, 20 ms each way, with a queue of 50 packets and that share of\n\
         random losses.\n\n",
    );
}

fn detection(page: &mut String, outcomes: &[Outcome]) {
    page.push_str(
        "## Losses found\n\n\
         A loss shows at a sender by its retransmission, at a receiver by a later-sent packet that arrives before it.\n\
         False losses are those that were none, of all found.\n\n\
         | case | at | losses that show | found, % | found in all | false, % |\n|---|---|--:|--:|--:|--:|\n",
    );
    let mut totals = [(Vantage::Sender, Tally::default()), (Vantage::Receiver, Tally::default())];
    for Outcome { case, tallies } in outcomes {
        for (vantage, total) in &mut totals {
            let sum = tallies
                .get(vantage)
                .into_iter()
                .flatten()
                .fold(Tally::default(), Tally::with_detection_of);
            if sum.showing + sum.found > 0 {
                detected(page, case.name, *vantage, &sum);
            }
            *total = std::mem::take(total).with_detection_of(&sum);
        }
    }
    for (vantage, total) in totals {
        detected(page, "**all**", vantage, &total);
    }
    page.push('\n');
}

fn detected(page: &mut String, case: &str, vantage: Vantage, tally: &Tally) {
    let percent = |part: u64, of: u64| match of {
        0 => "–".to_owned(),
        of => format!("{:.2}", 100.0 * part as f64 / of as f64),
    };
    let found = percent(tally.showing_found, tally.showing);
    let false_ = percent(tally.found_false, tally.found);
    let _ = writeln!(
        page,
        "| {case} | {} | {} | {found} | {} | {false_} |",
        vantage.name(),
        tally.showing,
        tally.found
    );
}

/// A row per case, a column per algorithm.
fn errors(
    page: &mut String,
    outcomes: &[Outcome],
    (vantage, kind): (Vantage, Kind),
    table: &Table,
) {
    let tallies = |outcome: &Outcome| outcome.tallies.get(&vantage).cloned().unwrap_or_default();
    let all: Vec<Tally> = outcomes.iter().flat_map(tallies).collect();
    let judged = all.iter().flat_map(|tally| &tally.flows);
    let names: BTreeSet<&String> = judged.flat_map(|flow| flow.errors.keys()).collect();
    let columns: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let _ = writeln!(page, "| case | recommended | {} |", columns.join(" | "));
    let _ = writeln!(page, "|---|--:|{}", "--:|".repeat(columns.len()));
    for outcome in outcomes {
        let tallies = tallies(outcome);
        let mut cells = vec![cell(estimate(&tallies, |flow| flow.recommended(table), kind))];
        cells.extend(
            names.iter().map(|name| cell(estimate(&tallies, |flow| flow.errors.get(*name), kind))),
        );
        if cells.iter().any(|cell| cell != "–") {
            let _ = writeln!(page, "| {} | {} |", outcome.case.name, cells.join(" | "));
        }
    }
    page.push_str(
        "\nMean over the flows with such losses, then over the runs, with its 95 % interval.\n\n",
    );
}

fn estimate<'a>(
    tallies: &'a [Tally],
    of: impl Fn(&'a Judged) -> Option<&'a Errors>,
    kind: Kind,
) -> Estimate {
    Estimate::from_runs(tallies.iter().map(|tally| tally.error(&of, kind)))
}

fn cell(estimate: Estimate) -> String {
    match (estimate.mean, estimate.ci95) {
        (None, _) => "–".to_owned(),
        (Some(mean), None) => format!("{mean:.1}"),
        (Some(mean), Some(ci95)) => format!("{mean:.1} ± {ci95:.1}"),
    }
}
