//! What the analysis of a transfer's captures tells, against what the link did.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use losscause::{Differentiator, Packet, Time, on_judged};
use losscause_capture::frames::Frames;
use losscause_capture::judge::Chosen;
use losscause_capture::{Options as Analysed, analyze};

use super::link_log::{self, Sent};
use super::transfer::{LINK, RECEIVER_CAPTURE, SENDER_CAPTURE};
use super::{ABOUT, About, truth};
use crate::accuracy::matching::{self, Errors, Tally};
use crate::accuracy::{VANTAGES, Vantage};

/// A transfer and what was found in its captures.
pub(super) struct Scored {
    pub(super) about: About,
    pub(super) tallies: BTreeMap<Vantage, Tally>,
    /// What the algorithms reach with the link's own times.
    pub(super) ideal: BTreeMap<String, Errors>,
}

/// Analyses the captures in `folder`; the algorithms of `asked` judge.
pub(super) fn score(folder: &Path, asked: &Chosen) -> Result<Scored> {
    let about: About =
        serde_json::from_str(&fs::read_to_string(folder.join(ABOUT)).context(ABOUT)?)
            .context(ABOUT)?;
    let packets = link_log::read(&folder.join(LINK))?;
    let begun = packets.first().context("nothing was sent")?.at;
    let (losses, end) = truth::losses(&packets, begun, "10.77.0.1");
    let tally = |vantage: Vantage| -> Result<(Vantage, Tally)> {
        let file = folder.join(match vantage {
            Vantage::Sender => SENDER_CAPTURE,
            Vantage::Receiver => RECEIVER_CAPTURE,
        });
        let begins = (first_time(&file)? - begun).as_secs_f64();
        let analysed = Analysed { chosen: asked.clone(), ..Analysed::all() };
        let analysis = analyze(File::open(&file)?, vantage.name(), &analysed)?;
        Ok((vantage, matching::compare(&analysis, begins, vantage, &losses, end)))
    };
    Ok(Scored {
        about,
        ideal: ideal(&packets, asked),
        tallies: VANTAGES.into_iter().map(tally).collect::<Result<_>>()?,
    })
}

/// The receivers' algorithms on what the link knows: every transmission, retransmissions too, has a
/// number of its own, and its exact trip time. What they still get wrong is no fault of the
/// observation.
fn ideal(packets: &[Sent], asked: &Chosen) -> BTreeMap<String, Errors> {
    let mut arrivals: Vec<Packet> = Vec::new();
    for (number, sent) in (0..).zip(packets) {
        arrivals.extend(sent.arrived().map(|at| Packet { seq: number, at, sent: Some(sent.at) }));
    }
    arrivals.sort_by_key(|packet| (packet.at, packet.seq));
    let mut ideal = BTreeMap::new();
    for (name, config) in asked.keys().zip(asked.iter()) {
        // Some algorithms run at senders only.
        let Ok(lda) = config.build(losscause::End::Receiver) else { continue };
        let mut differentiator = Differentiator::new(lda);
        let errors: &mut Errors = ideal.entry(name).or_default();
        for packet in &arrivals {
            let mut count = on_judged(|loss, judgement| {
                let Some(number) = loss.seq() else { return };
                // What is on its way is only late.
                if let Some((cause, _)) = packets[number as usize].lost() {
                    errors.add(cause, judgement.verdict);
                }
            });
            differentiator.on_packet(*packet, &mut count);
        }
    }
    ideal
}

pub(super) fn first_time(file: &Path) -> Result<Time> {
    let mut frames = Frames::open(File::open(file)?)?;
    Ok(frames.next_frame().context("a capture is empty")?.time)
}

/// An algorithm's verdicts on all losses of these transfers together.
pub(super) fn pooled<'a>(
    errors: impl Iterator<Item = (&'a str, &'a Errors)>,
) -> BTreeMap<String, Errors> {
    let mut pooled: BTreeMap<String, Errors> = BTreeMap::new();
    errors.for_each(|(name, errors)| pooled.entry(name.to_owned()).or_default().join(*errors));
    pooled
}

/// All that was found, together.
pub(super) fn detected<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Tally {
    tallies.fold(Tally::default(), Tally::with_detection_of)
}
