//! Figures, ns-3's and ours, and the page that shows them side by side.

use std::fmt::Write;

use losscause::Span;

use super::bench::Figures;
use super::{Comparison, Discipline};

/// A line of `figures.csv`: means over ns-3's runs, and the deviations that the page shows.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) discipline: String,
    pub(super) cell: String,
    pub(super) group: String,
    /// Percent.
    pub(super) dropped: f64,
    pub(super) dropped_sd: f64,
    pub(super) marked: f64,
    pub(super) marked_sd: f64,
    pub(super) median_ms: f64,
    pub(super) median_sd: f64,
    pub(super) p95_ms: f64,
}

/// Ours: means over as many runs.
pub(super) struct Statistics {
    /// Percent.
    pub(super) dropped: f64,
    pub(super) marked: f64,
    pub(super) median_ms: f64,
    pub(super) p95_ms: f64,
}

impl Reference {
    pub(super) fn parse(text: &str) -> Vec<Self> {
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let head = lines.next().unwrap();
        lines
            .map(|words| {
                let word =
                    |name: &str| words[head.iter().position(|column| *column == name).unwrap()];
                let number = |name: &str| word(name).parse().unwrap();
                Self {
                    discipline: word("discipline").to_owned(),
                    cell: word("cell").to_owned(),
                    group: word("group").to_owned(),
                    dropped: number("drop_percent"),
                    dropped_sd: number("drop_sd"),
                    marked: number("mark_percent"),
                    marked_sd: number("mark_sd"),
                    median_ms: number("median_ms"),
                    median_sd: number("median_sd"),
                    p95_ms: number("p95_ms"),
                }
            })
            .collect()
    }
}

impl Statistics {
    pub(super) fn of(runs: impl Iterator<Item = Figures>) -> Self {
        let runs: Vec<Figures> = runs
            .map(|mut figures| {
                figures.delays.sort_unstable();
                figures
            })
            .collect();
        let mean = |of: fn(&Figures) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        Self {
            dropped: mean(|figures| 100.0 * figures.dropped as f64 / figures.arrived as f64),
            marked: mean(|figures| 100.0 * figures.marked as f64 / figures.arrived as f64),
            median_ms: mean(|figures| nearest_rank(&figures.delays, 50)),
            p95_ms: mean(|figures| nearest_rank(&figures.delays, 95)),
        }
    }
}

/// The smallest of these sorted delays that so many percent do not exceed, milliseconds.
fn nearest_rank(sorted: &[Span], percent: usize) -> f64 {
    sorted[(sorted.len() * percent).div_ceil(100) - 1].as_millis_f64()
}

pub(super) fn page<'a>(
    sections: impl Iterator<Item = (&'a Discipline, &'a Vec<Comparison>)>,
) -> String {
    let mut page = "# Queue disciplines beside ns-3's\n\n\
        Ten runs each; README.md says what cells and figures are. Dropped (in `aimd-4-ecn`: marked) in percent of the packets\n\
        in, the delay's median and 95th percentile in ms. ± is the standard deviation over ns-3's runs. \"As ns-3\" is ours with\n\
        ns-3's reading of the RFC, and the difference in percent of ns-3's figure; \"default\" is ours as the RFC has it.\n"
        .to_owned();
    for (discipline, comparisons) in sections {
        section(&mut page, discipline, comparisons);
    }
    page
}

fn section(page: &mut String, discipline: &Discipline, comparisons: &[Comparison]) {
    write!(page, "\n## {}\n\n{}\n\n", discipline.title, wrap(discipline.differs)).unwrap();
    page.push_str("| cell | flows | dropped: ns-3 | as ns-3 | | default | median: ns-3 | as ns-3 | | default ");
    page.push_str("| 95 %: ns-3 | as ns-3 | default |\n");
    page.push_str("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for Comparison { cell, group, ns3, as_ns3, default } in comparisons {
        let share = |ours: &Statistics| ours.dropped + ours.marked;
        let theirs = ns3.dropped + ns3.marked;
        let deviation = ns3.dropped_sd + ns3.marked_sd;
        write!(page, "| {cell} | {group} | {theirs:.2} ± {deviation:.2} ").unwrap();
        write!(page, "| {:.2} | {} ", share(as_ns3), difference(share(as_ns3), theirs)).unwrap();
        write!(page, "| {:.2} ", share(default)).unwrap();
        write!(page, "| {:.2} ± {:.2} ", ns3.median_ms, ns3.median_sd).unwrap();
        let median = as_ns3.median_ms;
        write!(page, "| {median:.2} | {} ", difference(median, ns3.median_ms)).unwrap();
        write!(page, "| {:.2} ", default.median_ms).unwrap();
        let as_ns3 = as_ns3.p95_ms;
        let default = default.p95_ms;
        writeln!(page, "| {:.2} | {as_ns3:.2} | {default:.2} |", ns3.p95_ms).unwrap();
    }
}

fn difference(ours: f64, theirs: f64) -> String {
    if theirs == 0.0 {
        return String::new();
    }
    // Adding 0 makes -0 a 0.
    let percent = (1000.0 * (ours / theirs - 1.0)).round() / 10.0 + 0.0;
    format!("{percent:+.1} %")
}

/// Lines of at most 120 characters.
fn wrap(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        if lines.last().is_some_and(|line| line.len() + word.len() >= 120) {
            lines.push(String::new());
        }
        let line = lines.last_mut().unwrap();
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join("\n")
}
