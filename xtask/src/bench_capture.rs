//! `cargo xtask bench-capture`: time and memory of `losscause analyze`, beside tshark reading the
//! same files. Run it on an idle machine; it is not a test.

use anyhow::Result;

use crate::measured::{Program, in_turn};
use crate::shell::{losscause, output, program, target, write};
use crate::tools::Tool;

/// How much to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Files of a tenth of the size, and one run instead of three
    #[arg(long)]
    short: bool,
}

/// A capture of TCP connections in full-size packets, all open at once.
struct Bench {
    title: &'static str,
    flows: u32,
    megabytes: u32,
    /// Whether tshark reads it too.
    compared: bool,
    wanted: &'static str,
}

const BENCHES: [Bench; 2] = [
    Bench {
        title: "one connection",
        flows: 1,
        megabytes: 500,
        compared: true,
        wanted: "800 MB/s, 10 times tshark's speed",
    },
    Bench {
        title: "10,000 connections",
        flows: 10_000,
        megabytes: 2_000,
        compared: false,
        wanted: "200 MB of memory",
    },
];

/// Each hundredth packet is lost on the way to the receivers, where the capture is made. The link is
/// full: a second fills 100 MB.
const SCENARIO: &str = r#"
title = "full packets"
duration_s = SECONDS
packet_bytes = 1500
tcp = { mode = "linux", variant = "bbr" }
measure = {}
[[link]]
name = "line"
rate_bps = 800e6
delay_ms = 2
queue_packets = 200000
channel = { kind = "bernoulli", loss = 0.01 }
[[flow]]
name = "transfer"
protocol = "tcp"
count = FLOWS
path = ["line"]
"#;

/// Writes the captures, analyses them, and prints speed and memory.
pub(crate) fn bench_capture(options: &Options) -> Result<()> {
    Tool::TSHARK.ensure()?;
    let losscause = losscause()?.display().to_string();
    let directory = tempfile::tempdir_in(target())?;
    let [scenario, captures] =
        ["scenario.toml", "captures"].map(|name| directory.path().join(name));
    let (runs, part) = if options.short { (1, 10) } else { (3, 1) };
    for bench in BENCHES {
        let seconds = f64::from(bench.megabytes / part) / 100.0;
        let text = SCENARIO.replace("FLOWS", &bench.flows.to_string());
        write(&scenario, text.replace("SECONDS", &seconds.to_string()))?;
        let mut simulate = program(&losscause);
        simulate.arg("--quiet").arg("simulate").arg(&scenario).arg("--pcap").arg(&captures);
        output(simulate.args(["--pcap-snap", "65535"]))?;
        let file = captures.join("receiver.pcap");
        let megabytes = file.metadata()?.len() as f64 / 1e6;
        let ours = format!("{losscause} -q analyze {} --format json", file.display());
        let theirs = format!("tshark -q -z io,stat,0 -r {}", file.display());
        let title = format!("{}, {megabytes:.0} MB; wanted: {}", bench.title, bench.wanted);
        let program = |name, line| Program { name, line, work: megabytes };
        let tshark = bench.compared.then(|| program("tshark", theirs));
        let ours = program("losscause", ours);
        in_turn(&title, "MB", runs, &tshark.into_iter().chain([ours]).collect::<Vec<_>>())?;
    }
    Ok(())
}
