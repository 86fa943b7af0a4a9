//! The algorithms that are asked.

use losscause::lda::BoxedAlgorithm;
use losscause::registry::{Origin, Registry};
use losscause::{Algorithm, AnyAlgorithm, End, LdaConfig};

/// The chosen algorithms, with their published parameters.
#[derive(Clone, Debug)]
pub struct Chosen {
    configs: Vec<LdaConfig>,
}

/// There is no such algorithm, or none that a capture can feed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no algorithm \"{name}\" for captures, expected one of {}", .known.join(", "))]
pub struct UnknownAlgorithm {
    /// The name.
    pub name: String,
    /// The names there are, lower case, hyphens for blanks.
    pub known: Vec<String>,
}

/// An algorithm's name as a key: lower case, hyphens for blanks.
pub(super) fn key(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

impl Chosen {
    /// Every algorithm of `registry` that looks at packets and needs no truth, which only a
    /// simulator knows. Yardsticks have to be named.
    pub fn all_of(registry: &Registry) -> Self {
        let looks =
            |config: &&LdaConfig| !matches!(config, LdaConfig::Constant(_)) && !needs_truth(config);
        let asked =
            |config: &&LdaConfig| looks(config) && config.info().origin != Origin::Yardstick;
        Self { configs: registry.iter().filter(asked).cloned().collect() }
    }

    /// The algorithms of these names or aliases, blanks or hyphens alike, each once.
    ///
    /// # Errors
    /// If a name is unknown, or its algorithm needs the truth.
    pub fn named(names: &[String], registry: &Registry) -> Result<Self, UnknownAlgorithm> {
        let find = |name: &String| {
            let same =
                |config: &&LdaConfig| config.info().names().any(|own| key(own) == key(name.trim()));
            let known = || {
                registry
                    .iter()
                    .filter(|config| !needs_truth(config))
                    .map(|config| key(config.info().name))
            };
            registry
                .iter()
                .find(same)
                .filter(|config| !needs_truth(config))
                .cloned()
                .ok_or_else(|| UnknownAlgorithm { name: name.clone(), known: known().collect() })
        };
        let mut configs: Vec<LdaConfig> = Vec::new();
        for name in names {
            let config = find(name)?;
            if configs.iter().all(|other| other.info().name != config.info().name) {
                configs.push(config);
            }
        }
        Ok(Self { configs })
    }

    /// The chosen algorithms, then those of `others` that are not among them.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        let own: Vec<String> = self.keys().collect();
        self.configs.extend(
            others.configs.into_iter().filter(|config| !own.contains(&key(config.info().name))),
        );
        self
    }

    /// The keys of the algorithms, in order.
    pub fn keys(&self) -> impl Iterator<Item = String> {
        self.configs.iter().map(|config| key(config.info().name))
    }

    /// The algorithms' parameters, in order.
    pub fn iter(&self) -> impl Iterator<Item = &LdaConfig> {
        self.configs.iter()
    }

    /// Each algorithm for this end; none in the place of one that does not run there.
    pub(crate) fn at(&self, end: End) -> Vec<Option<BoxedAlgorithm>> {
        self.configs.iter().map(|config| config.build(end).ok().map(AnyAlgorithm::in_box)).collect()
    }
}

fn needs_truth(config: &LdaConfig) -> bool {
    config.build(End::Sender).is_ok_and(|algorithm| algorithm.needs().other.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_with_blanks_or_hyphens_and_all_lacks_constants() {
        let registry = Registry::built_in();
        let all: Vec<String> = Chosen::all_of(&registry).keys().collect();
        assert_eq!(
            all,
            [
                "biaz",
                "mbiaz",
                "spike",
                "spike-tobe",
                "zigzag",
                "zbs",
                "flip-flop",
                "vegas-buffer",
                "sift"
            ]
        );
        let named = Chosen::named(&["flip-flop".into(), "ZBS".into()], &registry).unwrap();
        assert_eq!(named.keys().collect::<Vec<_>>(), ["flip-flop", "zbs"]);
        let more = named.and(Chosen::named(&["zbs".into(), "sift".into()], &registry).unwrap());
        assert_eq!(more.keys().collect::<Vec<_>>(), ["flip-flop", "zbs", "sift"]);
        let yardsticks = Chosen::named(&["fqRTT".into(), "nth-loss".into()], &registry).unwrap();
        assert_eq!(yardsticks.keys().collect::<Vec<_>>(), ["fqrtt", "n-th-loss"]);
        let twice = Chosen::named(&["sift".into(), "zbs".into(), "Sift".into()], &registry);
        assert_eq!(twice.unwrap().keys().collect::<Vec<_>>(), ["sift", "zbs"]);
        let error = Chosen::named(&["zbx".into()], &registry).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "there is no algorithm \"zbx\" for captures, expected one of biaz, mbiaz"
            ),
            "{error}"
        );
    }
}
