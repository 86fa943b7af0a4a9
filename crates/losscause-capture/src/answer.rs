//! What an analysis says, in words: for the terminal and for reports.

use std::collections::BTreeSet;

use losscause::{Judgement, Verdict};

use crate::joined::{Alone, Tally};
use crate::{Analysis, Flow, Loss, Summary};

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

impl Analysis {
    /// Sentences that a colleague could repeat: how many packets were lost, and why.
    pub fn answer(&self) -> String {
        let total: u64 = self.flows.iter().map(Flow::lost).sum();
        let flows = plural(self.flows.len() as u64 + self.unlisted_flows, "flow");
        if total == 0 {
            return format!("No packet of {flows} was lost.");
        }
        let lost = format!("{} in {flows}.", plural(total, "lost packet"));
        let asked = self.asked();
        if asked.is_empty() {
            return format!("{lost} No algorithm can tell whether the air or a queue lost them.");
        }
        let mut sum = Summary::default();
        for Summary { wireless, congestion, undecided } in self.flows.iter().map(Flow::verdicts) {
            sum.wireless += wireless;
            sum.congestion += congestion;
            sum.undecided += undecided;
        }
        let Summary { wireless, congestion, undecided } = sum;
        let cause = if undecided * 10 >= total * MOST_OF_TEN {
            "The capture does not show enough to tell the cause"
        } else {
            match Cause::of(wireless, congestion) {
                Cause::Air => "Most look like the air, not a queue",
                Cause::Queue => "Most look like a full queue, not the air",
                Cause::Both => "Some look like the air, some like a full queue",
            }
        };
        let untold = if undecided == 0 { String::new() } else { format!(", and {undecided} cannot be told") };
        let by = asked.join(" and ");
        format!("{lost} {cause}: by {by}, {wireless} are wireless and {congestion} congestion{untold}.")
    }

    /// The algorithms that the answer rests on, in words.
    fn asked(&self) -> Vec<String> {
        let lossy = self.flows.iter().filter(|flow| flow.lost() > 0);
        let names: BTreeSet<&String> = lossy.filter_map(|flow| flow.recommended.as_ref()).collect();
        names.into_iter().map(|name| at_its_end(name)).collect()
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
        note(self.fragments, "fragments of IP packets were left out");
        note(self.out_of_order_times, "packets have a time before that of the packet before them");
        note(self.cut_options, "TCP segments have options that the snap length cut: losses may be missing");
        note(self.flows.iter().map(|flow| flow.capture_drops).sum(), "packets were delivered but not captured");
        let offload = self.flows.iter().filter(|flow| flow.offload).count() as u64;
        note(
            offload,
            "flows have segments larger than packets (offload): they were counted as the packets they become",
        );
        notes
    }
}

impl Flow {
    /// Its losses, those that are not listed too.
    pub fn lost(&self) -> u64 {
        self.losses.len() as u64 + self.unlisted_losses
    }

    /// The verdicts of the algorithm to follow. Losses that no algorithm can judge are undecided.
    pub fn verdicts(&self) -> Summary {
        let summary = self.recommended.as_ref().and_then(|name| self.summary.get(name)).copied();
        summary.unwrap_or(Summary { undecided: self.lost(), ..Summary::default() })
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
        let usual = queueing.p95_ms;
        if usual < CLEAR_MS {
            return Some(format!(
                "Its queueing delay hardly varies (95 % of the time it is below {}). Then no queue fills, or one that \
                 drops early, such as CoDel or a policer: delay alone cannot tell.",
                ms(round_up(usual))
            ));
        }
        let seen = weigh(&at_losses, usual);
        let verdicts = self.verdicts();
        let agrees = Cause::of(verdicts.wireless, verdicts.congestion) == seen.cause;
        let conclusion = match (self.recommended.as_ref(), seen.cause) {
            (Some(name), _) if !agrees && verdicts.wireless + verdicts.congestion > 0 => {
                format!("{}'s verdicts do not follow that, so look at the losses one by one", at_its_end(name))
            }
            (_, Cause::Air) => "the air, not a queue".to_owned(),
            (_, Cause::Queue) => "a full queue, not the air".to_owned(),
            (_, Cause::Both) => "some the air, some a queue".to_owned(),
        };
        Some(format!("{} (95 % of the time it is below {}): {conclusion}.", seen.words, ms(round_up(usual))))
    }
}

