//! The disciplines against ns-3's: the same arrivals at the same links (`validation/ns3`).
//!
//! `validation/ns3/comparison.md` is what comes out. If a change moves it, the change's message
//! says why; `UPDATE_GOLDEN=1 cargo test -p losscause-sim --lib queue::comparison` writes it anew.

mod bench;
mod cells;
mod page;

use std::path::{Path, PathBuf};
use std::thread;

use losscause::Span;

use super::{FqCoDel, QueueDiscipline};
use crate::rng::Stream;
use crate::topology::{CoDelSpec, FqCoDelSpec, Limit, PieSpec, QueueSpec};
use bench::Figures;
use cells::Cell;
use page::{Reference, Statistics};

const RUNS: u32 = 10;
/// The first from which FQ-CoDel puts no two flows of a cell into one sub-queue in any run, as in
/// `queues.cc`.
const FIRST_SEED: u64 = 19;
/// Shares of dropped and marked packets and median delays agree within this.
const TOLERANCE: f64 = 0.1;
/// Smaller shares are compared absolutely, to a tenth of this, percent.
const SMALL_SHARE: f64 = 0.5;

/// A discipline with its settings as ns-3 reads the RFC, and with its default ones.
struct Discipline {
    key: &'static str,
    title: &'static str,
    as_ns3: fn(&Cell) -> QueueSpec,
    default: fn(&Cell) -> QueueSpec,
    /// How the two differ.
    differs: &'static str,
}

/// ns-3 drops while 1500 bytes or more wait behind a packet, RFC 8289 while *more* than the MTU
/// does.
const NS3_MTU: u32 = 1499;
const CODEL_DIFFERS: &str = "As ns-3: `mtu_bytes` 1499, so that a packet may be dropped while one of 1500 bytes waits \
                             behind it; RFC 8289 forbids it. It matters where queues of one or two packets stand: on \
                             slow links, and in FQ-CoDel's sub-queues.";

const DISCIPLINES: [Discipline; 3] = [
    Discipline {
        key: "fq_codel",
        title: "FQ-CoDel",
        as_ns3: |cell| QueueSpec::FqCoDel(fq_codel(cell, NS3_MTU)),
        default: |cell| QueueSpec::FqCoDel(fq_codel(cell, 1500)),
        differs: CODEL_DIFFERS,
    },
    Discipline {
        key: "pie",
        title: "PIE",
        as_ns3: |cell| QueueSpec::Pie(pie(cell, 1500)),
        default: |cell| QueueSpec::Pie(pie(cell, 1000)),
        differs: "As ns-3: `mean_packet_bytes` 1500, since ns-3 spares packets while two others wait, whatever their size; \
                  RFC 8033 counts bytes.",
    },
    Discipline {
        key: "codel",
        title: "CoDel",
        as_ns3: |cell| QueueSpec::CoDel(codel(cell, NS3_MTU)),
        default: |cell| QueueSpec::CoDel(codel(cell, 1500)),
        differs: CODEL_DIFFERS,
    },
];

fn codel(cell: &Cell, mtu_bytes: u32) -> CoDelSpec {
    CoDelSpec { ecn: cell.ecn, mtu_bytes, ..CoDelSpec::new(Limit::Packets(cell.limit_pkts)) }
}

fn fq_codel(cell: &Cell, mtu_bytes: u32) -> FqCoDelSpec {
    FqCoDelSpec {
        codel: codel(cell, mtu_bytes),
        ..FqCoDelSpec::new(Limit::Packets(cell.limit_pkts))
    }
}

fn pie(cell: &Cell, mean_packet_bytes: u32) -> PieSpec {
    PieSpec { ecn: cell.ecn, mean_packet_bytes, ..PieSpec::new(Limit::Packets(cell.limit_pkts)) }
}

