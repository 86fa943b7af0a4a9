//! What is known of an algorithm before it is built.

/// An algorithm's name, source and settings.
///
/// ```
/// use losscause::registry::{Info, Setting};
///
/// const NEAR: Info = Info::new("near", "wireless if the trip time is near its minimum")
///     .with_aliases(&["near-minimum"])
///     .with_settings(&[Setting::new("within_ms", "how near, milliseconds, not negative")]);
/// assert_eq!(NEAR.settings[0].key, "within_ms");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// The published name.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub origin: Origin,
    /// Where it was published, or what describes it.
    pub paper: &'static str,
    /// The section that defines it, there.
    pub section: &'static str,
    /// The algorithm's own settings.
    pub settings: &'static [Setting],
    /// A hybrid's base schemes, each with the prefix of its settings: `spike.alpha` is the alpha of
    /// ZBS's Spike.
    pub bases: &'static [(&'static str, &'static Info)],
    /// The algorithm's cost with published parameters; none where it was not counted.
    pub operations: Option<Operations>,
}

/// Where an algorithm comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case")
)]
pub enum Origin {
    /// A paper published it as a loss differentiation algorithm. Only these count as "the best
    /// published".
    Published,
    /// A known rule of another stack, to compare with. Programs list yardsticks apart, and run them
    /// by name only.
    Yardstick,
    /// Neither: Sift, a bound to compare with, or an algorithm from outside.
    Other,
}

/// A setting of an algorithm, as a scenario file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// The setting's key in a scenario file.
    pub key: &'static str,
    /// What it means, with its unit and range.
    pub meaning: &'static str,
}

/// The cost of an algorithm, counted as Table V of Cen 2003 can be understood: a comparison is an
/// addition, a division is a multiplication, and finding its inputs (T_i, ROTT, n) is included.
/// Each number is the largest that occurs once minima and maxima have settled.
/// `docs/algorithms/complexity.md` holds them against the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    /// Additions for every packet that arrives.
    pub additions_per_arrival: u32,
    /// Additions for every judged loss.
    pub additions_after_loss: u32,
    /// Multiplications for every packet that arrives.
    pub multiplications_per_arrival: u32,
    /// Multiplications for every judged loss.
    pub multiplications_after_loss: u32,
}

impl Origin {
    /// Whether neither a paper nor another stack has it.
    pub const fn is_unpublished(self) -> bool {
        matches!(self, Self::Other)
    }
}

impl Info {
    /// An algorithm without paper, aliases and settings.
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            summary,
            origin: Origin::Other,
            paper: "no paper",
            section: "none",
            settings: &[],
            bases: &[],
            operations: None,
        }
    }

    /// The same as published in a paper, with the section that defines it.
    #[must_use]
    pub const fn from(self, paper: &'static str, section: &'static str) -> Self {
        Self { origin: Origin::Published, ..self.described_in(paper, section) }
    }

    /// The same with what describes it, for an algorithm that no paper has published.
    #[must_use]
    pub const fn described_in(self, place: &'static str, section: &'static str) -> Self {
        Self { paper: place, section, ..self }
    }

    /// The same as a yardstick with its source: the stack and file, and where in it.
    #[must_use]
    pub const fn yardstick(self, source: &'static str, place: &'static str) -> Self {
        Self { origin: Origin::Yardstick, ..self.described_in(source, place) }
    }

    /// The same with other names that it answers to.
    #[must_use]
    pub const fn with_aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// The same with settings.
    #[must_use]
    pub const fn with_settings(self, settings: &'static [Setting]) -> Self {
        Self { settings, ..self }
    }

    /// The same with the base schemes of a hybrid and the prefixes of their settings.
    #[must_use]
    pub const fn with_bases(self, bases: &'static [(&'static str, &'static Info)]) -> Self {
        Self { bases, ..self }
    }

    /// The same with its counted cost: additions per arrival and after a loss, then
    /// multiplications.
    #[must_use]
    pub(crate) const fn with_operations(
        self,
        additions: (u32, u32),
        multiplications: (u32, u32),
    ) -> Self {
        let operations = Operations {
            additions_per_arrival: additions.0,
            additions_after_loss: additions.1,
            multiplications_per_arrival: multiplications.0,
            multiplications_after_loss: multiplications.1,
        };
        Self { operations: Some(operations), ..self }
    }

    /// Whether it answers to `name`, in any case.
    pub fn answers_to(&self, name: &str) -> bool {
        self.names().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// The algorithm's name, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        core::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// The setting `key`; one of a base scheme is written with the base's prefix, `spike.alpha`.
    pub fn setting(&self, key: &str) -> Option<&'static Setting> {
        match key.split_once('.') {
            None => self.settings.iter().find(|setting| setting.key == key),
            Some((prefix, rest)) => {
                self.bases.iter().find(|(name, _)| *name == prefix)?.1.setting(rest)
            }
        }
    }
}

impl Setting {
    /// A setting with its meaning.
    pub const fn new(key: &'static str, meaning: &'static str) -> Self {
        Self { key, meaning }
    }
}