/// A smaller delay may be that of hosts: nothing of a queue can be said.
const CLEAR_MS: f64 = 10.0;

/// What the delays at losses say.
struct Weighed {
    cause: Cause,
    words: String,
}

/// Holds the queueing delays at losses against `usual`, which most of a flow's packets stay below: a queue that drops is
/// full, so that its delay is in the upper half.
fn weigh(at_losses: &[f64], usual: f64) -> Weighed {
    let mut sorted = at_losses.to_vec();
    sorted.sort_by(f64::total_cmp);
    let all = sorted.len();
    let below = |limit: f64| sorted.partition_point(|delay| *delay < limit);
    let half = usual / 2.0;
    let low = below(half);
    let cause = Cause::of(low as u64, (all - low) as u64);
    let happened = |count: usize| format!("{count} of {} happened", plural(all as u64, "loss"));
    let words = match cause {
        Cause::Air => {
            // The smallest round delay that nine tenths of them stay below.
            let nine_tenths = sorted[low * 9 / 10];
            let limit = round_up(nine_tenths.max(0.5) * 1.001).min(half);
            format!("{} while the path's queueing delay was under {}", happened(below(limit)), ms(limit))
        }
        Cause::Queue => format!("{} while the path's queueing delay was {} or more", happened(all - low), ms(half)),
        Cause::Both => {
            format!("{} while the path's queueing delay was under {}, the others above", happened(low), ms(half))
        }
    };
    Weighed { cause, words }
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

/// "1 flow", "2 flows", "3 losses".
fn plural(count: u64, what: &str) -> String {
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

    #[test]
    fn losses_at_an_empty_queue_are_told_with_a_round_limit() {
        // 41 below 3 ms, three at 40 ms of 48: the ninth tenth of the 41 is at 2.05 + … below 3.
        let delays: Vec<f64> = (0..41).map(|k| f64::from(k) * 0.07).chain([40.0; 3]).collect();
        let seen = weigh(&delays, 48.0);
        assert_eq!(seen.cause, Cause::Air);
        assert_eq!(seen.words, "41 of 44 losses happened while the path's queueing delay was under 3 ms");
    }

    #[test]
    fn losses_at_a_full_queue_are_told_with_half_of_the_usual_delay() {
        let delays: Vec<f64> = [1.0; 2].into_iter().chain([45.0; 18]).collect();
        let seen = weigh(&delays, 48.0);
        assert_eq!(seen.cause, Cause::Queue);
        assert_eq!(seen.words, "18 of 20 losses happened while the path's queueing delay was 24 ms or more");
        let seen = weigh(&[1.0, 45.0], 48.0);
        assert_eq!(seen.cause, Cause::Both);
        assert_eq!(
            seen.words,
            "1 of 2 losses happened while the path's queueing delay was under 24 ms, the others above"
        );
    }

    #[test]
    fn a_limit_is_round() {
        assert_eq!([0.07, 1.0, 2.1, 4.0, 6.0, 21.0, 480.0].map(round_up), [0.1, 1.0, 3.0, 5.0, 10.0, 30.0, 500.0]);
        assert_eq!([0.5, 3.0, 24.4, 2.5].map(ms), ["0.5 ms", "3 ms", "24 ms", "2.5 ms"]);
        assert_eq!([plural(1, "loss"), plural(2, "loss"), plural(0, "flow")], ["1 loss", "2 losses", "0 flows"]);
    }
}
