//! What an analysis says, in words: for the terminal and for reports.

use std::collections::BTreeSet;

use losscause::diagnosis::{Cause as DiagnosedCause, Certainty, Diagnosis, Unknown};
use losscause::{Judgement, Verdict};

use crate::joined::{Alone, Tally};
use crate::judge::trust::Share;
use crate::packet::Unread;
use crate::units;
use crate::{
    Analysis, Flow, FlowDiagnosis, Loss, Opening, Outage, Pause, Protocol, Queueing, RadioFrames, Shift, Summary,
    Vantage,
};

/// A cause that most losses have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Air,
    Queue,
    Both,
}

/// Of so many losses most have one cause.
const MOST_OF_TEN: u64 = 8;

impl Cause {
    /// The cause of most losses, of which `air` and `queue` were told.
    fn of(air: u64, queue: u64) -> Self {
        let told = air + queue;
        if air * 10 >= told * MOST_OF_TEN {
            Self::Air
        } else if queue * 10 >= told * MOST_OF_TEN {
            Self::Queue
        } else {
            Self::Both
        }
    }
}

impl Cause {
    fn words(self) -> &'static str {
        match self {
            Self::Air => "the air, not a queue",
            Self::Queue => "a full queue, not the air",
            Self::Both => "some the air, some a queue",
        }
    }
}

/// What is said of losses.
#[derive(Default)]
struct Told {
    /// How many there are: a sentence.
    lost: String,
    /// Their causes in short: a sentence, if there is one.
    headline: String,
    /// Their causes, what shows them and what to do: sentences, if there are any.
    causes: String,
    /// What is to be said beside them.
    beside: String,
}

impl Analysis {
    /// Sentences that a colleague could repeat: how many packets were lost, and why.
    pub fn answer(&self) -> String {
        let Told { lost, causes, beside, .. } = self.told_losses();
        let losses = [lost, causes, beside].into_iter().filter(|text| !text.is_empty());
        losses.chain(self.told_beside_losses()).collect::<Vec<_>>().join(" ")
    }

    /// How many packets were lost, and the cause that is named, without what shows it and what to do: the answer's first
    /// sentences.
    pub fn headline(&self) -> String {
        let Told { lost, headline, .. } = self.told_losses();
        if headline.is_empty() { lost } else { format!("{lost} {headline}") }
    }

