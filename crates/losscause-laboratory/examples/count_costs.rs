//! Counts what the items of all papers cost; `cargo xtask costs` compares the result with
//! `papers/<paper>/costs.toml`.
//!
//! Every calibration and one run of every configuration are made, with seed 1. Prints JSON: paper,
//! item, costs.

use std::collections::BTreeMap;
use std::error::Error;

use losscause_laboratory::papers::record::{self, Costs};
use losscause_laboratory::papers::reproduce::{Plan, Repetitions, Selection, Variation};
use losscause_study::{Context, Jobs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut papers: BTreeMap<&str, Costs> = BTreeMap::new();
    for paper in record::all() {
        let selection = Selection::every_item(paper);
        let plan = Plan::new(
            &Context::default(),
            &selection,
            Repetitions::exactly(1)?,
            1,
            &Variation::default(),
        )?;
        let counted = plan.count_costs(Jobs::default())?.into_iter();
        let of_runs = counted.filter(|(_, costs)| !costs.runs.is_empty());
        papers.insert(
            paper.key(),
            of_runs.map(|(sheet, costs)| (sheet.spec.id.clone(), costs)).collect(),
        );
    }
    println!("{}", serde_json::to_string(&papers)?);
    Ok(())
}
