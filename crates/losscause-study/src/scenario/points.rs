//! The points of a trace, each a time and a value: in a text file, or in the scenario itself.

use losscause::Span;

use super::expression::amount::Unit;
use super::expression::{Names, Quantity};
use super::format;
use super::reader::{LONGEST_S, Range, Reader, Text};
use crate::InputError;

/// What the values of a trace are.
pub(super) struct Values {
    pub(super) name: &'static str,
    pub(super) unit: &'static Unit,
    pub(super) most: f64,
    /// "a time in seconds and a …".
    pub(super) pair: &'static str,
    pub(super) text: Text,
}

/// Where points are.
pub(super) enum Source<'a> {
    File(&'a str),
    Listed(&'a [[Quantity; 2]]),
}

impl<'a> Source<'a> {
    /// Whichever the scenario gives; `key` is that of the file.
    pub(super) fn of(
        file: Option<&'a String>,
        listed: Option<&'a Vec<[Quantity; 2]>>,
        key: &str,
        reader: &Reader,
    ) -> Result<Self, InputError> {
        match (file, listed) {
            (Some(file), None) => Ok(Self::File(file)),
            (None, Some(points)) => Ok(Self::Listed(points)),
            (None, None) => Err(reader.error(key, "is missing, expected it or points")),
            (Some(_), Some(_)) => {
                Err(reader.error(key, "cannot be combined with points; give one of them"))
            }
        }
    }
}

impl Values {
    /// The points that the scenario itself lists.
    pub(super) fn listed(
        &self,
        listed: &[[Quantity; 2]],
        key: &str,
        reader: &Reader,
        names: &Names,
    ) -> Result<Vec<(Span, f64)>, InputError> {
        let mut points: Vec<(Span, f64)> = Vec::with_capacity(listed.len());
        for (number, [time, value]) in (1..).zip(listed) {
            let key = format!("{key}.{number}");
            let at = reader.seconds(&key, time, names)?;
            let range = Range::NotNegative(self.most);
            let value = reader.number_in(self.unit, &key, value, names, range)?;
            if points.last().is_some_and(|last| at <= last.0) {
                let at = at.as_secs_f64();
                let problem = format!("begins at {at} s, expected later than the one before it");
                return Err(reader.error(&key, problem));
            }
            points.push((at, value));
        }
        if points.is_empty() {
            return Err(reader.error(key, format!("is empty, expected pairs of {}", self.pair)));
        }
        Ok(points)
    }

    /// The points of a text: on each line a time in seconds and a value, separated by blanks or a
    /// comma. Times must rise. Empty lines and comments (from `#` on) are skipped. Errors use
    /// `file_name`.
    pub(super) fn read(&self, text: &str, file_name: &str) -> Result<Vec<(Span, f64)>, InputError> {
        let mut points: Vec<(Span, f64)> = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.split('#').next().unwrap_or_default();
            let error = |problem| InputError::Syntax { file: file_name.to_owned(), line, problem };
            let words = content.split(|c: char| c.is_whitespace() || c == ',');
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            let [time, value] = words.as_slice() else {
                if words.is_empty() {
                    continue;
                }
                let (count, name) = (words.len(), self.name);
                return Err(error(format!("has {count} numbers, expected a time and a {name}")));
            };
            let number = |word: &str, what: &str, most: f64| {
                let value = word.parse().ok().filter(|value| (0.0..=most).contains(value));
                value.ok_or_else(|| {
                    let word = shown(word);
                    error(format!("the {what} is \"{word}\", expected a number from 0 to {most:e}"))
                })
            };
            let at = Span::from_secs_f64_rounded(number(time, "time", LONGEST_S)?);
            let value = number(value, self.name, self.most)?;
            if points.last().is_some_and(|last| at <= last.0) {
                let time = shown(time);
                let problem = format!(
                    "the time {time} is not later than the one before it, expected rising times"
                );
                return Err(error(problem));
            }
            points.push((at, value));
        }
        if points.is_empty() {
            return Err(InputError::file(file_name, "holds no point", self.text.expected));
        }
        Ok(points)
    }
}

impl From<format::AtEnd> for losscause_sim::AtEnd {
    fn from(at_end: format::AtEnd) -> Self {
        match at_end {
            format::AtEnd::Hold => Self::Hold,
            format::AtEnd::Repeat => Self::Repeat,
        }
    }
}

/// The first characters of a word; a binary file may hold a very long one.
pub(super) fn shown(word: &str) -> String {
    word.chars().take(20).flat_map(char::escape_default).collect()
}