    /// What the answer says beside the headline, what shows the cause and what to do: a sentence each.
    pub fn beside_headline(&self) -> Vec<String> {
        let beside = self.told_losses().beside;
        (!beside.is_empty()).then_some(beside).into_iter().chain(self.told_beside_losses()).collect()
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
            let known = counted().filter(|flow| flow.shows_losses()).count() as u64 + self.unlisted_flows;
            let pauses = self.flows.iter().any(|flow| !flow.pauses.is_empty());
            let outside = if pauses { " outside of pauses" } else { "" };
            return only(match known {
                0 => format!("Whether a packet of {flows} was lost, the capture does not show."),
                _ if known == all => format!("No packet of {flows} was lost{outside}."),
                _ => format!(
                    "No packet of {known} of {flows} was lost{outside}; of the others the capture does not show it."
                ),
            });
        }
        let lost = format!("{} in {flows}.", plural(total, "lost packet"));
        let lossy: Vec<&Flow> = self.flows.iter().filter(|flow| flow.lost() > 0).collect();
        let unexplained = lossy.iter().filter(|flow| !flow.has_outage());
        let by_timer: u64 = unexplained.map(|flow| flow.lost_by_timer()).sum();
        let timers = match by_timer {
            0 => None,
            all if all == total && self.flows.iter().all(|flow| flow.one_way || flow.lost() == 0) => {
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
        let one_by_one: Vec<&Flow> = lossy.iter().copied().filter(|flow| flow.is_told_one_by_one()).collect();
        let beside = timers.into_iter().chain(told_one_by_one(&one_by_one)).collect::<Vec<_>>().join(" ");
        let [headline, causes] = told_causes(&lossy).unwrap_or_default();
        Told { lost, headline, causes, beside }
    }

    /// What explains a slow transfer beside losses, or forbids to conclude from them: a sentence each.
    fn told_beside_losses(&self) -> Vec<String> {
        let mut told = Vec::new();
        let worst = |weight: fn(&Flow) -> f64| {
            let weighed = self.flows.iter().map(|flow| (weight(flow), flow)).filter(|(weight, _)| *weight > 0.0);
            weighed.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, flow)| flow)
        };
        let count = |is: fn(&Flow) -> bool| self.flows.iter().filter(|flow| is(flow)).count() as u64;
        let others = |count: u64| match count {
            0 | 1 => String::new(),
            more => format!(" (and so {} more)", plural(more - 1, "flow")),
        };
        if let Some(flow) = worst(|flow| flow.opening.map_or(0.0, |opening| opening.waited_s)) {
            let all = count(|flow| flow.opening.is_some());
            told.extend(flow.told_opening().map(|text| format!("{text}{}.", others(all))));
        }
        if let Some(flow) = worst(|flow| flow.outages.iter().map(|outage| outage.to_s - outage.from_s).sum()) {
            let all = count(|flow| !flow.outages.is_empty());
            told.extend(flow.told_outages().map(|text| format!("{text}{}.", others(all))));
        }
        if let Some(flow) = worst(|flow| flow.pauses.iter().map(|pause| pause.to_s - pause.from_s).sum()) {
            let all = count(|flow| !flow.pauses.is_empty());
            told.extend(flow.told_pauses().map(|text| format!("{text}{}.", others(all))));
        }
        let closed = worst(|flow| if flow.window_closed_s >= LONG_S { flow.window_closed_s } else { 0.0 });
        if let Some(flow) = closed {
            let (closed, all) = (flow.window_closed_s, self.duration_s);
            let who = &flow.dst;
            told.push(format!("{who} could take nothing: its window was closed for {closed:.1} of {all:.1} s."));
        }
        told.extend(self.flows.iter().max_by_key(|flow| flow.bytes).and_then(Flow::told_limit));
        let only_there = |flow: &Flow| if flow.may_be_in_wrong_order() { flow.capture_drops as f64 } else { 0.0 };
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
        if let Some(flow) = worst(|flow| if flow.is_incomplete() { flow.capture_drops as f64 } else { 0.0 }) {
            let kept = 100.0 * flow.packets as f64 / (flow.packets + flow.capture_drops) as f64;
            let all = count(Flow::is_incomplete);
            told.push(format!(
                "The capture holds about {kept:.0} % of the packets of {} to {}{}: it was filtered, sampled or dropped packets.",
                flow.src,
                flow.dst,
                others(all)
            ));
        }
        if let Some(flow) = worst(|flow| if flow.packets == 0 { flow.acked_uncaptured as f64 } else { 0.0 }) {
            let all = count(|flow| flow.packets == 0 && flow.acked_uncaptured > 0);
            told.push(format!(
                "Of {} to {}{} only acknowledgements were captured, of {}.",
                flow.src,
                flow.dst,
                others(all),
                units::bytes(flow.acked_uncaptured)
            ));
        }
        told.extend(self.told_unread().filter(|_| self.is_mostly_unread()).map(|text| format!("{text}.")));
        told
    }

    /// Whether most packets may carry transfers and were not read: an answer about the others is no answer about the capture.
    fn is_mostly_unread(&self) -> bool {
        self.unread.hiding().total() * 2 > self.packets
    }

    /// The packets that may carry transfers and were not read; none if there are none.
    fn told_unread(&self) -> Option<String> {
        let unread = self.unread.hiding();
        let kinds = listed(unread.iter().map(|(kind, count)| (kind.to_string(), count)), |_| "");
        let (total, all) = (unread.total(), self.packets);
        (total > 0).then(|| format!("{total} of {all} packets were not read: {kinds}"))
    }

    /// Where and why the file ended early, as the end of a sentence that begins with the file: "ends inside a packet at
    /// byte 3000; the 12 packets before were analysed". None if it is whole.
    pub fn cut(&self) -> Option<String> {
        let (offset, problem) = (self.truncated_at?, self.truncation.as_ref()?);
        Some(format!("{problem} at byte {offset}; the {} packets before were analysed", self.packets))
    }

    /// Whether no flow was found.
    pub fn has_no_flow(&self) -> bool {
        self.flows.is_empty() && self.unlisted_flows == 0
    }

    /// That no flow was found, and what is there instead, as the end of a sentence that begins with the file;
    /// `is_filtered` if the options may have left flows out.
    pub fn no_flow(&self, is_filtered: bool) -> String {
        let damage = self.truncated_at.zip(self.truncation.as_ref());
        let damage = damage.map(|(offset, problem)| format!("{problem} at byte {offset}"));
        if let (0, Some(damage)) = (self.packets, &damage) {
            return format!("{damage}, before its first packet");
        }
        let packets = plural(self.packets, "packet");
        let read = if self.unread.of(Unread::Quic) > 0 { "TCP or RTP" } else { "TCP, RTP or QUIC" };
        let damage = damage.map(|damage| format!("; it {damage}")).unwrap_or_default();
        let bare = (self.tcp_packets > 0).then(|| ("TCP without data".to_owned(), self.tcp_packets));
        let kinds = self.unread.iter().map(|(kind, count)| (kind.to_string(), count)).chain(bare);
        let kinds = listed(kinds, |count| if count == 1 { " is" } else { " are" });
        if is_filtered || kinds.is_empty() {
            let selected = if is_filtered { " that the options select" } else { "" };
            return format!(
                "no {read} data among its {packets}{selected}, expected a capture of a transfer or a stream{damage}"
            );
        }
        let logs = if read == "TCP or RTP" { "; what QUIC lost, the qlog of an endpoint tells" } else { "" };
        format!("no {read} data among its {packets}: {kinds}{logs}{damage}")
    }

    /// Of two joined captures: what each of them tells alone.
    pub fn told_alone(&self) -> Option<String> {
        let both: Vec<&Alone> = self.flows.iter().filter_map(|flow| flow.alone.as_ref()).collect();
        let side = |tally: fn(&Alone) -> Tally| {
            let sum = |count: fn(&Tally) -> u64| both.iter().map(|alone| count(&tally(alone))).sum::<u64>();
            let (found, missed) = (sum(|tally| tally.found), sum(|tally| tally.missed));
            let others = match sum(|tally| tally.others) {
                0 => String::new(),
                others => format!(", and takes {others} others for losses"),
            };
            format!("finds {found} and misses {missed}{others}")
        };
        let (sender, receiver) = (side(|alone| alone.sender), side(|alone| alone.receiver));
        let is_empty = |alone: &&Alone| [alone.sender, alone.receiver].iter().all(|tally| *tally == Tally::default());
        let text =
            format!("Of these known losses, the sender's capture alone {sender}; the receiver's alone {receiver}.");
        (!both.iter().all(is_empty)).then_some(text)
    }

    /// What a reader must know to trust the numbers.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |count: u64, text: &str| {
            if count > 0 {
                notes.push(format!("{count} {text}"));
            }
        };
        note(self.out_of_order_times, "packets have a time before that of the packet before them");
        note(self.cut_options, "TCP segments have options that the snap length cut: losses may be missing");
        note(self.flows.iter().map(|flow| flow.capture_drops).sum(), "packets were delivered but not captured");
        let offload = self.flows.iter().filter(|flow| flow.offload).count() as u64;
        let copied = self.flows.iter().filter(|flow| flow.is_copied());
        let copies = copied.map(|flow| flow.duplicates).sum();
        note(copies, "packets are here twice: the capture saw them on two interfaces, or twice on one");
        note(
            offload,
            "flows have segments larger than packets (offload): they were counted as the packets they become",
        );
        if let Some(RadioFrames { data_frames, retries, .. }) = self.radio {
            note(retries, &format!("of {data_frames} data frames of 802.11 repeat one that was not acknowledged"));
        }
        let renumbered = self.flows.iter().map(|flow| flow.renumbered).sum();
        note(renumbered, "jumps of a stream's numbers are no losses: its sender began new ones");
        notes.extend(self.told_shifts());
        notes.extend(self.dropped_by_capture.filter(|dropped| *dropped > 0).map(|dropped| {
            let packets = plural(dropped, "packet");
            format!("the capture itself says that {packets} were dropped before they were written: losses may be missing or false")
        }));
        notes.extend(self.told_unread().filter(|_| !self.is_mostly_unread()));
        if self.flows.iter().any(|flow| flow.minor) {
            notes.push(
                "flows in brackets carried less than 1 % of the largest between their hosts and lost nothing, and are not counted"
                    .to_owned(),
            );
        }
        notes
    }

    /// The commands to run next, in their order: for the cause of most losses. `FILE` stands for the capture, words in angle
    /// brackets for what the reader knows.
    pub fn next(&self) -> &[String] {
        self.diagnosis().map_or(&[], |told| &told.next)
    }

    /// The cause of most losses, as the flow tells that lost most to it; none if nothing was lost.
    pub fn diagnosis(&self) -> Option<&FlowDiagnosis> {
        let lossy: Vec<&Flow> = self.flows.iter().filter(|flow| flow.lost() > 0).collect();
        Some(shared_causes(&lossy).first()?.told)
    }

    /// The steps of trip times that stayed: those of flows that saw one together are one.
    fn told_shifts(&self) -> Vec<String> {
        let mut shifts: Vec<Shift> = self.flows.iter().flat_map(|flow| flow.shifts.iter().copied()).collect();
        shifts.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        shifts.dedup_by(|later, first| later.at_s - first.at_s < TOGETHER_S && later.by_ms * first.by_ms > 0.0);
        let told = shifts.iter().take(MOST_SHIFTS).map(|shift| {
            let Shift { at_s, by_ms } = shift;
            format!("the clock of the capture, or the path, stepped by {by_ms:+.0} ms at {at_s:.1} s; it was taken out")
        });
        let more = shifts.len().saturating_sub(MOST_SHIFTS) as u64;
        told.chain((more > 0).then(|| format!("and {} more", plural(more, "such step")))).collect()
    }
}

