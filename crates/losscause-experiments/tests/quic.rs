//! `reproduce quic` as a whole, in short runs.
#![allow(clippy::unwrap_used)] // In tests.

use std::ops::ControlFlow;

use losscause_experiments::live::Experiment;
use losscause_laboratory::papers::reproduce::{Only, Reproduction};
use losscause_laboratory::sweep::Sweep;
use losscause_study::{Context, Jobs, Scenario, Setting, Workers};

/// Runs of eight seconds; the first three do not count.
fn measured(items: &[&str], only: &[&str], runs: u32, jobs: usize) -> Reproduction {
    let only = only.iter().map(|text| Only::parse(text).unwrap()).collect();
    let short = ["duration_s=8", "measure.from_s=3"].map(|text| Setting::parse(text).unwrap());
    let (experiment, selection) = Experiment::select(items, only).unwrap();
    let plan = Experiment::plan(&selection, Some(runs), 1, &short).unwrap();
    experiment.execute(plan, Jobs::new(jobs).unwrap(), None, |_| ()).unwrap()
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

#[test]
fn a_sweep_runs_on_simulator_quinn_and_noq() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = "title = \"a download\"\nduration_s = 8\n[parameters]\nloss = 0.01\n[tcp]\nmode = \"linux\"\n\
        [[link]]\nname = \"line\"\nrate_bps = 10e6\ndelay_ms = 20\nqueue_packets = 40\n\
        channel = { kind = \"bernoulli\", loss = \"loss\" }\n\
        [[flow]]\nname = \"down\"\nprotocol = \"tcp\"\nvariant = \"cubic\"\npath = [\"line\"]\n";
    std::fs::write(folder.path().join("scenario.toml"), scenario).unwrap();
    let sweep = r#"
        title = "Spike before CUBIC on three stacks"
        scenario = "scenario.toml"
        stacks = ["simulator", "quinn", "noq"]
        runs = 2
        metrics = ["goodput", "wireless_drops", "M_w"]
        [[system]]
        name = "CUBIC"
        [[system]]
        name = "with Spike"
        set = ["flow.down.lda=Spike"]
        [[claim]]
        text = "with Spike, CUBIC carries more"
        metric = "goodput"
        of = { system = "with Spike" }
        is = "at-least"
        times = 1.2
        than = { system = "CUBIC" }
    "#;
    let stacks = losscause_experiments::stacks();
    let path = folder.path().join("sweep.toml");
    let sweep = Sweep::parse_on(sweep, &path, &Context::default(), &stacks).unwrap();
    let run = |jobs| {
        let jobs = Jobs::new(jobs).unwrap();
        sweep.execute(jobs, None, |_| ControlFlow::Continue(())).unwrap().result.unwrap()
    };
    let result = run(2);
    assert_eq!(result, run(1), "virtual time does not depend on threads");
    let claim = &result.claims[0];
    println!("{}", claim.in_words());
    assert_eq!((claim.holds, claim.places), (Some(true), 3), "{}", claim.in_words());
    // Every hundredth of some 3,000 packets.
    for cell in &result.cells {
        let lost = cell.rows[1].measured.unwrap();
        assert!((5.0..100.0).contains(&lost), "{:?}", cell.rows);
    }
}

#[test]
fn a_scenario_of_quic_runs_on_stacks_of_quic_alone() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = "title = \"a download\"\nduration_s = 6\n[[link]]\nname = \"line\"\nrate_bps = 10e6\n\
        delay_ms = 20\nqueue_packets = 40\n[[flow]]\nname = \"down\"\nprotocol = \"quic\"\nvariant = \"cubic\"\n\
        path = [\"line\"]\n";
    std::fs::write(folder.path().join("scenario.toml"), scenario).unwrap();
    let path = folder.path().join("sweep.toml");
    let sweep = |stacks: &str| {
        let text = format!(
            "title = \"QUIC\"\nscenario = \"scenario.toml\"\nmetrics = [\"goodput\"]\nruns = 1\n{stacks}\
             [[axis]]\nname = \"queue\"\nkey = \"link.line.queue_packets\"\nvalues = [40]\n"
        );
        Sweep::parse_on(&text, &path, &Context::default(), &losscause_experiments::stacks())
    };
    let run =
        |sweep: Sweep| sweep.execute(Jobs::new(1).unwrap(), None, |_| ControlFlow::Continue(()));
    for stacks in ["", "stacks = [\"simulator\"]\n", "stacks = [\"captures\"]\n"] {
        let refusal = run(sweep(stacks).unwrap()).unwrap_err().to_string();
        assert!(refusal.contains("only QUIC runs it, expected `losscause simulate`"), "{refusal}");
    }
    let result = run(sweep("stacks = [\"quinn\"]\n").unwrap()).unwrap().result.unwrap();
    let swept = result.cells[0].rows[0].measured.unwrap();
    assert!((8_500.0..10_000.0).contains(&swept), "{swept} kb/s");
    let experiment = Scenario::parse(scenario, "scenario.toml", &Context::default());
    let experiment = experiment.unwrap().experiment().unwrap();
    let workers = Workers::from(Jobs::new(1).unwrap());
    let stacks = losscause_experiments::stacks();
    let alone = stacks.repeat("quinn", &experiment, 1, 1, &workers, |_| ()).unwrap();
    assert_eq!(alone[0].metric("goodput"), Some(swept), "the same run by itself");
}
