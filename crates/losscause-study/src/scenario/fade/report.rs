//! The JSON of a pattern, as `losscause fade --format json` prints it. docs/json.md describes it
//! for readers.

use serde::{Deserialize, Serialize};

use super::{Pattern, Source, Statistics};

/// What a pattern is like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PatternReport {
    /// The pattern's name.
    pub pattern: String,
    /// Identifies the parameters of its channel.
    pub fingerprint: String,
    /// What a paper publishes of it; none if it is not a paper's.
    pub published: Option<PublishedPattern>,
    /// How often and in which bursts it loses packets.
    #[serde(flatten)]
    pub statistics: Statistics,
}

/// What a paper publishes of a pattern; a value that it does not print is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedPattern {
    /// Share of packets lost.
    pub loss: Option<f64>,
    /// Share of information bits that are wrong after decoding.
    pub bit_error_rate: Option<f64>,
}

impl PatternReport {
    /// The report on `pattern`, made of `source`.
    pub fn of(source: &Source, pattern: &Pattern, published: Option<PublishedPattern>) -> Self {
        Self {
            pattern: source.name.clone(),
            fingerprint: source.channel.fingerprint(),
            published,
            statistics: pattern.statistics(),
        }
    }
}
