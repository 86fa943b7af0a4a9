//! When simulator and kernel agree.
//!
//! ```text
//! goodput           means over the seeds within 5 % (reno, cubic) or 10 % (bbr) in at least 90 % of the cells,
//!                   within 15 % in all
//! retransmissions   means within 15 %, or 95 % intervals that overlap, in at least 90 % of the cells
//! ```
//!
//! Cells in which the hosts stood still for too long do not count.

use std::fmt;

use losscause_study::statistics::Estimate;

use super::Outcome;
use super::cell::{Cell, Variant};

/// The bound of goodput in most cells.
const NEAR: f64 = 0.05;
/// The same for BBR.
const NEAR_BBR: f64 = 0.10;
/// The bound of goodput in all cells.
const FAR: f64 = 0.15;
/// The bound of retransmissions.
const RETRANSMISSIONS: f64 = 0.15;
const MOST_CELLS: f64 = 0.90;

/// A cell with one seed: by the kernel, and simulated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) kernel: Outcome,
    pub(super) simulated: Outcome,
}

/// A cell with all seeds.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub(super) cell: Cell,
    pub(super) pairs: Vec<Pair>,
    /// Whether the kernel's transfers count: see
    /// [`is_sound`](super::golden::Transfer::is_sound).
    pub(super) is_sound: bool,
    /// The longest time for which the hosts stood still in any of them.
    pub(super) host_stall_ms: f64,
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
    /// The cells that count.
    cells: usize,
    /// Those that do not.
    apart: usize,
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

    pub(super) fn drops(&self) -> Both {
        self.both(|outcome| outcome.drops as f64)
    }

    /// Whether goodput is within the bound for most cells.
    pub(super) fn is_near(&self) -> bool {
        self.goodput().is_within(self.bound())
    }

    /// Whether the ratio of goodput is known to within the bound for most cells, wherever it lies.
    pub(super) fn is_precise(&self) -> bool {
        let goodput = |pair: &Pair| (pair.simulated.goodput_mbps, pair.kernel.goodput_mbps);
        let ratio = Estimate::of_quotient(
            self.pairs
                .iter()
                .map(goodput)
                .map(|(simulated, kernel)| (Some(simulated), Some(kernel))),
        );
        ratio.ci95.is_some_and(|ci95| ci95 <= self.bound())
    }

    fn bound(&self) -> f64 {
        if self.cell.variant == Variant::Bbr { NEAR_BBR } else { NEAR }
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
        self.is_within(RETRANSMISSIONS) || self.overlaps()
    }
}

impl Verdict {
    pub(super) fn of(compared: &[Compared]) -> Self {
        let sound = || compared.iter().filter(|one| one.is_sound);
        let count = |is: fn(&Compared) -> bool| sound().filter(|one| is(one)).count();
        let deviation =
            |one: &Compared| (one.goodput().deviation().unwrap_or(f64::INFINITY).abs(), one.cell);
        Self {
            cells: sound().count(),
            apart: compared.len() - sound().count(),
            near: count(Compared::is_near),
            far: count(|one| !one.goodput().is_within(FAR)),
            retransmissions: count(|one| one.retransmissions().counts_agree()),
            worst: sound().map(deviation).max_by(|a, b| a.0.total_cmp(&b.0)),
        }
    }

    pub(super) fn agrees(&self) -> bool {
        let wanted = self.cells as f64 * MOST_CELLS;
        self.cells > 0
            && self.far == 0
            && self.near as f64 >= wanted
            && self.retransmissions as f64 >= wanted
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cells, apart, near, far, retransmissions, worst } = self;
        write!(
            f,
            "Goodput is within 5 % of the kernel's (10 % with bbr) in {near} of {cells} cells and beyond 15 % in {far}, \
             and the retransmissions agree in {retransmissions}."
        )?;
        if *apart > 0 {
            write!(f, " In {apart} cells the hosts stood still for too long; they do not count.")?;
        }
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

