//! The patterns of packet errors that papers' channels make: made once by `losscause fade`, part of the program.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::{Paper, all, find, unknown};
use crate::InputError;
use crate::scenario::fade::{self, Pattern, Statistics};

/// The fading channel of a paper, and what was made of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fading {
    /// The channel file.
    pub(super) channel: &'static str,
    /// Name and file of each pattern.
    pub(super) patterns: &'static [(&'static str, &'static str)],
}

/// A pattern, ready to use.
#[derive(Clone, Debug)]
pub struct KnownPattern {
    /// Whether each packet is lost.
    pub lost: Arc<[bool]>,
    /// Packets of one trial; all trials have as many.
    pub trial_packets: usize,
    /// How often and in which bursts.
    pub statistics: Statistics,
}

/// A paper's short name and a pattern's.
type Name = (&'static str, &'static str);

impl From<&Pattern> for KnownPattern {
    fn from(pattern: &Pattern) -> Self {
        let trial_packets = pattern.trials.first().map_or(0, Vec::len);
        Self { lost: pattern.lost().into(), trial_packets, statistics: pattern.statistics() }
    }
}

/// The pattern that `name` stands for, PAPER/PATTERN.
///
/// # Errors
/// There is no such paper or pattern (the error names the nearest), or the pattern was made with other parameters than its
/// paper's channel has.
pub fn pattern(name: &str) -> Result<&'static KnownPattern, InputError> {
    static PATTERNS: LazyLock<BTreeMap<Name, Result<KnownPattern, InputError>>> =
        LazyLock::new(|| all().iter().flat_map(read).collect());
    let (paper, pattern) = name.split_once('/').unwrap_or((name, ""));
    let paper = find(paper)?;
    let known = || PATTERNS.keys().filter(|(owner, _)| *owner == paper.key()).map(|&(_, pattern)| pattern);
    match PATTERNS.iter().find(|((owner, name), _)| *owner == paper.key() && *name == pattern) {
        Some((_, found)) => found.as_ref().map_err(InputError::clone),
        None => Err(unknown("pattern", name, pattern, known())),
    }
}

/// Every pattern of a paper, held against the paper's channel.
fn read(paper: &'static Paper) -> Vec<(Name, Result<KnownPattern, InputError>)> {
    let Some(fading) = paper.fading else { return Vec::new() };
    let sources = fade::parse(fading.channel, &format!("{}/channel.toml", paper.key()), &[]);
    let one = |name: &str, text: &str| {
        let file = format!("{}/patterns/{name}.txt", paper.key());
        let found = Pattern::parse(text, &file)?;
        match sources.as_ref().map_err(InputError::clone)?.iter().find(|source| source.name == name) {
            Some(source) if source.channel == found.channel => Ok(KnownPattern::from(&found)),
            _ => {
                let problem = "was made with other parameters than the paper's channel.toml has".to_owned();
                Err(InputError::File { file, problem, expected: "what `losscause fade --out` makes of it" })
            }
        }
    };
    fading.patterns.iter().map(|&(name, text)| ((paper.key(), name), one(name, text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_every_paper_was_made_with_its_papers_channel() {
        for paper in all() {
            for (name, found) in read(paper) {
                assert!(found.is_ok(), "{name:?}: {}", found.unwrap_err());
            }
        }
    }

    #[test]
    fn the_first_trial_of_every_pattern_is_made_again_to_the_bit() {
        for fading in all().iter().filter_map(|paper| paper.fading) {
            for source in fade::parse(fading.channel, "channel.toml", &[]).unwrap() {
                let (_, text) = fading.patterns.iter().find(|(name, _)| *name == source.name).unwrap();
                let stored = Pattern::parse(text, &source.name).unwrap();
                assert_eq!(source.uplink.trial(source.channel.seed.into(), 0), stored.trials[0], "{}", source.name);
            }
        }
    }

    #[test]
    fn an_unknown_pattern_is_told_the_nearest() {
        let error = pattern("cen2003/hihg").unwrap_err().to_string();
        assert!(
            error.starts_with("cen2003/hihg: is no pattern (did you mean \"high\"?), expected one of high"),
            "{error}"
        );
        assert!(pattern("cen2003").is_err());
    }

    #[test]
    fn the_patterns_reach_what_table_i_asks_for() {
        // Published loss and bit error rate; medium and low within a factor 1.5 and 2, high is the calibrated one.
        for (name, loss, bit_error_rate, factor) in
            [("high", 0.078, 8.7e-5, 1.1), ("medium", 0.031, 2.8e-5, 1.5), ("low", 0.01, 7.1e-6, 1.5)]
        {
            let found = &pattern(&format!("cen2003/{name}")).unwrap().statistics;
            assert!((loss / factor..=loss * factor).contains(&found.loss), "{name}: {}", found.loss);
            let rate = found.bit_error_rate;
            assert!((bit_error_rate / 2.0..=bit_error_rate * 2.0).contains(&rate), "{name}: {rate}");
        }
        let two = pattern("cen2003/high").unwrap().statistics.two_packet_events.unwrap();
        assert!((0.15..=0.35).contains(&two), "{two}");
    }
}
