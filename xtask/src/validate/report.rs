//! The comparison as a table, as CSV, and as a verdict.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use losscause_study::tools::atomic::AtomicFile;

use super::grid::{Bounds, Protocol};
use super::{Comparison, Ratio};

/// Writes one line per cell.
pub(super) fn write(results: &[Comparison], out: Option<PathBuf>) -> Result<()> {
    let Some(path) = out else { return Ok(()) };
    let mut table = csv::Writer::from_writer(AtomicFile::create(&path)?);
    table.write_record([
        "protocol",
        "errors",
        "loss",
        "rate_kbps",
        "rtt_ms",
        "queue_limit",
        "flows",
        "cross_load",
        "payload_bytes",
        "red",
        "seeds",
        "delivered_ns2",
        "delivered_ours",
        "goodput_ratio",
        "goodput_ci95",
        "queue_drops_ns2",
        "queue_drops_ours",
        "queue_drops_ratio",
        "queue_drops_ci95",
        "timeouts_ns2",
        "timeouts_ours",
    ])?;
    for result in results {
        let cell = &result.cell;
        let per_run = |total: u64| format!("{:.2}", total as f64 / result.pairs.len() as f64);
        let ratio = |ratio: Option<Ratio>| {
            ratio.map_or_else(Default::default, |r| {
                [format!("{:.4}", r.value), format!("{:.4}", r.ci95)]
            })
        };
        let (delivered_ns2, delivered_ours) = result.total(|o| o.delivered);
        let (drops_ns2, drops_ours) = result.total(|o| o.queue_drops);
        let (timeouts_ns2, timeouts_ours) = result.total(|o| o.timeouts.unwrap_or_default());
        let [goodput_ratio, goodput_ci95] = ratio(result.goodput());
        let [drops_ratio, drops_ci95] = ratio(result.queue_drops());
        let [timeouts_ns2, timeouts_ours] = match cell.protocol.tcp() {
            Some(_) => [per_run(timeouts_ns2), per_run(timeouts_ours)],
            None => Default::default(),
        };
        table.write_record([
            cell.protocol.name().to_owned(),
            cell.errors.name().to_owned(),
            cell.loss.to_string(),
            cell.rate_kbps.to_string(),
            cell.rtt_ms.to_string(),
            cell.queue_limit.to_string(),
            cell.flows.to_string(),
            cell.cross_load.to_string(),
            cell.payload_bytes.to_string(),
            u8::from(cell.red).to_string(),
            result.pairs.len().to_string(),
            per_run(delivered_ns2),
            per_run(delivered_ours),
            goodput_ratio,
            goodput_ci95,
            per_run(drops_ns2),
            per_run(drops_ours),
            drops_ratio,
            drops_ci95,
            timeouts_ns2,
            timeouts_ours,
        ])?;
    }
    let file = table
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)
        .with_context(|| path.display().to_string())?;
    file.finish()?;
    Ok(())
}

/// Prints the cells, the worst first, and the number of cells that agree per protocol.
///
/// # Errors
/// The simulators do not agree within `bounds`.
pub(super) fn print(results: &[Comparison], bounds: &Bounds) -> Result<()> {
    let mut sorted: Vec<&Comparison> = results.iter().collect();
    sorted.sort_by(|a, b| distance(b.goodput()).total_cmp(&distance(a.goodput())));
    println!(
        "Ours over ns-2's, means over the seeds; * each with errors of its own, x other packets on the last link. Drops and timeouts are per run."
    );
    println!(
        "{:<52}  {:>5}  {:>15}  {:>8} {:>8} {:>15}  {:>8} {:>8}",
        "cell", "seeds", "goodput ratio", "drops", "ns-2's", "ratio", "timeouts", "ns-2's"
    );
    for result in sorted {
        let per_run = |total: u64| format!("{:.1}", total as f64 / result.pairs.len() as f64);
        let (drops_ns2, drops) = result.total(|o| o.queue_drops);
        let (timeouts_ns2, timeouts) = result.total(|o| o.timeouts.unwrap_or_default());
        let [timeouts, timeouts_ns2] = match result.cell.protocol.tcp() {
            Some(_) => [per_run(timeouts), per_run(timeouts_ns2)],
            None => ["-".to_owned(), "-".to_owned()],
        };
        println!(
            "{:<52}  {:>5}  {:>15}  {:>8} {:>8} {:>15}  {timeouts:>8} {timeouts_ns2:>8}",
            result.cell.to_string(),
            result.pairs.len(),
            shown(result.goodput()),
            per_run(drops),
            per_run(drops_ns2),
            if drops_ns2 >= bounds.drops_from {
                shown(result.queue_drops())
            } else {
                "-".to_owned()
            },
        );
    }
    let mut failures = Vec::new();
    let (red, droptail): (Vec<&Comparison>, Vec<&Comparison>) =
        results.iter().partition(|result| result.cell.red);
    failures.extend(judge_red(&red, bounds));
    for protocol in Protocol::ALL {
        let of_protocol: Vec<_> =
            droptail.iter().copied().filter(|r| r.cell.protocol == protocol).collect();
        if !of_protocol.is_empty() {
            failures.extend(judge(protocol, &of_protocol, bounds));
        }
    }
    if !failures.is_empty() {
        bail!("ns-2 and our simulator do not agree: {}", failures.join("; "));
    }
    Ok(())
}