impl Flow {
    /// The heads of [`Self::cells`].
    pub const HEADS: [&str; 12] = [
        "flow",
        "data from",
        "to",
        "seen at",
        "packets",
        "losses",
        "%",
        "again",
        "wireless",
        "congestion",
        "undecided",
        "by",
    ];

    /// This flow as a row of a table: number (in brackets if the flow is minor), ends, vantage point, packets, losses, the share of packets that were lost,
    /// packets that were sent again, losses called wireless and congestion, those undecided, and the algorithm that called
    /// them so.
    pub fn cells(&self) -> [String; 12] {
        let Summary { wireless, congestion, undecided, .. } = self.verdicts();
        [
            if self.minor { format!("({})", self.id) } else { self.id.to_string() },
            self.src.clone(),
            self.dst.clone(),
            self.vantage.to_string(),
            self.packets.to_string(),
            self.lost().to_string(),
            format!("{:.1}", 100.0 * self.lost_share()),
            self.sent_again.to_string(),
            wireless.to_string(),
            congestion.to_string(),
            undecided.to_string(),
            self.recommended.clone().unwrap_or_else(|| "–".to_owned()),
        ]
    }

    /// Its losses, their cause, and what the algorithm to follow calls them, in sentences.
    pub fn answer(&self) -> String {
        if self.lost() == 0 {
            return "No packet was lost.".to_owned();
        }
        let lost = format!("{}.", plural(self.lost(), "lost packet"));
        let causes = told_causes(&[self]).map(|[_, causes]| causes);
        let one_by_one = self.is_told_one_by_one().then(|| told_one_by_one(&[self])).flatten();
        [Some(lost), causes, one_by_one].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// What was lost and how that was found; then what the algorithm to follow said, and why.
    pub fn told(&self, loss: &Loss) -> [String; 2] {
        let what = if self.protocol == Protocol::Tcp { "sequence number" } else { "packet" };
        let delay = loss.queueing_ms.map(|ms| format!(", queueing delay {ms:.1} ms")).unwrap_or_default();
        let said = match (self.recommended.as_ref(), self.judgement(loss)) {
            (Some(name), Some(judgement)) => by(name, &judgement.to_string()),
            _ => "no algorithm can judge it".to_owned(),
        };
        [format!("{:.3} s, {what} {}, found by {}{delay}", loss.time_s, loss.seq, loss.evidence), said]
    }

    /// Losses that only a timer showed: a timeout, or a probe of the tail. Nothing shows their cause.
    pub fn lost_by_timer(&self) -> u64 {
        self.losses.iter().filter(|loss| loss.is_by_timer()).count() as u64
    }

    /// Whether the algorithm's verdicts on single losses add to the cause: a named cause beats them, and without delays
    /// nothing backs them.
    pub fn is_told_one_by_one(&self) -> bool {
        let Some(FlowDiagnosis { diagnosis, .. }) = &self.diagnosis else { return false };
        let is_told = diagnosis.certainty == Certainty::CannotTell || diagnosis.cause == DiagnosedCause::Air;
        let nothing_backs = matches!(
            diagnosis.cause,
            DiagnosedCause::NotShown(Unknown::NoDelays | Unknown::NotObserved | Unknown::NoPlace | Unknown::OnlyTimers)
        );
        is_told && !nothing_backs && self.recommended.is_some()
    }

    /// The cause that its losses have together, if one is named and tells more than their single verdicts.
    pub(crate) fn named(&self) -> Option<&Diagnosis> {
        let told = self.diagnosis.as_ref().filter(|_| !self.is_told_one_by_one())?;
        (told.diagnosis.certainty != Certainty::CannotTell).then_some(&told.diagnosis)
    }

    /// That cause in words, and how sure it is.
    pub fn named_cause(&self) -> Option<String> {
        self.named().map(|Diagnosis { cause, certainty, .. }| format!("{}: {cause}", certainty.name()))
    }

    /// Whether its losses were those of a path that was gone.
    fn has_outage(&self) -> bool {
        self.diagnosis.as_ref().is_some_and(|told| told.diagnosis.cause == DiagnosedCause::Outage)
    }

    /// Whether the capture misses so much of the flow that it does not show its losses.
    pub fn is_incomplete(&self) -> bool {
        self.capture_drops as f64 > MOST_MISSED * (self.packets + self.capture_drops) as f64
    }

    /// Whether losses would show.
    fn shows_losses(&self) -> bool {
        self.packets > 0 && !self.is_incomplete() && !self.may_be_in_wrong_order()
    }

    /// Of two joined captures of a stream, which repeats nothing: whether only the receiver's has packets that the other
    /// has not. The sender's missed them, or they were lost and the captures are in the wrong order.
    fn may_be_in_wrong_order(&self) -> bool {
        let is_stream = self.protocol == Protocol::Rtp && self.alone.is_some();
        is_stream && self.lost() == 0 && self.capture_drops > 0
    }

    /// Whether nearly every packet was captured twice.
    pub(crate) fn is_copied(&self) -> bool {
        self.packets >= 10 && self.duplicates * 5 >= self.packets * 2
    }

    fn told_opening(&self) -> Option<String> {
        let Opening { repeats, waited_s, answered } = self.opening?;
        let tries = repeats + 1;
        let ends = format!("{} to {}", self.src, self.dst);
        Some(if answered {
            format!("{ends}: {} before the connection opened, after {waited_s:.1} s", plural(repeats, "lost SYN"))
        } else {
            format!("{ends}: {tries} SYNs in {waited_s:.1} s, never answered")
        })
    }

    /// What held a transfer up most of the time, if that was not the path: a sentence.
    pub fn told_limit(&self) -> Option<String> {
        let pace = self.pace.filter(|pace| pace.lasted_s >= LONG_S && self.packets >= TRANSFER_PKTS)?;
        let sending = pace.sending?;
        let (lasted, most) = (pace.lasted_s, pace.lasted_s / 2.0);
        let (src, dst) = (&self.src, &self.dst);
        if sending.idle_s >= most {
            return Some(format!("{src} had nothing to send for {:.1} of {lasted:.1} s.", sending.idle_s));
        }
        let full = sending.window_full_s;
        let text = format!("{dst} held {src} up for {full:.1} of {lasted:.1} s: its receive window was full.");
        (full >= most && self.window_closed_s < LONG_S).then_some(text)
    }

    fn told_outages(&self) -> Option<String> {
        let longest = self.outages.iter().max_by(|a, b| (a.to_s - a.from_s).total_cmp(&(b.to_s - b.from_s)))?;
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
        let longest = self.pauses.iter().max_by(|a, b| (a.to_s - a.from_s).total_cmp(&(b.to_s - b.from_s)))?;
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

    /// Its losses, those that are not listed too.
    pub fn lost(&self) -> u64 {
        self.losses.len() as u64 + self.unlisted_losses
    }

    /// The share of the packets sent that were lost, from 0 to 1. Lost packets do not pass a receiver's capture.
    pub fn lost_share(&self) -> f64 {
        let passed = matches!(self.vantage, Vantage::Sender | Vantage::Both);
        let sent = self.packets + if passed { 0 } else { self.lost() };
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
        (summary.congestion, summary.undecided) = (summary.congestion - by_rule, summary.undecided + by_rule);
        summary
    }

    /// What the algorithm to follow says about one of its losses, and why.
    pub fn judgement<'a>(&self, loss: &'a Loss) -> Option<&'a Judgement> {
        self.recommended.as_ref().and_then(|name| loss.verdicts.judgement(name))
    }

