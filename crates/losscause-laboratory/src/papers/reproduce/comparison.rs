//! What got worse since an earlier reproduction.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Plan, Reproduction, conclude};
use crate::papers::record::{Item, Status};
use losscause_study::InputError;

/// A reproduction against an earlier one of the same program version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Numbers and claims that got worse, in the order of the present reproduction.
    pub worse: Vec<Worse>,
    /// Numbers and claims that got better.
    pub better: usize,
    /// Numbers and claims that were compared.
    pub compared: usize,
    /// Scored numbers and settled claims that only the earlier reproduction has.
    pub only_earlier: usize,
    /// Scored numbers and settled claims that only the present one has.
    pub only_now: usize,
    /// Numbers that one of the two measured with too few runs, so that they cannot be compared.
    pub other_runs: usize,
}

/// What got worse.
#[derive(Clone, Debug, PartialEq)]
pub enum Worse {
    /// A scored number was within tolerance and is missed.
    Number {
        /// Paper and name: "cen2003 WLH.N1.TCP.thput".
        name: String,
        /// The published value.
        published: String,
        /// The earlier mean.
        earlier: String,
        /// The present mean.
        now: String,
    },
    /// A claim held and fails.
    Claim {
        /// Paper and name.
        name: String,
        /// What is claimed.
        statement: String,
    },
}

impl fmt::Display for Worse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { name, published, earlier, now } => {
                write!(
                    f,
                    "{name}: met before ({earlier}), missed now ({now}; published {published})"
                )
            }
            Self::Claim { name, statement } => {
                write!(f, "{name}: held before, fails now: {statement}")
            }
        }
    }
}

/// An answer that can be compared: within tolerance or not, holds or fails.
struct Answer {
    good: bool,
    /// Runs, if they were too few to score.
    preview: Option<u32>,
}

impl Reproduction {
    /// Compares with an earlier reproduction. Numbers are compared by their status; those from too
    /// few runs by whether they are within tolerance, if both have the same number of runs.
    ///
    /// # Errors
    /// `earlier`, which was read from `file`, is of another version, or has nothing in common with
    /// this one.
    pub fn against(&self, earlier: &Self, file: &str) -> Result<Comparison, InputError> {
        let refuse = |problem: String, expected| InputError::file(file, problem, expected);
        if earlier.version != self.version {
            let problem =
                format!("was written by version {}, and this is {}", earlier.version, self.version);
            return Err(refuse(problem, "a result of the same version"));
        }
        let mut comparison = Comparison::default();
        let numbers_before = earlier.numbers();
        let numbers = self.numbers();
        for (name, (item, now)) in &numbers {
            let Some((old, before)) = numbers_before.get(name) else {
                comparison.only_now += 1;
                continue;
            };
            if now.preview != before.preview {
                comparison.other_runs += 1;
            } else if comparison.count(before.good, now.good) {
                let name = format!("{} {}", item.paper, item.id);
                let earlier = old.measured_text();
                let now = item.measured_text();
                comparison.worse.push(Worse::Number {
                    name,
                    published: item.published_text(),
                    earlier,
                    now,
                });
            }
        }
        comparison.only_earlier +=
            numbers_before.keys().filter(|name| !numbers.contains_key(*name)).count();
        let claims = |of: &Self| -> BTreeMap<(String, String), bool> {
            let settled =
                of.claims.iter().filter_map(|c| Some(((c.paper.clone(), c.id.clone()), c.holds?)));
            settled.collect()
        };
        let claims_before = claims(earlier);
        let claims_now = claims(self);
        for claim in &self.claims {
            let name = (claim.paper.clone(), claim.id.clone());
            match (claims_before.get(&name), claim.holds) {
                (_, None) => {}
                (None, Some(_)) => comparison.only_now += 1,
                (Some(&before), Some(now)) => {
                    if comparison.count(before, now) {
                        let name = format!("{} {}", claim.paper, claim.id);
                        comparison
                            .worse
                            .push(Worse::Claim { name, statement: claim.statement.clone() });
                    }
                }
            }
        }
        comparison.only_earlier +=
            claims_before.keys().filter(|name| !claims_now.contains_key(*name)).count();
        if comparison.compared + comparison.other_runs == 0 {
            let problem =
                "has no scored number and no settled claim of this reproduction".to_owned();
            return Err(refuse(problem, "a result with the same items"));
        }
        Ok(comparison)
    }

    /// The scored numbers by paper, metric, system, scenario and parameters.
    fn numbers(&self) -> BTreeMap<String, (&Item, Answer)> {
        let answer = |item: &Item| match item.status {
            Status::Reproduced | Status::Missed => {
                Some(Answer { good: item.status == Status::Reproduced, preview: None })
            }
            Status::Preview => {
                Some(Answer { good: item.within == Some(true), preview: Some(item.runs) })
            }
            Status::NotScored | Status::NoPublishedValue => None,
        };
        self.items.iter().filter_map(|item| Some((place(item), (item, answer(item)?)))).collect()
    }
}

