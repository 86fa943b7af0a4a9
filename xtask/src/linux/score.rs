//! What the analysis of a transfer's captures tells, against what the link did.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use losscause::Time;
use losscause_capture::frames::Frames;
use losscause_capture::{Options as Analysed, analyze};

use super::transfer::{ABOUT, About, LINK, RECEIVER_CAPTURE, SENDER_CAPTURE};
use super::{link_log, truth};
use crate::accuracy::matching::{self, Errors, Judged, Tally};
use crate::accuracy::{VANTAGES, Vantage};

/// A transfer and what was found in its captures.
pub(super) struct Scored {
    pub(super) about: About,
    pub(super) tallies: BTreeMap<Vantage, Tally>,
}

/// Analyses the captures in `folder`.
pub(super) fn score(folder: &Path) -> Result<Scored> {
    let about: About = serde_json::from_str(&fs::read_to_string(folder.join(ABOUT)).context(ABOUT)?).context(ABOUT)?;
    let packets = link_log::read(&folder.join(LINK))?;
    let begun = packets.first().context("nothing was sent")?.at;
    let (losses, end) = truth::losses(&packets, begun, "10.77.0.1");
    let tally = |vantage: Vantage| -> Result<(Vantage, Tally)> {
        let file = folder.join(match vantage {
            Vantage::Sender => SENDER_CAPTURE,
            Vantage::Receiver => RECEIVER_CAPTURE,
        });
        let begins = (first_time(&file)? - begun).as_secs_f64();
        let analysis = analyze(File::open(&file)?, vantage.name(), &Analysed::all())?;
        Ok((vantage, matching::compare(&analysis, begins, vantage, &losses, end)))
    };
    Ok(Scored { about, tallies: VANTAGES.into_iter().map(tally).collect::<Result<_>>()? })
}

fn first_time(file: &Path) -> Result<Time> {
    let mut frames = Frames::open(File::open(file)?)?;
    Ok(frames.next_frame().context("a capture is empty")?.time)
}

/// An algorithm's verdicts on all losses of these transfers together.
pub(super) fn pooled<'a>(tallies: impl Iterator<Item = &'a Tally>) -> BTreeMap<String, Errors> {
    let mut pooled: BTreeMap<String, Errors> = BTreeMap::new();
    for (name, errors) in tallies.flat_map(|tally| &tally.flows).flat_map(Judged::by_name) {
        pooled.entry(name.to_owned()).or_default().join(*errors);
    }
    pooled
}

/// All that was found, together.
pub(super) fn detected<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Tally {
    tallies.fold(Tally::default(), Tally::with_detection_of)
}