/// Prints how well one protocol agrees, and returns the failures.
///
/// The drops of a cell are judged if ns-2 dropped at least `bounds.drops_from` packets in all its
/// runs together and the ratio's interval is within the bound. Cells whose interval is wider, even
/// with the most seeds, are named.
///
/// A cell whose drops are out of bounds fails, with one exception: the same cell agrees once other
/// packets on the last link, or packets of another size, prevent simultaneous events. Then rounding
/// caused the difference. Such cells are named too.
fn judge(protocol: Protocol, results: &[&Comparison], bounds: &Bounds) -> Vec<String> {
    let name = protocol.name();
    let near_share =
        if protocol == Protocol::Vegas { bounds.near_share_vegas } else { bounds.near_share };
    let within =
        |ratio: Option<Ratio>, bound: f64| ratio.is_some_and(|r| (r.value - 1.0).abs() <= bound);
    let near = results.iter().filter(|r| within(r.goodput(), bounds.near)).count();
    let far = results.iter().filter(|r| !within(r.goodput(), bounds.far)).count();
    let (judged, unknown): (Vec<&Comparison>, Vec<&Comparison>) = results
        .iter()
        .filter(|r| r.total(|o| o.queue_drops).0 >= bounds.drops_from)
        .partition(|r| r.queue_drops().is_some_and(|ratio| ratio.ci95 <= bounds.drops));
    let agrees = |result: &Comparison| within(result.queue_drops(), bounds.drops);
    let (tied, off): (Vec<&Comparison>, Vec<&Comparison>) = judged
        .iter()
        .copied()
        .filter(|r| !agrees(r))
        .partition(|r| judged.iter().any(|twin| without_ties(twin, r) && agrees(twin)));
    println!(
        "{name}: goodput within {:.0} % in {near} of {} cells ({:.1} %, wanted {:.0} %), beyond {:.0} % in {far}; queue drops \
         beyond {:.0} % in {} of the {} cells in which ns-2 dropped {} or more in all runs together, {} of them by equal times; in \
         {} more the ratio is not known that well",
        bounds.near * 100.0,
        results.len(),
        100.0 * near as f64 / results.len() as f64,
        near_share * 100.0,
        bounds.far * 100.0,
        bounds.drops * 100.0,
        off.len() + tied.len(),
        judged.len(),
        bounds.drops_from,
        tied.len(),
        unknown.len(),
    );
    for result in unknown {
        println!("not known: {}", drops_off(result));
    }
    for result in tied {
        println!("equal times: {}, within the bound once they are parted", drops_off(result));
    }
    let mut failures = Vec::new();
    if (near as f64) < near_share * results.len() as f64 {
        failures.push(format!("{name}'s goodput is near in too few cells"));
    }
    if far > 0 {
        failures.push(format!("{name}'s goodput is far off in {far} cells"));
    }
    failures.extend(off.iter().map(|result| drops_off(result)));
    failures
}

/// Prints how well the cells with RED agree, and returns the failures. As with drops ([`judge`]), a
/// cell whose goodput is out of bounds does not fail if it agrees without simultaneous events.
fn judge_red(results: &[&Comparison], bounds: &Bounds) -> Vec<String> {
    if results.is_empty() {
        return vec![];
    }
    let agrees = |result: &Comparison| {
        result.goodput().is_some_and(|ratio| (ratio.value - 1.0).abs() <= bounds.red)
    };
    let (tied, off): (Vec<&Comparison>, Vec<&Comparison>) =
        results.iter().copied().filter(|result| !agrees(result)).partition(|result| {
            results.iter().any(|twin| without_ties(twin, result) && agrees(twin))
        });
    println!(
        "RED: goodput within {:.0} % in {} of {} cells, {} of the others by equal times",
        bounds.red * 100.0,
        results.len() - off.len() - tied.len(),
        results.len(),
        tied.len()
    );
    let goodput_off =
        |result: &&Comparison| format!("goodput {} with {}", shown(result.goodput()), result.cell);
    for result in tied.iter().map(goodput_off) {
        println!("equal times: {result}, within the bound once they are parted");
    }
    off.iter().map(goodput_off).collect()
}

/// Whether `twin` is the cell of `result` with other packets on the last link, or with packets of
/// another size.
fn without_ties(twin: &Comparison, result: &Comparison) -> bool {
    twin.cell.unparted() == Some(result.cell)
}

