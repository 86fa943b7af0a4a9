//! `abroad-linux`: this machine's own TCP over the held-out networks of `losscause reproduce abroad`,
//! captured at the sender; what every algorithm says of the losses, for the record that
//! `losscause reproduce abroad/kernel` shows.
//!
//! A transfer is kept in a folder of its own: its network as a scenario, the capture, and what the
//! link did to every packet. So captures can be judged again without making them again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use losscause::Time;
use losscause::registry::Registry;
use losscause_experiments::abroad::verdicts::OfFlow;
use losscause_experiments::abroad::{Drawn, Judges, Kind, Role, kernel};
use losscause_linux::emulator::{Path as EmulatedPath, SENDER};
use losscause_sim::FlowId;
use losscause_study::capture_files::{LostPacket, LostPackets};
use serde::{Deserialize, Serialize};

use super::link_log::{self, Sent};
use super::score::first_time;
use super::side_by_side;
use super::transfer::{self, LINK, Lateness, SENDER_CAPTURE, Transfer};
use crate::shell::root;

/// The arguments of `abroad-linux`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder of transfers.
    folder: PathBuf,
    /// First make the transfers in the folder that it does not hold yet; needs root, installs
    /// tcpdump if it is missing.
    #[arg(long)]
    make: bool,
    /// The seed of the networks.
    #[arg(long, default_value_t = 1, requires = "make")]
    seed: u64,
    /// Networks of each kind.
    #[arg(long, default_value_t = 8, value_name = "COUNT", requires = "make")]
    networks: u32,
    /// Transfers at a time.
    #[arg(long, default_value_t = 2, value_name = "N", requires = "make")]
    jobs: usize,
    /// Write the record.
    #[arg(long)]
    write: bool,
}

/// The record.
const RECORD: &str = "crates/losscause-experiments/src/abroad/kernel.csv";
/// The network of a transfer, beside its capture. Its first line has the network's name.
const NETWORK: &str = "network.toml";
/// What is known of a transfer, written when it is complete.
const MADE: &str = "made.json";

#[derive(Debug, Deserialize, Serialize)]
struct Made {
    kernel: String,
    lateness: Lateness,
}

/// Makes the transfers if asked for, judges those in the folder, and prints or writes the record.
pub(crate) fn abroad(options: &Options) -> Result<()> {
    if options.make {
        make_all(options)?;
    }
    let judges = Judges::of(&Registry::built_in());
    let mut flows: Vec<OfFlow> = Vec::new();
    let mut made: Vec<Made> = Vec::new();
    for (drawn, folder) in transfers(&options.folder)? {
        let told = || folder.display().to_string();
        flows.extend(judge(&drawn, &folder, &judges).with_context(told)?);
        let text = fs::read_to_string(folder.join(MADE)).with_context(told)?;
        made.push(serde_json::from_str(&text).with_context(told)?);
    }
    let record = kernel::record(&judges, &flows);
    if options.write {
        fs::write(root().join(RECORD), record).context(RECORD)?;
    } else {
        print!("{record}");
    }
    let late = |of: fn(&Lateness) -> i64| made.iter().map(|made| of(&made.lateness)).max();
    eprintln!(
        "{} transfers, {} flows, Linux {}; in the worst transfer 99 of 100 packets were at most {} µs late, the latest of all {} µs",
        made.len(),
        flows.len(),
        made[0].kernel,
        late(|late| late.p99_us).unwrap_or_default(),
        late(|late| late.worst_us).unwrap_or_default(),
    );
    Ok(())
}

fn make_all(options: &Options) -> Result<()> {
    let interrupted = side_by_side::prepare()?;
    let kinds: Vec<&'static Kind> = Kind::all(Role::HeldOut).collect();
    let all = Drawn::all(&kinds, options.seed, options.networks).into_iter();
    side_by_side::each(all, options.jobs, &interrupted, |drawn| {
        let folder = options.folder.join(drawn.to_string().replace(['/', ' '], "-"));
        if folder.join(MADE).is_file() {
            return Ok(());
        }
        eprintln!("{drawn}: {} s", drawn.network.duration_s);
        make(&drawn, &folder, &interrupted).with_context(|| drawn.to_string())
    })?;
    Ok(())
}

fn make(drawn: &Drawn, folder: &Path, interrupted: &std::sync::atomic::AtomicBool) -> Result<()> {
    let experiment = drawn.experiment()?;
    let transfer = Transfer {
        path: EmulatedPath::new(&experiment.network, FlowId(0), drawn.run_seed())?,
        control: drawn.network.variant.to_owned(),
        sack: true,
        timestamps: true,
        seconds: drawn.network.duration_s.into(),
        connections: experiment.network.flows.len(),
        both_ends: false,
    };
    let made = transfer::make(&transfer, folder, interrupted)?;
    fs::write(folder.join(NETWORK), drawn.scenario()).context(NETWORK)?;
    let made = Made { kernel: made.kernel, lateness: made.lateness };
    fs::write(folder.join(MADE), serde_json::to_string_pretty(&made)?).context(MADE)
}

/// The complete transfers in a folder, in the order of their kinds and numbers.
fn transfers(folder: &Path) -> Result<Vec<(Drawn, PathBuf)>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut transfers = BTreeMap::new();
    for entry in entries {
        let folder = entry?.path();
        if !folder.join(MADE).is_file() {
            continue;
        }
        let text = fs::read_to_string(folder.join(NETWORK)).context(NETWORK)?;
        let name = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let drawn: Drawn = name.context("network.toml does not begin with a name")?.parse()?;
        let place = Kind::all(Role::HeldOut).position(|kind| kind.name == drawn.kind.name);
        transfers.insert((place, drawn.seed, drawn.number), (drawn, folder));
    }
    if transfers.is_empty() {
        bail!("{}: holds no transfer that --make has made", folder.display());
    }
    Ok(transfers.into_values().collect())
}

/// The verdicts on the flows of a transfer.
fn judge(drawn: &Drawn, folder: &Path, judges: &Judges) -> Result<Vec<OfFlow>> {
    let capture = folder.join(SENDER_CAPTURE);
    let begun = first_time(&capture)?;
    let lost = lost(&link_log::read(&folder.join(LINK))?, begun);
    Ok(judges.judge(drawn, &drawn.experiment()?, File::open(capture)?, lost)?)
}

/// The lost packets of each connection of a transfer whose capture begins at `begun`.
fn lost(packets: &[Sent], begun: Time) -> Vec<LostPackets> {
    let mut lost: BTreeMap<u16, Vec<LostPacket>> = BTreeMap::new();
    for sent in packets {
        if let Some((cause, at)) = sent.lost() {
            let lost_s = (at - begun).as_secs_f64();
            lost.entry(sent.port).or_default().push(LostPacket { seq: sent.seq, lost_s, cause });
        }
    }
    let of_port = |(port, packets)| LostPackets::new(format!("{SENDER}:{port}"), packets);
    lost.into_iter().map(of_port).collect()
}
