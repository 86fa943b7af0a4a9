//! What is known of a flow that has ended, as data.

use std::collections::BTreeMap;
use std::sync::Arc;

use losscause::Time;

use super::flow::{Flow, Outage, Pause, Queueing, Shift, Tries};
use super::{Loss, Reading, Summary};
use crate::annotate::Note;
use crate::fit::Fit;
use crate::flow::{self, Evidence, FlowResult, Found, Protocol, Vantage};
use crate::judge::trust::{Situation, Table};
use crate::judge::{self, Trips};
use crate::measured::{Measured, Packets};
use crate::over_time::Transfer;
use crate::pace::Pace;

impl Reading<'_> {
    /// What is known of a flow that has ended.
    pub(super) fn describe(&self, result: FlowResult) -> Flow {
        let mut not_applicable = BTreeMap::new();
        let mut names: Vec<Option<String>> = self.names.iter().cloned().map(Some).collect();
        for (name, reason) in names.iter_mut().zip(&result.unmet) {
            if let Some(reason) = reason {
                not_applicable.extend(name.take().map(|name| (name, reason.clone())));
            }
        }
        let names: Arc<[Option<String>]> = names.into();
        let begun = self.begun.unwrap_or(Time::ZERO);
        let pace = result.pace.as_ref().and_then(|pace| Pace::of(pace, &result, begun));
        let notes = if self.options.notes { Note::all_of(&result.losses) } else { Vec::new() };
        let lost: Vec<Found> =
            result.losses.found.into_iter().filter(|found| found.state.is_loss()).collect();
        let ends = Ends { receiver: result.at_receiver, sender: result.at_sender };
        let told = ends.that_tells(&lost);
        let queueing = told.and_then(Queueing::of);
        let over_time =
            result.over_time.as_ref().and_then(|transfer| transfer.over_time(told, begun));
        let first_seq = result.over_time.as_ref().and_then(Transfer::first_seq);
        let as_loss = |found: Found| {
            let [queueing_ms, queueing_before_ms] = ends.queueing_of(&found);
            let place = first_seq.map(|first| found.start.saturating_sub(first));
            let loss = Loss::from(found, result.protocol, begun, &names);
            Loss { queueing_ms, queueing_before_ms, place, ..loss }
        };
        let mut losses: Vec<Loss> = lost.into_iter().map(as_loss).collect();
        losses.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let has_outage = !result.outages.is_empty();
        let from = result.pace.as_ref().and_then(flow::Pace::begun).unwrap_or(begun);
        let fit = match (&result.carried, &pace, &ends.sender) {
            (Some(carried), Some(pace), Some(trips)) if pace.sending.is_some() => {
                Fit::of(carried, pace, &losses, trips, has_outage, from)
            }
            _ => None,
        };
        let packets = result
            .carried
            .as_ref()
            .zip(pace.as_ref())
            .map(|(carried, pace)| Packets::of(carried, pace));
        let recent_delays = told.map_or_else(Vec::new, |trips| trips.recent().to_vec());
        let lossy = result.pace.as_ref().filter(|_| !losses.is_empty());
        let measured = lossy
            .map(|pace| Box::new(Measured::of(pace, packets, result.course, recent_delays, begun)));
        let mut said = vec![Summary::default(); names.len()];
        for loss in &losses {
            let words = loss.verdicts.opinions.words();
            said.iter_mut().zip(words).for_each(|(summary, words)| summary.add(words.verdict));
        }
        let named = names.iter().zip(said);
        let summary = named.filter_map(|(name, summary)| Some((name.clone()?, summary))).collect();
        let judged_at = result.judged_at;
        let protocol = result.protocol;
        let situation =
            Situation { judged_at, protocol, selective: result.selective, delays: result.delays };
        let usable = || names.iter().flatten().map(String::as_str);
        let recommended = Table::built_in().recommend(situation, usable()).map(str::to_owned);
        let expected = Table::built_in().expected_of(situation, usable());
        let counts = result.counts;
        let second = |time: Time| (time - begun).as_secs_f64();
        let outage = |outage: &flow::Outage| Outage {
            from_s: second(outage.from),
            to_s: second(outage.to),
            answered: outage.is_answered,
        };
        let pause = |pause: &flow::Pause| Pause {
            from_s: second(pause.from),
            to_s: second(pause.to),
            skipped: pause.skipped,
        };
        Flow {
            id: result.number,
            src: result.src,
            dst: result.dst,
            src_name: None,
            dst_name: None,
            protocol: result.protocol,
            ssrc: result.stream.filter(|_| result.protocol == Protocol::Rtp),
            stream: result.stream.filter(|_| result.protocol != Protocol::Rtp),
            packets: result.packets,
            wire_packets: result.wire_packets.unwrap_or(result.packets),
            bytes: result.bytes,
            vantage: result.vantage,
            reordered: counts.reordered,
            duplicates: counts.duplicates,
            copies: counts.copies,
            spurious: counts.spurious,
            capture_drops: counts.uncaptured,
            probes: counts.probes,
            marked: counts.marked,
            offload: counts.merged,
            batched: counts.joined,
            clock_drift_ppm: result.drift.map(|drift| drift * 1e6),
            not_applicable,
            diagnosis: None,
            recommended,
            situation,
            expected,
            minor: false,
            alone: None,
            queueing,
            opening: result.opening.map(Tries::of),
            closing: result.closing.map(Tries::of),
            outages: result.outages.iter().map(outage).collect(),
            pauses: result.pauses.iter().map(pause).collect(),
            renumbered: counts.renumbered,
            shifts: ends.shifts(result.vantage, begun),
            window_closed_s: result.closed.as_secs_f64(),
            acked_uncaptured: result.acked_uncaptured,
            one_way: result.is_one_way,
            sent_again: result.sent_again,
            pace,
            fit,
            over_time,
            notes,
            path: result.path,
            logged: result.logged,
            measured,
            unlisted_losses: result.losses.unlisted,
            losses,
            summary,
        }
    }
}

