//! `cargo xtask validate`: our simulator, in its ns-2 mode, against ns-2.35 over a grid of
//! dumbbells. [`linux`] compares its Linux mode with the running kernel.

mod draws;
mod grid;
pub(crate) mod linux;
mod ns2;
mod ours;
mod report;

use std::path::PathBuf;

use anyhow::{Result, bail};
use losscause_study::Jobs;
use losscause_study::statistics::Estimate;

pub(crate) use grid::Protocol;
use grid::{Cell, Grid, Only};

use crate::tools::Tool;

/// What to compare, and where to put the results.
#[derive(clap::Args, Default)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    peer: Option<Peer>,
    /// What CI runs: some of the cells, with few seeds and wide bounds
    #[arg(long)]
    short: bool,
    /// Only this protocol
    #[arg(long)]
    protocol: Option<Protocol>,
    /// Only cells with this value, for instance loss=0.01; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    only: Vec<Only>,
    /// Largest number of seeds per cell
    #[arg(long)]
    seeds: Option<u64>,
    /// Threads (default: one per core)
    #[arg(long)]
    jobs: Option<usize>,
    /// Where to write the results as CSV (default for the full grid:
    /// docs/validation/ns2-results.csv)
    #[arg(long)]
    out: Option<PathBuf>,
}

/// What the simulator is compared with, if not with ns-2.
#[derive(clap::Subcommand)]
enum Peer {
    /// The TCP of the running kernel, over the emulator; needs root, writes
    /// validation/linux/sweep.json and results/linux.md
    Linux(linux::Options),
}

/// Runs the comparison, prints it, and fails unless it agrees within the grid's bounds.
pub(crate) fn validate(options: &Options) -> Result<()> {
    if let Some(Peer::Linux(options)) = &options.peer {
        return linux::validate(options);
    }
    Tool::Ns2.ensure()?;
    let mut grid = Grid::read(options.short)?;
    if let Some(seeds) = options.seeds {
        grid.seeds.at_most = seeds.max(2);
        grid.seeds.drops_at_most = grid.seeds.drops_at_most.min(grid.seeds.at_most);
        grid.seeds.at_least = grid.seeds.at_least.min(grid.seeds.at_most);
    }
    let mut cells = grid.cells(options.protocol);
    cells.retain(|cell| options.only.iter().all(|only| only.matches(cell)));
    if cells.is_empty() {
        bail!("validation/ns2/grid.toml has no such cell");
    }
    let jobs = options.jobs.map_or_else(|| Ok(Jobs::default()), Jobs::new)?;
    let progress = |done| eprint!("\r{done} of {} cells", cells.len());
    let results = jobs.map(&cells, |cell| compare(&grid, cell), progress);
    eprintln!();
    let results = results.into_iter().collect::<Result<Vec<_>>>()?;
    report::write(&results, options.out.clone().or_else(|| options.default_out()))?;
    report::print(&results, &grid.bounds)
}

/// The short form, as one of CI's steps.
pub(crate) fn short() -> Result<()> {
    validate(&Options { short: true, ..Options::default() })
}

impl Options {
    /// Results of a part of the grid must not overwrite those of the whole grid.
    fn default_out(&self) -> Option<PathBuf> {
        let whole =
            !self.short && self.protocol.is_none() && self.only.is_empty() && self.seeds.is_none();
        whole.then(|| crate::shell::root().join("docs/validation/ns2-results.csv"))
    }
}

/// The result of one run, summed over all flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outcome {
    /// Distinct payload packets passed on by the receivers.
    delivered: u64,
    /// Packets dropped by the bottleneck's queue.
    queue_drops: u64,
    /// Expirations of the retransmission timer; none for TFRC.
    timeouts: Option<u64>,
}

/// One run in both simulators.
#[derive(Clone, Copy, Debug)]
struct Pair {
    ns2: Outcome,
    ours: Outcome,
}

/// A cell with all its runs.
#[derive(Clone, Debug)]
struct Comparison {
    cell: Cell,
    pairs: Vec<Pair>,
}

/// A ratio of means over runs, ours to ns-2's.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ratio {
    value: f64,
    /// Half-width of its 95 % interval.
    ci95: f64,
}

fn compare(grid: &Grid, cell: &Cell) -> Result<Comparison> {
    let mut comparison = Comparison { cell: *cell, pairs: Vec::new() };
    let mut wanted = grid.seeds.at_least;
    while (comparison.pairs.len() as u64) < wanted {
        for seed in comparison.pairs.len() as u64 + 1..=wanted {
            let ns2 = ns2::run(grid, cell, seed)?;
            let ours = ours::run(grid, cell, seed)?;
            comparison.pairs.push(Pair { ns2, ours });
        }
        wanted = comparison.wanted_seeds(grid);
    }
    Ok(comparison)
}

/// The number of seeds needed for an interval of `half_width`, after `done` seeds. The interval
/// shrinks with the square root of their number.
fn wanted_seeds(done: u64, ratio: Option<Ratio>, half_width: f64) -> u64 {
    let Some(ratio) = ratio else { return done };
    if ratio.ci95 <= half_width {
        return done;
    }
    let guess = done as f64 * (ratio.ci95 / half_width).powi(2);
    // At least one more, and at most twice as many, because the first estimate is rough.
    (guess.ceil() as u64).clamp(done + 1, 2 * done)
}

