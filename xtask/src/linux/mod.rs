//! `linux-captures`: captures of this machine's own TCP over a link that logs what it loses, and what the analysis finds
//! in them.
//!
//! Each transfer ([`variants`]) has two hosts and a link between them, which are those of the emulator. It is logged what
//! became of every packet ([`link_log`]), and [`tcpdump`] captures at both hosts. [`transfer`] makes one transfer, [`truth`] tells which of its losses can show in a capture, [`score`] analyses the
//! captures, with the matching of `capture-accuracy`, and [`page`] arranges the results.

mod link_log;
mod page;
mod score;
pub(crate) mod sockets;
mod tcpdump;
mod transfer;
mod truth;
mod variants;

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::accuracy::{self, VANTAGES};
use crate::shell::root;
use crate::tools::Tool;

use score::Scored;
use variants::Variant;

/// The arguments of `linux-captures`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Make eight transfers of 12 s.
    #[arg(long)]
    short: bool,
    /// One transfer of each kind per seed; default: one seed that the clock gives, which is printed.
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
    /// Write docs/linux-captures.md.
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

/// The page that `--write` writes.
const PAGE: &str = "docs/linux-captures.md";
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
        fs::write(root().join(PAGE), page).context(PAGE)?;
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
    let with_sack: Vec<&Scored> = scored.iter().filter(|scored| scored.about.variant.sack).collect();
    page::require(&with_sack)
}

fn explain(scored: &[Scored]) {
    for Scored { about, tallies, .. } in scored {
        for (vantage, tally) in tallies {
            let whose = format!("{}, seed {}, {}", about.variant.name(), about.seed, vantage.name());
            tally.mistakes.iter().for_each(|mistake| println!("{whose}: {mistake}"));
        }
    }
}

fn scored(options: &Options) -> Result<Vec<Scored>> {
    let asked = accuracy::asked(&options.also)?;
    let score_of = |folder: &PathBuf| score::score(folder, &asked).with_context(|| folder.display().to_string());
    if let Some(folder) = &options.from {
        let mut scored = folders(folder)?.iter().map(score_of).collect::<Result<Vec<_>>>()?;
        scored.retain(|Scored { about, .. }| options.is_asked(&about.variant));
        return Ok(scored);
    }
    Tool::OwnNetworks.ensure()?;
    Tool::Tcpdump.ensure()?;
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, interrupted.clone())?;
    }
    let temporary = tempfile::tempdir()?;
    let folder = options.keep.as_deref().unwrap_or(temporary.path());
    let mut folders = make_all(options, folder, &interrupted)?;
    folders.sort();
    folders.iter().map(score_of).collect()
}

/// The transfers' folders in this one.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut folders: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.retain(|folder| folder.join(transfer::ABOUT).is_file());
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
    let all: VecDeque<(u64, &Variant)> =
        seeds.iter().flat_map(|&seed| kinds.iter().map(move |kind| (seed, kind))).collect();
    let place = |(seed, variant): &(u64, &Variant)| folder.join(format!("{}-seed{seed}", variant.key()));
    let folders: Vec<PathBuf> = all.iter().map(place).collect();
    let waiting = Mutex::new(all);
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || -> Result<()> {
        while let Some((seed, variant)) = next() {
            eprintln!("{}, seed {seed}", variant.name());
            let made = transfer::make(variant, seed, seconds, &place(&(seed, variant)), interrupted);
            if made.is_err() {
                // The others need not begin.
                while next().is_some() {}
            }
            made.with_context(|| format!("{}, seed {seed}", variant.name()))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| bail!("a thread panicked")));
        ended.collect::<Result<()>>()
    })?;
    if interrupted.load(Ordering::Relaxed) {
        bail!("interrupted");
    }
    Ok(folders)
}

/// Another one every time.
fn fresh_seed() -> Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64 % 1_000_000_000)
}
