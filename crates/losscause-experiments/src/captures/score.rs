//! What an analysis found in captures, against what was lost.

use std::collections::BTreeMap;

use losscause::{Differentiator, End, Packet, Verdict, on_judged};
use losscause_capture::judge::Chosen;
use losscause_capture::judge::trust::{Situation, Table};
use losscause_capture::{Analysis, CaptureError, Flow, Options, Vantage, analyze};
use losscause_sim::truth::Cause;
use losscause_study::capture_files::{KnownCaptures, LostPacket, LostPackets};

use super::policing::{Transfers, Verdict as Policed, Why};
use super::said::Told;
use super::truth::{Sent, TAIL, Truth, first_time};
use crate::drawn::score::Tally;

/// The name under which the recommended algorithm's verdicts are counted.
pub const RECOMMENDED: &str = "recommended";

/// What was found in the captures of a run.
#[derive(Clone, Debug)]
pub struct Scored {
    /// In the senders' capture.
    pub sender: Found,
    /// In the receivers' capture.
    pub receiver: Found,
    /// What the receivers' algorithms reach with the links' own times, flow by flow: every
    /// transmission has a number of its own, and its exact trip time.
    pub link: Vec<BTreeMap<String, Tally>>,
}

/// What was found in one capture.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Losses that the capture shows.
    pub shown: u64,
    /// Of these, those that were found.
    pub shown_found: u64,
    /// Losses that were found before the run's tail.
    pub found: u64,
    /// Of these, those that are none.
    pub found_false: u64,
    /// The flows with judged losses.
    pub flows: Vec<JudgedFlow>,
    /// The flows that lost packets, with what is said of each.
    pub diagnoses: Vec<Told>,
    /// What was missed or found in vain, in words.
    pub mistakes: Vec<String>,
}

/// The verdicts on one flow.
#[derive(Clone, Debug)]
pub struct JudgedFlow {
    /// What its capture tells about it.
    pub situation: Situation,
    /// By algorithm.
    pub errors: BTreeMap<String, Tally>,
}

impl JudgedFlow {
    /// The verdicts of the algorithm that the built-in table recommends.
    pub fn recommended(&self) -> Option<Tally> {
        let names = self.errors.keys().map(String::as_str);
        self.errors.get(Table::built_in().recommend(self.situation, names)?).copied()
    }
}

impl Scored {
    /// Analyses both captures; these algorithms judge.
    ///
    /// # Errors
    /// A capture cannot be read.
    pub fn of(captures: &KnownCaptures, chosen: &Chosen) -> Result<Self, CaptureError> {
        let truths = Truth::all(captures)?;
        let begun = first_time(&captures.sender)?;
        let options = Options { chosen: chosen.clone(), ..Options::all() };
        let found = |capture: &[u8], vantage: Vantage| {
            let begins = first_time(capture)?;
            let later_s = (begins - begun).as_secs_f64();
            let until_s = (captures.ended - TAIL - begins).as_secs_f64();
            let analysis = analyze(capture, &vantage.to_string(), &options)?;
            let transfers = Transfers::read(capture)?;
            let mut found = Found::of(&analysis, &truths, vantage, later_s, until_s);
            found.diagnoses = told(&analysis, &truths, &transfers);
            Ok::<_, CaptureError>(found)
        };
        Ok(Self {
            sender: found(&captures.sender, Vantage::Sender)?,
            receiver: found(&captures.receiver, Vantage::Receiver)?,
            link: truths.iter().map(|truth| by_the_link(truth, chosen)).collect(),
        })
    }
}

impl Found {
    /// Compares an analysis with the truth. The capture begins `later_s` after the senders', and
    /// what is found after `until_s` does not count.
    fn of(
        analysis: &Analysis,
        truths: &[Truth],
        vantage: Vantage,
        later_s: f64,
        until_s: f64,
    ) -> Self {
        let mut all = Self::default();
        let seen = |truth: &&Truth| truth.is_tcp || vantage == Vantage::Receiver;
        for truth in truths.iter().filter(seen) {
            let source = truth.lost.source();
            let flow = analysis.flows.iter().find(|flow| flow.src == source);
            let is_found = all.take(flow, truth, later_s, until_s);
            for (place, lost) in truth.lost.packets().iter().enumerate() {
                if !truth.shows(place, vantage) {
                    continue;
                }
                all.shown += 1;
                all.shown_found += u64::from(is_found[place]);
                if !is_found[place] {
                    let LostPacket { seq, lost_s, .. } = lost;
                    all.mistakes.push(format!("{source}: {seq} was missed, lost at {lost_s:.6} s"));
                }
            }
        }
        // Losses of flows that lost nothing.
        let has_lost = |flow: &Flow| truths.iter().any(|truth| truth.lost.source() == flow.src);
        for flow in analysis.flows.iter().filter(|flow| !has_lost(flow)) {
            all.found += flow.losses.len() as u64;
            all.found_false += flow.losses.len() as u64;
        }
        all
    }

