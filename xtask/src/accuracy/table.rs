//! The accuracy table that `losscause-capture` compiles in: by situation and algorithm, the errors
//! to expect.
//!
//! A flow counts for the situation that its own capture tells, and for every wider one. The mean is
//! over the flows of a network, then over the networks, so that a network with many flows or runs
//! weighs no more than another.

use std::collections::BTreeMap;
use std::fmt::Write;

use losscause_capture::judge::trust::{Row, Table};

use super::Outcome;
use super::matching::{Errors, Kind};

/// The file, from the root of the repository.
pub(super) const FILE: &str = "crates/losscause-capture/src/judge/accuracy.csv";

/// The flows of each network, in the order of the networks.
type ByNetwork<'a> = BTreeMap<usize, Vec<&'a Errors>>;

/// The table of these outcomes, as text.
pub(super) fn table(outcomes: &[Outcome], runs: u64) -> String {
    let mut rows: BTreeMap<(Row, &str), ByNetwork<'_>> = BTreeMap::new();
    for (network, outcome) in outcomes.iter().enumerate() {
        for flow in outcome.tallies.values().flatten().flat_map(|tally| &tally.flows) {
            for (algorithm, errors) in &flow.errors {
                for row in flow.situation.rows() {
                    rows.entry((row, algorithm))
                        .or_default()
                        .entry(network)
                        .or_default()
                        .push(errors);
                }
            }
        }
    }
    let mut text = format!(
        "# What to expect of the algorithms, percent of the losses: M_c, congestion losses called wireless, and M_w,\n\
         # wireless losses not called wireless. Each is a mean over simulated networks, with the least and the greatest of\n\
         # them. Written by `cargo xtask capture-accuracy` with {runs} runs; results/capture-accuracy.md has the networks.\n{}\n",
        Table::COLUMNS
    );
    for ((row, algorithm), networks) in &rows {
        let m_c = cells(networks, Kind::Congestion);
        let m_w = cells(networks, Kind::Wireless);
        let _ = writeln!(text, "{row},{algorithm},{m_c},{m_w}");
    }
    text
}

/// Mean, least, greatest and number of the networks that have such losses.
fn cells(networks: &ByNetwork<'_>, kind: Kind) -> String {
    let mean = |shares: &[f64]| losscause_study::statistics::mean(shares);
    let of_network = |flows: &Vec<&Errors>| {
        let shares: Vec<f64> = flows.iter().filter_map(|errors| errors.share(kind)).collect();
        mean(&shares)
    };
    let means: Vec<f64> = networks.values().filter_map(of_network).collect();
    let Some(all) = mean(&means) else { return ",,,".to_owned() };
    let (least, most) =
        means.iter().fold((all, all), |(least, most), &mean| (least.min(mean), most.max(mean)));
    format!("{all:.1},{least:.1},{most:.1},{}", means.len())
}
