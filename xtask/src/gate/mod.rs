//! `cargo xtask gate FOLDER`: diagnoses captures whose cause is known, and counts what is named
//! right, wrong and not at all, beside the published test for policers.
//!
//! A capture is known in one of two ways. `--make` makes transfers of the kernel's TCP over links
//! that seeds draw, each in a folder of its own with its link and what the link dropped. Or the
//! name tells it, as those of the validation set of Flach et al., "An Internet-Wide Analysis of
//! Traffic Policing" (SIGCOMM 2016): PCIR a policer of so many bits per second, SCIR a shaper, LOSS
//! random loss.

mod bucket;
mod kind;
mod label;
#[cfg(target_os = "linux")]
mod make;
mod tally;
#[cfg(target_os = "linux")]
pub(crate) mod watched;

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use losscause_capture::{Analysis, Options as Analyzing, analyze};

use self::bucket::Transfers;
use self::kind::Kind;
use self::label::{CAPTURE, LABEL, Label};
use self::tally::Judged;

/// What to diagnose.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder of captures, plain or compressed with gzip, zstd or xz, or of transfers that --make
    /// has made.
    folder: PathBuf,
    /// Also print every flow.
    #[arg(long)]
    flows: bool,
    #[command(flatten)]
    making: Making,
}

/// What to make first.
#[derive(clap::Args)]
struct Making {
    /// First make transfers in the folder: one of each kind per seed; needs root, installs tcpdump
    /// if it is missing.
    #[arg(long)]
    make: bool,
    /// The seeds; those from 1 to 10 are for measurements, others for trials.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,…",
        default_value = "1,2,3,4,5,6,7,8,9,10",
        requires = "make"
    )]
    seeds: Vec<u64>,
    /// The kinds; all by default.
    #[arg(long, value_delimiter = ',', value_name = "KIND,…", requires = "make")]
    kinds: Vec<Kind>,
    /// Transfers at a time.
    #[arg(long, default_value_t = 3, value_name = "N", requires = "make")]
    jobs: usize,
}

/// Diagnoses the captures and prints a table.
pub(crate) fn gate(options: &Options) -> Result<()> {
    if options.making.make {
        #[cfg(target_os = "linux")]
        make::make(&options.folder, &options.making)?;
        #[cfg(not(target_os = "linux"))]
        bail!("--make needs Linux");
    }
    let mut judged = Vec::new();
    for (file, label) in captures(&options.folder)? {
        judge(&file, &label, options.flows, &mut judged)
            .with_context(|| file.display().to_string())?;
    }
    if judged.is_empty() {
        bail!(
            "{}: no made transfer, and no capture with PCIR, SCIR or LOSS in its name",
            options.folder.display()
        );
    }
    print!("{}", tally::table(&judged));
    Ok(())
}

/// The captures whose cause is known.
fn captures(folder: &Path) -> Result<Vec<(PathBuf, Label)>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    let mut captures = Vec::new();
    for path in paths {
        let label = path.join(LABEL);
        if label.is_file() {
            captures.push((path.join(CAPTURE), Label::read(&label)?));
        } else if let Some(label) = Label::of_name(&path) {
            captures.push((path, label));
        }
    }
    Ok(captures)
}

/// Judges the flows of a capture that lost something. Where nothing was lost, the largest flow
/// stands for the capture.
fn judge(file: &Path, label: &Label, is_told: bool, judged: &mut Vec<Judged>) -> Result<()> {
    let Analysis { flows, .. } =
        analyze(File::open(file)?, &file.display().to_string(), &Analyzing::all())?;
    let transfers = Transfers::read(File::open(file)?)?;
    let mut lossy: Vec<_> = flows.iter().filter(|flow| flow.lost() > 0).collect();
    if lossy.is_empty() {
        lossy.extend(flows.iter().max_by_key(|flow| flow.bytes));
    }
    for flow in lossy {
        let lost = flow.lost();
        let diagnosis = flow.diagnosis.as_ref().map(|of| of.diagnosis);
        let published = transfers.judge(flow);
        if is_told {
            let said = diagnosis
                .map_or_else(|| "nothing was lost".to_owned(), |diagnosis| diagnosis.to_string());
            println!("{label}\t{lost}\t{said}\t{published:?}\t{}", file.display());
        }
        judged.push(Judged { label: label.clone(), lost, diagnosis, published });
    }
    Ok(())
}
