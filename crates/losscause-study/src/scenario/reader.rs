//! Evaluates the values of a document and checks their ranges.

use std::path::Path;

use losscause::{Span, Time};

use super::expression::amount::Unit;
use super::expression::{Names, Quantity};
use super::patterns::Patterns;
use crate::context::Context;
use crate::error::InputError;
use crate::files;
use crate::limits::Limits;

/// What a number must be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Range {
    /// Any number above 0, up to the given one.
    Positive(f64),
    /// Any number from 0 up to the given one.
    NotNegative(f64),
    /// Any number above the first, up to the second.
    Above(f64, f64),
    /// Any number between the two, both included.
    Between(f64, f64),
    /// Any number from 0 to 1.
    Share,
    /// A whole number between the two, both included.
    Whole(u32, u32),
}

impl Range {
    /// A period of something that makes events or takes steps, milliseconds.
    pub(super) const PERIOD_MS: Self =
        Self::Between(Limits::SHORTEST_PERIOD_MS, Limits::LONGEST_S * 1e3);

    fn holds(self, value: f64) -> bool {
        match self {
            Self::Positive(most) => value > 0.0 && value <= most,
            Self::NotNegative(most) => (0.0..=most).contains(&value),
            Self::Above(least, most) => value > least && value <= most,
            Self::Between(least, most) => (least..=most).contains(&value),
            Self::Share => (0.0..=1.0).contains(&value),
            Self::Whole(least, most) => {
                value.fract() == 0.0 && (f64::from(least)..=f64::from(most)).contains(&value)
            }
        }
    }

    fn expectation(self) -> String {
        match self {
            Self::Positive(most) => format!("a number above 0, up to {most:e}"),
            Self::NotNegative(most) => format!("a number from 0 to {most:e}"),
            Self::Above(least, most) => format!("a number above {least}, up to {most:e}"),
            Self::Between(least, most) => format!("a number from {least} to {most:e}"),
            Self::Share => "a number from 0 to 1".to_owned(),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
        }
    }
}

pub(super) const LONGEST_S: f64 = Limits::LONGEST_S;

/// A text file that a scenario names: what it must be, and how large it may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    /// What an error says was expected.
    pub(super) expected: &'static str,
    /// Largest size, bytes.
    pub(super) largest: u64,
}

/// Reads the values of one scenario.
pub(crate) struct Reader<'a> {
    /// What errors call the scenario.
    pub(super) file: &'a str,
    /// Where the files that the scenario names are looked up, if their names are relative.
    pub(super) directory: &'a Path,
    /// What the scenario may name, and what those files are read from.
    pub(super) context: &'a Context,
    /// Patterns of packet errors that were read before.
    pub(super) patterns: &'a Patterns,
}

impl Reader<'_> {
    /// An error about `key`.
    pub(super) fn error(&self, key: &str, problem: impl Into<String>) -> InputError {
        InputError::key(self.file, key, problem)
    }

    /// The text of the file at `path`, which the value of `key` names, and what errors about its
    /// content call it.
    pub(super) fn text(
        &self,
        key: &str,
        path: &Path,
        kind: Text,
    ) -> Result<(String, String), InputError> {
        let text = files::text(self.context.files(), path, kind.largest, kind.expected);
        let text = text.map_err(|error| self.error(key, error.to_string()))?;
        Ok((text, path.display().to_string()))
    }

    /// The value of `quantity`, which stands at `key`, in the unit of the key's suffix.
    pub(super) fn number(
        &self,
        key: &str,
        quantity: &Quantity,
        names: &Names,
        range: Range,
    ) -> Result<f64, InputError> {
        self.number_in(Unit::of_key(key), key, quantity, names, range)
    }

    /// The value of `quantity`, which stands at `key`, in `unit`.
    pub(super) fn number_in(
        &self,
        unit: &Unit,
        key: &str,
        quantity: &Quantity,
        names: &Names,
        range: Range,
    ) -> Result<f64, InputError> {
        let problem = |problem: String| self.error(key, problem);
        let amount = quantity.amount(names).map_err(problem)?;
        let mut value = amount.in_unit(unit).map_err(problem)?;
        if amount.has_unit() && matches!(range, Range::Whole(..)) {
            value = value.round();
        }
        if !value.is_finite() {
            return Err(problem(quantity.not_finite(amount)));
        }
        if range.holds(value) {
            Ok(value)
        } else {
            let percent = match range {
                Range::Share if (2.0..=100.0).contains(&value) => {
                    format!("; {value} percent are {value}%")
                }
                _ => String::new(),
            };
            Err(problem(format!("is {value}, expected {}{percent}", range.expectation())))
        }
    }

    /// A whole number.
    pub(super) fn whole(
        &self,
        key: &str,
        quantity: &Quantity,
        names: &Names,
        least: u32,
        most: u32,
    ) -> Result<u32, InputError> {
        // The range holds the value between two `u32`.
        self.number(key, quantity, names, Range::Whole(least, most)).map(|value| value as u32)
    }

    /// A rate in bits per second, rounded to whole ones; at least 1.
    pub(super) fn rate(
        &self,
        key: &str,
        quantity: &Quantity,
        names: &Names,
    ) -> Result<u64, InputError> {
        let range = Range::Positive(Limits::RATE_BPS);
        let rate = self.number_in(Unit::BPS, key, quantity, names, range)?;
        Ok((rate.round() as u64).max(1))
    }

    /// A time in seconds.
    pub(super) fn seconds(
        &self,
        key: &str,
        quantity: &Quantity,
        names: &Names,
    ) -> Result<Span, InputError> {
        self.number_in(Unit::SECONDS, key, quantity, names, Range::NotNegative(LONGEST_S))
            .map(Span::from_secs_f64_rounded)
    }

    /// A time in seconds, above 0.
    pub(super) fn positive_seconds(
        &self,
        key: &str,
        quantity: &Quantity,
        names: &Names,
    ) -> Result<Span, InputError> {
        let range = Range::Positive(LONGEST_S);
        let seconds = self.number_in(Unit::SECONDS, key, quantity, names, range)?;
        Ok(Span::from_secs_f64_rounded(seconds).max(Span::from_nanos(1)))
    }

    /// An instant, in seconds from the start of the run; `default` if it is not given.
    pub(super) fn instant(
        &self,
        key: &str,
        quantity: Option<&Quantity>,
        names: &Names,
        default: Time,
    ) -> Result<Time, InputError> {
        quantity
            .map_or(Ok(default), |quantity| Ok(Time::ZERO + self.seconds(key, quantity, names)?))
    }
}
