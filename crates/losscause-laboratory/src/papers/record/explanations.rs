//! Why numbers are missed and claims fail or stay open: `papers/<paper>/explanations.toml`.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::published::Published;
use losscause_study::error::nearest;
use losscause_study::tools::toml_file;

/// Why some numbers and claims of a paper are not reproduced, or not settled. They share one cause.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The numbers, by their ids in published.toml.
    #[serde(default)]
    pub numbers: Vec<String>,
    /// The claims, by their ids in published.toml.
    #[serde(default)]
    pub claims: Vec<String>,
    /// The cause, and the experiment that shows it, in plain sentences. Where no cause is known, it
    /// says so and names what was measured and tried.
    pub why: String,
    /// Anchor of the heading in `docs/reproduction/<paper>.md` below which the details stand:
    /// "the-missed-numbers".
    pub section: String,
    /// Whether no run of the paper's set-up can meet them: the paper's own text, values or set-up
    /// contradict them by more than the tolerance of scoring. `why` has the proof, which needs no
    /// simulator.
    #[serde(default)]
    pub impossible: bool,
}

impl Explanation {
    /// The ids of its numbers, then of its claims.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.numbers.iter().chain(&self.claims).map(String::as_str)
    }
}

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    explanation: Vec<Explanation>,
}

