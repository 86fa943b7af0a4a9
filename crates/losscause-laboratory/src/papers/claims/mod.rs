//! The papers' claims, each one small predicate on measured means.
//!
//! A predicate reads means through [`Measured`], which keeps a list of what was read: the evidence.
//! What was not measured makes a claim undecided. A predicate decides as soon as it can: one
//! failing comparison is enough.

use crate::papers::record::{Claim, ClaimOutcome, Item, Published};

mod barman2002;
mod biaz1999;
mod cen2003;
mod dalwadi;
mod koo2007;
mod measured;

pub use measured::{Answer, Measured, Predicate, Unmeasured};

/// The predicates of some claims, by the claims' names.
type Table = &'static [(&'static str, Predicate)];

/// The predicates of every paper that makes claims, by the paper's short name.
const PAPERS: &[(&str, &[Table])] = &[
    ("barman2002", barman2002::PREDICATES),
    ("biaz1999", biaz1999::PREDICATES),
    ("cen2003", cen2003::PREDICATES),
    ("dalwadi", dalwadi::PREDICATES),
    ("koo2007", koo2007::PREDICATES),
];

/// The predicates of the paper's checkable claims, each with the claim's name; none for a paper
/// without claims.
pub fn predicates(paper: &str) -> impl Iterator<Item = (&'static str, Predicate)> {
    let tables =
        PAPERS.iter().filter(move |(key, _)| *key == paper).flat_map(|(_, tables)| *tables);
    tables.flat_map(|table| *table).copied()
}

/// Settles every claim of a paper, in the order of its record.
pub fn settle(published: &Published, items: &[Item]) -> Vec<ClaimOutcome> {
    settle_with(published, &predicates(&published.key).collect::<Vec<_>>(), items)
}

/// Settles the claims beside the fixed list, which are never counted.
pub fn settle_beside(published: &Published, items: &[Item]) -> Vec<ClaimOutcome> {
    let predicates = predicates(&published.key).collect::<Vec<_>>();
    outcomes(&published.beside, &published.key, &predicates, items)
}

/// Settles every claim of a record by these predicates, each with its claim's name.
pub fn settle_with(
    published: &Published,
    predicates: &[(&str, Predicate)],
    items: &[Item],
) -> Vec<ClaimOutcome> {
    outcomes(&published.claim, &published.key, predicates, items)
}

fn outcomes(
    claims: &[Claim],
    paper: &str,
    predicates: &[(&str, Predicate)],
    items: &[Item],
) -> Vec<ClaimOutcome> {
    let outcome = |claim: &Claim| {
        let (holds, evidence) = match predicates.iter().find(|(id, _)| *id == claim.id) {
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
            paper: paper.to_owned(),
            statement: claim.statement.clone(),
            holds,
            evidence,
            impossible: false,
        }
    };
    claims.iter().map(outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::record::Value;

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
            system: system.into(),
            scenario: scenario.into(),
            parameters: at
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            metric: metric.into(),
            unit: "percent".into(),
            measured,
            runs: 10,
            ..Item::default()
        }
    }

    /// What the program answers to one claim of a paper from these values alone.
    pub(super) fn holds(paper: &str, id: &str, items: &[Item]) -> Option<bool> {
        let paper = crate::papers::record::find(paper).unwrap();
        let counted = settle(paper.published(), items).into_iter();
        let mut all = counted.chain(settle_beside(paper.published(), items));
        all.find(|c| c.id == id).unwrap().holds
    }

    fn items(values: &[(&str, &str, Option<f64>)]) -> Vec<Item> {
        let one = |&(metric, system, measured): &(&str, &str, Option<f64>)| {
            item("cen2003", metric, system, "WLH", &[("N", Value::from(1))], measured)
        };
        values.iter().map(one).collect()
    }

    fn settled(id: &str, values: &[(&str, &str, Option<f64>)]) -> ClaimOutcome {
        let published = crate::papers::record::find("cen2003").unwrap().published();
        let all = settle(published, &items(values));
        all.into_iter().find(|c| c.id == id).unwrap()
    }

    #[test]
    fn a_claim_shows_the_figures_it_was_settled_by() {
        let of = [
            ("cong", "Biaz", Some(2.1)),
            ("cong", "mBiaz", Some(2.4)),
            ("cong", "Omni", Some(2.3)),
        ];
        let rest = [("cong", "Spike", Some(0.4)), ("cong", "ZigZag", Some(0.25))];
        let outcome = settled("WLH1-cong", &[&of[..], &rest[..]].concat());
        assert_eq!(outcome.holds, Some(true));
        assert!(outcome.evidence.contains("cong(mBiaz, WLH, N=1) = 2.40"), "{}", outcome.evidence);
    }

    #[test]
    fn an_unmeasured_claim_is_undecided_and_says_what_is_missing() {
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
        let tie = [
            ("cong", "Omni", Some(2.0)),
            ("cong", "Biaz", Some(2.0)),
            ("cong", "mBiaz", Some(2.0)),
        ];
        let rest = [("cong", "Spike", Some(2.0)), ("cong", "ZigZag", Some(0.3))];
        assert_eq!(settled("WLH1-cong", &[&tie[..], &rest[..]].concat()).holds, Some(false));
    }
}
