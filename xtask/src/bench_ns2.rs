//! `cargo xtask bench-ns2`: the same two simulations in ns-2 and here, and what they cost. A report for a quiet
//! machine, never a test.

use std::process::Command;

use anyhow::{Context, Result};
use losscause_sim::{LinkId, Simulation};
use losscause_study::{Scenario, Setting};
use nix::sys::resource::{UsageWho, getrusage};

use crate::shell::{cargo, command, output, root, run};
use crate::tools::Tool;

/// The scenario that `validation/ns2/wlh.tcl` has, too.
const SCENARIO: &str = "papers/cen2003/scenarios/WLH.toml";
/// 16 flows; independent errors; the 32 bytes of ns-2's TFRC header are a part of
/// the 762 on the wire.
const SETTINGS: [&str; 3] = ["N=16", "link.last.channel={ kind = \"bernoulli\", loss = 0.078 }", "header_bytes=32"];

/// How much to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Three runs instead of twenty, and 400 simulated seconds instead of 4,000
    #[arg(long)]
    short: bool,
}

/// Measures both simulators and prints the ratios.
pub(crate) fn bench_ns2(options: &Options) -> Result<()> {
    Tool::Ns2.ensure()?;
    run(cargo().args(["build", "--quiet", "--release", "-p", "losscause-cli"]))?;
    let (runs, long_s) = if options.short { (3, 400) } else { (20, 4000) };

    println!("Wireless last hop of Cen 2003, 16 TFRC flows, 222 s simulated; user time, mean of {runs} runs");
    let theirs = mean_user_s(runs, || ns2(222))?;
    let ours = mean_user_s(runs, || losscause(222))?;
    println!("  ns-2        {theirs:12.4} s");
    println!("  losscause   {ours:12.4} s");
    println!("  ratio       {:12.1}", theirs / ours);

    println!("The same, {long_s} s simulated; packet-hops per second of user time, one run");
    let theirs = ns2_packet_hops(long_s)? as f64 / mean_user_s(1, || ns2(long_s))?;
    let ours = our_packet_hops(long_s)? as f64 / mean_user_s(1, || losscause(long_s))?;
    println!("  ns-2        {theirs:12.0} /s");
    println!("  losscause   {ours:12.0} /s");
    println!("  ratio       {:12.1}", ours / theirs);
    Ok(())
}

fn ns2(simulated_s: u32) -> Command {
    let mut ns = command("ns");
    ns.args(["validation/ns2/wlh.tcl", "-duration", &simulated_s.to_string()]);
    ns
}

fn losscause(simulated_s: u32) -> Command {
    let mut losscause = command(&root().join("target/release/losscause").to_string_lossy());
    losscause.args(["simulate", SCENARIO, "--format", "json"]);
    for setting in settings(simulated_s) {
        losscause.args(["--set", &setting]);
    }
    losscause
}

fn settings(simulated_s: u32) -> Vec<String> {
    SETTINGS.into_iter().map(str::to_owned).chain([format!("duration_s={simulated_s}")]).collect()
}

/// Mean user time of `runs` runs, s.
fn mean_user_s(runs: u32, make: impl Fn() -> Command) -> Result<f64> {
    let before = children_user_s()?;
    for _ in 0..runs {
        output(&mut make())?;
    }
    Ok((children_user_s()? - before) / f64::from(runs))
}

/// User time of all children that have ended, s.
fn children_user_s() -> Result<f64> {
    let time = getrusage(UsageWho::RUSAGE_CHILDREN).context("reading the children's user time")?.user_time();
    Ok(time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
}

/// Transmissions of packets in ns-2's run, counted in a run of its own, since counting takes time.
fn ns2_packet_hops(simulated_s: u32) -> Result<u64> {
    let printed = output(ns2(simulated_s).args(["-count", "1"]))?;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    printed
        .lines()
        .find_map(|line| line.strip_prefix("packet_hops "))
        .and_then(|hops| hops.parse().ok())
        .context("wlh.tcl printed no line `packet_hops N`")
}

/// Transmissions of packets in our run.
fn our_packet_hops(simulated_s: u32) -> Result<u64> {
    let settings: Vec<Setting> =
        settings(simulated_s).iter().map(|text| Setting::parse(text)).collect::<Result<_, _>>()?;
    let experiment = Scenario::load(&root().join(SCENARIO))?.with(&settings)?.experiment()?;
    let mut simulation = Simulation::new(&experiment.network, 1)?;
    simulation.run_until(experiment.duration, &mut ());
    let links = 0..experiment.network.links.len() as u32;
    Ok(links.map(|link| simulation.counters().link(LinkId(link)).transmitted).sum())
}
