//! `cargo xtask bench-ns2`: runs the same simulations in ns-2 and losscause and reports their time
//! and memory. Run it on an idle machine; it is not a test.
//!
//! User time and peak memory are measured per run ([`measured`](crate::measured)).

use std::path::Path;

use anyhow::{Context, Result};
use losscause_laboratory::papers::record::open_scenario;
use losscause_sim::{FlowId, LinkId, Simulation};
use losscause_study::{Experiment, Setting};

use crate::measured::{Program, in_turn};
use crate::shell::{command, losscause, root, text};
use crate::tools::Tool;

/// A simulation that both simulators can run.
struct Bench {
    title: &'static str,
    /// Our scenario, and its settings.
    scenario: &'static str,
    settings: &'static [&'static str],
    /// The same in Tcl.
    script: &'static str,
    /// Options of the script, and the parameters of the scenario that they take their values from.
    options: &'static [(&'static str, &'static str)],
    /// Simulated seconds of the usual run, and of a long run in which start-up hardly counts.
    usual_s: u32,
    long_s: u32,
    aim: &'static str,
}

const BENCHES: [Bench; 2] = [
    // Independent errors; the 762 bytes on the wire include the 32 bytes of ns-2's TFRC header.
    Bench {
        title: "Wireless last hop of Cen 2003, 16 TFRC flows",
        scenario: "papers/cen2003/scenarios/WLH.toml",
        settings: &[
            "N=16",
            "link.last.channel={ kind = \"bernoulli\", loss = 0.078 }",
            "header_bytes=32",
        ],
        script: "validation/ns2/wlh.tcl",
        options: &[("-flows", "N")],
        usual_s: 222,
        long_s: 4000,
        aim: "9 times ns-2's speed over 222 s, 5 times over 4000 s",
    },
    // The cross traffic at which NewReno sees about 1 % of congestion losses, as the program finds
    // it, rounded; the mode that the script has.
    Bench {
        title: "Configuration 2 of Barman 2002, 10 NewReno flows",
        scenario: "papers/barman2002/scenarios/config2.toml",
        settings: &[
            "cross_bps=0.53e6",
            "cross_bytes=210",
            "tcp.mode=ns2-classic",
            "tcp.max_window_pkts=1000",
        ],
        script: "validation/ns2/barman2.tcl",
        options: &[
            ("-flows", "N"),
            ("-loss", "loss"),
            ("-cross-sources", "cross_sources"),
            ("-cross-bps", "cross_bps"),
            ("-cross-bytes", "cross_bytes"),
            ("-cross-on-ms", "cross_on_ms"),
            ("-cross-off-ms", "cross_off_ms"),
            ("-buffer", "buffer_packets"),
        ],
        usual_s: 200,
        long_s: 4000,
        aim: "9 times ns-2's speed over 200 s, 8 times over 4000 s; no more memory",
    },
];

/// How much to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Three runs instead of twenty, and one of a tenth of the time instead of three long ones
    #[arg(long)]
    short: bool,
    /// Remove unused packet headers from ns-2, which a user of stock ns-2 does not do
    #[arg(long)]
    lean: bool,
}

/// Measures both simulators and prints the ratios.
pub(crate) fn bench_ns2(options: &Options) -> Result<()> {
    Tool::NS2.ensure()?;
    let losscause = losscause()?;
    let (runs, long_runs, part) = if options.short { (3, 1, 10) } else { (20, 3, 1) };
    for bench in BENCHES {
        for (simulated_s, runs) in [(bench.usual_s, runs), (bench.long_s / part, long_runs)] {
            Prepared::new(&bench, simulated_s, options.lean)?.compare(&losscause, runs)?;
        }
    }
    Ok(())
}

/// A bench with its parameters.
struct Prepared<'a> {
    bench: &'a Bench,
    simulated_s: u32,
    settings: Vec<String>,
    experiment: Experiment,
    /// The script and its arguments.
    ns2: String,
}

impl<'a> Prepared<'a> {
    fn new(bench: &'a Bench, simulated_s: u32, lean: bool) -> Result<Self> {
        let Bench { scenario, script, .. } = bench;
        let duration = format!("duration_s={simulated_s}");
        let settings = bench.settings.iter().map(|&text| text.to_owned());
        let settings: Vec<String> = settings.chain([duration]).collect();
        let parsed = settings.iter().map(|text| Setting::parse(text));
        let reading = losscause_study::Context::default();
        let experiment = open_scenario(&root().join(scenario), Path::new(""), &reading)?
            .with(&parsed.collect::<Result<Vec<_>, _>>()?)?
            .experiment()?;
        let mut ns2 = format!("ns {script} -duration {simulated_s}");
        for (option, parameter) in bench.options {
            let value = experiment.parameters.get(*parameter).with_context(|| {
                format!("{scenario} has no parameter {parameter}, which {script} takes")
            })?;
            ns2 += &format!(" {option} {value}");
        }
        ns2 += if lean { " -lean 1" } else { "" };
        Ok(Self { bench, simulated_s, settings, experiment, ns2 })
    }

