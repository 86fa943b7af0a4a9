//! `linux-captures`: captures of this machine's own TCP over a link that logs what it loses, and
//! what the analysis finds in them.
//!
//! Each transfer ([`variants`]) has two hosts and a link between them, which are those of the
//! emulator. It is logged what became of every packet ([`link_log`]), and [`tcpdump`] captures at
//! both hosts. [`transfer`] makes one transfer, [`truth`] tells which of its losses can show in a
//! capture, [`score`] analyses the captures, with the matching of `capture-accuracy`, and [`page`]
//! arranges the results.
//!
//! [`abroad`] makes transfers over the networks of `losscause reproduce abroad` by the same means.

pub(crate) mod abroad;
mod link_log;
mod page;
mod score;
pub(crate) mod side_by_side;
pub(crate) mod sockets;
mod tcpdump;
pub(crate) mod transfer;
mod truth;
mod variants;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::accuracy::{self, VANTAGES};
use crate::results::{self, Origin, Page};

use score::Scored;
use transfer::{Lateness, Made};
use variants::Variant;

/// The arguments of `linux-captures`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Make eight transfers of 12 s.
    #[arg(long)]
    short: bool,
    /// One transfer of each kind per seed; default: one seed that the clock gives, which is
    /// printed.
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    seeds: Vec<u64>,
    /// Only transfers whose name contains this: "bbr, SACK".
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// How long each transfer lasts; default 20.
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Transfers at a time.
    #[arg(long, default_value_t = 4, value_name = "N")]
    jobs: usize,
    /// Keep captures and logs in this folder, a folder per transfer.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Make no transfers; analyse those that `--keep` left here.
    #[arg(long, value_name = "DIR", conflicts_with = "keep")]
    from: Option<PathBuf>,
    /// Print every loss that shows and was not found, and every one that was found and is none.
    #[arg(long)]
    explain: bool,
    /// Write results/linux-captures.md.
    #[arg(long)]
    write: bool,
    /// Algorithms that judge beside those that `analyze` asks by itself, by name.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", conflicts_with = "write")]
    also: Vec<String>,
}

impl Options {
    fn is_asked(&self, variant: &Variant) -> bool {
        self.only.as_ref().is_none_or(|text| variant.name().contains(text.as_str()))
    }
}

/// What is kept about a transfer beside its captures, in the file [`ABOUT`].
#[derive(Clone, Debug, Deserialize, Serialize)]
struct About {
    variant: Variant,
    seed: u64,
    seconds: f64,
    /// The kernel that sent.
    kernel: String,
    lateness: Lateness,
}

const ABOUT: &str = "transfer.json";
const SECONDS: f64 = 20.0;
const SHORT_SECONDS: f64 = 12.0;

/// Makes the transfers, analyses and prints.
pub(crate) fn linux_captures(options: &Options) -> Result<()> {
    let scored = scored(options)?;
    if options.explain {
        explain(&scored);
    }
    let page = page::page(&scored);
    print!("{page}");
    if options.write {
        results::write(&Page {
            name: "linux-captures".to_owned(),
            title: "Accuracy on captures of Linux TCP".to_owned(),
            command: "`cargo xtask linux-captures --write`, as root".to_owned(),
            origin: Origin::Run,
            body: page,
        })?;
    }
    Ok(())
}

/// A step of `ci`: a few transfers, and whether their losses were found.
pub(crate) fn short() -> Result<()> {
    let options = Options {
        short: true,
        seeds: Vec::new(),
        only: None,
        seconds: None,
        jobs: 4,
        keep: None,
        from: None,
        explain: true,
        write: false,
        also: Vec::new(),
    };
    let scored = scored(&options)?;
    explain(&scored);
    print!("{}", page::page(&scored));
    let with_sack: Vec<&Scored> =
        scored.iter().filter(|scored| scored.about.variant.sack).collect();
    page::require(&with_sack)
}

fn explain(scored: &[Scored]) {
    for Scored { about, tallies, .. } in scored {
        for (vantage, tally) in tallies {
            let whose =
                format!("{}, seed {}, {}", about.variant.name(), about.seed, vantage.name());
            tally.mistakes.iter().for_each(|mistake| println!("{whose}: {mistake}"));
        }
    }
}

fn scored(options: &Options) -> Result<Vec<Scored>> {
    let asked = accuracy::asked(&options.also)?;
    let score_of = |folder: &PathBuf| {
        score::score(folder, &asked).with_context(|| folder.display().to_string())
    };
    if let Some(folder) = &options.from {
        let mut scored = folders(folder)?.iter().map(score_of).collect::<Result<Vec<_>>>()?;
        scored.retain(|Scored { about, .. }| options.is_asked(&about.variant));
        return Ok(scored);
    }
    let interrupted = side_by_side::prepare()?;
    let temporary = tempfile::tempdir()?;
    let folder = options.keep.as_deref().unwrap_or(temporary.path());
    let mut folders = make_all(options, folder, &interrupted)?;
    folders.sort();
    folders.iter().map(score_of).collect()
}

/// The transfers' folders in this one.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.retain(|folder| folder.join(ABOUT).is_file());
    folders.sort();
    if folders.is_empty() {
        bail!("{}: holds no transfer that --keep has left", folder.display());
    }
    Ok(folders)
}

/// Makes every transfer, some at a time; ends with the first that fails.
fn make_all(options: &Options, folder: &Path, interrupted: &AtomicBool) -> Result<Vec<PathBuf>> {
    let mut kinds = if options.short { Variant::few() } else { Variant::all() };
    kinds.retain(|variant| options.is_asked(variant));
    let seconds = options.seconds.unwrap_or(if options.short { SHORT_SECONDS } else { SECONDS });
    let seeds = if options.seeds.is_empty() { vec![fresh_seed()?] } else { options.seeds.clone() };
    println!("seeds: {}", seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(","));
    let all = seeds.iter().flat_map(|&seed| kinds.iter().map(move |kind| (seed, kind)));
    side_by_side::each(all, options.jobs, interrupted, |(seed, variant)| {
        let name = format!("{}, seed {seed}", variant.name());
        eprintln!("{name}");
        let folder = folder.join(format!("{}-seed{seed}", variant.key()));
        make(variant, seed, seconds, &folder, interrupted).context(name)?;
        Ok(folder)
    })
}

fn make(
    variant: &Variant,
    seed: u64,
    seconds: f64,
    folder: &Path,
    interrupted: &AtomicBool,
) -> Result<()> {
    let Made { kernel, lateness, .. } =
        transfer::make(&variant.transfer(seed, seconds)?, folder, interrupted)?;
    let about = About { variant: variant.clone(), seed, seconds, kernel, lateness };
    fs::write(folder.join(ABOUT), serde_json::to_string_pretty(&about)?).context(ABOUT)
}

/// Another one every time.
fn fresh_seed() -> Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64 % 1_000_000_000)
}
