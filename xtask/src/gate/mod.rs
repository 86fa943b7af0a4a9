//! `cargo xtask gate FOLDER`: diagnoses captures whose cause is known, and counts what is named right, wrong and not at
//! all. The labels are those of the validation set of Flach et al., "An Internet-Wide Analysis of Traffic Policing"
//! (SIGCOMM 2016), by file name: PCIR a policer of so many bits per second, SCIR a shaper, LOSS random loss.

mod label;
mod tally;

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use losscause_capture::{Analysis, Options as Analyzing, analyze};

use self::label::{Class, Label};
use self::tally::Tally;

/// What to diagnose.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder of captures, plain or compressed with gzip, zstd or xz
    folder: PathBuf,
    /// Also print every flow
    #[arg(long)]
    flows: bool,
}

/// Flows that lost less are left out: no cause is named for them.
const FEWEST_LOSSES: u64 = 8;

/// Diagnoses the captures and prints a table.
pub(crate) fn gate(options: &Options) -> Result<()> {
    let folder = options.folder.display();
    let entries = std::fs::read_dir(&options.folder).with_context(|| format!("{folder} cannot be read"))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    let mut tallies = Class::ALL.map(Tally::new);
    for file in &files {
        let Some(label) = Label::of(file) else { continue };
        let analysis = diagnosed(file)?;
        for flow in analysis.flows.iter().filter(|flow| flow.lost() > 0) {
            let tally = &mut tallies[label.class as usize];
            let Some(diagnosis) = flow.diagnosis.as_ref().filter(|_| flow.lost() >= FEWEST_LOSSES) else {
                tally.left_out += 1;
                continue;
            };
            tally.count(&label, &diagnosis.diagnosis);
            if options.flows {
                println!("{label}\t{}\t{}\t{}", flow.lost(), diagnosis.diagnosis, analysis.file);
            }
        }
    }
    if tallies.iter().all(|tally| tally.flows == 0) {
        bail!("{folder}: no capture with PCIR, SCIR or LOSS in its name");
    }
    print!("{}", tally::table(&tallies));
    Ok(())
}

fn diagnosed(file: &Path) -> Result<Analysis> {
    let name = file.display().to_string();
    let bytes = if file.extension().is_some_and(|extension| extension == "xz") {
        let mut xz =
            Command::new("xz").arg("-dc").arg(file).stdout(Stdio::piped()).spawn().context("xz cannot be run")?;
        let mut bytes = Vec::new();
        xz.stdout.take().context("xz has no output")?.read_to_end(&mut bytes)?;
        xz.wait()?;
        bytes
    } else {
        std::fs::read(file)?
    };
    Ok(analyze(Cursor::new(bytes), &name, &Analyzing::all())?)
}
