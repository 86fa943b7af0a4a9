//! The benchmark as a whole: rows, classes, threads.
#![allow(clippy::unwrap_used)]

use losscause::lda::Constant;
use losscause::registry::{ConfigError, Info, Origin, Parameters};
use losscause::{AnyAlgorithm, Verdict};
use losscause_experiments::drawn::{Found, RunList};
use losscause_experiments::paths::benchmark::{Plan, Row};
use losscause_experiments::paths::{Benchmark, InLoop, in_loop};
use losscause_report::map_html;
use losscause_study::registry;
use losscause_study::{Jobs, Stop, Workers};

/// An algorithm of a user.
#[derive(Clone)]
struct Optimist;

impl Parameters for Optimist {
    fn info(&self) -> &'static Info {
        const { &Info::new("optimist", "every loss is wireless") }
    }

    fn build(&self, _: losscause::End) -> Result<AnyAlgorithm, ConfigError> {
        Ok(AnyAlgorithm::boxed(Constant::new(Verdict::Wireless)))
    }
}

fn measured(jobs: usize) -> Benchmark {
    let registry = registry().with(Optimist).unwrap();
    let workers = Workers::from(Jobs::new(jobs).unwrap());
    Plan::new(&registry, 1, 8).measure(&workers, None, |_, _| ()).unwrap()
}

#[test]
fn every_algorithm_is_a_row_and_the_constants_errors_sum_to_one() {
    let benchmark = measured(2);
    assert_eq!(Plan::new(&registry(), 1, 8).runs().len(), 16);
    for at in &benchmark.vantages {
        let row = |name: &str| at.algorithms.iter().find(|row| row.algorithm == name);
        let error = |name: &str| row(name).and_then(|row: &Row| row.error).unwrap().value;
        assert_eq!(row("optimist").unwrap().origin, Origin::Other);
        assert_eq!(error("optimist"), error("always wireless"));
        assert!(
            row("omniscient").is_none() && row("labelled").is_none(),
            "they are told the truth"
        );
        assert_eq!(row("Sift").unwrap().origin, Origin::Other);
        assert_eq!(
            row("fqRTT").map(|row| row.origin),
            (at.vantage == "sender").then_some(Origin::Yardstick)
        );
        assert_eq!(row(at.best_published.unwrap()).unwrap().origin, Origin::Published);
        // What one constant has right the other has wrong; but at a sender no rule of receivers
        // decides about a loss in a gap that is no longer remembered.
        let sum = error("always congestion") + error("always wireless");
        let most = if at.vantage == "receiver" { 1e-9 } else { 0.01 };
        assert!((sum - 1.0).abs() < most, "{sum}");
        assert!(
            at.best_per_path.unwrap().value
                <= row(at.best_published.unwrap()).unwrap().error.unwrap().value
        );
        assert!(
            at.best_per_path.unwrap().value <= at.best_by_halves.unwrap().value,
            "luck helps hindsight"
        );
        assert!(
            at.algorithms
                .windows(2)
                .all(|pair| pair[0].error.unwrap().value <= pair[1].error.unwrap().value)
        );
        let scored =
            at.by_path.iter().filter(|path| path.errors.iter().all(Option::is_some)).count();
        assert_eq!(scored, at.scored_paths);
        for factor in ["queue", "losses"] {
            let levels = at.levels.iter().filter(|level| level.factor == factor);
            assert_eq!(
                levels.map(|level| level.paths).sum::<usize>(),
                at.scored_paths,
                "each path has one {factor}"
            );
        }
        for level in at.levels.iter().filter(|level| level.paths > 0) {
            let hindsight = level.best_per_path.unwrap();
            let rows = at
                .algorithms
                .iter()
                .zip(&level.errors)
                .filter(|(row, _)| row.origin == Origin::Published);
            assert!(
                rows.clone().count() > 5
                    && rows.into_iter().all(|(_, error)| hindsight <= error.unwrap() + 1e-12)
            );
        }
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let one = measured(1);
    let two = measured(2);
    assert_eq!(one, two);
    let [page, other] = [&one, &two].map(|found| found.shown(""));
    assert_eq!((map_html(&page.page), &page.csv), (map_html(&other.page), &other.csv));
    assert_eq!(
        page.csv.lines().count(),
        1 + 8 * one.vantages.iter().map(|at| at.algorithms.len()).sum::<usize>()
    );
}

#[test]
fn a_stop_ends_the_benchmark() {
    let stop = Stop::new();
    stop.request();
    let workers = Workers::from(Jobs::default()).stopping_at(&stop);
    assert!(Plan::new(&registry(), 1, 4).measure(&workers, None, |_, _| ()).is_err());
}

#[test]
fn in_the_loop_the_omniscient_one_calls_no_congestion_wireless() {
    let names = ["always congestion".to_owned(), "always wireless".to_owned()];
    let plan = in_loop::Plan::new(&registry(), &names, 1, 3, 2).unwrap();
    let found: InLoop = plan.measure(&Workers::from(Jobs::default()), None, |_, _| ()).unwrap();
    assert_eq!(found.runs.len(), plan.runs().len());
    for row in &found.rows {
        match row.algorithm.as_str() {
            "always congestion" => {
                let cost = row.queue_loss_points.unwrap();
                let gain = row.over_base.unwrap();
                assert_eq!((cost.least, cost.most, gain.least, gain.most), (0.0, 0.0, 1.0, 1.0));
            }
            "always congestion, other seeds" => {
                let cost = row.queue_loss_points.unwrap();
                assert!(cost.least < 0.0 || cost.most > 0.0, "chance differs: {row:?}");
            }
            "omniscient" => assert!(row.m_c.is_none_or(|m_c| m_c.most == 0.0)),
            _ => assert!(row.m_c.is_none_or(|m_c| m_c.least == 1.0), "{row:?}"),
        }
    }
    let shown = found.shown("");
    assert!(
        map_html(&shown.page).contains("always wireless")
            && shown.csv.lines().count() == 1 + found.runs.len()
    );
}
