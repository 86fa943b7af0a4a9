//! What a reader must know of a capture to trust what is said of it, in words.

use crate::alone::{Alone, Tally};
use crate::answer::plural;
use crate::packet::Unread;
use crate::{Analysis, Flow, RadioFrames, Shift};

impl Analysis {
    /// Whether most packets may carry transfers and were not read: an answer about the others is no
    /// answer about the capture.
    pub(crate) fn is_mostly_unread(&self) -> bool {
        self.unread.hiding().total() * 2 > self.packets
    }

    /// The packets that may carry transfers and were not read; none if there are none.
    pub(crate) fn told_unread(&self) -> Option<String> {
        let unread = self.unread.hiding();
        let kinds = listed(unread.iter().map(|(kind, count)| (kind.to_string(), count)), |_| "");
        let total = unread.total();
        let all = self.packets;
        (total > 0).then(|| format!("{total} of {all} packets were not read: {kinds}"))
    }

    /// Where and why the file ended early, as the end of a sentence that begins with the file:
    /// "ends inside a packet at byte 3000; the 12 packets before were analysed". None if it is
    /// whole.
    pub fn cut(&self) -> Option<String> {
        let offset = self.truncated_at?;
        let problem = self.truncation.as_ref()?;
        Some(format!(
            "{problem} at byte {offset}; the {} packets before were analysed",
            self.packets
        ))
    }

    /// Whether no flow was found.
    pub fn has_no_flow(&self) -> bool {
        self.flows.is_empty() && self.unlisted_flows == 0
    }

    /// The end of a sentence about the file: no flow was found, and what is there instead;
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
        let bare =
            (self.tcp_packets > 0).then(|| ("TCP without data".to_owned(), self.tcp_packets));
        let kinds = self.unread.iter().map(|(kind, count)| (kind.to_string(), count)).chain(bare);
        let kinds = listed(kinds, |count| if count == 1 { " is" } else { " are" });
        if is_filtered || kinds.is_empty() {
            let selected = if is_filtered { " that the options select" } else { "" };
            return format!(
                "no {read} data among its {packets}{selected}, expected a capture of a transfer or a stream{damage}"
            );
        }
        let logs = if read == "TCP or RTP" {
            "; what QUIC lost, the qlog of an endpoint tells"
        } else {
            ""
        };
        let udp = if self.unread.of(Unread::Udp) > 0 {
            "; of UDP, streams of RTP, SRT, WireGuard and ESP are read"
        } else {
            ""
        };
        format!("no {read} data among its {packets}: {kinds}{udp}{logs}{damage}")
    }

    /// Of two joined captures: what each of them tells alone.
    pub fn told_alone(&self) -> Option<String> {
        let both: Vec<&Alone> = self.flows.iter().filter_map(|flow| flow.alone.as_ref()).collect();
        let side = |tally: fn(&Alone) -> Tally| {
            let sum = |count: fn(&Tally) -> u64| {
                both.iter().map(|alone| count(&tally(alone))).sum::<u64>()
            };
            let found = sum(|tally| tally.found);
            let missed = sum(|tally| tally.missed);
            let others = match sum(|tally| tally.others) {
                0 => String::new(),
                others => format!(", and takes {others} others for losses"),
            };
            format!("finds {found} and misses {missed}{others}")
        };
        let sender = side(|alone| alone.sender);
        let receiver = side(|alone| alone.receiver);
        let is_empty = |alone: &&Alone| {
            [alone.sender, alone.receiver].iter().all(|tally| *tally == Tally::default())
        };
        let text = format!(
            "Of these known losses, the sender's capture alone {sender}; the receiver's alone {receiver}."
        );
        (!both.iter().all(is_empty)).then_some(text)
    }

    /// What a reader must know to trust the numbers.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |count: u64, [one, several]: [&str; 2], text: &str| match count {
            0 => {}
            1 => notes.push(format!("1 {one} {text}")),
            _ => notes.push(format!("{count} {several} {text}")),
        };
        note(
            self.out_of_order_times,
            ["packet has", "packets have"],
            "an earlier time than the packet before",
        );
        note(
            self.cut_options,
            ["TCP segment has", "TCP segments have"],
            "options that the snap length cut: losses may be missing",
        );
        note(
            self.flows.iter().map(|flow| flow.capture_drops).sum(),
            ["packet was", "packets were"],
            "delivered but not captured",
        );
        let offload = self.flows.iter().filter(|flow| flow.offload).count() as u64;
        note(
            self.flows.iter().map(Flow::copied).sum(),
            ["packet is", "packets are"],
            "here twice: seen on two interfaces, twice on one, or at both ends",
        );
        note(
            offload,
            ["flow has", "flows have"],
            "segments larger than packets (offload): they were counted as the packets they become",
        );
        if let Some(RadioFrames { data_frames, retries, .. }) = self.radio {
            let of = format!("of {data_frames} data frames of 802.11");
            note(
                retries,
                [&format!("{of} repeats"), &format!("{of} repeat")],
                "one that was not acknowledged",
            );
        }
        let streams = self.flows.iter().filter(|flow| flow.protocol.is_numbered());
        let renumbered = streams.map(|flow| flow.renumbered).sum();
        note(
            renumbered,
            [
                "jump of a stream's numbers is no loss:",
                "jumps of a stream's numbers are no losses:",
            ],
            "its sender began new ones",
        );
        for (what, is_closed) in [("keep-alive", false), ("probe", true)] {
            let asked = self.flows.iter().filter(|flow| (flow.window_closed_s > 0.0) == is_closed);
            let probes: u64 = asked.map(|flow| flow.probes).sum();
            let of = if is_closed { " of a closed window" } else { "" };
            notes.extend((probes > 0).then(|| format!("{}{of}, no loss", plural(probes, what))));
        }
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

    /// The steps of trip times that stayed: those of flows that saw one together are one.
    fn told_shifts(&self) -> Vec<String> {
        let mut shifts: Vec<Shift> =
            self.flows.iter().flat_map(|flow| flow.shifts.iter().copied()).collect();
        shifts.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        shifts.dedup_by(|later, first| {
            later.at_s - first.at_s < TOGETHER_S && later.by_ms * first.by_ms > 0.0
        });
        let told = shifts.iter().take(MOST_SHIFTS).map(|shift| {
            let Shift { at_s, by_ms } = shift;
            format!("the clock of the capture, or the path, stepped by {by_ms:+.0} ms at {at_s:.1} s; it was taken out")
        });
        let more = shifts.len().saturating_sub(MOST_SHIFTS) as u64;
        told.chain((more > 0).then(|| format!("and {} more", plural(more, "such step")))).collect()
    }
}

/// Steps of several flows within such a time, seconds, are one.
const TOGETHER_S: f64 = 1.0;
/// So many steps are told one by one.
const MOST_SHIFTS: usize = 3;

/// Kinds of packets with their counts: "1070 are ESP, 3 are ARP".
fn listed(kinds: impl Iterator<Item = (String, u64)>, are: fn(u64) -> &'static str) -> String {
    /// More kinds than a reader remembers.
    const MAX_TOLD: usize = 6;
    let mut kinds: Vec<(String, u64)> = kinds.collect();
    if kinds.len() > MAX_TOLD {
        let others = kinds.drain(MAX_TOLD - 1..).map(|(_, count)| count).sum();
        kinds.push(("of other kinds".to_owned(), others));
    }
    let told: Vec<String> =
        kinds.iter().map(|(kind, count)| format!("{count}{} {kind}", are(*count))).collect();
    told.join(", ")
}