impl Plan {
    /// Whether its numbers can be compared with those of an earlier reproduction, before they are
    /// measured.
    ///
    /// # Errors
    /// `earlier`, which was read from `file`, has none of the scored numbers that this measures.
    pub fn can_be_compared(&self, earlier: &Reproduction, file: &str) -> Result<(), InputError> {
        let scored =
            |item: &&Item| !matches!(item.status, Status::NotScored | Status::NoPublishedValue);
        let before: BTreeSet<String> = earlier.items.iter().filter(scored).map(place).collect();
        let planned = conclude(self.items(), 1);
        let mut now = planned.items.iter().filter(|item| item.published.is_some());
        if before.is_empty() || now.any(|item| before.contains(&place(item))) {
            return Ok(());
        }
        let problem = "has none of the numbers that would be measured";
        Err(InputError::file(file, problem, "a result with the same items"))
    }
}

/// What identifies a number, whichever items were measured with it.
fn place(item: &Item) -> String {
    format!(
        "{} {} {} {} {:?}",
        item.paper, item.metric, item.system, item.scenario, item.parameters
    )
}

impl Comparison {
    /// Counts an answer before and now; whether it got worse.
    fn count(&mut self, before: bool, now: bool) -> bool {
        self.compared += 1;
        self.better += usize::from(now && !before);
        before && !now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::record;
    use crate::papers::reproduce::{Repetitions, Selection, Variation};
    use losscause_study::Context;

    /// Table III as published, but for TCP's throughput (published: 23).
    fn table3(tcp: f64, runs: u32) -> Reproduction {
        let selection = Selection::parse(&["cen2003/table3"]).unwrap();
        let plan = Plan::new(
            &Context::default(),
            &selection,
            Repetitions::Exactly(runs),
            1,
            &Variation::default(),
        )
        .unwrap();
        let mut items = plan.items().to_vec();
        for item in &mut items {
            let numbers = &record::find("cen2003").unwrap().published().number;
            item.measured = numbers.iter().find(|n| n.id == item.id).map(|n| n.value);
            if item.id == "WB.N1.TCP.thput" {
                item.measured = Some(tcp);
            }
        }
        conclude(&items, 1)
    }

    #[test]
    fn missed_numbers_and_claims_that_no_longer_hold_are_named() {
        // 99.5 is far from 23, and more than all others: the order of the claim is gone.
        let good = table3(23.0, 10);
        let bad = table3(99.5, 10);
        let comparison = bad.against(&good, "old.json").unwrap();
        let lines: Vec<String> = comparison.worse.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines[0],
            "cen2003 WB.N1.TCP.thput: met before (23.0), missed now (99.5; published 23)"
        );
        assert!(
            lines[1..]
                .iter()
                .any(|line| line.starts_with("cen2003 WB1-order: held before, fails now: ")),
            "{lines:?}"
        );
        let back = good.against(&bad, "old.json").unwrap();
        assert_eq!((back.worse.len(), back.better), (0, lines.len()));
        assert_eq!(
            good.against(&good, "old.json").unwrap(),
            Comparison { compared: comparison.compared, ..Comparison::default() }
        );
    }

    #[test]
    fn numbers_from_other_run_counts_are_counted_and_not_compared() {
        let scored = table3(23.0, 10);
        let preview = table3(99.5, 2);
        let comparison = preview.against(&scored, "old.json").unwrap();
        assert!(comparison.other_runs >= 20, "{comparison:?}");
        assert!(comparison.worse.iter().all(|worse| matches!(worse, Worse::Claim { .. })));
        let same_runs = preview.against(&table3(23.0, 2), "old.json").unwrap();
        assert!(
            matches!(&same_runs.worse[0], Worse::Number { name, .. } if name == "cen2003 WB.N1.TCP.thput")
        );
    }

    #[test]
    fn values_of_one_side_are_counted() {
        let both = table3(23.0, 10);
        let mut part = both.clone();
        part.items.retain(|item| item.system != "ZigZag");
        part.claims.clear();
        let comparison = part.against(&both, "old.json").unwrap();
        // Four numbers of ZigZag, and the settled claims.
        let settled = both.claims.iter().filter(|claim| claim.holds.is_some()).count();
        assert_eq!((comparison.only_earlier, comparison.only_now), (4 + settled, 0));
        assert_eq!(both.against(&part, "old.json").unwrap().only_now, 4 + settled);
    }

    #[test]
    fn another_version_and_other_items_are_refused_in_one_sentence() {
        let now = table3(23.0, 10);
        let old = Reproduction { version: "0.0.9".to_owned(), ..now.clone() };
        assert_eq!(
            now.against(&old, "old.json").unwrap_err().to_string(),
            format!(
                "old.json: was written by version 0.0.9, and this is {}, expected a result of the same version",
                now.version
            )
        );
        assert_eq!(
            now.against(&conclude(&[], 1), "old.json").unwrap_err().to_string(),
            "old.json: has no scored number and no settled claim of this reproduction, expected a result with the \
             same items"
        );
    }
}
