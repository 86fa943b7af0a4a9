//! The accuracy table that `losscause-capture` compiles in: by situation and algorithm, the errors
//! to expect.
//!
//! A flow counts for the situation that its own capture tells, and for every wider one. The mean is
//! over the flows of a network, then over the networks, so that a network with many flows or runs
//! weighs no more than another.

use std::collections::BTreeMap;
use std::fmt::Write;

use losscause_capture::judge::trust::{Row, Table};
use losscause_experiments::captures::JudgedFlow;
use losscause_experiments::drawn::score::Tally;
use losscause_study::statistics::mean;

/// The file, from the root of the repository.
pub(super) const FILE: &str = "crates/losscause-capture/src/judge/accuracy.csv";

/// The flows of each network, in the order of the networks.
type ByNetwork<'a> = BTreeMap<usize, Vec<&'a Tally>>;

/// The table of the flows of these networks, each by seed, as text.
pub(super) fn table(
    networks: &BTreeMap<String, BTreeMap<u64, Vec<JudgedFlow>>>,
    runs: u32,
) -> String {
    let mut rows: BTreeMap<(Row, &str), ByNetwork<'_>> = BTreeMap::new();
    for (network, seeds) in networks.values().enumerate() {
        for flow in seeds.values().flatten() {
            for (algorithm, errors) in &flow.errors {
                for row in flow.situation.rows() {
                    let row = rows.entry((row, algorithm)).or_default();
                    row.entry(network).or_default().push(errors);
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
        let m_c = cells(networks, |errors| errors.congestion.percent());
        let m_w = cells(networks, |errors| errors.wireless.percent());
        let _ = writeln!(text, "{row},{algorithm},{m_c},{m_w}");
    }
    text
}

/// Mean, least, greatest and number of the networks that have such losses.
fn cells(networks: &ByNetwork<'_>, share: fn(&Tally) -> Option<f64>) -> String {
    let of_network = |flows: &Vec<&Tally>| {
        mean(&flows.iter().filter_map(|errors| share(errors)).collect::<Vec<f64>>())
    };
    let means: Vec<f64> = networks.values().filter_map(of_network).collect();
    let Some(all) = mean(&means) else { return ",,,".to_owned() };
    let (least, most) =
        means.iter().fold((all, all), |(least, most), &mean| (least.min(mean), most.max(mean)));
    format!("{all:.1},{least:.1},{most:.1},{}", means.len())
}
