//! The joined flows as data.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use losscause::Time;

use super::log::Key;
use super::matching::{Lost, Matched, Sight};
use super::views::{self, End, View};
use super::{JoinError, timed};
use crate::OverTime;
use crate::alone::Alone;
use crate::analysis::{Analysis, Flow, Loss, Options, Summary, Verdicts};
use crate::diagnose::FlowDiagnosis;
use crate::flow::{Evidence, Protocol, Vantage};
use crate::judge::Words;
use crate::judge::trust::Situation;
use crate::minor;
use crate::next;
use crate::utc::Utc;

/// Joining under way.
pub(super) struct Join<'a> {
    options: &'a Options,
    chosen: Vec<String>,
    sender: &'a Analysis,
    receiver: &'a Analysis,
    flows_at_sender: ByEnds<'a>,
    flows_at_receiver: ByEnds<'a>,
    flows: Vec<Flow>,
    /// Bytes of all flows, and of those whose captures are in the wrong order.
    bytes: u64,
    swapped_bytes: u64,
}

/// What a flow is called in both captures.
pub(super) struct Name {
    pub(super) src: String,
    pub(super) dst: String,
    pub(super) protocol: Protocol,
    pub(super) stream: Option<u32>,
}

/// A capture's flows by source, destination and stream.
type ByEnds<'a> = HashMap<(&'a str, &'a str, Protocol, Option<u32>), Vec<&'a Flow>>;

fn by_ends(analysis: &Analysis) -> ByEnds<'_> {
    let mut flows = ByEnds::new();
    for flow in &analysis.flows {
        // SRT's flow goes on with another socket.
        let stream = flow.stream_of_sender().filter(|_| flow.protocol != Protocol::Srt);
        flows.entry((&flow.src, &flow.dst, flow.protocol, stream)).or_default().push(flow);
    }
    flows
}

impl<'a> Join<'a> {
    pub(super) fn new(options: &'a Options, sender: &'a Analysis, receiver: &'a Analysis) -> Self {
        Self {
            options,
            chosen: options.chosen.keys().collect(),
            sender,
            receiver,
            flows_at_sender: by_ends(sender),
            flows_at_receiver: by_ends(receiver),
            flows: Vec::new(),
            bytes: 0,
            swapped_bytes: 0,
        }
    }

    /// Whether the options select a flow.
    pub(super) fn wants(&self, key: &Key) -> bool {
        self.options.flows.is_all()
            || self.options.flows.has([&key.src.to_string(), &key.dst.to_string()])
    }

    /// Adds a flow that both captures have. What flows back in a connection, such as requests,
    /// comes from the other end: `exchanged` is what the captures tell in the other order.
    pub(super) fn add(
        &mut self,
        key: &Key,
        matched: Matched,
        exchanged: impl FnOnce() -> Option<Matched>,
    ) {
        let name = Name {
            src: key.src.to_string(),
            dst: key.dst.to_string(),
            protocol: key.protocol,
            stream: key.stream.filter(|_| key.protocol != Protocol::Srt),
        };
        let ends = (name.src.as_str(), name.dst.as_str(), name.protocol, name.stream);
        let flows_of = |flows: &ByEnds<'a>| flows.get(&ends).cloned().unwrap_or_default();
        let flows = [flows_of(&self.flows_at_sender), flows_of(&self.flows_at_receiver)];
        self.add_named(&name, flows, matched, exchanged);
    }

