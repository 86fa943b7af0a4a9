//! The answer in words: how many packets were lost and why, and what explains a slow transfer
//! beside that.

use std::collections::BTreeSet;

use losscause::diagnosis::{Cause, Certainty, Diagnosis, Unknown};
use losscause::{Judgement, Verdict};

use crate::flow::is_incomplete;
use crate::names;
use crate::units;
use crate::{
    Analysis, Flow, FlowDiagnosis, Loss, Outage, Pause, Protocol, Summary, Tries, Vantage, causes,
};

/// What is said of losses.
#[derive(Default)]
struct Told {
    /// How many there are: a sentence.
    lost: String,
    /// The causes of the losses in short: a sentence, if there is one.
    headline: String,
    /// The causes of the losses, what shows them and what to do: sentences, if there are any.
    causes: String,
    /// What is to be said beside them.
    beside: String,
}

impl Analysis {
    /// Sentences that a colleague could repeat: how many packets were lost, and why.
    pub fn answer(&self) -> String {
        let Told { lost, causes, beside, .. } = self.told_losses();
        let losses = [lost, causes, beside].into_iter().filter(|text| !text.is_empty());
        let told = losses.chain(self.told_beside_losses()).collect::<Vec<_>>().join(" ");
        names::within(&told, &self.flows)
    }

    /// How many packets were lost, and the cause that is named, without what shows it and what to
    /// do: the answer's first sentences.
    pub fn headline(&self) -> String {
        let Told { lost, headline, .. } = self.told_losses();
        let told = if headline.is_empty() { lost } else { format!("{lost} {headline}") };
        names::within(&told, &self.flows)
    }

    /// What the answer says beside the headline, what shows the cause and what to do: a sentence
    /// each.
    pub fn beside_headline(&self) -> Vec<String> {
        let beside = self.told_losses().beside;
        (!beside.is_empty())
            .then_some(beside)
            .into_iter()
            .chain(self.told_beside_losses())
            .collect()
    }

    /// The losses and their causes.
    fn told_losses(&self) -> Told {
        let only = |lost: String| Told { lost, ..Told::default() };
        let total: u64 = self.flows.iter().map(Flow::lost).sum();
        if self.has_no_flow() {
            return only(format!("There is {}.", self.no_flow(false)));
        }
        let counted = || self.flows.iter().filter(|flow| !flow.minor);
        let all = counted().count() as u64 + self.unlisted_flows;
        let flows = plural(all, "flow");
        if total == 0 {
            let known =
                counted().filter(|flow| flow.shows_losses()).count() as u64 + self.unlisted_flows;
            let pauses = self.flows.iter().any(|flow| !flow.pauses.is_empty());
            let outside = if pauses { " outside of pauses" } else { "" };
            let joined = self.flows.iter().any(|flow| flow.vantage == Vantage::Both);
            let between = if joined { " between the two captures" } else { "" };
            let elsewhere: u64 = self.flows.iter().map(Flow::lost_elsewhere).sum();
            if elsewhere > 0 {
                let lost = plural(elsewhere, "loss");
                return only(format!(
                    "No data packet of {flows} was lost{between}; the first alone shows {lost}: before it or behind the \
                     second."
                ));
            }
            let hides = counted().any(|flow| flow.shows_losses() && flow.hides_losses());
            let lost = if hides { "is missing" } else { "was lost" };
            return only(match known {
                0 => {
                    format!("Whether a data packet of {flows} was lost, the capture does not show.")
                }
                _ if known == all => format!("No data packet of {flows} {lost}{between}{outside}."),
                _ => format!(
                    "No data packet of {known} of {flows} {lost}{between}{outside}; of the others the capture does not show it."
                ),
            });
        }
        let lost = format!("{} in {flows}.", plural(total, "lost packet"));
        let lossy: Vec<&Flow> = self.flows.iter().filter(|flow| flow.lost() > 0).collect();
        let unexplained = lossy.iter().filter(|flow| !flow.has_outage());
        let by_timer: u64 = unexplained.map(|flow| flow.lost_by_timer()).sum();
        let timers = match by_timer {
            0 => None,
            all if all == total
                && self.flows.iter().all(|flow| flow.one_way || flow.lost() == 0) =>
            {
                let again = plural(total, "packet");
                return only(format!(
                    "{again} of {flows} were sent again; why is not shown, as no answer was captured."
                ));
            }
            all if all == total => {
                return only(format!("{lost} Only timers showed them: their cause is not shown."));
            }
            1 => Some("1 only by a timer: its cause is not shown.".to_owned()),
            some => Some(format!("{some} only by a timer: their cause is not shown.")),
        };
        let one_by_one: Vec<&Flow> =
            lossy.iter().copied().filter(|flow| flow.is_told_one_by_one()).collect();
        let beside =
            timers.into_iter().chain(told_one_by_one(&one_by_one)).collect::<Vec<_>>().join(" ");
        let [headline, causes] = causes::told(&lossy).unwrap_or_default();
        Told { lost, headline, causes, beside }
    }

