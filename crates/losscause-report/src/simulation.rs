//! The page of one scenario's runs: the answer, the timeline of the first run, the algorithms, all
//! numbers.

use minijinja::{Value, context};
use serde::Serialize;

use super::algorithms;
use super::axis::Axis;
use super::chart::Scale;
use super::lines::{Curve, Lines, Point, Style};
use super::{losses, timeline};
use losscause_sim::truth::Cause;
use losscause_study::run::{CompletionTime, LostPacket, RunRecord, SimulationResult};
use losscause_study::tools::csv_file;
use losscause_study::tools::figures::{number, seeds};
use losscause_study::tools::table::Table;

/// A metric as a row of the table's CSV.
#[derive(Serialize)]
struct Row<'a> {
    metric: &'a str,
    unit: &'a str,
    mean: Option<f64>,
    ci95: Option<f64>,
    runs: u32,
}

/// Most losses in the list of the page.
const MOST_LISTED: usize = 300;

/// What the template shows. `record` is that of the first run.
pub(super) fn page(result: &SimulationResult, record: &RunRecord) -> Value {
    let rows = result.metrics.iter().map(|(metric, found)| Row {
        metric,
        unit: &found.unit,
        mean: found.value,
        ci95: found.ci95,
        runs: found.runs,
    });
    let told = result.shown(false);
    let is_told = |name: &str| told.iter().any(|(known, _)| *known == name);
    let others = result.metrics.iter().map(|(name, found)| (name.as_str(), found));
    let others: Vec<_> = others.filter(|(name, _)| !is_told(name)).collect();
    let warnings = result.warnings.iter().filter(|warning| !warning.is_told_elsewhere());
    let runs = match result.runs {
        1 => "one run".to_owned(),
        runs => format!("{runs} runs"),
    };
    let length = number(Some(record.to_s));
    context! {
        title => result.title,
        scenario => result.scenario,
        settings => result.settings,
        version => result.version,
        answers => result.answer(),
        runs => format!("{runs} of {length} s, {}", seeds(result.seed, result.runs)),
        seed => record.seed,
        several => result.runs > 1,
        warnings => warnings.map(|warning| &warning.text).collect::<Vec<_>>(),
        timeline => timeline::drawing(record).svg(),
        legend => timeline::legend(record),
        left_out => record.left_out,
        losses => losses_table(record).html(),
        listed_losses => record.losses.len().min(MOST_LISTED),
        all_losses => record.losses.len(),
        algorithms => algorithms::views(record, "", "algorithm-", &mut Vec::new()),
        metrics => [told, others].map(|metrics| result.metric_table(&metrics).html()),
        csv => csv_file::text(rows),
        completion_times => completion_times(&result.completion_times),
        flows => result.flow_tables(true).iter().map(Table::html).collect::<String>(),
        links => result.link_table(true).html(),
    }
}

/// The first losses with their causes and verdicts.
fn losses_table(record: &RunRecord) -> Table {
    let row = |loss: &LostPacket| {
        let cause = match loss.cause {
            Some(Cause::Congestion) => "congestion",
            Some(Cause::Wireless) => "wireless",
            None => "not lost",
        };
        [
            format!("{:.3}", loss.at_s()),
            loss.flow.clone(),
            loss.seq.to_string(),
            loss.lost.as_ref().map(|(_, link)| link.clone()).unwrap_or_default(),
            cause.to_owned(),
            losses::reason(loss).unwrap_or_default(),
        ]
    };
    let heads =
        ["lost at s", "flow", "packet", "link", "true cause", "verdict and what was compared"];
    Table::new(heads).numbers(2..3).with_rows(record.losses.iter().take(MOST_LISTED).map(row))
}

/// The share of the transfers that were done within a time.
fn completion_times(times: &[CompletionTime]) -> String {
    let Some(CompletionTime { time_s: most, .. }) = times.last() else { return String::new() };
    let axis = Axis::from_zero(*most);
    let drawn =
        times.iter().filter(|time| time.percent % 5 == 0 || [1, 99].contains(&time.percent));
    let point = |time: &CompletionTime| {
        let title = format!("{} % within {} s", time.percent, number(Some(time.time_s)));
        Point::new(time.time_s, Some(f64::from(time.percent)), title)
    };
    let curve = Curve {
        name: "transfers".to_owned(),
        style: Style::nth(0),
        points: drawn.map(point).collect(),
    };
    let across = Scale { has_lines: false, ..Scale::of("completion time, s", axis) };
    let up = Scale::of("transfers done, %", Axis::linear(0.0, 100.0));
    Lines::new("share of the transfers over their completion time", across, up, vec![curve]).svg()
}
