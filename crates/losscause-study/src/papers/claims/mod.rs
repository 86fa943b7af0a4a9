//! The papers' claims, each one small predicate on measured means.
//!
//! A predicate reads means through [`Measured`], which keeps a list of what was read: the evidence. What was not
//! measured makes a claim undecided; a predicate decides as soon as it can, so that one failing comparison is enough.

use std::cell::RefCell;

use crate::papers::record::{ClaimOutcome, Item};
use crate::papers::record::{Parameters, Published, Value};
use crate::papers::score::lookup;

pub mod barman2002;
pub mod biaz1999;
pub mod cen2003;
pub mod dalwadi;
pub mod koo2007;

/// A claim's predicate.
pub type Predicate = fn(&Measured<'_>) -> Answer;

/// Yes, no, or what was missing.
pub type Answer = Result<bool, Unmeasured>;

/// A value that a predicate reads was not measured; names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmeasured(pub String);

/// The measured means of one paper, read by predicates.
pub struct Measured<'a> {
    items: &'a [Item],
    read: RefCell<Vec<String>>,
}

impl<'a> Measured<'a> {
    /// Reads from `items`, which are all of one paper.
    pub fn new(items: &'a [Item]) -> Self {
        Self { items, read: RefCell::default() }
    }

    /// The mean of `metric` for `system` in `scenario`, at the parameters given; in the metric's unit. A
    /// misclassification rate that exists in no run is zero: there was nothing to misjudge.
    pub fn value(&self, metric: &str, system: &str, scenario: &str, at: &[(&str, Value)]) -> Result<f64, Unmeasured> {
        let want: Parameters = at.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let mut name = format!("{metric}({system}, {scenario}");
        for (key, value) in at {
            name += &format!(", {key}={value}");
        }
        name.push(')');
        let measured = lookup(self.items, metric, system, scenario, &want).map(|item| item.measured);
        let value = match measured {
            Some(Some(value)) => value,
            Some(None) if matches!(metric, "M_c" | "M_w") => 0.0,
            _ => return Err(Unmeasured(name)),
        };
        let line = format!("{name} = {}", short(value));
        let mut read = self.read.borrow_mut();
        if !read.contains(&line) {
            read.push(line);
        }
        Ok(value)
    }

    fn evidence(self) -> String {
        self.read.into_inner().join("; ")
    }
}

/// Settles every claim of a paper, in the order of its record. `predicates` holds one per checkable claim.
pub fn settle(published: &Published, predicates: &[&[(&str, Predicate)]], items: &[Item]) -> Vec<ClaimOutcome> {
    let outcome = |claim: &crate::papers::record::Claim| {
        let (holds, evidence) = match predicates.iter().copied().flatten().find(|(id, _)| *id == claim.id) {
            None => (None, "no run can settle it".to_owned()),
            Some((_, predicate)) => {
                let measured = Measured::new(items);
                match predicate(&measured) {
                    Ok(holds) => (Some(holds), measured.evidence()),
                    Err(Unmeasured(what)) => (None, format!("not measured: {what}")),
                }
            }
        };
        ClaimOutcome {
            id: claim.id.clone(),
            paper: published.key.clone(),
            statement: claim.statement.clone(),
            holds,
            evidence,
        }
    };
    published.claim.iter().map(outcome).collect()
}

