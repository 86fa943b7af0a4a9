//! `reproduce media` as a whole, in few runs.
#![allow(clippy::unwrap_used)] // In tests.

use std::ops::ControlFlow;

use losscause_experiments::live::Experiment;
use losscause_laboratory::papers::reproduce::{Only, Reproduction};
use losscause_laboratory::sweep::Sweep;
use losscause_study::{Context, Jobs};

fn measured(items: &[&str], only: &[&str], runs: u32, jobs: usize) -> Reproduction {
    let only = only.iter().map(|text| Only::parse(text).unwrap()).collect();
    let (experiment, selection) = Experiment::select(items, only).unwrap();
    let plan = Experiment::plan(&selection, Some(runs), 1, &[]).unwrap();
    experiment.execute(plan, Jobs::new(jobs).unwrap(), None, |_| ()).unwrap()
}

fn value(of: &Reproduction, system: &str, metric: &str) -> f64 {
    let item = of.items.iter().find(|item| item.system == system && item.metric == metric);
    item.and_then(|item| item.measured).unwrap_or_else(|| panic!("{system} {metric}"))
}

#[test]
fn the_seed_fixes_the_json_for_any_number_of_threads() {
    let only = ["system=none,ZBS", "loss=high"];
    let json = |jobs| serde_json::to_string(&measured(&["media/wlh"], &only, 2, jobs)).unwrap();
    let first = json(1);
    assert!(first.contains("\"ZBS\""), "{first}");
    assert_eq!(first, json(2));
}

#[test]
fn zbs_fills_cens_last_hop_and_plain_tfrc_does_not() {
    let of = measured(&["media/wlh"], &["system=none,oracle,ZBS", "loss=high"], 6, 2);
    let usage = |system: &str| value(&of, system, "usage");
    assert!(usage("ZBS") >= 95.0, "{}", usage("ZBS"));
    assert!(usage("none") < usage("ZBS") - 10.0, "{}", usage("none"));
    assert_eq!((value(&of, "none", "M_w"), value(&of, "oracle", "M_w")), (100.0, 0.0));
    let answer = of.answer.as_deref().unwrap();
    assert!(
        answer.starts_with(
            "On Cen's wireless last hop with one flow and high loss, a stream with ZBS uses 9"
        ),
        "{answer}"
    );
    let settled: Vec<(&str, Option<bool>)> =
        of.claims.iter().map(|claim| (claim.id.as_str(), claim.holds)).collect();
    let expected = [
        ("rate-of-simulated", None),
        ("rate-of-simulated.radio", None),
        ("zbs-fills-the-last-hop", Some(true)),
        ("plain-does-not", Some(true)),
    ];
    assert_eq!(settled, expected, "not every cell of the first was measured");
}

#[test]
fn an_algorithm_wrong_about_all_congestion_loses_to_the_queue() {
    let of = measured(&["media/wlh"], &["system=oracle,always wireless", "loss=high"], 2, 2);
    let drops = |system: &str| value(&of, system, "queue_drops");
    assert!(
        drops("always wireless") > 5.0 * drops("oracle"),
        "{} and {}",
        drops("always wireless"),
        drops("oracle")
    );
    assert_eq!(value(&of, "always wireless", "M_c"), 100.0);
}

#[test]
fn a_sweep_runs_on_simulator_and_media() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = "title = \"a stream\"\nduration_s = 20\n[measure]\nfrom_s = 5\nbottleneck = \"radio\"\n\
        [tfrc]\nmode = \"rfc5348\"\n\
        [[link]]\nname = \"radio\"\nrate_bps = 2e6\ndelay_ms = 20\nqueue_packets = 20\n\
        [[flow]]\nname = \"video\"\nprotocol = \"tfrc\"\npath = [\"radio\"]\n";
    std::fs::write(folder.path().join("scenario.toml"), scenario).unwrap();
    let sweep = "title = \"a stream on two stacks\"\nscenario = \"scenario.toml\"\nruns = 1\n\
        stacks = [\"simulator\", \"media\"]\nmetrics = [\"goodput\", \"queue_drops\"]\n";
    let parsed = |text: &str| {
        let path = folder.path().join("sweep.toml");
        let stacks = losscause_experiments::stacks();
        Sweep::parse_on(text, &path, &Context::default(), &stacks).unwrap()
    };
    // Both count queue drops, but in other units.
    let refused = parsed(sweep).execute(Jobs::default(), None, |_| ControlFlow::Continue(()));
    assert!(refused.unwrap_err().to_string().contains("expected one unit"));
    let sweep = parsed(&sweep.replace(", \"queue_drops\"", ""));
    let outcome = sweep.execute(Jobs::default(), None, |_| ControlFlow::Continue(()));
    let result = outcome.unwrap().result.unwrap();
    let goodput: Vec<f64> =
        result.cells.iter().map(|cell| cell.rows[0].measured.unwrap()).collect();
    assert!(goodput.iter().all(|kbps| (1_500.0..2_000.0).contains(kbps)), "{goodput:?}");
}