/// The trip times of a flow at the ends whose views count.
struct Ends {
    receiver: Option<Trips>,
    sender: Option<Trips>,
}

impl Ends {
    /// A receiver's view finds gaps, a sender's everything else.
    fn of(&self, evidence: Evidence) -> Option<&Trips> {
        if evidence == Evidence::Gap { self.receiver.as_ref() } else { self.sender.as_ref() }
    }

    /// Of the newest packet when a loss showed, and of the packet before the lost one.
    fn queueing_of(&self, found: &Found) -> [Option<f64>; 2] {
        let opinions = &found.opinions;
        [opinions.trip(), opinions.trip_before()]
            .map(|trip| self.of(found.evidence)?.queueing_of(trip?))
    }

    /// The steps of the trip times that stayed. A receiver's round trips tell nothing of the path.
    fn shifts(&self, vantage: Vantage, begun: Time) -> Vec<Shift> {
        let sender = self.sender.as_ref().filter(|_| vantage != Vantage::Receiver);
        let shifts = [self.receiver.as_ref(), sender].into_iter().flatten().flat_map(Trips::shifts);
        let shift = |shift: &judge::Shift| Shift {
            at_s: (shift.at - begun).as_secs_f64(),
            by_ms: shift.by.as_millis_f64(),
        };
        let mut shifts: Vec<Shift> = shifts.map(shift).collect();
        shifts.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        shifts
    }

    /// The trip times to show: those of the end that found most of the losses, if it has any.
    fn that_tells(&self, lost: &[Found]) -> Option<&Trips> {
        let gaps = lost.iter().filter(|found| found.evidence == Evidence::Gap).count();
        let receiver = self.receiver.as_ref();
        let sender = self.sender.as_ref();
        let by_weight =
            if gaps * 2 >= lost.len() { [receiver, sender] } else { [sender, receiver] };
        by_weight.into_iter().flatten().find(|trips| trips.latest().is_some())
    }
}
