//! How many flows of a kind were named right, wrong and not at all, and which aims are met.

use std::fmt::Write;

use losscause::diagnosis::{Cause, Certainty, Diagnosis};
use losscause_experiments::abroad::diagnosed::CauseClass;

use super::bucket::Verdict;
use super::kind::Kind;
use super::label::Label;

/// A flow whose cause is known, and what was said of it.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) label: Label,
    /// Packets that were lost.
    pub(super) lost: u64,
    /// None if nothing was lost.
    pub(super) diagnosis: Option<Diagnosis>,
    /// What the published test says.
    pub(super) published: Verdict,
}

/// A queue, a policer and the air cannot be told apart by fewer losses.
const FEWEST_LOSSES: u64 = 8;
/// A rate is right if it is nearer to the true one than this share of it.
const RATE_WITHIN: f64 = 0.15;

impl Judged {
    /// A cause that was named.
    fn named(&self) -> Option<(&Cause, Certainty)> {
        let diagnosis = self.diagnosis.as_ref()?;
        (diagnosis.certainty != Certainty::CannotTell)
            .then_some((&diagnosis.cause, diagnosis.certainty))
    }

    fn is_right(&self) -> bool {
        self.named().is_some_and(|(cause, _)| {
            self.label.truth.is_some() && self.label.truth == CauseClass::of(*cause)
        })
    }

    fn is_wrong(&self) -> bool {
        self.named().is_some() && !self.is_right()
    }

    fn is_untold(&self) -> bool {
        self.named().is_none()
    }

    fn has_few_losses(&self) -> bool {
        self.lost < FEWEST_LOSSES
    }

    /// How sure it is that this is a policer.
    fn policer(&self) -> Option<Certainty> {
        self.named().and_then(|(cause, certainty)| {
            matches!(cause, Cause::Policer { .. }).then_some(certainty)
        })
    }

    fn is_clear_policer(&self) -> bool {
        self.policer() == Some(Certainty::Clear)
    }

    fn is_named_policer(&self) -> bool {
        self.policer().is_some()
    }

    fn is_rate_right(&self) -> bool {
        match self.named() {
            Some((Cause::Policer { rate_bps: Some(rate), .. }, _)) => self.is_near(*rate as f64),
            _ => false,
        }
    }

    fn is_published_policer(&self) -> bool {
        matches!(self.published, Verdict::Policed { .. })
    }

    fn is_published_rate_right(&self) -> bool {
        matches!(self.published, Verdict::Policed { rate_bps } if self.is_near(rate_bps))
    }

    fn is_near(&self, rate_bps: f64) -> bool {
        self.label.rate_bps.is_some_and(|real| (rate_bps - real).abs() <= RATE_WITHIN * real)
    }

    fn is_policed(&self) -> bool {
        self.label.truth == Some(CauseClass::Policer)
    }
}

/// What is counted of a kind's flows, and its head.
type Column = (&'static str, fn(&Judged) -> bool);

const COLUMNS: [Column; 11] = [
    ("right", Judged::is_right),
    ("wrong", Judged::is_wrong),
    ("cannot tell", Judged::is_untold),
    ("of these, under 8 losses", Judged::has_few_losses),
    ("policer clear", Judged::is_clear_policer),
    ("policer clear or likely", Judged::is_named_policer),
    ("rate within 15 %", Judged::is_rate_right),
    ("published test: policer", Judged::is_published_policer),
    ("rate within 15 %", Judged::is_published_rate_right),
    ("truly a policer", Judged::is_policed),
    ("truly the air", |flow| flow.label.truth == Some(CauseClass::Air)),
];

/// The flows as a table, a row per kind, and which aims are met.
pub(super) fn table(flows: &[Judged]) -> String {
    let mut kinds: Vec<&str> = flows.iter().map(|flow| flow.label.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut text = String::from("| kind | flows |");
    COLUMNS.iter().for_each(|(head, _)| _ = write!(text, " {head} |"));
    _ = writeln!(text, "\n|---|--:|{}", "--:|".repeat(COLUMNS.len()));
    let mut row = |name: &str, of_kind: Vec<&Judged>| {
        _ = write!(text, "| {name} | {} |", of_kind.len());
        COLUMNS.iter().for_each(|(_, is)| {
            _ = write!(text, " {} |", of_kind.iter().filter(|flow| is(flow)).count());
        });
        text.push('\n');
    };
    for kind in kinds {
        row(kind, flows.iter().filter(|flow| flow.label.kind == kind).collect());
    }
    row("all", flows.iter().collect());
    text.push('\n');
    for aim in aims(flows) {
        _ = writeln!(text, "{aim}");
    }
    let late = flows.iter().filter_map(|flow| flow.label.late_us);
    if let Some([p99_us, worst_us]) =
        late.reduce(|one, other| [one[0].max(other[0]), one[1].max(other[1])])
    {
        _ = writeln!(
            text,
            "\nThe link delivered 99 of 100 packets at most {p99_us} µs late in the worst transfer, and the latest of all by \
             {worst_us} µs."
        );
    }
    text
}

/// A share that is to be reached.
struct Aim {
    what: &'static str,
    /// So many of so many.
    count: (usize, usize),
    at_least: Option<f64>,
    at_most: Option<f64>,
}

fn aims(flows: &[Judged]) -> Vec<Aim> {
    let share = |of: &dyn Fn(&Judged) -> bool, is: fn(&Judged) -> bool| {
        let all = || flows.iter().filter(|flow| of(flow));
        (all().filter(|flow| is(flow)).count(), all().count())
    };
    let at_least =
        |what, count, percent| Aim { what, count, at_least: Some(percent), at_most: None };
    let at_most =
        |what, count, percent| Aim { what, count, at_least: None, at_most: Some(percent) };
    let policed = |flow: &Judged| flow.is_policed() && !flow.has_few_losses();
    let others = |flow: &Judged| !flow.is_policed();
    let droptail = |flow: &Judged| flow.label.kind == Kind::DropTail.name();
    vec![
        at_least(
            "a named cause is right",
            share(&|flow| !flow.is_untold(), Judged::is_right),
            95.0,
        ),
        at_most("DropTail: cannot tell", share(&droptail, Judged::is_untold), 20.0),
        at_least("policers: clear", share(&policed, Judged::is_clear_policer), 45.0),
        at_most("others: clearly policers", share(&others, Judged::is_clear_policer), 1.0),
        at_least("policers: clear or likely", share(&policed, Judged::is_named_policer), 85.0),
        at_most(
            "others: clearly or likely policers",
            share(&others, Judged::is_named_policer),
            10.0,
        ),
        at_least("policers: rate within 15 %", share(&policed, Judged::is_rate_right), 60.0),
    ]
}

impl std::fmt::Display for Aim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (count, all) = self.count;
        let percent = 100.0 * count as f64 / all.max(1) as f64;
        let (word, aim) = match (self.at_least, self.at_most) {
            (Some(least), _) => ("at least", least),
            (None, most) => ("at most", most.unwrap_or(100.0)),
        };
        let is_met = self.at_least.is_none_or(|least| percent >= least)
            && self.at_most.is_none_or(|most| percent <= most);
        let met = match all {
            0 => "no such flow",
            _ if is_met => "met",
            _ => "MISSED",
        };
        write!(f, "{}: {count} of {all}, {percent:.1} %, {word} {aim} %: {met}", self.what)
    }
}