/// What our queue did to a group of flows, beside ns-3's.
struct Comparison {
    cell: String,
    group: String,
    ns3: Reference,
    as_ns3: Statistics,
    default: Statistics,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ns3")
}

fn file(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// All runs of a cell; those of the group "all" are of every flow.
fn runs(cell: &Cell, spec: QueueSpec) -> impl Fn(&str) -> Statistics {
    let runs: Vec<_> = (0..RUNS).map(|run| bench::run(cell, queue(spec, run), run)).collect();
    move |group| {
        let of_group = runs.iter().map(|groups| {
            let mut figures = Figures::default();
            for (_, part) in groups.iter().filter(|(name, _)| group == "all" || group == *name) {
                figures.add(part);
            }
            figures
        });
        Statistics::of(of_group)
    }
}

fn queue(spec: QueueSpec, run: u32) -> Box<dyn QueueDiscipline> {
    super::managed(&spec, Span::ZERO, stream(run)).unwrap()
}

/// What PIE draws from in this run, and FQ-CoDel's salt.
fn stream(run: u32) -> Stream {
    Stream::new(FIRST_SEED + u64::from(run), "link/comparison/queue")
}

fn compare(discipline: &Discipline, cells: &[Cell], references: &[Reference]) -> Vec<Comparison> {
    let mut comparisons = vec![];
    for cell in cells {
        let as_ns3 = runs(cell, (discipline.as_ns3)(cell));
        let default = runs(cell, (discipline.default)(cell));
        let lines = references
            .iter()
            .filter(|line| line.discipline == discipline.key && line.cell == cell.name);
        comparisons.extend(lines.filter(|line| line.group != "bulk").map(|ns3| Comparison {
            cell: cell.name.clone(),
            group: ns3.group.clone(),
            ns3: ns3.clone(),
            as_ns3: as_ns3(&ns3.group),
            default: default(&ns3.group),
        }));
    }
    comparisons
}

#[test]
fn drop_shares_and_median_delays_are_ns3s_within_ten_percent() {
    let cells = cells::parse(&file("cells.txt"));
    let references = Reference::parse(&file("figures.csv"));
    let sections: Vec<Vec<Comparison>> = thread::scope(|scope| {
        let workers = DISCIPLINES
            .each_ref()
            .map(|discipline| scope.spawn(|| compare(discipline, &cells, &references)));
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let page = page::page(DISCIPLINES.iter().zip(&sections));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(folder().join("comparison.md"), &page).unwrap();
    }
    for (discipline, comparisons) in DISCIPLINES.iter().zip(&sections) {
        for Comparison { cell, group, ns3, as_ns3, .. } in comparisons {
            let what = format!("{} {cell} {group}", discipline.key);
            for (ours, theirs) in [(as_ns3.dropped, ns3.dropped), (as_ns3.marked, ns3.marked)] {
                // A small group's share is too uncertain: over PIE's runs it varies by a fifth.
                let within = TOLERANCE * theirs.max(SMALL_SHARE);
                assert!(
                    group != "all" || (ours - theirs).abs() <= within,
                    "{what}: {ours} %, ns-3 {theirs} %"
                );
            }
            let ours = as_ns3.median_ms;
            let theirs = ns3.median_ms;
            assert!(
                (ours / theirs - 1.0).abs() <= TOLERANCE,
                "{what}: median {ours} ms, ns-3 {theirs} ms"
            );
        }
    }
    let golden = file("comparison.md");
    assert!(page == golden, "the page has changed:\n{page}");
}

#[test]
fn the_salts_of_the_comparison_keep_its_flows_apart() {
    for cell in cells::parse(&file("cells.txt")) {
        for run in 0..RUNS {
            let queue = FqCoDel::new(fq_codel(&cell, 1500), stream(run));
            let mut numbers: Vec<u32> =
                (0..cell.flows.len() as u32).map(|flow| queue.queue_of(flow)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), cell.flows.len(), "{} run {run}", cell.name);
        }
    }
}
