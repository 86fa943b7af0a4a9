//! The pages of both commands, from the results of their sweeps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use losscause_capture::judge::trust::{self, Expected, Row, Share, Situation};
use losscause_experiments::captures::{JudgedFlow, RECOMMENDED};
use losscause_laboratory::sweep::{CellOutcome, RunRow, STACK, SweepResult};
use losscause_study::tools::table::Table;

/// The two captures of a run.
const CAPTURES: [&str; 2] = ["sender", "receiver"];

/// Runs that a row or a column shows together.
struct Group<'a> {
    name: String,
    runs: Vec<&'a RunRow>,
}

impl<'a> Group<'a> {
    /// The cases of a sweep: its cells, system by system.
    fn cases(result: &'a SweepResult) -> impl Iterator<Item = Self> {
        result.cells.iter().flat_map(|cell| {
            let systems = cell.runs.chunk_by(|one, next| one.system == next.system);
            let case = |runs: &'a [RunRow]| (name(cell, &runs[0].system), runs.iter().collect());
            systems.map(case).map(|(name, runs)| Self { name, runs })
        })
    }

    /// All runs of each sweep, those of each value of its first axis, and all together.
    fn all(results: &'a [SweepResult]) -> Vec<Self> {
        let mut groups = Vec::new();
        for result in results {
            let file = Path::new(&result.sweep).file_stem().unwrap_or_default().to_string_lossy();
            let of = |name: String, is: &dyn Fn(&CellOutcome) -> bool| {
                let cells = result.cells.iter().filter(|cell| is(cell));
                Self { name, runs: cells.flat_map(|cell| &cell.runs).collect() }
            };
            groups.push(of(file.to_string(), &|_| true));
            let first = |cell: &CellOutcome| cell.cell.values[0].value.clone();
            let mut values: Vec<String> = result.cells.iter().map(first).collect();
            values.dedup();
            if result.axes[0] != CASE && values.len() > 1 {
                let of_value =
                    |value: &String| of(format!("{file}, {value}"), &|cell| first(cell) == *value);
                groups.extend(values.iter().map(of_value));
            }
        }
        let all = results.iter().flat_map(|result| &result.cells).flat_map(|cell| &cell.runs);
        groups.push(Self { name: "all".to_owned(), runs: all.collect() });
        groups
    }

    /// The sum of a metric that counts.
    fn sum(&self, metric: &str) -> u64 {
        let values = self.runs.iter().filter_map(|run| run.metrics.get(metric).copied().flatten());
        values.sum::<f64>().round() as u64
    }

    /// Its row of the table of losses found.
    fn detected(&self, table: &mut Table, at: &str, name: &str) {
        let sum = |metric: &str| self.sum(&format!("{at}.{metric}"));
        let [shown, found, reported, none] = ["shown", "found", "reported", "false"].map(sum);
        if shown + reported > 0 {
            let (found, none) = (percent(found, shown), percent(none, reported));
            let [shown, reported] = [shown, reported].map(|count| count.to_string());
            table.row([name.to_owned(), at.to_owned(), shown, found, reported, none]);
        }
    }

    /// The wrong verdicts of an algorithm on losses of a cause.
    fn wrong(&self, at: &str, cause: &str, algorithm: &str) -> String {
        let wrong = self.sum(&format!("{at}.{cause}_wrong.{algorithm}"));
        match self.sum(&format!("{at}.{cause}.{algorithm}")) {
            0 => "–".to_owned(),
            all => format!("{:.1} ({wrong} of {all})", 100.0 * wrong as f64 / all as f64),
        }
    }
}

/// The axis whose values are networks of their own.
const CASE: &str = "case";

/// A case by its system and the values of its axes.
fn name(cell: &CellOutcome, system: &str) -> String {
    let values = cell.cell.values.iter().filter(|value| value.axis != STACK);
    let values = values.map(|value| match value.axis.as_str() {
        CASE | "hosts" => value.value.clone(),
        axis => format!("{axis} {}", value.value),
    });
    let system = Some(system.to_owned()).filter(|system| system != "as it is");
    system.into_iter().chain(values).collect::<Vec<_>>().join(", ")
}

/// Adds a table and an empty line.
fn add(page: &mut String, table: &Table) {
    page.push_str(&(table.markdown() + "\n"));
}

fn percent(part: u64, of: u64) -> String {
    if of == 0 { "–".to_owned() } else { format!("{:.2}", 100.0 * part as f64 / of as f64) }
}

/// The beginning of the page of simulated captures.
pub(super) fn simulated(
    results: &[SweepResult],
    networks: &BTreeMap<String, BTreeMap<u64, Vec<JudgedFlow>>>,
    table: &trust::Table,
) -> String {
    let runs = results.first().map_or(0, |result| result.runs);
    let mut page = format!(
        "Every case is simulated with seeds 1 to {runs} and captured at the senders and at the receivers. What `losscause\n\
         analyze` finds in each capture is compared with the true cause of every drop.\n\n\
         ## Cases\n\n\
         The files in validation/captures have them.\n\n",
    );
    let row = |result: &SweepResult| {
        let cases: Vec<String> = Group::cases(result).map(|case| case.name).collect();
        let file = Path::new(&result.sweep).file_stem().unwrap_or_default().to_string_lossy();
        [file.into_owned(), result.title.clone(), cases.join("; ")]
    };
    let cases = Table::new(["file", "network", "cases"]).with_rows(results.iter().map(row));
    add(&mut page, &cases);
    detection(&mut page, results);
    recommended(&mut page, networks, table);
    verdicts(&mut page, results);
    page
}