    /// The verdict of the algorithm to follow on one of its losses.
    pub fn verdict(&self, loss: &Loss) -> Verdict {
        self.judgement(loss).map_or(Verdict::Undecided, |judgement| judgement.verdict)
    }

    /// What the queueing delay at its losses says, beside the delay of all its packets; none without a loss.
    pub fn evidence(&self) -> Option<String> {
        if self.lost() == 0 {
            return None;
        }
        let at_losses: Vec<f64> = self.losses.iter().filter_map(|loss| loss.queueing_ms).collect();
        let (Some(queueing), false) = (self.queueing, at_losses.is_empty()) else {
            return Some(
                "The queueing delay at its losses is not known, so that nothing backs the verdicts.".to_owned(),
            );
        };
        if queueing.p95_ms < CLEAR_MS {
            return Some(format!(
                "Its queueing delay hardly varies (95 % of its packets waited less than {}). Then no queue fills, or one \
                 that drops early, such as CoDel or a policer: delay alone cannot tell.",
                ms(queueing.p95_ms)
            ));
        }
        let (words, cause) = weigh(&at_losses, queueing);
        let verdicts = self.verdicts();
        let told = verdicts.wireless + verdicts.congestion > 0;
        let disagrees = |cause| told && Cause::of(verdicts.wireless, verdicts.congestion) != cause;
        let conclusion = match (cause, &self.recommended) {
            (None, _) => "delay alone cannot tell".to_owned(),
            (Some(cause), Some(name)) if disagrees(cause) => {
                format!(
                    "{}, but {} does not follow that, so look at the losses one by one",
                    cause.words(),
                    at_its_end(name)
                )
            }
            (Some(cause), _) => cause.words().to_owned(),
        };
        Some(format!("{words}: {conclusion}."))
    }
}

