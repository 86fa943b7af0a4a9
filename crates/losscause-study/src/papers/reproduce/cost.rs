//! What a plan costs: from recorded packet-hops, never from the time that runs take.

use indexmap::IndexSet;

use super::{Plan, Sheet};
use crate::papers::record::ItemCosts;
use crate::parallel::{self, Jobs};
use crate::{RunError, run};

/// The cost of a run that is not recorded, thousands of packet-hops; about the mean of those that are.
pub(super) const UNRECORDED: u64 = 1000;

/// What a table or figure needs, in the order in which its values first need it.
pub(super) struct Needs {
    pub(super) configurations: IndexSet<usize>,
    /// Calibrations before the runs.
    pub(super) searches: IndexSet<usize>,
}

impl Plan {
    pub(super) fn needs(&self, sheet: &Sheet) -> Needs {
        let samples = sheet.items.iter().flat_map(|&item| self.readings[item].samples());
        let configurations: IndexSet<usize> =
            samples.flat_map(|sample| sample.configurations.iter().copied()).collect();
        let searches = configurations.iter().flat_map(|&c| self.configurations[c].waits_for.iter().copied()).collect();
        Needs { configurations, searches }
    }

    /// Takes the costs from the papers' records. A recorded item whose runs have changed counts as not recorded.
    pub(super) fn price(&mut self) {
        for place in 0..self.sheets.len() {
            let needs = self.needs(&self.sheets[place]);
            let Some(recorded) = self.sheets[place].recorded_costs() else { continue };
            if (recorded.runs.len(), recorded.searches.len()) != (needs.configurations.len(), needs.searches.len()) {
                continue;
            }
            for (c, &cost) in needs.configurations.into_iter().zip(&recorded.runs) {
                self.configurations[c].cost = cost;
            }
            for (search, &cost) in needs.searches.into_iter().zip(&recorded.searches) {
                self.searches[search].cost = cost;
            }
        }
    }

    /// What calibrations and runs cost, thousands of packet-hops.
    pub fn cost(&self) -> u64 {
        let runs = self.configurations.iter().map(|c| c.cost * u64::from(c.runs)).sum::<u64>();
        self.cost_of_searches() + runs
    }

    pub(super) fn cost_of_searches(&self) -> u64 {
        self.searches.iter().map(|search| search.cost).sum()
    }

    /// Counts the packet-hops of every calibration and of one run of every configuration, with the plan's seed.
    ///
    /// # Errors
    /// A run fails.
    pub fn count_costs(mut self, jobs: Jobs) -> Result<Vec<(Sheet, ItemCosts)>, RunError> {
        self.calibrate(jobs, &mut |_| ())?;
        let count = |configuration: &super::plan::Configuration| -> Result<u64, RunError> {
            Ok(run(&configuration.experiment, self.seed)?.packet_hops())
        };
        let counted = parallel::map(&self.configurations, jobs, count, |_| ());
        let counted: Vec<u64> = counted.into_iter().collect::<Result<_, _>>()?;
        let of_sheet = |sheet: &Sheet| {
            let needs = self.needs(sheet);
            let runs = needs.configurations.iter().map(|&c| thousands(counted[c])).collect();
            let searches = needs.searches.iter().map(|&s| thousands(self.searches[s].packet_hops)).collect();
            (sheet.clone(), ItemCosts { runs, searches })
        };
        Ok(self.sheets.iter().map(of_sheet).collect())
    }
}

impl Sheet {
    fn recorded_costs(&self) -> Option<&'static ItemCosts> {
        self.paper.costs().get(&self.spec.id)
    }
}

/// Rounded up, so that no run is free.
pub(super) fn thousands(packet_hops: u64) -> u64 {
    packet_hops.div_ceil(1000)
}
