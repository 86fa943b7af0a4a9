//! The outcome of the benchmark of paths: the answer, then a table per end.

use losscause_experiments::paths::in_loop::LOSS_RATES;
use losscause_experiments::paths::{Benchmark, InLoop, Vantage};

use crate::output;

/// The benchmark, without a line break at its end.
pub(crate) fn benchmark(benchmark: &Benchmark) -> String {
    let mut parts = benchmark.answers();
    parts.extend(benchmark.vantages.iter().map(|at| output::table_text(&at.table())));
    parts.push(
        "Balanced error: the mean of M_c and M_w, with its 95 % interval over paths. Below the best: by how many percent \
         it is below that of the best published algorithm."
            .to_owned(),
    );
    parts.join("\n\n")
}

/// The algorithms in the loop, without a line break at its end.
pub(crate) fn in_loop(found: &InLoop) -> String {
    let mut parts = found.answers();
    for vantage in Vantage::ALL {
        let table = |rate| output::table_text(&found.table(vantage.name(), rate));
        parts.extend(LOSS_RATES.map(table));
    }
    parts.push(
        "M_c (paths with 100 congestion losses and no policer) and queue loss beyond always congestion's: mean; worst \
         path. Goodput over the base and the omniscient one, and what a stock competitor keeps: median; lowest path. What \
         always congestion shows with other seeds is chance."
            .to_owned(),
    );
    parts.join("\n\n")
}