    /// As [`Self::add`], of what the sender's and the receiver's capture call `flows`.
    pub(super) fn add_named(
        &mut self,
        name: &Name,
        [mut first, mut second]: [Vec<&'a Flow>; 2],
        mut matched: Matched,
        exchanged: impl FnOnce() -> Option<Matched>,
    ) {
        let bytes: u64 = first.iter().chain(&second).map(|flow| flow.bytes).sum();
        self.bytes += bytes;
        let mut begun = self.sender.begun;
        let mut begun_there = self.receiver.begun;
        if are_swapped(&first, &second, &matched) {
            self.swapped_bytes += bytes;
            let Some(exchanged) = exchanged() else { return };
            matched = exchanged;
            std::mem::swap(&mut begun, &mut begun_there);
            std::mem::swap(&mut first, &mut second);
        }
        let timed = timed::timed(self.options, name, &matched.trips, &second, begun_there);
        let mut alone = View::new(second.clone(), End::Receiver);
        let second = timed.as_ref().map_or(second, |timed| vec![timed]);
        let mut sender = View::new(first, End::Sender);
        let mut receiver = View::new(second, End::Receiver);
        let names: Arc<[Option<String>]> =
            [receiver.names(&self.chosen), sender.names(&self.chosen)].concat().into();
        let none = views::none_of(self.chosen.len());
        let words = Words::default();
        let mut losses = Vec::with_capacity(matched.lost.len());
        let mut found_alone = Vec::new();
        for lost in &matched.lost {
            let found = [receiver.find(lost), sender.find(lost)];
            alone.find(lost);
            let judged = |loss: &Loss| loss.verdicts.opinions.iter().collect();
            let of = |loss: Option<&Loss>| loss.map_or(none.clone(), judged);
            let judgements = [of(found[0]), of(found[1])].concat();
            let opinions = words.opinions(judgements.into_iter(), [None; 2], None);
            let mut loss =
                loss(lost, begun, name.protocol, Verdicts { names: names.clone(), opinions });
            loss.place = Some(lost.start.saturating_sub(matched.first));
            // Of a log, only the sender's says the size.
            if let (Protocol::Quic, Some(found)) = (name.protocol, found[1]) {
                loss.bytes = found.bytes;
            }
            losses.push(loss);
            let told = |loss: &Loss| (loss.queueing_ms, loss.queueing_before_ms, loss.is_apart);
            found_alone.push(found.map(|loss| loss.map(told)));
        }
        [&mut receiver, &mut sender, &mut alone].into_iter().for_each(View::finish);
        for (loss, [at_receiver, at_sender]) in losses.iter_mut().zip(found_alone) {
            let own = if trusts_sender(&sender, &receiver) { at_sender } else { at_receiver };
            (loss.queueing_ms, loss.queueing_before_ms, loss.is_apart) = own.unwrap_or_default();
        }
        let mut flow = self.describe(name, &sender, &receiver, &names);
        flow.alone = Some(Alone { sender: sender.tally, receiver: alone.tally });
        (flow.packets, flow.wire_packets) = (matched.packets, matched.packets);
        flow.capture_drops = matched.uncaptured;
        for (name, words) in losses.iter().flat_map(|loss| loss.verdicts.words()) {
            if let Some(summary) = flow.summary.get_mut(name) {
                summary.add(words.verdict);
            }
        }
        flow.losses = losses;
        self.flows.push(flow);
    }

    /// A flow without its losses. What is expected of an algorithm depends on its end.
    fn describe<'v>(
        &self,
        name: &Name,
        sender: &View<'v>,
        receiver: &View<'v>,
        names: &[Option<String>],
    ) -> Flow {
        let count =
            |view: &View<'_>, of: fn(&Flow) -> u64| view.flows.iter().map(|flow| of(flow)).sum();
        let mut not_applicable = BTreeMap::new();
        for (view, end) in [(sender, End::Sender), (receiver, End::Receiver)] {
            for (name, reason) in view.flows.iter().flat_map(|flow| &flow.not_applicable) {
                not_applicable.insert(end.key(name), reason.clone());
            }
        }
        not_applicable.retain(|name, _| !names.iter().flatten().any(|usable| usable == name));
        let trusted =
            if trusts_sender(sender, receiver) { [sender, receiver] } else { [receiver, sender] };
        let own = |view: &View<'v>| view.flows.first().copied();
        let situation = trusted.iter().find_map(|view| view.situation());
        Flow {
            id: self.flows.len() as u64 + 1,
            src: name.src.clone(),
            dst: name.dst.clone(),
            src_name: [sender, receiver].iter().find_map(|view| own(view)?.src_name.clone()),
            dst_name: [sender, receiver].iter().find_map(|view| own(view)?.dst_name.clone()),
            protocol: name.protocol,
            ssrc: own(sender).and_then(|flow| flow.ssrc),
            stream: own(sender).and_then(|flow| flow.stream),
            packets: 0,
            wire_packets: 0,
            bytes: count(sender, |flow| flow.bytes),
            vantage: Vantage::Both,
            reordered: count(receiver, |flow| flow.reordered),
            duplicates: count(receiver, |flow| flow.duplicates),
            copies: count(sender, |flow| flow.copies) + count(receiver, |flow| flow.copies),
            spurious: count(sender, |flow| flow.spurious),
            capture_drops: 0,
            probes: count(sender, |flow| flow.probes),
            marked: count(receiver, |flow| flow.marked),
            offload: sender.flows.iter().chain(&receiver.flows).any(|flow| flow.offload),
            batched: count(receiver, |flow| flow.batched),
            clock_drift_ppm: receiver.flows.iter().find_map(|flow| flow.clock_drift_ppm),
            not_applicable,
            diagnosis: surer(trusted.map(own)).map(next::in_both),
            recommended: trusted.iter().find_map(|view| view.recommended()),
            situation: situation.unwrap_or(Situation::unknown(Vantage::Receiver, name.protocol)),
            expected: trusted.iter().flat_map(|view| view.expected()).collect(),
            minor: false,
            alone: None,
            queueing: own(trusted[0]).and_then(|flow| flow.queueing),
            opening: own(sender).and_then(|flow| flow.opening),
            closing: own(sender).and_then(|flow| flow.closing),
            outages: own(sender).map(|flow| flow.outages.clone()).unwrap_or_default(),
            pauses: own(sender).map(|flow| flow.pauses.clone()).unwrap_or_default(),
            renumbered: count(sender, |flow| flow.renumbered),
            shifts: own(trusted[0]).map(|flow| flow.shifts.clone()).unwrap_or_default(),
            window_closed_s: own(sender).map_or(0.0, |flow| flow.window_closed_s),
            acked_uncaptured: 0,
            one_way: false,
            sent_again: own(sender).map_or(0, |flow| flow.sent_again),
            pace: own(sender).and_then(|flow| flow.pace),
            fit: own(sender).and_then(|flow| flow.fit.clone()),
            over_time: over_time(own(sender), own(trusted[0])),
            notes: Vec::new(),
            path: None,
            logged: None,
            measured: None,
            unlisted_losses: 0,
            losses: Vec::new(),
            summary: names
                .iter()
                .flatten()
                .map(|name| (name.clone(), Summary::default()))
                .collect(),
        }
    }