impl Flow {
    /// How far to trust the verdicts, by the accuracy table.
    pub fn trust(&self) -> Vec<String> {
        let Some(name) = self.recommended.as_ref().filter(|_| self.lost() > 0) else { return Vec::new() };
        let followed = at_its_end(name);
        let mut sentences = Vec::new();
        let of_networks = |share: Share, what: &str| {
            let Share { mean, least, most, networks } = share;
            let spread = if networks > 1 {
                format!(" ({least:.0} to {most:.0} % in {networks} networks)")
            } else {
                String::new()
            };
            format!("{mean:.0} % of the {what}{spread}")
        };
        let expected = self.expected.get(name);
        let errors: Vec<String> = [
            expected.and_then(|expected| expected.m_c).map(|m_c| (m_c, "congestion losses wireless")),
            expected.and_then(|expected| expected.m_w).map(|m_w| (m_w, "wireless losses congestion or nothing")),
        ]
        .into_iter()
        .flatten()
        .map(|(share, what)| of_networks(share, what))
        .collect();
        sentences.push(if errors.is_empty() {
            format!(
                "The accuracy table has no case like this flow ({}): {followed}'s errors are not known.",
                self.situation
            )
        } else {
            format!("In simulated networks like this ({}), {followed} called {}.", self.situation, errors.join(" and "))
        });
        let failing: Vec<String> =
            self.expected.iter().filter(|(_, expected)| expected.fails()).map(|(name, _)| at_its_end(name)).collect();
        if failing.contains(&followed) {
            sentences.push("That is no better than a coin: believe the delays rather than the verdicts.".to_owned());
        } else if !failing.is_empty() {
            sentences.push(format!("Known to fail there: {}.", failing.join(", ")));
        }
        sentences
    }
}