    /// Adds what was found of a flow. Returns of each of its lost packets whether it was found.
    fn take(
        &mut self,
        flow: Option<&Flow>,
        truth: &Truth,
        later_s: f64,
        until_s: f64,
    ) -> Vec<bool> {
        let source = truth.lost.source();
        let packets = truth.lost.packets();
        let mut is_found = vec![false; packets.len()];
        let Some(flow) = flow else { return is_found };
        let here = packets.iter().map(|lost| LostPacket { lost_s: lost.lost_s - later_s, ..*lost });
        let mut left = LostPackets::new(source.to_owned(), here.collect());
        let mut errors: BTreeMap<String, Tally> = BTreeMap::new();
        for found in &flow.losses {
            let places = left.take(found, flow.protocol);
            if found.time_s < until_s {
                self.found += 1;
                if places.is_empty() {
                    self.found_false += 1;
                    self.mistakes.push(format!(
                        "{source}: {} is no loss, by {:?}, at {:.6} s",
                        found.seq as u32, found.evidence, found.time_s
                    ));
                }
            }
            for place in places {
                is_found[place] = true;
                for (name, opinion) in found.verdicts.iter() {
                    let is_wireless = opinion.verdict == Verdict::Wireless;
                    let tally = errors.entry(name.to_owned()).or_default();
                    tally.count(packets[place].cause, is_wireless);
                }
            }
        }
        if !errors.is_empty() {
            self.flows.push(JudgedFlow { situation: flow.situation, errors });
        }
        is_found
    }
}

/// What is said of the flows that lost packets.
fn told(analysis: &Analysis, truths: &[Truth], transfers: &Transfers) -> Vec<Told> {
    let of_flow = |truth: &Truth| {
        let of = |cause| truth.lost.packets().iter().filter(|lost| lost.cause == cause).count();
        let flow = analysis.flows.iter().find(|flow| flow.src == truth.lost.source());
        let diagnosis = flow.and_then(|flow| flow.diagnosis.as_ref()).map(|told| told.diagnosis);
        let few = Policed::NotPoliced(Why::FewLosses);
        let published = flow.map_or(few, |flow| transfers.judge(flow));
        let lost = [Cause::Congestion, Cause::Wireless].map(|cause| of(cause) as u64);
        Told { lost, diagnosis, published }
    };
    truths.iter().map(of_flow).collect()
}

/// The receivers' algorithms on what the links know. What they still get wrong is no fault of the
/// observation.
fn by_the_link(truth: &Truth, chosen: &Chosen) -> BTreeMap<String, Tally> {
    let numbered = (0..).zip(&truth.sent);
    let arrival =
        |(seq, sent): (u64, &Sent)| Some(Packet { seq, at: sent.arrived()?, sent: Some(sent.at) });
    let mut arrivals: Vec<Packet> = numbered.filter_map(arrival).collect();
    arrivals.sort_by_key(|packet| (packet.at, packet.seq));
    let mut ideal: BTreeMap<String, Tally> = BTreeMap::new();
    for (name, config) in chosen.keys().zip(chosen.iter()) {
        // Some algorithms run at senders only.
        let Ok(lda) = config.build(End::Receiver) else { continue };
        let mut differentiator = Differentiator::new(lda);
        let tally = ideal.entry(name).or_default();
        for packet in &arrivals {
            let mut count = on_judged(|loss, judgement| {
                let lost = loss.seq().and_then(|number| truth.sent.get(number as usize)?.lost());
                // What is on its way is only late.
                if let Some(place) = lost {
                    let cause = truth.lost.packets()[place].cause;
                    tally.count(cause, judgement.verdict == Verdict::Wireless);
                }
            });
            differentiator.on_packet(*packet, &mut count);
        }
    }
    ideal
}
