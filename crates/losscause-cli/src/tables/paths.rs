//! The outcome of the benchmark of paths: the answer, then a table per end.

use losscause::registry::Origin;
use losscause_experiments::paths::benchmark::AtVantage;
use losscause_experiments::paths::in_loop::{LOSS_RATES, LoopRow};
use losscause_experiments::paths::report::{ends, percent, reduction_text};
use losscause_experiments::paths::{Benchmark, InLoop, Vantage};

use crate::output;

/// The benchmark, without a line break at its end.
pub(crate) fn benchmark(benchmark: &Benchmark) -> String {
    let mut parts = benchmark.answers();
    parts.extend(benchmark.vantages.iter().map(at_vantage));
    parts.push(
        "Balanced error: the mean of M_c and M_w, with its 95 % interval over paths. Below the best: by how many percent \
         it is below that of the best published algorithm."
            .to_owned(),
    );
    parts.join("\n\n")
}

fn at_vantage(at: &AtVantage) -> String {
    let numbers = ["error", "95 %", "M_c", "M_w", "below the best"];
    let header = [at.vantage, "", "error", "95 %", "M_c", "M_w", "below the best"];
    let mut table = output::table(&header, &numbers);
    for row in &at.algorithms {
        let share = |share: Option<f64>| share.map_or_else(String::new, percent);
        let origin = match row.origin {
            Origin::Published => "published",
            Origin::Yardstick => "other stack",
            Origin::Other => "",
        };
        table.add_row([
            row.algorithm.to_owned(),
            origin.to_owned(),
            share(row.error.map(|error| error.value)),
            row.error.map_or_else(String::new, ends),
            share(row.m_c),
            share(row.m_w),
            row.reduction.map_or_else(String::new, reduction_text),
        ]);
    }
    let chosen = [("hindsight", at.best_per_path), ("by half of the losses", at.best_by_halves)];
    for (how, error) in chosen.into_iter().filter_map(|(how, error)| Some((how, error?))) {
        let [name, value, ends] =
            ["best published per path".to_owned(), percent(error.value), ends(error)];
        table.add_row([
            name,
            how.to_owned(),
            value,
            ends,
            String::new(),
            String::new(),
            String::new(),
        ]);
    }
    table.to_string()
}

/// The algorithms in the loop, without a line break at its end.
pub(crate) fn in_loop(found: &InLoop) -> String {
    let mut parts = found.answers();
    for vantage in Vantage::ALL {
        for rate in LOSS_RATES {
            let rows = found
                .rows
                .iter()
                .filter(|row| row.vantage == vantage.name() && row.loss_rate == rate);
            let name = format!("{vantage}, {:.0} % wireless loss", 100.0 * rate);
            let header: Vec<&str> = [name.as_str()].into_iter().chain(LoopRow::HEADS).collect();
            let mut table = output::table(&header, &LoopRow::HEADS);
            for row in rows {
                table.add_row([row.algorithm.to_owned()].into_iter().chain(row.cells()));
            }
            parts.push(table.to_string());
        }
    }
    parts.push(
        "M_c (paths with 100 congestion losses and no policer) and queue loss beyond always congestion's: mean; worst \
         path. Goodput over the base and the omniscient one, and what a stock competitor keeps: median; lowest path. What \
         always congestion shows with other seeds is chance."
            .to_owned(),
    );
    parts.join("\n\n")
}