/// Whether `holds` is true of every element; stops at the first that fails.
pub fn all<T>(of: impl IntoIterator<Item = T>, mut holds: impl FnMut(T) -> Answer) -> Answer {
    for x in of {
        if !holds(x)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads one value per element.
pub fn each<T>(
    of: impl IntoIterator<Item = T>,
    read: impl FnMut(T) -> Result<f64, Unmeasured>,
) -> Result<Vec<f64>, Unmeasured> {
    of.into_iter().map(read).collect()
}

/// How many elements `holds` is true of.
pub fn count<T>(of: impl IntoIterator<Item = T>, mut holds: impl FnMut(T) -> Answer) -> Result<usize, Unmeasured> {
    let mut n = 0;
    for x in of {
        n += usize::from(holds(x)?);
    }
    Ok(n)
}

/// A mean that a predicate reads.
pub type Mean = Result<f64, Unmeasured>;

/// The mean of one value per element.
pub fn mean<T>(of: impl IntoIterator<Item = T>, read: impl FnMut(T) -> Mean) -> Mean {
    let values = each(of, read)?;
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

/// Whether `x` lies within `within` of `y`.
pub fn close(x: f64, y: f64, within: f64) -> bool {
    (x - y).abs() <= within
}

/// Whether `x` lies within the fraction `within` of `y`.
pub fn approx(x: f64, y: f64, within: f64) -> bool {
    (x - y).abs() <= within * y.abs()
}

/// The quotient; of a zero divisor NaN, with which no comparison holds.
pub fn ratio(x: f64, y: f64) -> f64 {
    if y == 0.0 { f64::NAN } else { x / y }
}

/// Whether no step falls by more than the fraction `slack` of the larger neighbour.
pub fn increasing(values: &[f64], slack: f64) -> bool {
    values.windows(2).all(|w| w[1] >= w[0] - slack * w[0].abs().max(w[1].abs()))
}

/// Whether no step rises by more than the fraction `slack` of the larger neighbour.
pub fn decreasing(values: &[f64], slack: f64) -> bool {
    values.windows(2).all(|w| w[1] <= w[0] + slack * w[0].abs().max(w[1].abs()))
}

/// The smallest value; infinite if there is none.
pub fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The largest value; minus infinity if there is none.
pub fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn short(value: f64) -> String {
    let digits = if value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::record::Status;

    /// A measured value of a paper.
    pub(super) fn item(
        paper: &str,
        metric: &str,
        system: &str,
        scenario: &str,
        at: &[(&str, Value)],
        measured: Option<f64>,
    ) -> Item {
        Item {
            id: format!("{metric} {system} {scenario} {at:?}"),
            paper: paper.into(),
            source: String::new(),
            system: system.into(),
            scenario: scenario.into(),
            parameters: at.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            metric: metric.into(),
            unit: "percent".into(),
            published: None,
            measured,
            ci95: None,
            runs: 10,
            calibrated: Default::default(),
            status: Status::NoPublishedValue,
        }
    }

    /// What the program answers to one claim of a paper from these values alone.
    pub(super) fn holds(paper: &str, id: &str, items: &[Item]) -> Option<bool> {
        let paper = crate::papers::record::find(paper).unwrap();
        let all = settle(paper.published(), paper.predicates(), items);
        all.into_iter().find(|c| c.id == id).unwrap().holds
    }

    fn items(values: &[(&str, &str, Option<f64>)]) -> Vec<Item> {
        let one = |&(metric, system, measured): &(&str, &str, Option<f64>)| {
            item("cen2003", metric, system, "WLH", &[("N", Value::from(1))], measured)
        };
        values.iter().map(one).collect()
    }

    fn settled(id: &str, values: &[(&str, &str, Option<f64>)]) -> ClaimOutcome {
        let published = crate::papers::record::find("cen2003").unwrap().published();
        let all = settle(published, cen2003::PREDICATES, &items(values));
        all.into_iter().find(|c| c.id == id).unwrap()
    }

    #[test]
    fn a_claim_shows_the_figures_it_was_settled_by() {
        let of = [("cong", "Biaz", Some(2.1)), ("cong", "mBiaz", Some(2.4)), ("cong", "Omni", Some(2.3))];
        let rest = [("cong", "Spike", Some(0.4)), ("cong", "ZigZag", Some(0.25))];
        let outcome = settled("WLH1-cong", &[&of[..], &rest[..]].concat());
        assert_eq!(outcome.holds, Some(true));
        assert!(outcome.evidence.contains("cong(mBiaz, WLH, N=1) = 2.40"), "{}", outcome.evidence);
    }

    #[test]
    fn a_claim_without_measurements_is_undecided_and_says_what_is_missing() {
        let outcome = settled("WLH1-cong", &[("cong", "Biaz", Some(2.1))]);
        assert_eq!(outcome.holds, None);
        assert_eq!(outcome.evidence, "not measured: cong(Omni, WLH, N=1)");
    }

    #[test]
    fn no_loss_of_a_cause_means_none_misjudged() {
        let none = ["Biaz", "mBiaz", "Spike", "ZigZag"].map(|s| ("M_c", s, None));
        assert_eq!(settled("WLH1-Mc0", &none).holds, Some(true));
    }

    #[test]
    fn ties_fail_a_strict_comparison() {
        let tie = [("cong", "Omni", Some(2.0)), ("cong", "Biaz", Some(2.0)), ("cong", "mBiaz", Some(2.0))];
        let rest = [("cong", "Spike", Some(2.0)), ("cong", "ZigZag", Some(0.3))];
        assert_eq!(settled("WLH1-cong", &[&tie[..], &rest[..]].concat()).holds, Some(false));
    }

    #[test]
    fn small_steps_down_are_forgiven_with_slack_only() {
        assert!(increasing(&[1.0, 2.0, 1.95], 0.05));
        assert!(!increasing(&[1.0, 2.0, 1.85], 0.05));
        assert!(!increasing(&[1.0, 0.999], 0.0));
        assert!(decreasing(&[2.0, 1.0, 1.05], 0.05));
        assert!(!decreasing(&[2.0, 1.0, 1.06], 0.05));
    }
}
