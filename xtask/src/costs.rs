//! `costs`: counts what every table and figure of the papers costs, and compares with
//! `papers/<paper>/costs.toml`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use losscause_laboratory::papers::record::Costs;

use crate::shell::{all_kept, cargo, output};

const EXAMPLE: &str = "run --quiet --release -p losscause-laboratory --example count_costs";

const HEAD: &str = "\
# Thousands of packet-hops of one run of each configuration of an item, and of the calibrations before it, counted by
# `cargo xtask costs --update` with seed 1. They decide what `losscause reproduce` measures where nothing is named, and
# weigh the runs in the progress bar.
";

/// Counts, and compares or writes.
pub(crate) fn costs(update: bool) -> Result<()> {
    let printed = output(cargo(EXAMPLE))?;
    let counted: BTreeMap<String, Costs> =
        serde_json::from_slice(&printed).context("the example printed no costs")?;
    let now = |(paper, counted): (String, Costs)| {
        let text = format!("{HEAD}\n{}", toml::to_string(&counted)?);
        Ok((format!("crates/losscause-laboratory/papers/{paper}/costs.toml"), text))
    };
    all_kept(counted.into_iter().map(now).collect::<Result<Vec<_>>>()?, "costs", update)
}
