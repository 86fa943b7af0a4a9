//! `cargo xtask bench-ns2`: runs the same simulations in ns-2 and losscause and reports their time
//! and memory. Run it on an idle machine; it is not a test.
//!
//! User time and peak memory are measured per run ([`measured`](crate::measured)).

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::measured::{Program, in_turn, shell};
use crate::shell::{losscause, text};
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
            println!("{}, {simulated_s} s simulated; wanted: {}", bench.title, bench.aim);
            let ours = bench.ours(&losscause, simulated_s);
            let simulated: Value = serde_json::from_str(&text(shell(&ours))?)?;
            let theirs = bench.theirs(&simulated["parameters"], simulated_s, options.lean)?;
            // The counts of ns-2's run are from a separate run, because counting takes time.
            let counted = Work::read(&text(shell(&format!("{theirs} -count 1")))?);
            let counted = counted.context(bench.script)?;
            let programs = [("ns-2", theirs, counted), ("losscause", ours, Work::of(&simulated))];
            let programs = programs.map(|(name, line, Work { packet_hops, delivered })| {
                println!("  {name}: {packet_hops} packet-hops, {delivered} packets delivered");
                Program { name, line, work: packet_hops as f64 }
            });
            in_turn(bench.title, "packet-hops", runs, &programs)?;
        }
    }
    Ok(())
}

impl Bench {
    /// ns-2's scripts measure no delay of packets.
    fn ours(&self, losscause: &Path, simulated_s: u32) -> String {
        let settings = self.settings.iter().map(|setting| format!(" --set '{setting}'"));
        format!(
            "{} -q simulate {} --format json --set measure.delays=false --set duration_s={simulated_s}{}",
            losscause.display(),
            self.scenario,
            settings.collect::<String>()
        )
    }

    /// With the values of these parameters.
    fn theirs(&self, parameters: &Value, simulated_s: u32, lean: bool) -> Result<String> {
        let Self { scenario, script, .. } = self;
        let mut line = format!("ns {script} -duration {simulated_s}");
        for (option, parameter) in self.options {
            let value = parameters[*parameter].as_f64().with_context(|| {
                format!("{scenario} has no parameter {parameter}, which {script} takes")
            })?;
            line += &format!(" {option} {value}");
        }
        Ok(line + if lean { " -lean 1" } else { "" })
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

    /// From what `losscause simulate --format json` prints.
    fn of(simulated: &Value) -> Self {
        let sum = |list: &str, key: &str| -> u64 {
            let all = simulated[list].as_array().into_iter().flatten();
            all.filter(|one| one["measured"] != false).filter_map(|one| one[key].as_u64()).sum()
        };
        let packet_hops = sum("links", "delivered_packets") + sum("links", "wireless_drops");
        Self { delivered: sum("flows", "delivered_packets"), packet_hops }
    }
}

#[cfg(test)]
mod tests {
    use losscause_laboratory::papers::record::open_scenario;
    use losscause_study::{Context, Setting};

    use super::*;
    use crate::shell::{read, root};

    /// ns-2's command line, with the parameters that the scenario has.
    fn theirs(bench: &Bench) -> String {
        let scenario = root().join(bench.scenario);
        let scenario = open_scenario(&scenario, Path::new(""), &Context::default()).unwrap();
        let settings = bench.settings.iter().map(|text| Setting::parse(text).unwrap());
        let scenario = scenario.with(&settings.collect::<Vec<_>>()).unwrap();
        let parameters = scenario.experiment().unwrap().parameters;
        bench.theirs(&serde_json::to_value(parameters).unwrap(), bench.usual_s, true).unwrap()
    }

    #[test]
    fn every_bench_has_both_files_and_every_option_its_parameter() {
        for bench in BENCHES {
            let script = read(bench.script).unwrap();
            for option in theirs(&bench).split(' ').filter_map(|word| word.strip_prefix('-')) {
                assert!(script.contains(&format!(" {option} ")), "{}: {option}", bench.script);
            }
        }
    }

    #[test]
    fn a_script_has_the_values_of_the_scenario() {
        let line = theirs(&BENCHES[1]);
        for option in ["-flows 10", "-loss 0.05", "-cross-bytes 210"] {
            assert!(line.contains(&format!(" {option} ")), "{line}: {option}");
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