/// A capture that misses more of a flow's packets does not show its losses.
const MOST_MISSED: f64 = 0.05;
/// Steps of several flows within such a time, seconds, are one.
const TOGETHER_S: f64 = 1.0;
/// So many steps are told one by one.
const MOST_SHIFTS: usize = 3;
/// A closed window of such a time, seconds, is worth a sentence.
const LONG_S: f64 = 1.0;
/// Fewer packets are messages, not a transfer that one waits for.
const TRANSFER_PKTS: u64 = 100;
/// A smaller delay may be that of hosts: nothing of a queue can be said.
const CLEAR_MS: f64 = 10.0;

/// A queue is long nearly always if so many packets wait at least half of the usual longest time.
const NEARLY_ALWAYS: f64 = 0.8;
/// More standard deviations than this are no chance.
const CHANCE: f64 = 2.0;

/// Holds the queueing delays at losses against those of all packets, in words and as a cause, if they tell one. A queue
/// that drops is full, so that its losses wait long, and longer than other packets do. The air's losses do not choose.
fn weigh(at_losses: &[f64], queueing: Queueing) -> (String, Option<Cause>) {
    let mut sorted = at_losses.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (all, usual, busy) = (sorted.len(), queueing.p95_ms, queueing.busy);
    let below = |limit: f64| sorted.partition_point(|delay| *delay < limit);
    let half = usual / 2.0;
    let low = below(half);
    let expected = busy * all as f64;
    // Both the losses and the sample of packets vary by chance.
    let of_sample = 1.0 + all as f64 / queueing.sampled.max(1) as f64;
    let deviation = (expected * (1.0 - busy) * of_sample).sqrt().max(0.5);
    let choose = (all - low) as f64 - expected > CHANCE * deviation;
    let percent = |count: usize| 100.0 * count as f64 / all as f64;
    let happened = |count: usize| format!("{count} of {} happened", plural(all as u64, "loss"));
    let shared = |count: usize| format!("{count} of {} ({:.0} %) happened", plural(all as u64, "loss"), percent(count));
    let of_all = |share: f64| format!("{:.0} % of all packets met that", 100.0 * share);
    match Cause::of(low as u64, (all - low) as u64) {
        Cause::Air => {
            // The smallest round delay that nine tenths of them stay below.
            let limit = round_up(sorted[low * 9 / 10].max(0.5) * 1.001).min(half);
            let words = happened(below(limit));
            let reached = format!("which reached {}", ms(usual));
            (format!("{words} while the path's queueing delay, {reached}, was under {}", ms(limit)), Some(Cause::Air))
        }
        Cause::Queue => {
            let words = format!("{} while the path's queueing delay was {} or more", shared(all - low), ms(half));
            let cause = (choose && busy < NEARLY_ALWAYS).then_some(Cause::Queue);
            (format!("{words}, and {}", of_all(busy)), cause)
        }
        Cause::Both => {
            let words = format!("{} while the path's queueing delay was under {}", shared(low), ms(half));
            let cause = if choose { Cause::Both } else { Cause::Air };
            (format!("{words}, and {}", of_all(1.0 - busy)), Some(cause))
        }
    }
}