    /// The flows that both captures have.
    ///
    /// # Errors
    /// If there are none, or the captures are in the wrong order for most of the data.
    pub(super) fn finish(self) -> Result<Analysis, JoinError> {
        if self.swapped_bytes * 2 > self.bytes {
            return Err(JoinError::Swapped);
        }
        if self.flows.is_empty() {
            return Err(JoinError::NoCommonFlow);
        }
        Ok(summed(self.sender, self.receiver, self.flows))
    }
}

fn loss(lost: &Lost, begun: Time, protocol: Protocol, verdicts: Verdicts) -> Loss {
    let seq = protocol.on_wire(lost.start);
    let bytes = if protocol == Protocol::Tcp { lost.end - lost.start } else { 0 };
    let at = lost.sent.at;
    let loss = Loss::new(((at - begun).as_secs_f64(), at), (seq, bytes), Evidence::Known, verdicts);
    Loss {
        // A log has no dates.
        time_utc: Utc::of(at).filter(|_| protocol != Protocol::Quic),
        frame: lost.sent.frame(),
        frame_again: lost.resent.and_then(Sight::frame),
        frame_at_receiver: lost.revealed.and_then(Sight::frame),
        ..loss
    }
}

/// Whether the second capture was taken nearer to the sender of a flow than the first: by the
/// copies that they have, or if these tell nothing, if the places that the two tell speak for it
/// and none of them against it.
fn are_swapped(first: &[&Flow], second: &[&Flow], matched: &Matched) -> bool {
    let is_at = |flows: &[&Flow], vantage| flows.iter().any(|flow| flow.vantage == vantage);
    let against = is_at(first, Vantage::Sender) || is_at(second, Vantage::Receiver);
    let places = (is_at(first, Vantage::Receiver) || is_at(second, Vantage::Sender)) && !against;
    matched.is_in_order().map_or(places, |is_in_order| !is_in_order)
}

/// Whose verdicts to take: those of the end that found more of the losses; the receiver sees the
/// queue more directly.
fn trusts_sender(sender: &View<'_>, receiver: &View<'_>) -> bool {
    sender.tally.found > receiver.tally.found
}

/// What the two ends say of the cause: the one that is surer, or the first if both are as sure.
fn surer([first, second]: [Option<&Flow>; 2]) -> Option<FlowDiagnosis> {
    let of = |flow: Option<&Flow>| flow.and_then(|flow| flow.diagnosis.clone());
    let (first, second) = (of(first), of(second));
    let certainty =
        |told: &Option<FlowDiagnosis>| told.as_ref().map(|told| told.diagnosis.certainty);
    if certainty(&second) > certainty(&first) { second } else { first }
}

/// The data as the sender's capture has them, with the delays that the end whose verdicts count has
/// seen. The captures' clocks may differ by any amount: the flow begins at the same time in both.
fn over_time(sender: Option<&Flow>, trusted: Option<&Flow>) -> Option<OverTime> {
    let mut joined = sender?.over_time.clone()?;
    let other = trusted?.over_time.as_ref()?;
    let shift = joined.from_s - other.from_s;
    joined.queueing_ms = other.queueing_ms.clone();
    joined.queueing_ms.iter_mut().for_each(|step| step.at_s += shift);
    Some(joined)
}

/// What is said about both captures as wholes.
fn summed(sender: &Analysis, receiver: &Analysis, mut flows: Vec<Flow>) -> Analysis {
    flows.sort_by_key(|flow| (std::cmp::Reverse(flow.losses.len()), flow.id));
    minor::mark(&mut flows);
    let cut = [sender, receiver].into_iter().find(|analysis| analysis.truncated_at.is_some());
    Analysis {
        file: format!("{} and {}", sender.file, receiver.file),
        packets: sender.packets + receiver.packets,
        truncated_at: cut.and_then(|analysis| analysis.truncated_at),
        truncation: cut.and_then(|analysis| analysis.truncation.clone()),
        begun: sender.begun,
        duration_s: sender.duration_s,
        fragments: sender.fragments + receiver.fragments,
        other_packets: sender.other_packets + receiver.other_packets,
        unread: sender.unread.joined(&receiver.unread),
        tcp_packets: sender.tcp_packets + receiver.tcp_packets,
        dropped_by_capture: [sender, receiver]
            .iter()
            .filter_map(|one| one.dropped_by_capture)
            .reduce(u64::saturating_add),
        radio: None,
        out_of_order_times: sender.out_of_order_times + receiver.out_of_order_times,
        cut_options: sender.cut_options + receiver.cut_options,
        unlisted_flows: 0,
        flows,
    }
}
