//! Patterns of packet errors that papers' channels make. `losscause fade` made them once; they are
//! part of the program.

use super::embedded::PAPERS;
use super::library::find;
use super::paper::unknown;
use losscause_study::error::InputError;
use losscause_study::scenario::fade::Pattern;

/// The pattern that `name` stands for, PAPER/PATTERN.
///
/// # Errors
/// There is no such paper or pattern; the error names the nearest.
pub fn pattern(name: &str) -> Result<Pattern, InputError> {
    let (paper, pattern) = name.split_once('/').unwrap_or((name, ""));
    let key = find(paper)?.key();
    let patterns =
        PAPERS.iter().find(|texts| texts.key == key).map_or(&[][..], |texts| texts.patterns);
    match patterns.iter().find(|(known, _)| *known == pattern) {
        Some((_, text)) => Pattern::parse(text, &format!("{key}/patterns/{pattern}.txt")),
        None => Err(unknown("pattern", name, pattern, patterns.iter().map(|(known, _)| *known))),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use losscause_study::scenario::fade;

    #[test]
    fn every_papers_patterns_were_made_with_its_own_channel() {
        for paper in PAPERS {
            let Some(channel) = paper.channel else { continue };
            let sources = fade::parse(channel, "channel.toml", &[]).unwrap();
            let names =
                |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
            let patterns = names(paper.patterns.iter().map(|(name, _)| *name).collect());
            assert_eq!(
                patterns,
                names(sources.iter().map(|source| source.name.as_str()).collect())
            );
            for source in sources {
                let found = pattern(&format!("{}/{}", paper.key, source.name)).unwrap();
                assert_eq!(found.channel, source.channel, "{}", source.name);
            }
        }
    }

    #[test]
    fn the_first_trial_of_every_pattern_is_made_again_to_the_bit() {
        for paper in PAPERS {
            for source in paper
                .channel
                .into_iter()
                .flat_map(|text| fade::parse(text, "channel.toml", &[]).unwrap())
            {
                let (_, text) =
                    paper.patterns.iter().find(|(name, _)| *name == source.name).unwrap();
                let stored = Pattern::parse(text, &source.name).unwrap();
                assert_eq!(
                    source.uplink.trial(source.channel.seed.into(), 0),
                    stored.trials[0],
                    "{}",
                    source.name
                );
            }
        }
    }

    #[test]
    fn an_unknown_pattern_is_told_the_nearest() {
        let error = pattern("cen2003/hihg").unwrap_err().to_string();
        assert!(
            error.starts_with(
                "cen2003/hihg: is no pattern (did you mean \"high\"?), expected one of high"
            ),
            "{error}"
        );
        assert!(pattern("cen2003").is_err());
    }

    #[test]
    fn the_patterns_reach_what_table_i_asks_for() {
        // Published loss and bit error rate; medium and low within a factor 1.5 and 2, high is the
        // calibrated one.
        for (name, loss, bit_error_rate, factor) in [
            ("high", 0.078, 8.7e-5, 1.1),
            ("medium", 0.031, 2.8e-5, 1.5),
            ("low", 0.01, 7.1e-6, 1.5),
        ] {
            let found = pattern(&format!("cen2003/{name}")).unwrap().statistics();
            assert!(
                (loss / factor..=loss * factor).contains(&found.loss),
                "{name}: {}",
                found.loss
            );
            let rate = found.bit_error_rate;
            assert!(
                (bit_error_rate / 2.0..=bit_error_rate * 2.0).contains(&rate),
                "{name}: {rate}"
            );
        }
        let two = pattern("cen2003/high").unwrap().statistics().two_packet_events.unwrap();
        assert!((0.15..=0.35).contains(&two), "{two}");
    }
}