/// The next of 1, 2, 3, 5, 10, 20, …
fn round_up(value: f64) -> f64 {
    let unit = 10_f64.powf(value.max(1e-3).log10().floor());
    [1.0, 2.0, 3.0, 5.0, 10.0].map(|factor| factor * unit).into_iter().find(|limit| *limit >= value).unwrap_or(value)
}

fn ms(value: f64) -> String {
    let decimals = if value >= 10.0 || value.fract() < 1e-9 { 0 } else { 1 };
    format!("{value:.decimals$} ms")
}

/// "spike at the receiver" for `spike@receiver`.
fn at_its_end(name: &str) -> String {
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
    let untold = if undecided == 0 { String::new() } else { format!(", and {undecided} cannot be told") };
    format!("by {by}, {wireless} are wireless and {congestion} congestion{untold}")
}

/// Kinds of packets with their counts: "1070 are ESP, 3 are ARP".
fn listed(kinds: impl Iterator<Item = (String, u64)>, are: fn(u64) -> &'static str) -> String {
    /// More kinds than a reader remembers.
    const MAX_TOLD: usize = 6;
    let mut kinds: Vec<(String, u64)> = kinds.collect();
    if kinds.len() > MAX_TOLD {
        let others = kinds.drain(MAX_TOLD - 1..).map(|(_, count)| count).sum();
        kinds.push(("of other kinds".to_owned(), others));
    }
    let told: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count}{} {kind}", are(*count))).collect();
    told.join(", ")
}

/// The causes of these flows' losses, those of most losses first.
fn shared_causes<'a>(lossy: &[&'a Flow]) -> Vec<Shared<'a>> {
    let mut causes: Vec<Shared<'_>> = Vec::new();
    for flow in lossy {
        let Some(told) = &flow.diagnosis else { continue };
        let name = told.diagnosis.cause.name();
        match causes.iter_mut().find(|shared| shared.told.diagnosis.cause.name() == name) {
            Some(shared) => {
                shared.lost += flow.lost();
                if flow.lost() > shared.most {
                    (shared.most, shared.told) = (flow.lost(), told);
                }
            }
            None => causes.push(Shared { told, lost: flow.lost(), most: flow.lost() }),
        }
    }
    causes.sort_by_key(|shared| std::cmp::Reverse(shared.lost));
    causes
}

