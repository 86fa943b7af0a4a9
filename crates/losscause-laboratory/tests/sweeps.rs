//! The sweeps that come with the papers fit the scenarios they change.
#![allow(clippy::unwrap_used)] // In a test, a panic is the report.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use losscause_laboratory::sweep::{Row, Sweep, SweepResult};
use losscause_study::{Context, Jobs, Scenario, run};

#[test]
fn every_cell_of_the_papers_sweeps_can_be_measured() {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("papers");
    let mut loaded = Vec::new();
    for paper in std::fs::read_dir(papers).unwrap() {
        let Ok(sweeps) = std::fs::read_dir(paper.unwrap().path().join("sweeps")) else { continue };
        let files = sweeps.map(|file| file.unwrap().path());
        loaded.extend(files.map(|file| Sweep::load(&file, &Context::default()).unwrap()));
    }
    let cells = loaded.iter().map(|sweep| (sweep, sweep.cells()));
    let cells: Vec<_> =
        cells.flat_map(|(sweep, cells)| cells.into_iter().map(move |cell| (sweep, cell))).collect();
    assert!(cells.len() >= 30, "only {} cells were found", cells.len());
    let next = AtomicUsize::new(0);
    let check = || {
        while let Some((sweep, cell)) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
            sweep.check(cell).unwrap();
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, usize::from))
            .for_each(|_| _ = scope.spawn(check));
    });
}

/// A source of 125 packets a second over a link that carries 250; a tenth is corrupted, and which
/// depends on the seed.
const SCENARIO: &str = r#"
title = "a lossy link"
duration_s = 40
[measure]
bottleneck = "line"
[[link]]
name = "line"
rate_bps = 2e6
delay_ms = 1
queue_packets = 3
channel = { kind = "bernoulli", loss = 0.1 }
[[flow]]
name = "source"
protocol = "cbr"
path = ["line"]
rate_bps = 1e6
packet_bytes = 1000
measured = true
"#;

const SWEEP: &str = r#"
title = "which seeds, which settings"
mode = "grid"
runs = 3
seed = 5
scenario = "s.toml"
metrics = ["wireless_drops", "thput"]
[[system]]
name = "as it is"
[[system]]
name = "half"
set = ["flow.source.rate_bps=0.5e6"]
[[axis]]
name = "loss"
values = [{ name = "a tenth" }, { name = "none", set = ["link.line.channel={kind=\"perfect\"}"] }]
[[axis]]
name = "link"
values = [{ name = "2 Mb/s" }, { name = "4 Mb/s", set = ["link.line.rate_bps=4e6"] }]
"#;

fn result(sweep: &str) -> SweepResult {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("s.toml"), SCENARIO).unwrap();
    let sweep =
        Sweep::parse(sweep, &directory.path().join("sweep.toml"), &Context::default()).unwrap();
    let outcome = sweep.execute(Jobs::default(), None, |_| ControlFlow::Continue(())).unwrap();
    outcome.result.unwrap()
}

fn rows(sweep: &str, cell: usize) -> Vec<Row> {
    result(sweep).cells[cell].rows.clone()
}

#[test]
fn systems_need_no_axis() {
    let (systems, _) = SWEEP.split_once("[[axis]]").unwrap();
    let result = result(systems);
    let [table] = &result.pivots()[..] else { panic!("one table") };
    let csv = table.csv();
    let rows: Vec<&str> = csv.lines().collect();
    let [head, whole, half] = rows[..] else { panic!("{csv}") };
    assert_eq!(head, "system,wireless_drops packets,thput %");
    assert!(whole.starts_with("as it is,") && half.starts_with("half,"), "{csv}");
}

#[test]
fn run_k_of_every_cell_and_system_has_the_sweeps_seed_plus_k() {
    let experiment =
        Scenario::parse(SCENARIO, "s.toml", &Context::default()).unwrap().experiment().unwrap();
    let drops = |seed| run(&experiment, seed).unwrap().metric("wireless_drops").unwrap();
    let other: Vec<f64> = (4..9).map(drops).collect();
    let drops: Vec<f64> = (5..8).map(drops).collect();
    let sum = |three: &[f64]| three.iter().sum::<f64>();
    let is_told = |three: &[f64]| three == drops || sum(three) != sum(&drops);
    assert!(other.windows(3).all(is_told), "{other:?}");
    // Means, and Student's half-width with two degrees of freedom, 4.3027 s / sqrt(3), from these
    // three numbers.
    let mean = drops.iter().sum::<f64>() / 3.0;
    let variance = drops.iter().map(|drop| (drop - mean).powi(2)).sum::<f64>() / 2.0;
    // The link's rate changes no error: cells 0 and 1 are paired by their seeds.
    for cell in [0, 1] {
        let row = &rows(SWEEP, cell)[0];
        let found = (row.system.as_str(), row.metric.as_str(), row.runs);
        assert_eq!(found, ("as it is", "wireless_drops", 3));
        assert!((row.measured.unwrap() - mean).abs() < 1e-9, "cell {cell}: {row:?}, {drops:?}");
        let ci95 = 4.302_653 * (variance / 3.0).sqrt();
        assert!((row.ci95.unwrap() - ci95).abs() < 1e-3, "cell {cell}: {row:?}");
    }
}

#[test]
fn every_row_has_the_value_of_its_own_system_and_metric() {
    // Of 2 Mb/s, 1 Mb/s are 50 % and 0.5 Mb/s 25 %; of 4 Mb/s, half of that. Without errors nothing
    // is lost.
    for (cell, whole) in [(0, 50.0), (1, 25.0), (2, 50.0), (3, 25.0)] {
        let rows = rows(SWEEP, cell);
        let names: Vec<_> =
            rows.iter().map(|row| (row.system.as_str(), row.metric.as_str())).collect();
        let expected =
            ["as it is", "half"].map(|system| [(system, "wireless_drops"), (system, "thput")]);
        assert_eq!(names, expected.concat());
        assert!((rows[1].measured.unwrap() - whole).abs() < 0.05, "{:?}", rows[1]);
        assert!((rows[3].measured.unwrap() - whole / 2.0).abs() < 0.05, "{:?}", rows[3]);
        assert_eq!(rows[0].measured == Some(0.0), cell >= 2, "{:?}", rows[0]);
    }
}

#[test]
fn a_metric_is_read_from_the_one_that_the_cell_names() {
    let other = SWEEP.replace(
        "name = \"4 Mb/s\", set = [\"link.line.rate_bps=4e6\"]",
        "name = \"intact\", metrics = { thput = \"thput_intact\" }",
    );
    let crossed = rows(&other, 0)[1].clone();
    let intact = rows(&other, 1)[1].clone();
    assert_eq!((crossed.metric.as_str(), intact.metric.as_str()), ("thput", "thput"));
    let lost = rows(&other, 0)[0].measured.unwrap() / 5000.0;
    assert!(
        (intact.measured.unwrap() - crossed.measured.unwrap() * (1.0 - lost)).abs() < 0.05,
        "{intact:?}"
    );
}
