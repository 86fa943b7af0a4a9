//! `reproduce quic` as a whole, in short runs.
#![allow(clippy::unwrap_used)] // In tests.

use losscause_experiments::live::{Only, Plan, Selection};
use losscause_laboratory::papers::reproduce::Reproduction;
use losscause_study::{Jobs, Setting, Stop};

/// Runs of eight seconds; the first three do not count.
fn measured(items: &[&str], only: &[&str], runs: u32, jobs: usize) -> Reproduction {
    let only = only.iter().map(|text| Only::parse(text).unwrap()).collect();
    let short = ["duration_s=8", "measure.from_s=3"].map(|text| Setting::parse(text).unwrap());
    let plan = Plan::new(&Selection::parse(items, only).unwrap(), Some(runs), 1, &short).unwrap();
    plan.execute(Jobs::new(jobs).unwrap(), &Stop::new(), |_| ()).unwrap().reproduction
}

fn value(of: &Reproduction, system: &str, metric: &str) -> f64 {
    let item = of.items.iter().find(|item| item.system == system && item.metric == metric);
    item.and_then(|item| item.measured).unwrap_or_else(|| panic!("{system} {metric}"))
}

#[test]
fn the_seed_fixes_the_json_for_any_number_of_threads() {
    let systems = "system=quinn-cubic,quinn-cubic+oracle,quinn-cubic+Spike";
    let json = |jobs| {
        serde_json::to_string(&measured(&["quic/loss"], &[systems, "loss=0.01"], 2, jobs)).unwrap()
    };
    let first = json(1);
    assert!(first.contains("\"quinn-cubic+Spike\""), "{first}");
    assert_eq!(first, json(2));
}

#[test]
fn an_oracle_keeps_a_lossy_link_that_quinn_s_cubic_does_not() {
    let of =
        measured(&["quic/loss"], &["system=quinn-cubic,quinn-cubic+oracle", "loss=0.02"], 2, 2);
    let (cubic, oracle) =
        (value(&of, "quinn-cubic", "goodput"), value(&of, "quinn-cubic+oracle", "goodput"));
    assert!(oracle > 3.0 * cubic, "{oracle} and {cubic} kb/s");
    assert_eq!(value(&of, "quinn-cubic", "M_w"), 100.0);
    // Batches without a fresh round-trip time are congestion by rule, so even an oracle is
    // overruled now and then.
    assert!(value(&of, "quinn-cubic+oracle", "M_w") < 20.0);
    let ratio = value(&of, "quinn-cubic+oracle", "goodput_of_base");
    assert!((ratio / (100.0 * oracle / cubic) - 1.0).abs() < 0.2, "{ratio}");
}

#[test]
fn the_competitor_of_a_system_among_its_like_gets_half() {
    let of = measured(&["quic/sharing"], &["system=quinn-cubic"], 2, 2);
    let own = value(&of, "quinn-cubic", "goodput");
    let other = value(&of, "quinn-cubic", "competitor_goodput");
    assert!((17_500.0..19_500.0).contains(&(own + other)), "{own} and {other} kb/s");
    assert!((20.0..80.0).contains(&value(&of, "quinn-cubic", "share")));
}