    /// What explains a slow transfer beside losses, or forbids to conclude from them: a sentence
    /// each.
    fn told_beside_losses(&self) -> Vec<String> {
        let mut told = Vec::new();
        let worst = |weight: fn(&Flow) -> f64| {
            let weighed = self
                .flows
                .iter()
                .map(|flow| (weight(flow), flow))
                .filter(|(weight, _)| *weight > 0.0);
            weighed.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, flow)| flow)
        };
        let count =
            |is: fn(&Flow) -> bool| self.flows.iter().filter(|flow| is(flow)).count() as u64;
        let others = |count: u64| match count {
            0 | 1 => String::new(),
            more => format!(" (and so {} more)", plural(more - 1, "flow")),
        };
        if let Some(flow) = worst(|flow| flow.opening.map_or(0.0, |opening| opening.waited_s)) {
            let all = count(|flow| flow.opening.is_some());
            told.extend(flow.told_opening().map(|text| format!("{text}{}.", others(all))));
        }
        if let Some(flow) = worst(|flow| flow.closing.map_or(0.0, |closing| closing.waited_s)) {
            let all = count(|flow| flow.closing.is_some());
            told.extend(flow.told_closing().map(|text| format!("{text}{}.", others(all))));
        }
        if let Some(flow) =
            worst(|flow| flow.outages.iter().map(|outage| outage.to_s - outage.from_s).sum())
        {
            let all = count(|flow| !flow.outages.is_empty());
            told.extend(flow.told_outages().map(|text| format!("{text}{}.", others(all))));
        }
        if let Some(flow) =
            worst(|flow| flow.pauses.iter().map(|pause| pause.to_s - pause.from_s).sum())
        {
            let all = count(|flow| !flow.pauses.is_empty());
            told.extend(flow.told_pauses().map(|text| format!("{text}{}.", others(all))));
        }
        let closed =
            worst(|flow| if flow.window_closed_s >= LONG_S { flow.window_closed_s } else { 0.0 });
        if let Some(flow) = closed {
            let closed = flow.window_closed_s;
            let all = self.duration_s;
            let who = &flow.dst;
            told.push(format!(
                "{who} could take nothing: its window was closed for {closed:.1} of {all:.1} s."
            ));
        }
        told.extend(self.flows.iter().max_by_key(|flow| flow.bytes).and_then(Flow::told_limit));
        if let Some(flow) =
            worst(|flow| if flow.may_lose_behind() { flow.packets as f64 } else { 0.0 })
        {
            let all = count(Flow::may_lose_behind);
            told.push(format!(
                "No number is missing in {} of {} to {}{}; what was lost behind this capture, the other end's would tell.",
                flow.protocol.name(),
                flow.src,
                flow.dst,
                others(all)
            ));
        }
        let only_there = |flow: &Flow| {
            if flow.may_be_in_wrong_order() { flow.capture_drops as f64 } else { 0.0 }
        };
        if let Some(flow) = worst(only_there) {
            let all = count(Flow::may_be_in_wrong_order);
            told.push(format!(
                "Only the receiver's capture has {} of {} to {}{}: the sender's missed them, or the captures are in the \
                 wrong order.",
                plural(flow.capture_drops, "packet"),
                flow.src,
                flow.dst,
                others(all)
            ));
        }
        if let Some(flow) =
            worst(|flow| if flow.is_incomplete() { flow.capture_drops as f64 } else { 0.0 })
        {
            let packets = flow.wire_packets;
            let kept = 100.0 * packets as f64 / (packets + flow.capture_drops) as f64;
            let all = count(Flow::is_incomplete);
            told.push(format!(
                "The capture holds about {kept:.0} % of the packets of {} to {}{}: it was filtered, sampled or dropped packets.",
                flow.src,
                flow.dst,
                others(all)
            ));
        }
        if let Some(flow) =
            worst(|flow| if flow.packets == 0 { flow.acked_uncaptured as f64 } else { 0.0 })
        {
            let all = count(|flow| flow.packets == 0 && flow.acked_uncaptured > 0);
            told.push(format!(
                "Of {} to {}{} only acknowledgements were captured, of {}.",
                flow.src,
                flow.dst,
                others(all),
                units::bytes(flow.acked_uncaptured)
            ));
        }
        told.extend(
            self.told_unread().filter(|_| self.is_mostly_unread()).map(|text| format!("{text}.")),
        );
        told
    }
}