/// The causes of these flows' losses: in short; and how sure they are, what shows them and what to do.
fn told_causes(lossy: &[&Flow]) -> Option<[String; 2]> {
    let causes = shared_causes(lossy);
    let main = causes.first()?;
    let (total, advice) = (causes.iter().map(|shared| shared.lost).sum::<u64>(), main.told.advice());
    let Diagnosis { cause, certainty, .. } = main.told.diagnosis;
    if main.lost * 10 >= total * MOST_OF_TEN {
        return Some([format!("{certainty}: {cause}."), format!("{}. {advice}.", main.told.diagnosis)]);
    }
    let told: Vec<String> =
        causes.iter().map(|shared| format!("{} of {total}: {}", shared.lost, shared.told.diagnosis)).collect();
    Some(["Causes differ by flow.".to_owned(), format!("Causes differ by flow. {}. {advice}.", told.join(". "))])
}

/// A cause that several flows may have.
struct Shared<'a> {
    /// Of the flow that lost most to it.
    told: &'a FlowDiagnosis,
    /// Losses of all of them.
    lost: u64,
    /// Losses of that flow.
    most: u64,
}

/// What the algorithms to follow call these flows' losses: a sentence.
fn told_one_by_one(flows: &[&Flow]) -> Option<String> {
    let names: BTreeSet<&String> = flows.iter().filter_map(|flow| flow.recommended.as_ref()).collect();
    if names.is_empty() {
        return None;
    }
    let names: Vec<String> = names.into_iter().map(|name| at_its_end(name)).collect();
    let verdicts = flows.iter().map(|flow| flow.verdicts()).fold(Summary::default(), |sum, one| Summary {
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
    use super::*;

    fn queueing(busy: f64) -> Queueing {
        Queueing { p50_ms: 10.0, p95_ms: 48.0, busy, sampled: 100 }
    }

    #[test]
    fn losses_at_an_empty_queue_are_told_with_a_round_limit() {
        // 41 up to 2.8 ms, of which nine tenths stay below 2.6; three at 40 ms.
        let delays: Vec<f64> = (0..41).map(|k| f64::from(k) * 0.07).chain([40.0; 3]).collect();
        let (words, cause) = weigh(&delays, queueing(0.3));
        assert_eq!(cause, Some(Cause::Air));
        assert_eq!(
            words,
            "41 of 44 losses happened while the path's queueing delay, which reached 48 ms, was under 3 ms"
        );
    }

    #[test]
    fn losses_that_wait_longer_than_other_packets_are_a_queues() {
        let delays: Vec<f64> = [1.0; 2].into_iter().chain([45.0; 18]).collect();
        let (words, cause) = weigh(&delays, queueing(0.25));
        assert_eq!(cause, Some(Cause::Queue));
        assert_eq!(
            words,
            "18 of 20 losses (90 %) happened while the path's queueing delay was 24 ms or more, and 25 % of all packets met that"
        );
        assert_eq!(weigh(&delays, queueing(0.85)).1, None, "the queue is long nearly always");
    }

    #[test]
    fn losses_that_wait_as_long_as_other_packets_are_the_airs() {
        // 40 of 100 in the upper half. Of 35 % expected are 35 ± 6.7; of 20 %, 20 ± 5.7.
        let delays: Vec<f64> = [1.0; 60].into_iter().chain([45.0; 40]).collect();
        let (words, cause) = weigh(&delays, queueing(0.35));
        assert_eq!(cause, Some(Cause::Air));
        assert_eq!(
            words,
            "60 of 100 losses (60 %) happened while the path's queueing delay was under 24 ms, and 65 % of all packets met that"
        );
        assert_eq!(weigh(&delays, queueing(0.2)).1, Some(Cause::Both));
    }

    #[test]
    fn a_limit_is_round() {
        assert_eq!([0.07, 1.0, 2.1, 4.0, 6.0, 21.0, 480.0].map(round_up), [0.1, 1.0, 3.0, 5.0, 10.0, 30.0, 500.0]);
        assert_eq!([0.5, 3.0, 24.4, 2.5].map(ms), ["0.5 ms", "3 ms", "24 ms", "2.5 ms"]);
        assert_eq!([plural(1, "loss"), plural(2, "loss"), plural(0, "flow")], ["1 loss", "2 losses", "0 flows"]);
    }
}