    /// The transfers of a cell, by the kernel and by the simulator.
    fn compared(variant: Variant, pairs: &[(Figures, Figures)]) -> Compared {
        let outcome = |(goodput_mbps, retransmissions)| Outcome {
            goodput_mbps,
            retransmissions,
            drops: retransmissions,
        };
        let pairs = pairs
            .iter()
            .map(|&(a, b)| Pair { kernel: outcome(a), simulated: outcome(b) })
            .collect();
        let cell = Cell { variant, ..Cell::all()[0] };
        Compared { cell, pairs, is_sound: true, host_stall_ms: 0.5 }
    }

    /// A cell whose goodput is this much of the kernel's.
    fn deviating(variant: Variant, ratio: f64) -> Compared {
        compared(variant, &[((10.0, 5), (10.0 * ratio, 5)); 2])
    }

    #[test]
    fn goodput_may_be_5_percent_off_bbr_s_10_in_all_but_a_tenth() {
        for (variant, bound) in
            [(Variant::Reno, 0.05), (Variant::Cubic, 0.05), (Variant::Bbr, 0.10)]
        {
            let mut cells = vec![deviating(variant, 1.0 - bound + 0.001); 9];
            cells.push(deviating(variant, 1.149));
            assert!(Verdict::of(&cells).agrees(), "{variant:?}");
            cells[0] = deviating(variant, 1.0 - bound - 0.001);
            let verdict = Verdict::of(&cells);
            assert_eq!((verdict.near, verdict.far, verdict.agrees()), (8, 0, false), "{variant:?}");
            assert!((verdict.worst.unwrap().0 - 0.149).abs() < 1e-9);
        }
    }

    #[test]
    fn a_cell_is_precise_by_its_interval_and_not_by_its_ratio() {
        let cell = |pairs: &[(f64, f64)]| {
            let pairs: Vec<_> = pairs.iter().map(|&(a, b)| ((a, 5), (b, 5))).collect();
            compared(Variant::Reno, &pairs).is_precise()
        };
        assert!(cell(&[(10.0, 12.0), (20.0, 24.0)]), "a fifth off, for sure");
        // Strays 0.1 and -0.1 of a mean of 10, s = 0.0141, 12.706 s / sqrt(2) = 0.127.
        assert!(!cell(&[(10.0, 10.1), (10.0, 9.9)]));
        // 2.365 * 0.0107 / sqrt(8) = 0.0089.
        assert!(cell(&[(10.0, 10.1), (10.0, 9.9)].repeat(4)));
        assert!(!cell(&[(10.0, 10.0)]), "one has no interval");
    }

    #[test]
    fn goodput_is_nowhere_15_percent_off() {
        let mut cells = vec![deviating(Variant::Reno, 1.0); 9];
        cells.push(deviating(Variant::Reno, 1.151));
        assert!(!Verdict::of(&cells).agrees());
    }

    #[test]
    fn a_cell_whose_hosts_stood_still_does_not_count() {
        let unsound = Compared { is_sound: false, ..deviating(Variant::Reno, 2.0) };
        let verdict = Verdict::of(&[deviating(Variant::Reno, 1.0), unsound.clone()]);
        assert_eq!((verdict.cells, verdict.apart, verdict.agrees()), (1, 1, true));
        assert!(!Verdict::of(&[unsound]).agrees(), "nothing was compared");
    }

    #[test]
    fn retransmissions_agree_within_15_percent_or_by_intervals() {
        let agree = |a: [u64; 2], b: [u64; 2]| {
            compared(Variant::Reno, &[((1.0, a[0]), (1.0, b[0])), ((1.0, a[1]), (1.0, b[1]))])
                .retransmissions()
                .counts_agree()
        };
        assert!(agree([100, 100], [114, 116]));
        assert!(!agree([100, 100], [116, 116]), "intervals without a width");
        // 12.706 times the standard error: 100 ± 12.7 against 130 ± 12.7, and against 120 ± 12.7.
        assert!(!agree([99, 101], [129, 131]));
        assert!(agree([90, 110], [120, 140]), "± 127");
        assert!(agree([0, 0], [0, 0]));
        assert!(!agree([0, 0], [1, 1]));
    }

    #[test]
    fn a_single_transfer_has_no_interval() {
        let one = compared(Variant::Reno, &[((1.0, 10), (1.0, 20))]);
        assert!(!one.retransmissions().counts_agree());
    }
}
