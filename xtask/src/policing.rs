//! `cargo xtask policing FOLDER`: diagnoses captures whose names tell the cause, and counts what is
//! named right, wrong and not at all, beside the published test for policers.
//!
//! The captures are those of the validation set of Flach et al., "An Internet-Wide Analysis of Traffic
//! Policing" (SIGCOMM 2016), named `C=5-…-PCIR=1500000-PBC=100000-RTT=100-…-LOSS=0%-…`: PCIR a policer
//! of so many bits per second, SCIR a shaper, LOSS random loss.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use losscause_capture::{Options as Analyzing, analyze};
use losscause_experiments::abroad::diagnosed::{CauseClass, FEWEST_LOSSES};
use losscause_experiments::captures::policing::Transfers;
use losscause_experiments::captures::{Said, Told};
use losscause_study::tools::table::Table;

/// What to diagnose.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder of captures, plain or compressed with gzip, zstd or xz.
    folder: PathBuf,
}

/// The true cause of a capture, and of a policer its rate, bits per second.
type Label = (CauseClass, Option<f64>);

/// A flow that counts: what was said of it, and whether its losses are too few to tell causes apart.
type Judged = (Said, bool);

/// Diagnoses the captures and prints a table.
pub(crate) fn policing(options: &Options) -> Result<()> {
    let folder = &options.folder;
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    let mut kinds: BTreeMap<CauseClass, Vec<Judged>> = BTreeMap::new();
    for path in paths {
        let Some(label) = label(&path) else { continue };
        let judged = judge(&path, label).with_context(|| path.display().to_string())?;
        kinds.entry(label.0).or_default().extend(judged);
    }
    if kinds.is_empty() {
        bail!("{}: no capture with PCIR, SCIR or LOSS in its name", folder.display());
    }
    print!("{}", table(&kinds));
    Ok(())
}

/// By a capture's name, if that tells it.
fn label(file: &Path) -> Option<Label> {
    let name = file.file_name()?.to_str()?;
    let value =
        |key: &str| name.split('-').find_map(|field| field.strip_prefix(key)?.strip_prefix('='));
    let rate = |key| value(key).and_then(|text| text.parse::<f64>().ok());
    match (value("LOSS"), rate("PCIR"), rate("SCIR")) {
        (Some(loss), ..) if !loss.starts_with("0%") => Some((CauseClass::Air, None)),
        (_, Some(rate), _) => Some((CauseClass::Policer, Some(rate))),
        (_, None, Some(_)) => Some((CauseClass::Queue, None)),
        _ => None,
    }
}

/// Judges the flows of a capture that lost something. Where nothing was lost, the largest flow
/// stands for the capture.
fn judge(file: &Path, (truth, rate_bps): Label) -> Result<Vec<Judged>> {
    let analysis = analyze(File::open(file)?, &file.display().to_string(), &Analyzing::all())?;
    let transfers = Transfers::read(File::open(file)?)?;
    let mut lossy: Vec<_> = analysis.flows.iter().filter(|flow| flow.lost() > 0).collect();
    if lossy.is_empty() {
        lossy.extend(analysis.flows.iter().max_by_key(|flow| flow.bytes));
    }
    let judged = lossy.into_iter().map(|flow| {
        let diagnosis = flow.diagnosis.as_ref().map(|of| of.diagnosis);
        let told = Told { lost: [0; 2], diagnosis, published: transfers.judge(flow) };
        (Said::of(Some(truth), rate_bps, &told), flow.lost() < FEWEST_LOSSES)
    });
    Ok(judged.collect())
}

/// A row per true cause.
fn table(kinds: &BTreeMap<CauseClass, Vec<Judged>>) -> String {
    let names = Said::SHARES.map(|(name, _)| name);
    let columns = ["truth", "flows", "under 8 losses"].into_iter().chain(names);
    let mut table = Table::new(columns).numbers(1..);
    let all: Vec<&Judged> = kinds.values().flatten().collect();
    let rows = kinds.iter().map(|(kind, flows)| (format!("{kind:?}"), flows.iter().collect()));
    for (name, flows) in rows.chain([("all".to_owned(), all)]) {
        let few = flows.iter().filter(|(_, is_few)| *is_few).count();
        let said = Said::SHARES.map(|(_, is)| flows.iter().filter(|(said, _)| is(said)).count());
        let counts = [flows.len(), few].into_iter().chain(said).map(|count| count.to_string());
        table.row([name].into_iter().chain(counts));
    }
    table.markdown()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_cause() {
        let of = |name: &str| label(Path::new(name));
        let policed = of(
            "C=5-CD=1000-PCIR=1500000-PBC=1000000-RTT=100-LOSS=0%-TCP=cubic-T=1-CP=10048.pcap.xz",
        );
        assert_eq!(policed, Some((CauseClass::Policer, Some(1.5e6))));
        assert_eq!(of("SCIR=10000000-RTT=100-LOSS=1%-T=1.pcap"), Some((CauseClass::Air, None)));
        assert_eq!(of("SCIR=3000000-SBC=8000-LOSS=0%.pcap"), Some((CauseClass::Queue, None)));
        assert_eq!(of("LICENSE"), None);
    }
}