/// Reads the explanations of a paper's misses.
///
/// # Errors
/// A key is unknown or missing, an entry explains nothing or says nothing, or an id is not in
/// `published` or is explained twice. The error is one sentence that names file, entry and key.
pub(super) fn parse(text: &str, published: &Published) -> Result<Vec<Explanation>, String> {
    let file = format!("papers/{}/explanations.toml", published.key);
    let File { explanation } =
        toml_file::from_text(text, &file).map_err(|error| error.to_string())?;
    let numbers: Vec<&str> = published.number.iter().map(|number| number.id.as_str()).collect();
    let all_claims = published.claim.iter().chain(&published.beside);
    let claims: Vec<&str> = all_claims.map(|claim| claim.id.as_str()).collect();
    let mut explained = BTreeSet::new();
    for (index, entry) in explanation.iter().enumerate() {
        let refusal = |key: &str, problem: &str| {
            Err(format!("{file}: explanation.{}{key}: {problem}", index + 1))
        };
        if entry.ids().next().is_none() {
            return refusal("", "explains nothing, expected ids in numbers or claims");
        }
        for (key, text, expected) in [
            (".why", &entry.why, "expected one to three sentences"),
            (".section", &entry.section, "expected the anchor of a heading"),
        ] {
            if text.trim().is_empty() {
                return refusal(key, &format!("is empty, {expected}"));
            }
        }
        for (key, ids, known) in
            [(".numbers", &entry.numbers, &numbers), (".claims", &entry.claims, &claims)]
        {
            for id in ids {
                if !known.contains(&id.as_str()) {
                    let hint = nearest(id, known.iter().copied())
                        .map(|n| format!(" (did you mean \"{n}\"?)"));
                    let hint = hint.unwrap_or_default();
                    return refusal(
                        key,
                        &format!("\"{id}\" is unknown{hint}, expected an id in published.toml"),
                    );
                }
                if !explained.insert(id.clone()) {
                    return refusal(
                        key,
                        &format!(
                            "\"{id}\" is explained twice, expected one explanation of each id"
                        ),
                    );
                }
            }
        }
    }
    Ok(explanation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::record::{all, find};

    /// What is said about a file of these entries as one of cen2003.
    fn refusal(entries: &[&str]) -> String {
        let text: String =
            entries.iter().map(|entry| format!("[[explanation]]\n{entry}\n")).collect();
        parse(&text, find("cen2003").unwrap().published()).unwrap_err()
    }

    const SAID: &str = "why = \"Its queue.\"\nsection = \"the-missed-numbers\"\n";

    #[test]
    fn an_entry_may_explain_numbers_and_claims() {
        let text = format!(
            "[[explanation]]\nnumbers = [\"WB.N1.Spike.M_w\"]\nclaims = [\"WB1-Mw\"]\n{SAID}"
        );
        let read = parse(&text, find("cen2003").unwrap().published()).unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].ids().collect::<Vec<_>>(), ["WB.N1.Spike.M_w", "WB1-Mw"]);
        assert_eq!(
            (read[0].why.as_str(), read[0].section.as_str()),
            ("Its queue.", "the-missed-numbers")
        );
    }

    #[test]
    fn values_are_impossible_only_where_the_record_says_so() {
        let paper = find("barman2002").unwrap();
        assert!(paper.is_impossible("config1.NewReno-LL.worst.goodput"));
        assert!(
            !paper.is_impossible("config2.NewReno-LL.worst.goodput"),
            "explained, not impossible"
        );
        assert!(!paper.is_impossible("config1.NewReno.goodput"), "not explained at all");
    }

    #[test]
    fn no_number_of_a_paper_has_the_id_of_a_claim() {
        for paper in all() {
            let numbers: BTreeSet<&str> =
                paper.published().number.iter().map(|number| number.id.as_str()).collect();
            let shared =
                paper.published().claim.iter().find(|claim| numbers.contains(claim.id.as_str()));
            assert!(shared.is_none(), "{}: {shared:?}", paper.key());
        }
    }

    #[test]
    fn a_number_and_a_claim_find_their_explanation_if_they_have_one() {
        let paper = find("cen2003").unwrap();
        let of_number = paper.explanation_of("WB.N1.Spike.M_w").unwrap();
        assert!(of_number.numbers.iter().any(|id| id == "WB.N1.Spike.M_w"), "{of_number:?}");
        let of_claim = paper.explanation_of("WB1-Mw").unwrap();
        assert!(
            of_claim.claims.iter().any(|id| id == "WB1-Mw") && of_claim != of_number,
            "{of_claim:?}"
        );
        assert_eq!(paper.explanation_of("WLH.N1.Omni.thput"), None);
    }

    #[test]
    fn every_published_paper_explains_something() {
        for paper in all() {
            assert_eq!(paper.explanations().is_empty(), !paper.is_published(), "{}", paper.key());
        }
    }

    #[test]
    fn an_unknown_id_is_refused_and_told_the_nearest() {
        assert_eq!(
            refusal(&[&format!("numbers = [\"WB.N1.Spyke.M_w\"]\n{SAID}")]),
            "papers/cen2003/explanations.toml: explanation.1.numbers: \"WB.N1.Spyke.M_w\" is unknown (did you mean \
             \"WB.N1.Spike.M_w\"?), expected an id in published.toml"
        );
        // A number's id among the claims, in the second entry.
        let error = refusal(&[
            &format!("claims = [\"WB1-Mw\"]\n{SAID}"),
            &format!("claims = [\"WB.N1.Spike.M_w\"]\n{SAID}"),
        ]);
        assert!(error.contains("explanation.2.claims: \"WB.N1.Spike.M_w\" is unknown"), "{error}");
    }

    #[test]
    fn an_id_explained_twice_is_refused() {
        let entry = format!("claims = [\"WB1-Mw\"]\n{SAID}");
        let expected = "papers/cen2003/explanations.toml: explanation.2.claims: \"WB1-Mw\" is explained twice, \
                        expected one explanation of each id";
        assert_eq!(refusal(&[&entry, &entry]), expected);
        let within_one = format!("claims = [\"WB1-Mw\", \"WB1-Mw\"]\n{SAID}");
        assert_eq!(refusal(&[&within_one]), expected.replace("explanation.2", "explanation.1"));
    }

    #[test]
    fn an_entry_that_says_nothing_or_explains_nothing_is_refused() {
        for (entry, problem) in [
            (
                "claims = [\"WB1-Mw\"]\nwhy = \" \"\nsection = \"s\"",
                ".why: is empty, expected one to three sentences",
            ),
            (
                "claims = [\"WB1-Mw\"]\nwhy = \"w\"\nsection = \"\"",
                ".section: is empty, expected the anchor of a heading",
            ),
            (SAID, ": explains nothing, expected ids in numbers or claims"),
        ] {
            assert_eq!(
                refusal(&[entry]),
                format!("papers/cen2003/explanations.toml: explanation.1{problem}")
            );
        }
    }

    #[test]
    fn an_unknown_or_missing_key_is_refused() {
        let error = refusal(&[&format!("claim = [\"WB1-Mw\"]\n{SAID}")]);
        assert!(
            error.starts_with("papers/cen2003/explanations.toml: explanation.1.claim: the key \"claim\" is unknown"),
            "{error}"
        );
        let error = refusal(&["claims = [\"WB1-Mw\"]\nsection = \"s\""]);
        assert!(
            error.starts_with("papers/cen2003/explanations.toml: explanation.1.why: is missing"),
            "{error}"
        );
    }
}
