//! When simulator and kernel agree.
//!
//! ```text
//! goodput           means over the transfers within 10 % in at least 90 % of the cells, within 25 % in all
//! retransmissions   means within 25 %, or 95 % intervals that overlap, in at least 90 % of the cells
//! ```

use std::fmt;

use losscause_study::statistics::Estimate;

use super::Outcome;
use super::cell::Cell;

const NEAR: f64 = 0.10;
const FAR: f64 = 0.25;
const MOST_CELLS: f64 = 0.90;

/// One transfer: by the kernel, and simulated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) kernel: Outcome,
    pub(super) simulated: Outcome,
}

/// A cell's transfers.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub(super) cell: Cell,
    pub(super) pairs: Vec<Pair>,
}

/// A quantity by both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Both {
    pub(super) kernel: Estimate,
    pub(super) simulated: Estimate,
}

/// In how many cells they agree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    cells: usize,
    near: usize,
    far: usize,
    retransmissions: usize,
    /// The largest deviation of goodput, and where.
    worst: Option<(f64, Cell)>,
}

impl Compared {
    pub(super) fn goodput(&self) -> Both {
        self.both(|outcome| outcome.goodput_mbps)
    }

    pub(super) fn retransmissions(&self) -> Both {
        self.both(|outcome| outcome.retransmissions as f64)
    }

    fn both(&self, of: fn(&Outcome) -> f64) -> Both {
        let estimate = |end: fn(&Pair) -> &Outcome| {
            Estimate::from_runs(self.pairs.iter().map(|p| Some(of(end(p)))))
        };
        Both { kernel: estimate(|pair| &pair.kernel), simulated: estimate(|pair| &pair.simulated) }
    }
}

impl Both {
    /// By how much the simulator's mean deviates, as a share of the kernel's. None if the kernel's
    /// is zero and the simulator's is not.
    pub(super) fn deviation(&self) -> Option<f64> {
        let kernel = self.kernel.mean?;
        let simulated = self.simulated.mean?;
        if simulated == kernel {
            Some(0.0)
        } else {
            (kernel != 0.0).then(|| simulated / kernel - 1.0)
        }
    }

    fn is_within(&self, share: f64) -> bool {
        self.deviation().is_some_and(|deviation| deviation.abs() <= share)
    }

    fn overlaps(&self) -> bool {
        let ends = |of: &Estimate| Some((of.mean? - of.ci95?, of.mean? + of.ci95?));
        let both = ends(&self.kernel).zip(ends(&self.simulated));
        both.is_some_and(|((least, most), (other_least, other_most))| {
            least <= other_most && other_least <= most
        })
    }

    /// The rule for retransmissions.
    pub(super) fn counts_agree(&self) -> bool {
        self.is_within(FAR) || self.overlaps()
    }
}

impl Verdict {
    pub(super) fn of(compared: &[Compared]) -> Self {
        let count = |is: &dyn Fn(&Compared) -> bool| compared.iter().filter(|one| is(one)).count();
        let deviation =
            |one: &Compared| (one.goodput().deviation().unwrap_or(f64::INFINITY).abs(), one.cell);
        Self {
            cells: compared.len(),
            near: count(&|one| one.goodput().is_within(NEAR)),
            far: count(&|one| !one.goodput().is_within(FAR)),
            retransmissions: count(&|one| one.retransmissions().counts_agree()),
            worst: compared.iter().map(deviation).max_by(|a, b| a.0.total_cmp(&b.0)),
        }
    }

    pub(super) fn agrees(&self) -> bool {
        let wanted = self.cells as f64 * MOST_CELLS;
        self.far == 0 && self.near as f64 >= wanted && self.retransmissions as f64 >= wanted
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cells, near, far, retransmissions, worst } = self;
        write!(
            f,
            "Goodput is within 10 % of the kernel's in {near} of {cells} cells and beyond 25 % in {far}, and the \
             retransmissions agree in {retransmissions}."
        )?;
        match worst {
            Some((deviation, cell)) => {
                write!(
                    f,
                    " The largest deviation of goodput is {:.1} % ({cell}).",
                    deviation * 100.0
                )
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goodput and retransmissions.
    type Figures = (f64, u64);

    /// A cell's transfers, by the kernel and by the simulator.
    fn compared(pairs: &[(Figures, Figures)]) -> Compared {
        let outcome = |(goodput_mbps, retransmissions)| Outcome { goodput_mbps, retransmissions };
        let pairs = pairs
            .iter()
            .map(|&(a, b)| Pair { kernel: outcome(a), simulated: outcome(b) })
            .collect();
        Compared { cell: Cell::all()[0], pairs }
    }

    #[test]
    fn goodput_may_be_ten_percent_off_in_a_tenth_and_never_25() {
        let with = |last: f64| {
            let mut cells = vec![compared(&[((10.0, 5), (11.0, 5)), ((10.0, 5), (10.0, 5))]); 9];
            cells.push(compared(&[((10.0, 5), (last, 5))]));
            Verdict::of(&cells)
        };
        assert!(with(12.4).agrees());
        assert!(!with(12.6).agrees());
        let mut cells = vec![compared(&[((10.0, 5), (10.0, 5))]); 8];
        cells.extend(vec![compared(&[((10.0, 5), (8.8, 5))]); 2]);
        let verdict = Verdict::of(&cells);
        assert_eq!((verdict.near, verdict.far, verdict.agrees()), (8, 0, false));
        assert!((verdict.worst.unwrap().0 - 0.12).abs() < 1e-12);
    }

    #[test]
    fn retransmissions_agree_within_a_quarter_or_by_intervals() {
        let agree = |a: [u64; 2], b: [u64; 2]| {
            compared(&[((1.0, a[0]), (1.0, b[0])), ((1.0, a[1]), (1.0, b[1]))])
                .retransmissions()
                .counts_agree()
        };
        assert!(agree([100, 100], [124, 126]));
        assert!(!agree([100, 100], [126, 126]), "intervals without a width");
        // 12.706 times the standard error: 100 ± 12.7 against 130 ± 12.7, and against 120 ± 12.7.
        assert!(!agree([99, 101], [129, 131]));
        assert!(agree([90, 110], [120, 140]), "± 127");
        assert!(agree([0, 0], [0, 0]));
        assert!(!agree([0, 0], [1, 1]));
    }

    #[test]
    fn a_single_transfer_has_no_interval() {
        assert!(!compared(&[((1.0, 10), (1.0, 20))]).retransmissions().counts_agree());
    }
}