    /// ns-2's scripts measure no delay of packets.
    fn ours(&self, losscause: &Path) -> Vec<String> {
        let losscause = losscause.display().to_string();
        let words = [&losscause, "simulate", self.bench.scenario, "--format", "json"];
        let delays = "measure.delays=false".to_owned();
        let settings = [&delays].into_iter().chain(&self.settings);
        let settings = settings.flat_map(|setting| ["--set", setting]);
        words.into_iter().chain(settings).map(str::to_owned).collect()
    }

    /// Runs both alternately, this many times, and prints a table.
    fn compare(&self, losscause: &Path, runs: u32) -> Result<()> {
        let Bench { title, aim, .. } = self.bench;
        println!("{title}, {} s simulated; wanted: {aim}", self.simulated_s);
        let theirs = self.ns2.split_whitespace().map(str::to_owned).collect();
        let programs = [
            ("ns-2", theirs, self.their_work()?),
            ("losscause", self.ours(losscause), self.our_work()?),
        ];
        let programs = programs.map(|(name, words, Work { packet_hops, delivered })| {
            println!("  {name}: {packet_hops} packet-hops, {delivered} packets delivered");
            Program { name, words, work: packet_hops as f64 }
        });
        in_turn(title, "packet-hops", runs, &programs)
    }

    /// The counts of ns-2's run, from a separate run, because counting takes time.
    fn their_work(&self) -> Result<Work> {
        Work::read(&text(command(&self.ns2).args(["-count", "1"]))?).context(self.bench.script)
    }

    /// The counts of our run.
    fn our_work(&self) -> Result<Work> {
        let network = &self.experiment.network;
        let mut simulation = Simulation::new(network, 1)?;
        simulation.run_until(self.experiment.duration, &mut ());
        let links = (0..network.links.len() as u32).map(LinkId);
        let flows = (0..).map(FlowId).zip(&network.flows).filter(|(_, flow)| flow.measured);
        Ok(Work {
            delivered: flows.map(|(id, _)| simulation.flow(id).delivered_packets).sum(),
            packet_hops: links.map(|link| simulation.counters().link(link).transmitted).sum(),
        })
    }
}

/// The counts of a run.
#[derive(Debug, PartialEq)]
struct Work {
    /// Distinct data packets that the flows delivered.
    delivered: u64,
    /// Transmissions of packets, on all links.
    packet_hops: u64,
}

impl Work {
    /// From what a script prints with `-count 1`.
    fn read(printed: &str) -> Result<Self> {
        let number = |key: &str| {
            let value =
                printed.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok());
            value.with_context(|| format!("no line `{key} N` was printed"))
        };
        Ok(Self { delivered: number("delivered")?, packet_hops: number("packet_hops")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::read;

    #[test]
    fn every_bench_has_both_files_and_every_option_its_parameter() {
        for bench in BENCHES {
            let prepared = Prepared::new(&bench, bench.usual_s, true).unwrap();
            let script = read(bench.script).unwrap();
            for option in prepared.ns2.split(' ').filter_map(|word| word.strip_prefix('-')) {
                assert!(script.contains(&format!(" {option} ")), "{}: {option}", bench.script);
            }
        }
    }

    #[test]
    fn a_script_has_the_values_of_the_scenario() {
        let prepared = Prepared::new(&BENCHES[1], 200, false).unwrap();
        let bytes = &prepared.experiment.parameters["cross_bytes"];
        for option in ["-flows 10", "-loss 0.05", &format!("-cross-bytes {bytes}")] {
            assert!(prepared.ns2.contains(&format!(" {option} ")), "{}: {option}", prepared.ns2);
        }
    }

    #[test]
    fn what_a_script_did_is_read_from_its_lines() {
        let work = Work::read("delivered 42601\npacket_hops 3064939\nshared_drops 9057\n").unwrap();
        assert_eq!(work, Work { delivered: 42_601, packet_hops: 3_064_939 });
        assert!(Work::read("delivered 42601\n").is_err());
        assert!(Work::read("packet_hops many\ndelivered 1\n").is_err());
    }
}