#[cfg(test)]
mod tests {
    use losscause::diagnosis::Unknown;

    use super::*;
    use crate::gate::bucket::Why;

    fn judged(kind: &str, truth: CauseClass, cause: Cause, certainty: Certainty) -> Judged {
        let rate_bps = (truth == CauseClass::Policer).then_some(1e6);
        let label = Label { kind: kind.to_owned(), truth: Some(truth), rate_bps, late_us: None };
        let diagnosis = Some(Diagnosis { cause, certainty, findings: [None; 3] });
        Judged { label, lost: 8, diagnosis, published: Verdict::NotPoliced(Why::FewLosses) }
    }

    fn policer(kind: &str, truth: CauseClass, mbps: f64) -> Judged {
        let cause = Cause::Policer { rate_bps: Some((mbps * 1e6) as u64), burst_bytes: None };
        judged(kind, truth, cause, Certainty::Clear)
    }

    #[test]
    fn a_wrong_name_misses_the_first_aim_and_silence_only_its_own() {
        let queue = || judged("droptail", CauseClass::Queue, Cause::FullQueue, Certainty::Likely);
        let silent = judged(
            "droptail",
            CauseClass::Queue,
            Cause::NotShown(Unknown::TooFew),
            Certainty::CannotTell,
        );
        let air = judged("droptail", CauseClass::Queue, Cause::Air, Certainty::Likely);
        let text = table(&[queue(), queue(), queue(), silent.clone()]);
        assert!(
            text.contains("a named cause is right: 3 of 3, 100.0 %, at least 95 %: met"),
            "{text}"
        );
        assert!(
            text.contains("DropTail: cannot tell: 1 of 4, 25.0 %, at most 20 %: MISSED"),
            "{text}"
        );
        assert!(
            text.contains("policers: clear: 0 of 0, 0.0 %, at least 45 %: no such flow"),
            "{text}"
        );
        let text = table(&[queue(), air]);
        assert!(
            text.contains("a named cause is right: 1 of 2, 50.0 %, at least 95 %: MISSED"),
            "{text}"
        );
    }

    #[test]
    fn a_policer_counts_by_its_true_cause_and_its_rate() {
        let flows = [
            policer("policer", CauseClass::Policer, 1.14),
            policer("policer", CauseClass::Policer, 1.16),
            policer("wifi", CauseClass::Air, 1.0),
        ];
        let text = table(&flows);
        assert!(text.contains("policers: rate within 15 %: 1 of 2"), "{text}");
        assert!(
            text.contains("others: clearly policers: 1 of 1, 100.0 %, at most 1 %: MISSED"),
            "{text}"
        );
    }

    #[test]
    fn the_latest_transfer_is_told() {
        let late = |late_us| {
            let mut flow = judged("wifi", CauseClass::Air, Cause::Air, Certainty::Clear);
            flow.label.late_us = late_us;
            flow
        };
        assert!(
            table(&[late(Some([90, 7_000])), late(Some([300, 500]))])
                .contains("at most 300 µs late")
        );
        assert!(!table(&[late(None)]).contains("late"));
    }

    #[test]
    fn a_flow_without_a_true_cause_is_wrong_if_one_is_named() {
        let mut flow = judged("wifi", CauseClass::Air, Cause::Air, Certainty::Clear);
        assert!(flow.is_right());
        flow.label.truth = None;
        assert!(flow.is_wrong());
    }
}
