//! `cargo xtask instructions`: compares the event loop's instructions per packet-hop, counted by
//! valgrind, with a recorded value. Counts do not depend on the load of the machine, so a test can
//! check them.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::shell::{command, read, target, text, write};
use crate::tools::Tool;

const PINNED: &str = "benches/instructions.toml";

/// What [`PINNED`] holds.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Pinned {
    /// Instructions per packet-hop.
    event_loop: f64,
}

/// Allowed deviation from the recorded count: compilers and C libraries differ slightly.
const TOLERANCE: f64 = 0.03;
/// The verb of this program that runs the workload: it is compiled already.
const WORKLOAD: &str = "event-loop";
const FLOWS: &str = "16";
/// Simulated seconds of the two runs. Their difference excludes the start-up of the program and the
/// flows.
const SHORT_RUN_S: u64 = 60;
const LONG_RUN_S: u64 = 120;

/// Counts, and compares with the recorded value or replaces it.
///
/// # Errors
/// The count deviates too much, or cannot be made.
pub(crate) fn instructions(update: bool) -> Result<()> {
    Tool::VALGRIND.ensure()?;
    let (instructions, packet_hops) = count(SHORT_RUN_S)?;
    let (more_instructions, more_packet_hops) = count(LONG_RUN_S)?;
    if more_packet_hops <= packet_hops {
        bail!("{WORKLOAD} printed no more packet-hops for {LONG_RUN_S} s than for {SHORT_RUN_S} s");
    }
    let measured =
        (more_instructions - instructions) as f64 / (more_packet_hops - packet_hops) as f64;
    if update {
        let text = toml::to_string(&Pinned { event_loop: (measured * 10.0).round() / 10.0 })?;
        let head = "# Instructions per packet-hop, counted by `cargo xtask instructions`, pinned by `cargo xtask instructions --update`.\n";
        write(PINNED, format!("{head}{text}"))?;
        println!("event loop: {measured:.1} instructions per packet-hop, pinned");
        return Ok(());
    }
    let Pinned { event_loop: pinned } = toml::from_str(&read(PINNED)?).context(PINNED)?;
    println!("event loop: {measured:.1} instructions per packet-hop, pinned {pinned:.1}");
    check(measured, pinned)
}

/// As one of CI's steps.
pub(crate) fn compare() -> Result<()> {
    instructions(false)
}

fn check(measured: f64, pinned: f64) -> Result<()> {
    let change = measured / pinned - 1.0;
    if change.abs() > TOLERANCE {
        bail!(
            "the event loop takes {:+.1} % instructions per packet-hop, expected within {:.0} %; if that is meant, run \
             `cargo xtask instructions --update` and say why in the commit",
            change * 100.0,
            TOLERANCE * 100.0
        );
    }
    Ok(())
}

/// The instructions and the packet-hops of one run.
///
/// Runs the workload under callgrind, with an empty environment, because variables could change the
/// count.
fn count(simulated_s: u64) -> Result<(u64, u64)> {
    let out = target().join(format!("callgrind.{WORKLOAD}.{simulated_s}"));
    let mut valgrind = command("valgrind --tool=callgrind --quiet");
    valgrind.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    valgrind.arg(format!("--callgrind-out-file={}", out.display()));
    let workload = [WORKLOAD, &simulated_s.to_string(), "tfrc", FLOWS];
    let printed = text(valgrind.arg(std::env::current_exe()?).args(workload))?;
    let packet_hops = printed
        .strip_prefix("packet_hops ")
        .and_then(|hops| hops.parse().ok())
        .with_context(|| format!("{WORKLOAD} printed `{printed}`, expected `packet_hops N`"))?;
    Ok((total(&read(&out)?)?, packet_hops))
}

/// The instructions of a whole run, from callgrind's profile.
fn total(profile: &str) -> Result<u64> {
    let total = profile.lines().find_map(|line| line.strip_prefix("summary:"));
    total
        .and_then(|value| value.split_whitespace().next()?.parse().ok())
        .context("callgrind's profile has no line `summary: N`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_callgrinds_profile() {
        assert_eq!(total("version: 1\nevents: Ir\nsummary: 1234\nfl=(1)\n").unwrap(), 1234);
        assert!(total("events: Ir\n").is_err());
    }

    #[test]
    fn three_percent_more_or_less_pass_and_four_do_not() {
        for (measured, passes) in [(97.1, true), (102.9, true), (96.0, false), (104.0, false)] {
            assert_eq!(check(measured, 100.0).is_ok(), passes, "{measured}");
        }
    }
}
