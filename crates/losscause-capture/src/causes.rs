//! The causes of a capture's losses: those of several flows together, in words and with what to do.

use losscause::diagnosis::Certainty;

use crate::{Analysis, Flow, FlowDiagnosis, next};

/// Of so many losses most have one cause.
pub(crate) const MOST_OF_TEN: u64 = 8;

/// A cause that several flows may have.
struct Shared<'a> {
    /// Of the flow that lost most to it.
    told: &'a FlowDiagnosis,
    /// Losses of all of them.
    lost: u64,
    /// Losses of that flow.
    most: u64,
}

impl Shared<'_> {
    fn is_named(&self) -> bool {
        self.told.diagnosis.certainty > Certainty::CannotTell
    }
}

/// The causes of these flows' losses, those of most losses first. Beside one of most losses, only
/// others that are named count.
fn shared<'a>(lossy: &[&'a Flow]) -> Vec<Shared<'a>> {
    let mut causes: Vec<Shared<'_>> = Vec::new();
    for flow in lossy {
        let Some(told) = &flow.diagnosis else { continue };
        let lost = flow.lost_to_cause();
        let name = told.diagnosis.cause.name();
        match causes.iter_mut().find(|shared| shared.told.diagnosis.cause.name() == name) {
            Some(shared) => {
                shared.lost += lost;
                if lost > shared.most {
                    (shared.most, shared.told) = (lost, told);
                }
            }
            None => causes.push(Shared { told, lost, most: lost }),
        }
    }
    causes.sort_by_key(|shared| std::cmp::Reverse(shared.lost));
    let total: u64 = lossy.iter().map(|flow| flow.lost()).sum();
    if causes.first().is_some_and(|main| main.lost * 10 >= total * MOST_OF_TEN) {
        let mut is_first = true;
        causes.retain(|shared| std::mem::take(&mut is_first) || shared.is_named());
    }
    causes
}

/// The causes of these flows' losses: in short; and how sure they are, what shows them and what to
/// do.
pub(crate) fn told(lossy: &[&Flow]) -> Option<[String; 2]> {
    let causes = shared(lossy);
    let total: u64 = lossy.iter().map(|flow| flow.lost()).sum();
    if let [Shared { told, lost, .. }] = causes[..] {
        let is_named = told.diagnosis.certainty > Certainty::CannotTell;
        // Only of a flow alone, and with a cause, is a low rate what its losses cost.
        let cost = told.cost_in_short().filter(|_| lossy.len() == 1 && is_named);
        let cost = cost.map(|cost| format!(" {cost}.")).unwrap_or_default();
        // A cause that is named is not that of the others' losses.
        let of =
            if lost < total && is_named { format!("{lost} of {total}: ") } else { String::new() };
        let short = told.diagnosis.in_short();
        return Some([
            format!("{of}{short}."),
            format!("{of}{}.{cost} {}.", told.diagnosis, told.advice()),
        ]);
    }
    causes.first()?;
    let told: Vec<String> = causes
        .iter()
        .map(|Shared { told, lost, .. }| {
            format!("{lost} of {total}: {}. {}.", told.diagnosis, told.advice())
        })
        .collect();
    Some([
        "Causes differ by flow.".to_owned(),
        format!("Causes differ by flow. {}", told.join(" ")),
    ])
}

impl Analysis {
    /// The commands to run next, in their order: for each cause that the answer tells. `FILE` stands
    /// for the capture, words in angle brackets for what the reader knows.
    pub fn next(&self) -> Vec<String> {
        let mut all = Vec::new();
        for command in self.diagnoses().iter().flat_map(|told| &told.next) {
            if !all.contains(command) {
                all.push(command.clone());
            }
        }
        for command in all.iter_mut().filter(|command| command.contains(" --flow ")) {
            let stands = |flow: &&Flow| command.contains(&next::sender_of(flow.id));
            if let Some(flow) = self.flows.iter().find(stands) {
                *command = command.replace(&next::sender_of(flow.id), self.end_of(flow));
            }
        }
        all
    }

    /// The end that `--flow` chooses a flow by: its sender, unless that has others.
    fn end_of<'f>(&self, flow: &'f Flow) -> &'f str {
        let is_other = |other: &&Flow| ![&other.src, &other.dst].contains(&&flow.dst);
        let has = |other: &Flow| [&other.src, &other.dst].iter().any(|end| end.contains(&flow.src));
        if self.flows.iter().filter(is_other).any(has) { &flow.dst } else { &flow.src }
    }

    /// The cause of most losses, as the flow tells that lost most to it; none if nothing was lost.
    pub fn diagnosis(&self) -> Option<&FlowDiagnosis> {
        self.diagnoses().first().copied()
    }

    /// The causes that the answer tells, each as the flow tells that lost most to it.
    pub fn diagnoses(&self) -> Vec<&FlowDiagnosis> {
        let lossy: Vec<&Flow> = self.flows.iter().filter(|flow| flow.lost() > 0).collect();
        shared(&lossy).iter().map(|shared| shared.told).collect()
    }
}

impl Flow {
    /// The losses that its cause explains.
    pub fn lost_to_cause(&self) -> u64 {
        self.lost() - self.losses.iter().filter(|loss| loss.is_apart).count() as u64
    }

    /// The heads of [`Self::cells`].
    pub const HEADS: [&str; 10] = [
        "flow",
        "data from",
        "to",
        "seen at",
        "packets",
        "losses",
        "%",
        "again",
        "cause",
        "one by one",
    ];

    /// A table row: number (minor: in brackets), ends, vantage point, packets, losses, their share,
    /// packets that were sent again, the cause of the losses with its certainty (and of how many,
    /// if not of all), and what the algorithm to follow calls them, where that adds to the cause.
    /// What the capture does not show is a dash.
    pub fn cells(&self) -> [String; 10] {
        let is_known = self.lost() > 0 || !self.may_lose_behind();
        let if_known = |text: String| if is_known { text } else { "–".to_owned() };
        [
            if self.minor { format!("({})", self.id) } else { self.id.to_string() },
            self.src_told(),
            self.dst_told(),
            self.vantage.to_string(),
            self.packets.to_string(),
            if_known(self.lost().to_string()),
            if_known(format!("{:.1}", 100.0 * self.lost_share())),
            self.sent_again.to_string(),
            self.cause_cell(),
            self.verdicts_cell(),
        ]
    }

    fn cause_cell(&self) -> String {
        let Some(told) = self.diagnosis.as_ref().filter(|_| self.lost() > 0) else {
            return String::new();
        };
        let diagnosis = &told.diagnosis;
        let name = diagnosis.cause.name();
        match (diagnosis.certainty, self.lost_to_cause()) {
            (Certainty::CannotTell, _) => name.to_owned(),
            (certainty, lost) if lost < self.lost() => {
                format!("{name}, {} ({lost})", certainty.name())
            }
            (certainty, _) => format!("{name}, {}", certainty.name()),
        }
    }

    fn verdicts_cell(&self) -> String {
        match &self.recommended {
            Some(name) if self.lost() > 0 && self.is_told_one_by_one() => {
                let verdicts = self.verdicts();
                let counts = [
                    (verdicts.wireless, "wireless"),
                    (verdicts.congestion, "congestion"),
                    (verdicts.undecided, "undecided"),
                ];
                let counts = counts.iter().filter(|(count, _)| *count > 0);
                let counts: Vec<String> =
                    counts.map(|(count, what)| format!("{count} {what}")).collect();
                format!("{name}: {}", counts.join(", "))
            }
            _ => String::new(),
        }
    }
}
