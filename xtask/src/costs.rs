//! `costs`: counts what every table and figure of the papers costs, and compares with
//! `papers/<paper>/costs.toml`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use losscause_laboratory::papers::record::Costs;

use crate::shell::{cargo, is_kept, output, root};

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
    let mut differing = Vec::new();
    for (paper, counted) in counted {
        let path = format!("crates/losscause-laboratory/papers/{paper}/costs.toml");
        let now = format!("{HEAD}\n{}", toml::to_string(&counted)?);
        if !is_kept(&root().join(path), &now, update)? {
            differing.push(paper);
        }
    }
    if !differing.is_empty() {
        bail!(
            "the costs of {} differ; if that is intended, run `cargo xtask costs --update`",
            differing.join(", ")
        );
    }
    Ok(())
}
