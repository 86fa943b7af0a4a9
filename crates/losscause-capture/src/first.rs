//! What a report says first: why most packets were lost, what that cost, what to do, and the next
//! command.

use serde::Serialize;

use crate::{Analysis, FlowDiagnosis};

/// What to know and to do first, in sentences.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct First {
    /// The cause, and how sure it is.
    pub cause: String,
    /// The numbers that show it.
    pub evidence: Vec<String>,
    /// What it cost the flow that lost most to it; empty if that was not seen.
    pub cost: String,
    /// What to do.
    pub advice: String,
    /// The commands to run next ([`FlowDiagnosis::next`]).
    pub next: Vec<String>,
}

impl Analysis {
    /// What to know and to do first, for each cause that the answer tells; nothing if nothing was
    /// lost.
    pub fn first(&self) -> Vec<First> {
        self.diagnoses().into_iter().map(First::of).collect()
    }
}

impl First {
    fn of(told: &FlowDiagnosis) -> Self {
        let diagnosis = &told.diagnosis;
        Self {
            cause: format!("{}.", diagnosis.in_short()),
            evidence: diagnosis
                .findings()
                .map(|finding| capitalised(&finding.to_string()))
                .collect(),
            cost: told
                .cost
                .map(|cost| format!("{}.", capitalised(&cost.told())))
                .unwrap_or_default(),
            advice: format!("{}.", told.advice()),
            next: told.next.clone(),
        }
    }
}

/// The text as the beginning of a sentence.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
