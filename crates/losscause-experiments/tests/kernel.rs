//! Two cells over the emulator: programs are loaded, run, judged and unloaded. Needs root, TUN, BTF
//! and clang; without them the test says so, and fails if CI is set.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "common/hang.rs"]
mod hang;

use std::ops::ControlFlow;
use std::path::Path;

use losscause_experiments::live::Experiment;
use losscause_laboratory::papers::reproduce::{Only, Plan, Reproduction};
use losscause_laboratory::sweep::{Overrides, Sweep};
use losscause_linux::kernel::status;
use losscause_study::{Context, Jobs, RunError, Setting, Stop, Workers};

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

fn plan(only: &[&str], seconds: i64) -> (&'static Experiment, Plan) {
    let only = only.iter().map(|text| Only::parse(text).unwrap()).collect();
    let (experiment, selection) = Experiment::select(&["live"], only).unwrap();
    let seconds = Setting::new("duration_s", seconds);
    (experiment, Experiment::plan(&selection, Some(1), 1, &[seconds]).unwrap())
}

/// None, with the reason printed, if this machine cannot run it.
fn execute(
    (experiment, plan): (&Experiment, Plan),
    stop: &Stop,
) -> Option<Result<Reproduction, RunError>> {
    let workers = Workers::from(Jobs::new(2).unwrap()).stopping_at(stop);
    match experiment.execute(plan, workers, None, |_| {}) {
        Err(error) if error.is_bad_input() => {
            assert!(std::env::var_os("CI").is_none(), "skipped, which CI forbids: {error}");
            println!("skipped: {error}");
            None
        }
        outcome => Some(outcome),
    }
}

fn is_loaded(name: &str) -> bool {
    std::fs::read_to_string(AVAILABLE).unwrap().split_whitespace().any(|known| known == name)
}

/// One test: a name can be loaded once.
#[test]
fn cells_run_in_kernel_and_simulator_and_nothing_is_left() {
    let Some(outcome) =
        execute(plan(&["system=reno,lc_westwood_vt", "loss=0.02"], 8), &Stop::new())
    else {
        return;
    };
    assert!(!is_loaded("lc_westwood_vt"));
    let reproduction = outcome.unwrap();
    assert!(reproduction.items.iter().all(|item| item.runs == 1), "a run was left out");
    let value = |system: &str, metric: &str| {
        let mut items = reproduction.items.iter();
        items.find(|item| item.system == system && item.metric == metric).unwrap().measured
    };
    let kbps = |system, metric| value(system, metric).unwrap();
    println!("{:?}", reproduction.answer);
    // The link has 10 Mb/s. In the simulator the same link and losses give the kernel's Reno a rate
    // of the same order.
    let of_simulated = kbps("reno", "goodput") / kbps("reno", "simulated_goodput");
    println!("{of_simulated} of the simulated goodput");
    assert!(
        (0.1..2.0).contains(&of_simulated) && kbps("reno", "goodput") < 10_000.0,
        "{:?}",
        value("reno", "goodput")
    );
    assert!(kbps("lc_westwood_vt", "goodput") > 1.5 * kbps("reno", "goodput"));
    assert!((300.0..9_000.0).contains(&kbps("reno", "simulated_goodput")));
    assert!(kbps("reno", "retransmissions") > 0.0);
    assert_eq!((value("reno", "M_w"), value("lc_westwood_vt", "simulated_goodput")), (None, None));
    // Few of the random losses find 16 packets in the queue.
    assert!(kbps("lc_westwood_vt", "M_w") < 50.0);

    // A stop ends a run, and unloads as well. By itself this one would take a day.
    let stop = Stop::new();
    let told = stop.clone();
    let stopped = std::thread::spawn(move || {
        execute(plan(&["system=lc_zigzag", "loss=0"], 86_400), &stop).unwrap()
    });
    hang::wait_until("a connection of the run is open", || {
        status(Some("lc_zigzag")).is_ok_and(|found| !found[0].connections.is_empty())
    });
    told.request();
    hang::wait_until("the run that was told to stop is over", || stopped.is_finished());
    assert!(matches!(stopped.join().unwrap(), Err(RunError::Stopped(_))));
    assert!(!is_loaded("lc_zigzag"));

    a_sweep_runs_by_simulator_and_kernel();
    the_simulated_tcp_agrees_with_the_kernels();
    assert!(!is_loaded("lc_westwood_vt"));
}

/// The experiment that comes with the scenarios, shortened: two files of TOML, and no line of Rust.
fn a_sweep_runs_by_simulator_and_kernel() {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = [scenarios.join("policer.toml"), scenarios.join("sweeps/policer.toml")];
    let lines: usize =
        files.iter().map(|file| std::fs::read_to_string(file).unwrap().lines().count()).sum();
    assert!(lines <= 40, "{lines} lines");
    let short = Overrides { runs: Some(1), seed: None, set: vec![Setting::new("duration_s", 3)] };
    let stacks = losscause_experiments::stacks();
    let sweep = Sweep::load_on(&files[1], &Context::default(), &stacks).unwrap().with(&short);
    let outcome =
        sweep.unwrap().execute(Jobs::new(2).unwrap(), None, |_| ControlFlow::Continue(()));
    let result = outcome.unwrap().result.unwrap();
    println!("{}", result.claims[0].in_words());
    let goodput =
        |cell: usize, system: usize| result.cells[cell].rows[2 * system].measured.unwrap();
    assert_eq!((result.cells.len(), result.claims[0].places), (4, 4));
    // The policer lets 8 Mb/s through, and the bucket 64 kB at once: 171 kb/s over 3 s.
    for (cell, system) in [(0, 0), (1, 0), (1, 1)] {
        assert!(
            (1_000.0..8_200.0).contains(&goodput(cell, system)),
            "{:?}",
            result.cells[cell].rows
        );
    }
    // CUBIC's simulated copy follows the kernel's.
    let ratio = goodput(0, 0) / goodput(1, 0);
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
}

/// Three cells of `validation/linux/sweep.toml`, with its claims. A cell whose runs this machine
/// disturbed does not count.
fn the_simulated_tcp_agrees_with_the_kernels() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/linux/short.toml");
    let stacks = losscause_experiments::stacks();
    let sweep = Sweep::load_on(&file, &Context::default(), &stacks).unwrap();
    let outcome = sweep.execute(Jobs::new(2).unwrap(), None, |_| ControlFlow::Continue(()));
    let result = outcome.unwrap().result.unwrap();
    for cell in &result.cells {
        println!("{:?}: left out {:?}", cell.cell.values, cell.left_out);
    }
    for claim in &result.claims {
        println!("{}", claim.in_words());
        assert_ne!(claim.holds, Some(false), "{}", claim.in_words());
    }
    assert!(result.claims.iter().any(|claim| claim.holds == Some(true)), "nothing was compared");
}
