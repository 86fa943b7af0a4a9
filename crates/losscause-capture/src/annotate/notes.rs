//! What is said about which frame.

use losscause::Verdict;

use crate::analysis::{Analysis, Flow, Loss};
use crate::answer::plural;
use crate::flow::{Evidence, Losses, Repeat, RepeatKind, State};

/// A frame beside those of the losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The frame's data are in the capture before it.
    Repeat(Repeat),
    /// The frame was overtaken by the frame `by`.
    Late { frame: u64, by: u64 },
    /// A packet in front of it was delivered, and the capture missed it.
    Missed { frame: u64 },
}

impl Note {
    /// The notes of a flow, of which `losses` tells also what were none.
    pub(crate) fn all_of(losses: &Losses) -> Vec<Self> {
        let of_presumed = losses.found.iter().filter_map(|found| {
            let frame = found.frame?;
            match found.state {
                State::Lost | State::Repaired => None,
                State::Spurious(_) => {
                    let (frame, earlier) = (found.frame_again?, Some(frame));
                    Some(Self::Repeat(Repeat { frame, earlier, kind: RepeatKind::Needless }))
                }
                State::Reordered => Some(Self::Late { frame: found.frame_again?, by: frame }),
                State::Uncaptured => Some(Self::Missed { frame }),
            }
        });
        of_presumed.chain(losses.repeats.iter().map(|repeat| Self::Repeat(*repeat))).collect()
    }

    fn frame(self) -> u64 {
        match self {
            Self::Repeat(Repeat { frame, .. })
            | Self::Late { frame, .. }
            | Self::Missed { frame } => frame,
        }
    }

    /// In words; `packets` such notes are on one frame.
    fn text(self, packets: u64) -> String {
        match self {
            Self::Repeat(Repeat { earlier, kind, .. }) => {
                let what = match kind {
                    RepeatKind::Copy => "captured twice",
                    RepeatKind::Needless => "sent again without need",
                    RepeatKind::Syn => "SYN sent again",
                    RepeatKind::Fin => "FIN sent again",
                    RepeatKind::Probe => "keep-alive, or probe of a closed window",
                    RepeatKind::Unknown => "its data came before",
                };
                let of_earlier =
                    earlier.map(|frame| format!(" (earlier in frame {frame})")).unwrap_or_default();
                format!("{what}{of_earlier}")
            }
            Self::Late { by, .. } => format!("not lost but late, overtaken by frame {by}"),
            Self::Missed { .. } => {
                format!("{} before it delivered, but not captured", plural(packets, "packet"))
            }
        }
    }
}

/// One thing that is said about a frame.
#[derive(Clone, Copy, Debug)]
enum Remark<'a> {
    /// The frame was lost, or shows that a packet was.
    Lost(&'a Flow, &'a Loss),
    /// The frame has the data of a lost packet.
    Again(&'a Loss),
    Beside(Note),
}

impl Flow {
    /// Of one of its losses: the cause that one may repeat, in a few words. No rule, and no verdict
    /// that is known to fail in such captures, is a cause.
    pub fn told_cause(&self, loss: &Loss) -> String {
        if matches!(loss.evidence, Evidence::Timeout | Evidence::TailProbe) {
            return "only a timer showed it, cause not shown".to_owned();
        }
        if let Some(cause) = self.named_cause().filter(|_| !loss.is_apart) {
            return format!("of the flow's losses {cause}");
        }
        let verdict = self.verdict(loss);
        let looks_like = match verdict {
            Verdict::Wireless => "the air",
            Verdict::Congestion => "a full queue",
            Verdict::Undecided => return "cause not shown".to_owned(),
        };
        match &self.recommended {
            Some(name)
                if self.is_told_one_by_one()
                    && !self.is_incomplete()
                    && !self.fails_at(name, verdict) =>
            {
                format!("looks like {looks_like} ({})", name.replace('@', " at the "))
            }
            _ => "cause not shown".to_owned(),
        }
    }

    fn fails_at(&self, name: &str, verdict: Verdict) -> bool {
        self.expected.get(name).is_some_and(|expected| expected.fails_at(verdict))
    }
}

impl Remark<'_> {
    /// In words; `packets` such remarks are on one frame.
    fn text(self, packets: u64) -> String {
        match self {
            Self::Lost(flow, loss) => {
                let cause = flow.told_cause(loss);
                let again = loss
                    .frame_again
                    .map(|frame| format!("; sent again in frame {frame}"))
                    .unwrap_or_default();
                match (loss.evidence, packets) {
                    (Evidence::Gap, _) => {
                        format!("{} lost before it; {cause}", plural(packets, "packet"))
                    }
                    (_, 1) => format!("lost{again}; {cause}"),
                    _ => format!("{} of it lost{again}; {cause}", plural(packets, "packet")),
                }
            }
            Self::Again(loss) => match (loss.evidence, loss.frame) {
                (Evidence::Gap, Some(frame)) => format!("sent again (missing since frame {frame})"),
                (_, Some(frame)) => format!("sent again (earlier in frame {frame})"),
                (_, None) => "sent again".to_owned(),
            },
            Self::Beside(note) => note.text(packets),
        }
    }
}

/// The comments of a capture, in the order of its frames.
pub(super) struct Comments<'a> {
    /// By frame.
    remarks: Vec<(u64, Remark<'a>)>,
    /// Of frames up to the last one.
    said: usize,
    written: u64,
}

/// More things are not said about one frame.
const MAX_TEXTS: usize = 4;

impl<'a> Comments<'a> {
    pub(super) fn of(analysis: &'a Analysis) -> Self {
        let mut remarks = Vec::new();
        for flow in &analysis.flows {
            for loss in &flow.losses {
                remarks.extend(loss.frame_again.map(|frame| (frame, Remark::Again(loss))));
                remarks.extend(loss.frame.map(|frame| (frame, Remark::Lost(flow, loss))));
            }
        }
        // Behind the losses, as the sorting is stable.
        let notes = analysis.flows.iter().flat_map(|flow| &flow.notes);
        remarks.extend(notes.map(|note| (note.frame(), Remark::Beside(*note))));
        remarks.sort_by_key(|(frame, _)| *frame);
        Self { remarks, said: 0, written: 0 }
    }

    /// The comment on a frame; frames are asked about in their order.
    pub(super) fn on(&mut self, frame: u64) -> Option<String> {
        let rest = &self.remarks[self.said..];
        let before = rest.iter().take_while(|(own, _)| *own < frame).count();
        let own = rest[before..].iter().take_while(|(own, _)| *own == frame).count();
        self.said += before + own;
        let own = &rest[before..before + own];
        let mut kinds: Vec<(Remark<'_>, String, u64)> = Vec::new();
        for (_, remark) in own {
            // The other end's view may have it too, and knows less of it.
            if matches!(remark, Remark::Beside(Note::Repeat(_))) && !kinds.is_empty() {
                continue;
            }
            let text = remark.text(1);
            match kinds.iter_mut().find(|(_, known, _)| *known == text) {
                Some((.., count)) => *count += 1,
                None => kinds.push((*remark, text, 1)),
            }
        }
        if kinds.is_empty() {
            return None;
        }
        self.written += 1;
        let texts: Vec<String> =
            kinds.iter().take(MAX_TEXTS).map(|(remark, _, count)| remark.text(*count)).collect();
        let more = if kinds.len() > MAX_TEXTS { "; …" } else { "" };
        Some(format!("losscause: {}{more}", texts.join("; ")))
    }

    /// Comments so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }
}
