//! What an analysis found, against what was lost.

use std::collections::BTreeMap;

use losscause::{Time, Verdict};
use losscause_capture::judge::trust::{Situation, Table};
use losscause_capture::{Analysis, Flow, Protocol};
use losscause_sim::truth::Cause;
use losscause_study::capture_files::{LostPacket, LostPackets};

use super::Vantage;
use super::truth::{Loss, Losses, TAIL};

/// The name under which the recommended algorithm's verdicts are counted.
pub(crate) const RECOMMENDED: &str = "recommended";

/// What was found in one capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Losses that the capture shows, and how many of them were found.
    pub(crate) showing: u64,
    pub(crate) showing_found: u64,
    /// Losses that were found, and how many of them are none.
    pub(crate) found: u64,
    pub(crate) found_false: u64,
    /// The flows that lost packets.
    pub(crate) flows: Vec<Judged>,
    /// What was missed or found in vain, in words.
    pub(crate) mistakes: Vec<String>,
}

/// The verdicts on one flow.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) situation: Situation,
    /// By algorithm.
    pub(crate) errors: BTreeMap<String, Errors>,
}

/// An algorithm's verdicts on one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Errors {
    congestion: u64,
    congestion_called_wireless: u64,
    wireless: u64,
    wireless_not_called_so: u64,
}

impl Errors {
    /// Wrong verdicts, and all.
    pub(crate) fn wrong_of(self, kind: Kind) -> (u64, u64) {
        match kind {
            Kind::Congestion => (self.congestion_called_wireless, self.congestion),
            Kind::Wireless => (self.wireless_not_called_so, self.wireless),
        }
    }

    /// Wrong ones of the losses of that cause, percent; none if there were no such losses.
    pub(crate) fn share(self, kind: Kind) -> Option<f64> {
        let (wrong, losses) = self.wrong_of(kind);
        (losses > 0).then(|| 100.0 * wrong as f64 / losses as f64)
    }

    /// Adds another flow's.
    pub(crate) fn join(&mut self, other: Self) {
        self.congestion += other.congestion;
        self.congestion_called_wireless += other.congestion_called_wireless;
        self.wireless += other.wireless;
        self.wireless_not_called_so += other.wireless_not_called_so;
    }

    pub(crate) fn add(&mut self, cause: Cause, verdict: Verdict) {
        let called_wireless = u64::from(verdict == Verdict::Wireless);
        match cause {
            Cause::Congestion => {
                self.congestion += 1;
                self.congestion_called_wireless += called_wireless;
            }
            Cause::Wireless => {
                self.wireless += 1;
                self.wireless_not_called_so += 1 - called_wireless;
            }
        }
    }
}

/// Which of the two errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// M_c: congestion losses called wireless.
    Congestion,
    /// M_w: wireless losses called congestion, or not decided.
    Wireless,
}

impl Judged {
    /// The verdicts of every algorithm, and those of the one that the analysis recommends.
    pub(crate) fn by_name(&self) -> impl Iterator<Item = (&str, &Errors)> {
        let recommended = self.recommended(Table::built_in()).map(|errors| (RECOMMENDED, errors));
        self.errors.iter().map(|(name, errors)| (name.as_str(), errors)).chain(recommended)
    }

    /// The verdicts of the algorithm that `table` recommends.
    pub(crate) fn recommended(&self, table: &Table) -> Option<&Errors> {
        self.errors.get(table.recommend(self.situation, self.errors.keys().map(String::as_str))?)
    }
}

impl Tally {
    /// With what another tally found; without its verdicts.
    pub(crate) fn with_detection_of(mut self, other: &Self) -> Self {
        self.showing += other.showing;
        self.showing_found += other.showing_found;
        self.found += other.found;
        self.found_false += other.found_false;
        self
    }

    /// The mean over the flows that have such losses, percent.
    pub(crate) fn error<'a>(
        &'a self,
        of: impl Fn(&'a Judged) -> Option<&'a Errors>,
        kind: Kind,
    ) -> Option<f64> {
        let shares: Vec<f64> = self.flows.iter().filter_map(|flow| of(flow)?.share(kind)).collect();
        losscause_study::statistics::mean(&shares)
    }
}

/// Compares an analysis with the losses of its run, which ended at `end`. The capture begins at
/// second `begins` of the run.
pub(crate) fn compare(
    analysis: &Analysis,
    begins: f64,
    vantage: Vantage,
    losses: &Losses,
    end: Time,
) -> Tally {
    let mut tally = Tally::default();
    for (src, lost) in losses {
        let flow = analysis.flows.iter().find(|flow| flow.src == *src);
        // A sender of RTP does not see what is lost.
        if vantage == Vantage::Sender && src.ends_with(":5004") {
            continue;
        }
        compare_flow(flow, begins, vantage, (src, lost), end, &mut tally);
    }
    // Losses of flows that lost nothing.
    for flow in analysis.flows.iter().filter(|flow| !losses.contains_key(&flow.src)) {
        tally.found += flow.losses.len() as u64;
        tally.found_false += flow.losses.len() as u64;
    }
    tally
}

fn compare_flow(
    flow: Option<&Flow>,
    begins: f64,
    vantage: Vantage,
    (src, lost): (&str, &[Loss]),
    end: Time,
    tally: &mut Tally,
) {
    let mut is_found = vec![false; lost.len()];
    let mut errors: BTreeMap<String, Errors> = BTreeMap::new();
    let until = (end - TAIL).as_secs_f64();
    let packet = |loss: &Loss| {
        let lost_s = loss.lost_s - begins;
        LostPacket { seq: loss.seq, lost_s, cause: loss.cause }
    };
    let mut packets = LostPackets::new(src.to_owned(), lost.iter().map(packet).collect());
    for found in flow.iter().flat_map(|flow| &flow.losses) {
        let found_s = begins + found.time_s;
        let protocol = flow.map_or(Protocol::Tcp, |flow| flow.protocol);
        let matched = packets.take(found, protocol);
        if found_s < until {
            tally.found += 1;
            if matched.is_empty() {
                tally.found_false += 1;
                tally.mistakes.push(format!(
                    "{src}: {} is no loss, by {:?}, at {found_s:.6} s",
                    found.seq as u32, found.evidence
                ));
            }
        }
        for place in matched {
            is_found[place] = true;
            for (name, opinion) in found.verdicts.iter() {
                let cause = lost[place].cause;
                errors.entry(name.to_owned()).or_default().add(cause, opinion.verdict);
            }
        }
    }
    for (loss, is_found) in lost.iter().zip(is_found) {
        if loss.shows_at(vantage) {
            tally.showing += 1;
            tally.showing_found += u64::from(is_found);
            if !is_found {
                tally
                    .mistakes
                    .push(format!("{src}: {} was missed, lost at {:.6} s", loss.seq, loss.lost_s));
            }
        }
    }
    if let (Some(flow), false) = (flow, errors.is_empty()) {
        tally.flows.push(Judged { situation: flow.situation, errors });
    }
}
