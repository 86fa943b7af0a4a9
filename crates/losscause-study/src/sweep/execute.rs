//! Measures all cells of a sweep.

use std::ops::ControlFlow;

use super::{CellOutcome, Store, Sweep};
use crate::parallel::Jobs;
use crate::{InputError, RunError};

/// The outcome of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOutcome {
    /// The finished cells, the base first; all of them unless the sweep was stopped.
    pub cells: Vec<CellOutcome>,
    /// Number of cells that were resumed from an earlier sweep.
    pub resumed: usize,
    /// Whether the observer stopped the sweep before its last cell.
    pub is_stopped: bool,
}

/// The progress of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct SweepProgress<'a> {
    /// Number of finished cells.
    pub finished: usize,
    /// Number of all cells.
    pub cells: usize,
    /// The cell that was finished last.
    pub last: &'a CellOutcome,
    /// Whether it was resumed from an earlier sweep.
    pub is_resumed: bool,
}

impl Sweep {
    /// Measures every cell in order. All cells are checked before the first run. `observe` is called after each cell;
    /// if it returns `Break`, the sweep stops there.
    ///
    /// With a `store`, each cell is written there as soon as it is finished, and the two summaries are written at the
    /// end unless the sweep was stopped. The outcome does not depend on `jobs`, nor on which cells were resumed.
    ///
    /// # Errors
    /// A setting does not fit its scenario, a run fails, or the store cannot be written.
    pub fn execute(
        &self,
        jobs: Jobs,
        store: Option<&Store>,
        mut observe: impl FnMut(SweepProgress<'_>) -> ControlFlow<()>,
    ) -> Result<SweepOutcome, RunError> {
        let cells = self.cells();
        self.check_all()?;
        store.map(Store::prepare).transpose()?;
        let mut outcome = SweepOutcome { cells: Vec::with_capacity(cells.len()), resumed: 0, is_stopped: false };
        for cell in &cells {
            let earlier = store.and_then(|store| store.finished(cell, &self.origin(cell)));
            let is_resumed = earlier.is_some();
            let last = match earlier {
                Some(last) => last,
                None => {
                    let last = self.measure(cell, jobs)?;
                    store.map(|store| store.keep(&last)).transpose()?;
                    last
                }
            };
            outcome.resumed += usize::from(is_resumed);
            let finished = outcome.cells.len() + 1;
            let stop = observe(SweepProgress { finished, cells: cells.len(), last: &last, is_resumed });
            outcome.cells.push(last);
            if stop.is_break() {
                outcome.is_stopped = finished < cells.len();
                break;
            }
        }
        if !outcome.is_stopped {
            store.map(|store| store.summarise(&outcome.cells)).transpose()?;
        }
        Ok(outcome)
    }

    /// Checks without a run that every cell can be measured, so that an invalid setting is reported before hours of
    /// work.
    ///
    /// # Errors
    /// A setting does not fit its scenario.
    pub fn check_all(&self) -> Result<(), InputError> {
        self.cells().iter().try_for_each(|cell| self.check(cell))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Three cells: the base, and two other rates.
    fn sweep(directory: &Path) -> Sweep {
        std::fs::write(
            directory.join("s.toml"),
            "title = \"t\"\nduration_s = 1\n[measure]\nbottleneck = \"a\"\n[[link]]\nname = \"a\"\nrate_bps = 1e6\n\
             delay_ms = 1\nqueue_packets = 3\n[[flow]]\nname = \"f\"\nprotocol = \"cbr\"\npath = [\"a\"]\nrate_bps = 5e5\n\
             measured = true\n",
        )
        .unwrap();
        let text = "title = \"t\"\nmode = \"grid\"\nruns = 1\nscenario = \"s.toml\"\nmetrics = [\"goodput\"]\n[[axis]]\n\
                    name = \"rate\"\nvalues = [{ name = \"half\" }, { name = \"fifth\", set = [\"flow.f.rate_bps=2e5\"] }, \
                    { name = \"tenth\", set = [\"flow.f.rate_bps=1e5\"] }]\n";
        Sweep::parse(text, &directory.join("sweep.toml")).unwrap()
    }

    #[test]
    fn a_sweep_that_is_stopped_and_resumed_ends_as_one_that_was_not() {
        let directory = tempfile::tempdir().unwrap();
        let sweep = sweep(directory.path());
        let go_on = |_: SweepProgress| ControlFlow::Continue(());
        let whole = sweep.execute(Jobs::default(), None, go_on).unwrap();
        assert_eq!((whole.cells.len(), whole.resumed, whole.is_stopped), (3, 0, false));

        let place = directory.path().join("out");
        let mut seen = Vec::new();
        let stopped = sweep.execute(Jobs::default(), Some(&Store::new(&place)), |progress| {
            seen.push((progress.finished, progress.cells, progress.last.cell.number, progress.is_resumed));
            if progress.finished == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(seen, [(1, 3, 0, false), (2, 3, 1, false)]);
        let stopped = stopped.unwrap();
        assert_eq!((&stopped.cells[..], stopped.is_stopped), (&whole.cells[..2], true));
        assert!(!place.join("sweep.csv").exists(), "a stopped sweep has no summary");

        let resumed = sweep.execute(Jobs::default(), Some(&Store::new(&place).resuming()), go_on).unwrap();
        assert_eq!((&resumed.cells, resumed.resumed), (&whole.cells, 2));
        let summary = std::fs::read_to_string(place.join("sweep.json")).unwrap();
        assert_eq!(serde_json::from_str::<Vec<CellOutcome>>(&summary).unwrap(), whole.cells);
        let again = sweep.execute(Jobs::default(), Some(&Store::new(&place)), go_on).unwrap();
        assert_eq!(again.resumed, 0, "without resuming, every cell is measured again");
    }

    #[test]
    fn a_setting_that_does_not_fit_is_refused_before_anything_is_measured_or_made() {
        let directory = tempfile::tempdir().unwrap();
        let mut sweep = sweep(directory.path());
        sweep.document.axis[0].values[2].set = vec!["flow.g.rate_bps=1".to_owned()];
        let place = directory.path().join("out");
        let refused = sweep.execute(Jobs::default(), Some(&Store::new(&place)), |_| panic!("no cell is finished"));
        assert!(refused.unwrap_err().to_string().contains("flow.g"));
        assert!(!place.exists());
    }
}
