//! What a plan costs: from recorded packet-hops, never from the time that runs take.

use indexmap::IndexSet;

use super::{Configuration, Plan, Sheet};
use crate::papers::record::ItemCosts;
use losscause_study::{Jobs, RunError, Workers, run};

/// The cost of a run that is not recorded, thousands of packet-hops; about the mean of those that
/// are.
pub(super) const UNRECORDED: u64 = 1000;

/// What a table or figure needs, in the order in which its values first need it.
pub(super) struct Needs {
    pub(super) configurations: IndexSet<usize>,
    /// Calibrations before the runs.
    pub(super) searches: IndexSet<usize>,
}

impl Plan {
    pub(super) fn needs(&self, sheet: &Sheet) -> Needs {
        let samples = self.values.samples(&sheet.items);
        let configurations: IndexSet<usize> =
            samples.flat_map(|sample| sample.configurations.iter().copied()).collect();
        let searches = configurations
            .iter()
            .flat_map(|&c| self.configurations[c].waits_for.iter().copied())
            .collect();
        Needs { configurations, searches }
    }

    /// Takes the costs from the papers' records. A recorded item whose runs have changed counts as
    /// not recorded.
    pub(super) fn price(&mut self) {
        for place in 0..self.sheets.len() {
            let needs = self.needs(&self.sheets[place]);
            let Some(recorded) = self.sheets[place].recorded_costs() else { continue };
            if (recorded.runs.len(), recorded.searches.len())
                != (needs.configurations.len(), needs.searches.len())
            {
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

    /// Counts the packet-hops of every calibration and of one run of every configuration, with the
    /// plan's seed.
    ///
    /// # Errors
    /// A run fails.
    pub fn count_costs(mut self, jobs: Jobs) -> Result<Vec<(Sheet, ItemCosts)>, RunError> {
        let workers = Workers::from(jobs);
        self.calibrate(&workers, &mut |_| (), &|_, _| Ok(()))?;
        let count = |configuration: &Configuration| -> Result<u64, RunError> {
            Ok(run(&configuration.experiment, self.seed)?.packet_hops())
        };
        let counted = workers.map(&self.configurations, count, |_| ())?;
        let counted: Vec<u64> = counted.into_iter().collect::<Result<_, _>>()?;
        let of_sheet = |sheet: &Sheet| {
            let needs = self.needs(sheet);
            let runs = needs.configurations.iter().map(|&c| thousands(counted[c])).collect();
            let searches = needs
                .searches
                .iter()
                .map(|&s| thousands(self.searches[s].tried.packet_hops))
                .collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::record;
    use crate::papers::reproduce::{Repetitions, Selection, Variation};
    use losscause_study::Context;

    fn plan(selection: &Selection, runs: u32) -> Plan {
        Plan::new(
            &Context::default(),
            selection,
            Repetitions::exactly(runs).unwrap(),
            1,
            &Variation::default(),
        )
        .unwrap()
    }

    #[test]
    fn every_configuration_and_calibration_has_a_recorded_cost() {
        for paper in record::all() {
            let plan = plan(&Selection::every_item(paper), 1);
            for sheet in plan.sheets() {
                let needs = plan.needs(sheet);
                let recorded = sheet
                    .recorded_costs()
                    .map_or((0, 0), |costs| (costs.runs.len(), costs.searches.len()));
                let planned = (needs.configurations.len(), needs.searches.len());
                assert_eq!(
                    recorded,
                    planned,
                    "{}/{}: `cargo xtask costs --update`",
                    paper.key(),
                    sheet.spec.id
                );
            }
            let known: Vec<&String> = paper.items().item.iter().map(|item| &item.id).collect();
            assert!(paper.costs().keys().all(|item| known.contains(&item)), "{}", paper.key());
        }
    }

    #[test]
    fn a_recorded_cost_is_counted_and_shared_runs_are_paid_once() {
        let table = plan(&Selection::parse(&["cen2003/table2"]).unwrap(), 3);
        let recorded = table.sheets()[0].recorded_costs().unwrap().clone();
        assert_eq!(table.cost(), 3 * recorded.runs.iter().sum::<u64>());
        let counted = table.count_costs(Jobs::default()).unwrap();
        assert_eq!(counted[0].1, recorded);
        // Figure 8 shows the runs of Table II again.
        let cost = |names: &[&str]| plan(&Selection::parse(names).unwrap(), 1).cost();
        assert_eq!(cost(&["cen2003/table2", "cen2003/figure8"]), cost(&["cen2003/figure8"]));
    }

    #[test]
    fn one_packet_hop_counts_as_a_thousand() {
        assert_eq!([0, 1, 1000, 1001].map(thousands), [0, 1, 1, 2]);
    }
}