/// Names a cell, the ratio of its queue drops with the interval, and the drops per run.
fn drops_off(result: &Comparison) -> String {
    let cell = result.cell.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let (ns2, ours) = result.total(|o| o.queue_drops);
    let runs = result.pairs.len() as f64;
    format!(
        "queue drops {} ({:.2} per run, ns-2 {:.2}) with {cell}",
        shown(result.queue_drops()),
        ours as f64 / runs,
        ns2 as f64 / runs
    )
}

fn shown(ratio: Option<Ratio>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |r| format!("{:.3} ± {:.3}", r.value, r.ci95))
}

/// The distance of a ratio from 1; infinite if there is none.
fn distance(ratio: Option<Ratio>) -> f64 {
    ratio.map_or(f64::INFINITY, |r| r.value.ln().abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::grid::Grid;
    use crate::validate::{Outcome, Pair};

    fn cell(ns2: (u64, u64), ours: (u64, u64)) -> Comparison {
        let outcome = |(delivered, queue_drops)| Outcome { delivered, queue_drops, timeouts: None };
        Comparison {
            cell: Grid::read(false).unwrap().cells(Some(Protocol::Tfrc))[0],
            pairs: vec![Pair { ns2: outcome(ns2), ours: outcome(ours) }; 2],
        }
    }

    #[test]
    fn a_cell_whose_drops_are_off_is_named_with_its_interval() {
        let mut varying = cell((1000, 100), (1000, 120));
        varying.pairs[0].ours.queue_drops = 121;
        // Ratio 1.205, strays 0.005 of the mean to either side: 12.706 * sqrt(0.00005 / 2).
        assert_eq!(
            judge(Protocol::Tfrc, &[&varying], &Grid::read(false).unwrap().bounds),
            [
                "queue drops 1.205 ± 0.064 (120.50 per run, ns-2 100.00) with tfrc 0 % 4000 kb/s 40 ms 8 pkts 1 flows"
            ]
        );
    }

    #[test]
    fn a_ratio_that_chance_may_have_made_is_not_judged() {
        let mut varying = cell((1000, 100), (1000, 100));
        varying.pairs[0].ours.queue_drops = 400;
        assert_eq!(failures(&[varying]), 0);
    }

    fn failures(cells: &[Comparison]) -> usize {
        let bounds = Grid::read(false).unwrap().bounds;
        judge(Protocol::Tfrc, &cells.iter().collect::<Vec<_>>(), &bounds).len()
    }

    #[test]
    fn equal_runs_agree() {
        assert_eq!(failures(&[cell((1000, 100), (1000, 100))]), 0);
    }

    #[test]
    fn one_cell_in_twenty_may_be_a_little_off_but_not_two() {
        let mut cells = vec![cell((1000, 0), (1000, 0)); 19];
        cells.push(cell((1000, 0), (1100, 0)));
        assert_eq!(failures(&cells), 0);
        cells[0] = cell((1000, 0), (900, 0));
        assert_eq!(failures(&cells), 1);
    }

    #[test]
    fn no_cell_may_be_far_off() {
        let mut cells = vec![cell((1000, 0), (1000, 0)); 99];
        cells.push(cell((1000, 0), (1160, 0)));
        assert_eq!(failures(&cells), 1);
    }

    #[test]
    fn a_cell_that_delivers_nothing_in_ns2_does_not_pass_unseen() {
        assert_eq!(failures(&[cell((0, 0), (5, 0))]), 2);
    }

    #[test]
    fn equal_times_decide_a_cell_only_if_it_agrees_without_them() {
        let off = cell((1000, 100), (1000, 120));
        let parted = |ours| {
            let mut twin = cell((1000, 100), (1000, ours));
            twin.cell.cross_load = 0.85;
            twin
        };
        assert_eq!(failures(&[off.clone(), parted(100)]), 0);
        assert_eq!(failures(&[off.clone(), parted(120)]), 2);
        let mut another = parted(100);
        another.cell.loss = 0.05;
        assert_eq!(failures(&[off, another]), 1);
    }

    #[test]
    fn equal_times_decide_a_cell_with_red_too() {
        let red = |ours, cross_load| {
            let mut one = cell((1000, 100), (ours, 100));
            (one.cell.red, one.cell.cross_load) = (true, cross_load);
            one
        };
        let bounds = Grid::read(false).unwrap().bounds;
        let failures = |cells: [&Comparison; 2]| judge_red(&cells, &bounds).len();
        let off = red(969, 0.0);
        assert_eq!(failures([&off, &red(971, 0.1)]), 0);
        assert_eq!(failures([&off, &red(969, 0.1)]), 2);
        assert_eq!(failures([&red(971, 0.0), &red(969, 0.1)]), 1);
    }

    #[test]
    fn queue_drops_count_from_a_hundred_on() {
        assert_eq!(failures(&[cell((1000, 49), (1000, 80))]), 0);
        assert_eq!(failures(&[cell((1000, 50), (1000, 80))]), 1);
    }
}
