//! What the runs of each table and figure cost: `papers/<paper>/costs.toml`, which `cargo xtask
//! costs --update` writes.
//!
//! A cost is a number of packet-hops: packets that links transmitted, counted once per link. Unlike
//! a time, it is the same on every machine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The costs of a paper's tables and figures, by their names.
pub type Costs = BTreeMap<String, ItemCosts>;

/// The cost of one table or figure, in thousands of packet-hops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemCosts {
    /// Of one run of each configuration, in the order in which the item's values first need them.
    pub runs: Vec<u64>,
    /// Of each calibration that these configurations wait for, with all its runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<u64>,
}