impl Flow {
    /// The flow's sender with its name: `192.0.2.1:443 (example.org)`.
    pub fn src_told(&self) -> String {
        names::behind(&self.src, self.src_name.as_deref())
    }

    /// The flow's receiver with its name.
    pub fn dst_told(&self) -> String {
        names::behind(&self.dst, self.dst_name.as_deref())
    }

    /// What else is counted of its packets, each as "3 reordered"; what did not occur is left out.
    pub fn counts_told(&self) -> Vec<String> {
        let counts = [
            (self.sent_again, "sent again"),
            (self.reordered, "reordered"),
            (self.duplicates, "duplicates"),
            (self.spurious, "retransmitted without need"),
            (self.capture_drops, "not captured"),
            (self.probes, "probes"),
            (self.marked, "with a congestion mark"),
            (self.batched, "handed up in batches"),
        ];
        let counted = counts.into_iter().filter(|(count, _)| *count > 0);
        counted.map(|(count, what)| format!("{count} {what}")).collect()
    }

    /// The flow's losses, their cause, and what the algorithm to follow calls them, in sentences.
    pub fn answer(&self) -> String {
        if self.lost() == 0 {
            return match (self.shows_losses(), self.hides_losses()) {
                (false, _) => "Whether a data packet was lost, the capture does not show.",
                (true, true) => "No data packet is missing.",
                (true, false) => "No data packet was lost.",
            }
            .to_owned();
        }
        let lost = format!("{}.", plural(self.lost(), "lost packet"));
        let causes = causes::told(&[self]).map(|[_, causes]| causes);
        let one_by_one = self.is_told_one_by_one().then(|| told_one_by_one(&[self])).flatten();
        [Some(lost), causes, one_by_one].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// What was lost and how that was found; then what the algorithm to follow said, and why.
    pub fn told(&self, loss: &Loss) -> [String; 2] {
        let what = if self.protocol == Protocol::Tcp { "sequence number" } else { "packet" };
        let delay =
            loss.queueing_before_ms.map(|ms| format!(", queueing delay before it {ms:.1} ms"));
        let delay = delay.unwrap_or_default();
        let said = match (self.recommended.as_ref(), self.judgement(loss)) {
            (Some(name), Some(judgement)) => by(name, &judgement.to_string()),
            _ => "no algorithm can judge it".to_owned(),
        };
        [
            format!("{:.3} s, {what} {}, found by {}{delay}", loss.time_s, loss.seq, loss.evidence),
            said,
        ]
    }

    /// Losses that only a timer showed: a timeout, or a probe of the tail. Nothing shows their
    /// cause.
    pub fn lost_by_timer(&self) -> u64 {
        self.losses.iter().filter(|loss| loss.is_by_timer()).count() as u64
    }

    /// Whether the algorithm's verdicts on single losses add to the cause: a named cause beats
    /// them, and without delays nothing backs them.
    pub fn is_told_one_by_one(&self) -> bool {
        let Some(FlowDiagnosis { diagnosis, .. }) = &self.diagnosis else { return false };
        let is_told = diagnosis.certainty == Certainty::CannotTell || diagnosis.cause == Cause::Air;
        let nothing_backs = matches!(
            diagnosis.cause,
            Cause::NotShown(
                Unknown::NoDelays
                    | Unknown::NotObserved
                    | Unknown::NoPlace
                    | Unknown::OnlyTimers
                    | Unknown::CutOptions
                    | Unknown::Mixed
            )
        );
        is_told && !nothing_backs && self.recommended.is_some()
    }

    /// The cause that its losses have together, if one is named and tells more than their single
    /// verdicts.
    pub(crate) fn named(&self) -> Option<&Diagnosis> {
        let told = self.diagnosis.as_ref().filter(|_| !self.is_told_one_by_one())?;
        (told.diagnosis.certainty != Certainty::CannotTell).then_some(&told.diagnosis)
    }

    /// The cause that the losses have together, in words, and how sure it is.
    pub fn named_cause(&self) -> Option<String> {
        self.named()
            .map(|Diagnosis { cause, certainty, .. }| format!("{}: {cause}", certainty.name()))
    }

    /// Whether its losses were those of a path that was gone.
    fn has_outage(&self) -> bool {
        self.diagnosis.as_ref().is_some_and(|told| told.diagnosis.cause == Cause::Outage)
    }

    /// Whether the capture misses so much of the flow that it does not show its losses.
    pub fn is_incomplete(&self) -> bool {
        is_incomplete(self.wire_packets, self.capture_drops)
    }

    /// Whether its numbers jumped back and forth, as those of several connections with the same ports
    /// do.
    pub(crate) fn is_mixed(&self) -> bool {
        self.protocol == Protocol::Tcp && self.renumbered > 1
    }

    /// Whether losses would show.
    fn shows_losses(&self) -> bool {
        self.packets > 0
            && !self.is_incomplete()
            && !self.is_mixed()
            && !self.may_be_in_wrong_order()
            && !self.may_lose_behind()
    }

    /// Whether it is a stream that may have been captured in front of the place where it lost
    /// packets: a gap shows only behind that.
    pub(crate) fn may_lose_behind(&self) -> bool {
        let is_in_front = matches!(self.vantage, Vantage::Sender | Vantage::Unknown);
        self.protocol.is_numbered() && is_in_front && self.lost() == 0
    }

    /// Whether a packet may have been lost without a trace: TCP's left no gap behind the loss if it
    /// was sent again and nothing later came before, and a stream's left none in front of it.
    fn hides_losses(&self) -> bool {
        self.protocol != Protocol::Quic && !matches!(self.vantage, Vantage::Sender | Vantage::Both)
    }

    /// Of two joined captures: losses that the sender's alone shows, and that did not happen
    /// between the two.
    fn lost_elsewhere(&self) -> u64 {
        self.alone.filter(|_| self.lost() == 0).map_or(0, |alone| alone.sender.others)
    }

    /// Of two joined captures of a stream, which repeats nothing: whether only the receiver's has
    /// packets that the other has not. The sender's missed them, or they were lost and the captures
    /// are in the wrong order.
    fn may_be_in_wrong_order(&self) -> bool {
        let is_stream = self.protocol.is_numbered() && self.alone.is_some();
        is_stream && self.lost() == 0 && self.capture_drops > 0
    }

    /// Packets that the capture has again. A stream's numbers alone do not tell whether its sender
    /// or the capture repeats them, unless nearly all are there twice.
    pub(crate) fn copied(&self) -> u64 {
        let all_twice = self.packets >= 10 && self.duplicates * 5 >= self.packets * 2;
        match self.protocol {
            Protocol::Tcp => self.copies,
            _ if all_twice => self.duplicates,
            _ => 0,
        }
    }

    fn told_opening(&self) -> Option<String> {
        let Tries { repeats, waited_s, answered, reply } = self.opening?;
        let ends = format!("{} to {}", self.src, self.dst);
        let what = if reply { "SYN+ACK" } else { "SYN" };
        Some(match answered {
            true => {
                format!(
                    "{ends}: {what} sent {} times before it was answered, after {waited_s:.1} s",
                    repeats + 1
                )
            }
            false => {
                format!("{ends}: {} in {waited_s:.1} s, never answered", plural(repeats + 1, what))
            }
        })
    }

    fn told_closing(&self) -> Option<String> {
        let Tries { repeats, waited_s, answered, .. } = self.closing?;
        let ends = format!("{} to {}", self.src, self.dst);
        Some(match answered {
            true => format!(
                "{ends}: FIN sent {} times in {waited_s:.1} s before it was answered",
                repeats + 1
            ),
            false => {
                format!("{ends}: {} in {waited_s:.1} s, never answered", plural(repeats + 1, "FIN"))
            }
        })
    }

    /// What held a transfer up most of the time, if that was not the path: a sentence.
    pub fn told_limit(&self) -> Option<String> {
        let pace =
            self.pace.filter(|pace| pace.lasted_s >= LONG_S && self.packets >= TRANSFER_PKTS)?;
        let sending = pace.sending?;
        let lasted = pace.lasted_s;
        let most = pace.lasted_s / 2.0;
        let src = &self.src;
        let dst = &self.dst;
        if sending.idle_s >= most {
            return Some(format!(
                "{src} had nothing to send for {:.1} of {lasted:.1} s.",
                sending.idle_s
            ));
        }
        let full = sending.window_full_s;
        let text = format!(
            "{dst} held {src} up for {full:.1} of {lasted:.1} s: its receive window was full."
        );
        (full >= most && self.window_closed_s < LONG_S).then_some(text)
    }

    fn told_outages(&self) -> Option<String> {
        let longest = self
            .outages
            .iter()
            .max_by(|a, b| (a.to_s - a.from_s).total_cmp(&(b.to_s - b.from_s)))?;
        let Outage { from_s, to_s, answered } = *longest;
        let until = if answered { format!("to {to_s:.1} s") } else { "to the end".to_owned() };
        let more = match self.outages.len() {
            1 => String::new(),
            more => format!(", the longest of {more} such times"),
        };
        Some(format!(
            "{} got no answer from {} from {from_s:.1} s {until}{more}: the path, or that host, seems to have been gone",
            self.src, self.dst
        ))
    }

    fn told_pauses(&self) -> Option<String> {
        let longest = self
            .pauses
            .iter()
            .max_by(|a, b| (a.to_s - a.from_s).total_cmp(&(b.to_s - b.from_s)))?;
        let Pause { from_s, to_s, skipped } = *longest;
        let more = match self.pauses.len() {
            1 => String::new(),
            more => format!(", the longest of {more} such times"),
        };
        Some(format!(
            "{} to {}: nothing came from {from_s:.1} s to {to_s:.1} s while {skipped} numbers went by{more}: a pause, or the \
             path was gone; whether packets were sent then, the capture does not show",
            self.src, self.dst
        ))
    }

    /// All packets that the flow lost, those that are not listed too.
    pub fn lost(&self) -> u64 {
        self.losses.len() as u64 + self.unlisted_losses
    }

    /// The share of the packets sent that were lost, from 0 to 1. Lost packets do not pass a
    /// receiver's capture.
    pub fn lost_share(&self) -> f64 {
        let passed = matches!(self.vantage, Vantage::Sender | Vantage::Both);
        let sent = self.wire_packets + if passed { 0 } else { self.lost() };
        self.lost() as f64 / sent.max(1) as f64
    }

    /// The verdicts of the algorithm to follow. Losses that no algorithm can judge are undecided.
    pub fn verdicts(&self) -> Summary {
        let summary = self.recommended.as_ref().and_then(|name| self.summary.get(name)).copied();
        let Some(mut summary) = summary.filter(|_| !self.is_incomplete()) else {
            return Summary { undecided: self.lost(), ..Summary::default() };
        };
        // Timeouts count as congestion by rule; a rule is no evidence.
        let by_rule = self.lost_by_timer().min(summary.congestion);
        (summary.congestion, summary.undecided) =
            (summary.congestion - by_rule, summary.undecided + by_rule);
        summary
    }

    /// What the algorithm to follow says about one of its losses, and why.
    pub fn judgement(&self, loss: &Loss) -> Option<Judgement> {
        self.recommended.as_ref().and_then(|name| loss.verdicts.judgement(name))
    }

    /// The verdict of the algorithm to follow on one of its losses.
    pub fn verdict(&self, loss: &Loss) -> Verdict {
        self.judgement(loss).map_or(Verdict::Undecided, |judgement| judgement.verdict)
    }
}

/// A closed window of such a time, seconds, is worth a sentence.
const LONG_S: f64 = 1.0;
/// Fewer packets are messages, not a transfer that one waits for.
const TRANSFER_PKTS: u64 = 100;
/// "spike at the receiver" for `spike@receiver`.
pub(crate) fn at_its_end(name: &str) -> String {
    name.replace('@', " at the ")
}

/// A judgement with the algorithm's name in front, unless it begins with that.
fn by(name: &str, judgement: &str) -> String {
    if !name.contains('@') && judgement.to_lowercase().replace(' ', "-").starts_with(name) {
        return judgement.to_owned();
    }
    format!("{}: {judgement}", at_its_end(name))
}

/// "by spike, 41 are wireless and 3 congestion, and 2 cannot be told".
fn counted(by: &str, verdicts: Summary) -> String {
    let Summary { wireless, congestion, undecided } = verdicts;
    let untold =
        if undecided == 0 { String::new() } else { format!(", and {undecided} cannot be told") };
    format!("by {by}, {wireless} are wireless and {congestion} congestion{untold}")
}

/// What the algorithms to follow call these flows' losses: a sentence.
fn told_one_by_one(flows: &[&Flow]) -> Option<String> {
    let names: BTreeSet<&String> =
        flows.iter().filter_map(|flow| flow.recommended.as_ref()).collect();
    if names.is_empty() {
        return None;
    }
    let names: Vec<String> = names.into_iter().map(|name| at_its_end(name)).collect();
    let verdicts =
        flows.iter().map(|flow| flow.verdicts()).fold(Summary::default(), |sum, one| Summary {
            wireless: sum.wireless + one.wireless,
            congestion: sum.congestion + one.congestion,
            undecided: sum.undecided + one.undecided,
        });
    Some(format!("One by one: {}.", counted(&names.join(" and "), verdicts)))
}

/// "1 flow", "2 flows", "3 losses".
pub(crate) fn plural(count: u64, what: &str) -> String {
    let end = match (count, what.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {what}{end}")
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn a_count_has_the_plural_of_what_it_counts() {
        assert_eq!(
            [plural(1, "loss"), plural(2, "loss"), plural(0, "flow")],
            ["1 loss", "2 losses", "0 flows"]
        );
    }
}
