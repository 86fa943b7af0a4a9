//! What backs the verdicts on single losses, in words: the delays at the losses, and the errors to
//! expect.

use losscause::diagnosis::{self, Certainty, Unknown};

use crate::answer::{at_its_end, plural};
use crate::causes::MOST_OF_TEN;
use crate::judge::trust::Share;
use crate::{Flow, FlowDiagnosis, Queueing};

/// A cause that most losses have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Air,
    Queue,
    Both,
}

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

impl Flow {
    /// What the queueing delay before its losses says, beside the delay of all its packets; none
    /// without a loss. A conclusion only where no cause is named, which rests on more.
    pub fn evidence(&self) -> Option<String> {
        if self.lost() == 0 {
            return None;
        }
        let at_losses: Vec<f64> =
            self.losses.iter().filter_map(|loss| loss.queueing_before_ms).collect();
        let is_mixed = |told: &FlowDiagnosis| {
            told.diagnosis.cause == diagnosis::Cause::NotShown(Unknown::Mixed)
        };
        let is_known = !at_losses.is_empty() && !self.diagnosis.as_ref().is_some_and(is_mixed);
        let (Some(queueing), true) = (self.queueing, is_known) else {
            return Some(
                "The queueing delay at its losses is not known, so that nothing backs the verdicts.".to_owned(),
            );
        };
        let is_named = self
            .diagnosis
            .as_ref()
            .is_some_and(|told| told.diagnosis.certainty > Certainty::CannotTell);
        if queueing.p95_ms < CLEAR_MS {
            let conclusion = if is_named {
                ""
            } else {
                " Then no queue fills, or one that drops early, such as CoDel or a policer: delay alone cannot tell."
            };
            let p95 = ms(queueing.p95_ms);
            return Some(format!(
                "Its queueing delay hardly varies (95 % of its packets waited less than {p95}).{conclusion}"
            ));
        }
        let (words, cause) = weigh(&at_losses, queueing);
        if is_named {
            return Some(format!("{words}."));
        }
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
        let Some(name) = self.recommended.as_ref().filter(|_| self.lost() > 0) else {
            return Vec::new();
        };
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
            expected
                .and_then(|expected| expected.m_c)
                .map(|m_c| (m_c, "congestion losses wireless")),
            expected
                .and_then(|expected| expected.m_w)
                .map(|m_w| (m_w, "wireless losses congestion or nothing")),
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
        let failing: Vec<String> = self
            .expected
            .iter()
            .filter(|(_, expected)| expected.fails())
            .map(|(name, _)| at_its_end(name))
            .collect();
        if failing.contains(&followed) {
            sentences.push(
                "That is no better than a coin: believe the delays rather than the verdicts."
                    .to_owned(),
            );
        } else if !failing.is_empty() {
            sentences.push(format!("Known to fail there: {}.", failing.join(", ")));
        }
        sentences
    }
}

/// A smaller delay may be that of hosts: nothing of a queue can be said.
const CLEAR_MS: f64 = 10.0;

/// A queue is long nearly always if so many packets wait at least half of the usual longest time.
const NEARLY_ALWAYS: f64 = 0.8;
/// More standard deviations than this are no chance.
const CHANCE: f64 = 2.0;

/// Holds the queueing delays at losses against those of all packets, in words and as a cause, if
/// they tell one. A queue that drops is full, so that its losses wait long, and longer than other
/// packets do. The air's losses do not choose.
fn weigh(at_losses: &[f64], queueing: Queueing) -> (String, Option<Cause>) {
    let mut sorted = at_losses.to_vec();
    sorted.sort_by(f64::total_cmp);
    let all = sorted.len();
    let usual = queueing.p95_ms;
    let busy = queueing.busy;
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
    let shared = |count: usize| {
        format!("{count} of {} ({:.0} %) happened", plural(all as u64, "loss"), percent(count))
    };
    let of_all = |share: f64| format!("{:.0} % of all packets met that", 100.0 * share);
    match Cause::of(low as u64, (all - low) as u64) {
        Cause::Air => {
            // The smallest round delay that nine tenths of them stay below.
            let limit = round_up(sorted[low * 9 / 10].max(0.5) * 1.001).min(half);
            let words = happened(below(limit));
            let reached = format!("which reached {}", ms(usual));
            (
                format!(
                    "{words} while the path's queueing delay, {reached}, was under {}",
                    ms(limit)
                ),
                Some(Cause::Air),
            )
        }
        Cause::Queue => {
            let words = format!(
                "{} while the path's queueing delay was {} or more",
                shared(all - low),
                ms(half)
            );
            let cause = (choose && busy < NEARLY_ALWAYS).then_some(Cause::Queue);
            (format!("{words}, and {}", of_all(busy)), cause)
        }
        Cause::Both => {
            let words =
                format!("{} while the path's queueing delay was under {}", shared(low), ms(half));
            let cause = if choose { Cause::Both } else { Cause::Air };
            (format!("{words}, and {}", of_all(1.0 - busy)), Some(cause))
        }
    }
}

/// The next of 1, 2, 3, 5, 10, 20, …
fn round_up(value: f64) -> f64 {
    let unit = 10_f64.powf(value.max(1e-3).log10().floor());
    [1.0, 2.0, 3.0, 5.0, 10.0]
        .map(|factor| factor * unit)
        .into_iter()
        .find(|limit| *limit >= value)
        .unwrap_or(value)
}

fn ms(value: f64) -> String {
    let decimals = if value >= 10.0 || value.fract() < 1e-9 { 0 } else { 1 };
    format!("{value:.decimals$} ms")
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
        assert_eq!(
            [0.07, 1.0, 2.1, 4.0, 6.0, 21.0, 480.0].map(round_up),
            [0.1, 1.0, 3.0, 5.0, 10.0, 30.0, 500.0]
        );
        assert_eq!([0.5, 3.0, 24.4, 2.5].map(ms), ["0.5 ms", "3 ms", "24 ms", "2.5 ms"]);
    }
}