/// The page of captures of the kernel.
pub(super) fn linux(results: &[SweepResult]) -> String {
    let runs: usize =
        results.iter().flat_map(|result| &result.cells).map(|cell| cell.runs.len()).sum();
    let left_out = results.iter().flat_map(|result| &result.cells).flat_map(|cell| &cell.left_out);
    let mut page = format!(
        "{runs} transfers, {} of them left out because they were disturbed. Each cell of the files in validation/captures is a\n\
         transfer of the running kernel over a link that logs what it loses. A transfer counts if the link delivered 99 of 100\n\
         packets at most 2 ms late.\n\n",
        left_out.count()
    );
    detection(&mut page, results);
    verdicts(&mut page, results);
    for result in results {
        for claim in &result.claims {
            let _ = writeln!(page, "- {}", claim.in_words());
        }
    }
    page
}

fn detection(page: &mut String, results: &[SweepResult]) {
    page.push_str(
        "## Losses found\n\n\
         A loss shows at a sender by its retransmission, at a receiver by a later-sent packet that arrives before it; without\n\
         the last 2 s of a run. False losses are those that were none, of all found.\n\n",
    );
    let columns = ["case", "at", "losses that show", "found, %", "found in all", "false, %"];
    let mut table = Table::new(columns).numbers(2..);
    for case in results.iter().flat_map(Group::cases) {
        CAPTURES.iter().for_each(|at| case.detected(&mut table, at, &case.name));
    }
    for group in Group::all(results) {
        let name = format!("**{}**", group.name);
        CAPTURES.iter().for_each(|at| group.detected(&mut table, at, &name));
    }
    add(page, &table);
}

/// By situation: the algorithm that is recommended.
fn recommended(
    page: &mut String,
    networks: &BTreeMap<String, BTreeMap<u64, Vec<JudgedFlow>>>,
    table: &trust::Table,
) {
    page.push_str(
        "## Which algorithm is recommended\n\n\
         Mean over the networks, in brackets the least and the greatest of them. Delays are steady if three quarters lie\n\
         within 10 ms above their 5th percentile.\n\n",
    );
    let columns = ["situation", "recommended", "M_c, %", "M_w, %", "if M_c counts twice"];
    let mut rows = Table::new(columns).numbers(2..4);
    // Those with the same row of the table are one.
    let mut situations: BTreeMap<Row, (Situation, BTreeSet<&str>)> = BTreeMap::new();
    for flow in networks.values().flat_map(BTreeMap::values).flatten() {
        let row = flow.situation.rows().into_iter().next();
        let empty = (flow.situation, BTreeSet::new());
        let (_, algorithms) = situations.entry(row.expect("a situation has rows")).or_insert(empty);
        algorithms.extend(flow.errors.keys().map(String::as_str));
    }
    for (situation, algorithms) in situations.into_values() {
        let names = || algorithms.iter().copied();
        let Some(best) = table.recommend(situation, names()) else { continue };
        let Expected { m_c, m_w } = table.expected(situation, best).unwrap_or_default();
        let cautious = |name: &str| {
            let expected = table.expected(situation, name)?;
            Some(2.0 * expected.m_c?.mean + expected.m_w?.mean)
        };
        let twice = names()
            .filter_map(|name| Some((cautious(name)?, name)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let cell = |share: Option<Share>| {
            let text = |s: Share| format!("{:.1} ({:.1} to {:.1})", s.mean, s.least, s.most);
            share.map_or_else(|| "–".to_owned(), text)
        };
        let twice = twice.map_or("–", |(_, name)| name);
        rows.row([&situation.to_string(), best, &cell(m_c), &cell(m_w), twice]);
    }
    add(page, &rows);
}

/// The algorithms that judge at an end, the recommended one first.
fn algorithms(results: &[SweepResult], at: &str) -> Vec<String> {
    let metrics = results.iter().flat_map(|result| result.metrics.keys());
    let names = metrics.filter_map(|metric| metric.strip_prefix(&format!("{at}.M_c.")));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort_by_key(|name| (name != RECOMMENDED, name.clone()));
    names.dedup();
    names
}

/// All losses of a group together: a table per place where algorithms judge, a row per algorithm.
fn verdicts(page: &mut String, results: &[SweepResult]) {
    page.push_str(
        "## Verdicts\n\n\
         Percent of all losses of that cause together: M_c, congestion losses called wireless, and M_w, wireless losses not called\n\
         wireless; undecided and timeouts count as called congestion. By the link's times, an algorithm for receivers gets\n\
         every transmission with its exact trip time.\n\n",
    );
    let groups = Group::all(results);
    let places = ["sender", "receiver", "link"];
    let titles = ["at the sender", "at the receiver", "by the link's times"];
    for (at, title) in places.into_iter().zip(titles) {
        let head =
            groups.iter().flat_map(|group| [format!("{}: M_c", group.name), "M_w".to_owned()]);
        let mut table = Table::new([title.to_owned()].into_iter().chain(head)).numbers(1..);
        for name in algorithms(results, at) {
            let cells = groups.iter().flat_map(|group| {
                ["congestion", "wireless"].map(|cause| group.wrong(at, cause, &name))
            });
            table.row([name.clone()].into_iter().chain(cells));
        }
        add(page, &table);
    }
}