impl Comparison {
    fn total(&self, of: impl Fn(&Outcome) -> u64) -> (u64, u64) {
        self.pairs
            .iter()
            .fold((0, 0), |(ns2, ours), pair| (ns2 + of(&pair.ns2), ours + of(&pair.ours)))
    }

    /// The number of seeds needed until the intervals of both ratios are narrow enough.
    fn wanted_seeds(&self, grid: &Grid) -> u64 {
        let done = self.pairs.len() as u64;
        let goodput =
            wanted_seeds(done, self.goodput(), grid.seeds.half_width).min(grid.seeds.at_most);
        let enough = self.total(|o| o.queue_drops).0 >= grid.bounds.drops_from;
        let drops = match self.queue_drops().filter(|_| enough) {
            // The purpose of a cell without simultaneous events is the ratio of its drops.
            None if self.cell.unparted().is_some() => 2 * done,
            judged => wanted_seeds(done, judged, grid.seeds.drops_half_width),
        };
        goodput.max(drops.min(grid.seeds.drops_at_most))
    }

    /// Packets delivered.
    fn goodput(&self) -> Option<Ratio> {
        self.ratio(|outcome| outcome.delivered)
    }

    /// Packets dropped by the queue.
    fn queue_drops(&self) -> Option<Ratio> {
        self.ratio(|outcome| outcome.queue_drops)
    }

    /// The ratio of means and its interval by the delta method. Runs are paired, so the interval
    /// follows from how far each pair is from the common ratio. None if ns-2 counted nothing.
    fn ratio(&self, of: impl Fn(&Outcome) -> u64) -> Option<Ratio> {
        let (ns2, ours) = self.total(&of);
        if ns2 == 0 {
            return None;
        }
        let value = ours as f64 / ns2 as f64;
        let mean = ns2 as f64 / self.pairs.len() as f64;
        let strays = self
            .pairs
            .iter()
            .map(|pair| (of(&pair.ours) as f64 - value * of(&pair.ns2) as f64) / mean);
        let ci95 = Estimate::from_runs(strays.map(Some)).ci95?;
        Some(Ratio { value, ci95 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(pairs: &[(u64, u64)]) -> Comparison {
        let outcome = |delivered| Outcome { delivered, ..Outcome::default() };
        Comparison {
            cell: Grid::read(false).unwrap().cells(None)[0],
            pairs: pairs
                .iter()
                .map(|&(ns2, ours)| Pair { ns2: outcome(ns2), ours: outcome(ours) })
                .collect(),
        }
    }

    #[test]
    fn pairs_in_one_proportion_leave_no_doubt_at_any_difference() {
        let ratio = comparison(&[(100, 110), (200, 220), (1000, 1100)]).goodput().unwrap();
        assert!((ratio.value - 1.1).abs() < 1e-12 && ratio.ci95 < 1e-12);
    }

    /// By hand: totals 400 and 404, ratio 1.01; strays -4.9, 1, -1 and 4.9 of a mean of 100.
    #[test]
    fn the_interval_is_that_of_the_strays() {
        let ratio = comparison(&[(90, 86), (100, 102), (100, 100), (110, 116)]).goodput().unwrap();
        let strays: [f64; 4] = [86.0 - 90.9, 102.0 - 101.0, 100.0 - 101.0, 116.0 - 111.1];
        let squares: f64 = strays.iter().map(|s| (s / 100.0).powi(2)).sum();
        // Student's 0.975 quantile for three degrees of freedom.
        let expected = 3.182_446 * (squares / 3.0 / 4.0).sqrt();
        assert!((ratio.value - 1.01).abs() < 1e-12 && (ratio.ci95 - expected).abs() < 1e-6);
    }

    #[test]
    fn nothing_in_ns2_has_no_ratio() {
        assert_eq!(comparison(&[(0, 5), (0, 0)]).goodput(), None);
    }

    #[test]
    fn seeds_are_added_until_the_interval_is_narrow_enough() {
        let after = |done, ci95| wanted_seeds(done, Some(Ratio { value: 1.0, ci95 }), 0.02);
        assert_eq!(after(8, 0.019), 8);
        assert_eq!(after(8, 0.021), 9);
        assert_eq!(after(8, 0.08), 16);
        assert_eq!(after(100, 0.025), 157);
        assert_eq!(wanted_seeds(8, None, 0.02), 8);
    }

    #[test]
    fn queue_drops_call_for_seeds_only_where_they_are_judged() {
        let grid = Grid::read(false).unwrap();
        let with_drops = |each: [(u64, u64); 4]| {
            let mut comparison = comparison(&[(1000, 1000); 4]);
            for (pair, (ns2, ours)) in comparison.pairs.iter_mut().zip(each) {
                (pair.ns2.queue_drops, pair.ours.queue_drops) = (ns2, ours);
            }
            comparison.wanted_seeds(&grid)
        };
        assert_eq!(with_drops([(20, 30), (20, 10), (29, 20), (30, 39)]), 4);
        assert_eq!(with_drops([(21, 31), (20, 10), (29, 20), (30, 39)]), 8);
        assert_eq!(with_drops([(210, 210), (200, 200), (290, 290), (300, 300)]), 4);
    }
}
